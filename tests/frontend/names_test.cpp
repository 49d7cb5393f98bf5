#include "frontend/names.h"

#include <doctest/doctest.h>

#include "frontend/builtins.h"
#include "frontend/schedule.h"
#include "tests/dsl/must_fail_program.h"

namespace kiln::frontend {

namespace {

std::string messages(const std::string& text) {
    support::Diagnostics diagnostics;
    const FileReader reader = [&text](const std::string& path) -> std::optional<std::string> {
        if (path == "main.kiln") return text;
        if (path == "mod.kiln") return "const SIDE = 4\ntype Pair = (f32, f32)\nfn twice(x: f32) -> f32 = 2 * x\n";
        return std::nullopt;
    };
    const Program program = load_program("main.kiln", reader, diagnostics);
    return dsl::reported_messages(diagnostics, program.sources);
}

/// The messages for the body of a kernel with the usual parameters.
std::string body_messages(const std::string& body) {
    return messages(
        "kernel k<T: float, D: int>(x: in T[M, N], y: out T[M, N], p: f32)\n  tune B in {4}\ngrid i in 0 .. M "
        "{\n" +
        body + "\n}\n");
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("declarations of a file may stand in any order and use imports") {
        CHECK(messages("import \"mod.kiln\" as mod\n"
                       "kernel k<T: Real>(x: in f32[N], y: out f32[N])\n  reference plain\ngrid i in 0 .. N {\n"
                       "    y[i] = f(x[i]) * A\n}\n"
                       "kernel plain(x: in f32[N], y: out f32[N])\ngrid i in 0 .. N { y[i] = mod.twice(x[i]) }\n"
                       "const A = B + mod.SIDE\n"
                       "fn f(x: Real) -> f32 = g(x)\n"
                       "fn g(x: Real) -> f32 = x\n"
                       "type Real = f32\n"
                       "type Both = (mod.Pair, Real)\n"
                       "const B = 2\n") == "");
    }

    TEST_CASE("names of builtins and types are free, and types stay types where a type stands") {
        CHECK(messages("fn sum(float: f32) -> f32 = float\n"
                       "fn f(max: f32, none: f32) -> f32 {\n    let min = sum(max)\n    return min + none\n}\n"
                       "kernel k(in_: in f32[grid], out: out f32[grid])\n"
                       "grid int in 0 .. grid by 4 {\n    var n: int = int\n    n = int\n"
                       "    out[int :+ 4] = f32(n)\n}\n") == "");
    }

    TEST_CASE("sibling blocks may use one name, and an ended block frees its names") {
        CHECK(body_messages("for j in 0 .. 4 { let a = j }\nfor j in 0 .. 4 { let a = j }\n"
                            "if p > 0 { let b = 1 } else { let b = 2 }\nlet a = 1\nlet b = a\nlet j = b") == "");
    }

    TEST_CASE("the signature of a local function may reuse outer names; its body captures what is fixed") {
        CHECK(body_messages("let scale = p\nconst C = B * 2\nfor j in 0 .. 4 {\n"
                            "    fn inner<N: int>(x: f32, i: int, j: f32[N], t: f32[B], u: f32[C]) -> f32[B, D] {\n"
                            "        var own = scale * f32(i + M + D)\n        own += x\n"
                            "        fn innermost(z: f32) -> f32 = z * f32(C) + f32(N)\n"
                            "        return t * innermost(scale)\n    }\n"
                            "    let r = inner(p, i, f32[4](0), f32[4](1), f32[8](0))\n}") == "");
    }

    TEST_CASE("sizes: plain names bind first, then the solved forms, whatever the order") {
        CHECK(messages(
                  "fn f<E: int>(a: f32[R * 2, 4], b: f32[R], o: in i32[E + 1], const W: int, t: f32[W]) -> f32[R] = b\n"
                  "const PAGE = 16\n"
                  "kernel k<G: int>(a: in f32[cdiv(K, 128), Q], b: in f32[K], w: in f32[Q * PAGE, _], "
                  "z: in f32[S - G], o: out f32[N + K])\n"
                  "grid i in 0 .. Q, j in 0 .. S { o[i] = b[j] }\n") == "error: 3:113: `N` is not declared\n");
    }

    TEST_CASE("a size of an optional tensor is known where that tensor is") {
        const std::string head =
            "kernel k(x: in f32[P] = none, z: in f32[P, Q] = none, q: in f32[Q], y: out f32[N])\ngrid i in 0 .. N {\n";
        CHECK(messages(head + "static if present(x) { y[i] = f32(P) }\n"
                              "static if N > 0 && present(z) { y[i] = f32(P + Q) }\n"
                              "static if !(present(x) && true) { } else { y[i] = f32(P) }\n"
                              "static if !!present(x) { fn f(v: f32) -> f32 = v + f32(P) }\n"
                              "y[i] = f32(Q)\n}") == "");
        const std::string message = "hint: use it under `static if present(x)`\nnote: 1:20: only here is `P` bound\n";
        CHECK(messages(head + "static if !present(x) { y[i] = f32(P) }\n}") ==
              "error: 3:36: `P` is known only if `x` is present\n" + message);
        CHECK(messages(head + "if present(x) { y[i] = f32(P) }\n}") ==
              "error: 3:28: `P` is known only if `x` is present\n" + message);
    }

    TEST_CASE("views of an `out` tensor are no reads, whatever is left out") {
        CHECK(body_messages("let row = y[i]\nlet rows = y[i .. i + 4, ..]\nlet part = y[0 .. 2][0 .. 1]\nrow[0] = 1\n"
                            "atomic_add(y[i][0], 1)\ny[i][0 :+ 4] = 1\nlet n = size(y, 1)") == "");
    }

    TEST_CASE("words of options and schedules are no names of the program") {
        CHECK(messages("kernel k(a: in f32[M, K], y: inout f32[M])\n  tune stages_ in {1}\n"
                       "  schedule gpu { grid_order in {rows, grouped(4)}, persistent = true, stages_ in {2} }\n"
                       "  schedule sm_120a { roles = producer_consumer, instruction = mma(16, 8, 16) }\n"
                       "  allow flush, reassociate\n"
                       "grid i in 0 .. M {\n"
                       "    let exact = dot(a[0 :+ 4, 0 :+ 4], a[0 :+ 4, 0 :+ 4], precision = exact)\n"
                       "    atomic_add(y[i], 1, order = acq_rel)\n}\n") == "");
    }

    TEST_CASE("an unknown name is reported once in a declaration, and each declaration for itself") {
        CHECK(messages("fn f() -> int = nowhere + nowhere\nfn g() -> int = nowhere\n") ==
              "error: 1:17: `nowhere` is not declared\nerror: 2:17: `nowhere` is not declared\n");
    }

    TEST_CASE("files with syntax errors are not checked for names") {
        CHECK(messages("const = 1\nconst A = nowhere\n") == "error: 1:7: expected a name, found `=`\n");
    }

    TEST_CASE("long flat programs are checked without recursion") {
        std::string chain = "const A = 1\nconst B = 0";
        for (int i = 0; i < 200'000; ++i) chain += " + A";
        CHECK(messages(chain) == "");
        std::string branches = "fn f(a: int) {\n    if a == 0 { }";
        for (int i = 0; i < 20'000; ++i) branches += " else if a == 1 { }";
        CHECK(messages(branches + "\n}\n") == "");
        std::string calls;
        for (int i = 0; i < 20'000; ++i) calls += fmt::format("fn f{}(x: f32) -> f32 = f{}(x)\n", i, (i + 1) % 20'000);
        const std::string cycle = messages(calls);
        CHECK(cycle.starts_with("error: 20000:28: `f0` calls itself\nhint: functions are inlined"));
        CHECK(std::count(cycle.begin(), cycle.end(), '\n') == 10);
    }

    TEST_CASE("every builtin of the language is known, and every op with a surface name is one") {
        constexpr std::string_view kNames[] = {
            "abs",        "min",        "max",        "clamp",      "minimum",   "maximum",    "fma",
            "sqrt",       "exp",        "exp2",       "log",        "log2",      "rsqrt",      "sin",
            "cos",        "tanh",       "erf",        "pow",        "floor",     "ceil",       "trunc",
            "round",      "isnan",      "isinf",      "select",     "cdiv",      "floordiv",   "mod",
            "ilog2",      "popcount",   "clz",        "saturate",   "bitcast",   "philox",     "unit",
            "random",     "iota",       "broadcast",  "reshape",    "transpose", "permute",    "stack",
            "join",       "split",      "sum",        "any",        "all",       "argmax",     "reduce",
            "scan",       "cumsum",     "sort",       "topk",       "bincount",  "dot",        "dot_scaled",
            "atomic_add", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor", "atomic_exchange",
            "atomic_cas", "size",       "present",    "lowest",     "epsilon",   "units",      "inf",
            "nan",        "none",       "print",      "assert"};
        for (const std::string_view name : kNames) {
            CAPTURE(name);
            CHECK(is_builtin(name));
        }
        CHECK(builtins().size() == std::size(kNames));
        for (const ir::OpInfo& op : ir::kOps) {
            if (op.surface.empty()) continue;
            CAPTURE(op.surface);
            CHECK(is_builtin(op.surface));
            CHECK(find_builtin(op.surface)->op == op.kind);
        }
        CHECK(!is_builtin("f32"));
        CHECK(!is_builtin("nothing"));
    }

    TEST_CASE("targets know their families") {
        constexpr std::string_view kGpuOnly[] = {"gpu"};
        CHECK(admits_target(kGpuOnly, "gfx942"));
        CHECK(admits_target(kGpuOnly, "nvidia"));
        CHECK(!admits_target(kGpuOnly, "x86_64_v4"));
        CHECK(admits_target({}, "cpu"));
        CHECK(wider_target("sm_90a") == "nvidia");
        CHECK(wider_target("nvidia") == "gpu");
        CHECK(wider_target("gpu") == "");
        CHECK(schedule_targets().size() == 20);
    }
}

}  // namespace kiln::frontend
