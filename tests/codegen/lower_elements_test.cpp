// Ops that go element by element, and loops that end early: compiled code against the interpreter, from programs of the
// language.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

#include "frontend/specialise.h"
#include "ir/passes/pipeline.h"
#include "kernel_run.h"

using namespace kiln;
using namespace kiln::test;
using enum ir::ScalarType;

namespace {

/// Runs `kernel k(parameters) body`, with a tensor for each parameter in order.
void check(const std::string& text, const std::vector<TensorSpec>& tensors, Tolerance tolerance = {}) {
    CAPTURE(text);
    support::Diagnostics diagnostics;
    const frontend::Program program = frontend::load_program(
        "test.kiln", [&](const std::string&) { return std::optional(text); }, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(program.sources));
    frontend::Request request;
    request.kernel = "k";
    const dsl::Ast& ast = program.files[0].ast;
    std::vector<ArgumentSpec> arguments;
    for (const dsl::NodeId parameter : ast.children_of(ast.child(program.files[0].declarations.at("k"), 1))) {
        const TensorSpec& tensor = tensors[arguments.size()];
        frontend::ParameterRequest& described = request.parameters[std::string(ast[parameter].text)];
        described.element = tensor.element;
        described.sizes = tensor.sizes;
        described.facts.unit_axis = static_cast<int>(tensor.sizes.rank()) - 1;
        arguments.emplace_back(tensor);
    }
    auto specialised = frontend::specialise(program, request, diagnostics);
    REQUIRE_MESSAGE(specialised.has_value(), diagnostics.render(program.sources));
    check_same(specialised->kernel, arguments, tolerance);
    ir::run_tile_passes(specialised->kernel);
    check_same(specialised->kernel, arguments, tolerance);
}

TensorSpec filled(ir::ScalarType element, const ir::Shape& sizes, std::uint32_t seed = 1, double scale = 1) {
    return {element, sizes, {}, seed, scale};
}

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("elements: join and stack of every width") {
        const std::string text = R"(
kernel k<T: any>(x: in T[M, N], y: out T[M, N], z: out T[M, N])
grid i in 0 .. M by 3 {
    let a = x[i :+ 3, 0 :+ 4]
    let b = x[i :+ 3, 4 :+ 6]
    y[i :+ 3, 0 :+ 10] = join(b, a, axis = 1)
    z[i :+ 3, 0 :+ 8] = reshape(stack(a, x[i :+ 3, 6 :+ 4], axis = 1), 3, 8)
})";
        for (const ir::ScalarType type : {F32, BF16, I64, U8, Bool, U4, F4E2M1, F8E4M3}) {
            CAPTURE(ir::name(type));
            check(text, {filled(type, {7, 10}), filled(type, {7, 10}, 2), filled(type, {7, 10}, 3)});
        }
    }

    TEST_CASE("elements: reduce and scan with one's own function along every axis") {
        for (const char* axis : {"0", "1", "2"}) {
            check(fmt::format(R"(
kernel k(x: in f32[A, B, C], id: in i32[A, B, C], y: out f32[N], z: inout i64[N])
grid one in 0 .. 1 {{
    let scale = x[0, 0, 1]
    fn better(a: (f32, i32), b: (f32, i32)) -> (f32, i32) {{
        let va, ia = a
        let vb, ib = b
        if va * scale > vb {{ return (va, ia + ib) }}
        var n = ib
        for i in 0 .. 3 {{
            if n > 50 {{ break }}
            n += ia
        }}
        return (vb, n)
    }}
    let t = x[0 :+ 3, 0 :+ 5, 0 :+ 7]
    let u = id[0 :+ 3, 0 :+ 5, 0 :+ 7]
    let v, i = reduce((t, u), better, axis = {0})
    y[0] = sum(v)
    z[0] = i64(sum(i))
    let sv, si = scan((t, u), better, axis = {0})
    y[1 :+ 105] = reshape(sv, 105)
    z[1 :+ 105] = reshape(i64(si), 105)
    let first, at = reduce((t, u), better)
    y[106] = first
    z[106] = i64(at) + argmax(t) + sum(argmax(t, axis = {0})) + argmax(u > 0)
    y[107 :+ 105] = reshape(cumsum(t, axis = {0}), 105)
    z[107 :+ 105] = reshape(cumsum(i64(u), axis = {0}, exclusive = true), 105)
}})",
                              axis),
                  {filled(F32, {3, 5, 7}), filled(I32, {3, 5, 7}, 2), filled(F32, {212}, 3), filled(I64, {212}, 4)},
                  {1e-5, 1e-5});
        }
    }

    TEST_CASE("elements: sort, topk and bincount") {
        const std::string text = R"(
kernel k<T: number>(x: in T[M, N], y: out T[M, N], z: out T[M, N], at: out i64[M, N], bins: out u32[N])
grid one in 0 .. 1 {
    let t = x[0 :+ 5, 0 :+ 17]
    y[0 :+ 5, 0 :+ 17] = sort(t, axis = 1)
    z[0 :+ 5, 0 :+ 17] = sort(t, axis = 0, descending = true)
    let v, places = topk(t, 4)
    at[0 :+ 5, 0 :+ 4] = places
    z[0 :+ 5, 13 :+ 4] = v
    bins[0 :+ 9] = bincount(i64(t), 9, mask = places[:, 0 :+ 1] > 3)
    bins[9 :+ 8] = bincount(i32(t), 8)
})";
        for (const ir::ScalarType type : {F32, F64, BF16, F16, I8, U8, I64, U64}) {
            CAPTURE(ir::name(type));
            check(text, {filled(type, {5, 17}, 1, 0.05), filled(type, {5, 17}, 2), filled(type, {5, 17}, 3),
                         filled(I64, {5, 17}, 4), filled(U32, {17}, 5)});
        }
        check(R"(
kernel k(x: in f32[N], y: out f32[N])
grid one in 0 .. 1 {
    let t = select(x[0 :+ 20] > 0, nan, x[0 :+ 20]) * select(iota(20) % 7 == 3, 0.0, 1.0)
    y[0 :+ 20] = sort(t, axis = 0)
    y[20 :+ 20] = sort(t, axis = 0, descending = true)
    y[40] = f32(argmax(t))
})",
              {filled(F32, {41}), filled(F32, {41}, 2)});
    }

    TEST_CASE("elements: atomics of every kind and type") {
        const auto atomics = [](const std::string& updates, ir::ScalarType type) {
            CAPTURE(ir::name(type));
            check(fmt::format(R"(
kernel k<T: number>(x: in T[N], id: in i32[N], y: inout T[M], z: inout T[N])
grid i in 0 .. N by 8 {{
    let at = id[i :+ 8]
    let v = x[i :+ 8]
{}
}})",
                              updates),
                  {filled(type, {19}, 1), filled(I32, {19}, 2, 0.1), filled(type, {9}, 3), filled(type, {19}, 4)});
        };
        for (const ir::ScalarType type : {I32, U32, I64, U64, F32, F64}) {
            atomics("    z[i :+ 8] = atomic_add(y[at, fill = 3], v)", type);
            atomics("    z[i :+ 8] = atomic_min(y[at, mask = v > 1], v)", type);
            atomics("    atomic_max(y[at], v)", type);
            atomics("    z[i :+ 8] = atomic_exchange(y[at], v, order = acq_rel)", type);
            atomics("    z[i :+ 8] = atomic_cas(y[at], y[at], v)", type);
            atomics("    z[i] = atomic_add(y[2], x[i])\n    z[i + 1] = atomic_add(y[99], x[i])", type);
            atomics("    atomic_add(y[i :+ 4], z[i :+ 4])\n    z[i :+ 4] = y[i :+ 4] + y[i :+ 4]", type);
        }
        for (const ir::ScalarType type : {I32, U32, I64, U64}) {
            atomics("    z[i :+ 8] = atomic_and(y[at], v)", type);
            atomics("    z[i :+ 8] = atomic_or(y[at], v)", type);
            atomics("    z[i :+ 8] = atomic_xor(y[at], v)", type);
        }
        for (const ir::ScalarType type : {F16, BF16}) atomics("    z[i :+ 8] = atomic_add(y[at], v)", type);
    }

    TEST_CASE("elements: loops that end early, and rounds of each element's own") {
        check(R"(
fn rounds(v: f32, n: int) -> (f32, f32) {
    var a = v
    var count: f32 = 0
    while abs(a) > 0.01 {
        a = a * 0.5
        count += 1
        if count > 5 { break }
    }
    if v > 0.5 { return (a, -1) }
    for i in 0 .. n {
        if i == 3 { continue }
        count += f32(i)
    }
    return (a, count)
}
kernel k(x: in f32[N], y: out f32[N], z: inout f32[N])
grid i in 0 .. N by 16 {
    let a, b = rounds(x[i :+ 16], iota(16))
    y[i :+ 16] = a
    z[i :+ 16] = b
    var total: f32[4] = 0
    for j in 0 .. N by 4 {
        let t = x[j :+ 4]
        if sum(t) > 1 { continue }
        total += t
        if any(t > 0.9) { break }
    }
    if sum(total) > 0 { z[i :+ 4] = total }
})",
              {filled(F32, {50}), filled(F32, {50}, 2), filled(F32, {50}, 3)}, {1e-6, 1e-6});
    }

    TEST_CASE("elements: random numbers are the same bits") {
        check(R"(
kernel k(x: in u64[N], y: out f32[N], z: out u32[N, 4])
grid i in 0 .. N by 8 {
    y[i :+ 8] = random(x[0], x[i :+ 8])
    let a, b, c, d = philox(x[i :+ 8], u64(i + iota(8)))
    z[i :+ 8, :] = stack(a, b, c, d, axis = 1)
})",
              {filled(U64, {21}), filled(F32, {21}, 2), filled(U32, {21, 4}, 3)});
    }

    TEST_CASE("elements: 4-bit tensors, read and written in parts") {
        for (const ir::ScalarType type : {I4, U4, F4E2M1}) {
            CAPTURE(ir::name(type));
            check(R"(
kernel k<T: any>(x: in T[M, N], y: out T[M, N], f: out f32[M, N])
grid i in 0 .. M by 2, j in 0 .. N by 6 {
    let t = x[i :+ 2, j :+ 6]
    f[i :+ 2, j :+ 6] = f32(t)
    y[i :+ 2, j :+ 6] = saturate(f32(t) * 0.5, T)
})",
                  {filled(type, {5, 16}), filled(type, {5, 16}, 2), filled(F32, {5, 16}, 3)});
        }
    }
}
