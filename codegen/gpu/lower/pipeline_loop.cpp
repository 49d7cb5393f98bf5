// Operands of products that a loop loads, brought in ahead of the iteration that reads them.
//
// Each such tile gets a ring of slots in shared memory; iteration n reads slot n modulo their number. An asynchronous
// copy is begun as many iterations ahead as there are other slots:
//
//   for s in 0 .. slots - 1: copy tile s into slot s; commit
//   for trip in 0 .. trips:
//       wait until the group of this iteration has landed; barrier
//       copy tile trip + slots - 1 into the slot that was read last; commit
//       the body, which reads slot trip
//
// A tile that has to pass the registers is loaded into them one iteration ahead, at the top of the body, and written to
// shared memory at its end, so that the loads are under way while the body computes. Two slots then need one barrier an
// iteration, a single slot two. The barriers themselves are found by place_barriers, which knows slots.
//
// What cannot be told ahead (an address that depends on more than the loop's index) is copied where it is read, as it
// is outside of loops.
#include <algorithm>
#include <set>
#include <utility>

#include "codegen/gpu/lower/phase_lowering.h"

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

/// Registers that tiles on their way to shared memory may take.
constexpr int kMostHeldRegisters = 64;
/// More slots than two serve nothing where a tile waits in registers.
constexpr int kMostHeldSlots = 2;

int held_registers(const OperandWrite& write, ScalarType type) {
    return (write.layout.registers() * std::max(8, bit_width(type)) + 31) / 32;
}

}  // namespace

/// The ops of a loop's body that have to run again for another iteration to know where a load reads; false if that
/// takes more than the loop's index.
bool PhaseLowering::follows_index(const Op& loop, ValueId value, std::set<const Op*>& slice) const {
    const BlockId body = loop.blocks[0];
    const Op* op = kernel_.definition(value);
    if (op == nullptr) return kernel_[value].block != body || kernel_[body].arguments.front() == value;
    if (op->parent != body || kernel_.constant(value)) return true;
    const bool is_memory = op->kind == OpKind::Load && !written_.contains(tensors_[op->operands[0]].root.index);
    const bool scalar =
        kernel_.type(value).is_scalar() && (is_elementwise(op->kind) || op->kind == OpKind::Size || is_memory);
    if (!scalar && op->kind != OpKind::View) return false;
    slice.insert(op);
    return std::all_of(op->operands.begin(), op->operands.end(),
                       [&](ValueId operand) { return follows_index(loop, operand, slice); });
}

PhaseLowering::Pipeline PhaseLowering::plan_pipeline(const Op& loop) {
    Pipeline pipeline{&loop, {}, {}, {}};
    if (shared_.pieces > 1) return pipeline;
    std::set<const Op*> slice;
    int held = 0;
    for (const OpId id : kernel_[loop.blocks[0]].ops) {
        const Op& load = kernel_[id];
        if (load.kind != OpKind::Load || values_[load.result()] != TileForm::Staged) continue;
        std::set<const Op*> more = slice;
        const bool ahead = std::all_of(load.operands.begin(), load.operands.end(),
                                       [&](ValueId operand) { return follows_index(loop, operand, more); });
        if (!ahead) continue;
        const OperandReads reads = first_reads(load.result());
        OperandWrite write = plan_write(reads, {});
        const int registers = write.asynchronous ? 0 : held_registers(write, stored(load.result()));
        const int slots = write.asynchronous ? shared_.stages : std::min(shared_.stages, kMostHeldSlots);
        if ((write.asynchronous && slots == 1) || held + registers > kMostHeldRegisters) continue;
        held += registers;
        slice = std::move(more);
        Ring ring{load.result(), std::move(write), {}, slots, {}};
        ring.all = add_operand(ring.value, reads.type, ring.write.shared, slots);
        pipeline.rings.push_back(std::move(ring));
    }
    placed_.registers = std::max(placed_.registers, held);
    for (const OpId id : kernel_[loop.blocks[0]].ops) {
        if (slice.contains(&kernel_[id])) pipeline.slice.push_back(&kernel_[id]);
    }
    return pipeline;
}

/// What a product reads of a tile that products alone read.
OperandReads PhaseLowering::first_reads(ValueId value) const {
    const Op* user = uses_[value.index].front();
    if (user->kind == OpKind::Permute) user = uses_[user->result().index].front();
    const OperandReads left = operand_reads(*user, 0);
    return left.value == value ? left : operand_reads(*user, 1);
}

namespace {

std::string later(const std::string& trip, int ahead) {
    if (trip.empty()) return std::to_string(ahead);
    return ahead == 0 ? trip : "(" + trip + " + " + std::to_string(ahead) + ")";
}

}  // namespace

/// The slot of a ring that the iteration `ahead` of `trip`, or of the first, reads.
StagedOperand PhaseLowering::slot_of(const Ring& ring, const std::string& trip, int ahead) {
    StagedOperand operand = ring.all;
    operand.slot = ahead;
    if (ring.slots == 1) return operand;
    const std::int64_t step = slot_bytes(ring.write.shared) / ring.write.shared.element_bytes;
    const std::string slot = trip.empty()
                                 ? std::to_string(ahead % ring.slots) + "u"
                                 : "(unsigned)(" + later(trip, ahead) + " % " + std::to_string(ring.slots) + "u)";
    const std::string element(gpu::c_type(operand.type));
    operand.place = fresh(kernel_[ring.value].name.empty() ? "t" : kernel_[ring.value].name);
    Lines lines;
    lines.add(element + "* const " + operand.place + " = " + ring.all.place + " + " + slot + " * " +
              std::to_string(step) + "u;");
    emit(std::move(lines));
    return operand;
}

