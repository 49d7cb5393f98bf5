// Vector comparisons, whose results are masks of lanes.

#include <cmath>

#include "tests/emulated_gpu/hip/lanewise.h"

namespace emulated_gpu::hip {
namespace {

/// Compares lane by lane; v_cmpx writes EXEC too.
template <class L, class F, bool kWritesExec>
void run_compare(Step& step) {
    typename L::Room rooms[2];
    const auto* a = fetch<L>(step, 0, rooms[0]);
    const auto* b = fetch<L>(step, 1, rooms[1]);
    uint8_t holds[kLanes];
    for (uint32_t i = 0; i < kLanes; ++i) holds[i] = F{}(L::get(a[i]), L::get(b[i])) ? 1 : 0;
    uint64_t mask = 0;
    for (uint32_t i = 0; i < kLanes; ++i) mask |= uint64_t{holds[i]} << i;
    const uint64_t known = step.all_known();
    step.put_mask(step.op.scalar_result, mask, known);
    if (kWritesExec) {
        step.require_known(known, "compared to set EXEC");
        step.wave.set_pair(kExec, mask & step.exec);
    }
}

void decode_compare(Decode& decode, ValueType first, ValueType second, Handler handler) {
    // RDNA's v_cmpx writes EXEC alone and does not say so.
    const bool is_silent = decode.architecture().is_rdna() && decode.instruction().mnemonic.starts_with("v_cmpx_");
    const size_t sources = is_silent ? 0 : 1;
    decode.expect_operands(sources + 2, sources + 2);
    decode.op().klass = InstructionClass::Compare;
    const ValueType mask = decode.mask_type();
    if (is_silent)
        decode.op().scalar_result = {Result::Kind::Scalar, mask, kExec, static_cast<uint8_t>(registers_of(mask))};
    else
        decode.scalar_result(0, mask);
    decode.source(sources, first);
    decode.source(sources + 1, second);
    decode.take_vector_modifiers();
    decode.op().run = handler;
}

template <class L, class F>
void compare(DecoderTable& table, const std::string& condition, const std::string& type, F /*f*/) {
    table["v_cmp_" + condition + "_" + type] = [](Decode& decode) {
        decode_compare(decode, L::type, L::type, run_compare<L, F, false>);
    };
    table["v_cmpx_" + condition + "_" + type] = [](Decode& decode) {
        decode_compare(decode, L::type, L::type, run_compare<L, F, true>);
    };
}

template <class L>
void add_integer_compares(DecoderTable& table, const std::string& type) {
    using T = typename L::Value;
    compare<L>(table, "f", type, [](T, T) { return false; });
    compare<L>(table, "t", type, [](T, T) { return true; });
    compare<L>(table, "lt", type, [](T a, T b) { return a < b; });
    compare<L>(table, "eq", type, [](T a, T b) { return a == b; });
    compare<L>(table, "le", type, [](T a, T b) { return a <= b; });
    compare<L>(table, "gt", type, [](T a, T b) { return a > b; });
    compare<L>(table, "ne", type, [](T a, T b) { return a != b; });
    compare<L>(table, "ge", type, [](T a, T b) { return a >= b; });
}

template <class L>
void add_float_compares(DecoderTable& table, const std::string& type) {
    using T = typename L::Value;
    compare<L>(table, "f", type, [](T, T) { return false; });
    compare<L>(table, "lt", type, [](T a, T b) { return a < b; });
    compare<L>(table, "eq", type, [](T a, T b) { return a == b; });
    compare<L>(table, "le", type, [](T a, T b) { return a <= b; });
    compare<L>(table, "gt", type, [](T a, T b) { return a > b; });
    compare<L>(table, "lg", type, [](T a, T b) { return a < b || a > b; });
    compare<L>(table, "ge", type, [](T a, T b) { return a >= b; });
    compare<L>(table, "o", type, [](T a, T b) { return a == a && b == b; });
    compare<L>(table, "u", type, [](T a, T b) { return a != a || b != b; });
    compare<L>(table, "nge", type, [](T a, T b) { return !(a >= b); });
    compare<L>(table, "nlg", type, [](T a, T b) { return !(a < b || a > b); });
    compare<L>(table, "ngt", type, [](T a, T b) { return !(a > b); });
    compare<L>(table, "nle", type, [](T a, T b) { return !(a <= b); });
    compare<L>(table, "neq", type, [](T a, T b) { return !(a == b); });
    compare<L>(table, "nlt", type, [](T a, T b) { return !(a < b); });
    compare<L>(table, "tru", type, [](T, T) { return true; });
}

/// The bit of v_cmp_class that a value's class has.
uint32_t class_bit(double value, bool subnormal, bool signalling) {
    const bool negative = std::signbit(value);
    if (std::isnan(value)) return signalling ? 1 : 2;
    if (std::isinf(value)) return negative ? 1 << 2 : 1 << 9;
    if (value == 0) return negative ? 1 << 5 : 1 << 6;
    if (subnormal) return negative ? 1 << 4 : 1 << 7;
    return negative ? 1 << 3 : 1 << 8;
}

uint32_t class_of_f32(uint32_t bits) {
    const bool signalling = (bits & 0x40'0000) == 0;
    return class_bit(double{std::bit_cast<float>(bits)}, (bits & 0x7f80'0000) == 0, signalling);
}
uint32_t class_of_f16(uint32_t bits) {
    return class_bit(double{half_to_float(bits)}, (bits & 0x7c00) == 0, (bits & 0x200) == 0);
}
uint32_t class_of_f64(uint64_t bits) {
    const bool signalling = (bits & (uint64_t{1} << 51)) == 0;
    return class_bit(std::bit_cast<double>(bits), (bits & 0x7ff0'0000'0000'0000) == 0, signalling);
}

template <class L, auto kClassOf, bool kWritesExec>
void run_class(Step& step) {
    typename L::Room room;
    Lanes32 room_b;
    const auto* a = fetch<L>(step, 0, room);
    const uint32_t* classes = step.words(1, room_b);
    uint64_t mask = 0;
    for (uint32_t i = 0; i < kLanes; ++i) mask |= uint64_t{(kClassOf(a[i]) & classes[i]) != 0} << i;
    const uint64_t known = step.all_known();
    step.put_mask(step.op.scalar_result, mask, known);
    if (kWritesExec) step.wave.set_pair(kExec, mask & step.exec);
}

/// `read_as` is a type without flushing: a subnormal number is one in every mode.
template <class L, auto kClassOf>
void add_class(DecoderTable& table, const std::string& type, ValueType read_as) {
    table["v_cmp_class_" + type] = [read_as](Decode& decode) {
        decode_compare(decode, read_as, ValueType::B32, run_class<L, kClassOf, false>);
    };
    table["v_cmpx_class_" + type] = [read_as](Decode& decode) {
        decode_compare(decode, read_as, ValueType::B32, run_class<L, kClassOf, true>);
    };
}

}  // namespace

void add_compare_ops(DecoderTable& table) {
    add_integer_compares<I32>(table, "i32");
    add_integer_compares<U32>(table, "u32");
    add_integer_compares<I64>(table, "i64");
    add_integer_compares<U64>(table, "u64");
    add_integer_compares<I16>(table, "i16");
    add_integer_compares<U16>(table, "u16");
    add_float_compares<F32>(table, "f32");
    add_float_compares<F64>(table, "f64");
    add_float_compares<F16>(table, "f16");
    add_class<F32, class_of_f32>(table, "f32", ValueType::B32);
    add_class<F64, class_of_f64>(table, "f64", ValueType::B64);
    add_class<F16, class_of_f16>(table, "f16", ValueType::F16);
}

}  // namespace emulated_gpu::hip
