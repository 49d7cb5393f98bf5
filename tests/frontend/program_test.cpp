#include "frontend/program.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "tests/dsl/must_fail_program.h"

namespace kiln::frontend {

namespace {

using Files = std::map<std::string, std::string>;

/// A program whose files lie in memory. `asked` lists the paths that were asked for, in order.
struct Loaded {
    std::vector<std::string> asked;
    support::Diagnostics diagnostics;
    Program program;

    Loaded(const Files& files, const std::string& root)
        : program(load_program(
              root,
              [this, &files](const std::string& path) -> std::optional<std::string> {
                  asked.push_back(path);
                  const auto found = files.find(path);
                  return found == files.end() ? std::nullopt : std::optional(found->second);
              },
              diagnostics)) {}

    std::string messages() const { return dsl::reported_messages(diagnostics, program.sources); }
    const File* file(std::string_view path) const {
        for (const File& each : program.files) {
            if (each.path == path) return &each;
        }
        return nullptr;
    }
};

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("every kernel file loads without a message") {
        const auto paths = dsl::kiln_files("tests/kernels");
        REQUIRE(paths.size() == 24);
        std::size_t kernels = 0;
        for (const auto& path : paths) {
            CAPTURE(path.filename().string());
            support::Diagnostics diagnostics;
            const Program program = load_program(path.string(), frontend::read_file, diagnostics);
            CHECK(diagnostics.render(program.sources) == "");
            for (const auto& [name, id] : program.files[0].declarations) {
                kernels += program.files[0].ast[id].kind == dsl::NodeKind::Kernel ? 1 : 0;
            }
        }
        CHECK(kernels == 95);
    }

    TEST_CASE("paths are relative to the importing file, and the library has its own") {
        const Loaded loaded(
            {
                {"app/main.kiln",
                 "import \"parts/a.kiln\" as a\nimport \"kiln/gemm.kiln\" as gemm\nconst X = a.X + gemm.Y"},
                {"app/parts/a.kiln", "import \"../../common/./b.kiln\" as b\nconst X = b.Z"},
                {"common/b.kiln", "const Z = 1"},
                {"kiln/gemm.kiln", "import \"activations.kiln\" as act\nconst Y = act.W"},
                {"kiln/activations.kiln", "const W = 2"},
            },
            "app/main.kiln");
        CHECK(loaded.messages() == "");
        CHECK(loaded.asked == std::vector<std::string>{"app/main.kiln", "app/parts/a.kiln", "common/b.kiln",
                                                       "kiln/gemm.kiln", "kiln/activations.kiln"});
        REQUIRE(loaded.program.files.size() == 5);
        const File& main = loaded.program.files[0];
        CHECK(&loaded.program.files[main.imports.at("gemm")] == loaded.file("kiln/gemm.kiln"));
        CHECK(loaded.program.sources.text(main.source).starts_with("import"));
        CHECK(main.declarations.size() == 1);
    }

    TEST_CASE("a path leads above the start, and from the root of the file system") {
        const Loaded loaded({{"a.kiln", "import \"../b.kiln\" as b\nimport \"/opt/../c.kiln\" as c"},
                             {"../b.kiln", "import \"../d.kiln\" as d"},
                             {"../../d.kiln", ""},
                             {"/c.kiln", "import \"../../e.kiln\" as e"},
                             {"/e.kiln", ""}},
                            "a.kiln");
        CHECK(loaded.messages() == "");
        CHECK(loaded.program.files.size() == 5);
    }

    TEST_CASE("a file that is imported twice is one file") {
        const Loaded loaded(
            {{"a.kiln", "import \"b.kiln\" as b\nimport \"c.kiln\" as c\nimport \"./x/../c.kiln\" as again"},
             {"b.kiln", "import \"c.kiln\" as c"},
             {"c.kiln", "const C = 1"}},
            "a.kiln");
        CHECK(loaded.messages() == "");
        REQUIRE(loaded.program.files.size() == 3);
        const auto& imports = loaded.program.files[0].imports;
        CHECK(imports.at("c") == imports.at("again"));
        CHECK(imports.at("c") == loaded.program.files[imports.at("b")].imports.at("c"));
    }

    TEST_CASE("a cycle over three files names the imports that lead to it") {
        const Loaded loaded({{"a.kiln", "import \"b.kiln\" as b"},
                             {"b.kiln", "const B = 1\nimport \"c.kiln\" as c"},
                             {"c.kiln", "import \"b.kiln\" as b\nconst C = b.B"}},
                            "a.kiln");
        CHECK(loaded.messages() ==
              "error: 1:8: importing `b.kiln` closes a cycle\n"
              "hint: move what both need into a file of its own\n"
              "note: 2:8: `c.kiln` is imported here\n");
    }

    TEST_CASE("a root that cannot be read is an error at an empty source of that name") {
        const Loaded loaded({}, "none.kiln");
        CHECK(loaded.messages() == "error: 1:1: `none.kiln` cannot be read\n");
        REQUIRE(loaded.program.files.size() == 1);
        CHECK(loaded.program.sources.name(0) == "none.kiln");
        CHECK(loaded.program.sources.text(0) == "");
    }

    TEST_CASE("texts of a few bytes outlive the reading of others") {
        // Short strings move with their owner; names must not.
        Files files = {{"main.kiln", "import \"0.kiln\" as m"}};
        for (int i = 0; i < 40; ++i) {
            files[fmt::format("{}.kiln", i)] = fmt::format("import \"{}.kiln\" as m", i + 1);
        }
        files["40.kiln"] = "const A = 1";
        const Loaded loaded(files, "main.kiln");
        CHECK(loaded.messages() == "");
        REQUIRE(loaded.program.files.size() == 42);
        CHECK(loaded.program.files[41].declarations.contains("A"));
    }

    TEST_CASE("a folder and a missing file cannot be read, an empty file can") {
        const auto folder = std::filesystem::temp_directory_path() / "kiln program test";
        std::filesystem::create_directories(folder);
        std::ofstream(folder / "empty.kiln").close();
        std::ofstream(folder / "text.kiln", std::ios::binary) << "a\r\n\0b" << 'c';
        CHECK(frontend::read_file((folder / "empty.kiln").string()) == "");
        CHECK(frontend::read_file((folder / "text.kiln").string()) == "a\r\nc");
        CHECK(frontend::read_file((folder / "missing.kiln").string()) == std::nullopt);
        CHECK(frontend::read_file(folder.string()) == std::nullopt);
        std::filesystem::remove_all(folder);
    }
}

}  // namespace kiln::frontend
