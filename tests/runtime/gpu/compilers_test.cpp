// The three run-time compilers on kernels written by hand, where they are installed, and what becomes of their
// failures.
#include "runtime/hip/compilers.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "runtime/child_process.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/dynamic_library.h"
#include "runtime/gpu/code_stats.h"
#include "runtime/hip/hiprtc.h"
#include "runtime/hip/offline_clang.h"
#include "tests/runtime/gpu/gpu_support.h"
#include "tests/skip.h"

namespace kiln::test {
namespace {

namespace gpu = runtime::gpu;
using codegen::gpu::Target;
using codegen::gpu::Vendor;

Target target(const std::string& name) {
    const codegen::gpu::FoundTarget found = codegen::gpu::find_target(name);
    if (found.target != nullptr && found.note.empty()) return *found.target;
    Target made;
    made.name = name;
    made.vendor = name.starts_with("sm_") ? Vendor::Nvidia : Vendor::Amd;
    return made;
}

const gpu::SourceCompiler& required(const char* name, const gpu::FoundCompiler& found) {
    if (found.compiler == nullptr) skip(name, found.reason);
    return *found.compiler;
}

/// The kernel `twice` as AMD's compilers take it, without a header.
constexpr const char* kHandHip = R"(
#line 3 "hand.kiln"
typedef unsigned long long u64;
struct Twice { u64 first, extent; const float* x; long long xn, xs; float* y; long long yn, ys; u64 scale; };
extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(1, 64))) void twice(Twice s) {
    const long long i = (long long)(s.first + __builtin_amdgcn_workgroup_id_x()) * 4 + __builtin_amdgcn_workitem_id_x();
    const unsigned bits = (unsigned)s.scale;
    float scale;
    __builtin_memcpy(&scale, &bits, 4);
    if (__builtin_amdgcn_workitem_id_x() < 4 && i < s.yn) s.y[i * s.ys] = s.x[i * s.xs] * scale;
}
)";

support::SourceMap hand_sources() {
    support::SourceMap sources;
    sources.add("hand.kiln", "first\nsecond\nthird line\nfourth line\n");
    return sources;
}

std::string compile_error(const gpu::FoundCompiler& found, const std::string& text, const Target& target) {
    return error_of([&] { gpu::compile_source({text, {}}, "twice", target, found, hand_sources()); });
}

void check_stats(const gpu::SourceCompiler& compiler, const std::string& text, const Target& target) {
    const codegen::gpu::Source source{text, {{"twice", {}, 64, 0, 512}}};
    const gpu::CompiledSource compiled = compiler.compile(text, "twice", target);
    const std::vector<gpu::PhaseStats> stats = gpu::phase_stats(source, compiled, target);
    REQUIRE(stats.size() == 1);
    CHECK(stats[0].registers > 2);
    CHECK(stats[0].registers < 64);
    CHECK(stats[0].spill_bytes == 0);
    CHECK(stats[0].shared_bytes == 512);
    CHECK(stats[0].blocks_per_unit > 0);
    CHECK(stats[0].occupancy > 0);
    CHECK(stats[0].occupancy <= 1);
}

