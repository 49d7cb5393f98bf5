#include "runtime/hip/driver.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string_view>

#include "kiln/error.hpp"
#include "runtime/dynamic_library.h"
#include "runtime/hip/api.h"

namespace kiln::runtime::hip {

namespace {

using gpu::Address;
using gpu::Handle;

constexpr int kOldestVersion = 50200000;  // major * 10^7 + minor * 10^5 + patch

void* pointer(Address address) {
    return reinterpret_cast<void*>(address);
}
Handle to_handle(int device) {
    return reinterpret_cast<Handle>(static_cast<std::intptr_t>(device));
}

class HipDriver final : public gpu::Driver {
public:
    HipDriver(const Api& api, std::string path, int version, int devices)
        : api_(api),
          path_(std::move(path)),
          version_(fmt::format("{}.{}.{}", version / 10000000, version / 100000 % 100, version % 100000)),
          devices_(devices) {}

    const std::string& name() const override { return name_; }
    const std::string& path() const override { return path_; }
    const std::string& version() const override { return version_; }
    int device_count() const override { return devices_; }

    gpu::DeviceFacts facts(int device) const override {
        std::array<char, 256> name{};
        check(api_.hipDeviceGetName(name.data(), static_cast<int>(name.size() - 1), device), "name the device");
        gpu::DeviceFacts facts;
        facts.name = name.data();
        facts.architecture = architecture(device);
        facts.units = attribute(kMultiprocessors, device);
        facts.blocks_per_launch = attribute(kMaxGridX, device);
        // HIP counts a launch in threads, with 32 bits.
        facts.threads_per_launch = (std::int64_t{1} << 32) - 1;
        facts.shared_bytes_per_block = attribute(kSharedBytesPerBlock, device);
        facts.reads_host_memory = attribute(kPageableMemoryAccess, device) != 0;
        std::size_t bytes = 0;
        check(api_.hipDeviceTotalMem(&bytes, device), "ask for the size of the memory");
        facts.memory_bytes = bytes;
        return facts;
    }

    Handle enter(int device) const override {
        int current = 0;
        check(api_.hipGetDevice(&current), "ask for the current device");
        if (current != device) check(api_.hipSetDevice(device), "make hip:{} current", device);
        return to_handle(current);
    }
    void leave(int device, Handle previous) const noexcept override {
        if (previous != to_handle(device))
            api_.hipSetDevice(static_cast<int>(reinterpret_cast<std::intptr_t>(previous)));
    }

    Address allocate(std::size_t bytes) const override {
        void* address = nullptr;
        check(api_.hipMalloc(&address, bytes), "allocate {} bytes", bytes);
        return reinterpret_cast<Address>(address);
    }
    void free(Address address) const noexcept override { api_.hipFree(pointer(address)); }

    bool has_stream_ordered_memory() const override {
        return api_.hipMallocAsync != nullptr && api_.hipFreeAsync != nullptr;
    }
    Address allocate_on(Handle stream, std::size_t bytes) const override {
        void* address = nullptr;
        check(api_.hipMallocAsync(&address, bytes, stream), "allocate {} bytes on a stream", bytes);
        return reinterpret_cast<Address>(address);
    }
    void free_on(Handle stream, Address address) const override {
        check(api_.hipFreeAsync(pointer(address), stream), "free memory on a stream");
    }

    void copy_to_device(Address to, const void* from, std::size_t bytes, Handle stream) const override {
        check(api_.hipMemcpyHtoDAsync(pointer(to), from, bytes, stream), "copy {} bytes to the device", bytes);
    }
    void copy_to_host(void* to, Address from, std::size_t bytes, Handle stream) const override {
        check(api_.hipMemcpyDtoHAsync(to, pointer(from), bytes, stream), "copy {} bytes from the device", bytes);
    }

    void fill(Address to, std::uint64_t bits, int element_bytes, std::size_t count, Handle stream) const override {
        constexpr const char* kAction = "fill {} elements";
        const auto low = static_cast<std::uint32_t>(bits), high = static_cast<std::uint32_t>(bits >> 32);
        if (element_bytes == 1) {
            check(api_.hipMemsetD8Async(pointer(to), static_cast<unsigned char>(bits), count, stream), kAction, count);
        } else if (element_bytes == 2) {
            check(api_.hipMemsetD16Async(pointer(to), static_cast<unsigned short>(bits), count, stream), kAction,
                  count);
        } else if (element_bytes == 4) {
            check(api_.hipMemsetD32Async(pointer(to), static_cast<int>(low), count, stream), kAction, count);
        } else if (low == high) {
            check(api_.hipMemsetD32Async(pointer(to), static_cast<int>(low), 2 * count, stream), kAction, count);
        } else {
            // Each byte as a column of a matrix whose rows are elements: HIP sets columns to bytes only.
            for (int byte = 0; byte < 8; ++byte) {
                check(api_.hipMemset2DAsync(pointer(to + static_cast<Address>(byte)), 8,
                                            static_cast<int>(bits >> 8 * byte & 0xff), 1, count, stream),
                      kAction, count);
            }
        }
    }

