#include "runtime/cuda/nvrtc.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "runtime/gpu/rtc.h"

namespace kiln::runtime::cuda {

namespace {

struct Results {
    int (*cubin_size)(void*, std::size_t*) = nullptr;
    int (*cubin)(void*, char*) = nullptr;
    int (*ptx_size)(void*, std::size_t*) = nullptr;
    int (*ptx)(void*, char*) = nullptr;
    int (*architecture_count)(int*) = nullptr;
    int (*architectures)(int*) = nullptr;
};

class Nvrtc final : public gpu::SourceCompiler {
public:
    Nvrtc(const gpu::RtcApi& api, const Results& results, std::string path, std::string version,
          std::vector<int> architectures)
        : api_(api),
          results_(results),
          path_(std::move(path)),
          version_(std::move(version)),
          architectures_(std::move(architectures)) {}

    const std::string& name() const override { return name_; }
    const std::string& path() const override { return path_; }
    const std::string& version() const override { return version_; }

    bool knows(const codegen::gpu::Target& target) const override {
        if (target.vendor != codegen::gpu::Vendor::Nvidia) return false;
        int number = 0;  // "sm_90a" is 90
        std::from_chars(target.name.data() + std::min<std::size_t>(3, target.name.size()),
                        target.name.data() + target.name.size(), number);
        return std::find(architectures_.begin(), architectures_.end(), number) != architectures_.end();
    }

    gpu::CompiledSource compile(const std::string& source, const std::string& name,
                                const codegen::gpu::Target& target) const override {
        // A name of one architecture gives machine code and PTX of the same compilation. Nothing is contracted or
        // flushed unless the text says so. The verbose log has registers and spills.
        const std::vector<std::string> options = {"--gpu-architecture=" + target.name, "--std=c++17", "--fmad=false",
                                                  "--generate-line-info", "--ptxas-options=--verbose"};
        gpu::RtcProgram program(api_, fmt::format("NVRTC {}", version_), source, name);
        gpu::CompiledSource compiled;
        compiled.log = program.compile(options);
        compiled.binary = program.result(results_.cubin_size, results_.cubin, "cubin");
        compiled.portable = program.result(results_.ptx_size, results_.ptx, "PTX");
        return compiled;
    }

private:
    const gpu::RtcApi api_;
    const Results results_;
    const std::string name_ = "nvrtc", path_, version_;
    const std::vector<int> architectures_;
};

const char* load(const DynamicLibrary& library, Results& results) {
    const char* missing = nullptr;
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find(name));
        if (function == nullptr && missing == nullptr) missing = name;
    };
    find(results.cubin_size, "nvrtcGetCUBINSize");
    find(results.cubin, "nvrtcGetCUBIN");
    find(results.ptx_size, "nvrtcGetPTXSize");
    find(results.ptx, "nvrtcGetPTX");
    find(results.architecture_count, "nvrtcGetNumSupportedArchs");
    find(results.architectures, "nvrtcGetSupportedArchs");
    return missing;
}

gpu::FoundCompiler open_nvrtc() {
    const DynamicLibrary library = DynamicLibrary::open(
        {"KILN_NVRTC",
         {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"},
         {"/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib", "/opt/cuda/lib64"}});
    if (!library.is_open()) return {nullptr, library.reason()};
    gpu::RtcApi api;
    Results results;
    const char* missing = api.load(library, "nvrtc");
    if (missing == nullptr) missing = load(library, results);
    if (missing != nullptr) {
        return {nullptr, fmt::format("{} is too old or no NVRTC: it lacks {}", library.path(), missing)};
    }
    int major = 0, minor = 0, count = 0;
    api.version(&major, &minor);
    std::vector<int> architectures;
    if (results.architecture_count(&count) == 0 && count > 0) {
        architectures.resize(static_cast<std::size_t>(count));
        if (results.architectures(architectures.data()) != 0) architectures.clear();
    }
    // The interface tells no patch level, which another size of the file gives away.
    std::error_code error;
    const std::uintmax_t bytes = std::filesystem::file_size(library.path(), error);
    return {new Nvrtc(api, results, library.path(), fmt::format("{}.{} ({} bytes)", major, minor, error ? 0 : bytes),
                      std::move(architectures)),
            ""};
}

}  // namespace

const gpu::FoundCompiler& nvrtc() {
    static const auto* const found = new gpu::FoundCompiler(open_nvrtc());
    return *found;
}

}  // namespace kiln::runtime::cuda
