#include "codegen/cpu/block_dot.h"

#include <algorithm>

#include "codegen/cpu/emit_support.h"
#include "codegen/cpu/micro_kernel.h"
#include "codegen/cpu/pack.h"
#include "codegen/cpu/register_tile.h"
#include "codegen/cpu/vector_ops.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::cpu {
namespace {

using ir::ScalarType;

std::int64_t round_up(std::int64_t value, std::int64_t step) {
    return (value + step - 1) / step * step;
}

WordKind choose_word(const Target& target, const BlockDotSpecification& specification) {
    const auto eight_bits = [](ScalarType type) { return type == ScalarType::I8 || type == ScalarType::U8; };
    if (eight_bits(specification.a) && eight_bits(specification.b)) return WordKind::I32;
    if (specification.a != specification.b) {
        throw support::InternalError("block_dot", "operands of different types");
    }
    const ScalarType type = specification.a;
    if (type == ScalarType::F64) return WordKind::F64;
    if (type == ScalarType::F32 || type == ScalarType::F16) return WordKind::F32;
    if (type != ScalarType::BF16) throw support::InternalError("block_dot", "no dot of " + std::string(ir::name(type)));
    // The unit flushes denormals, which `exact` excludes.
    const bool by_pairs =
        target.has_bf16_dot && target.vector_bytes == 64 && specification.precision != ir::DotPrecision::Exact;
    return by_pairs ? WordKind::Bf16Pair : WordKind::F32;
}

/// All sizes that are fixed when the code is made.
struct BlockPlan {
    WordKind word;
    MicroKernel kernel;
    std::int64_t chunk = 0;  ///< elements of k that are packed and multiplied at a time
    std::int64_t a_bytes = 0, tile_bytes = 0, b_bytes = 0;
    bool b_in_place = false;

    std::int64_t words(std::int64_t depth) const { return round_up(depth, word_depth(word)) / word_depth(word); }
    std::int64_t width() const { return kernel.width(); }
};

/// Words between the packed rows of a beyond their length, so that rows do not fall on the same cache sets.
constexpr std::int64_t kRowGap = 16;

BlockPlan plan_block(const Target& target, const BlockDotSpecification& specification) {
    BlockPlan plan;
    plan.word = choose_word(target, specification);
    const int bytes = word_bytes(plan.word);
    const bool pairs = plan.word == WordKind::Bf16Pair;
    const bool needs_widening = !pairs && byte_width(specification.a) != bytes;
    plan.chunk = kDotChunk * word_depth(plan.word);
    if (specification.depth > 0) {
        plan.chunk = std::min(plan.chunk, round_up(specification.depth, word_depth(plan.word)));
    }

    MicroKernel& kernel = plan.kernel;
    kernel.word = plan.word;
    kernel.lanes = target.vector_bytes / bytes;
    const RegisterTile tile =
        register_tile(target, specification.rows, round_up(specification.columns, kernel.lanes) / kernel.lanes);
    kernel.rows = tile.rows;
    kernel.vectors = tile.vectors;
    kernel.exact = specification.precision == ir::DotPrecision::Exact;

    const std::int64_t rows = round_up(specification.rows, kernel.rows);
    if (specification.a_layout == MatrixLayout::ColumnMajor) {
        kernel.a_form = AForm::PackedDepth;
        kernel.a_stride = round_up(rows, kernel.lanes) + kRowGap;
        plan.a_bytes = kernel.a_stride * plan.words(plan.chunk) * bytes;
    } else if (reads_a_in_place(tile, specification.a_layout == MatrixLayout::RowMajor, needs_widening)) {
        kernel.a_form = AForm::InPlace;
    } else {
        kernel.a_form = AForm::PackedRows;
        kernel.a_stride = round_up(plan.words(plan.chunk), kernel.lanes) + kRowGap;
        plan.a_bytes = kernel.a_stride * rows * bytes;
    }
    // The two rows of a pair lie apart in b, so that pairs are packed in any case.
    plan.b_in_place = reads_b_in_place(tile, specification.rows, specification.b_layout == MatrixLayout::RowMajor,
                                       needs_widening || pairs);
    plan.b_bytes = round_up(specification.columns, plan.width()) * plan.words(plan.chunk) * bytes;
    plan.tile_bytes = std::int64_t{kernel.rows} * plan.width() * bytes;
    return plan;
}

class DotEmitter {
public:
    DotEmitter(llvm::Module& module, const Target& target, const BlockDotSpecification& specification, std::string name)
        : module_(module),
          target_(target),
          specification_(specification),
          name_(std::move(name)),
          plan_(plan_block(target, specification)),
          builder_(module.getContext()),
          ops_(builder_, target) {}

