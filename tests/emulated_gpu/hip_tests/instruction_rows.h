#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace emulated_gpu::hip {

/// One instruction, or a few. Runs with a in v[2:3] and s[10:11], b in v[4:5] and s[12:13], c in v[6:7] and s[14:15].
/// Results: v[8:9], which holds kOld before; where the text writes s[8:9] (and SCC), those: s8, and s9 or SCC.
struct Row {
    const char* text;
    uint64_t a;
    uint64_t b;
    uint64_t c;
    uint64_t expected;
};
enum class RowKind : uint8_t { Vector, Scalar, ScalarWithScc };

inline constexpr uint64_t kOld = 0xcafe'0000'beef'0000;
/// A 32-bit result in v8: v9 keeps what it held.
constexpr uint64_t low(uint64_t value) {
    return (kOld & 0xffff'ffff'0000'0000) | value;
}

/// Assembles the rows into one kernel for the processor, runs it, and checks every result.
void check_rows(const std::vector<Row>& rows, RowKind kind, const std::string& processor);

inline constexpr uint64_t kF1 = 0x3f80'0000;  // 1.0f
inline constexpr uint64_t kF2 = 0x4000'0000;  // 2.0f
inline constexpr uint64_t kF3 = 0x4040'0000;  // 3.0f
inline constexpr uint64_t kFInfinity = 0x7f80'0000;
inline constexpr uint64_t kFNan = 0x7fc0'0000;
inline constexpr uint64_t kD1 = 0x3ff0'0000'0000'0000;
inline constexpr uint64_t kD2 = 0x4000'0000'0000'0000;
inline constexpr uint64_t kD3 = 0x4008'0000'0000'0000;

}  // namespace emulated_gpu::hip