    gpu::PointerPlace place_of(const void* address) const override {
        using Kind = gpu::PointerPlace::Kind;
        void* const given = const_cast<void*>(address);
        void* base = nullptr;
        std::size_t bytes = 0;
        const Result known = api_.hipMemGetAddressRange(&base, &bytes, given);
        if (known == kInvalidValue || known == kInvalidDevicePointer || known == kNotFound) return {};
        check(known, "ask where a pointer leads");
        int device = 0;
        // Memory of the host that the driver knows belongs to no device in some versions.
        if (api_.hipPointerGetAttribute(&device, kPointerDeviceOrdinal, given) != kSuccess || device < 0) {
            return {Kind::host, 0};
        }
        return {Kind::device, device};
    }

    Handle create_stream() const override {
        Handle stream = nullptr;
        check(api_.hipStreamCreateWithFlags(&stream, kStreamNonBlocking), "make a stream");
        return stream;
    }
    void destroy_stream(Handle stream) const noexcept override { api_.hipStreamDestroy(stream); }
    void synchronise(Handle stream) const override {
        check(api_.hipStreamSynchronize(stream), "finish the work queued");
    }

    bool is_capturing(Handle stream) const override {
        int status = kCaptureNone;
        const Result result = api_.hipStreamIsCapturing(stream, &status);
        if (result == kCaptureImplicit) return true;
        check(result, "ask whether a stream is being captured");
        return status != kCaptureNone;
    }
    int exchange_capture_mode(int mode) const noexcept override {
        if (api_.hipThreadExchangeStreamCaptureMode != nullptr) api_.hipThreadExchangeStreamCaptureMode(&mode);
        return mode;
    }

    Handle create_event(bool timed) const override {
        Handle event = nullptr;
        check(api_.hipEventCreateWithFlags(&event, timed ? kEventDefault : kEventDisableTiming), "make an event");
        return event;
    }
    void destroy_event(Handle event) const noexcept override { api_.hipEventDestroy(event); }
    void record(Handle event, Handle stream) const override {
        check(api_.hipEventRecord(event, stream), "record an event");
    }
    bool has_happened(Handle event) const override {
        const Result result = api_.hipEventQuery(event);
        if (result == kNotReady) return false;
        check(result, "ask for an event");
        return true;
    }
    void wait(Handle stream, Handle event) const override {
        check(api_.hipStreamWaitEvent(stream, event, 0), "wait for an event");
    }
    void synchronise_event(Handle event) const override {
        check(api_.hipEventSynchronize(event), "finish the work before an event");
    }
    double seconds_between(Handle first, Handle last) const override {
        float milliseconds = 0;
        check(api_.hipEventElapsedTime(&milliseconds, first, last), "measure the time between events");
        return milliseconds * 1e-3;
    }

    gpu::LoadedModule load(const void* image) const override {
        gpu::LoadedModule loaded;
        const Result result = api_.hipModuleLoadData(&loaded.module, image);
        if (!is_refusal(result)) {
            check(result, "load code");
            return loaded;
        }
        return {nullptr, words(result)};
    }

    Handle find_function(Handle module, const std::string& name) const override {
        Handle function = nullptr;
        const Result result = api_.hipModuleGetFunction(&function, module, name.c_str());
        if (result == kNotFound) return nullptr;
        check(result, "find `{}` in loaded code", name);
        return function;
    }

    gpu::FunctionFacts function_facts(Handle function) const override {
        int threads = 0, shared = 0;
        check(api_.hipFuncGetAttribute(&threads, kFunctionMaxThreads, function), "ask what a kernel needs");
        check(api_.hipFuncGetAttribute(&shared, kFunctionSharedBytes, function), "ask what a kernel needs");
        return {threads, shared};
    }

    /// AMD's devices give a block all it asks for, up to their limit.
    void allow_shared_bytes(Handle, std::int64_t) const override {}

    void launch(Handle function, std::uint32_t blocks, std::uint32_t threads, std::uint32_t shared_bytes, Handle stream,
                void* slots) const override {
        void* parameters[] = {slots};
        const Result result = api_.hipModuleLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared_bytes, stream,
                                                         parameters, nullptr);
        if (result != kSuccess) {
            check(result, "launch {} blocks of {} threads with {} bytes of shared memory", blocks, threads,
                  shared_bytes);
        }
    }

private:
    static bool is_refusal(Result result) {
        for (const Result refusal : {kInvalidValue, kInvalidImage, kNoBinaryForGpu, kInvalidKernelFile, kInvalidSource,
                                     kSharedObjectInitFailed, kNotFound}) {
            if (result == refusal) return true;
        }
        return false;
    }

