#include "library_run.h"

#include <map>

#include "codegen/cpu/compile.h"
#include "ir/passes/pipeline.h"
#include "runtime/body_facts.h"
#include "runtime/state.h"
#include "runtime/verify.h"

namespace kiln::test {

namespace {

/// Like a public module, with the door to verification.
std::shared_ptr<const runtime::ModuleState> module_state(const std::string& file) {
    static std::map<std::string, std::shared_ptr<const runtime::ModuleState>> modules;
    auto& module = modules[file];
    if (module == nullptr) {
        module =
            std::make_shared<runtime::ModuleState>("kiln/" + file, runtime::with_standard_library(frontend::read_file));
    }
    return module;
}

frontend::Request request_of(const runtime::KernelState& state, const std::vector<Argument>& arguments) {
    const Stream stream = Device::open("cpu").stream();
    return state.request(*stream.backend(), runtime::match_arguments(state.signature(), arguments));
}

}  // namespace

Module library_module(const std::string& file) {
    static std::map<std::string, Module> modules;
    const auto found = modules.find(file);
    if (found != modules.end()) return found->second;
    return modules.emplace(file, Module::from_file("kiln/" + file)).first->second;
}

void launch(const std::string& file, const std::string& kernel, const std::vector<Generic>& generics,
            const std::vector<Argument>& arguments) {
    const Stream stream = Device::open("cpu").stream();
    library_module(file).kernel(kernel, generics).launch_with(stream, arguments);
}

double error_over_bound(const std::string& file, const std::string& kernel, const std::vector<Generic>& generics,
                        const std::vector<Argument>& arguments) {
    runtime::KernelState state(module_state(file), kernel, generics);
    const Stream stream = Device::open("cpu").stream();
    double greatest = 0;
    for (const runtime::OutputReport& output : runtime::verify(state, *stream.backend(), arguments, 1).outputs) {
        greatest = std::max(greatest, output.error_over_bound);
    }
    return greatest;
}

std::vector<std::vector<Generic>> configurations(const std::string& file, const std::string& kernel,
                                                 const std::vector<Generic>& generics,
                                                 const std::vector<Argument>& arguments) {
    const runtime::KernelState state(module_state(file), kernel, generics);
    support::Diagnostics diagnostics;
    std::vector<std::vector<Generic>> result;
    for (const auto& choice :
         frontend::configurations(state.module().program(), request_of(state, arguments), diagnostics)) {
        std::vector<Generic>& list = result.emplace_back(generics);
        for (const auto& [name, value] : choice.tunables) list.emplace_back(name, value.as_int64());
    }
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(state.module().program().sources));
    return result;
}

std::string llvm_text(const std::string& file, const std::string& kernel, const std::vector<Generic>& generics,
                      const std::vector<Argument>& arguments, const std::string& target) {
    const runtime::KernelState state(module_state(file), kernel, generics);
    support::Diagnostics diagnostics;
    auto specialisation = frontend::specialise(state.module().program(), request_of(state, arguments), diagnostics);
    REQUIRE_MESSAGE(specialisation.has_value(), diagnostics.render(state.module().program().sources));
    ir::run_tile_passes(specialisation->kernel);
    return codegen::cpu::emit_llvm(specialisation->kernel, *codegen::cpu::target_named(target));
}

void check_reference(const std::string& file, const std::string& kernel, const std::vector<Generic>& generics,
                     const std::vector<Argument>& arguments) {
    runtime::KernelState state(module_state(file), kernel, generics);
    const Stream stream = Device::open("cpu").stream();
    const runtime::VerifyReport report = runtime::verify(state, *stream.backend(), arguments, 1);
    for (const runtime::OutputReport& output : report.outputs) {
        if (!output.worst) continue;
        FAIL_CHECK(fmt::format("{}: {} of {} elements differ from the reference; {} instead of {}, allowed {}",
                               output.name, output.failed, output.compared, output.worst->value,
                               output.worst->reference, output.worst->allowed));
    }
    CHECK(report.passed);
}

ErrorSize error_size(const std::function<double(std::int64_t)>& values, const std::vector<double>& exact) {
    ErrorSize error;
    double sum = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const double value = values(static_cast<std::int64_t>(i));
        if (value == exact[i]) continue;
        double difference = std::abs(value - exact[i]);
        if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
        error.greatest = std::max(error.greatest, difference);
        sum += difference * difference;
    }
    error.mean = exact.empty() ? 0 : std::sqrt(sum / static_cast<double>(exact.size()));
    return error;
}

void check_accuracy(const LibraryTensor& result, const std::vector<double>& exact, const std::vector<double>& plain) {
    REQUIRE(static_cast<std::size_t>(result.count()) == exact.size());
    REQUIRE(plain.size() == exact.size());
    const ErrorSize ours = error_size([&](std::int64_t i) { return result[i]; }, exact);
    const ErrorSize theirs = error_size([&](std::int64_t i) { return plain[static_cast<std::size_t>(i)]; }, exact);
    double largest = 0;
    for (const double value : exact) {
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    }
    const double step = largest * runtime::epsilon(runtime::to_scalar_type(result.type())) / 2;
    INFO(fmt::format("error {:.3g}, greatest {:.3g}; plain {:.3g}, {:.3g}", ours.mean, ours.greatest, theirs.mean,
                     theirs.greatest));
    CHECK(ours.mean <= 2 * theirs.mean + (theirs.greatest == 0 ? step : step / 16));
    CHECK(ours.greatest <= 2 * theirs.greatest + 2 * step);
}

}  // namespace kiln::test
