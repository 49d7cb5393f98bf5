// Operators and elementwise ops: one element type, one shape, broadcasts made explicit, constants folded.
#include <array>

#include "frontend/lowering.h"
#include "ir/semantics.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

namespace {

struct OperatorRow {
    std::string_view text;
    ir::OpKind kind;
};

constexpr auto kOperators = std::to_array<OperatorRow>({
    {"+", ir::OpKind::Add},
    {"-", ir::OpKind::Sub},
    {"*", ir::OpKind::Mul},
    {"/", ir::OpKind::Div},
    {"%", ir::OpKind::Rem},
    {"&", ir::OpKind::And},
    {"|", ir::OpKind::Or},
    {"^", ir::OpKind::Xor},
    {"<<", ir::OpKind::Shl},
    {">>", ir::OpKind::Shr},
    {"&&", ir::OpKind::LogicalAnd},
    {"||", ir::OpKind::LogicalOr},
    {"==", ir::OpKind::Equal},
    {"!=", ir::OpKind::NotEqual},
    {"<", ir::OpKind::Less},
    {"<=", ir::OpKind::LessEqual},
    {">", ir::OpKind::Greater},
    {">=", ir::OpKind::GreaterEqual},
});

std::string_view letter_text(char letter) {
    switch (letter) {
        case 'N':
            return "numbers";
        case 'R':
            return "real numbers";
        case 'I':
            return "integers";
        case 'B':
        case 'b':
            return "bool";
        case 'A':
            return "values";
        case '=':
            return "numbers or bools";
    }
    throw support::InternalError("frontend::letter_text", std::string(1, letter));
}

bool letter_admits(char letter, ir::ScalarType type) {
    const ir::ScalarClass kind = ir::scalar_class(type);
    switch (letter) {
        case 'N':
            return kind != ir::ScalarClass::Bool && kind != ir::ScalarClass::Storage;
        case 'R':
            return kind == ir::ScalarClass::Float;
        case 'I':
            return ir::is_integer(type);
        case 'B':
        case 'b':
            return kind == ir::ScalarClass::Bool;
        case '=':
            return kind != ir::ScalarClass::Storage;
        case 'A':
            return true;
    }
    return false;
}

/// The operands' letters of an op; the comparisons for equality have a rule of their own, here `=`.
std::string letters_of(ir::OpKind kind) {
    std::string letters{ir::info(kind).operands};
    for (char& letter : letters) {
        if (letter == '*') letter = '=';
    }
    return letters;
}

/// Which of two types a hint should convert to: the real one, then the wider one.
bool prefers_second(ir::ScalarType first, ir::ScalarType second) {
    if (ir::is_float(first) != ir::is_float(second)) return ir::is_float(second);
    return ir::bit_width(second) > ir::bit_width(first);
}

}  // namespace

ir::ScalarType Lowerer::element(const Value& value) const {
    return value.is_constant() ? value.constant.scalar.type : type(value).element;
}

ir::Shape Lowerer::shape(const Value& value) const {
    return value.is_runtime() ? type(value).shape : ir::Shape{};
}

bool Lowerer::unify(std::span<Operand*> operands, std::string_view operation, support::Span at) {
    const Operand* typed = nullptr;
    for (const Operand* operand : operands) {
        if (operand->value.untyped()) continue;
        if (typed != nullptr && element(typed->value) != element(operand->value)) {
            const std::string first = type_text(SurfaceType::of(ir::Type::scalar(element(typed->value))));
            const std::string second = type_text(SurfaceType::of(ir::Type::scalar(element(operand->value))));
            const bool to_second = prefers_second(element(typed->value), element(operand->value));
            const Operand& converted = to_second ? *typed : *operand;
            error(diagnostics::kOperandTypes, at, operation, first, second)
                .help(fmt::format("write `{}({})`", to_second ? second : first, source_text(converted.span)));
            return false;
        }
        if (typed == nullptr) typed = operand;
    }
    if (typed != nullptr) {
        const ir::ScalarType wanted = element(typed->value);
        for (Operand* operand : operands) {
            if (!operand->value.untyped()) continue;
            const std::optional<ir::Scalar> scalar = adapt(operand->value.constant, wanted, operand->span);
            if (!scalar) return false;
            operand->value = Value::typed(*scalar);
        }
        return true;
    }
    bool real = false;
    for (const Operand* operand : operands) real |= element(operand->value) == ir::ScalarType::F64;
    for (Operand* operand : operands) {
        const ir::ScalarType type = real ? ir::ScalarType::F64 : ir::ScalarType::I64;
        const std::optional<ir::Scalar> scalar = adapt(operand->value.constant, type, operand->span);
        if (!scalar) return false;
        operand->value = Value::of(Constant{*scalar, false, {}, false});
    }
    return true;
}

