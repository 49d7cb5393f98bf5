// Functions compiled by the same compiler for the GPU and for the host have to agree bit by bit on random and on
// awkward values: what clang makes of divisions, conversions, shifts, calls, private arrays and switches is executed
// here.

#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <random>

#include "tests/emulated_gpu/hip_tests/clang.h"
#include "tests/emulated_gpu/hip_tests/hip_kernels.h"
#include "tests/emulated_gpu/hip_tests/machine.h"

namespace emulated_gpu::hip {
namespace {

/// Each takes three 64-bit words and gives one. FUNCTION marks them for either compiler.
const std::string kFunctions = R"(
typedef unsigned int u32; typedef int i32; typedef unsigned long long u64; typedef long long i64;
typedef unsigned short u16; typedef short i16; typedef unsigned char u8; typedef signed char i8;
template <class To, class From> FUNCTION inline To bits(From from) { return __builtin_bit_cast(To, from); }
FUNCTION inline float f(u64 x) { return bits<float>((u32)x); }
FUNCTION inline u64 r(float x) { return x != x ? 0x7fc00000 : bits<u32>(x); }
FUNCTION inline double d(u64 x) { return bits<double>(x); }
FUNCTION inline u64 r(double x) { return x != x ? 0x7ff8000000000000 : bits<u64>(x); }
FUNCTION inline _Float16 h(u64 x) { return bits<_Float16>((u16)x); }
FUNCTION inline u64 r(_Float16 x) { return x != x ? 0x7e00 : bits<u16>(x); }
FUNCTION inline u32 one(u64 x) { return (u32)x | 1; }

FUNCTION u64 f0(u64 a, u64 b, u64) { return (u32)a / one(b) + (u64)((u32)a % one(b)) * 3; }
FUNCTION u64 f1(u64 a, u64 b, u64) { return (u64)((i32)a / ((i32)b | 1) + 5 * ((i32)a % ((i32)(b >> 20) | 1))); }
FUNCTION u64 f2(u64 a, u64 b, u64) { return a / (b | 1) ^ a % (b >> 30 | 1); }
FUNCTION u64 f3(u64 a, u64 b, u64) { return (u64)((i64)a / ((i64)b >> 17 | 1)); }
FUNCTION u64 f4(u64 a, u64 b, u64 c) { return a * b + c; }
FUNCTION u64 f5(u64 a, u64 b, u64) { return (u64)(((unsigned __int128)a * b) >> 64); }
FUNCTION u64 f6(u64 a, u64 b, u64) { return a << (b & 63) | a >> ((64 - b) & 63); }
FUNCTION u64 f7(u64 a, u64 b, u64) { return (u64)((i64)a >> (b & 63)) + ((u32)a << (b & 31)) + (u64)((i32)a >> (b & 31)); }
FUNCTION u64 f8(u64 a, u64, u64) { return __builtin_popcountll(a) + 64 * __builtin_clzll(a | 1) + 4096 * __builtin_ctzll(a | 1ull << 63); }
FUNCTION u64 f9(u64 a, u64, u64) { return __builtin_bitreverse64(a) ^ __builtin_bswap32((u32)a); }
FUNCTION u64 f10(u64 a, u64 b, u64) { return r(f(a) / f(b)); }
FUNCTION u64 f11(u64 a, u64 b, u64) { return r(d(a) / d(b)); }
FUNCTION u64 f12(u64 a, u64, u64) { return r(__builtin_sqrtf(__builtin_fabsf(f(a)))); }
FUNCTION u64 f13(u64 a, u64, u64) { return r(__builtin_sqrt(__builtin_fabs(d(a)))); }
FUNCTION u64 f14(u64 a, u64 b, u64 c) { return r(__builtin_fmaf(f(a), f(b), f(c))); }
FUNCTION u64 f15(u64 a, u64 b, u64 c) { return r(__builtin_fma(d(a), d(b), d(c))); }
FUNCTION u64 f16(u64 a, u64 b, u64 c) { return r(f(a) * f(b) + f(c) - f(a)); }
FUNCTION u64 f17(u64 a, u64 b, u64 c) { return r(d(a) * d(b) + d(c) - d(a)); }
FUNCTION u64 f18(u64 a, u64 b, u64) { return r((_Float16)(h(a) * h(b))) + 65536 * r((_Float16)(h(a) + h(b))); }
FUNCTION u64 f19(u64 a, u64, u64) { return r((float)h(a)) ^ r((_Float16)f(a >> 16)) << 32; }
FUNCTION u64 f20(u64 a, u64, u64) { return r((float)(i32)a) ^ r((float)(u32)(a >> 32)) << 32; }
FUNCTION u64 f21(u64 a, u64, u64) { return r((float)a) ^ r((float)(i64)a) << 32; }
FUNCTION u64 f22(u64 a, u64, u64) { return r((double)a) ^ r((double)(i64)a) >> 3; }
FUNCTION u64 f23(u64 a, u64, u64) { return r((double)(i32)a) + r((double)(u32)(a >> 32)); }
FUNCTION u64 f24(u64 a, u64, u64) { return r((float)d(a)) ^ r((double)f(a)); }
FUNCTION u64 f25(u64 a, u64, u64) { float x = f(a); return __builtin_fabsf(x) < 1e9f ? (u64)(i64)(i32)x : 1; }
FUNCTION u64 f26(u64 a, u64, u64) { double x = d(a); return x > -9e18 && x < 9e18 ? (u64)(i64)x : 1; }
FUNCTION u64 f27(u64 a, u64, u64) { float x = f(a); return x > -9e18f && x < 9e18f ? (u64)(i64)x : 1; }
FUNCTION u64 f28(u64 a, u64, u64) { double x = d(a); return x >= 0 && x < 1.8e19 ? (u64)x : 1; }
FUNCTION u64 f29(u64 a, u64, u64) { return r(__builtin_floorf(f(a))) ^ r(__builtin_ceilf(f(a))) << 1 ^ r(__builtin_truncf(f(a))) << 2 ^ r(__builtin_rintf(f(a))) << 3; }
FUNCTION u64 f30(u64 a, u64, u64) { return r(__builtin_floor(d(a))) ^ r(__builtin_ceil(d(a))) << 1 ^ r(__builtin_trunc(d(a))) << 2 ^ r(__builtin_rint(d(a))) << 3; }
FUNCTION u64 f31(u64 a, u64 b, u64) { return (f(a) < f(b)) + 2 * (f(a) <= f(b)) + 4 * (f(a) == f(b)) + 8 * (f(a) != f(b)) + 16 * !(f(a) >= f(b)) + 32 * !(f(a) > f(b)) + 64 * (d(a) < d(b)) + 128 * !(d(a) <= d(b)); }
FUNCTION u64 f32(u64 a, u64 b, u64) { return ((i8)a < (i8)b) + 2 * ((u16)a < (u16)b) + 4 * ((i64)a < (i64)b) + 8 * (a < b) + 16 * ((i16)a >= (i16)b) + 32 * (a == b); }
FUNCTION u64 f33(u64 a, u64 b, u64) { return (u8)(a + b) | (u64)(u8)(a * b) << 8 | (u64)(u16)((i16)a * (i16)b) << 16 | (u64)(u16)((i16)a >> (b & 15)) << 32 | (u64)(u16)((u16)(a >> 3) / ((u16)b | 1)) << 48; }
FUNCTION u64 f34(u64 a, u64 b, u64 c) { switch (a % 11) { case 0: return b; case 1: return c; case 2: return b + c; case 3: return b * c; case 4: return b ^ c; case 5: return b - c; case 6: return b << (c & 7); case 7: return ~b; case 8: return c >> 5; case 9: return b & c; default: return a; } }
FUNCTION u64 f35(u64 a, u64 b, u64 c) { u64 t[16]; for (int i = 0; i < 16; ++i) t[i] = a * i + b; t[c & 15] ^= c; u64 s = 0; for (int i = 0; i < 16; ++i) s = s * 31 + t[(i + b) & 15]; return s; }
FUNCTION u64 f36(u64 a, u64 b, u64) { u64 n = a % 97, s = b; for (u64 i = 0; i < n; ++i) { if ((s >> i % 60) & 1) s = s * 3 + 1; else s ^= s >> 7; if (s % 19 == 3) break; } return s; }
__attribute__((noinline)) FUNCTION u64 helper(u64 a, u64 b, int depth) { return depth == 0 ? a ^ b : helper(b * 5 + 1, a, depth - 1) + (u64)depth; }
FUNCTION u64 f37(u64 a, u64 b, u64 c) { return helper(a, b, (int)(c % 9)); }
FUNCTION u64 f38(u64 a, u64 b, u64 c) { u32 x = (u32)a, y = (u32)b, z = (u32)c; u32 m = x > y ? x : y; u32 n = (i32)x < (i32)z ? x : z; return (u64)(m - n) << 32 | ((x & y) | (~x & z)) + ((x ^ y) << 3); }
FUNCTION u64 f39(u64 a, u64 b, u64) { u8 t[8]; for (int i = 0; i < 8; ++i) t[i] = (u8)(a >> (8 * ((i + b) & 7))); u64 s = 0; for (int i = 7; i >= 0; --i) s = s << 8 | t[i]; return s; }
)";
constexpr int kFunctionCount = 40;

std::string calls() {
    std::string text;
    for (int i = 0; i < kFunctionCount; ++i) {
        text += "        case " + std::to_string(i) + ": return f" + std::to_string(i) + "(a, b, c);\n";
    }
    return text;
}

std::string gpu_source() {
    std::string text = "#define FUNCTION __attribute__((device))\n" + kFunctions;
    for (int i = 0; i < kFunctionCount; ++i) {
        const std::string number = std::to_string(i);
        text += "extern \"C\" __attribute__((global)) void k" + number +
                "(const u64* a, const u64* b, const u64* c, u64* out) {\n"
                "    u32 i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();\n"
                "    out[i] = f" +
                number + "(a[i], b[i], c[i]);\n}\n";
    }
    return text;
}

std::string host_source() {
    return "#define FUNCTION\n" + kFunctions +
           "extern \"C\" u64 call(int number, u64 a, u64 b, u64 c) {\n    switch (number) {\n" + calls() +
           "        default: return 0;\n    }\n}\n";
}

/// Random words, and words that are limits of some type or close to them.
std::vector<uint64_t> awkward_words(size_t count, uint64_t seed) {
    constexpr uint64_t kSpecial[] = {0,
                                     1,
                                     2,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0x8000,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x3f800000,
                                     0xbf800000,
                                     0x7f800000,
                                     0xff800000,
                                     0x7fc00000,
                                     0x00800000,
                                     1,
                                     0x00400000,
                                     0x7f7fffff,
                                     0x3c00,
                                     0x7c00,
                                     0x7bff,
                                     0x0400,
                                     0x03ff,
                                     0x3ff0000000000000,
                                     0xbff0000000000000,
                                     0x7ff0000000000000,
                                     0x7ff8000000000000,
                                     0x0010000000000000,
                                     0x000fffffffffffff,
                                     0x7fefffffffffffff,
                                     0x8000000000000000,
                                     0x7fffffffffffffff,
                                     0x43e0000000000000,
                                     0x4330000000000000,
                                     0x41dfffffffc00000,
                                     0x5f000000,
                                     0x4b000000};
    std::mt19937_64 random(seed);
    std::vector<uint64_t> words(count);
    for (uint64_t& word : words) {
        word = random();
        const uint64_t kind = random() % 8;
        if (kind == 0) word = kSpecial[word % std::size(kSpecial)];
        if (kind == 1) word &= 0xffffffff;
        if (kind == 2) word = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int64_t>(word)) * 0x1p-40F);
        if (kind == 3) word = std::bit_cast<uint64_t>(static_cast<double>(static_cast<int64_t>(word)) * 0x1p-50);
        if (kind == 4) word >>= random() % 64;
    }
    return words;
}

