#pragma once

#include <array>
#include <bit>

#include "tests/emulated_gpu/cuda/execution.h"

namespace emulated_gpu {

/// Elements that one register holds.
inline int per_register(Type type) {
    return type == Type::F64 ? 1 : 32 / type_bits(type);
}
inline int registers_a(const MatrixShape& s) {
    return s.m * s.k / kLanes / per_register(s.a);
}
inline int registers_b(const MatrixShape& s) {
    return s.n * s.k / kLanes / per_register(s.b);
}
/// f16 accumulators are packed in pairs.
inline int registers_c(const MatrixShape& s, Type type) {
    return s.m * s.n / kLanes / (type == Type::F16 ? 2 : 1);
}

struct MatrixPlace {
    int row;
    int column;
};
/// Element `i` of register `r` of A in `lane`: lanes are 8 groups (rows) of 4; a register holds neighbouring columns;
/// the registers go through rows +8 first (where there are 16), then through the next 4 registers' worth of columns.
inline MatrixPlace fragment_a(const MatrixShape& s, int lane, int r, int i) {
    const int e = per_register(s.a);
    const int row_halves = s.m / 8;
    return {lane / 4 + 8 * (r % row_halves), lane % 4 * e + i + r / row_halves * 4 * e};
}
/// The same for B: columns are groups, a register holds neighbouring rows.
inline MatrixPlace fragment_b(const MatrixShape& s, int lane, int r, int i) {
    const int e = per_register(s.b);
    return {lane % 4 * e + i + r * 4 * e, lane / 4};
}
/// Element `j` of C or D: two neighbouring columns, then the same 8 rows below.
inline MatrixPlace fragment_c(int lane, int j) {
    return {lane / 4 + 8 * (j / 2), lane % 4 * 2 + j % 2};
}

/// The value of each f16 by its bits.
inline const std::array<float, 65536>& f16_values() {
    static const std::array<float, 65536> values = [] {
        std::array<float, 65536> table;
        for (uint32_t bits = 0; bits < 65536; ++bits) table[bits] = static_cast<float>(decode_float(bits, kF16));
        return table;
    }();
    return values;
}

/// Element `i` of a register of packed elements.
template <class T>
inline T element(Type type, uint64_t bits, int i) {
    const int width = type_bits(type);
    const uint64_t field = width == 64 ? bits : (bits >> (i * width)) & ((uint64_t{1} << width) - 1);
    if (type == Type::F16) return static_cast<T>(f16_values()[field]);
    if (type == Type::BF16) return static_cast<T>(as_f32(field << 16));
    if (type == Type::TF32) return static_cast<T>(as_f32(field & ~uint64_t{0x1fff}));
    if (type == Type::F64) return static_cast<T>(as_f64(field));
    if (type == Type::E4M3) return static_cast<T>(decode_float(static_cast<uint32_t>(field), kE4M3));
    if (type == Type::E5M2) return static_cast<T>(decode_float(static_cast<uint32_t>(field), kE5M2));
    if (is_signed(type)) return static_cast<T>(static_cast<int64_t>(field << (64 - width)) >> (64 - width));
    return static_cast<T>(field);
}

/// Calls `visit(element)` with a function as above; the commonest types have one of their own.
template <class T, class Visit>
inline void with_elements(Type type, Visit&& visit) {
    if (type == Type::BF16) {
        return visit([](uint64_t bits, int i) { return static_cast<T>(as_f32(((bits >> (16 * i)) & 0xffff) << 16)); });
    }
    if (type == Type::F16) {
        const float* values = f16_values().data();
        return visit([values](uint64_t bits, int i) { return static_cast<T>(values[(bits >> (16 * i)) & 0xffff]); });
    }
    visit([type](uint64_t bits, int i) { return element<T>(type, bits, i); });
}

}  // namespace emulated_gpu
