// What a wave finds in its registers and in memory when it begins (LLVM's "User Guide for AMDGPU Backend", "Initial
// Kernel Execution State" and "Kernel Dispatch").

#include "tests/emulated_gpu/hip/wave_setup.h"

#include <algorithm>

#include "tests/emulated_gpu/hip/memory_access.h"

namespace emulated_gpu::hip {
namespace {

constexpr uint64_t kPadding = 256;  // compilers load a little more than the arguments
constexpr uint64_t kPacketBytes = 64;
constexpr uint64_t kQueueBytes = 256;
// Where the queue tells the upper halves of the apertures' addresses.
constexpr uint64_t kQueueLdsAperture = 0x40;
constexpr uint64_t kQueuePrivateAperture = 0x44;

std::string name_address(int line) {
    return "code address " + hexadecimal(static_cast<uint64_t>(line));
}

template <class T>
void put(uint8_t* to, uint64_t offset, T value) {
    std::memcpy(to + offset, &value, sizeof value);
}

uint32_t dimensions(const LaunchShape& shape) {
    for (uint32_t i = 3; i > 1; --i) {
        if (shape.grid[i - 1] > 1 || shape.workgroup[i - 1] > 1) return i;
    }
    return 1;
}

/// The value of a hidden argument; 0 for what is not there, such as a buffer of printf.
uint64_t hidden_value(const Launch& launch, const std::string& kind) {
    const LaunchShape& shape = launch.shape;
    const char axis_letter = kind.back();
    const size_t axis = axis_letter >= 'x' && axis_letter <= 'z' ? static_cast<size_t>(axis_letter - 'x') : 0;
    if (kind.starts_with("hidden_block_count_")) return shape.grid[axis];
    if (kind.starts_with("hidden_group_size_")) return shape.workgroup[axis];
    if (kind == "hidden_grid_dims") return dimensions(shape);
    if (kind == "hidden_shared_base") return kLdsAperture >> 32;
    if (kind == "hidden_private_base") return kPrivateAperture >> 32;
    if (kind == "hidden_queue_ptr") return launch.queue_address;
    if (kind == "hidden_dynamic_lds_size") return shape.dynamic_lds_bytes;
    return 0;
}

void fill_arguments(const Launch& launch, uint8_t* to) {
    const auto& given = launch.shape.arguments;
    std::memcpy(to, given.data(), std::min<size_t>(given.size(), launch.kernel.argument_bytes));
    for (const KernelArgument& argument : launch.kernel.arguments) {
        if (!argument.is_hidden()) continue;
        const uint64_t value = hidden_value(launch, argument.kind);
        std::memcpy(to + argument.offset, &value, std::min<size_t>(argument.bytes, sizeof value));
    }
}

/// hsa_kernel_dispatch_packet_t (HSA Platform System Architecture, "Kernel dispatch packet").
void fill_packet(const Launch& launch, uint8_t* to) {
    const LaunchShape& shape = launch.shape;
    put<uint16_t>(to, 2, static_cast<uint16_t>(dimensions(shape)));
    for (uint32_t i = 0; i < 3; ++i) {
        put<uint16_t>(to, 4 + 2 * i, static_cast<uint16_t>(shape.workgroup[i]));
        put<uint32_t>(to, 12 + 4 * i, shape.grid[i] * shape.workgroup[i]);
    }
    put<uint32_t>(to, 24, launch.private_bytes);
    put<uint32_t>(to, 28, launch.kernel.lds_bytes + shape.dynamic_lds_bytes);
    put<uint64_t>(to, 40, launch.arguments_address);
}

/// Hands out scalar registers from 0 on.
class ScalarCursor {
public:
    explicit ScalarCursor(Wave& wave) : wave_(wave) {}
    void add(uint32_t value) {
        if (next_ < kVcc) wave_.set_scalar(next_++, value);
    }
    void add_pair(uint64_t value) {
        add(static_cast<uint32_t>(value));
        add(static_cast<uint32_t>(value >> 32));
    }
    void skip_to(uint32_t index) { next_ = std::max(next_, index); }

private:
    Wave& wave_;
    uint32_t next_ = 0;
};

/// A descriptor of the wave's private memory: lanes interleaved dword by dword.
void add_private_descriptor(ScalarCursor& scalars) {
    scalars.add(static_cast<uint32_t>(kScratchWindow));
    scalars.add(static_cast<uint32_t>(kScratchWindow >> 32) | 1U << 31);
    scalars.add(~0U);
    scalars.add(1U << 23 | 3U << 21 | 1U << 19);
}

/// RDNA4 tells the workgroup's numbers and the wave's in trap registers 9, 7 (two halves) and 8.
void set_trap_registers(const Workgroup& group, Wave& wave) {
    wave.set_scalar(kTrapRegisters + 9, group.index[0]);
    wave.set_scalar(kTrapRegisters + 7, (group.index[1] & 0xffff) | group.index[2] << 16);
    wave.set_scalar(kTrapRegisters + 8, wave.index << 25);
}

void set_scalars(const Launch& launch, const Workgroup& group, Wave& wave) {
    const InitialRegisters& initial = launch.kernel.initial;
    ScalarCursor scalars(wave);
    if (initial.private_segment_buffer) add_private_descriptor(scalars);
    if (initial.dispatch_pointer) scalars.add_pair(launch.packet_address);
    if (initial.queue_pointer) scalars.add_pair(launch.queue_address);
    if (initial.kernel_arguments) scalars.add_pair(launch.arguments_address);
    if (initial.dispatch_id) scalars.add_pair(1);
    if (initial.flat_scratch) scalars.add_pair(kScratchWindow);
    if (initial.private_segment_size) scalars.add(launch.private_bytes);
    const auto* arguments = reinterpret_cast<const uint8_t*>(launch.arguments_address);
    for (uint32_t i = 0; i < initial.preloaded_dwords; ++i) {
        uint32_t word = 0;
        std::memcpy(&word, arguments + 4 * (initial.preload_offset_dwords + i), 4);
        scalars.add(word);
    }
    scalars.skip_to(initial.user_registers);
    const bool in_trap_registers = launch.module.object.architecture.family == Family::Rdna4;
    for (uint32_t i = 0; i < 3; ++i) {
        if (initial.workgroup_id[i] && !in_trap_registers) scalars.add(group.index[i]);
    }
    if (initial.workgroup_info) scalars.add(0);
    if (initial.private_segment) scalars.add(0);  // every wave's window begins at 0
    wave.set_pair(kExec, wave.launched_lanes);
    const Family family = launch.module.object.architecture.family;
    if (family == Family::Cdna) wave.set_pair(kFlatScratch, kScratchWindow);
    if (family == Family::Rdna4) set_trap_registers(group, wave);
}

/// Register v0 packs the work item's three numbers, ten bits each.
void set_vectors(const Launch& launch, Wave& wave) {
    const auto& extent = launch.shape.workgroup;
    for_lanes(wave.launched_lanes, [&](uint32_t lane) {
        const uint32_t item = wave.index * launch.module.wave_lanes() + lane;
        wave.vector[0].at[lane] =
            item % extent[0] | item / extent[0] % extent[1] << 10 | item / extent[0] / extent[1] << 20;
    });
    wave.vector_known[0] = wave.launched_lanes;
}

uint64_t first_lanes(uint32_t count) {
    return count == kLanes ? kAllLanes : (uint64_t{1} << count) - 1;
}

void make_wave(Launch& launch, const Workgroup& group, uint32_t index, uint32_t items, Wave& wave) {
    const uint32_t most = launch.module.wave_lanes();
    wave.index = index;
    wave.all_lanes = first_lanes(most);
    wave.launched_lanes = first_lanes(std::min(most, items - index * most));
    wave.mode = launch.kernel.mode;
    wave.special_mode = wave.mode.round_32 != 0 || wave.mode.round_16_64 != 0 || wave.mode.denormals_32 != 3 ||
                        wave.mode.denormals_16_64 != 3;
    wave.vector = std::make_unique_for_overwrite<Lanes32[]>(kHeldVectorRegisters);
    wave.scratch.resize(uint64_t{launch.private_bytes} * kLanes);
    wave.clock[index] = 1;
    wave.pc = launch.module.find_op(launch.kernel.entry);
    set_scalars(launch, group, wave);
    set_vectors(launch, wave);
}

}  // namespace

LaunchMemory::LaunchMemory(Launch& launch) : memory_(launch.memory) {
    const uint64_t argument_bytes = (launch.kernel.argument_bytes + kPadding + 63) / 64 * 64;
    storage_.resize((argument_bytes + kPacketBytes + kQueueBytes) / 8);
    auto* bytes = reinterpret_cast<uint8_t*>(storage_.data());
    launch.arguments_address = reinterpret_cast<uint64_t>(bytes);
    launch.packet_address = launch.arguments_address + argument_bytes;
    launch.queue_address = launch.packet_address + kPacketBytes;
    fill_arguments(launch, bytes);
    fill_packet(launch, bytes + argument_bytes);
    uint8_t* queue = bytes + argument_bytes + kPacketBytes;
    put<uint32_t>(queue, kQueueLdsAperture, static_cast<uint32_t>(kLdsAperture >> 32));
    put<uint32_t>(queue, kQueuePrivateAperture, static_cast<uint32_t>(kPrivateAperture >> 32));
    memory_.map_host(bytes, storage_.size() * 8, "the kernel's arguments");
}

LaunchMemory::~LaunchMemory() {
    memory_.release(reinterpret_cast<uint64_t>(storage_.data()));
}

std::unique_ptr<Workgroup> make_workgroup(Launch& launch, uint64_t number) {
    const LaunchShape& shape = launch.shape;
    auto group = std::make_unique<Workgroup>(launch);
    group->index = {static_cast<uint32_t>(number % shape.grid[0]),
                    static_cast<uint32_t>(number / shape.grid[0] % shape.grid[1]),
                    static_cast<uint32_t>(number / shape.grid[0] / shape.grid[1])};
    const uint32_t items = shape.workgroup[0] * shape.workgroup[1] * shape.workgroup[2];
    const uint32_t lanes = launch.module.wave_lanes();
    const uint32_t waves = (items + lanes - 1) / lanes;
    group->lds.resize(launch.kernel.lds_bytes + shape.dynamic_lds_bytes);
    if (launch.options.check_lds && !group->lds.empty()) {
        group->shadow = std::make_unique<SharedShadow>(group->lds.size(), waves, name_address);
    }
    group->waves.resize(waves);
    for (uint32_t i = 0; i < waves; ++i) make_wave(launch, *group, i, items, group->waves[i]);
    return group;
}

}  // namespace emulated_gpu::hip
