#include "codegen/cpu/lower_elements.h"

#include "codegen/cpu/emit_support.h"
#include "codegen/cpu/evaluate.h"
#include "ir/builder.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::cpu {

using ir::AtomicKind;
using ir::OpKind;

namespace {

/// Lines of a tile along an axis: `outer` times `inner` of them, elements `inner` apart.
struct Lines {
    std::int64_t outer = 1, length = 1, inner = 1;
};

Lines lines_along(const ir::Shape& shape, std::size_t axis) {
    Lines lines;
    lines.length = shape[axis];
    for (std::size_t i = 0; i < shape.rank(); ++i) {
        if (i < axis) lines.outer *= shape[i];
        if (i > axis) lines.inner *= shape[i];
    }
    return lines;
}

class ElementsLowering {
public:
    ElementsLowering(PhaseState& state, const ir::Op& op, llvm::function_ref<void(ir::BlockId)> emit_block)
        : state_(state), ops_(state.ops), builder_(state.builder()), op_(op), emit_block_(emit_block) {}

    void run() {
        if (op_.kind == OpKind::Join) return join();
        if (op_.kind == OpKind::Fold) return fold();
        if (op_.kind == OpKind::Scan) return scan();
        if (op_.kind == OpKind::Sort) return sort();
        if (op_.kind == OpKind::Bincount) return bincount();
        if (op_.kind == OpKind::Atomic) return atomic();
        throw support::InternalError("codegen::cpu",
                                     "`" + std::string(ir::info(op_.kind).mnemonic) + "` does not work on buffers");
    }

private:
    const ir::Type& type(ir::ValueId value) const { return state_.kernel.type(value); }
    llvm::Value* i64(std::int64_t value) const { return ops_.i64(value); }
    llvm::Value* add(llvm::Value* a, llvm::Value* b) { return builder_.CreateAdd(a, b); }
    llvm::Value* times(llvm::Value* a, std::int64_t b) { return builder_.CreateMul(a, i64(b)); }

    llvm::Value* address(ir::ValueId tile, llvm::Value* index) {
        const BufferId id = state_.plan.value_buffers[tile.index];
        if (id == kNoBuffer) throw support::InternalError("codegen::cpu", "a tile that needs a buffer has none");
        return ops_.element_address(state_.plan.buffers[id].element, state_.buffer_address(id), index);
    }
    llvm::Value* element(ir::ValueId tile, llvm::Value* index) {
        return ops_.load(state_.plan.buffer(tile).element, address(tile, index), 1);
    }
    void set_element(ir::ValueId tile, llvm::Value* index, llvm::Value* value) {
        ops_.store(state_.plan.buffer(tile).element, value, address(tile, index));
    }
    /// A result of the op: into its tile, or as the scalar that it is.
    void set_result(ir::ValueId result, llvm::Value* index, llvm::Value* value) {
        if (type(result).is_scalar()) {
            state_.scalars[result.index] = value;
        } else {
            set_element(result, index, value);
        }
    }

    void loop(std::int64_t count, llvm::function_ref<void(llvm::Value*)> body) {
        if (count == 1) return body(i64(0));
        emit_loop(builder_, i64(0), i64(count), 1, body);
    }
    /// Calls `body(line, first)` for each line: its number, and where its first element stands.
    void each_line(const Lines& lines, llvm::function_ref<void(llvm::Value*, llvm::Value*)> body) {
        loop(lines.outer, [&](llvm::Value* outer) {
            loop(lines.inner, [&](llvm::Value* inner) {
                llvm::Value* line = add(times(outer, lines.inner), inner);
                body(line, add(times(outer, lines.length * lines.inner), inner));
            });
        });
    }

    void join() {
        const std::size_t axis = ir::attribute<ir::AxisAttribute>(op_).axis;
        const Lines whole = lines_along(type(op_.result()).shape, axis);
        std::int64_t before = 0;
        for (const ir::ValueId part : op_.operands) {
            const std::int64_t row = type(part).shape[axis] * whole.inner;
            loop(whole.outer, [&](llvm::Value* outer) {
                loop(row, [&](llvm::Value* along) {
                    llvm::Value* from = add(times(outer, row), along);
                    llvm::Value* to = add(add(times(outer, whole.length * whole.inner), i64(before)), along);
                    set_element(op_.result(), to, element(part, from));
                });
            });
            before += row;
        }
    }

