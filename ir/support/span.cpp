#include "ir/support/span.h"

#include <algorithm>

namespace kiln::support {

Span join(Span first, Span second) {
    return {first.source, std::min(first.begin, second.begin), std::max(first.end, second.end)};
}

std::uint32_t SourceMap::add(std::string name, std::string text) {
    Source source{std::move(name), std::move(text), {0}};
    for (std::size_t i = 0; i < source.text.size(); ++i) {
        if (source.text[i] == '\n') source.line_starts.push_back(static_cast<std::uint32_t>(i + 1));
    }
    sources_.push_back(std::move(source));
    return static_cast<std::uint32_t>(sources_.size() - 1);
}

Location SourceMap::locate(std::uint32_t source, std::uint32_t offset) const {
    const auto& starts = sources_[source].line_starts;
    const auto after = std::upper_bound(starts.begin(), starts.end(), offset);
    const auto line = static_cast<std::uint32_t>(after - starts.begin());
    return {line, offset - starts[line - 1] + 1};
}

std::string_view SourceMap::line(std::uint32_t source, std::uint32_t number) const {
    const auto& starts = sources_[source].line_starts;
    const std::string_view text = sources_[source].text;
    const std::size_t begin = starts[number - 1];
    std::size_t end = number < starts.size() ? starts[number] - 1 : text.size();
    if (end > begin && text[end - 1] == '\r') --end;
    return text.substr(begin, end - begin);
}

}  // namespace kiln::support
