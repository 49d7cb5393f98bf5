// `philox` and `random`: Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3, 2011)
// written in elementwise ops. The seed is the key, `at` the low half of the counter; the high half is zero.
#include <array>

#include "frontend/lowering.h"

namespace kiln::frontend {

namespace {

constexpr std::array<std::uint32_t, 2> kMultipliers{0xD2511F53, 0xCD9E8D57};
constexpr std::array<std::uint32_t, 2> kKeySteps{0x9E3779B9, 0xBB67AE85};
constexpr int kRounds = 10;

Value word(std::uint64_t bits, ir::ScalarType type) {
    return Value::typed(ir::Scalar{type, bits});
}

}  // namespace

std::optional<std::vector<Value>> Lowerer::philox_words(const Call& call) {
    using enum ir::ScalarType;
    if (!check_arguments(call, 2, 2, {})) return std::nullopt;
    const support::Span at = call.span;
    const auto op = [&](ir::OpKind kind, const Value& a, const Value& b) {
        return apply(kind, {{a, at}, {b, at}}, call.name, at);
    };
    const auto low = [&](const Value& wide) { return convert_value(ir::OpKind::Convert, wide, U32, at); };
    const auto high = [&](const Value& wide) { return low(op(ir::OpKind::Shr, wide, word(32, U64))); };
    std::array<Value, 2> given;
    for (std::size_t i = 0; i < 2; ++i) {
        const support::Span where = span(call.arguments[i]);
        Value value = expression(call.arguments[i]);
        if (value.untyped())
            value = coerce(value, SurfaceType::of(ir::Type::scalar(U64)), false, where, "the argument");
        if (value.poison()) return std::nullopt;
        const bool data = value.is_constant() || value.is_runtime();
        if (!data || element(value) != U64) {
            error(diagnostics::kOperandClass, where, fmt::format("`{}`", call.name), "u64", type_text(value));
            return std::nullopt;
        }
        given[i] = value;
    }
    builder_.set_span(at);
    std::array<Value, 2> key{low(given[0]), high(given[0])};
    std::vector<Value> counter{low(given[1]), high(given[1]), word(0, U32), word(0, U32)};
    for (int round = 0; round < kRounds; ++round) {
        std::array<Value, 2> products;
        for (std::size_t i = 0; i < 2; ++i) {
            const Value wide = convert_value(ir::OpKind::Convert, counter[2 * i], U64, at);
            products[i] = op(ir::OpKind::Mul, wide, word(kMultipliers[i], U64));
        }
        const Value first = op(ir::OpKind::Xor, op(ir::OpKind::Xor, high(products[1]), counter[1]), key[0]);
        const Value third = op(ir::OpKind::Xor, op(ir::OpKind::Xor, high(products[0]), counter[3]), key[1]);
        counter = {first, low(products[1]), third, low(products[0])};
        for (std::size_t i = 0; i < 2; ++i) key[i] = op(ir::OpKind::Add, key[i], word(kKeySteps[i], U32));
    }
    if (counter[0].poison()) return std::nullopt;
    return counter;
}

Value Lowerer::philox_builtin(const Call& call) {
    std::optional<std::vector<Value>> words = philox_words(call);
    return words ? Value::tuple(std::move(*words)) : Value{};
}

Value Lowerer::random_builtin(const Call& call) {
    const std::optional<std::vector<Value>> words = philox_words(call);
    return words ? unit_of({words->front(), call.span}, call) : Value{};
}

}  // namespace kiln::frontend
