	.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
	.amdhsa_code_object_version 6
	.text
	.protected	kiln_gemm_splitk_atomic_0 ; -- Begin function kiln_gemm_splitk_atomic_0
	.globl	kiln_gemm_splitk_atomic_0
	.p2align	8
	.type	kiln_gemm_splitk_atomic_0,@function
kiln_gemm_splitk_atomic_0:              ; @kiln_gemm_splitk_atomic_0
; %bb.0:
	s_load_dwordx2 s[14:15], s[0:1], 0x0
	s_load_dwordx8 s[4:11], s[0:1], 0x10
	s_load_dwordx2 s[12:13], s[0:1], 0x30
	s_mov_b32 s16, 0
	s_waitcnt lgkmcnt(0)
	s_add_u32 s0, s14, s2
	s_addc_u32 s1, s15, 0
	s_or_b64 s[2:3], s[0:1], s[4:5]
	s_mov_b32 s17, s3
	s_cmp_lg_u64 s[16:17], 0
	s_cbranch_scc0 .LBB0_138
; %bb.1:
	v_cvt_f32_u32_e32 v1, s4
	v_cvt_f32_u32_e32 v2, s5
	s_sub_u32 s9, 0, s4
	s_subb_u32 s11, 0, s5
	v_fmamk_f32 v1, v2, 0x4f800000, v1
	v_rcp_f32_e32 v1, v1
	s_nop 0
	v_mul_f32_e32 v1, 0x5f7ffffc, v1
	v_mul_f32_e32 v2, 0x2f800000, v1
	v_trunc_f32_e32 v2, v2
	v_fmamk_f32 v1, v2, 0xcf800000, v1
	v_cvt_u32_f32_e32 v2, v2
	v_cvt_u32_f32_e32 v1, v1
	v_readfirstlane_b32 s14, v2
	v_readfirstlane_b32 s15, v1
	s_mul_i32 s16, s9, s14
	s_mul_hi_u32 s18, s9, s15
	s_mul_i32 s17, s11, s15
	s_add_i32 s16, s18, s16
	s_add_i32 s16, s16, s17
	s_mul_i32 s19, s9, s15
	s_mul_i32 s18, s15, s16
	s_mul_hi_u32 s20, s15, s19
	s_mul_hi_u32 s17, s15, s16
	s_add_u32 s18, s20, s18
	s_addc_u32 s17, 0, s17
	s_mul_hi_u32 s21, s14, s19
	s_mul_i32 s19, s14, s19
	s_add_u32 s18, s18, s19
	s_mul_hi_u32 s20, s14, s16
	s_addc_u32 s17, s17, s21
	s_addc_u32 s18, s20, 0
	s_mul_i32 s16, s14, s16
	s_add_u32 s16, s17, s16
	s_addc_u32 s17, 0, s18
	s_add_u32 s15, s15, s16
	s_addc_u32 s14, s14, s17
	s_mul_i32 s16, s9, s14
	s_mul_hi_u32 s17, s9, s15
	s_add_i32 s16, s17, s16
	s_mul_i32 s11, s11, s15
	s_add_i32 s16, s16, s11
	s_mul_i32 s9, s9, s15
	s_mul_hi_u32 s17, s14, s9
	s_mul_i32 s18, s14, s9
	s_mul_i32 s20, s15, s16
	s_mul_hi_u32 s9, s15, s9
	s_mul_hi_u32 s19, s15, s16
	s_add_u32 s9, s9, s20
	s_addc_u32 s19, 0, s19
	s_add_u32 s9, s9, s18
	s_mul_hi_u32 s11, s14, s16
	s_addc_u32 s9, s19, s17
	s_addc_u32 s11, s11, 0
	s_mul_i32 s16, s14, s16
	s_add_u32 s9, s9, s16
	s_addc_u32 s11, 0, s11
	s_add_u32 s9, s15, s9
	s_addc_u32 s11, s14, s11
	s_mul_i32 s15, s0, s11
	s_mul_hi_u32 s16, s0, s9
	s_mul_hi_u32 s14, s0, s11
	s_add_u32 s15, s16, s15
	s_addc_u32 s14, 0, s14
	s_mul_hi_u32 s17, s1, s9
	s_mul_i32 s9, s1, s9
	s_add_u32 s9, s15, s9
	s_mul_hi_u32 s16, s1, s11
	s_addc_u32 s9, s14, s17
	s_addc_u32 s14, s16, 0
	s_mul_i32 s11, s1, s11
	s_add_u32 s9, s9, s11
	s_addc_u32 s11, 0, s14
	s_mul_i32 s11, s4, s11
	s_mul_hi_u32 s14, s4, s9
	s_add_i32 s11, s14, s11
	s_mul_i32 s14, s5, s9
	s_add_i32 s11, s11, s14
	s_sub_i32 s16, s1, s11
	s_mul_i32 s14, s4, s9
	s_sub_u32 s17, s0, s14
	s_cselect_b64 s[14:15], -1, 0
	s_subb_u32 s16, s16, s5
	s_sub_u32 s18, s17, s4
	s_subb_u32 s16, s16, 0
	s_cmp_ge_u32 s16, s5
	s_cselect_b32 s19, -1, 0
	s_cmp_ge_u32 s18, s4
	s_cselect_b32 s18, -1, 0
	s_cmp_eq_u32 s16, s5
	s_cselect_b32 s16, s18, s19
	s_add_u32 s18, s9, 1
	s_add_u32 s19, s9, 2
	s_cmp_lg_u32 s16, 0
	s_cselect_b32 s16, s19, s18
	s_cmp_lg_u64 s[14:15], 0
	s_subb_u32 s1, s1, s11
	s_cmp_ge_u32 s1, s5
	s_cselect_b32 s11, -1, 0
	s_cmp_ge_u32 s17, s4
	s_cselect_b32 s14, -1, 0
	s_cmp_eq_u32 s1, s5
	s_cselect_b32 s1, s14, s11
	s_cmp_lg_u32 s1, 0
	s_cselect_b32 s14, s16, s9
	s_cbranch_execnz .LBB0_3
.LBB0_2:
	v_cvt_f32_u32_e32 v1, s4
	s_sub_i32 s1, 0, s4
	v_rcp_iflag_f32_e32 v1, v1
	s_nop 0
	v_mul_f32_e32 v1, 0x4f7ffffe, v1
	v_cvt_u32_f32_e32 v1, v1
	s_nop 0
	v_readfirstlane_b32 s2, v1
	s_mul_i32 s1, s1, s2
	s_mul_hi_u32 s1, s2, s1
	s_add_i32 s2, s2, s1
	s_mul_hi_u32 s1, s0, s2
	s_mul_i32 s3, s1, s4
	s_sub_i32 s3, s0, s3
	s_add_i32 s2, s1, 1
	s_sub_i32 s5, s3, s4
	s_cmp_ge_u32 s3, s4
	s_cselect_b32 s1, s2, s1
	s_cselect_b32 s3, s5, s3
	s_add_i32 s2, s1, 1
	s_cmp_ge_u32 s3, s4
	s_cselect_b32 s14, s2, s1
.LBB0_3:
	s_mul_i32 s1, s14, s4
	s_sub_i32 s0, s0, s1
	s_lshl_b32 s9, s14, 4
	s_lshl_b32 s2, s0, 8
	s_ashr_i32 s0, s9, 31
	s_mul_i32 s0, s12, s0
	s_mul_hi_u32 s1, s12, s9
	s_add_i32 s0, s1, s0
	s_mul_i32 s1, s13, s9
	s_add_i32 s1, s0, s1
	s_mul_i32 s0, s12, s9
	s_lshl_b64 s[0:1], s[0:1], 2
	v_or_b32_e32 v4, s2, v0
	s_add_u32 s0, s6, s0
	v_ashrrev_i32_e32 v5, 31, v4
	s_addc_u32 s1, s7, s1
	v_lshl_add_u64 v[0:1], v[4:5], 2, s[0:1]
	s_add_i32 s0, s8, -16
	s_cmp_gt_i32 s9, s0
	s_cselect_b64 s[0:1], -1, 0
	s_add_i32 s3, s10, 0xffffff00
	s_cmp_gt_i32 s2, s3
	s_cselect_b64 s[2:3], -1, 0
	s_or_b64 s[0:1], s[0:1], s[2:3]
	s_and_b64 vcc, exec, s[0:1]
	v_lshl_add_u64 v[2:3], s[12:13], 2, v[0:1]
	s_cbranch_vccnz .LBB0_7
; %bb.4:
	v_mad_u64_u32 v[8:9], s[0:1], s12, 12, v[0:1]
	s_lshl_b64 s[2:3], s[12:13], 3
	v_mov_b32_e32 v10, v9
	v_mov_b32_e32 v5, 0
	v_lshl_add_u64 v[6:7], v[0:1], 0, s[2:3]
	v_mad_u64_u32 v[10:11], s[0:1], s13, 12, v[10:11]
	global_store_dword v[0:1], v5, off
	global_store_dword v[0:1], v5, off offset:256
	global_store_dword v[0:1], v5, off offset:512
	global_store_dword v[0:1], v5, off offset:768
	global_store_dword v[2:3], v5, off
	global_store_dword v[2:3], v5, off offset:256
	global_store_dword v[2:3], v5, off offset:512
	global_store_dword v[2:3], v5, off offset:768
	global_store_dword v[6:7], v5, off
	global_store_dword v[6:7], v5, off offset:256
	global_store_dword v[6:7], v5, off offset:512
	global_store_dword v[6:7], v5, off offset:768
	v_mov_b32_e32 v9, v10
	v_lshl_add_u64 v[6:7], v[6:7], 0, s[2:3]
	global_store_dword v[8:9], v5, off
	global_store_dword v[8:9], v5, off offset:256
	global_store_dword v[8:9], v5, off offset:512
	global_store_dword v[8:9], v5, off offset:768
	global_store_dword v[6:7], v5, off
	global_store_dword v[6:7], v5, off offset:256
	global_store_dword v[6:7], v5, off offset:512
	global_store_dword v[6:7], v5, off offset:768
	v_lshl_add_u64 v[8:9], v[8:9], 0, s[2:3]
	v_lshl_add_u64 v[6:7], v[6:7], 0, s[2:3]
	global_store_dword v[8:9], v5, off
	global_store_dword v[8:9], v5, off offset:256
	global_store_dword v[8:9], v5, off offset:512
	global_store_dword v[8:9], v5, off offset:768
	global_store_dword v[6:7], v5, off
	global_store_dword v[6:7], v5, off offset:256
	global_store_dword v[6:7], v5, off offset:512
	global_store_dword v[6:7], v5, off offset:768
	v_lshl_add_u64 v[8:9], v[8:9], 0, s[2:3]
	v_lshl_add_u64 v[6:7], v[6:7], 0, s[2:3]
	global_store_dword v[8:9], v5, off
	global_store_dword v[8:9], v5, off offset:256
	global_store_dword v[8:9], v5, off offset:512
	global_store_dword v[8:9], v5, off offset:768
	global_store_dword v[6:7], v5, off
	global_store_dword v[6:7], v5, off offset:256
	global_store_dword v[6:7], v5, off offset:512
	global_store_dword v[6:7], v5, off offset:768
	v_lshl_add_u64 v[8:9], v[8:9], 0, s[2:3]
	v_lshl_add_u64 v[6:7], v[6:7], 0, s[2:3]
	global_store_dword v[8:9], v5, off
	global_store_dword v[8:9], v5, off offset:256
	global_store_dword v[8:9], v5, off offset:512
	global_store_dword v[8:9], v5, off offset:768
	global_store_dword v[6:7], v5, off
	global_store_dword v[6:7], v5, off offset:256
	global_store_dword v[6:7], v5, off offset:512
	global_store_dword v[6:7], v5, off offset:768
	v_lshl_add_u64 v[8:9], v[8:9], 0, s[2:3]
	v_lshl_add_u64 v[6:7], v[6:7], 0, s[2:3]
	global_store_dword v[8:9], v5, off
	global_store_dword v[8:9], v5, off offset:256
	global_store_dword v[8:9], v5, off offset:512
	global_store_dword v[8:9], v5, off offset:768
	global_store_dword v[6:7], v5, off
	global_store_dword v[6:7], v5, off offset:256
	global_store_dword v[6:7], v5, off offset:512
	global_store_dword v[6:7], v5, off offset:768
	v_lshl_add_u64 v[8:9], v[8:9], 0, s[2:3]
	v_lshl_add_u64 v[6:7], v[6:7], 0, s[2:3]
	s_mul_i32 s0, s13, 60
	s_mul_hi_u32 s1, s12, 60
	global_store_dword v[8:9], v5, off
	global_store_dword v[8:9], v5, off offset:256
	global_store_dword v[8:9], v5, off offset:512
	global_store_dword v[8:9], v5, off offset:768
	global_store_dword v[6:7], v5, off
	global_store_dword v[6:7], v5, off offset:256
	global_store_dword v[6:7], v5, off offset:512
	global_store_dword v[6:7], v5, off offset:768
	s_add_i32 s1, s1, s0
	s_mul_i32 s0, s12, 60
	v_lshl_add_u64 v[6:7], v[8:9], 0, s[2:3]
	s_mov_b64 s[6:7], -1
	global_store_dword v[6:7], v5, off
	global_store_dword v[6:7], v5, off offset:256
	global_store_dword v[6:7], v5, off offset:512
	s_cbranch_execz .LBB0_8
