#include "emulated_device.h"

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "tests/support/temporary_folder.h"

namespace kiln::test {

namespace {

template <class Function>
Function* symbol(void* library, const char* name) {
    void* found = dlsym(library, name);
    REQUIRE_MESSAGE(found != nullptr, name << " is missing");
    return reinterpret_cast<Function*>(found);
}

}  // namespace

const Nvrtc& Nvrtc::get() {
    static const Nvrtc nvrtc;
    return nvrtc;
}

Nvrtc::Nvrtc() {
    for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"}) {
        library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library_ != nullptr) return;
    }
    std::printf("skipped: nvrtc: libnvrtc.so cannot be loaded\n");
    std::fflush(stdout);
    std::_Exit(77);
}

Compiled Nvrtc::compile(const std::string& text, const std::string& architecture,
                        std::vector<std::string> options) const {
    using Program = void*;
    options.push_back("--gpu-architecture=" + architecture);
    options.push_back("-fmad=false");
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    Program program = nullptr;
    Compiled result;
    REQUIRE(symbol<int(Program*, const char*, const char*, int, const char* const*, const char* const*)>(
                library_, "nvrtcCreateProgram")(&program, text.c_str(), "kernel.cu", 0, nullptr, nullptr) == 0);
    const int status = symbol<int(Program, int, const char* const*)>(library_, "nvrtcCompileProgram")(
        program, static_cast<int>(pointers.size()), pointers.data());
    const auto read = [&](const char* size_name, const char* text_name) {
        std::size_t size = 0;
        symbol<int(Program, std::size_t*)>(library_, size_name)(program, &size);
        std::string bytes(size, '\0');
        if (size > 0) symbol<int(Program, char*)>(library_, text_name)(program, bytes.data());
        return bytes;
    };
    result.succeeded = status == 0;
    result.log = read("nvrtcGetProgramLogSize", "nvrtcGetProgramLog");
    while (!result.log.empty() && (result.log.back() == '\0' || result.log.back() == '\n')) result.log.pop_back();
    const bool machine_code = architecture.starts_with("sm_");
    if (result.succeeded)
        result.code =
            machine_code ? read("nvrtcGetCUBINSize", "nvrtcGetCUBIN") : read("nvrtcGetPTXSize", "nvrtcGetPTX");
    symbol<int(Program*)>(library_, "nvrtcDestroyProgram")(&program);
    return result;
}

Compiled compile_hip(const std::string& text, const std::string& target) {
    const tests::TemporaryFolder folder;
    const std::string stem = folder.in("kernel");
    std::ofstream(stem + ".hip") << text;
    const auto contents = [](const std::string& path) {
        std::ifstream file(path, std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    Compiled result;
    for (const char* name : {"clang++-22", "clang++"}) {
        if (std::system((std::string(name) + " --version > /dev/null 2>&1").c_str()) != 0) continue;
        const std::string command = std::string(name) + " -x hip --offload-arch=" + target +
                                    " --offload-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -O3 "
                                    "-std=c++17 -ffp-contract=off -mcode-object-version=5 -Werror -o " +
                                    stem + ".out " + stem + ".hip > " + stem + ".log 2>&1";
        result.succeeded = std::system(command.c_str()) == 0;
        result.log = contents(stem + ".log");
        result.code = contents(stem + ".out");
        return result;
    }
    std::printf("skipped: clang: no clang++-22\n");
    std::fflush(stdout);
    std::_Exit(77);
}

namespace {

constexpr DriverNames kCuda = {"cuMemAlloc_v2",       "cuMemFree_v2",     "cuMemcpyHtoD_v2",
                               "cuMemcpyDtoH_v2",     "cuModuleLoadData", "cuModuleUnload",
                               "cuModuleGetFunction", "cuLaunchKernel",   "cuCtxSynchronize"};
constexpr DriverNames kHip = {"hipMalloc",           "hipFree",         "hipMemcpyHtoD",        "hipMemcpyDtoH",
                              "hipModuleLoadData",   "hipModuleUnload", "hipModuleGetFunction", "hipModuleLaunchKernel",
                              "hipDeviceSynchronize"};

}  // namespace

EmulatedDevice& EmulatedDevice::get() {
    static EmulatedDevice device(EMULATED_CUDA_DRIVER, kCuda);
    return device;
}

EmulatedDevice& EmulatedDevice::amd() {
    static EmulatedDevice device(EMULATED_HIP_DRIVER, kHip);
    return device;
}

EmulatedDevice::EmulatedDevice(const char* library, const DriverNames& names)
    : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)), names_(names), is_amd_(names.allocate == kHip.allocate) {
    REQUIRE_MESSAGE(library_ != nullptr, std::string(dlerror()));
    if (is_amd_) {
        REQUIRE(symbol<int(unsigned)>(library_, "hipInit")(0) == 0);
        return;
    }
    int device = 0;
    void* context = nullptr;
    REQUIRE(symbol<int(unsigned)>(library_, "cuInit")(0) == 0);
    REQUIRE(symbol<int(int*, int)>(library_, "cuDeviceGet")(&device, 0) == 0);
    REQUIRE(symbol<int(void**, int)>(library_, "cuDevicePrimaryCtxRetain")(&context, device) == 0);
    REQUIRE(symbol<int(void*)>(library_, "cuCtxSetCurrent")(context) == 0);
}

