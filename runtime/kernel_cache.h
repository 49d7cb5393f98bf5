// The disk cache of compiled kernels. One file an entry, code and metadata together, with a checksum; written to a
// temporary name and renamed, so that any number of processes may share the folder. A damaged, foreign or unwritable
// cache costs time only: reads miss, writes are dropped, and one warning is printed a process.
//
// Entry: "KILNCACHE1\n", then lengths (u64) of key, metadata and code, then those three, then the checksum of all that
// stands before it. The folder is KILN_CACHE (`off` disables it), else $XDG_CACHE_HOME/kiln, else ~/.cache/kiln; it is
// made with mode 0700 and refused if another user owns it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kiln::runtime {

struct CacheEntry {
    std::string metadata;
    std::vector<char> code;
};

class KernelCache {
public:
    /// A cache in `folder`, which is made on the first write. An empty path is a cache that holds nothing.
    explicit KernelCache(std::string folder) : folder_(std::move(folder)) {}
    /// The folder that the environment names; empty if caching is off or there is no usable folder.
    static std::string default_folder();

    const std::string& folder() const { return folder_; }
    /// The entry of that key, or nothing. A damaged entry is removed.
    std::optional<CacheEntry> find(const std::string& key) const;
    /// Stores an entry; failure to do so is a warning.
    void store(const std::string& key, const CacheEntry& entry) const;
    /// Removes an entry that turned out to be unusable.
    void remove(const std::string& key) const;

private:
    std::string path_of(const std::string& key) const;

    std::string folder_;
};

}  // namespace kiln::runtime
