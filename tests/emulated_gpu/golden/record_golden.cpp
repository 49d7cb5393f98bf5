// Runs the instruction cases on whatever a CUDA driver drives and stores inputs and outputs:
//
//     record_golden FILE [DRIVER]
//
// FILE receives one JSON object a line: first the device, then each case. DRIVER is libcuda.so.1 unless named. With
// files of a real GPU in tests/emulated_gpu/golden, the tests compare the emulated GPU with them.

#include <dlfcn.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "tests/emulated_gpu/golden/instruction_cases.h"

namespace {

using emulated_gpu::CaseInputs;
using emulated_gpu::CaseOutputs;
using Address = unsigned long long;

class Driver {
public:
    explicit Driver(const char* path) : library_(dlopen(path, RTLD_NOW)) {
        if (library_ == nullptr) throw std::runtime_error(dlerror());
        call("cuInit", 0U);
        call("cuDevicePrimaryCtxRetain", &context_, 0);
        call("cuCtxSetCurrent", context_);
    }

    template <class... Arguments>
    void call(const char* name, Arguments... arguments) const {
        void* function = dlsym(library_, name);
        if (function == nullptr) throw std::runtime_error(std::string("the driver lacks ") + name);
        const int result = reinterpret_cast<int (*)(Arguments...)>(function)(arguments...);
        if (result != 0) throw std::runtime_error(std::string(name) + " returns " + std::to_string(result));
    }

    std::string device() const {
        char name[128] = "";
        call("cuDeviceGetName", static_cast<char*>(name), 128, 0);
        return name;
    }

    CaseOutputs run(const std::string& ptx, const CaseInputs& inputs) const {
        void* module = nullptr;
        void* kernel = nullptr;
        call("cuModuleLoadData", &module, static_cast<const void*>(ptx.c_str()));
        call("cuModuleGetFunction", &kernel, module, "k");
        Address in = 0;
        Address out = 0;
        CaseOutputs outputs{};
        call("cuMemAlloc_v2", &in, sizeof inputs);
        call("cuMemAlloc_v2", &out, sizeof outputs);
        call("cuMemcpyHtoD_v2", in, static_cast<const void*>(inputs.data()), sizeof inputs);
        void* parameters[] = {&out, &in};
        call("cuLaunchKernel", kernel, 1U, 1U, 1U, 32U, 1U, 1U, 0U, static_cast<void*>(nullptr),
             static_cast<void**>(parameters), static_cast<void**>(nullptr));
        call("cuMemcpyDtoH_v2", static_cast<void*>(outputs.data()), out, sizeof outputs);
        call("cuMemFree_v2", in);
        call("cuMemFree_v2", out);
        call("cuModuleUnload", module);
        return outputs;
    }

private:
    void* library_;
    void* context_ = nullptr;
};

void write_case(std::ofstream& file, const char* text, const CaseInputs& inputs, const CaseOutputs& outputs) {
    file << "{\"text\": \"" << text << "\", \"lanes\": [";
    for (size_t lane = 0; lane < outputs.size(); ++lane) {
        file << (lane == 0 ? "[" : ", [") << inputs[lane][0] << ", " << inputs[lane][1] << ", " << inputs[lane][2]
             << ", " << outputs[lane] << "]";
    }
    file << "]}\n";
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2 && count != 3) {
        std::fprintf(stderr, "usage: record_golden FILE [DRIVER]\n");
        return 2;
    }
    try {
        const Driver driver(count == 3 ? arguments[2] : "libcuda.so.1");
        std::ofstream file(arguments[1]);
        file << "{\"device\": \"" << driver.device() << "\"}\n";
        const auto& cases = emulated_gpu::instruction_cases();
        for (size_t i = 0; i < cases.size(); ++i) {
            const CaseInputs inputs = emulated_gpu::inputs_of(i);
            write_case(file, cases[i].text, inputs, driver.run(emulated_gpu::case_kernel(cases[i]), inputs));
        }
        if (!file.flush()) throw std::runtime_error(std::string("cannot write ") + arguments[1]);
        std::printf("%zu cases of %s\n", cases.size(), driver.device().c_str());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "record_golden: %s\n", error.what());
        return 1;
    }
    return 0;
}
