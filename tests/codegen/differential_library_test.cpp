// Kernels of the language's own library and examples: compiled code against the interpreter.
#include <doctest/doctest.h>

#include <map>

#include "frontend/specialise.h"
#include "ir/passes/pipeline.h"
#include "kernel_run.h"

using namespace kiln;
using namespace kiln::test;
using enum ir::ScalarType;

namespace {

using Named = std::map<std::string, ArgumentSpec>;
using Generics = std::map<std::string, frontend::GenericValue>;
using Tunables = std::map<std::string, ir::Scalar>;

struct Case {
    std::string file, kernel;
    Named arguments;
    Generics generics;
    Tunables tunables;
    Tolerance tolerance{2e-5, 2e-5};
};

/// What a runtime proves about a tensor: an axis of stride 1.
ir::TensorFacts facts_of(const TensorSpec& spec) {
    const ir::Shape strides = spec.strides.empty() ? row_major(spec.sizes) : spec.strides;
    ir::TensorFacts facts;
    for (std::size_t axis = 0; axis < strides.rank(); ++axis) {
        if (strides[axis] == 1) facts.unit_axis = static_cast<int>(axis);
    }
    return facts;
}

frontend::Specialisation specialised(const Case& test) {
    support::Diagnostics diagnostics;
    const std::string path = std::string(KILN_SOURCE_DIR) + "/tests/kernels/" + test.file + ".kiln";
    const frontend::Program program = frontend::load_program(path, frontend::read_file, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(program.sources));
    frontend::Request request;
    request.kernel = test.kernel;
    request.generics = test.generics;
    request.tunables = test.tunables;
    for (const auto& [name, argument] : test.arguments) {
        frontend::ParameterRequest& parameter = request.parameters[name];
        parameter.present = !std::holds_alternative<std::monostate>(argument);
        const auto* tensor = std::get_if<TensorSpec>(&argument);
        if (tensor == nullptr) continue;
        parameter.element = tensor->element;
        parameter.sizes = tensor->sizes;
        parameter.facts = facts_of(*tensor);
    }
    auto result = frontend::specialise(program, request, diagnostics);
    REQUIRE_MESSAGE(result.has_value(), diagnostics.render(program.sources));
    ir::run_tile_passes(result->kernel);
    return std::move(*result);
}

void check(const Case& test) {
    CAPTURE(test.kernel);
    const frontend::Specialisation specialisation = specialised(test);
    std::vector<ArgumentSpec> arguments;
    for (const ir::Parameter& parameter : specialisation.kernel.parameters) {
        const auto given = test.arguments.find(parameter.name);
        const auto by_default = specialisation.defaults.find(parameter.name);
        if (given != test.arguments.end()) {
            arguments.push_back(given->second);
        } else if (by_default != specialisation.defaults.end()) {
            arguments.push_back(by_default->second);
        } else {
            arguments.emplace_back();
        }
    }
    check_same(specialisation.kernel, arguments, test.tolerance);
}

TensorSpec tensor(ir::ScalarType element, const ir::Shape& sizes, std::uint32_t seed = 1) {
    return {element, sizes, {}, seed};
}
const std::monostate kAbsent{};

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("library vector_add") {
        for (const ir::ScalarType type : {F32, F16, BF16, F64, I8, U16, I32, U64}) {
            CAPTURE(ir::name(type));
            check({"vector_add",
                   "vector_add",
                   {{"a", tensor(type, {1003}, 1)}, {"b", tensor(type, {1003}, 2)}, {"y", tensor(type, {1003}, 3)}},
                   {},
                   {},
                   {}});
        }
    }

