// The only file that sees LLVM.

#include "tests/emulated_gpu/hip/disassembler.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ObjectFile.h>

#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>

namespace emulated_gpu::hip {
namespace {

constexpr uint32_t kShortestInstruction = 4;

void initialise_llvm() {
    static std::once_flag once;
    std::call_once(once, [] {
        LLVMInitializeAMDGPUTargetInfo();
        LLVMInitializeAMDGPUTargetMC();
        LLVMInitializeAMDGPUDisassembler();
    });
}

using Disassembler = std::unique_ptr<void, void (*)(LLVMDisasmContextRef)>;

Disassembler make_disassembler(const Architecture& architecture) {
    initialise_llvm();
    // Halves of registers are to be told in the operands' names, whatever the compiler's own habit.
    const char* features = !architecture.is_rdna()         ? ""
                           : architecture.wave_lanes == 32 ? "+real-true16,+wavefrontsize32"
                                                           : "+real-true16,+wavefrontsize64";
    Disassembler disassembler(LLVMCreateDisasmCPUFeatures("amdgcn-amd-amdhsa", architecture.processor.c_str(), features,
                                                          nullptr, 0, nullptr, nullptr),
                              LLVMDisasmDispose);
    if (disassembler == nullptr) throw std::runtime_error("LLVM does not know the processor " + architecture.processor);
    return disassembler;
}

std::string trimmed(const std::string& text) {
    const size_t first = text.find_first_not_of(" \t");
    if (first == std::string::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

}  // namespace

std::vector<DisassembledInstruction> disassemble(std::span<const uint8_t> code, uint64_t address,
                                                 const Architecture& architecture) {
    const Disassembler disassembler = make_disassembler(architecture);
    std::vector<DisassembledInstruction> instructions;
    size_t at = 0;
    while (at + kShortestInstruction <= code.size()) {
        char text[512];
        auto* bytes = const_cast<uint8_t*>(code.data() + at);
        const size_t size =
            LLVMDisasmInstruction(disassembler.get(), bytes, code.size() - at, address + at, text, sizeof text);
        DisassembledInstruction instruction{address + at, kShortestInstruction, {}};
        if (size != 0) {
            instruction.bytes = static_cast<uint32_t>(size);
            instruction.text = trimmed(text);
        }
        at += instruction.bytes;
        instructions.push_back(std::move(instruction));
    }
    return instructions;
}

std::vector<SourceLine> find_source_lines(std::span<const uint8_t> object, const std::vector<uint64_t>& addresses) {
    std::vector<SourceLine> lines(addresses.size());
    const llvm::StringRef text(reinterpret_cast<const char*>(object.data()), object.size());
    auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(text, "code object"));
    if (!file) {
        llvm::consumeError(file.takeError());
        return lines;
    }
    const auto context = llvm::DWARFContext::create(
        **file, llvm::DWARFContext::ProcessDebugRelocations::Ignore, nullptr, "",
        [](llvm::Error error) { llvm::consumeError(std::move(error)); },
        [](llvm::Error warning) { llvm::consumeError(std::move(warning)); });
    llvm::DILineInfoSpecifier wanted(llvm::DILineInfoSpecifier::FileLineInfoKind::RawValue);
    for (size_t i = 0; i < addresses.size(); ++i) {
        // Some versions of LLVM return an optional, others the line itself.
        const std::optional<llvm::DILineInfo> info =
            context->getLineInfoForAddress({addresses[i], llvm::object::SectionedAddress::UndefSection}, wanted);
        if (info && info->Line != 0) lines[i] = {info->FileName, static_cast<int>(info->Line)};
    }
    return lines;
}

}  // namespace emulated_gpu::hip
