// One instruction at a time against values worked out from the PTX ISA document.

#include <bit>
#include <cmath>

#include "tests/emulated_gpu/cuda_tests/machine.h"

namespace emulated_gpu {
namespace {

/// Runs `code` in one thread. It reads a, b and c as 16, 32 or 64 bits (a16, a32, a64, ...; pa, pb, pc: their lowest
/// bits as predicates) and writes d16, d32, d64 or pd.
uint64_t evaluate(const std::string& code, const std::vector<uint64_t>& inputs) {
    std::string text = kPtxHeader +
                       ".entry k(.param .u64 out, .param .u64 in0, .param .u64 in1, .param .u64 in2) {\n"
                       ".reg .b64 address, d64; .reg .b32 d32; .reg .b16 d16; .reg .pred pd;\n"
                       "mov.b64 d64, 0; mov.b32 d32, 0; mov.b16 d16, 0; setp.ne.u32 pd, 0, 0;\n";
    const char* const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; ++i) {
        const std::string n = names[i];
        text += ".reg .b64 " + n + "64; .reg .b32 " + n + "32; .reg .b16 " + n + "16; .reg .pred p" + n + ";\n";
        text += "ld.param.u64 " + n + "64, [in" + std::to_string(i) + "]; cvt.u32.u64 " + n + "32, " + n +
                "64; cvt.u16.u64 " + n + "16, " + n + "64; { .reg .b32 low; and.b32 low, " + n +
                "32, 1; setp.ne.u32 p" + n + ", low, 0; }\n";
    }
    text += code + "\n";
    if (code.find("pd") != std::string::npos)
        text += "selp.u64 d64, 1, 0, pd;\n";
    else if (code.find("d64") == std::string::npos) {
        text += code.find("d32") != std::string::npos ? "cvt.u64.u32 d64, d32;\n" : "cvt.u64.u16 d64, d16;\n";
    }
    text += "ld.param.u64 address, [out]; st.global.u64 [address], d64; ret; }";
    Machine machine(text, 89);
    const uint64_t out = machine.upload(std::vector<uint64_t>{0});
    std::vector<uint64_t> parameters{out};
    for (size_t i = 0; i < 3; ++i) parameters.push_back(i < inputs.size() ? inputs[i] : 0);
    const LaunchResult result = machine.launch("k", {1, 1, 1}, {1, 1, 1}, parameters);
    if (result.report) FAIL(result.report->text());
    return machine.download<uint64_t>(out, 1)[0];
}

struct Row {
    const char* code;
    std::vector<uint64_t> inputs;
    uint64_t expected;
};

void check_rows(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        CAPTURE(std::string(row.code));
        CHECK(evaluate(row.code, row.inputs) == row.expected);
    }
}

