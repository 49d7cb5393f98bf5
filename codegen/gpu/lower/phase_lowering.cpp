#include "codegen/gpu/lower/phase_lowering.h"

#include <algorithm>
#include <cctype>

#include "codegen/gpu/lower/narrow_integers.h"
#include "codegen/gpu/lower/register_text.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

/// A hint as the beginning of a C name; a number follows, so that no name is a word or macro of C++, CUDA or HIP.
std::string stem(const std::string& hint) {
    std::string text;
    for (const char c : hint) text += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    if (text.empty() || !std::isalpha(static_cast<unsigned char>(text.front()))) text = "v" + text;
    return text;
}

}  // namespace

PhaseLowering::PhaseLowering(const Kernel& kernel, const Facts& facts, const std::vector<ScalarType>& stored,
                             std::size_t phase, const Target& target, int warps, SharedUse shared)
    : kernel_(kernel),
      facts_(facts),
      stored_(stored),
      phase_(kernel.phases[phase]),
      target_(target),
      warps_(warps),
      shared_(shared),
      values_(kernel, phase_.block),
      tensors_(kernel, facts, phase_),
      layouts_(assign_layouts(kernel, phase_, values_, tensors_, target, warps)),
      depth_of_(kernel.values.size(), 0),
      names_(kernel.values.size()),
      uses_(kernel.values.size()) {
    placed_.symbol = "kiln_" + stem(kernel.name) + "_" + std::to_string(phase);
    placed_.threads = warps * target.lanes;
}

PlacedPhase PhaseLowering::run() {
    const std::function<void(BlockId)> note_block = [&](BlockId block) {
        for (const OpId id : kernel_[block].ops) {
            const Op& op = kernel_[id];
            for (const ValueId operand : op.operands) uses_[operand.index].push_back(&op);
            if (op.kind == OpKind::Store || op.kind == OpKind::Atomic) {
                written_.insert(tensors_[op.operands[0]].root.index);
            }
            for (const BlockId inner : op.blocks) note_block(inner);
        }
    };
    note_block(phase_.block);
    add_frame();
    walk(phase_.block, placed_.body, false);
    return std::move(placed_);
}

/// The slots before the launch values, and who the thread is.
void PhaseLowering::add_frame() {
    placed_.slots.push_back({"long long", "first"});
    for (std::size_t i = 0; i < phase_.axes.size(); ++i) {
        placed_.slots.push_back({"long long", "extent_" + std::to_string(i)});
    }
    placed_.prologue.push_back("const unsigned lane = kiln_thread() % " + std::to_string(target_.lanes) + "u;");
    placed_.prologue.push_back("const unsigned warp = kiln_thread() / " + std::to_string(target_.lanes) + "u;");
    add_program_offsets();
}

void PhaseLowering::add_program_offsets() {
    std::vector<std::string>& lines = placed_.prologue;
    const std::vector<ValueId>& arguments = kernel_[phase_.block].arguments;
    if (arguments.empty()) return;
    lines.push_back("unsigned long long program = (unsigned long long)parameters.first + kiln_block();");
    for (std::size_t i = arguments.size(); i-- > 0;) {
        const GridAxis& axis = phase_.axes[i];
        const std::string extent = "(unsigned long long)parameters.extent_" + std::to_string(i);
        std::string index = i == 0 ? "program" : "program % " + extent;
        const std::string type = c_type(arguments[i]);
        std::string text = "(long long)(" + index + ")";
        if (!is_constant(axis.step, 1)) text += " * " + scalar_as(axis.step, ScalarType::I64);
        if (!is_constant(axis.lower, 0)) text = scalar_as(axis.lower, ScalarType::I64) + " + " + text;
        lines.push_back("const " + type + " " + name(arguments[i]) + " = (" + type + ")(" + text + ");");
        if (i > 0) lines.push_back("program /= " + extent + ";");
    }
}

void PhaseLowering::walk(BlockId block, Statements& out, bool repeats, const std::function<void()>& first,
                         const std::function<void()>& last) {
    scopes_.push_back({block, &out, repeats});
    for (const ValueId argument : kernel_[block].arguments) depth_of_[argument.index] = scopes_.size() - 1;
    if (first) first();
    for (const OpId id : kernel_[block].ops) lower(kernel_[id]);
    flush();
    if (last) last();
    close_scope();
}

