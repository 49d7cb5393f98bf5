// What the functions of the other files rest on, for clang 14 (hipRTC 5.2) and later, without the device libraries.

KILN_DEVICE unsigned kiln_bits_of_f32(float x) {
    return __builtin_bit_cast(unsigned, x);
}

KILN_DEVICE float kiln_f32_of_bits(unsigned x) {
    return __builtin_bit_cast(float, x);
}

KILN_DEVICE unsigned long long kiln_bits_of_f64(double x) {
    return __builtin_bit_cast(unsigned long long, x);
}

KILN_DEVICE double kiln_f64_of_bits(unsigned long long x) {
    return __builtin_bit_cast(double, x);
}

KILN_DEVICE int kiln_popcount_u32(unsigned x) {
    return __builtin_popcount(x);
}

KILN_DEVICE int kiln_popcount_u64(unsigned long long x) {
    return __builtin_popcountll(x);
}

KILN_DEVICE int kiln_clz_u32(unsigned x) {
    return x == 0 ? 32 : __builtin_clz(x);
}

KILN_DEVICE int kiln_clz_u64(unsigned long long x) {
    return x == 0 ? 64 : __builtin_clzll(x);
}

KILN_DEVICE unsigned long long kiln_high_product_u64(unsigned long long a, unsigned long long b) {
    return (unsigned long long)((unsigned __int128)a * b >> 64);
}

