// Instructions of RDNA3 and RDNA4 by themselves, with values from their ISA documents or worked out by hand from their
// definitions. What they share with CDNA but for the name is in instruction_test.cpp.

#include "tests/emulated_gpu/hip_tests/assembly.h"
#include "tests/emulated_gpu/hip_tests/clang.h"
#include "tests/emulated_gpu/hip_tests/instruction_rows.h"
#include "tests/emulated_gpu/hip_tests/machine.h"

namespace emulated_gpu::hip {
namespace {

const std::vector<std::string> kRdna{"gfx1100", "gfx1201"};

/// Rows whose text is the same for both.
void check_both(const std::vector<Row>& rows, RowKind kind) {
    for (const std::string& processor : kRdna) check_rows(rows, kind, processor);
}

TEST_SUITE("emulated_gpu") {
    TEST_CASE("hip: integer instructions of RDNA") {
        check_both(
            {
                {"v_add_nc_u32 v8, v2, v4", 0xffffffff, 2, 0, low(1)},
                {"v_sub_nc_u32 v8, v2, v4", 1, 2, 0, low(0xffffffff)},
                {"v_subrev_nc_u32 v8, v2, v4", 1, 5, 0, low(4)},
                {"v_add_nc_i32 v8, v2, v4", 7, 8, 0, low(15)},
                {"v_add_co_u32 v8, vcc_lo, v2, v4\nv_add_co_ci_u32 v9, vcc_lo, v3, v5, vcc_lo", 0xffffffff, 1, 0,
                 0x1'0000'0000},
                {"v_sub_co_u32 v8, vcc_lo, v2, v4\nv_sub_co_ci_u32 v9, vcc_lo, v3, v5, vcc_lo", 0, 1, 0, ~uint64_t{0}},
                {"v_add_co_u32 v8, null, v2, v4", 0xffffffff, 3, 0, low(2)},
                {"v_add_co_u32 v8, s8, v2, v4\nv_mov_b32 v9, s8", 0xffffffff, 3, 0, 0xffffffff'00000002},
                {"v_cmp_lt_i32 vcc_lo, v2, v4\nv_cndmask_b32 v8, v4, v6, vcc_lo", 0xffffffff, 1, 7, low(7)},
                {"v_cmp_eq_u32 s8, v0, v2\nv_mov_b32 v8, s8", 5, 0, 0, low(32)},
                {"v_cmpx_eq_u32 v0, v2\ns_mov_b32 s8, exec_lo\ns_mov_b32 exec_lo, -1\nv_mov_b32 v8, s8", 6, 0, 0,
                 low(64)},
                {"v_xor3_b32 v8, v2, v4, v6", 0xf0, 0xff, 1, low(0xe)},
                {"v_ctz_i32_b32 v8, v2", 0x00010000, 0, 0, low(16)},
                {"v_clz_i32_u32 v8, v2", 0x00010000, 0, 0, low(15)},
                {"v_cls_i32 v8, v2", 0xffff0000, 0, 0, low(16)},
                {"v_mul_lo_u32 v8, v2, v4", 0x10001, 0x10001, 0, low(0x20001)},
                {"v_minmax_u32 v8, v2, v4, v6", 9, 5, 7, low(7)},
                {"v_maxmin_i32 v8, v2, v4, v6", 0xffffffff, 5, 7, low(5)},
                {"v_dot4_i32_iu8 v8, v2, v4, v6 neg_lo:[1,0,0]", 0x01ff0203, 0x02030405, 1, low(1 + 2 - 3 + 8 + 15)},
                {"v_dot4_i32_iu8 v8, v2, v4, v6", 0x00ff0000, 0x00020000, 1, low(511)},
                {"v_dot8_i32_iu4 v8, v2, v4, v6 neg_lo:[1,1,0]", 0xf, 0xf, 1, low(2)},
                {"v_mov_b32 v8, s10", 77, 0, 0, low(77)},
                {"v_readlane_b32 s8, v0, 33\nv_mov_b32 v8, s8", 0, 0, 0, low(1)},  // modulo 32
                {"v_mbcnt_lo_u32_b32 v8, -1, 5\nv_mbcnt_hi_u32_b32 v8, -1, v8\nv_readlane_b32 s8, v8, 20\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(25)},
                {"s_mov_b32 m0, 2\nv_movrels_b32 v8, v2", 11, 22, 0, low(22)},
                {"s_mov_b32 m0, 5\nv_mov_b32 v9, 0\nv_movreld_b32 v4, v2", 11, 22, 0, 11ull << 32 | 0xbeef0000},
            },
            RowKind::Vector);
    }

    TEST_CASE("hip: 16-bit instructions of RDNA leave the other half") {
        check_rows(
            {
                {"v_add_nc_u16 v8.l, v2.l, v4.l", 0xffff, 2, 0, low(0xbeef0001)},
                {"v_add_nc_u16 v8.h, v2.h, v4.l", 0x00050000, 2, 0, low(0x00070000)},
                {"v_add_f16 v8.l, v2.l, v4.h", 0x3c00, 0x40000000, 0, low(0xbeef4200)},
                {"v_add_f16 v8.h, v2.l, v4.h", 0x3c00, 0x40000000, 0, low(0x42000000)},
                {"v_mov_b16 v8.h, v2.l", 0x1234, 0, 0, low(0x12340000)},
                {"v_and_b16 v8.l, v2.h, v4.l", 0xff0f0000, 0x1234, 0, low(0xbeef1204)},
                {"v_cvt_f16_f32 v8.l, v2", kF1, 0, 0, low(0xbeef3c00)},
                {"v_cvt_f32_f16 v8, v2.h", 0x40000000, 0, 0, low(kF2)},
                {"v_fma_f16 v8.l, v2.l, v4.l, v6.h", 0x3c00, 0x4000, 0x3c000000, low(0xbeef4200)},
                {"v_fmac_f16 v8.h, v2.l, v4.l", 0x3c00, 0x4000, 0, low(0x40000000)},
                {"v_pack_b32_f16 v8, v2.h, v4.l", 0x11110000, 0x2222, 0, low(0x22221111)},
                {"v_cmp_lt_f16 vcc_lo, v2.h, v4.l\nv_mov_b32 v8, vcc_lo", 0x3c000000, 0x4000, 0, low(0xffffffff)},
                {"v_cmp_gt_u16 vcc_lo, v2.l, v4.h\nv_cndmask_b16 v8.l, v2.l, v6.l, vcc_lo", 5, 0x40000, 9,
                 low(0xbeef0009)},
                {"v_lshlrev_b16 v8.l, 4, v2.h", 0x00010000, 0, 0, low(0xbeef0010)},
                {"v_mad_u16 v8.l, v2.l, v4.l, v6.l", 3, 4, 5, low(0xbeef0011)},
                {"v_cvt_i32_i16 v8, v2.h", 0xfffe0000, 0, 0, low(0xfffffffe)},
                {"v_cvt_u32_u16 v8, v2.l", 0xfffe, 0, 0, low(0xfffe)},
                {"v_sat_pk_u8_i16 v8.l, v2", 0x0100fffe, 0, 0, low(0xbeefff00)},
                {"v_pk_add_f16 v8, v2, v4", 0x40003c00, 0x3c003c00, 0, low(0x42004000)},
                {"v_mov_b32 v8, v6\nv_pk_fmac_f16 v8, v2, v4", 0x40003c00, 0x3c003c00, 0x3c003c00, low(0x42004000)},
                {"v_dot2_f32_f16 v8, v2, v4, v6", 0x40003c00, 0x42004000, kF1, low(0x41100000)},
                {"v_dot2_f32_bf16 v8, v2, v4, v6", 0x40003f80, 0x40404000, kF1, low(0x41100000)},
                {"v_dot2_f16_f16 v8.l, v2, v4, v6.l", 0x40003c00, 0x42004000, 0x3c00, low(0xbeef4880)},
                {"v_dot2_bf16_bf16 v8.l, v2, v4, v6.l", 0x40003f80, 0x40404000, 0x3f80, low(0xbeef4110)},
            },
            RowKind::Vector, "gfx1100");
        // The same halves as op_sel spells them.
        check_rows(
            {
                {"v_add_nc_u16 v8, v2, v4 op_sel:[1,0,1]", 0x00050000, 2, 0, low(0x00070000)},
                {"v_add_f16 v8, v2, v4", 0x3c00, 0x4000, 0, low(0xbeef4200)},
                {"v_fma_f16 v8, v2, v4, v6 op_sel:[0,0,1,1]", 0x3c00, 0x4000, 0x3c000000, low(0x42000000)},
                {"v_cvt_f16_f32 v8, v2", kF1, 0, 0, low(0xbeef3c00)},
                {"v_mad_u16 v8, v2, v4, v6", 3, 4, 5, low(0xbeef0011)},
                {"v_dot2_f16_f16 v8, v2, v4, v6 op_sel:[0,0,1,0]", 0x40003c00, 0x42004000, 0x3c000000, low(0xbeef4880)},
            },
            RowKind::Vector, "gfx1201");
    }

    TEST_CASE("hip: floating-point instructions of RDNA") {
        check_both(
            {
                {"v_fma_dx9_zero_f32 v8, v2, v4, v6", 0, kFInfinity, kF1, low(kF1)},
                {"v_mul_dx9_zero_f32 v8, v2, v4", 0, kFNan, 0, low(0)},
                {"v_fmaak_f32 v8, v2, v4, 0x3f800000", kF2, kF1, 0, low(kF3)},
                {"v_cvt_pk_rtz_f16_f32 v8, v2, v4", 0x3f801fff, kF2, 0, low(0x40003c00)},
                {"v_cvt_pk_i16_f32 v8, v2, v4", 0x47800000, 0xbf800000, 0, low(0xffff7fff)},
                {"v_cvt_pk_u16_f32 v8, v2, v4", 0x47800000, 0xbf800000, 0, low(0x0000ffff)},
                {"v_cvt_pk_norm_i16_f32 v8, v2, v4", kF1, 0xbf800000, 0, low(0x80017fff)},
                {"v_cvt_nearest_i32_f32 v8, v2", 0x3fc00000, 0, 0, low(2)},
                {"v_cvt_floor_i32_f32 v8, v2", 0xbf000000, 0, 0, low(0xffffffff)},
                {"v_div_scale_f32 v8, vcc_lo, v2, v4, v2\nv_mov_b32 v9, vcc_lo", kF1, kF2, 0, kF1},
                {"v_mov_b32 v8, v6\nv_fmac_f32 v8, v2, v4", kF2, kF3, kF1, low(0x40e00000)},
                {"v_fma_mixhi_f16 v8, v2, v4, v6", kF2, kF3, kF1, low(0x47000000)},
            },
            RowKind::Vector);
        check_rows(
            {
                {"v_minmax_f32 v8, v2, v4, v6", kF3, kF1, kF2, low(kF2)},
                {"v_max_f32 v8, v2, v4", kFNan, kF2, 0, low(kF2)},
                {"v_med3_f32 v8, v2, v4, v6", kF3, kF1, kF2, low(kF2)},
            },
            RowKind::Vector, "gfx1100");
        check_rows(
            {
                {"v_minmax_num_f32 v8, v2, v4, v6", kF3, kF1, kF2, low(kF2)},
                {"v_max_num_f32 v8, v2, v4", kFNan, kF2, 0, low(kF2)},
                {"v_maximum_f32 v8, v2, v4", kFNan, kF2, 0, low(kFNan)},
                {"v_minimum_f32 v8, v2, v4", 0x80000000, 0, 0, low(0x80000000)},
                {"v_maximumminimum_f32 v8, v2, v4, v6", kF1, kF3, kF2, low(kF2)},
                {"v_minimum3_f32 v8, v2, v4, v6", kF3, kF1, kF2, low(kF1)},
                {"v_pk_maximum_f16 v8, v2, v4", 0x40003c00, 0x3c007e00, 0, low(0x40007e00)},
                {"v_s_exp_f32 s8, s10\nv_mov_b32 v8, s8", kF3, 0, 0, low(0x41000000)},
                {"v_s_rcp_f32 s8, s10\nv_mov_b32 v8, s8", kF2, 0, 0, low(0x3f000000)},
                {"v_cvt_f32_fp8 v8, v2", 0x38, 0, 0, low(kF1)},  // exponent 7 with bias 7
                {"v_cvt_f32_fp8 v8, v2 byte_sel:2", 0x00400000, 0, 0, low(kF2)},
                {"v_cvt_f32_bf8 v8, v2 byte_sel:1", 0x4000, 0, 0, low(kF2)},
                {"v_cvt_f32_fp8 v8, v2", 0x7e, 0, 0, low(0x43e00000)},  // 448
                {"v_cvt_pk_fp8_f32 v8, v2, v4", kF1, 0x43e00000, 0, low(0xbeef7e38)},
                {"v_cvt_pk_bf8_f32 v8, v2, v4 op_sel:[0,0,1]", kF1, kF2, 0, low(0x403c0000)},
                {"v_cvt_pk_f32_fp8 v[8:9], v2 op_sel:[1,0]", 0x40380000, 0, 0, kF1 | kF2 << 32},
                {"v_cvt_sr_fp8_f32 v8, v2, v4 byte_sel:1", 0x3f8fffff, 0xffffffff, 0, low(0xbeef3a00)},
                {"v_cvt_sr_fp8_f32 v8, v2, v4", 0x3f8fffff, 0, 0, low(0xbeef0039)},
                {"v_dot4_f32_fp8_bf8 v8, v2, v4, v6", 0x38384038, 0x3c3c3c40, kF1, low(0x40e00000)},
                {"v_lshlrev_b64 v[8:9], 36, v[2:3]", 1, 0, 0, 0x10'0000'0000},
                {"v_mad_co_u64_u32 v[8:9], null, v2, v4, v[6:7]", 0xffffffff, 0xffffffff, 1, 0xfffffffe'00000002},
            },
            RowKind::Vector, "gfx1201");
    }

    TEST_CASE("hip: dual instructions read before they write") {
        check_both(
            {
                {"v_dual_mov_b32 v8, v2 :: v_dual_mov_b32 v9, v5", 1, 2ull << 32, 0, 1 | 2ull << 32},
                {"v_mov_b32 v8, 1\nv_mov_b32 v9, 2\nv_dual_mov_b32 v8, v9 :: v_dual_mov_b32 v9, v8", 0, 0, 0,
                 2 | 1ull << 32},
                {"v_mov_b32 v8, v6\nv_dual_fmac_f32 v8, v2, v4 :: v_dual_add_f32 v9, v7, v3", kF2, kF3, kF1 | kF1 << 32,
                 0x40e00000 | kF1 << 32},
                {"v_dual_fmaak_f32 v8, v2, v4, 0x3f800000 :: v_dual_mul_f32 v9, v7, v3", kF2, kF1, kF1 << 32, kF3},
                {"s_mov_b32 vcc_lo, -1\nv_dual_cndmask_b32 v8, v2, v4 :: v_dual_add_nc_u32 v9, v7, v3", 5, 6,
                 7ull << 32, 6 | 7ull << 32},
                {"v_dual_sub_f32 v8, v2, v4 :: v_dual_lshlrev_b32 v9, 4, v6", kF3, kF2, 3, kF1 | 48ull << 32},
                {"v_dual_subrev_f32 v8, v2, v4 :: v_dual_and_b32 v9, v7, v6", kF2, kF3, 3 | 3ull << 32,
                 kF1 | 3ull << 32},
                // A lane that is off keeps both.
                {"s_mov_b32 exec_lo, 2\nv_dual_mov_b32 v8, 1 :: v_dual_mov_b32 v9, 2\ns_mov_b32 exec_lo, -1\n"
                 "v_readlane_b32 s8, v8, 0\nv_readlane_b32 s9, v9, 1\nv_mov_b32 v8, s8\nv_mov_b32 v9, s9",
                 0, 0, 0, 0xbeef0000 | 2ull << 32},
            },
            RowKind::Vector);
    }

    TEST_CASE("hip: lanes of RDNA exchange values") {
        check_both(
            {
                {"v_mov_b32_dpp v8, v0 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1\nv_readlane_b32 s8, v8, 17\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(16)},
                {"v_mov_b32_dpp v8, v0 row_xmask:5 row_mask:0xf bank_mask:0xf\nv_readlane_b32 s8, v8, 18\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(23)},
                {"v_mov_b32_dpp v8, v0 row_share:3 row_mask:0xf bank_mask:0xf\nv_readlane_b32 s8, v8, 18\n"
                 "v_mov_b32 v8, s8",
                 0, 0, 0, low(19)},
                {"v_mov_b32_dpp v8, v0 dpp8:[7,6,5,4,3,2,1,0]\nv_readlane_b32 s8, v8, 9\nv_mov_b32 v8, s8", 0, 0, 0,
                 low(14)},
                // fi: a lane that is off is read; without it the result stays.
                {"s_mov_b32 exec_lo, 2\nv_mov_b32_dpp v8, v0 quad_perm:[3,3,3,3] row_mask:0xf bank_mask:0xf fi:1\n"
                 "s_mov_b32 exec_lo, -1\nv_readlane_b32 s8, v8, 1\nv_mov_b32 v8, s8",
                 0, 0, 0, low(3)},
                {"s_mov_b32 exec_lo, 2\nv_mov_b32_dpp v8, v0 quad_perm:[3,3,3,3] row_mask:0xf bank_mask:0xf\n"
                 "s_mov_b32 exec_lo, -1\nv_readlane_b32 s8, v8, 1\nv_mov_b32 v8, s8",
                 0, 0, 0, low(0xbeef0000)},
                {"v_add_nc_u32_e64_dpp v8, v0, v2 row_ror:4 row_mask:0xf bank_mask:0xf\nv_readlane_b32 s8, v8, 1\n"
                 "v_mov_b32 v8, s8",
                 100, 0, 0, low(113)},
                {"v_permlane16_b32 v8, v0, s10, s11\nv_readlane_b32 s8, v8, 17\nv_mov_b32 v8, s8", 0x50, 0, 0, low(21)},
                {"v_permlanex16_b32 v8, v0, s10, s11\nv_readlane_b32 s8, v8, 17\nv_mov_b32 v8, s8", 0x50, 0, 0, low(5)},
                {"ds_swizzle_b32 v8, v0 offset:swizzle(SWAP,16)\ns_nop 0", 0, 0, 0, low(15)},
            },
            RowKind::Vector);
        check_rows({{"v_permlane16_var_b32 v8, v0, v2\nv_readlane_b32 s8, v8, 17\nv_mov_b32 v8, s8", 9, 0, 0, low(25)},
                    {"v_permlanex16_var_b32 v8, v0, v2\nv_readlane_b32 s8, v8, 17\nv_mov_b32 v8, s8", 9, 0, 0, low(9)}},
                   RowKind::Vector, "gfx1201");
    }

    TEST_CASE("hip: scalar instructions of RDNA") {
        check_both(
            {
                {"s_and_not1_b32 s8, s10, s12", 6, 2, 0, 0x1'00000004},
                {"s_or_not1_b32 s8, s10, s12", 0, 0xfffffffe, 0, 0x1'00000001},
                {"s_bcnt1_i32_b32 s8, s10", 0xff, 0, 0, 0x1'00000008},
                {"s_quadmask_b32 s8, s10", 0x10f00001, 0, 0, 0x1'000000a1},
            },
            RowKind::ScalarWithScc);
        check_both(
            {
                {"s_ctz_i32_b32 s8, s10", 0x00010000, 0, 0, 16},
                {"s_clz_i32_u32 s8, s10", 0x00010000, 0, 0, 15},
                {"s_clz_i32_u64 s8, s[10:11]", 0x00010000, 0, 0, 47},
                {"s_cls_i32 s8, s10", 0xffff0000, 0, 0, 16},
                {"s_pack_hl_b32_b16 s8, s10, s12", 0x11110000, 0x2222, 0, 0x22221111},
                {"s_and_saveexec_b32 s8, s10\ns_mov_b32 s9, exec_lo\ns_mov_b32 exec_lo, s8", 5, 0, 0,
                 0xffffffff | 5ull << 32},
                {"s_and_not1_wrexec_b32 s8, s10\ns_mov_b32 s9, exec_lo\ns_mov_b32 exec_lo, -1", 5, 0, 0, 0},
                {"s_mov_b32 m0, 2\ns_movrels_b32 s8, s10", 1, 22, 0, 22},
                {"s_mov_b32 m0, 1\ns_movreld_b32 s8, s10", 33, 0, 0, 33ull << 32},
                {"s_denorm_mode 0\ns_getreg_b32 s8, hwreg(HW_REG_MODE, 4, 4)\ns_denorm_mode 15", 0, 0, 0, 0},
                {"s_round_mode 5\ns_getreg_b32 s8, hwreg(HW_REG_MODE, 0, 4)\ns_round_mode 0", 0, 0, 0, 5},
            },
            RowKind::Scalar);
        check_rows(
            {
                {"s_add_co_u32 s8, s10, s12", 0xffffffff, 1, 0, 1ull << 32},
                {"s_cmp_eq_u32 s10, s10\ns_add_co_ci_u32 s8, s10, s12", 1, 2, 0, 4},
                {"s_cmp_lt_f32 s10, s12", kF1, kF2, 0, 1ull << 32},
                {"s_cmp_nlt_f32 s10, s12", kFNan, kF2, 0, 1ull << 32},
                {"s_cmp_u_f16 s10, s12", 0x7e00, 0x3c00, 0, 1ull << 32},
                {"s_cmp_ge_f16 s10, s12", 0x3c00, 0x3c00, 0, 1ull << 32},
            },
            RowKind::ScalarWithScc, "gfx1201");
        check_rows(
            {
                {"s_add_nc_u64 s[8:9], s[10:11], s[12:13]", 0xffffffff, 1, 0, 1ull << 32},
                {"s_mul_u64 s[8:9], s[10:11], s[12:13]", 0x100000000, 0x30, 0, 0x30ull << 32},
                {"s_add_f32 s8, s10, s12", kF1, kF2, 0, kF3},
                {"s_sub_f16 s8, s10, s12", 0x4200, 0x4000, 0, 0x3c00},
                {"s_mul_f32 s8, s10, 0.5", kF2, 0, 0, kF1},
                {"s_mov_b32 s8, s14\ns_fmac_f32 s8, s10, s12", kF2, kF3, kF1, 0x40e00000},
                {"s_fmaak_f32 s8, s10, s12, 0x3f800000", kF1, kF2, 0, kF3},
                {"s_fmamk_f32 s8, s10, 0x40000000, s12", kF1, kF1, 0, kF3},
                {"s_min_num_f32 s8, s10, s12", kFNan, kF2, 0, kF2},
                {"s_maximum_f32 s8, s10, s12", kFNan, kF2, 0, kFNan},
                {"s_rndne_f32 s8, s10", 0x40200000, 0, 0, kF2},
                {"s_ceil_f16 s8, s10", 0x3e00, 0, 0, 0x4000},
                {"s_cvt_f32_i32 s8, s10", 0xffffffff, 0, 0, 0xbf800000},
                {"s_cvt_u32_f32 s8, s10", kF3, 0, 0, 3},
                {"s_cvt_i32_f32 s8, s10", 0xbfc00000, 0, 0, 0xffffffff},
                {"s_cvt_f16_f32 s8, s10", kF1, 0, 0, 0x3c00},
                {"s_cvt_hi_f32_f16 s8, s10", 0x40000000, 0, 0, kF2},
                {"s_cvt_pk_rtz_f16_f32 s8, s10, s12", 0x3f801fff, kF2, 0, 0x40003c00},
            },
            RowKind::Scalar, "gfx1201");
    }

    TEST_CASE("hip: memory instructions of RDNA") {
        for (const std::string& processor : kRdna) {
            const std::string wait = processor == "gfx1201" ? "s_wait_dscnt 0x0\n" : "s_waitcnt lgkmcnt(0)\n";
            const std::string write = "v_lshlrev_b32 v10, 3, v0\nds_store_b64 v10, v[2:3]\n" + wait;
            const std::string read_byte = write + "ds_load_i8 v8, v10 offset:1\n" + wait;
            const std::string read_half = write + "ds_load_u16_d16_hi v8, v10 offset:2\n" + wait;
            const std::string read_two = write + "ds_load_2addr_b32 v[8:9], v10 offset0:1 offset1:0\n" + wait;
            const std::string add = write + "ds_add_rtn_u32 v8, v10, v4\nds_load_b32 v9, v10\n" + wait;
            // The new value comes before the compared one.
            const std::string swap = write + "ds_cmpstore_rtn_b32 v8, v10, v4, v2\nds_load_b32 v9, v10\n" + wait;
            const std::string exchange = write + "ds_storexchg_rtn_b32 v8, v10, v4\nds_load_b32 v9, v10\n" + wait;
            const std::string permute = "v_lshlrev_b32 v10, 3, v0\nds_bpermute_b32 v8, v10, v0\n" + wait +
                                        "v_readlane_b32 s8, v8, 5\nv_mov_b32 v8, s8";
            check_rows(
                {
                    {read_byte.c_str(), 0x8000, 0, 0, low(0xffffff80)},
                    {read_half.c_str(), 0x12345678, 0, 0, low(0x12340000)},
                    {read_two.c_str(), 1 | 2ull << 32, 0, 0, 2 | 1ull << 32},
                    {add.c_str(), 5, 6, 0, 5 | 11ull << 32},
                    {swap.c_str(), 5, 6, 0, 5 | 6ull << 32},
                    {exchange.c_str(), 5, 6, 0, 5 | 6ull << 32},
                    {permute.c_str(), 0, 0, 0, low(10)},
                },
                RowKind::Vector, processor);
        }
        const std::string write = "v_lshlrev_b32 v10, 3, v0\nds_store_b64 v10, v[2:3]\ns_wait_dscnt 0x0\n";
        const std::string clamp = write + "ds_sub_clamp_rtn_u32 v8, v10, v4\nds_load_b32 v9, v10\ns_wait_dscnt 0x0";
        const std::string sub = write + "ds_cond_sub_rtn_u32 v8, v10, v4\nds_load_b32 v9, v10\ns_wait_dscnt 0x0";
        check_rows({{clamp.c_str(), 5, 6, 0, 5}, {sub.c_str(), 5, 6, 0, 5 | 5ull << 32}}, RowKind::Vector, "gfx1201");
    }

    TEST_CASE("hip: what is not modelled is refused by its name when the code is loaded") {
        const std::pair<const char*, const char*> refused[] = {
            {"gfx1201", "v_swmmac_f32_16x16x32_f16 v[0:7], v[8:11], v[12:19], v20"},
            {"gfx1201", "s_barrier_signal -3"},
            {"gfx1201", "global_load_tr_b128 v[0:3], v0, s[0:1]"},
            {"gfx1100", "s_sendmsg_rtn_b32 s0, sendmsg(MSG_RTN_GET_DOORBELL)"},
            {"gfx1100", "ds_append v0"},
            {"gfx950", "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[4:11], v[12:19], v[0:3]"},
            {"gfx950", "v_cvt_scalef32_pk_f32_fp8 v[0:1], v2, v3"},
            {"gfx950", "ds_read_b96_tr_b6 v[0:2], v3"},
        };
        for (const auto& [processor, text] : refused) {
            AssemblyKernel kernel;
            kernel.body = std::string(text) + "\ns_endpgm";
            const std::vector<uint8_t> object = assemble(assembly_text(kernel, processor), processor);
            DeviceMemory memory(1 << 26);
            std::string message;
            try {
                load_module(object, memory, processor);
            } catch (const LoadError& error) {
                message = error.what();
            }
            const std::string name = std::string(text).substr(0, std::string(text).find(' '));
            CHECK_MESSAGE(message.find(name) != std::string::npos, processor << ": " << text << ": " << message);
            CHECK(message.find("is not modelled") != std::string::npos);
        }
    }
}

}  // namespace
}  // namespace emulated_gpu::hip
