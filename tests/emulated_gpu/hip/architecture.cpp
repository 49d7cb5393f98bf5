#include "tests/emulated_gpu/hip/architecture.h"

#include <algorithm>

namespace emulated_gpu::hip {
namespace {

struct Processor {
    const char* name;
    Family family;
};
constexpr Processor kProcessors[] = {
    {"gfx90a", Family::Cdna},   {"gfx942", Family::Cdna},   {"gfx950", Family::Cdna},
    {"gfx1100", Family::Rdna3}, {"gfx1201", Family::Rdna4},
};

}  // namespace

bool is_modelled(const std::string& processor) {
    return std::any_of(std::begin(kProcessors), std::end(kProcessors),
                       [&](const Processor& known) { return processor == known.name; });
}

Family family_of(const std::string& processor) {
    for (const Processor& known : kProcessors) {
        if (processor == known.name) return known.family;
    }
    return Family::Cdna;
}

}  // namespace emulated_gpu::hip
