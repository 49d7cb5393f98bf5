// The `kiln` program as its users meet it: run as a process, judged by exit code, JSON and messages.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "tests/runtime/host.h"
#include "tests/tools/shell.h"

namespace kiln::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGood = R"(/// y = 2 * x
kernel twice<T: real>(x: in T[N], y: out T[N], scale: T = 2)
  tune BLOCK in {16, 32}
  reference twice_naive
grid i in 0 .. N by BLOCK {
    y[i :+ BLOCK] = x[i :+ BLOCK] * scale
}

kernel twice_naive<T: real>(x: in T[N], y: out T[N], scale: T = 2)
grid i in 0 .. N {
    y[i] = x[i] * scale
}
)";

const std::vector<std::string> kCommands = {"run", "emit", "check", "fmt", "doctor", "demo", "bench"};

TEST_SUITE("unit") {
    TEST_CASE("kiln: version, help of every command with an example, and wrong command lines") {
        const Shell shell;
        const Outcome version = shell.kiln({"--version"});
        CHECK(version.code == 0);
        CHECK(version.out == std::string("kiln ") + kiln::version() + "\n");
        const Outcome help = shell.kiln({"--help"});
        CHECK(help.code == 0);
        CHECK(contains(help.out, "Exit codes:"));
        for (const std::string& command : kCommands) {
            const Outcome outcome = shell.kiln({command, "--help"});
            CHECK(outcome.code == 0);
            CHECK_MESSAGE(contains(outcome.out, "Example"), command);
            CHECK_MESSAGE(contains(outcome.out, "kiln " + command), command);
            CHECK_MESSAGE(contains(outcome.out, "--json"), command);
            CHECK_MESSAGE(contains(help.out, command), command);
        }
        CHECK(shell.kiln({}).code == 2);
        CHECK(shell.kiln({"nonsense"}).code == 2);
        CHECK(shell.kiln({"run"}).code == 2);
        CHECK(shell.kiln({"emit", "f", "k", "--as", "poetry"}).code == 2);
        CHECK(shell.kiln({"doctor", "--nonsense"}).code == 2);
        const Outcome usage = shell.kiln({"run", "--json"});
        CHECK(usage.code == 2);
        CHECK(usage.json()["error"]["kind"] == "usage");
    }

    TEST_CASE("kiln run: verifies, and tells all as JSON") {
        const Shell shell;
        shell.write("good.kiln", kGood);
        const Outcome outcome = shell.kiln({"run", "good.kiln", "twice", "-D", "T=f64,BLOCK=32", "--size", "N=1000",
                                            "--arg", "scale=3", "--verify", "--json"});
        CHECK(outcome.code == 0);
        const Json json = outcome.json();
        CHECK(json["kernel"] == "twice");
        CHECK(json["device"] == "cpu");
        CHECK(json["generics"]["T"] == "f64");
        CHECK(json["tunables"]["BLOCK"] == "32");
        CHECK(json["bytes"] == 16000);
        CHECK(json["verify"]["passed"] == true);
        CHECK(json["verify"]["reference"] == "twice_naive");
        CHECK(json["verify"]["outputs"][0]["compared"] == 1000);
        const Outcome text = shell.kiln({"run", "good.kiln", "twice", "--size", "N=0", "--verify"});
        CHECK(text.code == 0);
        CHECK(contains(text.out, "correct"));
    }

    TEST_CASE("kiln run: a result outside its bound is exit code 3") {
        const Shell shell;
        std::string wrong = kGood;
        wrong.replace(wrong.find("y[i] = x[i]"), 11, "y[i] = 1 + x[i]");
        shell.write("wrong.kiln", wrong);
        const Outcome outcome = shell.kiln({"run", "wrong.kiln", "twice", "--size", "N=10", "--verify", "--json"});
        CHECK(outcome.code == 3);
        const Json json = outcome.json();
        CHECK(json["verify"]["passed"] == false);
        CHECK(json["verify"]["outputs"][0]["failed"] == 10);
        CHECK(json["verify"]["outputs"][0]["worst"]["index"].size() == 1);
        CHECK(contains(shell.kiln({"run", "wrong.kiln", "twice", "--size", "N=10", "--verify"}).out, "WRONG"));
    }

    TEST_CASE("kiln run: what is wrong with the request is said, with exit code 1") {
        const Shell shell;
        shell.write("good.kiln", kGood);
        const auto refused = [&](std::vector<std::string> words) {
            words.insert(words.begin(), {"run", "good.kiln"});
            const Outcome plain = shell.kiln(words);
            CHECK(plain.code == 1);
            CHECK(plain.out.empty());
            words.emplace_back("--json");
            const Outcome outcome = shell.kiln(words);
            CHECK(outcome.code == 1);
            const Json json = outcome.json();
            CHECK(json["error"]["kind"] == "user");
            return json["error"]["message"].get<std::string>();
        };
        CHECK(refused({"twice"}) == "the size `N` of `x` is not given: add --size N=...");
        CHECK(refused({"twice", "--size", "M=3"}) == "`twice` has no size `M`");
        CHECK(refused({"twice", "--size", "N=3,N=4"}) == "--size gives `N` twice");
        CHECK(refused({"twice", "--size", "N=-3"}) == "the size N is no whole number: `-3`");
        CHECK(refused({"twice", "--size", "N=many"}) == "the size N is no whole number: `many`");
        CHECK(refused({"twice", "--size", "N"}) == "--size takes NAME=VALUE, and `N` was given");
        CHECK(contains(refused({"twice", "--size", "N=99999999999999"}), "too large"));
        CHECK(refused({"twice", "--size", "N=4", "-D", "Q=3"}) == "`Q` of `twice` cannot be `3`");
        CHECK(refused({"twice", "--size", "N=4", "-D", "T=q7"}) == "`T` of `twice` cannot be `q7`");
        CHECK(contains(refused({"twice", "--size", "N=4", "-D", "T=i32"}), "i32"));
        CHECK(refused({"twice", "--size", "N=4", "--arg", "size=3"}) == "`twice` takes no number `size`");
        CHECK(refused({"twice", "--size", "N=4", "--arg", "scale=x"}) == "`scale` was given `x`, which is no number");
        CHECK(refused({"twice", "--size", "N=4", "--with", "bias"}) == "`twice` takes no tensor `bias`");
        CHECK(refused({"twyce", "--size", "N=4"}) == "there is no kernel `twyce`; did you mean `twice`?");
        CHECK(refused({"twice_naive", "--size", "N=4", "--verify"}) ==
              "`twice_naive` names no reference to verify against");
        CHECK(contains(shell.kiln({"run", "gone.kiln", "twice"}).error, "gone.kiln"));
        CHECK(shell.kiln({"run", "gone.kiln", "twice"}).code == 1);
        CHECK(shell.kiln({"run", "good.kiln", "twice", "--size", "N=4", "--device", "cuda:0"}).code == 4);
    }

    TEST_CASE("kiln check: good and bad files, as text and as JSON") {
        const Shell shell;
        shell.write("good.kiln", kGood);
        shell.write("bad.kiln",
                    "kernel k(x: in f32[N], y: out f32[N])\ngrid i in 0 .. N {\n    y[i] = z[i]\n    y[i] = q\n}\n");
        const Outcome good = shell.kiln({"check", "good.kiln"});
        CHECK(good.code == 0);
        CHECK(good.out == "good.kiln: no errors\n");
        CHECK(shell.kiln({"check", "good.kiln", "--json"}).json() == Json::array());
        const Outcome bad = shell.kiln({"check", "good.kiln", "bad.kiln", "--json"});
        CHECK(bad.code == 1);
        const Json json = bad.json();
        REQUIRE(json.size() == 2);
        CHECK(json[0]["severity"] == "error");
        CHECK(json[0]["at"]["file"] == "bad.kiln");
        CHECK(json[0]["at"]["line"] == 3);
        CHECK(json[0]["at"]["column"] == 12);
        CHECK(json[0]["at"]["end_column"] == 13);
        CHECK(json[1]["at"]["line"] == 4);
        const Outcome text = shell.kiln({"check", "bad.kiln"});
        CHECK(text.code == 1);
        CHECK(contains(text.error, "bad.kiln:3:12"));
        CHECK(shell.kiln({"check", "gone.kiln", "--json"}).code == 1);
        CHECK(shell.kiln({"check", "gone.kiln", "--json"}).json().size() == 1);
    }

    TEST_CASE("kiln check: with a kernel and sizes it runs, and tells what it finds") {
        const Shell shell;
        shell.write("good.kiln", kGood);
        const Outcome good = shell.kiln({"check", "good.kiln", "twice", "--size", "N=37"});
        CHECK(good.code == 0);
        CHECK(good.out == "good.kiln: no errors\ntwice: the run found nothing\n");
        shell.write("bad.kiln",
                    "kernel k(x: in f32[N], y: out f32[N])\ngrid i in 0 .. N by 4 {\n    y[i :+ 5] = x[i :+ 5]\n}\n");
        CHECK(shell.kiln({"check", "bad.kiln"}).code == 0);
        const Outcome bad = shell.kiln({"check", "bad.kiln", "k", "--size", "N=8", "--json"});
        CHECK(bad.code == 1);
        const Json json = bad.json();
        REQUIRE(json.size() == 1);
        CHECK(json[0]["name"] == "WriteConflict");
        CHECK(json[0]["at"]["line"] == 3);
        const Outcome text = shell.kiln({"check", "bad.kiln", "k", "--size", "N=8"});
        CHECK(contains(text.error, "bad.kiln:3:5: error: `y[4]` is written by program (i = 4) and by program (i = 0)"));
        CHECK(contains(text.error, "^"));
        // One program: no conflict. And what is no run, or no launch.
        CHECK(shell.kiln({"check", "bad.kiln", "k", "--size", "N=4"}).code == 0);
        CHECK(contains(shell.kiln({"check", "bad.kiln", "k"}).error, "the size `N` of `x` is not given"));
        CHECK(
            contains(shell.kiln({"check", "bad.kiln", "--size", "N=8"}).error, "name one file and the kernel to run"));
        CHECK(contains(shell.kiln({"check", "bad.kiln", "kk", "--size", "N=8"}).error, "kk"));
    }

    TEST_CASE("kiln run: verified at each level of x86-64 that KILN_CPU forces") {
        const Shell shell;
        for (const char* level : {"KILN_CPU=x86_64_v2", "KILN_CPU=x86_64_v3"}) {
            if (shell.kiln({"doctor"}, {level}).code != 0) continue;  // this processor is older
            CAPTURE(level);
            for (const char* type : {"T=f32", "T=f16", "T=bf16"}) {
                CHECK(shell
                          .kiln({"run", "kiln/gemm.kiln", "gemm", "-D", type, "--size", "M=37,N=45,K=33", "--verify"},
                                {level})
                          .code == 0);
                CHECK(shell
                          .kiln({"run", "kiln/softmax.kiln", "softmax", "-D", type, "--size", "M=7,N=45", "--verify"},
                                {level})
                          .code == 0);
            }
        }
    }

    TEST_CASE("kiln explain: names where the performance contract does not hold") {
        const Shell shell;
        shell.write("steps.kiln",
                    "kernel k(x: in f32[N], y: out f32[N], n: i64)\n  tune B in {8}\ngrid i in 0 .. N by n {\n"
                    "    y[i :+ B] = select(i + iota(B) < N, x[i :+ B], 7)\n}\n");
        shell.write("good.kiln", kGood);
        const Outcome outcome = shell.kiln({"explain", "steps.kiln", "k", "--size", "N=64", "--arg", "n=8"});
        CHECK(outcome.code == 0);
        CHECK(contains(outcome.out, "steps.kiln:3:6: the step of this grid"));
        CHECK(contains(outcome.out, "the step of this grid is known only at launch"));
        CHECK(contains(outcome.out, "steps.kiln:4:17: this select of a read reads all of it"));
        const Json json = shell.kiln({"explain", "good.kiln", "twice", "--size", "N=64", "--json"}).json();
        CHECK(json[0]["contract"] == Json::array());
        CHECK(contains(shell.kiln({"explain", "good.kiln", "twice", "--size", "N=64"}).out, "contract   holds"));
    }

    TEST_CASE("kiln fmt: in place, only asking, and never with errors") {
        const Shell shell;
        shell.write("good.kiln", kGood);
        std::string ugly = kGood;
        ugly.replace(ugly.find("x[i] * scale"), 12, "x[ i ]*scale");
        shell.write("ugly.kiln", ugly);
        CHECK(shell.kiln({"fmt", "--check", "good.kiln"}).code == 0);
        const Outcome asked = shell.kiln({"fmt", "--check", "good.kiln", "ugly.kiln"});
        CHECK(asked.code == 1);
        CHECK(asked.out == "ugly.kiln would change\n");
        CHECK(shell.read("ugly.kiln") == ugly);
        fs::create_symlink("ugly.kiln", shell.path("link.kiln"));
        ::chmod(shell.path("ugly.kiln").c_str(), 0640);
        const Outcome changed = shell.kiln({"fmt", "link.kiln", "--json"});
        CHECK(changed.code == 0);
        CHECK(changed.json()[0]["changed"] == true);
        CHECK(shell.read("ugly.kiln") == kGood);
        CHECK(fs::is_symlink(shell.path("link.kiln")));
        CHECK((fs::status(shell.path("ugly.kiln")).permissions() & fs::perms::mask) == fs::perms(0640));
        CHECK(shell.kiln({"fmt", "ugly.kiln", "--json"}).json()[0]["changed"] == false);
        shell.write("broken.kiln", "kernel  k( { \n");
        CHECK(shell.kiln({"fmt", "broken.kiln"}).code == 1);
        CHECK(shell.read("broken.kiln") == "kernel  k( { \n");
        CHECK(shell.kiln({"fmt", "gone.kiln", "--json"}).json()["error"]["message"] == "gone.kiln cannot be read");
    }

    TEST_CASE("kiln fmt: a file that may not be written is an error and stays") {
        const Shell shell;
        std::string ugly = kGood;
        ugly += "\n\n\n\n";
        shell.write("ugly.kiln", ugly);
        ::chmod(shell.path("ugly.kiln").c_str(), 0444);
        ::chmod(shell.path("").c_str(), 0777);
        constexpr uid_t kNobody = 65534;
        const Outcome outcome = shell.kiln({"fmt", "ugly.kiln"}, {}, ::geteuid() == 0 ? kNobody : 0);
        if (outcome.code > 100) {
            MESSAGE("skipped: this machine lets no other user run the program");
            return;
        }
        CHECK(outcome.code == 1);
        CHECK(contains(outcome.error, "ugly.kiln cannot be written"));
        CHECK(shell.read("ugly.kiln") == ugly);
    }

    TEST_CASE("kiln emit: every form, without run-time sizes, and for targets of other machines") {
        const Shell shell;
        shell.write("good.kiln", kGood);
        const auto emit = [&](std::vector<std::string> words) {
            words.insert(words.begin(), {"emit"});
            return shell.kiln(words);
        };
        CHECK(contains(emit({"good.kiln", "twice", "-D", "T=f64"}).out, "kernel"));
        const Outcome llvm = emit({"good.kiln", "twice", "--as", "llvm", "--target", "x86_64_v3"});
        CHECK(llvm.code == 0);
        CHECK(contains(llvm.out, "target triple = \"x86_64"));
        CHECK(contains(llvm.out, "define"));
        const Outcome assembly = emit({"good.kiln", "twice", "--as", "asm", "--target", "x86_64_v4", "--json"});
        CHECK(assembly.code == 0);
        CHECK(assembly.json()["target"] == "x86_64_v4");
        CHECK(contains(assembly.json()["text"].get<std::string>(), "zmm"));
        CHECK(!contains(emit({"good.kiln", "twice", "--as", "asm", "--target", "x86_64_v2"}).out, "ymm"));
        CHECK(emit({"kiln/gemm.kiln", "gemm", "-D", "T=bf16", "--as", "asm"}).code == 0);
        const Outcome size = emit({"kiln/softmax.kiln", "softmax"});
        CHECK(size.code == 1);
        CHECK(contains(size.error, "the size `N` of `x` is not given: add --size N=..."));
        CHECK(emit({"kiln/softmax.kiln", "softmax", "--size", "N=64"}).code == 0);
        const Outcome unknown = emit({"good.kiln", "twice", "--target", "z80"});
        CHECK(unknown.code == 1);
        CHECK(contains(unknown.error, "there is no target `z80`"));
    }

    TEST_CASE("kiln emit: a target that this LLVM cannot generate for is exit code 4") {
        const Shell shell;
        shell.write("good.kiln", kGood);
        CHECK(shell.kiln({"emit", "good.kiln", "twice", "--target", "aarch64"}).code == 0);
        for (const char* form : {"llvm", "asm"}) {
            const Outcome outcome =
                shell.kiln({"emit", "good.kiln", "twice", "--target", "aarch64", "--as", form, "--json"});
            if (outcome.code == 0) continue;  // an LLVM with all code generators
            CHECK(outcome.code == 4);
            CHECK(outcome.json()["error"]["kind"] == "compiler");
            CHECK(contains(outcome.json()["error"]["message"].get<std::string>(), "no code generator for aarch64"));
        }
    }

    TEST_CASE("kiln doctor and bench") {
        const Shell shell;
        const Json doctor = shell.kiln({"doctor", "--json"}, {"KILN_THREADS=3", "KILN_CACHE=off"}).json();
        CHECK(doctor["version"] == kiln::version());
        CHECK(doctor["build_id"].get<std::string>().size() == 40);
        CHECK(doctor["devices"][0]["name"] == "cpu");
        CHECK(doctor["devices"][0]["units"] == 3);
        CHECK(doctor["cache"]["state"] == "off");
        CHECK(doctor["library"].size() >= 5);
        const Outcome text = shell.kiln({"doctor"}, {"KILN_CACHE=" + shell.path("none yet")});
        CHECK(text.code == 0);
        CHECK(contains(text.out, "none yet (made when first used)"));
        for (const char* threads : {"none", "0", "100000", "3x"}) {
            const Outcome refused = shell.kiln({"doctor"}, {std::string("KILN_THREADS=") + threads});
            CHECK(refused.code == 1);
            CHECK(contains(refused.error, "must be a number from 1 to 1024"));
        }
        for (const char* level : {"x86_64_v5", "aarch64", "avx2"}) {
            const Outcome refused = shell.kiln({"doctor"}, {std::string("KILN_CPU=") + level});
            CHECK(refused.code == 1);
            CHECK(contains(refused.error, "must be x86_64_v2, x86_64_v3 or x86_64_v4"));
        }
        const Outcome bench = shell.kiln({"bench", "nonsense", "--json"});
        CHECK(bench.code == 1);
        CHECK(contains(bench.json()["error"]["message"].get<std::string>(), "there is no built comparison `nonsense`"));
    }

    TEST_CASE("kiln run: the cache tells processors and builds apart") {
        const Shell shell;
        const auto source = [&](const std::vector<std::string>& environment) {
            std::vector<std::string> all = environment;
            all.push_back("KILN_CACHE=" + shell.path("cache"));
            return shell.kiln({"run", "kiln/vector_add.kiln", "vector_add", "--size", "N=5", "--json"}, all)
                .json()["source"];
        };
        CHECK(source({}) == "compiled");
        CHECK(source({}) == "disk");
        CHECK(source({"KILN_CPU=x86_64_v2"}) == "compiled");
        CHECK(source({"KILN_CPU=x86_64_v2"}) == "disk");
        CHECK(source({}) == "disk");
        // This test program is another build than the kiln program.
        const ScopedVariable cache("KILN_CACHE", shell.path("cache").c_str());
        std::vector<float> a(5, 1.0f), b(5, 2.0f), y(5);
        const auto launch = Module::from_file("kiln/vector_add.kiln")
                                .kernel("vector_add", {{"T", f32}})
                                .prepare(cpu(), tensor(a.data(), {5}), tensor(b.data(), {5}), tensor(y.data(), {5}));
        CHECK(launch.info().source == LaunchInfo::Source::compiled);
    }
}

