#include "codegen/cpu/object_emit.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Target/TargetOptions.h>
#include <llvm/TargetParser/Triple.h>

#include <memory>
#include <mutex>

#include "ir/support/internal_error.h"

namespace kiln::codegen::cpu {
namespace {

/// The architecture's baseline. A processor's own name would bring features that its operating system, or a virtual
/// machine, may withhold; it is given as the one to schedule for instead.
const char* baseline_cpu(const Target& target) {
    return target.triple.starts_with("x86_64") ? "x86-64" : "generic";
}

std::string feature_string(const Target& target) {
    std::string text;
    for (const std::string& feature : target.features) text += (text.empty() ? "" : ",") + feature;
    return text;
}

const llvm::Target* find_generator(const Target& target) {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
    });
    std::string error;
#if LLVM_VERSION_MAJOR >= 22
    return llvm::TargetRegistry::lookupTarget(llvm::Triple(target.triple), error);
#else
    return llvm::TargetRegistry::lookupTarget(target.triple, error);
#endif
}

std::unique_ptr<llvm::TargetMachine> make_machine(const Target& target) {
    const llvm::Target* generator = find_generator(target);
    if (!generator) throw support::InternalError("object_emit", "no code generator for " + target.triple);
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
#if LLVM_VERSION_MAJOR >= 21
    const llvm::Triple triple(target.triple);
#else
    const std::string& triple = target.triple;
#endif
    // "Less" is enough: on clean SSA the higher levels cost time and gain nothing; "None" is far slower code.
    std::unique_ptr<llvm::TargetMachine> machine(
        generator->createTargetMachine(triple, baseline_cpu(target), feature_string(target), options, llvm::Reloc::PIC_,
                                       llvm::CodeModel::Small, llvm::CodeGenOptLevel::Less,
                                       /*JIT=*/true));
    if (!machine) throw support::InternalError("object_emit", "no target machine for " + target.triple);
    return machine;
}

llvm::SmallVector<char, 0> generate(llvm::Module& module, const Target& target, llvm::CodeGenFileType type) {
    std::string reason;
    llvm::raw_string_ostream reason_stream(reason);
    if (llvm::verifyModule(module, &reason_stream)) throw support::InternalError("object_emit", reason_stream.str());

    const auto machine = make_machine(target);
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    if (machine->addPassesToEmitFile(passes, stream, nullptr, type)) {
        throw support::InternalError("object_emit", "the code generator cannot write this kind of file");
    }
    passes.run(module);
    return bytes;
}

}  // namespace

bool can_generate(const Target& target) {
    return find_generator(target) != nullptr;
}

void prepare_module(llvm::Module& module, const Target& target) {
    const auto machine = make_machine(target);
#if LLVM_VERSION_MAJOR >= 21
    module.setTargetTriple(machine->getTargetTriple());
#else
    module.setTargetTriple(target.triple);
#endif
    module.setDataLayout(machine->createDataLayout());
}

void set_target_attributes(llvm::Function& function, const Target& target) {
    const std::string width = std::to_string(target.vector_bytes * 8);
    function.addFnAttr("target-cpu", baseline_cpu(target));
    function.addFnAttr("tune-cpu", target.cpu);
    function.addFnAttr("target-features", feature_string(target));
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr(llvm::Attribute::NoUnwind);
}

std::vector<char> compile_module(llvm::Module& module, const Target& target) {
    const auto bytes = generate(module, target, llvm::CodeGenFileType::ObjectFile);
    return {bytes.begin(), bytes.end()};
}

std::string module_assembly(llvm::Module& module, const Target& target) {
    const auto bytes = generate(module, target, llvm::CodeGenFileType::AssemblyFile);
    return {bytes.begin(), bytes.end()};
}

std::string module_text(const llvm::Module& module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream, nullptr);
    return stream.str();
}

}  // namespace kiln::codegen::cpu
