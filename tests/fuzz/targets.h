// The entry points of fuzzing. Each takes any bytes and throws std::logic_error where Kiln breaks a promise: a crash, a
// hang and an exception of Kiln's own count as well. libFuzzer drives them in the preset `fuzz`, seeded mutations in
// each run of the tests.
#pragma once

#include <string>

namespace kiln::test {

/// Text of the language: parsing gives a tree or messages; a program that parses is formatted to the same tree, once
/// for all.
void fuzz_grammar(const std::string& text);

/// Text of the language: checking names and bodies gives messages or none, with places inside the text; what has no
/// errors is specialised to kernels that verify, before and after the tile passes.
void fuzz_checker(const std::string& text);

/// Text of the IR: what reads prints as a text that reads the same; what verifies still does after the tile passes.
void fuzz_ir_text(const std::string& text);

}  // namespace kiln::test
