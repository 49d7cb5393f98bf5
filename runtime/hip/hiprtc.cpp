#include "runtime/hip/hiprtc.h"

#include <fmt/format.h>

#include "runtime/gpu/rtc.h"
#include "runtime/hip/compilers.h"
#include "runtime/hip/driver.h"

namespace kiln::runtime::hip {

namespace {

struct CodeResults {
    int (*code_size)(void*, std::size_t*) = nullptr;
    int (*code)(void*, char*) = nullptr;
};

class Hiprtc final : public gpu::SourceCompiler {
public:
    Hiprtc(const gpu::RtcApi& api, const CodeResults& results, std::string path, std::string version)
        : api_(api), results_(results), path_(std::move(path)), version_(std::move(version)) {}

    const std::string& name() const override { return name_; }
    const std::string& path() const override { return path_; }
    const std::string& version() const override { return version_; }

    /// Asked for a target it does not know, hipRTC 5.2 aborts the process; so it is never asked.
    bool knows(const codegen::gpu::Target& target) const override {
        return hip_version_knows(hip_version(version_), target);
    }

    gpu::CompiledSource compile(const std::string& source, const std::string& name,
                                const codegen::gpu::Target& target) const override {
        gpu::RtcProgram program(api_, fmt::format("hipRTC {}", version_), source, name);
        gpu::CompiledSource compiled;
        compiled.log = program.compile({"--offload-arch=" + target.name, "-O3", "-std=c++17", "-ffp-contract=off"});
        compiled.binary = program.result(results_.code_size, results_.code, "code object");
        return compiled;
    }

private:
    const gpu::RtcApi api_;
    const CodeResults results_;
    const std::string name_ = "hiprtc", path_, version_;
};

/// hiprtcVersion of HIP 5 says 9.0 in all versions, so the file's name is believed first.
std::string version_of(const DynamicLibrary& library, const gpu::RtcApi& api) {
    if (const std::string version = version_in_name(library.path()); version.find('.') != std::string::npos) {
        return version;
    }
    int major = 0, minor = 0;
    api.version(&major, &minor);
    return major == 9 ? "5.2" : fmt::format("{}.{}", major, minor);
}

gpu::FoundCompiler open_hiprtc() {
    const DynamicLibrary library = DynamicLibrary::open(
        {"KILN_HIPRTC",
         {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libhiprtc.so", "libamdhip64.so.5"},
         library_folders()});
    if (!library.is_open()) return {nullptr, library.reason()};
    gpu::RtcApi api;
    CodeResults results;
    const char* missing = api.load(library, "hiprtc");
    results.code_size = reinterpret_cast<decltype(results.code_size)>(library.find("hiprtcGetCodeSize"));
    results.code = reinterpret_cast<decltype(results.code)>(library.find("hiprtcGetCode"));
    if (missing == nullptr && (results.code_size == nullptr || results.code == nullptr)) missing = "GetCode";
    if (missing != nullptr)
        return {nullptr, fmt::format("{} is no hipRTC: it lacks hiprtc{}", library.path(), missing)};
    return {new Hiprtc(api, results, library.path(), version_of(library, api)), ""};
}

}  // namespace

const gpu::FoundCompiler& hiprtc() {
    static const auto* const found = new gpu::FoundCompiler(open_hiprtc());
    return *found;
}

}  // namespace kiln::runtime::hip
