#include "tests/emulated_gpu/cuda/ptx_module.h"

#include <utility>

namespace emulated_gpu {
PtxError::PtxError(Position position, const std::string& message)
    : std::runtime_error("ptx:" + std::to_string(position.line) + ":" + std::to_string(position.column) + ": " +
                         message),
      position_(position) {}

std::string type_name(Type type) {
    return kTypes[static_cast<size_t>(type)].name;
}

Type type_named(const std::string& name) {
    for (const TypeRow& row : kTypes) {
        if (row.type != Type::None && name == row.name) return row.type;
    }
    return Type::None;
}

}  // namespace emulated_gpu
