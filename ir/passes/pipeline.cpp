#include "ir/passes/pipeline.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/passes/eliminate_common.h"
#include "ir/passes/fold_constants.h"
#include "ir/passes/fuse_dot_accumulate.h"
#include "ir/passes/hoist_invariants.h"
#include "ir/passes/narrow_integers.h"
#include "ir/passes/remove_checks.h"
#include "ir/passes/remove_dead.h"
#include "ir/passes/rewrite.h"
#include "ir/passes/simplify_masks.h"
#include "ir/passes/slice_gathers.h"
#include "ir/passes/split_loops.h"
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
    PassRunner(Kernel& kernel, std::string_view left_out)
        : kernel_(kernel), verifies_(verifies()), left_out_(left_out) {
        if (const char* dump = std::getenv("KILN_DUMP")) dump_ = dump;
        if (verifies_) verify_or_throw(kernel_, "the input of the tile passes");
    }

    void operator()(std::string_view name, const std::function<void(Kernel&)>& pass) const {
        if (name == left_out_) return;
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
    std::string_view left_out_;
    std::string dump_;
};

/// Contract 11 (g): steps by tunables and `units()` are constants. A step that a launch gives is none.
void report_steps(const Kernel& kernel, Shortfalls& shortfalls) {
    const auto report = [&](ValueId step, support::Span span, const char* what) {
        if (kernel.constant(step)) return;
        shortfalls.push_back({'g', span, std::string("the step of this ") + what + " is known only at launch"});
    };
    for (const Phase& phase : kernel.phases) {
        for (const GridAxis& axis : phase.axes) report(axis.step, phase.span, "grid");
        for_each_op(kernel, phase.block, [&](OpId id) {
            if (kernel[id].kind == OpKind::For) report(kernel[id].operands[2], kernel[id].span, "loop");
        });
    }
}

/// What a load reads, equal for equal constants.
std::vector<std::uint64_t> place_of(const Kernel& kernel, const Op& load) {
    std::vector<std::uint64_t> place;
    for (const ValueId operand : load.operands) {
        const std::optional<Scalar> constant = kernel.constant(operand);
        place.push_back(constant ? static_cast<std::uint64_t>(constant->type) : ~std::uint64_t{0});
        place.push_back(constant ? constant->bits : operand.index);
    }
    for (const AxisAccess& axis : access_of(load).axes) {
        place.push_back(static_cast<std::uint64_t>(axis.kind));
        place.push_back(static_cast<std::uint64_t>(axis.length));
    }
    return place;
}

/// Contract 11 (d): equal reads of an `in` tensor are one. Two of them stay where neither stands before the other.
/// Copies of one read, which passes make, have its span and are no matter of the text.
void report_equal_reads(const Kernel& kernel, Shortfalls& shortfalls) {
    for (const Phase& phase : kernel.phases) {
        std::map<std::vector<std::uint64_t>, support::Span> reads;
        for_each_op(kernel, phase.block, [&](OpId id) {
            const Op& op = kernel[id];
            if (!reads_constant_memory(kernel, op)) return;
            const auto [other, is_first] = reads.emplace(place_of(kernel, op), op.span);
            if (is_first || other->second == op.span) return;
            shortfalls.push_back({'d', op.span, "an equal read stands in another branch or loop: read it before both"});
        });
    }
}

}  // namespace

std::span<const std::string_view> tile_pass_names() {
    // remove_checks is not among them: no backend compiles what it takes out.
    static constexpr auto kNames = std::to_array<std::string_view>(
        {"slice_gathers", "fold_constants", "eliminate_common", "remove_dead", "simplify_masks", "fuse_dot_accumulate",
         "hoist_invariants", "split_loops", "narrow_integers"});
    return kNames;
}

Shortfalls run_tile_passes(Kernel& kernel, std::string_view left_out) {
    const PassRunner run(kernel, left_out);
    Shortfalls shortfalls;
    // First: what follows need not keep values for them.
    run("remove_checks", remove_checks);
    // Before folding, which then simplifies the starts of the slices.
    run("slice_gathers", [&](Kernel& each) { slice_gathers(each, shortfalls); });
    // Before merging: it rewrites different texts of one value to the same ops.
    run("fold_constants", fold_constants);
    // Before masks, which compare fills, and before hoisting, which would move each copy.
    run("eliminate_common", eliminate_common);
    // Before the two passes that ask whether a use is the only one: the dead use nothing.
    run("remove_dead", remove_dead);
    run("simplify_masks", [](Kernel& each) {
        Shortfalls early;  // the second time tells
        simplify_masks(each, early);
    });
    // Before hoisting, which may take a dot and its sum into different blocks.
    run("fuse_dot_accumulate", fuse_dot_accumulate);
    run("hoist_invariants", hoist_invariants);
    // Behind hoisting, which takes out what the bounds of the parts are made of; its constants are then folded, and
    // the masks that they decide dropped.
    run("split_loops", [&](Kernel& each) { split_loops(each, shortfalls); });
    run("fold_constants", fold_constants);
    run("remove_dead", remove_dead);
    run("simplify_masks", [&](Kernel& each) { simplify_masks(each, shortfalls); });
    // What the passes above left unused: it would keep index tiles wide.
    run("remove_dead", remove_dead);
    // Last: the passes above ask facts, which see less behind a conversion.
    run("narrow_integers", [&](Kernel& each) { narrow_integers(each, shortfalls); });
    // The conversions of one value.
    run("eliminate_common", eliminate_common);
    report_equal_reads(kernel, shortfalls);
    report_steps(kernel, shortfalls);
    return shortfalls;
}

}  // namespace kiln::ir
