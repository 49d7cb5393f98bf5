#include "codegen/cpu/jit.h"

#include <doctest/doctest.h>
#include <llvm/IR/Module.h>

#include <cmath>
#include <cstring>

#include "codegen/cpu/elf_check.h"
#include "tests/codegen/element_jit.h"

using namespace kiln;
using codegen::cpu::load_object;

namespace {

/// An object whose "phase" stores the sum of 1 ... frame's first value, by way of a constant pool, a loop and, if
/// named, a call of a function that the object lacks.
std::vector<char> small_object(const char* callee = nullptr) {
    using namespace codegen::cpu;
    llvm::LLVMContext context;
    llvm::Module module("small", context);
    prepare_module(module, host_target());
    llvm::IRBuilder<> builder(context);
    auto* pointer = builder.getPtrTy();
    auto* i64 = builder.getInt64Ty();
    llvm::Function* function =
        begin_function(module, host_target(), "phase", {pointer, pointer, i64, i64, pointer}, builder);
    function->setLinkage(llvm::GlobalValue::ExternalLinkage);
    llvm::Value* sum = emit_loop(builder, function->getArg(2), function->getArg(3), 1,
                                 {llvm::ConstantFP::get(builder.getDoubleTy(), 0.125)},
                                 [&](llvm::Value* index, llvm::ArrayRef<llvm::Value*> carried) {
                                     llvm::Value* number = builder.CreateSIToFP(index, builder.getDoubleTy());
                                     return Values{builder.CreateFAdd(carried[0], number)};
                                 })
                           .front();
    if (callee) {
        const auto other = module.getOrInsertFunction(callee, builder.getDoubleTy(), builder.getDoubleTy());
        sum = builder.CreateCall(other, {sum});
    }
    builder.CreateStore(sum, function->getArg(4));
    builder.CreateRetVoid();
    return compile_module(module, host_target());
}

double run(const codegen::cpu::LoadedObject& object) {
    double result = 0;
    object.find("phase")(nullptr, nullptr, 1, 5, &result);
    return result;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("an object is loaded and run") {
        std::string reason;
        const auto object = load_object(small_object(), reason);
        REQUIRE_MESSAGE(object, reason);
        CHECK(run(*object) == 10.125);
        CHECK((object->find("another") == nullptr));
    }

    TEST_CASE("several objects live side by side") {
        std::string reason;
        const std::vector<char> bytes = small_object("sin");
        auto first = load_object(bytes, reason);
        const auto second = load_object(bytes, reason);
        REQUIRE((first && second));
        first.reset();
        CHECK(run(*second) == std::sin(10.125));
    }

    TEST_CASE("the same module gives the same object") {
        CHECK(small_object() == small_object());
    }

    TEST_CASE("a module that does not verify is an internal error") {
        llvm::LLVMContext context;
        llvm::Module module("broken", context);
        codegen::cpu::prepare_module(module, codegen::cpu::host_target());
        llvm::IRBuilder<> builder(context);
        codegen::cpu::begin_function(module, codegen::cpu::host_target(), "open", {}, builder);
        CHECK_THROWS_AS(codegen::cpu::compile_module(module, codegen::cpu::host_target()), support::InternalError);
    }
}

TEST_SUITE("faults") {
    TEST_CASE("an object that names unknown symbols is refused by name") {
        std::string reason;
        CHECK(load_object(small_object("system"), reason) == nullptr);
        CHECK(reason == "it names the unknown symbol 'system'");
    }

    TEST_CASE("what is no object is refused") {
        std::string reason;
        CHECK(load_object({}, reason) == nullptr);
        CHECK(reason == "it is shorter than an ELF header");
        const std::vector<char> noise(5000, 'x');
        CHECK(load_object(noise, reason) == nullptr);
        CHECK(reason == "it is not an ELF object");
        std::vector<char> other = small_object();
        other[18] = 2;
        CHECK(load_object(other, reason) == nullptr);
        CHECK(reason == "it is for another machine");
    }

    TEST_CASE("a truncated object is refused") {
        const std::vector<char> whole = small_object();
        for (std::size_t length = 0; length < whole.size(); ++length) {
            std::string reason;
            CHECK(load_object(std::span(whole.data(), length), reason) == nullptr);
            CHECK(!reason.empty());
        }
    }

    TEST_CASE("an object with a changed byte is loaded or refused, never fatal") {
        const std::vector<char> whole = small_object("sin");
        int refused = 0;
        for (std::size_t position = 0; position < whole.size(); ++position) {
            for (const unsigned char change : {0x01, 0x80, 0xff}) {
                std::vector<char> damaged = whole;
                damaged[position] = static_cast<char>(damaged[position] ^ change);
                std::string reason;
                const auto object = load_object(damaged, reason);
                CHECK((object == nullptr) == !reason.empty());
                refused += object == nullptr;
            }
        }
        CHECK(refused > 100);
    }
}
