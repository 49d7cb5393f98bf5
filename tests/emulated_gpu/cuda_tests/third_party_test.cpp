// Third-party kernels run unchanged: CUB and Thrust, as they lie in the CUDA toolkit.

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>

#include "tests/emulated_gpu/common_tests/compile_cache.h"
#include "tests/emulated_gpu/cuda_tests/compiled_kernels.h"
#include "tests/emulated_gpu/cuda_tests/nvrtc.h"
#include "tests/emulated_gpu/cuda_tests/third_party_kernels.h"
#include "tests/skip.h"
#include "tests/support/temporary_folder.h"

namespace emulated_gpu {
namespace {

namespace fs = std::filesystem;

const fs::path kToolkit = "/usr/local/cuda";

std::string compile_cub() {
    const fs::path headers = kToolkit / "include/cccl";
    if (!fs::is_directory(headers / "cub")) kiln::test::skip("cub", "no CUB at " + headers.string());
    return compile_cuda(kCubSource, "cub.cu", "compute_80",
                        {"--std=c++17", "-I" + headers.string(), "-I" + (kToolkit / "include").string()});
}

/// The PTX that nvcc makes of Thrust's kernels; NVRTC does not take Thrust's headers.
std::string run_nvcc(const fs::path& compiler) {
    const kiln::tests::TemporaryFolder folder;
    const std::string source = folder.in("thrust.cu");
    const std::string output = folder.in("thrust.ptx");
    std::ofstream(source) << kThrustSource;
    const pid_t child = fork();
    if (child == 0) {
        execl(compiler.c_str(), compiler.c_str(), "-ptx", "-arch=compute_80", "-o", output.c_str(), source.c_str(),
              nullptr);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) FAIL("nvcc could not compile " << source);
    std::ifstream file(output);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string compile_thrust() {
    const fs::path compiler = kToolkit / "bin/nvcc";
    if (!fs::is_directory(kToolkit / "include/cccl/thrust") || !fs::is_regular_file(compiler)) {
        kiln::test::skip("thrust", "no Thrust and nvcc at " + kToolkit.string());
    }
    std::ifstream version(kToolkit / "include/cccl/thrust/version.h");
    const std::string key{std::istreambuf_iterator<char>(version), std::istreambuf_iterator<char>()};
    return compile_cached(compiler.string() + "\n" + key + kThrustSource, [&] { return run_nvcc(compiler); });
}

std::vector<int32_t> numbers(size_t count) {
    std::vector<int32_t> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<int32_t>((i * 2654435761U) % 1000);
    return values;
}

LaunchResult launch(Machine& machine, const std::string& name, uint32_t grid, uint32_t threads,
                    const Parameters& parameters) {
    LaunchShape shape;
    shape.grid = {grid, 1, 1};
    shape.block = {threads, 1, 1};
    shape.parameters = parameters.bytes();
    LaunchResult result = run_kernel(*machine.module().kernels.at(name), shape, machine.memory(), machine.options, {});
    if (result.report) FAIL_CHECK(result.report->text());
    return result;
}

void check_block_algorithms(Machine& machine) {
    constexpr size_t kItems = 4096;
    constexpr size_t kTile = 512;
    const std::vector<int32_t> in = numbers(kItems);
    const uint64_t device_in = machine.upload(in);
    const uint64_t device_out = machine.upload(std::vector<int32_t>(4 * kItems + 8));
    const uint64_t device_bins = machine.upload(std::vector<uint32_t>(8 * 64));
    launch(machine, "block_algorithms", 8, 128, Parameters().add(device_in).add(device_out).add(device_bins));
    const std::vector<int32_t> out = machine.download<int32_t>(device_out, 4 * kItems + 8);
    const std::vector<uint32_t> bins = machine.download<uint32_t>(device_bins, 8 * 64);
    for (size_t block = 0; block < 8; ++block) {
        std::vector<int32_t> tile(in.begin() + static_cast<ptrdiff_t>(block * kTile),
                                  in.begin() + static_cast<ptrdiff_t>((block + 1) * kTile));
        std::vector<uint32_t> counts(64);
        for (const int32_t value : tile) ++counts[static_cast<size_t>(value & 63)];
        CHECK(std::equal(counts.begin(), counts.end(), bins.begin() + static_cast<ptrdiff_t>(block * 64)));
        std::sort(tile.begin(), tile.end());
        int32_t distinct = 0;
        int32_t sum = 0;
        for (size_t i = 0; i < kTile; ++i) {
            const size_t at = block * kTile + i;
            distinct += i == 0 || tile[i] != tile[i - 1] ? 1 : 0;
            CHECK(out[at] == tile[i]);               // radix sort
            CHECK(out[kItems + at] == distinct);     // discontinuity, scan by warps
            CHECK(out[2 * kItems + at] == sum);      // exclusive scan by raking
            CHECK(out[3 * kItems + at] == tile[i]);  // exchange, merge sort
            sum += tile[i];
        }
        CHECK(out[4 * kItems + block] == sum);  // reduction
    }
}

void check_warp_algorithms(Machine& machine) {
    const std::vector<int32_t> in = numbers(64);
    const uint64_t device_in = machine.upload(in);
    const uint64_t device_out = machine.upload(std::vector<int32_t>(68));
    launch(machine, "warp_algorithms", 1, 64, Parameters().add(device_in).add(device_out));
    const std::vector<int32_t> out = machine.download<int32_t>(device_out, 68);
    for (size_t i = 0; i < 64; ++i) {
        CHECK(out[i] == std::accumulate(in.begin() + static_cast<ptrdiff_t>(i / 32 * 32),
                                        in.begin() + static_cast<ptrdiff_t>(i + 1), 0));
    }
    for (size_t i = 0; i < 4; ++i) {
        const auto first = in.begin() + static_cast<ptrdiff_t>(16 * i);
        CHECK(out[64 + i] == *std::max_element(first, first + 16));
    }
}

/// The scan with decoupled look-back: blocks wait for each other's sums in global memory.
void check_device_scan(Machine& machine) {
    constexpr int32_t kCount = 10000;
    constexpr uint32_t kTiles = (kCount + 511) / 512;
    const std::vector<int32_t> in = numbers(kCount);
    const uint64_t device_in = machine.upload(in);
    const uint64_t device_out = machine.upload(std::vector<int32_t>(kCount));
    const uint64_t storage = machine.upload(std::vector<uint64_t>(kTiles + 32));
    launch(machine, "scan_init", 1, 128, Parameters().add(storage).add(kTiles));
    launch(machine, "device_scan", kTiles, 128, Parameters().add(storage).add(device_in).add(device_out).add(kCount));
    std::vector<int32_t> expected(kCount);
    std::partial_sum(in.begin(), in.end(), expected.begin());
    CHECK(machine.download<int32_t>(device_out, kCount) == expected);
}

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu: CUB's kernels run unchanged") {
        Machine machine(compile_cub());
        for (const bool checks_global : {false, true}) {
            machine.options.check_global = machine.options.shuffle = checks_global;
            machine.options.seed = 3;
            check_block_algorithms(machine);
            check_warp_algorithms(machine);
            check_device_scan(machine);
        }
    }

    TEST_CASE("emulated gpu: Thrust's algorithms run unchanged") {
        Machine machine(compile_thrust());
        constexpr size_t kRow = 50;
        std::vector<int32_t> data = numbers(64 * kRow);
        const uint64_t device_data = machine.upload(data);
        const uint64_t device_sums = machine.upload(std::vector<int32_t>(64));
        launch(machine, "thrust_rows", 2, 32, Parameters().add(device_data).add(int32_t{kRow}).add(device_sums));
        const std::vector<int32_t> out = machine.download<int32_t>(device_data, data.size());
        const std::vector<int32_t> sums = machine.download<int32_t>(device_sums, 64);
        for (size_t row = 0; row < 64; ++row) {
            const auto first = data.begin() + static_cast<ptrdiff_t>(row * kRow);
            std::sort(first, first + kRow);
            CHECK(sums[row] == std::accumulate(first, first + kRow, 0));
            std::partial_sum(first, first + kRow, first);
        }
        CHECK(out == data);
    }
}

}  // namespace emulated_gpu
