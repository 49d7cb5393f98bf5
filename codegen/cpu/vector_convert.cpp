// Conversions of VectorOps: the table of the language, section 3. Every rounding happens once, to nearest even.
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <optional>

#include "codegen/cpu/vector_ops.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::cpu {

using ir::OpKind;
using ir::ScalarClass;
using ir::ScalarType;

namespace {

/// A float format narrower than f32: exponent and fraction bits, and the largest pattern that is a number.
struct NarrowFormat {
    int exponent_bits, fraction_bits;
    std::uint32_t largest;
    std::uint32_t overflow;  ///< pattern of what is above the largest
    std::uint32_t nan;

    int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    std::uint32_t sign() const { return 1u << (exponent_bits + fraction_bits); }
};
constexpr NarrowFormat kF16{5, 10, 0x7bff, 0x7c00, 0x7e00};
constexpr NarrowFormat kF8E5M2{5, 2, 0x7b, 0x7c, 0x7e};
constexpr NarrowFormat kF8E4M3{4, 3, 0x7e, 0x7f, 0x7f};
constexpr NarrowFormat kF4E2M1{2, 1, 0x7, 0x7, 0x7};

/// Emits conversions at a number of lanes, on the bits of f32 lanes.
class Converter {
public:
    Converter(llvm::IRBuilder<>& builder, unsigned lanes) : builder_(builder), lanes_(lanes) {}

    llvm::Type* lanes_of(llvm::Type* scalar) const {
        return lanes_ == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes_);
    }
    llvm::Type* integers(unsigned bits) const { return lanes_of(builder_.getIntNTy(bits)); }
    llvm::Type* floats() const { return lanes_of(builder_.getFloatTy()); }
    llvm::Type* doubles() const { return lanes_of(builder_.getDoubleTy()); }

    llvm::Constant* word(std::uint32_t value) const { return llvm::ConstantInt::get(integers(32), value); }
    llvm::Constant* real(llvm::Type* type, double value) const { return llvm::ConstantFP::get(type, value); }

    llvm::Value* bits(llvm::Value* value) const {
        return builder_.CreateBitCast(value, integers(value->getType()->getScalarSizeInBits()));
    }
    llvm::Value* as_float(llvm::Value* words) const { return builder_.CreateBitCast(words, floats()); }
    llvm::Value* is_nan(llvm::Value* value) const { return builder_.CreateFCmpUNO(value, value); }

    /// Exact value, in f32, of a pattern that stands in the low bits of `code` (any integer width).
    llvm::Value* decode(llvm::Value* code, const NarrowFormat& format) const {
        llvm::Value* pattern = builder_.CreateZExtOrTrunc(code, integers(32));
        llvm::Value* magnitude = builder_.CreateAnd(pattern, word(format.sign() - 1));
        const auto rebias = static_cast<std::uint32_t>(127 - format.bias()) << 23;
        llvm::Value* normal =
            builder_.CreateAdd(builder_.CreateShl(magnitude, 23 - format.fraction_bits), word(rebias));
        const auto quantum = static_cast<std::uint32_t>(127 + 1 - format.bias() - format.fraction_bits) << 23;
        llvm::Value* small = builder_.CreateFMul(builder_.CreateSIToFP(magnitude, floats()), as_float(word(quantum)));
        llvm::Value* is_small = builder_.CreateICmpULT(magnitude, word(1u << format.fraction_bits));
        llvm::Value* value = builder_.CreateSelect(is_small, bits(small), normal);
        if (format.overflow != format.largest) value = decode_specials(value, magnitude, format);
        llvm::Value* sign = builder_.CreateAnd(pattern, word(format.sign()));
        sign = builder_.CreateShl(sign, 31 - format.exponent_bits - format.fraction_bits);
        return as_float(builder_.CreateOr(value, sign));
    }

