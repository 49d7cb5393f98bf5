// kiln bench: run one of the comparison programs of bench/.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "tools/command.h"

namespace kiln::tools {

namespace {

struct BenchOptions {
    std::string name, device;
    bool json = false;
};

std::vector<std::string> built_programs() {
    constexpr std::string_view kPrefix = "kiln_bench_";
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(KILN_BENCH_FOLDER, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(kPrefix)) names.push_back(name.substr(kPrefix.size()));
    }
    std::sort(names.begin(), names.end());
    return names;
}

int bench(const BenchOptions& options) {
    const std::vector<std::string> names = built_programs();
    if (std::find(names.begin(), names.end(), options.name) == names.end()) {
        throw Error(
            ErrorKind::user,
            fmt::format("there is no built comparison `{}`; built are: {}. Configure with -DKILN_BUILD_BENCH=ON "
                        "to build them",
                        options.name, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
    }
    const std::string path = std::string(KILN_BENCH_FOLDER) + "/kiln_bench_" + options.name;
    std::vector<const char*> words = {path.c_str()};
    if (options.json) words.push_back("--json");
    if (!options.device.empty()) words.insert(words.end(), {"--device", options.device.c_str()});
    words.push_back(nullptr);
    ::execv(path.c_str(), const_cast<char* const*>(words.data()));
    throw Error(ErrorKind::user, fmt::format("{} cannot be run ({})", path, std::strerror(errno)));
}

}  // namespace

void add_bench(CLI::App& program, Action& action) {
    auto options = std::make_shared<BenchOptions>();
    CLI::App* command = program.add_subcommand("bench", "run a side-by-side comparison (of those built)");
    command->add_option("name", options->name, "gemm, tuner")->required();
    command->add_option("--device", options->device, "of tuner: an emulated device, whose counters it compares by");
    command->add_flag("--json", options->json, "print JSON");
    command->footer("Example:\n  kiln bench gemm --json");
    command->callback([options, &action] { action = [options] { return bench(*options); }; });
}

}  // namespace kiln::tools
