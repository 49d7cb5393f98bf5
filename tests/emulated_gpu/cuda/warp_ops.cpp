// Exchange between the lanes of a warp: PTX ISA, shfl.sync of "Data Movement and Conversion Instructions", and vote,
// match, redux and activemask of "Parallel Synchronization and Communication Instructions".

#include <algorithm>

#include "tests/emulated_gpu/cuda/lanewise.h"

namespace emulated_gpu {
namespace {

/// Whether all lanes that the mask in the last source names are here. The mask has to name the lane that gives it.
/// Lanes that give another mask become a group of their own.
bool all_named_lanes_here(Step& step) {
    const uint64_t* masks = step.source(step.op.source_count - 1U);
    const auto wanted = static_cast<uint32_t>(masks[std::countr_zero(step.mask)]);
    const std::string& text = step.op.instruction->text;
    for_lanes(step.mask, [&](int lane) {
        if (masks[lane] != wanted && ((wanted >> lane) & 1)) {
            throw Fault{FaultKind::BarrierMisuse, "the member masks of '" + text + "' differ between lanes", lane};
        }
        if (((masks[lane] >> lane) & 1) == 0) {
            throw Fault{FaultKind::BarrierMisuse, "this lane is not in its own member mask of '" + text + "'", lane};
        }
    });
    const uint32_t others = step.mask & ~wanted;
    if (others != 0) {
        Group rest = step.group;
        rest.mask = rest.apart = others;
        step.group.mask &= ~others;
        step.mask &= ~others;
        step.group.apart = step.mask;
        step.warp.groups.push_back(rest);
    }
    return gathered(step, wanted);
}

enum class Shuffle : uint64_t { Up, Down, Butterfly, Index };

int source_lane(Shuffle how, int lane, uint32_t b, uint32_t c, bool& valid) {
    const int segment = static_cast<int>((c >> 8) & 31);
    const int clamp = static_cast<int>(c & 31);
    const int offset = static_cast<int>(b & 31);
    const int most = (lane & segment) | (clamp & ~segment);
    const int least = lane & segment;
    int from = lane;
    switch (how) {
        case Shuffle::Up:
            from = lane - offset;
            valid = from >= most;
            break;
        case Shuffle::Down:
            from = lane + offset;
            valid = from <= most;
            break;
        case Shuffle::Butterfly:
            from = lane ^ offset;
            valid = from <= most;
            break;
        case Shuffle::Index:
            from = least | (offset & ~segment);
            valid = from <= most;
            break;
    }
    return valid ? from : lane;
}

/// Sources: value, lane or offset, clamp and segment, member mask.
Flow shuffle(Step& step) {
    if (!all_named_lanes_here(step)) return Flow::Blocked;
    std::array<uint64_t, kLanes> values;
    std::copy_n(step.source(0), kLanes, values.begin());
    const uint32_t value_ready = step.ready(0);
    uint32_t ready = 0;
    for_lanes(step.mask, [&](int lane) {
        bool valid = false;
        const auto how = static_cast<Shuffle>(step.op.detail);
        const int from = source_lane(how, lane, static_cast<uint32_t>(step.source(1)[lane]),
                                     static_cast<uint32_t>(step.source(2)[lane]), valid);
        // The document leaves the value from a lane that takes no part open: it counts as never written.
        const bool takes_part = ((step.mask >> from) & 1) != 0;
        if (takes_part && ((value_ready >> from) & 1)) ready |= 1U << lane;
        step.result(0)[lane] = values[static_cast<size_t>(from)];
        if (step.op.result_count > 1) step.result(1)[lane] = valid;
    });
    step.mark(0, ready);
    if (step.op.result_count > 1) step.mark(1, kAllLanes);
    return Flow::Next;
}
void decode_shfl(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Warp;
    op.keeps_track = false;
    decode.expect("sync");
    if (decode.accept("up"))
        op.detail = static_cast<uint64_t>(Shuffle::Up);
    else if (decode.accept("down"))
        op.detail = static_cast<uint64_t>(Shuffle::Down);
    else if (decode.accept("bfly"))
        op.detail = static_cast<uint64_t>(Shuffle::Butterfly);
    else {
        decode.expect("idx");
        op.detail = static_cast<uint64_t>(Shuffle::Index);
    }
    decode.expect("b32");
    decode.expect_operands(5, 5);
    const Operand& to = decode.operand(0);
    if (to.kind == Operand::Kind::Paired) {
        for (const Operand& part : to.parts) decode.result(part);
    } else {
        decode.result(to);
    }
    decode.source(decode.operand(1), Type::B32);
    for (size_t i = 2; i <= 4; ++i) decode.source(decode.operand(i), Type::B32, true);
    op.run = &shuffle;
}

enum class Vote : uint64_t { All, Any, Uniform, Ballot };
Flow vote(Step& step) {
    if (!all_named_lanes_here(step)) return Flow::Blocked;
    const uint32_t members = step.mask;
    uint32_t holds = 0;
    const uint64_t flip = step.op.negated & 1;
    for_lanes(members, [&](int lane) { holds |= static_cast<uint32_t>((step.source(0)[lane] & 1) ^ flip) << lane; });
    uint64_t value = holds;
    switch (static_cast<Vote>(step.op.detail)) {
        case Vote::All:
            value = holds == members;
            break;
        case Vote::Any:
            value = holds != 0;
            break;
        case Vote::Uniform:
            value = holds == members || holds == 0;
            break;
        case Vote::Ballot:
            break;
    }
    for_lanes(step.mask, [&](int lane) { step.result()[lane] = value; });
    return Flow::Next;
}
void decode_vote(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Warp;
    decode.expect("sync");
    if (decode.accept("all"))
        op.detail = static_cast<uint64_t>(Vote::All);
    else if (decode.accept("any"))
        op.detail = static_cast<uint64_t>(Vote::Any);
    else if (decode.accept("uni"))
        op.detail = static_cast<uint64_t>(Vote::Uniform);
    else {
        decode.expect("ballot");
        op.detail = static_cast<uint64_t>(Vote::Ballot);
    }
    decode.type();
    decode.expect_operands(3, 3);
    decode.result(decode.operand(0));
    decode.source(decode.operand(1), Type::Predicate);
    decode.source(decode.operand(2), Type::B32, true);
    op.run = &vote;
}

/// match.any: the lanes with this lane's value; match.all (op.flag): all members if all have one value, else none.
Flow match(Step& step) {
    if (!all_named_lanes_here(step)) return Flow::Blocked;
    const uint32_t members = step.mask;
    const uint64_t* values = step.source(0);
    for_lanes(step.mask, [&](int lane) {
        uint32_t same = 0;
        for_lanes(members, [&](int other) { same |= static_cast<uint32_t>(values[other] == values[lane]) << other; });
        const bool all = same == members;
        step.result(0)[lane] = step.op.flag && !all ? 0 : same;
        if (step.op.result_count > 1) step.result(1)[lane] = all;
    });
    return Flow::Next;
}
void decode_match(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Warp;
    op.flag = decode.accept("all");
    if (!op.flag) decode.expect("any");
    decode.expect("sync");
    const Type type = decode.type();
    decode.expect_operands(3, 3);
    const Operand& to = decode.operand(0);
    if (to.kind == Operand::Kind::Paired) {
        for (const Operand& part : to.parts) decode.result(part);
    } else {
        decode.result(to);
    }
    decode.source(decode.operand(1), type);
    decode.source(decode.operand(2), Type::B32, true);
    op.run = &match;
}

enum class Reduction : uint64_t { Add, Min, Max, And, Or, Xor };
uint32_t reduce(Reduction how, bool is_signed_type, uint32_t a, uint32_t b) {
    const auto signed_a = static_cast<int32_t>(a);
    const auto signed_b = static_cast<int32_t>(b);
    switch (how) {
        case Reduction::Add:
            return a + b;
        case Reduction::Min:
            return is_signed_type ? static_cast<uint32_t>(std::min(signed_a, signed_b)) : std::min(a, b);
        case Reduction::Max:
            return is_signed_type ? static_cast<uint32_t>(std::max(signed_a, signed_b)) : std::max(a, b);
        case Reduction::And:
            return a & b;
        case Reduction::Or:
            return a | b;
        case Reduction::Xor:
            return a ^ b;
    }
    return a;
}
Flow reduce_lanes(Step& step) {
    if (!all_named_lanes_here(step)) return Flow::Blocked;
    const uint32_t members = step.mask;
    const int first = std::countr_zero(members);
    auto value = static_cast<uint32_t>(step.source(0)[first]);
    for_lanes(members & (members - 1), [&](int lane) {
        value = reduce(static_cast<Reduction>(step.op.detail), is_signed(step.op.type), value,
                       static_cast<uint32_t>(step.source(0)[lane]));
    });
    for_lanes(step.mask, [&](int lane) { step.result()[lane] = value; });
    return Flow::Next;
}
void decode_redux(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Warp;
    decode.expect("sync");
    static const char* const kNames[] = {"add", "min", "max", "and", "or", "xor"};
    bool found = false;
    for (uint64_t i = 0; i < 6 && !found; ++i) {
        found = decode.accept(kNames[i]);
        if (found) op.detail = i;
    }
    if (!found) decode.refuse();
    op.type = decode.type();
    if (type_bits(op.type) != 32 || is_float(op.type)) decode.refuse("type ." + type_name(op.type));
    decode.expect_operands(3, 3);
    decode.result(decode.operand(0));
    decode.source(decode.operand(1), op.type);
    decode.source(decode.operand(2), Type::B32, true);
    op.run = &reduce_lanes;
}

/// elect.sync: one lane of the members; the document leaves open which, and the lowest is as good as another.
Flow elect(Step& step) {
    if (!all_named_lanes_here(step)) return Flow::Blocked;
    const int leader = std::countr_zero(step.mask);
    for_lanes(step.mask, [&](int lane) {
        step.result(0)[lane] = static_cast<uint64_t>(leader);
        step.result(1)[lane] = lane == leader;
    });
    return Flow::Next;
}
void decode_elect(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Warp;
    decode.needs(90);
    decode.expect("sync");
    decode.expect_operands(2, 2);
    if (decode.operand(0).kind != Operand::Kind::Paired) decode.fail("elect.sync writes a lane and a predicate");
    for (const Operand& part : decode.operand(0).parts) decode.result(part);
    decode.source(decode.operand(1), Type::B32, true);
    op.run = &elect;
}

Flow active_mask(Step& step) {
    for_lanes(step.mask, [&](int lane) { step.result()[lane] = step.mask; });
    return Flow::Next;
}
void decode_activemask(Decode& decode) {
    decode.op().klass = InstructionClass::Warp;
    decode.expect("b32");
    decode.expect_operands(1, 1);
    decode.result(decode.operand(0));
    decode.op().run = &active_mask;
}

}  // namespace

void add_warp_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["shfl"] = &decode_shfl;
    decoders["vote"] = &decode_vote;
    decoders["match"] = &decode_match;
    decoders["redux"] = &decode_redux;
    decoders["elect"] = &decode_elect;
    decoders["activemask"] = &decode_activemask;
}

}  // namespace emulated_gpu
