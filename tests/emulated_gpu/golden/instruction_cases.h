#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace emulated_gpu {

/// Instructions to compare with a real GPU. Each runs in a warp of 32 lanes, which have inputs of their own.
///
/// The text reads a, b and c as 16, 32 or 64 bits (a16, a32, a64, ...) and writes d64, or d32 or d16 zero-extended.
/// `lane` is the lane's number, `memory` 1 KiB of shared memory.
struct InstructionCase {
    const char* text;
    int bits;             // of the inputs that matter
    bool floats = false;  // inputs are bit patterns of floats of these bits, special values among them
};

inline const std::vector<InstructionCase>& instruction_cases() {
    static const std::vector<InstructionCase> cases = {
        {"add.sat.s32 d32, a32, b32;", 32},
        {"mul.hi.s64 d64, a64, b64;", 64},
        {"mad.hi.sat.s32 d32, a32, b32, c32;", 32},
        {"mul24.hi.s32 d32, a32, b32;", 32},
        {"sad.s32 d32, a32, b32, c32;", 32},
        {"div.s32 d32, a32, b32;", 32},
        {"rem.s64 d64, a64, b64;", 64},
        {"bfe.s32 d32, a32, b32, c32;", 32},
        {"bfi.b32 d32, a32, b32, c32, 7;", 32},
        {"bfind.s32 d32, a32;", 32},
        {"brev.b64 d64, a64;", 64},
        {"prmt.b32 d32, a32, b32, c32;", 32},
        {"prmt.b32.rc8 d32, a32, b32, c32;", 32},
        {"shf.l.clamp.b32 d32, a32, b32, c32;", 32},
        {"shr.s32 d32, a32, b32;", 32},
        {"lop3.b32 d32, a32, b32, c32, 0x1b;", 32},
        {"dp4a.s32.u32 d32, a32, b32, c32;", 32},
        {"dp2a.hi.u32.s32 d32, a32, b32, c32;", 32},
        {"add.rz.f32 d32, a32, b32;", 32, true},
        {"mul.rm.f32 d32, a32, b32;", 32, true},
        {"fma.rp.f32 d32, a32, b32, c32;", 32, true},
        {"fma.rn.ftz.sat.f32 d32, a32, b32, c32;", 32, true},
        {"div.rn.f32 d32, a32, b32;", 32, true},
        {"sqrt.rn.f32 d32, a32;", 32, true},
        {"rcp.rz.f32 d32, a32;", 32, true},
        {"min.NaN.f32 d32, a32, b32;", 32, true},
        {"max.f32 d32, a32, b32;", 32, true},
        {"fma.rn.f64 d64, a64, b64, c64;", 64, true},
        {"div.rp.f64 d64, a64, b64;", 64, true},
        {"fma.rn.relu.f16 d16, a16, b16, c16;", 16, true},
        {"fma.rn.f16x2 d32, a32, b32, c32;", 32},
        {"fma.rn.bf16x2 d32, a32, b32, c32;", 32},
        {"max.bf16x2 d32, a32, b32;", 32},
        {"cvt.rzi.s32.f32 d32, a32;", 32, true},
        {"cvt.rni.u64.f64 d64, a64;", 64, true},
        {"cvt.rn.f16.f32 d16, a32;", 32, true},
        {"cvt.rz.bf16.f32 d16, a32;", 32, true},
        {"cvt.rn.bf16x2.f32 d32, a32, b32;", 32, true},
        {"cvt.rna.tf32.f32 d32, a32;", 32, true},
        {"cvt.rn.f32.s64 d32, a64;", 64},
        {"cvt.sat.u8.s32 d32, a32;", 32},
        {"testp.subnormal.f32 p, a32; selp.b32 d32, 1, 0, p;", 32, true},
        {"setp.ltu.f32 p, a32, b32; selp.b32 d32, 1, 0, p;", 32, true},
        {"copysign.f32 d32, a32, b32;", 32, true},
        {"shfl.sync.bfly.b32 d32, a32, 5, 31, 0xffffffff;", 32},
        {"shfl.sync.up.b32 d32|p, a32, 3, 0, 0xffffffff; selp.b32 d32, d32, 99, p;", 32},
        {"shfl.sync.idx.b32 d32, a32, b32, 0x181f, 0xffffffff;", 32},
        {"match.any.sync.b32 d32, a32, 0xffffffff;", 2},
        {"redux.sync.min.s32 d32, a32, 0xffffffff;", 32},
        {"movmatrix.sync.aligned.m8n8.trans.b16 d32, a32;", 32},
        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {x0, x1, x2, x3}, {a32, b32, c32, a32}, {b32, c32}, {c32, "
         "a32, b32, "
         "c32}; xor.b32 x0, x0, x3; xor.b32 x1, x1, x2; mov.b64 d64, {x0, x1};",
         32},
        {"mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32 {x0, x1, x2, x3}, {a32, b32, c32, a32}, {b32, "
         "c32}, {c32, "
         "a32, b32, c32}; xor.b32 x0, x0, x3; xor.b32 x1, x1, x2; mov.b64 d64, {x0, x1};",
         32},
    };
    return cases;
}

