// Tile IR to self-contained CUDA or HIP source. The text is compiled at run time by runtime/{cuda,hip}.
//
// Calling convention. Each phase is one `extern "C"` kernel, launched on a one-dimensional grid of one-dimensional
// blocks, a block for each program. It has a single parameter, a struct passed by value whose fields each take 8 bytes,
// so that the host packs it as an array of 64-bit slots, in this order:
//
//   first                    number of the program that block 0 runs: program = first + blockIdx.x. Long grids are
//   several
//                            launches, and sampled verification launches a part
//   extent, one a grid axis  programs along each axis of the phase's grid; programs are numbered with the last axis
//                            fastest, and the host launches no block beyond their product
//   the phase's `values`     in order: a scalar is one slot, its bits in the low bytes and zero above; a tensor is its
//                            address, its sizes, then its strides (both int64, in elements, outermost first)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/gpu/target.h"
#include "ir/kernel.h"

namespace kiln::codegen::gpu {

/// What a launch needs to know about one phase of the source.
struct PhaseSource {
    std::string symbol;               ///< an extern "C" name, unmangled
    std::vector<ir::ValueId> values;  ///< launch values to pass, in order
    int threads = 0;                  ///< of a block
    int registers = 0;                ///< of a thread, estimated
    std::int64_t shared_bytes = 0;    ///< dynamic shared memory of a block
    int stages = 1;                   ///< iterations of a loop whose loads are under way at one time
};

struct Source {
    std::string text;
    std::vector<PhaseSource> phases;
};

/// Why a kernel cannot run on a target: the need, the limit and what would work, with the place in the .kiln text.
struct Refusal {
    std::string message;
    support::Span span;
};

struct Generated {
    Source source;
    std::vector<Refusal> refusals;  ///< the source is empty if there are any
};

/// The CUDA (NVIDIA targets) or HIP (AMD targets) text of a kernel that has been through run_tile_passes.
/// Deterministic. `sources` are the texts its spans point into, for `#line`; without them there is none. Broken
/// invariants throw support::InternalError.
Generated generate(const ir::Kernel& kernel, const Target& target, const support::SourceMap* sources = nullptr);

}  // namespace kiln::codegen::gpu
