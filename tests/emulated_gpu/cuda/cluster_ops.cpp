// Clusters of blocks: PTX ISA, mapa and getctarank of chapter "Data Movement and Conversion Instructions",
// barrier.cluster of chapter "Parallel Synchronization and Communication Instructions", and griddepcontrol.

#include "tests/emulated_gpu/cuda/lanewise.h"
#include "tests/emulated_gpu/cuda/memory_access.h"

namespace emulated_gpu {
namespace {

constexpr uint64_t kInBlock = (uint64_t{1} << kRankShift) - 1;

/// op.offset: the window of the addresses. Sources: an address of the own block, a rank.
Flow map_address(Step& step) {
    const auto window = static_cast<uint64_t>(step.op.offset);
    const uint64_t ranks = step.block.cluster.blocks.size();
    for_lanes(step.mask, [&](int lane) {
        const uint64_t rank = step.source(1)[lane] & 0xffffffffU;
        if (rank >= ranks) {
            throw Fault{FaultKind::IllegalAddress,
                        "mapa names block rank " + std::to_string(rank) + " of a cluster of " + std::to_string(ranks),
                        lane};
        }
        step.result()[lane] = window + ((rank + 1) << kRankShift) + ((step.source(0)[lane] - window) & kInBlock);
    });
    return Flow::Next;
}

Flow rank_of_address(Step& step) {
    const auto window = static_cast<uint64_t>(step.op.offset);
    for_lanes(step.mask, [&](int lane) {
        const uint64_t above = (step.source(0)[lane] - window) >> kRankShift;
        step.result()[lane] = above == 0 ? step.block.rank : above - 1;
    });
    return Flow::Next;
}

template <Handler kRun, size_t kSources>
void decode_cluster_address(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Move;
    op.run = kRun;
    decode.needs(90);
    if (!decode.accept("shared::cluster")) op.offset = static_cast<int64_t>(kSharedWindow);
    const Type type = decode.type();
    if (type != Type::U32 && type != Type::U64) decode.refuse("type ." + type_name(type));
    decode.expect_operands(kSources + 1, kSources + 1);
    decode.result(decode.operand(0));
    decode.source(decode.operand(1), kSources == 1 ? Type::U64 : type, true);
    if (kSources == 2) decode.source(decode.operand(2), Type::U32, true);
}

bool lanes_gathered(Step& step) {
    return !step.op.flag || gathered(step, kAllLanes);
}

/// op.flag: .aligned; op.detail: .relaxed
Flow arrive_at_cluster(Step& step) {
    if (!lanes_gathered(step)) return Flow::Blocked;
    Cluster& cluster = step.block.cluster;
    const uint32_t again = step.warp.cluster_arrived & step.mask;
    if (again != 0) {
        throw Fault{FaultKind::BarrierMisuse, "arrives at the cluster's barrier twice without a wait in between",
                    std::countr_zero(again)};
    }
    step.warp.cluster_arrived |= step.mask;
    for_lanes(step.mask, [&](int lane) { step.warp.cluster_phase[static_cast<size_t>(lane)] = cluster.phase; });
    cluster.arrived += static_cast<uint32_t>(std::popcount(step.mask));
    fence(step.warp);
    if (step.op.detail == 0) cluster.arriving.join(step.warp.fenced);
    complete_cluster_barrier(cluster);
    return Flow::Next;
}

Flow wait_for_cluster(Step& step) {
    if (!lanes_gathered(step)) return Flow::Blocked;
    const Cluster& cluster = step.block.cluster;
    const uint32_t absent = step.mask & ~step.warp.cluster_arrived;
    if (absent != 0) {
        throw Fault{FaultKind::BarrierMisuse, "waits at the cluster's barrier without having arrived",
                    std::countr_zero(absent)};
    }
    bool complete = true;
    for_lanes(step.mask,
              [&](int lane) { complete &= step.warp.cluster_phase[static_cast<size_t>(lane)] < cluster.phase; });
    if (!complete) return await_event(step);
    step.warp.cluster_arrived &= ~step.mask;
    step.warp.learn(cluster.completed);
    fence(step.warp);
    return Flow::Next;
}

/// Launches follow one another here: what they depend on has ended.
void decode_grid_dependency(Decode& decode) {
    decode.op().klass = InstructionClass::Control;
    decode.needs(90);
    if (!decode.accept("wait")) decode.expect("launch_dependents");
    decode.expect_operands(0, 0);
    decode.op().run = [](Step&) { return Flow::Next; };
}

}  // namespace

void complete_cluster_barrier(Cluster& cluster) {
    if (cluster.arrived == 0) return;
    for (const auto& block : cluster.blocks) {
        for (const Warp& warp : block->warps) {
            if ((warp.alive & ~warp.cluster_arrived) != 0) return;
            bool all = true;
            for_lanes(warp.alive,
                      [&](int lane) { all &= warp.cluster_phase[static_cast<size_t>(lane)] == cluster.phase; });
            if (!all) return;
        }
    }
    ++cluster.phase;
    cluster.arrived = 0;
    cluster.completed.join(cluster.arriving);
    cluster.signal();
    ++cluster.launch.counters.barriers;
}

void decode_cluster_barrier(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Barrier;
    decode.needs(90);
    decode.expect("cluster");
    op.flag = decode.accept("aligned");
    if (decode.accept("arrive")) {
        if (decode.accept("relaxed"))
            op.detail = 1;
        else
            decode.accept("release");
        op.run = &arrive_at_cluster;
    } else {
        decode.expect("wait");
        decode.accept("acquire");
        op.run = &wait_for_cluster;
    }
    op.flag |= decode.accept("aligned");
    decode.expect_operands(0, 0);
}

void add_cluster_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["mapa"] = &decode_cluster_address<&map_address, 2>;
    decoders["getctarank"] = &decode_cluster_address<&rank_of_address, 1>;
    decoders["griddepcontrol"] = &decode_grid_dependency;
}

}  // namespace emulated_gpu
