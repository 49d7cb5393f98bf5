#include "ir/attribute_form.h"

#include <array>

#include "ir/support/internal_error.h"

namespace kiln::ir {

namespace {

constexpr auto kReduceNames =
    std::to_array<std::string_view>({"sum", "min", "max", "minimum", "maximum", "any", "all"});
constexpr auto kAtomicNames =
    std::to_array<std::string_view>({"add", "min", "max", "and", "or", "xor", "exchange", "cas"});
constexpr auto kPrecisionNames =
    std::to_array<std::string_view>({"default", "exact", "tf32", "tf32x3", "bf16x3", "fast"});

template <class Enum, std::size_t N>
std::optional<Enum> named(const std::array<std::string_view, N>& names, std::string_view name) {
    for (std::size_t i = 0; i < N; ++i) {
        if (names[i] == name) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

}  // namespace

std::string_view name(ReduceKind kind) {
    return kReduceNames[static_cast<std::size_t>(kind)];
}
std::string_view name(DotPrecision precision) {
    return kPrecisionNames[static_cast<std::size_t>(precision)];
}
std::optional<ReduceKind> reduce_kind_named(std::string_view name) {
    return named<ReduceKind>(kReduceNames, name);
}
std::string_view name(AtomicKind kind) {
    return kAtomicNames[static_cast<std::size_t>(kind)];
}
std::optional<AtomicKind> atomic_kind_named(std::string_view name) {
    return named<AtomicKind>(kAtomicNames, name);
}
std::optional<DotPrecision> dot_precision_named(std::string_view name) {
    return named<DotPrecision>(kPrecisionNames, name);
}

Attribute empty_attribute(OpKind kind) {
    switch (kind) {
        case OpKind::Constant:
            return Scalar{};
        case OpKind::View:
        case OpKind::Load:
        case OpKind::Store:
            return AccessAttribute{};
        case OpKind::Reduce:
            return ReduceAttribute{};
        case OpKind::Dot:
            return DotAttribute{};
        case OpKind::Size:
        case OpKind::Join:
        case OpKind::Fold:
        case OpKind::Scan:
            return AxisAttribute{};
        case OpKind::Sort:
            return SortAttribute{};
        case OpKind::Atomic:
            return AtomicAttribute{};
        case OpKind::Permute:
        case OpKind::Extract:
            return AxesAttribute{};
        case OpKind::Print:
        case OpKind::Assert:
        case OpKind::Require:
            return MessageAttribute{};
#include "ir/elementwise_cases.def"
        case OpKind::Bincount:
        case OpKind::Iota:
        case OpKind::Broadcast:
        case OpKind::Reshape:
        case OpKind::For:
        case OpKind::While:
        case OpKind::If:
        case OpKind::Yield:
        case OpKind::Units:
            return std::monostate{};
    }
    throw support::InternalError("ir::empty_attribute", "unknown op kind");
}

}  // namespace kiln::ir
