// Kernels written by hand to the calling convention of codegen/gpu/source.h, on the device of any driver.
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/gpu/gpu_backend.h"
#include "runtime/gpu/kernel_code.h"
#include "runtime/state.h"
#include "tests/programs/fake_driver.h"
#include "tests/runtime/host.h"

namespace kiln::test {

/// y = x * scale, and y = (x + 1) reversed by way of scratch that begins as 7.
inline constexpr const char* kHandText = R"(
kernel twice(x: in f32[N], y: out f32[N], scale: f32)
grid i in 0 .. N by 4 {
    y[i :+ 4] = x[i :+ 4] * scale
}

kernel reversed(x: in f32[N], y: out f32[N])
  scratch part: f32[N] = 7
grid i in 0 .. N by 4 {
    part[i :+ 4] = x[i :+ 4] + 1
}
grid i in 0 .. N {
    y[i] = part[N - 1 - i]
}
)";

inline constexpr const char* kHandCuda = R"(
#line 3 "hand.kiln"
typedef unsigned long long u64;
struct Twice { u64 first, extent; const float* x; long long xn, xs; float* y; long long yn, ys; u64 scale; };
extern "C" __global__ void __launch_bounds__(64) twice(const Twice s) {
    const long long i = (long long)(s.first + blockIdx.x) * 4 + threadIdx.x;
    if (threadIdx.x < 4 && i < s.yn) s.y[i * s.ys] = s.x[i * s.xs] * __uint_as_float((unsigned)s.scale);
}
struct Fill { u64 first, extent; const float* x; long long xn, xs; float* part; long long pn, ps; };
extern "C" __global__ void __launch_bounds__(32) reversed_0(const Fill s) {
    const long long i = (long long)(s.first + blockIdx.x) * 4 + threadIdx.x;
    if (threadIdx.x < 4 && i < s.xn) s.part[i * s.ps] += s.x[i * s.xs] - 6;
}
struct Turn { u64 first, extent; const float* part; long long pn, ps; float* y; long long yn, ys; };
extern "C" __global__ void __launch_bounds__(32) reversed_1(const Turn s) {
    const long long i = (long long)(s.first + blockIdx.x);
    if (threadIdx.x == 0) s.y[i * s.ys] = s.part[(s.pn - 1 - i) * s.ps];
}
)";

/// The device of another backend, with code that a test makes.
class HandWrittenBackend final : public runtime::DeviceBackend {
public:
    using Compile = std::function<runtime::Artifact(const ir::Kernel&)>;

    HandWrittenBackend(std::shared_ptr<runtime::DeviceBackend> inner, Compile compile)
        : inner_(std::move(inner)), compile_(std::move(compile)) {}

    const std::string& name() const override { return inner_->name(); }
    const std::string& description() const override { return inner_->description(); }
    std::int64_t units() const override { return inner_->units(); }
    const std::vector<std::string>& schedule_names() const override { return inner_->schedule_names(); }
    bool uses_facts() const override { return inner_->uses_facts(); }
    std::string fingerprint() const override { return inner_->fingerprint(); }
    runtime::Artifact compile(const ir::Kernel& kernel, const support::SourceMap&) const override {
        return compile_(kernel);
    }
    std::unique_ptr<runtime::LoadedKernel> load(const runtime::Artifact& artifact, std::string& reason) const override {
        return inner_->load(artifact, reason);
    }
    std::shared_ptr<runtime::DeviceStream> default_stream() const override { return inner_->default_stream(); }
    std::shared_ptr<runtime::DeviceStream> make_stream() const override { return inner_->make_stream(); }
    std::shared_ptr<runtime::DeviceStream> wrap_stream(void* native) const override {
        return inner_->wrap_stream(native);
    }
    bool has_own_memory() const override { return inner_->has_own_memory(); }
    std::shared_ptr<void> allocate(std::size_t bytes) const override { return inner_->allocate(bytes); }
    void copy_to_device(void* to, const void* from, std::size_t bytes, runtime::DeviceStream& stream) const override {
        inner_->copy_to_device(to, from, bytes, stream);
    }
    void copy_to_host(void* to, const void* from, std::size_t bytes, runtime::DeviceStream& stream) const override {
        inner_->copy_to_host(to, from, bytes, stream);
    }
    void check_memory(const std::string& name, const Tensor& tensor) const override {
        inner_->check_memory(name, tensor);
    }

private:
    std::shared_ptr<runtime::DeviceBackend> inner_;
    Compile compile_;
};

/// The phases of a kernel of kHandText, by the places of their values in launch_values().
inline codegen::gpu::Source hand_source(const ir::Kernel& kernel, const std::string& text,
                                        std::int64_t shared_bytes = 0) {
    const std::vector<ir::ValueId> all = runtime::launch_values(kernel);
    const auto values = [&](std::initializer_list<std::size_t> places) {
        std::vector<ir::ValueId> list;
        for (const std::size_t place : places) list.push_back(all[place]);
        return list;
    };
    if (kernel.name == "twice") return {text, {{"twice", values({0, 1, 2}), 64, 0, shared_bytes}}};
    // Parameters x and y, the size N, then the scratch tensor.
    return {text, {{"reversed_0", values({0, 3}), 32, 0, shared_bytes}, {"reversed_1", values({3, 1}), 32, 0, 0}}};
}

/// Code that only a fake driver takes: its binary form, and its portable one.
inline runtime::Artifact fake_artifact(const ir::Kernel& kernel, std::int64_t shared_bytes = 0) {
    return runtime::gpu::to_artifact(kernel, hand_source(kernel, "", shared_bytes), {{'E', 'L', 'F'}, {'.', 'p'}, ""});
}

inline std::shared_ptr<runtime::KernelState> hand_kernel(const std::string& name) {
    static const auto module = std::make_shared<const runtime::ModuleState>(
        "hand.kiln", [](const std::string&) { return std::optional<std::string>(kHandText); });
    return std::make_shared<runtime::KernelState>(module, name, std::vector<Generic>());
}

/// A fake driver library as the product will load it. To be made before anything else of the runtime.
class FakeLibrary {
public:
    FakeLibrary(const char* variable, const char* path) {
        ::setenv(variable, path, 1);
        void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
        REQUIRE_MESSAGE(library != nullptr, ::dlerror());
        driver_ = reinterpret_cast<FakeDriverFunction>(::dlsym(library, "fake_driver"))();
    }
    FakeDriver* operator->() const { return driver_; }

private:
    FakeDriver* driver_;
};

/// Memory of a device with these elements.
struct DeviceVector {
    DeviceVector(const runtime::DeviceBackend& given_backend, const std::vector<float>& values)
        : backend(given_backend), memory(backend.allocate(values.size() * 4)), size(values.size()) {
        backend.copy_to_device(memory.get(), values.data(), size * 4, *backend.default_stream());
    }
    Tensor tensor() const { return kiln::tensor(f32, memory.get(), {static_cast<std::int64_t>(size)}); }
    std::vector<float> values() const {
        std::vector<float> result(size);
        backend.copy_to_host(result.data(), memory.get(), size * 4, *backend.default_stream());
        return result;
    }

    const runtime::DeviceBackend& backend;
    std::shared_ptr<void> memory;
    std::size_t size;
};

}  // namespace kiln::test
