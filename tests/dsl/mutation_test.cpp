// Damaged programs: whatever stands in a file, it gives a tree or messages, and no message shows a name of ours.

#include <doctest/doctest.h>

#include <random>

#include "dsl/format.h"
#include "dsl/parse.h"
#include "tests/dsl/must_fail_program.h"
#include "tests/dsl/tree_text.h"

namespace kiln::dsl {

namespace {

constexpr std::string_view kPieces[] = {
    "(",      ")",    "[",      "]",        "{",         "}",      "<",      ">",      "=",    "==", "..",
    ":+",     ":",    ",",      ";",        ".",         "-",      "+",      "_",      "\n",   "\"", "//",
    "1",      "1f",   "x",      "if",       "else",      "for",    "in",     "let",    "var",  "fn", "by",
    "->",     "grid", "tune",   "while",    "const",     "kernel", "static", "return", "\xff", "é",  "?",
    "import", "type", "within", "schedule", "reference", "inout",  "struct",
};

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
}

void mutate(std::string& text, Random& random) {
    const std::size_t at = below(random, text.size());
    const std::size_t length = std::min<std::size_t>(1 + below(random, 12), text.size() - at);
    const std::string_view piece = kPieces[below(random, std::size(kPieces))];
    switch (below(random, 4)) {
        case 0:
            text.erase(at, length);
            break;
        case 1:
            text.insert(at, piece);
            break;
        case 2:
            text.replace(at, length, piece);
            break;
        case 3:
            text.insert(below(random, text.size()), text.substr(at, length));
            break;
    }
    if (text.empty()) text = "x";
}

void check_messages(const support::Diagnostics& diagnostics, const support::SourceMap& sources) {
    for (const support::Diagnostic& diagnostic : diagnostics.all()) {
        for (const std::string_view name : {"kiln::", "boost", "spirit", "undefined", "unnamed", "N4kiln", "::"}) {
            // Text that stands in the program itself may be anything.
            if (sources.text(diagnostic.span).find(name) == std::string_view::npos) {
                CHECK(diagnostic.message.find(name) == std::string::npos);
            }
        }
        CHECK(!diagnostic.message.empty());
        CHECK(diagnostic.span.end <= sources.text(0).size());
    }
}

// Every child is a node, and the tree is a tree.
void check_tree(const Ast& ast) {
    REQUIRE(ast.root < ast.nodes.size());
    std::vector<int> parents(ast.nodes.size());
    bool sound = true;
    for (NodeId id = 0; id < ast.nodes.size(); ++id) {
        for (const NodeId child : ast.children_of(id)) {
            if (child != kNoNode) sound = sound && child < id && ++parents[child] == 1;
        }
    }
    CHECK(sound);
}

}  // namespace

TEST_SUITE("faults") {
    TEST_CASE("5,000 damaged kernels") {
        Random random(20240229);
        const auto paths = kiln_files("tests/kernels");
        std::size_t whole = 0;
        for (int round = 0; round < 5'000; ++round) {
            std::string text = read_file(paths[below(random, paths.size())]);
            for (std::size_t count = 1 + below(random, 4); count > 0; --count) mutate(text, random);
            CAPTURE(round);
            support::SourceMap sources;
            support::Diagnostics diagnostics;
            const std::uint32_t source = sources.add("test.kiln", std::move(text));
            const Ast ast = parse(sources, source, diagnostics);
            check_messages(diagnostics, sources);
            check_tree(ast);
            if (diagnostics.has_errors()) continue;
            ++whole;
            const std::uint32_t again = sources.add("formatted.kiln", format(sources, source, diagnostics));
            CHECK(tree_text(parse(sources, again, diagnostics)) == tree_text(ast));
            CHECK(format(sources, again, diagnostics) == sources.text(again));
            CHECK(!diagnostics.has_errors());
        }
        CHECK(whole > 100);
    }

    TEST_CASE("every beginning of a kernel") {
        const std::string text = read_file(std::filesystem::path(KILN_SOURCE_DIR) / "tests/kernels/gemm.kiln");
        for (std::size_t length = 0; length <= text.size(); ++length) {
            support::SourceMap sources;
            support::Diagnostics diagnostics;
            const Ast ast = parse(sources, sources.add("test.kiln", text.substr(0, length)), diagnostics);
            check_messages(diagnostics, sources);
            check_tree(ast);
        }
    }
}

}  // namespace kiln::dsl
