// Programs that are refused when they are specialised: those of tests/must_fail/types by `check_bodies`, and below
// those whose fault lies in what the host asks for.
#include <set>

#include "frontend/diagnostics.h"
#include "tests/dsl/must_fail_program.h"
#include "tests/frontend/kernel_run.h"

namespace kiln::frontend {

namespace {

constexpr std::string_view kTypesFolder = "tests/must_fail/types";

/// What `kiln check` says about a program whose names are right.
struct TypeRefusal {
    support::Diagnostics diagnostics;
    Program program;

    explicit TypeRefusal(const std::string& text)
        : program(load_program(
              "test.kiln", [&](const std::string&) { return std::optional(text); }, diagnostics)) {
        if (!diagnostics.has_errors()) check_bodies(program, diagnostics);
    }
};

constexpr const char* kAsked = R"(fn relu(x: f32) -> f32 = max(x, 0)
kernel k<T: float, N: int, f: fn(f32) -> f32 = relu>(x: in T[M, N], y: out T[M], r: in T[M] = none)
  tune BM in {8, 16}, FLAG in {true}
  where N % BM == 0 && FLAG
  require N > 4, "rows of {} are too short for {}", N, M
grid i in 0 .. M {
    static assert N < 100, "{} columns", N
    y[i] = x[i, 0] + r[i]
}
kernel loops(y: out f32[N])
grid i in 0 .. N {
    static for a in 0 .. 2000 {
        static for b in 0 .. 2000 { y[i] = 1 }
    }
}
kernel planned<S: int = 2>(y: out f32[N])
  schedule cpu { stages = S * 3 }
  schedule gpu { slots in {1, 2}, stages in {3, 4} }
grid i in 0 .. N { y[i] = 1 }
)";

struct Ask {
    std::string_view kernel, message;
    std::function<void(Request&)> change;
};

Request good_request(std::string_view kernel) {
    Request request;
    request.kernel = kernel;
    if (kernel != "k") return request;
    request.generics["N"] = ir::Scalar::int64(16);
    request.parameters["x"].element = ir::ScalarType::F32;
    return request;
}

const std::vector<Ask>& asks() {
    static const std::vector<Ask> table = {
        {"kk", "error: 1:1: `test.kiln` declares no kernel `kk`\nhint: did you mean `k`?\n", [](Request&) {}},
        {"k", "error: 2:8: `k` has no tunable `BN`\n", [](Request& r) { r.tunables["BN"] = ir::Scalar::int64(1); }},
        {"k", "error: 2:8: `k` has no generic `M`\n", [](Request& r) { r.generics["M"] = ir::Scalar::int64(1); }},
        {"k", "error: 2:8: `k` has no parameter `z`\n", [](Request& r) { r.parameters["z"].present = true; }},
        {"k", "error: 2:10: nothing gives `T`\nhint: pass it when asking for the kernel\n",
         [](Request& r) { r.parameters.clear(); }},
        {"k", "error: 2:20: `N` is a value\n", [](Request& r) { r.generics["N"] = ir::ScalarType::F32; }},
        {"k", "error: 2:28: `f` is a function that the file can name\n",
         [](Request& r) { r.generics["f"] = FunctionName{"tanh"}; }},
        {"k", "error: 2:10: `T` is a float type and f64 is none\nnote: 2:10: declared here\n",
         [](Request& r) { r.generics["T"] = ir::ScalarType::F64; }},
        {"k", "error: 2:20: `N` is int and this is i32\n",
         [](Request& r) { r.generics["N"] = ir::Scalar::integer(ir::ScalarType::I32, 16); }},
        {"k", "error: 2:54: `x` is not optional\n",
         [](Request& r) {
             r.parameters["x"].present = false;
             r.generics["T"] = ir::ScalarType::F32;
         }},
        {"k",
         "error: 8:22: `r` was left out by the caller\nhint: use it under `static if present(r)`\nnote: 2:82: declared "
         "here\n",
         [](Request& r) { r.parameters["r"].present = false; }},
        {"k", "error: 4:9: no choice meets `where N % BM == 0 && FLAG` (N is 17)\n",
         [](Request& r) { r.generics["N"] = ir::Scalar::int64(17); }},
        {"k", "error: 5:11: rows of 0 are too short for M\n",
         [](Request& r) { r.generics["N"] = ir::Scalar::int64(0); }},
        {"k", "error: 7:19: this static assertion is false: 160 columns\n",
         [](Request& r) { r.generics["N"] = ir::Scalar::int64(160); }},
        {"loops",
         "error: 13:37: this program is too large: it expands to more than a million statements\n"
         "hint: unroll less, or call fewer functions\n",
         [](Request&) {}},
        {"planned", "error: 17:27: `stages` is from 1 to 8, and this is 12\n",
         [](Request& r) { r.generics["S"] = ir::Scalar::int64(4); }},
        {"planned", "error: 16:8: no choice has as many `slots` as `stages`\n",
         [](Request& r) {
             r.targets = {"gpu", "nvidia", "sm_80"};
         }},
        {"planned", "error: 16:8: `planned` has no schedule key `wraps`\n",
         [](Request& r) { r.schedule["wraps"] = ir::ScheduleValue::number(4); }},
        {"planned", "error: 16:8: cpu has no `warps`\n",
         [](Request& r) { r.schedule["warps"] = ir::ScheduleValue::number(4); }},
        {"planned", "error: 16:8: the schedule key `stages` is a number from 1 to 8 and not rows\n",
         [](Request& r) {
             r.schedule["stages"] = {"rows", {}};
         }},
        {"planned",
         "error: 16:8: the schedule key `grid_order` is one of `rows`, `columns`, `grouped`, `longest_first` and not "
         "grouped(0)\n",
         [](Request& r) {
             r.schedule["grid_order"] = {"grouped", {0}};
         }},
        {"planned", "error: 16:8: the schedule key `roles` is one of `uniform`, `apart` and not producer_consumer\n",
         [](Request& r) {
             r.targets = {"amd"};
             r.schedule["roles"] = {"producer_consumer", {}};
         }},
    };
    return table;
}

}  // namespace

