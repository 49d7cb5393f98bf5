#include <fmt/format.h>

#include <unordered_map>

#include "ir/attribute_form.h"
#include "ir/text.h"

namespace kiln::ir {

namespace {

/// The names of all values in the order in which the text defines them.
class Names {
public:
    explicit Names(const Kernel& kernel) : kernel_(kernel), names_(kernel.values.size()) {
        for (const Parameter& parameter : kernel.parameters) define(parameter.value);
        for (const SizeBinding& size : kernel.sizes) define(size.value);
        define_block(kernel.host);
        for (const Scratch& scratch : kernel.scratch) define(scratch.value);
        for (const Phase& phase : kernel.phases) define_block(phase.block);
    }

    /// `%name`; values that no part of the kernel defines show as `%?12`, which does not parse.
    std::string operator[](ValueId value) const {
        if (!value.valid()) return "%?";
        if (value.index >= names_.size() || names_[value.index].empty()) return fmt::format("%?{}", value.index);
        return names_[value.index];
    }

private:
    void define(ValueId value) {
        if (!value.valid() || value.index >= names_.size() || !names_[value.index].empty()) return;
        const std::string hint = sanitised(kernel_[value].name);
        if (hint.empty()) {
            names_[value.index] = fmt::format("%{}", unnamed_++);
            return;
        }
        const unsigned earlier = uses_[hint]++;
        names_[value.index] = earlier == 0 ? "%" + hint : fmt::format("%{}.{}", hint, earlier);
    }

    void define_block(BlockId block) {
        if (!block.valid() || block.index >= kernel_.blocks.size()) return;
        for (const ValueId argument : kernel_[block].arguments) define(argument);
        for (const OpId id : kernel_[block].ops) {
            const Op& op = kernel_[id];
            for (const ValueId result : op.results) define(result);
            for (const BlockId inner : op.blocks) define_block(inner);
        }
    }

    static std::string sanitised(const std::string& hint) {
        std::string name;
        for (const char c : hint) {
            const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            name += plain ? c : '_';
        }
        if (!name.empty() && name.front() >= '0' && name.front() <= '9') name.insert(0, "_");
        return name;
    }

    const Kernel& kernel_;
    std::vector<std::string> names_;
    std::unordered_map<std::string, unsigned> uses_;
    unsigned unnamed_ = 0;
};

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
            result += c;
        }
    }
    return result + "\"";
}

class Printer {
public:
    explicit Printer(const Kernel& kernel) : kernel_(kernel), names_(kernel) {}

    std::string kernel_text() {
        print_signature();
        depth_ = 1;
        for (const SizeBinding& size : kernel_.sizes) line(size_text(size));
        for (const ExtentCheck& check : kernel_.checks) line(check_text(check));
        if (kernel_.host.valid()) print_block("host", kernel_.host);
        for (const Scratch& scratch : kernel_.scratch) line(scratch_text(scratch));
        for (const Phase& phase : kernel_.phases) print_phase(phase);
        return out_ + "}\n";
    }

    /// An op without its blocks.
    std::string head(const Op& op) const {
        std::string text;
        for (const ValueId result : op.results) text += (text.empty() ? "" : ", ") + names_[result];
        if (!text.empty()) text += " = ";
        text += info(op.kind).mnemonic;
        if (op.kind == OpKind::For) {
            text += for_text(op);
        } else if (op.kind == OpKind::While) {
            text += " " + carried_text(op, 0, 0);
        } else {
            text += std::visit([&](const auto& attribute) { return plain_text(op, attribute); }, op.attribute);
        }
        if (op.kind == OpKind::Fold || op.kind == OpKind::Scan) text += " combine (" + block_arguments(op) + ")";
        for (std::size_t i = 0; i < op.results.size(); ++i) {
            text += (i == 0 ? " : " : ", ") + to_string(kernel_.type(op.results[i]));
        }
        return text;
    }

private:
    void line(const std::string& text) { out_ += std::string(2 * depth_, ' ') + text + "\n"; }

    std::string operand(const Op& op, std::size_t index) const {
        return index < op.operands.size() ? names_[op.operands[index]] : "%?";
    }

    /// The operands from `first` on, after a space.
    std::string operands(const Op& op, std::size_t first = 0) const {
        std::string text;
        for (std::size_t i = first; i < op.operands.size(); ++i) text += (text.empty() ? " " : ", ") + operand(op, i);
        return text;
    }

    /// ` as "name"` where a declared name differs from the value's.
    std::string alias(const std::string& name, ValueId value) const {
        return names_[value] == "%" + name ? "" : " as " + quoted(name);
    }

