#include "ir/interpret.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

#include "ir/support/internal_error.h"
#include "ir/tile_memory.h"
#include "ir/tile_ops.h"

namespace kiln::ir {

namespace {

/// Runs programs of one phase. All that does not depend on the program is done once, by the constructor: every value of
/// the phase gets a place in memory, and every op becomes a step that knows the places of its operands. Control flow
/// runs on a stack of frames, one for each block that has been entered.
class Interpreter {
public:
    Interpreter(const Kernel& kernel, const Launch& launch, std::span<const Argument> arguments,
                std::span<const TensorView> scratch, std::size_t phase, const PrintSink& print, RunObserver* observer);

    void run_program(const std::vector<std::int64_t>& offsets);

private:
    struct Step;
    using Handler = void (Interpreter::*)(const Step&);

    /// An op, ready to run.
    struct Step {
        Handler handler = nullptr;
        const Op* op = nullptr;
        std::byte* result = nullptr;                 ///< of the first result, unless it is a tensor
        std::array<const std::byte*, 3> operands{};  ///< of the first three; missing ones and tensors repeat the first
        ElementwiseOp elementwise;
        std::size_t count = 1;  ///< elements of the first result
        bool is_scalar = true;  ///< whether the first result is one
        bool followed = false;  ///< by the observer
    };

    /// What a block that has been entered belongs to.
    enum class Region : std::uint8_t { Phase, For, WhileCondition, WhileBody, If, Combine };
    struct Frame {
        Region region = Region::Phase;
        const Op* owner = nullptr;
        const Step* next = nullptr;
        const Step* end = nullptr;
        std::int64_t index = 0, upper = 0, step = 0;  ///< of a For
    };

    void bind_launch_values(const Launch& launch, std::span<const Argument> arguments,
                            std::span<const TensorView> scratch);
    std::vector<BlockId> find_blocks(BlockId root) const;
    void place_values(const std::vector<BlockId>& blocks);
    void make_steps(const std::vector<BlockId>& blocks);
    Step make_step(const Op& op);
    Handler handler_for(OpKind kind) const;
    void prepare_elementwise(Step& step) const;

    std::size_t count_of(ValueId value) const { return static_cast<std::size_t>(kernel_.type(value).shape.count()); }
    std::size_t bytes_of(ValueId value) const {
        return count_of(value) * tile_element_bytes(kernel_.type(value).element);
    }
    std::int64_t integer(ValueId value, std::size_t k = 0) const;
    MemoryView& view(ValueId value) { return views_[view_of_[value.index]]; }

    void run_until(std::size_t depth);
    void enter(Region region, const Op* owner, BlockId block);
    void assign(std::span<const ValueId> targets, std::span<const ValueId> sources);
    void copy_value(std::byte* target, const std::byte* source, ValueId value) {
        std::memcpy(target, source, bytes_of(value));
    }

    void tell_computed(const Step& step);
    void tell_touched(const Op& op, Touch touch, const std::byte* mask);
    void tell_narrowed(const Op& op);

    void run_elementwise(const Step& step);
    void run_conversion(const Step& step);
    void run_constant(const Step& step);
    void run_iota(const Step& step);
    void run_broadcast(const Step& step);
    void run_reshape(const Step& step);
    void run_permute(const Step& step);
    void run_extract(const Step& step);
    void run_reduce(const Step& step);
    void run_dot(const Step& step);
    void run_join(const Step& step);
    void run_fold(const Step& step);
    void run_scan(const Step& step);
    void combine(const Op& op);
    void run_sort(const Step& step);
    void run_bincount(const Step& step);
    void run_atomic(const Step& step);
    void run_print(const Step& step);
    void run_assert(const Step& step);
    std::string message_of(const Op& op, std::size_t first) const;
    std::string text_of(ValueId value) const;
    void run_view(const Step& step);
    void run_size(const Step& step);
    void run_load(const Step& step);
    void run_store(const Step& step);
    void run_for(const Step& step);
    void run_while(const Step& step);
    void run_if(const Step& step);
    void run_yield(const Step& step);
    void next_iteration(Frame& frame, std::span<const ValueId> yielded);
    void decide_while(const Frame& frame, std::span<const ValueId> yielded);
    void repeat_while(const Frame& frame, std::span<const ValueId> yielded);
    void set_index(BlockId body, std::int64_t index);
    std::size_t add_axes(const Op& op, const AccessAttribute& access);