std::string EmulatedDevice::words_for(int status) const {
    const char* words = nullptr;
    if (is_amd_) {
        words = symbol<const char*(int)>(library_, "hipGetErrorString")(status);
    } else {
        symbol<int(int, const char**)>(library_, "cuGetErrorString")(status, &words);
    }
    return words == nullptr ? std::to_string(status) : words;
}

namespace {

/// Launch values as slots, in the order of codegen/gpu/source.h.
class Slots {
public:
    void add(std::uint64_t bits) { words.push_back(bits); }
    void add(const ir::TensorView& tensor, std::uint64_t address) {
        add(address);
        for (const std::int64_t size : tensor.sizes) add(static_cast<std::uint64_t>(size));
        for (const std::int64_t stride : tensor.strides) add(static_cast<std::uint64_t>(stride));
    }
    std::vector<std::uint64_t> words;
};

}  // namespace

std::string EmulatedDevice::run(const std::string& code, const codegen::gpu::Source& source, const ir::Kernel& kernel,
                                std::span<const ir::Argument> arguments, std::vector<std::vector<std::byte>>& bytes,
                                std::int64_t units) {
    std::string failure;
    const auto check = [&](int status, const char* what) {
        if (status == 0 || !failure.empty()) return;
        failure = std::string(what) + ": " + words_for(status);
    };
    auto prepared = ir::prepare_launch(kernel, arguments, units);
    if (auto* errors = std::get_if<ir::LaunchErrors>(&prepared)) return errors->messages.front();
    const ir::Launch& launch = std::get<ir::Launch>(prepared);
    void* module = nullptr;
    check(symbol<int(void**, const void*)>(library_, names_.load)(&module, code.c_str()), names_.load);
    if (!failure.empty()) return failure;

    std::map<std::uint32_t, std::uint64_t> addresses;
    std::map<std::uint32_t, ir::TensorView> views;
    std::vector<std::uint64_t> owned;
    const auto allocate = [&](std::size_t size) {
        std::uint64_t address = 0;
        check(symbol<int(std::uint64_t*, std::size_t)>(library_, names_.allocate)(&address,
                                                                                  std::max<std::size_t>(size, 1)),
              names_.allocate);
        owned.push_back(address);
        return address;
    };
    const auto upload = symbol<int(std::uint64_t, const void*, std::size_t)>(library_, names_.upload);
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const auto* tensor = std::get_if<ir::TensorView>(&arguments[i]);
        if (tensor == nullptr) continue;
        const std::uint32_t id = kernel.parameters[i].value.index;
        addresses[id] = allocate(bytes[i].size());
        views[id] = *tensor;
        if (!bytes[i].empty()) check(upload(addresses[id], bytes[i].data(), bytes[i].size()), names_.upload);
    }
    for (std::size_t i = 0; i < kernel.scratch.size(); ++i) {
        const ir::Scratch& scratch = kernel.scratch[i];
        const ir::ScalarType type = kernel.type(scratch.value).element;
        ir::TensorView view{type, nullptr, launch.scratch[i], launch.scratch[i]};
        std::int64_t stride = 1;
        for (std::size_t axis = view.sizes.rank(); axis-- > 0;) {
            view.strides[axis] = stride;
            stride *= view.sizes[axis];
        }
        std::vector<std::byte> contents(static_cast<std::size_t>(stride * ir::bit_width(type) / 8), std::byte{0xff});
        if (scratch.initial) {
            const std::uint64_t bits = launch.values[scratch.initial->index].bits;
            const auto width = static_cast<std::size_t>(ir::byte_width(type));
            for (std::size_t at = 0; at < contents.size(); at += width) std::memcpy(contents.data() + at, &bits, width);
        }
        addresses[scratch.value.index] = allocate(contents.size());
        views[scratch.value.index] = view;
        if (!contents.empty())
            check(upload(addresses[scratch.value.index], contents.data(), contents.size()), names_.upload);
    }

    for (std::size_t i = 0; i < source.phases.size() && failure.empty(); ++i) {
        const codegen::gpu::PhaseSource& phase = source.phases[i];
        const std::int64_t programs = launch.programs(i);
        if (programs == 0) continue;
        Slots slots;
        slots.add(0);
        for (const std::int64_t extent : launch.grids[i]) slots.add(static_cast<std::uint64_t>(extent));
        for (const ir::ValueId value : phase.values) {
            if (kernel.type(value).is_tensor()) {
                slots.add(views.at(value.index), addresses.at(value.index));
            } else {
                slots.add(launch.values[value.index].bits);
            }
        }
        void* function = nullptr;
        check(symbol<int(void**, void*, const char*)>(library_, names_.find)(&function, module, phase.symbol.c_str()),
              names_.find);
        constexpr int kMaxDynamicSharedBytes = 8;
        if (!is_amd_)
            check(symbol<int(void*, int, int)>(library_, "cuFuncSetAttribute")(function, kMaxDynamicSharedBytes,
                                                                               static_cast<int>(phase.shared_bytes)),
                  "cuFuncSetAttribute");
        void* parameters[] = {slots.words.data()};
        check(symbol<int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                         void**)>(library_, names_.launch)(
                  function, static_cast<unsigned>(programs), 1, 1, static_cast<unsigned>(phase.threads), 1, 1,
                  static_cast<unsigned>(phase.shared_bytes), nullptr, parameters, nullptr),
              names_.launch);
        check(symbol<int()>(library_, names_.synchronise)(), names_.synchronise);
    }
    const auto download = symbol<int(void*, std::uint64_t, std::size_t)>(library_, names_.download);
    for (std::size_t i = 0; i < kernel.parameters.size() && failure.empty(); ++i) {
        if (!std::holds_alternative<ir::TensorView>(arguments[i]) || bytes[i].empty()) continue;
        check(download(bytes[i].data(), addresses.at(kernel.parameters[i].value.index), bytes[i].size()),
              names_.download);
    }
    for (const std::uint64_t address : owned) symbol<int(std::uint64_t)>(library_, names_.release)(address);
    symbol<int(void*)>(library_, names_.unload)(module);
    return failure;
}