void PhaseLowering::close_scope() {
    scopes_.pop_back();
    const auto ended = [&](const auto& kept) { return kept.depth >= scopes_.size(); };
    std::erase_if(copies_, ended);
    std::erase_if(staged_, ended);
}

void PhaseLowering::lower(const Op& op) {
    span_ = op.span;
    for (const ValueId result : op.results) depth_of_[result.index] = scopes_.size() - 1;
    switch (op.kind) {
#include "ir/elementwise_cases.def"
        return lower_elementwise(op);
        case OpKind::Reshape:
            return lower_reshape(op);
        case OpKind::Constant:  // written out where they are used
        case OpKind::Iota:
        case OpKind::Broadcast:
        case OpKind::Permute:
        case OpKind::Extract:
        case OpKind::Join:
        case OpKind::Size:
        case OpKind::Yield:
        case OpKind::Print:  // dropped, as the language allows where no host listens
        case OpKind::Assert:
            return;
        case OpKind::View:
            return lower_view(op);
        case OpKind::Load:
            return lower_load(op);
        case OpKind::Store:
            return lower_store(op);
        case OpKind::Atomic:
            return lower_atomic(op);
        case OpKind::Reduce:
            return lower_reduce(op);
        case OpKind::Dot:
            return lower_product(op);
        case OpKind::Fold:
            return lower_fold(op);
        case OpKind::Scan:
            return lower_scan(op);
        case OpKind::Sort:
            return lower_sort(op);
        case OpKind::Bincount:
            return lower_bincount(op);
        case OpKind::For:
            return lower_for(op);
        case OpKind::While:
            return lower_while(op);
        case OpKind::If:
            return lower_if(op);
        case OpKind::Units:
        case OpKind::Require:
            break;
    }
    throw support::InternalError("gpu::lower", "`" + std::string(info(op.kind).mnemonic) + "` in a phase");
}

void PhaseLowering::lower_elementwise(const Op& op) {
    if (kernel_.type(op.result()).is_scalar()) return lower_scalar(op);
    if (values_[op.result()] == TileForm::Kept) add_pending(op);
}

/// Only the one element of a tile as a scalar; other reshapes are views or parts, resolved where they are used.
void PhaseLowering::lower_reshape(const Op& op) {
    const ValueId operand = op.operands[0];
    if (!kernel_.type(op.result()).is_scalar() || kernel_.type(operand).is_scalar()) return;
    flush();
    Loop loop{repeated(kernel_.type(operand).shape, target_.lanes, warps_)};
    const std::string text = element(loop, operand);
    loop.lines.add("const " + c_type(op.result()) + " " + name(op.result()) + " = " + text + ";");
    emit(std::move(loop.lines));
}

void PhaseLowering::emit(Statement statement) {
    statement.span = span_;
    scopes_.back().out->push_back(std::move(statement));
}
void PhaseLowering::emit(Lines lines, std::vector<Touch> touches) {
    Statement statement;
    statement.lines = lines.take();
    statement.touches = std::move(touches);
    emit(std::move(statement));
}
void PhaseLowering::emit_barrier(bool orders_global) {
    Statement statement;
    statement.kind = Statement::Kind::Barrier;
    statement.orders_global = orders_global;
    emit(std::move(statement));
}

void PhaseLowering::refuse(const std::string& message) const {
    throw Refused{{message, span_}};
}

std::string PhaseLowering::fresh(const std::string& hint) {
    return stem(hint) + "_" + std::to_string(counter_++);
}

const std::string& PhaseLowering::name(ValueId value) {
    std::string& text = names_[value.index];
    if (text.empty()) text = fresh(kernel_[value].name.empty() ? "t" : kernel_[value].name);
    return text;
}

std::string PhaseLowering::hoisted(const std::string& type, const std::string& hint, const std::string& text) {
    std::string& known = hoisted_[text];
    if (known.empty()) {
        known = fresh(hint);
        placed_.prologue.push_back("const " + type + " " + known + " = " + text + ";");
    }
    return known;
}

