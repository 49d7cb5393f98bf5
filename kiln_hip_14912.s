	.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
	.amdhsa_code_object_version 6
	.text
	.protected	kiln_vector_add_0       ; -- Begin function kiln_vector_add_0
	.globl	kiln_vector_add_0
	.p2align	8
	.type	kiln_vector_add_0,@function
kiln_vector_add_0:                      ; @kiln_vector_add_0
; %bb.0:
	s_load_dword s7, s[4:5], 0x0
	s_load_dwordx4 s[0:3], s[4:5], 0x10
	s_waitcnt lgkmcnt(0)
	s_add_i32 s6, s6, s7
	s_lshl_b32 s6, s6, 8
	v_lshl_or_b32 v16, v0, 1, s6
	v_ashrrev_i32_e32 v17, 31, v16
	v_lshlrev_b64 v[18:19], 3, v[16:17]
	v_mov_b32_e32 v1, s1
	s_add_i32 s1, s2, 0xffffff00
	v_add_co_u32_e32 v8, vcc, s0, v18
	s_cmp_gt_i32 s6, s1
	v_addc_co_u32_e32 v9, vcc, v1, v19, vcc
	s_cbranch_scc1 .LBB0_2
; %bb.1:
	global_load_dwordx4 v[4:7], v[8:9], off
	global_load_dwordx4 v[0:3], v[8:9], off offset:1024
	s_cbranch_execz .LBB0_3
	s_branch .LBB0_12
.LBB0_2:
                                        ; implicit-def: $vgpr2_vgpr3
                                        ; implicit-def: $vgpr4_vgpr5_vgpr6_vgpr7
.LBB0_3:
	v_cmp_gt_u32_e32 vcc, s2, v16
	s_waitcnt vmcnt(1)
	v_pk_mov_b32 v[4:5], 0, 0
	s_and_saveexec_b64 s[0:1], vcc
	s_cbranch_execz .LBB0_5
; %bb.4:
	global_load_dwordx2 v[4:5], v[8:9], off
.LBB0_5:
	s_or_b64 exec, exec, s[0:1]
	v_mov_b32_e32 v6, 0
	s_waitcnt vmcnt(0)
	v_or_b32_e32 v0, 1, v16
	v_mov_b32_e32 v7, v6
	v_cmp_gt_u32_e32 vcc, s2, v0
	s_and_saveexec_b64 s[0:1], vcc
	s_cbranch_execz .LBB0_7
; %bb.6:
	global_load_dwordx2 v[6:7], v[8:9], off offset:8
.LBB0_7:
	s_or_b64 exec, exec, s[0:1]
	s_mov_b32 s0, 0
	v_or_b32_e32 v2, 0x80, v16
	v_mov_b32_e32 v0, s0
	v_mov_b32_e32 v1, s0
	v_cmp_gt_u32_e32 vcc, s2, v2
	s_and_saveexec_b64 s[0:1], vcc
	s_cbranch_execz .LBB0_9
; %bb.8:
	global_load_dwordx2 v[0:1], v[8:9], off offset:1024
.LBB0_9:
	s_or_b64 exec, exec, s[0:1]
	v_or_b32_e32 v2, 0x81, v16
	v_cmp_gt_u32_e32 vcc, s2, v2
	v_pk_mov_b32 v[2:3], 0, 0
	s_and_saveexec_b64 s[0:1], vcc
	s_cbranch_execz .LBB0_11
; %bb.10:
	global_load_dwordx2 v[2:3], v[8:9], off offset:1032
.LBB0_11:
	s_or_b64 exec, exec, s[0:1]
.LBB0_12:
	s_load_dwordx4 s[8:11], s[4:5], 0x28
	s_load_dwordx4 s[0:3], s[4:5], 0x40
	s_waitcnt lgkmcnt(0)
	v_mov_b32_e32 v8, s9
	s_add_i32 s3, s10, 0xffffff00
	v_add_co_u32_e32 v20, vcc, s8, v18
	s_cmp_gt_i32 s6, s3
	v_addc_co_u32_e32 v21, vcc, v8, v19, vcc
	s_cbranch_scc1 .LBB0_14
; %bb.13:
	global_load_dwordx4 v[12:15], v[20:21], off
	global_load_dwordx4 v[8:11], v[20:21], off offset:1024
	s_cbranch_execz .LBB0_15
	s_branch .LBB0_24
.LBB0_14:
                                        ; implicit-def: $vgpr10_vgpr11
                                        ; implicit-def: $vgpr12_vgpr13_vgpr14_vgpr15
