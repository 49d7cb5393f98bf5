// kiln fmt: the one layout of .kiln files.
#include "dsl/format.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "frontend/program.h"
#include "kiln/error.hpp"
#include "tools/command.h"

namespace kiln::tools {

namespace {

struct FormatOptions {
    std::vector<std::string> files;
    bool check = false;
    bool json = false;
};

struct Formatted {
    std::string original, text;
};

Formatted format_file(const std::string& file) {
    std::optional<std::string> text = frontend::read_file(file);
    if (!text) throw Error(ErrorKind::user, fmt::format("{} cannot be read", file));
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    const std::uint32_t source = sources.add(file, *text);
    std::string formatted = dsl::format(sources, source, diagnostics);
    if (diagnostics.has_errors()) throw Error(ErrorKind::user, diagnostics.render(sources));
    return {std::move(*text), std::move(formatted)};
}

Error cannot_write(const std::string& file, const std::string& reason) {
    return Error(ErrorKind::user, fmt::format("{} cannot be written ({})", file, reason));
}

/// Through a temporary file, so that a full disk leaves the old text. A link stays one: its target is replaced.
void replace_file(const std::string& file, const std::string& text) {
    std::error_code error;
    const std::filesystem::path target = std::filesystem::canonical(file, error);
    if (error) throw cannot_write(file, error.message());
    // The rename below asks the folder's permission only.
    if (::access(target.c_str(), W_OK) != 0) throw cannot_write(file, std::strerror(errno));
    const std::string temporary = fmt::format("{}.{}.tmp", target.string(), ::getpid());
    std::ofstream stream(temporary, std::ios::binary);
    stream << text;
    stream.close();
    if (stream) {
        std::filesystem::permissions(temporary, std::filesystem::status(target).permissions(), error);
        std::filesystem::rename(temporary, target, error);
    }
    if (!stream || error) {
        std::remove(temporary.c_str());
        throw cannot_write(file, error ? error.message() : "the folder takes no new file, or the disk is full");
    }
}

int format(const FormatOptions& options) {
    nlohmann::json json = nlohmann::json::array();
    bool differs = false;
    for (const std::string& file : options.files) {
        const Formatted formatted = format_file(file);
        const bool changed = formatted.text != formatted.original;
        differs |= changed;
        if (changed && !options.check) replace_file(file, formatted.text);
        if (options.json) {
            json.push_back({{"file", file}, {"changed", changed}});
        } else if (changed) {
            fmt::print("{}{}\n", file, options.check ? " would change" : "");
        }
    }
    if (options.json) fmt::print("{}\n", json.dump(2));
    return options.check && differs ? kUserError : kSuccess;
}

}  // namespace

void add_format(CLI::App& program, Action& action) {
    auto options = std::make_shared<FormatOptions>();
    CLI::App* command = program.add_subcommand("fmt", "format .kiln files in place");
    command->add_option("files", options->files, "the files")->required();
    command->add_flag("--check", options->check, "change nothing; exit code 1 if a file would change");
    command->add_flag("--json", options->json, "print JSON");
    command->footer("Example:\n  kiln fmt --check library/*.kiln");
    command->callback([options, &action] { action = [options] { return format(*options); }; });
}

}  // namespace kiln::tools
