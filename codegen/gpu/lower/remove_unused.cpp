#include "codegen/gpu/lower/remove_unused.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

namespace kiln::codegen::gpu {

namespace {

bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class Names {
public:
    void add(std::string_view text) {
        for (std::size_t at = 0; at < text.size();) {
            std::size_t end = at;
            while (end < text.size() && is_name_character(text[end])) ++end;
            if (end > at) names_.insert(std::string(text.substr(at, end - at)));
            at = end + 1;
        }
    }
    void add(const Statements& statements) {
        for (const Statement& statement : statements) {
            add(statement.head);
            for (const std::string& line : statement.lines) add(line);
            add(statement.body);
            add(statement.otherwise);
        }
    }
    bool contains(std::string_view name) const { return names_.contains(name); }

private:
    std::set<std::string, std::less<>> names_;
};

/// The name that a declaration `type name = value;` declares; empty for other lines.
std::string_view declared(std::string_view line) {
    const std::size_t equals = line.find(" = ");
    if (!line.starts_with("const ") || equals == std::string_view::npos) return {};
    std::size_t begin = equals;
    while (begin > 0 && is_name_character(line[begin - 1])) --begin;
    return line.substr(begin, equals - begin);
}

}  // namespace

void remove_unused(PlacedPhase& phase) {
    Names used;
    used.add(phase.body);
    // From the last to the first: what is kept uses what stands above it.
    std::vector<std::string> kept;
    for (auto line = phase.prologue.rbegin(); line != phase.prologue.rend(); ++line) {
        const std::string_view name = declared(*line);
        if (!name.empty() && !used.contains(name)) continue;
        const std::size_t value = line->find(" = ");
        used.add(std::string_view(*line).substr(value == std::string::npos ? 0 : value));
        kept.push_back(*line);
    }
    std::reverse(kept.begin(), kept.end());
    phase.prologue = std::move(kept);
    std::erase_if(phase.buffers, [&](const Buffer& buffer) { return !used.contains(buffer.name); });
}

}  // namespace kiln::codegen::gpu
