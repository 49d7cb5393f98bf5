#include "tests/emulated_gpu/cuda/driver/driver_state.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace emulated_gpu {

uint64_t Device::shared_per_block_opt_in() const {
    // CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
    if (capability == 80 || capability == 87) return 163 * 1024;
    if (capability >= 90 && capability < 120) return 227 * 1024;
    return 99 * 1024;
}

std::string Device::name() const {
    return "Emulated GPU sm_" + std::to_string(capability);
}

Driver& Driver::get() {
    // Never destroyed: streams of a program that ends without freeing them may still run.
    static auto* driver = new Driver;
    return *driver;
}

namespace {

uint64_t environment_number(const char* name, uint64_t otherwise) {
    const char* value = std::getenv(name);
    return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

}  // namespace

Driver::Driver() {
    const char* wanted = std::getenv("EMULATED_GPU_CAPABILITIES");
    std::string list = wanted == nullptr ? "80" : wanted;
    list += ',';
    for (size_t at = 0; at < list.size();) {
        const size_t end = list.find(',', at);
        const int capability = std::atoi(list.substr(at, end - at).c_str());
        if (capability > 0) devices.push_back(std::make_unique<Device>(static_cast<int>(devices.size()), capability));
        at = end + 1;
    }
    if (const char* path = std::getenv("EMULATED_GPU_REPORT")) report_path_ = path;
    options.shuffle = std::getenv("EMULATED_GPU_SEED") != nullptr;
    options.seed = environment_number("EMULATED_GPU_SEED", 0);
    options.check_global = environment_number("EMULATED_GPU_GLOBAL_RACES", 0) != 0;
    options.instruction_budget = environment_number("EMULATED_GPU_BUDGET", options.instruction_budget);
}

void Driver::note(const LaunchResult& result) {
    const std::lock_guard lock(report_mutex_);
    if (result.report) std::fprintf(stderr, "emulated gpu: %s\n", result.report->text().c_str());
    if (report_path_.empty()) return;
    std::ofstream file(report_path_, std::ios::app);
    file << result.counters.json() << "\n";
    if (result.report) file << result.report->json() << "\n";
}

std::vector<CUcontext>& context_stack() {
    static thread_local std::vector<CUcontext> stack;
    return stack;
}

CUcontext current_context() {
    return context_stack().empty() ? nullptr : context_stack().back();
}

CUresult usable_context(CUcontext& context) {
    if (!Driver::get().initialised) return CUDA_ERROR_NOT_INITIALIZED;
    context = current_context();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return static_cast<CUresult>(context->sticky.load());
}

CUresult find_stream(CUcontext context, CUstream handle, CUstream& stream) {
    const auto number = reinterpret_cast<uintptr_t>(handle);
    if (number <= 1) {
        stream = context->legacy.get();
        return CUDA_SUCCESS;
    }
    if (number == 2) {
        stream = context->per_thread.get();
        return CUDA_SUCCESS;
    }
    const std::lock_guard lock(context->mutex);
    if (!context->streams.contains(handle)) return CUDA_ERROR_INVALID_HANDLE;
    stream = handle;
    return CUDA_SUCCESS;
}

namespace {

bool anything_captured(CUcontext context) {
    const std::lock_guard lock(context->mutex);
    return std::any_of(context->streams.begin(), context->streams.end(),
                       [](CUstream stream) { return stream->blocking && stream->capture; });
}

}  // namespace

std::vector<std::shared_ptr<Moment>> order_before(CUstream stream) {
    CUctx_st& context = stream->context;
    std::vector<std::shared_ptr<Moment>> after;
    if (stream == context.legacy.get()) {
        const std::lock_guard lock(context.mutex);
        for (CUstream other : context.streams) {
            if (other->blocking && !other->idle()) after.push_back(other->mark());
        }
        if (!context.per_thread->idle()) after.push_back(context.per_thread->mark());
    } else if (stream->blocking && !context.legacy->idle()) {
        after.push_back(context.legacy->mark());
    }
    return after;
}

CUresult enqueue(CUstream stream, int node_type, std::function<void()> work) {
    if (stream->capture) {
        Capture& capture = *stream->capture;
        if (capture.invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        auto node = std::make_unique<CUgraphNode_st>();
        node->type = node_type;
        node->work = std::move(work);
        capture.graph->nodes.push_back(std::move(node));
        if (stream != capture.origin) capture.unjoined.insert(stream);
        return CUDA_SUCCESS;
    }
    if (stream == stream->context.legacy.get() && anything_captured(&stream->context)) {
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    CUctx_st& context = stream->context;
    stream->submit(
        [&context, work = std::move(work)] {
            if (context.sticky == CUDA_SUCCESS) work();
        },
        order_before(stream));
    return CUDA_SUCCESS;
}

CUresult run_synchronously(CUcontext context, const std::function<void()>& work) {
    const CUresult queued = enqueue(context->legacy.get(), 0, work);
    if (queued != CUDA_SUCCESS) return queued;
    context->legacy->synchronize();
    return static_cast<CUresult>(context->sticky.load());
}

CUresult result_of(FaultKind kind) {
    switch (kind) {
        case FaultKind::IllegalAddress:
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        case FaultKind::MisalignedAddress:
            return CUDA_ERROR_MISALIGNED_ADDRESS;
        case FaultKind::AssertFailed:
            return CUDA_ERROR_ASSERT;
        case FaultKind::Runaway:
        case FaultKind::Deadlock:
            return CUDA_ERROR_LAUNCH_TIMEOUT;
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
            return CUDA_ERROR_LAUNCH_FAILED;
    }
    return CUDA_ERROR_LAUNCH_FAILED;
}

Device& device_of(Device& own, uint64_t address) {
    if (own.memory.at(address, 1) != nullptr) return own;
    for (const auto& device : Driver::get().devices) {
        if (device->memory.at(address, 1) != nullptr) return *device;
    }
    return own;
}

}  // namespace emulated_gpu

CUctx_st::CUctx_st(emulated_gpu::Device& owner) : device(owner) {
    legacy = std::make_unique<CUstream_st>(*this, false);
    per_thread = std::make_unique<CUstream_st>(*this, true);
}

CUctx_st::~CUctx_st() {
    for (CUstream_st* stream : streams) delete stream;
    streams.clear();
    per_thread.reset();
    legacy.reset();
    for (CUmod_st* module : modules) {
        for (const auto& [name, place] : module->loaded->variables) device.memory.release(place.offset);
        delete module;
    }
}

void CUctx_st::synchronize() {
    std::vector<std::shared_ptr<emulated_gpu::Moment>> moments{legacy->mark(), per_thread->mark()};
    {
        const std::lock_guard lock(mutex);
        for (CUstream_st* stream : streams) moments.push_back(stream->mark());
    }
    for (const auto& moment : moments) moment->wait();
}
