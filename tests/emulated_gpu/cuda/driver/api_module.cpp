// Modules, functions, launches and occupancy.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/emulated_gpu/cuda/driver/driver_state.h"

using namespace emulated_gpu;

namespace {

constexpr int kKernelNode = 0;
constexpr int kHostNode = 3;
constexpr uint64_t kDefaultSharedLimit = 48 * 1024;

/// Numbers of CUjit_option.
constexpr int kInfoLogBytes = 4;
constexpr int kErrorLog = 5;
constexpr int kErrorLogBytes = 6;

/// Where the caller wants the compiler's words.
struct JitLog {
    char* buffer = nullptr;
    size_t capacity = 0;
    void** written = nullptr;  // the option that gave the capacity receives how much was used
};

JitLog find_log(unsigned count, const int* options, void** values) {
    JitLog log;
    for (unsigned i = 0; i < count; ++i) {
        if (options[i] == kErrorLog) log.buffer = static_cast<char*>(values[i]);
        if (options[i] == kErrorLogBytes) {
            log.capacity = static_cast<size_t>(reinterpret_cast<uintptr_t>(values[i]) & 0xffffffffU);
            log.written = &values[i];
        }
        if (options[i] == kInfoLogBytes) values[i] = nullptr;
    }
    return log;
}

void write_log(const JitLog& log, const std::string& text) {
    size_t used = 0;
    if (log.buffer != nullptr && log.capacity > 0) {
        used = std::min(text.size() + 1, log.capacity);
        std::memcpy(log.buffer, text.c_str(), used);
        log.buffer[used - 1] = '\0';
    }
    if (log.written != nullptr) *log.written = reinterpret_cast<void*>(used);
}

/// Code for real hardware, ELF or a bundle of such: nothing here can run it.
bool is_machine_code(const unsigned char* image) {
    constexpr unsigned char kElf[] = {0x7f, 'E', 'L', 'F'};
    constexpr unsigned char kBundle[] = {0x50, 0xed, 0x55, 0xba};
    return std::memcmp(image, kElf, 4) == 0 || std::memcmp(image, kBundle, 4) == 0;
}

CUresult load(CUmodule* module, const char* image, const JitLog& log) {
    CUcontext context = nullptr;
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (is_machine_code(reinterpret_cast<const unsigned char*>(image))) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (std::strstr(image, ".version") == nullptr) return CUDA_ERROR_INVALID_IMAGE;
    auto loaded = std::make_unique<CUmod_st>();
    loaded->context = context;
    try {
        loaded->loaded = load_module(image, context->device.memory, context->device.capability);
    } catch (const WrongTarget& error) {
        write_log(log, error.what());
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    } catch (const PtxError& error) {
        write_log(log, error.what());
        std::fprintf(stderr, "emulated gpu: %s\n", error.what());
        return CUDA_ERROR_INVALID_PTX;
    }
    write_log(log, "");
    for (const auto& [name, kernel] : loaded->loaded->kernels) {
        CUfunc_st& function = loaded->functions[name];
        function.module = loaded.get();
        function.kernel = kernel.get();
        const uint64_t used = kernel->static_shared_bytes;
        function.most_dynamic_shared = used < kDefaultSharedLimit ? kDefaultSharedLimit - used : 0;
    }
    const std::lock_guard lock(context->mutex);
    *module = *context->modules.insert(loaded.release()).first;
    return CUDA_SUCCESS;
}

CUresult find_module(CUcontext& context, CUmodule module) {
    const CUresult usable = usable_context(context);
    if (usable != CUDA_SUCCESS) return usable;
    const std::lock_guard lock(context->mutex);
    return context->modules.contains(module) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

uint64_t threads_of(const std::array<uint32_t, 3>& extent) {
    return uint64_t{extent[0]} * extent[1] * extent[2];
}

int most_threads(const LoadedKernel& kernel) {
    if (kernel.required_threads[0] != 0) return static_cast<int>(threads_of(kernel.required_threads));
    if (kernel.maximum_threads[0] != 0) return static_cast<int>(threads_of(kernel.maximum_threads));
    return 1024;
}

CUresult check_shape(const CUfunc_st& function, const LaunchShape& shape) {
    const auto& block = shape.block;
    const uint64_t threads = threads_of(block);
    if (threads_of(shape.grid) == 0 || threads == 0) return CUDA_ERROR_INVALID_VALUE;
    if (shape.grid[1] > 65535 || shape.grid[2] > 65535 || shape.grid[0] > 2147483647U) return CUDA_ERROR_INVALID_VALUE;
    if (block[0] > 1024 || block[1] > 1024 || block[2] > 64 || threads > 1024) return CUDA_ERROR_INVALID_VALUE;
    const auto& required = function.kernel->required_threads;
    if (required[0] != 0 && required != block) return CUDA_ERROR_INVALID_VALUE;
    if (threads > static_cast<uint64_t>(most_threads(*function.kernel))) return CUDA_ERROR_INVALID_VALUE;
    if (shape.dynamic_shared_bytes > function.most_dynamic_shared) return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/// Settles the size of clusters: the launch's, or the one that the kernel requires.
CUresult check_clusters(const CUfunc_st& function, LaunchShape& shape) {
    const auto& required = function.kernel->required_cluster;
    if (required[0] != 0) {
        if (shape.in_clusters && shape.cluster != required) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        shape.cluster = required;
        shape.in_clusters = true;
    }
    const uint64_t blocks = threads_of(shape.cluster);
    if (blocks == 0) return CUDA_ERROR_INVALID_VALUE;
    if (blocks > (function.large_clusters ? 16U : 8U)) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    for (size_t i = 0; i < 3; ++i) {
        if (shape.grid[i] % shape.cluster[i] != 0) return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    return CUDA_SUCCESS;
}

/// Parameters from an array of pointers, or from the one buffer that `extra` describes.
CUresult pack_parameters(const LoadedKernel& kernel, void** parameters, void** extra, std::vector<uint8_t>& packed) {
    const LoadedFunction& entry = *kernel.entry;
    packed.resize(entry.parameter_bytes);
    if (extra != nullptr) {
        const void* buffer = nullptr;
        size_t bytes = 0;
        for (; *extra != nullptr; extra += 2) {  // CU_LAUNCH_PARAM_BUFFER_POINTER: 1, _SIZE: 2
            if (reinterpret_cast<uintptr_t>(*extra) == 1)
                buffer = extra[1];
            else if (reinterpret_cast<uintptr_t>(*extra) == 2)
                bytes = *static_cast<const size_t*>(extra[1]);
        }
        if (buffer == nullptr || bytes < packed.size()) return CUDA_ERROR_INVALID_VALUE;
        std::memcpy(packed.data(), buffer, packed.size());
        return CUDA_SUCCESS;
    }
    if (parameters == nullptr) return packed.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    size_t index = 0;
    for (const Variable& parameter : entry.source->parameters) {
        const void* value = parameters[index++];
        if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
        std::memcpy(packed.data() + entry.parameters.at(parameter.name).offset, value, parameter.bytes);
    }
    return CUDA_SUCCESS;
}

/// Blocks that fit on a multiprocessor, by threads and shared memory; registers are not modelled.
int blocks_per_multiprocessor(const CUfunc_st& function, int threads, size_t dynamic_shared) {
    const Device& device = function.module->context->device;
    const int warps = (threads + kLanes - 1) / kLanes;
    int most_warps = 64;
    if (device.shared_per_block_opt_in() == 99 * 1024) most_warps = 48;
    const uint64_t shared = function.kernel->dynamic_shared_offset + dynamic_shared + 1024;
    return std::min({32, most_warps / warps, static_cast<int>(device.shared_per_multiprocessor() / shared)});
}

CUresult launch(CUfunction function, LaunchShape shape, CUstream handle, void** parameters, void** extra,
                bool cooperative) {
    CUcontext context = nullptr;
    CUresult result = usable_context(context);
    if (result != CUDA_SUCCESS) return result;
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (function->module->context != context) return CUDA_ERROR_INVALID_CONTEXT;
    result = check_shape(*function, shape);
    if (result != CUDA_SUCCESS) return result;
    result = check_clusters(*function, shape);
    if (result != CUDA_SUCCESS) return result;
    result = pack_parameters(*function->kernel, parameters, extra, shape.parameters);
    if (result != CUDA_SUCCESS) return result;
    CUstream stream = nullptr;
    result = find_stream(context, handle, stream);
    if (result != CUDA_SUCCESS) return result;
    Options options = Driver::get().options;
    if (cooperative) {
        const auto blocks = threads_of(shape.grid);
        const int fit =
            blocks_per_multiprocessor(*function, static_cast<int>(threads_of(shape.block)), shape.dynamic_shared_bytes);
        if (blocks > static_cast<uint64_t>(fit) * static_cast<uint64_t>(context->device.multiprocessors())) {
            return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
        }
        options.resident_blocks = static_cast<uint32_t>(blocks);
    }
    return enqueue(stream, kKernelNode, [context, kernel = function->kernel, shape, options] {
        const std::lock_guard lock(context->device.execution);
        const LaunchResult done =
            run_kernel(*kernel, shape, context->device.memory, options, [](const std::string& text) {
                std::fwrite(text.data(), 1, text.size(), stdout);
                std::fflush(stdout);
            });
        Driver::get().note(done);
        if (done.report) context->sticky = result_of(done.report->kind);
    });
}

}  // namespace

EMULATED_API cuModuleLoadData(CUmodule* module, const void* image) {
    return load(module, static_cast<const char*>(image), {});
}

EMULATED_API cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, const int* options,
                                void** values) {
    return load(module, static_cast<const char*>(image), find_log(count, options, values));
}

EMULATED_API cuModuleLoadFatBinary(CUmodule*, const void*) {
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

EMULATED_API cuModuleLoad(CUmodule* module, const char* path) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::ifstream file(path, std::ios::binary);
    if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (text.size() < 4) return CUDA_ERROR_INVALID_IMAGE;
    return load(module, text.c_str(), {});
}

EMULATED_API cuModuleUnload(CUmodule module) {
    CUcontext context = nullptr;
    const CUresult found = find_module(context, module);
    if (found != CUDA_SUCCESS) return found;
    context->synchronize();
    {
        const std::lock_guard lock(context->mutex);
        context->modules.erase(module);
    }
    for (const auto& [name, place] : module->loaded->variables) context->device.memory.release(place.offset);
    delete module;
    return CUDA_SUCCESS;
}

EMULATED_API cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
    CUcontext context = nullptr;
    const CUresult found = find_module(context, module);
    if (found != CUDA_SUCCESS) return found;
    if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto kernel = module->functions.find(name);
    if (kernel == module->functions.end()) return CUDA_ERROR_NOT_FOUND;
    *function = &kernel->second;
    return CUDA_SUCCESS;
}

EMULATED_API cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
    CUcontext context = nullptr;
    const CUresult found = find_module(context, module);
    if (found != CUDA_SUCCESS) return found;
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto variable = module->loaded->variables.find(name);
    if (variable == module->loaded->variables.end()) return CUDA_ERROR_NOT_FOUND;
    if (address != nullptr) *address = variable->second.offset;
    if (bytes != nullptr) *bytes = variable->second.bytes;
    return CUDA_SUCCESS;
}

