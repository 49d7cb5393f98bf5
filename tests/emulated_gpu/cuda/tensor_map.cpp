#include "tests/emulated_gpu/cuda/tensor_map.h"

namespace emulated_gpu {

uint64_t TensorMap::box_bytes() const {
    uint64_t bytes = box[0] * element_bytes();
    for (size_t d = 1; d < rank; ++d) bytes *= count(d);
    return bytes;
}

uint64_t swizzled(uint64_t address, Swizzle swizzle) {
    if (swizzle == Swizzle::None) return address;
    const uint64_t chunks = swizzle == Swizzle::Bytes128 ? 7 : swizzle == Swizzle::Bytes64 ? 3 : 1;
    return address ^ (((address >> 7) & chunks) << 4);
}

void fill_outside(const TensorMap& map, const BoxChunk& chunk, uint8_t* bytes) {
    for (uint32_t at = 0; at < 16; ++at) {
        if (at >= chunk.first && at < chunk.last) continue;
        uint8_t value = 0;
        if (map.fill_bytes != 0) {  // a NaN: all bits but the sign
            value = at % map.fill_bytes + 1U == map.fill_bytes ? 0x7f : 0xff;
        }
        bytes[at] = value;
    }
}

}  // namespace emulated_gpu
