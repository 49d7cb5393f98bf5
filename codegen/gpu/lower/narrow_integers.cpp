#include "codegen/gpu/lower/narrow_integers.h"

namespace kiln::codegen::gpu {

using namespace ir;

std::vector<ScalarType> narrow_integers(const Kernel& kernel, const Facts& facts) {
    std::vector<ScalarType> stored;
    stored.reserve(kernel.values.size());
    for (std::size_t i = 0; i < kernel.values.size(); ++i) {
        const ValueId value{static_cast<std::uint32_t>(i)};
        const Type& type = kernel.type(value);
        const bool narrow = type.element == ScalarType::I64 && !type.is_tensor() && facts[value].fits_32_bits();
        stored.push_back(narrow ? ScalarType::I32 : type.element);
    }
    return stored;
}

bool narrows(const Kernel& kernel, const Facts& facts, const Op& op) {
    // These look at all 64 bits, or at the width.
    if (op.kind == OpKind::Popcount || op.kind == OpKind::Clz || op.kind == OpKind::Bitcast) return false;
    for (const ValueId operand : op.operands) {
        if (kernel.type(operand).element == ScalarType::I64 && !facts[operand].fits_32_bits()) return false;
    }
    for (const ValueId result : op.results) {
        if (kernel.type(result).element == ScalarType::I64 && !facts[result].fits_32_bits()) return false;
    }
    if (op.kind != OpKind::Shl && op.kind != OpKind::Shr) return true;
    const Fact& count = facts[op.operands[1]];  // counts are taken modulo the width
    return count.lo >= 0 && count.hi < 32;
}

}  // namespace kiln::codegen::gpu