    BlockDot run() {
        emit_parts();
        BlockDot result;
        result.pack_b = pack_b_;
        result.scratch_bytes = static_cast<std::uint64_t>(round_up(plan_.b_bytes, 64) + block_scratch());
        result.dot = emit_dot();
        if (specification_.depth > 0) {
            result.dot_packed = emit_dot_packed();
            result.packed_bytes =
                static_cast<std::uint64_t>(round_up(specification_.columns, plan_.width()) *
                                           plan_.words(specification_.depth) * word_bytes(plan_.word));
        } else {
            result.pack_b = nullptr;
        }
        return result;
    }

private:
    llvm::Type* pointer() { return builder_.getPtrTy(); }
    llvm::Type* i64() { return builder_.getInt64Ty(); }
    llvm::Type* flag() { return builder_.getInt1Ty(); }
    llvm::Value* number(std::int64_t value) { return builder_.getInt64(value); }
    std::int64_t bytes_of_word() const { return word_bytes(plan_.word); }
    std::int64_t block_scratch() const { return round_up(plan_.a_bytes, 64) + round_up(plan_.tile_bytes, 64); }
    llvm::Value* argument(unsigned index) { return builder_.GetInsertBlock()->getParent()->getArg(index); }

    ScalarType accumulator() const { return accumulator_type(specification_.a); }

    /// A micro-kernel, and the same for register tiles of which c lacks a part.
    struct Kernels {
        llvm::Function* whole = nullptr;
        llvm::Function* edge = nullptr;
    };

    void emit_parts() {
        Packing b{specification_.b, plan_.word, specification_.b_layout, plan_.kernel.lanes, plan_.kernel.vectors, 0};
        pack_b_ = emit_pack_b(module_, target_, b, name_ + ".pack_b");
        if (plan_.kernel.a_form != AForm::InPlace) {
            Packing a{specification_.a,   plan_.word, specification_.a_layout,
                      plan_.kernel.lanes, 1,          plan_.kernel.a_stride};
            pack_a_ = emit_pack_a(module_, target_, a, name_ + ".pack_a");
        }
        packed_ = emit_kernels(plan_.kernel, name_ + ".kernel");
        packed_block_ = emit_block(false, name_ + ".block");
        if (!plan_.b_in_place) return;
        MicroKernel in_place = plan_.kernel;
        in_place.b_in_place = true;
        in_place_ = emit_kernels(in_place, name_ + ".kernel_in_place");
        in_place_block_ = emit_block(true, name_ + ".block_in_place");
    }

    Kernels emit_kernels(const MicroKernel& kernel, const std::string& name) {
        llvm::Function* whole = emit_micro_kernel(module_, target_, kernel, name);
        return {whole, emit_edge(whole, name + "_edge")};
    }

