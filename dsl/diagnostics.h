// The rows of dsl/diagnostics.def as constants: kNotANumber and so on, and the list of all.
#pragma once

#include "ir/support/diagnostic.h"

namespace kiln::dsl {

#define KILN_DIAGNOSTIC(name, severity, text) \
    inline constexpr support::DiagnosticKind k##name{#name, support::Severity::severity, text};
#include "dsl/diagnostics.def"
#undef KILN_DIAGNOSTIC

inline constexpr const support::DiagnosticKind* kDiagnosticKinds[] = {
#define KILN_DIAGNOSTIC(name, severity, text) &k##name,
#include "dsl/diagnostics.def"
#undef KILN_DIAGNOSTIC
};

}  // namespace kiln::dsl