/// Runs `bring` in a block for the iteration `ahead` of `trip`, or of the first, if there is such an iteration: where
/// the names of the loop's index and of what follows from it are those of that iteration.
void PhaseLowering::for_iteration(const Pipeline& pipeline, const std::string& trip, int ahead,
                                  const std::function<void(Statements&)>& bring) {
    std::vector<ValueId> renamed = {kernel_[pipeline.loop->blocks[0]].arguments.front()};
    for (const Op* op : pipeline.slice) renamed.push_back(op->result());
    std::vector<std::string> names;
    for (const ValueId value : renamed) names.push_back(std::exchange(names_[value.index], ""));
    const std::map<std::uint32_t, TensorText> texts = texts_;
    for (const ValueId value : renamed) texts_.erase(value.index);

    Statement block;
    block.kind = Statement::Kind::Block;
    block.head = "if (" + later(trip, ahead) + " < " + pipeline.trips + ")";
    scopes_.push_back({pipeline.loop->blocks[0], &block.body, false});
    emit_index(*pipeline.loop, later(trip, ahead));
    for (const Op* op : pipeline.slice) lower(*op);
    bring(block.body);
    close_scope();
    emit(std::move(block));

    for (std::size_t i = 0; i < renamed.size(); ++i) {
        names_[renamed[i].index] = names[i];
        texts_.erase(renamed[i].index);
        const auto text = texts.find(renamed[i].index);
        if (text != texts.end()) texts_.insert(*text);
    }
}

void PhaseLowering::begin_copies(const Pipeline& pipeline, const std::string& trip, int ahead) {
    for_iteration(pipeline, trip, ahead, [&](Statements& out) {
        for (const Ring& ring : pipeline.rings) {
            if (ring.write.asynchronous) begin_copy(out, ring.value, slot_of(ring, trip, ahead), ring.write, {});
        }
    });
    Statement commit;
    commit.kind = Statement::Kind::Commit;
    emit(std::move(commit));
}

bool PhaseLowering::has_rings(const Pipeline& pipeline, bool asynchronous) const {
    return std::any_of(pipeline.rings.begin(), pipeline.rings.end(),
                       [&](const Ring& ring) { return ring.write.asynchronous == asynchronous; });
}

/// Before the first group of the rings: operands that do not change in the loop, so that waiting for a group of the
/// rings covers them.
void PhaseLowering::stage_invariants(const Op& loop) {
    const auto in_body = [&](ValueId value) {
        const Op* op = kernel_.definition(value);
        return (op != nullptr ? op->parent : kernel_[value].block) == loop.blocks[0];
    };
    for (const OpId id : kernel_[loop.blocks[0]].ops) {
        const Op& op = kernel_[id];
        for (std::size_t operand = 0; op.kind == OpKind::Dot && operand < 2; ++operand) {
            const ValueId value = operand_reads(op, operand).value;
            if (values_[value] == TileForm::Staged && !in_body(value)) stage_operand(op, operand, {});
        }
    }
}

/// Before the loop: the tiles of the first iterations.
void PhaseLowering::fill_rings(const Pipeline& pipeline) {
    if (pipeline.rings.empty()) return;
    const support::Span span = span_;
    stage_invariants(*pipeline.loop);
    if (has_rings(pipeline, true)) {
        for (int ahead = 0; ahead < shared_.stages - 1; ++ahead) begin_copies(pipeline, "", ahead);
    }
    if (has_rings(pipeline, false)) {
        for_iteration(pipeline, "", 0, [&](Statements& out) {
            for (const Ring& ring : pipeline.rings) {
                if (ring.write.asynchronous) continue;
                const std::string held = declare_held(out, ring.value, ring.write);
                load_held(out, ring.value, held, ring.write, {});
                store_held(out, ring.value, held, slot_of(ring, "", 0), ring.write);
            }
        });
    }
    span_ = span;
}

/// At the top of the body: this iteration's tiles are there, later ones set out.
void PhaseLowering::begin_iteration(Pipeline& pipeline, const std::string& trip) {
    if (pipeline.rings.empty()) return;
    const support::Span span = span_;
    if (has_rings(pipeline, true)) {
        Statement wait;
        wait.kind = Statement::Kind::Wait;
        wait.under_way = shared_.stages - 2;
        emit(std::move(wait));
    }
    emit_barrier(false);
    for (const Ring& ring : pipeline.rings) {
        staged_.push_back({ring.value, {}, slot_of(ring, trip, 0), scopes_.size() - 1});
    }
    if (has_rings(pipeline, true)) begin_copies(pipeline, trip, shared_.stages - 1);
    if (has_rings(pipeline, false)) {
        for (Ring& ring : pipeline.rings) {
            if (!ring.write.asynchronous) ring.held = declare_held(*scopes_.back().out, ring.value, ring.write);
        }
        for_iteration(pipeline, trip, 1, [&](Statements& out) {
            for (const Ring& ring : pipeline.rings) {
                if (!ring.write.asynchronous) load_held(out, ring.value, ring.held, ring.write, {});
            }
        });
    }
    span_ = span;
}

/// At the end of the body: what waits in registers lands.
void PhaseLowering::end_iteration(const Pipeline& pipeline, const std::string& trip) {
    if (!has_rings(pipeline, false)) return;
    for_iteration(pipeline, trip, 1, [&](Statements& out) {
        for (const Ring& ring : pipeline.rings) {
            if (!ring.write.asynchronous) store_held(out, ring.value, ring.held, slot_of(ring, trip, 1), ring.write);
        }
    });
}

}  // namespace kiln::codegen::gpu
