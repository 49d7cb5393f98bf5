// Memory that notices accesses beyond it.
#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace kiln::test {

/// On which side of the memory an access one byte beyond ends the test.
enum class Guard { Behind, Before };

/// Bytes between two pages that may not be touched. They lie right against one of the two, so that a read or write
/// beyond that end ends the test; what lies beyond the other is filled with ones, NaN for every float type.
class GuardedBytes {
public:
    explicit GuardedBytes(std::size_t size, Guard guard = Guard::Behind) : size_(size) {
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t inner = (size + page - 1) / page * page;
        mapped_ = inner + 2 * page;
        base_ =
            static_cast<std::byte*>(mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(base_ != MAP_FAILED);
        std::memset(base_, 0xff, mapped_);
        REQUIRE(mprotect(base_, page, PROT_NONE) == 0);
        REQUIRE(mprotect(base_ + page + inner, page, PROT_NONE) == 0);
        room_ = inner - size;
        first_ = base_ + page;
        data_ = guard == Guard::Behind ? first_ + room_ : first_;
    }
    ~GuardedBytes() { munmap(base_, mapped_); }
    GuardedBytes(const GuardedBytes&) = delete;
    GuardedBytes& operator=(const GuardedBytes&) = delete;

    std::byte* data() const { return data_; }
    std::size_t size() const { return size_; }
    /// Whether everything beyond the bytes still holds its ones.
    bool untouched_around() const {
        const std::byte* around = data_ == first_ ? data_ + size_ : first_;
        return std::all_of(around, around + room_, [](std::byte byte) { return byte == std::byte{0xff}; });
    }

private:
    std::size_t size_, mapped_, room_;
    std::byte* base_;
    std::byte* first_;
    std::byte* data_;
};

}  // namespace kiln::test
