// The rows of ir/findings.def as constants: kRangeOutside and so on, and the list of all.
#pragma once

#include "ir/support/diagnostic.h"

namespace kiln::ir::findings {

#define KILN_DIAGNOSTIC(name, severity, text) \
    inline constexpr support::DiagnosticKind k##name{#name, support::Severity::severity, text};
#include "ir/findings.def"
#undef KILN_DIAGNOSTIC

inline constexpr const support::DiagnosticKind* kDiagnosticKinds[] = {
#define KILN_DIAGNOSTIC(name, severity, text) &k##name,
#include "ir/findings.def"
#undef KILN_DIAGNOSTIC
};

}  // namespace kiln::ir::findings