    /// The pattern nearest to f32 lanes, as 32-bit lanes.
    llvm::Value* encode(llvm::Value* value, const NarrowFormat& format, bool saturate) const {
        llvm::Value* pattern = bits(value);
        llvm::Value* magnitude = builder_.CreateAnd(pattern, word(0x7fffffff));
        const int dropped = 23 - format.fraction_bits;
        llvm::Value* last = builder_.CreateAnd(builder_.CreateLShr(magnitude, dropped), word(1));
        llvm::Value* normal = builder_.CreateAdd(builder_.CreateAdd(magnitude, word((1u << (dropped - 1)) - 1)), last);
        const auto rebias = static_cast<std::uint32_t>(127 - format.bias()) << format.fraction_bits;
        normal = builder_.CreateSub(builder_.CreateLShr(normal, dropped), word(rebias));

        // Below the normal range, adding a number whose last place is the format's smallest step rounds to it.
        const auto step_exponent = static_cast<std::uint32_t>(127 + 1 - format.bias() - format.fraction_bits + 23);
        llvm::Constant* magic = word(step_exponent << 23);
        llvm::Value* small = builder_.CreateSub(bits(builder_.CreateFAdd(as_float(magnitude), as_float(magic))), magic);
        const auto smallest_normal = static_cast<std::uint32_t>(127 + 1 - format.bias()) << 23;
        llvm::Value* code =
            builder_.CreateSelect(builder_.CreateICmpULT(magnitude, word(smallest_normal)), small, normal);

        const std::uint32_t above = saturate ? format.largest : format.overflow;
        code = builder_.CreateSelect(builder_.CreateICmpUGT(code, word(format.largest)), word(above), code);
        llvm::Value* sign = builder_.CreateLShr(pattern, 31 - format.exponent_bits - format.fraction_bits);
        code = builder_.CreateOr(code, builder_.CreateAnd(sign, word(format.sign())));
        return builder_.CreateSelect(is_nan(value), word(format.nan), code);
    }

    llvm::Value* encode_bf16(llvm::Value* value) const {
        llvm::Value* pattern = bits(value);
        llvm::Value* last = builder_.CreateAnd(builder_.CreateLShr(pattern, 16), word(1));
        llvm::Value* rounded = builder_.CreateAdd(builder_.CreateAdd(pattern, word(0x7fff)), last);
        rounded = builder_.CreateSelect(is_nan(value), word(0x7fc00000), rounded);
        return builder_.CreateTrunc(builder_.CreateLShr(rounded, 16), integers(16));
    }

    llvm::Value* decode_bf16(llvm::Value* code) const {
        return as_float(builder_.CreateShl(builder_.CreateZExt(code, integers(32)), 16));
    }

    /// f8e8m0: 0 is 2^-127, a denormal of f32; 255 is NaN.
    llvm::Value* decode_power(llvm::Value* code) const {
        llvm::Value* exponent = builder_.CreateZExt(code, integers(32));
        llvm::Value* value = builder_.CreateShl(exponent, 23);
        value = builder_.CreateSelect(builder_.CreateICmpEQ(exponent, word(0)), word(0x00400000), value);
        value = builder_.CreateSelect(builder_.CreateICmpEQ(exponent, word(255)), word(0x7fc00000), value);
        return as_float(value);
    }

    /// The power of two not below; nothing above zero gives 2^-127.
    llvm::Value* encode_power(llvm::Value* value, bool saturate) const {
        llvm::Value* pattern = bits(value);
        llvm::Value* code = builder_.CreateLShr(builder_.CreateAdd(pattern, word(0x7fffff)), 23);
        if (saturate) {
            code = builder_.CreateSelect(builder_.CreateICmpUGT(code, word(254)), word(254), code);
        }
        // Signed comparison: patterns of negative numbers are below, too.
        code = builder_.CreateSelect(builder_.CreateICmpSLE(pattern, word(0x00400000)), word(0), code);
        code = builder_.CreateSelect(is_nan(value), word(255), code);
        return builder_.CreateTrunc(code, integers(8));
    }

private:
    llvm::Value* decode_specials(llvm::Value* value, llvm::Value* magnitude, const NarrowFormat& format) const {
        llvm::Value* special = word(0x7fc00000);
        if (format.overflow != format.nan) {
            llvm::Value* infinite = builder_.CreateICmpEQ(magnitude, word(format.overflow));
            special = builder_.CreateSelect(infinite, word(0x7f800000), special);
        }
        return builder_.CreateSelect(builder_.CreateICmpUGT(magnitude, word(format.largest)), special, value);
    }