/// A file that is a program, with this shell text.
class FakeProgram {
public:
    explicit FakeProgram(const std::string& text) {
        std::string pattern = (std::filesystem::temp_directory_path() / "kiln a'\"b-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        std::ofstream(path()) << "#!/bin/sh\n" << text << "\n";
        ::chmod(path().c_str(), 0700);
    }
    ~FakeProgram() { std::filesystem::remove_all(folder_); }
    FakeProgram(const FakeProgram&) = delete;
    FakeProgram& operator=(const FakeProgram&) = delete;
    std::string path() const { return folder_ + "/clang"; }
    const std::string& folder() const { return folder_; }

private:
    std::string folder_;
};

constexpr const char* kFakeVersion = "if [ \"$1\" = --version ]; then echo 'clang version 22.1.0 (fake)'; exit 0; fi\n";

TEST_SUITE("unit") {
    TEST_CASE("compilers: nvrtc makes machine code and PTX of one compilation, without any driver") {
        const gpu::SourceCompiler& nvrtc = required("nvrtc", runtime::cuda::nvrtc());
        CHECK(nvrtc.knows(target("sm_80")));
        CHECK_FALSE(nvrtc.knows(target("sm_20")));
        CHECK_FALSE(nvrtc.knows(target("gfx90a")));
        const gpu::CompiledSource compiled = nvrtc.compile(kHandCuda, "hand", target("sm_80"));
        CHECK(std::string(compiled.binary.begin(), compiled.binary.begin() + 4) ==
              "\x7f"
              "ELF");
        const std::string ptx(compiled.portable.begin(), compiled.portable.end());
        CHECK(contains(ptx, ".target sm_80"));
        CHECK(contains(ptx, "hand.kiln"));
        CHECK(gpu::performance_warnings(compiled.log).empty());
        check_stats(nvrtc, kHandCuda, target("sm_80"));
    }

    TEST_CASE("compilers: nvrtc's log is whole, and its lines are those of the .kiln text") {
        required("nvrtc", runtime::cuda::nvrtc());
        const std::string error =
            compile_error(runtime::cuda::nvrtc(),
                          "#line 3 \"hand.kiln\"\nint bad() { return nothing; }\nint worse( ;\n", target("sm_80"));
        CHECK(contains(error, "compiler: `twice` for sm_80 does not compile: NVRTC 1"));
        CHECK(contains(error, "hand.kiln(3): error: identifier \"nothing\" is undefined"));
        CHECK(contains(error, "kiln text: third line"));
        CHECK(contains(error, "kiln text: fourth line"));
    }

    TEST_CASE("compilers: nvrtc sees no header of the host") {
        const gpu::SourceCompiler& nvrtc = required("nvrtc", runtime::cuda::nvrtc());
        const FakeProgram junk("");
        std::ofstream(junk.folder() + "/stddef.h") << "#error junk\n";
        const ScopedVariable path("CPATH", junk.folder().c_str());
        CHECK_FALSE(nvrtc.compile(kHandCuda, "hand", target("sm_80")).binary.empty());
        CHECK(contains(compile_error(runtime::cuda::nvrtc(), "#include <vector>\n", target("sm_80")), "vector"));
    }

    TEST_CASE("compilers: hiprtc makes a code object, and is not asked for targets newer than itself") {
        const gpu::SourceCompiler& hiprtc = required("hiprtc", runtime::hip::hiprtc());
        CHECK(hiprtc.knows(target("gfx90a")));
        CHECK_FALSE(hiprtc.knows(target("sm_80")));
        CHECK_FALSE(hiprtc.knows(target("gfx9999")));
        check_stats(hiprtc, kHandHip, target("gfx90a"));
        CHECK(contains(compile_error(runtime::hip::hiprtc(), "#line 4 \"hand.kiln\"\nint bad() { return nothing; }\n",
                                     target("gfx90a")),
                       "kiln text: fourth line"));
    }

    TEST_CASE("compilers: which version knows which AMD target") {
        CHECK(runtime::hip::hip_version_knows(502, target("gfx90a")));
        CHECK_FALSE(runtime::hip::hip_version_knows(502, target("gfx942")));
        CHECK_FALSE(runtime::hip::hip_version_knows(502, target("gfx1100")));
        CHECK(runtime::hip::hip_version_knows(600, target("gfx942")));
        CHECK(runtime::hip::clang_version_knows(22, target("gfx950")));
        CHECK_FALSE(runtime::hip::clang_version_knows(19, target("gfx950")));
        CHECK_FALSE(runtime::hip::clang_version_knows(99, target("gfx9999")));
        CHECK(runtime::hip::hip_version("5.2.21153") == 502);
        CHECK(runtime::hip::hip_version("7") == 700);
    }

    TEST_CASE("compilers: an old hipRTC is asked for what it knows only where there is no clang") {
        const gpu::SourceCompiler& hiprtc = required("hiprtc", runtime::hip::hiprtc());
        const bool is_old = runtime::hip::hip_version(hiprtc.version()) < 600;
        const FakeProgram program(kFakeVersion);
        ::setenv("KILN_CLANG", program.path().c_str(), 1);
        CHECK(runtime::hip::compiler_for(target("gfx90a")).compiler->name() == (is_old ? "clang" : "hiprtc"));
    }

    TEST_CASE("compilers: hipRTC does without clang") {
        required("hiprtc", runtime::hip::hiprtc());
        ::setenv("KILN_CLANG", "/nowhere", 1);
        CHECK(runtime::hip::compiler_for(target("gfx90a")).compiler->name() == "hiprtc");
    }

    TEST_CASE("compilers: clang makes code objects and assembly, and leaves no file behind") {
        const gpu::SourceCompiler& clang = required("clang", runtime::hip::offline_clang());
        const FakeProgram elsewhere("");
        const ScopedVariable temporary("TMPDIR", elsewhere.folder().c_str());
        const std::string options = "-DBROKEN(";
        const ScopedVariable more("CCC_OVERRIDE_OPTIONS", options.c_str());
        for (const char* name : {"gfx90a", "gfx942", "gfx950", "gfx1250", "gfx1100", "gfx1201"}) {
            CAPTURE(name);
            if (!clang.knows(target(name))) continue;
            check_stats(clang, kHandHip, target(name));
        }
        CHECK(contains(runtime::hip::assembly(kHandHip, target("gfx942")), "s_endpgm"));
        CHECK(contains(compile_error(runtime::hip::offline_clang(),
                                     "#line 4 \"hand.kiln\"\nint bad() { return nothing; }\n", target("gfx942")),
                       "kiln text: fourth line"));
        const auto left = std::filesystem::directory_iterator(elsewhere.folder());
        CHECK(std::distance(begin(left), end(left)) == 1);  // the program that the test itself made
    }

    TEST_CASE("compilers: a clang that crashes is a compiler error with all that it said") {
        const FakeProgram program(std::string(kFakeVersion) + "echo 'fatal error: cannot select'; kill -SEGV $$");
        ::setenv("KILN_CLANG", program.path().c_str(), 1);
        const std::string error = compile_error(runtime::hip::offline_clang(), "", target("gfx942"));
        CHECK(contains(error, "was ended by signal 11, given HIP text for gfx942"));
        CHECK(contains(error, "fatal error: cannot select"));
        CHECK(runtime::hip::offline_clang().compiler->version() == "22.1.0 (fake)");
    }

    TEST_CASE("compilers: a clang that makes no file is a compiler error with all that it said") {
        const FakeProgram program(std::string(kFakeVersion) + "echo 'all is well'");
        ::setenv("KILN_CLANG", program.path().c_str(), 1);
        const std::string error = compile_error(runtime::hip::offline_clang(), "", target("gfx942"));
        CHECK(contains(error, "made no output"));
        CHECK(contains(error, "all is well"));
    }

    TEST_CASE("compilers: hidden compilers are reasons that name the variable") {
        ::setenv("KILN_NVRTC", "/nowhere", 1);
        ::setenv("KILN_HIPRTC", "/nowhere", 1);
        ::setenv("KILN_CLANG", "/nowhere/clang", 1);
        CHECK(contains(runtime::cuda::nvrtc().reason, "KILN_NVRTC is `/nowhere`"));
        CHECK(contains(runtime::hip::hiprtc().reason, "KILN_HIPRTC is `/nowhere`"));
        CHECK(contains(runtime::hip::offline_clang().reason, "KILN_CLANG is `/nowhere/clang`"));
        CHECK(contains(compile_error(runtime::hip::compiler_for(target("gfx942")), "", target("gfx942")),
                       "compiler: there is no compiler for gfx942: hipRTC: KILN_HIPRTC is `/nowhere`"));
    }

    TEST_CASE("compilers: lines about lost performance are found in a log") {
        const std::string log =
            "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
            "ptxas info    : Used 8 registers\n";
        CHECK(gpu::performance_warnings(log).size() == 1);
        CHECK(contains(gpu::performance_warnings(log)[0], "C7510"));
    }

    TEST_CASE("compilers: statistics from the log of ptxas, spills included") {
        const codegen::gpu::Source source{"", {{"k", {}, 256, 0, 1024}}};
        gpu::CompiledSource compiled;
        compiled.log =
            "ptxas info    : Compiling entry function 'k' for 'sm_80'\n"
            "ptxas info    : Function properties for k\n"
            "ptxas         .     40 bytes stack frame, 36 bytes spill stores, 32 bytes spill loads\n"
            "ptxas info    : Used 128 registers, used 1 barriers, 40 bytes cumulative stack size, 2048 bytes smem, 392 "
            "bytes cmem[0]\n";
        const std::vector<gpu::PhaseStats> stats = gpu::phase_stats(source, compiled, target("sm_80"));
        CHECK(stats[0].registers == 128);
        CHECK(stats[0].spill_bytes == 36);
        CHECK(stats[0].stack_bytes == 40);
        CHECK(stats[0].shared_bytes == 3072);
        CHECK(stats[0].blocks_per_unit == 2);  // 65,536 registers, 32,768 a block
        CHECK(stats[0].occupancy == doctest::Approx(0.25));
        compiled.log.clear();
        CHECK(contains(error_of([&] { gpu::phase_stats(source, compiled, target("sm_80")); }),
                       "compiler: the compiler says nothing of what `k` needs"));
    }

    TEST_CASE(
        "child process: exit codes, signals, both outputs, a time limit for all that was started, and no program") {
        using runtime::run_program;
        const std::vector<std::string> environment = {"PATH=/usr/bin:/bin", "WORD=a b"};
        const auto shell = [&](const char* text) {
            return run_program({"sh", "-c", text}, environment, std::chrono::seconds(1));
        };
        CHECK(shell("echo out; echo err >&2; echo $WORD; cat").output == "out\nerr\na b\n");
        CHECK(shell("exit 5").how_it_ended() == "exited with 5");
        CHECK(shell("kill -9 $$").how_it_ended() == "was ended by signal 9");
        const auto start = std::chrono::steady_clock::now();
        CHECK(shell("sleep 100 & sleep 100").how_it_ended() == "took longer than 1 seconds");
        CHECK(shell("exec >/dev/null 2>&1; sleep 100").how_it_ended() == "took longer than 1 seconds");
        CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
        const runtime::ChildResult none = run_program({"/nowhere/program"}, {}, std::chrono::seconds(1));
        CHECK(none.how_it_ended() == "could not be started");
        CHECK(contains(none.output, "No such file"));
    }

    TEST_CASE("search: a variable names a file or a folder, else names come before folders") {
        const ScopedVariable variable("KILN_TEST_LIBRARY", nullptr);
        const runtime::SearchPlace place{"KILN_TEST_LIBRARY", {"libx.so.2", "libx.so.1"}, {"/a", "/b"}};
        using List = std::vector<std::string>;
        CHECK(runtime::search_order(place) ==
              List{"libx.so.2", "libx.so.1", "/a/libx.so.2", "/a/libx.so.1", "/b/libx.so.2", "/b/libx.so.1"});
        ::setenv("KILN_TEST_LIBRARY", "/some where/libx.so", 1);
        CHECK(runtime::search_order(place) == List{"/some where/libx.so"});
        ::setenv("KILN_TEST_LIBRARY", "/tmp", 1);
        CHECK(runtime::search_order(place) == List{"/tmp/libx.so.2", "/tmp/libx.so.1"});
        CHECK(runtime::version_in_name("/usr/lib/libamdhip64.so.5.2.21153") == "5.2.21153");
        CHECK(runtime::version_in_name("/usr/lib/libnvrtc.alt.so").empty());
    }
}

}  // namespace
}  // namespace kiln::test