    const Kernel& kernel_;
    const Phase& phase_;
    const PrintSink& print_;
    RunObserver* observer_;
    std::vector<std::int64_t> offsets_;  ///< of the running program
    std::vector<std::uint64_t> words_;   ///< scalars by ValueId; the pattern is in the low bytes, the rest is zero
    std::vector<std::byte*> places_;     ///< by ValueId: into words_ or tiles_
    std::unique_ptr<std::uint64_t[]> tiles_;
    std::vector<std::uint32_t> view_of_;  ///< by ValueId: into views_
    std::vector<MemoryView> views_;
    std::vector<std::vector<Step>> steps_;  ///< by BlockId
    std::vector<Frame> frames_;
    std::vector<std::byte> staged_;
    std::vector<std::int64_t> axis_values_;
    Footprint footprint_;
};

Interpreter::Interpreter(const Kernel& kernel, const Launch& launch, std::span<const Argument> arguments,
                         std::span<const TensorView> scratch, std::size_t phase, const PrintSink& print,
                         RunObserver* observer)
    : kernel_(kernel),
      phase_(kernel.phases[phase]),
      print_(print),
      observer_(observer),
      words_(kernel.values.size()),
      places_(kernel.values.size()),
      view_of_(kernel.values.size()),
      steps_(kernel.blocks.size()) {
    bind_launch_values(launch, arguments, scratch);
    const std::vector<BlockId> blocks = find_blocks(phase_.block);
    place_values(blocks);
    make_steps(blocks);
}

void Interpreter::bind_launch_values(const Launch& launch, std::span<const Argument> arguments,
                                     std::span<const TensorView> scratch) {
    for (std::size_t i = 0; i < kernel_.values.size(); ++i) {
        words_[i] = launch.values[i].bits;
        places_[i] = reinterpret_cast<std::byte*>(&words_[i]);
        if (!kernel_.values[i].type.is_tensor()) continue;
        view_of_[i] = static_cast<std::uint32_t>(views_.size());
        views_.emplace_back();
    }
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        const auto* tensor = std::get_if<TensorView>(&arguments[i]);
        if (tensor != nullptr) view(kernel_.parameters[i].value) = whole_view(*tensor);
    }
    if (scratch.size() != kernel_.scratch.size()) {
        throw support::InternalError("ir::interpret", "scratch tensors do not match the kernel's declarations");
    }
    for (std::size_t i = 0; i < scratch.size(); ++i) view(kernel_.scratch[i].value) = whole_view(scratch[i]);
}

std::vector<BlockId> Interpreter::find_blocks(BlockId root) const {
    std::vector<BlockId> blocks{root};
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        for (const OpId id : kernel_[blocks[i]].ops) {
            const std::vector<BlockId>& inner = kernel_[id].blocks;
            blocks.insert(blocks.end(), inner.begin(), inner.end());
        }
    }
    return blocks;
}

void Interpreter::place_values(const std::vector<BlockId>& blocks) {
    std::vector<ValueId> tiles;
    const auto note = [&](ValueId value) {
        if (kernel_.type(value).is_tile()) tiles.push_back(value);
    };
    for (const BlockId block : blocks) {
        for (const ValueId argument : kernel_[block].arguments) note(argument);
        for (const OpId id : kernel_[block].ops) {
            for (const ValueId result : kernel_[id].results) note(result);
        }
    }
    const auto words = [&](ValueId value) { return (bytes_of(value) + 7) / 8; };
    std::size_t total = 0;
    for (const ValueId value : tiles) total += words(value);
    tiles_ = std::make_unique<std::uint64_t[]>(total);
    std::uint64_t* next = tiles_.get();
    for (const ValueId value : tiles) {
        places_[value.index] = reinterpret_cast<std::byte*>(next);
        next += words(value);
    }
}

void Interpreter::make_steps(const std::vector<BlockId>& blocks) {
    for (const BlockId block : blocks) {
        for (const OpId id : kernel_[block].ops) steps_[block.index].push_back(make_step(kernel_[id]));
    }
}

Interpreter::Step Interpreter::make_step(const Op& op) {
    Step step{handler_for(op.kind), &op};
    for (std::size_t i = 0; i < step.operands.size() && !op.operands.empty(); ++i) {
        step.operands[i] = places_[op.operands[i < op.operands.size() ? i : 0].index];
    }
    if (!op.results.empty() && !kernel_.type(op.result()).is_tensor()) {
        step.result = places_[op.result().index];
        step.count = count_of(op.result());
        step.is_scalar = kernel_.type(op.result()).is_scalar();
    }
    if (step.handler == &Interpreter::run_elementwise) prepare_elementwise(step);
    step.followed = observer_ != nullptr && is_elementwise(op.kind) && observer_->follows(op);
    return step;
}

void Interpreter::prepare_elementwise(Step& step) const {
    const Op& op = *step.op;
    const auto element = [&](ValueId value) { return kernel_.type(value).element; };
    const ValueId typed = op.operands[op.kind == OpKind::Select ? 1 : 0];
    step.elementwise.function = element_function(op.kind, element(typed));
    step.elementwise.result_bytes = tile_element_bytes(element(op.result()));
    step.elementwise.first_bytes = tile_element_bytes(element(op.operands[0]));
    step.elementwise.other_bytes = tile_element_bytes(element(typed));
}

