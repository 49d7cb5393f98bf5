#include "runtime/cuda/driver.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "kiln/error.hpp"
#include "runtime/cuda/api.h"
#include "runtime/dynamic_library.h"

namespace kiln::runtime::cuda {

namespace {

using gpu::Address;
using gpu::Handle;

// The first driver that captures streams, orders memory by them, and knows all of sm_80.
constexpr int kOldestVersion = 11020;

class CudaDriver final : public gpu::Driver {
public:
    CudaDriver(const Api& api, std::string path, int version, int devices)
        : api_(api),
          path_(std::move(path)),
          version_(fmt::format("{}.{}", version / 1000, version % 1000 / 10)),
          contexts_(static_cast<std::size_t>(devices)) {}

    const std::string& name() const override { return name_; }
    const std::string& path() const override { return path_; }
    const std::string& version() const override { return version_; }
    int device_count() const override { return static_cast<int>(contexts_.size()); }

    gpu::DeviceFacts facts(int device) const override {
        std::array<char, 256> name{};
        check(api_.cuDeviceGetName(name.data(), static_cast<int>(name.size() - 1), device), "name the device");
        const int major = attribute(kMajor, device), minor = attribute(kMinor, device);
        gpu::DeviceFacts facts;
        facts.name = name.data();
        // From Hopper on, code for exactly one architecture (the suffix `a`) may use all of it.
        facts.architecture = fmt::format("sm_{}{}{}", major, minor, major >= 9 ? "a" : "");
        facts.units = attribute(kMultiprocessors, device);
        facts.blocks_per_launch = attribute(kMaxGridX, device);
        facts.shared_bytes_per_block = attribute(kSharedBytesOptIn, device);
        facts.reads_host_memory = attribute(kPageableMemoryAccess, device) != 0;
        std::size_t bytes = 0;
        check(api_.cuDeviceTotalMem_v2(&bytes, device), "ask for the size of the memory");
        facts.memory_bytes = bytes;
        return facts;
    }

    Handle enter(int device) const override {
        Handle current = nullptr;
        check(api_.cuCtxGetCurrent(&current), "ask for the current context");
        const Handle context = context_of(device);
        if (current == context) return context;
        check(api_.cuCtxPushCurrent_v2(context), "make the device's context current");
        return current;
    }

    void leave(int device, Handle previous) const noexcept override {
        if (previous == contexts_[static_cast<std::size_t>(device)]) return;
        Handle ignored = nullptr;
        api_.cuCtxPopCurrent_v2(&ignored);
    }

    Address allocate(std::size_t bytes) const override {
        DevicePointer address = 0;
        check(api_.cuMemAlloc_v2(&address, bytes), "allocate {} bytes", bytes);
        return address;
    }
    void free(Address address) const noexcept override { api_.cuMemFree_v2(address); }

    bool has_stream_ordered_memory() const override {
        return api_.cuMemAllocAsync != nullptr && api_.cuMemFreeAsync != nullptr;
    }
    Address allocate_on(Handle stream, std::size_t bytes) const override {
        DevicePointer address = 0;
        check(api_.cuMemAllocAsync(&address, bytes, stream), "allocate {} bytes on a stream", bytes);
        return address;
    }
    void free_on(Handle stream, Address address) const override {
        check(api_.cuMemFreeAsync(address, stream), "free memory on a stream");
    }

    void copy_to_device(Address to, const void* from, std::size_t bytes, Handle stream) const override {
        check(api_.cuMemcpyHtoDAsync_v2(to, from, bytes, stream), "copy {} bytes to the device", bytes);
    }
    void copy_to_host(void* to, Address from, std::size_t bytes, Handle stream) const override {
        check(api_.cuMemcpyDtoHAsync_v2(to, from, bytes, stream), "copy {} bytes from the device", bytes);
    }

    void fill(Address to, std::uint64_t bits, int element_bytes, std::size_t count, Handle stream) const override {
        constexpr const char* kAction = "fill {} elements";
        const auto low = static_cast<std::uint32_t>(bits), high = static_cast<std::uint32_t>(bits >> 32);
        if (element_bytes == 1) {
            check(api_.cuMemsetD8Async(to, static_cast<unsigned char>(bits), count, stream), kAction, count);
        } else if (element_bytes == 2) {
            check(api_.cuMemsetD16Async(to, static_cast<unsigned short>(bits), count, stream), kAction, count);
        } else if (element_bytes == 4) {
            check(api_.cuMemsetD32Async(to, low, count, stream), kAction, count);
        } else if (low == high) {
            check(api_.cuMemsetD32Async(to, low, 2 * count, stream), kAction, count);
        } else {
            // Each half as a column of a matrix whose rows are elements.
            if (api_.cuMemsetD2D32Async == nullptr) lacks("cuMemsetD2D32Async");
            check(api_.cuMemsetD2D32Async(to, 8, low, 1, count, stream), kAction, count);
            check(api_.cuMemsetD2D32Async(to + 4, 8, high, 1, count, stream), kAction, count);
        }
    }

