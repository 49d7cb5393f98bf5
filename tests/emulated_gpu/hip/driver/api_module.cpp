// Modules, functions, launches and occupancy.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/emulated_gpu/hip/driver/runtime_state.h"

using namespace emulated_gpu::hip;

namespace {

hipError_t load(hipModule_t* module, std::span<const uint8_t> image) {
    Device* device = nullptr;
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return usable;
    auto loaded = std::make_unique<ihipModule_t>();
    loaded->device = device;
    try {
        loaded->loaded = load_module(image, device->memory, device->processor);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "emulated gpu: %s\n", error.what());
        const bool other_target = std::strstr(error.what(), "the device is") != nullptr ||
                                  std::strstr(error.what(), "has no code for") != nullptr;
        return other_target ? hipErrorNoBinaryForGpu : hipErrorInvalidImage;
    }
    for (const auto& [name, kernel] : loaded->loaded->object.kernels) {
        loaded->functions[name] = {loaded.get(), &kernel};
    }
    const std::lock_guard lock(device->mutex);
    *module = *device->modules.insert(loaded.release()).first;
    return hipSuccess;
}

hipError_t load_image(hipModule_t* module, const void* image) {
    if (module == nullptr || image == nullptr) return hipErrorInvalidValue;
    const uint64_t bytes = size_of_image(image);
    if (bytes == 0) return hipErrorInvalidImage;
    return load(module, {static_cast<const uint8_t*>(image), bytes});
}

hipError_t find_module(Device*& device, hipModule_t module) {
    const hipError_t usable = current_device(device);
    if (usable != hipSuccess) return usable;
    const std::lock_guard lock(device->mutex);
    return device->modules.contains(module) ? hipSuccess : hipErrorInvalidHandle;
}

uint64_t product(const std::array<uint32_t, 3>& extent) {
    return uint64_t{extent[0]} * extent[1] * extent[2];
}

