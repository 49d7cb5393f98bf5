// What an expression of the language is while it is lowered: a constant, an IR value, a tensor, a tuple, a function.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "dsl/ast.h"
#include "ir/kernel.h"

namespace kiln::frontend {

struct Binding;

/// A compile-time scalar. Untyped ones are I64 or F64 and adapt to the type they meet.
struct Constant {
    ir::Scalar scalar;
    bool typed = true;
    std::string_view literal;  ///< of a lone literal: its text, so that it can be rounded once
    bool negative = false;     ///< of a lone literal: a minus stands before it
};

/// A function with the names its body sees: null for those of a file, the place of its declaration for local ones.
struct FunctionValue {
    std::size_t file = 0;
    dsl::NodeId node = dsl::kNoNode;
    Binding* scope = nullptr;
    friend bool operator==(const FunctionValue&, const FunctionValue&) = default;
};

/// A parameter, scratch or view. `sizes` holds the run-time size of an axis where one is at hand already, so that equal
/// sizes are one value; the IR type knows the compile-time ones.
struct Tensor {
    ir::ValueId value;
    ir::Access access = ir::Access::In;
    std::vector<std::optional<ir::ValueId>> sizes;
    std::string_view name;
};

/// Poison stands for an expression that was wrong; what is built of it says nothing more.
enum class ValueKind : std::uint8_t { Poison, None, Constant, Runtime, Tensor, Tuple, Function };

struct Value {
    ValueKind kind = ValueKind::Poison;
    Constant constant;               ///< Constant
    ir::ValueId id;                  ///< Runtime: a scalar or tile
    const Tensor* tensor = nullptr;  ///< Tensor
    std::vector<Value> parts;        ///< Tuple
    FunctionValue function;          ///< Function
    bool may_drop = false;           ///< Runtime: the old value that an atomic gives
    bool zero_outside = false;       ///< Runtime: just read where elements outside may have been read as 0

    bool poison() const { return kind == ValueKind::Poison; }
    bool is_constant() const { return kind == ValueKind::Constant; }
    bool is_runtime() const { return kind == ValueKind::Runtime; }
    bool untyped() const { return is_constant() && !constant.typed; }

    static Value none() { return {.kind = ValueKind::None}; }
    static Value of(Constant constant) { return {.kind = ValueKind::Constant, .constant = constant}; }
    static Value typed(ir::Scalar scalar) { return of({scalar, true, {}, false}); }
    static Value untyped_int(std::int64_t value) { return of({ir::Scalar::int64(value), false, {}, false}); }
    static Value untyped_float(double value) { return of({ir::Scalar::f64(value), false, {}, false}); }
    static Value runtime(ir::ValueId id) { return {.kind = ValueKind::Runtime, .id = id}; }
    static Value of(const Tensor& tensor) { return {.kind = ValueKind::Tensor, .tensor = &tensor}; }
    static Value of(FunctionValue function) { return {.kind = ValueKind::Function, .function = function}; }
    static Value tuple(std::vector<Value> parts) { return {.kind = ValueKind::Tuple, .parts = std::move(parts)}; }
};

enum class TypeForm : std::uint8_t { Poison, Data, Tuple, Function };

/// A type of the language with all sizes known: a scalar or tile, a tuple, or a function (parts: result, parameters).
struct SurfaceType {
    TypeForm form = TypeForm::Poison;
    ir::Type data;
    std::vector<SurfaceType> parts;

    friend bool operator==(const SurfaceType&, const SurfaceType&) = default;
    static SurfaceType of(ir::Type type) { return {TypeForm::Data, type, {}}; }
};

enum class BindingKind : std::uint8_t {
    Fixed,     ///< let, const, parameter, size, function
    Variable,  ///< var
    Type,      ///< a generic type
    Absent,    ///< an optional tensor that was left out, or a size that only it would bind
};

/// A name in scope. Scopes are lists: a name sees exactly what was declared before it, which is what closures capture.
struct Binding {
    std::string_view name;
    Binding* outer = nullptr;
    BindingKind kind = BindingKind::Fixed;
    Value value;
    ir::ScalarType type = ir::ScalarType::F32;  ///< Type
    support::Span span;
    std::uint32_t lift = 0;  ///< the lifted call it was declared in; 0 if none
};

}  // namespace kiln::frontend