.LBB0_15:
	v_cmp_gt_u32_e32 vcc, s10, v16
	s_waitcnt vmcnt(1)
	v_pk_mov_b32 v[12:13], 0, 0
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB0_17
; %bb.16:
	global_load_dwordx2 v[12:13], v[20:21], off
.LBB0_17:
	s_or_b64 exec, exec, s[4:5]
	v_mov_b32_e32 v14, 0
	s_waitcnt vmcnt(0)
	v_or_b32_e32 v8, 1, v16
	v_mov_b32_e32 v15, v14
	v_cmp_gt_u32_e32 vcc, s10, v8
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB0_19
; %bb.18:
	global_load_dwordx2 v[14:15], v[20:21], off offset:8
.LBB0_19:
	s_or_b64 exec, exec, s[4:5]
	s_mov_b32 s3, 0
	v_or_b32_e32 v10, 0x80, v16
	v_mov_b32_e32 v8, s3
	v_mov_b32_e32 v9, s3
	v_cmp_gt_u32_e32 vcc, s10, v10
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB0_21
; %bb.20:
	global_load_dwordx2 v[8:9], v[20:21], off offset:1024
.LBB0_21:
	s_or_b64 exec, exec, s[4:5]
	v_or_b32_e32 v10, 0x81, v16
	v_cmp_gt_u32_e32 vcc, s10, v10
	v_pk_mov_b32 v[10:11], 0, 0
	s_and_saveexec_b64 s[4:5], vcc
	s_cbranch_execz .LBB0_23
; %bb.22:
	global_load_dwordx2 v[10:11], v[20:21], off offset:1032
.LBB0_23:
	s_or_b64 exec, exec, s[4:5]
.LBB0_24:
	s_waitcnt vmcnt(0)
	v_add_f64 v[8:9], v[0:1], v[8:9]
	v_mov_b32_e32 v1, s1
	s_add_i32 s1, s2, 0xffffff00
	v_add_co_u32_e32 v0, vcc, s0, v18
	v_add_f64 v[4:5], v[4:5], v[12:13]
	v_add_f64 v[6:7], v[6:7], v[14:15]
	s_cmp_gt_i32 s6, s1
	v_addc_co_u32_e32 v1, vcc, v1, v19, vcc
	s_cbranch_scc1 .LBB0_26
; %bb.25:
	s_mov_b64 s[0:1], -1
	global_store_dwordx4 v[0:1], v[4:7], off
	global_store_dwordx2 v[0:1], v[8:9], off offset:1024
	s_cbranch_execz .LBB0_27
	s_branch .LBB0_34
.LBB0_26:
	s_mov_b64 s[0:1], 0
.LBB0_27:
	v_cmp_gt_u32_e32 vcc, s2, v16
	s_and_saveexec_b64 s[0:1], vcc
	s_cbranch_execz .LBB0_29
; %bb.28:
	global_store_dwordx2 v[0:1], v[4:5], off
.LBB0_29:
	s_or_b64 exec, exec, s[0:1]
	v_or_b32_e32 v4, 1, v16
	v_cmp_gt_u32_e32 vcc, s2, v4
	s_and_saveexec_b64 s[0:1], vcc
	s_cbranch_execz .LBB0_31
; %bb.30:
	global_store_dwordx2 v[0:1], v[6:7], off offset:8
.LBB0_31:
	s_or_b64 exec, exec, s[0:1]
	v_or_b32_e32 v4, 0x80, v16
	v_cmp_gt_u32_e32 vcc, s2, v4
	s_and_saveexec_b64 s[0:1], vcc
	s_cbranch_execz .LBB0_33
; %bb.32:
	global_store_dwordx2 v[0:1], v[8:9], off offset:1024
.LBB0_33:
	s_or_b64 exec, exec, s[0:1]
	v_or_b32_e32 v4, 0x81, v16
	v_cmp_gt_u32_e64 s[0:1], s2, v4
.LBB0_34:
	s_and_saveexec_b64 s[2:3], s[0:1]
	s_cbranch_execnz .LBB0_36
; %bb.35:
	s_endpgm
