// kiln emit: what a kernel becomes, as tile IR, LLVM IR or assembly.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "codegen/cpu/compile.h"
#include "codegen/cpu/object_emit.h"
#include "ir/text.h"
#include "runtime/compiled_kernel.h"
#include "tools/request.h"

namespace kiln::tools {

namespace {

struct EmitOptions : KernelOptions {
    std::string target = "cpu";
    std::string form = "ir";
};

const codegen::cpu::Target& find_target(const std::string& name) {
    const codegen::cpu::Target* target = codegen::cpu::target_named(name);
    if (target == nullptr) {
        throw Error(ErrorKind::user,
                    fmt::format("there is no target `{}`; known are cpu, x86_64_v2, x86_64_v3, x86_64_v4 "
                                "and aarch64",
                                name));
    }
    return *target;
}

std::string text_of(const ir::Kernel& kernel, const codegen::cpu::Target& target, const EmitOptions& options) {
    if (options.form == "ir") return ir::print(kernel);
    if (!codegen::cpu::can_generate(target)) {
        throw Error(ErrorKind::compiler,
                    fmt::format("the LLVM of this build has no code generator for {} ({}); `--as ir` "
                                "needs none",
                                options.target, target.triple));
    }
    return options.form == "llvm" ? codegen::cpu::emit_llvm(kernel, target)
                                  : codegen::cpu::emit_assembly(kernel, target);
}

int emit(const EmitOptions& options) {
    const auto kernel = make_kernel(options);
    const codegen::cpu::Target& target = find_target(options.target);
    const RunArguments shapes(*kernel, options, Memory::None);
    const Device device = Device::open("cpu");
    frontend::Request request =
        kernel->request(*device.stream().backend(), runtime::match_arguments(kernel->signature(), shapes.arguments()));
    request.targets = target.schedule_names;
    const frontend::Specialisation specialisation = runtime::specialise_kernel(kernel->module().program(), request);
    const std::string text = text_of(specialisation.kernel, target, options);
    if (options.json) {
        const nlohmann::json json = {
            {"kernel", kernel->name()}, {"target", options.target}, {"as", options.form}, {"text", text}};
        fmt::print("{}\n", json.dump(2));
    } else {
        fmt::print("{}", text);
    }
    return kSuccess;
}

}  // namespace

void add_emit(CLI::App& program, Action& action) {
    auto options = std::make_shared<EmitOptions>();
    CLI::App* command = program.add_subcommand("emit", "print what a kernel becomes: tile IR, LLVM IR or assembly");
    add_kernel_options(*command, *options);
    command->add_option("--target", options->target, "cpu (this machine), x86_64_v2, x86_64_v3, x86_64_v4 or aarch64");
    command->add_option("--as", options->form, "ir, llvm or asm")->check(CLI::IsMember({"ir", "llvm", "asm"}));
    command->footer(
        "Run-time sizes need not be given.\nExample:\n  kiln emit kiln/softmax.kiln softmax -D T=f32 --size N=256 "
        "--target x86_64_v3 --as llvm\n"
        "KILN_DUMP=<pass> or KILN_DUMP=all prints the IR after that pass, or after every one, to stderr.");
    command->callback([options, &action] { action = [options] { return emit(*options); }; });
}

}  // namespace kiln::tools
