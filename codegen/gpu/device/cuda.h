// What the functions of the other files rest on, for NVRTC, which knows these intrinsics without headers. `asm` stands
// where the language's function leaves open what the PTX instruction settles: the order of zeros, NaNs, the rounding.

KILN_DEVICE unsigned kiln_bits_of_f32(float x) {
    return __float_as_uint(x);
}

KILN_DEVICE float kiln_f32_of_bits(unsigned x) {
    return __uint_as_float(x);
}

KILN_DEVICE unsigned long long kiln_bits_of_f64(double x) {
    return (unsigned long long)__double_as_longlong(x);
}

KILN_DEVICE double kiln_f64_of_bits(unsigned long long x) {
    return __longlong_as_double((long long)x);
}

KILN_DEVICE int kiln_popcount_u32(unsigned x) {
    return __popc(x);
}

KILN_DEVICE int kiln_popcount_u64(unsigned long long x) {
    return __popcll(x);
}

KILN_DEVICE int kiln_clz_u32(unsigned x) {
    return __clz((int)x);
}

KILN_DEVICE int kiln_clz_u64(unsigned long long x) {
    return __clzll((long long)x);
}

KILN_DEVICE unsigned long long kiln_high_product_u64(unsigned long long a, unsigned long long b) {
    return __umul64hi(a, b);
}

KILN_DEVICE float kiln_fma_f32(float a, float b, float c) {
    return __fmaf_rn(a, b, c);
}

KILN_DEVICE double kiln_fma_f64(double a, double b, double c) {
    return __fma_rn(a, b, c);
}

KILN_DEVICE float kiln_sqrt_f32(float x) {
    return __fsqrt_rn(x);
}

KILN_DEVICE double kiln_sqrt_f64(double x) {
    return __dsqrt_rn(x);
}

KILN_DEVICE float kiln_floor_f32(float x) {
    return floorf(x);
}

KILN_DEVICE double kiln_floor_f64(double x) {
    return floor(x);
}

KILN_DEVICE float kiln_ceil_f32(float x) {
    return ceilf(x);
}

KILN_DEVICE double kiln_ceil_f64(double x) {
    return ceil(x);
}

KILN_DEVICE float kiln_trunc_f32(float x) {
    return truncf(x);
}

KILN_DEVICE double kiln_trunc_f64(double x) {
    return trunc(x);
}

KILN_DEVICE float kiln_round_f32(float x) {
    return rintf(x);
}

KILN_DEVICE double kiln_round_f64(double x) {
    return rint(x);
}

KILN_DEVICE float kiln_min_f32(float a, float b) {
    float result;
    asm("min.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}

KILN_DEVICE float kiln_max_f32(float a, float b) {
    float result;
    asm("max.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}

KILN_DEVICE float kiln_minimum_f32(float a, float b) {
    float result;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}

KILN_DEVICE float kiln_maximum_f32(float a, float b) {
    float result;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}

KILN_DEVICE float kiln_f32_of_f16(kiln_f16 x) {
    float result;
    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(x));
    return result;
}

KILN_DEVICE kiln_f16 kiln_f16_of_f32(float x) {
    kiln_f16 result;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result) : "f"(x));
    return result;
}

KILN_DEVICE kiln_f16 kiln_fma_f16(kiln_f16 a, kiln_f16 b, kiln_f16 c) {
    kiln_f16 result;
    asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(result) : "h"(a), "h"(b), "h"(c));
    return result;
}

KILN_DEVICE kiln_bf16 kiln_bf16_of_f32(float x) {
    kiln_bf16 result;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result) : "f"(x));
    return result;
}

KILN_DEVICE kiln_bf16 kiln_fma_bf16(kiln_bf16 a, kiln_bf16 b, kiln_bf16 c) {
    kiln_bf16 result;
    asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(result) : "h"(a), "h"(b), "h"(c));
    return result;
}

