#include "ir/kernel.h"

namespace kiln::ir {

std::optional<Scalar> Kernel::constant(ValueId id) const {
    const Op* op = definition(id);
    if (op == nullptr || op->kind != OpKind::Constant) return std::nullopt;
    return attribute<Scalar>(*op);
}

ValueId Kernel::add_value(Type type, std::string name) {
    values.push_back({type, {}, {}, std::move(name)});
    return {static_cast<std::uint32_t>(values.size() - 1)};
}

BlockId Kernel::add_block() {
    blocks.emplace_back();
    return {static_cast<std::uint32_t>(blocks.size() - 1)};
}

ValueId Kernel::add_argument(BlockId block, Type type, std::string name) {
    const ValueId value = add_value(type, std::move(name));
    values[value.index].block = block;
    blocks[block.index].arguments.push_back(value);
    return value;
}

}  // namespace kiln::ir