EMULATED_API cuFuncGetAttribute(int* value, int attribute, CUfunction function) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const LoadedKernel& kernel = *function->kernel;
    switch (attribute) {
        case 0:
            *value = most_threads(kernel);
            break;
        case 1:
            *value = static_cast<int>(kernel.static_shared_bytes);
            break;
        case 2:
            *value = 0;
            break;
        case 3:
            *value = static_cast<int>(kernel.entry->local_bytes);
            break;
        case 4:
            *value = 32;
            break;  // NUM_REGS: PTX has no count of hardware registers
        case 5:
            *value = kernel.module->capability;
            break;
        case 6:
            *value = function->module->context->device.capability;
            break;
        case 7:
            *value = 0;
            break;
        case 8:
            *value = static_cast<int>(function->most_dynamic_shared);
            break;
        case 9:
            *value = function->carveout;
            break;
        case 10:
            *value = kernel.explicit_cluster ? 1 : 0;
            break;
        case 11:
        case 12:
        case 13:
            *value = static_cast<int>(kernel.required_cluster[static_cast<size_t>(attribute) - 11]);
            break;
        case 14:
            *value = function->large_clusters ? 1 : 0;
            break;
        default:
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

EMULATED_API cuFuncSetAttribute(CUfunction function, int attribute, int value) {
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (attribute == 8) {  // MAX_DYNAMIC_SHARED_SIZE_BYTES
        const uint64_t limit = function->module->context->device.shared_per_block_opt_in();
        const uint64_t used = function->kernel->static_shared_bytes;
        if (value < 0 || used + static_cast<uint64_t>(value) > limit) return CUDA_ERROR_INVALID_VALUE;
        function->most_dynamic_shared = static_cast<uint64_t>(value);
        return CUDA_SUCCESS;
    }
    if (attribute == 9) {  // PREFERRED_SHARED_MEMORY_CARVEOUT
        if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
        function->carveout = value;
        return CUDA_SUCCESS;
    }
    if (attribute == 14) {  // NON_PORTABLE_CLUSTER_SIZE_ALLOWED
        function->large_clusters = value != 0;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}
EMULATED_API cuFuncSetCacheConfig(CUfunction function, int) {
    return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

EMULATED_API cuFuncGetModule(CUmodule* module, CUfunction function) {
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *module = function->module;
    return CUDA_SUCCESS;
}

EMULATED_API cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void** parameters,
                            void** extra) {
    return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, {}}, stream, parameters,
                  extra, false);
}

