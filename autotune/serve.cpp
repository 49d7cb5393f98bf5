#include "autotune/serve.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace kiln::autotune {

namespace {

/// Lines of the input, read by a thread of their own, so that the end of the input ends the process at once.
class Lines {
public:
    explicit Lines(int input) : reader_([this, input] { read_all(input); }) { reader_.detach(); }

    std::string next() {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [&] { return !lines_.empty(); });
        std::string line = std::move(lines_.front());
        lines_.pop_front();
        return line;
    }

private:
    void read_all(int input) {
        std::string line;
        char bytes[4096];
        while (true) {
            const ssize_t count = ::read(input, bytes, sizeof bytes);
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) ::_exit(0);
            for (ssize_t i = 0; i < count; ++i) {
                if (bytes[i] != '\n') {
                    line += bytes[i];
                    continue;
                }
                const std::lock_guard lock(mutex_);
                lines_.push_back(std::move(line));
                line.clear();
                ready_.notify_one();
            }
        }
    }

    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<std::string> lines_;
    std::thread reader_;
};

void write_line(int output, const Answer& answer) {
    const std::string line = to_line(answer) + "\n";
    for (std::size_t at = 0; at < line.size();) {
        const ssize_t count = ::write(output, line.data() + at, line.size() - at);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) ::_exit(0);
        at += static_cast<std::size_t>(count);
    }
}

/// Ends with its parent even while stopped, leaves no core files, and prints nowhere.
void settle() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::signal(SIGPIPE, SIG_IGN);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
}

Answer answer_of(TrialRunner& runner, const std::string& line, const StageReport& report) {
    const std::optional<TrialRequest> request = parse_request(line);
    if (!request) return Fatal{"the request is damaged"};
    try {
        return runner.run(*request, report);
    } catch (const std::exception& error) {
        return Fatal{error.what()};
    }
}

}  // namespace

int serve(int input, int output, const MakeRunner& make) {
    const int answers = ::fcntl(output, F_DUPFD_CLOEXEC, 3);
    const int requests = ::fcntl(input, F_DUPFD_CLOEXEC, 3);
    if (answers < 0 || requests < 0) return 1;
    settle();
    // Never destroyed: its reader waits for input until the process ends.
    Lines& lines = *new Lines(requests);
    std::unique_ptr<TrialRunner> runner;
    try {
        const std::optional<Job> job = parse_job(lines.next());
        if (!job) throw std::runtime_error("the job is damaged");
        runner = make(*job);
    } catch (const std::exception& error) {
        write_line(answers, Fatal{error.what()});
        return 1;
    }
    write_line(answers, Ready{runner->device()});
    while (true) {
        write_line(answers,
                   answer_of(*runner, lines.next(), [&](const char* stage) { write_line(answers, Stage{stage}); }));
    }
}

}  // namespace kiln::autotune