Interpreter::Handler Interpreter::handler_for(OpKind kind) const {
    switch (kind) {
        case OpKind::Constant:
            return &Interpreter::run_constant;
        case OpKind::Iota:
            return &Interpreter::run_iota;
        case OpKind::Broadcast:
            return &Interpreter::run_broadcast;
        case OpKind::Reshape:
            return &Interpreter::run_reshape;
        case OpKind::Permute:
            return &Interpreter::run_permute;
        case OpKind::Extract:
            return &Interpreter::run_extract;
        case OpKind::Add:
        case OpKind::Sub:
        case OpKind::Mul:
        case OpKind::Div:
        case OpKind::Rem:
        case OpKind::Neg:
        case OpKind::And:
        case OpKind::Or:
        case OpKind::Xor:
        case OpKind::Not:
        case OpKind::Shl:
        case OpKind::Shr:
        case OpKind::LogicalAnd:
        case OpKind::LogicalOr:
        case OpKind::LogicalNot:
        case OpKind::Equal:
        case OpKind::NotEqual:
        case OpKind::Less:
        case OpKind::LessEqual:
        case OpKind::Greater:
        case OpKind::GreaterEqual:
        case OpKind::Abs:
        case OpKind::Min:
        case OpKind::Max:
        case OpKind::Minimum:
        case OpKind::Maximum:
        case OpKind::Fma:
        case OpKind::Sqrt:
        case OpKind::Exp:
        case OpKind::Exp2:
        case OpKind::Log:
        case OpKind::Log2:
        case OpKind::Rsqrt:
        case OpKind::Sin:
        case OpKind::Cos:
        case OpKind::Tanh:
        case OpKind::Erf:
        case OpKind::Pow:
        case OpKind::Floor:
        case OpKind::Ceil:
        case OpKind::Trunc:
        case OpKind::Round:
        case OpKind::IsNan:
        case OpKind::IsInf:
        case OpKind::Select:
        case OpKind::CeilDiv:
        case OpKind::FloorDiv:
        case OpKind::Mod:
        case OpKind::Ilog2:
        case OpKind::Popcount:
        case OpKind::Clz:
            return &Interpreter::run_elementwise;
        case OpKind::Convert:
        case OpKind::Saturate:
        case OpKind::Bitcast:
            return &Interpreter::run_conversion;
        case OpKind::Reduce:
            return &Interpreter::run_reduce;
        case OpKind::Dot:
            return &Interpreter::run_dot;
        case OpKind::Join:
            return &Interpreter::run_join;
        case OpKind::Fold:
            return &Interpreter::run_fold;
        case OpKind::Scan:
            return &Interpreter::run_scan;
        case OpKind::Sort:
            return &Interpreter::run_sort;
        case OpKind::Bincount:
            return &Interpreter::run_bincount;
        case OpKind::Atomic:
            return &Interpreter::run_atomic;
        case OpKind::Print:
            return &Interpreter::run_print;
        case OpKind::Assert:
            return &Interpreter::run_assert;
        case OpKind::View:
            return &Interpreter::run_view;
        case OpKind::Size:
            return &Interpreter::run_size;
        case OpKind::Load:
            return &Interpreter::run_load;
        case OpKind::Store:
            return &Interpreter::run_store;
        case OpKind::For:
            return &Interpreter::run_for;
        case OpKind::While:
            return &Interpreter::run_while;
        case OpKind::If:
            return &Interpreter::run_if;
        case OpKind::Yield:
            return &Interpreter::run_yield;
        case OpKind::Units:
        case OpKind::Require:
            break;
    }
    throw support::InternalError("ir::interpret", "`" + std::string(info(kind).mnemonic) + "` outside the host block");
}

/// An integer of any type as an index; u64 values too large for one become the largest, which is outside everything.
std::int64_t Interpreter::integer(ValueId value, std::size_t k) const {
    const ScalarType type = kernel_.type(value).element;
    const bool is_scalar = kernel_.type(value).is_scalar();
    const std::uint64_t bits = is_scalar ? words_[value.index] : tile_pattern(type, places_[value.index], k);
    if (type == ScalarType::I64) return static_cast<std::int64_t>(bits);
    constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
    if (type == ScalarType::U64 && bits > static_cast<std::uint64_t>(kLargest)) return kLargest;
    return integer_value(type, bits);
}

void Interpreter::run_program(const std::vector<std::int64_t>& offsets) {
    const std::vector<ValueId>& arguments = kernel_[phase_.block].arguments;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        words_[arguments[i].index] = static_cast<std::uint64_t>(offsets[i]);
    }
    offsets_ = offsets;
    enter(Region::Phase, nullptr, phase_.block);
    run_until(0);
}

/// Runs until no more than `depth` frames are left.
void Interpreter::run_until(std::size_t depth) {
    while (frames_.size() > depth) {
        Frame& frame = frames_.back();
        if (frame.next == frame.end) {
            frames_.pop_back();
            continue;
        }
        const Step& step = *frame.next++;
        (this->*step.handler)(step);
    }
}

