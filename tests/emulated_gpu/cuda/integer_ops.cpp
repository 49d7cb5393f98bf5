// Integer arithmetic: PTX ISA, chapters "Integer Arithmetic Instructions" and "Extended-Precision Integer Arithmetic
// Instructions".

#include <algorithm>
#include <limits>

#include "tests/emulated_gpu/cuda/lanewise.h"

namespace emulated_gpu {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;

/// Twice the width: the type of full products.
template <class T>
using Wide =
    std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                          std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>>;

struct Add {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
    }
};
struct AddSaturated {
    int32_t operator()(int32_t a, int32_t b) const {
        return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} + b, INT32_MIN, INT32_MAX));
    }
};
struct Subtract {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
    }
};
struct SubtractSaturated {
    int32_t operator()(int32_t a, int32_t b) const {
        return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} - b, INT32_MIN, INT32_MAX));
    }
};
struct MultiplyLow {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    }
};
struct MultiplyHigh {
    template <class T>
    T operator()(T a, T b) const {
        return static_cast<T>((Wide<T>(a) * Wide<T>(b)) >> (8 * sizeof(T)));
    }
};
struct MultiplyAddLow {
    template <class T>
    T operator()(T a, T b, T c) const {
        return Add{}(MultiplyLow{}(a, b), c);
    }
};
struct MultiplyAddHigh {
    template <class T>
    T operator()(T a, T b, T c) const {
        return Add{}(MultiplyHigh{}(a, b), c);
    }
};
struct MultiplyAddHighSaturated {
    int32_t operator()(int32_t a, int32_t b, int32_t c) const { return AddSaturated{}(MultiplyHigh{}(a, b), c); }
};
/// Division by zero gives all ones and its remainder the dividend: the document leaves both open.
struct Divide {
    template <class T>
    T operator()(T a, T b) const {
        if (b == 0) return static_cast<T>(-1);
        if constexpr (std::is_signed_v<T>) {
            if (b == -1) return Subtract{}(T{0}, a);
        }
        return static_cast<T>(a / b);
    }
};
struct Remainder {
    template <class T>
    T operator()(T a, T b) const {
        if (b == 0) return a;
        if constexpr (std::is_signed_v<T>) {
            if (b == -1) return 0;
        }
        return static_cast<T>(a % b);
    }
};
struct Minimum {
    template <class T>
    T operator()(T a, T b) const {
        return std::min(a, b);
    }
};
struct Maximum {
    template <class T>
    T operator()(T a, T b) const {
        return std::max(a, b);
    }
};
template <class F>
struct Relu {
    int32_t operator()(int32_t a, int32_t b) const { return std::max(F{}(a, b), 0); }
};
struct Negate {
    template <class T>
    T operator()(T a) const {
        return Subtract{}(T{0}, a);
    }
};
struct Absolute {
    template <class T>
    T operator()(T a) const {
        if constexpr (std::is_signed_v<T>) return a < 0 ? Negate{}(a) : a;
        return a;
    }
};
struct AbsoluteDifferenceAdd {
    template <class T>
    T operator()(T a, T b, T c) const {
        return Add{}(c, a < b ? Subtract{}(b, a) : Subtract{}(a, b));
    }
};

template <class F>
struct Binary {
    template <class T>
    Handler operator()() const {
        return &binary<T, F>;
    }
};
template <class F>
struct Ternary {
    template <class T>
    Handler operator()() const {
        return &ternary<T, F>;
    }
};
template <class F>
struct Unary {
    template <class T>
    Handler operator()() const {
        return &unary<T, F>;
    }
};

/// .wide: the full product, with a full-width addend for mad.
template <class T, bool kAdds>
Flow multiply_wide(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const uint64_t* c = kAdds ? step.source(2) : a;
    uint64_t* out = step.result();
    using W = Wide<T>;
    for_lanes(step.mask, [&](int i) {
        const auto product = static_cast<uint64_t>(W(from_bits<T>(a[i])) * W(from_bits<T>(b[i])));
        out[i] = to_bits<W>(static_cast<W>(kAdds ? product + c[i] : product));
    });
    return Flow::Next;
}
template <bool kAdds>
struct MultiplyWide {
    template <class T>
    Handler operator()() const {
        if constexpr (sizeof(T) == 2 || sizeof(T) == 4) return &multiply_wide<T, kAdds>;
        return nullptr;
    }
};