    /// What the block yields for two elements of each tile.
    Values combined(llvm::ArrayRef<llvm::Value*> so_far, llvm::ArrayRef<llvm::Value*> next) {
        const ir::Block& block = state_.kernel[op_.blocks.front()];
        for (std::size_t i = 0; i < so_far.size(); ++i) {
            state_.scalars[block.arguments[i].index] = so_far[i];
            state_.scalars[block.arguments[so_far.size() + i].index] = next[i];
        }
        emit_block_(op_.blocks.front());
        Values yielded;
        for (const ir::ValueId value : state_.kernel[block.ops.back()].operands)
            yielded.push_back(state_.scalar(value));
        return yielded;
    }
    Values elements(llvm::Value* index) {
        Values values;
        for (const ir::ValueId tile : op_.operands) values.push_back(element(tile, index));
        return values;
    }
    /// Combines the elements of a line one after another; `seen(place, combined)` is called for each of them.
    Values combine_line(const Lines& lines, llvm::Value* first,
                        llvm::function_ref<void(llvm::Value*, llvm::ArrayRef<llvm::Value*>)> seen) {
        const Values initial = elements(first);
        seen(first, initial);
        if (lines.length == 1) return initial;
        return emit_loop(builder_, i64(1), i64(lines.length), 1, initial,
                         [&](llvm::Value* k, llvm::ArrayRef<llvm::Value*> so_far) {
                             llvm::Value* place = add(first, times(k, lines.inner));
                             const Values next = elements(place);
                             const Values result = combined(so_far, next);
                             seen(place, result);
                             return result;
                         });
    }

    void fold() {
        const Lines lines = lines_along(type(op_.operands.front()).shape, ir::attribute<ir::AxisAttribute>(op_).axis);
        each_line(lines, [&](llvm::Value* line, llvm::Value* first) {
            const Values values = combine_line(lines, first, [](llvm::Value*, llvm::ArrayRef<llvm::Value*>) {});
            for (std::size_t i = 0; i < values.size(); ++i) set_result(op_.results[i], line, values[i]);
        });
    }

    void scan() {
        const Lines lines = lines_along(type(op_.operands.front()).shape, ir::attribute<ir::AxisAttribute>(op_).axis);
        each_line(lines, [&](llvm::Value*, llvm::Value* first) {
            combine_line(lines, first, [&](llvm::Value* place, llvm::ArrayRef<llvm::Value*> values) {
                for (std::size_t i = 0; i < values.size(); ++i) set_element(op_.results[i], place, values[i]);
            });
        });
    }

    llvm::Value* evaluate(OpKind kind, std::initializer_list<llvm::Value*> operands) {
        const std::vector<llvm::Value*> values(operands);
        return ops_.elementwise(kind, type(op_.operands.front()).element, values);
    }
    /// Whether a goes before b by value.
    llvm::Value* goes_before(llvm::Value* a, llvm::Value* b) {
        if (ir::attribute<ir::SortAttribute>(op_).descending) std::swap(a, b);
        llvm::Value* only_b =
            builder_.CreateAnd(builder_.CreateNot(evaluate(OpKind::IsNan, {a})), evaluate(OpKind::IsNan, {b}));
        return builder_.CreateOr(evaluate(OpKind::Less, {a, b}), only_b);
    }

