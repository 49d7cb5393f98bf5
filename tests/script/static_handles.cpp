// Handles in a static object that was made before Kiln's own state, and so goes after it: its destructor launches.

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <vector>

#include "kiln/kiln.hpp"

namespace {

struct Holder {
    std::vector<float> x = std::vector<float>(100000, 1.0F), y = std::vector<float>(100000);
    std::optional<kiln::Kernel> kernel;
    std::optional<kiln::PreparedLaunch> prepared;

    void launch() {
        const auto size = static_cast<std::int64_t>(x.size());
        kernel->launch(kiln::Device::open("cpu").stream(), kiln::tensor(x.data(), {size}),
                       kiln::tensor(y.data(), {size}));
    }
    ~Holder() {
        x.assign(x.size(), 2.0F);
        prepared->launch();
        const bool prepared_right = y[0] == 3.0F && y.back() == 3.0F;
        x.assign(x.size(), 3.0F);
        launch();
        const bool right = prepared_right && y[0] == 4.0F && y.back() == 4.0F;
        std::puts(right ? "launched at exit" : "wrong at exit");
        std::fflush(stdout);
        if (!right) std::_Exit(EXIT_FAILURE);
    }
} holder;

}  // namespace

int main() {
    const auto module = kiln::Module::from_text(
        "kernel add(x: in f32[N], y: out f32[N])\n  tune BLOCK in {64}\n"
        "grid i in 0 .. N by BLOCK { y[i :+ BLOCK] = x[i :+ BLOCK] + 1 }\n");
    holder.kernel = module.kernel("add");
    const auto size = static_cast<std::int64_t>(holder.x.size());
    holder.prepared = holder.kernel->prepare(kiln::Device::open("cpu").stream(), kiln::tensor(holder.x.data(), {size}),
                                             kiln::tensor(holder.y.data(), {size}));
    holder.launch();
}
