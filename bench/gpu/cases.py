"""The launches of run.py: every library kernel that `kiln run` can make arguments for, at several shapes.

Left out is what `kiln run` cannot make: the paged caches of attention_decode.kiln and the tables of rope.kiln, whose sizes no
option names, and tensors of 8 and 4 bits under a name of their own (gemm_quantised.kiln). The tests have them on emulated
devices.
"""

from typing import NamedTuple

FLOATS = ("f32", "bf16", "f16")


class Case(NamedTuple):
    """One launch; `small` ones are for emulated devices too."""
    file: str
    kernel: str
    definitions: str
    sizes: str
    options: tuple = ()
    small: bool = True

    def title(self):
        return " ".join(part for part in (self.kernel, self.definitions, self.sizes, *self.options) if part)


def each(file, kernel, types, definitions, small, large=(), options=()):
    """A case for each type and shape. A shape is the text of --size; types go to the generic T."""
    cases = []
    for dtype in types:
        text = ",".join(part for part in (f"T={dtype}" if dtype else "", definitions) if part)
        cases += [Case(file, kernel, text, sizes, options) for sizes in small]
        cases += [Case(file, kernel, text, sizes, options, False) for sizes in large]
    return cases


def products():
    cases = each("gemm", "gemm", FLOATS, "", ["M=1,N=1,K=1", "M=65,N=70,K=40", "M=64,N=64,K=64"],
                 ["M=128,N=128,K=128", "M=97,N=203,K=61", "M=512,N=256,K=1024", "M=1000,N=1000,K=1000", "M=16,N=4096,K=512"])
    cases += each("gemm", "gemm", ("bf16",), "activation=act.gelu", ["M=33,N=65,K=70"], ["M=512,N=512,K=512"],
                  ("--with", "bias", "--with", "residual"))
    cases += each("gemm", "gemm_batched", FLOATS, "", ["Z=2,M=20,N=30,K=17"], ["Z=8,M=128,N=256,K=192"])
    cases += each("gemm_splitk", "gemm_splitk", FLOATS, "", ["M=16,N=17,K=300"], ["M=64,N=64,K=4096", "M=33,N=65,K=2049"])
    cases += each("gemm_splitk", "gemm_splitk_atomic", ("f32", "bf16"), "", ["M=16,N=17,K=300"], ["M=64,N=64,K=4096"])
    cases += each("gemm_streamk", "gemm_streamk", ("f32", "bf16"), "", ["M=40,N=33,K=64"], ["M=512,N=640,K=512"])
    cases += each("gemm_streamk", "gemm_persistent", ("f32", "bf16"), "", ["M=40,N=33,K=64"], ["M=512,N=640,K=512"])
    cases += each("gemm_quantised", "gemm_int8", ("",), "", ["M=20,N=33,K=70"], ["M=256,N=256,K=512"])
    cases += each("swiglu_sampling", "swiglu", FLOATS, "", ["M=10,N=30,K=20"], ["M=256,N=512,K=256"])
    cases += each("matmul_layer_norm", "matmul_layer_norm", FLOATS, "N=64", ["M=10,K=20"], ["M=200,K=300"])
    cases += each("convolution", "conv2d", FLOATS, "R=3,S=3,pad=1", ["N=1,H=6,W=7,C=5,F=8,P=6,Q=7"],
                  ["N=2,H=28,W=28,C=64,F=96,P=28,Q=28"])
    return cases


def attentions():
    cases = []
    for causal in ("false", "true"):
        cases += each("attention", "attention", FLOATS, f"causal={causal},D=32,DV=32", ["B=1,H=2,HK=1,M=33,N=40"])
        for width in (64, 80, 128):
            cases += each("attention", "attention", ("bf16", "f16"), f"causal={causal},D={width},DV={width}", [],
                          ["B=2,H=6,HK=2,M=97,N=203", "B=1,H=4,HK=4,M=256,N=256"])
        cases += each("attention_backward", "attention_backward", ("f32", "bf16"), f"causal={causal},D=32",
                      ["B=1,H=2,HK=1,M=20,N=24"], ["B=1,H=4,HK=2,M=130,N=70"])
    cases += each("attention", "attention_alibi", ("f32", "bf16"), "D=32", ["B=1,H=2,M=33,N=40"], ["B=2,H=3,M=100,N=130"])
    # Decays are drawn like all numbers, so that states grow: beyond f16 soon, beyond bf16 in time.
    cases += each("linear_attention", "chunk_scan", ("f32", "bf16"), "DK=16", ["B=1,L=37,H=2,DV=12"], ["B=2,L=60,H=3,DV=64"])
    return cases


