// Single features of the lowering: compiled code against the interpreter.
#include <doctest/doctest.h>

#include "../ir/ir_text.h"
#include "ir/passes/pipeline.h"
#include "kernel_run.h"

using namespace kiln;
using namespace kiln::test;
using enum ir::ScalarType;

namespace {

/// Runs the text as it is and after the tile passes.
void compare(const std::string& text, const std::vector<ArgumentSpec>& arguments, Tolerance tolerance = {}) {
    ir::Kernel kernel = kernel_of(text);
    check_same(kernel, arguments, tolerance);
    ir::run_tile_passes(kernel);
    check_same(kernel, arguments, tolerance);
}

/// A kernel of one program over the parameters.
std::string program(const std::string& parameters, const std::string& body) {
    return "kernel @k(" + parameters +
           ") {\n  host {\n    %h0 = constant 0 : i64\n    %h1 = constant 1 : i64\n  }\n"
           "  phase (%program in %h0 .. %h1 by %h1) {\n" +
           body + "  }\n}\n";
}

std::string text_of(std::string text, const std::vector<std::pair<std::string, std::string>>& replacements) {
    for (const auto& [from, to] : replacements) {
        for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
            text.replace(at, from.size(), to);
        }
    }
    return text;
}

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("reductions of every kind, type and axis") {
        const std::string text = program("%x: in TYPE<?, ?, ?> unit 2, %y: out TYPE<?, ?> unit 1, %t: out TYPE<?>", R"(
    %zero = constant 0 : i64
    %fill = constant 0 : TYPE
    %v = load %x[%zero :+ 3, %zero :+ 5, %zero :+ 37] fill %fill : TYPE[3, 5, 37]
    %r0 = reduce KIND %v axis 0 : TYPE[5, 37]
    %r1 = reduce KIND %v axis 1 : TYPE[3, 37]
    %r2 = reduce KIND %v axis 2 : TYPE[3, 5]
    store %y[%zero :+ 5, %zero :+ 37], %r0
    %five = constant 5 : i64
    store %y[%five :+ 3, %zero :+ 37], %r1
    %eight = constant 8 : i64
    store %y[%eight :+ 3, %zero :+ 5], %r2
    %flat = reshape %v : TYPE[555]
    %all = reduce KIND %flat axis 0 : TYPE
    store %t[%zero], %all
)");
        const auto run = [&](const std::string& kind, ir::ScalarType type, Tolerance tolerance) {
            CAPTURE(kind);
            CAPTURE(ir::name(type));
            compare(text_of(text, {{"TYPE", std::string(ir::name(type))},
                                   {"KIND", kind},
                                   {"constant 0 : bool", "constant false : bool"}}),
                    {TensorSpec{type, {3, 5, 37}}, TensorSpec{type, {11, 37}}, TensorSpec{type, {1}}}, tolerance);
        };
        for (const ir::ScalarType type : {F16, BF16}) run("sum", type, {0.01, 0.01});
        run("sum", F32, {1e-4, 1e-4});
        run("sum", F64, {1e-12, 1e-12});
        for (const ir::ScalarType type : {I8, U8, I16, I32, U32, I64, U64}) run("sum", type, {});
        for (const ir::ScalarType type : {F16, BF16, F32, F64, I8, U16, I32, U64}) {
            run("min", type, {});
            run("max", type, {});
        }
        for (const ir::ScalarType type : {F16, F32, F64}) {
            run("minimum", type, {});
            run("maximum", type, {});
        }
        run("any", Bool, {});
        run("all", Bool, {});
    }

    TEST_CASE("slices that begin and end anywhere") {
        const std::string text = program("%x: in f32<?, ?> unit 1, %s: i64, %t: i64, %y: out f32<?, ?> unit 1", R"(
    %zero = constant 0 : i64
    %fill = constant 7 : f32
    %v = load %x[%s :+ 4, %t :+ 20] fill %fill : f32[4, 20]
    store %y[%zero :+ 4, %zero :+ 20], %v
    store %y[%s :+ 4, %t :+ 20], %v
)");
        constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
        constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
        for (const std::int64_t row : {std::int64_t{0}, std::int64_t{-2}, std::int64_t{5}, kLeast, kMost}) {
            for (const std::int64_t column : {std::int64_t{0}, std::int64_t{-3}, std::int64_t{12}, kLeast, kMost - 5}) {
                CAPTURE(row);
                CAPTURE(column);
                compare(text, {TensorSpec{F32, {7, 25}}, ir::Scalar::int64(row), ir::Scalar::int64(column),
                               TensorSpec{F32, {9, 30}, {}, 2}});
            }
        }
    }

    TEST_CASE("any strides") {
        const std::string text = program("%x: in TYPE<?, ?>, %y: out TYPE<?, ?>", R"(
    %zero = constant 0 : i64
    %fill = constant 0 : TYPE
    %v = load %x[%zero :+ 6, %zero :+ 40] fill %fill : TYPE[6, 40]
    %w = permute %v axes [1, 0] : TYPE[40, 6]
    store %y[%zero :+ 40, %zero :+ 6], %w
)");
        for (const ir::ScalarType type : {F32, BF16, I8, F64, Bool}) {
            CAPTURE(ir::name(type));
            const std::string typed =
                text_of(text, {{"TYPE", std::string(ir::name(type))}, {"constant 0 : bool", "constant false : bool"}});
            for (const ir::Shape& strides :
                 {ir::Shape{40, 1}, ir::Shape{1, 6}, ir::Shape{-80, 2}, ir::Shape{3, -20}, ir::Shape{0, 1}}) {
                compare(typed, {TensorSpec{type, {6, 40}, strides}, TensorSpec{type, {40, 6}, {}, 2}});
                compare(typed, {TensorSpec{type, {5, 39}, strides}, TensorSpec{type, {38, 5}, {1, 41}, 2}});
            }
        }
    }

    TEST_CASE("gathers, scatters and masks") {
        compare(
            program("%x: in f32<?, ?> unit 1, %id: in i32<?> unit 0, %y: out f32<?, ?> unit 1, %z: inout f32<?> unit 0",
                    R"(
    %zero = constant 0 : i64
    %fill = constant -1 : f32
    %ifill = constant 0 : i32
    %ids = load %id[%zero :+ 19] fill %ifill : i32[19]
    %rows = load %x[gather %ids, %zero :+ 24] fill %fill : f32[19, 24]
    store %y[%zero :+ 19, %zero :+ 24], %rows
    %one = load %x[%zero, gather %ids] fill %fill : f32[19]
    %limit = broadcast %fill : f32[19]
    %mask = gt %one, %limit : bool[19]
    %old = load %z[gather %ids] fill %fill mask %mask : f32[19]
    %new = add %old, %one : f32[19]
    %iota = iota : i64[19]
    store %z[gather %iota], %new mask %mask
    %id1 = reshape %ids : i32[19, 1]
    %idr = broadcast %id1 : i32[19, 4]
    %io4 = iota : i64[4]
    %io14 = reshape %io4 : i64[1, 4]
    %ioc = broadcast %io14 : i64[19, 4]
    %ioi = convert %ioc : i32[19, 4]
    %both = load %x[gather %idr, gather %ioi] fill %fill : f32[19, 4]
    %c = constant 30 : i64
    store %y[%zero :+ 19, %c :+ 4], %both
)"),
            {TensorSpec{F32, {9, 23}}, TensorSpec{I32, {19}, {}, 3, 0.12}, TensorSpec{F32, {19, 40}, {}, 4},
             TensorSpec{F32, {19}, {}, 5}});
    }

    TEST_CASE("stores over what was read") {
        // A shifted store, a store at the same place, and a value used after its tensor was overwritten.
        compare(program("%z: inout f32<?> unit 0, %y: out f32<?> unit 0", R"(
    %zero = constant 0 : i64
    %one = constant 1 : i64
    %fill = constant 0 : f32
    %a = load %z[%zero :+ 50] fill %fill : f32[50]
    %b = add %a, %a : f32[50]
    store %z[%one :+ 50], %b
    %c = load %z[%zero :+ 50] fill %fill : f32[50]
    %d = mul %c, %c : f32[50]
    store %z[%zero :+ 50], %d
    store %y[%zero :+ 50], %c
    %e = load %z[%zero :+ 50] fill %fill : f32[50]
    store %y[%one :+ 50], %e
    %f = load %z[%one] fill %fill : f32
    store %z[%zero], %f
    %g = load %z[%zero :+ 50] fill %fill : f32[50]
    %h = reduce max %g axis 0 : f32
    store %y[%zero], %h
)"),
                {TensorSpec{F32, {60}}, TensorSpec{F32, {60}, {}, 2}});
    }

    TEST_CASE("tiles carried by loops and branches") {
        compare(program("%x: in f32<?> unit 0, %n: i64, %y: out f32<?> unit 0", R"(
    %zero = constant 0 : i64
    %one = constant 1 : i64
    %twenty = constant 20 : i64
    %forty = constant 40 : i64
    %sixty = constant 60 : i64
    %fill = constant 0 : f32
    %a0 = load %x[%zero :+ 20] fill %fill : f32[20]
    %b0 = load %x[%twenty :+ 20] fill %fill : f32[20]
    %a, %b, %c = for %k in %zero .. %n by %one carry (%p = %a0, %q = %b0, %r = %a0) : f32[20], f32[20], f32[20] {
      %s = add %p, %q : f32[20]
      %t = mul %s, %r : f32[20]
      yield %q, %s, %q
    }
    store %y[%zero :+ 20], %a
    store %y[%twenty :+ 20], %b
    store %y[%forty :+ 20], %c
    %w, %i = while (%v = %a, %j = %zero) : f32[20], i64 {
      %m = reduce max %v axis 0 : f32
      %limit = constant 100 : f32
      %small = lt %m, %limit : bool
      %few = lt %j, %n : bool
      %more = logical_and %small, %few : bool
      %v2 = add %v, %b : f32[20]
      yield %more, %v2, %j
    } do (%u, %l) {
      %l1 = add %l, %one : i64
      %u1 = add %u, %u : f32[20]
      yield %u1, %l1
    }
    store %y[%sixty :+ 20], %w
    %pos = gt %i, %one : bool
    %br = if %pos : f32[20] {
      %neg = neg %w : f32[20]
      yield %neg
    } else {
      yield %b
    }
    %eighty = constant 80 : i64
    store %y[%eighty :+ 20], %br
)"),
                {TensorSpec{F32, {40}}, ir::Scalar::int64(5), TensorSpec{F32, {100}, {}, 2}}, {1e-6, 1e-6});
    }

    TEST_CASE("bool and four-bit memory") {
        compare(program("%x: in bool<?> unit 0, %q: in u4<?, ?> unit 1, %y: out bool<?> unit 0, %r: out i4<?, ?> unit "
                        "1, %t: out i32<?, ?>",
                        R"(
    %zero = constant 0 : i64
    %one = constant 1 : i64
    %fill = constant false : bool
    %v = load %x[%zero :+ 33] fill %fill : bool[33]
    %n = logical_not %v : bool[33]
    store %y[%one :+ 33], %n
    %qf = constant 3 : u4
    %w = load %q[%zero :+ 3, %one :+ 21] fill %qf : u4[3, 21]
    %i = convert %w : i32[3, 21]
    store %t[%zero :+ 3, %zero :+ 21], %i
    %m = constant 5 : i32
    %mb = broadcast %m : i32[3, 21]
    %p = mul %i, %mb : i32[3, 21]
    %s = convert %p : i4[3, 21]
    store %r[%zero :+ 3, %zero :+ 21], %s
)"),
                {TensorSpec{Bool, {30}}, TensorSpec{U4, {3, 20}}, TensorSpec{Bool, {40}, {}, 2},
                 TensorSpec{I4, {3, 16}, {}, 3}, TensorSpec{I32, {3, 21}, {}, 4}});
    }

    TEST_CASE("views") {
        const std::string text =
            program("%x: in f32<?, ?> unit 1, %lo: i64, %hi: i64, %row: i64, %y: out f32<?, ?> unit 1", R"(
    %zero = constant 0 : i64
    %one = constant 1 : i64
    %fill = constant -2 : f32
    %v = view %x[%lo .. %hi, ..] : in f32<?, ?>
    %a = load %v[%zero :+ 6, %zero :+ 9] fill %fill : f32[6, 9]
    store %y[%zero :+ 6, %zero :+ 9], %a
    %w = view %v[%row, %one .. %hi] : in f32<?>
    %b = load %w[%zero :+ 9] fill %fill : f32[9]
    %n = size %w axis 0 : i64
    %f = convert %n : f32
    %six = constant 6 : i64
    store %y[%six, %zero :+ 9], %b
    %seven = constant 7 : i64
    store %y[%seven, %zero], %f
    %o = view %y[%seven, %lo .. %hi] : out f32<?>
    store %o[%one :+ 9], %b
)");
        for (const auto& [lo, hi, row] : std::vector<std::array<std::int64_t, 3>>{
                 {0, 5, 0}, {2, 4, 1}, {-3, 4, 0}, {3, 99, 2}, {4, 2, 0}, {2, 5, 7}, {2, 5, -1}}) {
            CAPTURE(lo);
            CAPTURE(hi);
            CAPTURE(row);
            compare(text, {TensorSpec{F32, {5, 11}}, ir::Scalar::int64(lo), ir::Scalar::int64(hi),
                           ir::Scalar::int64(row), TensorSpec{F32, {8, 12}, {}, 2}});
        }
    }

    TEST_CASE("dot of every operand form") {
        const std::string text =
            program("%a: in TYPE<?, ?> A, %b: in TYPE<?, ?> B, %s: i64, %t: i64, %c: out OUT<?, ?> unit 1", R"(
    %zero = constant 0 : i64
    %fill = constant 0 : TYPE
    %start = constant 0 : OUT
    %cz = broadcast %start : OUT[7, 20]
    %at = load %a[%s :+ 7, %t :+ 13] fill %fill : TYPE[7, 13]
    %bt = load %b[%t :+ 13, %s :+ 20] fill %fill : TYPE[13, 20]
    %d = dot %at, %bt, %cz : OUT[7, 20]
    %e = dot %at, %bt, %d : OUT[7, 20]
    %ap = permute %bt axes [1, 0] : TYPE[20, 13]
    %bp = permute %at axes [1, 0] : TYPE[13, 7]
    %cw = broadcast %start : OUT[20, 7]
    %f = dot %ap, %bp, %cw : OUT[20, 7]
    %g = permute %f axes [1, 0] : OUT[7, 20]
    %h = add %e, %g : OUT[7, 20]
    store %c[%zero :+ 7, %zero :+ 20], %h
)");
        struct Types {
            ir::ScalarType type, out;
            Tolerance tolerance;
        };
        const Types all[] = {{F32, F32, {1e-5, 1e-5}},
                             {BF16, F32, {1e-3, 1e-3}},
                             {F16, F32, {1e-4, 1e-4}},
                             {F64, F64, {1e-13, 1e-13}},
                             {I8, I32, {}},
                             {U8, I32, {}},
                             {F8E4M3, F32, {1e-5, 1e-3}},
                             {F8E5M2, F32, {1e-5, 100}},
                             {I4, I32, {}},
                             {F4E2M1, F32, {1e-5, 1e-5}}};
        for (const Types& types : all) {
            CAPTURE(ir::name(types.type));
            const bool nibbles = ir::bit_width(types.type) < 8;
            for (const bool transposed : {false, true}) {
                if (transposed && nibbles) continue;
                const std::string typed = text_of(text, {{"TYPE", std::string(ir::name(types.type))},
                                                         {"OUT", std::string(ir::name(types.out))},
                                                         {"<?, ?> A", transposed ? "<?, ?> unit 0" : "<?, ?> unit 1"},
                                                         {"<?, ?> B", transposed ? "<?, ?> unit 0" : "<?, ?> unit 1"}});
                for (const std::int64_t start : {0, 4, -2}) {
                    CAPTURE(start);
                    TensorSpec a{types.type, {9, 16}}, b{types.type, {16, 22}, {}, 2};
                    if (transposed) {
                        a.strides = {1, 9};
                        b.strides = {1, 16};
                    }
                    compare(typed,
                            {a, b, ir::Scalar::int64(start), ir::Scalar::int64(start),
                             TensorSpec{types.out, {7, 20}, {}, 3}},
                            types.tolerance);
                }
            }
        }
    }

    TEST_CASE("phases, scratch and launch values") {
        compare(
            R"(kernel @k(%x: in f32<?> unit 0, %alpha: f32, %flag: bool, %y: out f32<?> unit 0) {
  size %N = extent(%x, 0)
  host {
    %zero = constant 0 : i64
    %eight = constant 8 : i64
    %three = constant 3 : i64
    %M = add %N, %three : i64
    %half = mul %alpha, %alpha : f32
    %init = constant 2.5 : f32
  }
  scratch %s: inout f32<?> of (%M) initial %init
  phase (%i in %zero .. %N by %eight) {
    %fill = constant 0 : f32
    %a = load %x[%i :+ 8] fill %fill : f32[8]
    %h = broadcast %half : f32[8]
    %b = mul %a, %h : f32[8]
    store %s[%i :+ 8], %b
  }
  phase (%k in %zero .. %M by %three, %j in %zero .. %three by %eight) {
    %gap = constant 0 : f32
    %c = load %s[%k :+ 3] fill %gap : f32[3]
    %n = neg %c : f32[3]
    %f = broadcast %flag : bool[3]
    %d = select %f, %n, %c : f32[3]
    store %y[%k :+ 3], %d
  }
}
)",
            {TensorSpec{F32, {29}}, ir::Scalar::f32(1.5f), ir::Scalar::boolean(true), TensorSpec{F32, {40}, {}, 2}});
    }

    TEST_CASE("long chains") {
        std::string body =
            "    %zero = constant 0 : i64\n    %fill = constant 0 : f32\n    %v0 = load %x[%zero :+ 10] fill %fill : "
            "f32[10]\n"
            "    %s0 = load %x[%zero] fill %fill : f32\n";
        constexpr int kLength = 3000;
        for (int i = 0; i < kLength; ++i) {
            const std::string from = std::to_string(i), to = std::to_string(i + 1);
            body += "    %v" + to + " = sub %v" + from + ", %v0 : f32[10]\n    %s" + to + " = sub %s" + from +
                    ", %s0 : f32\n";
        }
        body += "    store %y[%zero :+ 10], %v" + std::to_string(kLength) +
                "\n    %twenty = constant 20 : i64\n    store %y[%twenty], %s" + std::to_string(kLength) + "\n";
        const ir::Kernel kernel = kernel_of(program("%x: in f32<?> unit 0, %y: out f32<?> unit 0", body));
        check_same(kernel, {TensorSpec{F32, {10}}, TensorSpec{F32, {30}, {}, 2}});
    }
}