    llvm::IRBuilder<>& builder_;
    unsigned lanes_;
};

/// What counts for a conversion; i4 and u4 are integers.
bool is_whole(ScalarType type) {
    return ir::is_integer(type) || type == ScalarType::Bool || type == ScalarType::I4 || type == ScalarType::U4;
}
bool is_signed_whole(ScalarType type) {
    return ir::is_signed(type) || type == ScalarType::I4;
}

/// Bounds of an integer type, wide enough for all of them.
struct Bounds {
    __int128 lowest, highest;
};
Bounds bounds_of(ScalarType type) {
    const int bits = type == ScalarType::Bool ? 1 : ir::bit_width(type);
    if (is_signed_whole(type)) return {-(__int128{1} << (bits - 1)), (__int128{1} << (bits - 1)) - 1};
    return {0, (__int128{1} << bits) - 1};
}

std::optional<NarrowFormat> narrow_format(ScalarType type) {
    if (type == ScalarType::F16) return kF16;
    if (type == ScalarType::F8E5M2) return kF8E5M2;
    if (type == ScalarType::F8E4M3) return kF8E4M3;
    if (type == ScalarType::F4E2M1) return kF4E2M1;
    return std::nullopt;
}

bool has_half_conversion(const Target& target) {
    return !target.triple.starts_with("x86_64") ||
           std::find(target.features.begin(), target.features.end(), "+f16c") != target.features.end();
}

llvm::Value* clamp_whole(llvm::IRBuilder<>& builder, llvm::Value* value, ScalarType from, ScalarType to) {
    const Bounds source = bounds_of(from);
    const Bounds target = bounds_of(to);
    const bool is_signed = is_signed_whole(from);
    const std::uint64_t mask = ~std::uint64_t{0} >> (64 - value->getType()->getScalarSizeInBits());
    const auto bound = [&](__int128 limit) {
        return llvm::ConstantInt::get(value->getType(), static_cast<std::uint64_t>(limit) & mask);
    };
    if (source.lowest < target.lowest) {
        llvm::Value* limit = bound(target.lowest);
        value = builder.CreateSelect(builder.CreateICmpSLT(value, limit), limit, value);
    }
    if (source.highest > target.highest) {
        llvm::Value* limit = bound(target.highest);
        llvm::Value* above = is_signed ? builder.CreateICmpSGT(value, limit) : builder.CreateICmpUGT(value, limit);
        value = builder.CreateSelect(above, limit, value);
    }
    return value;
}

/// Double lanes of 64-bit integers, rounded to odd: eleven bits that do not fit are gathered in the last that does.
llvm::Value* whole_to_odd_double(const Converter& converter, llvm::IRBuilder<>& builder, llvm::Value* value,
                                 bool is_signed) {
    llvm::Type* type = converter.integers(64);
    const auto number = [&](std::int64_t n) { return llvm::ConstantInt::get(type, static_cast<std::uint64_t>(n)); };
    const auto real = [&](llvm::Value* n) {
        return is_signed ? builder.CreateSIToFP(n, converter.doubles()) : builder.CreateUIToFP(n, converter.doubles());
    };
    llvm::Value* low = builder.CreateAnd(value, number(0x7ff));
    llvm::Value* sticky = builder.CreateSelect(builder.CreateICmpEQ(low, number(0)), number(0), number(0x800));
    llvm::Value* gathered = builder.CreateOr(builder.CreateAnd(value, number(~std::int64_t{0x7ff})), sticky);
    constexpr std::int64_t kExact = std::int64_t{1} << 52;
    llvm::Value* shifted = is_signed ? builder.CreateAdd(value, number(kExact)) : value;
    llvm::Value* exact = builder.CreateICmpULT(shifted, number(is_signed ? 2 * kExact : kExact));
    return real(builder.CreateSelect(exact, value, gathered));
}

}  // namespace

llvm::Value* VectorOps::decode(llvm::Value* value, ScalarType element) const {
    if (element == ScalarType::F32 || element == ScalarType::F64) return value;
    const Converter converter(builder_, lanes(value));
    if (element == ScalarType::BF16) return converter.decode_bf16(value);
    if (element != ScalarType::F16) throw support::InternalError("vector_ops", "decode of a type without arithmetic");
    if (!has_half_conversion(target_)) return converter.decode(value, kF16);
    llvm::Value* half = builder_.CreateBitCast(value, converter.lanes_of(builder_.getHalfTy()));
    return builder_.CreateFPExt(half, converter.floats());
}

