# Library kernels through the command line on an emulated device: generated, compiled, launched, and compared with their
# references on the CPU. To be sourced, with `device` set and the drivers named in the environment.
source "$KILN_SOURCE_DIR/tests/script/support.sh"
kiln=$KILN_BUILD_DIR/tools/kiln

# FILE KERNEL DEFINITIONS SIZES [optional tensors]; - is none.
cases='vector_add vector_add T=bf16 N=1000
softmax softmax T=bf16,N=257 M=5
softmax softmax_long T=f32 M=3,N=700
rms_norm rms_norm T=bf16,N=200 M=5
layer_norm layer_norm T=f32,N=100 M=5 b
layer_norm layer_norm_backward T=f32,N=64 M=5
gemm gemm T=bf16 M=65,N=70,K=40 bias
gemm gemm_batched T=f16 Z=2,M=20,N=30,K=17
gemm_splitk gemm_splitk T=f32 M=16,N=17,K=300
gemm_streamk gemm_streamk T=f32 M=40,N=33,K=64
gemm_streamk gemm_persistent T=f32 M=40,N=33,K=64
attention attention T=bf16,causal=true B=1,H=2,HK=1,M=33,N=40,D=32,DV=32
dropout dropout T=f32 N=1000
movement transpose_copy T=f32 M=33,N=70
movement histogram - N=500
movement hadamard T=f32,D=64 M=3
movement fft N=64 M=3
reductions row_moments T=f32 M=3,N=300
reductions row_argmax T=f32 M=3,N=300
reductions row_topk T=f32,N=64,K=4 M=3
reductions prefix_sum T=i32 N=300
reductions linear_recurrence - M=3,N=100
swiglu_sampling swiglu T=f32 M=10,K=20,N=30
matmul_layer_norm matmul_layer_norm T=f32,N=64 M=10,K=20'

run_library_kernels() {
    local file kernel definitions sizes optional options failed=0
    while read -r file kernel definitions sizes optional; do
        options=(--size "$sizes" --device "$device" --verify)
        [[ $definitions == - ]] || options+=(-D "$definitions")
        [[ -z $optional ]] || options+=(--with "$optional")
        if ! "$kiln" run "kiln/$file.kiln" "$kernel" "${options[@]}" >out.txt 2>&1 </dev/null; then
            printf 'kiln run kiln/%s.kiln %s %s\n' "$file" "$kernel" "${options[*]}"
            cat out.txt
            failed=1
        fi
    done <<<"$cases"
    ((failed == 0)) || fail "the kernels above are wrong on the emulated device"
}
