#include "ir/builder.h"

#include "ir/support/internal_error.h"

namespace kiln::ir {

OpId Builder::append(OpKind kind, std::vector<ValueId> operands, const std::vector<Type>& results,
                     Attribute attribute) {
    const OpId id{static_cast<std::uint32_t>(kernel_->ops.size())};
    Op op{kind, span_, block_, std::move(operands), {}, {}, std::move(attribute)};
    for (const Type& type : results) {
        const ValueId value = kernel_->add_value(type);
        (*kernel_)[value].definition = id;
        op.results.push_back(value);
    }
    kernel_->ops.push_back(std::move(op));
    (*kernel_)[block_].ops.push_back(id);
    return id;
}

ValueId Builder::one(OpKind kind, std::vector<ValueId> operands, const Type& result, Attribute attribute) {
    return (*kernel_)[append(kind, std::move(operands), {result}, std::move(attribute))].result();
}

ValueId Builder::constant(Scalar value) {
    return one(OpKind::Constant, {}, Type::scalar(value.type), value);
}

ValueId Builder::splat(Scalar value, const Type& type) {
    return broadcast(constant(value), type.shape);
}

ValueId Builder::iota(std::int64_t length) {
    return one(OpKind::Iota, {}, Type::tile(kInt, Shape{length}));
}

ValueId Builder::broadcast(ValueId operand, const Shape& shape) {
    const Type type = kernel_->type(operand);
    if (type.shape == shape) return operand;
    return one(OpKind::Broadcast, {operand}, Type::tile(type.element, shape));
}

ValueId Builder::reshape(ValueId operand, const Shape& shape) {
    const Type type = kernel_->type(operand);
    if (type.shape == shape) return operand;
    return one(OpKind::Reshape, {operand}, Type::tile(type.element, shape));
}

ValueId Builder::permute(ValueId operand, const Shape& axes) {
    const Type type = kernel_->type(operand);
    Shape shape;
    for (const std::int64_t axis : axes) shape.push_back(type.shape[static_cast<std::size_t>(axis)]);
    return one(OpKind::Permute, {operand}, Type::tile(type.element, shape), AxesAttribute{axes});
}

ValueId Builder::extract(ValueId operand, const Shape& starts, const Shape& lengths) {
    const Type type = kernel_->type(operand);
    if (type.shape == lengths) return operand;
    return one(OpKind::Extract, {operand}, Type::tile(type.element, lengths), AxesAttribute{starts});
}

ValueId Builder::elementwise(OpKind kind, std::vector<ValueId> operands) {
    const Type first = kernel_->type(operands.front());
    switch (info(kind).result) {
        case ResultRule::First:
            return one(kind, std::move(operands), first);
        case ResultRule::Second: {
            const Type second = kernel_->type(operands[1]);
            return one(kind, std::move(operands), second);
        }
        case ResultRule::Flag:
            return one(kind, std::move(operands), first.with_element(ScalarType::Bool));
        case ResultRule::Own:
        case ResultRule::None:
            break;
    }
    throw support::InternalError("ir::Builder", "`" + std::string(info(kind).mnemonic) + "` states its own result");
}

ValueId Builder::convert(OpKind kind, ValueId operand, ScalarType element) {
    const Type type = kernel_->type(operand);
    if (type.element == element && kind != OpKind::Saturate) return operand;
    return one(kind, {operand}, type.with_element(element));
}

ValueId Builder::reduce(ReduceKind kind, ValueId operand, std::uint32_t axis) {
    Type type = kernel_->type(operand);
    type.shape.erase(axis);
    return one(OpKind::Reduce, {operand}, Type::tile(type.element, type.shape), ReduceAttribute{kind, axis});
}

ValueId Builder::dot(ValueId a, ValueId b, ValueId accumulator, DotPrecision precision) {
    const Type type = kernel_->type(accumulator);
    return one(OpKind::Dot, {a, b, accumulator}, type, DotAttribute{precision});
}

ValueId Builder::join(std::vector<ValueId> operands, std::uint32_t axis) {
    if (operands.size() == 1) return operands.front();
    Type type = kernel_->type(operands.front());
    for (std::size_t i = 1; i < operands.size(); ++i) type.shape[axis] += kernel_->type(operands[i]).shape[axis];
    return one(OpKind::Join, std::move(operands), type, AxisAttribute{axis});
}

OpId Builder::combine_elements(OpKind kind, std::vector<ValueId> operands, std::uint32_t axis) {
    std::vector<Type> results, elements;
    for (const ValueId operand : operands) {
        Type type = kernel_->type(operand);
        elements.push_back(Type::scalar(type.element));
        if (kind == OpKind::Fold) type.shape.erase(axis);
        results.push_back(Type::tile(type.element, type.shape));
    }
    const OpId op = append(kind, std::move(operands), results, AxisAttribute{axis});
    const BlockId block = kernel_->add_block();
    (*kernel_)[block].parent = op;
    for (int side = 0; side < 2; ++side) {
        for (const Type& element : elements) kernel_->add_argument(block, element);
    }
    (*kernel_)[op].blocks.push_back(block);
    return op;
}

OpId Builder::sort(ValueId operand, SortAttribute attribute) {
    const Type type = kernel_->type(operand);
    return append(OpKind::Sort, {operand}, {type, type.with_element(kInt)}, attribute);
}

ValueId Builder::bincount(ValueId operand, std::int64_t bins, std::optional<ValueId> mask) {
    std::vector<ValueId> operands{operand};
    if (mask) operands.push_back(*mask);
    return one(OpKind::Bincount, std::move(operands), Type::tile(ScalarType::U32, Shape{bins}));
}

ValueId Builder::view(ValueId tensor, AccessAttribute access, std::vector<ValueId> axis_operands) {
    const Type type = view_type(kernel_->type(tensor), access);
    axis_operands.insert(axis_operands.begin(), tensor);
    return one(OpKind::View, std::move(axis_operands), type, std::move(access));
}

ValueId Builder::size(ValueId tensor, std::uint32_t axis) {
    return one(OpKind::Size, {tensor}, Type::scalar(kInt), AxisAttribute{axis});
}

namespace {

Shape gather_shape(const Kernel& kernel, const AccessAttribute& access, const std::vector<ValueId>& axis_operands) {
    std::size_t operand = 0;
    for (const AxisAccess& axis : access.axes) {
        if (axis.kind == AxisKind::Gather) return kernel.type(axis_operands[operand]).shape;
        operand += axis.kind == AxisKind::Range ? 2 : axis.kind == AxisKind::All ? 0 : 1;
    }
    return {};
}

}  // namespace

ValueId Builder::load(ValueId tensor, AccessAttribute access, std::vector<ValueId> axis_operands, ValueId fill,
                      std::optional<ValueId> mask) {
    const Shape shape = access_shape(access, gather_shape(*kernel_, access, axis_operands));
    const ScalarType element = kernel_->type(tensor).element;
    access.masked = mask.has_value();
    axis_operands.insert(axis_operands.begin(), tensor);
    axis_operands.push_back(fill);
    if (mask) axis_operands.push_back(*mask);
    return one(OpKind::Load, std::move(axis_operands), Type::tile(element, shape), std::move(access));
}

void Builder::store(ValueId tensor, AccessAttribute access, std::vector<ValueId> axis_operands, ValueId value,
                    std::optional<ValueId> mask) {
    access.masked = mask.has_value();
    axis_operands.insert(axis_operands.begin(), tensor);
    axis_operands.push_back(value);
    if (mask) axis_operands.push_back(*mask);
    append(OpKind::Store, std::move(axis_operands), {}, std::move(access));
}

ValueId Builder::atomic(ValueId tensor, AtomicAttribute attribute, std::vector<ValueId> axis_operands,
                        std::vector<ValueId> values, ValueId fill, std::optional<ValueId> mask) {
    AccessAttribute& access = attribute.access;
    const Shape shape = access_shape(access, gather_shape(*kernel_, access, axis_operands));
    const ScalarType element = kernel_->type(tensor).element;
    access.masked = mask.has_value();
    axis_operands.insert(axis_operands.begin(), tensor);
    axis_operands.insert(axis_operands.end(), values.begin(), values.end());
    axis_operands.push_back(fill);
    if (mask) axis_operands.push_back(*mask);
    return one(OpKind::Atomic, std::move(axis_operands), Type::tile(element, shape), std::move(attribute));
}

OpId Builder::for_loop(ValueId lower, ValueId upper, ValueId step, std::vector<ValueId> initial) {
    std::vector<Type> types;
    for (const ValueId value : initial) types.push_back(kernel_->type(value));
    std::vector<ValueId> operands{lower, upper, step};
    operands.insert(operands.end(), initial.begin(), initial.end());
    const OpId loop = append(OpKind::For, std::move(operands), types);
    const BlockId body = kernel_->add_block();
    (*kernel_)[body].parent = loop;
    kernel_->add_argument(body, Type::scalar(kInt));
    for (const Type& type : types) kernel_->add_argument(body, type);
    (*kernel_)[loop].blocks.push_back(body);
    return loop;
}

OpId Builder::while_loop(std::vector<ValueId> initial) {
    std::vector<Type> types;
    for (const ValueId value : initial) types.push_back(kernel_->type(value));
    const OpId loop = append(OpKind::While, std::move(initial), types);
    for (int i = 0; i < 2; ++i) {
        const BlockId block = kernel_->add_block();
        (*kernel_)[block].parent = loop;
        for (const Type& type : types) kernel_->add_argument(block, type);
        (*kernel_)[loop].blocks.push_back(block);
    }
    return loop;
}

OpId Builder::if_else(ValueId condition, const std::vector<Type>& results) {
    const OpId branch = append(OpKind::If, {condition}, results);
    for (int i = 0; i < 2; ++i) {
        const BlockId block = kernel_->add_block();
        (*kernel_)[block].parent = branch;
        (*kernel_)[branch].blocks.push_back(block);
    }
    return branch;
}

void Builder::yield(std::vector<ValueId> values) {
    append(OpKind::Yield, std::move(values), {});
}

void Builder::print(std::string message, std::vector<ValueId> arguments) {
    append(OpKind::Print, std::move(arguments), {}, MessageAttribute{std::move(message)});
}

void Builder::check(ValueId condition, std::string message, std::vector<ValueId> arguments) {
    arguments.insert(arguments.begin(), condition);
    append(OpKind::Assert, std::move(arguments), {}, MessageAttribute{std::move(message)});
}

ValueId Builder::units() {
    return one(OpKind::Units, {}, Type::scalar(kInt));
}

void Builder::require(ValueId condition, std::string message, std::vector<ValueId> arguments) {
    arguments.insert(arguments.begin(), condition);
    append(OpKind::Require, std::move(arguments), {}, MessageAttribute{std::move(message)});
}

Shape access_shape(const AccessAttribute& access, const Shape& gather) {
    Shape shape;
    bool gathered = false;
    for (const AxisAccess& axis : access.axes) {
        if (axis.kind == AxisKind::Slice) shape.push_back(axis.length);
        if (axis.kind == AxisKind::Gather && !gathered) {
            for (const std::int64_t extent : gather) shape.push_back(extent);
            gathered = true;
        }
    }
    return shape;
}

Type view_type(const Type& tensor, const AccessAttribute& access) {
    Shape shape;
    for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
        if (access.axes[axis].kind == AxisKind::Range) shape.push_back(kDynamic);
        if (access.axes[axis].kind == AxisKind::All) shape.push_back(tensor.shape[axis]);
    }
    return Type::tensor(tensor.access, tensor.element, shape);
}

