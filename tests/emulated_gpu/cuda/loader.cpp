#include <algorithm>
#include <cstring>
#include <set>

#include "tests/emulated_gpu/common/report.h"
#include "tests/emulated_gpu/cuda/decode.h"
#include "tests/emulated_gpu/cuda/ptx_parser.h"

namespace emulated_gpu {
namespace {

constexpr uint64_t kMostStaticShared = 48 * 1024;

uint64_t align_up(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) / alignment * alignment;
}

uint64_t place(std::map<std::string, Placed>& places, const Variable& variable, uint64_t at) {
    at = align_up(at, variable.alignment);
    places[variable.name] = {at, variable.bytes};
    return at + variable.bytes;
}

const Function* find_function(const Module& module, const std::string& name) {
    for (const Function& function : module.functions) {
        if (function.name == name) return &function;
    }
    return nullptr;
}

/// Collects the functions that `function` calls, directly or not, and itself.
void collect_reachable(const Module& module, const Function& function, std::vector<const Function*>& reachable) {
    if (std::find(reachable.begin(), reachable.end(), &function) != reachable.end()) return;
    reachable.push_back(&function);
    for (const Instruction& instruction : function.body) {
        if (instruction.opcode != "call") continue;
        if (const Function* callee = find_function(module, instruction.operands[0].name)) {
            collect_reachable(module, *callee, reachable);
        }
    }
}

void collect_symbols(const Operand& operand, std::set<std::string>& names) {
    if (operand.kind == Operand::Kind::Symbol) names.insert(operand.name);
    for (const Operand& part : operand.parts) collect_symbols(part, names);
}

/// Lays out the shared variables that the functions use; extern arrays begin behind all others.
void place_shared(const Module& module, const std::vector<const Function*>& functions, LoadedKernel& kernel) {
    std::set<std::string> used;
    for (const Function* function : functions) {
        for (const Instruction& instruction : function->body) {
            for (const Operand& operand : instruction.operands) collect_symbols(operand, used);
        }
    }
    std::vector<const Variable*> dynamic;
    uint64_t dynamic_alignment = 16;
    const auto add = [&](const Variable& variable) {
        if (variable.space != Space::Shared) return;
        if (variable.bytes == 0) {
            dynamic.push_back(&variable);
            dynamic_alignment = std::max(dynamic_alignment, variable.alignment);
            return;
        }
        const uint64_t at = align_up(kernel.static_shared_bytes, variable.alignment);
        kernel.shared_offsets[variable.name] = at;
        kernel.static_shared_bytes = at + variable.bytes;
    };
    for (const Variable& variable : module.variables) {
        if (used.contains(variable.name)) add(variable);
    }
    for (const Function* function : functions) {
        for (const Variable& variable : function->variables) add(variable);
    }
    kernel.dynamic_shared_offset = align_up(kernel.static_shared_bytes, dynamic_alignment);
    if (dynamic.empty()) kernel.dynamic_shared_offset = kernel.static_shared_bytes;
    for (const Variable* variable : dynamic) kernel.shared_offsets[variable->name] = kernel.dynamic_shared_offset;
}

std::unique_ptr<LoadedFunction> lay_out(const Function& source) {
    auto function = std::make_unique<LoadedFunction>();
    function->source = &source;
    for (const Variable& parameter : source.parameters) {
        if (source.is_entry) {
            function->parameter_bytes = place(function->parameters, parameter, function->parameter_bytes);
        } else {
            function->local_bytes = place(function->locals, parameter, function->local_bytes);
        }
    }
    for (const Variable& value : source.returns) {
        function->local_bytes = place(function->locals, value, function->local_bytes);
    }
    for (const Variable& variable : source.variables) {
        if (variable.space == Space::Shared) continue;
        function->local_bytes = place(function->locals, variable, function->local_bytes);
    }
    function->local_bytes = align_up(function->local_bytes, 16);
    function->slot_count = static_cast<uint32_t>(source.registers.size());
    function->sink = function->slot_count++;
    function->carry = function->slot_count++;
    return function;
}

void decode_function(LoadedFunction& function, const SymbolTable& symbols) {
    function.ops.resize(function.source->body.size() + 1);
    for (size_t i = 0; i < function.source->body.size(); ++i) {
        const Instruction& instruction = function.source->body[i];
        Op& op = function.ops[i];
        op.instruction = &instruction;
        if (instruction.guarded) {
            op.guard = instruction.guard.index;
            op.guard_negated = instruction.guard.negated;
        }
        Decode decode(function, symbols, instruction, op);
        const auto found = all_decoders().find(instruction.opcode);
        if (found == all_decoders().end()) decode.refuse();
        found->second(decode);
        decode.finish();
    }
    // Control that runs off the end of a body returns.
    static const Instruction kEnd = [] {
        Instruction instruction;
        instruction.opcode = instruction.text = "ret";
        return instruction;
    }();
    Op& last = function.ops.back();
    last.instruction = &kEnd;
    Decode decode(function, symbols, kEnd, last);
    all_decoders().at("ret")(decode);
}

std::unique_ptr<LoadedKernel> load_kernel(const Module& module, const Function& entry, const LoadedModule& loaded) {
    auto kernel = std::make_unique<LoadedKernel>();
    kernel->name = entry.name;
    kernel->module = &module;
    kernel->required_threads = entry.required_threads;
    kernel->maximum_threads = entry.maximum_threads;
    kernel->required_cluster = entry.required_cluster;
    kernel->explicit_cluster = entry.explicit_cluster || entry.required_cluster[0] != 0;
    kernel->registers = entry.maximum_registers;
    kernel->minimum_blocks = entry.minimum_blocks;
    std::vector<const Function*> reachable;
    collect_reachable(module, entry, reachable);
    place_shared(module, reachable, *kernel);
    if (kernel->static_shared_bytes > kMostStaticShared) {
        throw PtxError(entry.position, "the kernel has " + std::to_string(kernel->static_shared_bytes) +
                                           " bytes of static shared memory, more than 48 KiB");
    }
    for (const Function* function : reachable) kernel->functions[function->name] = lay_out(*function);
    const SymbolTable symbols{&loaded.variables, &kernel->shared_offsets, &kernel->functions, &module};
    for (auto& [name, function] : kernel->functions) {
        if (function->source->has_body) decode_function(*function, symbols);
        kernel->uses_async_reads |= function->uses_async_reads;
    }
    kernel->entry = kernel->functions.at(entry.name).get();
    return kernel;
}

void place_variables(const Module& module, DeviceMemory& memory, LoadedModule& loaded) {
    for (const Variable& variable : module.variables) {
        if (variable.space != Space::Global && variable.space != Space::Constant) continue;
        if (variable.external) {
            throw PtxError(variable.position, "the variable '" + variable.name + "' is defined in no module");
        }
        const uint64_t base =
            memory.allocate(variable.bytes, "variable '" + variable.name + "'", variable.space == Space::Constant);
        loaded.variables[variable.name] = {base, variable.bytes};
    }
    for (const Variable& variable : module.variables) {
        const auto found = loaded.variables.find(variable.name);
        if (found == loaded.variables.end()) continue;
        uint8_t* data = memory.at(found->second.offset, variable.bytes);
        if (data == nullptr) throw PtxError(variable.position, "the device has no memory left for this variable");
        std::copy(variable.initial.begin(), variable.initial.end(), data);
        for (const Variable::Relocation& relocation : variable.relocations) {
            const auto target = loaded.variables.find(relocation.symbol);
            if (target == loaded.variables.end()) {
                throw PtxError(variable.position,
                               "the address of '" + relocation.symbol + "' is not emulated here yet");
            }
            const uint64_t address = target->second.offset + static_cast<uint64_t>(relocation.addend);
            std::memcpy(data + relocation.offset, &address, sizeof address);
        }
    }
}

}  // namespace

std::unique_ptr<LoadedModule> load_module(std::string_view ptx, DeviceMemory& memory, int capability) {
    auto loaded = std::make_unique<LoadedModule>();
    loaded->module = std::make_unique<Module>(parse_ptx(ptx));
    const Module& module = *loaded->module;
    if (module.capability > capability || (module.arch_specific && module.capability != capability)) {
        throw WrongTarget({1, 1},
                          "the module is for " + module.target + ", the device is sm_" + std::to_string(capability));
    }
    try {
        place_variables(module, memory, *loaded);
        for (const Function& function : module.functions) {
            if (!function.is_entry) continue;
            loaded->kernels[function.name] = load_kernel(module, function, *loaded);
        }
    } catch (...) {
        for (const auto& [name, place] : loaded->variables) memory.release(place.offset);
        throw;
    }
    return loaded;
}

}  // namespace emulated_gpu
