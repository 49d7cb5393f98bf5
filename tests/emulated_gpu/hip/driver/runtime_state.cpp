#include "tests/emulated_gpu/hip/driver/runtime_state.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace emulated_gpu::hip {
namespace {

uint64_t environment_number(const char* name, uint64_t otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

/// The version that belongs to the name under which the library was loaded: libamdhip64.so.6 is HIP 6. Of each, the
/// number of one release (major * 10'000'000 + minor * 100'000 + patch).
int version_of_library() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&version_of_library), &info) == 0 || info.dli_fname == nullptr) return 50221153;
    const std::string name = info.dli_fname;
    if (name.ends_with(".so.6")) return 60443482;
    if (name.ends_with(".so.7")) return 70051831;
    return 50221153;
}

}  // namespace

Device::Device(int number, std::string name) : index(number), processor(std::move(name)) {
    null_stream = std::make_unique<ihipStream_t>(*this, false);
    per_thread = std::make_unique<ihipStream_t>(*this, true);
}

Device::~Device() {
    for (ihipStream_t* stream : streams) delete stream;
}

void Device::synchronize() {
    std::vector<std::shared_ptr<Moment>> moments{null_stream->mark(), per_thread->mark()};
    {
        const std::lock_guard lock(mutex);
        for (ihipStream_t* stream : streams) moments.push_back(stream->mark());
    }
    for (const auto& moment : moments) moment->wait();
}

Runtime& Runtime::get() {
    // Never destroyed: streams of a program that ends without freeing them may still run.
    static auto* runtime = new Runtime;
    return *runtime;
}

Runtime::Runtime() : version(version_of_library()) {
    const char* wanted = std::getenv("EMULATED_GPU_PROCESSORS");
    std::string list = wanted == nullptr ? "gfx90a" : wanted;
    list += ',';
    for (size_t at = 0; at < list.size();) {
        const size_t end = list.find(',', at);
        const std::string processor = list.substr(at, end - at);
        if (!processor.empty()) {
            devices.push_back(std::make_unique<Device>(static_cast<int>(devices.size()), processor));
        }
        at = end + 1;
    }
    if (const char* path = std::getenv("EMULATED_GPU_REPORT")) report_path_ = path;
    options.shuffle = std::getenv("EMULATED_GPU_SEED") != nullptr;
    options.seed = environment_number("EMULATED_GPU_SEED", 0);
    options.instruction_budget = environment_number("EMULATED_GPU_BUDGET", options.instruction_budget);
}

void Runtime::note(const LaunchResult& result) {
    const std::lock_guard lock(report_mutex_);
    if (result.report) std::fprintf(stderr, "emulated gpu: %s\n", result.report->text().c_str());
    if (report_path_.empty()) return;
    std::ofstream file(report_path_, std::ios::app);
    file << result.counters.json() << "\n";
    if (result.report) file << result.report->json() << "\n";
}

int& chosen_device() {
    static thread_local int device = 0;
    return device;
}

hipError_t& last_error() {
    static thread_local hipError_t error = hipSuccess;
    return error;
}

hipError_t remember(hipError_t error) {
    if (error != hipSuccess) last_error() = error;
    return error;
}

hipError_t current_device(Device*& device) {
    auto& devices = Runtime::get().devices;
    if (devices.empty()) return hipErrorNoDevice;
    device = devices[static_cast<size_t>(chosen_device())].get();
    return static_cast<hipError_t>(device->sticky.load());
}

hipError_t find_stream(Device& device, hipStream_t handle, hipStream_t& stream) {
    const auto number = reinterpret_cast<uintptr_t>(handle);
    if (number <= 2) {
        stream = number == 2 ? device.per_thread.get() : device.null_stream.get();
        return hipSuccess;
    }
    const std::lock_guard lock(device.mutex);
    if (!device.streams.contains(handle)) return hipErrorInvalidHandle;
    stream = handle;
    return hipSuccess;
}

hipError_t device_and_stream(hipStream_t handle, Device*& device, hipStream_t& stream) {
    const hipError_t usable = current_device(device);
    return usable == hipSuccess ? find_stream(*device, handle, stream) : usable;
}

namespace {

bool anything_captured(Device& device) {
    const std::lock_guard lock(device.mutex);
    return std::any_of(device.streams.begin(), device.streams.end(),
                       [](hipStream_t stream) { return stream->blocking && stream->capture; });
}

}  // namespace

std::vector<std::shared_ptr<Moment>> order_before(hipStream_t stream) {
    Device& device = stream->device;
    std::vector<std::shared_ptr<Moment>> after;
    if (stream == device.null_stream.get()) {
        const std::lock_guard lock(device.mutex);
        for (hipStream_t other : device.streams) {
            if (other->blocking && !other->idle()) after.push_back(other->mark());
        }
        if (!device.per_thread->idle()) after.push_back(device.per_thread->mark());
    } else if (stream->blocking && !device.null_stream->idle()) {
        after.push_back(device.null_stream->mark());
    }
    return after;
}

hipError_t enqueue(hipStream_t stream, int node_type, std::function<void()> work) {
    if (stream->capture) {
        Capture& capture = *stream->capture;
        if (capture.invalid) return hipErrorStreamCaptureInvalidated;
        auto node = std::make_unique<hipGraphNode>();
        node->type = node_type;
        node->work = std::move(work);
        capture.graph->nodes.push_back(std::move(node));
        if (stream != capture.origin) capture.unjoined.insert(stream);
        return hipSuccess;
    }
    Device& device = stream->device;
    if (stream == device.null_stream.get() && anything_captured(device)) return hipErrorStreamCaptureImplicit;
    stream->submit(
        [&device, work = std::move(work)] {
            if (device.sticky == hipSuccess) work();
        },
        order_before(stream));
    return hipSuccess;
}

hipError_t run_synchronously(Device& device, const std::function<void()>& work) {
    const hipError_t queued = enqueue(device.null_stream.get(), kMemcpyNode, work);
    if (queued != hipSuccess) return queued;
    device.null_stream->synchronize();
    return static_cast<hipError_t>(device.sticky.load());
}

hipError_t error_of(FaultKind kind) {
    switch (kind) {
        case FaultKind::IllegalAddress:
            return hipErrorIllegalAddress;
        case FaultKind::AssertFailed:
            return hipErrorAssert;
        case FaultKind::Runaway:
        case FaultKind::Deadlock:
            return hipErrorLaunchTimeOut;
        case FaultKind::MisalignedAddress:
        case FaultKind::Trap:
        case FaultKind::UninitialisedRegister:
        case FaultKind::UninitialisedShared:
        case FaultKind::SharedRace:
        case FaultKind::GlobalRace:
        case FaultKind::AsyncCopyNotWaitedFor:
        case FaultKind::MissingFence:
        case FaultKind::BadDescriptor:
        case FaultKind::RegisterNotWaitedFor:
        case FaultKind::DivergentBarrier:
        case FaultKind::BarrierMisuse:
            return hipErrorLaunchFailure;
    }
    return hipErrorLaunchFailure;
}

}  // namespace emulated_gpu::hip
