// Frames, groups of lanes, and what leads from one to another.

#include <algorithm>

#include "tests/emulated_gpu/cuda/execution.h"

namespace emulated_gpu {
namespace {

constexpr uint64_t kMostLocalBytes = 512 * 1024;  // of a thread, as CUDA's limit
constexpr uint32_t kMostDepth = 256;

uint32_t lane_mask_bits(SpecialRegister which, int lane) {
    const uint32_t equal = 1U << lane;
    const uint32_t less = equal - 1;
    if (which == SpecialRegister::LanemaskEq) return equal;
    if (which == SpecialRegister::LanemaskLt) return less;
    if (which == SpecialRegister::LanemaskLe) return less | equal;
    if (which == SpecialRegister::LanemaskGe) return ~less;
    return ~(less | equal);
}

uint64_t special_value(const Block& block, const Warp& warp, SpecialRegister which, int lane) {
    const LaunchShape& shape = block.launch.shape;
    const uint32_t thread = warp.index * kLanes + static_cast<uint32_t>(lane);
    switch (which) {
        case SpecialRegister::TidX:
            return thread % shape.block[0];
        case SpecialRegister::TidY:
            return thread / shape.block[0] % shape.block[1];
        case SpecialRegister::TidZ:
            return thread / shape.block[0] / shape.block[1];
        case SpecialRegister::NtidX:
            return shape.block[0];
        case SpecialRegister::NtidY:
            return shape.block[1];
        case SpecialRegister::NtidZ:
            return shape.block[2];
        case SpecialRegister::CtaidX:
            return block.index[0];
        case SpecialRegister::CtaidY:
            return block.index[1];
        case SpecialRegister::CtaidZ:
            return block.index[2];
        case SpecialRegister::NctaidX:
            return shape.grid[0];
        case SpecialRegister::NctaidY:
            return shape.grid[1];
        case SpecialRegister::NctaidZ:
            return shape.grid[2];
        case SpecialRegister::LaneId:
            return static_cast<uint64_t>(lane);
        case SpecialRegister::WarpId:
            return warp.index;
        case SpecialRegister::NwarpId:
            return block.warps.size();
        case SpecialRegister::SmId:
            return block.index[0] % 4;
        case SpecialRegister::NsmId:
            return 4;
        case SpecialRegister::LanemaskEq:
        case SpecialRegister::LanemaskLe:
        case SpecialRegister::LanemaskLt:
        case SpecialRegister::LanemaskGe:
        case SpecialRegister::LanemaskGt:
            return lane_mask_bits(which, lane);
        case SpecialRegister::TotalSharedSize:
            return block.shared.size();
        case SpecialRegister::DynamicSharedSize:
            return shape.dynamic_shared_bytes;
        case SpecialRegister::ClusterCtaidX:
        case SpecialRegister::ClusterCtaidY:
        case SpecialRegister::ClusterCtaidZ: {
            const auto axis = static_cast<size_t>(which) - static_cast<size_t>(SpecialRegister::ClusterCtaidX);
            return block.index[axis] % shape.cluster[axis];
        }
        case SpecialRegister::ClusterNctaidX:
        case SpecialRegister::ClusterNctaidY:
        case SpecialRegister::ClusterNctaidZ:
            return shape.cluster[static_cast<size_t>(which) - static_cast<size_t>(SpecialRegister::ClusterNctaidX)];
        case SpecialRegister::ClusterIdX:
        case SpecialRegister::ClusterIdY:
        case SpecialRegister::ClusterIdZ: {
            const auto axis = static_cast<size_t>(which) - static_cast<size_t>(SpecialRegister::ClusterIdX);
            return block.index[axis] / shape.cluster[axis];
        }
        case SpecialRegister::NclusterIdX:
        case SpecialRegister::NclusterIdY:
        case SpecialRegister::NclusterIdZ: {
            const auto axis = static_cast<size_t>(which) - static_cast<size_t>(SpecialRegister::NclusterIdX);
            return shape.grid[axis] / shape.cluster[axis];
        }
        case SpecialRegister::ClusterCtarank:
            return block.rank;
        case SpecialRegister::ClusterNctarank:
            return block.cluster.blocks.size();
        case SpecialRegister::IsExplicitCluster:
            return shape.in_clusters ? 1 : 0;
        case SpecialRegister::GridId:
        case SpecialRegister::Zero:
            return 0;
    }
    return 0;
}

/// Moves the lanes' local memory to a larger stride if `bytes` do not fit.
void grow_local(Warp& warp, uint64_t bytes) {
    if (bytes <= warp.local_stride) return;
    if (bytes > kMostLocalBytes) {
        throw Fault{FaultKind::IllegalAddress, "the stack of a thread needs more than 512 KiB of local memory"};
    }
    const uint64_t stride = std::min(kMostLocalBytes, std::max(bytes, 2 * warp.local_stride));
    std::vector<uint8_t> local(stride * kLanes);
    std::vector<uint8_t> written(stride * kLanes);
    for (uint64_t lane = 0; lane < kLanes; ++lane) {
        const auto from = static_cast<ptrdiff_t>(lane * warp.local_stride);
        const auto bytes_before = static_cast<ptrdiff_t>(warp.local_stride);
        const auto to = static_cast<ptrdiff_t>(lane * stride);
        std::copy_n(warp.local.begin() + from, bytes_before, local.begin() + to);
        std::copy_n(warp.local_written.begin() + from, bytes_before, written.begin() + to);
    }
    warp.local = std::move(local);
    warp.local_written = std::move(written);
    warp.local_stride = stride;
}

}  // namespace

std::shared_ptr<Frame> make_frame(Block& block, Warp& warp, const LoadedFunction& function,
                                  const std::shared_ptr<Frame>& parent) {
    auto frame = std::make_shared<Frame>();
    frame->function = &function;
    frame->parent = parent;
    frame->registers.resize(static_cast<size_t>(function.slot_count) * kLanes);
    frame->initialised.resize(function.slot_count);
    if (function.uses_wgmma) {
        frame->in_flight.resize(function.slot_count);
        frame->unfenced.resize(function.slot_count);
    }
    if (parent) {
        frame->depth = parent->depth + 1;
        frame->local_base = parent->local_base + parent->function->local_bytes;
        if (frame->depth > kMostDepth) throw Fault{FaultKind::IllegalAddress, "calls are nested more than 256 deep"};
    }
    grow_local(warp, frame->local_base + function.local_bytes);
    const auto fill = [&](uint32_t slot, auto value_of) {
        for (int lane = 0; lane < kLanes; ++lane) frame->lanes(slot)[lane] = value_of(lane);
        frame->initialised[slot] = kAllLanes;
    };
    for (const auto& [slot, bits] : function.constants) fill(slot, [bits = bits](int) { return bits; });
    for (const auto& [slot, offset] : function.local_addresses) {
        fill(slot, [at = frame->local_base + offset](int) { return at; });
    }
    for (const auto& [slot, which] : function.specials) {
        fill(slot, [&, which = which](int lane) { return special_value(block, warp, which, lane); });
    }
    return frame;
}

void leave_others_behind(Step& step) {
    const uint32_t others = step.group.mask & ~step.mask;
    if (others == 0) return;
    Group rest = step.group;
    rest.mask = others;
    rest.pc = step.group.pc + 1;
    step.group.mask = step.mask;
    step.warp.groups.push_back(rest);  // room for 32 groups is reserved, so that references stay valid
}

bool gathered(Step& step, uint32_t wanted) {
    wanted &= step.warp.alive;
    if ((wanted & ~step.mask) == 0) return true;
    step.group.state = Group::State::AwaitsLanes;
    step.group.awaited = wanted;
    return false;
}

void exit_lanes(Step& step, uint32_t lanes) {
    step.warp.alive &= ~lanes;
    step.group.mask &= ~lanes;
    step.block.alive_threads -= static_cast<uint32_t>(std::popcount(lanes));
    for (Group& group : step.warp.groups) {  // fewer lanes may now be enough
        if (group.state == Group::State::AwaitsLanes) group.state = Group::State::Runs;
    }
    complete_barriers(step.block);
    step.block.cluster.signal();
    complete_cluster_barrier(step.block.cluster);
}

void fence(Warp& warp) {
    warp.learn(warp.observed);
    warp.fenced.events = warp.clock;
    warp.fenced.proxied = warp.proxied;
    if (warp.global != nullptr) {
        warp.fenced.global = *warp.global;
        ++(*warp.global)[warp.block_number];
    }
    ++warp.clock[warp.agent];
}

std::string Cluster::agent_name(uint32_t agent) const {
    const auto of_rank = [&](uint32_t rank) {
        return blocks.size() == 1 ? std::string() : " of block rank " + std::to_string(rank);
    };
    const uint32_t quads = quads_per_block() * static_cast<uint32_t>(blocks.size());
    if (agent < warps()) return "warp " + std::to_string(agent % warps_per_block) + of_rank(agent / warps_per_block);
    agent -= warps();
    if (agent < quads) {
        return "a wgmma of warpgroup " + std::to_string(agent % quads_per_block()) + of_rank(agent / quads_per_block());
    }
    agent -= quads;
    if (agent < warps()) {
        return "a bulk copy of warp " + std::to_string(agent % warps_per_block) + of_rank(agent / warps_per_block);
    }
    return barrier_agents.at(agent - warps());
}

}  // namespace emulated_gpu
