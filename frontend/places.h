// What an editor asks of a checked program: where the names in its text lead, and of what type they are.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "ir/support/span.h"

namespace kiln::frontend {

/// A name in the text, its declaration included.
struct Place {
    support::Span at;
    support::Span declaration;
};

/// Filled by load_program (declarations) and check_bodies (types).
class Places {
public:
    void lead(support::Span at, support::Span declaration) { places_.emplace(key(at), Place{at, declaration}); }
    /// The first description counts: a function is lowered again for each call.
    void describe(support::Span declaration, std::string text) {
        if (!text.empty()) texts_.emplace(key(declaration), std::move(text));
    }

    /// The name at an offset; one that ends there counts.
    std::optional<Place> find(std::uint32_t source, std::uint32_t offset) const {
        auto next = places_.upper_bound({source, offset});
        if (next == places_.begin()) return std::nullopt;
        const Place& place = std::prev(next)->second;
        if (place.at.source != source || offset > place.at.end) return std::nullopt;
        return place;
    }
    /// The type of what is declared there, as "f32[64, 64]"; empty if it has none.
    std::string text_of(support::Span declaration) const {
        const auto found = texts_.find(key(declaration));
        return found == texts_.end() ? std::string() : found->second;
    }

private:
    using Key = std::pair<std::uint32_t, std::uint32_t>;
    static Key key(support::Span span) { return {span.source, span.begin}; }

    std::map<Key, Place> places_;
    std::map<Key, std::string> texts_;
};

}  // namespace kiln::frontend
