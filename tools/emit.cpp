// kiln emit: what a kernel becomes, as tile IR, LLVM IR, CUDA or HIP text, or machine code.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "codegen/cpu/compile.h"
#include "codegen/cpu/object_emit.h"
#include "ir/text.h"
#include "runtime/argument_facts.h"
#include "runtime/compiled_kernel.h"
#include "tools/emit_gpu.h"
#include "tools/request.h"

namespace kiln::tools {

namespace {

// What `units()` is in a kernel for a GPU that is not there: about that of a data-centre device.
constexpr std::int64_t kUnitsOfAbsentGpu = 128;

struct EmitOptions : KernelOptions {
    std::string target = "cpu";
    std::string form;
    bool stats = false;
};

/// One of the two is set.
struct EmitTarget {
    const codegen::cpu::Target* cpu = nullptr;
    codegen::gpu::FoundTarget gpu;

    const std::vector<std::string>& schedule_names() const {
        return cpu != nullptr ? cpu->schedule_names : gpu.target->schedule_names;
    }
};

EmitTarget find_target(const std::string& name) {
    const EmitTarget found{codegen::cpu::target_named(name), codegen::gpu::find_target(name)};
    if (found.cpu != nullptr || found.gpu.target != nullptr) return found;
    std::string known = "cpu, x86_64_v2, x86_64_v3, x86_64_v4, aarch64";
    for (const codegen::gpu::Target& target : codegen::gpu::target_table()) known += ", " + target.name;
    throw Error(ErrorKind::user, fmt::format("there is no target `{}`; known are {}", name, known));
}

std::string cpu_text(const ir::Kernel& kernel, const codegen::cpu::Target& target, const EmitOptions& options) {
    if (options.form != "llvm" && options.form != "asm") {
        throw Error(ErrorKind::user, fmt::format("`--as {}` is no form of code for {}: it has ir, llvm and asm",
                                                 options.form, options.target));
    }
    if (!codegen::cpu::can_generate(target)) {
        throw Error(ErrorKind::compiler,
                    fmt::format("the LLVM of this build has no code generator for {} ({}); `--as ir` "
                                "needs none",
                                options.target, target.triple));
    }
    return options.form == "llvm" ? codegen::cpu::emit_llvm(kernel, target)
                                  : codegen::cpu::emit_assembly(kernel, target);
}

std::string hexadecimal(const std::string& bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

frontend::Specialisation specialise(const runtime::KernelState& kernel, const EmitOptions& options,
                                    const EmitTarget& target) {
    const RunArguments shapes(kernel, options, Memory::None);
    const Device device = Device::open("cpu");
    const auto matched = runtime::match_arguments(kernel.signature(), shapes.arguments());
    frontend::Request request = kernel.request(*device.stream().backend(), matched);
    request.targets = target.schedule_names();
    request.fits_32_bits = request.fits_32_bits && shapes.has_all_sizes();
    if (target.cpu == nullptr) {
        request.units = kUnitsOfAbsentGpu;
        if (shapes.has_all_sizes()) runtime::add_facts(request, kernel.signature(), matched);
    }
    return runtime::specialise_kernel(kernel.module().program(), request);
}

void print_stats(const nlohmann::json& stats) {
    fmt::print("compiler  {}\n", stats["compiler"].get<std::string>());
    for (const nlohmann::json& phase : stats["phases"]) {
        fmt::print(
            "{}: {} threads, {} registers, {} bytes shared, {} bytes spilled, {} blocks a unit, occupancy {:.2f}\n",
            phase["symbol"].get<std::string>(), phase["threads"].get<int>(), phase["registers"].get<int>(),
            phase["shared_bytes"].get<int>(), phase["spill_bytes"].get<int>(), phase["blocks_per_unit"].get<int>(),
            phase["occupancy"].get<double>());
    }
    for (const nlohmann::json& warning : stats["performance_warnings"]) fmt::print("{}\n", warning.get<std::string>());
}

int emit_stats(const runtime::KernelState& kernel, const ir::Kernel& ir, const EmitTarget& target,
               const EmitOptions& options) {
    if (target.cpu != nullptr) {
        throw Error(ErrorKind::user,
                    fmt::format("--stats is for targets that are GPUs, and {} is none", options.target));
    }
    nlohmann::json json = gpu_stats(ir, *target.gpu.target, kernel.module().program().sources);
    if (!options.json) {
        print_stats(json);
        return kSuccess;
    }
    json["kernel"] = kernel.name();
    json["target"] = options.target;
    json["note"] = target.gpu.note;
    fmt::print("{}\n", json.dump(2));
    return kSuccess;
}

int emit(const EmitOptions& options) {
    const auto kernel = make_kernel(options);
    const EmitTarget target = find_target(options.target);
    const frontend::Specialisation specialisation = specialise(*kernel, options, target);
    if (target.cpu == nullptr && !target.gpu.note.empty()) fmt::print(stderr, "kiln: note: {}\n", target.gpu.note);
    if (options.stats) return emit_stats(*kernel, specialisation.kernel, target, options);
    const std::string text = options.form == "ir"    ? ir::print(specialisation.kernel)
                             : target.cpu != nullptr ? cpu_text(specialisation.kernel, *target.cpu, options)
                                                     : emit_gpu(specialisation.kernel, *target.gpu.target, options.form,
                                                                kernel->module().program().sources);
    if (options.json) {
        const bool is_bytes = options.form == "cubin";
        const nlohmann::json json = {{"kernel", kernel->name()},
                                     {"target", options.target},
                                     {"as", options.form},
                                     {is_bytes ? "hexadecimal" : "text", is_bytes ? hexadecimal(text) : text}};
        fmt::print("{}\n", json.dump(2));
    } else {
        std::fwrite(text.data(), 1, text.size(), stdout);
    }
    return kSuccess;
}

}  // namespace

void add_emit(CLI::App& program, Action& action) {
    auto options = std::make_shared<EmitOptions>();
    options->form = "ir";
    CLI::App* command = program.add_subcommand("emit", "print what a kernel becomes: IR, CUDA, HIP or machine code");
    add_kernel_options(*command, *options);
    command->add_option("--target", options->target,
                        "cpu (this machine), x86_64_v2, x86_64_v3, x86_64_v4, aarch64, sm_80, gfx942, ...");
    command->add_option("--as", options->form, "ir; of CPUs llvm, asm; of GPUs cuda, hip, ptx, cubin, isa")
        ->check(CLI::IsMember({"ir", "llvm", "asm", "cuda", "hip", "ptx", "cubin", "isa"}));
    command->add_flag("--stats", options->stats,
                      "registers, shared memory, spills and occupancy of a GPU's code instead");
    command->footer(
        "Run-time sizes need not be given, and no device is needed. For a GPU, code with all sizes given is that of a "
        "launch with dense, aligned tensors of them; else nothing is known of them.\nExamples:\n  kiln emit "
        "kiln/softmax.kiln softmax "
        "-D "
        "T=f32 --size N=256 --target x86_64_v3 --as llvm\n"
        "  kiln emit kiln/gemm.kiln gemm -D T=bf16 --target sm_80 --as cuda\n"
        "  kiln emit kiln/gemm.kiln gemm -D T=bf16 --target gfx942 --stats --json\n"
        "KILN_DUMP=<pass> or KILN_DUMP=all prints the IR after that pass, or after every one, to stderr.");
    command->callback([options, &action] { action = [options] { return emit(*options); }; });
}

}  // namespace kiln::tools
