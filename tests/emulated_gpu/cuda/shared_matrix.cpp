#include "tests/emulated_gpu/cuda/shared_matrix.h"

#include <cstring>

#include "tests/emulated_gpu/cuda/matrix_elements.h"

namespace emulated_gpu {
namespace {

constexpr uint64_t kFieldMask = 0x3fff;  // of addresses and offsets, in units of 16 bytes
constexpr uint64_t kReserved = 0x3ff1'c000'c000'c000;

template <class T>
void decode_elements(Type type, const uint8_t* bytes, T* out) {
    const int per_word = 32 / type_bits(type);
    for (int word = 0; word < 4; ++word) {
        uint32_t bits = 0;
        std::memcpy(&bits, bytes + 4 * word, sizeof bits);
        for (int i = 0; i < per_word; ++i) *out++ = element<T>(type, bits, i);
    }
}

}  // namespace

SharedMatrix::SharedMatrix(uint64_t descriptor)
    : start((descriptor & kFieldMask) << 4),
      leading(((descriptor >> 16) & kFieldMask) << 4),
      stride(((descriptor >> 32) & kFieldMask) << 4),
      base_offset((descriptor >> 49) & 7),
      reserved_bits_set((descriptor & kReserved) != 0) {
    const uint64_t mode = descriptor >> 62;  // 1: 128 bytes, 2: 64, 3: 32
    swizzle = mode == 0   ? Swizzle::None
              : mode == 1 ? Swizzle::Bytes128
              : mode == 2 ? Swizzle::Bytes64
                          : Swizzle::Bytes32;
}

uint64_t SharedMatrix::chunk(bool k_major, uint64_t row, uint64_t c) const {
    const uint64_t eighth = row / 8;
    if (swizzle == Swizzle::None) {
        const uint64_t across = k_major ? leading : stride;
        const uint64_t down = k_major ? stride : leading;
        return start + row % 8 * 16 + eighth * down + c * across;
    }
    const uint64_t span = uint64_t{16} << static_cast<uint64_t>(swizzle);
    const uint64_t in_span = k_major ? c : c % (span / 16);
    const uint64_t beyond = k_major ? 0 : c / (span / 16) * leading;
    return swizzled(start + row % 8 * span + eighth * stride + in_span * 16 + beyond, swizzle);
}

void decode_chunk(Type type, const uint8_t* bytes, double* out) {
    if (type != Type::BF16) return decode_elements(type, bytes, out);
    for (int i = 0; i < 8; ++i) {
        uint16_t bits = 0;
        std::memcpy(&bits, bytes + 2 * i, sizeof bits);
        out[i] = as_f32(static_cast<uint64_t>(bits) << 16);
    }
}
void decode_chunk(Type type, const uint8_t* bytes, int64_t* out) {
    decode_elements(type, bytes, out);
}

}  // namespace emulated_gpu
