// Programs that must be refused, with the messages they must get. A program lists them in comments of its own, in
// order:
//
//     // error: LINE:COLUMN: text
//     // hint: text                     of the error above, if it has one
//     // note: LINE:COLUMN: text         of the error above, any number
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/diagnostic.h"

namespace kiln::dsl {

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// The .kiln files of a folder of tests/, by name.
inline std::vector<std::filesystem::path> kiln_files(std::string_view folder) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(KILN_SOURCE_DIR) / folder)) {
        if (entry.path().extension() == ".kiln") paths.push_back(entry.path());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

/// The expectation lines of a program, without their slashes.
inline std::string expected_messages(std::string_view text) {
    std::string expected;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        for (const std::string_view word : {"// error: ", "// warning: ", "// hint: ", "// note: "}) {
            if (line.starts_with(word)) expected.append(line.substr(3)).push_back('\n');
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return expected;
}

/// The same lines for what was reported.
inline std::string reported_messages(const support::Diagnostics& diagnostics, const support::SourceMap& sources) {
    std::string reported;
    const auto add = [&](std::string_view word, support::Span span, std::string_view text) {
        const support::Location at = sources.locate(span.source, span.begin);
        reported += fmt::format("{}: {}:{}: {}\n", word, at.line, at.column, text);
    };
    for (const support::Diagnostic& diagnostic : diagnostics.all()) {
        const bool error = diagnostic.kind->severity == support::Severity::Error;
        add(error ? "error" : "warning", diagnostic.span, diagnostic.message);
        if (!diagnostic.hint.empty()) reported += fmt::format("hint: {}\n", diagnostic.hint);
        for (const support::Note& note : diagnostic.notes) add("note", note.span, note.text);
    }
    return reported;
}

}  // namespace kiln::dsl
