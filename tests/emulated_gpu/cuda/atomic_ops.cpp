// atom and red: PTX ISA, chapter "Parallel Synchronization and Communication Instructions".

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/emulated_gpu/cuda/lanewise.h"
#include "tests/emulated_gpu/cuda/memory_access.h"
#include "tests/emulated_gpu/cuda/memory_order.h"

namespace emulated_gpu {
namespace {

enum class Atomic : uint64_t { Add, Min, Max, And, Or, Xor, Exchange, CompareSwap, Increment, Decrement };

/// Op::detail: the operation above these bits, the order in them.
constexpr uint64_t kOrderBits = 2;

template <class T>
T extremum(T old, T operand, bool maximum) {
    return maximum ? std::max(old, operand) : std::min(old, operand);
}

uint64_t integer_result(Atomic what, Type type, uint64_t old, uint64_t b, uint64_t c) {
    const bool wide = type_bits(type) == 64;
    switch (what) {
        case Atomic::Add:
            return old + b;
        case Atomic::Min:
        case Atomic::Max: {
            const bool maximum = what == Atomic::Max;
            if (!is_signed(type)) return extremum(old, b, maximum);
            if (wide)
                return static_cast<uint64_t>(extremum(static_cast<int64_t>(old), static_cast<int64_t>(b), maximum));
            return static_cast<uint32_t>(extremum(static_cast<int32_t>(old), static_cast<int32_t>(b), maximum));
        }
        case Atomic::And:
            return old & b;
        case Atomic::Or:
            return old | b;
        case Atomic::Xor:
            return old ^ b;
        case Atomic::Exchange:
            return b;
        case Atomic::CompareSwap:
            return old == b ? c : old;
        case Atomic::Increment:
            return old >= b ? 0 : old + 1;
        case Atomic::Decrement:
            return old == 0 || old > b ? b : old - 1;
    }
    return old;
}

uint64_t add_small(uint64_t a, uint64_t b, const FloatFormat& format) {
    const double sum = add_to_odd(decode_float(static_cast<uint32_t>(a & 0xffff), format),
                                  decode_float(static_cast<uint32_t>(b & 0xffff), format));
    return encode_float(sum, format, Rounding::NearestEven);
}

/// atom.add.f32 on global memory flushes subnormals, on shared memory it does not.
uint64_t float_sum(Type type, uint64_t old, uint64_t b, Space space) {
    if (type == Type::F64) return std::bit_cast<uint64_t>(as_f64(old) + as_f64(b));
    if (type == Type::F32) {
        if (space == Space::Shared) return std::bit_cast<uint32_t>(as_f32(old) + as_f32(b));
        return std::bit_cast<uint32_t>(flush_subnormal(flush_subnormal(as_f32(old)) + flush_subnormal(as_f32(b))));
    }
    const FloatFormat& format = type == Type::BF16 || type == Type::BF16x2 ? kBF16 : kF16;
    if (type_bits(type) == 16) return add_small(old, b, format);
    return add_small(old, b, format) | (add_small(old >> 16, b >> 16, format) << 16);
}

uint64_t new_value(const Op& op, uint64_t old, uint64_t b, uint64_t c, Space space) {
    const auto what = static_cast<Atomic>(op.detail >> kOrderBits);
    if (is_float(op.type)) return float_sum(op.type, old, b, space);
    const uint64_t result = integer_result(what, op.type, old, b, c);
    return op.element_bytes == 8 ? result : result & ((uint64_t{1} << (8 * op.element_bytes)) - 1);
}

void count(Step& step, const LaneAddresses& global, const LaneAddresses& shared) {
    if (global.mask != 0) count_global(step.launch.counters, global, true);
    if (shared.mask != 0) count_shared(step.launch.counters, shared, true);
}

/// Sources: address, operand, and for cas the new value. Lanes go one after the other.
Flow atomic(Step& step) {
    const Op& op = step.op;
    if (op.detail & kReleases) fence(step.warp);
    LaneAddresses global;
    LaneAddresses shared;
    global.bytes = shared.bytes = op.element_bytes;
    for_lanes(step.mask, [&](int lane) {
        const uint64_t address = step.source(0)[lane] + static_cast<uint64_t>(op.offset);
        const Target target = resolve(step, lane, op.space, address, op.element_bytes, Access::Atomic);
        if (SharedShadow* shadow = target.shadow()) {
            shadow->read(target.offset, op.element_bytes, step.warp.agent, step.warp.clock, step.line(), lane, true);
            shadow->write(target.offset, op.element_bytes, step.warp.agent, step.warp.clock, step.line(), lane, true);
        }
        LaneAddresses& addresses = target.space == Space::Shared ? shared : global;
        addresses.mask |= 1U << lane;
        addresses.address[static_cast<size_t>(lane)] = target.offset;
        note_global(step, lane, target, op.element_bytes, Access::Atomic, true);
        observe(step, target);
        publish(step, target);
        uint64_t old = 0;
        std::memcpy(&old, target.data, op.element_bytes);
        const uint64_t c = op.source_count > 2 ? step.source(2)[lane] : 0;
        const uint64_t value = new_value(op, old, step.source(1)[lane], c, target.space);
        std::memcpy(target.data, &value, op.element_bytes);
        if (op.result_count > 0) step.result()[lane] = old;
    });
    count(step, global, shared);
    if (op.detail & kAcquires) fence(step.warp);
    return Flow::Next;
}

Atomic read_operation(Decode& decode) {
    static const std::pair<const char*, Atomic> kNames[] = {
        {"add", Atomic::Add},       {"min", Atomic::Min},      {"max", Atomic::Max},       {"and", Atomic::And},
        {"or", Atomic::Or},         {"xor", Atomic::Xor},      {"exch", Atomic::Exchange}, {"cas", Atomic::CompareSwap},
        {"inc", Atomic::Increment}, {"dec", Atomic::Decrement}};
    for (const auto& [name, what] : kNames) {
        if (decode.accept(name)) return what;
    }
    decode.refuse();
}

template <bool kReduces>
void decode_atomic(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Memory;
    if (decode.has("async")) decode.refuse();
    uint64_t order = 0;
    if (decode.accept("acq_rel"))
        order = kAcquires | kReleases;
    else if (decode.accept("acquire"))
        order = kAcquires;
    else if (decode.accept("release"))
        order = kReleases;
    else
        decode.accept("relaxed");
    read_scope(decode);
    if (decode.accept("global"))
        op.space = Space::Global;
    else if (decode.accept("shared") || decode.accept("shared::cta") || decode.accept("shared::cluster"))
        op.space = Space::Shared;
    const Atomic what = read_operation(decode);
    decode.accept("noftz");
    if (decode.has("v2") || decode.has("v4")) decode.refuse("a vector");
    op.detail = order | (static_cast<uint64_t>(what) << kOrderBits);
    op.type = decode.type();
    op.element_bytes = static_cast<uint8_t>(type_bits(op.type) / 8);
    if (is_float(op.type) && what != Atomic::Add) decode.refuse("type ." + type_name(op.type));
    const size_t first = kReduces ? 0 : 1;
    const size_t operands = first + (what == Atomic::CompareSwap ? 3 : 2);
    decode.expect_operands(operands, operands);
    if (!kReduces) decode.result(decode.operand(0));
    decode.address(decode.operand(first));
    for (size_t i = first + 1; i < operands; ++i) decode.source(decode.operand(i), op.type, true);
    op.run = &atomic;
}

}  // namespace

void add_atomic_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["atom"] = &decode_atomic<false>;
    decoders["red"] = &decode_atomic<true>;
}

}  // namespace emulated_gpu
