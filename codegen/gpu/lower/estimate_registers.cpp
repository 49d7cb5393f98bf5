#include "codegen/gpu/lower/estimate_registers.h"

#include <algorithm>
#include <map>

namespace kiln::codegen::gpu {

using namespace ir;

namespace {

/// Addresses, scalars, loop counters.
constexpr int kOthers = 40;

class Estimate {
public:
    Estimate(const Kernel& kernel, const TileValues& values, const TensorFacts& tensors, const TileLayouts& layouts)
        : kernel_(kernel), values_(values), tensors_(tensors), layouts_(layouts) {}

    /// The most that live at one time in a block, beside what lives through it.
    int of_block(BlockId block) const {
        const Block& body = kernel_[block];
        std::map<std::uint32_t, std::size_t> last_use;
        for (std::size_t at = 0; at < body.ops.size(); ++at) note_uses(kernel_[body.ops[at]], at, last_use);
        int live = 0, most = 0;
        std::vector<std::vector<ValueId>> ending(body.ops.size());
        const auto begin = [&](ValueId value, std::size_t at, bool argument = false) {
            const auto used = last_use.find(value.index);
            if (size_of(value) == 0 || used == last_use.end()) return;
            live += size_of(value);
            if (argument || used->second > at) ending[used->second].push_back(value);
        };
        for (const ValueId argument : body.arguments) begin(argument, 0, true);
        for (std::size_t at = 0; at < body.ops.size(); ++at) {
            const Op& op = kernel_[body.ops[at]];
            most = std::max(most, live);
            for (const BlockId nested : op.blocks) most = std::max(most, live + of_block(nested));
            // Results take the registers of operands that end here, one by one.
            for (const ValueId value : ending[at]) live -= size_of(value);
            for (const ValueId result : op.results) begin(result, at);
            most = std::max(most, live + (op.kind == OpKind::Dot ? fragments_of(op) : 0));
        }
        return most;
    }

private:
    void note_uses(const Op& op, std::size_t at, std::map<std::uint32_t, std::size_t>& last_use) const {
        for (const ValueId operand : op.operands) note_use(operand, at, last_use);
        for (const BlockId block : op.blocks) {
            for (const OpId inner : kernel_[block].ops) note_uses(kernel_[inner], at, last_use);
        }
    }
    /// A view keeps what it is made of alive.
    void note_use(ValueId value, std::size_t at, std::map<std::uint32_t, std::size_t>& last_use) const {
        if (kernel_.type(value).is_tensor()) return;
        last_use[value.index] = at;
        const Op* op = kernel_.definition(value);
        if (op == nullptr || !kernel_.type(value).is_tile() || values_[value] == TileForm::Kept) return;
        for (const ValueId operand : op->operands) note_use(operand, at, last_use);
    }
    int size_of(ValueId value) const {
        if (!kernel_.type(value).is_tile() || values_[value] != TileForm::Kept || !layouts_.has(value)) return 0;
        const int registers = layouts_[value].registers();
        return shares_registers(value) ? words(registers, kernel_.type(value).element)
                                       : registers * std::max(1, bit_width(kernel_.type(value).element) / 32);
    }
    /// Small elements share registers where vectors of them come from memory, or where they are converted in pairs.
    bool shares_registers(ValueId value) const {
        const Op* op = kernel_.definition(value);
        if (op == nullptr) return false;
        if (op->kind == OpKind::Convert) return kernel_.type(op->operands[0]).element == ScalarType::F32;
        if (op->kind != OpKind::Load) return false;
        const std::optional<MemoryRun> run = tensors_.run_of(*op);
        return run && run->vector * bit_width(kernel_.type(value).element) >= 32;
    }
    static int words(int elements, ScalarType type) { return (elements * std::max(8, bit_width(type)) + 31) / 32; }

    /// Of matrix instructions: all words of a step of theirs. Of multiply-adds: four elements of each row, and one row
    /// of columns.
    int fragments_of(const Op& op) const {
        if (const MatrixProduct* product = layouts_.matrix_product(op.result())) return matrix_fragments(op, *product);
        const int block = layouts_[op.result()].registers();
        int across = 1;
        while (across * across < block) across *= 2;
        return 4 * (block / across) + across;
    }

    int matrix_fragments(const Op& op, const MatrixProduct& product) const {
        const Part& sums = layouts_[op.result()].parts().front();
        int sum = 0;
        for (const std::size_t side : {0u, 1u}) {
            std::int64_t repeats = kernel_.type(op.result()).shape[side] / product.extent(side);
            for (const Digit& digit : sums.warps) repeats /= digit.axis == static_cast<int>(side) ? digit.count : 1;
            sum += static_cast<int>(repeats) *
                   words(product.operand(side).registers(), side == 0 ? product.left : product.right);
        }
        return sum;
    }

    const Kernel& kernel_;
    const TileValues& values_;
    const TensorFacts& tensors_;
    const TileLayouts& layouts_;
};

}  // namespace

int estimate_registers(const Kernel& kernel, const Phase& phase, const TileValues& values, const TensorFacts& tensors,
                       const TileLayouts& layouts) {
    return kOthers + Estimate(kernel, values, tensors, layouts).of_block(phase.block);
}

}  // namespace kiln::codegen::gpu