EMULATED_API cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                       CUstream stream, void** parameters) {
    return launch(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, {}}, stream, parameters,
                  nullptr, true);
}

EMULATED_API cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    bool cooperative = false;
    LaunchShape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                      {config->blockDimX, config->blockDimY, config->blockDimZ},
                      config->sharedMemBytes,
                      {}};
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        const CUlaunchAttribute& attribute = config->attrs[i];
        if (attribute.id == 2) {  // COOPERATIVE
            cooperative = attribute.value.cooperative != 0;
        } else if (attribute.id == 4) {  // CLUSTER_DIMENSION
            const unsigned* size = attribute.value.dimensions;
            if (function != nullptr && function->module->context->device.capability < 90)
                return CUDA_ERROR_NOT_SUPPORTED;
            shape.cluster = {size[0], size[1], size[2]};
            shape.in_clusters = true;
        } else if (attribute.id != 0 && attribute.id != 5 && attribute.id != 6 && attribute.id != 8) {
            // IGNORE; CLUSTER_SCHEDULING_POLICY_PREFERENCE and PROGRAMMATIC_STREAM_SERIALIZATION allow more than is
            // done here; PRIORITY
            return CUDA_ERROR_NOT_SUPPORTED;
        }
    }
    return launch(function, shape, config->hStream, parameters, extra, cooperative);
}

