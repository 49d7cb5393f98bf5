#include "frontend/signature.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "tests/dsl/must_fail_program.h"

namespace kiln::frontend {

namespace {

Program load(const std::string& path, const FileReader& reader = frontend::read_file) {
    support::Diagnostics diagnostics;
    Program program = load_program(path, reader, diagnostics);
    REQUIRE(diagnostics.render(program.sources) == "");
    return program;
}

Program load_text(const std::string& text) {
    return load("test.kiln", [text](const std::string&) { return std::optional(text); });
}

Program library(const std::string& name) {
    return load(std::string(KILN_SOURCE_DIR) + "/tests/kernels/" + name);
}

std::string text(const GenericSignature& generic) {
    constexpr std::string_view kKinds[] = {"type", "value", "function"};
    return fmt::format("generic {}: {} ({}){}{}\n", generic.name, generic.type_text,
                       kKinds[static_cast<std::size_t>(generic.kind)], generic.has_default ? " default" : "",
                       generic.deducible ? " deducible" : "");
}

std::string text(const ParameterSignature& parameter) {
    std::string result = fmt::format("{}: ", parameter.name);
    if (parameter.is_tensor) result += fmt::format("{} ", ir::name(parameter.access));
    result += parameter.element;
    for (const SizeSignature& size : parameter.sizes) result += fmt::format(" [{}|{}]", size.text, size.name);
    return result + (parameter.optional ? " optional\n" : "\n");
}

/// A whole signature, a line each part.
std::string text(const KernelSignature& kernel) {
    std::string result = fmt::format("{}\n{}\n", kernel.name, kernel.documentation);
    for (const GenericSignature& each : kernel.generics) result += text(each);
    for (const ParameterSignature& each : kernel.parameters) result += text(each);
    for (const TunableSignature& each : kernel.tunables) {
        result += fmt::format("tune {}: {}\n", each.name, fmt::join(each.choices, ", "));
    }
    return result + fmt::format("reference {}\n", kernel.reference);
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("the signature of gemm") {
        const Program program = library("gemm.kiln");
        const auto kernels = signatures(program);
        REQUIRE(kernels.size() == 4);
        CHECK(text(kernels[0]) ==
              "gemm\n"
              "c = activation(alpha * a @ b + bias) + residual\n"
              "generic T: float (type) deducible\n"
              "generic Out: float (type) default deducible\n"
              "generic activation: fn(f32) -> f32 (function) default\n"
              "a: in T [M|M] [K|K]\n"
              "b: in T [K|K] [N|N]\n"
              "c: out Out [M|M] [N|N]\n"
              "bias: in Out [N|N] optional\n"
              "residual: in Out [M|M] [N|N] optional\n"
              "alpha: f32 optional\n"
              "tune BM: 64, 128, 256\n"
              "tune BN: 64, 128, 256\n"
              "tune BK: 32, 64, 128\n"
              "reference gemm_naive\n");
        CHECK(kernels[1].name == "gemm_naive");
        CHECK(kernels[1].documentation == "");
        CHECK(kernels[1].reference == "");
        CHECK(kernels[1].tunables.empty());
    }

    TEST_CASE("the signature of attention") {
        const auto kernel = signature(library("attention.kiln"), "attention");
        REQUIRE(kernel.has_value());
        CHECK(text(*kernel) ==
              "attention\n"
              "Attention forward: causal (bottom-right), GQA, sliding window, softcap, sinks, score and mask "
              "modifiers.\n"
              "generic T: float (type) deducible\n"
              "generic D: int (value) deducible\n"
              "generic DV: int (value) default deducible\n"
              "generic causal: bool (value) default\n"
              "generic window: int (value) default\n"
              "generic softcap: f32 (value) default\n"
              "generic score_mod: ScoreMod (function) default\n"
              "generic mask_mod: MaskMod (function) default\n"
              "q: in T [B|B] [H|H] [M|M] [D|D]\n"
              "k: in T [B|B] [HK|HK] [N|N] [D|D]\n"
              "v: in T [B|B] [HK|HK] [N|N] [DV|DV]\n"
              "scale: f32\n"
              "o: out T [B|B] [H|H] [M|M] [DV|DV]\n"
              "lse: out f32 [B|B] [H|H] [M|M] optional\n"
              "sinks: in f32 [H|H] optional\n"
              "tune BM: 64, 128\n"
              "tune BN: 32, 64, 80, 128\n"
              "reference attention_naive\n");
    }

    TEST_CASE("forms of sizes, choices and comments") {
        const auto kernels = signatures(load_text(R"(
// no documentation
/// First line.
///   Indented, after an empty line:
///
/// last.
kernel k<N: int, S: any>(
    x: inout S[N + 1,
               M * 4, _, cdiv(M, 2), M - N], n: int = 3)
  tune B in {2 *
             N, units()}
grid i in 0 .. M by B {
}
)"));
        REQUIRE(kernels.size() == 1);
        CHECK(text(kernels[0]) ==
              "k\n"
              "First line.\n  Indented, after an empty line:\n\nlast.\n"
              "generic N: int (value) deducible\n"
              "generic S: any (type) deducible\n"
              "x: inout S [N + 1|N] [M * 4|M] [_|] [cdiv(M, 2)|] [M - N|M]\n"
              "n: int optional\n"
              "tune B: 2 * N, units()\n"
              "reference \n");
    }

    TEST_CASE("a name that is no kernel has no signature") {
        const Program program = library("attention.kiln");
        CHECK(!signature(program, "fold").has_value());
        CHECK(!signature(program, "attend_no").has_value());
    }

    TEST_CASE("a program that could not be read has no signatures") {
        support::Diagnostics diagnostics;
        const Program program = load_program(
            "none.kiln", [](const std::string&) { return std::optional<std::string>(); }, diagnostics);
        CHECK(signatures(program).empty());
        CHECK(!signature(program, "k").has_value());
    }
}

}  // namespace kiln::frontend
