#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <vector>

#include "tests/emulated_gpu/cuda/driver/driver_types.h"

namespace emulated_gpu {

/// The stand-in for the driver with devices sm_80, sm_89 and sm_90, loaded as a program loads libcuda.so.1.
class DriverLibrary {
public:
    DriverLibrary() {
        setenv("EMULATED_GPU_CAPABILITIES", "80,89,90", 0);
        library_ = dlopen(EMULATED_CUDA_DRIVER, RTLD_NOW | RTLD_LOCAL);
        if (library_ == nullptr) FAIL(dlerror());
    }
    /// Calls a driver function by its exported name.
    template <class... Arguments>
    CUresult operator()(const char* name, Arguments... arguments) const {
        void* function = dlsym(library_, name);
        if (function == nullptr) FAIL("the driver lacks " << name);
        return reinterpret_cast<CUresult (*)(Arguments...)>(function)(arguments...);
    }

private:
    void* library_ = nullptr;
};

/// The primary context of a device, current.
struct Session {
    DriverLibrary cu;
    CUcontext context = nullptr;

    explicit Session(CUdevice device = 0) {
        REQUIRE(cu("cuInit", 0U) == CUDA_SUCCESS);
        REQUIRE(cu("cuDevicePrimaryCtxRetain", &context, device) == CUDA_SUCCESS);
        REQUIRE(cu("cuCtxSetCurrent", context) == CUDA_SUCCESS);
    }
    CUfunction load(const char* ptx, const char* kernel) {
        CUmodule module = nullptr;
        REQUIRE(cu("cuModuleLoadData", &module, static_cast<const void*>(ptx)) == CUDA_SUCCESS);
        CUfunction function = nullptr;
        REQUIRE(cu("cuModuleGetFunction", &function, module, kernel) == CUDA_SUCCESS);
        return function;
    }
    CUdeviceptr allocate(size_t bytes) {
        CUdeviceptr address = 0;
        REQUIRE(cu("cuMemAlloc_v2", &address, bytes) == CUDA_SUCCESS);
        return address;
    }
    CUresult launch(CUfunction function, unsigned threads, CUstream stream, std::vector<void*> parameters) {
        return cu("cuLaunchKernel", function, 1U, 1U, 1U, threads, 1U, 1U, 0U, stream, parameters.data(),
                  static_cast<void**>(nullptr));
    }
};

}  // namespace emulated_gpu