EMULATED_API cuLaunchHostFunc(CUstream handle, CUhostFn work, void* data) {
    CUcontext context = nullptr;
    CUresult result = usable_context(context);
    if (result != CUDA_SUCCESS) return result;
    if (work == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUstream stream = nullptr;
    result = find_stream(context, handle, stream);
    return result == CUDA_SUCCESS ? enqueue(stream, kHostNode, [work, data] { work(data); }) : result;
}

EMULATED_API cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                         size_t dynamic_shared) {
    if (blocks == nullptr || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *blocks =
        threads > most_threads(*function->kernel) ? 0 : blocks_per_multiprocessor(*function, threads, dynamic_shared);
    return CUDA_SUCCESS;
}
/// All blocks of a cluster are resident together, on any multiprocessors.
EMULATED_API cuOccupancyMaxActiveClusters(int* clusters, CUfunction function, const CUlaunchConfig* config) {
    if (clusters == nullptr || config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    uint64_t size = std::max<uint64_t>(1, threads_of(function->kernel->required_cluster));
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        const unsigned* extent = config->attrs[i].value.dimensions;
        if (config->attrs[i].id == 4) size = uint64_t{extent[0]} * extent[1] * extent[2];
    }
    const uint64_t threads = uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
    if (size == 0 || threads == 0 || threads > 1024) return CUDA_ERROR_INVALID_VALUE;
    const int fit = blocks_per_multiprocessor(*function, static_cast<int>(threads), config->sharedMemBytes);
    const auto blocks =
        static_cast<uint64_t>(fit) * static_cast<uint64_t>(function->module->context->device.multiprocessors());
    *clusters = static_cast<int>(blocks / size);
    return CUDA_SUCCESS;
}

EMULATED_API cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int threads,
                                                                  size_t dynamic_shared, unsigned) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, dynamic_shared);
}
