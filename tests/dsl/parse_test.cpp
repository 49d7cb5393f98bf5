#include "dsl/parse.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/dsl/must_fail_program.h"
#include "tests/dsl/tree_text.h"

namespace kiln::dsl {

namespace {

struct Parsed {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    Ast ast;

    explicit Parsed(std::string text) { ast = parse(sources, sources.add("test.kiln", std::move(text)), diagnostics); }

    std::string messages() const { return reported_messages(diagnostics, sources); }
    std::string text(support::Span span) const { return std::string(sources.text(span)); }
};

std::string tree_of(std::string text) {
    const Parsed parsed(std::move(text));
    CHECK(parsed.messages() == "");
    return tree_text(parsed.ast);
}

/// The tree of one expression.
std::string expression(const std::string& text) {
    const std::string tree = tree_of("const c = " + text);
    constexpr std::string_view kBefore = "(File (Constant `c` - ";
    REQUIRE(tree.starts_with(kBefore));
    return tree.substr(kBefore.size(), tree.size() - kBefore.size() - 2);
}

/// The tree of a function's statements.
std::string statements(const std::string& text) {
    const std::string tree = tree_of("fn f() {\n" + text + "\n}");
    constexpr std::string_view kBefore = "(File (Function `f` - (Parameters) - (Block ";
    REQUIRE(tree.starts_with(kBefore));
    return tree.substr(kBefore.size(), tree.size() - kBefore.size() - 3);
}

/// The only node of a kind.
const Node& only(const Ast& ast, NodeKind kind) {
    const Node* found = nullptr;
    for (const Node& node : ast.nodes) {
        if (node.kind != kind) continue;
        REQUIRE(found == nullptr);
        found = &node;
    }
    REQUIRE(found != nullptr);
    return *found;
}

// Every child lies in its parent, children follow each other, and no span begins or ends with a blank.
void check_spans(const Parsed& parsed, NodeId id) {
    const Node& node = parsed.ast[id];
    const std::string text = parsed.text(node.span);
    if (node.kind != NodeKind::File && !text.empty()) {
        CHECK(text.find_first_of(" \t\r\n") != 0);
        CHECK(text.find_last_of(" \t\r\n") != text.size() - 1);
    }
    CHECK(node.name_span.begin >= node.span.begin);
    CHECK(node.name_span.end <= node.span.end);
    for (const NodeId child : parsed.ast.children_of(id)) {
        if (child == kNoNode) continue;
        CHECK(parsed.ast[child].span.begin >= node.span.begin);
        CHECK(parsed.ast[child].span.end <= node.span.end);
        check_spans(parsed, child);
    }
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("all kernels parse without a message, with exact spans") {
        const auto paths = kiln_files("tests/kernels");
        REQUIRE(paths.size() == 24);
        std::size_t kernels = 0;
        for (const auto& path : paths) {
            CAPTURE(path.filename().string());
            const Parsed parsed(read_file(path));
            CHECK(parsed.messages() == "");
            check_spans(parsed, parsed.ast.root);
            for (const NodeId id : parsed.ast.children_of(parsed.ast.root))
                kernels += parsed.ast[id].kind == NodeKind::Kernel;
        }
        CHECK(kernels == 95);
    }

    TEST_CASE("precedence") {
        CHECK(expression("a + b * c - d") == "(Chain + - (Name `a`) (Chain * (Name `b`) (Name `c`)) (Name `d`))");
        CHECK(expression("a * b + c * d") ==
              "(Chain + (Chain * (Name `a`) (Name `b`)) (Chain * (Name `c`) (Name `d`)))");
        CHECK(expression("a || b && c == d | e ^ f & g << h + i * -j") ==
              "(Chain || (Name `a`) (Chain && (Name `b`) (Chain == (Name `c`) (Chain | (Name `d`) (Chain ^ (Name `e`) "
              "(Chain & (Name `f`) (Chain << (Name `g`) (Chain + (Name `h`) (Chain * (Name `i`) (Prefix `-` (Name "
              "`j`)))))))))))");
        CHECK(expression("a * b << c || d") ==
              "(Chain || (Chain << (Chain * (Name `a`) (Name `b`)) (Name `c`)) (Name `d`))");
        CHECK(expression("a < b && b <= c") ==
              "(Chain && (Chain < (Name `a`) (Name `b`)) (Chain <= (Name `b`) (Name `c`)))");
        CHECK(expression("a - (b - c)") == "(Chain - (Name `a`) (Chain - (Name `b`) (Name `c`)))");
        CHECK(expression("-a[0]") == "(Prefix `-` (Suffixed (Name `a`) (Index (Number `0`))))");
        CHECK(expression("- !~x") == "(Prefix `-!~` (Name `x`))");
        CHECK(expression("(a < b) == (c < d)") ==
              "(Chain == (Chain < (Name `a`) (Name `b`)) (Chain < (Name `c`) (Name `d`)))");
    }

    TEST_CASE("operands, calls and index lists") {
        CHECK(expression("0xFF + 1_000 + 0b101 + 1.5e-5") ==
              "(Chain + + + (Number `0xFF`) (Number `1_000`) (Number `0b101`) (Number `1.5e-5`))");
        CHECK(expression("(a, true, \"t\\\"{}\")") == "(Tuple (Name `a`) (Boolean `true`) (String `t\\\"{}`))");
        CHECK(expression("m.f(x, axis = 1)[_, :]") ==
              "(Suffixed (Name `m`) (Member `f`) (Call (Name `x`) (Named `axis` (Number `1`))) (Index (NewAxis `_`) "
              "(All `:`)))");
        CHECK(expression("x[i:+B, 0..N, .., j, fill = -inf]") ==
              "(Suffixed (Name `x`) (Index (Slice (Name `i`) (Name `B`)) (Between (Number `0`) (Name `N`)) (Rest `..`) "
              "(Name "
              "`j`) (Named `fill` (Prefix `-` (Name `inf`)))))");
        CHECK(expression("f()") == "(Suffixed (Name `f`) (Call))");
        CHECK(expression("f(a == b)") == "(Suffixed (Name `f`) (Call (Chain == (Name `a`) (Name `b`))))");
    }

    TEST_CASE("statements") {
        CHECK(statements("let a, _ = f()") ==
              "(Let (Binding - (Name `a`) (Discard `_`)) (Suffixed (Name `f`) (Call)))");
        CHECK(statements("var x: f32[A, _] = 0") ==
              "(Var (Binding (NamedType (Path `f32`) (Sizes (Name `A`) (AnySize `_`))) (Name `x`)) (Number `0`))");
        CHECK(statements("if a { } else if b { } else { break }") ==
              "(If (Name `a`) (Block) (Name `b`) (Block) (Block (Break)))");
        CHECK(statements("static if a { }\nstatic for j in 0 .. 2 by 1 { }\nstatic assert a, \"m {}\", b") ==
              "(StaticIf (Name `a`) (Block)) (StaticFor `j` (Range (Number `0`) (Number `2`) (Number `1`)) (Block)) "
              "(StaticAssert (Condition (Name `a`) (String `m {}`) (Name `b`)))");
        CHECK(statements("static assert a") == "(StaticAssert (Condition (Name `a`) -))");
        CHECK(statements("while a { continue }; return; return b") ==
              "(While (Name `a`) (Block (Continue))) (Return -) (Return (Name `b`))");
        CHECK(statements("_, a[0], m.b = f()") ==
              "(Assign `=` (Discard `_`) (Suffixed (Name `a`) (Index (Number `0`))) (Suffixed (Name `m`) (Member `b`)) "
              "(Suffixed (Name `f`) (Call)))");
        CHECK(statements("a >>= 1\nf(a)\nx") ==
              "(Assign `>>=` (Name `a`) (Number `1`)) (ExpressionStatement (Suffixed (Name `f`) (Call (Name `a`)))) "
              "(ExpressionStatement (Name `x`))");
        CHECK(statements("const n: int = 3\nfn g(const x: f32 = 1) = x") ==
              "(Constant `n` (NamedType (Path `int`) -) (Number `3`)) (Function `g` - (Parameters (Parameter! `x` "
              "(NamedType (Path `f32`) -) (Number `1`))) - (Name `x`))");
    }

    TEST_CASE("statements need an end between them") {
        const Parsed parsed("fn f() {\n    static if a { } static for j in 0 .. 2 { }\n}");
        CHECK(parsed.messages() == "error: 2:21: expected the end of the statement, found `static`\n");
    }

    TEST_CASE("types") {
        CHECK(tree_of("type T = fn((f32, m . i8[4]), (bool)) -> u8") ==
              "(File (TypeAlias `T` (FunctionType (NamedType (Path `u8`) -) (TupleType (NamedType (Path `f32`) -) "
              "(NamedType (Path `m.i8`) (Sizes (Number `4`)))) (NamedType (Path `bool`) -))))");
        CHECK(tree_of("fn f(a: inout m.T[_, N + 1], out: out f32[2], b: out) = a") ==
              "(File (Function `f` - (Parameters (Parameter `a` (TensorType `inout` (Path `m.T`) (Sizes (AnySize `_`) "
              "(Chain + (Name `N`) (Number `1`)))) -) (Parameter `out` (TensorType `out` (Path `f32`) (Sizes (Number "
              "`2`))) -) (Parameter `b` (NamedType (Path `out`) -) -)) - (Name `a`)))");
    }

    TEST_CASE("a kernel with every clause") {
        CHECK(
            tree_of("import \"a.kiln\" as a\n"
                    "kernel k<N: int = 8 >> 1, f: fn(f32) -> f32 = a.g>(x: in f32[N] = none)\n"
                    "  tune B in {1, 2}, C in {3}\n  where B < C, true\n  require N > 0, \"{}\", N\n"
                    "  allow flush, approx\n  schedule cpu { w in {4, 8}, order = rows }\n"
                    "  scratch s: f32[N] = 0\n  reference a.r within 0, 1\n  let z = N\n  const q = 1\n"
                    "grid i in 0 .. N by B, j in 0 .. 2 { }\ngrid one in 0 .. 1 { }") ==
            "(File (Import `a` (String `a.kiln`)) (Kernel `k` (Generics (Generic `N` (NamedType (Path `int`) -) (Chain "
            ">> (Number `8`) (Number `1`))) (Generic `f` (FunctionType (NamedType (Path `f32`) -) (NamedType (Path "
            "`f32`) -)) (Suffixed (Name `a`) (Member `g`)))) (Parameters (Parameter `x` (TensorType `in` (Path `f32`) "
            "(Sizes (Name `N`))) (Name `none`))) (Clauses (Tune (Tunable `B` (Number `1`) (Number `2`)) (Tunable `C` "
            "(Number `3`))) (Where (Chain < (Name `B`) (Name `C`)) (Boolean `true`)) (Require (Condition (Chain > "
            "(Name "
            "`N`) (Number `0`)) (String `{}`) (Name `N`))) (Allow (Name `flush`) (Name `approx`)) (Schedule `cpu` "
            "(Setting! `w` (Number `4`) (Number `8`)) (Setting `order` (Name `rows`))) (Scratch `s` (NamedType (Path "
            "`f32`) (Sizes (Name `N`))) (Number `0`)) (Reference (Path `a.r`) (Number `0`) (Number `1`)) (Let (Binding "
            "- "
            "(Name `z`)) (Name `N`)) (Constant `q` - (Number `1`))) (Phases (Phase (Axes (Axis `i` (Range (Number `0`) "
            "(Name `N`) (Name `B`))) (Axis `j` (Range (Number `0`) (Number `2`) -))) (Block)) (Phase (Axes (Axis `one` "
            "(Range (Number `0`) (Number `1`) -))) (Block)))))");
    }

    TEST_CASE("places of nodes and of their texts") {
        const Parsed parsed("fn f() {\n    var a: f32[2]   = (x + 1) * g( y )  [0] // c\n    - m . n\n}  \n");
        // The last line goes on from the one above.
        CHECK(parsed.messages() == "");
        const auto spelled = [&](NodeKind kind) { return parsed.text(only(parsed.ast, kind).span); };
        CHECK(spelled(NodeKind::Var) == "var a: f32[2]   = (x + 1) * g( y )  [0] // c\n    - m . n");
        CHECK(spelled(NodeKind::Binding) == "a: f32[2]");
        CHECK(spelled(NodeKind::NamedType) == "f32[2]");
        CHECK(spelled(NodeKind::Sizes) == "[2]");
        CHECK(spelled(NodeKind::Call) == "( y )");
        CHECK(spelled(NodeKind::Index) == "[0]");
        CHECK(spelled(NodeKind::Member) == ". n");
        CHECK(parsed.text(only(parsed.ast, NodeKind::Member).name_span) == "n");
        CHECK(parsed.text(only(parsed.ast, NodeKind::Function).name_span) == "f");
        CHECK(spelled(NodeKind::Block) == "{\n    var a: f32[2]   = (x + 1) * g( y )  [0] // c\n    - m . n\n}");
        std::vector<std::string> chains;
        for (const Node& node : parsed.ast.nodes) {
            if (node.kind == NodeKind::Chain) chains.push_back(parsed.text(node.span));
        }
        CHECK(chains ==
              std::vector<std::string>{"x + 1", "(x + 1) * g( y )  [0]", "(x + 1) * g( y )  [0] // c\n    - m . n"});
    }

    TEST_CASE("documentation belongs to the declaration directly below it") {
        const Parsed parsed(
            "/// one\n/// two\nfn f() = 1 /// not\n/// far\n\nconst a = 1\n// plain\n/// b's\nconst b = 2\n");
        CHECK(parsed.messages() == "");
        REQUIRE(parsed.ast.docs.size() == 2);
        CHECK(parsed.text(parsed.ast.docs[0].span) == "/// one\n/// two");
        CHECK(parsed.ast[parsed.ast.docs[0].declaration].text == "f");
        CHECK(parsed.text(parsed.ast.docs[1].span) == "/// b's");
        CHECK(parsed.ast[parsed.ast.docs[1].declaration].text == "b");
    }

    TEST_CASE("an error leaves an Error node and the rest of the file") {
        const Parsed parsed("fn f() {\n    let = 3\n    return 1\n}\nfn g(x) = 1\nconst c = 2\n");
        CHECK(parsed.diagnostics.error_count() == 2);
        CHECK(tree_text(parsed.ast) ==
              "(File (Function `f` - (Parameters) - (Block (Error) (Return (Number `1`)))) (Error) (Constant `c` - "
              "(Number "
              "`2`)))");
    }

    TEST_CASE("escapes") {
        CHECK(unescape("a\\n\\t\\\"\\\\b") == "a\n\t\"\\b");
        CHECK(unescape("") == "");
    }
}

}  // namespace kiln::dsl
