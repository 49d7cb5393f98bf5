// Keys of compiled code: a 128-bit hash over everything that decides what the code is.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace kiln::runtime {

/// Collects fields and hashes them (XXH3, 128 bits). Each field is preceded by its length, so that ("ab", "c") and
/// ("a", "bc") differ.
class KeyBuilder {
public:
    void add(std::string_view field);
    void add(std::uint64_t field);
    /// 32 hexadecimal digits.
    std::string finish() const;

private:
    std::string bytes_;
};

/// Hash of a byte range, as 16 bytes; the checksum of cache entries.
struct Checksum {
    std::uint64_t low = 0, high = 0;
    friend bool operator==(const Checksum&, const Checksum&) = default;
};
struct ChecksumHash {
    std::size_t operator()(const Checksum& sum) const { return sum.low; }
};
Checksum checksum(std::span<const char> bytes);

/// Identifies this build of Kiln: the linker's build id of the library or program that holds it. Another build is
/// another compiler and never reads this one's entries.
const std::string& build_id();

}  // namespace kiln::runtime
