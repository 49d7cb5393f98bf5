// Reading sources and writing results: modifiers, EXEC, and what is initialised.

#include <cmath>

#include "tests/emulated_gpu/hip/execution.h"
#include "tests/emulated_gpu/hip/lane_math.h"

namespace emulated_gpu::hip {
namespace {

uint32_t select_part(uint32_t value, Part part, bool sign_extend) {
    const auto number = static_cast<uint32_t>(part);
    if (part == Part::Dword) return value;
    const bool is_byte = part <= Part::Byte3;
    const uint32_t shifted = is_byte ? value >> (8 * number) : value >> (16 * (number - 4));
    if (is_byte) return sign_extend ? static_cast<uint32_t>(static_cast<int8_t>(shifted)) : shifted & 0xff;
    return sign_extend ? static_cast<uint32_t>(static_cast<int16_t>(shifted)) : shifted & 0xffff;
}

/// What an SDWA result leaves of the rest of its register: zeros, its sign, or what was there.
uint32_t place_part(uint32_t value, uint32_t old, const Op& op) {
    if (op.result_part == Part::Dword) return value;
    const auto number = static_cast<uint32_t>(op.result_part);
    const bool is_byte = op.result_part <= Part::Byte3;
    const uint32_t shift = is_byte ? 8 * number : 16 * (number - 4);
    const uint32_t ones = is_byte ? 0xff : 0xffff;
    const uint32_t placed = (value & ones) << shift;
    if (op.unused_part == 2) return (old & ~(ones << shift)) | placed;
    const bool negative = op.unused_part == 1 && (value & ((ones >> 1) + 1)) != 0;
    const uint32_t above = ~(ones | (ones - 1)) << shift;
    return negative ? placed | above : placed;
}

void permute(const LanePermutation& permutation, uint64_t exec, const uint32_t* raw, Lanes32& room) {
    Lanes32 moved;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const int from = permutation.from[lane];
        const bool is_read = from >= 0 && (permutation.reads_inactive || ((exec >> from) & 1) != 0);
        moved.at[lane] = is_read ? raw[from] : 0;
    }
    room = moved;
}

uint32_t sign_bits(ValueType type) {
    return type == ValueType::F16 ? 0x8000 : 0x8000'0000;
}

template <class Flush>
void flush_lanes(Lanes32& room, Flush flush) {
    for (uint32_t& lane : room.at) lane = flush(lane);
}

bool keeps_denormals(const FloatMode& mode, ValueType type, uint8_t bit) {
    const uint8_t denormals =
        type == ValueType::F32 || type == ValueType::PackedF32 ? mode.denormals_32 : mode.denormals_16_64;
    return (denormals & bit) != 0;
}

void clamp_result(const Op& op, const FloatMode& mode, Lanes32& room) {
    const ValueType type = op.result.type;
    if (type != ValueType::F32 && type != ValueType::F16) return;  // integers clamp in their handlers
    for (uint32_t& lane : room.at) {
        float value = type == ValueType::F32 ? std::bit_cast<float>(lane) : half_to_float(lane);
        value = std::ldexp(value, op.output_exponent);
        if (op.clamp) {
            if (std::isnan(value)) value = mode.dx10_clamp ? 0 : value;
            if (value < 0) value = 0;
            if (value > 1) value = 1;
        }
        lane = type == ValueType::F32 ? std::bit_cast<uint32_t>(value) : float_to_half(value);
    }
}

void place_half(const Op& op, const uint32_t* old, Lanes32& room) {
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint32_t value = room.at[lane] & 0xffff;
        if (op.high_half)
            room.at[lane] = value << 16 | (old[lane] & 0xffff);
        else if (op.preserves_high)
            room.at[lane] = value | (old[lane] & 0xffff0000);
    }
}

}  // namespace

uint64_t Launch::random() {  // xorshift64*
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545F4914F6CDD1D;
}

