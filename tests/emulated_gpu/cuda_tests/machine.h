#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/emulated_gpu/cuda/execution.h"

namespace emulated_gpu {

inline const std::string kPtxHeader = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// A device with one module, for tests that look at the machine without a driver in between.
class Machine {
public:
    explicit Machine(const std::string& ptx, int capability = 80)
        : memory_(uint64_t{1} << 30), module_(load_module(ptx, memory_, capability)) {}

    template <class T>
    uint64_t upload(const std::vector<T>& values, const std::string& what = "allocation") {
        const uint64_t address = memory_.allocate(values.size() * sizeof(T), what);
        std::memcpy(memory_.at(address, values.size() * sizeof(T)), values.data(), values.size() * sizeof(T));
        return address;
    }
    template <class T>
    std::vector<T> download(uint64_t address, size_t count) {
        std::vector<T> values(count);
        std::memcpy(values.data(), memory_.at(address, count * sizeof(T)), count * sizeof(T));
        return values;
    }

    /// Runs the kernel with 8-byte parameters.
    LaunchResult launch(const std::string& kernel, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> block,
                        const std::vector<uint64_t>& parameters, uint64_t dynamic_shared = 0) {
        LaunchShape shape;
        shape.grid = grid;
        shape.block = block;
        shape.dynamic_shared_bytes = dynamic_shared;
        shape.parameters.resize(parameters.size() * 8);
        std::memcpy(shape.parameters.data(), parameters.data(), shape.parameters.size());
        return run_kernel(*module_->kernels.at(kernel), shape, memory_, options,
                          [this](const std::string& text) { printed += text; });
    }

    DeviceMemory& memory() { return memory_; }
    const LoadedModule& module() const { return *module_; }

    Options options;
    std::string printed;

private:
    DeviceMemory memory_;
    std::unique_ptr<LoadedModule> module_;
};

}  // namespace emulated_gpu
