#include <doctest/doctest.h>

#include <set>

#include "dsl/diagnostics.h"
#include "dsl/parse.h"
#include "tests/dsl/must_fail_program.h"

namespace kiln::dsl {

namespace {

constexpr std::string_view kFolder = "tests/must_fail/syntax";

struct Refusal {
    support::SourceMap sources;
    support::Diagnostics diagnostics;

    explicit Refusal(const std::filesystem::path& path) {
        const std::uint32_t source = sources.add(path.filename().string(), read_file(path));
        parse(sources, source, diagnostics);
    }
};

}  // namespace

TEST_SUITE("must_fail") {
    TEST_CASE("each broken program gets exactly its messages, at their places") {
        const auto paths = kiln_files(kFolder);
        REQUIRE(paths.size() >= 20);
        for (const auto& path : paths) {
            CAPTURE(path.filename().string());
            const std::string expected = expected_messages(read_file(path));
            CHECK(!expected.empty());
            const Refusal refusal(path);
            CHECK(reported_messages(refusal.diagnostics, refusal.sources) == expected);
        }
    }

    TEST_CASE("each row of the table of diagnostics is provoked by a program") {
        std::set<std::string_view> provoked;
        for (const auto& path : kiln_files(kFolder)) {
            const Refusal refusal(path);
            for (const support::Diagnostic& diagnostic : refusal.diagnostics.all())
                provoked.insert(diagnostic.kind->name);
        }
        for (const support::DiagnosticKind* kind : kDiagnosticKinds) {
            CAPTURE(kind->name);
            CHECK(provoked.count(kind->name) == 1);
        }
    }
}

}  // namespace kiln::dsl
