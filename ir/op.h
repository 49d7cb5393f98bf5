// The table of ops (ops.def) as an enum and as data.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace kiln::ir {

enum class OpKind : std::uint8_t {
#define KILN_OP(Kind, ...) Kind,
#include "ir/ops.def"
};

enum class ResultRule : std::uint8_t { First, Second, Flag, Own, None };
enum class OpGroup : std::uint8_t { Elementwise, Shape, Contraction, Memory, Control, Host };
enum class Effect : std::uint8_t { Pure, Reads, Writes, Control };

/// One row of ops.def; its header explains the columns.
struct OpInfo {
    OpKind kind;
    std::string_view mnemonic;
    std::string_view surface;
    std::string_view operands;
    ResultRule result;
    OpGroup group;
    Effect effect;
    std::string_view meaning;
};

inline constexpr auto kOps = std::to_array<OpInfo>({
#define KILN_OP(Kind, mnemonic, surface, operands, result, group, effect, meaning) \
    {OpKind::Kind, mnemonic, surface, operands, ResultRule::result, OpGroup::group, Effect::effect, meaning},
#include "ir/ops.def"
});

constexpr const OpInfo& info(OpKind kind) { return kOps[static_cast<std::size_t>(kind)]; }

constexpr bool is_elementwise(OpKind kind) { return info(kind).group == OpGroup::Elementwise; }

constexpr std::optional<OpKind> op_with_mnemonic(std::string_view mnemonic) {
    for (const OpInfo& op : kOps) {
        if (op.mnemonic == mnemonic) return op.kind;
    }
    return std::nullopt;
}

constexpr std::optional<OpKind> op_with_surface(std::string_view surface) {
    for (const OpInfo& op : kOps) {
        if (!surface.empty() && op.surface == surface) return op.kind;
    }
    return std::nullopt;
}

}  // namespace kiln::ir
