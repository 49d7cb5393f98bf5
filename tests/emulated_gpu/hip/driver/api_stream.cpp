// Streams, events and graphs.

#include <algorithm>

#include "tests/emulated_gpu/hip/driver/runtime_state.h"

using namespace emulated_gpu;
using namespace emulated_gpu::hip;

namespace {

/// Waiting for a stream that is being captured ends the capture.
hipError_t refuse_while_captured(hipStream_t stream) {
    if (!stream->capture) return hipSuccess;
    stream->capture->invalid = true;
    return hipErrorStreamCaptureUnsupported;
}

hipError_t create_stream(hipStream_t* stream, unsigned flags, int priority) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return usable;
    if (stream == nullptr || flags > 1) return hipErrorInvalidValue;
    *stream = new ihipStream_t(*device, flags == 0);
    (*stream)->priority = std::clamp(priority, -1, 1);
    const std::lock_guard lock(device->mutex);
    device->streams.insert(*stream);
    return hipSuccess;
}

/// The stream, if it may be waited for.
hipError_t stream_to_wait_for(hipStream_t handle, Device*& device, hipStream_t& stream) {
    const hipError_t found = device_and_stream(handle, device, stream);
    return found == hipSuccess ? refuse_while_captured(stream) : found;
}

void end_capture(Capture& capture) {
    for (hipStream_t stream : capture.joined) {
        stream->capture.reset();
        stream->joined_capture = false;
    }
}

hipError_t record(hipEvent_t event, hipStream_t handle) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return result;
    if (event == nullptr) return hipErrorInvalidHandle;
    event->capture = stream->capture;
    if (stream->capture) {
        event->moment.reset();
        if (stream != stream->capture->origin) stream->capture->unjoined.insert(stream);
        return hipSuccess;
    }
    event->moment = std::make_shared<Moment>();
    // Reached even on a device that has failed meanwhile: who waits must not wait for ever.
    stream->submit([moment = event->moment] { moment->reach(); }, order_before(stream));
    return hipSuccess;
}

hipError_t wait_for_event(hipStream_t handle, hipEvent_t event) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return result;
    if (event == nullptr) return hipErrorInvalidHandle;
    if (event->capture) {
        Capture& capture = *event->capture;
        if (!stream->capture) {
            stream->capture = event->capture;
            stream->joined_capture = true;
            capture.joined.insert(stream);
        } else if (stream == capture.origin) {
            capture.unjoined.clear();
        }
        return hipSuccess;
    }
    if (stream->capture) return hipErrorStreamCaptureUnsupported;
    if (event->moment) stream->submit([] {}, {event->moment});
    return hipSuccess;
}

hipError_t begin_capture(hipStream_t handle) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return result;
    if (stream == device->null_stream.get()) return hipErrorStreamCaptureUnsupported;
    if (stream->capture) return hipErrorInvalidValue;
    stream->capture = std::make_shared<Capture>();
    stream->capture->origin = stream;
    stream->capture->joined.insert(stream);
    return hipSuccess;
}

hipError_t finish_capture(hipStream_t handle, hipGraph_t* graph) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return result;
    if (graph == nullptr || !stream->capture) return hipErrorInvalidValue;
    *graph = nullptr;
    if (stream->joined_capture) return hipErrorStreamCaptureUnmatched;
    const std::shared_ptr<Capture> capture = stream->capture;
    end_capture(*capture);
    if (capture->invalid) return hipErrorStreamCaptureInvalidated;
    if (!capture->unjoined.empty()) return hipErrorStreamCaptureUnjoined;
    *graph = capture->graph.release();
    return hipSuccess;
}

hipError_t instantiate(hipGraphExec_t* executable, hipGraph_t graph) {
    if (executable == nullptr || graph == nullptr) return hipErrorInvalidValue;
    *executable = new hipGraphExec;
    for (const auto& node : graph->nodes) (*executable)->work.push_back(node->work);
    return hipSuccess;
}

hipError_t launch_graph(hipGraphExec_t executable, hipStream_t handle) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return result;
    if (executable == nullptr) return hipErrorInvalidValue;
    if (stream->capture) return hipErrorNotSupported;
    for (const auto& work : executable->work) {
        result = enqueue(stream, kKernelNode, work);
        if (result != hipSuccess) return result;
    }
    return hipSuccess;
}

}  // namespace

EMULATED_API hipError_t hipStreamCreate(hipStream_t* stream) {
    return remember(create_stream(stream, 0, 0));
}
EMULATED_API hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned flags) {
    return remember(create_stream(stream, flags, 0));
}
EMULATED_API hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority) {
    return remember(create_stream(stream, flags, priority));
}
EMULATED_API hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
    if (least != nullptr) *least = 1;
    if (greatest != nullptr) *greatest = -1;
    return hipSuccess;
}

EMULATED_API hipError_t hipStreamDestroy(hipStream_t handle) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (device == nullptr) return remember(usable);
    {
        const std::lock_guard lock(device->mutex);
        if (device->streams.erase(handle) == 0) return remember(hipErrorInvalidHandle);
    }
    delete handle;  // what is queued still runs
    return hipSuccess;
}

EMULATED_API hipError_t hipStreamSynchronize(hipStream_t handle) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = stream_to_wait_for(handle, device, stream);
    if (result != hipSuccess) return remember(result);
    stream->synchronize();
    return remember(static_cast<hipError_t>(device->sticky.load()));
}

EMULATED_API hipError_t hipStreamQuery(hipStream_t handle) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = stream_to_wait_for(handle, device, stream);
    if (result != hipSuccess) return remember(result);
    return remember(stream->idle() ? static_cast<hipError_t>(device->sticky.load()) : hipErrorNotReady);
}

