#include "tests/emulated_gpu/hip/memory_access.h"

#include <algorithm>
#include <string>

#include "tests/emulated_gpu/hip/lds_banks.h"

namespace emulated_gpu::hip {
namespace {

constexpr uint64_t kSectorBytes = 64;  // L1 lines are fetched in halves or quarters of this size (CDNA2, CDNA3)

std::string sized(Access access, uint32_t bytes) {
    const char* verb = access == Access::Load ? "reads" : access == Access::Store ? "writes" : "atomically changes";
    return std::string(verb) + " " + std::to_string(bytes) + " bytes";
}

[[noreturn]] void out_of_bounds(const Allocation* allocation, uint64_t address, uint32_t bytes, Access access,
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

/// Hardware may be set to allow any alignment of plain accesses; compilers use no less than a dword's, atomics must be
/// aligned as a whole.
void check_alignment(uint64_t address, uint32_t bytes, Access access, int lane) {
    const uint32_t alignment = access == Access::Atomic ? bytes : std::min(bytes & (~bytes + 1), 4U);
    if (address % alignment == 0) return;
    throw Fault{
        FaultKind::MisalignedAddress,
        sized(access, bytes) + " at " + hexadecimal(address) + ", which is no multiple of " + std::to_string(alignment),
        lane};
}

}  // namespace

uint8_t* global_bytes(Step& step, int lane, uint64_t address, uint32_t bytes, Access access) {
    check_alignment(address, bytes, access, lane);
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
        throw Fault{FaultKind::IllegalAddress, sized(access, bytes) + " of read-only memory, " + allocation->what,
                    lane};
    }
    return allocation->data + offset;
}

uint8_t* lds_bytes(Step& step, int lane, uint64_t offset, uint32_t bytes, Access access) {
    const uint64_t size = step.group.lds.size();
    if (offset > size || bytes > size - offset) {
        throw Fault{FaultKind::IllegalAddress,
                    sized(access, bytes) + " at byte " + std::to_string(offset) + " of the workgroup's " +
                        std::to_string(size) + " bytes of LDS",
                    lane};
    }
    check_alignment(offset, bytes, access, lane);
    return step.group.lds.data() + offset;
}

uint8_t* scratch_dword(Step& step, uint32_t lane, uint64_t offset, Access access) {
    const uint32_t size = step.launch.private_bytes;
    if (offset >= size) {
        throw Fault{FaultKind::IllegalAddress,
                    sized(access, 4) + " at byte " + std::to_string(offset) + " of the " + std::to_string(size) +
                        " bytes of private memory",
                    static_cast<int>(lane)};
    }
    return step.wave.scratch.data() + (offset / 4 * kLanes + lane) * 4;
}

void read_scratch(Step& step, uint32_t lane, uint64_t offset, uint32_t bytes, uint8_t* data) {
    for (uint32_t i = 0; i < bytes; ++i) {
        data[i] = scratch_dword(step, lane, offset + i, Access::Load)[(offset + i) % 4];
    }
    step.launch.counters.scratch_bytes += bytes;
}

void write_scratch(Step& step, uint32_t lane, uint64_t offset, uint32_t bytes, const uint8_t* data) {
    for (uint32_t i = 0; i < bytes; ++i) {
        scratch_dword(step, lane, offset + i, Access::Store)[(offset + i) % 4] = data[i];
    }
    step.launch.counters.scratch_bytes += bytes;
}

void note_lds(Step& step, uint32_t lane, uint32_t offset, uint32_t bytes, Access access) {
    SharedShadow* shadow = step.group.shadow.get();
    if (shadow == nullptr) return;
    const Wave& wave = step.wave;
    const auto at_lane = static_cast<int>(lane);
    if (access == Access::Load) {
        shadow->read(offset, bytes, wave.index, wave.clock, step.line(), at_lane);
    } else if (access == Access::Store) {
        shadow->write(offset, bytes, wave.index, wave.clock, step.line(), at_lane);
    } else {
        shadow->read(offset, bytes, wave.index, wave.clock, step.line(), at_lane, true);
        shadow->write(offset, bytes, wave.index, wave.clock, step.line(), at_lane, true);
    }
}

void count_global(Counters& counters, const LaneAddresses& access, bool store) {
    std::array<uint64_t, kLanes> starts{};
    size_t lanes = 0;
    for_lanes(access.mask, [&](uint32_t lane) { starts[lanes++] = access.address[lane]; });
    if (!std::is_sorted(starts.begin(), starts.begin() + static_cast<ptrdiff_t>(lanes))) {
        std::sort(starts.begin(), starts.begin() + static_cast<ptrdiff_t>(lanes));
    }
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

void count_lds(Counters& counters, const LaneAddresses& access, bool store) {
    const LdsPhases& phases = lds_phases(access.bytes);
    for (uint32_t phase = 0; phase < phases.count; ++phase) {
        std::array<std::array<uint64_t, kLanes>, kLdsBanks> words;
        std::array<uint32_t, kLdsBanks> count{};
        uint64_t distinct = 0;
        for_lanes(access.mask & phases.lanes[phase], [&](uint32_t lane) {
            const uint64_t end = (access.address[lane] + access.bytes - 1) / kLdsBankBytes;
            for (uint64_t word = access.address[lane] / kLdsBankBytes; word <= end; ++word) {
                const uint64_t bank = word % kLdsBanks;
                const auto known = words[bank].begin() + count[bank];
                if (std::find(words[bank].begin(), known, word) != known) continue;  // one word is read for all
                *known = word;
                ++count[bank];
                ++distinct;
            }
        });
        counters.lds_cycles += *std::max_element(count.begin(), count.end());
        counters.lds_fewest_cycles += (distinct + kLdsBanks - 1) / kLdsBanks;
    }
    const auto lanes = static_cast<uint64_t>(std::popcount(access.mask));
    (store ? counters.lds_store_bytes : counters.lds_load_bytes) += lanes * access.bytes;
}

}  // namespace emulated_gpu::hip
