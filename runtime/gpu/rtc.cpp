#include "runtime/gpu/rtc.h"

#include <fmt/format.h>

#include "kiln/error.hpp"

namespace kiln::runtime::gpu {

const char* RtcApi::load(const DynamicLibrary& library, const std::string& prefix) {
    const char* missing = nullptr;
    const auto find = [&](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.find((prefix + name).c_str()));
        if (function == nullptr && missing == nullptr) missing = name;
    };
    find(create, "CreateProgram");
    find(compile, "CompileProgram");
    find(destroy, "DestroyProgram");
    find(log_size, "GetProgramLogSize");
    find(log, "GetProgramLog");
    find(error_string, "GetErrorString");
    find(version, "Version");
    return missing;
}

RtcProgram::RtcProgram(const RtcApi& api, std::string compiler, const std::string& source, const std::string& name)
    : api_(api), compiler_(std::move(compiler)) {
    const int status = api_.create(&program_, source.c_str(), name.c_str(), 0, nullptr, nullptr);
    if (status != 0) fail("take the source", status);
}

RtcProgram::~RtcProgram() {
    api_.destroy(&program_);
}

std::string RtcProgram::compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    for (const std::string& option : options) pointers.push_back(option.c_str());
    const int status = api_.compile(program_, static_cast<int>(pointers.size()), pointers.data());
    std::string trouble;
    const std::string log = read_log(trouble);
    if (status == 0) return log;
    const char* words = api_.error_string(status);
    throw Error(ErrorKind::compiler,
                fmt::format("{} refused the source ({}){}\n{}", compiler_, words == nullptr ? "" : words,
                            log.empty() ? " and gave no log" + trouble : ":", log));
}

std::string RtcProgram::read_log(std::string& trouble) const {
    std::size_t size = 0;
    if (const int status = api_.log_size(program_, &size); status != 0) {
        trouble = fmt::format(": asked for its size, it answered {}", status);
        return {};
    }
    if (size == 0) return {};
    // One byte more than asked for: the log need not end with a zero.
    std::string log(size + 1, '\0');
    if (const int status = api_.log(program_, log.data()); status != 0) {
        trouble = fmt::format(": asked for {} bytes of it, it answered {}", size, status);
        return {};
    }
    log.resize(log.find('\0'));
    return log;
}

std::vector<char> RtcProgram::result(int (*size)(void*, std::size_t*), int (*get)(void*, char*),
                                     const char* what) const {
    std::size_t bytes = 0;
    if (const int status = size(program_, &bytes); status != 0)
        fail(fmt::format("give the size of its {}", what), status);
    std::vector<char> result(bytes);
    if (const int status = get(program_, result.data()); status != 0) fail(fmt::format("give its {}", what), status);
    if (bytes == 0) throw Error(ErrorKind::compiler, fmt::format("{} made an empty {}", compiler_, what));
    return result;
}

void RtcProgram::fail(const std::string& action, int status) const {
    const char* words = api_.error_string(status);
    throw Error(ErrorKind::compiler,
                fmt::format("{} could not {}: {}", compiler_, action, words == nullptr ? "" : words));
}

}  // namespace kiln::runtime::gpu
