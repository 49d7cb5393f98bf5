#include "ir/checked_run.h"

#include <algorithm>
#include <set>

#include "ir/element_function.h"
#include "ir/findings.h"
#include "ir/index_arithmetic.h"
#include "ir/passes/rewrite.h"
#include "ir/shared_elements.h"
#include "ir/tile_ops.h"

namespace kiln::ir {

namespace {

/// The exact value of an op of index arithmetic, where it could leave its type; nothing for the ops that cannot.
struct ExactValue {
    __int128 value;
    const char* name;  ///< "the sum"
};

std::optional<ExactValue> exact_value(OpKind kind, __int128 a, __int128 b) {
    if (kind == OpKind::Add) return ExactValue{a + b, "the sum"};
    if (kind == OpKind::Sub) return ExactValue{a - b, "the difference"};
    if (kind == OpKind::Mul) return ExactValue{a * b, "the product"};
    if (kind == OpKind::Shl && b >= 0 && b < 64)
        return ExactValue{a * (__int128{1} << static_cast<int>(b)), "the shift"};
    if (kind == OpKind::Neg) return ExactValue{-a, "the opposite"};
    return std::nullopt;
}

bool fits(__int128 value, ScalarType type) {
    const __int128 limit = __int128{1} << (bit_width(type) - 1);
    return value >= -limit && value < limit;
}

/// A tensor whose elements are followed: what programs may write.
struct Followed {
    std::string name;
    bool is_scratch = false;
    bool is_initialised = false;  ///< before the first phase, by the host or by the declaration
    Shape sizes, strides;
    SharedElements elements;
};

class RunCheck final : public RunObserver {
public:
    RunCheck(const Kernel& kernel, std::span<const Argument> arguments, support::Diagnostics& findings)
        : kernel_(kernel),
          arguments_(arguments),
          findings_(findings),
          index_arithmetic_(index_arithmetic(kernel)),
          tensor_of_(kernel.values.size(), kNone) {}

    void begin_launch(const Launch& launch) override;
    void begin_program(std::size_t phase, std::int64_t program) override;
    void touch(const Op& op, Touch touch, std::uint64_t offset) override;
    void narrow(const Op& op, std::size_t axis, std::int64_t lower, std::int64_t upper, std::int64_t size) override;
    bool follows(const Op& op) const override;
    void compute(const Op& op, std::uint64_t first, std::uint64_t second) override;
    void fail(const Op& op, const std::string& message) override;

    bool has_failed() const { return has_failed_; }

private:
    static constexpr std::uint32_t kNone = 0xffffffff;

    void follow_tensor(ValueId value, Followed tensor);
    void find_views();
    bool is_new(const Op& op, const support::DiagnosticKind& kind) { return reported_.emplace(&op, &kind).second; }
    std::string program_text(std::int64_t program) const;
    std::string name_of(ValueId tensor) const;
    static std::string element_text(const Followed& tensor, std::uint64_t offset);

    void report_unwritten(const Op& op, Touch touch, const Followed& tensor, std::uint64_t offset);
    void report_unordered(const Op& op, const Followed& tensor, std::uint64_t offset);
    void report_conflict(const Op& op, Touch touch, const Followed& tensor, std::uint64_t offset,
                         const SharedElements::Conflict& conflict);

