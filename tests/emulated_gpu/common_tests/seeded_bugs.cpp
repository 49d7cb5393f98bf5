#include "tests/emulated_gpu/common_tests/seeded_bugs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>

namespace emulated_gpu {
namespace {

std::string edited(std::string text, const SeededBug& bug) {
    for (const Edit& edit : bug.edits) {
        const size_t at = text.find(edit.from);
        if (at == std::string::npos) FAIL("the edit of '" << bug.name << "' finds nothing to change: " << edit.from);
        text.replace(at, edit.from.size(), edit.to);
    }
    return text;
}

bool is_caught(const SeededBug& bug, const Outcome& outcome) {
    if (bug.by_value) return outcome.wrong_values && !outcome.reported;
    if (!outcome.reported) return false;
    const bool named = outcome.report.has_place();
    const bool expected = outcome.report.kind == bug.kind ||
                          std::find(bug.also.begin(), bug.also.end(), outcome.report.kind) != bug.also.end();
    return named && expected;
}

}  // namespace

void check_seeded_bugs(const std::string& correct, const std::vector<SeededBug>& bugs,
                       const std::function<Outcome(const std::string&, uint64_t seed)>& run) {
    int caught = 0;
    int missed = 0;
    int false_reports = 0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
        const Outcome outcome = run(correct, seed);
        if (!outcome.reported && !outcome.wrong_values) continue;
        ++false_reports;
        std::printf("false, seed %d: %s\n", static_cast<int>(seed),
                    outcome.reported ? outcome.report.text().c_str() : "wrong values");
    }
    for (const SeededBug& bug : bugs) {
        const Outcome outcome = run(edited(correct, bug), 0);
        if (is_caught(bug, outcome)) {
            ++caught;
            continue;
        }
        ++missed;
        std::printf("missed: %s: %s\n", bug.name.c_str(),
                    outcome.reported       ? outcome.report.text().c_str()
                    : outcome.wrong_values ? "wrong values"
                                           : "nothing");
    }
    std::printf("%d caught, %d missed, %d false\n", caught, missed, false_reports);
    std::fflush(stdout);
    CHECK(caught == static_cast<int>(bugs.size()));
    CHECK(false_reports == 0);
}

}  // namespace emulated_gpu