hipError_t check_shape(const KernelDescription& kernel, const LaunchShape& shape, const Device& device) {
    const auto& group = shape.workgroup;
    if (product(shape.grid) == 0 || product(group) == 0) return hipErrorInvalidConfiguration;
    if (group[0] > 1024 || group[1] > 1024 || group[2] > 1024) return hipErrorInvalidValue;
    if (product(group) > 1024) return hipErrorInvalidValue;
    // The packet counts work items in 32 bits.
    for (size_t i = 0; i < 3; ++i) {
        if (uint64_t{shape.grid[i]} * group[i] > 0xffff'ffff) return hipErrorInvalidValue;
    }
    if (product(group) > kernel.most_threads) return hipErrorLaunchFailure;
    if (uint64_t{kernel.lds_bytes} + shape.dynamic_lds_bytes > device.lds_bytes()) return hipErrorOutOfMemory;
    return hipSuccess;
}

/// Explicit arguments from an array of pointers, or from the one buffer that `extra` describes.
hipError_t pack_arguments(const KernelDescription& kernel, void** parameters, void** extra,
                          std::vector<uint8_t>& packed) {
    packed.resize(kernel.argument_bytes);
    size_t wanted = 0;
    size_t index = 0;
    for (const KernelArgument& argument : kernel.arguments) {
        if (argument.is_hidden()) continue;
        wanted = std::max<size_t>(wanted, argument.offset + argument.bytes);
        if (extra != nullptr) continue;
        if (parameters == nullptr || parameters[index] == nullptr) return hipErrorInvalidValue;
        std::memcpy(packed.data() + argument.offset, parameters[index++], argument.bytes);
    }
    if (extra == nullptr) return hipSuccess;
    const void* buffer = nullptr;
    size_t bytes = 0;
    constexpr uintptr_t kPointer = 1;  // HIP_LAUNCH_PARAM_BUFFER_POINTER
    constexpr uintptr_t kSize = 2;     // HIP_LAUNCH_PARAM_BUFFER_SIZE
    for (; reinterpret_cast<uintptr_t>(*extra) == kPointer || reinterpret_cast<uintptr_t>(*extra) == kSize;
         extra += 2) {
        if (reinterpret_cast<uintptr_t>(*extra) == kPointer)
            buffer = extra[1];
        else
            bytes = *static_cast<const size_t*>(extra[1]);
    }
    if (reinterpret_cast<uintptr_t>(*extra) != 3) return hipErrorInvalidValue;  // HIP_LAUNCH_PARAM_END
    if (wanted > 0 && (buffer == nullptr || bytes < wanted)) return hipErrorInvalidValue;
    if (buffer != nullptr) std::memcpy(packed.data(), buffer, std::min(bytes, packed.size()));
    return hipSuccess;
}

/// What a compute unit holds; registers of all lanes of a wave, and how many are given out at once.
struct UnitLimits {
    uint32_t simds;
    uint32_t waves;      // of a SIMD
    uint32_t registers;  // of a SIMD
    uint32_t granule;
};
constexpr UnitLimits kCdnaUnit{4, 8, 512, 8};
constexpr UnitLimits kRdnaUnit{2, 16, 1536, 24};  // for waves of 32 (LLVM's "User Guide for AMDGPU Backend", gfx1100)

/// Workgroups that fit on a compute unit.
int groups_per_unit(const ihipModuleSymbol_t& function, int threads, size_t dynamic_lds) {
    const uint32_t lanes = function.kernel->wave_lanes;
    const bool is_rdna = function.module->device->family() != Family::Cdna;
    const UnitLimits& unit = is_rdna ? kRdnaUnit : kCdnaUnit;
    const uint32_t width = is_rdna ? lanes / 32 : 1;  // a wave of 64 takes twice the room of one of 32
    const uint32_t waves = (static_cast<uint32_t>(threads) + lanes - 1) / lanes;
    const uint32_t granule = unit.granule / width;
    const uint32_t used = std::max(1U, function.kernel->vector_registers);
    const uint32_t registers = (used + granule - 1) / granule * granule;
    const uint32_t waves_of_unit = unit.simds * std::min(unit.waves, unit.registers / width / registers);
    const uint64_t lds = function.kernel->lds_bytes + dynamic_lds;
    uint64_t fit = waves_of_unit / waves;
    if (lds > 0) fit = std::min<uint64_t>(fit, function.module->device->lds_bytes() / lds);
    return static_cast<int>(std::min<uint64_t>(fit, 32));
}

hipError_t launch(hipFunction_t function, LaunchShape shape, hipStream_t handle, void** parameters, void** extra,
                  bool cooperative) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return result;
    if (function == nullptr) return hipErrorInvalidHandle;
    if (function->module->device != device) return hipErrorInvalidDeviceFunction;
    result = check_shape(*function->kernel, shape, *device);
    if (result != hipSuccess) return result;
    result = pack_arguments(*function->kernel, parameters, extra, shape.arguments);
    if (result != hipSuccess) return result;
    Options options = Runtime::get().options;
    if (cooperative) {
        const auto fit = static_cast<uint64_t>(
            groups_per_unit(*function, static_cast<int>(product(shape.workgroup)), shape.dynamic_lds_bytes));
        if (product(shape.grid) > fit * static_cast<uint64_t>(device->compute_units())) {
            return hipErrorCooperativeLaunchTooLarge;
        }
        options.resident_workgroups = static_cast<uint32_t>(product(shape.grid));
    }
    return enqueue(stream, kKernelNode, [device, function = *function, shape, options] {
        const std::lock_guard lock(device->execution);
        const LaunchResult done =
            run_kernel(*function.module->loaded, *function.kernel, shape, device->memory, options);
        Runtime::get().note(done);
        if (done.report) device->sticky = error_of(done.report->kind);
    });
}

LaunchShape make_shape(unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned x, unsigned y, unsigned z,
                       unsigned lds) {
    return {{grid_x, grid_y, grid_z}, {x, y, z}, lds, {}};
}

}  // namespace

EMULATED_API hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
    return remember(load_image(module, image));
}
EMULATED_API hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned, const int*, void**) {
    return remember(load_image(module, image));
}
EMULATED_API hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
    if (module == nullptr || path == nullptr) return remember(hipErrorInvalidValue);
    std::ifstream file(path, std::ios::binary);
    if (!file) return remember(hipErrorFileNotFound);
    const std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return remember(load(module, bytes));
}

EMULATED_API hipError_t hipModuleUnload(hipModule_t module) {
    Device* device = nullptr;
    const hipError_t found = find_module(device, module);
    if (found != hipSuccess) return remember(found);
    device->synchronize();
    {
        const std::lock_guard lock(device->mutex);
        device->modules.erase(module);
    }
    delete module;
    return hipSuccess;
}

EMULATED_API hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
    Device* device = nullptr;
    const hipError_t found = find_module(device, module);
    if (found != hipSuccess) return remember(found);
    if (function == nullptr || name == nullptr) return remember(hipErrorInvalidValue);
    const auto kernel = module->functions.find(name);
    if (kernel == module->functions.end()) return remember(hipErrorNotFound);
    *function = &kernel->second;
    return hipSuccess;
}

EMULATED_API hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, size_t* bytes, hipModule_t module,
                                           const char* name) {
    Device* device = nullptr;
    const hipError_t found = find_module(device, module);
    if (found != hipSuccess) return remember(found);
    if (name == nullptr) return remember(hipErrorInvalidValue);
    const auto& objects = module->loaded->object.objects;
    const auto variable = objects.find(name);
    if (variable == objects.end()) return remember(hipErrorNotFound);
    if (address != nullptr) *address = reinterpret_cast<void*>(module->loaded->base + variable->second.value);
    if (bytes != nullptr) *bytes = variable->second.bytes;
    return hipSuccess;
}

