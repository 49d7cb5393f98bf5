// What Kiln says about a user's program. Each message is a row of a table (`dsl/diagnostics.def`,
// `frontend/diagnostics.def`), so that a test can demand a must-fail program for every row.
//
// Style: lower case, one sentence, no final stop; the cause first, then (as a hint) what would work; a note for every
// second location.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "ir/support/span.h"

namespace kiln::support {

enum class Severity : std::uint8_t { Error, Warning };

/// One row of a diagnostics table. `text` is a fmt format string.
struct DiagnosticKind {
    std::string_view name;
    Severity severity;
    std::string_view text;
};

/// A second location that explains the first, such as where a name was declared.
struct Note {
    Span span;
    std::string text;
};

struct Diagnostic {
    const DiagnosticKind* kind;
    Span span;
    std::string message;
    std::vector<Note> notes;
    std::string hint;  ///< what would work; empty if nothing helps

    Diagnostic& note(Span where, std::string text) {
        notes.push_back({where, std::move(text)});
        return *this;
    }
    Diagnostic& help(std::string text) {
        hint = std::move(text);
        return *this;
    }
};

/// Collects the diagnostics of one compilation in the order they are found.
class Diagnostics {
public:
    /// Adds a message and returns it for notes and a hint. The reference is valid until the next report.
    template <class... Arguments>
    Diagnostic& report(const DiagnosticKind& kind, Span span, const Arguments&... arguments) {
        return add(kind, span, fmt::vformat(kind.text, fmt::make_format_args(arguments...)));
    }

    bool has_errors() const { return errors_ > 0; }
    std::size_t error_count() const { return errors_; }
    const std::vector<Diagnostic>& all() const { return diagnostics_; }

    /// All messages as a terminal shows them: `file:line:column: error: message`, the line, a caret under the exact
    /// span, then hint and notes. Without colour.
    std::string render(const SourceMap& sources) const;

private:
    Diagnostic& add(const DiagnosticKind& kind, Span span, std::string message);

    std::vector<Diagnostic> diagnostics_;
    std::size_t errors_ = 0;
};

/// One diagnostic, rendered as `Diagnostics::render` does.
std::string render(const Diagnostic& diagnostic, const SourceMap& sources);

/// `candidate` closest to `name` by edit distance, or empty if none is near enough to be a slip of the pen.
std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace kiln::support
