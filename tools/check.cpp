// kiln check: every diagnostic of a file, without a launch; and, for a kernel with its sizes, what a checked run of the
// interpreter finds.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "frontend/specialise.h"
#include "ir/checked_run.h"
#include "ir/verify.h"
#include "tools/diagnostics_json.h"
#include "tools/request.h"

namespace kiln::tools {

namespace {

struct CheckOptions : KernelOptions {
    std::vector<std::string> words;  ///< files; or a file and a kernel of it
};

/// Collects what is found, or prints it as it comes.
class Findings {
public:
    explicit Findings(bool json) : json_(json) {}

    /// `clean` is printed where there is nothing to say.
    void add(const support::Diagnostics& diagnostics, const support::SourceMap& sources, const std::string& clean) {
        failed_ |= diagnostics.has_errors();
        for (const support::Diagnostic& diagnostic : diagnostics.all()) list_.push_back(to_json(diagnostic, sources));
        if (json_) return;
        fmt::print(stderr, "{}", diagnostics.render(sources));
        if (diagnostics.all().empty()) fmt::print("{}\n", clean);
    }

    int finish() const {
        if (json_) fmt::print("{}\n", list_.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
        return failed_ ? kUserError : kSuccess;
    }
    bool failed() const { return failed_; }

private:
    bool json_;
    bool failed_ = false;
    nlohmann::json list_ = nlohmann::json::array();
};

void check_text(const std::string& file, Findings& findings) {
    support::Diagnostics diagnostics;
    const frontend::Program program =
        frontend::load_program(file, runtime::with_standard_library(frontend::read_file), diagnostics);
    if (!diagnostics.has_errors()) frontend::check_bodies(program, diagnostics);
    findings.add(diagnostics, program.sources, file + ": no errors");
}

/// Interprets the kernel on random arguments.
void check_run(const KernelOptions& options, Findings& findings) {
    const auto kernel = make_kernel(options);
    const frontend::Program& program = kernel->module().program();
    const RunArguments made(*kernel, options, Memory::Filled);
    const auto matched = runtime::match_arguments(kernel->signature(), made.arguments());
    const Device device = Device::open(options.device);
    const frontend::Request request = kernel->request(*device.stream().backend(), matched);
    support::Diagnostics diagnostics;
    const auto specialisation = frontend::specialise(program, request, diagnostics);
    if (!specialisation) throw Error(ErrorKind::user, diagnostics.render(program.sources));
    ir::verify_or_throw(specialisation->kernel, "frontend");
    const std::vector<ir::Argument> arguments = runtime::bind_arguments(*specialisation, matched);
    const ir::LaunchErrors errors = ir::checked_run(specialisation->kernel, arguments, request.units, {}, diagnostics);
    if (!errors.messages.empty()) throw Error(ErrorKind::user, fmt::format("{}", fmt::join(errors.messages, "\n")));
    findings.add(diagnostics, program.sources, options.kernel + ": the run found nothing");
}

bool names_kernel(const std::vector<std::string>& words) {
    return words.size() == 2 && !words[1].ends_with(".kiln");
}

int check(CheckOptions options) {
    const bool runs = names_kernel(options.words);
    if (!runs && !(options.sizes.empty() && options.definitions.empty() && options.numbers.empty())) {
        throw Error(ErrorKind::user, "sizes and values are for a run: name one file and the kernel to run");
    }
    Findings findings(options.json);
    if (runs) {
        options.file = options.words[0];
        options.kernel = options.words[1];
        check_text(options.file, findings);
        if (!findings.failed()) check_run(options, findings);
    } else {
        for (const std::string& file : options.words) check_text(file, findings);
    }
    return findings.finish();
}

}  // namespace

void add_check(CLI::App& program, Action& action) {
    auto options = std::make_shared<CheckOptions>();
    CLI::App* command = program.add_subcommand("check", "report every error of .kiln files, and of a kernel's run");
    command->add_option("files", options->words, "files; or one file and a kernel of it, to run")->required();
    add_launch_options(*command, *options);
    command->footer(
        "Examples:\n  kiln check my_kernel.kiln\n"
        "  kiln check my_kernel.kiln my_kernel -D T=f32 --size M=97,N=33\n"
        "Each kernel is checked with representative types and sizes. With a kernel, the interpreter then runs it on\n"
        "random arguments and reports ranges outside a tensor, wrapping index arithmetic, reads of memory that "
        "nothing\n"
        "has written, programs that disturb one another, sums in no fixed order, and failed asserts.");
    command->callback([options, &action] { action = [options] { return check(*options); }; });
}

}  // namespace kiln::tools
