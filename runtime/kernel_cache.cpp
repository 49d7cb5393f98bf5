#include "runtime/kernel_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "runtime/descriptor.h"
#include "runtime/key.h"

namespace kiln::runtime {

namespace {

constexpr std::string_view kMagic = "KILNCACHE1\n";
// No kernel comes near this; a larger file is foreign.
constexpr std::uint64_t kLargestEntry = std::uint64_t{256} << 20;

void warn_once(const std::string& message) {
    static std::atomic<bool> warned{false};
    if (!warned.exchange(true)) fmt::print(stderr, "kiln: warning: {}; compiled kernels are not kept\n", message);
}

std::optional<std::string> read_whole(const std::string& path) {
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.number() < 0) return std::nullopt;
    struct stat status {};
    if (fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    if (static_cast<std::uint64_t>(status.st_size) > kLargestEntry) return std::nullopt;
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t count = ::read(file.number(), bytes.data() + done, bytes.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return std::nullopt;
        done += static_cast<std::size_t>(count);
    }
    return bytes;
}

bool write_whole(int file, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t count = ::write(file, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
}

void append_number(std::string& bytes, std::uint64_t number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string encode(const std::string& key, const CacheEntry& entry) {
    std::string bytes(kMagic);
    append_number(bytes, key.size());
    append_number(bytes, entry.metadata.size());
    append_number(bytes, entry.code.size());
    bytes += key;
    bytes += entry.metadata;
    bytes.append(entry.code.data(), entry.code.size());
    const Checksum sum = checksum(bytes);
    append_number(bytes, sum.low);
    append_number(bytes, sum.high);
    return bytes;
}

std::optional<CacheEntry> decode(std::string_view bytes, const std::string& key) {
    constexpr std::size_t kHeader = kMagic.size() + 3 * sizeof(std::uint64_t);
    constexpr std::size_t kFooter = sizeof(Checksum);
    if (bytes.size() < kHeader + kFooter || !bytes.starts_with(kMagic)) return std::nullopt;
    std::uint64_t lengths[3];
    std::memcpy(lengths, bytes.data() + kMagic.size(), sizeof lengths);
    const std::size_t content = bytes.size() - kHeader - kFooter;
    if (lengths[0] > content || lengths[1] > content || lengths[2] > content) return std::nullopt;
    if (lengths[0] + lengths[1] + lengths[2] != content) return std::nullopt;
    Checksum stored;
    std::memcpy(&stored, bytes.data() + bytes.size() - kFooter, kFooter);
    if (stored != checksum({bytes.data(), bytes.size() - kFooter})) return std::nullopt;
    if (bytes.substr(kHeader, lengths[0]) != key) return std::nullopt;
    const std::string_view code = bytes.substr(kHeader + lengths[0] + lengths[1], lengths[2]);
    return CacheEntry{std::string(bytes.substr(kHeader + lengths[0], lengths[1])), {code.begin(), code.end()}};
}

/// Makes the folder and its parents, private to this user, and says whether it is one we may trust.
bool make_private_folder(const std::string& folder, std::string& reason) {
    std::error_code error;
    const std::filesystem::path path(folder);
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        reason = fmt::format("the cache folder {} cannot be made ({})", folder, std::strerror(errno));
        return false;
    }
    struct stat status {};
    if (::lstat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
        reason = fmt::format("the cache folder {} is no folder", folder);
        return false;
    }
    if (status.st_uid != ::geteuid()) {
        reason = fmt::format("the cache folder {} belongs to another user", folder);
        return false;
    }
    return true;
}

}  // namespace

std::string KernelCache::default_folder() {
    if (const char* folder = std::getenv("KILN_CACHE")) return std::strcmp(folder, "off") == 0 ? "" : folder;
    if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder != nullptr && *folder == '/') {
        return std::string(folder) + "/kiln";
    }
    if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
        return std::string(home) + "/.cache/kiln";
    }
    return "";
}

std::string KernelCache::path_of(const std::string& key) const { return folder_ + "/" + key + ".kernel"; }

std::optional<CacheEntry> KernelCache::find(const std::string& key) const {
    if (folder_.empty()) return std::nullopt;
    struct stat status {};
    if (::lstat(folder_.c_str(), &status) != 0 || status.st_uid != ::geteuid()) return std::nullopt;
    const std::optional<std::string> bytes = read_whole(path_of(key));
    if (!bytes) return std::nullopt;
    std::optional<CacheEntry> entry = decode(*bytes, key);
    if (!entry) remove(key);
    return entry;
}

void KernelCache::store(const std::string& key, const CacheEntry& entry) const {
    if (folder_.empty()) return;
    std::string reason;
    if (!make_private_folder(folder_, reason)) return warn_once(reason);
    // The process id and a counter keep writers of one key apart; the rename decides which of them stays.
    static std::atomic<std::uint64_t> counter{0};
    const std::string temporary = fmt::format("{}/{}.{}.{}.tmp", folder_, key, ::getpid(), counter++);
    Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    const bool written = file.number() >= 0 && write_whole(file.number(), encode(key, entry)) && file.close();
    if (!written || ::rename(temporary.c_str(), path_of(key).c_str()) != 0) {
        warn_once(fmt::format("the cache folder {} cannot be written ({})", folder_, std::strerror(errno)));
        ::unlink(temporary.c_str());
    }
}

void KernelCache::remove(const std::string& key) const { ::unlink(path_of(key).c_str()); }

}  // namespace kiln::runtime