const uint32_t* Step::modified(const Source& from, const uint32_t* raw, Lanes32& room) const {
    if (raw != room.at) std::memcpy(room.at, raw, sizeof room.at);
    if (from.permuted) permute(*op.permutation, wave.exec(), raw, room);
    if (from.part != Part::Dword) {
        for (uint32_t& lane : room.at) lane = select_part(lane, from.part, from.sign_extend);
    }
    if (from.high_half) {
        for (uint32_t& lane : room.at) lane >>= 16;
    }
    const uint32_t sign = sign_bits(from.type);
    if (from.absolute) {
        for (uint32_t& lane : room.at) lane &= ~sign;
    }
    if (from.negate) {
        for (uint32_t& lane : room.at) lane ^= sign;
    }
    if (!keeps_denormals(wave.mode, from.type, 1)) {
        if (from.type == ValueType::F32 || from.type == ValueType::PackedF32) flush_lanes(room, flush_f32);
        if (from.type == ValueType::F16) flush_lanes(room, flush_f16);
    }
    return room.at;
}

const uint64_t* Step::double_words(size_t source, Lanes64& room) const {
    const Source& from = op.sources[source];
    if (from.kind == Source::Kind::Vector) {
        const uint32_t* low = wave.vector[from.index].at;
        const uint32_t* high = wave.vector[from.index + 1U].at;
        for (uint32_t i = 0; i < kLanes; ++i) room.at[i] = low[i] | uint64_t{high[i]} << 32;
        if (from.permuted) {
            Lanes32 half;
            permute(*op.permutation, wave.exec(), low, half);
            for (uint32_t i = 0; i < kLanes; ++i) room.at[i] = half.at[i];
            permute(*op.permutation, wave.exec(), high, half);
            for (uint32_t i = 0; i < kLanes; ++i) room.at[i] |= uint64_t{half.at[i]} << 32;
        }
    } else {
        const uint64_t value = from.kind == Source::Kind::Scalar ? wave.pair(from.index) : from.constant;
        for (uint64_t& lane : room.at) lane = value;
    }
    constexpr uint64_t kSign = uint64_t{1} << 63;
    for (uint64_t& lane : room.at) {
        if (from.absolute) lane &= ~kSign;
        if (from.negate) lane ^= kSign;
        if (from.type == ValueType::F64 && !keeps_denormals(wave.mode, from.type, 1)) lane = flush_f64(lane);
    }
    return room.at;
}

uint64_t Step::known(size_t source, uint32_t registers, uint32_t part) const {
    const Source& from = op.sources[source];
    if (from.kind == Source::Kind::Constant) return kAllLanes;
    if (from.kind == Source::Kind::Scalar) {
        uint32_t all = ~0U;
        for (uint32_t i = part; i < part + registers; ++i) all &= wave.scalar_known[from.index + i];
        return all == ~0U ? kAllLanes : 0;
    }
    uint64_t all = kAllLanes;
    for (uint32_t i = part; i < part + registers; ++i) all &= wave.vector_known[from.index + i];
    if (!from.permuted) return all;
    uint64_t moved = 0;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const int lane_from = op.permutation->from[lane];
        const bool is_known = lane_from < 0 || ((all >> lane_from) & 1) != 0;
        moved |= uint64_t{is_known} << lane;
    }
    return moved;
}

uint64_t Step::all_known() const {
    uint64_t all = kAllLanes;
    for (size_t i = 0; i < op.source_count; ++i) {
        const ValueType type = op.sources[i].type;
        const bool is_pair = type == ValueType::B64 || type == ValueType::F64 || type == ValueType::PackedF32;
        all &= known(i, is_pair ? 2 : 1);
    }
    return all;
}

uint64_t Step::low_words_known() const {
    uint64_t all = kAllLanes;
    for (size_t i = 0; i < op.source_count; ++i) all &= known(i, 1);
    return all;
}