    /// The part of a register tile that c has: computed aside, then added or copied under masks.
    ///   void (ptr a, i64 a_row_bytes, i64 rows, ptr b, i64 b_row_bytes, ptr c, i64 c_row_bytes, i64 depth,
    ///         i64 columns, i1 accumulate, ptr tile)
    llvm::Function* emit_edge(llvm::Function* kernel, const std::string& name) {
        llvm::Function* function = begin_function(
            module_, target_, name,
            {pointer(), i64(), i64(), pointer(), i64(), pointer(), i64(), i64(), i64(), flag(), pointer()}, builder_);
        llvm::Value* tile = argument(10);
        llvm::Value* row_bytes = number(plan_.width() * bytes_of_word());
        builder_.CreateCall(kernel, {argument(0), argument(1), argument(2), argument(3), argument(4), tile, row_bytes,
                                     argument(7), builder_.getFalse()});
        emit_loop(builder_, number(0), argument(2), 1, [&](llvm::Value* row) {
            llvm::Value* from = offset_bytes(builder_, tile, builder_.CreateMul(row, row_bytes));
            llvm::Value* to = offset_bytes(builder_, argument(5), builder_.CreateMul(row, argument(6)));
            for (int vector = 0; vector < plan_.kernel.vectors; ++vector) copy_out(from, to, vector);
        });
        builder_.CreateRetVoid();
        return function;
    }

    void copy_out(llvm::Value* from, llvm::Value* to, int vector) {
        const unsigned lanes = plan_.kernel.lanes;
        const std::int64_t first = std::int64_t{vector} * lanes;
        llvm::Value* mask = ops_.lanes_below(builder_.CreateSub(argument(8), number(first)), lanes);
        llvm::Value* sum = ops_.load(accumulator(), offset_bytes(builder_, from, first * bytes_of_word()), lanes);
        to = offset_bytes(builder_, to, first * bytes_of_word());
        llvm::Value* has_old = builder_.CreateAnd(mask, ops_.splat(argument(9), lanes));
        llvm::Value* old = ops_.load_masked(accumulator(), to, has_old);
        ops_.store_masked(accumulator(), ops_.combine(ir::ReduceKind::Sum, accumulator(), old, sum), to, mask);
    }

    /// One chunk of k over all of c.
    ///   void (ptr a, i64 a_row_stride, i64 a_column_stride, ptr b, i64 b_step, ptr c, i64 c_row_bytes, i64 rows,
    ///         i64 depth, i64 columns, i1 accumulate, ptr scratch)
    /// b_step is the bytes from panel to panel, or from row to row if b is read in place.
    llvm::Function* emit_block(bool in_place, const std::string& name) {
        llvm::Function* function = begin_function(
            module_, target_, name,
            {pointer(), i64(), i64(), pointer(), i64(), pointer(), i64(), i64(), i64(), i64(), flag(), pointer()},
            builder_);
        const Values a = prepare_a();
        emit_loop(builder_, number(0), argument(9), plan_.width(), [&](llvm::Value* column) {
            llvm::Value* columns = minimum_of(builder_, builder_.CreateSub(argument(9), column), number(plan_.width()));
            llvm::Value* c = offset_bytes(builder_, argument(5), builder_.CreateMul(column, number(bytes_of_word())));
            if (in_place) {
                llvm::Value* b =
                    offset_bytes(builder_, argument(3), builder_.CreateMul(column, number(bytes_of_word())));
                sweep_panel_in_place(a, b, c, columns);
            } else {
                llvm::Value* panel = builder_.CreateUDiv(column, number(plan_.width()));
                llvm::Value* b = offset_bytes(builder_, argument(3), builder_.CreateMul(panel, argument(4)));
                sweep_rows(a, packed_, b, number(0), c, columns);
            }
        });
        builder_.CreateRetVoid();
        return function;
    }

    /// A panel that lacks columns is packed behind the block's scratch, so that nothing beyond them is read.
    void sweep_panel_in_place(const Values& a, llvm::Value* b, llvm::Value* c, llvm::Value* columns) {
        emit_branch(
            builder_, builder_.CreateICmpEQ(columns, number(plan_.width())),
            [&] { sweep_rows(a, in_place_, b, argument(4), c, columns); },
            [&] {
                llvm::Value* packed = offset_bytes(builder_, argument(11), block_scratch());
                llvm::Value* stride = builder_.CreateSDiv(argument(4), number(bytes_of_word()));
                builder_.CreateCall(pack_b_, {b, stride, number(1), argument(8), columns, packed});
                sweep_rows(a, packed_, packed, number(0), c, columns);
            });
    }

