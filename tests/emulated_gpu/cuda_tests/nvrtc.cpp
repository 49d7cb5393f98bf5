#include "tests/emulated_gpu/cuda_tests/nvrtc.h"

#include <dlfcn.h>

#include <initializer_list>
#include <stdexcept>

#include "tests/emulated_gpu/common_tests/compile_cache.h"
#include "tests/skip.h"

namespace emulated_gpu {
namespace {

/// The functions of NVRTC's C interface (NVRTC documentation, "Compilation").
struct Nvrtc {
    using Program = void*;
    int (*version)(int*, int*) = nullptr;
    int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*compile)(Program, int, const char* const*) = nullptr;
    int (*log_size)(Program, size_t*) = nullptr;
    int (*log)(Program, char*) = nullptr;
    int (*ptx_size)(Program, size_t*) = nullptr;
    int (*ptx)(Program, char*) = nullptr;
    int (*destroy)(Program*) = nullptr;
};

void* open_library() {
    for (const char* name :
         {"libnvrtc.so.13", "libnvrtc.so.12", "/usr/local/cuda/lib64/libnvrtc.so", "/usr/local/cuda/lib/libnvrtc.so"}) {
        if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    }
    kiln::test::skip("nvrtc", "libnvrtc.so cannot be loaded");
}

template <class Function>
void look_up(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) throw std::runtime_error(std::string("NVRTC lacks ") + name);
}

const Nvrtc& nvrtc() {
    static const Nvrtc loaded = [] {
        void* library = open_library();
        Nvrtc api;
        look_up(library, "nvrtcVersion", api.version);
        look_up(library, "nvrtcCreateProgram", api.create);
        look_up(library, "nvrtcCompileProgram", api.compile);
        look_up(library, "nvrtcGetProgramLogSize", api.log_size);
        look_up(library, "nvrtcGetProgramLog", api.log);
        look_up(library, "nvrtcGetPTXSize", api.ptx_size);
        look_up(library, "nvrtcGetPTX", api.ptx);
        look_up(library, "nvrtcDestroyProgram", api.destroy);
        return api;
    }();
    return loaded;
}

std::string compile_anew(const std::string& source, const std::string& file_name,
                         const std::vector<std::string>& options) {
    const Nvrtc& api = nvrtc();
    Nvrtc::Program program = nullptr;
    if (api.create(&program, source.c_str(), file_name.c_str(), 0, nullptr, nullptr) != 0) {
        throw std::runtime_error("nvrtcCreateProgram failed");
    }
    std::vector<const char*> texts;
    for (const std::string& option : options) texts.push_back(option.c_str());
    const int status = api.compile(program, static_cast<int>(texts.size()), texts.data());
    size_t size = 0;
    std::string text;
    if (status != 0) {
        api.log_size(program, &size);
        text.resize(size);
        api.log(program, text.data());
        api.destroy(&program);
        throw std::runtime_error(text);
    }
    api.ptx_size(program, &size);
    text.resize(size);
    api.ptx(program, text.data());
    api.destroy(&program);
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
}

}  // namespace

std::string compile_cuda(const std::string& source, const std::string& file_name, const std::string& architecture,
                         const std::vector<std::string>& options) {
    std::vector<std::string> all = {"--gpu-architecture=" + architecture, "--generate-line-info"};
    all.insert(all.end(), options.begin(), options.end());
    int major = 0;
    int minor = 0;
    nvrtc().version(&major, &minor);
    std::string key = "nvrtc " + std::to_string(major) + "." + std::to_string(minor) + "\n" + file_name + "\n";
    for (const std::string& option : all) key += option + "\n";
    return compile_cached(key + source + "\n", [&] { return compile_anew(source, file_name, all); });
}

}  // namespace emulated_gpu
