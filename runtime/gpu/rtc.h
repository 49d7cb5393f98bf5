// NVRTC and hipRTC have one interface under two names: a program is made of a text, compiled with a list of options,
// and asked for its log and its results by their sizes first.
#pragma once

#include <string>
#include <vector>

#include "runtime/dynamic_library.h"
#include "runtime/gpu/source_compiler.h"

namespace kiln::runtime::gpu {

/// The functions of one of the two libraries (nvrtc.h; hiprtc.h). Enumerations are int, programs void*.
struct RtcApi {
    int (*create)(void**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
    int (*compile)(void*, int, const char* const*) = nullptr;
    int (*destroy)(void**) = nullptr;
    int (*log_size)(void*, std::size_t*) = nullptr;
    int (*log)(void*, char*) = nullptr;
    const char* (*error_string)(int) = nullptr;
    int (*version)(int*, int*) = nullptr;

    /// With each function's name behind `prefix`. Returns the first that the library lacks; null if it has all.
    const char* load(const DynamicLibrary& library, const std::string& prefix);
};

/// A source that is being compiled; gone with its log and results when this is.
class RtcProgram {
public:
    /// Throws Error(compiler) in `compiler`'s name.
    RtcProgram(const RtcApi& api, std::string compiler, const std::string& source, const std::string& name);
    ~RtcProgram();
    RtcProgram(const RtcProgram&) = delete;
    RtcProgram& operator=(const RtcProgram&) = delete;

    /// Throws Error(compiler) with the whole log, or with the reason why there is none. Returns the log.
    std::string compile(const std::vector<std::string>& options);
    /// A result that `size` and `get` know.
    std::vector<char> result(int (*size)(void*, std::size_t*), int (*get)(void*, char*), const char* what) const;

private:
    std::string read_log(std::string& trouble) const;
    [[noreturn]] void fail(const std::string& action, int status) const;

    const RtcApi& api_;
    std::string compiler_;
    void* program_ = nullptr;
};

}  // namespace kiln::runtime::gpu
