// Check mode: for each finding one program that has it and one, as close as can be, that has not.
#include "ir/checked_run.h"

#include <array>
#include <set>

#include "ir/findings.h"
#include "tests/dsl/must_fail_program.h"
#include "tests/frontend/kernel_run.h"

namespace kiln::test {

namespace {

struct Found {
    support::Diagnostics diagnostics;
    std::string text;
};

/// What a checked run of kernel `k` finds. It may take `x: in f32[8]`, `id: in i32[8]`, `y: out f32[8]`, `z: inout
/// f32[8]`, `count: inout i32[8]`, `flags: out i32[8]`, `big: i64` (2^62) and `n: int` (8).
Found found_in(const std::string& kernel) {
    const frontend::Program program = load_text(kernel);
    Launch launch;
    const auto declares = [&](const std::string& name) {
        return kernel.find(" " + name + ": ") != std::string::npos ||
               kernel.find("(" + name + ": ") != std::string::npos;
    };
    const auto give = [&](const std::string& name, ir::ScalarType type, double value) {
        if (declares(name)) launch.tensors[name] = HostTensor::filled(type, {8}, value);
    };
    give("x", ir::ScalarType::F32, 1);
    give("id", ir::ScalarType::I32, 3);
    give("y", ir::ScalarType::F32, 0);
    give("z", ir::ScalarType::F32, 0);
    give("count", ir::ScalarType::I32, 0);
    give("flags", ir::ScalarType::I32, 0);
    launch.scalars["big"] = ir::Scalar::int64(std::int64_t{1} << 62);
    launch.scalars["n"] = ir::Scalar::int64(8);
    const frontend::Specialisation specialisation = specialised(program, request_for(program, "k", launch));
    std::vector<ir::Argument> arguments;
    for (const ir::Parameter& parameter : specialisation.kernel.parameters) {
        const auto tensor = launch.tensors.find(parameter.name);
        if (tensor != launch.tensors.end()) {
            arguments.push_back(tensor->second.view());
        } else {
            arguments.push_back(launch.scalars.at(parameter.name));
        }
    }
    Found found;
    const ir::LaunchErrors errors = ir::checked_run(specialisation.kernel, arguments, 1, {}, found.diagnostics);
    CHECK(errors.messages.empty());
    found.text = dsl::reported_messages(found.diagnostics, program.sources);
    return found;
}

struct Pair {
    std::string_view has;       ///< the body, or header and body, of a kernel with the finding
    std::string_view findings;  ///< exactly
    std::string_view has_not;
};

const Pair kPairs[] = {
    {"(x: in f32[N], y: out f32[N])\ngrid i in 0 .. N by 4 {\n    y[i :+ 4] = x[i .. i + 5][0 :+ 4]\n}\n",
     "error: 3:17: the range 4 .. 9 does not lie in axis 0 of `x`, which has 8 elements, in program (i = 4)\n"
     "hint: the view is clamped to the axis; clamp the bounds yourself if that is meant\n",
     "(x: in f32[N], y: out f32[N])\ngrid i in 0 .. N by 4 {\n    y[i :+ 4] = x[i .. min(i + 5, N)][0 :+ 4]\n}\n"},
    {"(x: in f32[N], y: out f32[N])\ngrid i in 0 .. 1 {\n    y[i] = x[i - 3 .. i + 1][0]\n}\n",
     "error: 3:12: the range -3 .. 1 does not lie in axis 0 of `x`, which has 8 elements, in program (i = 0)\n"
     "hint: the view is clamped to the axis; clamp the bounds yourself if that is meant\n",
     // An empty range may begin anywhere.
     "(x: in f32[N], y: out f32[N])\ngrid i in 0 .. 1 {\n    y[i] = x[i - 3 .. i - 3][0]\n}\n"},
    {"(x: in f32[N], y: out f32[N], big: i64)\ngrid i in 0 .. N {\n    y[i] = x[i + big * 2]\n}\n",
     "error: 3:22: this index arithmetic overflows: the product of 4611686018427387904 and 2 is no i64, in program (i "
     "= "
     "0)\nhint: compute in `int`, and with smaller numbers\n",
     // The remainder is meant to drop what is too much.
     "(x: in f32[N], y: out f32[N], big: i64)\ngrid i in 0 .. N {\n    y[i] = x[mod(i + big * 2, N)]\n}\n"},
    {"(id: in i32[N], y: out f32[N], x: in f32[N])\ngrid i in 0 .. N by 8 {\n    y[i :+ 8] = x[id[i :+ 8] * "
     "1000000000]\n}\n",
     "error: 3:30: this index arithmetic overflows: the product of 3 and 1000000000 is no i32, in program (i = 0)\n"
     "hint: compute in `int`, and with smaller numbers\n",
     "(id: in i32[N], y: out f32[N], x: in f32[N])\ngrid i in 0 .. N by 8 {\n    y[i :+ 8] = x[int(id[i :+ 8]) * "
     "1000000000]\n}\n"},
    {"(x: in f32[N], y: out f32[N], big: i64)\ngrid i in 0 .. N {\n    var k = big\n    for j in 0 .. 3 { k = k + big "
     "}\n    y[i] = x[k]\n}\n",
     "error: 4:29: this index arithmetic overflows: the sum of 4611686018427387904 and 4611686018427387904 is no i64, "
     "in "
     "program (i = 0)\nhint: compute in `int`, and with smaller numbers\n",
     // No index is computed from it.
     "(x: in f32[N], y: out f32[N], big: i64)\ngrid i in 0 .. N {\n    var k = big\n    for j in 0 .. 3 { k = k + big "
     "}\n    y[i] = f32(k)\n}\n"},
    {"(x: in f32[N], y: out f32[N], big: i64)\ngrid i in 0 .. N {\n    y[i] = x[i32(big)]\n}\n",
     "error: 3:14: the index 4611686018427387904 does not fit i32, in program (i = 0)\n"
     "hint: indices may be of any integer type: leave out the conversion\n",
     "(x: in f32[N], y: out f32[N], big: i64)\ngrid i in 0 .. N {\n    y[i] = x[i32(big >> 60)]\n}\n"},
    {"(y: out f32[N])\n  scratch s: f32[N]\ngrid i in 0 .. N by 4 {\n    s[i :+ 2] = 1\n}\ngrid i in 0 .. N by 4 {\n   "
     " y[i :+ 4] = s[i :+ 4]\n}\n",
     "error: 7:17: `s[2]` is read before anything was written there, in program (i = 0)\n"
     "hint: write it first, or declare `s` with `= value`\n",
     "(y: out f32[N])\n  scratch s: f32[N]\ngrid i in 0 .. N by 4 {\n    s[i :+ 4] = 1\n}\ngrid i in 0 .. N by 4 {\n   "
     " y[i :+ 4] = s[i :+ 4]\n}\n"},
    {"(y: out f32[N])\n  scratch s: f32[N, 2]\ngrid i in 0 .. N {\n    y[i] = s[i, 1]\n}\n",
     "error: 4:12: `s[0, 1]` is read before anything was written there, in program (i = 0)\n"
     "hint: write it first, or declare `s` with `= value`\n",
     "(y: out f32[N])\n  scratch s: f32[N, 2] = 0\ngrid i in 0 .. N {\n    y[i] = s[i, 1]\n}\n"},
    {"(flags: out i32[N])\ngrid i in 0 .. N {\n    atomic_add(flags[i], 1)\n}\n",
     "error: 3:5: `flags[0]` is updated before the kernel wrote anything there, in program (i = 0)\n"
     "hint: declare `flags` as `inout`, or write it in an earlier phase\n",
     "(flags: out i32[N])\ngrid i in 0 .. N {\n    flags[i] = 0\n}\ngrid i in 0 .. N {\n    atomic_add(flags[i], "
     "1)\n}\n"},
    {"(y: out f32[N])\ngrid i in 0 .. N by 4 {\n    y[i :+ 5] = 1\n}\n",
     "error: 3:5: `y[4]` is written by program (i = 4) and by program (i = 0)\n"
     "hint: programs of a phase run in any order: give each elements of its own, use a further phase, or atomics\n",
     "(y: out f32[N])\ngrid i in 0 .. N by 4 {\n    y[i :+ 4] = 1\n}\n"},
    {"(z: inout f32[N])\ngrid i in 0 .. N by 4 {\n    let below = z[i - 1]\n    z[i :+ 4] = below\n}\n",
     "error: 3:17: `z[3]` is read by program (i = 4) and written by program (i = 0)\n"
     "hint: programs of a phase run in any order: give each elements of its own, use a further phase, or atomics\n"
     "note: 4:5: program (i = 0) is here\n",
     "(z: inout f32[N])\ngrid i in 0 .. N by 4 {\n    let below = z[i + 1]\n    z[i :+ 4] = below\n}\n"},
    {"(z: inout f32[N])\ngrid i in 0 .. N by 4 {\n    let above = z[i + 4]\n    z[i :+ 4] = above\n}\n",
     "error: 4:5: `z[4]` is read by program (i = 0) and written by program (i = 4)\n"
     "hint: programs of a phase run in any order: give each elements of its own, use a further phase, or atomics\n"
     "note: 3:17: program (i = 0) is here\n",
     // The second phase sees all of the first.
     "(z: inout f32[N])\n  scratch s: f32[N]\ngrid i in 0 .. N by 4 {\n    s[i] = z[i + 4]\n}\ngrid i in 0 .. N by 4 "
     "{\n    z[i :+ 4] = s[i]\n}\n"},
    {"(count: inout i32[N])\ngrid i in 0 .. N by 4 {\n    atomic_add(count[0], 1)\n    count[i] = 1\n}\n",
     "error: 3:5: `count[0]` is updated atomically by program (i = 4), and not atomically touched by program (i = 0)\n"
     "hint: programs of a phase run in any order: give each elements of its own, use a further phase, or atomics\n"
     "note: 4:5: program (i = 0) is here\n",
     "(count: inout i32[N])\ngrid i in 0 .. N by 4 {\n    atomic_add(count[0], 1)\n    count[i + 1] = 1\n}\n"},
    {"(x: in f32[N], z: inout f32[N])\ngrid i in 0 .. N {\n    atomic_add(z[0], x[i])\n}\n",
     "warning: 3:5: floats are added to `z[0]` in no fixed order, so that the last bits may differ from run to run\n",
     "(x: in f32[N], z: inout f32[N])\ngrid i in 0 .. N {\n    atomic_add(z[i], x[i])\n    atomic_max(z[i], "
     "x[i])\n}\n"},
    {"(y: out f32[N], n: int)\ngrid i in 0 .. N by 4 {\n    assert(i + 4 < n, \"{} of {}\", i, n)\n    y[i] = 1\n}\n",
     "error: 3:5: 4 of 8, in program (i = 4)\n",
     "(y: out f32[N], n: int)\ngrid i in 0 .. N by 4 {\n    assert(i + 4 <= n, \"{} of {}\", i, n)\n    y[i] = 1\n}\n"},
};

std::string kernel_of(std::string_view rest) {
    return "kernel k" + std::string(rest);
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("a checked run finds exactly what each program has, and nothing in its neighbour") {
        for (const Pair& pair : kPairs) {
            CAPTURE(pair.has);
            CHECK(found_in(kernel_of(pair.has)).text == pair.findings);
            CHECK(found_in(kernel_of(pair.has_not)).text == "");
        }
    }

    TEST_CASE("each row of the table of findings is provoked") {
        std::set<std::string_view> provoked;
        for (const Pair& pair : kPairs) {
            const Found found = found_in(kernel_of(pair.has));
            for (const auto& diagnostic : found.diagnostics.all()) provoked.insert(diagnostic.kind->name);
        }
        for (const support::DiagnosticKind* kind : ir::findings::kDiagnosticKinds) {
            CAPTURE(kind->name);
            CHECK(provoked.count(kind->name) == 1);
        }
    }

    TEST_CASE("an atomic that publishes puts programs in order, a relaxed one does not") {
        const auto last_reads = [](const std::string& order) {
            return found_in(
                       "kernel k(count: inout i32[N], y: out f32[N])\n  scratch s: f32[N]\n"
                       "grid i in 0 .. N by 4 {\n    s[i :+ 4] = 1\n"
                       "    let before = atomic_add(count[0], 1, order = " +
                       order +
                       ")\n"
                       "    if before == 1 { y[0 :+ 8] = s[0 :+ 8] }\n}\n")
                .text;
        };
        CHECK(last_reads("acq_rel") == "");
        const std::string relaxed = last_reads("relaxed");
        CHECK_MESSAGE(
            relaxed.starts_with("error: 6:34: `s[0]` is read by program (i = 4) and written by program (i = 0)\n"),
            relaxed);
    }

    TEST_CASE("two programs may not write halves of one byte") {
        const auto halves = [](const std::string& step) {
            const frontend::Program program = load_text("kernel k(y: out i4[8])\ngrid i in 0 .. 8 by " + step +
                                                        " {\n    y[i :+ " + step + "] = i4(1)\n}\n");
            frontend::Request request;
            request.kernel = "k";
            const frontend::Specialisation specialisation = specialised(program, request);
            std::array<std::byte, 4> memory{};
            const ir::Argument argument = ir::TensorView{ir::ScalarType::I4, memory.data(), {8}, {1}};
            support::Diagnostics diagnostics;
            CHECK(ir::checked_run(specialisation.kernel, std::span(&argument, 1), 1, {}, diagnostics).messages.empty());
            return dsl::reported_messages(diagnostics, program.sources);
        };
        CHECK(halves("2") == "");
        CHECK(halves("1").starts_with("error: 3:5: `y[1]` is written by program (i = 1) and by program (i = 0)\n"));
    }
}

}  // namespace kiln::test
