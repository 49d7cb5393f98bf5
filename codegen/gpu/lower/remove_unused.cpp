#include "codegen/gpu/lower/remove_unused.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <string_view>

namespace kiln::codegen::gpu {

namespace {

bool is_word_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

template <class Visit>
void for_each_word(std::string_view text, const Visit& visit) {
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && is_word_character(text[end])) ++end;
        if (end > at) visit(text.substr(at, end - at));
        at = end + 1;
    }
}

/// The name that a declaration `const type name = value;` declares; empty for other lines.
std::string_view declared(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::size_t equals = line.find(" = ");
    if (!line.starts_with("const ") || equals == std::string_view::npos) return {};
    std::size_t begin = equals;
    while (begin > 0 && is_word_character(line[begin - 1])) --begin;
    return line.substr(begin, equals - begin);
}

/// How often each name occurs. Declarations are removed from the last to the first, since one may be the only use of
/// what another above it declares.
class Unused {
public:
    explicit Unused(PlacedPhase& phase) : phase_(phase) {
        count(phase.prologue, 1);
        count(phase.body);
    }

    void remove() {
        remove(phase_.body);
        remove(phase_.prologue);
        std::erase_if(phase_.buffers, [&](const Buffer& buffer) { return !uses_.contains(buffer.name); });
    }

private:
    void count(const std::vector<std::string>& lines, int step) {
        for (const std::string& line : lines) count(line, step);
    }
    void count(std::string_view text, int step) {
        for_each_word(text, [&](std::string_view name) { uses_[std::string(name)] += step; });
    }
    void count(const Statements& statements) {
        for (const Statement& statement : statements) {
            count(statement.head, 1);
            count(statement.lines, 1);
            count(statement.body);
            count(statement.otherwise);
        }
    }

    void remove(Statements& statements) {
        for (auto statement = statements.rbegin(); statement != statements.rend(); ++statement) {
            remove(statement->otherwise);
            remove(statement->body);
            remove(statement->lines);
        }
    }
    void remove(std::vector<std::string>& lines) {
        for (std::size_t i = lines.size(); i-- > 0;) {
            const std::string_view name = declared(lines[i]);
            if (name.empty()) continue;
            // A slot of the parameter may have the name of the constant that holds it.
            int own = 0;
            for_each_word(lines[i], [&](std::string_view other) { own += other == name ? 1 : 0; });
            if (uses_[std::string(name)] > own) continue;
            count(lines[i], -1);
            lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
        }
    }

    PlacedPhase& phase_;
    std::map<std::string, int> uses_;
};

}  // namespace

void remove_unused(PlacedPhase& phase) {
    Unused(phase).remove();
}

}  // namespace kiln::codegen::gpu
