#include "ir/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "ir/limits.h"
#include "ir/semantics.h"
#include "ir/support/internal_error.h"

namespace kiln::ir {

namespace {

std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

std::optional<std::int64_t> checked_subtract(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}

/// Bytes of a tensor of these sizes without gaps, or none if they do not fit 63 bits or an axis is longer than any may
/// be. Sizes are not negative.
std::optional<std::int64_t> dense_bytes(const Shape& sizes, ScalarType element) {
    for (const std::int64_t size : sizes) {
        if (size > kLargestExtent) return std::nullopt;
    }
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
    std::optional<std::int64_t> count = 1;
    for (const std::int64_t size : sizes) {
        if (count) count = checked_multiply(*count, size);
    }
    return count ? checked_multiply(*count, std::max(1, bit_width(element) / 8)) : std::nullopt;
}

/// Whether the byte offset of every element of a view fits 63 bits.
bool is_addressable(const TensorView& view) {
    std::int64_t span = 1;
    for (std::size_t axis = 0; axis < view.sizes.rank(); ++axis) {
        if (view.strides[axis] == std::numeric_limits<std::int64_t>::min()) return false;
        const std::int64_t stride = view.strides[axis] < 0 ? -view.strides[axis] : view.strides[axis];
        const auto reach = checked_multiply(stride, view.sizes[axis]);
        const auto sum = reach ? checked_add(span, *reach) : std::nullopt;
        if (!sum) return false;
        span = *sum;
    }
    return checked_multiply(span, 8).has_value();
}

/// "N * 4 + 1", the extent that a size binding describes.
std::string solved_text(const SizeBinding& size) {
    std::string text = size.name;
    if (size.scale != 1) text += fmt::format(" * {}", size.scale);
    if (size.offset > 0) text += fmt::format(" + {}", size.offset);
    if (size.offset < 0) text += fmt::format(" - {}", 0 - static_cast<std::uint64_t>(size.offset));
    return text;
}

std::string axes_text(std::size_t rank) {
    return rank == 1 ? "1 axis" : fmt::format("{} axes", rank);
}

/// One call of prepare_launch.
class Preparation {
public:
    Preparation(const Kernel& kernel, std::span<const Argument> arguments, std::int64_t units)
        : kernel_(kernel), arguments_(arguments), units_(units) {
        launch_.values.resize(kernel.values.size());
    }

    /// Later steps rely on what earlier ones have checked, so the first that finds errors is the last.
    std::variant<Launch, LaunchErrors> run() {
        for (void (Preparation::*step)() :
             {&Preparation::check_arguments, &Preparation::bind_sizes, &Preparation::check_static_extents,
              &Preparation::run_host_block, &Preparation::make_extent_checks, &Preparation::report_requirements,
              &Preparation::compute_grids, &Preparation::compute_scratch}) {
            (this->*step)();
            if (!errors_.messages.empty()) return std::move(errors_);
        }
        return std::move(launch_);
    }

private:
    template <class... Parts>
    void error(fmt::format_string<Parts...> text, Parts&&... parts) {
        errors_.messages.push_back(fmt::format(text, std::forward<Parts>(parts)...));
    }

    Scalar& value(ValueId id) { return launch_.values[id.index]; }
    std::int64_t integer(ValueId id) { return value(id).as_int64(); }

    void check_arguments() {
        if (arguments_.size() != kernel_.parameters.size()) {
            error("kernel `{}` takes {} arguments, not {}", kernel_.name, kernel_.parameters.size(), arguments_.size());
            return;
        }
        for (std::size_t i = 0; i < arguments_.size(); ++i) check_argument(kernel_.parameters[i], arguments_[i]);
    }

    void check_argument(const Parameter& parameter, const Argument& argument) {
        const bool given = !std::holds_alternative<std::monostate>(argument);
        if (!parameter.present) {
            if (given) error("`{}` is given, but the kernel is specialised for its absence", parameter.name);
            return;
        }
        if (!given) {
            error("`{}` is missing", parameter.name);
            return;
        }
        const Type& type = kernel_.type(parameter.value);
        const auto* view = std::get_if<TensorView>(&argument);
        if (type.is_tensor() != (view != nullptr)) {
            error("`{}` is a {} where the kernel takes a {}", parameter.name, view != nullptr ? "tensor" : "scalar",
                  type.is_tensor() ? "tensor" : "scalar");
        } else if (view != nullptr) {
            check_tensor(parameter.name, type, *view);
        } else {
            check_scalar(parameter, type, std::get<Scalar>(argument));
        }
    }

    void check_scalar(const Parameter& parameter, const Type& type, Scalar scalar) {
        if (scalar.type != type.element) {
            error("`{}` is {} where the kernel takes {}", parameter.name, name(scalar.type), name(type.element));
        }
        value(parameter.value) = scalar;
    }

