// What the runtime asks of a GPU driver. CUDA's and HIP's differ in names, not in ideas, so that all above this
// interface is written once; runtime/cuda and runtime/hip implement it over the driver library, which is opened at run
// time.
//
// Every function below that takes no device number needs the device to be current: see CurrentDevice. Failures throw
// Error(device) with the driver's own words; functions that clean up never throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace kiln::runtime::gpu {

/// An address in a device's memory.
using Address = std::uint64_t;
/// A stream, event, module or function of the driver. The null stream is the one that other work of the device waits
/// for by default.
using Handle = void*;

struct DeviceFacts {
    std::string name;          ///< "NVIDIA H200"
    std::string architecture;  ///< as the target table and the compilers call it: "sm_90a", "gfx942"
    std::int64_t units = 1;    ///< multiprocessors, compute units
    std::int64_t blocks_per_launch = 1;
    std::int64_t threads_per_launch = INT64_MAX;
    std::int64_t shared_bytes_per_block = 0;  ///< after opting in
    std::uint64_t memory_bytes = 0;
    bool reads_host_memory = false;  ///< any pointer of the host is valid on the device
};

struct FunctionFacts {
    std::int64_t threads_per_block = 0;  ///< the most that its registers leave room for
    std::int64_t shared_bytes = 0;       ///< static
};

/// Where a pointer leads, as far as the driver knows.
struct PointerPlace {
    enum class Kind { unknown, host, device } kind = Kind::unknown;  ///< host: memory that the driver made readable
    int device = 0;
};

/// A driver refuses code for reasons that another form of it may not have.
struct LoadedModule {
    Handle module = nullptr;
    std::string refusal;  ///< why it is null
};

class Driver {
public:
    virtual ~Driver() = default;
    /// "cuda", "hip": what device names begin with.
    virtual const std::string& name() const = 0;
    virtual const std::string& path() const = 0;
    virtual const std::string& version() const = 0;
    virtual int device_count() const = 0;
    virtual DeviceFacts facts(int device) const = 0;

    /// Makes the device current on this thread and returns what leave() needs to bring back what was before.
    virtual Handle enter(int device) const = 0;
    virtual void leave(int device, Handle previous) const noexcept = 0;

    virtual Address allocate(std::size_t bytes) const = 0;
    virtual void free(Address address) const noexcept = 0;
    /// Memory in the order of a stream, which under capture belongs to the graph. False: this driver has none.
    virtual bool has_stream_ordered_memory() const = 0;
    virtual Address allocate_on(Handle stream, std::size_t bytes) const = 0;
    virtual void free_on(Handle stream, Address address) const = 0;
    virtual void copy_to_device(Address to, const void* from, std::size_t bytes, Handle stream) const = 0;
    virtual void copy_to_host(void* to, Address from, std::size_t bytes, Handle stream) const = 0;
    /// `count` elements of `element_bytes` (1, 2, 4 or 8) become the low bytes of `bits`.
    virtual void fill(Address to, std::uint64_t bits, int element_bytes, std::size_t count, Handle stream) const = 0;
    virtual PointerPlace place_of(const void* pointer) const = 0;

    virtual Handle create_stream() const = 0;
    virtual void destroy_stream(Handle stream) const noexcept = 0;
    virtual void synchronise(Handle stream) const = 0;
    /// Asking leaves the capture as it is.
    virtual bool is_capturing(Handle stream) const = 0;
    /// Sets what this thread may do while any thread captures, and returns what it was.
    virtual int exchange_capture_mode(int mode) const noexcept = 0;

    virtual Handle create_event(bool timed) const = 0;
    virtual void destroy_event(Handle event) const noexcept = 0;
    virtual void record(Handle event, Handle stream) const = 0;
    virtual bool has_happened(Handle event) const = 0;
    virtual void wait(Handle stream, Handle event) const = 0;
    virtual void synchronise_event(Handle event) const = 0;
    virtual double seconds_between(Handle first, Handle last) const = 0;

    virtual LoadedModule load(const void* image) const = 0;
    /// Null if the module has no such function.
    virtual Handle find_function(Handle module, const std::string& name) const = 0;
    virtual FunctionFacts function_facts(Handle function) const = 0;
    /// More than 48 KiB of shared memory has to be asked for on NVIDIA's.
    virtual void allow_shared_bytes(Handle function, std::int64_t bytes) const = 0;
    /// `slots` is the struct that the kernel takes (codegen/gpu/source.h); it is copied by the call.
    virtual void launch(Handle function, std::uint32_t blocks, std::uint32_t threads, std::uint32_t shared_bytes,
                        Handle stream, void* slots) const = 0;
};

/// A driver, or why there is none.
struct FoundDriver {
    const Driver* driver = nullptr;
    std::string reason;
};

/// Whether the driver may be called still: not in a child of a fork, where its threads do not exist, and not once
/// the process is exiting, where it may be gone already. Starts watching for both when first called.
enum class DriverState { usable, forked, exiting };
DriverState driver_state();

/// The device is current while this lives; what was current before is current again after it, whoever made it so.
class CurrentDevice {
public:
    /// Throws Error(device) where driver_state() is not usable.
    CurrentDevice(const Driver& driver, int device);
    ~CurrentDevice() { driver_.leave(device_, previous_); }
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

private:
    const Driver& driver_;
    int device_;
    Handle previous_;
};

/// Allocating and loading is legal on this thread while this lives, even while another stream is being captured, whose
/// capture it would otherwise invalidate.
class RelaxedCapture {
public:
    explicit RelaxedCapture(const Driver& driver)
        : driver_(driver), previous_(driver.exchange_capture_mode(kRelaxed)) {}
    ~RelaxedCapture() { driver_.exchange_capture_mode(previous_); }
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

private:
    static constexpr int kRelaxed = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED, hipStreamCaptureModeRelaxed

    const Driver& driver_;
    int previous_;
};

}  // namespace kiln::runtime::gpu