llvm::Value* VectorOps::encode(llvm::Value* value, ScalarType element) const {
    if (element == ScalarType::F32 || element == ScalarType::F64) return value;
    const Converter converter(builder_, lanes(value));
    if (element == ScalarType::BF16) return converter.encode_bf16(value);
    if (element != ScalarType::F16) throw support::InternalError("vector_ops", "encode of a type without arithmetic");
    if (!has_half_conversion(target_)) {
        return builder_.CreateTrunc(converter.encode(value, kF16, false), converter.integers(16));
    }
    return converter.bits(builder_.CreateFPTrunc(value, converter.lanes_of(builder_.getHalfTy())));
}

llvm::Value* VectorOps::narrow_to_odd(llvm::Value* value) const {
    const Converter converter(builder_, lanes(value));
    llvm::Value* nearest = builder_.CreateFPTrunc(value, converter.floats());
    llvm::Value* back = builder_.CreateFPExt(nearest, value->getType());
    llvm::Value* bits = converter.bits(nearest);
    llvm::Value* even = builder_.CreateICmpEQ(builder_.CreateAnd(bits, converter.word(1)), converter.word(0));
    llvm::Value* change = builder_.CreateAnd(builder_.CreateFCmpONE(back, value), even);
    llvm::Value* too_far = builder_.CreateFCmpOGT(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back),
                                                  builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value));
    llvm::Value* neighbour = builder_.CreateSelect(too_far, builder_.CreateSub(bits, converter.word(1)),
                                                   builder_.CreateAdd(bits, converter.word(1)));
    return converter.as_float(builder_.CreateSelect(change, neighbour, bits));
}

llvm::Value* VectorOps::bitcast(llvm::Value* value, ScalarType from, ScalarType to) const {
    if (ir::bit_width(from) != ir::bit_width(to)) {
        throw support::InternalError("vector_ops", "bitcast between different widths");
    }
    const unsigned count = lanes(value);
    if (from == ScalarType::Bool) value = builder_.CreateZExt(value, register_type(ScalarType::U8, count));
    if (to == ScalarType::Bool) return builder_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
    return builder_.CreateBitCast(value, register_type(to, count));
}

llvm::Value* VectorOps::convert_whole(OpKind kind, llvm::Value* value, ScalarType from, ScalarType to) const {
    const Converter converter(builder_, lanes(value));
    const bool is_signed = is_signed_whole(from);
    const auto bits = static_cast<unsigned>(ir::bit_width(to));
    if (is_whole(to)) {
        if (kind == OpKind::Saturate) value = clamp_whole(builder_, value, from, to);
        llvm::Type* type = register_type(to, lanes(value));
        value = is_signed ? builder_.CreateSExtOrTrunc(value, type) : builder_.CreateZExtOrTrunc(value, type);
        return bits == 4 ? builder_.CreateAnd(value, llvm::ConstantInt::get(type, 0xf)) : value;
    }
    const auto real = [&](llvm::Type* type) {
        return is_signed ? builder_.CreateSIToFP(value, type) : builder_.CreateUIToFP(value, type);
    };
    if (to == ScalarType::F64) return real(converter.doubles());
    // Up to 24 bits f32 is exact, and what it rounds in larger numbers is beyond the range of f16.
    const unsigned width = value->getType()->getScalarSizeInBits();
    if (to == ScalarType::F32 || to == ScalarType::F16 || width <= 16) {
        return convert_real(kind, real(converter.floats()), ScalarType::F32, to);
    }
    llvm::Value* wide =
        width == 64 ? whole_to_odd_double(converter, builder_, value, is_signed) : real(converter.doubles());
    return convert_real(kind, narrow_to_odd(wide), ScalarType::F32, to);
}