    void check_tensor(const std::string& label, const Type& type, const TensorView& view) {
        if (view.element != type.element) {
            error("`{}` has elements of type {} where the kernel takes {}", label, name(view.element),
                  name(type.element));
        }
        if (view.sizes.rank() != type.shape.rank()) {
            error("`{}` has {} where the kernel takes {}", label, axes_text(view.sizes.rank()),
                  axes_text(type.shape.rank()));
            return;
        }
        if (view.strides.rank() != view.sizes.rank()) {
            error("`{}` has {} strides for {}", label, view.strides.rank(), axes_text(view.sizes.rank()));
            return;
        }
        for (std::size_t axis = 0; axis < view.sizes.rank(); ++axis) {
            if (view.sizes[axis] >= 0) continue;
            error("`{}` has the negative size {} along axis {}", label, view.sizes[axis], axis);
            return;
        }
        check_memory(label, view);
    }

    void check_memory(const std::string& label, const TensorView& view) {
        if (!dense_bytes(view.sizes, view.element) || !is_addressable(view)) {
            error("`{}` with sizes {} and strides {} is larger than memory can be", label, to_string(view.sizes),
                  to_string(view.strides));
            return;
        }
        const bool is_empty = std::find(view.sizes.begin(), view.sizes.end(), 0) != view.sizes.end();
        if (is_empty) return;
        if (view.data == nullptr) error("`{}` is null", label);
        if (bit_width(view.element) < 8) check_packing(label, view);
    }

    void check_packing(const std::string& label, const TensorView& view) {
        const std::size_t last = view.strides.rank() - 1;
        if (view.strides[last] != 1) {
            error("`{}` has stride {} along axis {} where {} needs 1", label, view.strides[last], last,
                  name(view.element));
        }
        for (std::size_t axis = 0; axis < last; ++axis) {
            if (view.strides[axis] % 2 == 0) continue;
            error("`{}` has stride {} along axis {} where {} needs whole bytes", label, view.strides[axis], axis,
                  name(view.element));
        }
    }

    const std::string& label(std::uint32_t parameter) const { return kernel_.parameters[parameter].name; }
    std::int64_t extent(std::uint32_t parameter, std::uint32_t axis) const {
        return std::get<TensorView>(arguments_[parameter]).sizes[axis];
    }

    void bind_sizes() {
        for (const SizeBinding& size : kernel_.sizes) {
            if (!kernel_.parameters[size.parameter].present) {
                throw support::InternalError("ir::prepare_launch", "size `" + size.name + "` of an absent argument");
            }
            const std::int64_t found = extent(size.parameter, size.axis);
            const auto scaled = checked_subtract(found, size.offset);
            const bool solved = scaled && size.scale != 0 && (*scaled % size.scale) == 0 && *scaled / size.scale >= 0;
            if (!solved) {
                error("`{}` has {} along axis {}, which no {} >= 0 solves as {}", label(size.parameter), found,
                      size.axis, size.name, solved_text(size));
                continue;
            }
            value(size.value) = Scalar::int64(*scaled / size.scale);
            check_divisor(size, *scaled / size.scale);
        }
    }

    void check_divisor(const SizeBinding& size, std::int64_t bound) const {
        if (size.divisor == 1 || (size.divisor > 1 && bound % size.divisor == 0)) return;
        throw support::InternalError("ir::prepare_launch", fmt::format("size {} is {}, specialised for multiples of {}",
                                                                       size.name, bound, size.divisor));
    }

    /// Compile-time extents in a tensor's type that no extent check names.
    void check_static_extents() {
        for (std::uint32_t i = 0; i < kernel_.parameters.size(); ++i) {
            const Parameter& parameter = kernel_.parameters[i];
            if (!parameter.present || !kernel_.type(parameter.value).is_tensor()) continue;
            const Shape& shape = kernel_.type(parameter.value).shape;
            for (std::uint32_t axis = 0; axis < shape.rank(); ++axis) {
                if (shape[axis] == kDynamic || extent(i, axis) == shape[axis] || has_check(i, axis)) continue;
                error("`{}` has {} along axis {} where the kernel takes {}", parameter.name, extent(i, axis), axis,
                      shape[axis]);
            }
        }
    }

    bool has_check(std::uint32_t parameter, std::uint32_t axis) const {
        return std::any_of(kernel_.checks.begin(), kernel_.checks.end(), [&](const ExtentCheck& check) {
            return check.parameter == parameter && check.axis == axis;
        });
    }

    void run_host_block() {
        if (!kernel_.host.valid()) return;
        for (const OpId id : kernel_[kernel_.host].ops) run_host_op(kernel_[id]);
    }

