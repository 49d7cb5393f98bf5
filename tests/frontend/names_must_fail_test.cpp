#include <doctest/doctest.h>

#include <set>

#include "frontend/diagnostics.h"
#include "frontend/program.h"
#include "tests/dsl/must_fail_program.h"

namespace kiln::frontend {

namespace {

constexpr std::string_view kNamesFolder = "tests/must_fail/names";

struct NameRefusal {
    support::Diagnostics diagnostics;
    Program program;

    explicit NameRefusal(const std::filesystem::path& path)
        : program(load_program(path.filename().string(), reader(path), diagnostics)) {}

    /// Serves the folder of `path`, so that messages name files without that folder.
    static FileReader reader(const std::filesystem::path& path) {
        return [folder = path.parent_path()](const std::string& name) { return frontend::read_file(folder / name); };
    }
};

}  // namespace

TEST_SUITE("must_fail") {
    TEST_CASE("each program with wrong names gets exactly its messages, at their places") {
        const auto paths = dsl::kiln_files(kNamesFolder);
        REQUIRE(paths.size() >= 18);
        for (const auto& path : paths) {
            CAPTURE(path.filename().string());
            const std::string expected = dsl::expected_messages(dsl::read_file(path));
            CHECK(!expected.empty());
            const NameRefusal refusal(path);
            CHECK(dsl::reported_messages(refusal.diagnostics, refusal.program.sources) == expected);
        }
    }

    TEST_CASE("each row of the names section of the table of diagnostics is provoked by a program") {
        std::set<std::string_view> provoked;
        for (const auto& path : dsl::kiln_files(kNamesFolder)) {
            const NameRefusal refusal(path);
            for (const auto& diagnostic : refusal.diagnostics.all()) provoked.insert(diagnostic.kind->name);
        }
        std::size_t rows = 0;
        for (const support::DiagnosticKind* kind : diagnostics::kDiagnosticKinds) {
            CAPTURE(kind->name);
            CHECK(provoked.count(kind->name) == 1);
            ++rows;
            if (kind == &diagnostics::kTooManyBounds) break;  // the last of the section
        }
        CHECK(rows >= 50);
    }

    TEST_CASE("no message and no hint ends with a stop") {
        for (const auto& path : dsl::kiln_files(kNamesFolder)) {
            const NameRefusal refusal(path);
            for (const auto& diagnostic : refusal.diagnostics.all()) {
                CAPTURE(diagnostic.message);
                CHECK(!diagnostic.message.ends_with('.'));
                CHECK(!diagnostic.hint.ends_with('.'));
            }
        }
    }
}

}  // namespace kiln::frontend
