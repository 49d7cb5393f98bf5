// What launches prove about their arguments: which code they share, and that none runs code made for other arguments.
#include "runtime/argument_facts.h"

#include <fmt/format.h>

#include <limits>
#include <set>

#include "kiln/kiln.hpp"
#include "runtime/cuda/cuda_backend.h"
#include "runtime/cuda/nvrtc.h"
#include "tests/runtime/gpu/gpu_support.h"
#include "tests/skip.h"

namespace kiln::test {
namespace {

Tensor tensor_of(DType type, std::uintptr_t address, Extents sizes, Extents strides) {
    Tensor result = tensor(type, reinterpret_cast<void*>(address), sizes);
    result.strides = strides;
    return result;
}

/// What a compilation was told of `twice`: "divisor 256, align 16, 32 bits".
std::string facts_of(const ir::Kernel& kernel) {
    return fmt::format("divisor {}, align {} and {}, {} bits", kernel.sizes[0].divisor,
                       kernel.parameters[0].facts.alignment, kernel.parameters[1].facts.alignment,
                       kernel.fits_32_bits ? 32 : 64);
}

constexpr const char* kScaledText = R"(
/// Tiles of 16 x 64, the second axis in vectors where that is allowed.
kernel scaled(x: in f32[M, N], y: out f32[M, N])
grid i in 0 .. M by 16, j in 0 .. N by 64 {
    y[i :+ 16, j :+ 64] = x[i :+ 16, j :+ 64] * 2
}
)";

/// `y = 2 x` on tensors that begin `skipped` elements into their memory, with rows `pitch` elements apart.
struct ScaledLaunch {
    std::int64_t rows, columns, pitch, skipped;
};

std::string run_scaled(const Kernel& kernel, const Device& device, const ScaledLaunch& launch) {
    const auto count = static_cast<std::size_t>(launch.rows * launch.pitch + launch.skipped);
    std::vector<float> x(count), y(count, -1);
    for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i % 1000);
    const Buffer x_memory = device.allocate(count * 4), y_memory = device.allocate(count * 4);
    const Stream stream = device.stream();
    stream.copy_to_device(x_memory.data(), x.data(), count * 4);
    stream.copy_to_device(y_memory.data(), y.data(), count * 4);
    const auto view = [&](const Buffer& memory) {
        return tensor_of(f32, reinterpret_cast<std::uintptr_t>(memory.data()) + 4 * launch.skipped,
                         {launch.rows, launch.columns}, {launch.pitch, 1});
    };
    const PreparedLaunch prepared = kernel.prepare(stream, view(x_memory), view(y_memory));
    prepared.launch();
    stream.copy_to_host(y.data(), y_memory.data(), count * 4);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t place = static_cast<std::int64_t>(i) - launch.skipped;
        const bool inside = place >= 0 && place % launch.pitch < launch.columns;
        if (y[i] != (inside ? 2 * x[i] : -1)) ++wrong;
    }
    CHECK_MESSAGE(wrong == 0, wrong << " elements are wrong");
    return prepared.info().key;
}