; %bb.5:
	s_and_saveexec_b64 s[2:3], s[6:7]
	s_cbranch_execz .LBB0_135
.LBB0_6:
	v_lshl_add_u64 v[0:1], v[0:1], 0, s[0:1]
	v_mov_b32_e32 v2, 0
	global_store_dword v[0:1], v2, off offset:768
	s_endpgm
.LBB0_7:
	s_mov_b64 s[6:7], 0
                                        ; implicit-def: $sgpr0_sgpr1
.LBB0_8:
	s_cmp_lt_u32 s9, s8
	s_cselect_b64 s[14:15], -1, 0
	v_cmp_gt_u32_e64 s[4:5], s10, v4
	s_and_b64 s[2:3], s[14:15], s[4:5]
	s_and_saveexec_b64 s[0:1], s[2:3]
	s_cbranch_execz .LBB0_10
; %bb.9:
	v_mov_b32_e32 v5, 0
	global_store_dword v[0:1], v5, off
.LBB0_10:
	s_or_b64 exec, exec, s[0:1]
	v_or_b32_e32 v5, 64, v4
	v_cmp_gt_u32_e64 s[2:3], s10, v5
	s_and_b64 s[16:17], s[14:15], s[2:3]
	s_and_saveexec_b64 s[0:1], s[16:17]
	s_cbranch_execz .LBB0_12
; %bb.11:
	v_mov_b32_e32 v5, 0
	global_store_dword v[0:1], v5, off offset:256
.LBB0_12:
	s_or_b64 exec, exec, s[0:1]
	v_or_b32_e32 v5, 0x80, v4
	v_cmp_gt_u32_e64 s[0:1], s10, v5
	s_and_b64 s[18:19], s[14:15], s[0:1]
	s_and_saveexec_b64 s[16:17], s[18:19]
	s_cbranch_execz .LBB0_14
; %bb.13:
	v_mov_b32_e32 v5, 0
	global_store_dword v[0:1], v5, off offset:512
.LBB0_14:
	s_or_b64 exec, exec, s[16:17]
	v_or_b32_e32 v4, 0xc0, v4
	v_cmp_gt_u32_e32 vcc, s10, v4
	s_and_b64 s[14:15], s[14:15], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_16
; %bb.15:
	v_mov_b32_e32 v4, 0
	global_store_dword v[0:1], v4, off offset:768
.LBB0_16:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 1
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_20
; %bb.17:
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_21
.LBB0_18:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_22
.LBB0_19:
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_23
	s_branch .LBB0_24
