// From a checked program to verified tile IR for one choice of types, constants and tunables. Types, shapes and
// compile-time values are checked here, since operations are checked when the types are known.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/program.h"
#include "ir/kernel.h"

namespace kiln::frontend {

/// The value of a generic or tunable: a type, a constant, or a function ("act.gelu", a path seen from the root file).
struct FunctionName {
    std::string path;
    friend bool operator==(const FunctionName&, const FunctionName&) = default;
};
using GenericValue = std::variant<ir::ScalarType, ir::Scalar, FunctionName>;

/// What the host knows about one parameter when it asks for a specialisation.
struct ParameterRequest {
    bool present = true;
    std::optional<ir::ScalarType> element;  ///< of a tensor argument: deduces generic types
    std::optional<ir::Shape> sizes;         ///< of a tensor argument: deduces compile-time sizes
    ir::TensorFacts facts;
    ir::Shape divisors;  ///< of a tensor argument: proven to divide its sizes, one an axis; empty if nothing is
};

/// A request for one specialisation. Everything in it is part of the cache key.
struct Request {
    std::string kernel;
    std::map<std::string, GenericValue> generics;  ///< given by the host; the rest is deduced or takes its default
    std::map<std::string, ir::Scalar> tunables;    ///< the rest takes the default configuration
    ir::Schedule schedule;                         ///< given keys; the rest likewise
    std::map<std::string, ParameterRequest> parameters;  ///< missing: present, nothing known
    std::vector<std::string> targets = {"cpu"};          ///< names that `schedule` blocks match, least specific first
    std::int64_t units = 1;
    bool fits_32_bits = false;  ///< ir::Kernel::fits_32_bits
};

/// A specialised kernel, which holds its schedule, with what the host needs beside the IR.
struct Specialisation {
    ir::Kernel kernel;
    std::map<std::string, GenericValue> generics;          ///< all of them, as chosen
    std::map<std::string, ir::Scalar> tunables;            ///< all of them, as chosen
    std::string reference;                                 ///< empty if there is none
    std::optional<double> relative_bound, absolute_bound;  ///< of `within`, evaluated
    std::map<std::string, ir::Scalar> defaults;            ///< values of scalar parameters that have one
};

/// Specialises. On errors (in `diagnostics`) returns nothing. The default configuration is the first, in the order of
/// the lists (those of the matching `schedule` block before `tune`'s own), that meets every `where` that names no
/// run-time size; none is a diagnostic at that `where`.
std::optional<Specialisation> specialise(const Program& program, const Request& request,
                                         support::Diagnostics& diagnostics);

/// Every configuration that meets the `where` clauses, in the order above, the default first: of tunables, and of the
/// keys that matching `schedule` blocks name.
std::vector<ir::Configuration> configurations(const Program& program, const Request& request,
                                              support::Diagnostics& diagnostics);

/// Checks the bodies of every kernel and function of the root file that can be checked without a host: each kernel is
/// specialised with representative generics (the first admitted type, small sizes). For `kiln check`. `places`, if
/// given, gets the types of what is declared, with those representatives in them.
void check_bodies(const Program& program, support::Diagnostics& diagnostics, Places* places = nullptr);

/// Parses a generic or tunable given as text on a command line: "bf16", "true", "64", "0.5", "act.gelu". Null if the
/// text is none of these.
std::optional<GenericValue> parse_generic(const Program& program, const std::string& kernel, const std::string& name,
                                          const std::string& text);

}  // namespace kiln::frontend
