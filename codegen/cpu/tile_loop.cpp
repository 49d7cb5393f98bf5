#include "codegen/cpu/tile_loop.h"

#include <algorithm>
#include <set>

#include "codegen/cpu/evaluate.h"
#include "ir/builder.h"
#include "ir/semantics.h"

namespace kiln::codegen::cpu {

using ir::OpKind;

namespace {

/// What a nest evaluates: the size of its expressions, and the accesses in them.
struct NestContents {
    std::vector<ir::OpId> accesses;
    std::size_t operations = 0;
    int widest_bytes = 1;
};

/// Whether an assignment computes a value for its own buffer, rather than handing one on.
bool makes_value(const PhaseState& state, const Root& root) {
    return root.kind == RootKind::Assign && state.plan.in_buffer(root.value) &&
           state.plan.value_buffers[root.value.index] == root.buffer;
}

int weight_in_bytes(const PhaseState& state, ir::ValueId value, bool is_root) {
    const ir::ScalarType element = state.kernel.type(value).element;
    if (element == ir::ScalarType::Bool || ir::bit_width(element) < 8) return 1;
    // Indices are of 64 bits wherever they stand; they do not decide the lanes of a nest over narrower values.
    if (element == ir::ScalarType::I64 && !is_root) return 1;
    // Arithmetic of f16 and bf16 runs in f32.
    const ir::Op* op = state.kernel.definition(value);
    const bool computed = op != nullptr && ir::is_elementwise(op->kind);
    if (ir::is_float(element) && computed) return std::max(4, ir::byte_width(element));
    return ir::byte_width(element);
}

NestContents contents_of(const PhaseState& state, const Nest& nest) {
    NestContents contents;
    std::set<ir::ValueId> seen;
    std::vector<ir::ValueId> pending;
    const auto push = [&](ir::ValueId value) {
        if (state.kernel.type(value).is_tile() && seen.insert(value).second) pending.push_back(value);
    };
    for (const Root& root : nest.roots) {
        push(root.value);
        contents.widest_bytes = std::max(contents.widest_bytes, weight_in_bytes(state, root.value, true));
        if (root.kind != RootKind::Store) continue;
        contents.accesses.push_back(root.op);
        for (const ir::ValueId operand : state.kernel[root.op].operands) push(operand);
    }
    while (!pending.empty()) {
        const ir::ValueId value = pending.back();
        pending.pop_back();
        contents.widest_bytes = std::max(contents.widest_bytes, weight_in_bytes(state, value, false));
        const ir::Op* op = state.kernel.definition(value);
        const bool made_here = std::any_of(nest.roots.begin(), nest.roots.end(), [&](const Root& root) {
            return root.value == value && makes_value(state, root);
        });
        if (op == nullptr || (state.plan.in_buffer(value) && !made_here)) continue;
        ++contents.operations;
        if (op->kind == OpKind::Load) contents.accesses.push_back(state.kernel[value].definition);
        for (const ir::ValueId operand : op->operands) push(operand);
    }
    return contents;
}

/// A stretch of the lane axis: `count` elements from `start`, `lanes` at a time, `unroll` vectors a step.
struct Segment {
    std::int64_t start, count;
    unsigned lanes, unroll;
};

std::vector<Segment> segments_of(std::int64_t extent, unsigned lanes, unsigned unroll) {
    std::vector<Segment> segments;
    std::int64_t start = 0;
    const auto add = [&](unsigned width, unsigned vectors) {
        const std::int64_t step = static_cast<std::int64_t>(width) * vectors;
        const std::int64_t count = (extent - start) / step * step;
        if (count > 0) segments.push_back({start, count, width, vectors});
        start += count;
    };
    if (unroll > 1) add(lanes, unroll);
    // The rest in ever narrower vectors, so that no lane lies outside the tile.
    for (unsigned width = lanes; width > 0; width /= 2) add(width, 1);
    return segments;
}

class NestLowering {
public:
    NestLowering(PhaseState& state, const Nest& nest)
        : state_(state), nest_(nest), contents_(contents_of(state, nest)), lane_axis_(lane_axis(nest.space)) {
        const int bytes = std::max(1, state.ops.target().vector_bytes / contents_.widest_bytes);
        lanes_ = static_cast<unsigned>(bytes);
        unroll_ = contents_.operations <= 8 ? 4 : contents_.operations <= 32 ? 2 : 1;
    }

    void run();

private:
    using Results = std::vector<llvm::Value*>;  ///< a root: the scalar result of a reduction, or null

