#include "runtime/compiled_kernel.h"

#include <algorithm>
#include <chrono>

#include "ir/passes/pipeline.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "kiln/error.hpp"
#include "runtime/key.h"
#include "runtime/metadata.h"

namespace kiln::runtime {

namespace {

std::string request_key(const frontend::Program& program, const frontend::Request& request,
                        const DeviceBackend& backend) {
    KeyBuilder key;
    key.add("request");
    key.add(build_id());
    key.add(backend.fingerprint());
    for (const frontend::File& file : program.files) {
        key.add(file.path);
        key.add(program.sources.text(file.source));
    }
    key.add(request.kernel);
    for (const auto& [name, value] : request.generics) {
        key.add(name);
        key.add(value.index());
        key.add(to_string(value));
    }
    for (const auto& [name, value] : request.tunables) {
        key.add(name);
        key.add(value.bits);
    }
    for (const auto& [name, value] : request.schedule) {
        key.add(name);
        key.add(ir::to_string(value));
    }
    for (const auto& [name, parameter] : request.parameters) {
        key.add(name);
        key.add(parameter.present);
        key.add(parameter.element ? ir::name(*parameter.element) : "");
        key.add(parameter.sizes ? ir::to_string(*parameter.sizes) : "");
        key.add(static_cast<std::uint64_t>(parameter.facts.unit_axis));
        key.add(parameter.facts.alignment);
        key.add(ir::to_string(parameter.divisors));
    }
    for (const std::string& target : request.targets) key.add(target);
    key.add(static_cast<std::uint64_t>(request.units));
    key.add(request.fits_32_bits);
    return key.finish();
}

std::string content_key(const ir::Kernel& kernel, const DeviceBackend& backend) {
    KeyBuilder key;
    key.add("content");
    key.add(build_id());
    key.add(backend.fingerprint());
    key.add(ir::print(kernel));
    return key.finish();
}

/// Whether the phases of an entry can be those of this kernel: a launch indexes with them.
bool belongs_to(const std::vector<PhaseEntry>& phases, const ir::Kernel& kernel) {
    if (phases.size() != kernel.phases.size()) return false;
    const std::size_t values = launch_values(kernel).size();
    return std::all_of(phases.begin(), phases.end(), [&](const PhaseEntry& phase) {
        return std::all_of(phase.values.begin(), phase.values.end(),
                           [&](std::uint32_t place) { return place < values; });
    });
}

/// Loads code that a cache entry holds. An entry whose code is refused is removed, so that it is rebuilt.
std::unique_ptr<LoadedKernel> load_cached(const std::string& key, const ir::Kernel& kernel,
                                          const DeviceBackend& backend, const KernelCache& cache) {
    std::optional<CacheEntry> entry = cache.find(key);
    if (!entry) return nullptr;
    std::optional<std::vector<PhaseEntry>> phases = decode_phases(entry->metadata);
    std::string reason;
    std::unique_ptr<LoadedKernel> code;
    if (phases && belongs_to(*phases, kernel)) {
        code = backend.load({std::move(entry->code), std::move(*phases)}, reason);
    }
    if (code == nullptr) cache.remove(key);
    return code;
}

/// The code of a kernel with bodies, compiled and stored in the cache.
std::unique_ptr<LoadedKernel> compile_and_store(const ir::Kernel& kernel, const std::string& key,
                                                const support::SourceMap& sources, const DeviceBackend& backend,
                                                const KernelCache& cache) {
    const Artifact artifact = backend.compile(kernel, sources);
    cache.store(key, {encode(artifact.phases), artifact.code});
    std::string reason;
    std::unique_ptr<LoadedKernel> code = backend.load(artifact, reason);
    if (code == nullptr) {
        throw Error(ErrorKind::compiler, "the code of `" + kernel.name + "` does not load: " + reason);
    }
    return code;
}

void drop_bodies(ir::Kernel& kernel) {
    for (const ir::Phase& phase : kernel.phases) kernel[phase.block].ops.clear();
}

LaunchInfo make_info(const frontend::Specialisation& specialisation, const std::string& key,
                     LaunchInfo::Source source) {
    LaunchInfo info;
    info.source = source;
    info.key = key;
    for (const auto& [name, value] : specialisation.generics) info.generics[name] = to_string(value);
    info.tunables = ir::Configuration{specialisation.tunables, specialisation.kernel.schedule}.spelled();
    return info;
}

std::shared_ptr<CompiledKernel> find_on_disk(const std::string& key, const DeviceBackend& backend,
                                             const KernelCache& cache) {
    const std::optional<CacheEntry> entry = cache.find(key);
    if (!entry) return nullptr;
    std::optional<RequestMetadata> metadata = decode_request(entry->metadata);
    if (!metadata) {
        cache.remove(key);
        return nullptr;
    }
    std::unique_ptr<LoadedKernel> code =
        load_cached(metadata->content_key, metadata->specialisation.kernel, backend, cache);
    if (code == nullptr) return nullptr;
    auto compiled = std::make_shared<CompiledKernel>();
    compiled->info = make_info(metadata->specialisation, key, LaunchInfo::Source::disk);
    compiled->specialisation = std::move(metadata->specialisation);
    compiled->facts = metadata->facts;
    compiled->code = std::move(code);
    return compiled;
}

std::shared_ptr<CompiledKernel> build(const frontend::Program& program, const frontend::Request& request,
                                      const std::string& key, const DeviceBackend& backend, const KernelCache& cache) {
    RequestMetadata metadata{specialise_kernel(program, request), {}, {}};
    ir::Kernel& kernel = metadata.specialisation.kernel;
    metadata.facts = body_facts(kernel);
    metadata.content_key = content_key(kernel, backend);
    auto compiled = std::make_shared<CompiledKernel>();
    compiled->code = load_cached(metadata.content_key, kernel, backend, cache);
    const auto source = compiled->code != nullptr ? LaunchInfo::Source::disk : LaunchInfo::Source::compiled;
    if (compiled->code == nullptr) {
        compiled->code = compile_and_store(kernel, metadata.content_key, program.sources, backend, cache);
    }
    drop_bodies(kernel);
    cache.store(key, {encode(metadata), {}});
    compiled->info = make_info(metadata.specialisation, key, source);
    compiled->specialisation = std::move(metadata.specialisation);
    compiled->facts = metadata.facts;
    return compiled;
}

}  // namespace

std::string to_string(const frontend::GenericValue& value) {
    if (const auto* type = std::get_if<ir::ScalarType>(&value)) return std::string(ir::name(*type));
    if (const auto* scalar = std::get_if<ir::Scalar>(&value)) return ir::to_string(*scalar);
    return std::get<frontend::FunctionName>(value).path;
}

frontend::Specialisation specialise_kernel(const frontend::Program& program, const frontend::Request& request) {
    support::Diagnostics diagnostics;
    std::optional<frontend::Specialisation> specialisation = frontend::specialise(program, request, diagnostics);
    if (!specialisation) throw Error(ErrorKind::user, diagnostics.render(program.sources));
    ir::verify_or_throw(specialisation->kernel, "frontend");
    ir::run_tile_passes(specialisation->kernel);
    return std::move(*specialisation);
}

std::shared_ptr<const CompiledKernel> compile_kernel(const frontend::Program& program, const frontend::Request& request,
                                                     const DeviceBackend& backend, const KernelCache& cache) {
    const auto start = std::chrono::steady_clock::now();
    const std::string key = request_key(program, request, backend);
    std::shared_ptr<CompiledKernel> compiled = find_on_disk(key, backend, cache);
    if (compiled == nullptr) compiled = build(program, request, key, backend, cache);
    compiled->info.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return compiled;
}

}  // namespace kiln::runtime