    /// Address and bytes from row to row of the a that the kernel reads.
    Values prepare_a() {
        const std::int64_t element = ir::byte_width(specification_.a);
        switch (plan_.kernel.a_form) {
            case AForm::InPlace:
                return {argument(0), builder_.CreateMul(argument(1), number(element))};
            case AForm::PackedRows:
            case AForm::PackedDepth:
                break;
        }
        builder_.CreateCall(pack_a_, {argument(0), argument(1), argument(2), argument(7), argument(8), argument(11)});
        const bool by_rows = plan_.kernel.a_form == AForm::PackedRows;
        return {argument(11), number((by_rows ? plan_.kernel.a_stride : 1) * bytes_of_word())};
    }

    /// One panel, of which `columns` are present, against all rows.
    void sweep_rows(const Values& a, const Kernels& kernels, llvm::Value* b, llvm::Value* b_row_bytes, llvm::Value* c,
                    llvm::Value* columns) {
        llvm::Value* tile = offset_bytes(builder_, argument(11), round_up(plan_.a_bytes, 64));
        llvm::Value* all_columns = builder_.CreateICmpEQ(columns, number(plan_.width()));
        emit_loop(builder_, number(0), argument(7), plan_.kernel.rows, [&](llvm::Value* row) {
            llvm::Value* a_row = offset_bytes(builder_, a[0], builder_.CreateMul(row, a[1]));
            llvm::Value* c_row = offset_bytes(builder_, c, builder_.CreateMul(row, argument(6)));
            llvm::Value* rows = minimum_of(builder_, builder_.CreateSub(argument(7), row), number(plan_.kernel.rows));
            llvm::Value* all_rows = builder_.CreateICmpEQ(rows, number(plan_.kernel.rows));
            emit_branch(
                builder_, builder_.CreateAnd(all_rows, all_columns),
                [&] {
                    builder_.CreateCall(kernels.whole, {a_row, a[1], rows, b, b_row_bytes, c_row, argument(6),
                                                        argument(8), argument(10)});
                },
                [&] {
                    builder_.CreateCall(kernels.edge, {a_row, a[1], rows, b, b_row_bytes, c_row, argument(6),
                                                       argument(8), columns, argument(10), tile});
                });
        });
    }

    /// Runs `chunk(first k, number of k, whether to accumulate)` over the depth; without any, clears c if need be.
    void for_chunks(llvm::Value* c, llvm::Value* c_row_bytes, llvm::Value* rows, llvm::Value* depth,
                    llvm::Value* columns, llvm::Value* accumulate,
                    llvm::function_ref<void(llvm::Value*, llvm::Value*, llvm::Value*)> chunk) {
        llvm::Value* clear =
            builder_.CreateAnd(builder_.CreateICmpSLE(depth, number(0)), builder_.CreateNot(accumulate));
        emit_branch(
            builder_, clear, [&] { clear_c(c, c_row_bytes, rows, columns); }, [] {});
        emit_loop(builder_, number(0), depth, plan_.chunk, [&](llvm::Value* first) {
            llvm::Value* count = minimum_of(builder_, builder_.CreateSub(depth, first), number(plan_.chunk));
            llvm::Value* later = builder_.CreateICmpSGT(first, number(0));
            chunk(first, count, builder_.CreateOr(accumulate, later));
        });
    }

    void clear_c(llvm::Value* c, llvm::Value* c_row_bytes, llvm::Value* rows, llvm::Value* columns) {
        llvm::Value* bytes = builder_.CreateMul(columns, number(bytes_of_word()));
        emit_loop(builder_, number(0), rows, 1, [&](llvm::Value* row) {
            llvm::Value* address = offset_bytes(builder_, c, builder_.CreateMul(row, c_row_bytes));
            builder_.CreateMemSet(address, builder_.getInt8(0), bytes, llvm::MaybeAlign(1));
        });
    }

    llvm::Value* scaled(llvm::Value* count, llvm::Value* stride, ScalarType element) {
        return builder_.CreateMul(builder_.CreateMul(count, stride), number(ir::byte_width(element)));
    }

