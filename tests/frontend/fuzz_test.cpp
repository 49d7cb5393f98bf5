// Short runs of the fuzzing entry points: seeded mutations of kernels and of their IR, and each byte of an IR text
// damaged.
#include <doctest/doctest.h>

#include <random>

#include "ir/text.h"
#include "tests/dsl/must_fail_program.h"
#include "tests/frontend/kernel_run.h"
#include "tests/fuzz/targets.h"
#include "tests/ir/every_op.h"

namespace kiln::test {

namespace {

constexpr std::string_view kPieces[] = {"(",
                                        ")",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        "<",
                                        ">",
                                        "=",
                                        "..",
                                        ":+",
                                        ":",
                                        ",",
                                        ".",
                                        "-",
                                        "~",
                                        "_",
                                        "\n",
                                        "\"",
                                        "0",
                                        "1",
                                        "9223372036854775807",
                                        "1.5",
                                        "inf",
                                        "nan",
                                        "true",
                                        "f32",
                                        "bf16",
                                        "i8",
                                        "u64",
                                        "f8e8m0",
                                        "i4",
                                        "bool",
                                        "x",
                                        "N",
                                        "i",
                                        "sum",
                                        "dot",
                                        "select",
                                        "iota(4)",
                                        "axis = 0",
                                        "if",
                                        "else",
                                        "for",
                                        "while",
                                        "let",
                                        "var",
                                        "const",
                                        "static",
                                        "return",
                                        "break",
                                        "in",
                                        "out",
                                        "inout",
                                        "grid",
                                        "tune",
                                        "where",
                                        "scratch",
                                        "fn",
                                        "kernel",
                                        "[_, :]",
                                        "[:, _]",
                                        "/ 0",
                                        "% 0",
                                        "<< 64",
                                        ": f32",
                                        "%0",
                                        "yield",
                                        "load",
                                        "store",
                                        "constant 0 : i64",
                                        "axis 0",
                                        "fill",
                                        "mask",
                                        "carry",
                                        "\xff",
                                        "\0"};

std::size_t below(std::mt19937& random, std::size_t bound) {
    return random() % bound;
}

/// One to three small changes: a piece cut, doubled, moved, put in, or a byte replaced.
std::string mutated(std::string text, std::mt19937& random) {
    for (std::size_t count = 1 + below(random, 3); count > 0 && text.size() > 1; --count) {
        const std::size_t at = below(random, text.size());
        const std::size_t length = std::min(text.size() - at, 1 + below(random, 16));
        switch (below(random, 5)) {
            case 0:
                text.erase(at, length);
                break;
            case 1:
                text.insert(below(random, text.size()), text.substr(at, length));
                break;
            case 2:
                text.insert(at, kPieces[below(random, std::size(kPieces))]);
                break;
            case 3:
                text.replace(at, length, kPieces[below(random, std::size(kPieces))]);
                break;
            case 4:
                text[at] = static_cast<char>(random());
                break;
        }
    }
    return text;
}

void run(void (*target)(const std::string&), const std::vector<std::string>& corpus, std::uint32_t seed, int rounds) {
    std::mt19937 random(seed);
    for (int round = 0; round < rounds; ++round) {
        const std::string text = mutated(corpus[below(random, corpus.size())], random);
        INFO(text);
        CHECK_NOTHROW(target(text));
    }
}

std::vector<std::string> kernel_texts() {
    std::vector<std::string> texts;
    for (const auto& path : dsl::kiln_files("tests/kernels")) texts.push_back(dsl::read_file(path));
    return texts;
}

/// Small programs of many constructs, which a mutation reaches more often than it reaches a line of a long file.
std::vector<std::string> must_work_texts() {
    std::vector<std::string> texts;
    for (const char* folder : {"tests/must_fail/types", "tests/must_fail/names"}) {
        for (const auto& path : dsl::kiln_files(folder)) texts.push_back(dsl::read_file(path));
    }
    return texts;
}

std::vector<std::string> ir_texts() {
    std::vector<std::string> texts{kEveryOp};
    for (const auto& [file, kernel] : {std::pair{"gemm.kiln", "gemm"}, {"softmax.kiln", "softmax"}}) {
        const frontend::Program program = load_library(file);
        frontend::Request request;
        request.kernel = kernel;
        request.generics["T"] = ir::ScalarType::F32;
        if (file == std::string("softmax.kiln")) request.generics["N"] = ir::Scalar::int64(64);
        support::Diagnostics diagnostics;
        const auto specialisation = frontend::specialise(program, request, diagnostics);
        REQUIRE_MESSAGE(specialisation.has_value(), diagnostics.render(program.sources));
        texts.push_back(ir::print(specialisation->kernel));
    }
    return texts;
}

/// The files of a folder of tests/fuzz/corpus: where libFuzzer begins, and what it once found, made small.
std::vector<std::string> corpus(const std::string& folder) {
    std::vector<std::string> texts;
    const std::filesystem::path path = std::filesystem::path(KILN_SOURCE_DIR) / "tests/fuzz/corpus" / folder;
    for (const auto& entry : std::filesystem::directory_iterator(path)) texts.push_back(dsl::read_file(entry.path()));
    return texts;
}

}  // namespace

TEST_SUITE("faults") {
    TEST_CASE("fuzzing: what is kept for libFuzzer") {
        for (const std::string& text : corpus("grammar")) CHECK_NOTHROW(fuzz_grammar(text));
        for (const std::string& text : corpus("checker")) CHECK_NOTHROW(fuzz_checker(text));
        for (const std::string& text : corpus("ir_text")) CHECK_NOTHROW(fuzz_ir_text(text));
    }
    TEST_CASE("fuzzing: the corpus itself") {
        for (const std::string& text : kernel_texts()) CHECK_NOTHROW(fuzz_grammar(text));
        for (const std::string& text : must_work_texts()) CHECK_NOTHROW(fuzz_checker(text));
        for (const std::string& text : ir_texts()) CHECK_NOTHROW(fuzz_ir_text(text));
    }
    TEST_CASE("fuzzing: the grammar") {
        run(fuzz_grammar, kernel_texts(), 1, 2'000);
    }
    TEST_CASE("fuzzing: the checker on whole kernels") {
        run(fuzz_checker, kernel_texts(), 2, 300);
    }
    TEST_CASE("fuzzing: the checker on small programs") {
        run(fuzz_checker, must_work_texts(), 3, 2'000);
    }
    TEST_CASE("fuzzing: the IR's text") {
        run(fuzz_ir_text, ir_texts(), 4, 2'000);
    }
    TEST_CASE("fuzzing: each byte of an IR text, cut out and replaced") {
        const std::string text = kEveryOp;
        for (std::size_t at = 0; at < text.size(); ++at) {
            CAPTURE(at);
            std::string cut = text, replaced = text;
            cut.erase(at, 1);
            CHECK_NOTHROW(fuzz_ir_text(cut));
            for (const char byte : {' ', '%', '0', '9', '-', '\xff'}) {
                replaced[at] = byte;
                CHECK_NOTHROW(fuzz_ir_text(replaced));
            }
            CHECK_NOTHROW(fuzz_ir_text(text.substr(0, at)));
        }
    }
    TEST_CASE("fuzzing: long runs of all" * doctest::skip()) {
        run(fuzz_grammar, kernel_texts(), 11, 50'000);
        run(fuzz_checker, kernel_texts(), 12, 5'000);
        run(fuzz_checker, must_work_texts(), 13, 50'000);
        run(fuzz_ir_text, ir_texts(), 14, 50'000);
    }
}

}  // namespace kiln::test