.LBB0_20:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_18
.LBB0_21:
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_19
.LBB0_22:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_24
.LBB0_23:
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_24:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 2
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	v_lshl_add_u64 v[2:3], s[12:13], 3, v[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_28
; %bb.25:
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_29
.LBB0_26:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_30
.LBB0_27:
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_31
	s_branch .LBB0_32
.LBB0_28:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_26
.LBB0_29:
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_27
.LBB0_30:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_32
.LBB0_31:
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_32:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 3
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_36
; %bb.33:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 12, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 12, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_37
.LBB0_34:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_38
.LBB0_35:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 12, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 12, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_39
	s_branch .LBB0_40
.LBB0_36:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_34
.LBB0_37:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 12, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 12, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_35
.LBB0_38:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_40
.LBB0_39:
	v_mad_u64_u32 v[2:3], s[14:15], s12, 12, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[14:15], s13, 12, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_40:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 4
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	v_lshl_add_u64 v[2:3], s[12:13], 4, v[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_44
; %bb.41:
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_45
.LBB0_42:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_46
.LBB0_43:
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_47
	s_branch .LBB0_48
.LBB0_44:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_42
.LBB0_45:
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_43
.LBB0_46:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_48
.LBB0_47:
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_48:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 5
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_52
; %bb.49:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 20, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 20, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_53
.LBB0_50:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_54
.LBB0_51:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 20, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 20, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_55
	s_branch .LBB0_56
.LBB0_52:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_50
.LBB0_53:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 20, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 20, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_51
.LBB0_54:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_56
.LBB0_55:
	v_mad_u64_u32 v[2:3], s[14:15], s12, 20, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[14:15], s13, 20, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_56:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 6
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_60
; %bb.57:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 24, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 24, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_61
.LBB0_58:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_62
.LBB0_59:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 24, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 24, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_63
	s_branch .LBB0_64
.LBB0_60:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_58
.LBB0_61:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 24, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 24, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_59
.LBB0_62:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_64
.LBB0_63:
	v_mad_u64_u32 v[2:3], s[14:15], s12, 24, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[14:15], s13, 24, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_64:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 7
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_68
; %bb.65:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 28, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 28, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_69
.LBB0_66:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_70
.LBB0_67:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 28, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 28, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_71
	s_branch .LBB0_72
.LBB0_68:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_66
.LBB0_69:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 28, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 28, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_67
.LBB0_70:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_72
.LBB0_71:
	v_mad_u64_u32 v[2:3], s[14:15], s12, 28, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[14:15], s13, 28, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_72:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 8
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_76
; %bb.73:
	s_lshl_b64 s[16:17], s[12:13], 5
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_77
.LBB0_74:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_78
.LBB0_75:
	s_lshl_b64 s[16:17], s[12:13], 5
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_79
	s_branch .LBB0_80
.LBB0_76:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_74
.LBB0_77:
	s_lshl_b64 s[16:17], s[12:13], 5
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_75
.LBB0_78:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_80
.LBB0_79:
	s_lshl_b64 s[14:15], s[12:13], 5
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[14:15]
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_80:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 9
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_84
; %bb.81:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 36, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 36, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_85
.LBB0_82:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_86
.LBB0_83:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 36, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 36, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_87
	s_branch .LBB0_88
.LBB0_84:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_82
.LBB0_85:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 36, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 36, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_83
.LBB0_86:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_88
.LBB0_87:
	v_mad_u64_u32 v[2:3], s[14:15], s12, 36, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[14:15], s13, 36, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_88:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 10
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_92
; %bb.89:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 40, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 40, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_93
.LBB0_90:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_94
.LBB0_91:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 40, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 40, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_95
	s_branch .LBB0_96
.LBB0_92:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_90
.LBB0_93:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 40, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 40, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_91
.LBB0_94:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_96
.LBB0_95:
	v_mad_u64_u32 v[2:3], s[14:15], s12, 40, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[14:15], s13, 40, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_96:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 11
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_100
; %bb.97:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 44, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 44, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_101
.LBB0_98:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_102
.LBB0_99:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 44, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 44, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_103
	s_branch .LBB0_104
.LBB0_100:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_98
.LBB0_101:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 44, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 44, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_99
.LBB0_102:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_104
.LBB0_103:
	v_mad_u64_u32 v[2:3], s[14:15], s12, 44, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[14:15], s13, 44, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_104:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 12
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_108
; %bb.105:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 48, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 48, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_109
.LBB0_106:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_110
.LBB0_107:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 48, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 48, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_111
	s_branch .LBB0_112
.LBB0_108:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_106
.LBB0_109:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 48, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 48, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_107
.LBB0_110:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_112
.LBB0_111:
	v_mad_u64_u32 v[2:3], s[14:15], s12, 48, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[14:15], s13, 48, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_112:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 13
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_116
; %bb.113:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 52, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 52, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_117
.LBB0_114:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_118
.LBB0_115:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 52, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 52, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_119
	s_branch .LBB0_120
.LBB0_116:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_114
.LBB0_117:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 52, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 52, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_115
.LBB0_118:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_120
.LBB0_119:
	v_mad_u64_u32 v[2:3], s[14:15], s12, 52, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[14:15], s13, 52, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_120:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s10, s9, 14
	s_cmp_lt_u32 s10, s8
	s_cselect_b64 s[10:11], -1, 0
	s_and_b64 s[16:17], s[10:11], s[4:5]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_124
; %bb.121:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 56, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 56, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_125
.LBB0_122:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_126
.LBB0_123:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 56, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 56, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execnz .LBB0_127
	s_branch .LBB0_128
.LBB0_124:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[2:3]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB0_122
.LBB0_125:
	v_mad_u64_u32 v[2:3], s[16:17], s12, 56, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[16:17], s13, 56, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[16:17], s[10:11], s[0:1]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execnz .LBB0_123
.LBB0_126:
	s_or_b64 exec, exec, s[14:15]
	s_and_b64 s[14:15], s[10:11], vcc
	s_and_saveexec_b64 s[10:11], s[14:15]
	s_cbranch_execz .LBB0_128
.LBB0_127:
	v_mad_u64_u32 v[2:3], s[14:15], s12, 56, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[14:15], s13, 56, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:768
.LBB0_128:
	s_or_b64 exec, exec, s[10:11]
	s_or_b32 s9, s9, 15
	s_cmp_lt_u32 s9, s8
	s_cselect_b64 s[8:9], -1, 0
	s_and_b64 s[10:11], s[8:9], s[4:5]
	s_and_saveexec_b64 s[4:5], s[10:11]
	s_cbranch_execz .LBB0_136
; %bb.129:
	v_mad_u64_u32 v[2:3], s[10:11], s12, 60, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[10:11], s13, 60, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off
	s_or_b64 exec, exec, s[4:5]
	s_and_b64 s[4:5], s[8:9], s[2:3]
	s_and_saveexec_b64 s[2:3], s[4:5]
	s_cbranch_execnz .LBB0_137
.LBB0_130:
	s_or_b64 exec, exec, s[2:3]
	s_and_b64 s[2:3], s[8:9], s[0:1]
	s_and_saveexec_b64 s[0:1], s[2:3]
	s_cbranch_execz .LBB0_132
.LBB0_131:
	v_mad_u64_u32 v[2:3], s[2:3], s12, 60, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[2:3], s13, 60, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:512
.LBB0_132:
	s_or_b64 exec, exec, s[0:1]
	s_and_b64 s[4:5], s[8:9], vcc
                                        ; implicit-def: $sgpr0_sgpr1
	s_and_saveexec_b64 s[2:3], s[4:5]
; %bb.133:
	s_mul_i32 s0, s13, 60
	s_mul_hi_u32 s1, s12, 60
	s_add_i32 s1, s1, s0
	s_mul_i32 s0, s12, 60
	s_or_b64 s[6:7], s[6:7], exec
; %bb.134:
	s_or_b64 exec, exec, s[2:3]
	s_and_saveexec_b64 s[2:3], s[6:7]
	s_cbranch_execnz .LBB0_6
.LBB0_135:
	s_endpgm
.LBB0_136:
	s_or_b64 exec, exec, s[4:5]
	s_and_b64 s[4:5], s[8:9], s[2:3]
	s_and_saveexec_b64 s[2:3], s[4:5]
	s_cbranch_execz .LBB0_130
.LBB0_137:
	v_mad_u64_u32 v[2:3], s[4:5], s12, 60, v[0:1]
	v_mov_b32_e32 v4, v3
	v_mad_u64_u32 v[4:5], s[4:5], s13, 60, v[4:5]
	v_mov_b32_e32 v3, v4
	v_mov_b32_e32 v4, 0
	global_store_dword v[2:3], v4, off offset:256
	s_or_b64 exec, exec, s[2:3]
	s_and_b64 s[2:3], s[8:9], s[0:1]
	s_and_saveexec_b64 s[0:1], s[2:3]
	s_cbranch_execz .LBB0_132
	s_branch .LBB0_131
.LBB0_138:
                                        ; implicit-def: $sgpr14_sgpr15
	s_branch .LBB0_2
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel kiln_gemm_splitk_atomic_0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 64
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 12
		.amdhsa_next_free_sgpr 22
		.amdhsa_accum_offset 12
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end0:
	.size	kiln_gemm_splitk_atomic_0, .Lfunc_end0-kiln_gemm_splitk_atomic_0
                                        ; -- End function
	.set kiln_gemm_splitk_atomic_0.num_vgpr, 12
	.set kiln_gemm_splitk_atomic_0.num_agpr, 0
	.set kiln_gemm_splitk_atomic_0.numbered_sgpr, 22
	.set kiln_gemm_splitk_atomic_0.num_named_barrier, 0
	.set kiln_gemm_splitk_atomic_0.private_seg_size, 0
	.set kiln_gemm_splitk_atomic_0.uses_vcc, 1
	.set kiln_gemm_splitk_atomic_0.uses_flat_scratch, 0
	.set kiln_gemm_splitk_atomic_0.has_dyn_sized_stack, 0
	.set kiln_gemm_splitk_atomic_0.has_recursion, 0
	.set kiln_gemm_splitk_atomic_0.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 5316
; TotalNumSgprs: 28
; NumVgprs: 12
; NumAgprs: 0
; TotalNumVgprs: 12
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 3
; VGPRBlocks: 1
; NumSGPRsForWavesPerEU: 28
; NumVGPRsForWavesPerEU: 12
; AccumOffset: 12
; Occupancy: 8
; WaveLimiterHint : 1
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 2
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 2
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.protected	kiln_gemm_splitk_atomic_1 ; -- Begin function kiln_gemm_splitk_atomic_1
	.globl	kiln_gemm_splitk_atomic_1
	.p2align	8
	.type	kiln_gemm_splitk_atomic_1,@function
kiln_gemm_splitk_atomic_1:              ; @kiln_gemm_splitk_atomic_1
; %bb.0:
	s_load_dwordx2 s[12:13], s[0:1], 0x0
	s_load_dwordx8 s[4:11], s[0:1], 0x10
	s_mov_b32 s14, 0
	s_waitcnt lgkmcnt(0)
	s_add_u32 s2, s12, s2
	s_addc_u32 s3, s13, 0
	s_or_b64 s[12:13], s[2:3], s[6:7]
	s_mov_b32 s15, s13
	s_cmp_lg_u64 s[14:15], 0
	s_cbranch_scc0 .LBB1_182
; %bb.1:
	v_cvt_f32_u32_e32 v1, s6
	v_cvt_f32_u32_e32 v2, s7
	s_sub_u32 s11, 0, s6
	s_subb_u32 s12, 0, s7
	v_fmamk_f32 v1, v2, 0x4f800000, v1
	v_rcp_f32_e32 v1, v1
	s_nop 0
	v_mul_f32_e32 v1, 0x5f7ffffc, v1
	v_mul_f32_e32 v2, 0x2f800000, v1
	v_trunc_f32_e32 v2, v2
	v_fmamk_f32 v1, v2, 0xcf800000, v1
	v_cvt_u32_f32_e32 v2, v2
	v_cvt_u32_f32_e32 v1, v1
	v_readfirstlane_b32 s13, v2
	v_readfirstlane_b32 s16, v1
	s_mul_i32 s17, s11, s13
	s_mul_hi_u32 s19, s11, s16
	s_mul_i32 s18, s12, s16
	s_add_i32 s17, s19, s17
	s_add_i32 s17, s17, s18
	s_mul_i32 s20, s11, s16
	s_mul_i32 s19, s16, s17
	s_mul_hi_u32 s21, s16, s20
	s_mul_hi_u32 s18, s16, s17
	s_add_u32 s19, s21, s19
	s_addc_u32 s18, 0, s18
	s_mul_hi_u32 s22, s13, s20
	s_mul_i32 s20, s13, s20
	s_add_u32 s19, s19, s20
	s_mul_hi_u32 s21, s13, s17
	s_addc_u32 s18, s18, s22
	s_addc_u32 s19, s21, 0
	s_mul_i32 s17, s13, s17
	s_add_u32 s17, s18, s17
	s_addc_u32 s18, 0, s19
	s_add_u32 s16, s16, s17
	s_addc_u32 s13, s13, s18
	s_mul_i32 s17, s11, s13
	s_mul_hi_u32 s18, s11, s16
	s_add_i32 s17, s18, s17
	s_mul_i32 s12, s12, s16
	s_add_i32 s17, s17, s12
	s_mul_i32 s11, s11, s16
	s_mul_hi_u32 s18, s13, s11
	s_mul_i32 s19, s13, s11
	s_mul_i32 s21, s16, s17
	s_mul_hi_u32 s11, s16, s11
	s_mul_hi_u32 s20, s16, s17
	s_add_u32 s11, s11, s21
	s_addc_u32 s20, 0, s20
	s_add_u32 s11, s11, s19
	s_mul_hi_u32 s12, s13, s17
	s_addc_u32 s11, s20, s18
	s_addc_u32 s12, s12, 0
	s_mul_i32 s17, s13, s17
	s_add_u32 s11, s11, s17
	s_addc_u32 s12, 0, s12
	s_add_u32 s11, s16, s11
	s_addc_u32 s12, s13, s12
	s_mul_i32 s16, s2, s12
	s_mul_hi_u32 s17, s2, s11
	s_mul_hi_u32 s13, s2, s12
	s_add_u32 s16, s17, s16
	s_addc_u32 s13, 0, s13
	s_mul_hi_u32 s18, s3, s11
	s_mul_i32 s11, s3, s11
	s_add_u32 s11, s16, s11
	s_mul_hi_u32 s17, s3, s12
	s_addc_u32 s11, s13, s18
	s_addc_u32 s13, s17, 0
	s_mul_i32 s12, s3, s12
	s_add_u32 s11, s11, s12
	s_addc_u32 s16, 0, s13
	s_mul_i32 s12, s6, s16
	s_mul_hi_u32 s13, s6, s11
	s_add_i32 s12, s13, s12
	s_mul_i32 s13, s7, s11
	s_add_i32 s17, s12, s13
	s_sub_i32 s18, s3, s17
	s_mul_i32 s12, s6, s11
	s_sub_u32 s19, s2, s12
	s_cselect_b64 s[12:13], -1, 0
	s_subb_u32 s18, s18, s7
	s_sub_u32 s20, s19, s6
	s_subb_u32 s18, s18, 0
	s_cmp_ge_u32 s18, s7
	s_cselect_b32 s21, -1, 0
	s_cmp_ge_u32 s20, s6
	s_cselect_b32 s20, -1, 0
	s_cmp_eq_u32 s18, s7
	s_cselect_b32 s18, s20, s21
	s_add_u32 s20, s11, 1
	s_addc_u32 s21, s16, 0
	s_add_u32 s22, s11, 2
	s_addc_u32 s23, s16, 0
	s_cmp_lg_u32 s18, 0
	s_cselect_b32 s18, s22, s20
	s_cselect_b32 s20, s23, s21
	s_cmp_lg_u64 s[12:13], 0
	s_subb_u32 s3, s3, s17
	s_cmp_ge_u32 s3, s7
	s_cselect_b32 s12, -1, 0
	s_cmp_ge_u32 s19, s6
	s_cselect_b32 s13, -1, 0
	s_cmp_eq_u32 s3, s7
	s_cselect_b32 s3, s13, s12
	s_cmp_lg_u32 s3, 0
	s_cselect_b32 s13, s20, s16
	s_cselect_b32 s12, s18, s11
	s_cbranch_execnz .LBB1_3
.LBB1_2:
	v_cvt_f32_u32_e32 v1, s6
	s_sub_i32 s3, 0, s6
	s_mov_b32 s13, 0
	v_rcp_iflag_f32_e32 v1, v1
	s_nop 0
	v_mul_f32_e32 v1, 0x4f7ffffe, v1
	v_cvt_u32_f32_e32 v1, v1
	s_nop 0
	v_readfirstlane_b32 s7, v1
	s_mul_i32 s3, s3, s7
	s_mul_hi_u32 s3, s7, s3
	s_add_i32 s7, s7, s3
	s_mul_hi_u32 s3, s2, s7
	s_mul_i32 s11, s3, s6
	s_sub_i32 s11, s2, s11
	s_add_i32 s7, s3, 1
	s_sub_i32 s12, s11, s6
	s_cmp_ge_u32 s11, s6
	s_cselect_b32 s3, s7, s3
	s_cselect_b32 s11, s12, s11
	s_add_i32 s7, s3, 1
	s_cmp_ge_u32 s11, s6
	s_cselect_b32 s12, s7, s3
.LBB1_3:
	s_or_b64 s[14:15], s[12:13], s[4:5]
	s_mov_b32 s14, 0
	s_cmp_lg_u64 s[14:15], 0
	s_cbranch_scc0 .LBB1_183
; %bb.4:
	v_cvt_f32_u32_e32 v1, s4
	v_cvt_f32_u32_e32 v2, s5
	s_sub_u32 s3, 0, s4
	s_subb_u32 s7, 0, s5
	v_fmamk_f32 v1, v2, 0x4f800000, v1
	v_rcp_f32_e32 v1, v1
	s_nop 0
	v_mul_f32_e32 v1, 0x5f7ffffc, v1
	v_mul_f32_e32 v2, 0x2f800000, v1
	v_trunc_f32_e32 v2, v2
	v_fmamk_f32 v1, v2, 0xcf800000, v1
	v_cvt_u32_f32_e32 v2, v2
	v_cvt_u32_f32_e32 v1, v1
	v_readfirstlane_b32 s11, v2
	v_readfirstlane_b32 s16, v1
	s_mul_i32 s17, s3, s11
	s_mul_hi_u32 s19, s3, s16
	s_mul_i32 s18, s7, s16
	s_add_i32 s17, s19, s17
	s_add_i32 s17, s17, s18
	s_mul_i32 s20, s3, s16
	s_mul_i32 s19, s16, s17
	s_mul_hi_u32 s21, s16, s20
	s_mul_hi_u32 s18, s16, s17
	s_add_u32 s19, s21, s19
	s_addc_u32 s18, 0, s18
	s_mul_hi_u32 s22, s11, s20
	s_mul_i32 s20, s11, s20
	s_add_u32 s19, s19, s20
	s_mul_hi_u32 s21, s11, s17
	s_addc_u32 s18, s18, s22
	s_addc_u32 s19, s21, 0
	s_mul_i32 s17, s11, s17
	s_add_u32 s17, s18, s17
	s_addc_u32 s18, 0, s19
	s_add_u32 s16, s16, s17
	s_addc_u32 s11, s11, s18
	s_mul_i32 s17, s3, s11
	s_mul_hi_u32 s18, s3, s16
	s_add_i32 s17, s18, s17
	s_mul_i32 s7, s7, s16
	s_add_i32 s17, s17, s7
	s_mul_i32 s3, s3, s16
	s_mul_hi_u32 s18, s11, s3
	s_mul_i32 s19, s11, s3
	s_mul_i32 s21, s16, s17
	s_mul_hi_u32 s3, s16, s3
	s_mul_hi_u32 s20, s16, s17
	s_add_u32 s3, s3, s21
	s_addc_u32 s20, 0, s20
	s_add_u32 s3, s3, s19
	s_mul_hi_u32 s7, s11, s17
	s_addc_u32 s3, s20, s18
	s_addc_u32 s7, s7, 0
	s_mul_i32 s17, s11, s17
	s_add_u32 s3, s3, s17
	s_addc_u32 s7, 0, s7
	s_add_u32 s3, s16, s3
	s_addc_u32 s7, s11, s7
	s_mul_i32 s16, s12, s7
	s_mul_hi_u32 s17, s12, s3
	s_mul_hi_u32 s11, s12, s7
	s_add_u32 s16, s17, s16
	s_addc_u32 s11, 0, s11
	s_mul_hi_u32 s18, s13, s3
	s_mul_i32 s3, s13, s3
	s_add_u32 s3, s16, s3
	s_mul_hi_u32 s17, s13, s7
	s_addc_u32 s3, s11, s18
	s_addc_u32 s11, s17, 0
	s_mul_i32 s7, s13, s7
	s_add_u32 s3, s3, s7
	s_addc_u32 s7, 0, s11
	s_mul_i32 s7, s4, s7
	s_mul_hi_u32 s11, s4, s3
	s_add_i32 s7, s11, s7
	s_mul_i32 s11, s5, s3
	s_add_i32 s7, s7, s11
	s_sub_i32 s11, s13, s7
	s_mul_i32 s16, s4, s3
	s_sub_u32 s18, s12, s16
	s_cselect_b64 s[16:17], -1, 0
	s_subb_u32 s11, s11, s5
	s_sub_u32 s19, s18, s4
	s_subb_u32 s11, s11, 0
	s_cmp_ge_u32 s11, s5
	s_cselect_b32 s20, -1, 0
	s_cmp_ge_u32 s19, s4
	s_cselect_b32 s19, -1, 0
	s_cmp_eq_u32 s11, s5
	s_cselect_b32 s11, s19, s20
	s_add_u32 s19, s3, 1
	s_add_u32 s20, s3, 2
	s_cmp_lg_u32 s11, 0
	s_cselect_b32 s11, s20, s19
	s_cmp_lg_u64 s[16:17], 0
	s_subb_u32 s7, s13, s7
	s_cmp_ge_u32 s7, s5
	s_cselect_b32 s13, -1, 0
	s_cmp_ge_u32 s18, s4
	s_cselect_b32 s16, -1, 0
	s_cmp_eq_u32 s7, s5
	s_cselect_b32 s5, s16, s13
	s_cmp_lg_u32 s5, 0
	s_cselect_b32 s18, s11, s3
	s_load_dwordx2 s[16:17], s[0:1], 0x40
	s_cbranch_execnz .LBB1_6
.LBB1_5:
	v_cvt_f32_u32_e32 v1, s4
	s_sub_i32 s3, 0, s4
	v_rcp_iflag_f32_e32 v1, v1
	s_nop 0
	v_mul_f32_e32 v1, 0x4f7ffffe, v1
	v_cvt_u32_f32_e32 v1, v1
	s_nop 0
	v_readfirstlane_b32 s5, v1
	s_mul_i32 s3, s3, s5
	s_mul_hi_u32 s3, s5, s3
	s_add_i32 s5, s5, s3
	s_mul_hi_u32 s3, s12, s5
	s_mul_i32 s7, s3, s4
	s_sub_i32 s7, s12, s7
	s_add_i32 s5, s3, 1
	s_sub_i32 s11, s7, s4
	s_cmp_ge_u32 s7, s4
	s_cselect_b32 s3, s5, s3
	s_cselect_b32 s7, s11, s7
	s_add_i32 s5, s3, 1
	s_cmp_ge_u32 s7, s4
	s_cselect_b32 s18, s5, s3
.LBB1_6:
	s_mul_i32 s3, s12, s6
	s_sub_i32 s2, s2, s3
	s_mul_i32 s3, s18, s4
	s_mul_i32 s2, s8, s2
	s_sub_i32 s6, s12, s3
	s_lshl_b32 s12, s18, 6
	s_ashr_i32 s3, s2, 31
	s_bfe_i64 s[4:5], s[8:9], 0x200000
	s_add_u32 s4, s2, s4
	s_addc_u32 s5, s3, s5
	s_bfe_i64 s[8:9], s[10:11], 0x200000
	v_mov_b64_e32 v[4:5], s[4:5]
	v_cmp_lt_i64_e32 vcc, s[8:9], v[4:5]
	s_and_b64 s[10:11], vcc, exec
	s_cselect_b32 s10, s8, s4
	s_waitcnt lgkmcnt(0)
	s_bfe_i64 s[14:15], s[16:17], 0x200000
	v_cmp_gt_i64_e64 s[8:9], s[2:3], 0
	s_and_b64 s[8:9], s[8:9], exec
	s_cselect_b32 s9, s3, 0
	s_cselect_b32 s8, s2, 0
	v_mov_b64_e32 v[4:5], s[14:15]
	v_cmp_lt_i64_e32 vcc, s[8:9], v[4:5]
	s_and_b64 s[2:3], vcc, exec
	s_cselect_b32 s3, s9, s15
	s_cselect_b32 s2, s8, s14
	s_bfe_i64 s[10:11], s[10:11], 0x200000
	v_mov_b64_e32 v[6:7], s[2:3]
	v_cmp_gt_i64_e32 vcc, s[10:11], v[6:7]
	s_and_b64 s[16:17], vcc, exec
	s_cselect_b32 s17, s11, s3
	s_cselect_b32 s16, s10, s2
	v_cmp_lt_i64_e32 vcc, s[16:17], v[4:5]
	v_lshrrev_b32_e32 v77, 6, v0
	v_bfe_u32 v1, v0, 3, 3
	s_and_b64 s[18:19], vcc, exec
	v_lshl_or_b32 v2, v77, 3, v1
	s_cselect_b32 s7, s16, s14
	s_sub_i32 s64, s7, s2
	v_add_u32_e32 v38, s12, v2
	v_lshlrev_b32_e32 v1, 2, v0
	s_mov_b64 s[4:5], 0
	s_cmp_gt_i32 s64, 0
	v_ashrrev_i32_e32 v39, 31, v38
	s_cbranch_scc0 .LBB1_8
; %bb.7:
	s_mov_b64 s[4:5], -1
.LBB1_8:
	v_and_b32_e32 v76, 28, v1
	s_lshl_b32 s33, s6, 6
	v_mov_b32_e32 v1, 0
	s_andn2_b64 vcc, exec, s[4:5]
	v_mov_b32_e32 v41, 0
	v_mov_b32_e32 v40, 0
	v_mov_b32_e32 v43, 0
	v_mov_b32_e32 v42, 0
	v_mov_b32_e32 v45, 0
	v_mov_b32_e32 v44, 0
	v_mov_b32_e32 v47, 0
	v_mov_b32_e32 v46, 0
	v_mov_b32_e32 v49, 0
	v_mov_b32_e32 v48, 0
	v_mov_b32_e32 v51, 0
	v_mov_b32_e32 v50, 0
	v_mov_b32_e32 v53, 0
	v_mov_b32_e32 v52, 0
	v_mov_b32_e32 v55, 0
	v_mov_b32_e32 v54, 0
	v_mov_b32_e32 v57, 0
	v_mov_b32_e32 v56, 0
	v_mov_b32_e32 v59, 0
	v_mov_b32_e32 v58, 0
	v_mov_b32_e32 v61, 0
	v_mov_b32_e32 v60, 0
	v_mov_b32_e32 v63, 0
	v_mov_b32_e32 v62, 0
	v_mov_b32_e32 v65, 0
	v_mov_b32_e32 v64, 0
	v_mov_b32_e32 v67, 0
	v_mov_b32_e32 v66, 0
	v_mov_b32_e32 v69, 0
	v_mov_b32_e32 v68, 0
	v_mov_b32_e32 v71, 0
	v_mov_b32_e32 v70, 0
	s_cbranch_vccnz .LBB1_85
; %bb.9:
	s_load_dwordx4 s[4:7], s[0:1], 0x58
	s_load_dwordx2 s[18:19], s[0:1], 0x70
	s_load_dword s13, s[0:1], 0x68
	v_and_b32_e32 v3, 63, v0
	v_lshl_add_u32 v78, v0, 1, 0
	s_waitcnt lgkmcnt(0)
	s_bfe_i64 s[14:15], s[6:7], 0x200000
	v_mov_b64_e32 v[4:5], s[14:15]
	v_cmp_lt_i64_e32 vcc, s[8:9], v[4:5]
	s_and_b64 s[16:17], vcc, exec
	s_cselect_b32 s7, s9, s15
	s_cselect_b32 s16, s8, s6
	v_mov_b32_e32 v6, s16
	v_mov_b32_e32 v7, s7
	v_cmp_gt_i64_e32 vcc, s[10:11], v[6:7]
	s_and_b64 s[8:9], vcc, exec
	s_cselect_b32 s9, s11, s7
	s_cselect_b32 s8, s10, s16
	v_cmp_lt_i64_e32 vcc, s[8:9], v[4:5]
	s_and_b64 s[10:11], vcc, exec
	s_cselect_b32 s6, s8, s6
	s_sub_i32 s65, s6, s16
	s_load_dwordx4 s[8:11], s[0:1], 0x30
	s_load_dwordx2 s[14:15], s[0:1], 0x48
	s_add_i32 s6, s64, -1
	s_lshr_b32 s66, s6, 5
	s_mul_i32 s6, s16, s19
	s_waitcnt lgkmcnt(0)
	s_mul_hi_u32 s11, s16, s18
	s_add_i32 s6, s11, s6
	s_mul_i32 s7, s7, s18
	s_add_i32 s7, s6, s7
	s_mul_i32 s6, s16, s18
	s_lshl_b64 s[6:7], s[6:7], 1
	s_add_u32 s4, s4, s6
	s_addc_u32 s5, s5, s7
	s_lshl_b64 s[2:3], s[2:3], 1
	s_add_u32 s2, s8, s2
	v_mul_lo_u32 v6, s14, v39
	v_mul_lo_u32 v7, s15, v38
	v_mad_u64_u32 v[4:5], s[6:7], s14, v38, 0
	s_addc_u32 s3, s9, s3
	v_add3_u32 v5, v5, v6, v7
	v_lshl_add_u64 v[72:73], v[4:5], 1, s[2:3]
	s_sub_i32 s2, s10, 64
	s_cmp_gt_i32 s12, s2
	s_cselect_b64 s[20:21], -1, 0
	s_sub_i32 s67, s64, 32
	s_sub_i32 s68, s65, 32
	s_sub_i32 s2, s13, 64
	v_or_b32_e32 v4, s33, v3
	s_cmp_gt_i32 s33, s2
	s_cselect_b64 s[22:23], -1, 0
	v_cmp_gt_u32_e64 s[2:3], s13, v4
	s_lshl_b64 s[24:25], s[14:15], 5
	s_lshl_b64 s[26:27], s[14:15], 6
	s_mul_i32 s13, s15, 0x60
	s_mul_hi_u32 s15, s14, 0x60
	s_add_i32 s29, s15, s13
	s_mul_i32 s28, s14, 0x60
	s_mul_i32 s13, s19, 12
	s_mul_hi_u32 s14, s18, 12
	s_add_i32 s37, s14, s13
	s_mul_i32 s13, s19, 20
	s_mul_hi_u32 s14, s18, 20
	s_add_i32 s41, s14, s13
	s_mul_i32 s13, s19, 24
	s_mul_hi_u32 s14, s18, 24
	s_add_i32 s43, s14, s13
	s_mul_i32 s13, s19, 28
	s_mul_hi_u32 s14, s18, 28
	s_add_i32 s45, s14, s13
	s_mul_i32 s13, s19, 36
	s_mul_hi_u32 s14, s18, 36
	s_add_i32 s49, s14, s13
	s_mul_i32 s13, s19, 40
	s_mul_hi_u32 s14, s18, 40
	v_add_u32_e32 v3, 16, v38
	s_add_i32 s51, s14, s13
	s_mul_i32 s13, s19, 44
	s_mul_hi_u32 s14, s18, 44
	v_cmp_gt_u32_e64 s[6:7], s10, v3
	v_add_u32_e32 v3, 32, v38
	s_add_i32 s53, s14, s13
	s_mul_i32 s13, s19, 48
	s_mul_hi_u32 s14, s18, 48
	v_and_b32_e32 v0, 7, v0
	v_ashrrev_i32_e32 v5, 31, v4
	s_movk_i32 s12, 0x48
	v_cmp_gt_u32_e64 s[8:9], s10, v3
	v_add_u32_e32 v3, 48, v38
	s_add_i32 s55, s14, s13
	s_mul_i32 s13, s19, 52
	s_mul_hi_u32 s14, s18, 52
	v_lshl_add_u32 v0, v0, 3, 0
	v_mov_b32_e32 v6, v1
	v_mov_b32_e32 v7, v1
	v_lshl_add_u32 v8, v76, 1, 0
	v_lshl_add_u64 v[74:75], v[4:5], 1, s[4:5]
	v_mul_u32_u24_e32 v9, 0x48, v2
	v_cmp_gt_u32_e64 s[4:5], s10, v38
	v_cmp_gt_u32_e64 s[10:11], s10, v3
	s_add_i32 s57, s14, s13
	s_mul_i32 s13, s19, 56
	s_mul_hi_u32 s14, s18, 56
	v_mad_u32_u24 v79, v2, s12, 0
	v_add_u32_e32 v80, 0x1200, v0
	v_mov_b32_e32 v0, v1
	v_mov_b32_e32 v2, v1
	v_mov_b32_e32 v3, v1
	v_mov_b32_e32 v4, v1
	v_mov_b32_e32 v5, v1
	v_mov_b64_e32 v[24:25], v[6:7]
	s_add_i32 s59, s14, s13
	s_mul_i32 s13, s19, 60
	s_mul_hi_u32 s14, s18, 60
	v_add_u32_e32 v81, v8, v9
	v_mov_b64_e32 v[22:23], v[4:5]
	v_mov_b64_e32 v[20:21], v[2:3]
	v_mov_b64_e32 v[18:19], v[0:1]
	v_mov_b64_e32 v[8:9], v[6:7]
	s_lshl_b64 s[30:31], s[18:19], 2
	s_lshl_b64 s[34:35], s[18:19], 3
	s_mul_i32 s36, s18, 12
	s_lshl_b64 s[38:39], s[18:19], 4
	s_mul_i32 s40, s18, 20
	s_mul_i32 s42, s18, 24
	s_mul_i32 s44, s18, 28
	s_lshl_b64 s[46:47], s[18:19], 5
	s_mul_i32 s48, s18, 36
	s_mul_i32 s50, s18, 40
	s_mul_i32 s52, s18, 44
	s_mul_i32 s54, s18, 48
	s_mul_i32 s56, s18, 52
	s_mul_i32 s58, s18, 56
	s_add_i32 s61, s14, s13
	s_mul_i32 s60, s18, 60
	s_mov_b32 s71, 0
	s_mov_b32 s69, 0xffff
	s_mov_b32 s70, 0x5040100
	v_mov_b64_e32 v[6:7], v[4:5]
	v_mov_b64_e32 v[4:5], v[2:3]
	v_mov_b64_e32 v[2:3], v[0:1]
	v_mov_b32_e32 v70, v1
	v_mov_b32_e32 v71, v1
	v_mov_b32_e32 v68, v1
	v_mov_b32_e32 v69, v1
	v_mov_b32_e32 v66, v1
	v_mov_b32_e32 v67, v1
	v_mov_b32_e32 v64, v1
	v_mov_b32_e32 v65, v1
	v_mov_b32_e32 v62, v1
	v_mov_b32_e32 v63, v1
	v_mov_b32_e32 v60, v1
	v_mov_b32_e32 v61, v1
	v_mov_b32_e32 v58, v1
	v_mov_b32_e32 v59, v1
	v_mov_b32_e32 v56, v1
	v_mov_b32_e32 v57, v1
	v_mov_b32_e32 v54, v1
	v_mov_b32_e32 v55, v1
	v_mov_b32_e32 v52, v1
	v_mov_b32_e32 v53, v1
	v_mov_b32_e32 v50, v1
	v_mov_b32_e32 v51, v1
	v_mov_b32_e32 v48, v1
	v_mov_b32_e32 v49, v1
	v_mov_b32_e32 v46, v1
	v_mov_b32_e32 v47, v1
	v_mov_b32_e32 v44, v1
	v_mov_b32_e32 v45, v1
	v_mov_b32_e32 v42, v1
	v_mov_b32_e32 v43, v1
	v_mov_b32_e32 v40, v1
	v_mov_b32_e32 v41, v1
.LBB1_10:                               ; =>This Loop Header: Depth=1
                                        ;     Child Loop BB1_83 Depth 2
	s_lshl_b32 s72, s71, 5
	s_cmp_gt_i32 s72, s67
	v_or_b32_e32 v0, s72, v76
	s_cselect_b64 s[12:13], -1, 0
	v_lshl_add_u64 v[26:27], v[0:1], 1, v[72:73]
	s_or_b64 s[12:13], s[20:21], s[12:13]
	s_and_b64 vcc, exec, s[12:13]
	v_lshl_add_u64 v[28:29], v[26:27], 0, s[24:25]
	s_cbranch_vccnz .LBB1_12
; %bb.11:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[14:15], v[28:29], 0, s[24:25]
	v_lshl_add_u64 v[16:17], v[14:15], 0, s[24:25]
	global_load_dwordx2 v[10:11], v[26:27], off
	global_load_dwordx2 v[12:13], v[28:29], off
	s_nop 0
	global_load_dwordx2 v[14:15], v[14:15], off
	s_nop 0
	global_load_dwordx2 v[16:17], v[16:17], off
	s_waitcnt vmcnt(3)
	v_bfi_b32 v10, s69, v10, v10
	s_waitcnt vmcnt(2)
	v_bfi_b32 v12, s69, v12, v12
	s_waitcnt vmcnt(1)
	v_bfi_b32 v14, s69, v14, v14
	s_waitcnt vmcnt(0)
	v_bfi_b32 v16, s69, v16, v16
	s_cbranch_execz .LBB1_13
	s_branch .LBB1_46
.LBB1_12:                               ;   in Loop: Header=BB1_10 Depth=1
                                        ; implicit-def: $vgpr10_vgpr11_vgpr12_vgpr13_vgpr14_vgpr15_vgpr16_vgpr17
.LBB1_13:                               ;   in Loop: Header=BB1_10 Depth=1
	v_cmp_gt_u32_e32 vcc, s64, v0
	v_and_b32_e32 v18, 0xffff0000, v18
	s_and_b64 s[14:15], s[4:5], vcc
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_15
; %bb.14:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v10, v[26:27], off
	s_waitcnt vmcnt(0)
	v_bfi_b32 v18, s69, v10, v18
.LBB1_15:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_or_b32_e32 v10, 1, v0
	v_cmp_gt_u32_e64 s[12:13], s64, v10
	v_and_b32_e32 v18, 0xffff, v18
	s_and_b64 s[16:17], s[4:5], s[12:13]
	s_and_saveexec_b64 s[14:15], s[16:17]
	s_cbranch_execz .LBB1_17
; %bb.16:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v10, v[26:27], off offset:2
	s_waitcnt vmcnt(0)
	v_perm_b32 v18, v10, v18, s70
.LBB1_17:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[14:15]
	v_or_b32_e32 v10, 2, v0
	v_cmp_gt_u32_e64 s[14:15], s64, v10
	v_and_b32_e32 v19, 0xffff0000, v19
	s_and_b64 s[62:63], s[4:5], s[14:15]
	s_and_saveexec_b64 s[16:17], s[62:63]
	s_cbranch_execz .LBB1_19
; %bb.18:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v10, v[26:27], off offset:4
	s_waitcnt vmcnt(0)
	v_bfi_b32 v19, s69, v10, v19
.LBB1_19:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[16:17]
	v_or_b32_e32 v0, 3, v0
	v_cmp_gt_u32_e64 s[16:17], s64, v0
	v_and_b32_e32 v19, 0xffff, v19
	s_and_b64 s[74:75], s[4:5], s[16:17]
	s_and_saveexec_b64 s[62:63], s[74:75]
	s_cbranch_execz .LBB1_21
; %bb.20:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[26:27], off offset:6
	s_waitcnt vmcnt(0)
	v_perm_b32 v19, v0, v19, s70
.LBB1_21:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[62:63]
	v_and_b32_e32 v20, 0xffff0000, v20
	s_and_b64 s[74:75], s[6:7], vcc
	s_and_saveexec_b64 s[62:63], s[74:75]
	s_cbranch_execz .LBB1_23
; %bb.22:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[28:29], off
	s_waitcnt vmcnt(0)
	v_bfi_b32 v20, s69, v0, v20
.LBB1_23:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[62:63]
	v_and_b32_e32 v20, 0xffff, v20
	s_and_b64 s[74:75], s[6:7], s[12:13]
	s_and_saveexec_b64 s[62:63], s[74:75]
	s_cbranch_execz .LBB1_25
; %bb.24:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[28:29], off offset:2
	s_waitcnt vmcnt(0)
	v_perm_b32 v20, v0, v20, s70
.LBB1_25:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[62:63]
	v_and_b32_e32 v21, 0xffff0000, v21
	s_and_b64 s[74:75], s[6:7], s[14:15]
	s_and_saveexec_b64 s[62:63], s[74:75]
	s_cbranch_execz .LBB1_27
; %bb.26:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[28:29], off offset:4
	s_waitcnt vmcnt(0)
	v_bfi_b32 v21, s69, v0, v21
.LBB1_27:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[62:63]
	v_and_b32_e32 v21, 0xffff, v21
	s_and_b64 s[74:75], s[6:7], s[16:17]
	s_and_saveexec_b64 s[62:63], s[74:75]
	s_cbranch_execz .LBB1_29
; %bb.28:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[28:29], off offset:6
	s_waitcnt vmcnt(0)
	v_perm_b32 v21, v0, v21, s70
.LBB1_29:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[62:63]
	v_and_b32_e32 v22, 0xffff0000, v22
	s_and_b64 s[74:75], s[8:9], vcc
	v_lshl_add_u64 v[10:11], v[26:27], 0, s[26:27]
	s_and_saveexec_b64 s[62:63], s[74:75]
	s_cbranch_execz .LBB1_31
; %bb.30:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[10:11], off
	s_waitcnt vmcnt(0)
	v_bfi_b32 v22, s69, v0, v22
.LBB1_31:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[62:63]
	v_and_b32_e32 v22, 0xffff, v22
	s_and_b64 s[74:75], s[8:9], s[12:13]
	s_and_saveexec_b64 s[62:63], s[74:75]
	s_cbranch_execz .LBB1_33
; %bb.32:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[10:11], off offset:2
	s_waitcnt vmcnt(0)
	v_perm_b32 v22, v0, v22, s70
.LBB1_33:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[62:63]
	v_and_b32_e32 v23, 0xffff0000, v23
	s_and_b64 s[74:75], s[8:9], s[14:15]
	s_and_saveexec_b64 s[62:63], s[74:75]
	s_cbranch_execz .LBB1_35
; %bb.34:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[10:11], off offset:4
	s_waitcnt vmcnt(0)
	v_bfi_b32 v23, s69, v0, v23
.LBB1_35:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[62:63]
	v_and_b32_e32 v23, 0xffff, v23
	s_and_b64 s[74:75], s[8:9], s[16:17]
	s_and_saveexec_b64 s[62:63], s[74:75]
	s_cbranch_execz .LBB1_37
; %bb.36:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[10:11], off offset:6
	s_waitcnt vmcnt(0)
	v_perm_b32 v23, v0, v23, s70
.LBB1_37:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[62:63]
	v_and_b32_e32 v24, 0xffff0000, v24
	s_and_b64 s[74:75], s[10:11], vcc
	v_lshl_add_u64 v[10:11], v[26:27], 0, s[28:29]
	s_and_saveexec_b64 s[62:63], s[74:75]
	s_cbranch_execz .LBB1_39
; %bb.38:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[10:11], off
	s_waitcnt vmcnt(0)
	v_bfi_b32 v24, s69, v0, v24
.LBB1_39:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[62:63]
	v_and_b32_e32 v24, 0xffff, v24
	s_and_b64 s[62:63], s[10:11], s[12:13]
	s_and_saveexec_b64 s[12:13], s[62:63]
	s_cbranch_execz .LBB1_41
; %bb.40:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[10:11], off offset:2
	s_waitcnt vmcnt(0)
	v_perm_b32 v24, v0, v24, s70
.LBB1_41:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_and_b32_e32 v25, 0xffff0000, v25
	s_and_b64 s[14:15], s[10:11], s[14:15]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_43
; %bb.42:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[10:11], off offset:4
	s_waitcnt vmcnt(0)
	v_bfi_b32 v25, s69, v0, v25
.LBB1_43:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_and_b32_e32 v25, 0xffff, v25
	s_and_b64 s[14:15], s[10:11], s[16:17]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_45
; %bb.44:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v0, v[10:11], off offset:6
	s_waitcnt vmcnt(0)
	v_perm_b32 v25, v0, v25, s70
.LBB1_45:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_mov_b64_e32 v[10:11], v[18:19]
	v_mov_b64_e32 v[12:13], v[20:21]
	v_mov_b64_e32 v[14:15], v[22:23]
	v_mov_b64_e32 v[16:17], v[24:25]
.LBB1_46:                               ;   in Loop: Header=BB1_10 Depth=1
	v_or_b32_e32 v0, s72, v77
	v_mad_u64_u32 v[18:19], s[12:13], s18, v0, 0
	v_mov_b32_e32 v20, v19
	v_mad_u64_u32 v[20:21], s[12:13], s19, v0, v[20:21]
	s_cmp_gt_i32 s72, s68
	s_cselect_b64 s[12:13], -1, 0
	v_mov_b32_e32 v19, v20
	s_or_b64 s[12:13], s[12:13], s[22:23]
	v_lshl_add_u64 v[26:27], v[18:19], 1, v[74:75]
	s_and_b64 vcc, exec, s[12:13]
	s_cbranch_vccnz .LBB1_48
; %bb.47:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[20:21], v[26:27], 0, s[30:31]
	global_load_ushort v18, v[26:27], off
	global_load_ushort v19, v[20:21], off
	v_lshl_add_u64 v[20:21], v[20:21], 0, s[30:31]
	s_mov_b64 s[12:13], -1
	s_waitcnt vmcnt(0)
	v_perm_b32 v18, v19, v18, s70
	global_load_ushort v19, v[20:21], off
	v_lshl_add_u64 v[20:21], v[20:21], 0, s[30:31]
	global_load_ushort v22, v[20:21], off
	v_lshl_add_u64 v[20:21], v[20:21], 0, s[30:31]
	global_load_ushort v24, v[20:21], off
	s_waitcnt vmcnt(1)
	v_perm_b32 v19, v22, v19, s70
	v_lshl_add_u64 v[22:23], v[20:21], 0, s[30:31]
	global_load_ushort v20, v[22:23], off
	v_lshl_add_u64 v[22:23], v[22:23], 0, s[30:31]
	global_load_ushort v21, v[22:23], off
	v_lshl_add_u64 v[22:23], v[22:23], 0, s[30:31]
	s_waitcnt vmcnt(1)
	v_perm_b32 v20, v20, v24, s70
	global_load_ushort v24, v[22:23], off
	v_lshl_add_u64 v[22:23], v[22:23], 0, s[30:31]
	global_load_ushort v28, v[22:23], off
	s_waitcnt vmcnt(1)
	v_perm_b32 v21, v24, v21, s70
	v_lshl_add_u64 v[24:25], v[22:23], 0, s[30:31]
	global_load_ushort v22, v[24:25], off
	v_lshl_add_u64 v[24:25], v[24:25], 0, s[30:31]
	global_load_ushort v23, v[24:25], off
	v_lshl_add_u64 v[24:25], v[24:25], 0, s[30:31]
	s_waitcnt vmcnt(1)
	v_perm_b32 v22, v22, v28, s70
	global_load_ushort v28, v[24:25], off
	v_lshl_add_u64 v[24:25], v[24:25], 0, s[30:31]
	global_load_ushort v30, v[24:25], off
	s_waitcnt vmcnt(1)
	v_perm_b32 v23, v28, v23, s70
	v_lshl_add_u64 v[28:29], v[24:25], 0, s[30:31]
	global_load_ushort v24, v[28:29], off
	v_lshl_add_u64 v[28:29], v[28:29], 0, s[30:31]
	global_load_ushort v25, v[28:29], off
	s_waitcnt vmcnt(1)
	v_perm_b32 v24, v24, v30, s70
	s_waitcnt vmcnt(0)
	v_bfi_b32 v25, s69, v25, v9
	s_cbranch_execz .LBB1_49
	s_branch .LBB1_80
.LBB1_48:                               ;   in Loop: Header=BB1_10 Depth=1
	s_mov_b64 s[12:13], 0
                                        ; implicit-def: $vgpr18_vgpr19_vgpr20_vgpr21_vgpr22_vgpr23_vgpr24_vgpr25
.LBB1_49:                               ;   in Loop: Header=BB1_10 Depth=1
	v_cmp_gt_u32_e32 vcc, s65, v0
	v_and_b32_e32 v2, 0xffff0000, v2
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_51
; %bb.50:                               ;   in Loop: Header=BB1_10 Depth=1
	global_load_ushort v18, v[26:27], off
	s_waitcnt vmcnt(0)
	v_bfi_b32 v2, s69, v18, v2
.LBB1_51:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 2, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v2, 0xffff, v2
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_53
; %bb.52:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[30:31]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_perm_b32 v2, v18, v2, s70
.LBB1_53:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 4, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v3, 0xffff0000, v3
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_55
; %bb.54:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[34:35]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_bfi_b32 v3, s69, v18, v3
.LBB1_55:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 6, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v3, 0xffff, v3
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_57
; %bb.56:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[36:37]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_perm_b32 v3, v18, v3, s70
.LBB1_57:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 8, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v4, 0xffff0000, v4
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_59
; %bb.58:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[38:39]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_bfi_b32 v4, s69, v18, v4
.LBB1_59:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 10, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v4, 0xffff, v4
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_61
; %bb.60:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[40:41]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_perm_b32 v4, v18, v4, s70
.LBB1_61:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 12, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v5, 0xffff0000, v5
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_63
; %bb.62:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[42:43]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_bfi_b32 v5, s69, v18, v5
.LBB1_63:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 14, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v5, 0xffff, v5
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_65
; %bb.64:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[44:45]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_perm_b32 v5, v18, v5, s70
.LBB1_65:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_or_b32_e32 v18, 16, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v6, 0xffff0000, v6
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_67
; %bb.66:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[46:47]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_bfi_b32 v6, s69, v18, v6
.LBB1_67:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 18, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v6, 0xffff, v6
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_69
; %bb.68:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[48:49]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_perm_b32 v6, v18, v6, s70
.LBB1_69:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 20, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v7, 0xffff0000, v7
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_71
; %bb.70:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[50:51]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_bfi_b32 v7, s69, v18, v7
.LBB1_71:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 22, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v7, 0xffff, v7
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_73
; %bb.72:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[52:53]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_perm_b32 v7, v18, v7, s70
.LBB1_73:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 24, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v8, 0xffff0000, v8
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_75
; %bb.74:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[54:55]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_bfi_b32 v8, s69, v18, v8
.LBB1_75:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 26, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v8, 0xffff, v8
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_77
; %bb.76:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[56:57]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_perm_b32 v8, v18, v8, s70
.LBB1_77:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_add_u32_e32 v18, 28, v0
	v_cmp_gt_u32_e32 vcc, s65, v18
	v_and_b32_e32 v9, 0xffff0000, v9
	s_and_b64 s[14:15], vcc, s[2:3]
	s_and_saveexec_b64 s[12:13], s[14:15]
	s_cbranch_execz .LBB1_79
; %bb.78:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[18:19], v[26:27], 0, s[58:59]
	global_load_ushort v18, v[18:19], off
	s_waitcnt vmcnt(0)
	v_bfi_b32 v9, s69, v18, v9
.LBB1_79:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[12:13]
	v_and_b32_e32 v9, 0xffff, v9
	v_add_u32_e32 v0, 30, v0
	v_cmp_gt_u32_e32 vcc, s65, v0
	v_mov_b64_e32 v[24:25], v[8:9]
	s_and_b64 s[12:13], vcc, s[2:3]
	v_mov_b64_e32 v[22:23], v[6:7]
	v_mov_b64_e32 v[20:21], v[4:5]
	v_mov_b64_e32 v[18:19], v[2:3]
.LBB1_80:                               ;   in Loop: Header=BB1_10 Depth=1
	s_and_saveexec_b64 s[14:15], s[12:13]
	s_cbranch_execz .LBB1_82
; %bb.81:                               ;   in Loop: Header=BB1_10 Depth=1
	v_lshl_add_u64 v[2:3], v[26:27], 0, s[60:61]
	global_load_ushort v0, v[2:3], off
	s_waitcnt vmcnt(0)
	v_perm_b32 v25, v0, v25, s70
	v_mov_b64_e32 v[2:3], v[18:19]
	v_mov_b64_e32 v[4:5], v[20:21]
	v_mov_b64_e32 v[6:7], v[22:23]
	v_mov_b64_e32 v[8:9], v[24:25]
.LBB1_82:                               ;   in Loop: Header=BB1_10 Depth=1
	s_or_b64 exec, exec, s[14:15]
	v_add_u32_e32 v0, 0x800, v81
	s_barrier
	ds_write2_b64 v81, v[10:11], v[12:13] offset1:144
	ds_write2_b64 v0, v[14:15], v[16:17] offset0:32 offset1:176
	ds_write_b16 v78, v2 offset:4608
	ds_write_b16_d16_hi v78, v2 offset:4864
	ds_write_b16 v78, v3 offset:5120
	ds_write_b16_d16_hi v78, v3 offset:5376
	ds_write_b16 v78, v4 offset:5632
	ds_write_b16_d16_hi v78, v4 offset:5888
	ds_write_b16 v78, v5 offset:6144
	ds_write_b16_d16_hi v78, v5 offset:6400
	ds_write_b16 v78, v6 offset:6656
	ds_write_b16_d16_hi v78, v6 offset:6912
	ds_write_b16 v78, v7 offset:7168
	ds_write_b16_d16_hi v78, v7 offset:7424
	ds_write_b16 v78, v8 offset:7680
	ds_write_b16_d16_hi v78, v8 offset:7936
	ds_write_b16 v78, v9 offset:8192
	ds_write_b16_d16_hi v78, v9 offset:8448
	s_mov_b32 s12, -4
	v_mov_b32_e32 v0, v80
	v_mov_b32_e32 v82, v79
	s_waitcnt lgkmcnt(0)
	s_barrier
.LBB1_83:                               ;   Parent Loop BB1_10 Depth=1
                                        ; =>  This Inner Loop Header: Depth=2
	v_add_u32_e32 v83, 0x800, v82
	ds_read2_b64 v[84:87], v83 offset0:32 offset1:176
	ds_read2_b64 v[18:21], v82 offset1:144
	ds_read2_b64 v[34:37], v0 offset1:8
	ds_read2_b64 v[30:33], v0 offset0:16 offset1:24
	ds_read2_b64 v[26:29], v0 offset0:32 offset1:40
	ds_read2_b64 v[22:25], v0 offset0:48 offset1:56
	s_waitcnt lgkmcnt(4)
	v_and_b32_e32 v88, 0xffff0000, v18
	v_lshlrev_b32_e32 v90, 16, v18
	v_alignbit_b32 v83, v19, v18, 16
	v_and_b32_e32 v18, 0xffff0000, v19
	v_and_b32_e32 v92, 0xffff0000, v20
	v_lshlrev_b32_e32 v94, 16, v20
	v_alignbit_b32 v19, v21, v20, 16
	v_and_b32_e32 v20, 0xffff0000, v21
	s_waitcnt lgkmcnt(3)
	v_and_b32_e32 v97, 0xffff0000, v34
	v_lshlrev_b32_e32 v96, 16, v34
	v_alignbit_b32 v21, v35, v34, 16
	v_and_b32_e32 v99, 0xffff0000, v36
	v_lshlrev_b32_e32 v98, 16, v36
	v_alignbit_b32 v36, v37, v36, 16
	v_alignbit_b32 v91, v87, v86, 16
	v_and_b32_e32 v35, 0xffff0000, v35
	v_and_b32_e32 v37, 0xffff0000, v37
	s_waitcnt lgkmcnt(2)
	v_and_b32_e32 v101, 0xffff0000, v30
	v_lshlrev_b32_e32 v100, 16, v30
	v_alignbit_b32 v30, v31, v30, 16
	v_and_b32_e32 v105, 0xffff0000, v32
	v_lshlrev_b32_e32 v104, 16, v32
	v_alignbit_b32 v32, v33, v32, 16
	v_alignbit_b32 v89, v85, v84, 16
	v_lshlrev_b32_e32 v112, 16, v84
	v_lshlrev_b32_e32 v114, 16, v86
	v_and_b32_e32 v34, 0xffff0000, v21
	v_and_b32_e32 v36, 0xffff0000, v36
	v_pk_fma_f32 v[70:71], v[90:91], v[96:97], v[70:71] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[66:67], v[90:91], v[98:99], v[66:67] op_sel_hi:[0,1,1]
	s_waitcnt lgkmcnt(1)
	v_and_b32_e32 v103, 0xffff0000, v26
	v_lshlrev_b32_e32 v102, 16, v26
	v_and_b32_e32 v31, 0xffff0000, v31
	v_alignbit_b32 v26, v27, v26, 16
	v_and_b32_e32 v33, 0xffff0000, v33
	v_and_b32_e32 v107, 0xffff0000, v28
	v_lshlrev_b32_e32 v106, 16, v28
	v_alignbit_b32 v28, v29, v28, 16
	v_and_b32_e32 v84, 0xffff0000, v84
	v_and_b32_e32 v86, 0xffff0000, v86
	v_pk_fma_f32 v[62:63], v[94:95], v[96:97], v[62:63] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[58:59], v[94:95], v[98:99], v[58:59] op_sel_hi:[0,1,1]
	v_and_b32_e32 v30, 0xffff0000, v30
	v_and_b32_e32 v32, 0xffff0000, v32
	v_and_b32_e32 v120, 0xffff0000, v83
	v_pk_fma_f32 v[68:69], v[90:91], v[34:35], v[68:69] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[64:65], v[90:91], v[36:37], v[64:65] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[60:61], v[94:95], v[34:35], v[60:61] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[56:57], v[94:95], v[36:37], v[56:57] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[54:55], v[112:113], v[96:97], v[54:55] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[52:53], v[112:113], v[34:35], v[52:53] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[50:51], v[112:113], v[98:99], v[50:51] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[48:49], v[112:113], v[36:37], v[48:49] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[46:47], v[114:115], v[96:97], v[46:47] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[34:35], v[114:115], v[34:35], v[44:45] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[42:43], v[114:115], v[98:99], v[42:43] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[36:37], v[114:115], v[36:37], v[40:41] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[40:41], v[88:89], v[100:101], v[70:71] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[44:45], v[88:89], v[104:105], v[66:67] op_sel_hi:[0,1,1]
	v_and_b32_e32 v27, 0xffff0000, v27
	v_and_b32_e32 v29, 0xffff0000, v29
	s_waitcnt lgkmcnt(0)
	v_and_b32_e32 v109, 0xffff0000, v22
	v_lshlrev_b32_e32 v108, 16, v22
	v_and_b32_e32 v111, 0xffff0000, v24
	v_lshlrev_b32_e32 v110, 16, v24
	v_alignbit_b32 v22, v23, v22, 16
	v_alignbit_b32 v24, v25, v24, 16
	v_and_b32_e32 v26, 0xffff0000, v26
	v_and_b32_e32 v28, 0xffff0000, v28
	v_and_b32_e32 v122, 0xffff0000, v19
	v_pk_fma_f32 v[62:63], v[92:93], v[100:101], v[62:63] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[58:59], v[92:93], v[104:105], v[58:59] op_sel_hi:[0,1,1]
	v_and_b32_e32 v90, 0xffff0000, v89
	v_and_b32_e32 v94, 0xffff0000, v91
	v_pk_fma_f32 v[66:67], v[88:89], v[30:31], v[68:69] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[64:65], v[88:89], v[32:33], v[64:65] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[60:61], v[92:93], v[30:31], v[60:61] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[56:57], v[92:93], v[32:33], v[56:57] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[54:55], v[84:85], v[100:101], v[54:55] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[52:53], v[84:85], v[30:31], v[52:53] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[50:51], v[84:85], v[104:105], v[50:51] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[48:49], v[84:85], v[32:33], v[48:49] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[40:41], v[120:121], v[102:103], v[40:41] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[44:45], v[120:121], v[106:107], v[44:45] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[46:47], v[86:87], v[100:101], v[46:47] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[30:31], v[86:87], v[30:31], v[34:35] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[34:35], v[86:87], v[104:105], v[42:43] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[32:33], v[86:87], v[32:33], v[36:37] op_sel_hi:[0,1,1]
	s_add_i32 s12, s12, 4
	v_and_b32_e32 v23, 0xffff0000, v23
	v_and_b32_e32 v25, 0xffff0000, v25
	v_and_b32_e32 v116, 0xffff0000, v85
	v_and_b32_e32 v118, 0xffff0000, v87
	v_and_b32_e32 v22, 0xffff0000, v22
	v_and_b32_e32 v24, 0xffff0000, v24
	v_pk_fma_f32 v[62:63], v[122:123], v[102:103], v[62:63] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[58:59], v[122:123], v[106:107], v[58:59] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[70:71], v[18:19], v[108:109], v[40:41] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[36:37], v[120:121], v[26:27], v[66:67] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[66:67], v[18:19], v[110:111], v[44:45] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[40:41], v[120:121], v[28:29], v[64:65] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[42:43], v[122:123], v[26:27], v[60:61] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[44:45], v[122:123], v[28:29], v[56:57] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[54:55], v[90:91], v[102:103], v[54:55] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[52:53], v[90:91], v[26:27], v[52:53] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[50:51], v[90:91], v[106:107], v[50:51] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[48:49], v[90:91], v[28:29], v[48:49] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[46:47], v[94:95], v[102:103], v[46:47] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[26:27], v[94:95], v[26:27], v[30:31] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[30:31], v[94:95], v[106:107], v[34:35] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[28:29], v[94:95], v[28:29], v[32:33] op_sel_hi:[0,1,1]
	v_add_u32_e32 v82, 8, v82
	v_add_u32_e32 v0, 0x200, v0
	s_cmp_gt_u32 s12, 27
	v_pk_fma_f32 v[62:63], v[20:21], v[108:109], v[62:63] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[58:59], v[20:21], v[110:111], v[58:59] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[68:69], v[18:19], v[22:23], v[36:37] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[64:65], v[18:19], v[24:25], v[40:41] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[60:61], v[20:21], v[22:23], v[42:43] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[56:57], v[20:21], v[24:25], v[44:45] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[54:55], v[116:117], v[108:109], v[54:55] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[52:53], v[116:117], v[22:23], v[52:53] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[50:51], v[116:117], v[110:111], v[50:51] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[48:49], v[116:117], v[24:25], v[48:49] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[46:47], v[118:119], v[108:109], v[46:47] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[44:45], v[118:119], v[22:23], v[26:27] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[42:43], v[118:119], v[110:111], v[30:31] op_sel_hi:[0,1,1]
	v_pk_fma_f32 v[40:41], v[118:119], v[24:25], v[28:29] op_sel_hi:[0,1,1]
	s_cbranch_scc0 .LBB1_83
; %bb.84:                               ;   in Loop: Header=BB1_10 Depth=1
	s_add_i32 s12, s71, 1
	v_mov_b64_e32 v[24:25], v[16:17]
	s_cmp_eq_u32 s71, s66
	s_mov_b32 s71, s12
	v_mov_b64_e32 v[22:23], v[14:15]
	v_mov_b64_e32 v[20:21], v[12:13]
	v_mov_b64_e32 v[18:19], v[10:11]
	s_cbranch_scc0 .LBB1_10
.LBB1_85:
	s_load_dwordx8 s[16:23], s[0:1], 0x80
	v_or_b32_e32 v2, s33, v76
	s_waitcnt lgkmcnt(0)
	v_mul_lo_u32 v3, s23, v38
	v_mul_lo_u32 v6, s22, v39
	v_mad_u64_u32 v[4:5], s[0:1], s22, v38, 0
	v_mov_b32_e32 v0, s16
	v_mov_b32_e32 v1, s17
	v_add3_u32 v5, v5, v6, v3
	v_ashrrev_i32_e32 v3, 31, v2
	v_lshl_add_u64 v[0:1], v[4:5], 2, v[0:1]
	v_cmp_gt_u32_e64 s[14:15], s18, v38
	v_cmp_gt_u32_e64 s[12:13], s20, v2
	v_lshl_add_u64 v[0:1], v[2:3], 2, v[0:1]
	s_and_b64 s[2:3], s[14:15], s[12:13]
	s_and_saveexec_b64 s[0:1], s[2:3]
	s_cbranch_execz .LBB1_88
; %bb.86:
	flat_load_dword v5, v[0:1] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[2:3], 0
.LBB1_87:                               ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v70, v5
	global_atomic_cmpswap v3, v[0:1], v[4:5], off sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e32 vcc, v3, v5
	s_or_b64 s[2:3], vcc, s[2:3]
	v_mov_b32_e32 v5, v3
	s_andn2_b64 exec, exec, s[2:3]
	s_cbranch_execnz .LBB1_87
.LBB1_88:
	s_or_b64 exec, exec, s[0:1]
	v_or_b32_e32 v3, 1, v2
	v_cmp_gt_u32_e64 s[10:11], s20, v3
	s_and_b64 s[2:3], s[14:15], s[10:11]
	s_and_saveexec_b64 s[0:1], s[2:3]
	s_cbranch_execz .LBB1_91
; %bb.89:
	v_lshl_add_u64 v[4:5], v[0:1], 0, 4
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[2:3], 0
.LBB1_90:                               ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v71, v5
	global_atomic_cmpswap v3, v[0:1], v[4:5], off offset:4 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e32 vcc, v3, v5
	s_or_b64 s[2:3], vcc, s[2:3]
	v_mov_b32_e32 v5, v3
	s_andn2_b64 exec, exec, s[2:3]
	s_cbranch_execnz .LBB1_90
.LBB1_91:
	s_or_b64 exec, exec, s[0:1]
	v_or_b32_e32 v3, 2, v2
	v_cmp_gt_u32_e64 s[8:9], s20, v3
	s_and_b64 s[2:3], s[14:15], s[8:9]
	s_and_saveexec_b64 s[0:1], s[2:3]
	s_cbranch_execz .LBB1_94
; %bb.92:
	v_lshl_add_u64 v[4:5], v[0:1], 0, 8
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[2:3], 0
.LBB1_93:                               ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v68, v5
	global_atomic_cmpswap v3, v[0:1], v[4:5], off offset:8 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e32 vcc, v3, v5
	s_or_b64 s[2:3], vcc, s[2:3]
	v_mov_b32_e32 v5, v3
	s_andn2_b64 exec, exec, s[2:3]
	s_cbranch_execnz .LBB1_93
.LBB1_94:
	s_or_b64 exec, exec, s[0:1]
	v_or_b32_e32 v3, 3, v2
	v_cmp_gt_u32_e64 s[6:7], s20, v3
	s_and_b64 s[2:3], s[14:15], s[6:7]
	s_and_saveexec_b64 s[0:1], s[2:3]
	s_cbranch_execz .LBB1_97
; %bb.95:
	v_lshl_add_u64 v[4:5], v[0:1], 0, 12
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[2:3], 0
.LBB1_96:                               ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v69, v5
	global_atomic_cmpswap v3, v[0:1], v[4:5], off offset:12 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e32 vcc, v3, v5
	s_or_b64 s[2:3], vcc, s[2:3]
	v_mov_b32_e32 v5, v3
	s_andn2_b64 exec, exec, s[2:3]
	s_cbranch_execnz .LBB1_96
.LBB1_97:
	s_or_b64 exec, exec, s[0:1]
	v_or_b32_e32 v3, 32, v2
	v_cmp_gt_u32_e64 s[4:5], s20, v3
	s_and_b64 s[2:3], s[14:15], s[4:5]
	s_and_saveexec_b64 s[0:1], s[2:3]
	s_cbranch_execz .LBB1_100
; %bb.98:
	s_mov_b64 s[2:3], 0x80
	v_lshl_add_u64 v[4:5], v[0:1], 0, s[2:3]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[2:3], 0
.LBB1_99:                               ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v66, v5
	global_atomic_cmpswap v3, v[0:1], v[4:5], off offset:128 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e32 vcc, v3, v5
	s_or_b64 s[2:3], vcc, s[2:3]
	v_mov_b32_e32 v5, v3
	s_andn2_b64 exec, exec, s[2:3]
	s_cbranch_execnz .LBB1_99
.LBB1_100:
	s_or_b64 exec, exec, s[0:1]
	v_or_b32_e32 v3, 33, v2
	v_cmp_gt_u32_e64 s[2:3], s20, v3
	s_and_b64 s[16:17], s[14:15], s[2:3]
	s_and_saveexec_b64 s[0:1], s[16:17]
	s_cbranch_execz .LBB1_103
; %bb.101:
	s_mov_b64 s[16:17], 0x84
	v_lshl_add_u64 v[4:5], v[0:1], 0, s[16:17]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[16:17], 0
.LBB1_102:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v67, v5
	global_atomic_cmpswap v3, v[0:1], v[4:5], off offset:132 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e32 vcc, v3, v5
	s_or_b64 s[16:17], vcc, s[16:17]
	v_mov_b32_e32 v5, v3
	s_andn2_b64 exec, exec, s[16:17]
	s_cbranch_execnz .LBB1_102
.LBB1_103:
	s_or_b64 exec, exec, s[0:1]
	v_or_b32_e32 v3, 34, v2
	v_cmp_gt_u32_e64 s[0:1], s20, v3
	s_and_b64 s[24:25], s[14:15], s[0:1]
	s_and_saveexec_b64 s[16:17], s[24:25]
	s_cbranch_execz .LBB1_106
; %bb.104:
	s_mov_b64 s[24:25], 0x88
	v_lshl_add_u64 v[4:5], v[0:1], 0, s[24:25]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_105:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v64, v5
	global_atomic_cmpswap v3, v[0:1], v[4:5], off offset:136 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e32 vcc, v3, v5
	s_or_b64 s[24:25], vcc, s[24:25]
	v_mov_b32_e32 v5, v3
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_105
.LBB1_106:
	s_or_b64 exec, exec, s[16:17]
	v_or_b32_e32 v2, 35, v2
	v_cmp_gt_u32_e32 vcc, s20, v2
	s_and_b64 s[14:15], s[14:15], vcc
	s_and_saveexec_b64 s[16:17], s[14:15]
	s_cbranch_execz .LBB1_109
; %bb.107:
	s_mov_b64 s[14:15], 0x8c
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[14:15]
	flat_load_dword v3, v[2:3] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[20:21], 0
.LBB1_108:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v2, v65, v3
	global_atomic_cmpswap v2, v[0:1], v[2:3], off offset:140 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[14:15], v2, v3
	s_or_b64 s[20:21], s[14:15], s[20:21]
	v_mov_b32_e32 v3, v2
	s_andn2_b64 exec, exec, s[20:21]
	s_cbranch_execnz .LBB1_108
.LBB1_109:
	s_or_b64 exec, exec, s[16:17]
	v_add_u32_e32 v2, 16, v38
	v_cmp_gt_u32_e64 s[14:15], s18, v2
	s_and_b64 s[16:17], s[14:15], s[12:13]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_112
; %bb.110:
	s_lshl_b64 s[16:17], s[22:23], 6
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	flat_load_dword v5, v[2:3] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_111:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v62, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_111
.LBB1_112:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[16:17], s[14:15], s[10:11]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_115
; %bb.113:
	s_lshl_b64 s[16:17], s[22:23], 6
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	v_lshl_add_u64 v[4:5], v[2:3], 0, 4
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_114:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v63, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:4 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_114
.LBB1_115:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[16:17], s[14:15], s[8:9]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_118
; %bb.116:
	s_lshl_b64 s[16:17], s[22:23], 6
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	v_lshl_add_u64 v[4:5], v[2:3], 0, 8
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_117:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v60, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:8 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_117
.LBB1_118:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[16:17], s[14:15], s[6:7]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_121
; %bb.119:
	s_lshl_b64 s[16:17], s[22:23], 6
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	v_lshl_add_u64 v[4:5], v[2:3], 0, 12
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_120:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v61, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:12 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_120
.LBB1_121:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[16:17], s[14:15], s[4:5]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_124
; %bb.122:
	s_lshl_b64 s[16:17], s[22:23], 6
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	s_mov_b64 s[16:17], 0x80
	v_lshl_add_u64 v[4:5], v[2:3], 0, s[16:17]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_123:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v58, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:128 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_123
.LBB1_124:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[16:17], s[14:15], s[2:3]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_127
; %bb.125:
	s_lshl_b64 s[16:17], s[22:23], 6
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	s_mov_b64 s[16:17], 0x84
	v_lshl_add_u64 v[4:5], v[2:3], 0, s[16:17]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_126:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v59, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:132 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_126
.LBB1_127:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[16:17], s[14:15], s[0:1]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_130
; %bb.128:
	s_lshl_b64 s[16:17], s[22:23], 6
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	s_mov_b64 s[16:17], 0x88
	v_lshl_add_u64 v[4:5], v[2:3], 0, s[16:17]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_129:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v56, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:136 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_129
.LBB1_130:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[14:15], s[14:15], vcc
	s_and_saveexec_b64 s[16:17], s[14:15]
	s_cbranch_execz .LBB1_133
; %bb.131:
	s_lshl_b64 s[14:15], s[22:23], 6
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[14:15]
	s_mov_b64 s[14:15], 0x8c
	v_lshl_add_u64 v[4:5], v[2:3], 0, s[14:15]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[20:21], 0
.LBB1_132:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v57, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:140 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[14:15], v4, v5
	s_or_b64 s[20:21], s[14:15], s[20:21]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[20:21]
	s_cbranch_execnz .LBB1_132
.LBB1_133:
	s_or_b64 exec, exec, s[16:17]
	v_add_u32_e32 v2, 32, v38
	v_cmp_gt_u32_e64 s[14:15], s18, v2
	s_and_b64 s[16:17], s[14:15], s[12:13]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_136
; %bb.134:
	s_lshl_b64 s[16:17], s[22:23], 7
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	flat_load_dword v5, v[2:3] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_135:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v54, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_135
.LBB1_136:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[16:17], s[14:15], s[10:11]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_139
; %bb.137:
	s_lshl_b64 s[16:17], s[22:23], 7
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	v_lshl_add_u64 v[4:5], v[2:3], 0, 4
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_138:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v55, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:4 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_138
.LBB1_139:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[16:17], s[14:15], s[8:9]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_142
; %bb.140:
	s_lshl_b64 s[16:17], s[22:23], 7
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	v_lshl_add_u64 v[4:5], v[2:3], 0, 8
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_141:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v52, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:8 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_141
.LBB1_142:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[16:17], s[14:15], s[6:7]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_145
; %bb.143:
	s_lshl_b64 s[16:17], s[22:23], 7
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	v_lshl_add_u64 v[4:5], v[2:3], 0, 12
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_144:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v53, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:12 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_144
.LBB1_145:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[16:17], s[14:15], s[4:5]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_148
; %bb.146:
	s_lshl_b64 s[16:17], s[22:23], 7
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	s_mov_b64 s[16:17], 0x80
	v_lshl_add_u64 v[4:5], v[2:3], 0, s[16:17]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_147:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v50, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:128 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_147
.LBB1_148:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[16:17], s[14:15], s[2:3]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_151
; %bb.149:
	s_lshl_b64 s[16:17], s[22:23], 7
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	s_mov_b64 s[16:17], 0x84
	v_lshl_add_u64 v[4:5], v[2:3], 0, s[16:17]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_150:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v51, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:132 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_150
.LBB1_151:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[16:17], s[14:15], s[0:1]
	s_and_saveexec_b64 s[20:21], s[16:17]
	s_cbranch_execz .LBB1_154
; %bb.152:
	s_lshl_b64 s[16:17], s[22:23], 7
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[16:17]
	s_mov_b64 s[16:17], 0x88
	v_lshl_add_u64 v[4:5], v[2:3], 0, s[16:17]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[24:25], 0
.LBB1_153:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v48, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:136 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[16:17], v4, v5
	s_or_b64 s[24:25], s[16:17], s[24:25]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[24:25]
	s_cbranch_execnz .LBB1_153
.LBB1_154:
	s_or_b64 exec, exec, s[20:21]
	s_and_b64 s[14:15], s[14:15], vcc
	s_and_saveexec_b64 s[16:17], s[14:15]
	s_cbranch_execz .LBB1_157
; %bb.155:
	s_lshl_b64 s[14:15], s[22:23], 7
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[14:15]
	s_mov_b64 s[14:15], 0x8c
	v_lshl_add_u64 v[4:5], v[2:3], 0, s[14:15]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[20:21], 0
.LBB1_156:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v49, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:140 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[14:15], v4, v5
	s_or_b64 s[20:21], s[14:15], s[20:21]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[20:21]
	s_cbranch_execnz .LBB1_156
.LBB1_157:
	s_or_b64 exec, exec, s[16:17]
	v_add_u32_e32 v2, 48, v38
	v_cmp_gt_u32_e64 s[14:15], s18, v2
	s_and_b64 s[12:13], s[14:15], s[12:13]
	s_mul_i32 s20, s23, 0xc0
	s_and_saveexec_b64 s[16:17], s[12:13]
	s_cbranch_execz .LBB1_160
; %bb.158:
	v_mov_b32_e32 v2, 0xc0
	v_mad_u64_u32 v[2:3], s[12:13], s22, v2, v[0:1]
	v_add_u32_e32 v3, s20, v3
	flat_load_dword v5, v[2:3] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[18:19], 0
.LBB1_159:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v46, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[12:13], v4, v5
	s_or_b64 s[18:19], s[12:13], s[18:19]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[18:19]
	s_cbranch_execnz .LBB1_159
.LBB1_160:
	s_or_b64 exec, exec, s[16:17]
	s_and_b64 s[10:11], s[14:15], s[10:11]
	s_and_saveexec_b64 s[12:13], s[10:11]
	s_cbranch_execz .LBB1_163
; %bb.161:
	v_mov_b32_e32 v2, 0xc0
	v_mad_u64_u32 v[2:3], s[10:11], s22, v2, v[0:1]
	v_add_u32_e32 v3, s20, v3
	v_lshl_add_u64 v[4:5], v[2:3], 0, 4
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[16:17], 0
.LBB1_162:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v47, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:4 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[10:11], v4, v5
	s_or_b64 s[16:17], s[10:11], s[16:17]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[16:17]
	s_cbranch_execnz .LBB1_162
.LBB1_163:
	s_or_b64 exec, exec, s[12:13]
	s_and_b64 s[8:9], s[14:15], s[8:9]
	s_and_saveexec_b64 s[10:11], s[8:9]
	s_cbranch_execz .LBB1_166
; %bb.164:
	v_mov_b32_e32 v2, 0xc0
	v_mad_u64_u32 v[2:3], s[8:9], s22, v2, v[0:1]
	v_add_u32_e32 v3, s20, v3
	v_lshl_add_u64 v[4:5], v[2:3], 0, 8
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[12:13], 0
.LBB1_165:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v44, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:8 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[8:9], v4, v5
	s_or_b64 s[12:13], s[8:9], s[12:13]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[12:13]
	s_cbranch_execnz .LBB1_165
.LBB1_166:
	s_or_b64 exec, exec, s[10:11]
	s_and_b64 s[6:7], s[14:15], s[6:7]
	s_and_saveexec_b64 s[8:9], s[6:7]
	s_cbranch_execz .LBB1_169
; %bb.167:
	v_mov_b32_e32 v2, 0xc0
	v_mad_u64_u32 v[2:3], s[6:7], s22, v2, v[0:1]
	v_add_u32_e32 v3, s20, v3
	v_lshl_add_u64 v[4:5], v[2:3], 0, 12
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[10:11], 0
.LBB1_168:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v45, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:12 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[6:7], v4, v5
	s_or_b64 s[10:11], s[6:7], s[10:11]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[10:11]
	s_cbranch_execnz .LBB1_168
.LBB1_169:
	s_or_b64 exec, exec, s[8:9]
	s_and_b64 s[4:5], s[14:15], s[4:5]
	s_and_saveexec_b64 s[6:7], s[4:5]
	s_cbranch_execz .LBB1_172
; %bb.170:
	v_mov_b32_e32 v2, 0xc0
	v_mad_u64_u32 v[2:3], s[4:5], s22, v2, v[0:1]
	v_add_u32_e32 v3, s20, v3
	s_mov_b64 s[4:5], 0x80
	v_lshl_add_u64 v[4:5], v[2:3], 0, s[4:5]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[8:9], 0
.LBB1_171:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v42, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:128 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[4:5], v4, v5
	s_or_b64 s[8:9], s[4:5], s[8:9]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[8:9]
	s_cbranch_execnz .LBB1_171
.LBB1_172:
	s_or_b64 exec, exec, s[6:7]
	s_and_b64 s[2:3], s[14:15], s[2:3]
	s_and_saveexec_b64 s[4:5], s[2:3]
	s_cbranch_execz .LBB1_175
; %bb.173:
	v_mov_b32_e32 v2, 0xc0
	v_mad_u64_u32 v[2:3], s[2:3], s22, v2, v[0:1]
	v_add_u32_e32 v3, s20, v3
	s_mov_b64 s[2:3], 0x84
	v_lshl_add_u64 v[4:5], v[2:3], 0, s[2:3]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[6:7], 0
.LBB1_174:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v43, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:132 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[2:3], v4, v5
	s_or_b64 s[6:7], s[2:3], s[6:7]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[6:7]
	s_cbranch_execnz .LBB1_174
.LBB1_175:
	s_or_b64 exec, exec, s[4:5]
	s_and_b64 s[0:1], s[14:15], s[0:1]
	s_and_saveexec_b64 s[2:3], s[0:1]
	s_cbranch_execz .LBB1_178
; %bb.176:
	v_mov_b32_e32 v2, 0xc0
	v_mad_u64_u32 v[2:3], s[0:1], s22, v2, v[0:1]
	v_add_u32_e32 v3, s20, v3
	s_mov_b64 s[0:1], 0x88
	v_lshl_add_u64 v[4:5], v[2:3], 0, s[0:1]
	flat_load_dword v5, v[4:5] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[4:5], 0
.LBB1_177:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v4, v40, v5
	global_atomic_cmpswap v4, v[2:3], v[4:5], off offset:136 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e64 s[0:1], v4, v5
	s_or_b64 s[4:5], s[0:1], s[4:5]
	v_mov_b32_e32 v5, v4
	s_andn2_b64 exec, exec, s[4:5]
	s_cbranch_execnz .LBB1_177
.LBB1_178:
	s_or_b64 exec, exec, s[2:3]
	s_and_b64 s[0:1], s[14:15], vcc
	s_and_saveexec_b64 s[2:3], s[0:1]
	s_cbranch_execz .LBB1_181
; %bb.179:
	v_mov_b32_e32 v2, 0xc0
	v_mad_u64_u32 v[0:1], s[0:1], s22, v2, v[0:1]
	v_add_u32_e32 v1, s20, v1
	s_mov_b64 s[0:1], 0x8c
	v_lshl_add_u64 v[2:3], v[0:1], 0, s[0:1]
	flat_load_dword v3, v[2:3] sc0 sc1
	s_waitcnt vmcnt(0)
	s_mov_b64 s[0:1], 0
.LBB1_180:                              ; =>This Inner Loop Header: Depth=1
	s_waitcnt lgkmcnt(0)
	v_add_f32_e32 v2, v41, v3
	global_atomic_cmpswap v2, v[0:1], v[2:3], off offset:140 sc0 sc1
	s_waitcnt vmcnt(0)
	v_cmp_eq_u32_e32 vcc, v2, v3
	s_or_b64 s[0:1], vcc, s[0:1]
	v_mov_b32_e32 v3, v2
	s_andn2_b64 exec, exec, s[0:1]
	s_cbranch_execnz .LBB1_180
.LBB1_181:
	s_endpgm
.LBB1_182:
                                        ; implicit-def: $sgpr12_sgpr13
	s_branch .LBB1_2
.LBB1_183:
                                        ; implicit-def: $sgpr18_sgpr19
	s_load_dwordx2 s[16:17], s[0:1], 0x40
	s_branch .LBB1_5
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel kiln_gemm_splitk_atomic_1
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 168
		.amdhsa_user_sgpr_count 2
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_enable_private_segment 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 124
		.amdhsa_next_free_sgpr 76
		.amdhsa_accum_offset 124
		.amdhsa_reserve_vcc 1
		.amdhsa_float_round_mode_32 0
		.amdhsa_float_round_mode_16_64 0
		.amdhsa_float_denorm_mode_32 3
		.amdhsa_float_denorm_mode_16_64 3
		.amdhsa_dx10_clamp 1
		.amdhsa_ieee_mode 1
		.amdhsa_fp16_overflow 0
		.amdhsa_tg_split 0
		.amdhsa_exception_fp_ieee_invalid_op 0
		.amdhsa_exception_fp_denorm_src 0
		.amdhsa_exception_fp_ieee_div_zero 0
		.amdhsa_exception_fp_ieee_overflow 0
		.amdhsa_exception_fp_ieee_underflow 0
		.amdhsa_exception_fp_ieee_inexact 0
		.amdhsa_exception_int_div_zero 0
	.end_amdhsa_kernel
	.text
.Lfunc_end1:
	.size	kiln_gemm_splitk_atomic_1, .Lfunc_end1-kiln_gemm_splitk_atomic_1
                                        ; -- End function
	.set kiln_gemm_splitk_atomic_1.num_vgpr, 124
	.set kiln_gemm_splitk_atomic_1.num_agpr, 0
	.set kiln_gemm_splitk_atomic_1.numbered_sgpr, 76
	.set kiln_gemm_splitk_atomic_1.num_named_barrier, 0
	.set kiln_gemm_splitk_atomic_1.private_seg_size, 0
	.set kiln_gemm_splitk_atomic_1.uses_vcc, 1
	.set kiln_gemm_splitk_atomic_1.uses_flat_scratch, 0
	.set kiln_gemm_splitk_atomic_1.has_dyn_sized_stack, 0
	.set kiln_gemm_splitk_atomic_1.has_recursion, 0
	.set kiln_gemm_splitk_atomic_1.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 9228
; TotalNumSgprs: 82
; NumVgprs: 124
; NumAgprs: 0
; TotalNumVgprs: 124
; ScratchSize: 0
; MemoryBound: 0
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 10
; VGPRBlocks: 15
; NumSGPRsForWavesPerEU: 82
; NumVGPRsForWavesPerEU: 124
; AccumOffset: 124
; Occupancy: 4
; WaveLimiterHint : 0
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 2
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 30
; COMPUTE_PGM_RSRC3_GFX90A:TG_SPLIT: 0
	.text
	.p2alignl 6, 3212836864
	.fill 256, 4, 3212836864
	.section	.AMDGPU.gpr_maximums,"",@progbits
	.set amdgpu.max_num_vgpr, 0
	.set amdgpu.max_num_agpr, 0
	.set amdgpu.max_num_sgpr, 0
	.set amdgpu.max_num_named_barrier, 0
	.text
	.type	__hip_cuid_421df60cbc8ca43,@object ; @__hip_cuid_421df60cbc8ca43
	.section	.bss,"aw",@nobits
	.globl	__hip_cuid_421df60cbc8ca43
__hip_cuid_421df60cbc8ca43:
	.byte	0                               ; 0x0
	.size	__hip_cuid_421df60cbc8ca43, 1

	.ident	"Debian clang version 22.1.8 (1~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
	.addrsig_sym __hip_cuid_421df60cbc8ca43
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .offset:         0
        .size:           64
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 64
    .max_flat_workgroup_size: 64
    .name:           kiln_gemm_splitk_atomic_0
    .private_segment_fixed_size: 0
    .sgpr_count:     28
    .sgpr_spill_count: 0
    .symbol:         kiln_gemm_splitk_atomic_0.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     12
    .vgpr_spill_count: 0
    .wavefront_size: 64
  - .agpr_count:     0
    .args:
      - .offset:         0
        .size:           168
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 168
    .max_flat_workgroup_size: 128
    .name:           kiln_gemm_splitk_atomic_1
    .private_segment_fixed_size: 0
    .sgpr_count:     82
    .sgpr_spill_count: 0
    .symbol:         kiln_gemm_splitk_atomic_1.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     124
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx950
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
