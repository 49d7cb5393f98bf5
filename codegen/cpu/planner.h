// The steps of make_plan, in the order they run: uses, dots, places, schedule, buffers.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "codegen/cpu/plan.h"
#include "ir/facts.h"

namespace kiln::codegen::cpu {

struct Use {
    ir::OpId user;
    std::size_t operand;
};

/// What an inline value waits for, as positions in its block's list of steps. `after`: the step must lie before the
/// nest that evaluates the value; `with`: it may also be that nest.
struct Ready {
    int after = -1;
    int with = -1;
};

/// A stretch of time in which a buffer holds something, both ends included. Step p reads at 2p what it reads at the
/// point it is about to write, at 2p + 1 everything else; it writes at 2p + 1.
struct Interval {
    std::uint32_t first, last;
};

class Planner {
public:
    Planner(const ir::Kernel& kernel, const ir::Phase& phase);
    Plan run();

private:
    // Uses and structure (planner.cpp)
    void visit_block(ir::BlockId block, int loop_depth);
    bool deeper_use(ir::ValueId value, const Use& use) const;

    // Dots (plan_dots.cpp)
    void find_dots();
    void plan_dot(ir::OpId op);
    DotOperand dot_operand(ir::ValueId operand);
    bool viewable(const ir::Op& load) const;
    bool starts_proven(const ir::Op& load) const;
    void try_sink(ir::OpId loop);
    bool sinkable_operand(const DotOperand& operand, bool is_a, const ir::Op& loop) const;
    bool defined_outside(ir::ValueId value, ir::BlockId block) const;

    // Places (plan_places.cpp)
    void choose_places();
    void place_result(ir::OpId op, ir::ValueId value);
    void place_tile(const ir::Op& op, ir::ValueId value);
    bool must_materialise(const ir::Op& op, ir::ValueId value) const;
    bool use_needs_buffer(ir::ValueId value, const Use& use) const;
    bool load_may_move(ir::OpId load) const;
    std::uint32_t inline_cost(const ir::Op& op) const;
    bool is_splat(ir::ValueId value) const;
    void put_in_buffer(ir::ValueId value);

    // Schedule (plan_schedule.cpp)
    void schedule_block(ir::BlockId block);
    void schedule_op(ir::BlockId block, ir::OpId op);
    int add_step(ir::BlockId block, Step step);
    int add_root(ir::BlockId block, const ir::Shape& space, int vertical_axis, Root root, Ready ready);
    Ready ready_of(ir::BlockId block, ir::ValueId value) const;
    Ready ready_of_inline(ir::BlockId block, const ir::Op& op) const;
    void schedule_store(ir::BlockId block, ir::OpId op);
    void schedule_reduce(ir::BlockId block, ir::OpId op);
    void note_effects(ir::BlockId block, ir::OpId op, int step);
    void note_loads(ir::BlockId block, ir::OpId op, int step);

    // Buffers (plan_buffers.cpp)
    void number_block(ir::BlockId block);
    void collect_reads(ir::BlockId block);
    void read_root(std::uint32_t position, const Nest& nest, ir::BlockId block, const Root& root);
    void read_tile(ir::ValueId value, bool same_point, std::uint32_t position, ir::BlockId block,
                   ir::ValueId made = {});
    void note_read(ir::ValueId value, bool same_point, std::uint32_t position, ir::BlockId block);
    void drop_private_values();
    void build_lifetimes();
    void step_lifetimes(const Step& step, std::uint32_t position);
    void define(BufferId buffer, std::uint32_t position);
    void define_value(ir::ValueId value, std::uint32_t position);
    std::uint32_t last_read(ir::ValueId value, std::uint32_t made) const;
    void control_lifetimes(ir::OpId op);
    void coalesce();
    /// Tiles that `op` (a control op or a yield) hands on.
    struct ControlEdge {
        ir::OpId op;
        std::vector<ir::ValueId> from, to;
    };
    std::vector<ControlEdge> control_edges(ir::OpId op) const;
    void merge_results(ir::OpId op);
    void coalesce_control(ir::OpId op);
    void merge_value(BufferId buffer, ir::ValueId value);
    bool try_merge(BufferId first, BufferId second);
    void force_merge(BufferId first, BufferId second);
    BufferId find(BufferId buffer);
    void plan_moves();
    void add_moves(const ControlEdge& edge);
    BufferId new_buffer(ir::ScalarType element, const ir::Shape& shape);
    void pack();

    const ir::Kernel& kernel_;
    const ir::Phase& phase_;
    const ir::Facts facts_;
    Plan plan_;
    std::vector<ir::OpId> ops_;                  ///< of the phase, in order
    std::vector<ir::BlockId> blocks_;            ///< of the phase, outer before inner
    std::vector<std::vector<Use>> uses_;         ///< by value
    std::vector<int> loop_depth_;                ///< by block
    std::vector<std::set<ir::ValueId>> stored_;  ///< by op: root tensors that the op or its blocks store to
    std::vector<bool> dot_base_;                 ///< by value: a dot needs it in a buffer
    std::vector<bool> sunk_;                     ///< by op: inside a sunk loop
    std::vector<std::uint32_t> cost_;            ///< by value

    struct Produced {
        ir::BlockId block;
        Ready ready;
    };
    std::vector<Produced> produced_;  ///< by value
    /// By block: the last step that reads or writes, or writes, each root tensor.
    struct Touch {
        ir::ValueId tensor;
        int any = -1, store = -1;
    };
    std::vector<std::vector<Touch>> touches_;
    Touch& touch(ir::BlockId block, ir::ValueId tensor);
    int last_store(ir::BlockId block, ir::ValueId tensor) const;

    std::vector<std::vector<std::uint32_t>> positions_;  ///< by block, by step
    std::vector<std::uint32_t> end_position_;            ///< by op: after the last step of its blocks
    std::vector<std::uint32_t> begin_position_;          ///< by op
    std::uint32_t next_position_ = 0;
    struct Read {
        std::uint32_t position;
        bool same_point;
    };
    std::vector<std::vector<Read>> reads_;                       ///< by value
    std::vector<std::pair<ir::ValueId, ir::ValueId>> in_place_;  ///< assigned value, buffer read at the same point
    std::vector<std::uint32_t> assigned_at_;                     ///< by value: position of the nest that assigns it
    std::vector<std::vector<Interval>> lifetimes_;               ///< by buffer
    std::vector<BufferId> merged_;                               ///< by buffer: union-find
};

}  // namespace kiln::codegen::cpu
