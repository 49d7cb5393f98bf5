// Block-wide primitives of AMD's rocPRIM, whose headers are compiled unchanged where they are installed (Debian's
// librocprim-dev; that version knows no processor with waves of 32).

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <random>

#include "tests/emulated_gpu/hip_tests/clang.h"
#include "tests/emulated_gpu/hip_tests/machine.h"

namespace emulated_gpu::hip {
namespace {

/// What HIP's headers expect of a device library, and of a compiler as old as themselves.
const std::string kDeviceLibrary = R"(
typedef _Float16 reciprocal_pair __attribute__((ext_vector_type(2)));
static __attribute__((device)) inline _Float16 __llvm_amdgcn_rcp_f16(_Float16 x) { return __builtin_amdgcn_rcph(x); }
static __attribute__((device)) inline reciprocal_pair __llvm_amdgcn_rcp_2f16(reciprocal_pair x) {
    return reciprocal_pair{(_Float16)__builtin_amdgcn_rcph(x.x), (_Float16)__builtin_amdgcn_rcph(x.y)};
}
extern "C" __attribute__((device)) inline unsigned long __ockl_get_local_id(unsigned axis) {
    if (axis == 0) return __builtin_amdgcn_workitem_id_x();
    return axis == 1 ? __builtin_amdgcn_workitem_id_y() : __builtin_amdgcn_workitem_id_z();
}
extern "C" __attribute__((device)) inline unsigned long __ockl_get_group_id(unsigned axis) {
    if (axis == 0) return __builtin_amdgcn_workgroup_id_x();
    return axis == 1 ? __builtin_amdgcn_workgroup_id_y() : __builtin_amdgcn_workgroup_id_z();
}
extern "C" __attribute__((device)) inline unsigned long __ockl_get_local_size(unsigned axis) {
    if (axis == 0) return __builtin_amdgcn_workgroup_size_x();
    return axis == 1 ? __builtin_amdgcn_workgroup_size_y() : __builtin_amdgcn_workgroup_size_z();
}
#define __AMDGCN_WAVEFRONT_SIZE 64
#include <rocprim/rocprim.hpp>
extern "C" __attribute__((device)) void __atomic_work_item_fence(__cl_mem_fence_flags, __memory_order, __memory_scope) {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
)";

const std::string kPrimitives = kDeviceLibrary + R"(
extern "C" __global__ void __launch_bounds__(256) radix_sort(const unsigned* in, unsigned* out) {
    using sort = rocprim::block_radix_sort<unsigned, 256, 4>;
    __shared__ typename sort::storage_type storage;
    unsigned items[4];
    rocprim::block_load_direct_blocked(threadIdx.x, in + blockIdx.x * 1024, items);
    sort().sort(items, storage);
    rocprim::block_store_direct_blocked(threadIdx.x, out + blockIdx.x * 1024, items);
}
extern "C" __global__ void __launch_bounds__(256) scan(const unsigned* in, unsigned* out) {
    using scan = rocprim::block_scan<unsigned, 256>;
    __shared__ typename scan::storage_type storage;
    unsigned value = in[blockIdx.x * 256 + threadIdx.x], result;
    scan().inclusive_scan(value, result, storage);
    out[blockIdx.x * 256 + threadIdx.x] = result;
}
extern "C" __global__ void __launch_bounds__(256) reduce(const unsigned* in, unsigned* out) {
    using reduce = rocprim::block_reduce<unsigned, 256>;
    __shared__ typename reduce::storage_type storage;
    unsigned value = in[blockIdx.x * 256 + threadIdx.x], result;
    reduce().reduce(value, result, storage, rocprim::maximum<unsigned>());
    if (threadIdx.x == 0) out[blockIdx.x] = result;
}
extern "C" __global__ void __launch_bounds__(256) histogram(const unsigned* in, unsigned* out) {
    using histogram = rocprim::block_histogram<unsigned, 256, 4, 64>;
    __shared__ typename histogram::storage_type storage;
    __shared__ unsigned counts[64];
    unsigned items[4];
    rocprim::block_load_direct_blocked(threadIdx.x, in + blockIdx.x * 1024, items);
    for (unsigned& item : items) item %= 64;
    histogram().histogram(items, counts, storage);
    rocprim::syncthreads();
    if (threadIdx.x < 64) out[blockIdx.x * 64 + threadIdx.x] = counts[threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(256) bitonic_sort(const unsigned* in, unsigned* out) {
    using sort = rocprim::block_sort<unsigned, 256>;
    __shared__ typename sort::storage_type storage;
    unsigned value = in[blockIdx.x * 256 + threadIdx.x];
    sort().sort(value, storage);
    out[blockIdx.x * 256 + threadIdx.x] = value;
}
extern "C" __global__ void __launch_bounds__(256) to_striped(const unsigned* in, unsigned* out) {
    using exchange = rocprim::block_exchange<unsigned, 256, 4>;
    __shared__ typename exchange::storage_type storage;
    unsigned items[4];
    rocprim::block_load_direct_blocked(threadIdx.x, in + blockIdx.x * 1024, items);
    exchange().blocked_to_striped(items, items, storage);
    rocprim::block_store_direct_striped<256>(threadIdx.x, out + blockIdx.x * 1024, items);
}
)";

using Words = std::vector<uint32_t>;
constexpr size_t kItems = 2048;

/// The kernel on two workgroups of 1024 items or eight of 256.
Words run_primitive(Machine& machine, const std::string& kernel, const Words& in, size_t items, size_t results) {
    const uint64_t out = machine.upload(Words(results, 0));
    machine.run(kernel, {static_cast<uint32_t>(kItems / items), 1, 1}, {256, 1, 1},
                Arguments().add(machine.upload(in)).add(out));
    return machine.download<uint32_t>(out, results);
}

/// Every `items` words of a copy of `in`, changed by `change(first, last)`.
template <class F>
Words changed(Words in, size_t items, F change) {
    for (size_t at = 0; at < in.size(); at += items) {
        change(in.begin() + static_cast<ptrdiff_t>(at), in.begin() + static_cast<ptrdiff_t>(at + items));
    }
    return in;
}

TEST_SUITE("emulated_gpu") {
    TEST_CASE("hip: block primitives of rocPRIM") {
        if (!std::filesystem::exists("/usr/include/rocprim/rocprim.hpp")) {
            std::printf("skipped: rocprim: its headers are not installed\n");
            std::fflush(stdout);
            std::exit(77);
        }
        Machine machine(compile_hip(kPrimitives, "gfx90a", "primitives.hip",
                                    {"--offload-inc", "-w", "-Wno-error", "-std=c++17",
                                     "-Wno-missing-template-arg-list-after-template-kw"}),
                        "gfx90a");
        Words in(kItems);
        std::mt19937 random(3);
        for (uint32_t& word : in) word = static_cast<uint32_t>(random());
        const auto sort = [](auto first, auto last) { std::sort(first, last); };
        CHECK(run_primitive(machine, "radix_sort", in, 1024, kItems) == changed(in, 1024, sort));
        CHECK(run_primitive(machine, "bitonic_sort", in, 256, kItems) == changed(in, 256, sort));
        CHECK(run_primitive(machine, "to_striped", in, 1024, kItems) == in);
        CHECK(run_primitive(machine, "scan", in, 256, kItems) ==
              changed(in, 256, [](auto first, auto last) { std::partial_sum(first, last, first); }));
        const Words most = run_primitive(machine, "reduce", in, 256, kItems / 256);
        const Words counts = run_primitive(machine, "histogram", in, 1024, kItems / 1024 * 64);
        Words expected(counts.size(), 0);
        for (size_t i = 0; i < kItems; ++i) ++expected[i / 1024 * 64 + in[i] % 64];
        CHECK(counts == expected);
        for (size_t i = 0; i < most.size(); ++i) {
            const auto first = in.begin() + static_cast<ptrdiff_t>(i * 256);
            CHECK(most[i] == *std::max_element(first, first + 256));
        }
    }
}

}  // namespace
}  // namespace emulated_gpu::hip
