#include "tests/emulated_gpu/common/device_memory.h"

namespace emulated_gpu {
namespace {

constexpr uint64_t kAlignment = 512;
constexpr uint64_t kGap = 4096;  // between allocations: an index that is off by less is caught

}  // namespace

uint64_t DeviceMemory::allocate(uint64_t bytes, const std::string& what, bool read_only) {
    const std::lock_guard lock(mutex_);
    if (bytes > capacity_ - used_) return 0;
    auto allocation = std::make_unique<Allocation>();
    allocation->base = next_;
    allocation->bytes = bytes;
    allocation->read_only = read_only;
    allocation->what = what;
    allocation->storage.resize(bytes == 0 ? 1 : bytes);
    allocation->data = allocation->storage.data();
    next_ += (bytes + kGap + kAlignment - 1) / kAlignment * kAlignment;
    used_ += bytes;
    const uint64_t base = allocation->base;
    allocations_[base] = std::move(allocation);
    return base;
}

void DeviceMemory::map_host(void* data, uint64_t bytes, const std::string& what) {
    const std::lock_guard lock(mutex_);
    auto allocation = std::make_unique<Allocation>();
    allocation->base = reinterpret_cast<uint64_t>(data);
    allocation->bytes = bytes;
    allocation->data = static_cast<uint8_t*>(data);
    allocation->on_host = true;
    allocation->what = what;
    allocations_[allocation->base] = std::move(allocation);
}

bool DeviceMemory::release(uint64_t base) {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(base);
    if (found == allocations_.end() || found->second->freed) return false;
    Allocation& allocation = *found->second;
    if (allocation.on_host) {
        allocations_.erase(found);
        return true;
    }
    used_ -= allocation.bytes;
    allocation.freed = true;  // remembered, so that a late access can be told from a wild one
    allocation.storage = {};
    allocation.data = nullptr;
    return true;
}

const Allocation* DeviceMemory::find_locked(uint64_t address) const {
    auto above = allocations_.upper_bound(address);
    if (above == allocations_.begin()) return nullptr;
    return std::prev(above)->second.get();
}

const Allocation* DeviceMemory::find(uint64_t address) const {
    const std::lock_guard lock(mutex_);
    return find_locked(address);
}

uint8_t* DeviceMemory::at(uint64_t address, uint64_t bytes) const {
    const std::lock_guard lock(mutex_);
    const Allocation* allocation = find_locked(address);
    if (allocation == nullptr || allocation->freed) return nullptr;
    const uint64_t offset = address - allocation->base;
    if (offset > allocation->bytes || bytes > allocation->bytes - offset) return nullptr;
    return allocation->data + offset;
}

uint64_t DeviceMemory::used() const {
    const std::lock_guard lock(mutex_);
    return used_;
}

}  // namespace emulated_gpu