    Results version(bool inside);
    void loops(Evaluator& evaluator, std::size_t axis, Coordinates& at);
    void rows(Evaluator& evaluator, Coordinates& at);
    void row_segment(Evaluator& evaluator, const Segment& segment, Coordinates& at);
    void columns(Evaluator& evaluator, Coordinates& at);
    void point(Evaluator& evaluator, const Coordinates& at, unsigned vector);
    void finish_row(Evaluator& evaluator, const Coordinates& at);

    ir::ScalarType accumulator(const Root& root) const;
    ir::ReduceKind kind(const Root& root) const {
        return ir::attribute<ir::ReduceAttribute>(state_.kernel[root.op]).kind;
    }
    llvm::Value* reduced(const Root& root, llvm::Value* value) const;
    llvm::Value* rounded(const Root& root, llvm::Value* value) const;

    PhaseState& state_;
    const Nest& nest_;
    NestContents contents_;
    std::uint32_t lane_axis_;
    unsigned lanes_ = 1, unroll_ = 1;
    std::vector<std::vector<llvm::Value*>> sums_;  ///< a root, an unrolled vector: what has been reduced so far
    Results results_;                              ///< of the row at hand
};

ir::ScalarType NestLowering::accumulator(const Root& root) const {
    const ir::ScalarType element = state_.kernel.type(root.value).element;
    const bool narrow = element == ir::ScalarType::F16 || element == ir::ScalarType::BF16;
    return narrow && kind(root) == ir::ReduceKind::Sum ? ir::ScalarType::F32 : element;
}

/// The form in which a reduction carries a value.
llvm::Value* NestLowering::reduced(const Root& root, llvm::Value* value) const {
    const ir::ScalarType from = state_.kernel.type(root.value).element, to = accumulator(root);
    return from == to ? value : state_.ops.convert(OpKind::Convert, value, from, to);
}

llvm::Value* NestLowering::rounded(const Root& root, llvm::Value* value) const {
    const ir::ScalarType to = state_.kernel.type(root.value).element, from = accumulator(root);
    return from == to ? value : state_.ops.convert(OpKind::Convert, value, from, to);
}

void NestLowering::run() {
    llvm::IRBuilder<>& builder = state_.builder();
    llvm::Value* inside = builder.getTrue();
    for (const ir::OpId access : contents_.accesses) {
        inside = builder.CreateAnd(inside, access_inside(state_, state_.kernel[access]), "all_inside");
    }
    Results results;
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(inside)) {
        results = version(constant->isOne());
    } else {
        llvm::Function* function = builder.GetInsertBlock()->getParent();
        const auto block = [&](const char* name) {
            return llvm::BasicBlock::Create(builder.getContext(), name, function);
        };
        llvm::BasicBlock *fast = block("inside"), *edge = block("edge"), *join = block("join");
        builder.CreateCondBr(inside, fast, edge);
        builder.SetInsertPoint(fast);
        results = version(true);
        llvm::BasicBlock* fast_end = builder.GetInsertBlock();
        builder.CreateBr(join);
        builder.SetInsertPoint(edge);
        const Results at_edge = version(false);
        llvm::BasicBlock* edge_end = builder.GetInsertBlock();
        builder.CreateBr(join);
        builder.SetInsertPoint(join);
        for (std::size_t i = 0; i < results.size(); ++i) {
            if (results[i] == nullptr) continue;
            llvm::PHINode* phi = builder.CreatePHI(results[i]->getType(), 2, "reduced");
            phi->addIncoming(results[i], fast_end);
            phi->addIncoming(at_edge[i], edge_end);
            results[i] = phi;
        }
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (results[i] != nullptr) state_.scalars[state_.kernel[nest_.roots[i].op].result().index] = results[i];
    }
}

NestLowering::Results NestLowering::version(bool inside) {
    Evaluator evaluator(state_, inside);
    for (const Root& root : nest_.roots) {
        if (makes_value(state_, root)) evaluator.make(root.value);
    }
    results_.assign(nest_.roots.size(), nullptr);
    Coordinates at(nest_.space.rank(), {evaluator.constant(0), false});
    loops(evaluator, 0, at);
    return results_;
}

/// A loop for each axis but the lanes' and the one that is reduced across them.
void NestLowering::loops(Evaluator& evaluator, std::size_t axis, Coordinates& at) {
    if (axis == nest_.space.rank()) {
        nest_.vertical_axis < 0 ? rows(evaluator, at) : columns(evaluator, at);
        return;
    }
    const bool own = axis != lane_axis_ && static_cast<int>(axis) != nest_.vertical_axis && nest_.space[axis] > 1;
    if (own) at[axis].base = evaluator.open_loop(nest_.space[axis], 1, "row");
    loops(evaluator, axis + 1, at);
    if (own) evaluator.close_loop({});
}

void NestLowering::rows(Evaluator& evaluator, Coordinates& at) {
    results_.assign(nest_.roots.size(), nullptr);
    for (const Segment& segment : segments_of(nest_.space[lane_axis_], lanes_, unroll_)) {
        row_segment(evaluator, segment, at);
    }
    at[lane_axis_] = {evaluator.constant(0), false};
    finish_row(evaluator, at);
}

void NestLowering::row_segment(Evaluator& evaluator, const Segment& segment, Coordinates& at) {
    evaluator.set_lanes(segment.lanes);
    const std::int64_t step = static_cast<std::int64_t>(segment.lanes) * segment.unroll;
    const bool loop = segment.count > step;
    llvm::Value* index = loop ? evaluator.open_loop(segment.count, step, "column") : evaluator.constant(0);
    sums_.assign(nest_.roots.size(), std::vector<llvm::Value*>(segment.unroll));
    for (std::size_t i = 0; i < nest_.roots.size(); ++i) {
        const Root& root = nest_.roots[i];
        if (root.kind != RootKind::Reduce || !loop) continue;
        llvm::Value* identity = state_.ops.constant(ir::reduce_identity(kind(root), accumulator(root)), segment.lanes);
        for (llvm::Value*& sum : sums_[i]) sum = evaluator.carry(identity, "partial");
    }
    for (unsigned vector = 0; vector < segment.unroll; ++vector) {
        const std::int64_t offset = segment.start + static_cast<std::int64_t>(vector) * segment.lanes;
        at[lane_axis_] = {evaluator.add(index, evaluator.constant(offset)), segment.lanes > 1};
        point(evaluator, at, vector);
    }
    if (loop) {
        std::vector<llvm::Value*> next;
        for (const std::vector<llvm::Value*>& sums : sums_) {
            for (llvm::Value* sum : sums) {
                if (sum != nullptr) next.push_back(sum);
            }
        }
        evaluator.close_loop(next);
    }
    for (std::size_t i = 0; i < nest_.roots.size(); ++i) {
        const Root& root = nest_.roots[i];
        if (root.kind != RootKind::Reduce) continue;
        llvm::Value* sum = sums_[i].front();
        for (std::size_t vector = 1; vector < sums_[i].size(); ++vector) {
            sum = state_.ops.combine(kind(root), accumulator(root), sum, sums_[i][vector]);
        }
        if (segment.lanes > 1) sum = state_.ops.reduce_lanes(kind(root), accumulator(root), sum);
        results_[i] =
            results_[i] == nullptr ? sum : state_.ops.combine(kind(root), accumulator(root), results_[i], sum);
    }
}

/// All roots at one point: everything is read before anything is written, since a buffer may be updated in place.
void NestLowering::point(Evaluator& evaluator, const Coordinates& at, unsigned vector) {
    std::vector<Element> values;
    for (const Root& root : nest_.roots) values.push_back(evaluator.evaluate(root.value, at));
    for (std::size_t i = 0; i < nest_.roots.size(); ++i) {
        const Root& root = nest_.roots[i];
        if (root.kind == RootKind::Reduce) {
            llvm::Value* value = reduced(root, evaluator.to_lanes(values[i]));
            llvm::Value*& sum = sums_[i][vector];
            sum = sum == nullptr ? value : state_.ops.combine(kind(root), accumulator(root), sum, value);
        } else if (root.kind == RootKind::Store) {
            evaluator.store(state_.kernel[root.op], at, values[i]);
        } else {
            const Buffer& buffer = state_.plan.buffers[root.buffer];
            const ir::ScalarType from = state_.kernel.type(root.value).element;
            if (buffer.element != buffer_element(from)) {
                values[i].value = state_.ops.convert(OpKind::Convert, values[i].value, from, buffer.element);
            }
            evaluator.store_to_buffer(buffer, nest_.space, at, values[i]);
        }
    }
}

void NestLowering::finish_row(Evaluator& evaluator, const Coordinates& at) {
    for (std::size_t i = 0; i < nest_.roots.size(); ++i) {
        const Root& root = nest_.roots[i];
        if (root.kind != RootKind::Reduce) continue;
        llvm::Value* result = rounded(root, results_[i]);
        results_[i] = nullptr;
        if (root.buffer == kNoBuffer) {
            results_[i] = result;
            continue;
        }
        const ir::Shape& shape = state_.kernel.type(state_.kernel[root.op].result()).shape;
        Coordinates rows = at;
        rows.erase(rows.begin() + lane_axis_);
        evaluator.store_to_buffer(state_.plan.buffers[root.buffer], shape, rows, {result, true});
    }
}

/// A reduction along an axis other than the lanes': a few vectors of columns at a time down the axis.
void NestLowering::columns(Evaluator& evaluator, Coordinates& at) {
    const Root& root = nest_.roots.front();
    const auto axis = static_cast<std::size_t>(nest_.vertical_axis);
    const ir::Shape& shape = state_.kernel.type(state_.kernel[root.op].result()).shape;
    for (const Segment& segment : segments_of(nest_.space[lane_axis_], lanes_, unroll_)) {
        evaluator.set_lanes(segment.lanes);
        const std::int64_t step = static_cast<std::int64_t>(segment.lanes) * segment.unroll;
        const bool loop = segment.count > step;
        llvm::Value* column = loop ? evaluator.open_loop(segment.count, step, "column") : evaluator.constant(0);
        std::vector<Coordinate> lanes;
        for (unsigned vector = 0; vector < segment.unroll; ++vector) {
            const std::int64_t offset = segment.start + static_cast<std::int64_t>(vector) * segment.lanes;
            lanes.push_back({evaluator.add(column, evaluator.constant(offset)), segment.lanes > 1});
        }
        at[axis].base = evaluator.open_loop(nest_.space[axis], 1, "reduced_row");
        llvm::Value* identity = state_.ops.constant(ir::reduce_identity(kind(root), accumulator(root)), segment.lanes);
        sums_.assign(1, std::vector<llvm::Value*>(segment.unroll));
        for (llvm::Value*& sum : sums_[0]) sum = evaluator.carry(identity, "partial");
        for (unsigned vector = 0; vector < segment.unroll; ++vector) {
            at[lane_axis_] = lanes[vector];
            point(evaluator, at, vector);
        }
        evaluator.close_loop(sums_[0]);
        for (unsigned vector = 0; vector < segment.unroll; ++vector) {
            at[lane_axis_] = lanes[vector];
            Coordinates result = at;
            result.erase(result.begin() + nest_.vertical_axis);
            evaluator.store_to_buffer(state_.plan.buffers[root.buffer], shape, result,
                                      {rounded(root, sums_[0][vector]), segment.lanes == 1});
        }
        if (loop) evaluator.close_loop({});
    }
}

}  // namespace

