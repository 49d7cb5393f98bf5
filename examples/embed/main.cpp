// A program that embeds Kiln: a kernel of its own as text, and one of the standard library.
#include <cmath>
#include <cstdio>
#include <vector>

#include <kiln/kiln.hpp>

namespace {

constexpr const char* kScaleAndShift = R"(
/// y = x * factor + shift, for any number of elements.
kernel scale_and_shift<T: real>(x: in T[N], y: out T[N], factor: T, shift: T = 0)
  tune BLOCK in {256, 1024}
grid i in 0 .. N by BLOCK {
    y[i :+ BLOCK] = x[i :+ BLOCK] * factor + shift
}
)";

void run_own_kernel(const kiln::Stream& stream) {
    const std::vector<float> x = {1, 2, 3, 4, 5};
    std::vector<float> y(x.size());
    const auto size = static_cast<std::int64_t>(x.size());

    const auto module = kiln::Module::from_text(kScaleAndShift, "scale_and_shift.kiln");
    const auto kernel = module.kernel("scale_and_shift");
    kernel.launch(stream, kiln::tensor(x.data(), {size}), kiln::tensor(y.data(), {size}), 2.0, kiln::arg("shift", 1.0));

    for (const float value : y) std::printf("%g ", value);
    std::printf("\n");
}

void run_library_gemm(const kiln::Stream& stream) {
    constexpr std::int64_t kRows = 3, kColumns = 5, kDepth = 4;
    const std::vector<float> a(kRows * kDepth, 1), b(kDepth * kColumns, 2), bias(kColumns, 0.5f);
    std::vector<float> c(kRows * kColumns);

    const auto gemm = kiln::Module::from_file("kiln/gemm.kiln").kernel("gemm");
    gemm.launch(stream, kiln::tensor(a.data(), {kRows, kDepth}), kiln::tensor(b.data(), {kDepth, kColumns}),
                kiln::tensor(c.data(), {kRows, kColumns}), kiln::arg("bias", kiln::tensor(bias.data(), {kColumns})));
    std::printf("%g\n", c.back());
}

void show_an_error(const kiln::Stream& stream) {
    const std::vector<float> x = {1, 2, 3};
    std::vector<float> y(2);
    const auto kernel = kiln::Module::from_text(kScaleAndShift, "scale_and_shift.kiln").kernel("scale_and_shift");
    const auto result = kernel.try_launch(stream, kiln::tensor(x.data(), {3}), kiln::tensor(y.data(), {2}), 1.0);
    std::printf("%s\n", result ? "no error" : result.error().what());
}

}  // namespace

int main() {
    const auto device = kiln::Device::open();
    run_own_kernel(device.stream());
    run_library_gemm(device.stream());
    show_an_error(device.stream());
}
