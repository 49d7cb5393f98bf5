#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/emulated_gpu/common/report.h"

namespace emulated_gpu {

/// An edit of a correct kernel that makes it wrong: the first `from` becomes `to`.
struct Edit {
    std::string from;
    std::string to;
};
struct SeededBug {
    std::string name;
    std::vector<Edit> edits;
    bool by_value = false;  // no check can see it: the values must be wrong
    FaultKind kind = FaultKind::Trap;
    std::vector<FaultKind> also;  // what another check may call it first
};

/// What a run of one kernel showed.
struct Outcome {
    bool reported = false;
    Report report;
    bool wrong_values = false;
};

/// Runs the correct kernel and every bug; `run` compiles and runs a text in one mode (0: in order, else a seed).
/// Prints each bug missed and, last, `N caught, N missed, N false`, and fails the test unless all were caught.
void check_seeded_bugs(const std::string& correct, const std::vector<SeededBug>& bugs,
                       const std::function<Outcome(const std::string&, uint64_t seed)>& run);

}  // namespace emulated_gpu
