// Streams, events and graphs.

#include <algorithm>

#include "tests/emulated_gpu/cuda/driver/driver_state.h"

using namespace emulated_gpu;

namespace {

CUresult context_and_stream(CUstream handle, CUcontext& context, CUstream& stream) {
    const CUresult usable = usable_context(context);
    return usable == CUDA_SUCCESS ? find_stream(context, handle, stream) : usable;
}

/// Waiting for a stream that is being captured ends the capture.
CUresult refuse_while_captured(CUstream stream) {
    if (!stream->capture) return CUDA_SUCCESS;
    stream->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult create_stream(CUstream* stream, unsigned flags, int priority) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    if (stream == nullptr || flags > 1) return CUDA_ERROR_INVALID_VALUE;
    *stream = new CUstream_st(*context, flags == 0);
    (*stream)->priority = std::clamp(priority, -5, 0);
    const std::lock_guard lock(context->mutex);
    context->streams.insert(*stream);
    return CUDA_SUCCESS;
}

void end_capture(Capture& capture) {
    for (CUstream stream : capture.joined) {
        stream->capture.reset();
        stream->joined_capture = false;
    }
}

}  // namespace

EMULATED_API cuStreamCreate(CUstream* stream, unsigned flags) {
    return create_stream(stream, flags, 0);
}
EMULATED_API cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
    return create_stream(stream, flags, priority);
}

EMULATED_API cuStreamDestroy_v2(CUstream handle) {
    CUcontext context = current_context();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    {
        const std::lock_guard lock(context->mutex);
        if (context->streams.erase(handle) == 0) return CUDA_ERROR_INVALID_HANDLE;
    }
    delete handle;  // what is queued still runs
    return CUDA_SUCCESS;
}

EMULATED_API cuStreamSynchronize(CUstream handle) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    CUresult result = context_and_stream(handle, context, stream);
    if (result != CUDA_SUCCESS) return result;
    result = refuse_while_captured(stream);
    if (result != CUDA_SUCCESS) return result;
    stream->synchronize();
    return static_cast<CUresult>(context->sticky.load());
}

EMULATED_API cuStreamQuery(CUstream handle) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    CUresult result = context_and_stream(handle, context, stream);
    if (result != CUDA_SUCCESS) return result;
    result = refuse_while_captured(stream);
    if (result != CUDA_SUCCESS) return result;
    return stream->idle() ? static_cast<CUresult>(context->sticky.load()) : CUDA_ERROR_NOT_READY;
}

EMULATED_API cuStreamGetFlags(CUstream handle, unsigned* flags) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    const CUresult result = context_and_stream(handle, context, stream);
    if (result == CUDA_SUCCESS) *flags = stream->blocking || stream == context->legacy.get() ? 0 : 1;
    return result;
}
EMULATED_API cuStreamGetPriority(CUstream handle, int* priority) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    const CUresult result = context_and_stream(handle, context, stream);
    if (result == CUDA_SUCCESS) *priority = stream->priority;
    return result;
}
EMULATED_API cuStreamGetCtx(CUstream handle, CUcontext* out) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    const CUresult result = context_and_stream(handle, context, stream);
    if (result == CUDA_SUCCESS) *out = &stream->context;
    return result;
}

EMULATED_API cuEventCreate(CUevent* event, unsigned flags) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *event = new CUevent_st;
    (*event)->timing = (flags & 2) == 0;  // CU_EVENT_DISABLE_TIMING
    return CUDA_SUCCESS;
}

EMULATED_API cuEventDestroy_v2(CUevent event) {
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    delete event;
    return CUDA_SUCCESS;
}

EMULATED_API cuEventRecord(CUevent event, CUstream handle) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    const CUresult result = context_and_stream(handle, context, stream);
    if (result != CUDA_SUCCESS) return result;
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    event->capture = stream->capture;
    if (stream->capture) {
        stream->capture->unjoined.erase(stream);  // joined once the origin waits for the event
        event->moment.reset();
        if (stream != stream->capture->origin) stream->capture->unjoined.insert(stream);
        return CUDA_SUCCESS;
    }
    event->moment = std::make_shared<Moment>();
    // Reached even in a context that has failed meanwhile: who waits must not wait for ever.
    stream->submit([moment = event->moment] { moment->reach(); }, order_before(stream));
    return CUDA_SUCCESS;
}
EMULATED_API cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
    return cuEventRecord(event, stream);
}

