#pragma once

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/emulated_gpu/hip/execution.h"

namespace emulated_gpu::hip {

/// Packs kernel arguments at their natural alignment.
class Arguments {
public:
    template <class T>
    Arguments& add(T value) {
        while (bytes_.size() % sizeof(T) != 0) bytes_.push_back(0);
        const size_t at = bytes_.size();
        bytes_.resize(at + sizeof(T));
        std::memcpy(bytes_.data() + at, &value, sizeof(T));
        return *this;
    }
    const std::vector<uint8_t>& bytes() const { return bytes_; }

private:
    std::vector<uint8_t> bytes_;
};

/// A device with one module, for tests that look at the machine without a runtime library in between.
class Machine {
public:
    Machine(const std::vector<uint8_t>& object, const std::string& processor)
        : memory_(uint64_t{1} << 30), module_(load_module(object, memory_, processor)) {}

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

    LaunchResult launch(const std::string& kernel, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> workgroup,
                        const Arguments& arguments, uint32_t dynamic_lds = 0) {
        const LaunchShape shape{grid, workgroup, dynamic_lds, arguments.bytes()};
        return run_kernel(*module_, module_->object.kernels.at(kernel), shape, memory_, options);
    }
    /// As above; the launch has to end without a report.
    Counters run(const std::string& kernel, std::array<uint32_t, 3> grid, std::array<uint32_t, 3> workgroup,
                 const Arguments& arguments, uint32_t dynamic_lds = 0) {
        const LaunchResult result = launch(kernel, grid, workgroup, arguments, dynamic_lds);
        if (result.report) FAIL(result.report->text());
        return result.counters;
    }

    DeviceMemory& memory() { return memory_; }
    const LoadedModule& module() const { return *module_; }

    Options options;

private:
    DeviceMemory memory_;
    std::unique_ptr<LoadedModule> module_;
};

}  // namespace emulated_gpu::hip
