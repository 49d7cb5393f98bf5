// A worker whose trials do what the tests ask for, in a real process: be fast, be wrong, crash, hang. The
// configuration's X says which; every trial is a line in the file that the first argument names.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "autotune/serve.h"
#include "tests/programs/fake_trials.h"

namespace {

using kiln::autotune::TrialAction;
using kiln::autotune::TrialRequest;
using kiln::autotune::TrialResult;
using kiln::autotune::Verdict;
namespace fake = kiln::tests::fake;

class FakeTrials final : public kiln::autotune::TrialRunner {
public:
    explicit FakeTrials(std::string log) : log_(std::move(log)) {}

    std::string device() const override { return "fake"; }

    TrialResult run(const TrialRequest& request, const kiln::autotune::StageReport& report) override {
        const int x = std::stoi(request.tunables.at("X"));
        report("compiling");
        if (request.action == TrialAction::Compile) return {};
        note(x, request.action);
        if (lost_) return {Verdict::Refused, "the device was lost before this trial", {}, 0, 0, true};
        if (x == fake::kLosesDevice) {
            lost_ = true;
            return {Verdict::Refused, "the device was lost", {}, 0, 0, true};
        }
        if (x == fake::kAbortsInCompiler) std::abort();
        if (x == fake::kRefusedByCompiler) return {Verdict::FailedToCompile, "the compiler refused it"};
        report("verifying");
        if (x == fake::kCrashes) ::raise(SIGSEGV);
        if (x == fake::kHangs) {
            while (true) __asm__ volatile("");
        }
        if (x == fake::kWrong) return {Verdict::Wrong, "`y[7]`: 1, reference 2, allowed 0"};
        if (x == fake::kWrongOnSecondInput && request.action == TrialAction::Confirm) {
            return {Verdict::Wrong, "`y[7]`: 1, reference 2, allowed 0"};
        }
        if (x == fake::kTooLarge) return {Verdict::Refused, "out of memory"};
        if (x == fake::kLeaves) ::_exit(0);
        if (x == fake::kBabbles) babble();
        if (x == fake::kReferenceFails) throw std::runtime_error("the reference cannot be run: no such size");
        report("timing");
        if (x == fake::kSlow) std::this_thread::sleep_for(std::chrono::milliseconds(20));
        TrialResult result{Verdict::Verified, ""};
        result.timing = {fake::seconds(x), fake::seconds(x) * 0.01, 10, false};
        return result;
    }

private:
    void note(int x, TrialAction action) const {
        const int file = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        const std::string line = std::to_string(x) + (action == TrialAction::Confirm ? " confirm\n" : " try\n");
        if (::write(file, line.data(), line.size()) < 0) std::abort();
        ::close(file);
    }

    /// Writes what is no answer wherever it can.
    static void babble() {
        for (int file = 1; file < 16; ++file) {
            if (::write(file, "}{ what\n", 8) < 0) continue;
        }
    }

    std::string log_;
    bool lost_ = false;
};

}  // namespace

int main(int, char** arguments) {
    return kiln::autotune::serve(STDIN_FILENO, STDOUT_FILENO, [&](const kiln::autotune::Job&) {
        return std::make_unique<FakeTrials>(arguments[1]);
    });
}
