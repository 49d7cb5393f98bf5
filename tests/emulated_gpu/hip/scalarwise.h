#pragma once

#include <initializer_list>
#include <string>
#include <type_traits>

#include "tests/emulated_gpu/hip/decode.h"
#include "tests/emulated_gpu/hip/execution.h"

namespace emulated_gpu::hip {

template <class T>
constexpr ValueType kTypeOf = sizeof(T) == 8 ? ValueType::B64 : ValueType::B32;

/// Writes the scalar result; EXEC has to be initialised.
inline void put_scalar(Step& step, uint64_t value, bool known) {
    const Result& to = step.op.scalar_result;
    const uint64_t bits = known ? kAllLanes : 0;
    if (to.index == kExec || to.index == kExec + 1) {
        if (!known && step.launch.options.check_registers) {
            throw Fault{FaultKind::UninitialisedRegister, "a scalar register that was never written is copied to EXEC"};
        }
    }
    if (to.registers == 2)
        step.wave.set_pair(to.index, value, bits);
    else
        step.wave.set_scalar(to.index, static_cast<uint32_t>(value), static_cast<uint32_t>(bits));
}

inline void put_scc(Step& step, bool value, bool known) {
    step.wave.scc = value;
    step.wave.scc_known = known;
}

inline bool all_scalars_known(const Step& step) {
    for (size_t i = 0; i < step.op.source_count; ++i) {
        if (step.scalar_known(i) != kAllLanes) return false;
    }
    return true;
}

/// Decodes `result, source, ...` of the given types.
inline void decode_scalar(Decode& decode, ValueType result, std::initializer_list<ValueType> sources, Handler handler) {
    decode.expect_operands(sources.size() + 1, sources.size() + 1);
    decode.op().klass = InstructionClass::Scalar;
    decode.scalar_result(0, result);
    size_t index = 1;
    for (const ValueType type : sources) decode.source(index++, type);
    decode.op().run = handler;
}

/// Whether SCC tells that the result is not 0, is what `f` says, or stays.
enum class Scc : uint8_t { Stays, NotZero, Computed };

template <class R, class A, class F, Scc kScc>
void run_unary(Step& step) {
    const bool known = all_scalars_known(step);
    bool scc = step.wave.scc;
    const R value = F{}(static_cast<A>(step.scalar(0)), scc);
    put_scalar(step, static_cast<std::make_unsigned_t<R>>(value), known);
    if (kScc == Scc::NotZero) put_scc(step, value != 0, known);
    if (kScc == Scc::Computed) put_scc(step, scc, known);
}
template <class R, class A, class B, class F, Scc kScc>
void run_binary(Step& step) {
    const bool known = all_scalars_known(step);
    bool scc = step.wave.scc;
    const R value = F{}(static_cast<A>(step.scalar(0)), static_cast<B>(step.scalar(1)), scc);
    put_scalar(step, static_cast<std::make_unsigned_t<R>>(value), known);
    if (kScc == Scc::NotZero) put_scc(step, value != 0, known);
    if (kScc == Scc::Computed) put_scc(step, scc, known);
}

/// An instruction whose result is `f(source, scc)`. `f` holds nothing.
template <class R, class A, Scc kScc, class F>
void unary(DecoderTable& table, const std::string& name, F /*f*/) {
    table[name] = [](Decode& decode) { decode_scalar(decode, kTypeOf<R>, {kTypeOf<A>}, run_unary<R, A, F, kScc>); };
}
template <class R, class A, class B, Scc kScc, class F>
void binary(DecoderTable& table, const std::string& name, F /*f*/) {
    table[name] = [](Decode& decode) {
        decode_scalar(decode, kTypeOf<R>, {kTypeOf<A>, kTypeOf<B>}, run_binary<R, A, B, F, kScc>);
    };
}

}  // namespace emulated_gpu::hip
