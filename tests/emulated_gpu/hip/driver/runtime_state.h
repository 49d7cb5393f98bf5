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
#include "tests/emulated_gpu/hip/driver/runtime_types.h"
#include "tests/emulated_gpu/hip/execution.h"

namespace emulated_gpu::hip {

struct Device;
struct Capture;

}  // namespace emulated_gpu::hip

struct ihipStream_t : emulated_gpu::WorkQueue {
    emulated_gpu::hip::Device& device;
    bool blocking;  // in order with the null stream
    int priority = 0;
    std::shared_ptr<emulated_gpu::hip::Capture> capture;
    bool joined_capture = false;  // this stream entered another's capture by an event

    ihipStream_t(emulated_gpu::hip::Device& owner, bool is_blocking) : device(owner), blocking(is_blocking) {}
};

struct ihipEvent_t {
    std::shared_ptr<emulated_gpu::Moment> moment;         // of the last record; null: never recorded
    std::shared_ptr<emulated_gpu::hip::Capture> capture;  // recorded while that was being captured
    bool timing = true;
};

struct ihipModuleSymbol_t {
    ihipModule_t* module = nullptr;
    const emulated_gpu::hip::KernelDescription* kernel = nullptr;
};

struct ihipModule_t {
    emulated_gpu::hip::Device* device = nullptr;
    std::unique_ptr<emulated_gpu::hip::LoadedModule> loaded;
    std::map<std::string, ihipModuleSymbol_t> functions;
};

struct hipGraphNode {
    int type = 0;
    std::function<void()> work;
};

/// Nodes in the order in which they were captured, which is one of the orders that the dependencies allow.
struct ihipGraph {
    std::vector<std::unique_ptr<hipGraphNode>> nodes;
};

struct hipGraphExec {
    std::vector<std::function<void()>> work;
};

namespace emulated_gpu::hip {

/// A capture in progress.
struct Capture {
    std::unique_ptr<ihipGraph> graph = std::make_unique<ihipGraph>();
    ihipStream_t* origin = nullptr;
    bool invalid = false;
    std::set<ihipStream_t*> joined;
    std::set<ihipStream_t*> unjoined;  // of these, which have work that the origin has not waited for
};

struct Device {
    int index = 0;
    std::string processor = "gfx90a";
    DeviceMemory memory{uint64_t{4} << 30};
    std::mutex execution;  // kernels of one device run one after the other
    std::atomic<int> sticky{hipSuccess};
    std::mutex mutex;  // of the sets below
    std::unique_ptr<ihipStream_t> null_stream;
    std::unique_ptr<ihipStream_t> per_thread;  // one for all threads
    std::set<ihipStream_t*> streams;           // created by the program
    std::set<ihipModule_t*> modules;

    explicit Device(int number, std::string name);
    ~Device();
    std::string name() const { return "Emulated GPU " + processor; }
    int compute_units() const { return 4; }
    uint64_t lds_bytes() const { return processor == "gfx950" ? 160 * 1024 : 64 * 1024; }
    Family family() const { return family_of(processor); }
    int wave_lanes() const { return static_cast<int>(usual_wave_lanes(family())); }
    /// The digits of the processor: gfx90a is 9.0, gfx1100 is 11.0, and what comes behind.
    int major() const { return std::stoi(processor.substr(3, processor.size() - 5)); }
    int minor() const { return processor[processor.size() - 2] - '0'; }
    /// As hipGetDeviceProperties tells it: with the features that may be on or off.
    std::string processor_with_features() const {
        return family() == Family::Cdna ? processor + ":sramecc+:xnack-" : processor;
    }
    /// Waits for all streams.
    void synchronize();
};

/// The runtime: its devices, as the environment wants them, and how to run kernels.
class Runtime {
public:
    static Runtime& get();

    std::vector<std::unique_ptr<Device>> devices;
    Options options;
    int version = 0;  // as hipRuntimeGetVersion tells it

    /// Writes a fault to standard error, and faults and counters to the file that EMULATED_GPU_REPORT names.
    void note(const LaunchResult& result);

private:
    Runtime();
    std::mutex report_mutex_;
    std::string report_path_;
};

/// The device that this thread has chosen, or an error: none, or one that has failed.
hipError_t current_device(Device*& device);
int& chosen_device();
/// Remembers an error for hipGetLastError of this thread.
hipError_t remember(hipError_t error);
hipError_t& last_error();

/// The stream a handle means on the device: null and 1 are the null stream, 2 is the thread's.
hipError_t find_stream(Device& device, hipStream_t handle, hipStream_t& stream);
/// Both of the above.
hipError_t device_and_stream(hipStream_t handle, Device*& device, hipStream_t& stream);

/// What has to be done before new work of the stream: all blocking streams for the null one, and the null one for them.
std::vector<std::shared_ptr<Moment>> order_before(hipStream_t stream);
/// Queues work in a stream (once the device has failed, it is passed over), or adds it to the graph being captured.
hipError_t enqueue(hipStream_t stream, int node_type, std::function<void()> work);
/// Queues work in the null stream's order and waits for it.
hipError_t run_synchronously(Device& device, const std::function<void()>& work);

hipError_t error_of(FaultKind kind);

inline constexpr int kKernelNode = 0;
inline constexpr int kMemcpyNode = 1;
inline constexpr int kMemsetNode = 2;
inline constexpr int kHostNode = 3;

}  // namespace emulated_gpu::hip
