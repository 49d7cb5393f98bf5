// Places in source text. Every token, syntax node and op carries a Span, so that any later message can point at the text.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace kiln::support {

/// A half-open byte range of one source file. `source` indexes the SourceMap that read the file.
/// Example: in "let x = 1" the span of `x` is {source, 4, 5}.
struct Span {
    std::uint32_t source = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;

    friend bool operator==(const Span&, const Span&) = default;
};

/// The smallest span that covers both. Both must lie in one source.
Span join(Span first, Span second);

/// A place as people count it: both from 1, `column` in bytes.
struct Location {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
};

/// The texts of one compilation, in the order they were read. Owns the text; views into it live as long as the map.
class SourceMap {
public:
    /// Takes a file's text and returns its index, the `source` of every span in it. `name` is what messages print.
    std::uint32_t add(std::string name, std::string text);

    std::size_t size() const { return sources_.size(); }
    std::string_view name(std::uint32_t source) const { return sources_[source].name; }
    std::string_view text(std::uint32_t source) const { return sources_[source].text; }
    std::string_view text(Span span) const { return text(span.source).substr(span.begin, span.end - span.begin); }

    /// Line and column of a byte offset.
    Location locate(std::uint32_t source, std::uint32_t offset) const;
    /// The text of a line (from 1), without its line end.
    std::string_view line(std::uint32_t source, std::uint32_t number) const;

private:
    struct Source {
        std::string name;
        std::string text;
        std::vector<std::uint32_t> line_starts;
    };
    std::deque<Source> sources_;  // a deque, since views into a short text would move with a vector
};

}  // namespace kiln::support
