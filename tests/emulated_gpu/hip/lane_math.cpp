#include "tests/emulated_gpu/hip/lane_math.h"

#include "tests/emulated_gpu/hip/program.h"

namespace emulated_gpu::hip {
namespace {

#if defined(__x86_64__)
#define EMULATED_WITH_FMA __attribute__((target("avx2,fma")))

bool has_fma() {
    static const bool has = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
    return has;
}

EMULATED_WITH_FMA void fma_in_hardware(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* out) {
    for (uint32_t i = 0; i < kLanes; ++i) {
        out[i] = std::bit_cast<uint32_t>(
            __builtin_fmaf(std::bit_cast<float>(a[i]), std::bit_cast<float>(b[i]), std::bit_cast<float>(c[i])));
    }
}

EMULATED_WITH_FMA void fma_in_hardware(const uint64_t* a, const uint64_t* b, const uint64_t* c, uint64_t* out) {
    for (uint32_t i = 0; i < kLanes; ++i) {
        out[i] = std::bit_cast<uint64_t>(
            __builtin_fma(std::bit_cast<double>(a[i]), std::bit_cast<double>(b[i]), std::bit_cast<double>(c[i])));
    }
}
#else
bool has_fma() {
    return false;
}
void fma_in_hardware(const uint32_t*, const uint32_t*, const uint32_t*, uint32_t*) {}
void fma_in_hardware(const uint64_t*, const uint64_t*, const uint64_t*, uint64_t*) {}
#endif

}  // namespace

void fma_lanes(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* out) {
    if (has_fma()) return fma_in_hardware(a, b, c, out);
    for (uint32_t i = 0; i < kLanes; ++i) {
        out[i] = std::bit_cast<uint32_t>(
            std::fma(std::bit_cast<float>(a[i]), std::bit_cast<float>(b[i]), std::bit_cast<float>(c[i])));
    }
}

void fma_lanes(const uint64_t* a, const uint64_t* b, const uint64_t* c, uint64_t* out) {
    if (has_fma()) return fma_in_hardware(a, b, c, out);
    for (uint32_t i = 0; i < kLanes; ++i) {
        out[i] = std::bit_cast<uint64_t>(
            std::fma(std::bit_cast<double>(a[i]), std::bit_cast<double>(b[i]), std::bit_cast<double>(c[i])));
    }
}

}  // namespace emulated_gpu::hip