void Interpreter::enter(Region region, const Op* owner, BlockId block) {
    const std::vector<Step>& steps = steps_[block.index];
    frames_.push_back({region, owner, steps.data(), steps.data() + steps.size()});
}

/// Gives the values of `sources` to `targets`, as if all at once: a source may be another's target.
void Interpreter::assign(std::span<const ValueId> targets, std::span<const ValueId> sources) {
    if (targets.size() != sources.size()) throw support::InternalError("ir::interpret", "values do not match a block");
    const bool overlapping = std::any_of(sources.begin(), sources.end(), [&](ValueId source) {
        return std::find(targets.begin(), targets.end(), source) != targets.end();
    });
    if (!overlapping) {
        for (std::size_t i = 0; i < targets.size(); ++i) {
            if (kernel_.type(targets[i]).is_scalar()) {
                words_[targets[i].index] = words_[sources[i].index];
            } else {
                copy_value(places_[targets[i].index], places_[sources[i].index], targets[i]);
            }
        }
        return;
    }
    staged_.clear();
    for (const ValueId source : sources) {
        const std::byte* place = places_[source.index];
        staged_.insert(staged_.end(), place, place + bytes_of(source));
    }
    const std::byte* next = staged_.data();
    for (const ValueId target : targets) {
        copy_value(places_[target.index], next, target);
        next += bytes_of(target);
    }
}

void Interpreter::tell_computed(const Step& step) {
    const std::vector<ValueId>& operands = step.op->operands;
    const auto pattern = [&](ValueId value, std::size_t k) {
        if (step.is_scalar) return words_[value.index];
        return tile_pattern(kernel_.type(value).element, places_[value.index], k);
    };
    for (std::size_t k = 0; k < step.count; ++k) {
        observer_->compute(*step.op, pattern(operands.front(), k), pattern(operands[operands.size() > 1 ? 1 : 0], k));
    }
}

/// Of the elements that the footprint holds.
void Interpreter::tell_touched(const Op& op, Touch touch, const std::byte* mask) {
    if (observer_ == nullptr) return;
    footprint_.visit([&](std::size_t position, bool inside, std::uint64_t offset) {
        if (inside && (mask == nullptr || mask[position] != std::byte{0})) observer_->touch(op, touch, offset);
    });
}

/// Of the bounds that axis_values_ holds.
void Interpreter::tell_narrowed(const Op& op) {
    if (observer_ == nullptr) return;
    const auto& access = attribute<AccessAttribute>(op);
    auto value = axis_values_.begin();
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        if (access.axes[axis].kind == AxisKind::Index) ++value;
        if (access.axes[axis].kind != AxisKind::Range) continue;
        observer_->narrow(op, axis, value[0], value[1], view(op.operands[0]).sizes[axis]);
        value += 2;
    }
}

void Interpreter::run_elementwise(const Step& step) {
    if (step.followed) tell_computed(step);
    if (!step.is_scalar) {
        apply_elementwise(step.elementwise, step.result, step.operands, step.count);
        return;
    }
    std::array<std::uint64_t, 3> bits;
    for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(&bits[i], step.operands[i], sizeof bits[i]);
    const std::uint64_t value = step.elementwise.function(bits[0], bits[1], bits[2]);
    std::memcpy(step.result, &value, sizeof value);
}

void Interpreter::run_conversion(const Step& step) {
    const ScalarType from = kernel_.type(step.op->operands[0]).element;
    const ScalarType to = kernel_.type(step.op->result()).element;
    if (step.followed) tell_computed(step);
    if (step.is_scalar) {
        words_[step.op->result().index] = convert_bits(step.op->kind, words_[step.op->operands[0].index], from, to);
        return;
    }
    convert_tile(step.op->kind, from, to, step.operands[0], step.result, step.count);
}

void Interpreter::run_constant(const Step& step) {
    const std::uint64_t bits = attribute<Scalar>(*step.op).bits;
    std::memcpy(step.result, &bits, sizeof bits);
}

void Interpreter::run_iota(const Step& step) {
    // The low bytes come first.
    const std::size_t bytes = tile_element_bytes(kernel_.type(step.op->result()).element);
    for (std::size_t i = 0; i < step.count; ++i) std::memcpy(step.result + bytes * i, &i, bytes);
}

void Interpreter::run_broadcast(const Step& step) {
    const Type& from = kernel_.type(step.op->operands[0]);
    const Type& to = kernel_.type(step.op->result());
    Shape strides = dense_strides(from.shape, true);
    if (from.is_scalar()) {
        for (std::size_t axis = 0; axis < to.shape.rank(); ++axis) strides.push_back(0);
    }
    copy_strided(tile_element_bytes(to.element), step.operands[0], 0, strides, step.result, to.shape);
}

void Interpreter::run_reshape(const Step& step) {
    copy_value(step.result, step.operands[0], step.op->result());
}

