// docs/language.md as its readers try it: each kernel in it is run by `kiln check`, which carries out its asserts, and
// each message that section 13 promises is the one that comes.
#include <algorithm>
#include <regex>
#include <sstream>

#include "tests/tools/shell.h"

namespace kiln::test {
namespace {

std::string language_text() {
    std::ifstream file(std::string(KILN_SOURCE_DIR) + "/docs/language.md", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

/// "message: hint" of the first diagnostic of a text.
std::string first_message(const Shell& shell, const std::string& text) {
    shell.write("k.kiln", text);
    const Json diagnostics = shell.kiln({"check", "k.kiln", "--json"}).json();
    if (diagnostics.empty()) return "nothing";
    std::string message = diagnostics[0]["message"];
    if (diagnostics[0].contains("hint")) message += ": " + diagnostics[0]["hint"].get<std::string>();
    return message;
}

struct Row {
    std::string written, text;  ///< as the table has it; a program in which that is written
};

const Row kRows[] = {
    {"`x[i :+ BM]`, x a matrix", R"(kernel k(x: in f32[M, N], y: out f32[M])
  tune BM in {8}
grid i in 0 .. M by BM { y[i :+ BM] = sum(x[i :+ BM], axis = 1) }
)"},
    {"`x[i, :]`, N run-time", R"(kernel k(x: in f32[M, N], y: out f32[M])
grid i in 0 .. M { y[i] = sum(x[i, :], axis = 0) }
)"},
    {"`acc + bias[j :+ BN]`", R"(kernel k(bias: in f32[N], y: out f32[M, N])
  tune BM in {8}, BN in {16}
grid i in 0 .. M by BM, j in 0 .. N by BN {
    let acc: f32[BM, BN] = 0
    y[i :+ BM, j :+ BN] = acc + bias[j :+ BN]
}
)"},
    {"`s / N`", R"(kernel k(x: in f32[N], y: out f32[1])
grid i in 0 .. 1 {
    let s = x[0]
    y[i] = s / N
}
)"},
    {"`a + b`, f16 and f32", "fn f(a: f16, b: f32) -> f32 = a + b\n"},
    {"`if t > 0`, t a tile", R"(kernel k(x: in f32[N], y: out f32[N])
grid i in 0 .. N by 4 {
    let t = x[i :+ 4]
    if t > 0 { y[i :+ 4] = t }
}
)"},
    {"wider tile into a `var`", R"(kernel k(x: in f32[M, N], y: out f32[M, N])
grid i in 0 .. 1 {
    var keep = iota(64)[_, :] < N
    keep = keep && iota(8)[:, _] < M
    y[0 :+ 8, 0 :+ 64] = select(keep, x[0 :+ 8, 0 :+ 64], 0)
}
)"},
    {"`max(x[j :+ B])`", R"(kernel k(x: in f32[N], y: out f32[1])
  tune B in {8}
grid i in 0 .. 1 {
    var m: f32 = -inf
    for j in 0 .. N by B { m = max(m, max(x[j :+ B])) }
    y[i] = m
}
)"},
    {"closure over a `var`", R"(kernel k(x: in f32[N], y: out f32[N])
grid i in 0 .. N by 4 {
    var m: f32 = 0
    fn less(a: f32) -> f32 = a - m
    m = 1
    y[i :+ 4] = less(x[i :+ 4])
}
)"},
    {"`t[p]`, p run-time", R"(kernel k(x: in f32[N], y: out f32[N], p: int)
grid i in 0 .. N by 4 {
    let t = x[i :+ 4]
    y[i] = t[p]
}
)"},
    {"`c[i, j] += v`", R"(kernel k(x: in f32[N], c: inout f32[N, N])
grid i in 0 .. N, j in 0 .. N {
    let v = x[i]
    c[i, j] += v
}
)"},
    {"reading an `out` tensor", "kernel k(c: out f32[N])\ngrid i in 0 .. N { c[i] = c[i] + 1 }\n"},
    {"`return` in a loop", "fn f(n: int) -> int {\n    for i in 0 .. n { return i }\n    return 0\n}\n"},
    {"unknown name", "fn foo(x: f32) -> f32 = x\nfn f(x: f32) -> f32 = fooo(x)\n"},
    {"`schedule nvidia { warp in {4} }`", R"(kernel k(y: out f32[N])
  schedule nvidia { warp in {4} }
grid i in 0 .. N { y[i] = 0 }
)"},
};

/// Rows that need a request, a launch or a device; each is in a test of its own.
const char* const kRowsElsewhere[] = {"generic not deduced", "no legal configuration",   "argument of another size",
                                      "in-place residual",   "tile too large for a GPU", "reference exceeded"};

TEST_SUITE("unit") {
    TEST_CASE("each kernel in docs/language.md does what it asserts") {
        const Shell shell;
        const std::string text = language_text();
        std::size_t count = 0;
        for (std::size_t at = text.find("```kiln "); at != std::string::npos; at = text.find("```kiln ", at + 1)) {
            const std::size_t line_end = text.find('\n', at), end = text.find("```", line_end);
            const std::string source = text.substr(line_end + 1, end - line_end - 1);
            std::vector<std::string> words = words_of(text.substr(at + 8, line_end - at - 8));
            CAPTURE(words.front());
            shell.write("example.kiln", source);
            CHECK(shell.kiln({"fmt", "--check", "example.kiln"}).code == 0);
            words.insert(words.begin(), {"check", "example.kiln"});
            const Outcome outcome = shell.kiln(words);
            CHECK_MESSAGE(outcome.code == 0, outcome.out << outcome.error);
            words[0] = "run";
            CHECK_MESSAGE(shell.kiln(words).code == 0, "the CPU does not run it");
            ++count;
        }
        CHECK(count >= 6);
    }

    TEST_CASE("each message that docs/language.md promises comes") {
        const Shell shell;
        std::istringstream lines(language_text());
        std::size_t rows = 0;
        bool in_table = false;
        for (std::string line; std::getline(lines, line);) {
            if (line == "| they write | message: hint |") in_table = true;
            if (line.empty()) in_table = false;
            std::smatch cells;
            if (!in_table || !std::regex_match(line, cells, std::regex("\\| (.*) \\| (.*) \\|"))) continue;
            const std::string written = cells[1];
            if (written == "they write") continue;
            ++rows;
            CAPTURE(written);
            if (std::count(std::begin(kRowsElsewhere), std::end(kRowsElsewhere), written) == 1) continue;
            const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                          [&](const Row& each) { return each.written == written; });
            REQUIRE(row != std::end(kRows));
            const std::string promised = std::regex_replace(cells[2].str(), std::regex(" \\(a warning\\)$"), "");
            CHECK(first_message(shell, row->text) == promised);
        }
        CHECK(rows == std::size(kRows) + std::size(kRowsElsewhere));
    }
}

}  // namespace
}  // namespace kiln::test