    const Kernel& kernel_;
    std::span<const Argument> arguments_;
    support::Diagnostics& findings_;
    std::vector<bool> index_arithmetic_;
    const Launch* launch_ = nullptr;
    std::vector<Followed> tensors_;
    std::vector<std::uint32_t> tensor_of_;  ///< by ValueId: into tensors_, of the tensor or of what a view is of
    std::size_t phase_ = 0;
    ProgramOrder now_;
    std::set<std::pair<const Op*, const support::DiagnosticKind*>> reported_;
    bool has_failed_ = false;
};

void RunCheck::begin_launch(const Launch& launch) {
    launch_ = &launch;
    for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
        const Parameter& parameter = kernel_.parameters[i];
        const auto* view = std::get_if<TensorView>(&arguments_[i]);
        if (view == nullptr || kernel_.type(parameter.value).access == Access::In) continue;
        const bool holds_values = kernel_.type(parameter.value).access == Access::InOut;
        follow_tensor(parameter.value, {parameter.name, false, holds_values, view->sizes, view->strides, {}});
    }
    for (std::size_t i = 0; i < kernel_.scratch.size(); ++i) {
        const Scratch& scratch = kernel_.scratch[i];
        Shape rows = launch.scratch[i];
        if (bit_width(kernel_.type(scratch.value).element) < 8) rows[rows.rank() - 1] += rows[rows.rank() - 1] % 2;
        follow_tensor(scratch.value,
                      {scratch.name, true, scratch.initial.has_value(), launch.scratch[i], dense_strides(rows), {}});
    }
    find_views();
}

void RunCheck::follow_tensor(ValueId value, Followed tensor) {
    tensor_of_[value.index] = static_cast<std::uint32_t>(tensors_.size());
    tensors_.push_back(std::move(tensor));
}

void RunCheck::find_views() {
    for_each_op(kernel_, [&](OpId id) {
        const Op& op = kernel_[id];
        if (op.kind == OpKind::View) tensor_of_[op.result().index] = tensor_of_[op.operands[0].index];
    });
}

void RunCheck::begin_program(std::size_t phase, std::int64_t program) {
    if (phase != phase_) {
        for (Followed& tensor : tensors_) tensor.elements.begin_phase();
    }
    phase_ = phase;
    now_ = {program, 0, {}};
}

/// "(i = 0, j = 64)"
std::string RunCheck::program_text(std::int64_t program) const {
    const std::vector<std::int64_t> offsets = program_offsets(kernel_, *launch_, phase_, program);
    std::string text;
    for (std::size_t axis = 0; axis < offsets.size(); ++axis) {
        text += fmt::format("{}{} = {}", axis > 0 ? ", " : "", kernel_.phases[phase_].axes[axis].name, offsets[axis]);
    }
    return "(" + text + ")";
}

/// Of a tensor; a view without a name has that of what it narrows.
std::string RunCheck::name_of(ValueId tensor) const {
    const Op* view = kernel_.definition(tensor);
    const std::string& own = kernel_.values[tensor.index].name;
    return own.empty() && view != nullptr ? name_of(view->operands[0]) : own;
}

/// "`c[3, 17]`": the index is read off the strides, the largest first. Where they overlap it may be another index of
/// the same element.
std::string RunCheck::element_text(const Followed& tensor, std::uint64_t offset) {
    const auto rank = tensor.sizes.rank();
    std::vector<std::size_t> axes(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) axes[axis] = axis;
    const auto width = [&](std::size_t axis) { return std::abs(tensor.strides[axis]); };
    std::stable_sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) { return width(a) > width(b); });
    auto left = static_cast<std::int64_t>(offset);
    // Axes that run backwards are counted from their end, so that all strides are positive.
    for (std::size_t axis = 0; axis < rank; ++axis) {
        if (tensor.strides[axis] < 0) left -= (tensor.sizes[axis] - 1) * tensor.strides[axis];
    }
    std::vector<std::int64_t> index(rank);
    for (const std::size_t axis : axes) {
        const std::int64_t step = std::max<std::int64_t>(width(axis), 1);
        const std::int64_t at = std::clamp<std::int64_t>(left / step, 0, tensor.sizes[axis] - 1);
        left -= at * width(axis);
        index[axis] = tensor.strides[axis] < 0 ? tensor.sizes[axis] - 1 - at : at;
    }
    return fmt::format("`{}[{}]`", tensor.name, fmt::join(index, ", "));
}

void RunCheck::touch(const Op& op, Touch touch, std::uint64_t offset) {
    const std::uint32_t place = tensor_of_[op.operands[0].index];
    if (place == kNone) return;
    Followed& tensor = tensors_[place];
    const auto* atomic = std::get_if<AtomicAttribute>(&op.attribute);
    if (atomic != nullptr && atomic->publishes) tensor.elements.synchronise(offset, now_);
    if (const auto conflict = tensor.elements.conflict(offset, touch, now_)) {
        report_conflict(op, touch, tensor, offset, *conflict);
    }
    // Two elements of 4 bits share a byte, which is written whole.
    if (touch == Touch::Write && bit_width(kernel_.type(op.operands[0]).element) < 8) {
        const auto conflict = tensor.elements.conflict(offset ^ 1, Touch::Read, now_);
        if (conflict) report_conflict(op, touch, tensor, offset, *conflict);
    }
    const bool uses_old = touch == Touch::Read || (atomic != nullptr && atomic->kind != AtomicKind::Exchange);
    if (uses_old && !tensor.is_initialised && !tensor.elements.is_written(offset)) {
        report_unwritten(op, touch, tensor, offset);
    }
    const bool adds_floats =
        atomic != nullptr && atomic->kind == AtomicKind::Add && !is_integer(kernel_.type(op.operands[0]).element);
    if (adds_floats && tensor.elements.is_updated(offset)) report_unordered(op, tensor, offset);
    tensor.elements.add(offset, touch, {now_.program, now_.releases, &op});
}

