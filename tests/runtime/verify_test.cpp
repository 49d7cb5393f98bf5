// Verification must catch what is wrong and pass what is right, and its bounds must be those of the language.
#include "runtime/verify.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "runtime/body_facts.h"
#include "tests/runtime/host.h"

namespace kiln::test {
namespace {

using runtime::VerifyReport;

/// A module whose kernel `k` computes `body` and is checked against `r`, which computes `reference`, over y[M, N].
std::string pair_of(const std::string& body, const std::string& reference, const std::string& within = "",
                    const std::string& type = "f32") {
    const std::string parameters = "(x: in " + type + "[M, N], y: out " + type + "[M, N])\n";
    return "kernel k" + parameters + "  reference r " + within + "\ngrid i in 0 .. M, j in 0 .. N {\n" + body +
           "\n}\nkernel r" + parameters + "grid i in 0 .. M, j in 0 .. N {\n" + reference + "\n}\n";
}

VerifyReport verified(const std::string& text, DType dtype, void* x, void* y, Extents sizes, std::uint64_t seed = 1) {
    const auto module = std::make_shared<runtime::ModuleState>(
        "text.kiln", [&](const std::string& path) { return path == "text.kiln" ? std::optional(text) : std::nullopt; });
    runtime::KernelState kernel(module, "k", {});
    const std::vector<Argument> arguments = {tensor(dtype, x, sizes), tensor(dtype, y, sizes)};
    return runtime::verify(kernel, *cpu().backend(), arguments, seed);
}

VerifyReport verified(const std::string& text, Extents sizes = {5, 7}) {
    std::vector<float> x(static_cast<std::size_t>(sizes[0] * sizes[1])), y(x.size());
    std::iota(x.begin(), x.end(), 1.0f);
    return verified(text, f32, x.data(), y.data(), sizes);
}

TEST_SUITE("faults") {
    TEST_CASE("verify: a right kernel passes, and every element was compared") {
        const VerifyReport report = verified(pair_of("y[i, j] = x[i, j] * 2", "y[i, j] = x[i, j] + x[i, j]"));
        CHECK(report.passed);
        CHECK(report.reference == "r");
        CHECK(report.programs == 35);
        CHECK(report.reference_programs == 35);
        REQUIRE(report.outputs.size() == 1);
        CHECK(report.outputs[0].name == "y");
        CHECK(report.outputs[0].compared == 35);
        CHECK(report.outputs[0].failed == 0);
        CHECK(report.outputs[0].largest_error == 0);
    }

    TEST_CASE("verify: one wrong element is found, with its place and both values") {
        const VerifyReport report =
            verified(pair_of("y[i, j] = select(i == 3 && j == 4, 1000, x[i, j])", "y[i, j] = x[i, j]"));
        CHECK(!report.passed);
        CHECK(report.outputs[0].failed == 1);
        REQUIRE(report.outputs[0].worst);
        CHECK(report.outputs[0].worst->index == std::vector<std::int64_t>{3, 4});
        CHECK(report.outputs[0].worst->value == 1000);
        CHECK(report.outputs[0].worst->reference == 26);
    }

    TEST_CASE("verify: NaN and infinity for a number are wrong, for themselves they are right") {
        CHECK(!verified(pair_of("y[i, j] = select(j == 2, nan, x[i, j])", "y[i, j] = x[i, j]")).passed);
        CHECK(!verified(pair_of("y[i, j] = select(j == 2, inf, x[i, j])", "y[i, j] = x[i, j]")).passed);
        CHECK(!verified(pair_of("y[i, j] = x[i, j]", "y[i, j] = select(j == 2, nan, x[i, j])")).passed);
        CHECK(!verified(pair_of("y[i, j] = x[i, j]", "y[i, j] = select(j == 2, inf, x[i, j])")).passed);
        CHECK(!verified(pair_of("y[i, j] = -inf", "y[i, j] = inf")).passed);
        CHECK(verified(pair_of("y[i, j] = nan", "y[i, j] = nan")).passed);
        CHECK(verified(pair_of("y[i, j] = -inf", "y[i, j] = -inf")).passed);
    }

    TEST_CASE("verify: elements that one of the two does not write are wrong") {
        CHECK(!verified(pair_of("if i != 4 || j != 6 { y[i, j] = x[i, j] }", "y[i, j] = x[i, j]")).passed);
        CHECK(!verified(pair_of("y[i, j] = x[i, j]", "if i != 4 || j != 6 { y[i, j] = x[i, j] }")).passed);
        const VerifyReport same =
            verified(pair_of("if i != 4 { y[i, j] = x[i, j] }", "if i != 4 { y[i, j] = x[i, j] }"));
        CHECK(same.passed);
        CHECK(same.outputs[0].compared == 28);
    }

    TEST_CASE("verify: 64-bit integers that f64 cannot tell apart are told apart") {
        std::vector<std::int64_t> x(35, std::int64_t{1} << 60), y(35);
        const auto report = [&](const std::string& body) {
            return verified(pair_of(body, "y[i, j] = x[i, j]", "", "i64"), i64, x.data(), y.data(), {5, 7});
        };
        CHECK(report("y[i, j] = x[i, j]").passed);
        CHECK(!report("y[i, j] = x[i, j] + 1").passed);
        CHECK(report("y[i, j] = x[i, j] + 1").outputs[0].failed == 35);
    }

    TEST_CASE("verify: every value of a small integer type counts") {
        std::vector<std::uint8_t> x(256), y(256);
        std::iota(x.begin(), x.end(), std::uint8_t{0});
        const auto report = [&](const std::string& body) {
            return verified(pair_of(body, "y[i, j] = x[i, j]", "", "u8"), u8, x.data(), y.data(), {16, 16});
        };
        CHECK(report("y[i, j] = x[i, j]").passed);
        CHECK(report("y[i, j] = x[i, j] ^ 1").outputs[0].failed == 256);
    }

    TEST_CASE("verify: elements of 4 bits, two to a byte") {
        for (const auto& [name, dtype] : {std::pair{"i4", i4}, {"u4", u4}, {"f4e2m1", f4e2m1}}) {
            CAPTURE(name);
            const auto text = [type = std::string(name)](const std::string& value) {
                return "kernel k(x: in " + type + "[M, N], y: out " + type +
                       "[M, N])\n  reference r\ngrid i in 0 .. M, j in 0 .. N by 8 {\n    let t = x[i, j :+ 8]\n"
                       "    y[i, j :+ 8] = " +
                       value + "\n}\nkernel r(x: in " + type + "[M, N], y: out " + type +
                       "[M, N])\ngrid i in 0 .. M, j in 0 .. N by 4 { y[i, j :+ 4] = x[i, j :+ 4] }\n";
            };
            std::vector<std::uint8_t> x(3 * 8), y(x.size());
            for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint8_t>(i * 37 + 1);
            const VerifyReport right = verified(text("t"), dtype, x.data(), y.data(), {3, 16});
            CHECK(right.passed);
            CHECK(y == x);
            const std::string one_off = "select(i == 1 && j + iota(8) == 11, x[2, 0 :+ 8], t)";
            const VerifyReport wrong = verified(text(one_off), dtype, x.data(), y.data(), {3, 16});
            CHECK(!wrong.passed);
            REQUIRE(wrong.outputs[0].worst);
            CHECK(wrong.outputs[0].worst->index == std::vector<std::int64_t>{1, 11});
        }
    }

    TEST_CASE("verify: `within` is the bound, relative and absolute") {
        const auto off_by = [](const std::string& error, const std::string& within) {
            return verified(pair_of("y[i, j] = 8 + " + error, "y[i, j] = 8", within)).passed;
        };
        CHECK(off_by("0.5", "within 0, 0.5"));
        CHECK(!off_by("0.5", "within 0, 0.25"));
        CHECK(off_by("0.5", "within 0.0625"));
        CHECK(!off_by("0.5", "within 0.03125"));
        CHECK(off_by("0.5", "within 0.03125, 0.25"));
        CHECK(!off_by("0.00048828125", "within 0"));
        CHECK(off_by("0.00048828125", "within 512 * epsilon(f32)"));
        CHECK(!off_by("0.00048828125", "within 511 * epsilon(f32)"));
    }

    TEST_CASE("verify: `inout` is updated once by each, from the same values") {
        const std::string text =
            "kernel k(x: in f32[M, N], y: inout f32[M, N])\n  reference r\n"
            "grid i in 0 .. M, j in 0 .. N { y[i, j] = y[i, j] * 2 + x[i, j] }\n"
            "kernel r(x: in f32[M, N], y: inout f32[M, N])\n"
            "grid i in 0 .. M, j in 0 .. N { y[i, j] = y[i, j] + y[i, j] + x[i, j] }\n";
        std::vector<float> x(6, 1.0f), y(6, 3.0f);
        CHECK(verified(text, f32, x.data(), y.data(), {2, 3}).passed);
        CHECK(y == std::vector<float>(6, 7.0f));
    }

    TEST_CASE("verify: empty tensors pass, and a kernel without a reference is an error") {
        float nothing = 0;
        CHECK(verified(pair_of("y[i, j] = 1", "y[i, j] = 1"), f32, &nothing, &nothing + 1, {0, 7}).passed);
        const std::string text =
            "kernel k(x: in f32[M, N], y: out f32[M, N])\n"
            "grid i in 0 .. M, j in 0 .. N { y[i, j] = 1 }\n";
        CHECK(error_of([&] { verified(text); }) == "user: `k` names no reference to verify against");
    }

    TEST_CASE("verify: a costly reference is sampled, and a wrong corner or edge is found by any seed") {
        const std::string slow = "var s: f32 = 0\nfor n in 0 .. 20000 { s = s + x[i, j] }\ny[i, j] = s * 0 + x[i, j]";
        constexpr std::int64_t kRows = 120, kColumns = 90;
        std::vector<float> x(kRows * kColumns, 1.0f), y(x.size());
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            const VerifyReport right =
                verified(pair_of("y[i, j] = x[i, j]", slow), f32, x.data(), y.data(), {kRows, kColumns}, seed);
            CHECK(right.passed);
            CHECK(right.reference_programs == kRows * kColumns);
            CHECK(right.programs == runtime::kSampledPrograms);
            CHECK(right.outputs[0].compared == runtime::kSampledPrograms);
        }
        for (const char* wrong :
             {"i == 0 && j == 0", "i == 119 && j == 89", "i == 0 && j == 89", "i == 119", "j == 89"}) {
            const std::string body = "y[i, j] = select(" + std::string(wrong) + ", 5, x[i, j])";
            CHECK(!verified(pair_of(body, slow), f32, x.data(), y.data(), {kRows, kColumns}, 3).passed);
        }
    }
}

TEST_SUITE("unit") {
    TEST_CASE("sampled programs: corners and edges are in it, each point once, and no fewer than asked for") {
        for (const std::vector<std::int64_t>& grid :
             {std::vector<std::int64_t>{1000000}, {300, 400}, {1, 100000}, {7, 3, 5000}, {2, 32, 128, 16}, {11}}) {
            const std::int64_t total = std::accumulate(grid.begin(), grid.end(), std::int64_t{1}, std::multiplies<>());
            for (const std::uint64_t seed : {1u, 2u}) {
                const std::vector<std::int64_t> sample = runtime::sampled_programs(grid, 4096, seed);
                CHECK(static_cast<std::int64_t>(sample.size()) >= std::min<std::int64_t>(4096, total));
                CHECK(std::set<std::int64_t>(sample.begin(), sample.end()).size() == sample.size());
                CHECK(std::is_sorted(sample.begin(), sample.end()));
                CHECK(sample.front() == 0);
                CHECK(sample.back() == total - 1);
            }
        }
        CHECK(runtime::sampled_programs({300, 400}, 4096, 1) == runtime::sampled_programs({300, 400}, 4096, 1));
        CHECK(runtime::sampled_programs({300, 400}, 4096, 1) != runtime::sampled_programs({300, 400}, 4096, 2));
        CHECK(runtime::sampled_programs({5, 0}, 4096, 1).empty());
        // Axes shorter than their share are walked whole along every corner.
        const auto sample = runtime::sampled_programs({300, 400}, 4096, 1);
        const std::set<std::int64_t> points(sample.begin(), sample.end());
        std::int64_t first_column = 0;
        for (std::int64_t i = 0; i < 300; ++i) first_column += static_cast<std::int64_t>(points.count(i * 400));
        CHECK(first_column >= 150);
        for (std::int64_t j : {0, 399}) {
            CHECK(points.count(j) == 1);
            CHECK(points.count(299 * 400 + j) == 1);
        }
    }
}

/// The tolerance for output `y` of kernel `k`, for M x N arguments x and y.
runtime::Tolerance tolerance_of(const std::string& text, DType dtype, Extents sizes, DType output) {
    const auto module = std::make_shared<runtime::ModuleState>(
        "text.kiln", [&](const std::string& path) { return path == "text.kiln" ? std::optional(text) : std::nullopt; });
    runtime::KernelState kernel(module, "k", {});
    std::vector<double> x(1 << 14), y(1 << 14);
    const std::vector<Argument> arguments = {tensor(dtype, x.data(), sizes), tensor(output, y.data(), {sizes[0]})};
    const auto prepared = kernel.prepare(*cpu().backend(), arguments);
    return runtime::default_tolerance(prepared->compiled().facts, prepared->compiled().kernel(), prepared->launch(),
                                      runtime::to_scalar_type(output));
}

TEST_SUITE("unit") {
    TEST_CASE("tolerance: the default rule, by hand") {
        constexpr double kF32 = 0x1p-23, kBf16 = 0x1p-7, kF64 = 0x1p-52;
        const auto expect = [](const runtime::Tolerance& tolerance, double relative, double absolute) {
            CHECK(tolerance.relative == doctest::Approx(relative).epsilon(1e-12));
            CHECK(tolerance.absolute == doctest::Approx(absolute).epsilon(1e-12));
        };
        // Elementwise: nothing is summed, so C is 1.
        const std::string elementwise =
            "kernel k<T: real>(x: in T[M, N], y: out T[M])\ngrid i in 0 .. M { y[i] = x[i, 0] * 2 }\n";
        expect(tolerance_of(elementwise, f32, {4, 8}, f32), 2 * kF32, 2 * kF32 + 8 * kF32);
        expect(tolerance_of(elementwise, bf16, {4, 8}, bf16), 2 * kBf16, 2 * kBf16 + 8 * kF32);
        // A reduction over a compile-time extent of 64.
        const std::string reduced =
            "kernel k<T: real, N: int>(x: in T[M, N], y: out f32[M])\n"
            "grid i in 0 .. M { y[i] = sum(f32(x[i, :])) }\n";
        expect(tolerance_of(reduced, f32, {4, 64}, f32), 2 * kF32, 2 * kF32 + 8 * kF32 * 8);
        // Read as bf16, computed in f32: reading rounds nothing.
        expect(tolerance_of(reduced, bf16, {4, 64}, f32), 2 * kF32, 2 * kF32 + 8 * kF32 * 8);
        // A loop around a reduction: C is the run-time size, 400.
        const std::string looped =
            "kernel k(x: in f32[M, N], y: out f32[M])\ngrid i in 0 .. M {\n    var s: f32 = 0\n"
            "    for j in 0 .. N by 16 { s += sum(x[i, j :+ 16]) }\n    y[i] = s\n}\n";
        expect(tolerance_of(looped, f32, {4, 400}, f32), 2 * kF32, 2 * kF32 + 8 * kF32 * 20);
        // An intermediate rounded to bf16 is the coarsest, though the output is f32.
        const std::string rounded =
            "kernel k(x: in f32[M, N], y: out f32[M])\n"
            "grid i in 0 .. M { y[i] = f32(bf16(x[i, 0] * 3)) }\n";
        expect(tolerance_of(rounded, f32, {4, 8}, f32), 2 * kBf16, 2 * kBf16 + 8 * kF32);
        // Sums in f64 of f64 still name f32 as accumulator, the coarsest that sums may be carried in; integers are
        // exact.
        const std::string integers =
            "kernel k(x: in i32[M, N], y: out i32[M])\ngrid i in 0 .. M { y[i] = x[i, 0] * 2 }\n";
        expect(tolerance_of(integers, i32, {4, 8}, i32), 0, 0);
        CHECK(runtime::epsilon(ir::ScalarType::F64) == kF64);
        CHECK(runtime::epsilon(ir::ScalarType::F16) == 0x1p-10);
        CHECK(runtime::epsilon(ir::ScalarType::I8) == 0);
    }
}

}  // namespace
}  // namespace kiln::test
