// The builtins of the language: what can be called or named without a declaration.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace kiln::frontend {

/// A `name = value` that a builtin takes. Options with `words` take one of these bare words and nothing else.
struct BuiltinOption {
    std::string_view name;
    std::span<const std::string_view> words = {};
};

enum class BuiltinKind : std::uint8_t {
    Value,      ///< a call with a result
    Atomic,     ///< a call whose first argument is a place and whose result may be dropped
    Statement,  ///< a call without a result
    Constant,   ///< inf, nan, none: no call
};

enum class Lowering : std::uint8_t {
    Op,        ///< one op of ir/ops.def has this surface name
    Expanded,  ///< the specialiser computes it or writes it in other ops
};

struct Builtin {
    std::string_view name;
    BuiltinKind kind = BuiltinKind::Value;
    Lowering lowering = Lowering::Op;
    std::optional<ir::OpKind> op = std::nullopt;
    std::span<const BuiltinOption> options = {};
};

/// All builtins, ops first. Names of types are no builtins in this sense.
const std::vector<Builtin>& builtins();

/// The builtin of that name, or null.
const Builtin* find_builtin(std::string_view name);
inline bool is_builtin(std::string_view name) {
    return find_builtin(name) != nullptr;
}

/// Options of an index list: `fill = v`, `mask = m`.
bool is_index_option(std::string_view name);

/// float, real, integer, number, any: what a generic may be declared as beside a type.
std::span<const std::string_view> type_classes();
bool is_type_class(std::string_view name);

/// Names of the element types, `int` included.
const std::vector<std::string_view>& builtin_type_names();

}  // namespace kiln::frontend
