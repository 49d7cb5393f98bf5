// The part of the device text that a program uses.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "codegen/gpu/device_text.h"
#include "codegen/gpu/matrix_instruction.h"
#include "codegen/gpu/scalar_text.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {
namespace {

constexpr std::string_view kPrefix = "kiln_";

bool continues_name(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Calls function(name, text behind it) for each name with the prefix.
template <class Function>
void for_each_device_name(std::string_view text, Function function) {
    for (std::size_t at = text.find(kPrefix); at != std::string_view::npos; at = text.find(kPrefix, at)) {
        std::size_t end = at;
        while (end < text.size() && continues_name(text[end])) ++end;
        const bool whole = at == 0 || !continues_name(text[at - 1]);
        if (whole) function(text.substr(at, end - at), text.substr(end));
        at = end;
    }
}

/// A type, table or function with the comment in front of it.
struct Piece {
    std::string_view text;
    std::string_view name;
    std::vector<std::string_view> uses;
};

std::string_view without_comment(std::string_view text) {
    while (text.starts_with("//")) {
        const std::size_t end = text.find('\n');
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    return text;
}

Piece piece_of(std::string_view text) {
    Piece piece{text, {}, {}};
    for_each_device_name(without_comment(text), [&](std::string_view name, std::string_view behind) {
        // What is defined is the first name that stands before ( of parameters, [ of a table, = or { of a type.
        const bool defines =
            behind.starts_with('(') || behind.starts_with('[') || behind.starts_with(" =") || behind.starts_with(" {");
        if (piece.name.empty() && defines) {
            piece.name = name;
        } else if (name != piece.name) {
            piece.uses.push_back(name);
        }
    });
    return piece;
}

using Pieces = std::map<std::string_view, Piece>;

void add_pieces(std::string_view text, Pieces& pieces) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.size(), text.find("\n\n"));
        Piece piece = piece_of(text.substr(0, end));
        if (!piece.name.empty()) pieces.emplace(piece.name, std::move(piece));
        text.remove_prefix(std::min(text.size(), end + 2));
    }
}

/// Blank lines separate the pieces.
Pieces pieces_of(Dialect dialect) {
    const std::string_view other = dialect == Dialect::Cuda ? "hip" : "cuda";
    Pieces pieces;
    for (const DeviceText& file : device_texts()) {
        if (file.name != other) add_pieces(file.text, pieces);
    }
    for (const Target& target : target_table()) {
        if ((target.vendor == Vendor::Nvidia) != (dialect == Dialect::Cuda)) continue;
        for (const MatrixInstruction& row : matrix_instructions(target.matrix_unit)) add_pieces(row.function, pieces);
    }
    return pieces;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

/// Offline clang has no header that says what `__device__` is.
void spell(std::string& text, Dialect dialect) {
    const bool cuda = dialect == Dialect::Cuda;
    const std::string device = cuda ? "static __device__" : "static __attribute__((device))";
    replace_all(text, "KILN_DEVICE_OUTLINE", device + " inline");
    replace_all(text, "KILN_DEVICE", device + (cuda ? " __forceinline__" : " inline __attribute__((always_inline))"));
    replace_all(text, "KILN_TABLE", device + " const");
}

class Selection {
public:
    explicit Selection(const Pieces& pieces) : pieces_(pieces) {}

    void add(std::string_view name) {
        const auto found = pieces_.find(name);
        if (found == pieces_.end() || added_[name]) return;
        added_[name] = true;
        for (const std::string_view used : found->second.uses) add(used);
        text_ += std::string(found->second.text) + "\n\n";
    }
    std::string text() && { return std::move(text_); }

private:
    const Pieces& pieces_;
    std::map<std::string_view, bool> added_;
    std::string text_;
};

}  // namespace

std::string prelude(std::string_view program, Dialect dialect) {
    static const Pieces cuda = pieces_of(Dialect::Cuda), hip = pieces_of(Dialect::Hip);
    Selection selection(dialect == Dialect::Cuda ? cuda : hip);
    for_each_device_name(program, [&](std::string_view name, std::string_view) { selection.add(name); });
    std::string text = std::move(selection).text();
    spell(text, dialect);
    // The language rounds each operation.
    return (dialect == Dialect::Hip ? "#pragma clang fp contract(off)\n\n" : "") + text;
}

}  // namespace kiln::codegen::gpu