template <class F, class Saturated>
void decode_add(Decode& decode) {
    if (is_float_operation(decode)) return float_decoder(decode.instruction().opcode)(decode);
    const bool saturate = decode.accept("sat");
    const Type type = decode.type();
    plain_operands(decode, type, 2);
    if (saturate) {
        if (type != Type::S32) decode.fail(".sat needs .s32");
        decode.op().run = &binary<int32_t, Saturated>;
        return;
    }
    decode.op().run = for_integer(decode, type, Binary<F>{});
}

void decode_mul(Decode& decode) {
    if (is_float_operation(decode)) return float_decoder("mul")(decode);
    const bool wide = decode.accept("wide");
    const bool high = decode.accept("hi");
    if (!wide && !high) decode.expect("lo");
    const Type type = decode.type();
    plain_operands(decode, type, 2);
    if (wide)
        decode.op().run = for_integer(decode, type, MultiplyWide<false>{});
    else if (high)
        decode.op().run = for_integer(decode, type, Binary<MultiplyHigh>{});
    else
        decode.op().run = for_integer(decode, type, Binary<MultiplyLow>{});
    if (decode.op().run == nullptr) decode.fail(".wide needs 16 or 32 bits");
}

void decode_mad(Decode& decode) {
    if (is_float_operation(decode)) return float_decoder("fma")(decode);
    const bool wide = decode.accept("wide");
    const bool high = decode.accept("hi");
    if (!wide && !high) decode.expect("lo");
    const bool saturate = decode.accept("sat");
    const Type type = decode.type();
    decode.expect_operands(4, 4);
    decode.result(decode.operand(0));
    decode.source(decode.operand(1), type);
    decode.source(decode.operand(2), type);
    decode.source(decode.operand(3), wide ? Type::B64 : type);
    if (saturate) {
        if (type != Type::S32 || !high) decode.fail(".sat needs .hi.s32");
        decode.op().run = &ternary<int32_t, MultiplyAddHighSaturated>;
    } else if (wide) {
        decode.op().run = for_integer(decode, type, MultiplyWide<true>{});
        if (decode.op().run == nullptr) decode.fail(".wide needs 16 or 32 bits");
    } else if (high) {
        decode.op().run = for_integer(decode, type, Ternary<MultiplyAddHigh>{});
    } else {
        decode.op().run = for_integer(decode, type, Ternary<MultiplyAddLow>{});
    }
}

template <class T>
T low_24(uint64_t bits) {
    const auto value = static_cast<uint32_t>(bits << 8);
    if constexpr (std::is_signed_v<T>) return static_cast<int32_t>(value) >> 8;
    return value >> 8;
}
/// mul24 and mad24: products of the low 24 bits, their low 32 bits or (.hi) bits 16..47.
template <class T, bool kHigh, bool kAdds>
Flow multiply_24(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const uint64_t* c = kAdds ? step.source(2) : a;
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) {
        const Wide<T> product = Wide<T>(low_24<T>(a[i])) * Wide<T>(low_24<T>(b[i]));
        const auto part = static_cast<uint32_t>(kHigh ? product >> 16 : product);
        out[i] = static_cast<uint32_t>(part + (kAdds ? static_cast<uint32_t>(c[i]) : 0));
    });
    return Flow::Next;
}
template <bool kAdds>
void decode_24(Decode& decode) {
    const bool high = decode.accept("hi");
    if (!high) decode.expect("lo");
    const Type type = decode.type();
    plain_operands(decode, type, kAdds ? 3 : 2);
    if (type == Type::U32)
        decode.op().run = high ? &multiply_24<uint32_t, true, kAdds> : &multiply_24<uint32_t, false, kAdds>;
    else if (type == Type::S32)
        decode.op().run = high ? &multiply_24<int32_t, true, kAdds> : &multiply_24<int32_t, false, kAdds>;
    else
        decode.fail("24-bit products are of .u32 or .s32");
}

