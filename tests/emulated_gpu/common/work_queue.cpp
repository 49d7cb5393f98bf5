#include "tests/emulated_gpu/common/work_queue.h"

namespace emulated_gpu {

void Moment::reach() {
    const std::lock_guard lock(mutex_);
    reached_ = true;
    time_ = std::chrono::steady_clock::now();
    changed_.notify_all();
}
bool Moment::reached() const {
    const std::lock_guard lock(mutex_);
    return reached_;
}
void Moment::wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return reached_; });
}
std::chrono::steady_clock::time_point Moment::time() const {
    const std::lock_guard lock(mutex_);
    return time_;
}

WorkQueue::WorkQueue() {
    thread_ = std::thread([this] { run(); });
}

WorkQueue::~WorkQueue() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void WorkQueue::push(Task task) {
    {
        const std::lock_guard lock(mutex_);
        if (!task.is_mark) ++unfinished_;
        tasks_.push_back(std::move(task));
    }
    changed_.notify_all();
}

void WorkQueue::submit(std::function<void()> work, std::vector<std::shared_ptr<Moment>> after) {
    push({std::move(work), std::move(after), false});
}

std::shared_ptr<Moment> WorkQueue::mark() {
    auto moment = std::make_shared<Moment>();
    push({[moment] { moment->reach(); }, {}, true});
    return moment;
}

bool WorkQueue::idle() const {
    const std::lock_guard lock(mutex_);
    return unfinished_ == 0;
}

void WorkQueue::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        const Task task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        for (const auto& moment : task.after) moment->wait();
        task.work();
        lock.lock();
        if (!task.is_mark) --unfinished_;
    }
}

}  // namespace emulated_gpu
