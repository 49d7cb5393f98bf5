// docs/cases.md names tests: each of them exists.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("each test that docs/cases.md names exists") {
        const fs::path root = KILN_SOURCE_DIR;
        std::string cases;
        for (const auto& entry : fs::recursive_directory_iterator(root / "tests")) {
            if (entry.path().extension() != ".cpp") continue;
            const std::string text = text_of(entry.path());
            const std::regex name("TEST_CASE\\(\\s*\"([^\"]*)\"");
            for (std::sregex_iterator match(text.begin(), text.end(), name), none; match != none; ++match) {
                cases += (*match)[1].str() + "\n";
            }
        }
        std::size_t named = 0;
        std::ifstream document(root / "docs/cases.md");
        for (std::string line; std::getline(document, line);) {
            if (!line.starts_with("| ")) continue;
            const std::string tests = line.substr(line.rfind(" | "));
            const std::regex quoted("`([^`]+)`");
            for (std::sregex_iterator match(tests.begin(), tests.end(), quoted), none; match != none; ++match) {
                const std::string name = (*match)[1];
                if (name == "var" || name.ends_with(".kiln")) continue;
                ++named;
                CHECK_MESSAGE(cases.find(name) != std::string::npos, name);
            }
        }
        CHECK(named > 80);
    }
}