inline constexpr size_t kCaseLanes = 32;
/// a, b and c of each lane.
using CaseInputs = std::array<std::array<uint64_t, 3>, kCaseLanes>;
using CaseOutputs = std::array<uint64_t, kCaseLanes>;

/// The inputs of a case, the same in each run: special values and random ones.
inline CaseInputs inputs_of(size_t index) {
    const InstructionCase& test = instruction_cases()[index];
    std::mt19937_64 random(1000 + index);
    const uint64_t mask = test.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << test.bits) - 1;
    std::vector<uint64_t> special{0, 1, mask, mask >> 1, (mask >> 1) + 1, 8, 31, 32};
    if (test.floats) {
        const int mantissa = test.bits == 64 ? 52 : test.bits == 32 ? 23 : 10;
        const uint64_t infinity = (mask >> 1) & ~((uint64_t{1} << mantissa) - 1);
        const uint64_t sign = (mask >> 1) + 1;
        const uint64_t one = infinity - (((infinity >> mantissa) + 1) / 2 << mantissa);
        special = {0, sign, infinity, infinity | sign, infinity | 1, 1, one, one | sign, infinity - 1, one + 1};
    }
    CaseInputs inputs;
    for (auto& lane : inputs) {
        for (uint64_t& value : lane) value = random() % 3 == 0 ? special[random() % special.size()] : random() & mask;
    }
    return inputs;
}

/// The kernel `k(out, in)` of a case: in has 3 words a lane, out one.
inline std::string case_kernel(const InstructionCase& test) {
    const std::string text = test.text;
    std::string kernel =
        ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in) {\n"
        ".reg .b64 to, from, at, a64, b64, c64, d64; .reg .b32 lane, a32, b32, c32, d32, x0, x1, x2, x3;\n"
        ".reg .b16 a16, b16, c16, d16; .reg .pred p; .shared .align 16 .b8 memory[1024];\n"
        "mov.b64 d64, 0; mov.b32 d32, 0; mov.b16 d16, 0; mov.u32 lane, %tid.x;\n"
        "ld.param.u64 to, [out]; ld.param.u64 from, [in];\n"
        "mul.wide.u32 at, lane, 24; add.u64 from, from, at; mul.wide.u32 at, lane, 8; add.u64 to, to, at;\n";
    for (int i = 0; i < 3; ++i) {
        const std::string name(1, static_cast<char>('a' + i));
        kernel += "ld.global.u64 " + name + "64, [from+" + std::to_string(8 * i) + "]; cvt.u32.u64 " + name + "32, " +
                  name + "64; cvt.u16.u64 " + name + "16, " + name + "64;\n";
    }
    kernel += text + "\n";
    if (text.find("d64") == std::string::npos) {
        kernel += text.find("d32") != std::string::npos ? "cvt.u64.u32 d64, d32;\n" : "cvt.u64.u16 d64, d16;\n";
    }
    return kernel + "st.global.u64 [to], d64; ret; }\n";
}

}  // namespace emulated_gpu