void emit_nest(PhaseState& state, const Nest& nest) {
    NestLowering(state, nest).run();
}

void emit_assignment(PhaseState& state, ir::ValueId value, BufferId buffer) {
    Nest nest;
    nest.space = state.kernel.type(value).shape;
    nest.roots = {{RootKind::Assign, value, {}, buffer}};
    emit_nest(state, nest);
}

namespace {

/// Runs `body` with the byte offsets of the vectors that cover a buffer; its memory is a multiple of 64 bytes.
template <class Body>
void for_each_vector(PhaseState& state, BufferId id, Body body) {
    const Buffer& buffer = state.plan.buffers[id];
    const std::int64_t bytes = (buffer.shape.count() * ir::byte_width(buffer.element) + 63) / 64 * 64;
    Evaluator evaluator(state, true);
    llvm::Value* offset = evaluator.open_loop(bytes, 64, "byte");
    body(offset);
    evaluator.close_loop({});
}

}  // namespace

void emit_copy(PhaseState& state, BufferId to, BufferId from) {
    const VectorOps& ops = state.ops;
    llvm::Value *target = state.buffer_address(to), *source = state.buffer_address(from);
    for_each_vector(state, to, [&](llvm::Value* offset) {
        llvm::Value* bytes =
            ops.load(ir::ScalarType::U8, ops.element_address(ir::ScalarType::U8, source, offset), 64, 64);
        ops.store(ir::ScalarType::U8, bytes, ops.element_address(ir::ScalarType::U8, target, offset), 64);
    });
}

void emit_zero(PhaseState& state, BufferId buffer) {
    const VectorOps& ops = state.ops;
    llvm::Value* target = state.buffer_address(buffer);
    llvm::Value* zero = ops.constant({ir::ScalarType::U8, 0}, 64);
    for_each_vector(state, buffer, [&](llvm::Value* offset) {
        ops.store(ir::ScalarType::U8, zero, ops.element_address(ir::ScalarType::U8, target, offset), 64);
    });
}

}  // namespace kiln::codegen::cpu