def rows():
    cases = []
    for width in (1, 70, 257):
        cases += each("softmax", "softmax", FLOATS, f"N={width}", ["M=5"])
    cases += each("softmax", "softmax", FLOATS, "N=4096", [], ["M=512"])
    cases += each("softmax", "softmax_long", FLOATS, "", ["M=3,N=700"], ["M=64,N=20000"])
    for width in (64, 200):
        cases += each("rms_norm", "rms_norm", FLOATS, f"N={width}", ["M=5"])
    cases += each("rms_norm", "rms_norm", FLOATS, "N=4096", [], ["M=512"], ("--with", "residual"))
    cases += each("layer_norm", "layer_norm", FLOATS, "N=100", ["M=5"], [], ("--with", "b"))
    cases += each("layer_norm", "layer_norm", FLOATS, "N=4096", [], ["M=300"])
    cases += each("layer_norm", "layer_norm_backward", ("f32", "bf16"), "N=64", ["M=5"], ["M=500"])
    cases += each("cross_entropy", "cross_entropy", FLOATS, "", ["M=3,V=500"], ["M=64,V=32000"])
    cases += each("cross_entropy", "cross_entropy_backward", FLOATS, "", ["M=3,V=500"], ["M=64,V=32000"])
    cases += each("reductions", "row_moments", FLOATS, "", ["M=3,N=300"], ["M=100,N=5000"])
    cases += each("reductions", "row_argmax", ("f32", "bf16", "i32"), "", ["M=3,N=300"], ["M=100,N=5000"])
    cases += each("reductions", "row_topk", FLOATS, "N=64,K=4", ["M=3"], ["M=100"])
    cases += each("reductions", "prefix_sum", ("i32", "i64", "u8"), "", ["N=300", "N=2500"], ["N=1000003"])
    cases += each("reductions", "linear_recurrence", ("",), "", ["M=3,N=100"], ["M=64,N=2000"])
    cases += each("reductions", "segment_sum", ("f32", "bf16"), "", ["R=70,N=37,S=9"], ["R=2000,N=128,S=50"])
    cases += each("jagged", "jagged_softmax", ("f32", "bf16"), "", ["R=40,N=33,B=3"], ["R=900,N=128,B=7"])
    return cases


def movements():
    cases = each("vector_add", "vector_add", (*FLOATS, "i32", "u8"), "", ["N=1", "N=255", "N=1000"], ["N=1000003"])
    cases += each("dropout", "dropout", FLOATS, "", ["N=1000"], ["N=100003"])
    cases += each("dropout", "dropout4", FLOATS, "", ["N=300"], ["N=100003"])
    cases += each("movement", "transpose_copy", (*FLOATS, "u8"), "", ["M=33,N=70"], ["M=1000,N=1003"])
    cases += each("movement", "histogram", ("",), "", ["N=500"], ["N=1000003"])
    cases += each("movement", "histogram_wide", ("",), "", ["N=500,S=20"], ["N=100003,S=1000"])
    cases += each("movement", "hadamard", FLOATS, "D=64", ["M=3"], ["M=1000"])
    cases += each("movement", "fft", ("",), "N=64", ["M=3"], ["M=500"])
    cases += each("jagged", "embedding", ("f32", "bf16"), "", ["V=20,D=40,N=11"], ["V=1000,D=512,N=300"])
    cases += each("jagged", "embedding_backward", ("f32", "bf16"), "", ["V=20,D=40,N=11"], ["V=100,D=256,N=300"])
    cases += each("swiglu_sampling", "sample", ("",), "", ["M=3,V=500"], ["M=64,V=32000"])
    return cases


def all_cases():
    return movements() + rows() + products() + attentions()