    int attribute(int number, int device) const {
        int value = 0;
        check(api_.hipDeviceGetAttribute(&value, number, device), "ask for attribute {} of hip:{}", number, device);
        return value;
    }

    /// No attribute tells the architecture in all versions; hipDeviceProp_t does, whose layout changed with 6.0. So it
    /// is taken as bytes: in every layout its last text that begins with `gfx` is gcnArchName, such as
    /// "gfx90a:sramecc+".
    std::string architecture(int device) const {
        constexpr std::size_t kMoreThanItHas = 16384;
        const auto query = api_.hipGetDevicePropertiesR0600 != nullptr ? api_.hipGetDevicePropertiesR0600
                                                                       : api_.hipGetDeviceProperties;
        alignas(16) static thread_local std::array<char, kMoreThanItHas> bytes;
        bytes.fill('\0');
        check(query(bytes.data(), device), "describe hip:{}", device);
        const std::string_view text(bytes.data(), bytes.size());
        const std::size_t at = text.rfind("gfx");
        if (at == std::string_view::npos) {
            throw Error(ErrorKind::device,
                        fmt::format("the HIP driver {} does not name the architecture of hip:{}", version_, device));
        }
        const std::string_view rest = text.substr(at);
        return std::string(rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789")));
    }

    std::string words(Result result) const {
        const char* name = api_.hipGetErrorName(result);
        const char* text = api_.hipGetErrorString(result);
        if (name == nullptr) return fmt::format("error {}", result);
        return text == nullptr || std::strcmp(name, text) == 0 ? name : fmt::format("{} ({})", name, text);
    }

    template <class... Values>
    void check(Result result, const char* action, const Values&... values) const {
        if (result == kSuccess) return;
        throw Error(ErrorKind::device,
                    fmt::format("the HIP driver could not {}: {}",
                                fmt::vformat(action, fmt::make_format_args(values...)), words(result)));
    }

    const Api api_;
    const std::string name_ = "hip", path_, version_;
    const int devices_;
};

/// The name of the first function that the library must have and lacks; null if there is none.
const char* load(const DynamicLibrary& library, Api& api) {
    const char* missing = nullptr;
#define KILN_LOAD(name, parameters) api.name = reinterpret_cast<decltype(api.name)>(library.find(#name));
#define KILN_REQUIRE(name, parameters) \
    KILN_LOAD(name, parameters)        \
    if (api.name == nullptr && missing == nullptr) missing = #name;
    KILN_HIP_FUNCTIONS(KILN_REQUIRE, KILN_LOAD)
    KILN_REQUIRE(hipGetErrorName, )
    KILN_REQUIRE(hipGetErrorString, )
#undef KILN_REQUIRE
#undef KILN_LOAD
    if (api.hipGetDeviceProperties == nullptr && api.hipGetDevicePropertiesR0600 == nullptr) {
        missing = "hipGetDeviceProperties";
    }
    return missing;
}

gpu::FoundDriver open_driver() {
    const DynamicLibrary library =
        DynamicLibrary::open({"KILN_HIP_DRIVER",
                              {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"},
                              library_folders()});
    if (!library.is_open()) return {nullptr, library.reason()};
    Api api;
    int version = 0, devices = 0;
    if (const char* missing = load(library, api)) {
        return {nullptr, fmt::format("{} is too old or no HIP driver: it lacks {}", library.path(), missing)};
    }
    if (const Result result = api.hipInit(0); result != kSuccess) {
        return {nullptr, fmt::format("{} does not start: {}", library.path(), api.hipGetErrorName(result))};
    }
    if (const Result result = api.hipRuntimeGetVersion(&version); result != kSuccess || version < kOldestVersion) {
        return {nullptr, fmt::format("{} is version {}.{}, and Kiln needs 5.2 or newer", library.path(),
                                     version / 10000000, version / 100000 % 100)};
    }
    if (const Result result = api.hipGetDeviceCount(&devices); result != kSuccess || devices == 0) {
        return {nullptr, fmt::format("{} finds no device{}", library.path(),
                                     result == kSuccess ? "" : fmt::format(": {}", api.hipGetErrorName(result)))};
    }
    gpu::driver_state();  // begins to watch for forks and the exit, after the library's own exit handlers are set
    return {new HipDriver(api, library.path(), version, devices), ""};
}

}  // namespace

std::vector<std::string> library_folders() {
    return {"/opt/rocm/lib", "/opt/rocm/hip/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64"};
}

const gpu::FoundDriver& driver() {
    static const auto* const found = new gpu::FoundDriver(open_driver());
    return *found;
}

}  // namespace kiln::runtime::hip
