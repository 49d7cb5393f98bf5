// kiln doctor: what Kiln found on this machine.
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "kiln/kiln.hpp"
#include "runtime/backend.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/hip/driver.h"
#include "runtime/hip/hiprtc.h"
#include "runtime/hip/offline_clang.h"
#include "runtime/kernel_cache.h"
#include "runtime/key.h"
#include "runtime/standard_library.h"
#include "tools/command.h"
#include "tools/tuning_state.h"

namespace kiln::tools {

namespace {

struct CacheState {
    std::string folder, state;
};

CacheState cache_state() {
    const std::string folder = runtime::KernelCache::default_folder();
    if (folder.empty()) return {"", "off"};
    if (::access(folder.c_str(), F_OK) != 0) return {folder, "made when first used"};
    return {folder, ::access(folder.c_str(), W_OK) == 0 ? "in use" : "not writable"};
}

/// A library or program of others: which one is used, or why none is.
nlohmann::json part(const std::string& name, const auto* found, const std::string& reason) {
    if (found == nullptr) return {{"name", name}, {"absent", reason}};
    return {{"name", name}, {"version", found->version()}, {"path", found->path()}};
}

nlohmann::json drivers() {
    const runtime::gpu::FoundDriver &cuda = runtime::cuda::driver(), &hip = runtime::hip::driver();
    return {part("cuda", cuda.driver, cuda.reason), part("hip", hip.driver, hip.reason)};
}

nlohmann::json compilers() {
    const runtime::gpu::FoundCompiler &nvrtc = runtime::cuda::nvrtc(), &hiprtc = runtime::hip::hiprtc(),
                                      &clang = runtime::hip::offline_clang();
    return {part("nvrtc", nvrtc.compiler, nvrtc.reason), part("hiprtc", hiprtc.compiler, hiprtc.reason),
            part("clang", clang.compiler, clang.reason)};
}

void print_parts(const char* title, const nlohmann::json& parts) {
    for (const nlohmann::json& part : parts) {
        const bool is_absent = part.contains("absent");
        fmt::print("{:<8} {}: {}\n", title, part["name"].get<std::string>(),
                   is_absent ? "absent: " + part["absent"].get<std::string>()
                             : part["version"].get<std::string>() + ", " + part["path"].get<std::string>());
    }
}

int doctor(bool as_json) {
    nlohmann::json devices = nlohmann::json::array();
    for (const std::string& name : Device::available()) {
        const Device device = Device::open(name);
        devices.push_back({{"name", device.name()},
                           {"description", device.description()},
                           {"units", device.units()},
                           {"fingerprint", device.stream().backend()->fingerprint()}});
    }
    const CacheState cache = cache_state();
    if (as_json) {
        nlohmann::json library = nlohmann::json::array();
        for (const std::string_view path : runtime::standard_library_paths()) library.push_back(std::string(path));
        const nlohmann::json json = {
            {"version", version()},     {"build_id", runtime::build_id()},
            {"devices", devices},       {"drivers", drivers()},
            {"compilers", compilers()}, {"cache", {{"folder", cache.folder}, {"state", cache.state}}},
            {"library", library},       {"tuning", to_json(tuning_state())}};
        fmt::print("{}\n", json.dump(2));
        return kSuccess;
    }
    fmt::print("kiln {} (build {})\n", version(), runtime::build_id());
    for (const nlohmann::json& device : devices) {
        fmt::print("device   {}: {}\n         code: {}\n", device["name"].get<std::string>(),
                   device["description"].get<std::string>(), device["fingerprint"].get<std::string>());
    }
    print_parts("driver", drivers());
    print_parts("compiler", compilers());
    fmt::print("cache    {} ({})\n", cache.folder.empty() ? "none" : cache.folder, cache.state);
    fmt::print("{}", to_text(tuning_state()));
    fmt::print("library  {}\n", fmt::join(runtime::standard_library_paths(), ", "));
    return kSuccess;
}

}  // namespace

void add_doctor(CLI::App& program, Action& action) {
    auto json = std::make_shared<bool>(false);
    CLI::App* command = program.add_subcommand("doctor", "show the devices, compilers and folders Kiln uses here");
    command->add_flag("--json", *json, "print JSON");
    command->footer("Example:\n  kiln doctor --json");
    command->callback([json, &action] { action = [json] { return doctor(*json); }; });
}

}  // namespace kiln::tools
