#include "codegen/cpu/pack.h"

#include "codegen/cpu/emit_support.h"
#include "codegen/cpu/vector_ops.h"

namespace kiln::codegen::cpu {
namespace {

using ir::ScalarType;

/// What the packers of both operands share.
class Packer {
public:
    Packer(llvm::Module& module, const Target& target, const Packing& packing)
        : module_(module), target_(target), packing_(packing), builder_(module.getContext()), ops_(builder_, target) {}

protected:
    llvm::Type* pointer() { return builder_.getPtrTy(); }
    llvm::Type* i64() { return builder_.getInt64Ty(); }
    llvm::Value* number(std::int64_t value) { return builder_.getInt64(value); }
    std::int64_t bytes_of_word() const { return word_bytes(packing_.word); }
    bool pairs() const { return packing_.word == WordKind::Bf16Pair; }

    llvm::Value* words_of(llvm::Value* depth) {
        return pairs() ? builder_.CreateLShr(builder_.CreateAdd(depth, number(1)), 1) : depth;
    }
    llvm::Value* depth_of(llvm::Value* words) { return pairs() ? builder_.CreateShl(words, 1) : words; }

    ScalarType word_element() const {
        switch (packing_.word) {
            case WordKind::F32:
                return ScalarType::F32;
            case WordKind::F64:
                return ScalarType::F64;
            case WordKind::I32:
                return ScalarType::I32;
            case WordKind::Bf16Pair:
                return ScalarType::BF16;
        }
        return ScalarType::F32;
    }

    llvm::Value* widen(llvm::Value* elements) {
        return pairs() ? elements : ops_.convert(ir::OpKind::Convert, elements, packing_.element, word_element());
    }

    llvm::Value* at(llvm::Value* base, llvm::Value* elements) {
        return ops_.element_address(packing_.element, base, elements);
    }
    llvm::Value* word_at(llvm::Value* base, llvm::Value* words) {
        return offset_bytes(builder_, base, builder_.CreateMul(words, number(bytes_of_word())));
    }

    void store_words(llvm::Value* words, llvm::Value* address) {
        builder_.CreateAlignedStore(words, address, llvm::Align(bytes_of_word()));
    }

    llvm::Value* load_elements(llvm::Value* address, llvm::Value* mask) {
        if (mask) return ops_.load_masked(packing_.element, address, mask);
        return ops_.load(packing_.element, address, packing_.lanes);
    }

    /// A vector of words whose lanes lie along a unit stride, at word `word` of k; `along_k` is the stride of k.
    llvm::Value* load_words(llvm::Value* base, llvm::Value* along_k, llvm::Value* word, llvm::Value* depth,
                            llvm::Value* mask) {
        if (!pairs()) return widen(load_elements(at(base, builder_.CreateMul(word, along_k)), mask));
        llvm::Value* k = depth_of(word);
        llvm::Value* has_second = builder_.CreateICmpSLT(builder_.CreateAdd(k, number(1)), depth);
        llvm::Value* first = at(base, builder_.CreateMul(k, along_k));
        llvm::Value* second = at(first, builder_.CreateSelect(has_second, along_k, number(0)));
        auto* type = llvm::FixedVectorType::get(builder_.getInt32Ty(), packing_.lanes);
        llvm::Value* low = builder_.CreateZExt(load_elements(first, mask), type);
        llvm::Value* high = builder_.CreateShl(builder_.CreateZExt(load_elements(second, mask), type), 16);
        llvm::Value* keep = builder_.CreateSExt(has_second, builder_.getInt32Ty());
        return builder_.CreateOr(low, builder_.CreateAnd(high, ops_.splat(keep, packing_.lanes)));
    }

