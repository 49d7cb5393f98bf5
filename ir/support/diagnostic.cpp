#include "ir/support/diagnostic.h"

#include <algorithm>
#include <numeric>

namespace kiln::support {

namespace {

// A line longer than this is cut around the caret, so that a 10 MB expression does not print 10 MB.
constexpr std::size_t kLineLimit = 160;

std::string printable(std::string_view text) {
    std::string result;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '\t') {
            result += ' ';
        } else if (byte < 0x20 || byte == 0x7f) {
            result += '?';
        } else {
            result += c;
        }
    }
    return result;
}

std::string excerpt(const SourceMap& sources, Span span) {
    const Location start = sources.locate(span.source, span.begin);
    const std::string_view line = sources.line(span.source, start.line);
    const std::size_t column = std::min<std::size_t>(start.column - 1, line.size());
    const std::size_t cut = column > kLineLimit / 2 && line.size() > kLineLimit ? column - kLineLimit / 2 : 0;
    const std::string_view shown = line.substr(cut, kLineLimit);
    const std::size_t room = std::max<std::size_t>(shown.size() - std::min(shown.size(), column - cut), 1);
    const std::size_t width = std::clamp<std::size_t>(span.end - span.begin, 1, room);
    const std::string number = std::to_string(start.line);
    return fmt::format(" {} | {}\n {} | {}{}\n", number, printable(shown), std::string(number.size(), ' '),
                       std::string(column - cut, ' '), std::string(width, '^'));
}

std::string place(const SourceMap& sources, Span span) {
    const Location at = sources.locate(span.source, span.begin);
    return fmt::format("{}:{}:{}", sources.name(span.source), at.line, at.column);
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        before.swap(last);
        last.swap(row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

}  // namespace

Diagnostic& Diagnostics::add(const DiagnosticKind& kind, Span span, std::string message) {
    if (kind.severity == Severity::Error) ++errors_;
    diagnostics_.push_back({&kind, span, std::move(message), {}, {}});
    return diagnostics_.back();
}

std::string render(const Diagnostic& diagnostic, const SourceMap& sources) {
    const std::string_view severity = diagnostic.kind->severity == Severity::Error ? "error" : "warning";
    std::string text = fmt::format("{}: {}: {}\n{}", place(sources, diagnostic.span), severity, diagnostic.message,
                                   excerpt(sources, diagnostic.span));
    if (!diagnostic.hint.empty()) text += fmt::format("  hint: {}\n", diagnostic.hint);
    for (const Note& note : diagnostic.notes) {
        text += fmt::format("{}: note: {}\n{}", place(sources, note.span), note.text, excerpt(sources, note.span));
    }
    return text;
}

std::string Diagnostics::render(const SourceMap& sources) const {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics_) text += support::render(diagnostic, sources);
    return text;
}

std::string_view nearest_name(std::string_view name, const std::vector<std::string_view>& candidates) {
    std::string_view best;
    // Of a name of one letter nothing would be left.
    std::size_t best_distance = std::min(std::max<std::size_t>(1, name.size() / 3) + 1, name.size());
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(name, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace kiln::support
