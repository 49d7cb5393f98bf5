#include "ir/passes/pipeline.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ir/passes/eliminate_common.h"
#include "ir/passes/fold_constants.h"
#include "ir/passes/fuse_dot_accumulate.h"
#include "ir/passes/hoist_invariants.h"
#include "ir/passes/remove_checks.h"
#include "ir/passes/remove_dead.h"
#include "ir/passes/simplify_masks.h"
#include "ir/passes/slice_gathers.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace kiln::ir {

namespace {

bool verifies() {
#ifdef NDEBUG
    const char* wanted = std::getenv("KILN_VERIFY");
    return wanted != nullptr && std::string_view(wanted) == "1";
#else
    return true;
#endif
}

/// Runs passes by name, with what surrounds each.
class PassRunner {
public:
    explicit PassRunner(Kernel& kernel) : kernel_(kernel), verifies_(verifies()) {
        if (const char* dump = std::getenv("KILN_DUMP")) dump_ = dump;
        if (verifies_) verify_or_throw(kernel_, "the input of the tile passes");
    }

    void operator()(std::string_view name, void (*pass)(Kernel&)) const {
        pass(kernel_);
        if (dump_ == name || dump_ == "all") {
            const std::string text = print(kernel_);
            std::fprintf(stderr, "// after %.*s\n%s", static_cast<int>(name.size()), name.data(), text.c_str());
        }
        if (verifies_) verify_or_throw(kernel_, std::string(name));
    }

private:
    Kernel& kernel_;
    bool verifies_;
    std::string dump_;
};

}  // namespace

void run_tile_passes(Kernel& kernel) {
    const PassRunner run(kernel);
    // First: what follows need not keep values for them.
    run("remove_checks", remove_checks);
    // Before folding, which then simplifies the starts of the slices.
    run("slice_gathers", slice_gathers);
    // Before merging: it rewrites different texts of one value to the same ops.
    run("fold_constants", fold_constants);
    // Before masks, which compare fills, and before hoisting, which would move each copy.
    run("eliminate_common", eliminate_common);
    // Before the two passes that ask whether a use is the only one: the dead use nothing.
    run("remove_dead", remove_dead);
    run("simplify_masks", simplify_masks);
    // Before hoisting, which may take a dot and its sum into different blocks.
    run("fuse_dot_accumulate", fuse_dot_accumulate);
    run("hoist_invariants", hoist_invariants);
    // Last: what the passes above left unused.
    run("remove_dead", remove_dead);
}

}  // namespace kiln::ir