    TEST_CASE("library softmax") {
        for (const std::int64_t n : {1, 5, 64, 1000}) {
            CAPTURE(n);
            check({"softmax", "softmax", {{"x", tensor(F32, {3, n}, 1)}, {"y", tensor(F32, {3, n}, 2)}}});
            check({"softmax",
                   "softmax",
                   {{"x", tensor(BF16, {3, n}, 1)}, {"y", tensor(BF16, {3, n}, 2)}},
                   {},
                   {},
                   {0.01, 1e-6}});
        }
        check({"softmax", "softmax_long", {{"x", tensor(F32, {3, 3000}, 1)}, {"y", tensor(F32, {3, 3000}, 2)}}});
        check({"softmax",
               "softmax_long",
               {{"x", tensor(F16, {2, 70}, 1)}, {"y", tensor(F16, {2, 70}, 2)}},
               {},
               {},
               {0.01, 1e-6}});
    }

    TEST_CASE("library gemm") {
        const auto gemm = [](ir::ScalarType type, std::int64_t m, std::int64_t n, std::int64_t k, Tolerance tolerance) {
            CAPTURE(m);
            check({"gemm",
                   "gemm",
                   {{"a", tensor(type, {m, k}, 1)},
                    {"b", tensor(type, {k, n}, 2)},
                    {"c", tensor(type, {m, n}, 3)},
                    {"bias", tensor(type, {n}, 4)},
                    {"residual", tensor(type, {m, n}, 5)},
                    {"alpha", ir::Scalar::f32(0.5f)}},
                   {},
                   {},
                   tolerance});
            TensorSpec a = tensor(type, {m, k}, 1), b = tensor(type, {k, n}, 2);
            a.strides = {1, m + 3};
            b.strides = {1, k};
            check({"gemm",
                   "gemm",
                   {{"a", a}, {"b", b}, {"c", tensor(type, {m, n}, 3)}, {"bias", kAbsent}, {"residual", kAbsent}},
                   {},
                   {},
                   tolerance});
        };
        gemm(F32, 65, 300, 70, {1e-4, 1e-4});
        gemm(F32, 1, 5, 300, {1e-4, 1e-4});
        gemm(BF16, 65, 100, 70, {0.02, 0.02});
        gemm(F16, 30, 100, 33, {0.005, 0.005});
    }

    TEST_CASE("library attention") {
        const auto attention = [](ir::ScalarType type, std::int64_t m, std::int64_t n, std::int64_t d, bool causal,
                                  Tolerance tolerance) {
            CAPTURE(m);
            CAPTURE(n);
            check({"attention",
                   "attention",
                   {{"q", tensor(type, {1, 4, m, d}, 1)},
                    {"k", tensor(type, {1, 2, n, d}, 2)},
                    {"v", tensor(type, {1, 2, n, d}, 3)},
                    {"scale", ir::Scalar::f32(0.3f)},
                    {"o", tensor(type, {1, 4, m, d}, 4)},
                    {"lse", tensor(F32, {1, 4, m}, 5)},
                    {"sinks", kAbsent}},
                   {{"causal", ir::Scalar::boolean(causal)}},
                   {},
                   tolerance});
        };
        attention(F32, 70, 150, 32, false, {1e-4, 1e-4});
        attention(F32, 70, 150, 40, true, {1e-4, 1e-4});
        attention(F32, 40, 3, 16, true, {1e-4, 1e-4});
        attention(F32, 5, 0, 16, false, {1e-4, 1e-4});
        attention(BF16, 33, 65, 64, true, {0.03, 0.03});
        attention(F16, 33, 65, 64, false, {0.01, 0.01});
    }

