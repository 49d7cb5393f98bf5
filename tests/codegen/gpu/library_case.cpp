#include "library_case.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "frontend/signature.h"
#include "ir/passes/pipeline.h"
#include "ir/semantics.h"

namespace kiln::test {

using enum ir::ScalarType;

namespace {

/// A number in [0, 1) that follows from seed and place (splitmix64, Steele, Lea, Flood, 2014).
double unit(std::uint64_t seed, std::int64_t place) {
    std::uint64_t bits = (seed << 32) + static_cast<std::uint64_t>(place) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return static_cast<double>((bits ^ bits >> 31) >> 11) * 0x1p-53;
}
Element between(double low, double high, std::uint64_t seed = 1) {
    return [=](std::int64_t place) { return low + (high - low) * unit(seed, place); };
}
Element reals(std::uint64_t seed = 1) {
    return between(-2, 2, seed);
}
Element whole(int low, int high, std::uint64_t seed = 1) {
    return [=](std::int64_t place) { return std::floor(low + (high - low + 1) * unit(seed, place)); };
}
Element list(std::vector<double> values) {
    return [=](std::int64_t place) { return values[static_cast<std::size_t>(place)]; };
}
CaseTensor out(std::string name, ir::ScalarType type, std::vector<std::int64_t> sizes) {
    return {std::move(name), type, std::move(sizes), [](std::int64_t) { return 0.0; }, {}};
}
frontend::GenericValue flag(bool value) {
    return ir::Scalar::boolean(value);
}
frontend::GenericValue number(std::int64_t value) {
    return ir::Scalar::int64(value);
}

void add_simple(std::vector<LibraryCase>& cases) {
    for (const ir::ScalarType type : {F32, BF16, I32, I8, U64, F64}) {
        cases.push_back({"vector_add",
                         "vector_add",
                         {},
                         {{"a", type, {1003}, whole(-100, 100, 1), {}},
                          {"b", type, {1003}, whole(-100, 100, 2), {}},
                          out("y", type, {1003})},
                         {},
                         {}});
    }
    for (const ir::ScalarType type : {F32, F16, BF16}) {
        for (const std::int64_t n : {1, 70, 1000}) {
            cases.push_back(
                {"softmax", "softmax", {}, {{"x", type, {3, n}, reals(), {}}, out("y", type, {3, n})}, {}, {}});
        }
        cases.push_back(
            {"softmax", "softmax_long", {}, {{"x", type, {2, 1300}, reals(), {}}, out("y", type, {2, 1300})}, {}, {}});
        cases.push_back({"movement",
                         "transpose_copy",
                         {},
                         {{"x", type, {33, 70}, whole(0, 100), {}}, out("y", type, {70, 33})},
                         {},
                         {}});
    }
    cases.push_back(
        {"movement", "histogram", {}, {{"x", U8, {5000}, whole(0, 255), {}}, out("bins", U32, {256})}, {}, {}});
    cases.push_back({"movement",
                     "histogram_wide",
                     {},
                     {{"x", I32, {3000}, whole(-2, 40), {}}, {"bins", U32, {33}, whole(0, 5), {}}},
                     {},
                     {}});
    cases.push_back({"movement",
                     "hadamard",
                     {},
                     {{"x", F32, {3, 64}, reals(), {}}, out("y", F32, {3, 64})},
                     {{"scale", 0.125}},
                     {}});
    cases.push_back({"movement",
                     "fft",
                     {},
                     {{"re", F32, {3, 32}, reals(1), {}},
                      {"im", F32, {3, 32}, reals(2), {}},
                      out("re_out", F32, {3, 32}),
                      out("im_out", F32, {3, 32})},
                     {},
                     {}});
}

void add_reductions(std::vector<LibraryCase>& cases) {
    for (const ir::ScalarType type : {F32, BF16}) {
        cases.push_back({"reductions",
                         "row_moments",
                         {},
                         {{"x", type, {5, 300}, reals(), {}}, out("mean", F32, {5}), out("variance", F32, {5})},
                         {},
                         {}});
        cases.push_back(
            {"reductions",
             "row_topk",
             {},
             {{"x", type, {4, 70}, whole(-9, 9), {}}, out("value", type, {4, 5}), out("index", I32, {4, 5})},
             {},
             {}});
        cases.push_back({"reductions",
                         "row_argmax",
                         {},
                         {{"x", type, {4, 700}, whole(-50, 50), {}}, out("index", I64, {4})},
                         {},
                         {}});
        cases.push_back(
            {"reductions",
             "segment_sum",
             {},
             {{"x", type, {70, 37}, reals(), {}},
              {"segment", I32, {70}, [](std::int64_t i) { return static_cast<double>(i / 9 + i / 30); }, {}},
              out("y", F32, {9, 37})},
             {},
             {}});
    }
    for (const ir::ScalarType type : {I32, U8}) {
        cases.push_back(
            {"reductions", "prefix_sum", {}, {{"x", type, {2500}, whole(0, 100), {}}, out("y", type, {2500})}, {}, {}});
    }
    cases.push_back(
        {"reductions",
         "linear_recurrence",
         {},
         {{"a", F32, {3, 200}, between(0, 1), {}}, {"b", F32, {3, 200}, reals(2), {}}, out("h", F32, {3, 200})},
         {},
         {}});
}

void add_losses(std::vector<LibraryCase>& cases) {
    const Element target = list({7, 1002, -100, 0, 500});
    for (const bool smooth : {false, true}) {
        cases.push_back({"cross_entropy",
                         "cross_entropy",
                         {{"smooth", flag(smooth)}},
                         {{"logits", BF16, {5, 1003}, reals(), {}},
                          {"target", I64, {5}, target, {}},
                          out("loss", F32, {5}),
                          out("lse", F32, {5})},
                         {{"smoothing", smooth ? 0.1 : 0.0}},
                         {}});
        cases.push_back({"cross_entropy",
                         "cross_entropy_backward",
                         {{"smooth", flag(smooth)}},
                         {{"logits", F32, {5, 1003}, reals(), {}},
                          {"target", I64, {5}, target, {}},
                          {"lse", F32, {5}, between(6, 8), {}},
                          {"dloss", F32, {5}, reals(3), {}},
                          out("dlogits", F32, {5, 1003})},
                         {{"smoothing", smooth ? 0.1 : 0.0}},
                         {}});
    }
    cases.push_back({"dropout",
                     "dropout",
                     {},
                     {{"x", F32, {1001}, reals(), {}}, out("y", F32, {1001})},
                     {{"p", 0.25}, {"seed", 7}},
                     {}});
    cases.push_back({"dropout",
                     "dropout4",
                     {},
                     {{"x", BF16, {301, 4}, reals(), {}}, out("y", BF16, {301, 4})},
                     {{"p", 0.25}, {"seed", 7}},
                     {}});
    cases.push_back({"swiglu_sampling",
                     "swiglu",
                     {},
                     {{"x", F32, {9, 35}, reals(1), {}},
                      {"gate", F32, {35, 33}, reals(2), {}},
                      {"up", F32, {35, 33}, reals(3), {}},
                      out("y", F32, {9, 33})},
                     {},
                     {}});
    cases.push_back({"swiglu_sampling",
                     "sample",
                     {},
                     {{"p", F32, {6, 1100}, between(0, 2.0 / 1100), {}}, out("token", I32, {6})},
                     {{"seed", 5}, {"step", 3}},
                     {}});
    cases.push_back(
        {"swiglu_sampling", "debug_sqrt", {}, {{"x", F32, {101}, between(0, 10), {}}, out("y", F32, {101})}, {}, {}});
    cases.push_back(
        {"jagged",
         "jagged_softmax",
         {},
         {{"x", F32, {30, 37}, reals(), {}}, {"offsets", I32, {4}, list({0, 11, 11, 30}), {}}, out("y", F32, {30, 37})},
         {},
         {}});
    cases.push_back(
        {"jagged",
         "embedding",
         {},
         {{"table", BF16, {11, 13}, reals(), {}}, {"id", I32, {9}, whole(-1, 10), {}}, out("y", BF16, {9, 13})},
         {},
         {}});
    cases.push_back({"jagged",
                     "embedding_backward",
                     {},
                     {{"dy", F32, {19, 13}, reals(), {}},
                      {"id", I32, {19}, whole(-1, 10), {}},
                      {"dtable", F32, {11, 13}, reals(2), {}}},
                     {},
                     {}});
}

void add_products(std::vector<LibraryCase>& cases) {
    const auto product = [&](const char* file, const char* kernel, ir::ScalarType type, ir::ScalarType result) {
        cases.push_back(
            {file,
             kernel,
             {{"T", type}},
             {{"a", type, {33, 100}, reals(1), {}}, {"b", type, {100, 35}, reals(2), {}}, out("c", result, {33, 35})},
             {},
             {}});
    };
    for (const ir::ScalarType type : {F32, BF16}) {
        product("gemm", "gemm", type, type);
        product("gemm_splitk", "gemm_splitk", type, type);
        product("gemm_splitk", "gemm_splitk_atomic", type, F32);
        product("gemm_streamk", "gemm_streamk", type, type);
        product("gemm_streamk", "gemm_persistent", type, type);
    }
    cases.push_back({"gemm",
                     "gemm",
                     {},
                     {{"a", F32, {40, 50}, reals(1), {1, 43}},
                      {"b", F32, {50, 70}, reals(2), {1, 50}},
                      {"bias", F32, {70}, reals(3), {}},
                      {"residual", F32, {40, 70}, reals(4), {}},
                      out("c", F32, {40, 70})},
                     {{"alpha", 0.5}},
                     {}});
    cases.push_back({"gemm_grouped",
                     "gemm_grouped",
                     {},
                     {{"x", F32, {29, 35}, reals(1), {}},
                      {"w", F32, {3, 35, 41}, reals(2), {}},
                      {"offsets", I32, {4}, list({0, 7, 7, 29}), {}},
                      out("y", F32, {29, 41})},
                     {},
                     {}});
    cases.push_back({"gemm_grouped",
                     "moe_gather",
                     {},
                     {{"x", F32, {20, 35}, reals(1), {}},
                      {"w", F32, {3, 35, 41}, reals(2), {}},
                      {"offsets", I32, {4}, list({0, 7, 7, 29}), {}},
                      {"row_of", I32, {29}, whole(0, 19), {}},
                      {"gate", F32, {29}, between(0, 1), {}},
                      out("y", F32, {29, 41})},
                     {},
                     {}});
    cases.push_back(
        {"convolution",
         "conv2d",
         {{"pad", number(1)}},
         {{"x", F32, {2, 9, 7, 5}, reals(1), {}}, {"w", F32, {3, 3, 5, 6}, reals(2), {}}, out("y", F32, {2, 9, 7, 6})},
         {},
         {}});
    cases.push_back({"matmul_layer_norm",
                     "matmul_layer_norm",
                     {},
                     {{"a", BF16, {5, 33}, reals(1), {}},
                      {"w", BF16, {33, 48}, reals(2), {}},
                      {"gamma", F32, {48}, reals(3), {}},
                      {"beta", F32, {48}, reals(4), {}},
                      out("y", BF16, {5, 48})},
                     {},
                     {}});
}

void add_quantised(std::vector<LibraryCase>& cases) {
    cases.push_back({"gemm_quantised",
                     "gemm_fp8_block",
                     {},
                     {{"a", F8E4M3, {9, 200}, reals(1), {}},
                      {"b", F8E4M3, {33, 200}, reals(2), {}},
                      {"a_scale", F32, {9, 2}, between(0.5, 2, 3), {}},
                      {"b_scale", F32, {1, 2}, between(0.5, 2, 4), {}},
                      out("c", BF16, {9, 33})},
                     {},
                     {}});
    cases.push_back({"gemm_quantised",
                     "gemm_int8",
                     {},
                     {{"a", I8, {9, 70}, whole(-128, 127, 1), {}},
                      {"b", I8, {70, 33}, whole(-128, 127, 2), {}},
                      {"a_scale", F32, {9}, between(0.001, 0.002, 3), {}},
                      {"b_scale", F32, {33}, between(0.001, 0.002, 4), {}},
                      out("c", F16, {9, 33})},
                     {},
                     {}});
    cases.push_back({"gemm_quantised",
                     "gemm_int4",
                     {},
                     {{"x", BF16, {9, 200}, reals(1), {}},
                      {"w", U4, {200, 34}, whole(0, 15, 2), {}},
                      {"scale", BF16, {2, 34}, between(0.5, 1, 3), {}},
                      {"zero", U4, {2, 34}, whole(0, 15, 4), {}},
                      out("y", BF16, {9, 34})},
                     {},
                     {}});
    cases.push_back({"gemm_quantised",
                     "quantise_fp8",
                     {},
                     {{"x", F32, {7, 200}, reals(1), {}}, out("q", F8E4M3, {7, 200}), out("scale", F32, {7, 2})},
                     {},
                     {}});
    cases.push_back({"gemm_quantised",
                     "gemm_block_scaled",
                     {{"BLOCK", number(32)}},
                     {{"a", F8E4M3, {9, 96}, reals(1), {}},
                      {"a_scale", F8E8M0, {9, 3}, between(0.1, 4, 2), {}},
                      {"b", F8E5M2, {33, 96}, reals(3), {}},
                      {"b_scale", F8E8M0, {33, 3}, between(0.1, 4, 4), {}},
                      out("c", BF16, {9, 33})},
                     {},
                     {}});
    cases.push_back({"gemm_quantised",
                     "gemm_block_scaled",
                     {{"BLOCK", number(16)}},
                     {{"a", F4E2M1, {9, 96}, reals(1), {}},
                      {"a_scale", F8E4M3, {9, 6}, between(0.1, 4, 2), {}},
                      {"b", F4E2M1, {33, 96}, reals(3), {}},
                      {"b_scale", F8E4M3, {33, 6}, between(0.1, 4, 4), {}},
                      out("c", BF16, {9, 33})},
                     {{"global_scale", 0.5}},
                     {}});
}

void add_norms(std::vector<LibraryCase>& cases) {
    for (const ir::ScalarType type : {F32, BF16}) {
        cases.push_back({"layer_norm",
                         "layer_norm",
                         {},
                         {{"x", type, {5, 70}, reals(1), {}},
                          {"w", type, {70}, reals(2), {}},
                          {"b", type, {70}, reals(3), {}},
                          out("y", type, {5, 70}),
                          out("mean", F32, {5}),
                          out("rstd", F32, {5})},
                         {},
                         {}});
        cases.push_back({"rms_norm",
                         "rms_norm",
                         {},
                         {{"x", type, {5, 70}, reals(1), {}},
                          {"w", type, {70}, reals(2), {}},
                          out("y", type, {5, 70}),
                          {"residual", type, {5, 70}, reals(3), {}}},
                         {},
                         {}});
    }
    cases.push_back({"layer_norm",
                     "layer_norm_backward",
                     {},
                     {{"x", F32, {37, 70}, reals(1), {}},
                      {"w", F32, {70}, reals(2), {}},
                      {"mean", F32, {37}, between(-0.2, 0.2, 3), {}},
                      {"rstd", F32, {37}, between(0.7, 1.2, 4), {}},
                      {"dy", F32, {37, 70}, reals(5), {}},
                      out("dx", F32, {37, 70}),
                      out("dw", F32, {70}),
                      out("db", F32, {70})},
                     {},
                     {}});
    cases.push_back({"rope",
                     "rope",
                     {},
                     {{"x", F32, {5, 3, 16}, reals(1), {}},
                      {"position", I32, {5}, whole(0, 19), {}},
                      {"cos_table", F32, {20, 8}, between(-1, 1, 2), {}},
                      {"sin_table", F32, {20, 8}, between(-1, 1, 3), {}}},
                     {},
                     {}});
}

void add_attention(std::vector<LibraryCase>& cases) {
    for (const bool causal : {false, true}) {
        cases.push_back({"attention",
                         "attention",
                         {{"causal", flag(causal)}},
                         {{"q", causal ? F32 : BF16, {1, 2, 33, 64}, reals(1), {}},
                          {"k", causal ? F32 : BF16, {1, 1, 97, 64}, reals(2), {}},
                          {"v", causal ? F32 : BF16, {1, 1, 97, 64}, reals(3), {}},
                          out("o", causal ? F32 : BF16, {1, 2, 33, 64}),
                          out("lse", F32, {1, 2, 33})},
                         {{"scale", 0.125}},
                         {}});
        cases.push_back({"attention_varlen",
                         "attention_varlen",
                         {{"causal", flag(causal)}},
                         {{"q", F32, {30, 2, 16}, reals(1), {}},
                          {"k", F32, {40, 1, 16}, reals(2), {}},
                          {"v", F32, {40, 1, 16}, reals(3), {}},
                          {"q_starts", I32, {3}, list({0, 13, 30}), {}},
                          {"k_starts", I32, {3}, list({0, 17, 40}), {}},
                          out("o", F32, {30, 2, 16})},
                         {{"scale", 0.25}, {"longest_q", 17}},
                         {}});
    }
    cases.push_back({"attention_backward",
                     "attention_backward",
                     {{"causal", flag(true)}},
                     {{"q", F32, {1, 2, 17, 16}, reals(1), {}},
                      {"k", F32, {1, 1, 23, 16}, reals(2), {}},
                      {"v", F32, {1, 1, 23, 16}, reals(3), {}},
                      {"o", F32, {1, 2, 17, 16}, reals(4), {}},
                      {"lse", F32, {1, 2, 17}, between(4, 6, 5), {}},
                      {"do", F32, {1, 2, 17, 16}, reals(6), {}},
                      out("dq", F32, {1, 2, 17, 16}),
                      out("dk", F32, {1, 1, 23, 16}),
                      out("dv", F32, {1, 1, 23, 16})},
                     {{"scale", 0.25}},
                     {}});
    cases.push_back({"attention_decode",
                     "attention_decode_paged",
                     {},
                     {{"q", F32, {2, 1, 4, 16}, reals(1), {}},
                      {"k_cache", F32, {5, 16, 1, 16}, reals(2), {}},
                      {"v_cache", F32, {5, 16, 1, 16}, reals(3), {}},
                      {"block_table", I32, {2, 3}, whole(0, 4), {}},
                      {"lengths", I32, {2}, list({37, 20}), {}},
                      out("o", F32, {2, 1, 4, 16})},
                     {{"scale", 0.25}},
                     {}});
    cases.push_back({"attention_decode",
                     "mla_decode",
                     {{"DC", number(32)}, {"DR", number(16)}, {"PAGE", number(16)}},
                     {{"q_latent", BF16, {2, 5, 32}, reals(1), {}},
                      {"q_rope", BF16, {2, 5, 16}, reals(2), {}},
                      {"cache", BF16, {5, 16, 48}, reals(3), {}},
                      {"block_table", I32, {2, 3}, whole(0, 4), {}},
                      {"lengths", I32, {2}, list({37, 20}), {}},
                      out("o", BF16, {2, 5, 32}),
                      out("lse", F32, {2, 5})},
                     {{"scale", 0.25}},
                     {}});
    cases.push_back({"linear_attention",
                     "chunk_scan",
                     {},
                     {{"q", F32, {1, 37, 2, 16}, reals(1), {}},
                      {"k", F32, {1, 37, 2, 16}, reals(2), {}},
                      {"v", F32, {1, 37, 2, 12}, reals(3), {}},
                      {"log_decay", F32, {1, 37, 2}, between(-0.5, -0.01, 4), {}},
                      {"initial", F32, {1, 2, 16, 12}, reals(5), {}},
                      out("y", F32, {1, 37, 2, 12}),
                      out("final", F32, {1, 2, 16, 12})},
                     {},
                     {}});
}

ir::Shape strides_of(const CaseTensor& tensor) {
    if (!tensor.strides.empty()) return ir::Shape(std::span<const std::int64_t>(tensor.strides));
    ir::Shape strides(std::span<const std::int64_t>(tensor.sizes));
    std::int64_t stride = 1;
    for (std::size_t axis = strides.rank(); axis-- > 0;) {
        strides[axis] = stride;
        stride *= tensor.sizes[axis];
    }
    return strides;
}

ir::TensorFacts facts_of(const CaseTensor& tensor) {
    const ir::Shape strides = strides_of(tensor);
    ir::TensorFacts facts;
    for (std::size_t axis = 0; axis < strides.rank(); ++axis) {
        if (strides[axis] == 1) facts.unit_axis = static_cast<int>(axis);
    }
    if (facts.unit_axis < 0 || ir::bit_width(tensor.type) < 8) return facts;
    std::int64_t alignment = 16;
    for (std::size_t axis = 0; axis < strides.rank(); ++axis) {
        if (static_cast<int>(axis) != facts.unit_axis)
            alignment = std::gcd(alignment, strides[axis] * ir::byte_width(tensor.type));
    }
    facts.alignment = static_cast<std::uint32_t>(alignment);
    return facts;
}

/// What divides the sizes, as a runtime would find it for these arguments.
void prove_divisors(const LibraryCase& test, ir::Kernel& kernel) {
    for (ir::SizeBinding& size : kernel.sizes) {
        for (const CaseTensor& tensor : test.tensors) {
            if (kernel.parameters[size.parameter].name != tensor.name) continue;
            const std::int64_t extent = (tensor.sizes[size.axis] - size.offset) / size.scale;
            size.divisor = extent == 0 ? 1 : extent & -extent;
        }
    }
}

}  // namespace

std::string label(const LibraryCase& test) {
    std::string text = test.kernel;
    for (const CaseTensor& tensor : test.tensors) text += " " + std::string(ir::name(tensor.type));
    return text;
}

std::vector<LibraryCase> library_cases() {
    std::vector<LibraryCase> cases;
    add_simple(cases);
    add_reductions(cases);
    add_losses(cases);
    add_products(cases);
    add_quantised(cases);
    add_norms(cases);
    add_attention(cases);
    return cases;
}

SpecialisedCase specialise(const LibraryCase& test, const codegen::gpu::Target& target, Proven proven) {
    support::Diagnostics diagnostics;
    const std::string path = std::string(KILN_SOURCE_DIR) + "/library/" + test.file + ".kiln";
    const frontend::FileReader reader = [&](const std::string& name) {
        return test.text.empty() ? frontend::read_file(name) : std::optional(test.text);
    };
    SpecialisedCase result{frontend::load_program(path, reader, diagnostics), {}};
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(result.program.sources));
    frontend::Request request;
    request.kernel = test.kernel;
    request.generics = test.generics;
    for (const auto& [name, value] : test.tunables) request.tunables[name] = ir::Scalar::int64(value);
    request.targets = target.schedule_names;
    request.units = 3;
    request.fits_32_bits = proven == Proven::All;
    const auto signature = frontend::signature(result.program, test.kernel);
    REQUIRE(signature.has_value());
    for (const frontend::ParameterSignature& parameter : signature->parameters) {
        if (parameter.is_tensor) request.parameters[parameter.name].present = false;
    }
    for (const CaseTensor& tensor : test.tensors) {
        frontend::ParameterRequest& parameter = request.parameters[tensor.name];
        parameter.present = true;
        parameter.element = tensor.type;
        parameter.sizes = ir::Shape(std::span<const std::int64_t>(tensor.sizes));
        if (proven == Proven::All) parameter.facts = facts_of(tensor);
    }
    auto specialised = frontend::specialise(result.program, request, diagnostics);
    REQUIRE_MESSAGE(specialised.has_value(), diagnostics.render(result.program.sources));
    result.specialisation = std::move(*specialised);
    if (proven == Proven::All) prove_divisors(test, result.specialisation.kernel);
    ir::run_tile_passes(result.specialisation.kernel);
    return result;
}