const uint32_t* Step::lane_mask() const {
    if (wave.lanes_of != exec) {
        for (uint32_t i = 0; i < kLanes; ++i) wave.lane_mask.at[i] = ((exec >> i) & 1) != 0 ? ~0U : 0;
        wave.lanes_of = exec;
    }
    return wave.lane_mask.at;
}

void Step::put_raw(uint32_t index, const uint32_t* values, uint64_t known_lanes) const {
    uint32_t* to = wave.vector[index].at;
    wave.vector_known[index] = (wave.vector_known[index] & ~exec) | (known_lanes & exec);
    if (exec == kAllLanes) {
        std::memcpy(to, values, sizeof(Lanes32));
        return;
    }
    const uint32_t* mask = lane_mask();
    for (uint32_t i = 0; i < kLanes; ++i) to[i] = (values[i] & mask[i]) | (to[i] & ~mask[i]);
}

void Step::put(Lanes32& room, uint64_t known_lanes, uint32_t part) const {
    const uint32_t index = op.result.index + part;
    if (!op.plain_result || wave.special_mode) {
        const uint32_t* old = wave.vector[index].at;
        if (op.clamp || op.output_exponent != 0) clamp_result(op, wave.mode, room);
        if (!keeps_denormals(wave.mode, op.result.type, 2)) {
            if (op.result.type == ValueType::F32) flush_lanes(room, flush_f32);
            if (op.result.type == ValueType::F16) flush_lanes(room, flush_f16);
        }
        if (op.high_half || op.preserves_high) place_half(op, old, room);
        if (op.result_part != Part::Dword) {
            for (uint32_t i = 0; i < kLanes; ++i) room.at[i] = place_part(room.at[i], old[i], op);
        }
    }
    put_raw(index, room.at, known_lanes);
}

void Step::put_double(Lanes64& room, uint64_t low_known, uint64_t high_known) const {
    if (op.result.type == ValueType::F64 && (op.clamp || op.output_exponent != 0)) {
        for (uint64_t& lane : room.at) {
            double value = std::ldexp(std::bit_cast<double>(lane), op.output_exponent);
            if (op.clamp) value = std::isnan(value) ? 0 : std::min(1.0, std::max(0.0, value));
            lane = std::bit_cast<uint64_t>(value);
        }
    }
    if (op.result.type == ValueType::F64 && !keeps_denormals(wave.mode, ValueType::F64, 2)) {
        for (uint64_t& lane : room.at) lane = flush_f64(lane);
    }
    Lanes32 half;
    for (uint32_t i = 0; i < kLanes; ++i) half.at[i] = static_cast<uint32_t>(room.at[i]);
    put_raw(op.result.index, half.at, low_known);
    for (uint32_t i = 0; i < kLanes; ++i) half.at[i] = static_cast<uint32_t>(room.at[i] >> 32);
    put_raw(op.result.index + 1U, half.at, high_known);
}

void Step::put_mask(const Result& result, uint64_t mask, uint64_t known_lanes) const {
    const uint64_t bits = mask & exec;
    const uint64_t known = known_lanes | ~exec;
    if (result.registers == 1)
        wave.set_scalar(result.index, static_cast<uint32_t>(bits), static_cast<uint32_t>(known));
    else
        wave.set_pair(result.index, bits, known);
}

uint64_t Step::strict_scalar(size_t source, const char* use) const {
    if (launch.options.check_registers && scalar_known(source) != kAllLanes) {
        throw Fault{FaultKind::UninitialisedRegister,
                    std::string("a scalar register that was never written is ") + use};
    }
    return scalar(source);
}

void Step::require_known(uint64_t known_lanes, const char* use) const {
    const uint64_t missing = exec & ~known_lanes;
    if (!launch.options.check_registers || missing == 0) return;
    throw Fault{FaultKind::UninitialisedRegister, std::string("a register that was never written is ") + use,
                std::countr_zero(missing)};
}

}  // namespace emulated_gpu::hip