    TEST_CASE("library norms") {
        check({"layer_norm",
               "layer_norm",
               {{"x", tensor(F32, {5, 100}, 1)},
                {"w", tensor(F32, {100}, 2)},
                {"b", tensor(F32, {100}, 3)},
                {"y", tensor(F32, {5, 100}, 4)},
                {"mean", tensor(F32, {5}, 5)},
                {"rstd", tensor(F32, {5}, 6)}},
               {},
               {},
               {1e-4, 1e-4}});
        check({"layer_norm",
               "layer_norm_backward",
               {{"x", tensor(F32, {5, 100}, 1)},
                {"w", tensor(F32, {100}, 2)},
                {"mean", tensor(F32, {5}, 3)},
                {"rstd", tensor(F32, {5}, 4)},
                {"dy", tensor(F32, {5, 100}, 5)},
                {"dx", tensor(F32, {5, 100}, 6)},
                {"dw", tensor(F32, {100}, 7)},
                {"db", tensor(F32, {100}, 8)}},
               {},
               {},
               {1e-4, 1e-4}});
        check({"rms_norm",
               "rms_norm",
               {{"x", tensor(BF16, {5, 100}, 1)},
                {"w", tensor(BF16, {100}, 2)},
                {"y", tensor(BF16, {5, 100}, 4)},
                {"residual", tensor(BF16, {5, 100}, 5)}},
               {},
               {},
               {0.01, 0.01}});
    }

    TEST_CASE("library movement") {
        for (const ir::ScalarType type : {F32, I8, Bool}) {
            check({"movement",
                   "transpose_copy",
                   {{"x", tensor(type, {70, 45}, 1)}, {"y", tensor(type, {45, 70}, 2)}},
                   {},
                   {},
                   {}});
        }
        check({"rope",
               "rope",
               {{"x", tensor(F32, {7, 3, 32}, 1)},
                {"position", TensorSpec{I32, {7}, {}, 2, 0.1}},
                {"cos_table", tensor(F32, {12, 16}, 3)},
                {"sin_table", tensor(F32, {12, 16}, 4)}},
               {},
               {},
               {1e-5, 1e-5}});
        check({"jagged",
               "embedding",
               {{"table", tensor(BF16, {20, 33}, 1)},
                {"id", TensorSpec{I32, {9}, {}, 2, 0.25}},
                {"y", tensor(BF16, {9, 33}, 3)}},
               {},
               {},
               {}});
    }

    TEST_CASE("library products of other forms") {
        check({"gemm",
               "gemm_batched",
               {{"a", tensor(F32, {2, 33, 40}, 1)},
                {"b", tensor(F32, {2, 40, 50}, 2)},
                {"c", tensor(F32, {2, 33, 50}, 3)}},
               {},
               {},
               {1e-4, 1e-4}});
        check({"gemm_splitk",
               "gemm_splitk",
               {{"a", tensor(F32, {33, 140}, 1)}, {"b", tensor(F32, {140, 50}, 2)}, {"c", tensor(F32, {33, 50}, 3)}},
               {},
               {},
               {1e-4, 1e-4}});
        check({"gemm_quantised",
               "gemm_int8",
               {{"a", tensor(I8, {33, 70}, 1)},
                {"b", tensor(I8, {70, 50}, 2)},
                {"a_scale", tensor(F32, {33}, 3)},
                {"b_scale", tensor(F32, {50}, 4)},
                {"c", tensor(F32, {33, 50}, 5)}},
               {{"Out", F32}},
               {},
               {1e-4, 1e-4}});
        check({"gemm_quantised",
               "gemm_fp8_block",
               {{"a", tensor(F8E4M3, {33, 130}, 1)},
                {"b", tensor(F8E4M3, {50, 130}, 2)},
                {"a_scale", tensor(F32, {33, 2}, 3)},
                {"b_scale", tensor(F32, {1, 2}, 4)},
                {"c", tensor(F32, {33, 50}, 5)}},
               {{"Out", F32}},
               {},
               {1e-3, 1}});
        check({"convolution",
               "conv2d",
               {{"x", tensor(F32, {1, 9, 9, 8}, 1)},
                {"w", tensor(F32, {3, 3, 8, 16}, 2)},
                {"y", tensor(F32, {1, 9, 9, 16}, 3)}},
               {{"pad", ir::Scalar::int64(1)}},
               {},
               {1e-4, 1e-4}});
    }
}