    /// One word from any strides; zero beyond the depth.
    llvm::Value* load_word(llvm::Value* base, llvm::Value* along_k, llvm::Value* word, llvm::Value* depth) {
        if (!pairs()) return widen(ops_.load(packing_.element, at(base, builder_.CreateMul(word, along_k)), 1));
        llvm::Value* k = depth_of(word);
        llvm::Value* has_second = builder_.CreateICmpSLT(builder_.CreateAdd(k, number(1)), depth);
        llvm::Value* first = at(base, builder_.CreateMul(k, along_k));
        llvm::Value* second = at(first, builder_.CreateSelect(has_second, along_k, number(0)));
        llvm::Value* low = builder_.CreateZExt(ops_.load(packing_.element, first, 1), builder_.getInt32Ty());
        llvm::Value* high = builder_.CreateZExt(ops_.load(packing_.element, second, 1), builder_.getInt32Ty());
        high = builder_.CreateSelect(has_second, builder_.CreateShl(high, 16), builder_.getInt32(0));
        return builder_.CreateOr(low, high);
    }

    llvm::Type* word_type() { return pairs() ? builder_.getInt32Ty() : ops_.register_type(word_element()); }

    llvm::Module& module_;
    const Target& target_;
    const Packing& packing_;
    llvm::IRBuilder<> builder_;
    VectorOps ops_;
};

class BPacker : Packer {
public:
    BPacker(llvm::Module& module, const Target& target, const Packing& packing) : Packer(module, target, packing) {}

    llvm::Function* run(const std::string& name) {
        if (packing_.layout == MatrixLayout::ColumnMajor) block_ = emit_transposer(name + ".transpose");
        function_ =
            begin_function(module_, target_, name, {pointer(), i64(), i64(), i64(), i64(), pointer()}, builder_);
        words_ = words_of(depth());
        if (packing_.layout == MatrixLayout::RowMajor) {
            pack_by_rows();
        } else {
            pack_by_columns();
        }
        builder_.CreateRetVoid();
        return function_;
    }

private:
    llvm::Value* b() const { return function_->getArg(0); }
    llvm::Value* row_stride() const { return function_->getArg(1); }
    llvm::Value* column_stride() const { return function_->getArg(2); }
    llvm::Value* depth() const { return function_->getArg(3); }
    llvm::Value* columns() const { return function_->getArg(4); }
    llvm::Value* packed() const { return function_->getArg(5); }
    std::int64_t width() const { return std::int64_t{packing_.vectors} * packing_.lanes; }

    /// Address of the panel that begins at a column.
    llvm::Value* panel_at(llvm::Value* column) { return word_at(packed(), builder_.CreateMul(column, words_)); }

    void pack_by_rows() {
        emit_loop(builder_, number(0), columns(), width(), [&](llvm::Value* column) {
            llvm::Value* left = builder_.CreateSub(columns(), column);
            emit_branch(
                builder_, builder_.CreateICmpSGE(left, number(width())), [&] { pack_panel(column, nullptr); },
                [&] { pack_panel(column, left); });
        });
    }

    /// `left` columns are there, or all if it is null.
    void pack_panel(llvm::Value* column, llvm::Value* left) {
        llvm::Value* panel = panel_at(column);
        emit_loop(builder_, number(0), words_, 1, [&](llvm::Value* word) {
            llvm::Value* row = word_at(panel, builder_.CreateMul(word, number(width())));
            for (int vector = 0; vector < packing_.vectors; ++vector) {
                llvm::Value* first = number(std::int64_t{vector} * packing_.lanes);
                llvm::Value* mask = left ? ops_.lanes_below(builder_.CreateSub(left, first), packing_.lanes) : nullptr;
                llvm::Value* base = at(b(), builder_.CreateAdd(column, first));
                store_words(load_words(base, row_stride(), word, depth(), mask), word_at(row, first));
            }
        });
    }

