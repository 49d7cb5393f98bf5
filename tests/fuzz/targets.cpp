#include "tests/fuzz/targets.h"

#include <fmt/format.h>

#include <stdexcept>

#include "dsl/format.h"
#include "dsl/parse.h"
#include "frontend/specialise.h"
#include "ir/passes/pipeline.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "tests/dsl/tree_text.h"

namespace kiln::test {

namespace {

void demand(bool holds, const std::string& promise) {
    if (!holds) throw std::logic_error(promise);
}

void check_places(const support::Diagnostics& diagnostics, const support::SourceMap& sources) {
    for (const support::Diagnostic& diagnostic : diagnostics.all()) {
        demand(!diagnostic.message.empty(), "a message without text");
        demand(diagnostic.span.source < sources.size(), "a place in no file");
        const std::size_t size = sources.text(diagnostic.span.source).size();
        demand(diagnostic.span.begin <= diagnostic.span.end && diagnostic.span.end <= size, "a place outside its file");
    }
    demand(diagnostics.all().empty() || !diagnostics.render(sources).empty(), "messages that show as nothing");
}

void check_kernel(ir::Kernel kernel, const std::string& what) {
    demand(ir::verify(kernel).empty(), what + " does not verify");
    ir::run_tile_passes(kernel);
    const auto violations = ir::verify(kernel);
    demand(violations.empty(),
           what + " does not verify after the passes: " + (violations.empty() ? "" : violations.front()));
}

}  // namespace

void fuzz_grammar(const std::string& text) {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    const std::uint32_t source = sources.add("fuzz.kiln", text);
    const dsl::Ast ast = dsl::parse(sources, source, diagnostics);
    check_places(diagnostics, sources);
    if (diagnostics.has_errors()) {
        demand(dsl::format(sources, source, diagnostics) == text, "a broken text is changed by formatting");
        return;
    }
    const std::uint32_t again = sources.add("formatted.kiln", dsl::format(sources, source, diagnostics));
    demand(dsl::tree_text(dsl::parse(sources, again, diagnostics)) == dsl::tree_text(ast),
           "formatting changes the tree");
    demand(dsl::format(sources, again, diagnostics) == sources.text(again), "formatting twice changes more");
    demand(!diagnostics.has_errors(), "formatting makes errors");
}

void fuzz_checker(const std::string& text) {
    support::Diagnostics diagnostics;
    const auto reader = [&](const std::string& path) {
        return path == "fuzz.kiln" ? std::optional(text) : std::nullopt;
    };
    const frontend::Program program = frontend::load_program("fuzz.kiln", reader, diagnostics);
    check_places(diagnostics, program.sources);
    if (diagnostics.has_errors()) return;
    frontend::check_bodies(program, diagnostics);
    check_places(diagnostics, program.sources);
    if (diagnostics.has_errors()) return;
    const dsl::Ast& ast = program.files[0].ast;
    for (const dsl::NodeId declaration : ast.children_of(ast.root)) {
        if (ast[declaration].kind != dsl::NodeKind::Kernel) continue;
        frontend::Request request;
        request.kernel = ast[declaration].text;
        support::Diagnostics refusals;
        const auto specialisation = frontend::specialise(program, request, refusals);
        demand(specialisation.has_value() != refusals.has_errors(), "neither a kernel nor a message");
        if (specialisation) check_kernel(specialisation->kernel, "`" + request.kernel + "`");
    }
}

void fuzz_ir_text(const std::string& text) {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    const ir::Kernel kernel = ir::parse(sources, sources.add("fuzz.ir", text), diagnostics);
    check_places(diagnostics, sources);
    if (diagnostics.has_errors()) return;
    const std::string printed = ir::print(kernel);
    const ir::Kernel again = ir::parse(sources, sources.add("printed.ir", printed), diagnostics);
    demand(!diagnostics.has_errors(), "what is printed does not read");
    demand(ir::print(again) == printed, "what is printed reads as something else");
    if (ir::verify(kernel).empty()) check_kernel(kernel, "the kernel");
}

}  // namespace kiln::test
