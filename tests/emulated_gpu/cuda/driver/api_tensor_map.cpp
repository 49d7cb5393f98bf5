// Tensor maps: CUDA driver API reference, "Tensor Map Object Management". The object's 128 bytes are opaque to
// programs; here they hold emulated_gpu::TensorMap.

#include <cstring>

#include "tests/emulated_gpu/cuda/driver/driver_state.h"
#include "tests/emulated_gpu/cuda/tensor_map.h"

using namespace emulated_gpu;

namespace {

constexpr uint64_t kObjectBytes = 128;
constexpr uint32_t kMostBox = 256;
constexpr uint32_t kMostStep = 8;

/// Bytes of an element by the number of its CUtensorMapDataType; 0 for packed types, which sm_90 does not have.
uint64_t bytes_of_type(int type) {
    constexpr uint8_t kBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type >= 0 && type < 13 ? kBytes[type] : 0;
}
bool is_float_type(int type) {
    return type >= 6 && type < 13;
}

bool fits(const TensorMap& map) {
    if (map.box[0] * map.element_bytes() % 16 != 0) return false;
    if (map.swizzle == Swizzle::None) return true;
    return map.box[0] * map.element_bytes() <= uint64_t{16} << static_cast<uint64_t>(map.swizzle);
}

/// Takes the sizes of dimension `d`; false if the reference does not allow them.
bool take_dimension(TensorMap& map, uint32_t d, uint64_t extent, uint64_t stride, uint32_t box, uint32_t step) {
    if (extent == 0 || extent > uint64_t{1} << 32) return false;
    if (box == 0 || box > kMostBox || step == 0 || step > kMostStep) return false;
    map.extent[d] = extent;
    map.box[d] = static_cast<uint16_t>(box);
    map.step[d] = static_cast<uint8_t>(d == 0 ? 1 : step);  // without interleave the first is ignored
    map.stride[d] = stride;
    return d == 0 || (stride % 16 == 0 && stride < uint64_t{1} << 40);
}

/// Whether the numbers that stand for something are in their ranges.
bool are_known(int type, int swizzle, int promotion, int fill) {
    if (bytes_of_type(type) == 0 || swizzle < 0 || swizzle > 3 || promotion < 0 || promotion > 3) return false;
    return fill == 0 || (fill == 1 && is_float_type(type));
}

}  // namespace

EMULATED_API cuTensorMapEncodeTiled(void* object, int type, uint32_t rank, void* address, const uint64_t* extents,
                                    const uint64_t* strides, const uint32_t* box, const uint32_t* steps, int interleave,
                                    int swizzle, int promotion, int fill) {
    if (!Driver::get().initialised) return CUDA_ERROR_NOT_INITIALIZED;
    if (object == nullptr || extents == nullptr || box == nullptr || steps == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (reinterpret_cast<uintptr_t>(object) % 64 != 0) return CUDA_ERROR_INVALID_VALUE;
    if (rank == 0 || rank > kMostDimensions || (rank > 1 && strides == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    if (interleave != 0) return CUDA_ERROR_NOT_SUPPORTED;
    if (!are_known(type, swizzle, promotion, fill)) return CUDA_ERROR_INVALID_VALUE;
    TensorMap map;
    map.magic = kTensorMapMagic;
    map.address = reinterpret_cast<uint64_t>(address);
    map.rank = static_cast<uint8_t>(rank);
    map.swizzle = static_cast<Swizzle>(swizzle);
    map.fill_bytes = static_cast<uint8_t>(fill == 1 ? bytes_of_type(type) : 0);
    if (map.address == 0 || map.address % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t d = 0; d < rank; ++d) {
        const uint64_t stride = d == 0 ? bytes_of_type(type) : strides[d - 1];
        if (!take_dimension(map, d, extents[d], stride, box[d], steps[d])) return CUDA_ERROR_INVALID_VALUE;
    }
    if (!fits(map)) return CUDA_ERROR_INVALID_VALUE;
    std::memset(object, 0, kObjectBytes);
    std::memcpy(object, &map, sizeof map);
    return CUDA_SUCCESS;
}

EMULATED_API cuTensorMapReplaceAddress(void* object, void* address) {
    if (object == nullptr || reinterpret_cast<uint64_t>(address) % 16 != 0) return CUDA_ERROR_INVALID_VALUE;
    TensorMap map;
    std::memcpy(static_cast<void*>(&map), object, sizeof map);
    if (map.magic != kTensorMapMagic) return CUDA_ERROR_INVALID_VALUE;
    map.address = reinterpret_cast<uint64_t>(address);
    std::memcpy(object, &map, sizeof map);
    return CUDA_SUCCESS;
}

EMULATED_API cuTensorMapEncodeIm2col(void*, int, uint32_t, void*, const uint64_t*, const uint64_t*, const int*,
                                     const int*, uint32_t, uint32_t, const uint32_t*, int, int, int, int) {
    return CUDA_ERROR_NOT_SUPPORTED;
}