TEST_SUITE("unit") {
    TEST_CASE("argument facts: alignment is that of the address and of the rows, where there are vectors") {
        using runtime::proven_alignment;
        CHECK(proven_alignment(tensor_of(f32, 0x1000, {8, 8}, {8, 1})) == 16);
        CHECK(proven_alignment(tensor_of(f32, 0x1000, {8, 8}, {1, 8})) == 16);
        CHECK(proven_alignment(tensor_of(f32, 0x1004, {8, 8}, {8, 1})) == 1);
        CHECK(proven_alignment(tensor_of(f32, 0x1000, {8, 8}, {9, 1})) == 1);
        CHECK(proven_alignment(tensor_of(f32, 0x1000, {8, 8}, {-8, 1})) == 16);
        CHECK(proven_alignment(tensor_of(bf16, 0x1000, {8, 4}, {4, 1})) == 1);
        CHECK(proven_alignment(tensor_of(f32, 0x1000, {1, 8}, {9, 1})) == 16);  // no second row
        CHECK(proven_alignment(tensor_of(f32, 0x1000, {8, 8}, {16, 4})) == 1);  // no unit axis
        CHECK(proven_alignment(tensor_of(u4, 0x1000, {8, 64}, {64, 1})) == 1);
        CHECK(proven_alignment(tensor_of(f32, 0x1000, {}, {})) == 1);
    }

    TEST_CASE("argument facts: 32 bits hold extents to 2^29, strides and offsets in bytes below 2^31") {
        using runtime::fits_32_bits;
        constexpr std::int64_t k30 = std::int64_t{1} << 30;
        CHECK(fits_32_bits(tensor_of(f32, 0, {4096, 4096}, {4096, 1})));
        CHECK(fits_32_bits(tensor_of(i8, 0, {k30 / 2}, {1})));
        CHECK_FALSE(fits_32_bits(tensor_of(i8, 0, {k30 / 2 + 1}, {1})));
        CHECK_FALSE(fits_32_bits(tensor_of(i8, 0, {k30 / 2 + 1}, {0})));  // its extent alone
        CHECK(fits_32_bits(tensor_of(f32, 0, {k30 / 2 - 1}, {1})));
        CHECK_FALSE(fits_32_bits(tensor_of(f32, 0, {k30 / 2}, {1})));
        CHECK_FALSE(fits_32_bits(tensor_of(f32, 0, {2}, {k30})));
        CHECK_FALSE(fits_32_bits(tensor_of(f32, 0, {2}, {-k30})));
        CHECK_FALSE(fits_32_bits(tensor_of(f32, 0, {1}, {std::numeric_limits<std::int64_t>::min()})));
        CHECK_FALSE(fits_32_bits(tensor_of(i8, 0, {k30 / 2, k30 / 2}, {2, 3})));  // only their sum
        CHECK(fits_32_bits(tensor_of(f32, 0, {0, 4}, {4, 1})));
        CHECK(fits_32_bits(tensor_of(f32, 0, {}, {})));
    }

    TEST_CASE("argument facts: launches share code exactly where they prove the same") {
        const FakeLibrary driver("KILN_CUDA_DRIVER", FAKE_CUDA_DRIVER);
        std::vector<std::string> compiled;
        const auto found = runtime::cuda::backends().devices.at(0).backend;
        const HandWrittenBackend backend(found, [&](const ir::Kernel& kernel) {
            compiled.push_back(facts_of(kernel));
            return fake_artifact(kernel);
        });
        const auto kernel = hand_kernel("twice");
        std::shared_ptr<void> low = backend.allocate(4096), high = backend.allocate(4096);
        if (low > high) std::swap(low, high);
        const auto launch = [&](std::int64_t size, std::uintptr_t skipped = 0, std::int64_t stride = 1) {
            compiled.clear();
            const auto at = reinterpret_cast<std::uintptr_t>(low.get()) + skipped;
            const Tensor x = tensor_of(f32, at, {size}, {stride});
            const Tensor y = tensor(f32, high.get(), {size});
            kernel->prepare(backend, std::vector<Argument>{x, y, 2.0});
            return compiled.empty() ? "" : compiled.front();
        };
        CHECK(launch(512) == "divisor 256, align 16 and 16, 32 bits");
        CHECK(launch(768) == "");
        CHECK(launch(192) == "divisor 64, align 16 and 16, 32 bits");
        CHECK(launch(48) == "divisor 16, align 16 and 16, 32 bits");
        CHECK(launch(50) == "divisor 1, align 16 and 16, 32 bits");
        CHECK(launch(512, 4) == "divisor 256, align 1 and 16, 32 bits");
        CHECK(launch(std::int64_t{1} << 31, 0, 0) == "divisor 256, align 1 and 16, 64 bits");
        CHECK(launch(0) == "");  // what it is a multiple of needs no code of its own
        for (const std::int64_t size : {17, 16, 160, 1023, 1024}) CHECK(launch(size) == "");
    }
}

TEST_SUITE("emulated_gpu") {
    TEST_CASE("argument facts: launches with other sizes, rows and addresses are right, and so is the first again") {
        ::setenv("KILN_CUDA_DRIVER", EMULATED_CUDA_DRIVER, 1);
        ::setenv("EMULATED_GPU_CAPABILITIES", "80", 1);
        if (runtime::cuda::nvrtc().compiler == nullptr) skip("nvrtc", runtime::cuda::nvrtc().reason);
        const Device device = Device::open("cuda:0");
        const Kernel kernel = Module::from_text(kScaledText).kernel("scaled");
        const std::string whole = run_scaled(kernel, device, {256, 256, 256, 0});
        const std::string narrow = run_scaled(kernel, device, {32, 250, 252, 0});
        const std::string uneven = run_scaled(kernel, device, {37, 70, 71, 0});
        const std::string shifted = run_scaled(kernel, device, {256, 256, 256, 1});
        const std::string small = run_scaled(kernel, device, {16, 16, 20, 4});
        CHECK(run_scaled(kernel, device, {256, 512, 512, 4}) == whole);
        CHECK(run_scaled(kernel, device, {256, 256, 256, 0}) == whole);
        CHECK(run_scaled(kernel, device, {48, 3, 4, 0}) == narrow);
        CHECK(run_scaled(kernel, device, {1, 1, 3, 4}) != uneven);  // a single row is aligned
        CHECK(run_scaled(kernel, device, {3, 1, 3, 3}) == uneven);
        CHECK(std::set<std::string>{whole, narrow, uneven, shifted, small}.size() == 5);
    }
}

}  // namespace
}  // namespace kiln::test
