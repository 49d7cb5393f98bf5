// Who may include whom: the rooms of the project, read from the sources themselves.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Include {
    std::string path;
    int line = 0;
};

struct Source {
    std::string path;  // from the root of the project, with '/'
    std::vector<Include> includes;
    int lines = 0;
};

// What each room may include besides itself and include/kiln. A name is a folder from the root.
const std::map<std::string, std::vector<std::string>> kMayInclude = {
    {"include/kiln", {}},
    {"ir", {}},
    {"dsl", {"ir/support"}},
    {"frontend", {"dsl", "ir"}},
    {"codegen", {"ir"}},
    {"runtime", {"frontend", "codegen", "ir"}},
    {"autotune", {"runtime", "codegen", "ir"}},
    {"library", {"runtime"}},
    {"tools", {"ir", "dsl", "frontend", "codegen", "runtime", "autotune", "library"}},
    {"tests", {"ir", "dsl", "frontend", "codegen", "runtime", "autotune", "library", "tools"}},
    {"bench", {"ir", "codegen", "runtime", "autotune", "tools"}},  // beside the library, the tuner from inside
    {"examples", {}},
};

// Headers of others that belong to one room and its tests; those of GPUs only check Kiln's own declarations.
struct ForeignRule {
    std::string headers;  // a regular expression for the start of the included path
    std::vector<std::string> folders;
};
const ForeignRule kForeignRules[] = {
    {"boost/", {"dsl", "tests/dsl"}},
    {"llvm(-c)?/", {"codegen/cpu", "tests/codegen", "tests/emulated_gpu/hip"}},
    {"(cuda|nvrtc|nvJitLink|nvml|cub(las)?|cudnn|cutlass|hip|rocm|hsa|amd_comgr)[^/]*(\\.h|/)", {"tests/runtime/gpu"}},
};

bool is_in(std::string_view path, std::string_view folder) {
    return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

bool is_in_any(std::string_view path, const std::vector<std::string>& folders) {
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) { return is_in(path, folder); });
}

std::optional<std::string> room_of(std::string_view path) {
    for (const auto& [room, others] : kMayInclude)
        if (is_in(path, room)) return room;
    return std::nullopt;
}

std::optional<std::string> foreign_complaint(const std::string& file, const std::string& included) {
    for (const ForeignRule& rule : kForeignRules) {
        if (!std::regex_search(included, std::regex("^" + rule.headers))) continue;
        if (!is_in_any(file, rule.folders)) return room_of(file).value() + " may not include it";
    }
    return std::nullopt;
}

// Why `file` may not include `included`, a path from the root of the project or of another's header.
std::optional<std::string> complaint(const std::string& file, const std::string& included) {
    const std::string room = room_of(file).value();
    const auto target = room_of(included.starts_with("kiln/") ? "include/" + included : included);
    if (!target) return foreign_complaint(file, included);
    if (*target == room || *target == "include/kiln") return std::nullopt;
    if (is_in_any(included, kMayInclude.at(room))) return std::nullopt;
    return room + " may not include " + *target;
}

// The included path from the root: a quoted path that stands beside the including file is completed by its folder.
std::string from_root(const fs::path& root, const fs::path& file, const std::string& included) {
    const fs::path beside = (file.parent_path() / included).lexically_normal();
    return fs::exists(root / beside) ? beside.generic_string() : included;
}

Source read_source(const fs::path& root, const fs::path& file) {
    static const std::regex kPattern("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"]");
    Source source{file.generic_string(), {}, 0};
    std::ifstream stream(root / file);
    bool in_text = false;  // of a program in a raw string
    for (std::string line; std::getline(stream, line);) {
        ++source.lines;
        const std::size_t text = in_text ? 0 : line.find("R\"(");
        const bool was_in_text = in_text;
        if (text != std::string::npos) in_text = line.find(")\"", text) == std::string::npos;
        if (was_in_text) continue;
        std::smatch match;
        if (line.find("include") == std::string::npos || !std::regex_search(line, match, kPattern)) continue;
        source.includes.push_back({match[1] == "\"" ? from_root(root, file, match[2]) : match[2].str(), source.lines});
    }
    return source;
}