void Interpreter::run_permute(const Step& step) {
    const Shape from = dense_strides(kernel_.type(step.op->operands[0]).shape);
    const Type& to = kernel_.type(step.op->result());
    Shape strides;
    for (const std::int64_t axis : attribute<AxesAttribute>(*step.op).axes) {
        strides.push_back(from[static_cast<std::size_t>(axis)]);
    }
    copy_strided(tile_element_bytes(to.element), step.operands[0], 0, strides, step.result, to.shape);
}

void Interpreter::run_extract(const Step& step) {
    const Shape strides = dense_strides(kernel_.type(step.op->operands[0]).shape);
    const Shape& starts = attribute<AxesAttribute>(*step.op).axes;
    const Type& to = kernel_.type(step.op->result());
    std::int64_t start = 0;
    for (std::size_t axis = 0; axis < starts.rank(); ++axis) start += starts[axis] * strides[axis];
    copy_strided(tile_element_bytes(to.element), step.operands[0], start, strides, step.result, to.shape);
}

void Interpreter::run_reduce(const Step& step) {
    const Type& from = kernel_.type(step.op->operands[0]);
    reduce_tile(attribute<ReduceAttribute>(*step.op), from.element, step.operands[0], from.shape, step.result);
}

void Interpreter::run_dot(const Step& step) {
    const Type& a = kernel_.type(step.op->operands[0]);
    const Type& b = kernel_.type(step.op->operands[1]);
    const Type& result = kernel_.type(step.op->result());
    DotOp dot{a.element, b.element, result.element};
    dot.rows = static_cast<std::size_t>(a.shape[0]);
    dot.depth = static_cast<std::size_t>(a.shape[1]);
    dot.columns = static_cast<std::size_t>(b.shape[1]);
    dot.exact_products = attribute<DotAttribute>(*step.op).precision == DotPrecision::Exact;
    dot_tiles(dot, step.operands[0], step.operands[1], step.operands[2], step.result);
}

void Interpreter::run_join(const Step& step) {
    const Op& op = *step.op;
    const std::size_t axis = attribute<AxisAttribute>(op).axis;
    const Type& to = kernel_.type(op.result());
    const std::size_t row = Line(to.shape, axis).inner * tile_element_bytes(to.element);
    std::byte* out = step.result;
    for (std::size_t outer = 0; outer < Line(to.shape, axis).outer; ++outer) {
        for (const ValueId part : op.operands) {
            const std::size_t bytes = static_cast<std::size_t>(kernel_.type(part).shape[axis]) * row;
            std::memcpy(out, places_[part.index] + outer * bytes, bytes);
            out += bytes;
        }
    }
}

/// Runs the block of a Fold or Scan, whose arguments are set: what it yields is then the first half of them.
void Interpreter::combine(const Op& op) {
    const BlockId block = op.blocks.front();
    enter(Region::Combine, &op, block);
    run_until(frames_.size() - 1);
    const std::span<const ValueId> arguments = kernel_[block].arguments;
    assign(arguments.first(arguments.size() / 2), kernel_[kernel_[block].ops.back()].operands);
}

void Interpreter::run_fold(const Step& step) {
    const Op& op = *step.op;
    const Line line(kernel_.type(op.operands[0]).shape, attribute<AxisAttribute>(op).axis);
    const std::span<const ValueId> arguments = kernel_[op.blocks[0]].arguments;
    const std::size_t parts = op.operands.size();
    for (std::size_t at = 0; at < line.count(); ++at) {
        for (std::size_t k = 0; k < line.length; ++k) {
            for (std::size_t i = 0; i < parts; ++i) {
                const ScalarType type = kernel_.type(op.operands[i]).element;
                const std::uint64_t bits = tile_pattern(type, places_[op.operands[i].index], line.element(at, k));
                words_[arguments[k == 0 ? i : parts + i].index] = bits;
            }
            if (k > 0) combine(op);
        }
        for (std::size_t i = 0; i < parts; ++i) {
            const ScalarType type = kernel_.type(op.results[i]).element;
            set_tile_pattern(type, places_[op.results[i].index], at, words_[arguments[i].index]);
        }
    }
}

void Interpreter::run_scan(const Step& step) {
    const Op& op = *step.op;
    const Line line(kernel_.type(op.operands[0]).shape, attribute<AxisAttribute>(op).axis);
    const std::span<const ValueId> arguments = kernel_[op.blocks[0]].arguments;
    const std::size_t parts = op.operands.size();
    for (std::size_t at = 0; at < line.count(); ++at) {
        for (std::size_t k = 0; k < line.length; ++k) {
            const std::size_t element = line.element(at, k);
            for (std::size_t i = 0; i < parts; ++i) {
                const ScalarType type = kernel_.type(op.operands[i]).element;
                const std::uint64_t bits = tile_pattern(type, places_[op.operands[i].index], element);
                words_[arguments[k == 0 ? i : parts + i].index] = bits;
            }
            if (k > 0) combine(op);
            for (std::size_t i = 0; i < parts; ++i) {
                const ScalarType type = kernel_.type(op.results[i]).element;
                set_tile_pattern(type, places_[op.results[i].index], element, words_[arguments[i].index]);
            }
        }
    }
}

