#include "autotune/worker.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "kiln/error.hpp"

extern "C" char** environ;

namespace kiln::autotune {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPatienceMilliseconds = 500;

/// A pipe whose ends no other child inherits.
struct Pipe {
    int ends[2] = {-1, -1};
    Pipe() {
        if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(ErrorKind::device, "no pipe to a worker process can be made");
    }
    int take(int end) { return std::exchange(ends[end], -1); }
    ~Pipe() {
        for (const int end : ends) {
            if (end >= 0) ::close(end);
        }
    }
};

/// The write to a worker that just died must not end this process.
void write_all(int file, const std::string& text) {
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
    for (std::size_t at = 0; at < text.size();) {
        const ssize_t count = ::write(file, text.data() + at, text.size() - at);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;  // the end of its output says the rest
        at += static_cast<std::size_t>(count);
    }
    ::sigpending(&pending);
    const timespec at_once{};
    if (sigismember(&pending, SIGPIPE) == 1 && sigismember(&before, SIGPIPE) == 0)
        ::sigtimedwait(&pipe, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool is_program(const std::filesystem::path& path) {
    return ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

Worker::Worker(std::vector<std::string> command, const Job& job) : command_(std::move(command)), job_(to_line(job)) {}

Worker::~Worker() {
    stop();
}

void Worker::start(double limit_seconds) {
    Pipe to, from;
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, to.ends[0], STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions, from.ends[1], STDOUT_FILENO);
    std::vector<char*> arguments;
    for (std::string& argument : command_) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    std::unique_lock lock(mutex_);
    int failed = interrupted_ ? ECANCELED : command_.empty() ? ENOENT : 0;
    if (failed == 0) {
        failed = ::posix_spawn(&pid_, command_.front().c_str(), &actions, nullptr, arguments.data(), environ);
    }
    if (failed != 0) pid_ = -1;
    lock.unlock();
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        throw Error(ErrorKind::device, fmt::format("the worker process `{}` does not start: {}",
                                                   command_.empty() ? "kiln" : command_.front(), ::strerror(failed)));
    }
    ++started_;
    input_ = to.take(1);
    output_ = from.take(0);
    received_.clear();
    // The child's ends must be closed here before the first read, or its death would not end our input.
    ::close(to.take(0));
    ::close(from.take(1));
    send(job_);
    std::string line;
    const Wait wait = receive(line, limit_seconds);
    const std::optional<Answer> answer = wait == Wait::Line ? parse_answer(line) : std::nullopt;
    if (answer && std::holds_alternative<Ready>(*answer)) return;
    std::string why = wait == Wait::TimedOut ? "did not answer in time"
                      : wait == Wait::End    ? reap()
                                             : "gave no sensible answer";
    stop();
    if (answer && std::holds_alternative<Fatal>(*answer)) {
        throw Error(ErrorKind::user, std::get<Fatal>(*answer).reason);
    }
    throw Error(ErrorKind::device, fmt::format("the worker process `{}` {}", command_.front(), why));
}

std::string Worker::reap() {
    const std::lock_guard lock(mutex_);
    if (pid_ < 0) return "ended";
    int status = 0;
    // Its output has ended, so it should be gone; one that is not is ended.
    for (int waited = 0; ::waitpid(pid_, &status, WNOHANG) == 0; ++waited) {
        if (waited == kPatienceMilliseconds) ::kill(pid_, SIGKILL);
        ::usleep(1000);
    }
    pid_ = -1;
    if (WIFSIGNALED(status)) {
        const char* name = ::sigabbrev_np(WTERMSIG(status));
        return fmt::format("was killed by SIG{} ({})", name == nullptr ? "?" : name, ::strsignal(WTERMSIG(status)));
    }
    return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

void Worker::stop() {
    {
        const std::lock_guard lock(mutex_);
        if (pid_ > 0) ::kill(pid_, SIGKILL);
    }
    reap();
    for (int* end : {&input_, &output_}) {
        if (*end >= 0) ::close(std::exchange(*end, -1));
    }
}

void Worker::pause() {
    const std::lock_guard lock(mutex_);
    if (pid_ > 0) ::kill(pid_, SIGSTOP);
}

void Worker::resume() {
    const std::lock_guard lock(mutex_);
    if (pid_ > 0) ::kill(pid_, SIGCONT);
}

void Worker::interrupt() {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    if (pid_ > 0) ::kill(pid_, SIGKILL);
}

void Worker::send(const std::string& line) {
    write_all(input_, line + "\n");
}

Worker::Wait Worker::receive(std::string& line, double limit_seconds) {
    const auto deadline = Clock::now() + std::chrono::duration<double>(limit_seconds);
    while (true) {
        if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
            line = received_.substr(0, end);
            received_.erase(0, end + 1);
            return Wait::Line;
        }
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return Wait::TimedOut;
        pollfd file{output_, POLLIN, 0};
        const int ready = ::poll(&file, 1, static_cast<int>(std::min<long long>(left + 1, 1 << 30)));
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) continue;
        char bytes[4096];
        const ssize_t count = ::read(output_, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return Wait::End;
        received_.append(bytes, static_cast<std::size_t>(count));
    }
}

TrialResult Worker::run(const TrialRequest& request, double limit_seconds,
                        const std::function<void(const std::string& stage)>& on_stage) {
    if (pid_ < 0) start(limit_seconds);
    send(to_line(request));
    std::string stage = "starting", line;
    while (true) {
        const Wait wait = receive(line, limit_seconds);
        if (wait == Wait::TimedOut) {
            stop();
            return {Verdict::TimedOut, fmt::format("took more than {:.3g} s while {}", limit_seconds, stage)};
        }
        if (wait == Wait::End) {
            const std::string how = reap();
            stop();
            return {Verdict::Crashed, fmt::format("the worker process {} while {}", how, stage)};
        }
        const std::optional<Answer> answer = parse_answer(line);
        if (!answer || std::holds_alternative<Ready>(*answer)) {
            stop();
            return {Verdict::Crashed, fmt::format("the worker process gave no sensible answer while {}", stage)};
        }
        if (const auto* fatal = std::get_if<Fatal>(&*answer)) throw Error(ErrorKind::user, fatal->reason);
        if (const auto* result = std::get_if<TrialResult>(&*answer)) {
            if (result->spent) stop();
            return *result;
        }
        stage = std::get<Stage>(*answer).name;
        if (on_stage) on_stage(stage);
    }
}

std::string worker_program(const std::string& given) {
    if (!given.empty()) return given;
    if (const char* named = std::getenv("KILN_PROGRAM"); named != nullptr && *named != '\0') return named;
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error && self.filename() == "kiln") return self;
    Dl_info library{};
    if (::dladdr(reinterpret_cast<const void*>(&worker_program), &library) == 0) return {};
    const std::filesystem::path folder = std::filesystem::path(library.dli_fname).parent_path();
    for (const char* place : {"../bin/kiln", "kiln", "tools/kiln"}) {
        if (is_program(folder / place)) return (folder / place).lexically_normal();
    }
    return {};
}

std::vector<std::string> worker_command(const std::string& program) {
    return {program, "tuning-worker"};
}

}  // namespace kiln::autotune
