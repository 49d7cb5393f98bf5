// Drivers that pretend: shared libraries with the functions of libcuda.so.1 or libamdhip64.so, whose device memory is
// the host's and whose kernels do nothing but are noted. Tests load them as the product does and change their manners
// through fake_driver().
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace kiln::test {

struct FakeLaunch {
    std::string function;
    unsigned blocks = 0, threads = 0, shared_bytes = 0;
    void* stream = nullptr;
    std::vector<std::uint64_t> slots;
};

struct FakeDriver {
    std::map<std::string, int> failures;  ///< result of a function, in place of success
    std::map<std::string, int> counts;    ///< calls of each function
    std::vector<std::string> trace;       ///< names in order
    std::vector<FakeLaunch> launches;
    std::size_t slots = 0;  ///< how many a kernel takes
    int version = 0, devices = 2;
    int blocks_per_launch = 0x7fffffff;
    int shared_bytes = 166912;
    int threads_per_block = 1024;
    int static_shared_bytes = 0;
    bool refuses_binary = false, refuses_all = false;
    std::string architecture = "gfx942:sramecc+:xnack-";               ///< HIP only
    std::map<std::uint64_t, std::pair<std::size_t, int>> allocations;  ///< bytes and device
    void* capturing = reinterpret_cast<void*>(-1);                     ///< the stream being captured
    int exchanged_modes = 0;
    std::vector<void*> contexts;  ///< CUDA: pushed on this (only) thread
    int current = 0;              ///< HIP: device
    std::mutex mutex;
};

/// The function of that name that the libraries export.
using FakeDriverFunction = FakeDriver* (*)();

}  // namespace kiln::test
