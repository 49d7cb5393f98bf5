// From a code object to ops in memory.

#include <algorithm>
#include <cstring>

#include "tests/emulated_gpu/hip/decode.h"
#include "tests/emulated_gpu/hip/execution.h"

namespace emulated_gpu::hip {
namespace {

constexpr size_t kMostRefusals = 12;  // named in one error

void relocate(LoadedModule& module) {
    uint8_t* image = module.memory->at(module.base, module.object.image.size());
    for (const auto& [at, value] : module.object.relocations) {
        const uint64_t address = module.base + value;
        std::memcpy(image + at, &address, sizeof address);
    }
}

/// Functions in order of their addresses; kernels without a size reach to the next one.
std::vector<Symbol> functions_in_order(const CodeObject& object) {
    std::vector<Symbol> functions;
    for (const auto& [name, symbol] : object.functions) functions.push_back(symbol);
    std::sort(functions.begin(), functions.end(), [](const Symbol& a, const Symbol& b) { return a.value < b.value; });
    functions.erase(std::unique(functions.begin(), functions.end(),
                                [](const Symbol& a, const Symbol& b) { return a.value == b.value; }),
                    functions.end());
    return functions;
}

void read_instructions(LoadedModule& module) {
    for (const Symbol& function : functions_in_order(module.object)) {
        const std::span<const uint8_t> code(module.object.image.data() + function.value, function.bytes);
        for (const DisassembledInstruction& read : disassemble(code, function.value, module.object.architecture)) {
            module.instructions.push_back(parse_instruction(read));
        }
    }
    std::vector<uint64_t> addresses;
    for (const Instruction& instruction : module.instructions) addresses.push_back(instruction.address);
    std::vector<SourceLine> lines = find_source_lines(module.object.file, addresses);
    for (size_t i = 0; i < lines.size(); ++i) module.instructions[i].source = std::move(lines[i]);
}

void index_ops(LoadedModule& module) {
    if (module.instructions.empty()) return;
    module.first_address = module.instructions.front().address;
    module.op_at.assign((module.instructions.back().address - module.first_address) / 4 + 1, kNoOp);
    for (uint32_t i = 0; i < module.instructions.size(); ++i) {
        module.op_at[(module.instructions[i].address - module.first_address) / 4] = i;
    }
}

/// Branches name words relative to the next instruction.
void link_branches(LoadedModule& module) {
    for (Op& op : module.ops) {
        op.index = static_cast<uint32_t>(&op - module.ops.data());
        if (op.target != kNoOp) continue;
        const uint64_t next = op.instruction->address + op.instruction->bytes;
        op.target = module.find_op(next + static_cast<uint64_t>(op.immediate * 4));
        if (op.target == kNoOp) {
            throw LoadError("'" + op.instruction->text + "' at code address " + hexadecimal(op.instruction->address) +
                            " jumps out of the code");
        }
    }
}

void decode_all(LoadedModule& module) {
    module.ops.resize(module.instructions.size());
    std::string refusals;
    size_t refused = 0;
    for (size_t i = 0; i < module.instructions.size(); ++i) {
        try {
            decode_instruction(module.instructions[i], module.object.architecture, module.ops[i]);
        } catch (const LoadError& error) {
            if (refused++ < kMostRefusals) refusals += (refusals.empty() ? "" : "\n") + std::string(error.what());
        }
    }
    if (refused > kMostRefusals) refusals += "\nand " + std::to_string(refused - kMostRefusals) + " more";
    if (refused > 0) throw LoadError(refusals);
}

}  // namespace

LoadedModule::~LoadedModule() {
    if (memory != nullptr && base != 0) memory->release(base);
}

std::unique_ptr<LoadedModule> load_module(std::span<const uint8_t> image, DeviceMemory& memory,
                                          const std::string& processor) {
    if (!is_modelled(processor)) throw LoadError("the processor " + processor + " is not modelled");
    auto module = std::make_unique<LoadedModule>();
    module->object = read_code_object(image, processor);
    read_instructions(*module);
    index_ops(*module);
    decode_all(*module);
    link_branches(*module);
    for (const auto& [name, kernel] : module->object.kernels) {
        if (module->find_op(kernel.entry) == kNoOp) throw LoadError("kernel " + name + " has no code");
    }
    module->memory = &memory;
    module->base = memory.allocate(module->object.image.size(), "the code object");
    if (module->base == 0) throw LoadError("the device has no memory left for the code object");
    std::memcpy(memory.at(module->base, module->object.image.size()), module->object.image.data(),
                module->object.image.size());
    relocate(*module);
    return module;
}

}  // namespace emulated_gpu::hip