void Interpreter::run_sort(const Step& step) {
    const Op& op = *step.op;
    const SortAttribute& sort = attribute<SortAttribute>(op);
    const Type& type = kernel_.type(op.operands[0]);
    sort_tile(sort, type.element, step.operands[0], type.shape, step.result, places_[op.results[1].index]);
}

void Interpreter::run_bincount(const Step& step) {
    const Op& op = *step.op;
    const std::byte* mask = op.operands.size() == 2 ? step.operands[1] : nullptr;
    std::memset(step.result, 0, bytes_of(op.result()));
    auto* bins = reinterpret_cast<std::uint32_t*>(step.result);
    for (std::size_t k = 0; k < count_of(op.operands[0]); ++k) {
        const std::int64_t value = integer(op.operands[0], k);
        const bool inside = value >= 0 && value < static_cast<std::int64_t>(step.count);
        if (inside && (mask == nullptr || mask[k] != std::byte{0})) ++bins[value];
    }
}

namespace {

ElementFunction atomic_function(AtomicKind kind, ScalarType element) {
    switch (kind) {
        case AtomicKind::Add:
            return element_function(OpKind::Add, element);
        case AtomicKind::Min:
            return element_function(OpKind::Min, element);
        case AtomicKind::Max:
            return element_function(OpKind::Max, element);
        case AtomicKind::And:
            return element_function(OpKind::And, element);
        case AtomicKind::Or:
            return element_function(OpKind::Or, element);
        case AtomicKind::Xor:
            return element_function(OpKind::Xor, element);
        case AtomicKind::Exchange:
            return [](std::uint64_t, std::uint64_t value, std::uint64_t) { return value; };
        case AtomicKind::Cas:
            return [](std::uint64_t old, std::uint64_t expected, std::uint64_t value) {
                return old == expected ? value : old;
            };
    }
    throw support::InternalError("ir::interpret", "unknown kind of atomic");
}

}  // namespace

void Interpreter::run_atomic(const Step& step) {
    const Op& op = *step.op;
    const AtomicAttribute& atomic = attribute<AtomicAttribute>(op);
    const std::size_t first = add_axes(op, atomic.access);
    const std::size_t last = atomic.kind == AtomicKind::Cas ? first + 1 : first;
    const MemoryView& tensor = view(op.operands[0]);
    const ElementFunction update = atomic_function(atomic.kind, tensor.element);
    const std::uint64_t fill = words_[op.operands[last + 1].index];
    const std::byte* mask = atomic.access.masked ? places_[op.operands[last + 2].index] : nullptr;
    const auto pattern = [&](std::size_t operand, std::size_t k) {
        return tile_pattern(tensor.element, places_[op.operands[operand].index], k);
    };
    tell_touched(op, Touch::Update, mask);
    with_element(tensor.element, [&]<class Element>(Element) {
        footprint_.visit([&](std::size_t position, bool inside, std::uint64_t offset) {
            std::uint64_t old = fill;
            if (inside && (mask == nullptr || mask[position] != std::byte{0})) {
                old = Element::load(tensor.data, offset);
                const std::uint64_t next = update(old, pattern(first, position), pattern(last, position));
                Element::store(tensor.data, offset, static_cast<typename Element::Tile>(next));
            }
            if (step.is_scalar) {
                words_[op.result().index] = old;
            } else {
                set_tile_pattern(tensor.element, step.result, position, old);
            }
        });
    });
}

/// A scalar as its text, a tile as `[1, 2, 3]` in row-major order.
std::string Interpreter::text_of(ValueId value) const {
    const Type& type = kernel_.type(value);
    if (type.is_scalar()) return to_string(Scalar{type.element, words_[value.index]});
    std::string text = "[";
    for (std::size_t k = 0; k < count_of(value); ++k) {
        text +=
            (k > 0 ? ", " : "") + to_string(Scalar{type.element, tile_pattern(type.element, places_[value.index], k)});
    }
    return text + "]";
}

std::string Interpreter::message_of(const Op& op, std::size_t first) const {
    std::vector<std::string> values;
    for (std::size_t i = first; i < op.operands.size(); ++i) values.push_back(text_of(op.operands[i]));
    return filled_message(attribute<MessageAttribute>(op).text, values);
}

void Interpreter::run_print(const Step& step) {
    const std::string line = message_of(*step.op, 0);
    if (print_) {
        print_(line);
    } else {
        std::fprintf(stderr, "%s\n", line.c_str());
    }
}