std::vector<Source> all_sources() {
    const fs::path root = KILN_SOURCE_DIR;
    std::vector<Source> sources;
    for (const auto& [room, others] : kMayInclude) {
        if (!fs::exists(root / room)) continue;
        for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / room)) {
            const std::string extension = entry.path().extension().string();
            const bool is_source = extension == ".h" || extension == ".hpp" || extension == ".cpp" ||
                                   extension == ".def" || extension == ".inc";
            if (is_source) sources.push_back(read_source(root, fs::relative(entry.path(), root)));
        }
    }
    return sources;
}

// The files that include a header matching `rule`, themselves or through another file of the project.
std::set<std::string> carriers(const std::vector<Source>& sources, const ForeignRule& rule) {
    const std::regex pattern("^" + rule.headers);
    std::set<std::string> found;
    for (bool grew = true; grew;) {
        const size_t before = found.size();
        for (const Source& source : sources)
            for (const Include& include : source.includes)
                if (found.contains(include.path) || std::regex_search(include.path, pattern)) found.insert(source.path);
        grew = found.size() > before;
    }
    return found;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("layers: no room includes what it may not") {
        const std::vector<Source> sources = all_sources();
        CHECK(sources.size() > 20);
        for (const Source& source : sources) {
            for (const Include& include : source.includes) {
                const auto problem = complaint(source.path, include.path);
                CHECK_MESSAGE(!problem, source.path, ":", include.line, ": ", include.path, ": ", problem.value_or(""));
            }
        }
    }

    TEST_CASE("layers: Spirit and LLVM reach no other folder through a header") {
        const std::vector<Source> sources = all_sources();
        for (const ForeignRule& rule : kForeignRules)
            for (const std::string& path : carriers(sources, rule))
                CHECK_MESSAGE(is_in_any(path, rule.folders), path, " includes ", rule.headers,
                              ", if only through a header");
    }

    TEST_CASE("layers: no source file has more than 1,000 lines") {
        for (const Source& source : all_sources())
            CHECK_MESSAGE(source.lines <= 1000, source.path, " has ", source.lines, " lines");
    }

    TEST_CASE("layers: the rules themselves") {
        CHECK_FALSE(complaint("dsl/parse.cpp", "ir/support/span.h"));
        CHECK(complaint("dsl/parse.cpp", "ir/type.h"));
        CHECK(complaint("dsl/parse.cpp", "ir/supporting.h"));
        CHECK(complaint("ir/type.cpp", "dsl/ast.h"));
        CHECK(complaint("codegen/cpu/lower.cpp", "frontend/program.h"));
        CHECK(complaint("library/gemm.cpp", "ir/kernel.h"));
        CHECK(complaint("include/kiln/kiln.hpp", "runtime/kernel.h"));
        CHECK(complaint("examples/embed/main.cpp", "runtime/kernel.h"));
        CHECK_FALSE(complaint("examples/embed/main.cpp", "kiln/kiln.hpp"));
        CHECK_FALSE(complaint("ir/type.cpp", "vector"));
        CHECK_FALSE(complaint("dsl/grammar/expression.cpp", "boost/spirit/home/x3.hpp"));
        CHECK(complaint("frontend/check.cpp", "boost/spirit/home/x3.hpp"));
        CHECK_FALSE(complaint("codegen/cpu/jit.cpp", "llvm/IR/Module.h"));
        CHECK(complaint("runtime/cpu/device.cpp", "llvm/IR/Module.h"));
        CHECK_FALSE(complaint("runtime/cuda/api.cpp", "runtime/cuda/api.h"));
        CHECK(complaint("runtime/cuda/api.cpp", "cuda.h"));
        CHECK(complaint("runtime/cuda/api.cpp", "nvrtc.h"));
        CHECK(complaint("runtime/hip/api.cpp", "hip/hip_runtime_api.h"));
    }
}
