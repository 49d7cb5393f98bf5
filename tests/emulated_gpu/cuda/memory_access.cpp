#include "tests/emulated_gpu/cuda/memory_access.h"

#include <algorithm>
#include <cstring>

namespace emulated_gpu {
namespace {

constexpr uint64_t kSectorBytes = 32;
constexpr uint64_t kBankBytes = 4;
constexpr uint64_t kBanks = 32;

const char* verb(Access access) {
    return access == Access::Load ? "reads" : access == Access::Store ? "writes" : "atomically changes";
}

std::string sized(Access access, uint64_t bytes) {
    return std::string(verb(access)) + " " + std::to_string(bytes) + " bytes";
}

[[noreturn]] void out_of_bounds(const Allocation* allocation, uint64_t address, uint64_t bytes, Access access,
                                int lane) {
    std::string message = sized(access, bytes) + " at " + hexadecimal(address);
    if (allocation == nullptr || address - allocation->base > allocation->bytes + 4096) {
        message += ", where there is no allocation";
    } else if (allocation->freed) {
        message += ", in an allocation that was freed";
    } else {
        message += ", byte " + std::to_string(address - allocation->base) + " of the " +
                   std::to_string(allocation->bytes) + " bytes of " + allocation->what;
    }
    throw Fault{FaultKind::IllegalAddress, message, lane};
}

Target resolve_global(Step& step, int lane, uint64_t address, uint64_t bytes, Access access) {
    Launch& launch = step.launch;
    const Allocation* allocation = launch.recent;
    if (allocation == nullptr || address - allocation->base >= allocation->bytes) {
        allocation = launch.memory.find(address);
        launch.recent = allocation != nullptr && !allocation->freed ? allocation : nullptr;
    }
    const uint64_t offset = allocation == nullptr ? 0 : address - allocation->base;
    if (allocation == nullptr || allocation->freed || offset > allocation->bytes ||
        bytes > allocation->bytes - offset) {
        out_of_bounds(allocation, address, bytes, access, lane);
    }
    if (allocation->read_only && access != Access::Load) {
        throw Fault{FaultKind::IllegalAddress, sized(access, bytes) + " of constant memory, " + allocation->what, lane};
    }
    return {Space::Global, address, allocation->data + offset, nullptr};
}

Target resolve_local(Step& step, int lane, uint64_t offset, uint64_t bytes, Access access) {
    const uint64_t end = step.frame.local_base + step.frame.function->local_bytes;
    if (offset > end || bytes > end - offset) {
        throw Fault{FaultKind::IllegalAddress,
                    sized(access, bytes) + " at byte " + std::to_string(offset) + " of the " + std::to_string(end) +
                        " bytes of local memory",
                    lane};
    }
    return {Space::Local, offset,
            step.warp.local.data() + static_cast<uint64_t>(lane) * step.warp.local_stride + offset, nullptr};
}

/// The block of the cluster that a shared address names; `offset` becomes an offset in its shared memory.
Block& block_of_shared(Step& step, int lane, uint64_t& offset) {
    if (offset >> kRankShift == 0) return step.block;
    const uint64_t rank = (offset >> kRankShift) - 1;
    auto& blocks = step.block.cluster.blocks;
    if (rank >= blocks.size()) return step.block;  // out of bounds there
    offset &= (uint64_t{1} << kRankShift) - 1;
    Block& block = *blocks[rank];
    if (&block != &step.block && block.ended) {
        throw Fault{FaultKind::IllegalAddress,
                    "uses shared memory of block rank " + std::to_string(rank) + " of the cluster, which has exited",
                    lane};
    }
    return block;
}

Target resolve_shared(Step& step, int lane, uint64_t offset, uint64_t bytes, Access access) {
    Block& block = block_of_shared(step, lane, offset);
    const uint64_t size = block.shared.size();
    if (offset > size || bytes > size - offset) {
        throw Fault{FaultKind::IllegalAddress,
                    sized(access, bytes) + " at byte " + std::to_string(offset) + " of the block's " +
                        std::to_string(size) + " bytes of shared memory",
                    lane};
    }
    return {Space::Shared, offset, block.shared.data() + offset, &block};
}

Target resolve_parameter(Step& step, int lane, uint64_t offset, uint64_t bytes, Access access) {
    const auto& parameters = step.launch.shape.parameters;
    if (access != Access::Load || offset > parameters.size() || bytes > parameters.size() - offset) {
        throw Fault{FaultKind::IllegalAddress,
                    sized(access, bytes) + " at byte " + std::to_string(offset) + " of the kernel's " +
                        std::to_string(parameters.size()) + " bytes of parameters",
                    lane};
    }
    return {Space::Parameter, offset, const_cast<uint8_t*>(parameters.data()) + offset, nullptr};
}

}  // namespace

Target resolve(Step& step, int lane, Space space, uint64_t address, uint64_t bytes, Access access) {
    if ((address & (bytes - 1)) != 0) {  // sizes are powers of two
        throw Fault{
            FaultKind::MisalignedAddress,
            sized(access, bytes) + " at " + hexadecimal(address) + ", which is no multiple of " + std::to_string(bytes),
            lane};
    }
    if (space == Space::Generic) {
        if (address - kSharedWindow < kWindowBytes)
            space = Space::Shared, address -= kSharedWindow;
        else if (address - kLocalWindow < kWindowBytes)
            space = Space::Local, address -= kLocalWindow;
        else if (address - kParameterWindow < kWindowBytes)
            space = Space::Parameter, address -= kParameterWindow;
    }
    if (space == Space::Shared) return resolve_shared(step, lane, address, bytes, access);
    if (space == Space::Local) return resolve_local(step, lane, address, bytes, access);
    if (space == Space::Parameter) return resolve_parameter(step, lane, address, bytes, access);
    return resolve_global(step, lane, address, bytes, access);
}

void read_generic(Step& step, int lane, uint64_t address, uint64_t bytes, void* out) {
    std::memcpy(out, resolve(step, lane, Space::Generic, address, bytes, Access::Load).data, bytes);
}

void count_global(Counters& counters, const LaneAddresses& access, bool store) {
    std::array<uint64_t, kLanes> starts{};
    size_t lanes = 0;
    for_lanes(access.mask, [&](int lane) { starts[lanes++] = access.address[static_cast<size_t>(lane)]; });
    std::sort(starts.begin(), starts.begin() + static_cast<ptrdiff_t>(lanes));
    uint64_t sectors = 0;
    uint64_t distinct = 0;
    uint64_t next_sector = 0;
    uint64_t next_byte = 0;
    for (size_t i = 0; i < lanes; ++i) {
        const uint64_t end = starts[i] + access.bytes;
        distinct += end - std::min(end, std::max(starts[i], next_byte));
        next_byte = std::max(next_byte, end);
        const uint64_t first = std::max(starts[i] / kSectorBytes, next_sector);
        const uint64_t last = (end - 1) / kSectorBytes;
        if (last + 1 > first) sectors += last + 1 - first;
        next_sector = std::max(next_sector, last + 1);
    }
    (store ? counters.global_store_sectors : counters.global_load_sectors) += sectors;
    (store ? counters.global_store_bytes : counters.global_load_bytes) += lanes * access.bytes;
    counters.global_fewest_sectors += (distinct + kSectorBytes - 1) / kSectorBytes;
}

void count_shared(Counters& counters, const LaneAddresses& access, bool store) {
    // 128 bytes a wavefront: accesses of 8 and 16 bytes are served for half and quarter warps at a time.
    const int lanes_at_once = access.bytes <= 4 ? 32 : static_cast<int>(128 / access.bytes);
    uint64_t requested = 0;
    for (int first = 0; first < kLanes; first += lanes_at_once) {
        std::array<std::array<uint64_t, kLanes>, kBanks> words;
        std::array<uint32_t, kBanks> count{};
        uint64_t distinct = 0;
        const uint32_t part = lanes_at_once == 32 ? kAllLanes : ((1U << lanes_at_once) - 1) << first;
        for_lanes(access.mask & part, [&](int lane) {
            requested += access.bytes;
            const uint64_t start = access.address[static_cast<size_t>(lane)] / kBankBytes;
            const uint64_t end = (access.address[static_cast<size_t>(lane)] + access.bytes - 1) / kBankBytes;
            for (uint64_t word = start; word <= end; ++word) {
                const uint64_t bank = word % kBanks;
                const auto known = words[bank].begin() + count[bank];
                if (std::find(words[bank].begin(), known, word) != known) continue;
                *known = word;
                ++count[bank];
                ++distinct;
            }
        });
        counters.shared_wavefronts += *std::max_element(count.begin(), count.end());
        counters.shared_fewest_wavefronts += (distinct + kBanks - 1) / kBanks;
    }
    (store ? counters.shared_store_bytes : counters.shared_load_bytes) += requested;
}

}  // namespace emulated_gpu