void Interpreter::run_assert(const Step& step) {
    if (*step.operands[0] != std::byte{0}) return;
    std::string program;
    for (const std::int64_t offset : offsets_) program += (program.empty() ? "" : ", ") + std::to_string(offset);
    const std::string message = message_of(*step.op, 1);
    if (observer_ != nullptr) observer_->fail(*step.op, message);
    throw AssertionFailed(message + ", in program (" + program + ")");
}

void Interpreter::run_view(const Step& step) {
    const Op& op = *step.op;
    axis_values_.clear();
    for (std::size_t i = 1; i < op.operands.size(); ++i) axis_values_.push_back(integer(op.operands[i]));
    tell_narrowed(op);
    view(op.result()) = narrow_view(view(op.operands[0]), attribute<AccessAttribute>(op), axis_values_);
}

void Interpreter::run_size(const Step& step) {
    const std::int64_t size = view(step.op->operands[0]).sizes[attribute<AxisAttribute>(*step.op).axis];
    std::memcpy(step.result, &size, sizeof size);
}

/// Describes the access to the footprint. Returns the place of the operand behind the axes': the fill or the value.
std::size_t Interpreter::add_axes(const Op& op, const AccessAttribute& access) {
    footprint_.begin(view(op.operands[0]));
    std::size_t operand = 1;
    for (const AxisAccess& axis : access.axes) {
        const ValueId value = op.operands[operand];
        switch (axis.kind) {
            case AxisKind::Index:
                footprint_.add_index(integer(value));
                break;
            case AxisKind::Slice:
                footprint_.add_slice(integer(value), axis.length);
                break;
            case AxisKind::Gather:
                footprint_.add_gather(count_of(value), [&](std::size_t k) { return integer(value, k); });
                break;
            case AxisKind::Range:
            case AxisKind::All:
                throw support::InternalError("ir::interpret", "a load or store of a range");
        }
        ++operand;
    }
    return operand;
}

void Interpreter::run_load(const Step& step) {
    const Op& op = *step.op;
    const auto& access = attribute<AccessAttribute>(op);
    const std::size_t behind = add_axes(op, access);
    const MemoryView& tensor = view(op.operands[0]);
    const std::uint64_t fill_bits = words_[op.operands[behind].index];
    const std::byte* mask = access.masked ? places_[op.operands[behind + 1].index] : nullptr;
    tell_touched(op, Touch::Read, mask);
    with_element(tensor.element, [&]<class Element>(Element) {
        using Tile = typename Element::Tile;
        auto* out = reinterpret_cast<Tile*>(step.result);
        const auto fill = static_cast<Tile>(fill_bits);
        footprint_.visit([&](std::size_t position, bool inside, std::uint64_t offset) {
            const bool wanted = inside && (mask == nullptr || mask[position] != std::byte{0});
            out[position] = wanted ? Element::load(tensor.data, offset) : fill;
        });
    });
}

void Interpreter::run_store(const Step& step) {
    const Op& op = *step.op;
    const auto& access = attribute<AccessAttribute>(op);
    const std::size_t behind = add_axes(op, access);
    const MemoryView& tensor = view(op.operands[0]);
    const std::byte* value = places_[op.operands[behind].index];
    const std::byte* mask = access.masked ? places_[op.operands[behind + 1].index] : nullptr;
    tell_touched(op, Touch::Write, mask);
    with_element(tensor.element, [&]<class Element>(Element) {
        const auto* in = reinterpret_cast<const typename Element::Tile*>(value);
        footprint_.visit([&](std::size_t position, bool inside, std::uint64_t offset) {
            const bool wanted = inside && (mask == nullptr || mask[position] != std::byte{0});
            if (wanted) Element::store(tensor.data, offset, in[position]);
        });
    });
}

void Interpreter::set_index(BlockId body, std::int64_t index) {
    words_[kernel_[body].arguments.front().index] = static_cast<std::uint64_t>(index);
}

void Interpreter::run_for(const Step& step) {
    const Op& op = *step.op;
    const std::span<const ValueId> initial = std::span(op.operands).subspan(3);
    const std::int64_t lower = integer(op.operands[0]);
    const std::int64_t upper = integer(op.operands[1]);
    const std::int64_t stride = integer(op.operands[2]);
    if (stride <= 0 || lower >= upper) {
        assign(op.results, initial);
        return;
    }
    const BlockId body = op.blocks.front();
    assign(std::span(kernel_[body].arguments).subspan(1), initial);
    set_index(body, lower);
    enter(Region::For, &op, body);
    frames_.back().index = lower;
    frames_.back().upper = upper;
    frames_.back().step = stride;
}

void Interpreter::run_while(const Step& step) {
    const BlockId condition = step.op->blocks[0];
    assign(kernel_[condition].arguments, step.op->operands);
    enter(Region::WhileCondition, step.op, condition);
}

void Interpreter::run_if(const Step& step) {
    const bool holds = *step.operands[0] != std::byte{0};
    enter(Region::If, step.op, step.op->blocks[holds ? 0 : 1]);
}

