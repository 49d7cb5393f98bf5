// What launches with certain types and sizes were given last: the look-up that every launch makes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "runtime/key.h"

namespace kiln::runtime {

/// Values by launch_key(), each valid for one generation of the tuning store. For any number of threads.
template <class Value>
class SelectionMemo {
public:
    /// Null if there is none, or if the store has changed since.
    std::shared_ptr<const Value> find(const Checksum& key, std::uint64_t generation) const {
        const std::shared_lock lock(mutex_);
        const auto found = entries_.find(key);
        if (found == entries_.end() || found->second.generation != generation) return nullptr;
        return found->second.value;
    }

    void keep(const Checksum& key, std::uint64_t generation, std::shared_ptr<const Value> value) {
        const std::lock_guard lock(mutex_);
        if (entries_.size() >= kMostEntries) entries_.clear();
        entries_[key] = {generation, std::move(value)};
    }

private:
    // Sizes that change with every launch must not fill the memory; what is forgotten is looked up again.
    static constexpr std::size_t kMostEntries = 65536;

    struct Entry {
        std::uint64_t generation = 0;
        std::shared_ptr<const Value> value;
    };

    mutable std::shared_mutex mutex_;
    std::unordered_map<Checksum, Entry, ChecksumHash> entries_;
};

}  // namespace kiln::runtime
