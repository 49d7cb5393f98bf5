// Element functions compiled for a target and run on this machine, for the tests of the CPU code generator.
#pragma once

#include <llvm/IR/Module.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "codegen/cpu/emit_support.h"
#include "codegen/cpu/jit.h"
#include "codegen/cpu/object_emit.h"
#include "codegen/cpu/vector_ops.h"
#include "ir/support/internal_error.h"
#include "tests/codegen/guarded_bytes.h"

namespace kiln::test {

/// A module under construction, then loaded. Its functions are void (const void* const* inputs, void* output, int64
/// count) and work on `count` elements, a multiple of their lanes.
class ElementModule {
public:
    using Function = void (*)(const void* const* inputs, void* output, std::int64_t count);
    using Body = std::function<llvm::Value*(codegen::cpu::VectorOps&, const std::vector<llvm::Value*>&)>;

    explicit ElementModule(const codegen::cpu::Target& target, ir::Freedoms freedoms = {})
        : target_(target), freedoms_(freedoms), module_(std::make_unique<llvm::Module>("test", context_)) {
        codegen::cpu::prepare_module(*module_, target);
    }

    void add(const std::string& name, unsigned lanes, const std::vector<ir::ScalarType>& inputs, ir::ScalarType output,
             const Body& body) {
        using namespace codegen::cpu;
        llvm::IRBuilder<> builder(context_);
        auto* pointer = builder.getPtrTy();
        llvm::Function* function =
            begin_function(*module_, target_, name, {pointer, pointer, builder.getInt64Ty()}, builder);
        function->setLinkage(llvm::GlobalValue::ExternalLinkage);
        VectorOps ops(builder, target_, freedoms_);
        emit_loop(builder, builder.getInt64(0), function->getArg(2), lanes, [&](llvm::Value* index) {
            std::vector<llvm::Value*> operands;
            for (std::size_t i = 0; i < inputs.size(); ++i) {
                llvm::Value* slot = builder.CreateConstGEP1_64(pointer, function->getArg(0), i);
                llvm::Value* base = builder.CreateLoad(pointer, slot);
                const ir::ScalarType type = in_bytes(inputs[i]);
                operands.push_back(ops.load(type, ops.element_address(type, base, index), lanes));
            }
            llvm::Value* result = body(ops, operands);
            const ir::ScalarType type = in_bytes(output);
            ops.store(type, result, ops.element_address(type, function->getArg(1), index));
        });
        builder.CreateRetVoid();
    }

    void load() {
        const std::vector<char> object = codegen::cpu::compile_module(*module_, target_);
        std::string reason;
        loaded_ = codegen::cpu::load_object(object, reason);
        if (!loaded_) throw support::InternalError("element_jit", reason);
    }

    Function function(const std::string& name) const {
        return reinterpret_cast<Function>(reinterpret_cast<void*>(loaded_->find(name)));
    }

    llvm::Module& module() { return *module_; }

private:
    /// Codes of four bits travel one a byte.
    static ir::ScalarType in_bytes(ir::ScalarType type) { return ir::bit_width(type) == 4 ? ir::ScalarType::U8 : type; }

    codegen::cpu::Target target_;
    ir::Freedoms freedoms_;
    llvm::LLVMContext context_;
    std::unique_ptr<llvm::Module> module_;
    std::unique_ptr<codegen::cpu::LoadedObject> loaded_;
};

/// The targets whose code runs here: the host, and the levels that the host has.
inline std::vector<std::string> runnable_targets() {
    using namespace codegen::cpu;
    std::vector<std::string> names = {"cpu"};
#if defined(__x86_64__)
    const std::vector<std::string>& host = host_target().features;
    for (const char* name : {"x86_64_v2", "x86_64_v3"}) {
        const std::vector<std::string>& wanted = target_named(name)->features;
        bool has_all = true;
        for (const std::string& feature : wanted) {
            has_all = has_all && std::find(host.begin(), host.end(), feature) != host.end();
        }
        if (has_all) names.emplace_back(name);
    }
#endif
    return names;
}

}  // namespace kiln::test
