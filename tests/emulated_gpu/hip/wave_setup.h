#pragma once

#include "tests/emulated_gpu/hip/execution.h"

namespace emulated_gpu::hip {

/// The arguments, the dispatch packet and the queue of a launch, as a kernel finds them in memory. Readable by the
/// device while this lives.
class LaunchMemory {
public:
    LaunchMemory(Launch& launch);
    ~LaunchMemory();
    LaunchMemory(const LaunchMemory&) = delete;
    LaunchMemory& operator=(const LaunchMemory&) = delete;

private:
    DeviceMemory& memory_;
    std::vector<uint64_t> storage_;
};

/// The workgroup of that number, its waves about to begin.
std::unique_ptr<Workgroup> make_workgroup(Launch& launch, uint64_t number);

}  // namespace emulated_gpu::hip
