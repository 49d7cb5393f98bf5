// Edits of a random program's text (random_text.h) that keep its meaning: other names, more brackets, more `let`s,
// another order of statements that do not see each other, a loop in two parts, the layout of `kiln fmt`.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <regex>
#include <string>
#include <vector>

#include "dsl/format.h"

namespace kiln::test {

namespace edits {

inline std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}
inline std::string text_of(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}
inline std::size_t indentation(const std::string& line) {
    return line.find_first_not_of(' ');
}
inline bool is_let(const std::string& line) {
    return line.find("let ") == indentation(line);
}
/// A store: the last lines of the program, each to a plane of its own.
inline bool is_store(const std::string& line) {
    const std::size_t at = indentation(line);
    return at == 4 && line.size() > 5 && (line[at] == 'y' || line[at] == 'z' || line[at] == 'w') && line[at + 1] == '[';
}
inline bool mentions(const std::string& line, const std::string& name) {
    return std::regex_search(line, std::regex("\\b" + name + "\\b"));
}
/// The name that a `let` line declares.
inline std::string name_of(const std::string& line) {
    std::smatch match;
    return std::regex_search(line, match, std::regex("let (\\w+)")) ? match[1].str() : std::string();
}

inline std::string rename(const std::string& text, std::mt19937&) {
    return std::regex_replace(text, std::regex("\\bt([0-9]+)\\b"), "value_$1_of_k");
}

inline std::string bracket(const std::string& text, std::mt19937& random) {
    std::vector<std::string> lines = lines_of(text);
    for (std::string& line : lines) {
        const std::size_t at = line.find(" = ", is_store(line) ? line.find("] = ") : 0);
        const bool takes = is_let(line) || is_store(line);
        if (takes && random() % 2 == 0) line = line.substr(0, at + 3) + "((" + line.substr(at + 3) + "))";
    }
    return text_of(lines);
}

/// A value through one more name, and names that nobody uses.
inline std::string add_lets(const std::string& text, std::mt19937& random) {
    std::vector<std::string> edited;
    int count = 0;
    for (const std::string& line : lines_of(text)) {
        const std::size_t at = indentation(line);
        if (!is_let(line)) {
            edited.push_back(line);
            continue;
        }
        const std::string blanks(at, ' ');
        if (random() % 3 == 0) edited.push_back(fmt::format("{}let unused_{} = n + {}", blanks, count, random() % 9));
        const std::string name = name_of(line);
        edited.push_back(std::regex_replace(line, std::regex("let " + name), fmt::format("let early_{}", count)));
        edited.push_back(fmt::format("{}let {} = early_{}", blanks, name, count++));
    }
    return text_of(edited);
}

inline std::string reorder(const std::string& text, std::mt19937& random) {
    std::vector<std::string> lines = lines_of(text);
    for (int round = 0; round < 4; ++round) {
        for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
            const bool lets = is_let(lines[i]) && is_let(lines[i + 1]) &&
                              indentation(lines[i]) == indentation(lines[i + 1]) &&
                              !mentions(lines[i + 1], name_of(lines[i]));
            if ((lets || (is_store(lines[i]) && is_store(lines[i + 1]))) && random() % 2 == 0)
                std::swap(lines[i], lines[i + 1]);
        }
    }
    return text_of(lines);
}

/// `for k in a .. b by s { ... }` as its first round and the others.
inline std::string split_loops(const std::string& text, std::mt19937&) {
    const std::vector<std::string> lines = lines_of(text);
    const std::regex head("( *)for (\\w+) in (.*) \\.\\. (.*) by (.*) \\{");
    std::vector<std::string> edited;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        std::smatch match;
        edited.push_back(lines[i]);
        if (!std::regex_match(lines[i], match, head)) continue;
        std::size_t end = i + 1;
        while (lines[end] != match[1].str() + "}") ++end;
        const std::vector<std::string> body(lines.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                            lines.begin() + static_cast<std::ptrdiff_t>(end) + 1);
        edited.back() = fmt::format("{0}for {1} in {2} .. min({3}, {2} + {4}) by {4} {{", match[1].str(),
                                    match[2].str(), match[3].str(), match[4].str(), match[5].str());
        edited.insert(edited.end(), body.begin(), body.end());
        edited.push_back(fmt::format("{0}for {1} in {2} + {4} .. {3} by {4} {{", match[1].str(), match[2].str(),
                                     match[3].str(), match[4].str(), match[5].str()));
    }
    return text_of(edited);
}

inline std::string format(const std::string& text, std::mt19937&) {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    // Blanks and breaks that the formatter takes out again.
    const std::string loose =
        std::regex_replace(std::regex_replace(text, std::regex(", "), ",   "), std::regex("\\n    "), "\n\n  ");
    std::string formatted = dsl::format(sources, sources.add("edited.kiln", loose), diagnostics);
    CHECK(!diagnostics.has_errors());
    return formatted;
}

}  // namespace edits

struct TextEdit {
    const char* name;
    std::string (*apply)(const std::string&, std::mt19937&);
    bool may_do_nothing;  ///< where the program has no loop, or nothing that can change places
};

inline constexpr TextEdit kTextEdits[] = {
    {"rename", edits::rename, false},  {"bracket", edits::bracket, true},         {"add lets", edits::add_lets, true},
    {"reorder", edits::reorder, true}, {"split loops", edits::split_loops, true}, {"format", edits::format, true},
};

}  // namespace kiln::test