uint64_t f32(float value) {
    return std::bit_cast<uint32_t>(value);
}
uint64_t f64(double value) {
    return std::bit_cast<uint64_t>(value);
}

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu: integer arithmetic") {
        check_rows({
            {"add.s32 d32, a32, b32;", {0x7fffffff, 1}, 0x80000000},
            {"add.sat.s32 d32, a32, b32;", {0x7fffffff, 1}, 0x7fffffff},
            {"sub.sat.s32 d32, a32, b32;", {0x80000000, 1}, 0x80000000},
            {"add.u16 d16, a16, b16;", {0xffff, 2}, 1},
            {"add.cc.u32 d32, a32, b32; addc.u32 d32, 0, 0;", {0xffffffff, 1}, 1},
            {"sub.cc.u32 d32, a32, b32; subc.u32 d32, 5, 0;", {0, 1}, 4},
            {"mad.lo.cc.u32 d32, a32, b32, c32; madc.hi.u32 d32, a32, b32, 0;", {0xffffffff, 2, 2}, 2},
            {"mul.lo.s32 d32, a32, b32;", {0xffffffff, 3}, 0xfffffffd},
            {"mul.hi.s32 d32, a32, b32;", {0xffffffff, 3}, 0xffffffff},
            {"mul.hi.u32 d32, a32, b32;", {0xffffffff, 3}, 2},
            {"mul.hi.u64 d64, a64, b64;", {~0ULL, 16}, 15},
            {"mul.hi.s64 d64, a64, b64;", {~0ULL, 16}, ~0ULL},
            {"mul.wide.s32 d64, a32, b32;", {0xffffffff, 3}, 0xfffffffffffffffdULL},
            {"mul.wide.u16 d32, a16, b16;", {0xffff, 0xffff}, 0xfffe0001},
            {"mad.wide.s16 d32, a16, b16, c32;", {0xffff, 2, 1}, 0xffffffff},
            {"mad.lo.s32 d32, a32, b32, c32;", {7, 6, 0xffffffff}, 41},
            {"mad.hi.sat.s32 d32, a32, b32, c32;", {0x7fffffff, 0x7fffffff, 0x7fffffff}, 0x7fffffff},
            {"mul24.lo.s32 d32, a32, b32;", {0x00ffffff, 2}, 0xfffffffe},
            {"mul24.hi.u32 d32, a32, b32;", {0xffffff, 0xffffff}, 0xfffffe00 | 0x00},
            {"div.s32 d32, a32, b32;", {0xfffffff9, 2}, 0xfffffffd},
            {"rem.s32 d32, a32, b32;", {0xfffffff9, 2}, 0xffffffff},
            {"div.u64 d64, a64, b64;", {~0ULL, 10}, 1844674407370955161ULL},
            {"rem.u16 d16, a16, b16;", {65535, 10}, 5},
            {"min.s32 d32, a32, b32;", {0xffffffff, 1}, 0xffffffff},
            {"min.u32 d32, a32, b32;", {0xffffffff, 1}, 1},
            {"max.s64 d64, a64, b64;", {~0ULL, 1}, 1},
            {"neg.s32 d32, a32;", {5}, 0xfffffffb},
            {"abs.s16 d16, a16;", {0xfffb}, 5},
            {"sad.u32 d32, a32, b32, c32;", {3, 10, 5}, 12},
            {"dp4a.s32.s32 d32, a32, b32, c32;", {0x01ff02fe, 0x01010303, 10}, 10 + 1 - 1 + 6 - 6},
            {"dp4a.u32.u32 d32, a32, b32, c32;", {0xff000000, 0xff000000, 1}, 65026},
            {"dp2a.lo.s32.s32 d32, a32, b32, c32;", {0xffff0002, 0x00000304, 0}, 5},
        });
    }

    TEST_CASE("emulated gpu: bits, shifts and permutations") {
        check_rows({
            {"shl.b32 d32, a32, b32;", {1, 32}, 0},
            {"shl.b32 d32, a32, b32;", {1, 31}, 0x80000000},
            {"shr.s32 d32, a32, b32;", {0x80000000, 40}, 0xffffffff},
            {"shr.u64 d64, a64, b32;", {1ULL << 63, 63}, 1},
            {"shr.s16 d16, a16, b32;", {0x8000, 4}, 0xf800},
            {"shf.l.wrap.b32 d32, a32, b32, c32;", {0x80000001, 0x12345678, 4}, 0x23456788},
            {"shf.r.clamp.b32 d32, a32, b32, c32;", {1, 2, 40}, 2},
            {"shf.r.wrap.b32 d32, a32, b32, c32;", {0x10, 0x3, 36}, 0x30000001},
            {"popc.b64 d32, a64;", {0xff00ff00ff00ff00ULL}, 32},
            {"clz.b32 d32, a32;", {0x00800000}, 8},
            {"clz.b64 d32, a64;", {0}, 64},
            {"bfind.u32 d32, a32;", {0x00800000}, 23},
            {"bfind.s32 d32, a32;", {0xffffffff}, 0xffffffff},
            {"bfind.shiftamt.u32 d32, a32;", {0x00800000}, 8},
            {"brev.b32 d32, a32;", {0x1}, 0x80000000},
            {"bfe.u32 d32, a32, b32, c32;", {0xabcd1234, 8, 8}, 0x12},
            {"bfe.s32 d32, a32, b32, c32;", {0x0000f000, 12, 4}, 0xffffffff},
            {"bfe.s32 d32, a32, b32, c32;", {0x80000000, 28, 8}, 0xfffffff8},
            {"bfe.u64 d64, a64, b32, c32;", {0xffULL << 40, 36, 8}, 0xf0},
            {"bfi.b32 d32, a32, b32, 8, 8;", {0xff, 0x11223344}, 0x1122ff44},
            {"bfi.b64 d64, a64, b64, 60, 16;", {0xf, 1}, 0xf000000000000001ULL},
            {"bmsk.clamp.b32 d32, a32, b32;", {4, 8}, 0xff0},
            {"prmt.b32 d32, a32, b32, 0x7531;", {0x33221100, 0x77665544}, 0x77553311},
            {"prmt.b32 d32, a32, b32, 0x8b9a;", {0x80706050, 0}, 0x00ff0000},
            {"prmt.b32.f4e d32, a32, b32, 1;", {0x33221100, 0x77665544}, 0x44332211},
            {"prmt.b32.rc16 d32, a32, b32, 1;", {0x33221100, 0x77665544}, 0x33223322},
            {"lop3.b32 d32, a32, b32, c32, 0xea;", {0xf0, 0x3c, 0x01}, 0x31},
            {"not.b16 d16, a16;", {0xff00}, 0x00ff},
            {"cnot.b32 d32, a32;", {0}, 1},
            {"xor.b64 d64, a64, b64;", {0xff, 0x0f}, 0xf0},
            {"not.pred pd, pa;", {0}, 1},
            {"and.pred pd, pa, !pb;", {1, 0}, 1},
            {"mov.b32 {d16, _}, a32;", {0x12345678}, 0x5678},
            {"mov.b64 d64, {a32, b32};", {1, 2}, 0x200000001ULL},
            {"szext.clamp.s32 d32, a32, b32;", {0xff, 8}, 0xffffffff},
        });
    }

    TEST_CASE("emulated gpu: comparison and selection") {
        const uint64_t nan = 0x7fc00000;
        check_rows({
            {"setp.lt.s32 pd, a32, b32;", {0xffffffff, 0}, 1},
            {"setp.lo.u32 pd, a32, b32;", {0xffffffff, 0}, 0},
            {"setp.eq.f32 pd, a32, b32;", {nan, nan}, 0},
            {"setp.neu.f32 pd, a32, b32;", {nan, f32(1)}, 1},
            {"setp.ne.f32 pd, a32, b32;", {nan, f32(1)}, 0},
            {"setp.num.f32 pd, a32, b32;", {nan, f32(1)}, 0},
            {"setp.gt.ftz.f32 pd, a32, b32;", {1, 0}, 0},
            {"setp.gt.f32 pd, a32, b32;", {1, 0}, 1},
            {"setp.lt.and.u32 pd, a32, b32, !pc;", {1, 2, 0}, 1},
            {"{ .reg .pred q; setp.eq.u32 q|pd, a32, b32; }", {1, 2}, 1},
            {"setp.lt.f16 pd, a16, b16;", {0x3c00, 0x4000}, 1},
            {"setp.le.bf16 pd, a16, b16;", {0x4000, 0x3f80}, 0},
            {"set.eq.f16x2.f16x2 d32, a32, b32;", {0x3c004000, 0x3c003c00}, 0x3c000000},
            {"set.gt.u32.f32 d32, a32, b32;", {f32(2), f32(1)}, 0xffffffff},
            {"set.gt.f32.s32 d32, a32, b32;", {2, 1}, 0x3f800000},
            {"selp.b32 d32, a32, b32, pc;", {5, 6, 0}, 6},
            {"slct.u32.s32 d32, a32, b32, c32;", {5, 6, 0xffffffff}, 6},
            {"testp.subnormal.f32 pd, a32;", {1}, 1},
            {"testp.notanumber.f64 pd, a64;", {0x7ff8000000000000ULL}, 1},
            {"copysign.f32 d32, a32, b32;", {f32(-1), f32(3)}, f32(-3)},
        });
    }

    TEST_CASE("emulated gpu: f32 and f64 arithmetic rounds as it is told") {
        const float third = 1.0F / 3.0F;  // 0x3eaaaaab: rounded up
        check_rows({
            {"div.rn.f32 d32, a32, b32;", {f32(1), f32(3)}, f32(third)},
            {"div.rz.f32 d32, a32, b32;", {f32(1), f32(3)}, f32(third) - 1},
            {"div.rm.f32 d32, a32, b32;", {f32(-1), f32(3)}, f32(-third)},
            {"div.rp.f32 d32, a32, b32;", {f32(-1), f32(3)}, f32(-third) - 1},
            {"rcp.rp.f32 d32, a32;", {f32(3)}, f32(third)},
            {"sqrt.rn.f32 d32, a32;", {f32(2)}, 0x3fb504f3},
            {"sqrt.rp.f32 d32, a32;", {f32(2)}, 0x3fb504f4},
            {"add.rz.f32 d32, a32, b32;", {f32(1), f32(0x1.8p-24F)}, f32(1)},
            {"add.rn.f32 d32, a32, b32;", {f32(1), f32(0x1.8p-24F)}, f32(1) + 1},
            {"add.rp.f32 d32, a32, b32;", {f32(1), f32(0x1p-100F)}, f32(1) + 1},
            {"add.rm.f32 d32, a32, b32;", {f32(1), f32(-0x1p-100F)}, f32(1) - 1},
            {"add.rp.f32 d32, a32, b32;", {0x7f7fffff, f32(1)}, 0x7f800000},
            {"add.rz.f32 d32, a32, b32;", {0x7f7fffff, 0x7f7fffff}, 0x7f7fffff},
            {"fma.rn.f32 d32, a32, b32, c32;", {f32(0x1.000002p0F), f32(0x1.000002p0F), f32(-1)}, f32(0x1.000001p-22F)},
            {"fma.rz.f32 d32, a32, b32, c32;", {f32(1), f32(1), f32(-0x1p-100F)}, f32(1) - 1},
            {"add.ftz.f32 d32, a32, b32;", {1, 1}, 0},
            {"add.f32 d32, a32, b32;", {1, 1}, 2},
            {"mul.ftz.f32 d32, a32, b32;", {f32(-0x1p-100F), f32(0x1p-100F)}, 0x80000000},
            {"add.sat.f32 d32, a32, b32;", {f32(0.75F), f32(0.75F)}, f32(1)},
            {"add.sat.f32 d32, a32, b32;", {0x7fc00000, f32(1)}, 0},
            {"add.f32 d32, a32, b32;", {0x7f800000, 0xff800000}, 0x7fffffff},
            {"min.f32 d32, a32, b32;", {0x7fc00000, f32(1)}, f32(1)},
            {"min.NaN.f32 d32, a32, b32;", {0x7fc00000, f32(1)}, 0x7fffffff},
            {"max.f32 d32, a32, b32;", {0x80000000, 0}, 0},
            {"min.f32 d32, a32, b32;", {0, 0x80000000}, 0x80000000},
            {"neg.f32 d32, a32;", {0x7fc00001}, 0xffc00001},
            {"abs.f32 d32, a32;", {f32(-2)}, f32(2)},
            {"ex2.approx.f32 d32, a32;", {f32(10)}, f32(1024)},
            {"lg2.approx.f32 d32, a32;", {f32(0.125F)}, f32(-3)},
            {"rsqrt.approx.f32 d32, a32;", {f32(16)}, f32(0.25F)},
            {"tanh.approx.f32 d32, a32;", {0}, 0},
            {"cos.approx.f32 d32, a32;", {0}, f32(1)},
            {"add.rn.f64 d64, a64, b64;", {f64(1), f64(0x1p-53)}, f64(1)},
            {"add.rp.f64 d64, a64, b64;", {f64(1), f64(0x1p-53)}, f64(1) + 1},
            {"fma.rm.f64 d64, a64, b64, c64;", {f64(1), f64(1), f64(-0x1p-200)}, f64(1) - 1},
            {"div.rz.f64 d64, a64, b64;", {f64(2), f64(3)}, 0x3fe5555555555555ULL},
            {"sqrt.rn.f64 d64, a64;", {f64(2)}, 0x3ff6a09e667f3bcdULL},
            {"max.f64 d64, a64, b64;", {f64(-1), f64(2)}, f64(2)},
        });
    }

    TEST_CASE("emulated gpu: half and bfloat16 arithmetic") {
        check_rows({
            {"add.f16 d16, a16, b16;", {0x3c00, 0x3c00}, 0x4000},
            {"add.rn.f16 d16, a16, b16;", {0x7bff, 0x7bff}, 0x7c00},
            {"add.sat.f16 d16, a16, b16;", {0x3c00, 0x3c00}, 0x3c00},
            {"mul.f16x2 d32, a32, b32;", {0x40003c00, 0x42004200}, 0x46004200},
            {"fma.rn.f16 d16, a16, b16, c16;", {0x3c01, 0x3c01, 0xbc00}, 0x1800},
            {"fma.rn.relu.f16 d16, a16, b16, c16;", {0x3c00, 0x3c00, 0xc000}, 0},
            {"add.f16 d16, a16, b16;", {0x0001, 0x0001}, 0x0002},
            {"add.ftz.f16 d16, a16, b16;", {0x0001, 0x0001}, 0},
            {"fma.rn.bf16 d16, a16, b16, c16;", {0x3f81, 0x3f81, 0xbf80}, 0x3c80},
            {"fma.rn.bf16x2 d32, a32, b32, c32;", {0x3f804000, 0x40004000, 0x3f803f80}, 0x404040a0},
            {"max.bf16x2 d32, a32, b32;", {0x3f80c000, 0x40003f80}, 0x40003f80},
            {"min.NaN.f16 d16, a16, b16;", {0x7e00, 0x3c00}, 0x7fff},
            {"neg.f16x2 d32, a32;", {0x3c00bc00}, 0xbc003c00},
            {"abs.bf16 d16, a16;", {0xbf80}, 0x3f80},
            {"ex2.approx.f16 d16, a16;", {0x4200}, 0x4800},
        });
    }

    TEST_CASE("emulated gpu: conversions") {
        check_rows({
            {"cvt.rn.f16.f32 d16, a32;", {f32(1.0F + 0x1p-11F)}, 0x3c00},
            {"cvt.rn.f16.f32 d16, a32;", {f32(1.0F + 0x1.8p-11F)}, 0x3c01},
            {"cvt.rz.f16.f32 d16, a32;", {f32(70000)}, 0x7bff},
            {"cvt.rn.f16.f32 d16, a32;", {f32(0x1p-25F)}, 0},
            {"cvt.rn.f16.f32 d16, a32;", {f32(0x1.8p-25F)}, 1},
            {"cvt.f32.f16 d32, a16;", {0x0001}, f32(0x1p-24F)},
            {"cvt.rn.bf16.f32 d16, a32;", {0x3f808000}, 0x3f80},
            {"cvt.rn.bf16.f32 d16, a32;", {0x3f818000}, 0x3f82},
            {"cvt.rz.bf16.f32 d16, a32;", {0x3f81ffff}, 0x3f81},
            {"cvt.rn.relu.bf16.f32 d16, a32;", {f32(-1)}, 0},
            {"cvt.rn.bf16x2.f32 d32, a32, b32;", {f32(1), f32(2)}, 0x3f804000},
            {"cvt.rn.f16x2.f32 d32, a32, b32;", {f32(1), f32(2)}, 0x3c004000},
            {"cvt.rna.tf32.f32 d32, a32;", {0x3f801000}, 0x3f802000},
            {"cvt.rn.satfinite.e4m3x2.f32 d16, a32, b32;", {f32(1), f32(1000)}, 0x387e},
            {"cvt.rn.satfinite.e5m2x2.f32 d16, a32, b32;", {f32(-2), f32(0.25F)}, 0xc034},
            {"cvt.rn.satfinite.e4m3x2.f32 d16, a32, b32;", {f32(0x1p-9F), 0x7fc00000}, 0x017f},
            {"cvt.rn.f16x2.e4m3x2 d32, a16;", {0x387e}, 0x3c005f00},
            {"cvt.rn.f16x2.e5m2x2 d32, a16;", {0xc034}, 0xc0003400},
            {"cvt.rni.s32.f32 d32, a32;", {f32(2.5F)}, 2},
            {"cvt.rzi.s32.f32 d32, a32;", {f32(-2.5F)}, 0xfffffffe},
            {"cvt.rmi.s32.f32 d32, a32;", {f32(-2.5F)}, 0xfffffffd},
            {"cvt.rpi.s32.f32 d32, a32;", {f32(2.1F)}, 3},
            {"cvt.rzi.s32.f32 d32, a32;", {f32(1e20F)}, 0x7fffffff},
            {"cvt.rzi.u32.f32 d32, a32;", {f32(-5)}, 0},
            {"cvt.rzi.s32.f32 d32, a32;", {0x7fc00000}, 0},
            {"cvt.rzi.s64.f64 d64, a64;", {0x7ff8000000000000ULL}, 1ULL << 63},
            {"cvt.rzi.u64.f32 d64, a32;", {f32(1e30F)}, ~0ULL},
            {"cvt.rn.f32.u32 d32, a32;", {0xffffffff}, f32(4294967296.0F)},
            {"cvt.rz.f32.u32 d32, a32;", {0xffffffff}, 0x4f7fffff},
            {"cvt.rn.f32.s64 d32, a64;", {0x8000008000000001ULL}, 0xdeffffff},
            {"cvt.rn.f64.s32 d64, a32;", {0xffffffff}, f64(-1)},
            {"cvt.rn.f32.f64 d32, a64;", {f64(0.1)}, f32(0.1F)},
            {"cvt.rm.f32.f64 d32, a64;", {f64(0.1)}, f32(0.1F) - 1},
            {"cvt.f64.f32 d64, a32;", {f32(0.5F)}, f64(0.5)},
            {"cvt.rni.f32.f32 d32, a32;", {f32(3.5F)}, f32(4)},
            {"cvt.sat.f32.f32 d32, a32;", {f32(-3)}, 0},
            {"cvt.ftz.f32.f32 d32, a32;", {5}, 0},
            {"cvt.s32.s8 d32, a32;", {0x80}, 0xffffff80},
            {"cvt.u32.u16 d32, a16;", {0xffff}, 0xffff},
            {"cvt.s64.s32 d64, a32;", {0x80000000}, 0xffffffff80000000ULL},
            {"cvt.sat.u8.s32 d32, a32;", {300}, 255},
            {"cvt.sat.s8.s32 d32, a32;", {0xffffff00}, 0xffffff80},
            {"cvt.u16.u32 d16, a32;", {0x12345678}, 0x5678},
        });
    }
}

}  // namespace emulated_gpu