TEST_SUITE("must_fail") {
    TEST_CASE("each program with wrong types gets exactly its messages, at their places") {
        const auto paths = dsl::kiln_files(kTypesFolder);
        REQUIRE(paths.size() >= 9);
        for (const auto& path : paths) {
            CAPTURE(path.filename().string());
            const std::string text = dsl::read_file(path);
            const TypeRefusal refusal(text);
            CHECK(dsl::expected_messages(text) != "");
            CHECK(dsl::reported_messages(refusal.diagnostics, refusal.program.sources) == dsl::expected_messages(text));
        }
    }

    TEST_CASE("each wrong request for a kernel gets exactly its message") {
        const Program program = test::load_text(kAsked);
        for (const Ask& ask : asks()) {
            CAPTURE(ask.message);
            Request request = good_request(ask.kernel);
            ask.change(request);
            support::Diagnostics diagnostics;
            CHECK(!specialise(program, request, diagnostics).has_value());
            CHECK(dsl::reported_messages(diagnostics, program.sources) == ask.message);
        }
        support::Diagnostics diagnostics;
        CHECK(specialise(program, good_request("k"), diagnostics).has_value());
    }

    TEST_CASE("each row of the types section of the table of diagnostics is provoked") {
        std::set<std::string_view> provoked;
        for (const auto& path : dsl::kiln_files(kTypesFolder)) {
            const TypeRefusal refusal(dsl::read_file(path));
            for (const auto& diagnostic : refusal.diagnostics.all()) provoked.insert(diagnostic.kind->name);
        }
        const Program program = test::load_text(kAsked);
        for (const Ask& ask : asks()) {
            Request request = good_request(ask.kernel);
            ask.change(request);
            support::Diagnostics diagnostics;
            specialise(program, request, diagnostics);
            for (const auto& diagnostic : diagnostics.all()) provoked.insert(diagnostic.kind->name);
        }
        bool own = false;
        for (const support::DiagnosticKind* kind : diagnostics::kDiagnosticKinds) {
            own |= kind == &diagnostics::kOperandTypes;  // the first of the section
            CAPTURE(kind->name);
            if (own) CHECK(provoked.count(kind->name) == 1);
        }
    }
}

}  // namespace kiln::frontend
