#include "runtime/gpu/driver.h"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>

#include "kiln/error.hpp"

namespace kiln::runtime::gpu {

namespace {

std::atomic<DriverState> state{DriverState::usable};

}  // namespace

DriverState driver_state() {
    static const bool watching = [] {
        ::pthread_atfork(nullptr, nullptr, [] { state = DriverState::forked; });
        std::atexit([] { state = DriverState::exiting; });
        return true;
    }();
    static_cast<void>(watching);
    return state.load(std::memory_order_relaxed);
}

CurrentDevice::CurrentDevice(const Driver& driver, int device) : driver_(driver), device_(device) {
    const DriverState now = driver_state();
    if (now == DriverState::forked) {
        throw Error(ErrorKind::device,
                    fmt::format("{}:{} was opened before this process was forked, and its driver does "
                                "not work in the child: open devices after the fork, or start a "
                                "program of its own",
                                driver.name(), device));
    }
    if (now == DriverState::exiting) {
        throw Error(ErrorKind::device,
                    fmt::format("{}:{} cannot be used while the process exits", driver.name(), device));
    }
    previous_ = driver.enter(device);
}

}  // namespace kiln::runtime::gpu
