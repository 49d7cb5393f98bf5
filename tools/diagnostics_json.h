// Diagnostics as JSON, for `--json` and for editors.
#pragma once

#include <nlohmann/json.hpp>

#include "ir/support/diagnostic.h"

namespace kiln::tools {

inline nlohmann::json to_json(support::Span span, const support::SourceMap& sources) {
    const support::Location begin = sources.locate(span.source, span.begin),
                            end = sources.locate(span.source, span.end);
    return {{"file", std::string(sources.name(span.source))},
            {"line", begin.line},
            {"column", begin.column},
            {"end_line", end.line},
            {"end_column", end.column}};
}

inline nlohmann::json to_json(const support::Diagnostic& diagnostic, const support::SourceMap& sources) {
    nlohmann::json json = {{"name", std::string(diagnostic.kind->name)},
                           {"severity", diagnostic.kind->severity == support::Severity::Error ? "error" : "warning"},
                           {"message", diagnostic.message},
                           {"at", to_json(diagnostic.span, sources)}};
    if (!diagnostic.hint.empty()) json["hint"] = diagnostic.hint;
    for (const support::Note& note : diagnostic.notes) {
        json["notes"].push_back({{"message", note.text}, {"at", to_json(note.span, sources)}});
    }
    return json;
}

}  // namespace kiln::tools