    void sort() {
        const Lines lines = lines_along(type(op_.result()).shape, ir::attribute<ir::SortAttribute>(op_).axis);
        const ir::ValueId tile = op_.operands.front();
        each_line(lines, [&](llvm::Value*, llvm::Value* first) {
            loop(lines.length, [&](llvm::Value* k) {
                llvm::Value* value = element(tile, add(first, times(k, lines.inner)));
                const auto count = [&](llvm::Value* other, llvm::ArrayRef<llvm::Value*> carried) {
                    llvm::Value* compared = element(tile, add(first, times(other, lines.inner)));
                    llvm::Value* tie = builder_.CreateAnd(builder_.CreateNot(goes_before(value, compared)),
                                                          builder_.CreateICmpSLT(other, k));
                    llvm::Value* before = builder_.CreateOr(goes_before(compared, value), tie);
                    return Values{add(carried[0], builder_.CreateZExt(before, builder_.getInt64Ty()))};
                };
                const Values rank = emit_loop(builder_, i64(0), i64(lines.length), 1, {i64(0)}, count);
                llvm::Value* place = add(first, builder_.CreateMul(rank[0], i64(lines.inner)));
                set_element(op_.results[0], place, value);
                set_element(op_.results[1], place, k);
            });
        });
    }

    void bincount() {
        const ir::ValueId tile = op_.operands.front(), bins = op_.result();
        const std::int64_t count = type(bins).shape.count();
        loop(count, [&](llvm::Value* k) { set_element(bins, k, builder_.getInt32(0)); });
        loop(type(tile).shape.count(), [&](llvm::Value* k) {
            llvm::Value* bin = ops_.convert(OpKind::Convert, element(tile, k), type(tile).element, ir::kInt);
            llvm::Value* counts = builder_.CreateICmpULT(bin, i64(count));
            if (op_.operands.size() == 2) counts = builder_.CreateAnd(counts, element(op_.operands[1], k));
            const auto increment = [&] {
                set_element(bins, bin, builder_.CreateAdd(element(bins, bin), builder_.getInt32(1)));
            };
            emit_branch(builder_, counts, increment, [] {});
        });
    }

    // Atomics

    void atomic() {
        const ir::Shape shape = type(op_.result()).shape;
        update_axis(shape, {}, i64(0));
    }
    void update_axis(const ir::Shape& shape, const Coordinates& outer, llvm::Value* index) {
        if (outer.size() == shape.rank()) return update(outer, index);
        const std::int64_t length = shape[outer.size()];
        loop(length, [&](llvm::Value* along) {
            Coordinates at = outer;
            at.push_back({along, false});
            update_axis(shape, at, add(times(index, length), along));
        });
    }

    llvm::Value* operand_element(std::size_t operand, llvm::Value* index) {
        const ir::ValueId value = op_.operands[operand];
        return type(value).is_scalar() ? state_.scalar(value) : element(value, index);
    }

    void update(const Coordinates& at, llvm::Value* index) {
        const auto& atomic = ir::attribute<ir::AtomicAttribute>(op_);
        Evaluator evaluator(state_, false);
        const AccessPoint point = evaluator.locate(op_, at);
        const std::size_t first = 1 + ir::axis_operand_count(atomic.access);
        const std::size_t last = atomic.kind == AtomicKind::Cas ? first + 1 : first;
        const auto change = [&] {
            return Values{exchange(atomic, point.address, operand_element(first, index), operand_element(last, index))};
        };
        Values old;
        if (point.mask == nullptr) {
            old = change();
        } else {
            old = emit_if(builder_, point.mask, change, [&] { return Values{state_.scalar(op_.operands[last + 1])}; });
        }
        set_result(op_.result(), index, old[0]);
    }

    /// Does one update and gives what stood there before.
    llvm::Value* exchange(const ir::AtomicAttribute& atomic, llvm::Value* pointer, llvm::Value* first,
                          llvm::Value* last) {
        const ir::ScalarType element = type(op_.result()).element;
        const auto order = atomic.publishes ? llvm::AtomicOrdering::AcquireRelease : llvm::AtomicOrdering::Monotonic;
        llvm::Type* bits = builder_.getIntNTy(static_cast<unsigned>(ir::bit_width(element)));
        const llvm::MaybeAlign align(static_cast<std::uint64_t>(ir::byte_width(element)));
        llvm::Type* form = last->getType();
        if (atomic.kind == AtomicKind::Cas) {
            const auto failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order);
            llvm::Value* pair = builder_.CreateAtomicCmpXchg(pointer, builder_.CreateBitCast(first, bits),
                                                             builder_.CreateBitCast(last, bits), align, order, failure);
            return builder_.CreateBitCast(builder_.CreateExtractValue(pair, 0), form);
        }
        if (const auto instruction = instruction_of(atomic.kind, element)) {
            llvm::Value* value = builder_.CreateBitCast(last, bits);
            llvm::Value* old = builder_.CreateAtomicRMW(*instruction, pointer, value, align, order);
            return builder_.CreateBitCast(old, form);
        }
        return exchange_until_done(atomic, pointer, last, order);
    }

