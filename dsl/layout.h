// The pass before the grammar: decides which newlines end statements, so that the grammar needs one kind of blank only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/support/diagnostic.h"

namespace kiln::dsl {

/// Brackets that may be open at once. The grammar recurses only through brackets, so this bounds its stack: 64 levels
/// take at most 75 KB at -O2, 0.3 MB at -O0 and 0.5 MB with AddressSanitizer, inside a small thread's 1 MiB.
inline constexpr std::size_t kNestingLimit = 64;

/// A `//` comment with its slashes, without its line end.
struct Comment {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    bool documentation = false;  ///< begins with exactly three slashes
    bool own_line = false;       ///< nothing but blanks stands before it on its line
};

/// Offsets of an opening bracket and its partner.
struct BracketPair {
    std::uint32_t open = 0;
    std::uint32_t close = 0;
};

/// What the pass hands to grammar, recovery and formatter.
struct Layout {
    /// The source with the same length and offsets; comments and newlines that end nothing are blanks. The newlines
    /// left are exactly those that end a statement, except before `}`, which ends one by itself.
    std::string text;
    std::vector<Comment> comments;
    std::vector<BracketPair> brackets;        ///< by opening offset
    std::vector<std::uint32_t> declarations;  ///< offsets where a declaration seems to begin, for recovery
    bool valid = false;                       ///< false: an error was reported and nothing else here may be used
};

/// Lays out file `source` of `sources`. Reports at most one error: bad UTF-8, a control character, a character outside
/// ASCII, an unterminated string, unpaired brackets or too many open ones.
Layout lay_out(const support::SourceMap& sources, std::uint32_t source, support::Diagnostics& diagnostics);

}  // namespace kiln::dsl
