// The stand-in driver on a device of compute capability 9.0: tensor maps and clusters; and addresses of several
// devices.

#include "tests/emulated_gpu/cuda_tests/driver_session.h"
#include "tests/emulated_gpu/cuda_tests/hopper_kernels.h"
#include "tests/emulated_gpu/cuda_tests/nvrtc.h"
#include "tests/emulated_gpu/cuda_tests/tensor_maps.h"

namespace emulated_gpu {
namespace {

struct alignas(64) TensorMapObject {
    char bytes[128];
};

/// What cuTensorMapEncodeTiled is called with, for a matrix of bf16.
struct TiledMap {
    int type = 9;  // CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
    uint32_t rank = 2;
    CUdeviceptr address = 0;
    uint64_t extents[2];
    uint64_t strides[1];
    uint32_t box[2];
    uint32_t steps[2] = {1, 1};
    int interleave = 0;
    int swizzle = 3;
    int fill = 0;

    CUresult encode(const DriverLibrary& cu, TensorMapObject& object) const {
        return cu("cuTensorMapEncodeTiled", static_cast<void*>(&object), type, rank, reinterpret_cast<void*>(address),
                  static_cast<const uint64_t*>(extents), static_cast<const uint64_t*>(strides),
                  static_cast<const uint32_t*>(box), static_cast<const uint32_t*>(steps), interleave, swizzle, 2, fill);
    }
};

/// Each block of a cluster of 4 stores its rank and the cluster's number.
const char* const kRanksPtx = R"(.version 8.0
.target sm_90
.address_size 64
.entry ranks(.param .u64 out)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %cluster_ctarank;
    mov.u32 %r3, %clusterid.x;
    mad.lo.u32 %r4, %r3, 10, %r2;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r4;
    ret;
})";

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu driver: tensor maps are encoded, or refused as the reference says") {
        Session session(2);
        const CUdeviceptr data = session.allocate(64 * 64 * 2);
        const TiledMap good{.address = data, .extents = {64, 64}, .strides = {128}, .box = {64, 32}};
        TensorMapObject object;
        CHECK(good.encode(session.cu, object) == CUDA_SUCCESS);
        const auto refused = [&](auto change) {
            TiledMap map = good;
            change(map);
            CHECK(map.encode(session.cu, object) == CUDA_ERROR_INVALID_VALUE);
        };
        refused([](TiledMap& map) { map.type = 13; });
        refused([](TiledMap& map) { map.rank = 0; });
        refused([](TiledMap& map) { map.rank = 6; });
        refused([](TiledMap& map) { map.address += 8; });
        refused([](TiledMap& map) { map.extents[1] = 0; });
        refused([](TiledMap& map) { map.strides[0] = 136; });
        refused([](TiledMap& map) { map.box[1] = 257; });
        refused([](TiledMap& map) { map.box[0] = 4; });    // 8 bytes
        refused([](TiledMap& map) { map.box[0] = 128; });  // more than the swizzle's span
        refused([](TiledMap& map) { map.steps[1] = 9; });
        refused([](TiledMap& map) { map.swizzle = 7; });
        refused([](TiledMap& map) { map.type = 1, map.fill = 1; });  // NaNs of integers
        TiledMap interleaved = good;
        interleaved.interleave = 1;
        CHECK(interleaved.encode(session.cu, object) == CUDA_ERROR_NOT_SUPPORTED);
    }

    TEST_CASE("emulated gpu driver: a GEMM through tensor maps that the driver encodes") {
        Session session(2);
        auto& cu = session.cu;
        const std::string ptx =
            compile_cuda(std::string(kHopperHelpers) + kHopperGemmSource, "hopper.cu", "compute_90a");
        const CUfunction gemm = session.load(ptx.c_str(), "hopper_gemm");
        const std::vector<uint16_t> ones(64 * 64, 0x3f80);
        const CUdeviceptr a = session.allocate(64 * 64 * 2);
        const CUdeviceptr b = session.allocate(64 * 64 * 2);
        const CUdeviceptr c = session.allocate(64 * 64 * 4);
        for (const CUdeviceptr to : {a, b}) {
            REQUIRE(cu("cuMemcpyHtoD_v2", to, static_cast<const void*>(ones.data()), ones.size() * 2) == CUDA_SUCCESS);
        }
        TensorMapObject map_a, map_b, map_c;
        REQUIRE(TiledMap{.address = a, .extents = {64, 64}, .strides = {128}, .box = {64, 64}}.encode(cu, map_a) ==
                CUDA_SUCCESS);
        REQUIRE(TiledMap{.address = b, .extents = {64, 64}, .strides = {128}, .box = {64, 64}}.encode(cu, map_b) ==
                CUDA_SUCCESS);
        REQUIRE(TiledMap{.type = 7, .address = c, .extents = {64, 64}, .strides = {256}, .box = {64, 64}, .swizzle = 0}
                    .encode(cu, map_c) == CUDA_SUCCESS);
        REQUIRE(cu("cuFuncSetAttribute", gemm, 8, 32768) == CUDA_SUCCESS);  // MAX_DYNAMIC_SHARED_SIZE_BYTES
        int k = 64;
        void* parameters[] = {&map_a, &map_b, &map_c, &k};
        REQUIRE(cu("cuLaunchKernel", gemm, 1U, 1U, 1U, 256U, 1U, 1U, 32768U, CUstream{},
                   static_cast<void**>(parameters), static_cast<void**>(nullptr)) == CUDA_SUCCESS);
        std::vector<float> result(64 * 64);
        REQUIRE(cu("cuMemcpyDtoH_v2", static_cast<void*>(result.data()), c, result.size() * 4) == CUDA_SUCCESS);
        CHECK(std::all_of(result.begin(), result.end(), [](float value) { return value == 64.0F; }));
    }

    TEST_CASE("emulated gpu driver: launches in clusters by an attribute") {
        Session session(2);
        auto& cu = session.cu;
        const CUfunction ranks = session.load(kRanksPtx, "ranks");
        CUdeviceptr out = session.allocate(8 * 4);
        void* parameters[] = {&out};
        CUlaunchAttribute attribute{};
        attribute.id = 4;
        CUlaunchConfig config{8, 1, 1, 32, 1, 1, 0, nullptr, &attribute, 1};
        const auto launch = [&](unsigned size) {
            attribute.value.dimensions[0] = size;
            attribute.value.dimensions[1] = attribute.value.dimensions[2] = 1;
            return cu("cuLaunchKernelEx", static_cast<const CUlaunchConfig*>(&config), ranks,
                      static_cast<void**>(parameters), static_cast<void**>(nullptr));
        };
        CHECK(launch(3) == CUDA_ERROR_INVALID_CLUSTER_SIZE);
        CHECK(launch(16) == CUDA_ERROR_INVALID_CLUSTER_SIZE);
        REQUIRE(launch(4) == CUDA_SUCCESS);
        std::vector<uint32_t> words(8);
        REQUIRE(cu("cuMemcpyDtoH_v2", static_cast<void*>(words.data()), out, size_t{32}) == CUDA_SUCCESS);
        CHECK(words == std::vector<uint32_t>{0, 1, 2, 3, 10, 11, 12, 13});
        int clusters = 0;
        CHECK(cu("cuOccupancyMaxActiveClusters", &clusters, ranks, static_cast<const CUlaunchConfig*>(&config)) ==
              CUDA_SUCCESS);
        CHECK(clusters > 0);
    }

    TEST_CASE("emulated gpu driver: addresses of two devices differ and tell the device") {
        Session first(0);
        const CUdeviceptr mine = first.allocate(256);
        Session second(1);
        auto& cu = second.cu;
        const CUdeviceptr theirs = second.allocate(256);
        CHECK(mine != theirs);
        int device = -1;
        CHECK(cu("cuPointerGetAttribute", static_cast<void*>(&device), 9, mine) == CUDA_SUCCESS);
        CHECK(device == 0);
        CHECK(cu("cuPointerGetAttribute", static_cast<void*>(&device), 9, theirs) == CUDA_SUCCESS);
        CHECK(device == 1);
        // Unified addressing: a copy finds the device of each address.
        std::vector<uint32_t> words(64, 77);
        REQUIRE(cu("cuMemcpyHtoD_v2", mine, static_cast<const void*>(words.data()), size_t{256}) == CUDA_SUCCESS);
        REQUIRE(cu("cuMemcpyDtoD_v2", theirs, mine, size_t{256}) == CUDA_SUCCESS);
        std::vector<uint32_t> back(64);
        REQUIRE(cu("cuMemcpyDtoH_v2", static_cast<void*>(back.data()), theirs, size_t{256}) == CUDA_SUCCESS);
        CHECK(back == words);
    }
}

}  // namespace emulated_gpu