    void run_host_op(const Op& op) {
        std::vector<Scalar> operands;
        for (const ValueId operand : op.operands) operands.push_back(value(operand));
        if (op.kind == OpKind::Require) {
            if (!operands.front().as_bool()) refuse(op, operands);
            return;
        }
        if (op.results.size() != 1 || !kernel_.type(op.result()).is_scalar()) {
            throw support::InternalError("ir::prepare_launch", "`" + std::string(info(op.kind).mnemonic) +
                                                                   "` in the host block has no scalar result");
        }
        value(op.result()) = host_value(op, operands);
    }

    Scalar host_value(const Op& op, std::span<const Scalar> operands) const {
        if (op.kind == OpKind::Constant) return attribute<Scalar>(op);
        if (op.kind == OpKind::Units) return Scalar::int64(units_);
        if (op.kind == OpKind::Convert || op.kind == OpKind::Saturate || op.kind == OpKind::Bitcast) {
            return convert(op.kind, operands.front(), kernel_.type(op.result()).element);
        }
        return evaluate(op.kind, operands);
    }

    void refuse(const Op& op, const std::vector<Scalar>& operands) {
        const std::string& text = attribute<MessageAttribute>(op).text;
        if (text.empty()) {
            unmet_.push_back(fmt::format("a requirement of kernel `{}` is not met", kernel_.name));
        } else {
            std::vector<std::string> values;
            for (std::size_t i = 1; i < operands.size(); ++i) values.push_back(to_string(operands[i]));
            unmet_.push_back(filled_message(text, values));
        }
    }

    /// Unmet requirements are told after the extents agree: before, they may follow from the wrong extent.
    void report_requirements() { errors_.messages = std::move(unmet_); }

    void make_extent_checks() {
        for (const ExtentCheck& check : kernel_.checks) {
            if (!kernel_.parameters[check.parameter].present) continue;
            const std::int64_t found = extent(check.parameter, check.axis);
            if (found == integer(check.expected)) continue;
            error("`{}` has {} along axis {} where {}", label(check.parameter), found, check.axis, expectation(check));
        }
    }

    const SizeBinding* binding_of(ValueId id) const {
        const auto found = std::find_if(kernel_.sizes.begin(), kernel_.sizes.end(),
                                        [&](const SizeBinding& size) { return size.value == id; });
        return found == kernel_.sizes.end() ? nullptr : &*found;
    }

    /// "`a` has 500 along axis 1 (K)", "N * 4 is 400, since `x` has 100 along axis 0 (N)" or "D is 80".
    std::string expectation(const ExtentCheck& check) {
        const auto place = [&](const SizeBinding& size) {
            return fmt::format("`{}` has {} along axis {} ({})", label(size.parameter),
                               extent(size.parameter, size.axis), size.axis, solved_text(size));
        };
        const std::int64_t expected = integer(check.expected);
        const SizeBinding* size = binding_of(check.expected);
        if (size != nullptr && size->scale == 1 && size->offset == 0) return place(*size);
        const bool is_number = check.text.empty() || check.text == std::to_string(expected);
        std::string text =
            is_number ? fmt::format("the kernel takes {}", expected) : fmt::format("{} is {}", check.text, expected);
        bool first = true;
        for (const SizeBinding* source : sizes_behind(check.expected)) {
            text += (first ? ", since " : " and ") + place(*source);
            first = false;
        }
        return text;
    }

    /// The sizes from which a host value is computed, in the order of their declaration.
    std::vector<const SizeBinding*> sizes_behind(ValueId id) const {
        std::vector<bool> seen(kernel_.values.size());
        std::vector<ValueId> open{id};
        while (!open.empty()) {
            const ValueId next = open.back();
            open.pop_back();
            if (seen[next.index]) continue;
            seen[next.index] = true;
            const Op* op = kernel_.definition(next);
            if (op != nullptr) open.insert(open.end(), op->operands.begin(), op->operands.end());
        }
        std::vector<const SizeBinding*> result;
        for (const SizeBinding& size : kernel_.sizes) {
            if (seen[size.value.index]) result.push_back(&size);
        }
        return result;
    }

    void compute_grids() {
        for (std::size_t phase = 0; phase < kernel_.phases.size(); ++phase) {
            std::vector<std::int64_t>& counts = launch_.grids.emplace_back();
            for (const GridAxis& axis : kernel_.phases[phase].axes) counts.push_back(programs_along(axis));
            if (std::find(counts.begin(), counts.end(), 0) != counts.end()) continue;
            std::optional<std::int64_t> total = 1;
            for (const std::int64_t count : counts) {
                if (total) total = checked_multiply(*total, count);
            }
            if (!total) error("the grid of phase {} has more programs than 63 bits can count", phase + 1);
        }
    }

