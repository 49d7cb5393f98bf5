// prepared_launch_cost prepared|raw N: N launches of one kernel on a driver that does nothing, through Kiln or by the
// driver's own call. tests/script/prepared_launch_cost.sh counts the instructions of both.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdlib>
#include <string_view>

#include "runtime/cuda/api.h"
#include "runtime/cuda/cuda_backend.h"
#include "tests/runtime/gpu/gpu_support.h"

namespace {

using namespace kiln;
using namespace kiln::test;

void launch_prepared(long count) {
    const HandWrittenBackend backend(runtime::cuda::backends().devices.at(0).backend,
                                     [](const ir::Kernel& kernel) { return fake_artifact(kernel); });
    const DeviceVector x(backend, {1, 2, 3, 4}), y(backend, {0, 0, 0, 0});
    const auto prepared = hand_kernel("twice")->prepare(backend, std::vector<Argument>{x.tensor(), y.tensor(), 2.0});
    for (long i = 0; i < count; ++i) prepared->bound().run();
}

void launch_raw(long count) {
    void* library = ::dlopen(std::getenv("KILN_CUDA_DRIVER"), RTLD_NOW);
    using Launch = decltype(runtime::cuda::Api::cuLaunchKernel);
    const auto launch = reinterpret_cast<Launch>(::dlsym(library, "cuLaunchKernel"));
    std::uint64_t slots[9] = {};
    void* parameters[] = {slots};
    for (long i = 0; i < count; ++i) launch(nullptr, 1, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    (std::string_view(argv[1]) == "raw" ? launch_raw : launch_prepared)(std::atol(argv[2]));
    return 0;
}