bool Lowerer::admit_operand(ir::OpKind kind, char letter, const Value& value, std::string_view operation,
                            support::Span at) {
    if (letter_admits(letter, element(value))) return true;
    support::Diagnostic& wrong =
        error(diagnostics::kOperandClass, at, fmt::format("`{}`", operation), letter_text(letter), type_text(value));
    if (kind == ir::OpKind::LogicalAnd || kind == ir::OpKind::LogicalOr || kind == ir::OpKind::LogicalNot) {
        wrong.help("compare first, as in `x != 0`");
    }
    if (ir::scalar_class(element(value)) == ir::ScalarClass::Storage) wrong.help("convert it first, as in `f32(x)`");
    return false;
}

std::optional<ir::Shape> Lowerer::common_shape(std::span<const Operand> operands, std::string_view operation,
                                               support::Span at) {
    const Operand* first = nullptr;
    ir::Shape common;
    for (const Operand& operand : operands) {
        const ir::Shape next = shape(operand.value);
        if (next.empty()) continue;
        if (first == nullptr) {
            first = &operand;
            common = next;
            continue;
        }
        if (next.rank() != common.rank()) {
            const Operand& lesser = next.rank() < common.rank() ? operand : *first;
            error(diagnostics::kRanks, at, operation, common.rank(), next.rank())
                .help(fmt::format("a new axis is `_`, as in `{}`", with_new_axis(lesser.span)));
            return std::nullopt;
        }
        for (std::size_t axis = 0; axis < next.rank(); ++axis) {
            if (common[axis] == 1) common[axis] = next[axis];
            if (next[axis] == 1 || next[axis] == common[axis]) continue;
            error(diagnostics::kExtents, at, operation, type_text(first->value), type_text(operand.value));
            return std::nullopt;
        }
    }
    if (!check_shape(common, at)) return std::nullopt;
    return common;
}

std::string Lowerer::with_new_axis(support::Span at) const {
    const std::string text = source_text(at);
    if (!text.ends_with(']')) {
        const bool simple = text.find_first_of(" (") == std::string::npos;
        return simple ? text + "[_, :]" : "(" + text + ")[_, :]";
    }
    int depth = 0;
    for (std::size_t i = text.size(); i-- > 0;) {
        depth += text[i] == ']';
        depth -= text[i] == '[';
        if (depth == 0) return text.substr(0, i + 1) + "_, " + text.substr(i + 1);
    }
    return text;
}

Value Lowerer::fold_constants(ir::OpKind kind, std::span<const Operand> operands) {
    std::vector<ir::Scalar> scalars;
    bool typed = false;
    for (const Operand& operand : operands) {
        scalars.push_back(operand.value.constant.scalar);
        // The condition of a select says nothing about the type of its result.
        typed |= operand.value.constant.typed && !(kind == ir::OpKind::Select && scalars.size() == 1);
    }
    const ir::Scalar result = ir::evaluate(kind, scalars);
    const bool number = result.type != ir::ScalarType::Bool;
    return Value::of(Constant{result, typed || !number, {}, false});
}

