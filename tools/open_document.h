// One document of an editor: its text, what checking it found, and places as the Language Server Protocol counts them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "frontend/program.h"

namespace kiln::tools {

/// "file:///a%20b.kiln" as "/a b.kiln"; another URI as it is.
std::string path_of_uri(const std::string& uri);
std::string uri_of_path(const std::string& path);

/// A place from 0, `character` in UTF-16 units, as the protocol wants unless client and server agree on another way.
nlohmann::json to_position(const support::SourceMap& sources, std::uint32_t source, std::uint32_t offset);
nlohmann::json to_range(const support::SourceMap& sources, support::Span span);
/// The byte that a position names; one behind the end of its line or of the text names that end.
std::uint32_t to_offset(const support::SourceMap& sources, std::uint32_t source, std::uint32_t line,
                        std::uint32_t character);

class OpenDocument {
public:
    OpenDocument(std::string uri, std::string text) : uri_(std::move(uri)), text_(std::move(text)) {}

    const std::string& text() const { return text_; }
    void set_text(std::string text) { text_ = std::move(text); }

    /// Checks the text; imports come from `reader`, the document itself from memory.
    void check(const frontend::FileReader& reader);

    /// The answers of the protocol, from the last check. Null where there is nothing to say.
    nlohmann::json diagnostics() const;
    nlohmann::json hover(std::uint32_t line, std::uint32_t character) const;
    nlohmann::json definition(std::uint32_t line, std::uint32_t character) const;
    nlohmann::json formatting() const;

private:
    nlohmann::json to_json(const support::Diagnostic& diagnostic) const;
    std::optional<frontend::Place> place_at(std::uint32_t line, std::uint32_t character) const;
    std::string word_at(std::uint32_t offset, support::Span& span) const;
    std::string description(const frontend::Place& place) const;
    std::string uri_of(std::uint32_t source) const;

    std::string uri_, text_;
    frontend::Program program_;
    frontend::Places places_;
    support::Diagnostics found_;
};

}  // namespace kiln::tools
