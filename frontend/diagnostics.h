// The rows of frontend/diagnostics.def as constants: kUnknownName and so on, and the list of all.
#pragma once

#include "ir/support/diagnostic.h"

namespace kiln::frontend::diagnostics {

#define KILN_DIAGNOSTIC(name, severity, text) \
    inline constexpr support::DiagnosticKind k##name{#name, support::Severity::severity, text};
#include "frontend/diagnostics.def"
#undef KILN_DIAGNOSTIC

inline constexpr const support::DiagnosticKind* kDiagnosticKinds[] = {
#define KILN_DIAGNOSTIC(name, severity, text) &k##name,
#include "frontend/diagnostics.def"
#undef KILN_DIAGNOSTIC
};

}  // namespace kiln::frontend::diagnostics