    gpu::PointerPlace place_of(const void* pointer) const override {
        using Kind = gpu::PointerPlace::Kind;
        const auto address = reinterpret_cast<DevicePointer>(pointer);
        unsigned type = 0;
        const Result known = api_.cuPointerGetAttribute(&type, kPointerMemoryType, address);
        if (known == kInvalidValue) return {};
        check(known, "ask where a pointer leads");
        if (type == kMemoryTypeHost) return {Kind::host, 0};
        int device = 0;
        check(api_.cuPointerGetAttribute(&device, kPointerDeviceOrdinal, address), "ask where a pointer leads");
        return {Kind::device, device};
    }

    Handle create_stream() const override {
        Handle stream = nullptr;
        check(api_.cuStreamCreate(&stream, kStreamNonBlocking), "make a stream");
        return stream;
    }
    void destroy_stream(Handle stream) const noexcept override { api_.cuStreamDestroy_v2(stream); }
    void synchronise(Handle stream) const override {
        check(api_.cuStreamSynchronize(stream), "finish the work queued");
    }

    bool is_capturing(Handle stream) const override {
        int status = kCaptureNone;
        const Result result = api_.cuStreamIsCapturing(stream, &status);
        // Asked of the null stream while a stream that waits for it captures.
        if (result == kCaptureImplicit) return true;
        check(result, "ask whether a stream is being captured");
        return status != kCaptureNone;
    }
    int exchange_capture_mode(int mode) const noexcept override {
        if (api_.cuThreadExchangeStreamCaptureMode != nullptr) api_.cuThreadExchangeStreamCaptureMode(&mode);
        return mode;
    }

    Handle create_event(bool timed) const override {
        Handle event = nullptr;
        check(api_.cuEventCreate(&event, timed ? kEventDefault : kEventDisableTiming), "make an event");
        return event;
    }
    void destroy_event(Handle event) const noexcept override { api_.cuEventDestroy_v2(event); }
    void record(Handle event, Handle stream) const override {
        check(api_.cuEventRecord(event, stream), "record an event");
    }
    bool has_happened(Handle event) const override {
        const Result result = api_.cuEventQuery(event);
        if (result == kNotReady) return false;
        check(result, "ask for an event");
        return true;
    }
    void wait(Handle stream, Handle event) const override {
        check(api_.cuStreamWaitEvent(stream, event, 0), "wait for an event");
    }
    void synchronise_event(Handle event) const override {
        check(api_.cuEventSynchronize(event), "finish the work before an event");
    }
    double seconds_between(Handle first, Handle last) const override {
        float milliseconds = 0;
        check(api_.cuEventElapsedTime(&milliseconds, first, last), "measure the time between events");
        return milliseconds * 1e-3;
    }

    gpu::LoadedModule load(const void* image) const override {
        std::array<char, 4096> log{};
        int options[] = {kJitErrorLog, kJitErrorLogBytes};
        void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
        gpu::LoadedModule loaded;
        const Result result = api_.cuModuleLoadDataEx(&loaded.module, image, 2, options, values);
        if (!is_refusal(result)) {
            check(result, "load code");
            return loaded;
        }
        loaded.module = nullptr;
        loaded.refusal = words(result);
        if (log[0] != '\0') loaded.refusal += fmt::format(": {}", log.data());
        return loaded;
    }

    Handle find_function(Handle module, const std::string& name) const override {
        Handle function = nullptr;
        const Result result = api_.cuModuleGetFunction(&function, module, name.c_str());
        if (result == kNotFound) return nullptr;
        check(result, "find `{}` in loaded code", name);
        return function;
    }

    gpu::FunctionFacts function_facts(Handle function) const override {
        int threads = 0, shared = 0;
        check(api_.cuFuncGetAttribute(&threads, kFunctionMaxThreads, function), "ask what a kernel needs");
        check(api_.cuFuncGetAttribute(&shared, kFunctionSharedBytes, function), "ask what a kernel needs");
        return {threads, shared};
    }

    void allow_shared_bytes(Handle function, std::int64_t bytes) const override {
        check(api_.cuFuncSetAttribute(function, kFunctionMaxDynamicSharedBytes, static_cast<int>(bytes)),
              "allow {} bytes of shared memory", bytes);
    }