llvm::Value* VectorOps::real_to_whole(llvm::Value* value, ScalarType to) const {
    const bool is_signed = is_signed_whole(to);
    // Four bits clamp on the way from eight.
    const ScalarType wide = ir::bit_width(to) == 4 ? (is_signed ? ScalarType::I8 : ScalarType::U8) : to;
    llvm::Type* type = register_type(wide, lanes(value));
    const auto id = is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
    llvm::Value* whole = builder_.CreateIntrinsic(id, {type, value->getType()}, {value});
    return wide == to ? whole : convert_whole(OpKind::Saturate, whole, wide, to);
}

/// `value` is of f32 or f64 lanes.
llvm::Value* VectorOps::convert_real(OpKind kind, llvm::Value* value, ScalarType from, ScalarType to) const {
    const Converter converter(builder_, lanes(value));
    if (is_whole(to)) return real_to_whole(value, to);
    const bool saturate = kind == OpKind::Saturate;
    if (to == ScalarType::F64) {
        if (from != to) value = builder_.CreateFPExt(value, converter.doubles());
        return saturate ? finite(value) : value;
    }
    if (to == ScalarType::F32) {
        if (from != to) value = builder_.CreateFPTrunc(value, converter.floats());
        return saturate ? finite(value) : value;
    }
    if (from == ScalarType::F64) value = narrow_to_odd(value);
    if (to == ScalarType::F8E8M0) return converter.encode_power(value, saturate);
    if (to == ScalarType::BF16 || (to == ScalarType::F16 && !saturate)) {
        llvm::Value* code = encode(value, to);
        return saturate ? finite_bf16(code) : code;
    }
    const auto format = narrow_format(to);
    if (!format) throw support::InternalError("vector_ops", "no conversion to " + std::string(ir::name(to)));
    return builder_.CreateTrunc(converter.encode(value, *format, saturate), register_type(to, lanes(value)));
}

llvm::Value* VectorOps::finite(llvm::Value* value) const {
    const Converter converter(builder_, lanes(value));
    llvm::Type* type = value->getType();
    const auto largest =
        llvm::ConstantFP::get(type, llvm::APFloat::getLargest(type->getScalarType()->getFltSemantics()));
    const auto lowest = builder_.CreateFNeg(largest);
    value = builder_.CreateSelect(builder_.CreateFCmpOGT(value, largest), largest, value);
    return builder_.CreateSelect(builder_.CreateFCmpOLT(value, lowest), lowest, value);
}

llvm::Value* VectorOps::finite_bf16(llvm::Value* code) const {
    llvm::Type* type = code->getType();
    llvm::Value* magnitude = builder_.CreateAnd(code, llvm::ConstantInt::get(type, 0x7fff));
    llvm::Value* infinite = builder_.CreateICmpEQ(magnitude, llvm::ConstantInt::get(type, 0x7f80));
    return builder_.CreateSelect(infinite, builder_.CreateSub(code, llvm::ConstantInt::get(type, 1)), code);
}

llvm::Value* VectorOps::convert(OpKind kind, llvm::Value* value, ScalarType from, ScalarType to) const {
    if (kind == OpKind::Bitcast) return bitcast(value, from, to);
    if (kind != OpKind::Convert && kind != OpKind::Saturate) {
        throw support::InternalError("vector_ops", "'" + std::string(ir::info(kind).mnemonic) + "' is no conversion");
    }
    if (from == to && (kind == OpKind::Convert || is_whole(to))) return value;
    if (to == ScalarType::Bool) {
        throw support::InternalError("vector_ops", std::string(ir::name(from)) + " does not convert to bool");
    }
    const Converter converter(builder_, lanes(value));
    if (from == ScalarType::I4) {
        // The sign of the code in the low four bits moves up.
        llvm::Value* four = llvm::ConstantInt::get(value->getType(), 4);
        value = builder_.CreateAShr(builder_.CreateShl(value, four), four);
    }
    if (is_whole(from)) return convert_whole(kind, value, from, to);
    if (from == ScalarType::F64) return convert_real(kind, value, from, to);
    if (from == ScalarType::F8E8M0) {
        value = converter.decode_power(value);
    } else if (ir::is_float(from)) {
        value = decode(value, from);
    } else {
        value = converter.decode(value, *narrow_format(from));
    }
    return convert_real(kind, value, ScalarType::F32, to);
}

}  // namespace kiln::codegen::cpu