    /// 0 for an empty axis, and after an error.
    std::int64_t programs_along(const GridAxis& axis) {
        const std::int64_t step = integer(axis.step);
        const std::int64_t lower = integer(axis.lower);
        const std::int64_t upper = integer(axis.upper);
        if (step <= 0) {
            error("grid axis `{}` has step {}, which must be positive", axis.name, step);
            return 0;
        }
        if (upper <= lower) return 0;
        const std::uint64_t length = static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower);
        const std::uint64_t count = (length - 1) / static_cast<std::uint64_t>(step) + 1;
        if (count <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return static_cast<std::int64_t>(count);
        }
        error("grid axis `{}` has more programs than 63 bits can count", axis.name);
        return 0;
    }

    void compute_scratch() {
        for (const Scratch& scratch : kernel_.scratch) {
            Shape& sizes = launch_.scratch.emplace_back();
            for (const ValueId extent : scratch.extents) sizes.push_back(integer(extent));
            const auto* negative = std::find_if(sizes.begin(), sizes.end(), [](std::int64_t size) { return size < 0; });
            if (negative != sizes.end()) {
                error("scratch `{}` has the negative size {} along axis {}", scratch.name, *negative,
                      negative - sizes.begin());
            } else if (!dense_bytes(sizes, kernel_.type(scratch.value).element)) {
                error("scratch `{}` with sizes {} is larger than memory can be", scratch.name, to_string(sizes));
            }
        }
    }

    const Kernel& kernel_;
    std::span<const Argument> arguments_;
    std::int64_t units_;
    Launch launch_;
    LaunchErrors errors_;
    std::vector<std::string> unmet_;  ///< messages of requirements that are not met
};

}  // namespace

std::string filled_message(std::string_view text, const std::vector<std::string>& values) {
    std::string result;
    std::size_t next = 0;
    while (!text.empty()) {
        const std::size_t place = next < values.size() ? text.find("{}") : std::string_view::npos;
        result += text.substr(0, place);
        if (place == std::string_view::npos) break;
        result += values[next++];
        text.remove_prefix(place + 2);
    }
    return result;
}

std::int64_t Launch::programs(std::size_t phase) const {
    const std::vector<std::int64_t>& counts = grids[phase];
    // An empty grid first: the product of its other axes may be more than 63 bits hold.
    if (std::find(counts.begin(), counts.end(), 0) != counts.end()) return 0;
    std::int64_t total = 1;
    for (const std::int64_t count : counts) total *= count;
    return total;
}

std::variant<Launch, LaunchErrors> prepare_launch(const Kernel& kernel, std::span<const Argument> arguments,
                                                  std::int64_t units) {
    return Preparation(kernel, arguments, units).run();
}

std::int64_t grid_group(const Schedule& schedule, std::span<const std::int64_t> counts) {
    const auto order = schedule.find("grid_order");
    if (order == schedule.end() || counts.size() < 2) return 1;
    const std::int64_t all = std::max<std::int64_t>(counts[counts.size() - 2], 1);
    if (order->second.word == "columns") return all;
    return order->second.word == "grouped" ? std::clamp<std::int64_t>(order->second.numbers.front(), 1, all) : 1;
}

namespace {

std::vector<std::int64_t> grid_places(std::span<const std::int64_t> counts, std::int64_t group, std::int64_t index) {
    std::vector<std::int64_t> places(counts.size());
    std::size_t axis = counts.size();
    if (axis >= 2 && group > 1) {
        const std::int64_t columns = counts[axis - 1], rows = counts[axis - 2];
        const std::int64_t within = index % (rows * columns), first = within / (group * columns) * group;
        const std::int64_t height = std::min(group, rows - first), rest = within - first * columns;
        places[axis - 1] = rest / height;
        places[axis - 2] = first + rest % height;
        index /= rows * columns;
        axis -= 2;
    }
    while (axis-- > 0) {
        places[axis] = index % counts[axis];
        index /= counts[axis];
    }
    return places;
}

}  // namespace

std::vector<std::int64_t> program_offsets(const Kernel& kernel, const Launch& launch, std::size_t phase,
                                          std::int64_t index) {
    const std::vector<GridAxis>& axes = kernel.phases[phase].axes;
    const std::vector<std::int64_t> places =
        grid_places(launch.grids[phase], grid_group(kernel.schedule, launch.grids[phase]), index);
    std::vector<std::int64_t> offsets(axes.size());
    for (std::size_t i = 0; i < axes.size(); ++i) {
        // Modulo 2^64: the offset lies below the upper bound, but the product need not fit.
        const auto step = static_cast<std::uint64_t>(launch.values[axes[i].step.index].as_int64());
        const auto lower = static_cast<std::uint64_t>(launch.values[axes[i].lower.index].as_int64());
        offsets[i] = static_cast<std::int64_t>(lower + static_cast<std::uint64_t>(places[i]) * step);
    }
    return offsets;
}

}  // namespace kiln::ir