    /// The instruction that does it on integers, or on bits.
    static std::optional<llvm::AtomicRMWInst::BinOp> instruction_of(AtomicKind kind, ir::ScalarType element) {
        const bool integer = ir::is_integer(element), is_signed = ir::is_signed(element);
        switch (kind) {
            case AtomicKind::Add:
                return integer ? std::optional(llvm::AtomicRMWInst::Add) : std::nullopt;
            case AtomicKind::Min:
                if (!integer) return std::nullopt;
                return is_signed ? llvm::AtomicRMWInst::Min : llvm::AtomicRMWInst::UMin;
            case AtomicKind::Max:
                if (!integer) return std::nullopt;
                return is_signed ? llvm::AtomicRMWInst::Max : llvm::AtomicRMWInst::UMax;
            case AtomicKind::And:
                return llvm::AtomicRMWInst::And;
            case AtomicKind::Or:
                return llvm::AtomicRMWInst::Or;
            case AtomicKind::Xor:
                return llvm::AtomicRMWInst::Xor;
            case AtomicKind::Exchange:
                return llvm::AtomicRMWInst::Xchg;
            case AtomicKind::Cas:
                return std::nullopt;
        }
        throw support::InternalError("codegen::cpu", "unknown kind of atomic");
    }

    static OpKind operation_of(AtomicKind kind) {
        if (kind == AtomicKind::Add) return OpKind::Add;
        return kind == AtomicKind::Min ? OpKind::Min : OpKind::Max;
    }

    /// Computes the new value from the old one until nobody has come between.
    llvm::Value* exchange_until_done(const ir::AtomicAttribute& atomic, llvm::Value* pointer, llvm::Value* value,
                                     llvm::AtomicOrdering order) {
        const ir::ScalarType element = type(op_.result()).element;
        llvm::Type* bits = builder_.getIntNTy(static_cast<unsigned>(ir::bit_width(element)));
        const llvm::Align align(static_cast<std::uint64_t>(ir::byte_width(element)));
        auto* seen = builder_.CreateAlignedLoad(bits, pointer, align, "seen");
        seen->setAtomic(llvm::AtomicOrdering::Monotonic);
        llvm::BasicBlock* before = builder_.GetInsertBlock();
        auto* attempt = llvm::BasicBlock::Create(builder_.getContext(), "attempt", before->getParent());
        auto* done = llvm::BasicBlock::Create(builder_.getContext(), "exchanged", before->getParent());
        builder_.CreateBr(attempt);
        builder_.SetInsertPoint(attempt);
        llvm::PHINode* old = builder_.CreatePHI(bits, 2, "old");
        old->addIncoming(seen, before);
        llvm::Value* operands[] = {builder_.CreateBitCast(old, value->getType()), value};
        llvm::Value* next = ops_.elementwise(operation_of(atomic.kind), element, operands);
        llvm::Value* pair = builder_.CreateAtomicCmpXchg(pointer, old, builder_.CreateBitCast(next, bits), align, order,
                                                         llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(order));
        old->addIncoming(builder_.CreateExtractValue(pair, 0), builder_.GetInsertBlock());
        builder_.CreateCondBr(builder_.CreateExtractValue(pair, 1), done, attempt);
        builder_.SetInsertPoint(done);
        return builder_.CreateBitCast(old, value->getType());
    }

    PhaseState& state_;
    const VectorOps& ops_;
    llvm::IRBuilder<>& builder_;
    const ir::Op& op_;
    llvm::function_ref<void(ir::BlockId)> emit_block_;
};

}  // namespace

void emit_elements(PhaseState& state, const ir::Op& op, llvm::function_ref<void(ir::BlockId)> emit_block) {
    ElementsLowering(state, op, emit_block).run();
}

}  // namespace kiln::codegen::cpu
