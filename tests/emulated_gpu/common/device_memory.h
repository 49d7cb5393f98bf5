#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace emulated_gpu {

/// Windows of the generic address space, far from what a host maps. Device allocations lie between kDeviceBase and
/// kSharedWindow.
inline constexpr uint64_t kDeviceBase = 0x0000'1000'0000'0000;
inline constexpr uint64_t kBytesOfDevice = 0x0000'0100'0000'0000;
inline constexpr uint64_t kSharedWindow = 0x0000'2000'0000'0000;
inline constexpr uint64_t kLocalWindow = 0x0000'2100'0000'0000;
inline constexpr uint64_t kParameterWindow = 0x0000'2200'0000'0000;
inline constexpr uint64_t kWindowBytes = 0x0000'0100'0000'0000;

struct Allocation {
    uint64_t base = 0;
    uint64_t bytes = 0;
    uint8_t* data = nullptr;
    bool read_only = false;
    bool freed = false;
    bool on_host = false;  // mapped host memory: base is the host's own address
    std::string what;      // "allocation", "variable table"
    std::vector<uint8_t> storage;
};

/// The memory of one device: allocations with gaps between them, so that each access can be checked against the
/// allocation it belongs to. Safe to use from several threads.
class DeviceMemory {
public:
    /// Addresses of different devices (of at most 16) differ.
    explicit DeviceMemory(uint64_t capacity, uint64_t device = 0)
        : capacity_(capacity), next_(kDeviceBase + device * kBytesOfDevice) {}

    /// The address of `bytes` new bytes, aligned to at least 512; 0 when the device has not that much left.
    uint64_t allocate(uint64_t bytes, const std::string& what, bool read_only = false);
    /// Makes host memory readable by the device at its own address.
    void map_host(void* data, uint64_t bytes, const std::string& what);
    /// False if no live allocation begins at `base`.
    bool release(uint64_t base);

    /// The allocation, live or freed, that holds `address`; the nearest one below it if none does; null if none is
    /// below.
    const Allocation* find(uint64_t address) const;
    /// The bytes at [address, address + bytes) if one live allocation holds them all, or null.
    uint8_t* at(uint64_t address, uint64_t bytes) const;

    uint64_t capacity() const { return capacity_; }
    uint64_t used() const;

private:
    const Allocation* find_locked(uint64_t address) const;

    mutable std::mutex mutex_;
    uint64_t capacity_;
    uint64_t used_ = 0;
    uint64_t next_;
    std::map<uint64_t, std::unique_ptr<Allocation>> allocations_;
};

}  // namespace emulated_gpu
