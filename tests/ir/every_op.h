// One kernel in which every op, attribute and clause of the text form occurs, as print writes it.
#pragma once

namespace kiln::test {

inline constexpr const char* kEveryOp =
    R"(kernel @every_op(%x: in f32<?, 16> unit 1 align 64, absent %b: in f32<?>, absent "c", %y: out f32<?, 16>, %z: inout f32<?> as "zz", %id: in i32<?>, %n: i64) flush approximate contract reassociate fits_32_bits {
  size %N = extent(%x, 0) scale 4 offset -8 divisor 2
  size %M = extent(%z, 0)
  check extent(%y, 0) = %extent as "N * 4 - 8"
  check extent(%id, 0) = %N
  host {
    %lo = constant 0 : i64
    %step = constant 4 : i64
    %0 = units : i64
    %1 = add %N, %0 : i64
    %extent = size %x axis 0 : i64
    %2 = constant 0 : f32
    %ok = gt %n, %lo : bool
    require %ok, "n ({}) must be \"positive\"", %n
    require %ok, "n"
  }
  scratch %s: inout f32<?, 4> of (%N, %step) initial %2
  phase (%i in %lo .. %N by %step, %j in %lo .. %M by %step as "column") {
    %zero = constant 0 : f32
    %iota = iota : i64[4]
    %start = broadcast %i : i64[4]
    %index = add %start, %iota : i64[4]
    %tile = load %x[%i :+ 4, %lo :+ 16] fill %zero : f32[4, 16]
    %transposed = permute %tile axes [1, 0] : f32[16, 4]
    %part = extract %transposed starts [0, 2] : f32[16, 2]
    %flat = reshape %part : f32[32]
    %sum = reduce sum %flat axis 0 : f32
    %acc = broadcast %zero : f32[4, 4]
    %dot = dot %tile, %transposed, %acc : f32[4, 4]
    %exact = dot %tile, %transposed, %dot precision exact : f32[4, 4]
    %row = view %x[%i, ..] : in f32<16>
    %rows = view %x[%lo .. %N, ..] : in f32<?, 16>
    %column = load %row[%lo] fill %zero : f32
    %below = broadcast %M : i64[4]
    %mask = lt %index, %below : bool[4]
    %gathered = load %z[gather %index] fill %zero mask %mask : f32[4]
    store %z[gather %index], %gathered mask %mask
    store %z[%j], %sum
    %result, %other = for %k in %lo .. %N by %step carry (%a = %zero, %c = %column) : f32, f32 {
      %a.1 = add %a, %c : f32
      yield %a.1, %a
    }
    for %l in %lo .. %M by %step {
      store %z[%l], %zero
      yield
    }
    %last = while (%w = %n) : i64 {
      %more = gt %w, %lo : bool
      yield %more, %w
    } do (%v) {
      %half = div %v, %step : i64
      yield %half
    }
    %positive = gt %last, %lo : bool
    %chosen = if %positive : f32 {
      yield %result
    } else {
      yield %other
    }
    if %positive {
      store %z[%last], %chosen
      yield
    } else {
      yield
    }
    %converted = convert %tile : bf16[4, 16]
    %saturated = saturate %tile : f8e4m3[4, 16]
    %bits = bitcast %tile : u32[4, 16]
    %op_add = add %tile, %tile : f32[4, 16]
    %op_sub = sub %tile, %tile : f32[4, 16]
    %op_mul = mul %tile, %tile : f32[4, 16]
    %op_div = div %tile, %tile : f32[4, 16]
    %op_rem = rem %last, %last : i64
    %op_neg = neg %tile : f32[4, 16]
    %op_and = and %last, %last : i64
    %op_or = or %last, %last : i64
    %op_xor = xor %last, %last : i64
    %op_not = not %last : i64
    %op_shl = shl %last, %last : i64
    %op_shr = shr %last, %last : i64
    %op_logical_and = logical_and %positive, %positive : bool
    %op_logical_or = logical_or %positive, %positive : bool
    %op_logical_not = logical_not %positive : bool
    %op_eq = eq %tile, %tile : bool[4, 16]
    %op_ne = ne %tile, %tile : bool[4, 16]
    %op_lt = lt %tile, %tile : bool[4, 16]
    %op_le = le %tile, %tile : bool[4, 16]
    %op_gt = gt %tile, %tile : bool[4, 16]
    %op_ge = ge %tile, %tile : bool[4, 16]
    %op_abs = abs %tile : f32[4, 16]
    %op_min = min %tile, %tile : f32[4, 16]
    %op_max = max %tile, %tile : f32[4, 16]
    %op_minimum = minimum %tile, %tile : f32[4, 16]
    %op_maximum = maximum %tile, %tile : f32[4, 16]
    %op_fma = fma %tile, %tile, %tile : f32[4, 16]
    %op_sqrt = sqrt %tile : f32[4, 16]
    %op_exp = exp %tile : f32[4, 16]
    %op_exp2 = exp2 %tile : f32[4, 16]
    %op_log = log %tile : f32[4, 16]
    %op_log2 = log2 %tile : f32[4, 16]
    %op_rsqrt = rsqrt %tile : f32[4, 16]
    %op_sin = sin %tile : f32[4, 16]
    %op_cos = cos %tile : f32[4, 16]
    %op_tanh = tanh %tile : f32[4, 16]
    %op_erf = erf %tile : f32[4, 16]
    %op_pow = pow %tile, %tile : f32[4, 16]
    %op_floor = floor %tile : f32[4, 16]
    %op_ceil = ceil %tile : f32[4, 16]
    %op_trunc = trunc %tile : f32[4, 16]
    %op_round = round %tile : f32[4, 16]
    %op_isnan = isnan %tile : bool[4, 16]
    %op_isinf = isinf %tile : bool[4, 16]
    %op_select = select %positive, %sum, %sum : f32
    %op_cdiv = cdiv %last, %last : i64
    %op_floordiv = floordiv %last, %last : i64
    %op_mod = mod %last, %last : i64
    %op_ilog2 = ilog2 %last : i64
    %op_popcount = popcount %last : i64
    %op_clz = clz %last : i64
    %joined = join %tile, %tile axis 0 : f32[8, 16]
    %sorted, %places = sort %tile axis 1 descending : f32[4, 16], i64[4, 16]
    %bins = bincount %index : u32[8]
    %some = bincount %index, %mask : u32[8]
    %folded, %folded.1 = fold %tile, %bits axis 1 combine (%p, %q, %r, %t) : f32[4], u32[4] {
      %both = add %p, %r : f32
      yield %both, %t
    }
    %scanned = scan %tile axis 0 combine (%u, %v.1) : f32[4, 16] {
      %most = max %u, %v.1 : f32
      yield %most
    }
    %old = atomic add %z[gather %index], %gathered fill %zero mask %mask : f32[4]
    %swapped = atomic cas acq_rel %z[%j], %zero, %sum fill %zero : f32
    print "nothing"
    print "at {}: {}", %i, %old
    assert %positive, "last is {}", %last
  }
}
)";

}  // namespace kiln::test
