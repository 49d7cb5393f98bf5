// A program that has its own shared libLLVM, whose symbols come before Kiln's, and lets both work in turn.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kiln/kiln.hpp"

// LLVM's C interface, declared here because the headers of that version need not be installed.
extern "C" {
struct LLVMOpaqueContext;
struct LLVMOpaqueModule;
LLVMOpaqueContext* LLVMContextCreate();
void LLVMContextDispose(LLVMOpaqueContext*);
LLVMOpaqueModule* LLVMModuleCreateWithNameInContext(const char*, LLVMOpaqueContext*);
char* LLVMPrintModuleToString(LLVMOpaqueModule*);
void LLVMDisposeMessage(char*);
void LLVMDisposeModule(LLVMOpaqueModule*);
}

namespace {

void use_llvm() {
    LLVMOpaqueContext* context = LLVMContextCreate();
    LLVMOpaqueModule* module = LLVMModuleCreateWithNameInContext("beside_kiln", context);
    LLVMDisposeMessage(LLVMPrintModuleToString(module));
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

bool use_kiln() {
    std::vector<float> a(1003), b(a.size()), sum(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<float>(i);
        b[i] = 0.5F;
    }
    const auto size = static_cast<std::int64_t>(a.size());
    const auto view = [&](std::vector<float>& values) { return kiln::tensor(values.data(), {size}); };
    const auto stream = kiln::Device::open("cpu").stream();
    kiln::Module::from_file("kiln/vector_add.kiln").kernel("vector_add").launch(stream, view(a), view(b), view(sum));
    for (std::size_t i = 0; i < a.size(); ++i)
        if (sum[i] != a[i] + b[i]) return false;
    return true;
}

}  // namespace

int main() {
    use_llvm();
    const bool right = use_kiln();
    use_llvm();
    std::puts(right ? "both work" : "Kiln computed a wrong sum");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
