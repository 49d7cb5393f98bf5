#include "runtime/gpu/source_compiler.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace kiln::runtime::gpu {

namespace {

/// Calls `visit` with each line, without its end.
template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        visit(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// Line `number`, from 1.
std::optional<std::string_view> line_of(std::string_view text, std::size_t number) {
    std::optional<std::string_view> found;
    std::size_t at = 0;
    for_each_line(text, [&](std::string_view line) {
        if (++at == number) found = line;
    });
    return found;
}

/// The line of the .kiln text that a line of the log begins with, if it does.
std::optional<std::string_view> named_line(std::string_view line, const support::SourceMap& sources) {
    for (std::uint32_t source = 0; source < sources.size(); ++source) {
        const std::string_view name = sources.name(source);
        if (!line.starts_with(name)) continue;
        const std::string_view rest = line.substr(name.size());
        if (rest.size() < 2 || (rest[0] != '(' && rest[0] != ':')) continue;
        std::size_t number = 0;
        const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), number);
        if (error == std::errc()) return line_of(sources.text(source), number);
    }
    return std::nullopt;
}

}  // namespace

std::vector<std::string> performance_warnings(const std::string& log) {
    std::vector<std::string> warnings;
    for_each_line(log, [&](std::string_view line) {
        if (line.find("Potential Performance Loss") != std::string_view::npos) warnings.emplace_back(line);
    });
    return warnings;
}

std::string annotated(const std::string& log, const support::SourceMap& sources) {
    std::string text;
    for_each_line(log, [&](std::string_view line) {
        text.append(line) += '\n';
        if (const auto named = named_line(line, sources)) (text += "  kiln text: ").append(*named) += '\n';
    });
    return text;
}

}  // namespace kiln::runtime::gpu
