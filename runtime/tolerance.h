// How far a result may lie from its reference, when the kernel does not say `within`. The rule is section 7 of
// docs/language.md: for a float output O,
//
//     relative = 2 * epsilon(X),   absolute = (2 * epsilon(X) + 8 * epsilon(A) * sqrt(C) + P) * s
//
// X is the coarsest float type to which the kernel rounds computed values (O included), A the accumulation type, C the
// longest extent that a dot, a reduction or a loop around one walks over (1 if none), P = 2^-10 with fp8 operands, else
// 0, and s the root mean square of the reference's finite elements.
#pragma once

#include "runtime/body_facts.h"

namespace kiln::runtime {

struct Tolerance {
    double relative = 0;
    double absolute = 0;  ///< of an output whose root mean square is 1: multiply by s, unless `within` gave it
    bool scaled = false;  ///< whether `absolute` is to be multiplied by s
};

/// The rule for one output of element type `output`; exact (0, 0) for integers and bool.
Tolerance default_tolerance(const BodyFacts& facts, const ir::Kernel& kernel, const ir::Launch& launch,
                            ir::ScalarType output);

}  // namespace kiln::runtime
