#include "ir/passes/remove_checks.h"

#include "ir/passes/rewrite.h"

namespace kiln::ir {

namespace {

class RemoveChecks : public Rewriter {
public:
    using Rewriter::Rewriter;

private:
    Verdict visit(OpId id, Builder&) override {
        const OpKind kind = kernel_[id].kind;
        return kind == OpKind::Print || kind == OpKind::Assert ? Verdict::Drop : Verdict::Keep;
    }
};

}  // namespace

void remove_checks(Kernel& kernel) {
    RemoveChecks(kernel).run();
}

}  // namespace kiln::ir
