// The tables of diagnostics as a whole: a text says which row it is, and wrong programs are tested as much as right
// ones.
#include <doctest/doctest.h>

#include <cstring>
#include <map>

#include "dsl/diagnostics.h"
#include "frontend/diagnostics.h"
#include "ir/diagnostics.h"
#include "ir/findings.h"
#include "tests/dsl/must_fail_program.h"

namespace kiln::frontend {

namespace {

std::vector<const support::DiagnosticKind*> all_kinds() {
    std::vector<const support::DiagnosticKind*> kinds;
    const auto add = [&](const auto& table) { kinds.insert(kinds.end(), std::begin(table), std::end(table)); };
    add(dsl::kDiagnosticKinds);
    add(diagnostics::kDiagnosticKinds);
    add(ir::kDiagnosticKinds);
    add(ir::findings::kDiagnosticKinds);
    return kinds;
}

std::size_t count_lines(std::string_view text, std::string_view beginning) {
    std::size_t count = 0;
    for (std::size_t at = text.find(beginning); at != std::string_view::npos; at = text.find(beginning, at + 1)) {
        count += at == 0 || text[at - 1] == '\n' ? 1 : 0;
    }
    return count;
}

}  // namespace

TEST_SUITE("must_fail") {
    TEST_CASE("no two diagnostics share a text") {
        std::map<std::string_view, std::string_view> rows;
        for (const support::DiagnosticKind* kind : all_kinds()) {
            const auto [other, is_new] = rows.emplace(kind->text, kind->name);
            CAPTURE(kind->name);
            CAPTURE(other->second);
            CHECK(is_new);
        }
        CHECK(rows.size() >= 140);
    }

    TEST_CASE("no text of a diagnostic begins in upper case or ends with a stop") {
        for (const support::DiagnosticKind* kind : all_kinds()) {
            CAPTURE(kind->text);
            CHECK(!(kind->text.front() >= 'A' && kind->text.front() <= 'Z'));
            CHECK(kind->text.back() != '.');
        }
    }

    TEST_CASE("there is a message that must come for every three kernels that must work") {
        std::size_t messages = 0, kernels = 0;
        for (const char* folder : {"tests/must_fail/syntax", "tests/must_fail/names", "tests/must_fail/types"}) {
            for (const auto& path : dsl::kiln_files(folder))
                messages += count_lines(dsl::read_file(path), "// error: ");
        }
        const std::filesystem::path tests = std::filesystem::path(KILN_SOURCE_DIR) / "tests";
        for (const auto& entry : std::filesystem::recursive_directory_iterator(tests)) {
            const std::filesystem::path& path = entry.path();
            const bool is_text = path.extension() == ".kiln" || path.extension() == ".cpp" || path.extension() == ".h";
            if (!is_text || path.string().find("must_fail") != std::string::npos) continue;
            const std::string text = dsl::read_file(path);
            for (std::size_t at = text.find("kernel "); at != std::string::npos; at = text.find("kernel ", at + 1)) {
                const std::size_t end = text.find_first_not_of(
                    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", at + std::strlen("kernel "));
                kernels += end != std::string::npos && (text[end] == '(' || text[end] == '<') ? 1 : 0;
            }
        }
        MESSAGE(messages << " messages, " << kernels << " kernels");
        CHECK(kernels > 200);
        CHECK(messages * 3 >= kernels);
    }
}

}  // namespace kiln::frontend