std::string PhaseLowering::parameter_slot(const std::string& type, const std::string& slot) {
    placed_.slots.push_back({type, slot});
    return "parameters." + slot;
}

/// A value of the host block, a size or a scalar parameter: passed where it is first used.
std::string PhaseLowering::launch_scalar(ValueId value) {
    const std::string& local = name(value);
    const std::string key = "launch value " + std::to_string(value.index);
    if (hoisted_.emplace(key, local).second) {
        placed_.values.push_back(value);
        const std::string wide(gpu::c_type(kernel_.type(value).element));
        const std::string text = parameter_slot(wide, local);
        placed_.prologue.push_back("const " + c_type(value) + " " + local + " = " +
                                   (c_type(value) == wide ? text : "(" + c_type(value) + ")" + text) + ";");
    }
    return local;
}

std::string PhaseLowering::scalar(ValueId value) {
    const auto found = overrides_.find(value.index);
    if (found != overrides_.end()) return found->second;
    if (const std::optional<Scalar> constant = kernel_.constant(value)) {
        return literal(stored(value) == ScalarType::I32 ? Scalar::integer(ScalarType::I32, constant->as_int64())
                                                        : *constant);
    }
    const Op* op = kernel_.definition(value);
    const bool of_host = op != nullptr && op->parent == kernel_.host;
    if (of_host || (op == nullptr && !kernel_[value].block.valid())) return launch_scalar(value);
    if (op != nullptr && op->kind == OpKind::Size) {
        const std::string& size = tensor(op->operands[0]).sizes[attribute<AxisAttribute>(*op).axis];
        return stored(value) == ScalarType::I64 ? "(long long)(" + size + ")" : size;
    }
    if (op != nullptr && op->kind == OpKind::Reshape && kernel_.type(op->operands[0]).is_scalar())
        return scalar(op->operands[0]);
    return name(value);
}

bool PhaseLowering::is_constant(ValueId value, std::int64_t integer) const {
    const std::optional<Scalar> constant = kernel_.constant(value);
    return constant && constant->as_int64() == integer;
}

std::string PhaseLowering::scalar_as(ValueId value, ScalarType type) {
    const std::string text = scalar(value);
    if (stored(value) == type) return text;
    if (const std::optional<Scalar> constant = kernel_.constant(value)) {
        return literal(Scalar::integer(type, constant->as_int64()));
    }
    return "(" + std::string(gpu::c_type(type)) + ")" + (text.front() == '(' ? text : "(" + text + ")");
}

std::string PhaseLowering::conversion_text(const Op& op, const std::string& operand) const {
    const ValueId from = op.operands[0];
    if (op.kind != OpKind::Bitcast) return conversion(op.kind, stored(from), stored(op.result()), operand);
    const ScalarType wide_from = kernel_.type(from).element, wide_to = kernel_.type(op.result()).element;
    std::string text =
        stored(from) == wide_from ? operand : conversion(OpKind::Convert, stored(from), wide_from, operand);
    text = conversion(OpKind::Bitcast, wide_from, wide_to, text);
    return stored(op.result()) == wide_to ? text : conversion(OpKind::Convert, wide_to, stored(op.result()), text);
}

std::string PhaseLowering::elementwise_text(const Op& op, const std::vector<std::string>& operands) const {
    if (op.kind == OpKind::Convert || op.kind == OpKind::Saturate || op.kind == OpKind::Bitcast) {
        return conversion_text(op, operands[0]);
    }
    const ScalarType element = kernel_.type(op.operands[op.kind == OpKind::Select ? 1 : 0]).element;
    if (element == ScalarType::I64 && facts_.fits_32_bits(kernel_, op)) {
        return expression(op.kind, ScalarType::I32, operands, kernel_.freedoms);
    }
    std::vector<std::string> wide = operands;
    for (std::size_t i = 0; i < wide.size(); ++i) {
        if (stored(op.operands[i]) != kernel_.type(op.operands[i]).element) wide[i] = "(long long)(" + wide[i] + ")";
    }
    const std::string text = expression(op.kind, element, wide, kernel_.freedoms);
    const bool narrow = stored(op.result()) != kernel_.type(op.result()).element;
    return narrow ? "(int)(" + text + ")" : text;
}

