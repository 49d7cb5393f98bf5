#include "runtime/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "runtime/descriptor.h"

namespace kiln::runtime {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (const std::string& text : texts) list.push_back(const_cast<char*>(text.c_str()));
    list.push_back(nullptr);
    return list;
}

/// What posix_spawn is told: a process group of its own, no input, both outputs to the pipe, no blocked signals.
class SpawnSetup {
public:
    explicit SpawnSetup(int output) {
        ::posix_spawn_file_actions_init(&actions_);
        ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
        ::posix_spawn_file_actions_adddup2(&actions_, output, 1);
        ::posix_spawn_file_actions_adddup2(&actions_, output, 2);
        ::posix_spawnattr_init(&attributes_);
        sigset_t none;
        ::sigemptyset(&none);
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setpgroup(&attributes_, 0);
        ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    }
    ~SpawnSetup() {
        ::posix_spawn_file_actions_destroy(&actions_);
        ::posix_spawnattr_destroy(&attributes_);
    }
    SpawnSetup(const SpawnSetup&) = delete;
    SpawnSetup& operator=(const SpawnSetup&) = delete;

    const posix_spawn_file_actions_t* actions() const { return &actions_; }
    const posix_spawnattr_t* attributes() const { return &attributes_; }

private:
    posix_spawn_file_actions_t actions_;
    posix_spawnattr_t attributes_;
};

/// Reads until the other end is closed everywhere, or until the time is over, which is false.
bool read_until(int pipe, Clock::time_point deadline, std::string& text) {
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0) return false;
        pollfd ready{pipe, POLLIN, 0};
        const int events = ::poll(&ready, 1, static_cast<int>(std::min<long long>(left, 1000)));
        if (events < 0 && errno != EINTR) return false;
        if (events <= 0) continue;
        char buffer[4096];
        const ssize_t count = ::read(pipe, buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return true;
        text.append(buffer, static_cast<std::size_t>(count));
    }
}

/// Whether the child ended before the deadline. It has closed its outputs, so it is about to.
bool wait_until(pid_t child, Clock::time_point deadline, int& status) {
    while (true) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child || (ended < 0 && errno != EINTR)) return true;
        if (Clock::now() >= deadline) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

void kill_group(pid_t child, int& status) {
    ::kill(-child, SIGKILL);
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace

std::string ChildResult::how_it_ended() const {
    switch (end) {
        case End::exited:
            return fmt::format("exited with {}", code);
        case End::signalled:
            return fmt::format("was ended by signal {}", code);
        case End::timed_out:
            return fmt::format("took longer than {} seconds", code);
        case End::not_started:
            return "could not be started";
    }
    return {};
}

ChildResult run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                        std::chrono::seconds limit) {
    ChildResult result;
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        result.output = std::strerror(errno);
        return result;
    }
    const Descriptor reading(ends[0]);
    Descriptor writing(ends[1]);
    pid_t child = 0;
    const int error = [&] {
        const SpawnSetup setup(writing.number());
        return ::posix_spawnp(&child, words[0].c_str(), setup.actions(), setup.attributes(), pointers(words).data(),
                              pointers(environment).data());
    }();
    writing.close();
    if (error != 0) {
        result.output = std::strerror(error);
        return result;
    }
    const Clock::time_point deadline = Clock::now() + limit;
    int status = 0;
    if (!read_until(reading.number(), deadline, result.output) || !wait_until(child, deadline, status)) {
        kill_group(child, status);
        result.end = ChildResult::End::timed_out;
        result.code = static_cast<int>(limit.count());
        return result;
    }
    result.end = WIFEXITED(status) ? ChildResult::End::exited : ChildResult::End::signalled;
    result.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    return result;
}

}  // namespace kiln::runtime
