#include "tests/emulated_gpu/hip_tests/clang.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/support/temporary_folder.h"

namespace emulated_gpu::hip {
namespace {

namespace fs = std::filesystem;

std::string find_clang() {
    if (const char* named = std::getenv("KILN_CLANG")) {
        if (fs::is_regular_file(named)) return named;
    }
    for (const char* path : {"/usr/bin/clang++-22", "/usr/lib/llvm-22/bin/clang++", "/opt/rocm/llvm/bin/clang++",
                             "/usr/bin/clang++-21", "/usr/bin/clang++-20", "/usr/bin/clang++-19"}) {
        if (fs::is_regular_file(path)) return path;
    }
    std::printf("skipped: clang: no clang++ 19 or newer is installed\n");
    std::fflush(stdout);
    std::exit(77);
}

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Runs the compiler in `folder` with its words in a file there.
void run(const fs::path& folder, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), find_clang());
    const pid_t child = fork();
    if (child == 0) {
        if (chdir(folder.c_str()) != 0) _exit(126);
        if (std::freopen("log", "w", stderr) == nullptr) _exit(126);
        std::vector<char*> pointers;
        for (std::string& argument : arguments) pointers.push_back(argument.data());
        pointers.push_back(nullptr);
        execv(pointers[0], pointers.data());
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status == 0) return;
    const std::string log = read_file(folder / "log");
    if (log.find("No available targets are compatible") != std::string::npos) {
        std::printf("skipped: clang: %s cannot compile for amdgcn\n", arguments[0].c_str());
        std::fflush(stdout);
        std::exit(77);
    }
    throw std::runtime_error(log);
}

std::vector<uint8_t> as_bytes(const std::string& text) {
    return {text.begin(), text.end()};
}

}  // namespace

std::vector<uint8_t> compile_hip(const std::string& source, const std::string& processor, const std::string& file_name,
                                 const std::vector<std::string>& options) {
    const kiln::tests::TemporaryFolder folder;
    std::ofstream(folder.in(file_name)) << source;
    std::vector<std::string> arguments{"-x",
                                       "hip",
                                       "--offload-arch=" + processor,
                                       "-nogpulib",
                                       "-nogpuinc",
                                       "--cuda-device-only",
                                       "--no-gpu-bundle-output",
                                       "-std=c++20",
                                       "-O3",
                                       "-gline-tables-only",
                                       "-ffp-contract=off",
                                       "-Wno-unused-command-line-argument",
                                       "-o",
                                       "object",
                                       file_name};
    arguments.insert(arguments.end(), options.begin(), options.end());
    run(folder.path(), std::move(arguments));
    return as_bytes(read_file(folder.in("object")));
}

std::vector<uint8_t> assemble(const std::string& text, const std::string& processor,
                              const std::vector<std::string>& options) {
    const kiln::tests::TemporaryFolder folder;
    std::ofstream(folder.in("text.s")) << text;
    std::vector<std::string> arguments{"-x", "assembler", "-target", "amdgcn-amd-amdhsa", "-mcpu=" + processor, "-g0",
                                       "-o", "object",    "text.s"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    run(folder.path(), std::move(arguments));
    return as_bytes(read_file(folder.in("object")));
}

std::string compile_host(const std::string& source) {
    static std::atomic<int> number{0};
    const kiln::tests::TemporaryFolder folder;
    std::ofstream(folder.in("host.cpp")) << source;
    run(folder.path(), {"-std=c++20", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-o", "host.so", "host.cpp"});
    const fs::path kept = fs::temp_directory_path() /
                          ("emulated-gpu-host-" + std::to_string(getpid()) + "-" + std::to_string(number++) + ".so");
    fs::copy_file(folder.in("host.so"), kept, fs::copy_options::overwrite_existing);
    return kept.string();
}

}  // namespace emulated_gpu::hip
