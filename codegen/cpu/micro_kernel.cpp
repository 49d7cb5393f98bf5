#include "codegen/cpu/micro_kernel.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/cpu/emit_support.h"
#include "codegen/cpu/vector_ops.h"

namespace kiln::codegen::cpu {
namespace {

/// Rounds of the k loop in one iteration; more gains nothing.
constexpr int kUnroll = 2;

class Emitter {
public:
    Emitter(llvm::Module& module, const Target& target, const MicroKernel& kernel, const std::string& name)
        : builder_(module.getContext()), target_(target), kernel_(kernel), ops_(builder_, target) {
        auto* pointer = builder_.getPtrTy();
        auto* i64 = builder_.getInt64Ty();
        function_ = begin_function(
            module, target, name, {pointer, i64, i64, pointer, i64, pointer, i64, i64, builder_.getInt1Ty()}, builder_);
        for (const unsigned argument : {0, 3, 5}) function_->addParamAttr(argument, llvm::Attribute::NoAlias);
    }

    llvm::Function* run() {
        set_addresses();
        Values tile = first_tile();
        llvm::Value* words = builder_.CreateLShr(depth(), word_depth(kernel_.word) - 1);
        const bool pads_itself = kernel_.word == WordKind::Bf16Pair && kernel_.a_form == AForm::InPlace;
        if (kernel_.word == WordKind::Bf16Pair && !pads_itself) {
            words = builder_.CreateLShr(builder_.CreateAdd(depth(), ops_.i64(1)), 1);
        }
        tile = run_words(words, tile);
        if (pads_itself) tile = run_last_element(words, tile);
        store_tile(tile);
        builder_.CreateRetVoid();
        return function_;
    }

private:
    llvm::Value* argument(unsigned index) const { return function_->getArg(index); }
    llvm::Value* depth() const { return argument(7); }

    llvm::Type* accumulator_scalar() {
        switch (kernel_.word) {
            case WordKind::F32:
            case WordKind::Bf16Pair:
                return builder_.getFloatTy();
            case WordKind::F64:
                return builder_.getDoubleTy();
            case WordKind::I32:
                return builder_.getInt32Ty();
        }
        return nullptr;
    }
    llvm::Type* word_scalar() {
        return kernel_.word == WordKind::Bf16Pair ? builder_.getInt32Ty() : accumulator_scalar();
    }
    llvm::Type* vector_of(llvm::Type* scalar) {
        return kernel_.lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, kernel_.lanes);
    }

    void set_addresses() {
        for (int row = 0; row < kernel_.rows; ++row) {
            llvm::Value* number = builder_.getInt64(row);
            c_rows_.push_back(offset_bytes(builder_, argument(5), builder_.CreateMul(number, argument(6))));
            if (kernel_.a_form != AForm::InPlace) continue;
            llvm::Value* readable = builder_.CreateICmpSLT(number, argument(2));
            llvm::Value* bytes = builder_.CreateMul(number, argument(1));
            bytes = row == 0 ? bytes : builder_.CreateSelect(readable, bytes, builder_.getInt64(0));
            a_rows_.push_back(offset_bytes(builder_, argument(0), bytes));
        }
        b_step_ = kernel_.b_in_place ? argument(4)
                                     : builder_.getInt64(std::int64_t{kernel_.width()} * word_bytes(kernel_.word));
    }

    llvm::Value* c_address(int row, int vector) {
        return offset_bytes(builder_, c_rows_[row], std::int64_t{vector} * kernel_.lanes * word_bytes(kernel_.word));
    }

    Values first_tile() {
        llvm::Type* type = vector_of(accumulator_scalar());
        const llvm::Align alignment(word_bytes(kernel_.word));
        return emit_if(
            builder_, argument(8),
            [&] {
                Values tile;
                for (int row = 0; row < kernel_.rows; ++row) {
                    for (int vector = 0; vector < kernel_.vectors; ++vector) {
                        tile.push_back(builder_.CreateAlignedLoad(type, c_address(row, vector), alignment));
                    }
                }
                return tile;
            },
            [&] { return Values(kernel_.rows * kernel_.vectors, llvm::Constant::getNullValue(type)); });
    }

    void store_tile(const Values& tile) {
        for (int row = 0; row < kernel_.rows; ++row) {
            for (int vector = 0; vector < kernel_.vectors; ++vector) {
                builder_.CreateAlignedStore(tile[row * kernel_.vectors + vector], c_address(row, vector),
                                            llvm::Align(word_bytes(kernel_.word)));
            }
        }
    }

    /// Address of the word of a at `row`, `ahead` words after the word at `index`.
    llvm::Value* a_address(int row, llvm::Value* index, int ahead) {
        const std::int64_t bytes = word_bytes(kernel_.word);
        switch (kernel_.a_form) {
            case AForm::InPlace: {
                llvm::Value* base = offset_bytes(builder_, a_rows_[row], builder_.CreateMul(index, ops_.i64(bytes)));
                return offset_bytes(builder_, base, ahead * bytes);
            }
            case AForm::PackedRows: {
                llvm::Value* base = offset_bytes(builder_, argument(0), builder_.CreateMul(index, ops_.i64(bytes)));
                return offset_bytes(builder_, base, (row * kernel_.a_stride + ahead) * bytes);
            }
            case AForm::PackedDepth: {
                llvm::Value* offset = builder_.CreateMul(index, ops_.i64(kernel_.a_stride * bytes));
                llvm::Value* base = offset_bytes(builder_, argument(0), offset);
                return offset_bytes(builder_, base, (row + ahead * kernel_.a_stride) * bytes);
            }
        }
        return nullptr;
    }

