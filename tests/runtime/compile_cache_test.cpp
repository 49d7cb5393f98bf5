// The way of a specialisation through memory, disk and compiler, seen from the public API.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "runtime/kernel_cache.h"
#include "tests/runtime/host.h"

namespace kiln::test {
namespace {

namespace fs = std::filesystem;
using Source = LaunchInfo::Source;

constexpr const char* kCachedText = R"(
kernel scale<T: real, K: int = 2, f: fn(f32) -> f32 = same>(x: in T[M, N], y: out T[M, N], extra: in T[N] = none)
  tune BLOCK in {8, 16}
grid i in 0 .. M, j in 0 .. N by BLOCK {
    var value = x[i, j :+ BLOCK] * T(K)
    static if present(extra) { value += extra[j :+ BLOCK] }
    y[i, j :+ BLOCK] = T(f(f32(value)))
}
fn same(x: f32) -> f32 = x
fn other(x: f32) -> f32 = x + 0.5
)";

/// A launch of `scale` from a handle of its own, on a 2 x 3 matrix of ones.
struct Run {
    std::string text = kCachedText;
    std::vector<Generic> generics;
    DType dtype = f32;
    bool with_extra = false;
    bool transposed = false;
    std::int64_t columns = 3;
    TextReader reader;

    LaunchInfo operator()(float expected = 2) const {
        const std::vector<double> ones(64, 1.0);
        std::vector<float> x(64, 1.0f), y(64, -1.0f);
        std::vector<double> wide(64, -1.0);
        const bool is_wide = dtype == f64;
        const Extents sizes = {2, columns}, strides = transposed ? Extents{1, 2} : Extents{columns, 1};
        const Tensor in{is_wide ? static_cast<void*>(const_cast<double*>(ones.data())) : x.data(), dtype, sizes,
                        strides};
        const Tensor out = tensor(dtype, is_wide ? static_cast<void*>(wide.data()) : y.data(), sizes);
        const Tensor extra = tensor(dtype, in.data, {columns});
        const Kernel kernel = Module::from_text(text, "scale.kiln", reader).kernel("scale", generics);
        const PreparedLaunch launch =
            with_extra ? kernel.prepare(cpu(), in, out, extra) : kernel.prepare(cpu(), in, out);
        launch.launch();
        CHECK((is_wide ? wide[3] : static_cast<double>(y[3])) == expected);
        return launch.info();
    }
};

std::string key_of(const fs::path& path) {
    return path.stem().string();
}

/// The entries with code, or those without.
std::vector<fs::path> entries_with_code(const TemporaryCache& folder, bool code) {
    const runtime::KernelCache cache(folder.folder());
    std::vector<fs::path> result;
    for (const fs::path& path : folder.entries()) {
        const auto entry = cache.find(key_of(path));
        if (entry && entry->code.empty() != code) result.push_back(path);
    }
    return result;
}

TEST_SUITE("faults") {
    TEST_CASE("compiling: cold, then from disk, then from memory") {
        const TemporaryCache folder;
        const LaunchInfo cold = Run{}();
        CHECK(cold.source == Source::compiled);
        CHECK(cold.seconds > 0);
        CHECK(folder.entries().size() == 2);
        const LaunchInfo warm = Run{}();
        CHECK(warm.source == Source::disk);
        CHECK(warm.key == cold.key);
        CHECK(warm.generics == cold.generics);
        CHECK(warm.tunables == cold.tunables);
        const ScopedVariable off("KILN_CACHE", "off");
        CHECK(Run{}().source == Source::compiled);
    }

    TEST_CASE("compiling: whatever decides the code is in its key") {
        const TemporaryCache folder;
        std::set<std::string> keys = {Run{}().key};
        const auto is_new = [&](const Run& run, float expected = 2) {
            const LaunchInfo info = run(expected);
            CHECK(info.source == Source::compiled);
            CHECK(keys.insert(info.key).second);
            CHECK(run(expected).source == Source::disk);
        };
        is_new({.generics = {{"K", 3}}}, 3);
        is_new({.generics = {{"f", "other"}}}, 2.5);
        is_new({.generics = {{"BLOCK", 16}}});
        is_new({.dtype = f64});
        is_new({.with_extra = true}, 3);
        is_new({.transposed = true});
        std::string text = kCachedText;
        text.replace(text.find("* T(K)"), 6, "+ T(K)");
        is_new({.text = text}, 3);
        // A size that is no part of the specialisation is not.
        CHECK(Run{.columns = 7}().source == Source::disk);
        // What follows from the arguments and what the host says are one specialisation, but two requests.
        CHECK(Run{.generics = {{"T", f32}, {"K", 2}}}().source == Source::disk);
    }

    TEST_CASE("compiling: the text of an import is in the key") {
        const TemporaryCache folder;
        const std::string text = "import \"part.kiln\" as part\n" + std::string(kCachedText);
        const auto with_import = [&](const std::string& value) {
            std::string importing = text;
            importing.replace(importing.find("* T(K)"), 6, "* T(part.factor)");
            return Run{.text = importing,
                       .reader = [=](const std::string&) { return "const factor = " + value + "\n"; }};
        };
        const LaunchInfo five = with_import("5")(5);
        const LaunchInfo six = with_import("6")(6);
        CHECK(six.source == Source::compiled);
        CHECK(five.key != six.key);
        CHECK(with_import("5")(5).source == Source::disk);
    }

    TEST_CASE("compiling: texts that differ in comments only share their code") {
        const TemporaryCache folder;
        const LaunchInfo plain = Run{}();
        const LaunchInfo commented = Run{.text = "// A word.\n" + std::string(kCachedText)}();
        CHECK(commented.key != plain.key);
        CHECK(commented.source == Source::disk);
        CHECK(entries_with_code(folder, true).size() == 1);
        CHECK(entries_with_code(folder, false).size() == 2);
    }

    TEST_CASE("compiling: damaged entries of either kind are built again") {
        const TemporaryCache folder;
        Run{}();
        for (const bool code : {true, false}) {
            const std::vector<fs::path> paths = entries_with_code(folder, code);
            REQUIRE(paths.size() == 1);
            fs::resize_file(paths[0], fs::file_size(paths[0]) / 2);
            CHECK(Run{}().source == (code ? Source::compiled : Source::disk));
            CHECK(Run{}().source == Source::disk);
            fs::remove(paths[0]);
            CHECK(Run{}().source == (code ? Source::compiled : Source::disk));
            fs::remove(paths[0]);
            fs::create_directory(paths[0]);
            CHECK(Run{}().source == (code ? Source::compiled : Source::disk));
            fs::remove(paths[0]);
            CHECK(Run{}().source == (code ? Source::compiled : Source::disk));
        }
    }

    TEST_CASE("compiling: an entry that is whole but holds no code for this kernel is built again") {
        const TemporaryCache folder;
        Run{}();
        const runtime::KernelCache cache(folder.folder());
        const std::string key = key_of(entries_with_code(folder, true).at(0));
        const runtime::CacheEntry good = *cache.find(key);
        const auto rebuilt = [&](const runtime::CacheEntry& entry) {
            cache.store(key, entry);
            CHECK(Run{}().source == Source::compiled);
            CHECK(cache.find(key)->code == good.code);
            CHECK(Run{}().source == Source::disk);
        };
        rebuilt({good.metadata, {'n', 'o', 'n', 'e'}});
        rebuilt({good.metadata, std::vector<char>(good.code.size(), 0)});
        rebuilt({good.metadata,
                 {good.code.begin(), good.code.begin() + static_cast<std::ptrdiff_t>(good.code.size() / 2)}});
        rebuilt({"", good.code});
        rebuilt({"[]", good.code});
        rebuilt({R"([["no_such_symbol",[],0]])", good.code});
        rebuilt({R"([["kiln_phase_0",[1000000],0]])", good.code});
        rebuilt({R"({"a":1})", good.code});
    }

    TEST_CASE("compiling: a request's entry that is whole but says nothing sensible is built again") {
        const TemporaryCache folder;
        Run{}();
        const runtime::KernelCache cache(folder.folder());
        const std::string key = key_of(entries_with_code(folder, false).at(0));
        const runtime::CacheEntry good = *cache.find(key);
        const auto rebuilt = [&](const std::string& metadata) {
            cache.store(key, {metadata, {}});
            CHECK(Run{}().source == Source::disk);  // the code is still there
            CHECK(cache.find(key)->metadata == good.metadata);
        };
        rebuilt("");
        rebuilt("{}");
        rebuilt("[1, 2]");
        std::string metadata = good.metadata;
        metadata.replace(metadata.find("\"kernel\":\""), 10, "\"kernel\":\"}{");
        rebuilt(metadata);
        metadata = good.metadata;
        metadata.replace(metadata.find("\"accumulator\":\"f32\""), 19, "\"accumulator\":\"f33\"");
        rebuilt(metadata);
        metadata = good.metadata;
        metadata.replace(metadata.find("\"extents\":["), 11, "\"extents\":[999999,");
        if (metadata.find("999999,]") != std::string::npos) metadata.replace(metadata.find("999999,]"), 8, "999999]");
        rebuilt(metadata);
    }

    TEST_CASE("compiling: a cache that cannot be written, and no home, cost nothing but time") {
        const ScopedVariable nowhere("KILN_CACHE", "/proc/no_such_place/kiln");
        CHECK(Run{}().source == Source::compiled);
        CHECK(Run{}().source == Source::compiled);
        const ScopedVariable unset("KILN_CACHE", nullptr), xdg("XDG_CACHE_HOME", nullptr), home("HOME", nullptr);
        CHECK(Run{}().source == Source::compiled);
        const ScopedVariable gone("HOME", "/proc/nobody");
        CHECK(Run{}().source == Source::compiled);
    }
}

}  // namespace
}  // namespace kiln::test
