// The page of `kiln report`: well formed, with nothing from elsewhere, and its numbers those of the rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kiln/kiln.hpp"
#include "runtime/state.h"
#include "runtime/tuning_problem.h"
#include "tests/tools/shell.h"

namespace kiln::test {
namespace {

using runtime::Measurement;
using runtime::Verdict;

struct Tag {
    std::string name;
    std::map<std::string, std::string> attributes;
    std::string text;  ///< up to the next tag
};

/// Reads markup as XML, strictly: every attribute quoted, every tag closed in order. The tags in the order they open.
class Markup {
public:
    explicit Markup(const std::string& text) : text_(text) {
        while (at_ < text_.size()) step();
        CHECK_MESSAGE(open_.empty(), "not closed: " << (open_.empty() ? "" : open_.back()));
    }
    std::vector<Tag> named(const std::string& name) const {
        std::vector<Tag> found;
        std::copy_if(tags_.begin(), tags_.end(), std::back_inserter(found),
                     [&](const Tag& tag) { return tag.name == name; });
        return found;
    }

private:
    void step() {
        if (text_[at_] != '<') {
            const std::size_t end = std::min(text_.find('<', at_), text_.size());
            const std::string text = text_.substr(at_, end - at_);
            check_entities(text);
            if (!tags_.empty()) tags_.back().text += text;
            at_ = end;
            return;
        }
        const std::size_t end = text_.find('>', at_);
        REQUIRE_MESSAGE(end != std::string::npos, "a tag without an end");
        std::string inside = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        if (inside.starts_with('/')) {
            REQUIRE_MESSAGE(!open_.empty(), inside);
            CHECK(open_.back() == inside.substr(1));
            open_.pop_back();
            return;
        }
        const bool is_empty = inside.ends_with('/');
        if (is_empty) inside.pop_back();
        Tag tag;
        std::size_t at = inside.find(' ');
        tag.name = inside.substr(0, at);
        while (at < inside.size() && inside.find_first_not_of(' ', at) != std::string::npos) {
            at = inside.find_first_not_of(' ', at);
            const std::size_t equals = inside.find("=\"", at), close = inside.find('"', equals + 2);
            REQUIRE_MESSAGE(equals != std::string::npos, inside);
            REQUIRE_MESSAGE(close != std::string::npos, inside);
            const std::string name = inside.substr(at, equals - at),
                              value = inside.substr(equals + 2, close - equals - 2);
            check_entities(value);
            CHECK_MESSAGE(tag.attributes.emplace(name, value).second, "twice: " << name);
            at = close + 1;
        }
        if (!is_empty) open_.push_back(tag.name);
        tags_.push_back(std::move(tag));
    }

    static void check_entities(const std::string& text) {
        for (std::size_t at = 0; (at = text.find('&', at)) != std::string::npos; ++at) {
            bool known = false;
            for (const char* entity : {"&lt;", "&gt;", "&amp;", "&quot;"})
                known |= text.compare(at, std::strlen(entity), entity) == 0;
            CHECK_MESSAGE(known, text);
        }
    }