CaseMemory::CaseMemory(const LibraryCase& test, const ir::Kernel& kernel,
                       const std::map<std::string, ir::Scalar>& defaults) {
    for (const ir::Parameter& parameter : kernel.parameters) {
        bytes_.emplace_back();
        const auto tensor = std::find_if(test.tensors.begin(), test.tensors.end(),
                                         [&](const CaseTensor& t) { return t.name == parameter.name; });
        const auto given = test.numbers.find(parameter.name);
        const auto by_default = defaults.find(parameter.name);
        if (tensor != test.tensors.end()) {
            add_tensor(*tensor);
        } else if (given != test.numbers.end()) {
            arguments_.push_back(
                ir::convert(ir::OpKind::Convert, ir::Scalar::f64(given->second), kernel.type(parameter.value).element));
        } else if (by_default != defaults.end()) {
            arguments_.push_back(by_default->second);
        } else {
            arguments_.emplace_back();
        }
    }
}

void CaseMemory::add_tensor(const CaseTensor& tensor) {
    const ir::Shape sizes(std::span<const std::int64_t>(tensor.sizes));
    const ir::Shape strides = strides_of(tensor);
    std::int64_t reach = 1;
    for (std::size_t axis = 0; axis < sizes.rank(); ++axis) reach += (sizes[axis] - 1) * strides[axis];
    const int bits = ir::bit_width(tensor.type);
    std::vector<std::byte>& bytes = bytes_.back();
    bytes.assign(static_cast<std::size_t>((reach * bits + 7) / 8), std::byte{0});
    arguments_.push_back(ir::TensorView{tensor.type, bytes.data(), sizes, strides});
    for (std::int64_t place = 0; place < sizes.count(); ++place) {
        std::int64_t rest = place, offset = 0;
        for (std::size_t axis = sizes.rank(); axis-- > 0; rest /= sizes[axis])
            offset += rest % sizes[axis] * strides[axis];
        const ir::Scalar wide = ir::Scalar::f64(tensor.element(place));
        const ir::Scalar scalar = tensor.type == Bool ? ir::Scalar::boolean(wide.as_double() != 0)
                                                      : ir::convert(ir::OpKind::Convert, wide, tensor.type);
        if (bits < 8) {
            bytes[static_cast<std::size_t>(offset / 2)] |= std::byte(scalar.bits << (offset % 2 * 4));
        } else {
            std::memcpy(bytes.data() + offset * bits / 8, &scalar.bits, static_cast<std::size_t>(bits / 8));
        }
    }
}