void RunCheck::report_unwritten(const Op& op, Touch touch, const Followed& tensor, std::uint64_t offset) {
    const std::string element = element_text(tensor, offset), program = program_text(now_.program);
    if (tensor.is_scratch) {
        if (!is_new(op, findings::kScratchUnwritten)) return;
        findings_.report(findings::kScratchUnwritten, op.span, element, program)
            .help(fmt::format("write it first, or declare `{}` with `= value`", tensor.name));
    } else if (touch == Touch::Update && is_new(op, findings::kOutputUnwritten)) {
        findings_.report(findings::kOutputUnwritten, op.span, element, program)
            .help(fmt::format("declare `{}` as `inout`, or write it in an earlier phase", tensor.name));
    }
}

void RunCheck::report_unordered(const Op& op, const Followed& tensor, std::uint64_t offset) {
    if (is_new(op, findings::kUnorderedSum))
        findings_.report(findings::kUnorderedSum, op.span, element_text(tensor, offset));
}

void RunCheck::report_conflict(const Op& op, Touch touch, const Followed& tensor, std::uint64_t offset,
                               const SharedElements::Conflict& conflict) {
    const std::string element = element_text(tensor, offset);
    const std::string here = program_text(now_.program), there = program_text(conflict.access.program);
    const bool is_update = touch == Touch::Update || conflict.touch == Touch::Update;
    const bool is_read = touch == Touch::Read || conflict.touch == Touch::Read;
    const support::DiagnosticKind& kind = is_update ? findings::kUpdateConflict
                                          : is_read ? findings::kReadConflict
                                                    : findings::kWriteConflict;
    if (!is_new(op, kind)) return;
    const bool swapped = is_update ? touch != Touch::Update : is_read && touch != Touch::Read;
    support::Diagnostic& finding =
        findings_.report(kind, op.span, element, swapped ? there : here, swapped ? here : there);
    finding.help(
        "programs of a phase run in any order: give each elements of its own, use a further phase, or atomics");
    if (conflict.access.op != &op) finding.note(conflict.access.op->span, fmt::format("program {} is here", there));
}

void RunCheck::narrow(const Op& op, std::size_t axis, std::int64_t lower, std::int64_t upper, std::int64_t size) {
    if (upper <= lower || (lower >= 0 && upper <= size) || !is_new(op, findings::kRangeOutside)) return;
    findings_
        .report(findings::kRangeOutside, op.span, lower, upper, axis, name_of(op.operands[0]), size,
                program_text(now_.program))
        .help("the view is clamped to the axis; clamp the bounds yourself if that is meant");
}

bool RunCheck::follows(const Op& op) const {
    const OpId id = kernel_.values[op.result().index].definition;
    const ScalarType type = kernel_.type(op.result()).element;
    return index_arithmetic_[id.index] && scalar_class(type) == ScalarClass::Signed;
}

void RunCheck::compute(const Op& op, std::uint64_t first, std::uint64_t second) {
    const ScalarType from = kernel_.type(op.operands.front()).element, type = kernel_.type(op.result()).element;
    if (op.kind == OpKind::Convert) {
        if (!is_integer(from)) return;
        const bool is_u64 = from == ScalarType::U64;
        const __int128 value =
            is_u64 ? static_cast<__int128>(first) : static_cast<__int128>(integer_value(from, first));
        if (fits(value, type) || !is_new(op, findings::kIndexTooWide)) return;
        const std::string text = to_string(Scalar{from, first});
        findings_.report(findings::kIndexTooWide, op.span, text, name(type), program_text(now_.program))
            .help("indices may be of any integer type: leave out the conversion");
        return;
    }
    if (op.kind == OpKind::Select) return;
    const std::int64_t a = integer_value(type, first), b = integer_value(type, second);
    const std::optional<ExactValue> exact = exact_value(op.kind, a, b);
    if (!exact || fits(exact->value, type) || !is_new(op, findings::kOffsetOverflow)) return;
    findings_.report(findings::kOffsetOverflow, op.span, exact->name, a, b, name(type), program_text(now_.program))
        .help("compute in `int`, and with smaller numbers");
}

void RunCheck::fail(const Op& op, const std::string& message) {
    has_failed_ = true;
    findings_.report(findings::kAssertFailed, op.span, message, program_text(now_.program));
}

}  // namespace

LaunchErrors checked_run(const Kernel& kernel, std::span<const Argument> arguments, std::int64_t units,
                         const PrintSink& print, support::Diagnostics& findings) {
    RunCheck check(kernel, arguments, findings);
    LaunchErrors errors = interpret(kernel, arguments, units, print, &check);
    // An assertion that failed is a finding, which knows its place.
    return check.has_failed() ? LaunchErrors{} : errors;
}

}  // namespace kiln::ir