KILN_DEVICE float kiln_fma_f32(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

KILN_DEVICE double kiln_fma_f64(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}

// Before LLVM 18 the instruction alone, which is an ulp off at times, is what the builtin becomes. Of a double it is
// near enough to round to float correctly: no square root of a float lies that near to the middle of two floats.
KILN_DEVICE float kiln_sqrt_f32(float x) {
#if __clang_major__ >= 18
    return __builtin_sqrtf(x);
#else
    return (float)__builtin_sqrt((double)x);
#endif
}

KILN_DEVICE double kiln_sqrt_f64(double x) {
    double root = __builtin_sqrt(x);
#if __clang_major__ < 18
    double half = 0.5 / root, rest = __builtin_fma(-root, root, x);
    if (x > 0 && x < __builtin_inf()) root = __builtin_fma(rest, half, root);
#endif
    return root;
}

KILN_DEVICE float kiln_floor_f32(float x) {
    return __builtin_floorf(x);
}

KILN_DEVICE double kiln_floor_f64(double x) {
    return __builtin_floor(x);
}

KILN_DEVICE float kiln_ceil_f32(float x) {
    return __builtin_ceilf(x);
}

KILN_DEVICE double kiln_ceil_f64(double x) {
    return __builtin_ceil(x);
}

KILN_DEVICE float kiln_trunc_f32(float x) {
    return __builtin_truncf(x);
}

KILN_DEVICE double kiln_trunc_f64(double x) {
    return __builtin_trunc(x);
}

KILN_DEVICE float kiln_round_f32(float x) {
    return __builtin_rintf(x);
}

KILN_DEVICE double kiln_round_f64(double x) {
    return __builtin_rint(x);
}

// v_min_f32 and v_max_f32 prefer the number to NaN and order -0 before +0 (CDNA 3 and RDNA 3 ISA).
KILN_DEVICE float kiln_min_f32(float a, float b) {
    return __builtin_fminf(a, b);
}

KILN_DEVICE float kiln_max_f32(float a, float b) {
    return __builtin_fmaxf(a, b);
}

KILN_DEVICE float kiln_minimum_f32(float a, float b) {
    return a != a ? a : b != b ? b : kiln_min_f32(a, b);
}

KILN_DEVICE float kiln_maximum_f32(float a, float b) {
    return a != a ? a : b != b ? b : kiln_max_f32(a, b);
}

KILN_DEVICE float kiln_f32_of_f16(kiln_f16 x) {
    return (float)__builtin_bit_cast(_Float16, x);
}

KILN_DEVICE kiln_f16 kiln_f16_of_f32(float x) {
    return __builtin_bit_cast(kiln_f16, (_Float16)x);
}

KILN_DEVICE kiln_f16 kiln_fma_f16(kiln_f16 a, kiln_f16 b, kiln_f16 c) {
    return __builtin_bit_cast(kiln_f16,
                              __builtin_fmaf16(__builtin_bit_cast(_Float16, a), __builtin_bit_cast(_Float16, b),
                                               __builtin_bit_cast(_Float16, c)));
}

KILN_DEVICE kiln_bf16 kiln_bf16_of_f32(float x) {
    unsigned bits = kiln_bits_of_f32(x);
    if (x != x) return 0x7fc0;
    return (kiln_bf16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

KILN_DEVICE kiln_bf16 kiln_fma_bf16(kiln_bf16 a, kiln_bf16 b, kiln_bf16 c) {
    return kiln_wide_fma_bf16(a, b, c);
}

// v_exp_f32, within an ulp for normal results.
KILN_DEVICE float kiln_approximate_exp2_f32(float x) {
#if __clang_major__ >= 18
    return __builtin_amdgcn_exp2f(x);
#else
    float result;
    __asm__("v_exp_f32 %0, %1" : "=v"(result) : "v"(x));
    return result;
#endif
}

// The waits stand here as instructions, since clang 22 drops those of a fence at the head of a loop whose end stores to
// shared memory, and no barrier waits for stores by itself.
KILN_DEVICE void kiln_barrier() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
#if defined(__gfx1200__) || defined(__gfx1201__) || defined(__gfx1250__)
    __asm__ volatile("s_wait_loadcnt 0x0\n\ts_wait_storecnt 0x0\n\ts_wait_dscnt 0x0" : : : "memory");
#elif defined(__GFX11__) || defined(__GFX10__)
    __asm__ volatile("s_waitcnt vmcnt(0) lgkmcnt(0)\n\ts_waitcnt_vscnt null, 0x0" : : : "memory");
#else
    __asm__ volatile("s_waitcnt vmcnt(0) lgkmcnt(0)" : : : "memory");
#endif
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

// A fence would wait for loads of global memory, too (clang 22, even for an address space of its own).
KILN_DEVICE void kiln_shared_barrier() {
#if defined(__gfx1200__) || defined(__gfx1201__) || defined(__gfx1250__)
    __asm__ volatile("s_wait_dscnt 0x0" : : : "memory");
#else
    __asm__ volatile("s_waitcnt lgkmcnt(0)" : : : "memory");
#endif
    __builtin_amdgcn_s_barrier();
    __asm__ volatile("" : : : "memory");
}

KILN_DEVICE void kiln_fence() {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}

KILN_DEVICE unsigned kiln_thread() {
    return __builtin_amdgcn_workitem_id_x();
}

KILN_DEVICE unsigned kiln_block() {
    return __builtin_amdgcn_workgroup_id_x();
}

// Lanes as the wavefront has them: 64 on CDNA, 32 on RDNA. Blocks are whole wavefronts along one dimension.
KILN_DEVICE int kiln_lane() {
    return (int)(kiln_thread() % KILN_LANES);
}

KILN_DEVICE unsigned kiln_word_xor(unsigned word, int mask) {
    return (unsigned)__builtin_amdgcn_ds_bpermute(4 * (kiln_lane() ^ mask), (int)word);
}

// The lowest lanes get their own word.
KILN_DEVICE unsigned kiln_word_up(unsigned word, int distance) {
    const int from = kiln_lane() - distance;
    return (unsigned)__builtin_amdgcn_ds_bpermute(4 * (from < 0 ? kiln_lane() : from), (int)word);
}

template <class T>
KILN_DEVICE T kiln_word_cas(T* address, T expected, T value) {
    __atomic_compare_exchange_n(address, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

KILN_DEVICE int kiln_atomic_add_i32(int* address, int value) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

KILN_DEVICE unsigned kiln_atomic_add_u32(unsigned* address, unsigned value) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

KILN_DEVICE long long kiln_atomic_add_i64(long long* address, long long value) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

KILN_DEVICE unsigned long long kiln_atomic_add_u64(unsigned long long* address, unsigned long long value) {
    return __atomic_fetch_add(address, value, __ATOMIC_RELAXED);
}

KILN_DEVICE float kiln_atomic_add_f32(float* address, float value) {
    return kiln_atomic_update(address, [&](float old) { return old + value; });
}

KILN_DEVICE double kiln_atomic_add_f64(double* address, double value) {
    return kiln_atomic_update(address, [&](double old) { return old + value; });
}

template <class T, int N>
KILN_DEVICE void kiln_write_pack(kiln_pack<T, N>* place, const kiln_pack<T, N>& pack) {
    *place = pack;
}