TEST_SUITE("must_fail") {
    TEST_CASE("kiln check: any bytes give positioned errors, in little time and stack") {
        const Shell shell;
        std::string chain = "const A = 1";
        while (chain.size() < 10'000'000) chain += " + 1";
        const std::string texts[] = {
            std::string("kernel k\xff\xfe(x: in f32[N])"),
            std::string("const A = 1\0const B = 2", 23),
            std::string("\0", 1),
            "\xef\xbb\xbf\xc3\x28",
            std::string(100'000, '('),
            "const A = " + std::string(100'000, '(') + "1",
            "kernel k(y: out f32[N])\ngrid i in 0 .. N " + std::string(100'000, '{'),
            std::string(100'000, '['),
            std::string(100'000, '}'),
            "const A = f" + std::string(50'000, '<'),
            "\"",
            "/*",
        };
        for (const std::string& text : texts) {
            shell.write("text.kiln", text);
            const Outcome outcome = shell.kiln({"check", "text.kiln", "--json"});
            CHECK(outcome.code == 1);
            const Json json = outcome.json();
            REQUIRE(!json.empty());
            CHECK(json[0]["at"]["file"] == "text.kiln");
            CHECK(json[0]["at"]["line"].get<int>() >= 1);
            CHECK(shell.kiln({"check", "text.kiln"}).code == 1);
        }
        const std::string minus = "const A = " + std::string(100'000, '-') + "1\n";
        for (const std::string& text : {chain, minus}) {
            shell.write("text.kiln", text);
            const Outcome outcome = shell.kiln({"check", "text.kiln"});
            CHECK((outcome.code == 0 || outcome.code == 1));
        }
    }
}

}  // namespace
}  // namespace kiln::test
