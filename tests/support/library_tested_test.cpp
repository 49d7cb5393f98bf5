// Every kernel of the library that has a reference is compared with it somewhere in tests/library.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// The texts of a folder's files with this extension, one behind the other.
std::string texts_of(const fs::path& folder, const std::string& extension) {
    std::string texts;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != extension) continue;
        std::ifstream file(entry.path(), std::ios::binary);
        texts.append(std::istreambuf_iterator<char>(file), {});
    }
    return texts;
}

/// The names of the kernels whose header has a `reference`.
std::vector<std::string> kernels_with_reference(const std::string& text) {
    std::vector<std::string> names;
    const std::regex kernel("(?:^|\n)kernel ([a-z0-9_]+)");
    for (std::sregex_iterator match(text.begin(), text.end(), kernel), none; match != none; ++match) {
        const auto begin = static_cast<std::size_t>(match->position() + match->length());
        const std::string header = text.substr(begin, text.find("\ngrid ", begin) - begin);
        if (header.find("\n  reference ") != std::string::npos) names.push_back((*match)[1]);
    }
    return names;
}

}  // namespace

TEST_SUITE("library") {
    TEST_CASE("each kernel of the library with a reference is compared with it") {
        const fs::path root = KILN_SOURCE_DIR;
        const std::string tests = texts_of(root / "tests/library", ".cpp");
        const std::vector<std::string> names = kernels_with_reference(texts_of(root / "library", ".kiln"));
        CHECK(names.size() >= 50);
        for (const std::string& name : names) {
            CAPTURE(name);
            CHECK(tests.find("\"" + name + "\"") != std::string::npos);
        }
    }
}