EMULATED_API hipError_t hipStreamGetFlags(hipStream_t handle, unsigned* flags) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return remember(result);
    if (flags == nullptr) return remember(hipErrorInvalidValue);
    *flags = stream->blocking || stream == device->null_stream.get() ? 0 : 1;
    return hipSuccess;
}
EMULATED_API hipError_t hipStreamGetPriority(hipStream_t handle, int* priority) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return remember(result);
    if (priority == nullptr) return remember(hipErrorInvalidValue);
    *priority = stream->priority;
    return hipSuccess;
}
EMULATED_API hipError_t hipStreamGetDevice(hipStream_t handle, int* number) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return remember(result);
    if (number == nullptr) return remember(hipErrorInvalidValue);
    *number = stream->device.index;
    return hipSuccess;
}
EMULATED_API hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned) {
    return remember(wait_for_event(stream, event));
}
EMULATED_API hipError_t hipStreamAddCallback(hipStream_t handle, hipStreamCallback_t callback, void* data, unsigned) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return remember(result);
    if (callback == nullptr) return remember(hipErrorInvalidValue);
    return remember(enqueue(stream, kHostNode, [callback, handle, data] { callback(handle, hipSuccess, data); }));
}

EMULATED_API hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
    if (event == nullptr) return remember(hipErrorInvalidValue);
    *event = new ihipEvent_t;
    (*event)->timing = (flags & 2) == 0;  // hipEventDisableTiming
    return hipSuccess;
}
EMULATED_API hipError_t hipEventCreate(hipEvent_t* event) {
    return hipEventCreateWithFlags(event, 0);
}
EMULATED_API hipError_t hipEventDestroy(hipEvent_t event) {
    if (event == nullptr) return remember(hipErrorInvalidHandle);
    delete event;
    return hipSuccess;
}
EMULATED_API hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
    return remember(record(event, stream));
}
EMULATED_API hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned) {
    return remember(record(event, stream));
}

EMULATED_API hipError_t hipEventQuery(hipEvent_t event) {
    if (event == nullptr) return remember(hipErrorInvalidHandle);
    if (event->capture) return remember(hipErrorStreamCaptureUnsupported);
    return remember(!event->moment || event->moment->reached() ? hipSuccess : hipErrorNotReady);
}
EMULATED_API hipError_t hipEventSynchronize(hipEvent_t event) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return remember(usable);
    if (event == nullptr) return remember(hipErrorInvalidHandle);
    if (event->capture) return remember(hipErrorStreamCaptureUnsupported);
    if (event->moment) event->moment->wait();
    return remember(static_cast<hipError_t>(device->sticky.load()));
}
EMULATED_API hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t end) {
    if (milliseconds == nullptr) return remember(hipErrorInvalidValue);
    if (start == nullptr || end == nullptr || !start->timing || !end->timing || !start->moment || !end->moment) {
        return remember(hipErrorInvalidHandle);
    }
    if (!start->moment->reached() || !end->moment->reached()) return remember(hipErrorNotReady);
    *milliseconds = std::chrono::duration<float, std::milli>(end->moment->time() - start->moment->time()).count();
    return hipSuccess;
}

EMULATED_API hipError_t hipStreamBeginCapture(hipStream_t stream, int) {
    return remember(begin_capture(stream));
}
EMULATED_API hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
    return remember(finish_capture(stream, graph));
}
EMULATED_API hipError_t hipStreamIsCapturing(hipStream_t handle, int* status) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return remember(result);
    if (status == nullptr) return remember(hipErrorInvalidValue);
    *status = !stream->capture ? 0 : stream->capture->invalid ? 2 : 1;
    return hipSuccess;
}
EMULATED_API hipError_t hipStreamGetCaptureInfo(hipStream_t handle, int* status, unsigned long long* id) {
    const hipError_t result = hipStreamIsCapturing(handle, status);
    if (result == hipSuccess && id != nullptr) *id = *status == 0 ? 0 : 1;
    return result;
}

EMULATED_API hipError_t hipGraphCreate(hipGraph_t* graph, unsigned) {
    if (graph == nullptr) return remember(hipErrorInvalidValue);
    *graph = new ihipGraph;
    return hipSuccess;
}
EMULATED_API hipError_t hipGraphDestroy(hipGraph_t graph) {
    if (graph == nullptr) return remember(hipErrorInvalidValue);
    delete graph;
    return hipSuccess;
}
EMULATED_API hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, size_t* count) {
    if (graph == nullptr || count == nullptr) return remember(hipErrorInvalidValue);
    if (nodes == nullptr) {
        *count = graph->nodes.size();
        return hipSuccess;
    }
    for (size_t i = 0; i < *count; ++i) nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
    *count = std::min(*count, graph->nodes.size());
    return hipSuccess;
}
EMULATED_API hipError_t hipGraphNodeGetType(hipGraphNode_t node, int* type) {
    if (node == nullptr || type == nullptr) return remember(hipErrorInvalidValue);
    *type = node->type;
    return hipSuccess;
}
EMULATED_API hipError_t hipGraphInstantiate(hipGraphExec_t* executable, hipGraph_t graph, hipGraphNode_t*, char*,
                                            size_t) {
    return remember(instantiate(executable, graph));
}
EMULATED_API hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* executable, hipGraph_t graph, unsigned long long) {
    return remember(instantiate(executable, graph));
}
EMULATED_API hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream) {
    return remember(launch_graph(executable, stream));
}
EMULATED_API hipError_t hipGraphExecDestroy(hipGraphExec_t executable) {
    if (executable == nullptr) return remember(hipErrorInvalidValue);
    delete executable;
    return hipSuccess;
}
