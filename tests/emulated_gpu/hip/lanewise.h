#pragma once

#include <tuple>
#include <utility>

#include "tests/emulated_gpu/hip/decode.h"
#include "tests/emulated_gpu/hip/execution.h"
#include "tests/emulated_gpu/hip/lane_math.h"

namespace emulated_gpu::hip {

// Kinds of a lane's value: how it is read from a register's bits and put back.
template <class T, ValueType kType>
struct Lane32 {
    using Value = T;
    using Room = Lanes32;
    static constexpr ValueType type = kType;
    static T get(uint32_t bits) { return std::bit_cast<T>(bits); }
    static uint32_t put(T value) { return std::bit_cast<uint32_t>(value); }
};
template <class T, ValueType kType>
struct Lane64 {
    using Value = T;
    using Room = Lanes64;
    static constexpr ValueType type = kType;
    static T get(uint64_t bits) { return std::bit_cast<T>(bits); }
    static uint64_t put(T value) { return std::bit_cast<uint64_t>(value); }
};
template <class T>
struct Lane16 {
    using Value = T;
    using Room = Lanes32;
    static constexpr ValueType type = ValueType::B16;
    static T get(uint32_t bits) { return static_cast<T>(bits); }
    static uint32_t put(T value) { return static_cast<uint16_t>(value); }
};
using U32 = Lane32<uint32_t, ValueType::B32>;
using I32 = Lane32<int32_t, ValueType::B32>;
using F32 = Lane32<float, ValueType::F32>;
using U64 = Lane64<uint64_t, ValueType::B64>;
using I64 = Lane64<int64_t, ValueType::B64>;
using F64 = Lane64<double, ValueType::F64>;
using U16 = Lane16<uint16_t>;
using I16 = Lane16<int16_t>;
/// Computed in double and rounded once.
struct F16 {
    using Value = double;
    using Room = Lanes32;
    static constexpr ValueType type = ValueType::F16;
    static double get(uint32_t bits) { return static_cast<double>(half_to_float(bits)); }
    static uint32_t put(double value) { return double_to_half(value); }
};

template <class T>
const auto* fetch(const Step& step, size_t source, typename T::Room& room) {
    if constexpr (std::is_same_v<typename T::Room, Lanes64>)
        return step.double_words(source, room);
    else
        return step.words(source, room);
}
inline void store_lanes(const Step& step, Lanes32& room, uint64_t known) {
    step.put(room, known);
}
inline void store_lanes(const Step& step, Lanes64& room, uint64_t known) {
    step.put_double(room, known);
}

/// `kUpward`: the low word of a 64-bit result depends on the low words of the sources alone, so that a compiler may
/// leave the high ones unset where it needs the low one only.
template <bool kUpward, class F, class R, class... A, size_t... I>
void run_lanes(Step& step, std::index_sequence<I...>) {
    std::tuple<typename A::Room...> rooms;
    const auto in = std::tuple{fetch<A>(step, I, std::get<I>(rooms))...};
    typename R::Room out;
    for (uint32_t i = 0; i < kLanes; ++i) out.at[i] = R::put(F{}(A::get(std::get<I>(in)[i])...));
    if constexpr (kUpward)
        step.put_double(out, step.low_words_known(), step.all_known());
    else
        store_lanes(step, out, step.all_known());
}
template <class F, class R, class... A>
void run_lanewise(Step& step) {
    run_lanes<false, F, R, A...>(step, std::index_sequence_for<A...>{});
}

/// Decodes `result, source, ...` of the given types for a vector ALU instruction.
inline void decode_vector(Decode& decode, InstructionClass klass, ValueType result,
                          std::initializer_list<ValueType> sources) {
    decode.expect_operands(sources.size() + 1, sources.size() + 1);
    decode.op().klass = klass;
    decode.op().needs_lanes = true;
    decode.result(0, result);
    size_t index = 1;
    for (const ValueType type : sources) decode.source(index++, type);
    decode.take_vector_modifiers();
}

/// An instruction whose result is `f` of its sources, lane by lane. `f` holds nothing.
template <class R, class... A, class F>
void lanewise(DecoderTable& table, const std::string& name, InstructionClass klass, F /*f*/) {
    table[name] = [klass](Decode& decode) {
        decode_vector(decode, klass, R::type, {A::type...});
        decode.op().run = run_lanewise<F, R, A...>;
    };
}

/// As `lanewise`, for 64-bit integers whose bits depend on bits of the sources that are not above them.
template <class R, class... A, class F>
void lanewise_upward(DecoderTable& table, const std::string& name, InstructionClass klass, F /*f*/) {
    table[name] = [klass](Decode& decode) {
        decode_vector(decode, klass, R::type, {A::type...});
        decode.op().run = [](Step& step) { run_lanes<true, F, R, A...>(step, std::index_sequence_for<A...>{}); };
    };
}

/// As `lanewise`, for 16-bit instructions that leave the upper half of their result's register alone.
template <class R, class... A, class F>
void lanewise_in_half(DecoderTable& table, const std::string& name, InstructionClass klass, F /*f*/) {
    table[name] = [klass](Decode& decode) {
        decode.op().preserves_high = true;
        decode_vector(decode, klass, R::type, {A::type...});
        decode.op().run = run_lanewise<F, R, A...>;
    };
}

}  // namespace emulated_gpu::hip