EMULATED_API cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    const CUresult result = context_and_stream(handle, context, stream);
    if (result != CUDA_SUCCESS) return result;
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (event->capture) {
        Capture& capture = *event->capture;
        if (!stream->capture) {
            stream->capture = event->capture;
            stream->joined_capture = true;
            capture.joined.insert(stream);
        } else if (stream == capture.origin) {
            capture.unjoined.clear();
        }
        return CUDA_SUCCESS;
    }
    if (stream->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (!event->moment) return CUDA_SUCCESS;
    stream->submit([] {}, {event->moment});
    return CUDA_SUCCESS;
}

EMULATED_API cuEventQuery(CUevent event) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return !event->moment || event->moment->reached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

EMULATED_API cuEventSynchronize(CUevent event) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (event->moment) event->moment->wait();
    return static_cast<CUresult>(context->sticky.load());
}

EMULATED_API cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (start == nullptr || end == nullptr || !start->timing || !end->timing || !start->moment || !end->moment) {
        return CUDA_ERROR_INVALID_HANDLE;
    }
    if (!start->moment->reached() || !end->moment->reached()) return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(end->moment->time() - start->moment->time()).count();
    return CUDA_SUCCESS;
}
EMULATED_API cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
    return cuEventElapsedTime(milliseconds, start, end);
}

EMULATED_API cuStreamBeginCapture_v2(CUstream handle, int) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    const CUresult result = context_and_stream(handle, context, stream);
    if (result != CUDA_SUCCESS) return result;
    if (stream == context->legacy.get()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture) return CUDA_ERROR_INVALID_VALUE;
    stream->capture = std::make_shared<Capture>();
    stream->capture->origin = stream;
    stream->capture->joined.insert(stream);
    return CUDA_SUCCESS;
}

EMULATED_API cuStreamEndCapture(CUstream handle, CUgraph* graph) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    const CUresult result = context_and_stream(handle, context, stream);
    if (result != CUDA_SUCCESS) return result;
    if (graph == nullptr || !stream->capture) return CUDA_ERROR_INVALID_VALUE;
    *graph = nullptr;
    if (stream->joined_capture) return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    const std::shared_ptr<Capture> capture = stream->capture;
    end_capture(*capture);
    if (capture->invalid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!capture->unjoined.empty()) return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    *graph = capture->graph.release();
    return CUDA_SUCCESS;
}

EMULATED_API cuStreamIsCapturing(CUstream handle, int* status) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    const CUresult result = context_and_stream(handle, context, stream);
    if (result != CUDA_SUCCESS) return result;
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *status = !stream->capture ? 0 : stream->capture->invalid ? 2 : 1;
    return CUDA_SUCCESS;
}

EMULATED_API cuGraphCreate(CUgraph* graph, unsigned) {
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *graph = new CUgraph_st;
    return CUDA_SUCCESS;
}
EMULATED_API cuGraphDestroy(CUgraph graph) {
    if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    delete graph;
    return CUDA_SUCCESS;
}

EMULATED_API cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
    if (graph == nullptr || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (nodes == nullptr) {
        *count = graph->nodes.size();
        return CUDA_SUCCESS;
    }
    for (size_t i = 0; i < *count; ++i) nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
    *count = std::min(*count, graph->nodes.size());
    return CUDA_SUCCESS;
}
EMULATED_API cuGraphNodeGetType(CUgraphNode node, int* type) {
    if (node == nullptr || type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *type = node->type;
    return CUDA_SUCCESS;
}

EMULATED_API cuGraphInstantiateWithFlags(CUgraphExec* executable, CUgraph graph, unsigned long long) {
    if (executable == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *executable = new CUgraphExec_st;
    for (const auto& node : graph->nodes) (*executable)->work.push_back(node->work);
    return CUDA_SUCCESS;
}
EMULATED_API cuGraphInstantiate_v2(CUgraphExec* executable, CUgraph graph, CUgraphNode*, char*, size_t) {
    return cuGraphInstantiateWithFlags(executable, graph, 0);
}

EMULATED_API cuGraphLaunch(CUgraphExec executable, CUstream handle) {
    CUcontext context = nullptr;
    CUstream stream = nullptr;
    CUresult result = context_and_stream(handle, context, stream);
    if (result != CUDA_SUCCESS) return result;
    if (executable == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture) return CUDA_ERROR_NOT_SUPPORTED;
    for (const auto& work : executable->work) {
        result = enqueue(stream, 0, work);
        if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
}

EMULATED_API cuGraphExecDestroy(CUgraphExec executable) {
    if (executable == nullptr) return CUDA_ERROR_INVALID_VALUE;
    delete executable;
    return CUDA_SUCCESS;
}
