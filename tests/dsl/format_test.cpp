#include "dsl/format.h"

#include <doctest/doctest.h>

#include "dsl/layout.h"
#include "dsl/parse.h"
#include "tests/dsl/must_fail_program.h"
#include "tests/dsl/tree_text.h"

namespace kiln::dsl {

namespace {

std::string formatted(std::string text) {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    std::string result = format(sources, sources.add("test.kiln", std::move(text)), diagnostics);
    CHECK(diagnostics.render(sources) == "");
    return result;
}

std::string tree_of_source(const std::string& text) {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    return tree_text(parse(sources, sources.add("test.kiln", text), diagnostics));
}

std::vector<std::string> comments_of(const std::string& text) {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    const std::uint32_t source = sources.add("test.kiln", text);
    std::vector<std::string> comments;
    for (const Comment& comment : lay_out(sources, source, diagnostics).comments) {
        comments.emplace_back(sources.text({source, comment.begin, comment.end}));
    }
    return comments;
}

// The text with its lines beginning at the first column, from which the layout must follow all the same.
std::string without_indentation(const std::string& text) {
    std::string result;
    bool line_begins = true;
    for (const char c : text) {
        if (line_begins && c == ' ') continue;
        line_begins = c == '\n';
        result += c;
    }
    return result;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("formatting keeps trees and comments and is idempotent") {
        auto paths = kiln_files("tests/kernels");
        for (const auto& path : kiln_files("tests/newlines")) paths.push_back(path);
        for (const auto& path : paths) {
            CAPTURE(path.filename().string());
            const std::string text = read_file(path);
            const std::string once = formatted(text);
            CHECK(formatted(once) == once);
            CHECK(tree_of_source(once) == tree_of_source(text));
            CHECK(comments_of(once) == comments_of(text));
            CHECK(formatted(without_indentation(text)) == once);
        }
    }

    TEST_CASE("blanks, clauses and blocks") {
        CHECK(
            formatted(
                "kernel k< N :int=4,f:fn (f32)->f32=g >( a :in f32 [ N ] )tune B in { 1,2 },\nC in{3} where B<C allow "
                "flush schedule cpu{w in{4},v=1} reference  m . r within 0 grid i in 0..N by B,\nj in 0..1{\n\n\nlet "
                "x=-a [ i:+B,: , _,.. ]*- -2;a[i] = x\nif(x>1)&&!y{\nf( x,axis=1 )\n}\nelse{ }\n\n}\nfn "
                "g(x:f32)->f32=x "
                "fn h(){ }") ==
            "kernel k<N: int = 4, f: fn(f32) -> f32 = g>(a: in f32[N])\n"
            "  tune B in {1, 2},\n"
            "       C in {3}\n"
            "  where B < C\n"
            "  allow flush\n"
            "  schedule cpu { w in {4}, v = 1 }\n"
            "  reference m.r within 0\n"
            "grid i in 0 .. N by B,\n"
            "     j in 0 .. 1 {\n"
            "    let x = -a[i :+ B, :, _, ..] * --2; a[i] = x\n"
            "    if (x > 1) && !y {\n"
            "        f(x, axis = 1)\n"
            "    }\n"
            "    else { }\n"
            "}\n"
            "fn g(x: f32) -> f32 = x\n"
            "fn h() { }\n");
        CHECK(formatted("fn f()->int=0 .size( )") == "fn f() -> int = 0 .size()\n");
    }

    TEST_CASE("lists over several lines") {
        CHECK(formatted("fn f<T: float,\nU: int>(\na: T,\n  b: f32)\n-> f32 {\nlet c = g(a,\nh(\nb\n),\n// why\nc // "
                        "because\n)\n"
                        "return c\n+ 1\n}\n") ==
              "fn f<T: float,\n"
              "     U: int>(\n"
              "    a: T,\n"
              "    b: f32)\n"
              "    -> f32 {\n"
              "    let c = g(a,\n"
              "              h(\n"
              "                  b\n"
              "              ),\n"
              "              // why\n"
              "              c  // because\n"
              "             )\n"
              "    return c\n"
              "        + 1\n"
              "}\n");
    }

    TEST_CASE("comments") {
        CHECK(
            formatted(
                "// top\n\n\n\nfn f() { // open   \nlet a = 1 // one\n  let long_name = 2      // two\n\n// last\n}// "
                "end\nkernel k(a: in f32[N])\n// before\ntune B in {1} // after\n// grid\ngrid i in 0 .. N {\n}") ==
            "// top\n"
            "\n"
            "fn f() {               // open\n"
            "    let a = 1          // one\n"
            "    let long_name = 2  // two\n"
            "\n"
            "    // last\n"
            "}  // end\n"
            "kernel k(a: in f32[N])\n"
            "  // before\n"
            "  tune B in {1}  // after\n"
            "// grid\n"
            "grid i in 0 .. N {\n"
            "}\n");
    }

    TEST_CASE("line ends, byte order marks and empty files") {
        CHECK(formatted("") == "");
        CHECK(formatted("\n\n") == "");
        CHECK(formatted("\xef\xbb\xbf"
                        "const a = 1\r\n\r\n\r\n// c\r\n") == "const a = 1\n\n// c\n");
    }

    TEST_CASE("a file with errors stays as it is") {
        support::SourceMap sources;
        support::Diagnostics diagnostics;
        const std::string text = "fn f( = 3\nconst  a=1";
        const std::string broken = "fn f() { let = 3 }\nconst  a=1";
        CHECK(format(sources, sources.add("a.kiln", text), diagnostics) == text);
        CHECK(diagnostics.error_count() == 1);
        CHECK(format(sources, sources.add("b.kiln", broken), diagnostics) == broken);
        CHECK(diagnostics.error_count() == 2);
    }
}

}  // namespace kiln::dsl