    /// One vector's width of columns at a time, in square blocks where both sides are whole and k has unit stride.
    void pack_by_columns() {
        llvm::Value* panels = builder_.CreateSDiv(builder_.CreateAdd(columns(), number(width() - 1)), number(width()));
        llvm::Value* end = builder_.CreateMul(panels, number(width()));
        llvm::Value* whole_words =
            builder_.CreateAnd(builder_.CreateLShr(depth(), pairs() ? 1 : 0), number(-std::int64_t{packing_.lanes}));
        emit_loop(builder_, number(0), end, packing_.lanes, [&](llvm::Value* column) {
            llvm::Value* in_panel = builder_.CreateSRem(column, number(width()));
            llvm::Value* panel = word_at(panel_at(builder_.CreateSub(column, in_panel)), in_panel);
            llvm::Value* source = at(b(), builder_.CreateMul(column, column_stride()));
            llvm::Value* left = builder_.CreateSub(columns(), column);
            llvm::Value* first_word = number(0);
            if (block_) {
                llvm::Value* whole = builder_.CreateICmpSGE(left, number(packing_.lanes));
                first_word = builder_.CreateSelect(whole, whole_words, number(0));
                emit_loop(builder_, number(0), first_word, packing_.lanes, [&](llvm::Value* word) {
                    llvm::Value* target = word_at(panel, builder_.CreateMul(word, number(width())));
                    builder_.CreateCall(block_, {at(source, depth_of(word)), column_stride(), target});
                });
            }
            pack_scalars(source, left, first_word, panel);
        });
    }

    void pack_scalars(llvm::Value* source, llvm::Value* left, llvm::Value* first_word, llvm::Value* panel) {
        emit_loop(builder_, first_word, words_, 1, [&](llvm::Value* word) {
            llvm::Value* row = word_at(panel, builder_.CreateMul(word, number(width())));
            emit_loop(builder_, number(0), number(packing_.lanes), 1, [&](llvm::Value* lane) {
                llvm::Value* element = at(source, builder_.CreateMul(lane, column_stride()));
                const Values value = emit_if(
                    builder_, builder_.CreateICmpSLT(lane, left),
                    [&] { return Values{load_word(element, row_stride(), word, depth())}; },
                    [&] { return Values{llvm::Constant::getNullValue(word_type())}; });
                store_words(value.front(), word_at(row, lane));
            });
        });
    }

    /// void (ptr source, i64 stride, ptr target): lanes x lanes words, read along rows `stride` elements apart and
    /// written as columns of the panel. It stands in a function of its own since its shuffles are slow to compile.
    llvm::Function* emit_transposer(const std::string& name) {
        llvm::Function* function = begin_function(module_, target_, name, {pointer(), i64(), pointer()}, builder_);
        const int lanes = packing_.lanes;
        Values rows;
        for (int row = 0; row < lanes; ++row) {
            llvm::Value* address = at(function->getArg(0), builder_.CreateMul(number(row), function->getArg(1)));
            if (pairs()) {
                auto* type = llvm::FixedVectorType::get(builder_.getInt32Ty(), lanes);
                rows.push_back(builder_.CreateAlignedLoad(type, address, llvm::Align(2)));
            } else {
                rows.push_back(widen(ops_.load(packing_.element, address, lanes)));
            }
        }
        for (int distance = lanes / 2; distance > 0; distance /= 2) exchange(rows, distance);
        for (int row = 0; row < lanes; ++row) {
            store_words(rows[row], word_at(function->getArg(2), number(row * width())));
        }
        builder_.CreateRetVoid();
        return function;
    }

    /// Swaps the off-diagonal quarters of every square of 2 * distance rows and lanes.
    void exchange(Values& rows, int distance) {
        const int lanes = packing_.lanes;
        llvm::SmallVector<int, 16> upper, lower;
        for (int lane = 0; lane < lanes; ++lane) {
            const bool high = (lane & distance) != 0;
            upper.push_back(high ? lanes + lane - distance : lane);
            lower.push_back(high ? lanes + lane : lane + distance);
        }
        for (int row = 0; row < lanes; ++row) {
            if (row & distance) continue;
            llvm::Value* a = rows[row];
            llvm::Value* b = rows[row + distance];
            rows[row] = builder_.CreateShuffleVector(a, b, upper);
            rows[row + distance] = builder_.CreateShuffleVector(a, b, lower);
        }
    }

    llvm::Function* function_ = nullptr;
    llvm::Function* block_ = nullptr;
    llvm::Value* words_ = nullptr;
};

class APacker : Packer {
public:
    APacker(llvm::Module& module, const Target& target, const Packing& packing) : Packer(module, target, packing) {}

