#include "runtime/gpu/kernel_code.h"

#include <fmt/format.h>

#include <cstring>

#include "ir/support/diagnostic.h"
#include "kiln/error.hpp"

namespace kiln::runtime::gpu {

namespace {

constexpr support::DiagnosticKind kRefusal{"gpu_target", support::Severity::Error, "{}"};

}  // namespace

codegen::gpu::Source source_of(const ir::Kernel& kernel, const codegen::gpu::Target& target,
                               const support::SourceMap& sources) {
    codegen::gpu::Generated generated = codegen::gpu::generate(kernel, target, &sources);
    if (generated.refusals.empty()) return std::move(generated.source);
    support::Diagnostics diagnostics;
    for (const codegen::gpu::Refusal& refusal : generated.refusals) {
        diagnostics.report(kRefusal, refusal.span, refusal.message);
    }
    throw Error(ErrorKind::user, diagnostics.render(sources));
}

CompiledSource compile_source(const codegen::gpu::Source& source, const std::string& kernel,
                              const codegen::gpu::Target& target, const FoundCompiler& found,
                              const support::SourceMap& sources) {
    if (found.compiler == nullptr) {
        throw Error(ErrorKind::compiler, fmt::format("there is no compiler for {}: {}", target.name, found.reason));
    }
    try {
        return found.compiler->compile(source.text, kernel, target);
    } catch (const Error& error) {
        throw Error(ErrorKind::compiler, fmt::format("`{}` for {} does not compile: {}", kernel, target.name,
                                                     annotated(error.what(), sources)));
    }
}

Artifact to_artifact(const ir::Kernel& kernel, const codegen::gpu::Source& source, const CompiledSource& compiled) {
    Artifact artifact;
    const std::uint64_t size = compiled.binary.size();
    artifact.code.resize(sizeof size);
    std::memcpy(artifact.code.data(), &size, sizeof size);
    artifact.code.insert(artifact.code.end(), compiled.binary.begin(), compiled.binary.end());
    artifact.code.insert(artifact.code.end(), compiled.portable.begin(), compiled.portable.end());
    const std::vector<ir::ValueId> values = launch_values(kernel);
    for (const codegen::gpu::PhaseSource& phase : source.phases) {
        PhaseEntry entry;
        entry.symbol = phase.symbol;
        entry.threads = static_cast<std::uint32_t>(phase.threads);
        entry.shared_bytes = static_cast<std::uint64_t>(phase.shared_bytes);
        for (const ir::ValueId value : phase.values) entry.values.push_back(place_of(value, values));
        artifact.phases.push_back(std::move(entry));
    }
    return artifact;
}

CodeForms code_forms(const Artifact& artifact) {
    std::uint64_t size = 0;
    if (artifact.code.size() < sizeof size) return {};
    std::memcpy(&size, artifact.code.data(), sizeof size);
    if (size > artifact.code.size() - sizeof size) return {};
    const auto begin = artifact.code.begin() + sizeof size, end = begin + static_cast<std::ptrdiff_t>(size);
    return {{begin, end}, {end, artifact.code.end()}};
}

}  // namespace kiln::runtime::gpu
