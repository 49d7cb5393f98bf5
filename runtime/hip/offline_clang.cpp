#include "runtime/hip/offline_clang.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "kiln/error.hpp"
#include "runtime/child_process.h"
#include "runtime/dynamic_library.h"
#include "runtime/hip/compilers.h"

namespace kiln::runtime::hip {

namespace {

// The slowest kernel on the way took under a second; a compiler that takes this long hangs.
constexpr std::chrono::seconds kTimeLimit{60};

/// A private folder, gone with all that is in it.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::error_code error;
        const std::filesystem::path base = std::filesystem::temp_directory_path(error);
        std::string pattern = ((error ? "/tmp" : base) / "kiln-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) {
            throw Error(ErrorKind::compiler, fmt::format("no temporary folder can be made in {}", base.string()));
        }
        path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::string file(const char* name) const { return path_ + "/" + name; }
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

/// What the compiler gets of our environment: nothing that adds options or folders of headers to its own.
std::vector<std::string> environment(const std::string& temporary) {
    std::vector<std::string> list = {"LC_ALL=C", "TMPDIR=" + temporary};
    for (const char* name : {"PATH", "LD_LIBRARY_PATH"}) {
        if (const char* value = std::getenv(name)) list.push_back(fmt::format("{}={}", name, value));
    }
    return list;
}

class OfflineClang final : public gpu::SourceCompiler {
public:
    OfflineClang(std::string path, std::string version) : path_(std::move(path)), version_(std::move(version)) {}

    const std::string& name() const override { return name_; }
    const std::string& path() const override { return path_; }
    const std::string& version() const override { return version_; }

    bool knows(const codegen::gpu::Target& target) const override {
        int major = 0;
        std::from_chars(version_.data(), version_.data() + version_.size(), major);
        return clang_version_knows(major, target);
    }

    gpu::CompiledSource compile(const std::string& source, const std::string&,
                                const codegen::gpu::Target& target) const override {
        gpu::CompiledSource compiled;
        compiled.binary = run(source, target, {}, compiled.log);
        return compiled;
    }

    /// The file that clang makes with these options besides the usual ones.
    std::vector<char> run(const std::string& source, const codegen::gpu::Target& target,
                          const std::vector<std::string>& more, std::string& log) const {
        const TemporaryFolder folder;
        const std::string input = folder.file("kernel.hip"), output = folder.file("kernel.out");
        std::ofstream(input, std::ios::binary) << source;
        // Code objects of version 5 load from ROCm 5.5 on, those of version 4 everywhere.
        const int format = hip_version_knows(504, target) ? 4 : 5;
        std::vector<std::string> words = {path_,
                                          "-x",
                                          "hip",
                                          "--offload-device-only",
                                          "--no-gpu-bundle-output",
                                          "-nogpuinc",
                                          "-nogpulib",
                                          "--offload-arch=" + target.name,
                                          "-O3",
                                          "-std=c++17",
                                          "-ffp-contract=off",
                                          fmt::format("-mcode-object-version={}", format),
                                          "-fno-crash-diagnostics"};
        words.insert(words.end(), more.begin(), more.end());
        words.insert(words.end(), {"-o", output, input});
        const ChildResult child = run_program(words, environment(folder.path()), kTimeLimit);
        log = child.output;
        if (!child.succeeded()) {
            throw Error(ErrorKind::compiler, fmt::format("{} (clang {}) {}, given HIP text for {}:\n{}", path_,
                                                         version_, child.how_it_ended(), target.name, child.output));
        }
        std::ifstream file(output, std::ios::binary);
        std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
        if (bytes.empty()) {
            throw Error(ErrorKind::compiler, fmt::format("{} (clang {}) made no output:\n{}", path_, version_, log));
        }
        return bytes;
    }

private:
    const std::string name_ = "clang", path_, version_;
};

/// "22.1.8 (...)" of the first line of `clang --version`, or nothing if that is no clang.
std::string clang_version(const std::string& path) {
    const ChildResult child = run_program({path, "--version"}, environment("/tmp"), kTimeLimit);
    constexpr std::string_view kBefore = "clang version ";
    const std::size_t at = child.output.find(kBefore);
    if (!child.succeeded() || at == std::string::npos) return {};
    const std::size_t begin = at + kBefore.size();
    return child.output.substr(begin, child.output.find('\n', begin) - begin);
}

const OfflineClang* open_clang(std::string& reason) {
    const SearchPlace place{"KILN_CLANG",
                            {"clang-22", "clang-21", "clang-20", "clang-19", "clang"},
                            {"/opt/rocm/llvm/bin", "/usr/lib/llvm-22/bin"}};
    for (const std::string& path : search_order(place)) {
        if (std::string version = clang_version(path); !version.empty())
            return new OfflineClang(path, std::move(version));
    }
    const char* named = std::getenv(place.variable);
    reason = named != nullptr && *named != '\0'
                 ? fmt::format("KILN_CLANG is `{}`, which is no clang that runs", named)
                 : "there is no clang-22 to clang-19 in PATH (KILN_CLANG may name a file or folder)";
    return nullptr;
}

struct Opened {
    const OfflineClang* clang = nullptr;
    gpu::FoundCompiler found;
};

const Opened& opened() {
    static const Opened* const once = [] {
        auto* made = new Opened;
        made->clang = open_clang(made->found.reason);
        made->found.compiler = made->clang;
        return made;
    }();
    return *once;
}

}  // namespace

const gpu::FoundCompiler& offline_clang() {
    return opened().found;
}

std::string assembly(const std::string& source, const codegen::gpu::Target& target) {
    const Opened& compiler = opened();
    if (compiler.clang == nullptr) throw Error(ErrorKind::compiler, compiler.found.reason);
    if (!compiler.clang->knows(target)) {
        throw Error(ErrorKind::compiler,
                    fmt::format("clang {} does not know {}", compiler.clang->version(), target.name));
    }
    std::string log;
    const std::vector<char> text = compiler.clang->run(source, target, {"-S"}, log);
    return {text.begin(), text.end()};
}

}  // namespace kiln::runtime::hip
