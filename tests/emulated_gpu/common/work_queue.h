#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace emulated_gpu {

/// What an event's record stands for: reached or not, and when.
class Moment {
public:
    void reach();
    bool reached() const;
    void wait() const;
    std::chrono::steady_clock::time_point time() const;

private:
    mutable std::mutex mutex_;
    mutable std::condition_variable changed_;
    bool reached_ = false;
    std::chrono::steady_clock::time_point time_;
};

/// The work of a stream: a queue, and the thread that works it off in order.
class WorkQueue {
public:
    WorkQueue();
    /// What is queued still runs.
    ~WorkQueue();
    WorkQueue(const WorkQueue&) = delete;
    WorkQueue& operator=(const WorkQueue&) = delete;

    /// Queues work behind `after`.
    void submit(std::function<void()> work, std::vector<std::shared_ptr<Moment>> after = {});
    /// A moment reached once all that is queued now is done.
    std::shared_ptr<Moment> mark();
    bool idle() const;
    void synchronize() { mark()->wait(); }

private:
    struct Task {
        std::function<void()> work;
        std::vector<std::shared_ptr<Moment>> after;
        bool is_mark = false;
    };
    void push(Task task);
    void run();

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task> tasks_;
    size_t unfinished_ = 0;  // tasks, marks not counted
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace emulated_gpu
