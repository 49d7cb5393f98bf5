// What the vendors' compilers make of generated source: it compiles, without spills, flat accesses or complaints.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>

#include "emulated_device.h"
#include "library_case.h"
#include "tests/support/temporary_folder.h"

using namespace kiln;
using namespace kiln::test;
using codegen::gpu::find_target;
using codegen::gpu::Generated;

namespace {

/// The cases of these kernels, or all.
std::vector<LibraryCase> cases_of(const std::vector<std::string>& kernels) {
    std::vector<LibraryCase> chosen;
    for (LibraryCase& test : library_cases()) {
        const bool wanted = kernels.empty() || std::find(kernels.begin(), kernels.end(), test.kernel) != kernels.end();
        if (wanted) chosen.push_back(std::move(test));
    }
    return chosen;
}

std::string source_of(const LibraryCase& test, const std::string& target) {
    const SpecialisedCase specialised = specialise(test, *find_target(target).target, Proven::All);
    const Generated result = codegen::gpu::generate(specialised.kernel(), *find_target(target).target);
    REQUIRE_MESSAGE(result.refusals.empty(), label(test) << ": " << result.refusals.front().message);
    return result.source.text;
}

void check_cuda(const std::vector<LibraryCase>& cases, const std::string& target) {
    const std::regex spills("([1-9][0-9]*) bytes spill");
    for (const LibraryCase& test : cases) {
        CAPTURE(label(test));
        const Compiled compiled = Nvrtc::get().compile(source_of(test, target), target, {"--ptxas-options=-v"});
        REQUIRE_MESSAGE(compiled.succeeded, compiled.log);
        CHECK_MESSAGE(compiled.log.find("bytes spill") != std::string::npos,
                      "the log does not speak of spills: " << compiled.log);
        CHECK_MESSAGE(!std::regex_search(compiled.log, spills), compiled.log);
        CHECK_MESSAGE(compiled.log.find("warning") == std::string::npos, compiled.log);
    }
}

/// A clang that knows AMD's targets; prints why the test is skipped and ends the process where there is none.
std::string clang() {
    for (const char* name : {"clang++-22", "clang++"}) {
        if (std::system((std::string(name) + " --version > /dev/null 2>&1").c_str()) == 0) return name;
    }
    std::printf("skipped: clang: no clang++-22\n");
    std::fflush(stdout);
    std::_Exit(77);
}

void check_hip(const std::vector<LibraryCase>& cases, const std::string& target) {
    const std::string program = clang();
    const tests::TemporaryFolder folder;
    const std::string stem = folder.in("kernel");
    for (const LibraryCase& test : cases) {
        CAPTURE(label(test));
        std::ofstream(stem + ".hip") << source_of(test, target);
        const std::string command = program + " -x hip --offload-arch=" + target +
                                    " -nogpulib -nogpuinc --cuda-device-only -O3 -ffp-contract=off -Werror -S " + stem +
                                    ".hip -o " + stem + ".s > " + stem + ".log 2>&1";
        const int status = std::system(command.c_str());
        const auto text = [](const std::string& path) {
            std::ifstream file(path);
            return std::string(std::istreambuf_iterator<char>(file), {});
        };
        CHECK_MESSAGE(status == 0, text(stem + ".log"));
        const std::string assembly = text(stem + ".s");
        CHECK(assembly.find("flat_load") == std::string::npos);
        CHECK(assembly.find("flat_store") == std::string::npos);
        CHECK(!std::regex_search(assembly, std::regex("vgpr_spill_count: *[1-9]")));
    }
}

/// One of each kind: copies, reductions, products, scans, sorts, atomics.
const std::vector<std::string> kFew = {"vector_add", "softmax_long", "gemm",     "prefix_sum",
                                       "row_topk",   "histogram",    "attention"};

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("gpu: a few kernels compile with NVRTC for sm_80 without spills or warnings") {
        check_cuda(cases_of(kFew), "sm_80");
    }
    TEST_CASE("gpu: a few kernels compile with clang for gfx90a without spills or flat accesses") {
        check_hip(cases_of(kFew), "gfx90a");
    }
    TEST_CASE("gpu: every kernel of the library compiles with NVRTC for every NVIDIA target" * doctest::skip()) {
        for (const char* target : {"sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"})
            check_cuda(cases_of({}), target);
    }
    TEST_CASE("gpu: every kernel of the library compiles with clang for every AMD target" * doctest::skip()) {
        for (const char* target : {"gfx90a", "gfx942", "gfx950", "gfx1250", "gfx1100", "gfx1201"})
            check_hip(cases_of({}), target);
    }
}