template <class F>
void decode_division(Decode& decode) {
    if (is_float_operation(decode)) return float_decoder("div")(decode);
    const Type type = decode.type();
    plain_operands(decode, type, 2);
    decode.op().run = for_integer(decode, type, Binary<F>{});
}

template <class F>
void decode_extremum(Decode& decode) {
    if (is_float_operation(decode)) return float_decoder(decode.instruction().opcode)(decode);
    const bool relu = decode.accept("relu");
    const Type type = decode.type();
    plain_operands(decode, type, 2);
    if (relu && type != Type::S32) decode.refuse("'.relu'");
    decode.op().run = relu ? &binary<int32_t, Relu<F>> : for_integer(decode, type, Binary<F>{});
}

template <class F>
void decode_sign(Decode& decode) {
    if (is_float_operation(decode)) return float_decoder(decode.instruction().opcode)(decode);
    const Type type = decode.type();
    plain_operands(decode, type, 1);
    decode.op().run = for_integer(decode, type, Unary<F>{});
}

void decode_sad(Decode& decode) {
    const Type type = decode.type();
    plain_operands(decode, type, 3);
    decode.op().run = for_integer(decode, type, Ternary<AbsoluteDifferenceAdd>{});
}

/// dp4a, dp2a: c + sum of products of the bytes of a with the bytes (dp4a) or, for dp2a, the halves of a with two bytes
/// of b.
template <bool kSignedA, bool kSignedB, int kTerms>
Flow dot_product(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const uint64_t* c = step.source(2);
    uint64_t* out = step.result();
    constexpr int kBitsA = 32 / kTerms;
    const int first = kTerms == 2 && step.op.flag ? 2 : 0;
    for_lanes(step.mask, [&](int i) {
        auto sum = static_cast<uint32_t>(c[i]);
        for (int t = 0; t < kTerms; ++t) {
            const auto raw_a = static_cast<uint32_t>(a[i] >> (t * kBitsA));
            const auto raw_b = static_cast<uint32_t>(b[i] >> ((t + first) * 8));
            const int32_t x = kTerms == 4 ? (kSignedA ? static_cast<int8_t>(raw_a) : static_cast<uint8_t>(raw_a))
                                          : (kSignedA ? static_cast<int16_t>(raw_a) : static_cast<uint16_t>(raw_a));
            const int32_t y = kSignedB ? static_cast<int8_t>(raw_b) : static_cast<uint8_t>(raw_b);
            sum += static_cast<uint32_t>(x * y);
        }
        out[i] = sum;
    });
    return Flow::Next;
}
template <int kTerms>
void decode_dot(Decode& decode) {
    if (kTerms == 2) {
        decode.op().flag = decode.accept("hi");
        if (!decode.op().flag) decode.expect("lo");
    }
    const bool a = is_signed(decode.type());
    const bool b = is_signed(decode.type());
    plain_operands(decode, Type::B32, 3);
    decode.op().run = a ? (b ? &dot_product<true, true, kTerms> : &dot_product<true, false, kTerms>)
                        : (b ? &dot_product<false, true, kTerms> : &dot_product<false, false, kTerms>);
}

/// a + b (+ carry) and a - b (- borrow) with the condition code read and written as asked.
template <class T, bool kSubtracts, bool kReads, bool kWrites>
Flow carry_operation(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    uint64_t* carry = step.frame.lanes(step.frame.function->carry);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) {
        const auto x = static_cast<unsigned __int128>(static_cast<T>(a[i]));
        const auto y = static_cast<unsigned __int128>(static_cast<T>(b[i]));
        const unsigned carried = kReads ? static_cast<unsigned>(carry[i]) : 0;
        const unsigned __int128 full = kSubtracts ? x - y - carried : x + y + carried;
        if (kWrites) carry[i] = static_cast<uint64_t>(full >> (8 * sizeof(T))) & 1;
        out[i] = static_cast<T>(full);
    });
    return Flow::Next;
}
template <bool kSubtracts, bool kReads>
void decode_carry(Decode& decode) {
    const bool writes = decode.accept("cc");
    const Type type = decode.type();
    plain_operands(decode, type, 2);
    if (type_bits(type) == 64) {
        decode.op().run = writes ? &carry_operation<uint64_t, kSubtracts, kReads, true>
                                 : &carry_operation<uint64_t, kSubtracts, kReads, false>;
    } else {
        decode.op().run = writes ? &carry_operation<uint32_t, kSubtracts, kReads, true>
                                 : &carry_operation<uint32_t, kSubtracts, kReads, false>;
    }
}

