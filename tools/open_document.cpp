#include "tools/open_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "dsl/format.h"
#include "frontend/builtins.h"
#include "frontend/specialise.h"
#include "runtime/standard_library.h"

namespace kiln::tools {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kFileScheme = "file://";

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char lower = static_cast<char>(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// Bytes of the UTF-8 character that begins with `byte`, and its UTF-16 units. A byte that begins none counts as one.
struct CharacterWidth {
    std::uint32_t bytes, units;
};
CharacterWidth width_of(char byte) {
    const auto value = static_cast<unsigned char>(byte);
    if (value >= 0xf0) return {4, 2};
    if (value >= 0xe0) return {3, 1};
    return {value >= 0xc0 ? 2u : 1u, 1};
}

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The declaration's line as it is written, without the body behind it.
std::string declaration_line(const support::SourceMap& sources, support::Span declaration) {
    std::string_view line =
        sources.line(declaration.source, sources.locate(declaration.source, declaration.begin).line);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    while (!line.empty() && (line.back() == '{' || line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    return std::string(line);
}

/// The `///` comment above a declaration of a file, without its slashes.
std::string doc_of(const frontend::Program& program, support::Span declaration) {
    for (const frontend::File& file : program.files) {
        if (file.source != declaration.source) continue;
        for (const dsl::DocComment& doc : file.ast.docs) {
            if (file.ast[doc.declaration].name_span != declaration) continue;
            std::string text;
            for (const char c : program.sources.text(doc.span)) {
                if (c != '/') text += c;
            }
            return text;
        }
    }
    return {};
}

}  // namespace

std::string path_of_uri(const std::string& uri) {
    if (!uri.starts_with(kFileScheme)) return uri;
    std::string path;
    for (std::size_t i = kFileScheme.size(); i < uri.size(); ++i) {
        const bool escaped =
            uri[i] == '%' && i + 2 < uri.size() && hex_digit(uri[i + 1]) >= 0 && hex_digit(uri[i + 2]) >= 0;
        path += escaped ? static_cast<char>(hex_digit(uri[i + 1]) * 16 + hex_digit(uri[i + 2])) : uri[i];
        if (escaped) i += 2;
    }
    return path;
}

std::string uri_of_path(const std::string& path) {
    if (path.empty() || path.front() != '/') return path;
    std::string uri(kFileScheme);
    for (const char c : path) {
        const bool plain = is_word(c) || std::string_view("/.-~").find(c) != std::string_view::npos;
        uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return uri;
}

Json to_position(const support::SourceMap& sources, std::uint32_t source, std::uint32_t offset) {
    const support::Location location = sources.locate(source, offset);
    const std::string_view line = sources.line(source, location.line);
    const std::uint32_t end = std::min(location.column - 1, static_cast<std::uint32_t>(line.size()));
    std::uint32_t units = 0;
    for (std::uint32_t at = 0; at < end; at += width_of(line[at]).bytes) units += width_of(line[at]).units;
    return {{"line", location.line - 1}, {"character", units}};
}

Json to_range(const support::SourceMap& sources, support::Span span) {
    return {{"start", to_position(sources, span.source, span.begin)},
            {"end", to_position(sources, span.source, span.end)}};
}

std::uint32_t to_offset(const support::SourceMap& sources, std::uint32_t source, std::uint32_t line,
                        std::uint32_t character) {
    const std::string_view text = sources.text(source);
    std::size_t begin = 0;
    for (; line > 0 && begin < text.size(); --line) begin = std::min(text.find('\n', begin), text.size() - 1) + 1;
    std::size_t at = begin;
    while (at < text.size() && text[at] != '\n' && character > 0) {
        character -= std::min(character, width_of(text[at]).units);
        at = std::min<std::size_t>(at + width_of(text[at]).bytes, text.size());
    }
    return static_cast<std::uint32_t>(at);
}

void OpenDocument::check(const frontend::FileReader& reader) {
    found_ = {};
    places_ = {};
    const std::string own = path_of_uri(uri_);
    const auto with_own = [&](const std::string& path) { return path == own ? std::optional(text_) : reader(path); };
    program_ = frontend::load_program(own, with_own, found_, &places_);
    if (!found_.has_errors()) frontend::check_bodies(program_, found_, &places_);
}

std::string OpenDocument::uri_of(std::uint32_t source) const {
    return source == 0 ? uri_ : uri_of_path(std::string(program_.sources.name(source)));
}

Json OpenDocument::to_json(const support::Diagnostic& diagnostic) const {
    std::string message = diagnostic.message;
    if (!diagnostic.hint.empty()) message += "\nhint: " + diagnostic.hint;
    support::Span span = diagnostic.span;
    if (span.source != 0) {
        message = fmt::format("in {}: {}", program_.sources.name(span.source), message);
        span = {};
    }
    Json related = Json::array();
    for (const support::Note& note : diagnostic.notes) {
        const Json location = {{"uri", uri_of(note.span.source)}, {"range", to_range(program_.sources, note.span)}};
        related.push_back({{"location", location}, {"message", note.text}});
    }
    const bool error = diagnostic.kind->severity == support::Severity::Error;
    return {{"range", to_range(program_.sources, span)},  {"severity", error ? 1 : 2}, {"source", "kiln"},
            {"code", std::string(diagnostic.kind->name)}, {"message", message},        {"relatedInformation", related}};
}

Json OpenDocument::diagnostics() const {
    Json list = Json::array();
    for (const support::Diagnostic& diagnostic : found_.all()) list.push_back(to_json(diagnostic));
    return {{"uri", uri_}, {"diagnostics", list}};
}

std::optional<frontend::Place> OpenDocument::place_at(std::uint32_t line, std::uint32_t character) const {
    if (program_.sources.size() == 0) return std::nullopt;
    return places_.find(0, to_offset(program_.sources, 0, line, character));
}

std::string OpenDocument::word_at(std::uint32_t offset, support::Span& span) const {
    const std::string_view text = program_.sources.text(0);
    std::uint32_t begin = offset, end = offset;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    while (end < text.size() && is_word(text[end])) ++end;
    span = {0, begin, end};
    return std::string(text.substr(begin, end - begin));
}

std::string OpenDocument::description(const frontend::Place& place) const {
    const std::string type = places_.text_of(place.declaration);
    const std::string name(program_.sources.text(place.at));
    // A module leads to the beginning of its file.
    if (place.declaration.end == 0)
        return fmt::format("import \"{}\"", program_.sources.name(place.declaration.source));
    if (type.empty() || type == "a function") return declaration_line(program_.sources, place.declaration);
    return fmt::format("{}: {}", name, type);
}

Json OpenDocument::hover(std::uint32_t line, std::uint32_t character) const {
    if (program_.sources.size() == 0) return nullptr;
    const auto markdown = [&](const std::string& code, const std::string& text, support::Span span) {
        const std::string value = fmt::format("```kiln\n{}\n```{}{}", code, text.empty() ? "" : "\n\n", text);
        return Json{{"contents", {{"kind", "markdown"}, {"value", value}}},
                    {"range", to_range(program_.sources, span)}};
    };
    if (const auto place = place_at(line, character)) {
        return markdown(description(*place), doc_of(program_, place->declaration), place->at);
    }
    support::Span span;
    const std::string word = word_at(to_offset(program_.sources, 0, line, character), span);
    const frontend::Builtin* builtin = frontend::find_builtin(word);
    if (builtin == nullptr) return nullptr;
    return markdown(word, builtin->op ? std::string(ir::info(*builtin->op).meaning) : "a builtin", span);
}

Json OpenDocument::definition(std::uint32_t line, std::uint32_t character) const {
    const auto place = place_at(line, character);
    if (!place) return nullptr;
    const std::uint32_t source = place->declaration.source;
    // The standard library is in the program, not on the disk.
    if (runtime::standard_library_text(program_.sources.name(source))) return nullptr;
    return {{"uri", uri_of(source)}, {"range", to_range(program_.sources, place->declaration)}};
}

Json OpenDocument::formatting() const {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    const std::uint32_t source = sources.add(uri_, text_);
    const std::string formatted = dsl::format(sources, source, diagnostics);
    if (diagnostics.has_errors()) return nullptr;
    if (formatted == text_) return Json::array();
    const support::Span whole{source, 0, static_cast<std::uint32_t>(text_.size())};
    return Json::array({{{"range", to_range(sources, whole)}, {"newText", formatted}}});
}

}  // namespace kiln::tools