    void print_signature() {
        out_ = "kernel @" + kernel_.name + "(";
        bool first = true;
        for (const Parameter& parameter : kernel_.parameters) {
            if (!first) out_ += ", ";
            first = false;
            out_ += parameter_text(parameter);
        }
        out_ += ")";
        const Freedoms& freedoms = kernel_.freedoms;
        if (freedoms.flush) out_ += " flush";
        if (freedoms.approximate) out_ += " approximate";
        if (freedoms.contract) out_ += " contract";
        if (freedoms.reassociate) out_ += " reassociate";
        if (kernel_.fits_32_bits) out_ += " fits_32_bits";
        if (!kernel_.schedule.empty()) out_ += " schedule (" + schedule_text() + ")";
        out_ += " {\n";
    }

    std::string schedule_text() const {
        std::string text;
        for (const auto& [key, value] : kernel_.schedule) {
            text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, to_string(value));
        }
        return text;
    }

    std::string parameter_text(const Parameter& parameter) const {
        if (!parameter.value.valid()) return "absent " + quoted(parameter.name);
        std::string text = parameter.present ? "" : "absent ";
        text += names_[parameter.value] + ": " + to_string(kernel_.type(parameter.value));
        text += alias(parameter.name, parameter.value);
        if (parameter.facts.unit_axis >= 0) text += fmt::format(" unit {}", parameter.facts.unit_axis);
        if (parameter.facts.alignment != 1) text += fmt::format(" align {}", parameter.facts.alignment);
        return text;
    }

    std::string extent_text(std::uint32_t parameter, std::uint32_t axis) const {
        const bool known = parameter < kernel_.parameters.size();
        return fmt::format("extent({}, {})", known ? names_[kernel_.parameters[parameter].value] : "%?", axis);
    }

    std::string size_text(const SizeBinding& size) const {
        std::string text = "size " + names_[size.value] + " = " + extent_text(size.parameter, size.axis);
        text += alias(size.name, size.value);
        if (size.scale != 1) text += fmt::format(" scale {}", size.scale);
        if (size.offset != 0) text += fmt::format(" offset {}", size.offset);
        if (size.divisor != 1) text += fmt::format(" divisor {}", size.divisor);
        return text;
    }

    std::string check_text(const ExtentCheck& check) const {
        return "check " + extent_text(check.parameter, check.axis) + " = " + names_[check.expected] +
               alias(check.text, check.expected);
    }

    std::string scratch_text(const Scratch& scratch) const {
        std::string text = "scratch " + names_[scratch.value] + ": " + to_string(kernel_.type(scratch.value)) + " of (";
        for (std::size_t i = 0; i < scratch.extents.size(); ++i) {
            text += (i == 0 ? "" : ", ") + names_[scratch.extents[i]];
        }
        text += ")";
        if (scratch.initial) text += " initial " + names_[*scratch.initial];
        return text + alias(scratch.name, scratch.value);
    }

    void print_phase(const Phase& phase) {
        std::string head = "phase (";
        const std::vector<ValueId>& offsets = kernel_[phase.block].arguments;
        for (std::size_t i = 0; i < phase.axes.size(); ++i) {
            const GridAxis& axis = phase.axes[i];
            const ValueId offset = i < offsets.size() ? offsets[i] : ValueId{};
            head += fmt::format("{}{} in {} .. {} by {}{}", i == 0 ? "" : ", ", names_[offset], names_[axis.lower],
                                names_[axis.upper], names_[axis.step], alias(axis.name, offset));
        }
        print_block(head + ")", phase.block);
    }

    void print_block(const std::string& head, BlockId block) {
        line(head + " {");
        print_ops(block);
        line("}");
    }

    void print_ops(BlockId block) {
        ++depth_;
        for (const OpId id : kernel_[block].ops) print_op(kernel_[id]);
        --depth_;
    }

    void print_op(const Op& op) {
        if (op.blocks.empty()) return line(head(op));
        line(head(op) + " {");
        print_ops(op.blocks.front());
        for (std::size_t i = 1; i < op.blocks.size(); ++i) {
            line(op.kind == OpKind::While ? "} do (" + argument_names(op.blocks[i]) + ") {" : "} else {");
            print_ops(op.blocks[i]);
        }
        line("}");
    }

    std::string argument_names(BlockId block) const {
        std::string text;
        for (const ValueId argument : kernel_[block].arguments) text += (text.empty() ? "" : ", ") + names_[argument];
        return text;
    }

    std::string block_arguments(const Op& op) const {
        return op.blocks.empty() ? "" : argument_names(op.blocks.front());
    }

    std::string argument(const Op& op, std::size_t index) const {
        if (op.blocks.empty() || index >= kernel_[op.blocks.front()].arguments.size()) return "%?";
        return names_[kernel_[op.blocks.front()].arguments[index]];
    }

    /// `(%argument = %initial, ...)` of a loop's first block.
    std::string carried_text(const Op& op, std::size_t first_operand, std::size_t first_argument) const {
        std::string text;
        for (std::size_t i = first_operand; i < op.operands.size(); ++i) {
            text += text.empty() ? "(" : ", ";
            text += argument(op, i - first_operand + first_argument) + " = " + operand(op, i);
        }
        return text.empty() ? "()" : text + ")";
    }

    std::string for_text(const Op& op) const {
        std::string text =
            fmt::format(" {} in {} .. {} by {}", argument(op, 0), operand(op, 0), operand(op, 1), operand(op, 2));
        if (op.operands.size() > 3) text += " carry " + carried_text(op, 3, 1);
        return text;
    }

    std::string plain_text(const Op& op, std::monostate) const { return operands(op); }
    std::string plain_text(const Op&, Scalar constant) const { return " " + to_string(constant); }
    std::string plain_text(const Op& op, const ReduceAttribute& reduce) const {
        return fmt::format(" {}{} axis {}", name(reduce.kind), operands(op), reduce.axis);
    }
    std::string plain_text(const Op& op, const DotAttribute& dot) const {
        if (dot.precision == DotPrecision::Default) return operands(op);
        return fmt::format("{} precision {}", operands(op), name(dot.precision));
    }
    std::string plain_text(const Op& op, const AxisAttribute& size) const {
        return fmt::format("{} axis {}", operands(op), size.axis);
    }
    std::string plain_text(const Op& op, const AxesAttribute& axes) const {
        return operands(op) + (op.kind == OpKind::Extract ? " starts " : " axes ") + to_string(axes.axes);
    }
    std::string plain_text(const Op& op, const SortAttribute& sort) const {
        return fmt::format("{} axis {}{}", operands(op), sort.axis, sort.descending ? " descending" : "");
    }
    std::string plain_text(const Op& op, const AtomicAttribute& atomic) const {
        return fmt::format(" {}{}", name(atomic.kind), atomic.publishes ? " acq_rel" : "") +
               access_text(op, atomic.access);
    }
    std::string plain_text(const Op& op, const MessageAttribute& message) const {
        if (op.kind == OpKind::Print) {
            return " " + quoted(message.text) + (op.operands.empty() ? "" : "," + operands(op));
        }
        std::string text = " " + operand(op, 0) + ", " + quoted(message.text);
        return op.operands.size() > 1 ? text + "," + operands(op, 1) : text;
    }
    std::string plain_text(const Op& op, const AccessAttribute& access) const { return access_text(op, access); }
    std::string access_text(const Op& op, const AccessAttribute& access) const {
        std::size_t next = 1;
        std::string text = " " + operand(op, 0) + "[";
        for (std::size_t i = 0; i < access.axes.size(); ++i) {
            text += (i == 0 ? "" : ", ") + axis_text(op, access.axes[i], next);
        }
        text += "]";
        if (op.kind == OpKind::Load) text += " fill " + operand(op, next++);
        if (op.kind == OpKind::Store) text += ", " + operand(op, next++);
        if (op.kind == OpKind::Atomic) {
            const std::size_t fill = op.operands.size() - (access.masked ? 2 : 1);
            while (next < fill) text += ", " + operand(op, next++);
            text += " fill " + operand(op, next++);
        }
        if (access.masked) text += " mask " + operand(op, next++);
        return text;
    }

    std::string axis_text(const Op& op, const AxisAccess& axis, std::size_t& next) const {
        switch (axis.kind) {
            case AxisKind::Index:
                return operand(op, next++);
            case AxisKind::Slice:
                return fmt::format("{} :+ {}", operand(op, next++), axis.length);
            case AxisKind::Gather:
                return "gather " + operand(op, next++);
            case AxisKind::Range: {
                const std::string lower = operand(op, next++);
                return lower + " .. " + operand(op, next++);
            }
            case AxisKind::All:
                return "..";
        }
        return "?";
    }

    const Kernel& kernel_;
    Names names_;
    std::string out_;
    std::size_t depth_ = 0;
};

}  // namespace

std::string print(const Kernel& kernel) {
    return Printer(kernel).kernel_text();
}

std::string print(const Kernel& kernel, OpId op) {
    if (!op.valid() || op.index >= kernel.ops.size()) return "<no op>";
    return Printer(kernel).head(kernel[op]);
}

}  // namespace kiln::ir
