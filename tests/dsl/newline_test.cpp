#include <doctest/doctest.h>

#include "dsl/parse.h"
#include "tests/dsl/must_fail_program.h"
#include "tests/dsl/tree_text.h"

namespace kiln::dsl {

namespace {

std::string tree_of_text(std::string text) {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    const Ast ast = parse(sources, sources.add("test.kiln", std::move(text)), diagnostics);
    CHECK(diagnostics.render(sources) == "");
    return tree_text(ast);
}

std::string tree_of_file(std::string_view name) {
    return tree_of_text(read_file(std::filesystem::path(KILN_SOURCE_DIR) / "tests/newlines" / name));
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("statements over several lines are what they would be on one") {
        CHECK(tree_of_file("tricky.kiln") ==
              tree_of_text(
                  "fn f(x: f32, y: f32) -> f32 { let a = x + y; let b = x - y; let c = x - y; let d = max(a, b); var "
                  "t = 0.0; var u = 1.0; if a > b { t = 1 } else if a < b { t = 2 } else { t = 3 }; for k in 0 .. "
                  "10 by 2 { t += 1 }; while t > 100 { t = t / 2 }; t = 5; t, u = g(t, u); fn lift(z: f32) -> f32 "
                  "= z * 2; if a > b { return a }; return select(a > 0, a, b) } fn g(a: f32, b: f32) -> (f32, f32) "
                  "{ return (b, a) } fn h() { return } fn one(x: f32) -> f32 { let y = x; return y } fn empty() { "
                  "} fn blank() { } kernel k<N: int = 4 << 2, f: fn(f32) -> f32 = h>(by_row: in f32[N], where: out "
                  "f32[N], tune: f32) tune B in {1, 2}, C in {3} where B < C schedule gpu { warps in {4, 8}, order "
                  "= rows } grid i in 0 .. N by B { where[i :+ B] = by_row[i :+ B] * -tune + 1e-5 - -2 }"));
    }

    TEST_CASE("words that cannot end a statement join lines") {
        CHECK(tree_of_file("rule.kiln") ==
              tree_of_text(
                  "fn f(x: f32) -> (f32, f32) { let y: f32 = x; for k in 0 .. 4 { _, y = g(x) }; static assert y > "
                  "0, \"y is {}\", y; _ = atomic_add(c[0], 1); return (x, y) }"));
    }

    TEST_CASE("return ends at its newline") {
        CHECK(tree_of_file("return.kiln") ==
              "(File (Function `f` - (Parameters (Parameter `x` (NamedType (Path `f32`) -) -)) (NamedType (Path `f32`) "
              "-) "
              "(Block (Let (Binding - (Name `y`)) (Name `x`)) (Return -) (ExpressionStatement (Name `y`)))))");
    }

    TEST_CASE("carriage returns are blanks") {
        const std::string text = read_file(std::filesystem::path(KILN_SOURCE_DIR) / "tests/newlines/crlf.kiln");
        CHECK(tree_of_text(text) == tree_of_text("fn f(x: f32) -> f32 { let y = x + 1; return y }"));
        std::string carriage;
        for (const char c : text) carriage += c == '\n' ? std::string("\r\n") : std::string(1, c);
        CHECK(tree_of_text(carriage) == tree_of_text(text));
    }

    TEST_CASE("words known only where expected may be names") {
        CHECK(tree_of_file("names.kiln") ==
              tree_of_text(
                  "kernel k(in_: in f32[N], out: out f32[N]) grid int in 0 .. N by 4 { var max = out_of(in_[int :+ "
                  "4]); out[int :+ 4] = max }"));
    }

    TEST_CASE("choices and settings may end their lines anywhere a list may") {
        CHECK(
            tree_of_text(
                "kernel k(x: in f32[N])\n  tune B in {\n    1\n    , 2\n  }\n  schedule cpu {\n    w in {4},\n    v = "
                "1\n  }\ngrid i in 0 .. N { }") ==
            tree_of_text(
                "kernel k(x: in f32[N]) tune B in {1, 2} schedule cpu { w in {4}, v = 1 } grid i in 0 .. N { }"));
    }
}

}  // namespace kiln::dsl
