// HIP's words, in attributes and builtins of clang alone, so that hipRTC and an offline clang without any header of HIP take
// the same text. Exchanges count lanes as the compiler's wavefront has them: 64 on CDNA, 32 on RDNA.
#include "codegen/gpu/c_writer.h"
#include "codegen/gpu/statement_prelude.h"

namespace kiln::codegen::gpu {

namespace {

constexpr std::string_view kHipPrelude = R"device(
#define KILN_DEVICE static inline __attribute__((device, always_inline))
#define KILN_METHOD inline __attribute__((device, always_inline))

KILN_DEVICE void kiln_barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
KILN_DEVICE void kiln_fence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
KILN_DEVICE unsigned kiln_thread() { return __builtin_amdgcn_workitem_id_x(); }
KILN_DEVICE unsigned kiln_block() { return __builtin_amdgcn_workgroup_id_x(); }
KILN_DEVICE int kiln_lane() { return (int)(kiln_thread() % KILN_LANES); }
KILN_DEVICE unsigned kiln_word_xor(unsigned word, int mask) {
    return (unsigned)__builtin_amdgcn_ds_bpermute(4 * (kiln_lane() ^ mask), (int)word);
}
/// The lowest lanes get their own word.
KILN_DEVICE unsigned kiln_word_up(unsigned word, int distance) {
    const int from = kiln_lane() - distance;
    return (unsigned)__builtin_amdgcn_ds_bpermute(4 * (from < 0 ? kiln_lane() : from), (int)word);
}
template <class T>
KILN_DEVICE T kiln_word_cas(T* address, T expected, T value) {
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
)device";

constexpr std::string_view kHipAdds = R"device(
template <class T>
KILN_DEVICE T kiln_atomic_add(T* address, T value) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}
KILN_DEVICE float kiln_atomic_add(float* address, float value) {
    return kiln_atomic_update(address, [&](float old) { return old + value; });
}
KILN_DEVICE double kiln_atomic_add(double* address, double value) {
    return kiln_atomic_update(address, [&](double old) { return old + value; });
}
)device";

std::string attributes(int threads, int) {
    return "__attribute__((global, amdgpu_flat_work_group_size(" + std::to_string(threads) + ", " + std::to_string(threads) + ")))";
}

}  // namespace

Spelling hip_spelling(const Target& target) {
    const std::string lanes = "\n#define KILN_LANES " + std::to_string(target.lanes) + "u";
    return {Dialect::Hip, lanes + std::string(kHipPrelude) + std::string(kCommonPrelude) + std::string(kHipAdds), attributes,
            "extern __attribute__((shared, aligned(16))) unsigned char shared_memory[];"};
}

}  // namespace kiln::codegen::gpu
