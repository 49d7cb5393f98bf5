// Conversions between types of vector registers.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/emulated_gpu/hip/fp8.h"
#include "tests/emulated_gpu/hip/lanewise.h"

namespace emulated_gpu::hip {
namespace {

constexpr auto kConversion = InstructionClass::Conversion;

/// Towards zero; NaN is 0, what is too large is the nearest limit.
template <class To>
To saturate(double value) {
    if (std::isnan(value)) return 0;
    value = std::trunc(value);
    const double low = static_cast<double>(std::numeric_limits<To>::min());
    const double high = static_cast<double>(std::numeric_limits<To>::max());
    return value <= low    ? std::numeric_limits<To>::min()
           : value >= high ? std::numeric_limits<To>::max()
                           : static_cast<To>(value);
}

uint32_t to_half_towards_zero(float value) {
    return encode_float(double{value}, kF16, Rounding::Zero);
}

uint32_t pack(uint32_t low, uint32_t high) {
    return (low & 0xffff) | high << 16;
}

template <class To>
uint32_t normalised(float value, float scale) {
    const float limited = std::clamp(std::isnan(value) ? 0.0F : value, std::is_signed_v<To> ? -1.0F : 0.0F, 1.0F);
    return static_cast<uint16_t>(saturate<To>(std::nearbyint(double{limited} * double{scale})));
}

void add_integer_conversions(DecoderTable& table) {
    lanewise<F32, I32>(table, "v_cvt_f32_i32", kConversion, [](int32_t a) { return static_cast<float>(a); });
    lanewise<F32, U32>(table, "v_cvt_f32_u32", kConversion, [](uint32_t a) { return static_cast<float>(a); });
    lanewise<F64, I32>(table, "v_cvt_f64_i32", kConversion, [](int32_t a) { return static_cast<double>(a); });
    lanewise<F64, U32>(table, "v_cvt_f64_u32", kConversion, [](uint32_t a) { return static_cast<double>(a); });
    lanewise<F16, I16>(table, "v_cvt_f16_i16", kConversion, [](int16_t a) { return static_cast<double>(a); });
    lanewise<F16, U16>(table, "v_cvt_f16_u16", kConversion, [](uint16_t a) { return static_cast<double>(a); });
    lanewise<I32, F32>(table, "v_cvt_i32_f32", kConversion, [](float a) { return saturate<int32_t>(double{a}); });
    lanewise<U32, F32>(table, "v_cvt_u32_f32", kConversion, [](float a) { return saturate<uint32_t>(double{a}); });
    lanewise<I32, F64>(table, "v_cvt_i32_f64", kConversion, [](double a) { return saturate<int32_t>(a); });
    lanewise<U32, F64>(table, "v_cvt_u32_f64", kConversion, [](double a) { return saturate<uint32_t>(a); });
    lanewise<I16, F16>(table, "v_cvt_i16_f16", kConversion, [](double a) { return saturate<int16_t>(a); });
    lanewise<U16, F16>(table, "v_cvt_u16_f16", kConversion, [](double a) { return saturate<uint16_t>(a); });
    lanewise<I32, F32>(table, "v_cvt_rpi_i32_f32", kConversion,
                       [](float a) { return saturate<int32_t>(std::floor(double{a} + 0.5)); });
    lanewise<I32, F32>(table, "v_cvt_flr_i32_f32", kConversion,
                       [](float a) { return saturate<int32_t>(std::floor(double{a})); });
    lanewise<F32, U32>(table, "v_cvt_f32_ubyte0", kConversion, [](uint32_t a) { return static_cast<float>(a & 0xff); });
    lanewise<F32, U32>(table, "v_cvt_f32_ubyte1", kConversion,
                       [](uint32_t a) { return static_cast<float>((a >> 8) & 0xff); });
    lanewise<F32, U32>(table, "v_cvt_f32_ubyte2", kConversion,
                       [](uint32_t a) { return static_cast<float>((a >> 16) & 0xff); });
    lanewise<F32, U32>(table, "v_cvt_f32_ubyte3", kConversion, [](uint32_t a) { return static_cast<float>(a >> 24); });
}

void add_float_conversions(DecoderTable& table) {
    lanewise<F16, F32>(table, "v_cvt_f16_f32", kConversion, [](float a) { return double{a}; });
    lanewise<F32, F16>(table, "v_cvt_f32_f16", kConversion, [](double a) { return static_cast<float>(a); });
    lanewise<F32, F64>(table, "v_cvt_f32_f64", kConversion, [](double a) { return static_cast<float>(a); });
    lanewise<F64, F32>(table, "v_cvt_f64_f32", kConversion, [](float a) { return double{a}; });
    lanewise<F32, U16>(table, "v_cvt_f32_bf16", kConversion, [](uint16_t a) { return bf16_to_float(a); });
}

void add_packing_conversions(DecoderTable& table) {
    lanewise<U32, F32, F32>(table, "v_cvt_pkrtz_f16_f32", kConversion,
                            [](float a, float b) { return pack(to_half_towards_zero(a), to_half_towards_zero(b)); });
    lanewise<U32, F32, F32>(table, "v_cvt_pk_f16_f32", kConversion,
                            [](float a, float b) { return pack(float_to_half(a), float_to_half(b)); });
    lanewise<U32, F32, F32>(table, "v_cvt_pk_bf16_f32", kConversion,
                            [](float a, float b) { return pack(float_to_bf16(a), float_to_bf16(b)); });
    lanewise<U32, F32, F32>(table, "v_cvt_pknorm_i16_f32", kConversion, [](float a, float b) {
        return pack(normalised<int16_t>(a, 32767.0F), normalised<int16_t>(b, 32767.0F));
    });
    lanewise<U32, F32, F32>(table, "v_cvt_pknorm_u16_f32", kConversion, [](float a, float b) {
        return pack(normalised<uint16_t>(a, 65535.0F), normalised<uint16_t>(b, 65535.0F));
    });
    lanewise<U32, U32, U32>(table, "v_cvt_pk_u16_u32", kConversion,
                            [](uint32_t a, uint32_t b) { return pack(std::min(a, 0xffffU), std::min(b, 0xffffU)); });
    lanewise<U32, I32, I32>(table, "v_cvt_pk_i16_i32", kConversion, [](int32_t a, int32_t b) {
        return pack(static_cast<uint32_t>(std::clamp(a, -32768, 32767)),
                    static_cast<uint32_t>(std::clamp(b, -32768, 32767)));
    });
    lanewise<U32, F32, U32, U32>(table, "v_cvt_pk_u8_f32", kConversion, [](float a, uint32_t byte, uint32_t rest) {
        const uint32_t shift = 8 * (byte & 3);
        const auto value = static_cast<uint32_t>(std::clamp(std::isnan(a) ? 0.0F : std::nearbyint(a), 0.0F, 255.0F));
        return (rest & ~(0xffU << shift)) | value << shift;
    });
}

/// Which of the two fp8 formats of the processor: E4M3 or E5M2.
template <bool kE5>
float from_fp8(uint32_t bits) {
    return static_cast<float>(decode_fnuz(bits & 0xff, kE5 ? kE5M2Fnuz : kE4M3Fnuz));
}
template <bool kE5>
uint32_t to_fp8(float value) {
    return encode_fnuz(double{value}, kE5 ? kE5M2Fnuz : kE4M3Fnuz);
}

/// Two f32 become two fp8 in the half of the result that op_sel names; the other half stays.
template <bool kE5>
void run_pack_fp8(Step& step) {
    Lanes32 rooms[2];
    const uint32_t* a = step.words(0, rooms[0]);
    const uint32_t* b = step.words(1, rooms[1]);
    Lanes32 out;
    for (uint32_t i = 0; i < kLanes; ++i) {
        out.at[i] = to_fp8<kE5>(std::bit_cast<float>(a[i])) | to_fp8<kE5>(std::bit_cast<float>(b[i])) << 8;
    }
    step.put(out, step.all_known());
}

/// The two fp8 of one half become a pair of f32.
template <bool kE5>
void run_unpack_fp8(Step& step) {
    Lanes32 room;
    const uint32_t* a = step.words(0, room);
    Lanes64 out;
    for (uint32_t i = 0; i < kLanes; ++i) {
        const uint64_t high = std::bit_cast<uint32_t>(from_fp8<kE5>(a[i] >> 8));
        out.at[i] = std::bit_cast<uint32_t>(from_fp8<kE5>(a[i])) | high << 32;
    }
    step.put_double(out, step.all_known());
}

/// gfx950 has the OCP formats instead.
void refuse_other_formats(const Decode& decode) {
    if (decode.processor() != "gfx942") decode.refuse("the fp8 format");
}

template <bool kE5>
void add_fp8(DecoderTable& table, const std::string& name) {
    const auto widen = [](uint32_t a) { return from_fp8<kE5>(a); };
    table["v_cvt_f32_" + name] = [widen](Decode& decode) {
        refuse_other_formats(decode);
        decode_vector(decode, kConversion, ValueType::F32, {ValueType::B32});
        decode.op().run = run_lanewise<decltype(widen), F32, U32>;
    };
    table["v_cvt_pk_f32_" + name] = [](Decode& decode) {
        refuse_other_formats(decode);
        decode_vector(decode, kConversion, ValueType::B64, {ValueType::B32});
        decode.op().run = run_unpack_fp8<kE5>;
    };
    table["v_cvt_pk_" + name + "_f32"] = [](Decode& decode) {
        refuse_other_formats(decode);
        decode.op().preserves_high = true;
        decode_vector(decode, kConversion, ValueType::B16, {ValueType::F32, ValueType::F32});
        // op_sel has three bits for the sources, of which none can apply, before the result's.
        decode.op().run = run_pack_fp8<kE5>;
    };
}

}  // namespace

void add_conversion_ops(DecoderTable& table) {
    add_integer_conversions(table);
    add_float_conversions(table);
    add_packing_conversions(table);
    add_fp8<false>(table, "fp8");
    add_fp8<true>(table, "bf8");
}

}  // namespace emulated_gpu::hip
