#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/emulated_gpu/hip/architecture.h"

namespace emulated_gpu::hip {

/// A code object that is malformed, or that asks for what is not modelled.
struct LoadError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// One argument of a kernel, explicit or hidden (LLVM's "User Guide for AMDGPU Backend", "Code Object V5 Metadata").
struct KernelArgument {
    std::string kind;  // "global_buffer", "by_value", "hidden_block_count_x", ...
    uint32_t offset = 0;
    uint32_t bytes = 0;

    bool is_hidden() const { return kind.starts_with("hidden_"); }
};

/// The initial mode of floating-point arithmetic: two bits each, as in COMPUTE_PGM_RSRC1.
struct FloatMode {
    uint8_t round_32 = 0;  // 0: nearest even, 1: up, 2: down, 3: zero
    uint8_t round_16_64 = 0;
    uint8_t denormals_32 = 3;  // bit 0: sources are kept, bit 1: results are kept (0: flushed)
    uint8_t denormals_16_64 = 3;
    bool dx10_clamp = true;
    bool ieee = true;
};

/// Which registers a wave finds set, in the order of the kernel descriptor's bits.
struct InitialRegisters {
    bool private_segment_buffer = false;
    bool dispatch_pointer = false;
    bool queue_pointer = false;
    bool kernel_arguments = false;
    bool dispatch_id = false;
    bool flat_scratch = false;
    bool private_segment_size = false;
    uint32_t preloaded_dwords = 0;
    uint32_t preload_offset_dwords = 0;
    uint32_t user_registers = 0;  // how many the descriptor claims
    std::array<bool, 3> workgroup_id{};
    bool workgroup_info = false;
    bool private_segment = false;
};

struct KernelDescription {
    std::string name;
    uint64_t entry = 0;  // address in the code object
    uint32_t lds_bytes = 0;
    uint32_t private_bytes = 0;
    uint32_t argument_bytes = 0;
    uint32_t most_threads = 1024;
    uint32_t wave_lanes = 64;
    uint32_t vector_registers = 0;
    uint32_t scalar_registers = 0;
    uint32_t spilled_registers = 0;
    bool dynamic_stack = false;
    FloatMode mode;
    InitialRegisters initial;
    std::vector<KernelArgument> arguments;
};

struct Symbol {
    uint64_t value = 0;
    uint64_t bytes = 0;
};

/// An ELF file for the AMD HSA system, taken apart; addresses are those the file asks for.
struct CodeObject {
    Architecture architecture;
    std::vector<uint8_t> file;   // as it was given
    std::vector<uint8_t> image;  // what is loaded, from address 0
    std::map<std::string, Symbol> functions;
    std::map<std::string, Symbol> objects;
    std::map<std::string, KernelDescription> kernels;
    std::vector<std::pair<uint64_t, uint64_t>> relocations;  // a 64-bit word at `first`: base + `second`
};

/// Takes a code object, or the first one for the processor in a bundle, apart. `size` bounds what may be read; 0: the
/// file's own headers do. Throws LoadError.
CodeObject read_code_object(std::span<const uint8_t> bytes, const std::string& processor);

/// How many bytes the code object or bundle at `data` says it has, as hipModuleLoadData is told no size; 0: it is
/// neither.
uint64_t size_of_image(const void* data);

}  // namespace emulated_gpu::hip