    llvm::Value* load_a(int row, llvm::Value* index, int ahead) {
        const llvm::Align alignment(kernel_.word == WordKind::Bf16Pair ? 2 : word_bytes(kernel_.word));
        return builder_.CreateAlignedLoad(word_scalar(), a_address(row, index, ahead), alignment);
    }

    Values load_b(llvm::Value* b_row) {
        Values vectors;
        for (int vector = 0; vector < kernel_.vectors; ++vector) {
            const std::int64_t bytes = std::int64_t{vector} * kernel_.lanes * word_bytes(kernel_.word);
            vectors.push_back(builder_.CreateAlignedLoad(vector_of(word_scalar()), offset_bytes(builder_, b_row, bytes),
                                                         llvm::Align(word_bytes(kernel_.word))));
        }
        return vectors;
    }

    llvm::Value* multiply_into(llvm::Value* sum, llvm::Value* a, llvm::Value* b) {
        switch (kernel_.word) {
            case WordKind::F32:
            case WordKind::F64:
                return kernel_.exact ? ops_.fma(a, b, sum) : ops_.multiply_add(a, b, sum);
            case WordKind::I32:
                return builder_.CreateAdd(sum, builder_.CreateMul(a, b));
            case WordKind::Bf16Pair: {
                auto* pairs = llvm::FixedVectorType::get(builder_.getBFloatTy(), 2 * kernel_.lanes);
                return builder_.CreateIntrinsic(
                    sum->getType(), llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512,
                    {sum, builder_.CreateBitCast(a, pairs), builder_.CreateBitCast(b, pairs)});
            }
        }
        return nullptr;
    }

    /// tile += a's words, one a row, times a row of b.
    Values multiply_row(Values tile, llvm::Value* b_row, llvm::function_ref<llvm::Value*(int)> a_word) {
        const Values b = load_b(b_row);
        for (int row = 0; row < kernel_.rows; ++row) {
            llvm::Value* a = ops_.splat(a_word(row), kernel_.lanes);
            for (int vector = 0; vector < kernel_.vectors; ++vector) {
                llvm::Value*& sum = tile[row * kernel_.vectors + vector];
                sum = multiply_into(sum, a, b[vector]);
            }
        }
        return tile;
    }

    /// Words `first` up to `end`, `rounds` an iteration; the last carried value is the row of b.
    Values loop_words(llvm::Value* first, llvm::Value* end, int rounds, const Values& carried) {
        return emit_loop(
            builder_, first, end, rounds, carried, [&](llvm::Value* index, llvm::ArrayRef<llvm::Value*> now) {
                Values tile(now.begin(), now.end() - 1);
                llvm::Value* b_row = now.back();
                for (int ahead = 0; ahead < rounds; ++ahead) {
                    tile = multiply_row(std::move(tile), b_row, [&](int row) { return load_a(row, index, ahead); });
                    b_row = offset_bytes(builder_, b_row, b_step_);
                }
                tile.push_back(b_row);
                return tile;
            });
    }

    Values run_words(llvm::Value* words, Values tile) {
        llvm::Value* main = builder_.CreateAnd(words, ops_.i64(-kUnroll));
        tile.push_back(argument(3));
        tile = loop_words(ops_.i64(0), main, kUnroll, tile);
        tile = loop_words(main, words, 1, tile);
        b_after_ = tile.pop_back_val();
        return tile;
    }

    /// The last element of an odd depth stands alone: reading a pair would read past the row of a.
    Values run_last_element(llvm::Value* words, const Values& tile) {
        llvm::Value* odd = builder_.CreateTrunc(depth(), builder_.getInt1Ty());
        return emit_if(
            builder_, odd,
            [&] {
                return multiply_row(tile, b_after_, [&](int row) {
                    llvm::Value* half =
                        builder_.CreateAlignedLoad(builder_.getInt16Ty(), a_address(row, words, 0), llvm::Align(2));
                    return builder_.CreateZExt(half, builder_.getInt32Ty());
                });
            },
            [&] { return tile; });
    }

    llvm::IRBuilder<> builder_;
    const Target& target_;
    const MicroKernel& kernel_;
    VectorOps ops_;
    llvm::Function* function_ = nullptr;
    Values c_rows_, a_rows_;
    llvm::Value* b_step_ = nullptr;
    llvm::Value* b_after_ = nullptr;
};

}  // namespace

llvm::Function* emit_micro_kernel(llvm::Module& module, const Target& target, const MicroKernel& kernel,
                                  const std::string& name) {
    return Emitter(module, target, kernel, name).run();
}

}  // namespace kiln::codegen::cpu
