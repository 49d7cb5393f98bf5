#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/emulated_gpu/cuda/ptx_module.h"

namespace emulated_gpu {

struct Token {
    enum class Kind : uint8_t { Identifier, Directive, Integer, Float, Double, String, Punctuation, End };
    Kind kind = Kind::End;
    Position position;
    std::string text;      // Directive: without its dot
    uint64_t integer = 0;  // Integer: the value; Float, Double: the bits
    bool glued = false;    // nothing stands between this token and the one before it
};

/// Splits PTX text into tokens, the last of kind End. Throws PtxError at a character or literal that PTX does not have.
std::vector<Token> tokenize(std::string_view text);

}  // namespace emulated_gpu
