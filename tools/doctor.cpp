// kiln doctor: what Kiln found on this machine.
#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "kiln/kiln.hpp"
#include "runtime/backend.h"
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
        const nlohmann::json json = {{"version", version()},
                                     {"build_id", runtime::build_id()},
                                     {"devices", devices},
                                     {"cache", {{"folder", cache.folder}, {"state", cache.state}}},
                                     {"tuning", to_json(tuning_state())},
                                     {"library", library}};
        fmt::print("{}\n", json.dump(2));
        return kSuccess;
    }
    fmt::print("kiln {} (build {})\n", version(), runtime::build_id());
    for (const nlohmann::json& device : devices) {
        fmt::print("device   {}: {}\n         code: {}\n", device["name"].get<std::string>(),
                   device["description"].get<std::string>(), device["fingerprint"].get<std::string>());
    }
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