void PhaseLowering::lower_scalar(const Op& op) {
    std::vector<std::string> operands;
    for (const ValueId operand : op.operands) operands.push_back(scalar(operand));
    Lines lines;
    lines.add("const " + c_type(op.result()) + " " + name(op.result()) + " = " + elementwise_text(op, operands) + ";");
    emit(std::move(lines));
}

// Control flow

/// Variables for a value that several blocks assign.
void PhaseLowering::declare(ValueId value) {
    Lines lines;
    if (kernel_.type(value).is_scalar()) {
        lines.add(c_type(value) + " " + name(value) + ";");
    } else {
        lines.add(array(stored(value), name(value), layouts_[value]) + ";");
    }
    emit(std::move(lines));
}

void PhaseLowering::assign(Lines& lines, const std::string& target, ValueId target_value, ValueId source) {
    if (kernel_.type(target_value).is_scalar()) {
        lines.add(target + " = " + scalar_as(source, stored(target_value)) + ";");
        return;
    }
    Loop loop{layouts_[target_value]};
    std::string text = element(loop, source);
    if (stored(source) != stored(target_value)) text = "(" + c_type(target_value) + ")(" + text + ")";
    loop.lines.add(target + "[r] = " + text + ";");
    lines.open_unrolled("r", loop.layout.registers());
    lines.append(std::move(loop.lines));
    lines.close();
}

/// All at once: a source may be another's target.
void PhaseLowering::assign_all(const std::vector<ValueId>& targets, std::span<const ValueId> sources) {
    flush();
    const auto is_target = [&](ValueId value) {
        return std::find(targets.begin(), targets.end(), value) != targets.end();
    };
    Lines lines, later;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (targets[i] == sources[i]) continue;
        ValueId root = sources[i];
        if (kernel_.type(root).is_tile()) root = resolve(kernel_, values_, whole(root, layouts_[targets[i]])).value;
        if (!is_target(root)) continue;
        // Via a variable of its own, before anything is assigned.
        const std::string via = fresh("next");
        const bool is_scalar = kernel_.type(targets[i]).is_scalar();
        lines.add((is_scalar ? c_type(targets[i]) + " " + via : array(stored(targets[i]), via, layouts_[targets[i]])) +
                  ";");
        assign(lines, via, targets[i], sources[i]);
        if (is_scalar) {
            later.add(name(targets[i]) + " = " + via + ";");
        } else {
            later.open_unrolled("r", layouts_[targets[i]].registers());
            later.add(name(targets[i]) + "[r] = " + via + "[r];");
            later.close();
        }
    }
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (targets[i] == sources[i]) continue;
        ValueId root = sources[i];
        if (kernel_.type(root).is_tile()) root = resolve(kernel_, values_, whole(root, layouts_[targets[i]])).value;
        if (!is_target(root)) assign(lines, name(targets[i]), targets[i], sources[i]);
    }
    for (const std::string& line : later.take()) lines.add(line);
    if (!lines.empty()) emit(std::move(lines));
}