// Within 2^-22 relative (PTX ISA, ex2).
KILN_DEVICE float kiln_approximate_exp2_f32(float x) {
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

KILN_DEVICE void kiln_barrier() {
    __syncthreads();
}

KILN_DEVICE void kiln_shared_barrier() {
    __syncthreads();
}

KILN_DEVICE void kiln_fence() {
    __threadfence();
}

// Copies from global to shared memory past the registers, of 4, 8 or 16 bytes; what `count` leaves out becomes zero.
template <int Bytes>
KILN_DEVICE void kiln_copy_async(void* to, const void* from) {
    const unsigned place = (unsigned)__cvta_generic_to_shared(to);
    if (Bytes == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(place), "l"(from) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" : : "r"(place), "l"(from), "n"(Bytes) : "memory");
    }
}
template <int Bytes>
KILN_DEVICE void kiln_copy_async(void* to, const void* from, unsigned count) {
    const unsigned place = (unsigned)__cvta_generic_to_shared(to);
    if (Bytes == 16) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(place), "l"(from), "r"(count) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     :
                     : "r"(place), "l"(from), "n"(Bytes), "r"(count)
                     : "memory");
    }
}

KILN_DEVICE void kiln_commit_copies() {
    asm volatile("cp.async.commit_group;" : : : "memory");
}

template <int Groups>
KILN_DEVICE void kiln_wait_copies() {
    asm volatile("cp.async.wait_group %0;" : : "n"(Groups) : "memory");
}

KILN_DEVICE unsigned kiln_thread() {
    return threadIdx.x;
}

KILN_DEVICE unsigned kiln_block() {
    return blockIdx.x;
}

KILN_DEVICE unsigned kiln_word_xor(unsigned word, int mask) {
    return __shfl_xor_sync(0xffffffffu, word, mask);
}

KILN_DEVICE unsigned kiln_word_up(unsigned word, int distance) {
    return __shfl_up_sync(0xffffffffu, word, distance);
}

template <class T>
KILN_DEVICE T kiln_word_cas(T* address, T expected, T value) {
    return atomicCAS(address, expected, value);
}

KILN_DEVICE int kiln_atomic_add_i32(int* address, int value) {
    return atomicAdd(address, value);
}

KILN_DEVICE unsigned kiln_atomic_add_u32(unsigned* address, unsigned value) {
    return atomicAdd(address, value);
}

KILN_DEVICE unsigned long long kiln_atomic_add_u64(unsigned long long* address, unsigned long long value) {
    return atomicAdd(address, value);
}

KILN_DEVICE float kiln_atomic_add_f32(float* address, float value) {
    return atomicAdd(address, value);
}

KILN_DEVICE double kiln_atomic_add_f64(double* address, double value) {
    return atomicAdd(address, value);
}

KILN_DEVICE long long kiln_atomic_add_i64(long long* address, long long value) {
    return (long long)atomicAdd((unsigned long long*)address, (unsigned long long)value);
}

// Shared memory has addresses of its own, of 32 bits.
KILN_DEVICE unsigned kiln_shared_address(const void* place) {
    return (unsigned)__cvta_generic_to_shared(place);
}

KILN_DEVICE void kiln_load_matrices_1(unsigned* words, unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(words[0]) : "r"(address) : "memory");
}

KILN_DEVICE void kiln_load_matrices_1_transposed(unsigned* words, unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(words[0])
                 : "r"(address)
                 : "memory");
}

KILN_DEVICE void kiln_load_matrices_2(unsigned* words, unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(words[0]), "=r"(words[1])
                 : "r"(address)
                 : "memory");
}

KILN_DEVICE void kiln_load_matrices_2_transposed(unsigned* words, unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(words[0]), "=r"(words[1])
                 : "r"(address)
                 : "memory");
}

KILN_DEVICE void kiln_load_matrices_4(unsigned* words, unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
}

KILN_DEVICE void kiln_load_matrices_4_transposed(unsigned* words, unsigned address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
}

// To global memory, at once: the compiler takes copies of structures apart at times.
template <class T, int N>
KILN_DEVICE void kiln_write_pack(kiln_pack<T, N>* place, const kiln_pack<T, N>& pack) {
    const unsigned* words = (const unsigned*)&pack;
    if constexpr (sizeof(pack) == 16) {
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                     :
                     : "l"(__cvta_generic_to_global(place)), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                     : "memory");
    } else if constexpr (sizeof(pack) == 8) {
        asm volatile("st.global.v2.u32 [%0], {%1, %2};"
                     :
                     : "l"(__cvta_generic_to_global(place)), "r"(words[0]), "r"(words[1])
                     : "memory");
    } else {
        *place = pack;
    }
}

// To the nearest of 10 bits of mantissa, ties away from zero: what instructions of tf32 take (PTX ISA, cvt).
KILN_DEVICE unsigned kiln_tf32_of_f32(unsigned bits) {
    unsigned result;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(__uint_as_float(bits)));
    return result;
}
