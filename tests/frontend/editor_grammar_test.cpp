// The TextMate grammar of editors/vscode against the language: each word of it is coloured as what it is.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "dsl/lexical.h"
#include "frontend/builtins.h"
#include "tests/dsl/must_fail_program.h"

namespace kiln::frontend {

namespace {

using Json = nlohmann::json;

std::string source_file(const std::string& path) {
    return dsl::read_file(std::filesystem::path(KILN_SOURCE_DIR) / path);
}

/// The patterns of one line each, in the order in which an editor tries them.
class Grammar {
public:
    Grammar() : json_(Json::parse(source_file("editors/vscode/syntaxes/kiln.tmLanguage.json"))) {
        for (const Json& pattern : json_["patterns"]) add(pattern);
    }

    /// The scope of the text at an offset; empty if no pattern begins there.
    std::string scope_at(const std::string& line, std::size_t offset) const {
        for (const Pattern& pattern : patterns_) {
            const auto flags =
                std::regex_constants::match_continuous |
                (offset > 0 ? std::regex_constants::match_prev_avail : std::regex_constants::match_default);
            std::smatch match;
            if (!std::regex_search(line.begin() + static_cast<std::ptrdiff_t>(offset), line.end(), match, pattern.regex,
                                   flags))
                continue;
            return pattern.scope;
        }
        return {};
    }

private:
    struct Pattern {
        std::regex regex;
        std::string scope;
    };

    void add(const Json& pattern) {
        if (pattern.contains("include")) {
            add(json_["repository"].at(pattern["include"].get<std::string>().substr(1)));
        } else if (pattern.contains("match")) {
            const Json& named = pattern.contains("name") ? pattern : pattern["captures"]["1"];
            patterns_.push_back({std::regex(pattern["match"].get<std::string>()), named["name"]});
        } else if (pattern.contains("patterns")) {
            for (const Json& inner : pattern["patterns"]) add(inner);
        }
    }

    Json json_;
    std::vector<Pattern> patterns_;
};

/// The words in quotes of the grammar in docs/language.md, and those it calls reserved.
std::set<std::string> words_of_language() {
    const std::string text = source_file("docs/language.md");
    std::set<std::string> words;
    const std::size_t begin = text.find("```ebnf"), end = text.find("```", begin + 7);
    const std::string grammar = text.substr(begin, end - begin);
    const std::regex quoted("\"([a-z]+)\"");
    for (std::sregex_iterator match(grammar.begin(), grammar.end(), quoted), none; match != none; ++match) {
        words.insert((*match)[1]);
    }
    const std::size_t reserved = text.find("Reserved: `");
    const std::string line = text.substr(reserved, text.find('.', reserved) - reserved);
    const std::regex word("[a-z]+");
    for (std::sregex_iterator match(line.begin(), line.end(), word), none; match != none; ++match) {
        if (dsl::is_reserved((*match)[0].str())) words.insert((*match)[0]);
    }
    return words;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("the editor's grammar colours every word of the language") {
        const Grammar grammar;
        const std::set<std::string> words = words_of_language();
        CHECK(words.size() >= 45);  // 20 of today, 13 of the future, 12 clause words and more
        for (const std::string& word : words) {
            CAPTURE(word);
            const std::string scope = grammar.scope_at(word + " f32[8]", 0);
            const bool is_word = scope.starts_with("keyword") || scope.starts_with("storage") ||
                                 scope.starts_with("constant.language") || scope.starts_with("invalid");
            CHECK(is_word);
        }
    }

    TEST_CASE("the editor's grammar colours every type, class and builtin") {
        const Grammar grammar;
        for (const std::string_view type : builtin_type_names()) {
            CHECK(grammar.scope_at(std::string(type) + "[8]", 0) == "storage.type.kiln");
        }
        for (const std::string_view name : type_classes()) {
            CHECK(grammar.scope_at("T: " + std::string(name) + ">", 3) == "support.type.class.kiln");
        }
        for (const Builtin& builtin : builtins()) {
            CAPTURE(builtin.name);
            const bool is_constant = builtin.kind == BuiltinKind::Constant;
            const std::string line = std::string(builtin.name) + (is_constant ? " + 1" : "(x)");
            CHECK(grammar.scope_at(line, 0) ==
                  (is_constant ? "constant.language.kiln" : "support.function.builtin.kiln"));
            for (const BuiltinOption& option : builtin.options) {
                CHECK(grammar.scope_at(", " + std::string(option.name) + " = 1", 2) ==
                      "variable.parameter.option.kiln");
            }
        }
    }

    TEST_CASE("the editor's extension names files that are there, and one language throughout") {
        const std::filesystem::path folder = std::filesystem::path(KILN_SOURCE_DIR) / "editors/vscode";
        const Json package = Json::parse(source_file("editors/vscode/package.json"));
        const Json& language = package["contributes"]["languages"].at(0);
        const Json& grammar = package["contributes"]["grammars"].at(0);
        for (const Json& path : {package["main"], language["configuration"], grammar["path"]}) {
            CAPTURE(path);
            CHECK(std::filesystem::is_regular_file(folder / path.get<std::string>()));
        }
        CHECK(language["extensions"] == Json::array({".kiln"}));
        CHECK(grammar["language"] == language["id"]);
        CHECK(package["activationEvents"] == Json::array({"onLanguage:" + language["id"].get<std::string>()}));
        const Json colours = Json::parse(source_file("editors/vscode/" + grammar["path"].get<std::string>()));
        CHECK(colours["scopeName"] == grammar["scopeName"]);
        const Json configuration = Json::parse(source_file("editors/vscode/language-configuration.json"));
        CHECK(configuration["comments"]["lineComment"] == "//");
        // The setting that the code reads.
        CHECK(package["contributes"]["configuration"]["properties"].contains("kiln.program"));
        CHECK(source_file("editors/vscode/extension.js").find("get(\"program\"") != std::string::npos);
    }

    TEST_CASE("the editor's grammar leaves names alone") {
        const Grammar grammar;
        for (const std::string name : {"exponent", "form", "in_place", "f32x", "sum_of", "outer", "gridlike"}) {
            CHECK(grammar.scope_at(name + " = 1", 0) == "");
            CHECK(grammar.scope_at("let " + name + " = 1", 0) == "keyword.declaration.kiln");
        }
        CHECK(grammar.scope_at("sum = 1", 0) == "");
        CHECK(grammar.scope_at("x >>= 1", 2) == "keyword.operator.kiln");
        CHECK(grammar.scope_at("x = 0x1F", 4) == "constant.numeric.kiln");
    }
}

}  // namespace kiln::frontend
