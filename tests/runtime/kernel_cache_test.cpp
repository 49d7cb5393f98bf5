#include "runtime/kernel_cache.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "runtime/key.h"
#include "tests/support/temporary_folder.h"

namespace kiln::runtime {
namespace {

namespace fs = std::filesystem;
using tests::TemporaryFolder;

CacheEntry entry_of(const std::string& text) {
    return {"about " + text, {text.begin(), text.end()}};
}

std::string read_all(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write_all(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

fs::path only_file(const std::string& folder) {
    return fs::directory_iterator(folder)->path();
}

TEST_SUITE("faults") {
    TEST_CASE("cache: what was stored is found, under its own key only") {
        const TemporaryFolder folder;
        const KernelCache cache(folder.in("kiln"));
        CHECK(!cache.find("key"));
        cache.store("key", entry_of("code"));
        const auto found = cache.find("key");
        REQUIRE(found);
        CHECK(found->metadata == "about code");
        CHECK(std::string(found->code.begin(), found->code.end()) == "code");
        CHECK(!cache.find("other"));
        cache.store("key", entry_of("newer"));
        CHECK(cache.find("key")->metadata == "about newer");
        struct stat status {};
        REQUIRE(::stat(folder.in("kiln").c_str(), &status) == 0);
        CHECK((status.st_mode & 0777) == 0700);
    }

    TEST_CASE("cache: an entry renamed to another key is a miss") {
        const TemporaryFolder folder;
        const KernelCache cache(folder.path());
        cache.store("one", entry_of("code"));
        fs::rename(folder.in("one.kernel"), folder.in("two.kernel"));
        CHECK(!cache.find("two"));
    }

    TEST_CASE("cache: cut at every length, an entry is a miss and is removed") {
        const TemporaryFolder folder;
        const KernelCache cache(folder.path());
        cache.store("key", entry_of("some code"));
        const fs::path path = only_file(folder.path());
        const std::string whole = read_all(path);
        for (std::size_t length = 0; length < whole.size(); ++length) {
            write_all(path, whole.substr(0, length));
            CHECK(!cache.find("key"));
            CHECK(!fs::exists(path));
        }
        write_all(path, whole + "x");
        CHECK(!cache.find("key"));
    }

    TEST_CASE("cache: with any one bit flipped, an entry is a miss") {
        const TemporaryFolder folder;
        const KernelCache cache(folder.path());
        cache.store("key", entry_of("some code"));
        const fs::path path = only_file(folder.path());
        const std::string whole = read_all(path);
        for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
            std::string damaged = whole;
            damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
            write_all(path, damaged);
            CHECK(!cache.find("key"));
        }
    }

    TEST_CASE(
        "cache: a folder, a link to nowhere and another user's bytes in an entry's place cost nothing but a miss") {
        const TemporaryFolder folder;
        const KernelCache cache(folder.path());
        fs::create_directory(folder.in("key.kernel"));
        CHECK(!cache.find("key"));
        fs::create_symlink("/nonexistent", folder.in("link.kernel"));
        CHECK(!cache.find("link"));
        write_all(folder.in("text.kernel"), "\xff\xfe not ours");
        CHECK(!cache.find("text"));
        cache.store("key", entry_of("code"));  // the folder cannot be replaced; nothing is lost but time
        CHECK(!cache.find("key"));
    }

    TEST_CASE("cache: a folder that cannot be made or written is no error") {
        const TemporaryFolder folder;
        write_all(folder.in("file"), "");
        const KernelCache below_a_file(folder.in("file") + "/cache");
        below_a_file.store("key", entry_of("code"));
        CHECK(!below_a_file.find("key"));
        const KernelCache on_proc("/proc/kiln-cache");
        on_proc.store("key", entry_of("code"));
        CHECK(!on_proc.find("key"));
        const KernelCache off("");
        off.store("key", entry_of("code"));
        CHECK(!off.find("key"));
    }

    TEST_CASE("cache: a link in the folder's place is refused") {
        const TemporaryFolder folder;
        fs::create_directory(folder.in("elsewhere"));
        fs::create_directory_symlink(folder.in("elsewhere"), folder.in("cache"));
        const KernelCache cache(folder.in("cache"));
        cache.store("key", entry_of("code"));
        CHECK(fs::is_empty(folder.in("elsewhere")));
    }

    TEST_CASE("cache: a folder of another user is refused") {
        const TemporaryFolder folder;
        fs::create_directory(folder.in("theirs"));
        const KernelCache cache(folder.in("theirs"));
        cache.store("key", entry_of("code"));
        REQUIRE(cache.find("key"));
        constexpr uid_t kNobody = 65534;
        if (::chown(folder.in("theirs").c_str(), kNobody, kNobody) != 0) return;  // only root can give it away
        CHECK(!cache.find("key"));
        cache.store("other", entry_of("code"));
        CHECK(!fs::exists(folder.in("theirs") + "/other.kernel"));
    }

    TEST_CASE("cache: the environment names the folder") {
        const auto with = [](const char* name, const char* value) {
            value == nullptr ? ::unsetenv(name) : ::setenv(name, value, 1);
        };
        const char* names[] = {"KILN_CACHE", "XDG_CACHE_HOME", "HOME"};
        std::string saved[3];
        bool was_set[3];
        for (int i = 0; i < 3; ++i) {
            const char* value = std::getenv(names[i]);
            was_set[i] = value != nullptr;
            if (value != nullptr) saved[i] = value;
            with(names[i], nullptr);
        }
        CHECK(KernelCache::default_folder().empty());
        with("HOME", "/home/someone");
        CHECK(KernelCache::default_folder() == "/home/someone/.cache/kiln");
        with("XDG_CACHE_HOME", "/caches");
        CHECK(KernelCache::default_folder() == "/caches/kiln");
        with("KILN_CACHE", "/a b'\"\xc3\xbc/cache");
        CHECK(KernelCache::default_folder() == "/a b'\"\xc3\xbc/cache");
        with("KILN_CACHE", "off");
        CHECK(KernelCache::default_folder().empty());
        for (int i = 0; i < 3; ++i) with(names[i], was_set[i] ? saved[i].c_str() : nullptr);
    }

    TEST_CASE("cache: four processes store 25 entries each, and all 100 stay") {
        const TemporaryFolder folder;
        std::set<pid_t> children;
        for (int writer = 0; writer < 4; ++writer) {
            const pid_t child = ::fork();
            if (child == 0) {
                const KernelCache cache(folder.in("shared"));
                for (int i = 0; i < 25; ++i) cache.store("key" + std::to_string(writer * 25 + i), entry_of("code"));
                ::_exit(0);
            }
            children.insert(child);
        }
        for (const pid_t child : children) ::waitpid(child, nullptr, 0);
        const KernelCache cache(folder.in("shared"));
        for (int i = 0; i < 100; ++i) CHECK(cache.find("key" + std::to_string(i)));
    }

    TEST_CASE("cache: a writer killed at any moment leaves only whole entries") {
        const TemporaryFolder folder;
        const CacheEntry large = entry_of(std::string(1 << 16, 'x'));
        for (int round = 0; round < 40; ++round) {
            const pid_t child = ::fork();
            if (child == 0) {
                const KernelCache cache(folder.in("shared"));
                for (int i = 0;; ++i) cache.store("key" + std::to_string(i % 8), large);
            }
            ::usleep(static_cast<useconds_t>(500 + 137 * round));
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, 0);
            const KernelCache cache(folder.in("shared"));
            for (int i = 0; i < 8; ++i) {
                const std::string key = "key" + std::to_string(i);
                const bool exists = fs::exists(folder.in("shared/" + key + ".kernel"));
                CHECK(cache.find(key).has_value() == exists);
            }
        }
    }

    TEST_CASE("keys: fields do not run into each other, and order counts") {
        const auto key = [](std::initializer_list<std::string_view> fields) {
            KeyBuilder builder;
            for (const std::string_view field : fields) builder.add(field);
            return builder.finish();
        };
        CHECK(key({"ab", "c"}) == key({"ab", "c"}));
        CHECK(key({"ab", "c"}) != key({"a", "bc"}));
        CHECK(key({"a", "b"}) != key({"b", "a"}));
        CHECK(key({"a", ""}) != key({"a"}));
        CHECK(key({"a"}).size() == 32);
        CHECK(!build_id().empty());
    }
}

}  // namespace
}  // namespace kiln::runtime
