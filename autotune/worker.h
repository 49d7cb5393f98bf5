// A worker process seen from the tuner. It is started when it is needed, and again after it crashed or hung.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "autotune/protocol.h"

namespace kiln::autotune {

class Worker {
public:
    /// `command` is a program that calls serve(), with its arguments.
    Worker(std::vector<std::string> command, const Job& job);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Does one trial within `limit_seconds` for each of its stages. A process that dies, takes longer or lost its
    /// device is replaced at the next trial, and the result says what happened and where. Throws Error if there can be
    /// no trial at all: the program does not start, or says that the job is impossible.
    TrialResult run(const TrialRequest& request, double limit_seconds,
                    const std::function<void(const std::string& stage)>& on_stage = nullptr);

    /// Stops the process and lets it go on: from any thread, also while run() waits for it.
    void pause();
    void resume();
    /// Ends the process: run() returns soon, and no other process is started.
    void interrupt();

    /// How many processes there have been.
    int started() const { return started_; }

private:
    void start(double limit_seconds);
    void stop();
    /// "killed by SIGSEGV (Segmentation fault)", "ended with exit code 1"
    std::string reap();
    void send(const std::string& line);
    enum class Wait { Line, End, TimedOut };
    Wait receive(std::string& line, double limit_seconds);

    std::vector<std::string> command_;
    std::string job_;
    std::mutex mutex_;  ///< of pid_ and interrupted_: other threads send signals
    int pid_ = -1;
    bool interrupted_ = false;
    int input_ = -1, output_ = -1;  ///< our ends of its input and output
    std::string received_;
    int started_ = 0;
};

/// The `kiln` program that can be a worker: `given`, else KILN_PROGRAM, else this process's own file if it is `kiln`,
/// else bin/kiln beside the library that holds this code. Empty if there is none.
std::string worker_program(const std::string& given = {});
/// The command that makes it one.
std::vector<std::string> worker_command(const std::string& program);

}  // namespace kiln::autotune
