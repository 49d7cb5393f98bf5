#include "tests/emulated_gpu/common_tests/compile_cache.h"

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace emulated_gpu {
namespace {

namespace fs = std::filesystem;

/// FNV-1a, which is the same in each run.
uint64_t hash_of(const std::string& text) {
    uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

}  // namespace

std::string compile_cached(const std::string& key, const std::function<std::string()>& compile) {
    const fs::path folder = EMULATED_GPU_CACHE;
    const fs::path path = folder / std::to_string(hash_of(key));
    std::ifstream file(path, std::ios::binary);
    const std::string kept{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    // The key stands before the result: another text with the same hash does not count.
    if (kept.size() > key.size() && kept.compare(0, key.size(), key) == 0) return kept.substr(key.size());
    const std::string result = compile();
    std::error_code ignored;  // without a cache, each run compiles
    fs::create_directories(folder, ignored);
    const fs::path unfinished = path.string() + "." + std::to_string(getpid());
    std::ofstream out(unfinished, std::ios::binary);
    out << key << result;
    out.close();
    if (out) fs::rename(unfinished, path, ignored);
    return result;
}

}  // namespace emulated_gpu