TEST_SUITE("emulated_gpu") {
    TEST_CASE("hip: compiled functions agree with the host") {
        const std::string library = compile_host(host_source());
        void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
        REQUIRE(handle != nullptr);
        std::filesystem::remove(library);
        const auto on_host = reinterpret_cast<uint64_t (*)(int, uint64_t, uint64_t, uint64_t)>(dlsym(handle, "call"));
        constexpr size_t kCount = 1024;
        const std::pair<std::string, std::vector<std::string>> targets[] = {
            {"gfx90a", {}},  {"gfx942", {}},           {"gfx950", {}}, {"gfx1100", {}}, {"gfx1100", {kWideWaves}},
            {"gfx1201", {}}, {"gfx1201", {kWideWaves}}};
        for (const auto& [processor, options] : targets) {
            Machine machine(compile_hip(gpu_source(), processor, "kernel.hip", options), processor);
            const std::vector<uint64_t> a = awkward_words(kCount, 1);
            const std::vector<uint64_t> b = awkward_words(kCount, 2);
            const std::vector<uint64_t> c = awkward_words(kCount, 3);
            const uint64_t out = machine.upload(std::vector<uint64_t>(kCount, 0));
            const Arguments arguments =
                Arguments().add(machine.upload(a)).add(machine.upload(b)).add(machine.upload(c)).add(out);
            for (int number = 0; number < kFunctionCount; ++number) {
                machine.run("k" + std::to_string(number), {kCount / 64, 1, 1}, {64, 1, 1}, arguments);
                const std::vector<uint64_t> values = machine.download<uint64_t>(out, kCount);
                int wrong = 0;
                std::string first;
                for (size_t i = 0; i < kCount; ++i) {
                    const uint64_t expected = on_host(number, a[i], b[i], c[i]);
                    if (values[i] == expected) continue;
                    if (wrong++ == 0) {
                        first = hexadecimal(a[i]) + ", " + hexadecimal(b[i]) + ", " + hexadecimal(c[i]) + " gives " +
                                hexadecimal(values[i]) + ", on the host " + hexadecimal(expected);
                    }
                }
                CHECK_MESSAGE(wrong == 0, processor << " f" << number << ": " << wrong << " wrong, first " << first);
            }
        }
    }
}

}  // namespace
}  // namespace emulated_gpu::hip