Value Lowerer::apply(ir::OpKind kind, std::vector<Operand> operands, std::string_view operation, support::Span at) {
    for (const Operand& operand : operands) {
        if (operand.value.poison()) return {};
        if (operand.value.is_constant() || operand.value.is_runtime()) continue;
        error(diagnostics::kOperandClass, operand.span, fmt::format("`{}`", operation), "scalars and tiles",
              type_text(operand.value));
        return {};
    }
    const std::string letters = letters_of(kind);
    std::vector<Operand*> group;
    bool wants_real = false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (letters[i] != 'b') group.push_back(&operands[i]);
        wants_real |= letters[i] == 'R';
    }
    if (!unify(group, operation, at)) return {};
    bool constants = true;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        Value& value = operands[i].value;
        if (wants_real && value.untyped()) value = Value::untyped_float(value.constant.scalar.as_double());
        if (!admit_operand(kind, letters[i], value, operation, operands[i].span)) return {};
        constants &= value.is_constant();
    }
    if (constants) return fold_constants(kind, operands);
    const std::optional<ir::Shape> shape = common_shape(operands, operation, at);
    if (!shape) return {};
    builder_.set_span(at);
    std::vector<ir::ValueId> values;
    for (const Operand& operand : operands) {
        const Value value = materialise(operand.value, operand.span);
        if (value.poison()) return {};
        values.push_back(builder_.broadcast(value.id, *shape));
    }
    return Value::runtime(builder_.elementwise(kind, std::move(values)));
}

Value Lowerer::compare_functions(std::string_view operation, const Operand& left, const Operand& right,
                                 support::Span at) {
    const bool comparable = left.value.kind == right.value.kind && (operation == "==" || operation == "!=");
    if (!comparable) {
        const Value& other = left.value.kind == ValueKind::Function ? right.value : left.value;
        error(diagnostics::kOperandTypes, at, operation, "a function", type_text(other));
        return {};
    }
    return Value::typed(ir::Scalar::boolean((left.value.function == right.value.function) == (operation == "==")));
}

Value Lowerer::binary(std::string_view operation, const Operand& left, const Operand& right, support::Span at) {
    if (left.value.poison() || right.value.poison()) return {};
    if (left.value.kind == ValueKind::Function || right.value.kind == ValueKind::Function) {
        return compare_functions(operation, left, right, at);
    }
    for (const OperatorRow& row : kOperators) {
        if (row.text == operation) return apply(row.kind, {left, right}, operation, at);
    }
    throw support::InternalError("frontend::binary", "unknown operator " + std::string(operation));
}

Value Lowerer::unary(char operation, const Operand& operand, support::Span at) {
    const Constant& constant = operand.value.constant;
    if (operation == '-' && operand.value.untyped() && !constant.literal.empty()) {
        const ir::Scalar scalar = constant.scalar;
        const ir::Scalar negated = ir::evaluate(ir::OpKind::Neg, std::span(&scalar, 1));
        return Value::of(Constant{negated, false, constant.literal, !constant.negative});
    }
    const ir::OpKind kind = operation == '-'   ? ir::OpKind::Neg
                            : operation == '!' ? ir::OpKind::LogicalNot
                                               : ir::OpKind::Not;
    return apply(kind, {operand}, std::string_view(&operation, 1), at);
}

Value Lowerer::prefix(dsl::NodeId id) {
    const std::string_view operators = node(id).text;
    const dsl::NodeId inner = child(id, 0);
    Operand operand{expression(inner), span(inner)};
    for (std::size_t i = operators.size(); i-- > 0;) {
        operand.value = unary(operators[i], operand, span(id));
        if (operand.value.poison()) break;
        operand.span = span(id);
    }
    return operand.value;
}

Value Lowerer::chain(dsl::NodeId id) {
    const std::span<const dsl::NodeId> parts = children(id);
    Operand left{expression(parts[0]), span(parts[0])};
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const Operand right{expression(parts[i]), span(parts[i])};
        const dsl::Operator& operation = ast().operators_of(id)[i - 1];
        left.value = binary(operation.text, left, right, operation.span);
        left.span = support::join(left.span, right.span);
    }
    return left.value;
}

}  // namespace kiln::frontend
