// Every kernel of the library beyond the first path: compiled code against the kernel's reference, within the bound
// that the kernel states, and against the interpreter, whose checked run must find nothing.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "frontend/specialise.h"
#include "ir/checked_run.h"
#include "ir/semantics.h"
#include "kiln/device.hpp"
#include "runtime/backend.h"
#include "runtime/verify.h"

using namespace kiln;

namespace {

/// What an element is, by its place in row-major order.
using Element = std::function<double(std::int64_t)>;

struct Tensor {
    std::string name;
    DType dtype;
    std::vector<std::int64_t> sizes;
    Element element;
};

struct Number {
    std::string name;
    Argument value;
};

struct Case {
    std::string file, kernel;
    std::vector<Generic> generics;
    std::vector<Tensor> tensors;
    std::vector<Number> numbers;
};

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
Element one(double value) {
    return [=](std::int64_t) { return value; };
}

/// Arguments in memory of their own, each tensor with its elements.
class Memory {
public:
    explicit Memory(const Case& test) {
        for (const Tensor& tensor : test.tensors) add(tensor);
        for (const Number& number : test.numbers) arguments_.push_back(arg(number.name, number.value));
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    std::span<const Argument> arguments() const { return arguments_; }
    double value(std::size_t tensor, std::size_t place) const {
        const ir::ScalarType type = types_[tensor];
        ir::Scalar scalar{type, 0};
        if (ir::bit_width(type) < 8) {
            scalar.bits = std::to_integer<unsigned>(bytes_[tensor][place / 2] >> (place % 2 * 4)) & 15u;
        } else {
            const auto width = static_cast<std::size_t>(ir::byte_width(type));
            std::memcpy(&scalar.bits, bytes_[tensor].data() + place * width, width);
        }
        return scalar.as_double();
    }
    std::size_t count(std::size_t tensor) const { return counts_[tensor]; }
    ir::ScalarType type(std::size_t tensor) const { return types_[tensor]; }

private:
    void add(const Tensor& tensor) {
        std::int64_t count = 1;
        for (const std::int64_t size : tensor.sizes) count *= size;
        const ir::ScalarType type = runtime::to_scalar_type(tensor.dtype);
        const int bits = ir::bit_width(type);
        std::vector<std::byte>& bytes = bytes_.emplace_back(static_cast<std::size_t>((count * bits + 7) / 8));
        for (std::int64_t i = 0; i < count; ++i) {
            const ir::Scalar wide = ir::Scalar::f64(tensor.element(i));
            const bool flag = type == ir::ScalarType::Bool;
            const ir::Scalar scalar =
                flag ? ir::Scalar::boolean(wide.as_double() != 0) : ir::convert(ir::OpKind::Convert, wide, type);
            if (bits < 8) {
                bytes[static_cast<std::size_t>(i / 2)] |= std::byte(scalar.bits << (i % 2 * 4));
            } else {
                std::memcpy(bytes.data() + i * bits / 8, &scalar.bits, static_cast<std::size_t>(bits / 8));
            }
        }
        types_.push_back(type);
        counts_.push_back(static_cast<std::size_t>(count));
        Extents sizes;
        for (const std::int64_t size : tensor.sizes) sizes.push_back(size);
        arguments_.push_back(arg(tensor.name, kiln::tensor(tensor.dtype, bytes.data(), sizes)));
    }

    std::vector<std::vector<std::byte>> bytes_;
    std::vector<ir::ScalarType> types_;
    std::vector<std::size_t> counts_;
    std::vector<Argument> arguments_;
};

double tolerance(ir::ScalarType type) {
    if (type == ir::ScalarType::F32) return 2e-4;
    return ir::is_float(type) ? 0.03 : 0;
}

/// What compiled code leaves, against what the interpreter leaves. Values near each other are the same: sums may be in
/// another order.
void check_same(const Case& test, const Memory& compiled, const Memory& interpreted) {
    for (std::size_t tensor = 0; tensor < test.tensors.size(); ++tensor) {
        const double allowed = tolerance(compiled.type(tensor));
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < compiled.count(tensor); ++i) {
            const double x = compiled.value(tensor, i), r = interpreted.value(tensor, i);
            const bool same =
                x == r || (std::isnan(x) && std::isnan(r)) || std::abs(x - r) <= allowed * (1 + std::abs(r));
            if (!same && wrong++ == 0) {
                CHECK_MESSAGE(same, test.kernel << ": " << test.tensors[tensor].name << " at " << i << " is " << x
                                                << ", interpreted " << r);
            }
        }
        CHECK(wrong == 0);
    }
}

void interpret(runtime::KernelState& kernel, const runtime::DeviceBackend& backend, const Memory& memory) {
    const auto prepared = kernel.prepare(backend, memory.arguments());
    const auto matched = runtime::match_arguments(kernel.signature(), memory.arguments());
    support::Diagnostics diagnostics;
    const auto specialised =
        frontend::specialise(kernel.module().program(), kernel.request(backend, matched), diagnostics);
    REQUIRE_MESSAGE(specialised.has_value(), diagnostics.render(kernel.module().program().sources));
    const auto ignore = [](const std::string&) {};
    const ir::LaunchErrors errors =
        ir::checked_run(specialised->kernel, prepared->arguments(), backend.units(), ignore, diagnostics);
    REQUIRE_MESSAGE(errors.messages.empty(), errors.messages.front());
    CHECK_MESSAGE(!diagnostics.has_errors(), diagnostics.render(kernel.module().program().sources));
}

void check(const Case& test) {
    CAPTURE(test.kernel);
    const std::string path = std::string(KILN_SOURCE_DIR) + "/library/" + test.file + ".kiln";
    try {
        const auto module =
            std::make_shared<runtime::ModuleState>(path, runtime::with_standard_library(frontend::read_file));
        runtime::KernelState kernel(module, test.kernel, test.generics);
        const Device device = Device::open("cpu");
        const runtime::DeviceBackend& backend = *device.stream().backend();
        const Memory verified(test), compiled(test), interpreted(test);
        const runtime::VerifyReport report = runtime::verify(kernel, backend, verified.arguments(), 1);
        for (const runtime::OutputReport& output : report.outputs) {
            const runtime::Mismatch worst = output.worst.value_or(runtime::Mismatch{});
            CHECK_MESSAGE(output.failed == 0, test.kernel << ": " << output.name << " has " << output.failed
                                                          << " wrong elements, such as " << worst.value << " where "
                                                          << worst.reference << " is right");
        }
        CHECK(report.passed);
        kernel.prepare(backend, compiled.arguments())->bound().run();
        interpret(kernel, backend, interpreted);
        check_same(test, compiled, interpreted);
    } catch (const Error& error) {
        FAIL(test.kernel << ": " << std::string(error.what()));
    }
}

Tensor out(std::string name, DType dtype, std::vector<std::int64_t> sizes) {
    return {std::move(name), dtype, std::move(sizes), one(0)};
}

}  // namespace