    void launch(Handle function, std::uint32_t blocks, std::uint32_t threads, std::uint32_t shared_bytes, Handle stream,
                void* slots) const override {
        void* parameters[] = {slots};
        const Result result =
            api_.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared_bytes, stream, parameters, nullptr);
        if (result != kSuccess) {
            check(result, "launch {} blocks of {} threads with {} bytes of shared memory", blocks, threads,
                  shared_bytes);
        }
    }

private:
    static bool is_refusal(Result result) {
        for (const Result refusal : {kInvalidImage, kNoBinaryForGpu, kInvalidPtx, kJitCompilerNotFound,
                                     kUnsupportedPtxVersion, kInvalidSource, kNotFound}) {
            if (result == refusal) return true;
        }
        return false;
    }

    int attribute(int number, int device) const {
        int value = 0;
        check(api_.cuDeviceGetAttribute(&value, number, device), "ask for attribute {} of cuda:{}", number, device);
        return value;
    }

    Handle context_of(int device) const {
        const auto index = static_cast<std::size_t>(device);
        if (contexts_[index] != nullptr) return contexts_[index];
        return make_context(index);
    }

    Handle make_context(std::size_t index) const {
        const std::lock_guard lock(mutex_);
        if (contexts_[index] != nullptr) return contexts_[index];
        Handle context = nullptr;
        // Never released: code and memory of the process live in it.
        check(api_.cuDevicePrimaryCtxRetain(&context, static_cast<int>(index)), "open cuda:{}", index);
        contexts_[index] = context;
        return context;
    }

    std::string words(Result result) const {
        const char* name = nullptr;
        const char* text = nullptr;
        if (api_.cuGetErrorName(result, &name) != kSuccess || name == nullptr) return fmt::format("error {}", result);
        if (api_.cuGetErrorString(result, &text) != kSuccess || text == nullptr) return name;
        return fmt::format("{} ({})", name, text);
    }

    template <class... Values>
    void check(Result result, const char* action, const Values&... values) const {
        if (result == kSuccess) return;
        throw Error(ErrorKind::device,
                    fmt::format("the CUDA driver could not {}: {}",
                                fmt::vformat(action, fmt::make_format_args(values...)), words(result)));
    }

    [[noreturn]] void lacks(const char* function) const {
        throw Error(ErrorKind::device, fmt::format("the CUDA driver {} lacks {}", version_, function));
    }

    const Api api_;
    const std::string name_ = "cuda", path_, version_;
    mutable std::mutex mutex_;
    mutable std::vector<std::atomic<Handle>> contexts_;
};

/// The name of the first function that the library must have and lacks; null if there is none.
const char* load(const DynamicLibrary& library, Api& api) {
    const char* missing = nullptr;
#define KILN_LOAD(name, parameters) api.name = reinterpret_cast<decltype(api.name)>(library.find(#name));
#define KILN_REQUIRE(name, parameters) \
    KILN_LOAD(name, parameters)        \
    if (api.name == nullptr && missing == nullptr) missing = #name;
    KILN_CUDA_FUNCTIONS(KILN_REQUIRE, KILN_LOAD)
#undef KILN_REQUIRE
#undef KILN_LOAD
    return missing;
}

std::string name_of(const Api& api, Result result) {
    const char* name = nullptr;
    return api.cuGetErrorName(result, &name) == kSuccess && name != nullptr ? name : fmt::format("error {}", result);
}

gpu::FoundDriver open_driver() {
    const DynamicLibrary library = DynamicLibrary::open(
        {"KILN_CUDA_DRIVER", {"libcuda.so.1"}, {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib/wsl/lib"}});
    if (!library.is_open()) return {nullptr, library.reason()};
    Api api;
    int version = 0, devices = 0;
    if (const char* missing = load(library, api)) {
        return {nullptr, fmt::format("{} is too old or no CUDA driver: it lacks {}", library.path(), missing)};
    }
    if (const Result result = api.cuInit(0); result != kSuccess) {
        return {nullptr, fmt::format("{} does not start: {}", library.path(), name_of(api, result))};
    }
    if (const Result result = api.cuDriverGetVersion(&version); result != kSuccess || version < kOldestVersion) {
        return {nullptr, fmt::format("{} is version {}.{}, and Kiln needs 11.2 or newer", library.path(),
                                     version / 1000, version % 1000 / 10)};
    }
    if (const Result result = api.cuDeviceGetCount(&devices); result != kSuccess || devices == 0) {
        return {nullptr, fmt::format("{} finds no device{}", library.path(),
                                     result == kSuccess ? "" : ": " + name_of(api, result))};
    }
    gpu::driver_state();  // begins to watch for forks and the exit, after the library's own exit handlers are set
    return {new CudaDriver(api, library.path(), version, devices), ""};
}

}  // namespace

const gpu::FoundDriver& driver() {
    static const auto* const found = new gpu::FoundDriver(open_driver());
    return *found;
}

}  // namespace kiln::runtime::cuda