    const std::string& text_;
    std::size_t at_ = 0;
    std::vector<std::string> open_;
    std::vector<Tag> tags_;
};

std::vector<std::string> pieces(const std::string& text, const std::string& begin, const std::string& end) {
    std::vector<std::string> list;
    for (std::size_t at = 0; (at = text.find(begin, at)) != std::string::npos;) {
        const std::size_t last = text.find(end, at);
        REQUIRE(last != std::string::npos);
        list.push_back(text.substr(at, last + end.size() - at));
        at = last;
    }
    return list;
}

Measurement row(const std::string& block, Verdict verdict, double seconds, std::int64_t taken_ms) {
    const runtime::ModuleState module("kiln/vector_add.kiln", runtime::with_standard_library(frontend::read_file));
    Measurement row;
    row.problem.kernel = runtime::kernel_identity(module.program(), "vector_add");
    row.problem.name = "vector_add";
    row.problem.file = "kiln/vector_add.kiln";
    row.problem.generics = {{"T", "f32"}};
    row.problem.arguments = {{"a", "f32"}, {"b", "f32"}, {"y", "f32"}};
    row.problem.sizes = {{"N", 1000000}};
    row.device = runtime::describe_device(*Device::open("cpu").stream().backend());
    row.configuration = {{"BLOCK", {block, ""}}};
    row.build = runtime::tuning_build();
    row.verdict = verdict;
    row.reason = verdict == Verdict::Verified ? "" : "a < b && \"c\" > d";
    row.seconds = seconds;
    row.spread_seconds = seconds / 50;
    row.runs = verdict == Verdict::Verified ? 20 : 0;
    row.taken_ms = taken_ms;
    return row;
}

double number(const Tag& tag, const char* attribute) {
    return std::stod(tag.attributes.at(attribute));
}

}  // namespace

TEST_SUITE("tuner") {
    TEST_CASE("report: a page of well-formed charts, whose numbers are those of the rows") {
        const Shell shell;
        const std::vector<Measurement> rows = {
            row("256", Verdict::Verified, 4e-4, 1), row("512", Verdict::Crashed, 0, 2),
            row("1024", Verdict::Verified, 2e-4, 3), row("2048", Verdict::Wrong, 0, 4),
            row("512", Verdict::Verified, 3e-4, 5)};
        std::string lines;
        for (const Measurement& each : rows) lines += runtime::to_line(each) + "\n";
        shell.write("rows.jsonl", lines);
        const std::vector<std::string> environment = {"KILN_TUNING=" + shell.path("tuning.db")};
        REQUIRE(shell.kiln({"tuning", "import", "rows.jsonl"}, environment).code == 0);
        REQUIRE(shell.kiln({"report", "-o", "page.html"}, environment).code == 0);
        const std::string page = shell.read("page.html");
        for (const char* elsewhere : {"http:", "https:", "<script", "<link", "<img", "src=", "@import", "url("}) {
            CHECK_MESSAGE(page.find(elsewhere) == std::string::npos, elsewhere);
        }

        const std::vector<std::string> charts = pieces(page, "<svg", "</svg>");
        REQUIRE(charts.size() == 2);
        const Markup convergence(charts[0]), roofline(charts[1]);
        const std::vector<Tag> dots = convergence.named("circle");
        REQUIRE(dots.size() == 3);
        // Time grows upwards and linearly, trials go to the right.
        const double per_ms = (number(dots[0], "cy") - number(dots[1], "cy")) / 0.2;
        CHECK(per_ms < 0);
        CHECK(number(dots[2], "cy") == doctest::Approx(number(dots[1], "cy") + 0.1 * per_ms).epsilon(0.002));
        CHECK(number(dots[0], "cx") < number(dots[1], "cx"));
        CHECK(number(dots[1], "cx") < number(dots[2], "cx"));
        std::set<std::string> titles;
        for (const Tag& title : convergence.named("title")) titles.insert(title.text);
        CHECK(titles.contains("BLOCK=1024: 0.2 ms"));
        CHECK(titles.contains("BLOCK=512: a &lt; b &amp;&amp; &quot;c&quot; &gt; d"));
        CHECK(titles.size() == 5);
        // On the roofline every timed row, and the best once more.
        CHECK(roofline.named("circle").size() == 4);
        for (const std::string& chart : charts) CHECK(chart.find("nan") == std::string::npos);

        const std::vector<std::string> table = pieces(page, "<tr class=best>", "</table>");
        REQUIRE(table.size() == 1);
        std::vector<std::string> cells;
        for (const std::string& cell : pieces(table[0], "<td", "</td>"))
            cells.push_back(cell.substr(cell.find('>') + 1, cell.rfind("</td>") - cell.find('>') - 1));
        REQUIRE(cells.size() == 18);
        const std::vector<Measurement> best = {rows[2], rows[4], rows[0]};
        for (std::size_t i = 0; i < 3; ++i) {
            const std::string* line = &cells[6 * i];
            CHECK(line[0] == "<code>" + runtime::to_string(best[i].configuration) + "</code>");
            CHECK(std::stod(line[1]) == doctest::Approx(best[i].seconds * 1e3));
            CHECK(std::stod(line[2]) == doctest::Approx(2));
            CHECK(std::stod(line[3]) == doctest::Approx(best[0].seconds / best[i].seconds).epsilon(0.001));
            // One addition an element.
            CHECK(std::stod(line[4]) == doctest::Approx(1e6 / best[i].seconds / 1e9).epsilon(0.02));
            CHECK(line[5] == "verified");
        }
    }

    TEST_CASE("report: a store without rows, and a page that cannot be written, are errors") {
        const Shell shell;
        const std::vector<std::string> environment = {"KILN_TUNING=" + shell.path("tuning.db")};
        const Outcome empty = shell.kiln({"report"}, environment);
        CHECK(empty.code == 1);
        CHECK(empty.error.find("holds no rows") != std::string::npos);
        shell.write("rows.jsonl", runtime::to_line(row("256", Verdict::Verified, 4e-4, 1)) + "\n");
        REQUIRE(shell.kiln({"tuning", "import", "rows.jsonl"}, environment).code == 0);
        const Outcome nowhere = shell.kiln({"report", "-o", "no/such/page.html"}, environment);
        CHECK(nowhere.code == 1);
        CHECK(nowhere.error.find("no/such/page.html") != std::string::npos);
    }
}

}  // namespace kiln::test
