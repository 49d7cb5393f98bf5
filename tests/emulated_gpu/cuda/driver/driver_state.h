#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tests/emulated_gpu/common/work_queue.h"
#include "tests/emulated_gpu/cuda/driver/driver_types.h"
#include "tests/emulated_gpu/cuda/execution.h"

namespace emulated_gpu {

struct Device;
struct Capture;

}  // namespace emulated_gpu

/// A context: what belongs together on one device, and the error that ended it, if one did.
struct CUctx_st {
    emulated_gpu::Device& device;
    std::atomic<int> sticky{CUDA_SUCCESS};
    std::mutex mutex;  // of the sets below
    std::unique_ptr<CUstream_st> legacy;
    std::unique_ptr<CUstream_st> per_thread;  // one for all threads: CU_STREAM_PER_THREAD of a single-threaded program
    std::set<CUstream_st*> streams;           // created by the program
    std::set<CUmod_st*> modules;
    unsigned flags = 0;
    bool primary = false;

    explicit CUctx_st(emulated_gpu::Device& owner);
    ~CUctx_st();
    /// Waits for all streams.
    void synchronize();
};

struct CUstream_st : emulated_gpu::WorkQueue {
    CUctx_st& context;
    bool blocking;  // in order with the legacy stream
    int priority = 0;
    std::shared_ptr<emulated_gpu::Capture> capture;
    bool joined_capture = false;  // this stream entered another's capture by an event

    CUstream_st(CUctx_st& owner, bool is_blocking) : context(owner), blocking(is_blocking) {}
};

struct CUevent_st {
    std::shared_ptr<emulated_gpu::Moment> moment;    // of the last record; null: never recorded
    std::shared_ptr<emulated_gpu::Capture> capture;  // recorded while that was being captured
    bool timing = true;
};

struct CUfunc_st {
    CUmod_st* module = nullptr;
    const emulated_gpu::LoadedKernel* kernel = nullptr;
    uint64_t most_dynamic_shared = 0;
    int carveout = -1;
    bool large_clusters = false;  // of more than 8 blocks, which not every device has
};

struct CUmod_st {
    CUctx_st* context = nullptr;
    std::unique_ptr<emulated_gpu::LoadedModule> loaded;
    std::map<std::string, CUfunc_st> functions;
};

struct CUgraphNode_st {
    int type = 0;
    std::function<void()> work;
};

/// Nodes in the order in which they were captured, which is one of the orders that the dependencies allow.
struct CUgraph_st {
    std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
    std::vector<std::function<void()>> work;
};

namespace emulated_gpu {

/// A capture in progress.
struct Capture {
    std::unique_ptr<CUgraph_st> graph = std::make_unique<CUgraph_st>();
    CUstream_st* origin = nullptr;
    bool invalid = false;
    std::set<CUstream_st*> joined;
    std::set<CUstream_st*> unjoined;  // of these, which have work that the origin has not waited for
};

struct Device {
    int index;
    int capability;  // 10 * major + minor
    DeviceMemory memory;
    std::mutex execution;  // kernels of one device run one after the other
    std::unique_ptr<CUctx_st> primary;
    int primary_users = 0;
    unsigned primary_flags = 0;

    Device(int number, int of_capability)
        : index(number), capability(of_capability), memory(uint64_t{4} << 30, static_cast<uint64_t>(number)) {}
    int multiprocessors() const { return 4; }
    uint64_t shared_per_block_opt_in() const;
    uint64_t shared_per_multiprocessor() const { return shared_per_block_opt_in() + 1024; }
    std::string name() const;
};

/// The driver: its devices, as the environment wants them, and how to run kernels.
class Driver {
public:
    static Driver& get();

    std::vector<std::unique_ptr<Device>> devices;
    Options options;
    std::atomic<bool> initialised{false};

    /// Writes a fault to standard error, and faults and counters to the file that EMULATED_GPU_REPORT names.
    void note(const LaunchResult& result);

private:
    Driver();
    std::mutex report_mutex_;
    std::string report_path_;
};

/// The current context of this thread; null if there is none.
CUcontext current_context();
std::vector<CUcontext>& context_stack();

/// The current context, usable: initialised, current, and without a sticky error.
CUresult usable_context(CUcontext& context);
/// The stream a handle means in the context: null and CU_STREAM_LEGACY are the legacy stream.
CUresult find_stream(CUcontext context, CUstream handle, CUstream& stream);

/// What has to be done before new work of the stream: all blocking streams for the legacy one, and the legacy one for
/// them.
std::vector<std::shared_ptr<Moment>> order_before(CUstream stream);
/// Queues work in a stream in the order CUDA wants (once the context has failed, it is passed over), or adds it to the
/// graph being captured.
CUresult enqueue(CUstream stream, int node_type, std::function<void()> work);
/// Queues work in the legacy stream's order and waits for it; refused while a stream is being captured.
CUresult run_synchronously(CUcontext context, const std::function<void()>& work);

CUresult result_of(FaultKind kind);

/// The device whose memory holds the address, `own` before others; `own` if none does. Addresses are unified.
Device& device_of(Device& own, uint64_t address);

}  // namespace emulated_gpu