std::int64_t CaseMemory::count(std::size_t parameter) const {
    const auto* tensor = std::get_if<ir::TensorView>(&arguments_[parameter]);
    return tensor == nullptr ? 0 : tensor->sizes.count();
}

double CaseMemory::value(std::size_t parameter, std::int64_t place) const {
    const ir::TensorView& tensor = std::get<ir::TensorView>(arguments_[parameter]);
    std::int64_t rest = place, offset = 0;
    for (std::size_t axis = tensor.sizes.rank(); axis-- > 0; rest /= tensor.sizes[axis]) {
        offset += rest % tensor.sizes[axis] * tensor.strides[axis];
    }
    ir::Scalar scalar{tensor.element, 0};
    const int bits = ir::bit_width(tensor.element);
    if (bits < 8) {
        scalar.bits = std::to_integer<unsigned>(tensor.data[offset / 2] >> (offset % 2 * 4)) & 15u;
    } else {
        std::memcpy(&scalar.bits, tensor.data + offset * bits / 8, static_cast<std::size_t>(bits / 8));
    }
    return scalar.as_double();
}

std::string difference(const LibraryCase& test, const ir::Kernel& kernel, const CaseMemory& found,
                       const CaseMemory& expected) {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const ir::ScalarType type = kernel.type(kernel.parameters[i].value).element;
        const double allowed = !ir::is_float(type) ? (ir::scalar_class(type) == ir::ScalarClass::Storage ? 0.03 : 0)
                               : type == F32 || type == F64 ? 2e-4
                                                            : 0.03;
        for (std::int64_t place = 0; place < expected.count(i); ++place) {
            const double x = found.value(i, place), r = expected.value(i, place);
            if (x == r || (std::isnan(x) && std::isnan(r)) || std::abs(x - r) <= allowed * (1 + std::abs(r))) continue;
            return fmt::format("{}: {} at {} is {}, interpreted {}", test.kernel, kernel.parameters[i].name, place, x,
                               r);
        }
    }
    return "";
}

}  // namespace kiln::test