    llvm::Function* emit_dot() {
        llvm::Function* function = begin_function(module_, target_, name_,
                                                  {pointer(), i64(), i64(), pointer(), i64(), i64(), pointer(), i64(),
                                                   i64(), i64(), i64(), flag(), pointer()},
                                                  builder_);
        llvm::Value* c_row_bytes = builder_.CreateMul(argument(7), number(bytes_of_word()));
        llvm::Value* scratch = argument(12);
        llvm::Value* block_scratch = offset_bytes(builder_, scratch, round_up(plan_.b_bytes, 64));
        for_chunks(
            argument(6), c_row_bytes, argument(8), argument(9), argument(10), argument(11),
            [&](llvm::Value* first, llvm::Value* count, llvm::Value* accumulate) {
                llvm::Value* a = offset_bytes(builder_, argument(0), scaled(first, argument(2), specification_.a));
                llvm::Value* b = offset_bytes(builder_, argument(3), scaled(first, argument(4), specification_.b));
                llvm::Value* b_step = nullptr;
                if (plan_.b_in_place) {
                    b_step = builder_.CreateMul(argument(4), number(bytes_of_word()));
                } else {
                    builder_.CreateCall(pack_b_, {b, argument(4), argument(5), count, argument(10), scratch});
                    b = scratch;
                    b_step = bytes_of_panel(count);
                }
                builder_.CreateCall(plan_.b_in_place ? in_place_block_ : packed_block_,
                                    {a, argument(1), argument(2), b, b_step, argument(6), c_row_bytes, argument(8),
                                     count, argument(10), accumulate, plan_.b_in_place ? scratch : block_scratch});
            });
        builder_.CreateRetVoid();
        return function;
    }

    llvm::Value* bytes_of_panel(llvm::Value* depth) {
        llvm::Value* words = depth;
        if (word_depth(plan_.word) == 2) words = builder_.CreateLShr(builder_.CreateAdd(depth, number(1)), 1);
        return builder_.CreateMul(words, number(plan_.width() * bytes_of_word()));
    }

    llvm::Function* emit_dot_packed() {
        llvm::Function* function = begin_function(
            module_, target_, name_ + ".packed",
            {pointer(), i64(), i64(), pointer(), pointer(), i64(), i64(), i64(), i64(), flag(), pointer()}, builder_);
        llvm::Value* c_row_bytes = builder_.CreateMul(argument(5), number(bytes_of_word()));
        llvm::Value* panel_bytes = bytes_of_panel(argument(7));
        for_chunks(argument(4), c_row_bytes, argument(6), argument(7), argument(8), argument(9),
                   [&](llvm::Value* first, llvm::Value* count, llvm::Value* accumulate) {
                       llvm::Value* a =
                           offset_bytes(builder_, argument(0), scaled(first, argument(2), specification_.a));
                       llvm::Value* b = offset_bytes(builder_, argument(3), bytes_of_panel(first));
                       builder_.CreateCall(packed_block_,
                                           {a, argument(1), argument(2), b, panel_bytes, argument(4), c_row_bytes,
                                            argument(6), count, argument(8), accumulate, argument(10)});
                   });
        builder_.CreateRetVoid();
        return function;
    }

    llvm::Module& module_;
    const Target& target_;
    const BlockDotSpecification& specification_;
    std::string name_;
    BlockPlan plan_;
    llvm::IRBuilder<> builder_;
    VectorOps ops_;
    llvm::Function* pack_b_ = nullptr;
    llvm::Function* pack_a_ = nullptr;
    Kernels packed_, in_place_;
    llvm::Function* packed_block_ = nullptr;
    llvm::Function* in_place_block_ = nullptr;
};

}  // namespace

ir::ScalarType accumulator_type(ir::ScalarType a) {
    if (a == ScalarType::F64) return ScalarType::F64;
    return ir::is_float(a) ? ScalarType::F32 : ScalarType::I32;
}

BlockDot emit_block_dot(llvm::Module& module, const Target& target, const BlockDotSpecification& specification,
                        const char* name) {
    return DotEmitter(module, target, specification, name).run();
}

}  // namespace kiln::codegen::cpu