EMULATED_API hipError_t hipFuncGetAttribute(int* value, int attribute, hipFunction_t function) {
    if (value == nullptr) return remember(hipErrorInvalidValue);
    if (function == nullptr) return remember(hipErrorInvalidHandle);
    const KernelDescription& kernel = *function->kernel;
    const Device& device = *function->module->device;
    switch (attribute) {
        case 0:  // MAX_THREADS_PER_BLOCK
            *value = static_cast<int>(kernel.most_threads);
            return hipSuccess;
        case 1:  // SHARED_SIZE_BYTES
            *value = static_cast<int>(kernel.lds_bytes);
            return hipSuccess;
        case 2:  // CONST_SIZE_BYTES
        case 7:  // CACHE_MODE_CA
        case 9:  // PREFERRED_SHARED_MEMORY_CARVEOUT
            *value = 0;
            return hipSuccess;
        case 3:  // LOCAL_SIZE_BYTES
            *value = static_cast<int>(kernel.private_bytes);
            return hipSuccess;
        case 4:  // NUM_REGS
            *value = static_cast<int>(kernel.vector_registers);
            return hipSuccess;
        case 5:  // PTX_VERSION
        case 6:  // BINARY_VERSION
            *value = 10 * device.major() + device.minor();
            return hipSuccess;
        case 8:  // MAX_DYNAMIC_SHARED_SIZE_BYTES
            *value = static_cast<int>(device.lds_bytes() - kernel.lds_bytes);
            return hipSuccess;
        default:
            return remember(hipErrorInvalidValue);
    }
}

/// Takes a function's address on the host in HIP, which is no hipFunction_t; there are no compiled-in kernels here, so
/// that module functions are what it can mean. Hints have no effect, as on AMD's hardware.
EMULATED_API hipError_t hipFuncSetAttribute(const void* function, int attribute, int value) {
    if (function == nullptr) return remember(hipErrorInvalidDeviceFunction);
    return remember(value < 0 || (attribute != 8 && attribute != 9) ? hipErrorInvalidValue : hipSuccess);
}
EMULATED_API hipError_t hipFuncSetCacheConfig(const void* function, int) {
    return remember(function == nullptr ? hipErrorInvalidDeviceFunction : hipSuccess);
}

EMULATED_API hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                              unsigned x, unsigned y, unsigned z, unsigned lds, hipStream_t stream,
                                              void** parameters, void** extra) {
    const LaunchShape shape = make_shape(grid_x, grid_y, grid_z, x, y, z, lds);
    return remember(launch(function, shape, stream, parameters, extra, false));
}

EMULATED_API hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y,
                                                         unsigned grid_z, unsigned x, unsigned y, unsigned z,
                                                         unsigned lds, hipStream_t stream, void** parameters) {
    const LaunchShape shape = make_shape(grid_x, grid_y, grid_z, x, y, z, lds);
    return remember(launch(function, shape, stream, parameters, nullptr, true));
}

EMULATED_API hipError_t hipLaunchHostFunc(hipStream_t handle, hipHostFn_t work, void* data) {
    Device* device = nullptr;
    hipStream_t stream = nullptr;
    const hipError_t result = device_and_stream(handle, device, stream);
    if (result != hipSuccess) return remember(result);
    if (work == nullptr) return remember(hipErrorInvalidValue);
    return remember(enqueue(stream, kHostNode, [work, data] { work(data); }));
}

EMULATED_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* groups, hipFunction_t function,
                                                                           int threads, size_t dynamic_lds) {
    if (groups == nullptr || threads <= 0) return remember(hipErrorInvalidValue);
    if (function == nullptr) return remember(hipErrorInvalidHandle);
    const bool too_many = static_cast<uint32_t>(threads) > function->kernel->most_threads;
    *groups = too_many ? 0 : groups_per_unit(*function, threads, dynamic_lds);
    return hipSuccess;
}
EMULATED_API hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* groups, hipFunction_t function,
                                                                                    int threads, size_t dynamic_lds,
                                                                                    unsigned) {
    return hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(groups, function, threads, dynamic_lds);
}
EMULATED_API hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* threads, hipFunction_t function,
                                                                size_t dynamic_lds, int limit) {
    if (grid == nullptr || threads == nullptr) return remember(hipErrorInvalidValue);
    if (function == nullptr) return remember(hipErrorInvalidHandle);
    const int most = static_cast<int>(function->kernel->most_threads);
    *threads = limit > 0 ? std::min(limit, most) : most;
    *grid = groups_per_unit(*function, *threads, dynamic_lds) * function->module->device->compute_units();
    return hipSuccess;
}