TEST_SUITE("library") {
    TEST_CASE("kernels: movement") {
        for (const DType type : {f32, bf16, u8}) {
            check({"movement",
                   "transpose_copy",
                   {{"T", type}},
                   {{"x", type, {33, 70}, whole(0, 100)}, out("y", type, {70, 33})},
                   {}});
        }
        check({"movement", "histogram", {}, {{"x", u8, {5000}, whole(0, 255)}, out("bins", u32, {256})}, {}});
        check({"movement",
               "histogram_wide",
               {},
               {{"x", i32, {3000}, whole(-2, 40)}, {"bins", u32, {33}, whole(0, 5)}},
               {}});
        for (const DType type : {f32, bf16}) {
            check({"movement",
                   "hadamard",
                   {{"T", type}},
                   {{"x", type, {3, 64}, reals()}, out("y", type, {3, 64})},
                   {{"scale", 0.125}}});
        }
        check({"movement",
               "fft",
               {},
               {{"re", f32, {3, 32}, reals(1)},
                {"im", f32, {3, 32}, reals(2)},
                out("re_out", f32, {3, 32}),
                out("im_out", f32, {3, 32})},
               {}});
    }

    TEST_CASE("kernels: reductions") {
        for (const DType type : {f32, bf16}) {
            check({"reductions",
                   "row_moments",
                   {{"T", type}},
                   {{"x", type, {5, 300}, reals()}, out("mean", f32, {5}), out("variance", f32, {5})},
                   {}});
            check({"reductions",
                   "row_topk",
                   {{"T", type}},
                   {{"x", type, {4, 70}, whole(-9, 9)}, out("value", type, {4, 5}), out("index", i32, {4, 5})},
                   {}});
        }
        for (const DType type : {f32, bf16, i32}) {
            check({"reductions",
                   "row_argmax",
                   {{"T", type}},
                   {{"x", type, {4, 700}, whole(-50, 50)}, out("index", i64, {4})},
                   {}});
        }
        for (const DType type : {i32, u8}) {
            check({"reductions",
                   "prefix_sum",
                   {{"T", type}},
                   {{"x", type, {2500}, whole(0, 100)}, out("y", type, {2500})},
                   {}});
        }
        check({"reductions",
               "linear_recurrence",
               {},
               {{"a", f32, {3, 200}, between(0, 1)}, {"b", f32, {3, 200}, reals(2)}, out("h", f32, {3, 200})},
               {}});
        for (const DType type : {f32, bf16}) {
            check({"reductions",
                   "segment_sum",
                   {{"T", type}},
                   {{"x", type, {70, 37}, reals()},
                    {"segment", i32, {70}, [](std::int64_t i) { return static_cast<double>(i / 9 + i / 30); }},
                    out("y", f32, {9, 37})},
                   {}});
        }
    }

    TEST_CASE("kernels: loss, dropout and sampling") {
        for (const DType type : {f32, bf16}) {
            for (const bool smooth : {false, true}) {
                const auto target = list({7, 1002, -100, 0, 500});
                check({"cross_entropy",
                       "cross_entropy",
                       {{"T", type}, {"smooth", smooth}},
                       {{"logits", type, {5, 1003}, reals()},
                        {"target", i64, {5}, target},
                        out("loss", f32, {5}),
                        out("lse", f32, {5})},
                       {{"smoothing", smooth ? 0.1 : 0.0}}});
                check({"cross_entropy",
                       "cross_entropy_backward",
                       {{"T", type}, {"smooth", smooth}},
                       {{"logits", type, {5, 1003}, reals()},
                        {"target", i64, {5}, target},
                        {"lse", f32, {5}, between(6, 8)},
                        {"dloss", f32, {5}, reals(3)},
                        out("dlogits", type, {5, 1003})},
                       {{"smoothing", smooth ? 0.1 : 0.0}}});
            }
            check({"dropout",
                   "dropout",
                   {{"T", type}},
                   {{"x", type, {1001}, reals()}, out("y", type, {1001})},
                   {{"p", 0.25}, {"seed", 7}}});
            check({"dropout",
                   "dropout4",
                   {{"T", type}},
                   {{"x", type, {301, 4}, reals()}, out("y", type, {301, 4})},
                   {{"p", 0.25}, {"seed", 7}}});
            check({"swiglu_sampling",
                   "swiglu",
                   {{"T", type}},
                   {{"x", type, {9, 35}, reals(1)},
                    {"gate", type, {35, 33}, reals(2)},
                    {"up", type, {35, 33}, reals(3)},
                    out("y", type, {9, 33})},
                   {}});
        }
        check({"swiglu_sampling",
               "sample",
               {},
               {{"p", f32, {6, 1100}, between(0, 2.0 / 1100)}, out("token", i32, {6})},
               {{"seed", 5}, {"step", 3}}});
        check({"swiglu_sampling", "debug_sqrt", {}, {{"x", f32, {101}, between(0, 10)}, out("y", f32, {101})}, {}});
    }

    TEST_CASE("kernels: jagged rows") {
        for (const DType type : {f32, bf16}) {
            check({"jagged",
                   "jagged_softmax",
                   {{"T", type}},
                   {{"x", type, {30, 37}, reals()},
                    {"offsets", i32, {4}, list({0, 11, 11, 30})},
                    out("y", type, {30, 37})},
                   {}});
            check({"jagged",
                   "embedding",
                   {{"T", type}},
                   {{"table", type, {11, 13}, reals()}, {"id", i32, {9}, whole(-1, 10)}, out("y", type, {9, 13})},
                   {}});
            check({"jagged",
                   "embedding_backward",
                   {{"T", type}},
                   {{"dy", type, {19, 13}, reals()},
                    {"id", i32, {19}, whole(-1, 10)},
                    {"dtable", f32, {11, 13}, reals(2)}},
                   {}});
        }
    }

    TEST_CASE("kernels: products") {
        for (const DType type : {f32, bf16}) {
            const auto product = [&](const char* file, const char* kernel, DType result) {
                check({file,
                       kernel,
                       {{"T", type}},
                       {{"a", type, {33, 100}, reals(1)}, {"b", type, {100, 35}, reals(2)}, out("c", result, {33, 35})},
                       {}});
            };
            product("gemm_splitk", "gemm_splitk", type);
            product("gemm_splitk", "gemm_splitk_atomic", f32);
            product("gemm_streamk", "gemm_streamk", type);
            product("gemm_streamk", "gemm_persistent", type);
            check({"gemm_grouped",
                   "gemm_grouped",
                   {{"T", type}},
                   {{"x", type, {29, 35}, reals(1)},
                    {"w", type, {3, 35, 41}, reals(2)},
                    {"offsets", i32, {4}, list({0, 7, 7, 29})},
                    out("y", type, {29, 41})},
                   {}});
            check({"gemm_grouped",
                   "moe_gather",
                   {{"T", type}},
                   {{"x", type, {20, 35}, reals(1)},
                    {"w", type, {3, 35, 41}, reals(2)},
                    {"offsets", i32, {4}, list({0, 7, 7, 29})},
                    {"row_of", i32, {29}, whole(0, 19)},
                    {"gate", f32, {29}, between(0, 1)},
                    out("y", type, {29, 41})},
                   {}});
            check({"convolution",
                   "conv2d",
                   {{"T", type}, {"pad", 1}},
                   {{"x", type, {2, 9, 7, 5}, reals(1)},
                    {"w", type, {3, 3, 5, 6}, reals(2)},
                    out("y", type, {2, 9, 7, 6})},
                   {}});
            check({"matmul_layer_norm",
                   "matmul_layer_norm",
                   {{"T", type}},
                   {{"a", type, {5, 33}, reals(1)},
                    {"w", type, {33, 48}, reals(2)},
                    {"gamma", f32, {48}, reals(3)},
                    {"beta", f32, {48}, reals(4)},
                    out("y", type, {5, 48})},
                   {}});
        }
    }

    TEST_CASE("kernels: quantised products") {
        check({"gemm_quantised",
               "gemm_fp8_block",
               {},
               {{"a", f8e4m3, {9, 200}, reals(1)},
                {"b", f8e4m3, {33, 200}, reals(2)},
                {"a_scale", f32, {9, 2}, between(0.5, 2, 3)},
                {"b_scale", f32, {1, 2}, between(0.5, 2, 4)},
                out("c", bf16, {9, 33})},
               {}});
        check({"gemm_quantised",
               "gemm_int8",
               {},
               {{"a", i8, {9, 70}, whole(-128, 127, 1)},
                {"b", i8, {70, 33}, whole(-128, 127, 2)},
                {"a_scale", f32, {9}, between(0.001, 0.002, 3)},
                {"b_scale", f32, {33}, between(0.001, 0.002, 4)},
                out("c", f16, {9, 33})},
               {}});
        for (const DType type : {f32, bf16}) {
            check({"gemm_quantised",
                   "gemm_int4",
                   {{"T", type}},
                   {{"x", type, {9, 200}, reals(1)},
                    {"w", u4, {200, 34}, whole(0, 15, 2)},
                    {"scale", type, {2, 34}, between(0.5, 1, 3)},
                    {"zero", u4, {2, 34}, whole(0, 15, 4)},
                    out("y", type, {9, 34})},
                   {}});
            check({"gemm_quantised",
                   "quantise_fp8",
                   {{"T", type}},
                   {{"x", type, {7, 200}, reals(1)}, out("q", f8e4m3, {7, 200}), out("scale", f32, {7, 2})},
                   {}});
        }
        check({"gemm_quantised",
               "gemm_block_scaled",
               {{"A", f8e4m3}, {"B", f8e5m2}, {"Scale", f8e8m0}, {"BLOCK", 32}},
               {{"a", f8e4m3, {9, 96}, reals(1)},
                {"a_scale", f8e8m0, {9, 3}, between(0.1, 4, 2)},
                {"b", f8e5m2, {33, 96}, reals(3)},
                {"b_scale", f8e8m0, {33, 3}, between(0.1, 4, 4)},
                out("c", bf16, {9, 33})},
               {}});
        check({"gemm_quantised",
               "gemm_block_scaled",
               {{"A", f4e2m1}, {"B", f4e2m1}, {"Scale", f8e4m3}, {"BLOCK", 16}},
               {{"a", f4e2m1, {9, 96}, reals(1)},
                {"a_scale", f8e4m3, {9, 6}, between(0.1, 4, 2)},
                {"b", f4e2m1, {33, 96}, reals(3)},
                {"b_scale", f8e4m3, {33, 6}, between(0.1, 4, 4)},
                out("c", bf16, {9, 33})},
               {{"global_scale", 0.5}}});
    }

    TEST_CASE("kernels: norms and rotary embedding") {
        for (const DType type : {f32, bf16}) {
            check({"layer_norm",
                   "layer_norm",
                   {{"T", type}},
                   {{"x", type, {5, 70}, reals(1)},
                    {"w", type, {70}, reals(2)},
                    {"b", type, {70}, reals(3)},
                    out("y", type, {5, 70}),
                    out("mean", f32, {5}),
                    out("rstd", f32, {5})},
                   {}});
            check({"layer_norm",
                   "layer_norm_backward",
                   {{"T", type}},
                   {{"x", type, {37, 70}, reals(1)},
                    {"w", type, {70}, reals(2)},
                    {"mean", f32, {37}, between(-0.2, 0.2, 3)},
                    {"rstd", f32, {37}, between(0.7, 1.2, 4)},
                    {"dy", type, {37, 70}, reals(5)},
                    out("dx", type, {37, 70}),
                    out("dw", type, {70}),
                    out("db", type, {70})},
                   {}});
            check({"rms_norm",
                   "rms_norm",
                   {{"T", type}},
                   {{"x", type, {5, 70}, reals(1)},
                    {"w", type, {70}, reals(2)},
                    out("y", type, {5, 70}),
                    {"residual", type, {5, 70}, reals(3)}},
                   {}});
            check({"rope",
                   "rope",
                   {{"T", type}},
                   {{"x", type, {5, 3, 16}, reals(1)},
                    {"position", i32, {5}, whole(0, 19)},
                    {"cos_table", f32, {20, 8}, between(-1, 1, 2)},
                    {"sin_table", f32, {20, 8}, between(-1, 1, 3)}},
                   {}});
        }
    }

    TEST_CASE("kernels: attention") {
        for (const DType type : {f32, bf16}) {
            for (const bool causal : {false, true}) {
                check({"attention_backward",
                       "attention_backward",
                       {{"T", type}, {"causal", causal}},
                       {{"q", type, {1, 2, 17, 16}, reals(1)},
                        {"k", type, {1, 1, 23, 16}, reals(2)},
                        {"v", type, {1, 1, 23, 16}, reals(3)},
                        {"o", type, {1, 2, 17, 16}, reals(4)},
                        {"lse", f32, {1, 2, 17}, between(4, 6, 5)},
                        {"do", type, {1, 2, 17, 16}, reals(6)},
                        out("dq", type, {1, 2, 17, 16}),
                        out("dk", type, {1, 1, 23, 16}),
                        out("dv", type, {1, 1, 23, 16})},
                       {{"scale", 0.25}}});
                check({"attention_varlen",
                       "attention_varlen",
                       {{"T", type}, {"causal", causal}},
                       {{"q", type, {30, 2, 16}, reals(1)},
                        {"k", type, {40, 1, 16}, reals(2)},
                        {"v", type, {40, 1, 16}, reals(3)},
                        {"q_starts", i32, {3}, list({0, 13, 30})},
                        {"k_starts", i32, {3}, list({0, 17, 40})},
                        out("o", type, {30, 2, 16})},
                       {{"scale", 0.25}, {"longest_q", 17}}});
            }
            check({"attention_decode",
                   "attention_decode_paged",
                   {{"T", type}},
                   {{"q", type, {2, 1, 4, 16}, reals(1)},
                    {"k_cache", type, {5, 16, 1, 16}, reals(2)},
                    {"v_cache", type, {5, 16, 1, 16}, reals(3)},
                    {"block_table", i32, {2, 3}, whole(0, 4)},
                    {"lengths", i32, {2}, list({37, 20})},
                    out("o", type, {2, 1, 4, 16})},
                   {{"scale", 0.25}}});
            check({"attention_decode",
                   "mla_decode",
                   {{"T", type}, {"DC", 32}, {"DR", 16}, {"PAGE", 16}},
                   {{"q_latent", type, {2, 5, 32}, reals(1)},
                    {"q_rope", type, {2, 5, 16}, reals(2)},
                    {"cache", type, {5, 16, 48}, reals(3)},
                    {"block_table", i32, {2, 3}, whole(0, 4)},
                    {"lengths", i32, {2}, list({37, 20})},
                    out("o", type, {2, 5, 32}),
                    out("lse", f32, {2, 5})},
                   {{"scale", 0.25}}});
            check({"linear_attention",
                   "chunk_scan",
                   {{"T", type}},
                   {{"q", type, {1, 37, 2, 16}, reals(1)},
                    {"k", type, {1, 37, 2, 16}, reals(2)},
                    {"v", type, {1, 37, 2, 12}, reals(3)},
                    {"log_decay", f32, {1, 37, 2}, between(-0.5, -0.01, 4)},
                    {"initial", f32, {1, 2, 16, 12}, reals(5)},
                    out("y", type, {1, 37, 2, 12}),
                    out("final", f32, {1, 2, 16, 12})},
                   {}});
        }
    }
}