std::size_t axis_operand_count(const AccessAttribute& access) {
    std::size_t count = 0;
    for (const AxisAccess& axis : access.axes) {
        count += axis.kind == AxisKind::Range ? 2 : axis.kind == AxisKind::All ? 0 : 1;
    }
    return count;
}

std::optional<ScalarType> dot_accumulator(ScalarType a, ScalarType b) {
    const auto is_fp8 = [](ScalarType type) { return type == ScalarType::F8E4M3 || type == ScalarType::F8E5M2; };
    const auto is_small_integer = [](ScalarType type) {
        return type == ScalarType::I8 || type == ScalarType::U8 || type == ScalarType::I4 || type == ScalarType::U4;
    };
    if (is_small_integer(a) && is_small_integer(b)) return ScalarType::I32;
    if (is_fp8(a) && is_fp8(b)) return ScalarType::F32;
    if (a != b) return std::nullopt;
    if (a == ScalarType::F64) return ScalarType::F64;
    if (is_float(a) || a == ScalarType::F4E2M1) return ScalarType::F32;
    return std::nullopt;
}

bool atomic_updates(AtomicKind kind, ScalarType element) {
    const bool number = is_integer(element) || is_float(element);
    const bool wide = number && bit_width(element) >= 32;
    switch (kind) {
        case AtomicKind::Add:
            return wide || is_float(element);
        case AtomicKind::Min:
        case AtomicKind::Max:
        case AtomicKind::Exchange:
        case AtomicKind::Cas:
            return wide;
        case AtomicKind::And:
        case AtomicKind::Or:
        case AtomicKind::Xor:
            return wide && is_integer(element);
    }
    throw support::InternalError("ir::atomic_updates", "unknown kind of atomic");
}

std::string_view atomic_types(AtomicKind kind) {
    switch (kind) {
        case AtomicKind::Add:
            return "f16, bf16 and numbers of 32 or 64 bits";
        case AtomicKind::Min:
        case AtomicKind::Max:
        case AtomicKind::Exchange:
        case AtomicKind::Cas:
            return "numbers of 32 or 64 bits";
        case AtomicKind::And:
        case AtomicKind::Or:
        case AtomicKind::Xor:
            return "integers of 32 or 64 bits";
    }
    throw support::InternalError("ir::atomic_types", "unknown kind of atomic");
}

}  // namespace kiln::ir