/// mad.cc and madc: the low or high half of a * b plus c (plus carry).
template <class T, bool kHigh, bool kReads>
Flow carry_multiply_add(Step& step) {
    const uint64_t* a = step.source(0);
    const uint64_t* b = step.source(1);
    const uint64_t* c = step.source(2);
    uint64_t* carry = step.frame.lanes(step.frame.function->carry);
    uint64_t* out = step.result();
    for_lanes(step.mask, [&](int i) {
        const T half = kHigh ? MultiplyHigh{}(from_bits<T>(a[i]), from_bits<T>(b[i]))
                             : MultiplyLow{}(from_bits<T>(a[i]), from_bits<T>(b[i]));
        const auto full = static_cast<unsigned __int128>(static_cast<Unsigned<T>>(half)) +
                          static_cast<Unsigned<T>>(c[i]) + (kReads ? carry[i] : 0);
        if (step.op.flag) carry[i] = static_cast<uint64_t>(full >> (8 * sizeof(T))) & 1;
        out[i] = static_cast<Unsigned<T>>(full);
    });
    return Flow::Next;
}
template <bool kHigh, bool kReads>
struct CarryMultiplyAdd {
    template <class T>
    Handler operator()() const {
        if constexpr (sizeof(T) >= 4) return &carry_multiply_add<T, kHigh, kReads>;
        return nullptr;
    }
};
template <bool kReads>
void decode_carry_mad(Decode& decode) {
    decode.op().flag = decode.accept("cc");
    const bool high = decode.accept("hi");
    if (!high) decode.expect("lo");
    const Type type = decode.type();
    plain_operands(decode, type, 3);
    decode.op().run = high ? for_integer(decode, type, CarryMultiplyAdd<true, kReads>{})
                           : for_integer(decode, type, CarryMultiplyAdd<false, kReads>{});
    if (decode.op().run == nullptr) decode.fail("carries need 32 or 64 bits");
}

template <Decoder kPlain, Decoder kCarrying>
void with_carry(Decode& decode) {
    return decode.has("cc") ? kCarrying(decode) : kPlain(decode);
}

}  // namespace

void add_integer_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["add"] = &with_carry<&decode_add<Add, AddSaturated>, &decode_carry<false, false>>;
    decoders["sub"] = &with_carry<&decode_add<Subtract, SubtractSaturated>, &decode_carry<true, false>>;
    decoders["addc"] = &decode_carry<false, true>;
    decoders["subc"] = &decode_carry<true, true>;
    decoders["mul"] = &decode_mul;
    decoders["mad"] = &with_carry<&decode_mad, &decode_carry_mad<false>>;
    decoders["madc"] = &decode_carry_mad<true>;
    decoders["mul24"] = &decode_24<false>;
    decoders["mad24"] = &decode_24<true>;
    decoders["div"] = &decode_division<Divide>;
    decoders["rem"] = &decode_division<Remainder>;
    decoders["min"] = &decode_extremum<Minimum>;
    decoders["max"] = &decode_extremum<Maximum>;
    decoders["neg"] = &decode_sign<Negate>;
    decoders["abs"] = &decode_sign<Absolute>;
    decoders["sad"] = &decode_sad;
    decoders["dp4a"] = &decode_dot<4>;
    decoders["dp2a"] = &decode_dot<2>;
}

}  // namespace emulated_gpu
