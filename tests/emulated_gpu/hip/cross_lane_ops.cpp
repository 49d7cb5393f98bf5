// Instructions between lanes, and between lanes and scalars.

#include "tests/emulated_gpu/hip/lanewise.h"

namespace emulated_gpu::hip {
namespace {

constexpr auto kCrossLane = InstructionClass::CrossLane;

/// The first active lane; 0 if there is none.
void run_read_first_lane(Step& step) {
    const uint32_t lane = step.exec == 0 ? 0 : static_cast<uint32_t>(std::countr_zero(step.exec));
    Lanes32 room;
    const uint32_t value = step.words(0, room)[lane];
    step.wave.set_scalar(step.op.scalar_result.index, value, ((step.known(0) >> lane) & 1) != 0 ? ~0U : 0);
}

void run_read_lane(Step& step) {
    const uint32_t lane = step.strict_scalar(1, "the number of a lane") & (step.lanes() - 1);
    Lanes32 room;
    const uint32_t value = step.words(0, room)[lane];
    step.wave.set_scalar(step.op.scalar_result.index, value, ((step.known(0) >> lane) & 1) != 0 ? ~0U : 0);
}

/// Regardless of EXEC.
void run_write_lane(Step& step) {
    const uint32_t lane = step.strict_scalar(1, "the number of a lane") & (step.lanes() - 1);
    const uint32_t to = step.op.result.index;
    const uint64_t bit = uint64_t{1} << lane;
    step.wave.vector[to].at[lane] = static_cast<uint32_t>(step.scalar(0));
    const bool known = step.scalar_known(0) == kAllLanes;
    step.wave.vector_known[to] = known ? step.wave.vector_known[to] | bit : step.wave.vector_known[to] & ~bit;
}

/// Bits of the mask below the lane's own, counted on top of the second source.
template <bool kUpper>
void run_masked_count(Step& step) {
    Lanes32 rooms[2];
    const uint32_t* mask = step.words(0, rooms[0]);
    const uint32_t* sum = step.words(1, rooms[1]);
    Lanes32 out;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint64_t below = (uint64_t{1} << lane) - 1;
        const auto part = static_cast<uint32_t>(kUpper ? below >> 32 : below);
        out.at[lane] = sum[lane] + static_cast<uint32_t>(std::popcount(mask[lane] & part));
    }
    step.put(out, step.all_known());
}

void run_swap(Step& step) {
    const uint32_t a = step.op.sources[0].index;
    const uint32_t b = step.op.sources[1].index;
    const Lanes32 old_a = step.wave.vector[a];
    const Lanes32 old_b = step.wave.vector[b];
    const uint64_t known_a = step.wave.vector_known[a];
    step.put_raw(a, old_b.at, step.wave.vector_known[b]);
    step.put_raw(b, old_a.at, known_a);
}

/// v_permlane16_swap and v_permlane32_swap: odd rows of the first register change places with even rows of the second.
template <uint32_t kRow>
void run_row_swap(Step& step) {
    Lanes32& a = step.wave.vector[step.op.sources[0].index];
    Lanes32& b = step.wave.vector[step.op.sources[1].index];
    uint64_t& known_a = step.wave.vector_known[step.op.sources[0].index];
    uint64_t& known_b = step.wave.vector_known[step.op.sources[1].index];
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
        if ((lane & kRow) != 0) continue;
        std::swap(a.at[lane + kRow], b.at[lane]);
        const uint64_t from_a = (known_a >> (lane + kRow)) & 1;
        const uint64_t from_b = (known_b >> lane) & 1;
        known_a = (known_a & ~(uint64_t{1} << (lane + kRow))) | from_b << (lane + kRow);
        known_b = (known_b & ~(uint64_t{1} << lane)) | from_a << lane;
    }
}

void decode_exchange(Decode& decode, Handler handler) {
    decode.expect_operands(2, 2);
    decode.op().klass = kCrossLane;
    decode.vector_register(0, 1);
    decode.vector_register(1, 1);
    decode.source(0, ValueType::B32);
    decode.source(1, ValueType::B32);
    decode.touch(true, true, decode.operand(0).index, 1);
    decode.touch(true, true, decode.operand(1).index, 1);
    decode.op().run = handler;
}

}  // namespace

void add_cross_lane_ops(DecoderTable& table) {
    table["v_readfirstlane_b32"] = [](Decode& decode) {
        decode.expect_operands(2, 2);
        decode.op().klass = kCrossLane;
        decode.scalar_result(0, ValueType::B32);
        decode.source(1, ValueType::B32);
        decode.op().run = run_read_first_lane;
    };
    table["v_readlane_b32"] = [](Decode& decode) {
        decode.expect_operands(3, 3);
        decode.op().klass = kCrossLane;
        decode.scalar_result(0, ValueType::B32);
        decode.source(1, ValueType::B32);
        decode.source(2, ValueType::B32);
        decode.op().run = run_read_lane;
    };
    table["v_writelane_b32"] = [](Decode& decode) {
        decode.expect_operands(3, 3);
        decode.op().klass = kCrossLane;
        decode.result(0, ValueType::B32);
        decode.source(1, ValueType::B32);
        decode.source(2, ValueType::B32);
        decode.op().run = run_write_lane;
    };
    for (const bool upper : {false, true}) {
        table[upper ? "v_mbcnt_hi_u32_b32" : "v_mbcnt_lo_u32_b32"] = [upper](Decode& decode) {
            decode_vector(decode, kCrossLane, ValueType::B32, {ValueType::B32, ValueType::B32});
            decode.op().run = upper ? run_masked_count<true> : run_masked_count<false>;
        };
    }
    table["v_swap_b32"] = [](Decode& decode) { decode_exchange(decode, run_swap); };
    table["v_permlane16_swap_b32"] = [](Decode& decode) { decode_exchange(decode, run_row_swap<16>); };
    table["v_permlane32_swap_b32"] = [](Decode& decode) { decode_exchange(decode, run_row_swap<32>); };
    table["v_nop"] = [](Decode& decode) {
        decode.op().klass = InstructionClass::Control;
        decode.op().run = [](Step&) {};
    };
}

}  // namespace emulated_gpu::hip