void* EmulatedDevice::load(const std::string& code) {
    void* module = nullptr;
    REQUIRE(symbol<int(void**, const void*)>(library_, names_.load)(&module, code.c_str()) == 0);
    return module;
}

std::vector<std::uint64_t> EmulatedDevice::map(void* module, const std::string& function,
                                               const std::vector<std::uint64_t>& inputs, int n, std::size_t results) {
    const auto allocate = symbol<int(std::uint64_t*, std::size_t)>(library_, names_.allocate);
    std::vector<std::uint64_t> outputs(results);
    std::uint64_t in = 0, out = 0;
    void* kernel = nullptr;
    REQUIRE(allocate(&in, inputs.size() * 8) == 0);
    REQUIRE(allocate(&out, results * 8) == 0);
    REQUIRE(symbol<int(std::uint64_t, const void*, std::size_t)>(library_, names_.upload)(in, inputs.data(),
                                                                                          inputs.size() * 8) == 0);
    REQUIRE(symbol<int(void**, void*, const char*)>(library_, names_.find)(&kernel, module, function.c_str()) == 0);
    void* parameters[] = {&in, &out, &n};
    REQUIRE(
        symbol<int(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**)>(
            library_, names_.launch)(kernel, static_cast<unsigned>(n + 127) / 128, 1, 1, 128, 1, 1, 0, nullptr,
                                     parameters, nullptr) == 0);
    REQUIRE(symbol<int()>(library_, names_.synchronise)() == 0);
    REQUIRE(symbol<int(void*, std::uint64_t, std::size_t)>(library_, names_.download)(outputs.data(), out,
                                                                                      results * 8) == 0);
    symbol<int(std::uint64_t)>(library_, names_.release)(in);
    symbol<int(std::uint64_t)>(library_, names_.release)(out);
    return outputs;
}

}  // namespace kiln::test
