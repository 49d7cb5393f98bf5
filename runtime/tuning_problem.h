// From the runtime's words to the tuning store's: which problem a launch is, and what a stored configuration asks for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "frontend/signature.h"
#include "frontend/specialise.h"
#include "kiln/tensor.hpp"
#include "runtime/backend.h"
#include "runtime/tuning_store.h"

namespace kiln::runtime {

/// Hash of the texts of a program's files and of the kernel's name; paths do not count.
std::string kernel_identity(const frontend::Program& program, const std::string& kernel);

TuningDevice describe_device(const DeviceBackend& backend);

/// `request` holds the generics given by the host; the others are deduced from the arguments or take their defaults.
/// `matched` is the result of match_arguments().
TuningProblem describe_problem(const frontend::Program& program, const frontend::KernelSignature& signature,
                               const frontend::Request& request, std::span<const Argument* const> matched);

/// An integer expression over `units()`: literals, + - * / %, min, max and parentheses. Nothing if the text is
/// something else, or divides by zero.
std::optional<std::int64_t> evaluate_units(std::string_view expression, std::int64_t units);

/// The stored form of a tunable's value: with the choice's text where that uses `units()` and has this value.
TunedValue to_tuned_value(const frontend::TunableSignature& tunable, const ir::Scalar& value, std::int64_t units);
/// The stored form of a configuration as frontend::configurations() gives it.
Configuration to_configuration(const frontend::KernelSignature& signature, const ir::Configuration& configuration,
                               std::int64_t units);

/// What a stored configuration says. Nothing, with the reason, if it is not one of this kernel: a tunable that is
/// missing, a name that is neither tunable nor schedule key, a value that is none. Keys of the schedule that it does
/// not name are left to their default.
std::optional<ir::Configuration> parse_configuration(const frontend::KernelSignature& signature,
                                                     const Configuration& stored, std::int64_t units,
                                                     std::string& reason);

}  // namespace kiln::runtime
