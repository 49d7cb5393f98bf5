#include "tests/emulated_gpu/cuda/ptx_module.h"

#include <utility>

namespace emulated_gpu {
namespace {

struct TypeRow {
    const char* name;
    Type type;
    int bits;
    bool is_signed;
    bool is_float;
};

constexpr TypeRow kTypes[] = {
    {"none", Type::None, 0, false, false},     {"pred", Type::Predicate, 1, false, false},
    {"b8", Type::B8, 8, false, false},         {"b16", Type::B16, 16, false, false},
    {"b32", Type::B32, 32, false, false},      {"b64", Type::B64, 64, false, false},
    {"u8", Type::U8, 8, false, false},         {"u16", Type::U16, 16, false, false},
    {"u32", Type::U32, 32, false, false},      {"u64", Type::U64, 64, false, false},
    {"s8", Type::S8, 8, true, false},          {"s16", Type::S16, 16, true, false},
    {"s32", Type::S32, 32, true, false},       {"s64", Type::S64, 64, true, false},
    {"f16", Type::F16, 16, false, true},       {"f16x2", Type::F16x2, 32, false, true},
    {"bf16", Type::BF16, 16, false, true},     {"bf16x2", Type::BF16x2, 32, false, true},
    {"tf32", Type::TF32, 32, false, true},     {"f32", Type::F32, 32, false, true},
    {"f64", Type::F64, 64, false, true},       {"e4m3", Type::E4M3, 8, false, true},
    {"e5m2", Type::E5M2, 8, false, true},      {"e4m3x2", Type::E4M3x2, 16, false, true},
    {"e5m2x2", Type::E5M2x2, 16, false, true}, {"s4", Type::S4, 4, true, false},
    {"u4", Type::U4, 4, false, false},         {"b1", Type::B1, 1, false, false},
};

const TypeRow& row_of(Type type) {
    return kTypes[static_cast<size_t>(type)];
}

}  // namespace

PtxError::PtxError(Position position, const std::string& message)
    : std::runtime_error("ptx:" + std::to_string(position.line) + ":" + std::to_string(position.column) + ": " +
                         message),
      position_(position) {}

int type_bits(Type type) {
    return row_of(type).bits;
}
bool is_signed(Type type) {
    return row_of(type).is_signed;
}
bool is_float(Type type) {
    return row_of(type).is_float;
}
std::string type_name(Type type) {
    return row_of(type).name;
}

Type type_named(const std::string& name) {
    for (const TypeRow& row : kTypes) {
        if (row.type != Type::None && name == row.name) return row.type;
    }
    return Type::None;
}

}  // namespace emulated_gpu
