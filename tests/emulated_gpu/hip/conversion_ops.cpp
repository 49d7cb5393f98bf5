// Conversions between types of vector registers.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/emulated_gpu/hip/float_math.h"
#include "tests/emulated_gpu/hip/fp8.h"
#include "tests/emulated_gpu/hip/lanewise.h"

namespace emulated_gpu::hip {
namespace {

constexpr auto kConversion = InstructionClass::Conversion;

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
    lanewise<I32, I16>(table, "v_cvt_i32_i16", kConversion, [](int16_t a) { return int32_t{a}; });
    lanewise<U32, U16>(table, "v_cvt_u32_u16", kConversion, [](uint16_t a) { return uint32_t{a}; });
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
    lanewise<U32, F16, F16>(table, "v_cvt_pknorm_i16_f16", kConversion, [](double a, double b) {
        return pack(normalised<int16_t>(static_cast<float>(a), 32767.0F),
                    normalised<int16_t>(static_cast<float>(b), 32767.0F));
    });
    lanewise<U32, F16, F16>(table, "v_cvt_pknorm_u16_f16", kConversion, [](double a, double b) {
        return pack(normalised<uint16_t>(static_cast<float>(a), 65535.0F),
                    normalised<uint16_t>(static_cast<float>(b), 65535.0F));
    });
    lanewise<U32, F32, F32>(table, "v_cvt_pk_i16_f32", kConversion, [](float a, float b) {
        return pack(static_cast<uint16_t>(saturate<int16_t>(double{a})),
                    static_cast<uint16_t>(saturate<int16_t>(double{b})));
    });
    lanewise<U32, F32, F32>(table, "v_cvt_pk_u16_f32", kConversion, [](float a, float b) {
        return pack(saturate<uint16_t>(double{a}), saturate<uint16_t>(double{b}));
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

/// Two f32 become two fp8 in the half of the result that op_sel names; the other half stays.
template <Fp8 kFormat>
void run_pack_fp8(Step& step) {
    Lanes32 rooms[2];
    const uint32_t* a = step.words(0, rooms[0]);
    const uint32_t* b = step.words(1, rooms[1]);
    Lanes32 out;
    for (uint32_t i = 0; i < kLanes; ++i) {
        out.at[i] = encode_fp8(double{std::bit_cast<float>(a[i])}, kFormat) |
                    encode_fp8(double{std::bit_cast<float>(b[i])}, kFormat) << 8;
    }
    step.put(out, step.all_known());
}

/// The two fp8 of one half become a pair of f32.
template <Fp8 kFormat>
void run_unpack_fp8(Step& step) {
    Lanes32 room;
    const uint32_t* a = step.words(0, room);
    Lanes64 out;
    for (uint32_t i = 0; i < kLanes; ++i) {
        const auto bits = [&](uint32_t value) {
            return std::bit_cast<uint32_t>(static_cast<float>(decode_fp8(value & 0xff, kFormat)));
        };
        out.at[i] = bits(a[i]) | uint64_t{bits(a[i] >> 8)} << 32;
    }
    step.put_double(out, step.all_known());
}

/// The fp8 in the byte that Op::detail tells.
template <Fp8 kFormat>
void run_widen_fp8(Step& step) {
    Lanes32 room;
    const uint32_t* a = step.words(0, room);
    Lanes32 out;
    for (uint32_t i = 0; i < kLanes; ++i) {
        const uint32_t bits = a[i] >> (8 * step.op.detail) & 0xff;
        out.at[i] = std::bit_cast<uint32_t>(static_cast<float>(decode_fp8(bits, kFormat)));
    }
    step.put(out, step.all_known());
}

/// Stochastic rounding: the upper bits of the second source are added below the mantissa's last bit. The result goes
/// into the byte that Op::detail tells; the others stay.
template <Fp8 kFormat>
void run_round_randomly(Step& step) {
    constexpr bool kE5 = kFormat == Fp8::E5M2 || kFormat == Fp8::E5M2Fnuz;
    constexpr uint32_t kShift = kE5 ? 11 : 12;  // S1[31 : 11] or S1[31 : 12]
    Lanes32 rooms[2];
    const uint32_t* a = step.words(0, rooms[0]);
    const uint32_t* random = step.words(1, rooms[1]);
    const uint32_t* old = step.wave.vector[step.op.result.index].at;
    const auto shift = static_cast<uint32_t>(8 * step.op.detail);
    Lanes32 out;
    for (uint32_t i = 0; i < kLanes; ++i) {
        const uint32_t mantissa = (a[i] + (random[i] >> kShift)) & 0x7f'ffff;  // wraps around
        const float value = std::bit_cast<float>((a[i] & 0xff80'0000) | mantissa);
        out.at[i] = (old[i] & ~(0xffU << shift)) | encode_fp8(double{value}, kFormat) << shift;
    }
    step.put_raw(step.op.result.index, out.at, step.all_known());
}

/// The handlers of one of the two formats, fp8 or bf8.
template <Fp8 kFormat>
struct Fp8Handlers {
    static constexpr Handler widen = run_widen_fp8<kFormat>;
    static constexpr Handler unpack = run_unpack_fp8<kFormat>;
    static constexpr Handler pack = run_pack_fp8<kFormat>;
    static constexpr Handler round_randomly = run_round_randomly<kFormat>;
};

template <Fp8 kOcp, Fp8 kFnuz>
void add_fp8(DecoderTable& table, const std::string& name) {
    const auto choose = [](const Decode& decode, Handler ocp, Handler fnuz) {
        return decode.architecture().has_ocp_fp8() ? ocp : fnuz;
    };
    using Ocp = Fp8Handlers<kOcp>;
    using Fnuz = Fp8Handlers<kFnuz>;
    table["v_cvt_f32_" + name] = [choose](Decode& decode) {
        decode.op().detail = static_cast<uint64_t>(decode.take_number("byte_sel").value_or(0));
        decode_vector(decode, kConversion, ValueType::F32, {ValueType::B32});
        decode.op().run = choose(decode, Ocp::widen, Fnuz::widen);
    };
    table["v_cvt_pk_f32_" + name] = [choose](Decode& decode) {
        decode_vector(decode, kConversion, ValueType::B64, {ValueType::B32});
        decode.op().run = choose(decode, Ocp::unpack, Fnuz::unpack);
    };
    table["v_cvt_pk_" + name + "_f32"] = [choose](Decode& decode) {
        decode.op().preserves_high = true;
        decode_vector(decode, kConversion, ValueType::B16, {ValueType::F32, ValueType::F32});
        // op_sel has three bits for the sources, of which none can apply, before the result's.
        decode.op().run = choose(decode, Ocp::pack, Fnuz::pack);
    };
    table["v_cvt_sr_" + name + "_f32"] = [choose](Decode& decode) {
        const uint32_t selected = decode.take_bits("op_sel", 0) >> 2 & 3;  // CDNA
        decode.op().detail = static_cast<uint64_t>(decode.take_number("byte_sel").value_or(selected));
        decode_vector(decode, kConversion, ValueType::B32, {ValueType::F32, ValueType::B32});
        decode.op().run = choose(decode, Ocp::round_randomly, Fnuz::round_randomly);
    };
}

}  // namespace

void add_conversion_ops(DecoderTable& table) {
    add_integer_conversions(table);
    add_float_conversions(table);
    add_packing_conversions(table);
    add_fp8<Fp8::E4M3, Fp8::E4M3Fnuz>(table, "fp8");
    add_fp8<Fp8::E5M2, Fp8::E5M2Fnuz>(table, "bf8");
}

}  // namespace emulated_gpu::hip
