// Each instruction by itself, with values from the CDNA ISA documents or worked out by hand from their definitions.

#include <doctest/doctest.h>

#include "tests/emulated_gpu/hip_tests/instruction_rows.h"

namespace emulated_gpu::hip {
namespace {

TEST_SUITE("emulated_gpu") {
    TEST_CASE("hip: integer instructions of vector registers") {
        check_rows(
            {
                {"v_add_u32 v8, v2, v4", 0xffffffff, 2, 0, low(1)},
                {"v_sub_u32 v8, v2, v4", 1, 2, 0, low(0xffffffff)},
                {"v_subrev_u32 v8, v2, v4", 1, 5, 0, low(4)},
                {"v_add_u32 v8, v2, v4 clamp", 0xffffffff, 2, 0, low(0xffffffff)},
                {"v_add_co_u32 v8, vcc, v2, v4\nv_addc_co_u32 v9, vcc, v3, v5, vcc", 0xffffffff, 1, 0, 0x1'0000'0000},
                {"v_sub_co_u32 v8, vcc, v2, v4\nv_subb_co_u32 v9, vcc, v3, v5, vcc", 0, 1, 0, ~uint64_t{0}},
                {"v_mul_lo_u32 v8, v2, v4", 0x10001, 0x10001, 0, low(0x20001)},
                {"v_mul_hi_u32 v8, v2, v4", 0x80000000, 6, 0, low(3)},
                {"v_mul_hi_i32 v8, v2, v4", 0xffffffff, 5, 0, low(0xffffffff)},
                {"v_mul_u32_u24 v8, v2, v4", 0xff000002, 3, 0, low(6)},
                {"v_mul_i32_i24 v8, v2, v4", 0x00ffffff, 3, 0, low(0xfffffffd)},
                {"v_mad_u32_u24 v8, v2, v4, v6", 4, 5, 6, low(26)},
                {"v_mad_u64_u32 v[8:9], vcc, v2, v4, v[6:7]", 0xffffffff, 0xffffffff, 1, 0xfffffffe'00000002},
                {"v_mad_i64_i32 v[8:9], vcc, v2, v4, v[6:7]", 0xffffffff, 7, 1, 0xffffffff'fffffffa},
                // The low word is known though the high word of a source, v21, is not.
                {"v_mov_b32 v20, 1\nv_mad_u64_u32 v[10:11], vcc, v2, v4, v[20:21]\nv_mov_b32 v8, v10", 3, 5, 0,
                 low(16)},
                {"v_mov_b32 v20, 1\nv_lshlrev_b64 v[10:11], v2, v[20:21]\nv_mov_b32 v8, v10", 3, 0, 0, low(8)},
                {"v_lshlrev_b32 v8, v2, v4", 33, 3, 0, low(6)},
                {"v_lshrrev_b32 v8, v2, v4", 31, 0x80000000, 0, low(1)},
                {"v_ashrrev_i32 v8, v2, v4", 31, 0x80000000, 0, low(0xffffffff)},
                {"v_lshlrev_b64 v[8:9], v2, v[4:5]", 36, 1, 0, 0x10'0000'0000},
                {"v_ashrrev_i64 v[8:9], v2, v[4:5]", 4, 0x8000000000000000, 0, 0xf800000000000000},
                {"v_lshl_add_u32 v8, v2, v4, v6", 3, 4, 5, low(53)},
                {"v_add_lshl_u32 v8, v2, v4, v6", 3, 4, 1, low(14)},
                {"v_lshl_or_b32 v8, v2, v4, v6", 3, 4, 5, low(0x35)},
                {"v_and_or_b32 v8, v2, v4, v6", 0xff, 0x3c, 0x100, low(0x13c)},
                {"v_or3_b32 v8, v2, v4, v6", 1, 2, 4, low(7)},
                {"v_add3_u32 v8, v2, v4, v6", 1, 2, 4, low(7)},
                {"v_xad_u32 v8, v2, v4, v6", 5, 3, 10, low(16)},
                {"v_bfe_u32 v8, v2, v4, v6", 0xabcd1234, 8, 8, low(0x12)},
                {"v_bfe_i32 v8, v2, v4, v6", 0x0000f000, 12, 4, low(0xffffffff)},
                {"v_bfi_b32 v8, v2, v4, v6", 0xff00, 0x1234, 0xabcd, low(0x12cd)},
                {"v_bfm_b32 v8, v2, v4", 4, 8, 0, low(0xf00)},
                {"v_bfrev_b32 v8, v2", 1, 0, 0, low(0x80000000)},
                {"v_ffbh_u32 v8, v2", 0x00010000, 0, 0, low(15)},
                {"v_ffbh_u32 v8, v2", 0, 0, 0, low(0xffffffff)},
                {"v_ffbh_i32 v8, v2", 0xffff0000, 0, 0, low(16)},
                {"v_ffbl_b32 v8, v2", 0x00010000, 0, 0, low(16)},
                {"v_bcnt_u32_b32 v8, v2, v4", 0xff, 5, 0, low(13)},
                {"v_alignbit_b32 v8, v2, v4, v6", 1, 0x80000000, 31, low(3)},
                {"v_alignbyte_b32 v8, v2, v4, v6", 0x44332211, 0x88776655, 1, low(0x11887766)},
                {"v_perm_b32 v8, v2, v4, v6", 0x77665544, 0x33221100, 0x0c070d00, low(0x0077ff00)},
                {"v_min_i32 v8, v2, v4", 0xffffffff, 1, 0, low(0xffffffff)},
                {"v_max_u32 v8, v2, v4", 0xffffffff, 1, 0, low(0xffffffff)},
                {"v_med3_i32 v8, v2, v4, v6", 5, 0xffffffff, 3, low(3)},
                {"v_max3_u32 v8, v2, v4, v6", 5, 9, 3, low(9)},
                {"v_sad_u8 v8, v2, v4, v6", 0x01020304, 0x04030201, 10, low(18)},
                {"v_not_b32 v8, v2", 0xf, 0, 0, low(0xfffffff0)},
                {"v_xnor_b32 v8, v2, v4", 5, 3, 0, low(0xfffffff9)},
                {"v_cmp_lt_i32 vcc, v2, v4\nv_cndmask_b32 v8, v4, v6, vcc", 0xffffffff, 1, 7, low(7)},
                {"v_cmp_lt_u32 vcc, v2, v4\nv_cndmask_b32 v8, v4, v6, vcc", 0xffffffff, 1, 7, low(1)},
                {"v_cmp_ge_u64 vcc, v[2:3], v[4:5]\nv_mov_b32 v8, vcc_lo", 1, 1, 0, low(0xffffffff)},
                {"v_mov_b32 v8, s10", 77, 0, 0, low(77)},
                {"v_swap_b32 v8, v2", 77, 0, 0, low(77)},
                {"v_mbcnt_lo_u32_b32 v8, -1, 5\nv_mbcnt_hi_u32_b32 v8, -1, v8\nv_readlane_b32 s8, v8, 40\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(45)},
                {"v_writelane_b32 v2, s12, 9\nv_readlane_b32 s8, v2, 9\nv_mov_b32 v8, s8", 1, 99, 0, low(99)},
                {"v_readfirstlane_b32 s8, v2\nv_mov_b32 v8, s8", 12, 0, 0, low(12)},
                {"s_set_gpr_idx_on s12, gpr_idx(SRC0)\nv_mov_b32 v8, v2\ns_set_gpr_idx_off", 11, 4, 33, low(33)},
                {"s_set_gpr_idx_on s12, gpr_idx(DST)\nv_mov_b32 v4, v2\ns_set_gpr_idx_off", 11, 4, 33, low(11)},
            },
            RowKind::Vector, "gfx90a");
    }

    TEST_CASE("hip: 16-bit instructions, SDWA and DPP") {
        check_rows(
            {
                {"v_add_u16 v8, v2, v4", 0x1ffff, 2, 0, low(1)},
                {"v_mul_lo_u16 v8, v2, v4", 0x101, 0x101, 0, low(0x201)},
                {"v_lshlrev_b16 v8, v2, v4", 17, 3, 0, low(6)},
                {"v_max_i16 v8, v2, v4", 0xffff, 1, 0, low(1)},
                {"v_mad_legacy_u16 v8, v2, v4, v6", 3, 4, 5, low(17)},
                {"v_mad_u16 v8, v2, v4, v6", 3, 4, 5, low(0xbeef0011)},
                {"v_mad_u16 v8, v2, v4, v6 op_sel:[1,0,0,1]", 0x30000, 4, 5, low(0x00110000)},
                {"v_pack_b32_f16 v8, v2, v4", 0x1111, 0x2222, 0, low(0x22221111)},
                {"v_add_u32_sdwa v8, v2, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1",
                 0x0500, 0x70000, 0, low(12)},
                {"v_mov_b32_sdwa v8, v2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0", 0x42, 0, 0,
                 low(0xbeef4200)},
                {"v_mov_b32_sdwa v8, sext(v2) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0", 0x80, 0, 0,
                 low(0xffffff80)},
                {"v_mov_b32_sdwa v8, v2 dst_sel:WORD_0 dst_unused:UNUSED_SEXT src0_sel:WORD_0", 0x8000, 0, 0,
                 low(0xffff8000)},
                {"v_mov_b32_dpp v8, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0\nv_readlane_b32 s8, v8, 17\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(16)},
                {"v_mov_b32_dpp v8, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0\nv_readlane_b32 s8, v8, 16\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(0)},
                {"v_mov_b32_dpp v8, v0 row_shr:1 row_mask:0xf bank_mask:0xf\nv_readlane_b32 s8, v8, 16\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(0xbeef0000)},
                {"v_mov_b32_dpp v8, v0 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf\nv_readlane_b32 s8, v8, 21\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(22)},
                {"v_mov_b32_dpp v8, v0 row_mirror row_mask:0xf bank_mask:0xf\nv_readlane_b32 s8, v8, 18\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(29)},
                {"v_mov_b32_dpp v8, v0 row_bcast:15 row_mask:0xa bank_mask:0xf\nv_readlane_b32 s8, v8, 20\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(15)},
                {"v_mov_b32_dpp v8, v0 wave_ror:1 row_mask:0xf bank_mask:0xf\nv_readlane_b32 s8, v8, 0\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(63)},
                {"ds_swizzle_b32 v8, v0 offset:swizzle(SWAP,16)\ns_waitcnt lgkmcnt(0)\nv_readlane_b32 s8, v8, 3\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(19)},
                {"ds_swizzle_b32 v8, v0 offset:swizzle(REVERSE,8)\ns_waitcnt lgkmcnt(0)\nv_readlane_b32 s8, v8, 34\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(37)},
                {"ds_swizzle_b32 v8, v0 offset:swizzle(BROADCAST,4,1)\ns_waitcnt lgkmcnt(0)\nv_readlane_b32 s8, v8, 7\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(5)},
                {"v_lshlrev_b32 v6, 3, v0\nds_bpermute_b32 v8, v6, v0\ns_waitcnt lgkmcnt(0)\nv_readlane_b32 s8, v8, 5\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(10)},
            },
            RowKind::Vector, "gfx90a");
    }

    TEST_CASE("hip: floating-point instructions") {
        check_rows(
            {
                {"v_add_f32 v8, v2, v4", kF1, kF2, 0, low(kF3)},
                {"v_sub_f32 v8, v2, v4", kF3, kF2, 0, low(kF1)},
                {"v_mul_f32 v8, -v2, |v4|", kF1, 0xc0000000, 0, low(0xc0000000)},
                {"v_add_f32 v8, v2, v4 clamp", kF1, kF2, 0, low(kF1)},
                {"v_add_f32 v8, v2, v4 mul:4", kF1, kF2, 0, low(0x41400000)},
                {"v_add_f32 v8, v2, v4 div:2", kF1, kF1, 0, low(kF1)},
                {"v_min_f32 v8, v2, v4", kFNan, kF2, 0, low(kF2)},
                {"v_max_f32 v8, v2, v4", 0x80000000, 0, 0, low(0)},
                {"v_fma_f32 v8, v2, v4, v6", kF2, kF3, kF1, low(0x40e00000)},
                {"v_fma_f32 v8, v2, v4, v6", 0x3f800001, 0x3f800001, 0xbf800002, low(0x28800000)},
                {"v_mov_b32 v8, v6\nv_fmac_f32 v8, v2, v4", kF2, kF3, kF1, low(0x40e00000)},
                {"v_med3_f32 v8, v2, v4, v6", kF3, kF1, kF2, low(kF2)},
                {"v_max3_f32 v8, v2, v4, v6", kF3, kF1, kF2, low(kF3)},
                {"v_floor_f32 v8, v2", 0xbf000000, 0, 0, low(0xbf800000)},
                {"v_fract_f32 v8, v2", 0x3fc00000, 0, 0, low(0x3f000000)},
                {"v_rndne_f32 v8, v2", 0x40200000, 0, 0, low(kF2)},
                {"v_trunc_f32 v8, v2", 0xbfc00000, 0, 0, low(0xbf800000)},
                {"v_ldexp_f32 v8, v2, v4", kF1, 3, 0, low(0x41000000)},
                {"v_frexp_exp_i32_f32 v8, v2", 0x41000000, 0, 0, low(4)},
                {"v_frexp_mant_f32 v8, v2", 0x41000000, 0, 0, low(0x3f000000)},
                {"v_rcp_f32 v8, v2", kF2, 0, 0, low(0x3f000000)},
                {"v_rcp_f32 v8, v2", 0, 0, 0, low(kFInfinity)},
                {"v_sqrt_f32 v8, v2", 0x40800000, 0, 0, low(kF2)},
                {"v_rsq_f32 v8, v2", 0x40800000, 0, 0, low(0x3f000000)},
                {"v_exp_f32 v8, v2", kF3, 0, 0, low(0x41000000)},
                {"v_log_f32 v8, v2", 0x41000000, 0, 0, low(kF3)},
                {"v_sin_f32 v8, v2", 0x3e800000, 0, 0, low(kF1)},
                {"v_cos_f32 v8, v2", 0x3f000000, 0, 0, low(0xbf800000)},
                {"v_exp_f32 v8, v2", 0xc3000000, 0, 0, low(0)},  // 2^-128 is subnormal
                {"v_add_f64 v[8:9], v[2:3], v[4:5]", kD1, kD2, 0, kD3},
                {"v_mul_f64 v[8:9], v[2:3], -v[4:5]", kD1, kD2, 0, kD2 | uint64_t{1} << 63},
                {"v_fma_f64 v[8:9], v[2:3], v[4:5], v[6:7]", kD1, kD2, kD1, kD3},
                {"v_add_f64 v[8:9], v[2:3], 2.0", kD1, 0, 0, kD3},
                {"v_ldexp_f64 v[8:9], v[2:3], v4", kD1, 1, 0, kD2},
                {"v_max_f64 v[8:9], v[2:3], v[4:5]", kD1, kD2, 0, kD2},
                {"v_add_f16 v8, v2, v4", 0x3c00, 0x4000, 0, low(0x4200)},
                {"v_mul_f16 v8, v2, v4", 0x7bff, 0x4000, 0, low(0x7c00)},
                {"v_fma_f16 v8, v2, v4, v6", 0x3c00, 0x4000, 0x3c00, low(0xbeef4200)},
                {"v_pk_add_f16 v8, v2, v4", 0x40003c00, 0x3c003c00, 0, low(0x42004000)},
                {"v_pk_fma_f16 v8, v2, v4, v6 op_sel_hi:[0,1,1]", 0x40003c00, 0x40003c00, 0, low(0x40003c00)},
                {"v_pk_add_u16 v8, v2, v4 op_sel:[1,0] op_sel_hi:[0,1]", 0x00020001, 0x00200010, 0, low(0x00210012)},
                {"v_pk_mul_f32 v[8:9], v[2:3], v[4:5]", kF2 | kF3 << 32, kF1 | kF2 << 32, 0, kF2 | 0x40c00000ull << 32},
                {"v_pk_fma_f32 v[8:9], v[2:3], v[4:5], v[6:7] op_sel_hi:[0,1,1]", kF2 | kF3 << 32, kF1 | kF2 << 32,
                 kF1 | kF1 << 32, kF3 | 0x40a00000ull << 32},
                {"v_pk_mov_b32 v[8:9], v[2:3], v[4:5] op_sel:[1,0]", 1 | 2ull << 32, 3 | 4ull << 32, 0, 2 | 4ull << 32},
                {"v_fma_mix_f32 v8, v2, v4, v6 op_sel:[0,1,0] op_sel_hi:[1,1,0]", 0x4000, 0x42000000, kF1,
                 low(0x40e00000)},
                {"v_fma_mixhi_f16 v8, v2, v4, v6", kF2, kF3, kF1, low(0x47000000)},
                {"v_dot2_f32_f16 v8, v2, v4, v6", 0x40003c00, 0x42004000, kF1, low(0x41100000)},
                {"v_dot4_i32_i8 v8, v2, v4, v6", 0x01ff0203, 0x02030405, 1, low(1 + 2 - 3 + 8 + 15)},
                {"v_dot8_u32_u4 v8, v2, v4, v6", 0x0000000f, 0x0000000f, 1, low(226)},
                {"v_cmp_class_f32 vcc, v2, v4\nv_mov_b32 v8, vcc_lo", kFInfinity, 0x200, 0, low(0xffffffff)},
                {"v_cmp_class_f32 vcc, v2, v4\nv_mov_b32 v8, vcc_lo", 1, 0x80, 0, low(0xffffffff)},
                {"v_cmp_nlt_f32 vcc, v2, v4\nv_mov_b32 v8, vcc_lo", kFNan, kF1, 0, low(0xffffffff)},
                {"v_cmp_lg_f64 vcc, v[2:3], v[4:5]\nv_mov_b32 v8, vcc_lo", kD1, kD1, 0, low(0)},
                {"v_cmp_o_f16 vcc, v2, v4\nv_mov_b32 v8, vcc_lo", 0x7e00, 0x3c00, 0, low(0)},
            },
            RowKind::Vector, "gfx90a");
    }

    TEST_CASE("hip: conversions") {
        check_rows(
            {
                {"v_cvt_f32_i32 v8, v2", 0xffffffff, 0, 0, low(0xbf800000)},
                {"v_cvt_f32_u32 v8, v2", 0xffffffff, 0, 0, low(0x4f800000)},
                {"v_cvt_i32_f32 v8, v2", 0xbfc00000, 0, 0, low(0xffffffff)},
                {"v_cvt_i32_f32 v8, v2", 0x4f800000, 0, 0, low(0x7fffffff)},
                {"v_cvt_u32_f32 v8, v2", 0xbf800000, 0, 0, low(0)},
                {"v_cvt_u32_f32 v8, v2", kFNan, 0, 0, low(0)},
                {"v_cvt_f64_i32 v[8:9], v2", 3, 0, 0, kD3},
                {"v_cvt_i32_f64 v8, v[2:3]", 0xc008000000000000, 0, 0, low(0xfffffffd)},
                {"v_cvt_f32_f64 v8, v[2:3]", kD3, 0, 0, low(kF3)},
                {"v_cvt_f64_f32 v[8:9], v2", kF3, 0, 0, kD3},
                {"v_cvt_f16_f32 v8, v2", kF1, 0, 0, low(0x3c00)},
                {"v_cvt_f16_f32 v8, v2", 0x33000000, 0, 0, low(0)},  // half of the smallest: to even
                {"v_cvt_f16_f32 v8, v2", 0x33000001, 0, 0, low(1)},
                {"v_cvt_f16_f32 v8, v2", 0x477ff000, 0, 0, low(0x7c00)},
                {"v_cvt_f32_f16 v8, v2", 1, 0, 0, low(0x33800000)},
                {"v_cvt_f32_ubyte2 v8, v2", 0x00030000, 0, 0, low(kF3)},
                {"v_cvt_pkrtz_f16_f32 v8, v2, v4", 0x3f801fff, kF2, 0, low(0x40003c00)},
                {"v_cvt_pk_u16_u32 v8, v2, v4", 0x12345, 7, 0, low(0x0007ffff)},
                {"v_cvt_pk_i16_i32 v8, v2, v4", 0xffff0000, 7, 0, low(0x00078000)},
                {"v_cvt_pknorm_i16_f32 v8, v2, v4", kF1, 0xbf800000, 0, low(0x80017fff)},
                {"v_cvt_pk_u8_f32 v8, v2, v4, v6", kF3, 1, 0x11223344, low(0x11220344)},
                {"v_cvt_rpi_i32_f32 v8, v2", 0x3fc00000, 0, 0, low(2)},
                {"v_cvt_flr_i32_f32 v8, v2", 0xbf000000, 0, 0, low(0xffffffff)},
                {"v_cvt_i16_f16 v8, v2", 0xc000, 0, 0, low(0xfffe)},
                {"v_cvt_f16_u16 v8, v2", 3, 0, 0, low(0x4200)},
            },
            RowKind::Vector, "gfx90a");
    }

    TEST_CASE("hip: fp8 of gfx942") {
        check_rows(
            {
                {"v_cvt_f32_fp8 v8, v2", 0x40, 0, 0, low(kF1)},         // exponent 8 with bias 8
                {"v_cvt_f32_bf8 v8, v2", 0x40, 0, 0, low(kF1)},         // exponent 16 with bias 16
                {"v_cvt_f32_fp8 v8, v2", 0x7f, 0, 0, low(0x43700000)},  // 240
                {"v_cvt_f32_bf8 v8, v2", 0x7f, 0, 0, low(0x47600000)},  // 57344
                {"v_cvt_pk_fp8_f32 v8, v2, v4", kF1, 0x43700000, 0, low(0xbeef7f40)},
                {"v_cvt_pk_fp8_f32 v8, v2, v4 op_sel:[0,0,1]", kF2, 0x80000000, 0, low(0x00480000)},
                {"v_cvt_pk_bf8_f32 v8, v2, v4", kF1, kFNan, 0, low(0xbeef8040)},
                {"v_cvt_pk_f32_fp8 v[8:9], v2", 0x4840, 0, 0, kF1 | kF2 << 32},
                {"v_mov_b64 v[8:9], v[2:3]", 0x123456789, 0, 0, 0x123456789},
                // One word is known though the other, v21 or v22, is not, also where a load under a mask comes between.
                {"v_mov_b32 v20, 1\nv_mov_b64 v[10:11], v[20:21]\nv_mov_b32 v8, v10", 0, 0, 0, low(1)},
                {"v_mov_b32 v23, 2\nv_mov_b64 v[10:11], v[22:23]\nv_mov_b32 v8, v11", 0, 0, 0, low(2)},
                {"v_mov_b32 v20, 3\nv_mov_b64 v[10:11], v[20:21]\ns_mov_b64 s[8:9], exec\ns_mov_b64 exec, 0\n"
                 "global_load_dword v10, v1, s[4:5]\ns_mov_b64 exec, s[8:9]\nv_mov_b32 v11, 4\n"
                 "s_waitcnt vmcnt(0)\nv_mov_b64 v[8:9], v[10:11]",
                 0, 0, 0, 0x4'0000'0003},
                {"v_lshl_add_u64 v[8:9], v[2:3], v4, v[6:7]", 0x1'0000'0001, 2, 1, 0x4'0000'0005},
            },
            RowKind::Vector, "gfx942");
    }

    TEST_CASE("hip: fp8 of gfx950, and what else is its own") {
        // Elements 64 * lane and so on of each lane, as b16, b8 and b4: lane 5 of 16 gets column 5.
        const std::string write =
            "v_lshlrev_b32 v10, 3, v0\nv_mul_u32_u24 v2, 0x10001, v0\nv_lshlrev_b32 v2, 4, v2\n"
            "v_add_u32 v3, 0x30002, v2\nv_add_u32 v2, 0x10000, v2\nds_write_b64 v10, v[2:3]\ns_waitcnt lgkmcnt(0)\n";
        const std::string read =
            "\ns_waitcnt lgkmcnt(0)\nv_readlane_b32 s8, v8, 21\nv_readlane_b32 s9, v9, 21\n"
            "v_mov_b32 v8, s8\nv_mov_b32 v9, s9";
        const std::string b16 = write + "ds_read_b64_tr_b16 v[8:9], v10" + read;
        const std::string b8 = write + "ds_read_b64_tr_b8 v[8:9], v10" + read;
        const std::string b4 = write + "ds_read_b64_tr_b4 v[8:9], v10" + read;
        check_rows(
            {
                {"v_cvt_f32_fp8 v8, v2", 0x38, 0, 0, low(kF1)},  // exponent 7 with bias 7
                {"v_cvt_f32_bf8 v8, v2", 0x3c, 0, 0, low(kF1)},  // exponent 15 with bias 15
                {"v_cvt_pk_fp8_f32 v8, v2, v4", kF1, 0x43e00000, 0, low(0xbeef7e38)},
                {"v_cvt_pk_bf8_f32 v8, v2, v4 op_sel:[0,0,1]", kF1, kFInfinity, 0, low(0x7c3c0000)},
                {"v_cvt_pk_f32_fp8 v[8:9], v2", 0x4038, 0, 0, kF1 | kF2 << 32},
                {"v_cvt_sr_fp8_f32 v8, v2, v4 op_sel:[0,0,1,0]", 0x3f880000, 0, 0, low(0xbeef3800)},
                {"v_minimum3_f32 v8, v2, v4, v6", kF3, kFNan, kF2, low(kFNan)},
                {"v_maximum3_f32 v8, v2, v4, v6", kF3, kF1, kF2, low(kF3)},
                {"v_ashr_pk_u8_i32 v8, v2, v4, v6", 0x1000, 0xffffffff, 4, low(0xbeef00ff)},
                {"v_dot2_f32_bf16 v8, v2, v4, v6", 0x40003f80, 0x40404000, kF1, low(0x41100000)},
                {b16.c_str(), 0, 0, 0, 0x01d1'0191'0151'0111},
                {b8.c_str(), 0, 0, 0, 0x0101'0101'0101'0101},
                {b4.c_str(), 0, 0, 0, 0xfedc'ba98'7654'3210},
            },
            RowKind::Vector, "gfx950");
    }

    TEST_CASE("hip: scalar instructions") {
        check_rows(
            {
                {"s_add_u32 s8, s10, s12", 0xffffffff, 1, 0, 1ull << 32},
                {"s_sub_u32 s8, s10, s12", 0, 1, 0, 0x1'ffffffff},
                {"s_add_i32 s8, s10, s12", 0x7fffffff, 1, 0, 0x1'80000000},
                {"s_cmp_eq_u32 s10, s10\ns_addc_u32 s8, s10, s12", 1, 2, 0, 4},
                {"s_min_i32 s8, s10, s12", 0xffffffff, 1, 0, 0x1'ffffffff},
                {"s_max_u32 s8, s10, s12", 5, 1, 0, 0x1'00000005},
                {"s_and_b32 s8, s10, s12", 6, 3, 0, 0x1'00000002},
                {"s_andn2_b32 s8, s10, s12", 6, 6, 0, 0},
                {"s_lshl_b32 s8, s10, s12", 1, 35, 0, 0x1'00000008},
                {"s_ashr_i32 s8, s10, s12", 0x80000000, 31, 0, 0x1'ffffffff},
                {"s_bfe_u32 s8, s10, s12", 0xabcd, 0x80004, 0, 0x1'000000bc},
                {"s_bfe_i32 s8, s10, s12", 0xf00, 0x40008, 0, 0x1'ffffffff},
                {"s_lshl2_add_u32 s8, s10, s12", 3, 1, 0, 13},
                {"s_absdiff_i32 s8, s10, s12", 3, 7, 0, 0x1'00000004},
                {"s_abs_i32 s8, s10", 0xffffffff, 0, 0, 0x1'00000001},
                {"s_bcnt1_i32_b64 s8, s[10:11]", 0xf0000000f, 0, 0, 0x1'00000008},
                {"s_not_b32 s8, s10", 0xffffffff, 0, 0, 0},
                {"s_cmp_lt_i32 s10, s12", 0xffffffff, 0, 0, 1ull << 32},
                {"s_cmp_eq_u64 s[10:11], s[12:13]", 7, 7, 0, 1ull << 32},
                {"s_bitcmp1_b32 s10, s12", 8, 3, 0, 1ull << 32},
                {"s_cmpk_gt_i32 s10, 0x8000", 0, 0, 0, 1ull << 32},
                {"s_addk_i32 s8, -3", 0, 0, 0, 0xfffffffd},
            },
            RowKind::ScalarWithScc, "gfx90a");
        check_rows(
            {
                {"s_mov_b64 s[8:9], s[10:11]", 0x123456789, 0, 0, 0x123456789},
                {"s_lshl_b64 s[8:9], s[10:11], s12", 1, 40, 0, 1ull << 40},
                {"s_ashr_i64 s[8:9], s[10:11], s12", 1ull << 63, 63, 0, ~0ull},
                {"s_or_b64 s[8:9], s[10:11], s[12:13]", 1ull << 40, 3, 0, (1ull << 40) | 3},
                {"s_bfm_b64 s[8:9], s10, s12", 8, 36, 0, 0xff0'0000'0000},
                {"s_brev_b64 s[8:9], s[10:11]", 1, 0, 0, 1ull << 63},
                {"s_mul_i32 s8, s10, s12", 0x10001, 0x10001, 0, 0x20001},
                {"s_mul_hi_u32 s8, s10, s12", 0x80000000, 6, 0, 3},
                {"s_mul_hi_i32 s8, s10, s12", 0xffffffff, 5, 0, 0xffffffff},
                {"s_ff1_i32_b64 s8, s[10:11]", 1ull << 40, 0, 0, 40},
                {"s_ff1_i32_b32 s8, s10", 0, 0, 0, 0xffffffff},
                {"s_flbit_i32_b32 s8, s10", 0x00010000, 0, 0, 15},
                {"s_flbit_i32 s8, s10", 0xffff0000, 0, 0, 16},
                {"s_sext_i32_i8 s8, s10", 0x80, 0, 0, 0xffffff80},
                {"s_pack_ll_b32_b16 s8, s10, s12", 0x11111, 0x22222, 0, 0x22221111},
                {"s_bitset1_b32 s8, s10", 5, 0, 0, 32},
                {"s_movk_i32 s8, 0x8000", 0, 0, 0, 0xffff8000},
                {"s_cmp_eq_u32 s10, 1\ns_cselect_b32 s8, s12, s14", 1, 22, 33, 22},
                {"s_cmp_eq_u32 s10, 1\ns_cmov_b32 s8, s12", 0, 22, 33, 0},
                {"s_bitreplicate_b64_b32 s[8:9], s10", 5, 0, 0, 0x33},
                {"s_wqm_b64 s[8:9], s[10:11]", 0x20, 0, 0, 0xf0},
                {"s_getreg_b32 s8, hwreg(HW_REG_MODE, 4, 4)", 0, 0, 0, 12},
                {"s_and_saveexec_b64 s[8:9], s[10:11]\ns_mov_b64 exec, s[8:9]", 5, 0, 0, ~0ull},
                {"s_mov_b64 s[8:9], exec\ns_andn2_saveexec_b64 s[10:11], exec\ns_mov_b64 s[8:9], exec\n"
                 "s_mov_b64 exec, s[10:11]",
                 0, 0, 0, 0},
            },
            RowKind::Scalar, "gfx90a");
    }

    TEST_CASE("hip: LDS instructions") {
        const std::string write = "v_lshlrev_b32 v10, 3, v0\nds_write_b64 v10, v[2:3]\ns_waitcnt lgkmcnt(0)\n";
        const std::string read_byte = write + "ds_read_i8 v8, v10 offset:1\ns_waitcnt lgkmcnt(0)";
        const std::string read_half = write + "ds_read_u16_d16_hi v8, v10 offset:2\ns_waitcnt lgkmcnt(0)";
        const std::string read_two = write + "ds_read2_b32 v[8:9], v10 offset0:1 offset1:0\ns_waitcnt lgkmcnt(0)";
        const std::string add = write + "ds_add_rtn_u32 v8, v10, v4\nds_read_b32 v9, v10\ns_waitcnt lgkmcnt(0)";
        const std::string swap = write + "ds_cmpst_rtn_b32 v8, v10, v2, v4\nds_read_b32 v9, v10\ns_waitcnt lgkmcnt(0)";
        const std::string add_float = write + "ds_add_f32 v10, v4\nds_read_b64 v[8:9], v10\ns_waitcnt lgkmcnt(0)";
        check_rows(
            {
                {read_byte.c_str(), 0x8000, 0, 0, low(0xffffff80)},
                {read_half.c_str(), 0x12345678, 0, 0, low(0x12340000)},
                {read_two.c_str(), 1 | 2ull << 32, 0, 0, 2 | 1ull << 32},
                {add.c_str(), 5, 6, 0, 5 | 11ull << 32},
                {swap.c_str(), 5, 6, 0, 5 | 6ull << 32},
                {add_float.c_str(), kF1 | 7ull << 32, kF2, 0, kF3 | 7ull << 32},
            },
            RowKind::Vector, "gfx90a");
    }
}

}  // namespace
}  // namespace emulated_gpu::hip
