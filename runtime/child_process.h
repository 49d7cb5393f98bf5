// A program run to its end in a process of its own, so that neither its crash nor its hang is ours.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace kiln::runtime {

struct ChildResult {
    enum class End {
        exited,     ///< with `code`
        signalled,  ///< by the signal `code`: it crashed
        timed_out,  ///< and was killed, with everything that it had started
        not_started,
    };
    End end = End::not_started;
    int code = 0;
    std::string output;  ///< standard output and error together; why it did not start

    bool succeeded() const { return end == End::exited && code == 0; }
    /// "exited with 1", "was ended by signal 11", "took longer than 60 seconds", ...
    std::string how_it_ended() const;
};

/// Runs words[0], looked for in PATH if it has no slash, with standard input empty, in a process group of its own.
/// `environment` is all that it gets: "NAME=value" each.
ChildResult run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                        std::chrono::seconds limit);

}  // namespace kiln::runtime
