#include "frontend/builtins.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "ir/type.h"

namespace kiln::frontend {

namespace {

constexpr auto kPrecisions = std::to_array<std::string_view>({"exact", "tf32", "tf32x3", "bf16x3", "fast"});
constexpr auto kOrders = std::to_array<std::string_view>({"relaxed", "acq_rel"});
constexpr auto kClasses = std::to_array<std::string_view>({"float", "real", "integer", "number", "any"});

constexpr auto kAxis = std::to_array<BuiltinOption>({{"axis"}});
constexpr auto kCumsum = std::to_array<BuiltinOption>({{"axis"}, {"exclusive"}});
constexpr auto kSort = std::to_array<BuiltinOption>({{"axis"}, {"descending"}});
constexpr auto kBincount = std::to_array<BuiltinOption>({{"mask"}});
constexpr auto kDot = std::to_array<BuiltinOption>({{"precision", kPrecisions}});
constexpr auto kDotScaled = std::to_array<BuiltinOption>({{"block"}});
constexpr auto kAtomic = std::to_array<BuiltinOption>({{"order", kOrders}});

/// Options of builtins that an op's surface name already declares.
std::span<const BuiltinOption> options_of_op(std::string_view surface) {
    if (surface == "dot") return kDot;
    const bool reduces = surface == "min" || surface == "max" || surface == "minimum" || surface == "maximum";
    if (reduces) return kAxis;
    return {};
}

/// The builtins that no single op carries.
std::vector<Builtin> builtins_without_op() {
    using enum BuiltinKind;
    using enum Lowering;
    std::vector<Builtin> rows = {
        {"clamp", Value, Expanded},
        {"transpose", Value, Expanded},
        {"sum", Value, Expanded, {}, kAxis},
        {"any", Value, Expanded, {}, kAxis},
        {"all", Value, Expanded, {}, kAxis},
        {"present", Value, Expanded},
        {"lowest", Value, Expanded},
        {"epsilon", Value, Expanded},
        {"inf", Constant, Expanded},
        {"nan", Constant, Expanded},
        {"none", Constant, Expanded},
        {"philox", Value, Expanded},
        {"unit", Value, Expanded},
        {"random", Value, Expanded},
        {"stack", Value, Expanded, {}, kAxis},
        {"join", Value, Expanded, {}, kAxis},
        {"split", Value, Expanded, {}, kAxis},
        {"argmax", Value, Expanded, {}, kAxis},
        {"reduce", Value, Expanded, {}, kAxis},
        {"scan", Value, Expanded, {}, kAxis},
        {"cumsum", Value, Expanded, {}, kCumsum},
        {"sort", Value, Expanded, {}, kSort},
        {"topk", Value, Expanded},
        {"bincount", Value, Expanded, {}, kBincount},
        {"dot_scaled", Value, Expanded, {}, kDotScaled},
        {"print", Statement, Expanded},
        {"assert", Statement, Expanded},
        {"atomic_cas", Atomic, Expanded, {}, kAtomic},
    };
    for (const std::string_view name :
         {"atomic_add", "atomic_min", "atomic_max", "atomic_and", "atomic_or", "atomic_xor", "atomic_exchange"}) {
        rows.push_back({name, Atomic, Expanded, {}, kAtomic});
    }
    return rows;
}

std::vector<Builtin> make_builtins() {
    std::vector<Builtin> rows;
    for (const ir::OpInfo& op : ir::kOps) {
        if (op.surface.empty()) continue;
        rows.push_back({op.surface, BuiltinKind::Value, Lowering::Op, op.kind, options_of_op(op.surface)});
    }
    // An op that takes over a name of the list below wins, so that adding one op row is enough.
    for (const Builtin& row : builtins_without_op()) {
        const auto same = [&row](const Builtin& known) { return known.name == row.name; };
        const auto known = std::find_if(rows.begin(), rows.end(), same);
        if (known == rows.end()) {
            rows.push_back(row);
        } else {
            known->kind = row.kind;
            known->options = row.options;
        }
    }
    return rows;
}

}  // namespace

const std::vector<Builtin>& builtins() {
    static const std::vector<Builtin> rows = make_builtins();
    return rows;
}

const Builtin* find_builtin(std::string_view name) {
    static const auto index = [] {
        std::unordered_map<std::string_view, const Builtin*> map;
        for (const Builtin& builtin : builtins()) map.emplace(builtin.name, &builtin);
        return map;
    }();
    const auto found = index.find(name);
    return found == index.end() ? nullptr : found->second;
}

bool is_index_option(std::string_view name) {
    return name == "fill" || name == "mask";
}

std::span<const std::string_view> type_classes() {
    return kClasses;
}

bool is_type_class(std::string_view name) {
    return std::find(kClasses.begin(), kClasses.end(), name) != kClasses.end();
}

const std::vector<std::string_view>& builtin_type_names() {
    static const std::vector<std::string_view> names = {
#define KILN_SCALAR(Kind, name, bits, type_class) name,
#include "ir/scalar_types.def"
        "int"};
    return names;
}

}  // namespace kiln::frontend
