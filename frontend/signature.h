// A kernel's declaration as data: what a host must know to bind arguments, choose a configuration and ask for a
// specialisation. Nothing here is specialised yet.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/program.h"
#include "ir/scalar.h"
#include "ir/type.h"

namespace kiln::frontend {

enum class GenericKind : std::uint8_t { Type, Value, Function };

/// `T: float` (Type), `N: int` (Value), `activation: fn(f32) -> f32` (Function).
struct GenericSignature {
    std::string name;
    GenericKind kind = GenericKind::Type;
    std::string type_text;  ///< as written: "float", "int", "fn(f32) -> f32"
    bool has_default = false;
    bool deducible = false;    ///< a tensor parameter's element type or plain size gives it
    std::string default_text;  ///< the default as written; empty if there is none
};

/// How an axis of a tensor parameter is written. `name` is set if it is a plain name or `name op c`.
struct SizeSignature {
    std::string text;  ///< as written: "M", "N * 4", "_"
    std::string name;
};

struct ParameterSignature {
    std::string name;
    bool is_tensor = false;
    ir::Access access = ir::Access::In;
    std::string element;               ///< element type as written: "T", "f32"
    std::vector<SizeSignature> sizes;  ///< tensors only
    bool optional = false;             ///< tensor: `= none`; scalar: has a default
};

struct TunableSignature {
    std::string name;
    std::vector<std::string> choices;  ///< as written
};

struct KernelSignature {
    std::string name;
    std::string documentation;  ///< its `///` lines
    std::vector<GenericSignature> generics;
    std::vector<ParameterSignature> parameters;
    std::vector<TunableSignature> tunables;
    bool has_schedule = false;  ///< some `schedule` block names a key that is no tunable
    std::string reference;      ///< kernel named by `reference`, as written; empty if there is none
};

/// All kernels the root file declares, in order.
std::vector<KernelSignature> signatures(const Program& program);
std::optional<KernelSignature> signature(const Program& program, const std::string& kernel);

}  // namespace kiln::frontend