void PhaseLowering::lower_for(const Op& op) {
    flush();
    const Block& body = kernel_[op.blocks[0]];
    const std::vector<ValueId> carried(body.arguments.begin() + 1, body.arguments.end());
    for (std::size_t i = 0; i < carried.size(); ++i) {
        names_[op.results[i].index] = name(carried[i]);
        depth_of_[carried[i].index] = scopes_.size() - 1;
        declare(carried[i]);
    }
    assign_all(carried, std::span(op.operands).subspan(3));
    const ScalarType type = counter_type(op);
    const std::string trips = fresh("trips"), trip = fresh("trip");
    const std::string counter = type == ScalarType::I32 ? "unsigned" : "unsigned long long";
    Lines lines;
    lines.add("const " + counter + " " + trips + " = kiln_trips_" + (type == ScalarType::I32 ? "32" : "64") + "(" +
              scalar_as(op.operands[0], type) + ", " + scalar_as(op.operands[1], type) + ", " +
              scalar_as(op.operands[2], type) + ");");
    emit(std::move(lines));
    Pipeline pipeline = plan_pipeline(op);
    pipeline.trips = trips;
    fill_rings(pipeline);
    Statement loop;
    loop.kind = Statement::Kind::Loop;
    loop.head = "for (" + counter + " " + trip + " = 0; " + trip + " < " + trips + "; ++" + trip + ")";
    for (const Ring& ring : pipeline.rings) loop.rings.push_back(ring.all.buffer);
    walk(
        op.blocks[0], loop.body, true,
        [&] {
            emit_index(op, trip);
            begin_iteration(pipeline, trip);
        },
        [&] {
            assign_all(carried, kernel_[body.ops.back()].operands);
            end_iteration(pipeline, trip);
        });
    emit(std::move(loop));
    for (const ValueId result : op.results) depth_of_[result.index] = scopes_.size() - 1;
}

/// The type that holds both bounds; the trip count is exact in it, and no counter can pass the end.
ScalarType PhaseLowering::counter_type(const Op& loop) const {
    const bool narrow = std::all_of(loop.operands.begin(), loop.operands.begin() + 3,
                                    [&](ValueId bound) { return stored(bound) == ScalarType::I32; });
    return narrow ? ScalarType::I32 : ScalarType::I64;
}

/// The loop's index in the iteration of that number.
void PhaseLowering::emit_index(const Op& loop, const std::string& trip) {
    const ValueId index = kernel_[loop.blocks[0]].arguments.front();
    const ScalarType type = counter_type(loop);
    std::string text = "(" + std::string(gpu::c_type(type)) + ")" + trip;
    if (!is_constant(loop.operands[2], 1)) text += " * " + scalar_as(loop.operands[2], type);
    if (!is_constant(loop.operands[0], 0)) text = scalar_as(loop.operands[0], type) + " + " + text;
    if (stored(index) != type) text = "(" + c_type(index) + ")(" + text + ")";
    Lines lines;
    lines.add("const " + c_type(index) + " " + name(index) + " = " + text + ";");
    emit(std::move(lines));
}

void PhaseLowering::lower_while(const Op& op) {
    flush();
    const Block& condition = kernel_[op.blocks[0]];
    const Block& body = kernel_[op.blocks[1]];
    for (const ValueId value : condition.arguments) declare(value);
    for (const ValueId value : op.results) declare(value);
    assign_all(condition.arguments, op.operands);
    Statement loop;
    loop.kind = Statement::Kind::Loop;
    loop.head = "while (true)";
    const std::vector<ValueId>& decided = kernel_[condition.ops.back()].operands;
    const std::vector<ValueId>& yielded = kernel_[body.ops.back()].operands;
    walk(op.blocks[0], loop.body, true, {}, [&] {
        assign_all(op.results, std::span(decided).subspan(1));
        Statement leave;
        leave.kind = Statement::Kind::Leave;
        leave.lines = {"if (!" + scalar(decided.front()) + ") break;"};
        emit(std::move(leave));
    });
    for (std::size_t i = 0; i < body.arguments.size(); ++i) names_[body.arguments[i].index] = name(op.results[i]);
    walk(op.blocks[1], loop.body, true, {}, [&] { assign_all(condition.arguments, yielded); });
    emit(std::move(loop));
    for (const ValueId result : op.results) depth_of_[result.index] = scopes_.size() - 1;
}

void PhaseLowering::lower_if(const Op& op) {
    flush();
    for (const ValueId result : op.results) declare(result);
    Statement choice;
    choice.kind = Statement::Kind::Block;
    choice.head = "if (" + scalar(op.operands[0]) + ")";
    for (const std::size_t branch : {0u, 1u}) {
        Statements& out = branch == 0 ? choice.body : choice.otherwise;
        walk(op.blocks[branch], out, false, {},
             [&] { assign_all(op.results, kernel_[kernel_[op.blocks[branch]].ops.back()].operands); });
    }
    emit(std::move(choice));
}

}  // namespace kiln::codegen::gpu
