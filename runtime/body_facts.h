// What verification needs of a kernel's bodies, found before they are dropped from the cached form.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/launch.h"

namespace kiln::runtime {

/// Elementwise work of a program: `elements`, times the product of the launch values that bound the loops around it.
struct WorkTerm {
    std::int64_t elements = 0;
    std::vector<std::uint32_t> extents;  ///< places in launch_values()
};

struct BodyFacts {
    std::optional<ir::ScalarType> coarsest;  ///< coarsest float type a computed value is rounded to; none if none is
    ir::ScalarType accumulator = ir::ScalarType::F32;  ///< coarsest type that sums are carried in
    bool has_fp8_operands = false;
    std::int64_t static_extent = 1;             ///< longest compile-time extent of a dot or reduction
    std::vector<std::uint32_t> launch_extents;  ///< places in launch_values() that bound loops around one
    std::vector<std::vector<WorkTerm>> work;    ///< of one program, a list a phase
};

BodyFacts body_facts(const ir::Kernel& kernel);

/// Scalar operations of a whole launch, roughly: a loop whose bound depends on the program counts as its longest.
double estimated_operations(const BodyFacts& facts, const ir::Kernel& kernel, const ir::Launch& launch);

/// Spacing of a float type above 1; 0 for other types.
double epsilon(ir::ScalarType type);

}  // namespace kiln::runtime