.LBB0_36:
	v_add_f64 v[2:3], v[2:3], v[10:11]
	global_store_dwordx2 v[0:1], v[2:3], off offset:1032
	s_endpgm
	.section	.rodata,"a",@progbits
	.p2align	6, 0x0
	.amdhsa_kernel kiln_vector_add_0
		.amdhsa_group_segment_fixed_size 0
		.amdhsa_private_segment_fixed_size 0
		.amdhsa_kernarg_size 88
		.amdhsa_user_sgpr_count 6
		.amdhsa_user_sgpr_private_segment_buffer 1
		.amdhsa_user_sgpr_dispatch_ptr 0
		.amdhsa_user_sgpr_queue_ptr 0
		.amdhsa_user_sgpr_kernarg_segment_ptr 1
		.amdhsa_user_sgpr_dispatch_id 0
		.amdhsa_user_sgpr_flat_scratch_init 0
		.amdhsa_user_sgpr_kernarg_preload_length 0
		.amdhsa_user_sgpr_kernarg_preload_offset 0
		.amdhsa_user_sgpr_private_segment_size 0
		.amdhsa_uses_dynamic_stack 0
		.amdhsa_system_sgpr_private_segment_wavefront_offset 0
		.amdhsa_system_sgpr_workgroup_id_x 1
		.amdhsa_system_sgpr_workgroup_id_y 0
		.amdhsa_system_sgpr_workgroup_id_z 0
		.amdhsa_system_sgpr_workgroup_info 0
		.amdhsa_system_vgpr_workitem_id 0
		.amdhsa_next_free_vgpr 22
		.amdhsa_next_free_sgpr 12
		.amdhsa_accum_offset 24
		.amdhsa_reserve_vcc 1
		.amdhsa_reserve_flat_scratch 0
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
	.size	kiln_vector_add_0, .Lfunc_end0-kiln_vector_add_0
                                        ; -- End function
	.set kiln_vector_add_0.num_vgpr, 22
	.set kiln_vector_add_0.num_agpr, 0
	.set kiln_vector_add_0.numbered_sgpr, 12
	.set kiln_vector_add_0.num_named_barrier, 0
	.set kiln_vector_add_0.private_seg_size, 0
	.set kiln_vector_add_0.uses_vcc, 1
	.set kiln_vector_add_0.uses_flat_scratch, 0
	.set kiln_vector_add_0.has_dyn_sized_stack, 0
	.set kiln_vector_add_0.has_recursion, 0
	.set kiln_vector_add_0.has_indirect_call, 0
	.section	.AMDGPU.csdata,"",@progbits
; Kernel info:
; codeLenInByte = 712
; TotalNumSgprs: 16
; NumVgprs: 22
; NumAgprs: 0
; TotalNumVgprs: 22
; ScratchSize: 0
; MemoryBound: 1
; FloatMode: 240
; IeeeMode: 1
; LDSByteSize: 0 bytes/workgroup (compile time only)
; SGPRBlocks: 1
; VGPRBlocks: 2
; NumSGPRsForWavesPerEU: 16
; NumVGPRsForWavesPerEU: 22
; AccumOffset: 24
; Occupancy: 8
; WaveLimiterHint : 1
; COMPUTE_PGM_RSRC2:SCRATCH_EN: 0
; COMPUTE_PGM_RSRC2:USER_SGPR: 6
; COMPUTE_PGM_RSRC2:TRAP_HANDLER: 0
; COMPUTE_PGM_RSRC2:TGID_X_EN: 1
; COMPUTE_PGM_RSRC2:TGID_Y_EN: 0
; COMPUTE_PGM_RSRC2:TGID_Z_EN: 0
; COMPUTE_PGM_RSRC2:TIDIG_COMP_CNT: 0
; COMPUTE_PGM_RSRC3_GFX90A:ACCUM_OFFSET: 5
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
	.type	__hip_cuid_362665d76f34def,@object ; @__hip_cuid_362665d76f34def
	.section	.bss,"aw",@nobits
	.globl	__hip_cuid_362665d76f34def
__hip_cuid_362665d76f34def:
	.byte	0                               ; 0x0
	.size	__hip_cuid_362665d76f34def, 1

	.ident	"Debian clang version 22.1.8 (1~deb12u1)"
	.section	".note.GNU-stack","",@progbits
	.addrsig
	.addrsig_sym __hip_cuid_362665d76f34def
	.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .args:
      - .offset:         0
        .size:           88
        .value_kind:     by_value
    .group_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .kernarg_segment_size: 88
    .max_flat_workgroup_size: 64
    .name:           kiln_vector_add_0
    .private_segment_fixed_size: 0
    .sgpr_count:     16
    .sgpr_spill_count: 0
    .symbol:         kiln_vector_add_0.kd
    .uniform_work_group_size: 1
    .uses_dynamic_stack: false
    .vgpr_count:     22
    .vgpr_spill_count: 0
    .wavefront_size: 64
amdhsa.target:   amdgcn-amd-amdhsa--gfx90a
amdhsa.version:
  - 1
  - 2
...

	.end_amdgpu_metadata
