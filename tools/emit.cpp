// kiln emit: what a kernel becomes, as tile IR, LLVM IR or assembly.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "codegen/cpu/compile.h"
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
        throw Error(ErrorKind::user, fmt::format("there is no target `{}`; this build emits for cpu, x86_64_v2, "
                                                 "x86_64_v3, x86_64_v4 and aarch64", name));
    }
    return *target;
}

int emit(const EmitOptions& options) {
    const auto kernel = make_kernel(options);
    const codegen::cpu::Target& target = find_target(options.target);
    const RunArguments run_arguments(*kernel, options);
    const Device device = Device::open("cpu");
    frontend::Request request = kernel->request(*device.stream().backend(),
                                                runtime::match_arguments(kernel->signature(), run_arguments.arguments()));
    request.targets = target.schedule_names;
    const frontend::Specialisation specialisation =
        runtime::specialise_kernel(kernel->module().program(), request);
    std::string text;
    if (options.form == "ir") text = ir::print(specialisation.kernel);
    if (options.form == "llvm") text = codegen::cpu::emit_llvm(specialisation.kernel, target);
    if (options.form == "asm") text = codegen::cpu::emit_assembly(specialisation.kernel, target);
    if (options.json) {
        const nlohmann::json json = {{"kernel", kernel->name()}, {"target", options.target}, {"as", options.form}, {"text", text}};
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
    command->footer("Example:\n  kiln emit kiln/softmax.kiln softmax -D T=f32,N=256 --size M=8 --target x86_64_v3 --as llvm\n"
                    "KILN_DUMP=<pass> or KILN_DUMP=all prints the IR after that pass, or after every one, to stderr.");
    command->callback([options, &action] { action = [options] { return emit(*options); }; });
}

}  // namespace kiln::tools
