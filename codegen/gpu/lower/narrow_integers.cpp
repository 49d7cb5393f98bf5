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

}  // namespace kiln::codegen::gpu