    llvm::Function* run(const std::string& name) {
        function_ =
            begin_function(module_, target_, name, {pointer(), i64(), i64(), i64(), i64(), pointer()}, builder_);
        switch (packing_.layout) {
            case MatrixLayout::RowMajor:
                pack_rows();
                break;
            case MatrixLayout::ColumnMajor:
                pack_depths();
                break;
            case MatrixLayout::Any:
                pack_scalars();
                break;
        }
        builder_.CreateRetVoid();
        return function_;
    }

private:
    llvm::Value* a() const { return function_->getArg(0); }
    llvm::Value* row_stride() const { return function_->getArg(1); }
    llvm::Value* column_stride() const { return function_->getArg(2); }
    llvm::Value* rows() const { return function_->getArg(3); }
    llvm::Value* depth() const { return function_->getArg(4); }
    llvm::Value* packed() const { return function_->getArg(5); }

    llvm::Value* packed_line(llvm::Value* line) {
        return word_at(packed(), builder_.CreateMul(line, number(packing_.stride)));
    }

    /// Rows copied along k. bf16 pairs lie in memory as they are packed, so that their elements are copied.
    void pack_rows() {
        const unsigned lanes = packing_.lanes * (pairs() ? 2 : 1);
        emit_loop(builder_, number(0), rows(), 1, [&](llvm::Value* row) {
            llvm::Value* source = at(a(), builder_.CreateMul(row, row_stride()));
            llvm::Value* target = packed_line(row);
            llvm::Value* whole = builder_.CreateAnd(depth(), number(-std::int64_t{lanes}));
            const auto address = [&](llvm::Value* k) {
                return word_at(target, pairs() ? builder_.CreateLShr(k, 1) : k);
            };
            emit_loop(builder_, number(0), whole, lanes, [&](llvm::Value* k) {
                store_words(widen(ops_.load(packing_.element, at(source, k), lanes)), address(k));
            });
            emit_loop(builder_, whole, depth(), lanes, [&](llvm::Value* k) {
                llvm::Value* mask = ops_.lanes_below(builder_.CreateSub(depth(), k), lanes);
                store_words(widen(ops_.load_masked(packing_.element, at(source, k), mask)), address(k));
            });
        });
    }

    /// Runs of rows copied, k by k.
    void pack_depths() {
        const std::int64_t lanes = packing_.lanes;
        emit_loop(builder_, number(0), words_of(depth()), 1, [&](llvm::Value* word) {
            llvm::Value* target = packed_line(word);
            llvm::Value* whole = builder_.CreateAnd(rows(), number(-lanes));
            emit_loop(builder_, number(0), whole, lanes, [&](llvm::Value* row) {
                store_words(load_words(at(a(), row), column_stride(), word, depth(), nullptr), word_at(target, row));
            });
            emit_loop(builder_, whole, rows(), lanes, [&](llvm::Value* row) {
                llvm::Value* mask = ops_.lanes_below(builder_.CreateSub(rows(), row), packing_.lanes);
                store_words(load_words(at(a(), row), column_stride(), word, depth(), mask), word_at(target, row));
            });
        });
    }

    void pack_scalars() {
        emit_loop(builder_, number(0), rows(), 1, [&](llvm::Value* row) {
            llvm::Value* source = at(a(), builder_.CreateMul(row, row_stride()));
            llvm::Value* target = packed_line(row);
            emit_loop(builder_, number(0), words_of(depth()), 1, [&](llvm::Value* word) {
                store_words(load_word(source, column_stride(), word, depth()), word_at(target, word));
            });
        });
    }

    llvm::Function* function_ = nullptr;
};

}  // namespace

llvm::Function* emit_pack_b(llvm::Module& module, const Target& target, const Packing& packing,
                            const std::string& name) {
    return BPacker(module, target, packing).run(name);
}

llvm::Function* emit_pack_a(llvm::Module& module, const Target& target, const Packing& packing,
                            const std::string& name) {
    return APacker(module, target, packing).run(name);
}

}  // namespace kiln::codegen::cpu
