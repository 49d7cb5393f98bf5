// Depth and length, on the stack of a small thread.

#include <doctest/doctest.h>
#include <pthread.h>

#include <functional>

#include "dsl/format.h"
#include "dsl/parse.h"
#include "tests/dsl/must_fail_program.h"

namespace kiln::dsl {

namespace {

constexpr std::size_t kCount = 100'000;
constexpr std::size_t kSmallStack = std::size_t{1} << 20;

std::string repeat(std::string_view text, std::size_t count) {
    std::string result;
    result.reserve(text.size() * count);
    for (std::size_t i = 0; i < count; ++i) result += text;
    return result;
}

void* call(void* work) {
    (*static_cast<std::function<void()>*>(work))();
    return nullptr;
}

void run_on_small_stack(std::function<void()> work) {
    pthread_attr_t attributes;
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, kSmallStack) == 0);
    pthread_t thread;
    REQUIRE(pthread_create(&thread, &attributes, call, &work) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

struct DeepParse {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    Ast ast;

    explicit DeepParse(std::string text) {
        const std::uint32_t source = sources.add("test.kiln", std::move(text));
        run_on_small_stack([&] { ast = parse(sources, source, diagnostics); });
    }
    std::string messages() const { return reported_messages(diagnostics, sources); }
};

/// The message for `opening` repeated without end, behind `before`; the brackets of `opening` end at `bracket`.
void check_too_deep(const std::string& before, const std::string& opening, std::size_t bracket,
                    std::size_t open_before) {
    const DeepParse parsed(before + repeat(opening, kCount));
    const std::size_t column = before.size() + (64 - open_before) * opening.size() + bracket + 1;
    CHECK(parsed.messages() ==
          fmt::format("error: 1:{}: nested too deep: at most 64 brackets may be open at once\nhint: give "
                      "inner parts names with `let` or `fn`\n",
                      column));
}

std::string nested(std::size_t levels) {
    return "const c = " + repeat("(", levels) + "1" + repeat(")", levels);
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("100,000 brackets in each other are an error with a place") {
        check_too_deep("const c = ", "(", 0, 0);
        check_too_deep("const c = ", "f(", 1, 0);
        check_too_deep("const c = ", "a[", 1, 0);
        check_too_deep("const c = ", "-(1 + ", 1, 0);
        check_too_deep("type t = ", "(", 0, 0);
        check_too_deep("type t = ", "f32[", 3, 0);
        check_too_deep("fn f() { ", "if a { ", 5, 1);
        check_too_deep("fn f() { ", "fn g() { ", 4, 1);
    }

    TEST_CASE("64 brackets are fine and 65 are not") {
        CHECK(DeepParse(nested(64)).messages() == "");
        CHECK(DeepParse(nested(65)).messages() != "");
        CHECK(DeepParse("fn f() " + repeat("{ if a ", 64) + repeat("}", 64)).messages() != "");
        CHECK(DeepParse("fn f() { " + repeat("if a { ", 63) + repeat("} ", 64)).messages() == "");
        CHECK(DeepParse("fn f() { " + repeat("fn g() { ", 63) + repeat("} ", 64)).messages() == "");
        CHECK(DeepParse("const c = " + repeat("f(a[", 32) + "1" + repeat("])", 32)).messages() == "");
        CHECK(DeepParse("type t = " + repeat("(f32, ", 64) + "f32" + repeat(")", 64)).messages() == "");
    }

    TEST_CASE("nested slices take linear time") {
        // A grammar that retries `a`, `a :+ b` and `a .. b` would need 3^64 steps.
        CHECK(DeepParse("const c = " + repeat("a[", 64) + "1" + repeat("]", 64)).messages() == "");
        CHECK(DeepParse("const c = " + repeat("a[", 64) + repeat("]", 64)).diagnostics.error_count() == 1);
    }

    TEST_CASE("lists without bound are no depth") {
        CHECK(DeepParse("const c = " + repeat("-", kCount) + "1").messages() == "");
        CHECK(DeepParse("const c = " + repeat("- ", kCount) + "1").messages() == "");
        CHECK(DeepParse("const c = a" + repeat("[0]", kCount)).messages() == "");
        CHECK(DeepParse("const c = a" + repeat(".b", kCount)).messages() == "");
        CHECK(DeepParse("const c = (1" + repeat(", 1", kCount) + ")").messages() == "");
        CHECK(DeepParse("fn f() { if a { }" + repeat(" else if a { }", kCount) + " }").messages() == "");
        CHECK(DeepParse("fn f() {\n" + repeat("x = 1\n", kCount) + "}").messages() == "");
        CHECK(DeepParse(repeat("const a = 1\n", kCount)).messages() == "");
    }

    TEST_CASE("a chain of 10 MB is one node") {
        const DeepParse parsed("const c = 1" + repeat(" + a", 2'600'000));
        CHECK(parsed.messages() == "");
        const NodeId constant = parsed.ast.child(parsed.ast.root, 0);
        const NodeId chain = parsed.ast.child(constant, 1);
        CHECK(parsed.ast[chain].kind == NodeKind::Chain);
        CHECK(parsed.ast.children_of(chain).size() == 2'600'001);
    }

    TEST_CASE("10 MB of alternating operators group in one pass") {
        CHECK(DeepParse("const c = 1" + repeat(" + a * b", 1'300'000)).messages() == "");
    }

    TEST_CASE("errors without end stop after a hundred") {
        for (const std::string_view line : {"let = 3\n", "x = 1f\n", "y = a < b < c\n", "if { }\n", "x = \"\\q\"\n"}) {
            const DeepParse parsed("fn f() {\n" + repeat(line, kCount) + "}");
            CHECK(parsed.diagnostics.error_count() == 101);
        }
        CHECK(DeepParse("const c = 1f" + repeat(" + 1f", kCount)).diagnostics.error_count() == 101);
        CHECK(DeepParse(repeat("const = 1\n", kCount)).diagnostics.error_count() == 101);
    }

    TEST_CASE("a long comment is scanned once for each place, not for each terminal tried there") {
        CHECK(DeepParse("fn f() {\n    x // " + repeat("y", 10'000'000) + "\n    y()\n}").messages() == "");
    }

    TEST_CASE("the formatter bears depth and length too") {
        support::SourceMap sources;
        support::Diagnostics diagnostics;
        const std::uint32_t deep = sources.add("deep.kiln", nested(64) + "\n");
        const std::uint32_t wide = sources.add("wide.kiln", "const c = 1" + repeat(" + -a[0]", kCount) + "\n");
        run_on_small_stack([&] {
            CHECK(format(sources, deep, diagnostics) == sources.text(deep));
            CHECK(format(sources, wide, diagnostics) == sources.text(wide));
        });
        CHECK(!diagnostics.has_errors());
    }
}

}  // namespace kiln::dsl
