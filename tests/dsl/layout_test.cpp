#include "dsl/layout.h"

#include <doctest/doctest.h>

#include "dsl/parse.h"
#include "tests/dsl/must_fail_program.h"

namespace kiln::dsl {

namespace {

struct LaidOut {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    Layout layout;

    explicit LaidOut(std::string text) {
        layout = lay_out(sources, sources.add("test.kiln", std::move(text)), diagnostics);
    }
    std::string messages() const { return reported_messages(diagnostics, sources); }
};

std::string error_of(std::string text) {
    const LaidOut laid_out(std::move(text));
    CHECK(laid_out.layout.valid == laid_out.messages().empty());
    return laid_out.messages();
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("length and offsets stay; comments and idle newlines become blanks") {
        const LaidOut laid_out("fn f() { // é\n  a\n  + b\n  c\n}\n");
        CHECK(laid_out.layout.text == "fn f() {         a   + b\n  c } ");
        CHECK(laid_out.layout.text.size() == laid_out.sources.text(0).size());
    }

    TEST_CASE("comments are kept with their place and kind") {
        const LaidOut laid_out("/// doc\n//// not\nconst a = 1 /// trailing\r\n  // own");
        const auto& comments = laid_out.layout.comments;
        REQUIRE(comments.size() == 4);
        const auto text = [&](std::size_t i) { return laid_out.sources.text({0, comments[i].begin, comments[i].end}); };
        CHECK(text(0) == "/// doc");
        CHECK(text(2) == "/// trailing");
        CHECK(text(3) == "// own");
        CHECK(comments[0].documentation);
        CHECK(!comments[1].documentation);
        CHECK(comments[2].documentation);
        CHECK(comments[0].own_line);
        CHECK(!comments[2].own_line);
        CHECK(comments[3].own_line);
    }

    TEST_CASE("brackets are paired and declarations listed") {
        const LaidOut laid_out("type T = fn(f32) -> f32\nfn f() {\n    const a = (1)\n}\nkernel k()\n  const b = 1\n");
        REQUIRE(laid_out.layout.brackets.size() == 5);
        CHECK(laid_out.sources.text({0, laid_out.layout.brackets[2].open, laid_out.layout.brackets[2].close + 1}) ==
              "{\n    const a = (1)\n}");
        std::vector<std::string_view> words;
        for (const std::uint32_t at : laid_out.layout.declarations)
            words.push_back(laid_out.sources.text({0, at, at + 4}));
        CHECK(words == std::vector<std::string_view>{"type", "fn f", "kern"});
    }

    TEST_CASE("bytes that are not UTF-8") {
        CHECK(error_of("// \xff") == "error: 1:4: byte 0xff is not valid UTF-8 here\n");
        CHECK(error_of("\"\xc3\"") == "error: 1:2: byte 0xc3 is not valid UTF-8 here\n");
        CHECK(error_of("// \xc0\xaf") == "error: 1:4: byte 0xc0 is not valid UTF-8 here\n");
        CHECK(error_of("// \xe0\x80\xaf") == "error: 1:4: byte 0xe0 is not valid UTF-8 here\n");
        CHECK(error_of("// \xed\xa0\x80") == "error: 1:4: byte 0xed is not valid UTF-8 here\n");
        CHECK(error_of("// \xf4\x90\x80\x80") == "error: 1:4: byte 0xf4 is not valid UTF-8 here\n");
        CHECK(error_of("// \xf0\x9f\x98") == "error: 1:4: byte 0xf0 is not valid UTF-8 here\n");
        CHECK(error_of("\x80") == "error: 1:1: byte 0x80 is not valid UTF-8 here\n");
        CHECK(error_of("// \xf0\x9f\x98\x80 \xe2\x82\xac \xc3\xa9") == "");
        CHECK(error_of("const a = \xe2\x82\xac") ==
              "error: 1:11: `\xe2\x82\xac` may stand only in comments and strings\n");
    }

    TEST_CASE("NUL and other control characters") {
        using namespace std::string_literals;
        CHECK(error_of("a\0b"s) == "error: 1:2: the control character 0x00 may not stand here\n");
        CHECK(error_of("// \0"s) == "error: 1:4: the control character 0x00 may not stand here\n");
        CHECK(error_of("\"\0\""s) == "error: 1:2: the control character 0x00 may not stand here\n");
        CHECK(error_of("\x7f") == "error: 1:1: the control character 0x7f may not stand here\n");
        CHECK(error_of("// \x01") == "");
    }

    TEST_CASE("strings end on their line") {
        CHECK(error_of("\"a\n\"") != "");
        CHECK(error_of("\"a\\\n\"") != "");
        CHECK(error_of("\"a\\") != "");
        CHECK(error_of("\"a\\\"") != "");
        CHECK(error_of("\"({\\\\\" // \"") == "");
    }

    TEST_CASE("an empty file, blanks and a byte order mark are fine") {
        CHECK(error_of("") == "");
        CHECK(error_of("  \n\n// only a comment") == "");
        CHECK(error_of("\xef\xbb\xbf") == "");
        support::SourceMap sources;
        support::Diagnostics diagnostics;
        const Ast ast = parse(sources, sources.add("test.kiln", "\xef\xbb\xbf/// doc\nconst a = 1"), diagnostics);
        CHECK(!diagnostics.has_errors());
        CHECK(ast.children_of(ast.root).size() == 1);
        CHECK(ast.docs.size() == 1);
        const Ast empty = parse(sources, sources.add("empty.kiln", ""), diagnostics);
        CHECK(!diagnostics.has_errors());
        CHECK(empty.children_of(empty.root).empty());
    }

    TEST_CASE("a lexical error is the only message of a file and leaves an empty tree") {
        support::SourceMap sources;
        support::Diagnostics diagnostics;
        const Ast ast = parse(sources, sources.add("test.kiln", "let = (\nlet = )]"), diagnostics);
        CHECK(reported_messages(diagnostics, sources) == "error: 2:8: `]` closes nothing\n");
        CHECK(ast[ast.root].kind == NodeKind::File);
        CHECK(ast.children_of(ast.root).empty());
    }
}

}  // namespace kiln::dsl