void Interpreter::run_yield(const Step& step) {
    const std::span<const ValueId> yielded = step.op->operands;
    Frame& frame = frames_.back();
    switch (frame.region) {
        case Region::For:
            return next_iteration(frame, yielded);
        case Region::WhileCondition:
            return decide_while(frame, yielded);
        case Region::WhileBody:
            return repeat_while(frame, yielded);
        case Region::If:
            assign(frame.owner->results, yielded);
            frames_.pop_back();
            return;
        case Region::Combine:
            frames_.pop_back();
            return;
        case Region::Phase:
            break;
    }
    throw support::InternalError("ir::interpret", "`yield` in the block of a phase");
}

void Interpreter::next_iteration(Frame& frame, std::span<const ValueId> yielded) {
    const std::uint64_t left = static_cast<std::uint64_t>(frame.upper) - static_cast<std::uint64_t>(frame.index);
    if (left <= static_cast<std::uint64_t>(frame.step)) {
        assign(frame.owner->results, yielded);
        frames_.pop_back();
        return;
    }
    const BlockId body = frame.owner->blocks.front();
    assign(std::span(kernel_[body].arguments).subspan(1), yielded);
    frame.index += frame.step;
    set_index(body, frame.index);
    frame.next = steps_[body.index].data();
}

void Interpreter::decide_while(const Frame& frame, std::span<const ValueId> yielded) {
    const Op& loop = *frame.owner;
    const bool holds = *places_[yielded.front().index] != std::byte{0};
    frames_.pop_back();
    if (!holds) {
        assign(loop.results, yielded.subspan(1));
        return;
    }
    assign(kernel_[loop.blocks[1]].arguments, yielded.subspan(1));
    enter(Region::WhileBody, &loop, loop.blocks[1]);
}

void Interpreter::repeat_while(const Frame& frame, std::span<const ValueId> yielded) {
    const Op& loop = *frame.owner;
    frames_.pop_back();
    assign(kernel_[loop.blocks[0]].arguments, yielded);
    enter(Region::WhileCondition, &loop, loop.blocks[0]);
}

/// Scratch of a launch on the host: rows of 4-bit elements take whole bytes. Memory that no program has written reads
/// as all bits set, which is NaN in the float types, so that such a read shows.
class ScratchMemory {
public:
    ScratchMemory(const Kernel& kernel, const Launch& launch) {
        for (std::size_t i = 0; i < kernel.scratch.size(); ++i) add(kernel, launch, i);
    }
    std::span<const TensorView> views() const { return views_; }

private:
    void add(const Kernel& kernel, const Launch& launch, std::size_t i) {
        const Scratch& scratch = kernel.scratch[i];
        const ScalarType element = kernel.type(scratch.value).element;
        Shape rows = launch.scratch[i];
        const std::size_t last = rows.rank() - 1;
        if (bit_width(element) < 8) rows[last] += rows[last] % 2;
        const auto count = static_cast<std::size_t>(rows.count());
        memory_.emplace_back(count * static_cast<std::size_t>(bit_width(element)) / 8, std::byte{0xff});
        views_.push_back({element, memory_.back().data(), launch.scratch[i], dense_strides(rows)});
        if (!scratch.initial) return;
        with_element(element, [&]<class Element>(Element) {
            const auto value = static_cast<typename Element::Tile>(launch.values[scratch.initial->index].bits);
            for (std::size_t k = 0; k < count; ++k) Element::store(memory_.back().data(), k, value);
        });
    }

    std::vector<std::vector<std::byte>> memory_;
    std::vector<TensorView> views_;
};

}  // namespace

void interpret_phase(const Kernel& kernel, const Launch& launch, std::span<const Argument> arguments,
                     std::span<const TensorView> scratch, std::size_t phase, std::int64_t first, std::int64_t last,
                     const PrintSink& print, RunObserver* observer) {
    if (first >= last) return;
    Interpreter interpreter(kernel, launch, arguments, scratch, phase, print, observer);
    for (std::int64_t program = first; program < last; ++program) {
        if (observer != nullptr) observer->begin_program(phase, program);
        interpreter.run_program(program_offsets(kernel, launch, phase, program));
    }
}

LaunchErrors interpret(const Kernel& kernel, std::span<const Argument> arguments, std::int64_t units,
                       const PrintSink& print, RunObserver* observer) try {
    auto prepared = prepare_launch(kernel, arguments, units);
    if (auto* errors = std::get_if<LaunchErrors>(&prepared)) return std::move(*errors);
    const Launch& launch = std::get<Launch>(prepared);
    const ScratchMemory scratch(kernel, launch);
    if (observer != nullptr) observer->begin_launch(launch);
    for (std::size_t phase = 0; phase < kernel.phases.size(); ++phase) {
        interpret_phase(kernel, launch, arguments, scratch.views(), phase, 0, launch.programs(phase), print, observer);
    }
    return {};
} catch (const AssertionFailed& failed) {
    return {{failed.what()}};
}

}  // namespace kiln::ir
