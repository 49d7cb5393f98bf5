#pragma once

#include <concepts>
#include <type_traits>

#include "tests/emulated_gpu/cuda/decode.h"
#include "tests/emulated_gpu/cuda/execution.h"

namespace emulated_gpu {

/// A register's bits as a value of T, and back: zero-extended from T's width.
template <class T>
inline T from_bits(uint64_t bits) {
    if constexpr (std::is_same_v<T, float>)
        return as_f32(bits);
    else if constexpr (std::is_same_v<T, double>)
        return as_f64(bits);
    else
        return static_cast<T>(bits);
}
template <class T>
inline uint64_t to_bits(T value) {
    if constexpr (std::is_same_v<T, float>)
        return std::bit_cast<uint32_t>(value);
    else if constexpr (std::is_same_v<T, double>)
        return std::bit_cast<uint64_t>(value);
    else
        return static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(value));
}

/// result = F(a), F(a, b) and F(a, b, c), lane by lane, all of one type.
template <class T, class F>
Flow unary(Step& step) {
    const uint64_t* a = step.source(0);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) { out[i] = to_bits<T>(F{}(from_bits<T>(a[i]))); });
    return Flow::Next;
}
template <class T, class F>
Flow binary(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) { out[i] = to_bits<T>(F{}(from_bits<T>(a[i]), from_bits<T>(b[i]))); });
    return Flow::Next;
}
template <class T, class F>
Flow ternary(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const uint64_t* c = step.source(2);
    uint64_t* out = step.result();
    for_lanes(step.mask,
              [&](int i) { out[i] = to_bits<T>(F{}(from_bits<T>(a[i]), from_bits<T>(b[i]), from_bits<T>(c[i]))); });
    return Flow::Next;
}

/// Picks `pick.operator()<T>()` for the integer type; refuses other types.
template <class Pick>
Handler for_integer(Decode& decode, Type type, Pick pick) {
    if (type == Type::U8 || type == Type::B8) return pick.template operator()<uint8_t>();
    if (type == Type::S8) return pick.template operator()<int8_t>();
    if (type == Type::U16 || type == Type::B16) return pick.template operator()<uint16_t>();
    if (type == Type::S16) return pick.template operator()<int16_t>();
    if (type == Type::U32 || type == Type::B32) return pick.template operator()<uint32_t>();
    if (type == Type::S32) return pick.template operator()<int32_t>();
    if (type == Type::U64 || type == Type::B64) return pick.template operator()<uint64_t>();
    if (type == Type::S64) return pick.template operator()<int64_t>();
    decode.refuse("type ." + type_name(type));
}

/// Decodes `d, a, b, ...`: one result and `sources` sources of the type.
inline void plain_operands(Decode& decode, Type type, size_t sources) {
    decode.expect_operands(sources + 1, sources + 1);
    decode.op().type = type;
    decode.result(decode.operand(0));
    for (size_t i = 1; i <= sources; ++i) decode.source(decode.operand(i), type);
}

}  // namespace emulated_gpu
