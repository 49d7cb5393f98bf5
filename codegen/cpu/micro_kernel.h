// The innermost part of block_dot: a rows x vectors tile of c in registers, over a run of k.
//
// Operands come as *words*, what one lane of a multiplication takes: an f32, an f64, an i32, or two bf16 of consecutive
// k. Narrower elements are widened to words when they are packed.
#pragma once

#include <cstdint>
#include <string>

#include "codegen/cpu/target.h"
#include "ir/type.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace kiln::codegen::cpu {

enum class WordKind : std::uint8_t { F32, F64, I32, Bf16Pair };

constexpr int word_bytes(WordKind kind) {
    return kind == WordKind::F64 ? 8 : 4;
}
/// Elements of k in a word.
constexpr int word_depth(WordKind kind) {
    return kind == WordKind::Bf16Pair ? 2 : 1;
}

enum class AForm : std::uint8_t {
    InPlace,      ///< unit stride along k, any stride along rows
    PackedRows,   ///< unit stride along k, constant stride along rows
    PackedDepth,  ///< unit stride along rows, constant stride along k
};

struct MicroKernel {
    WordKind word = WordKind::F32;
    int rows = 1;     ///< of the register tile
    int vectors = 1;  ///< of the register tile's width
    int lanes = 1;    ///< words in a vector
    AForm a_form = AForm::InPlace;
    std::int64_t a_stride = 0;  ///< in words, of the packed forms
    bool b_in_place = false;    ///< b has a run-time stride along k; otherwise it is a packed panel
    bool exact = false;         ///< products must not be rounded before they are added

    int width() const { return vectors * lanes; }
};

/// Emits
///   void (ptr a, i64 a_row_bytes, i64 rows, ptr b, i64 b_row_bytes, ptr c, i64 c_row_bytes, i64 depth, i1 load_c)
/// c = (load_c ? c : 0) + a @ b over the whole register tile. `rows` is the number of rows of a that may be read (in
/// place only: others repeat row 0, and what they give in c means nothing). `depth` counts elements.
llvm::Function* emit_micro_kernel(llvm::Module& module, const Target& target, const MicroKernel& kernel,
                                  const std::string& name);

}  // namespace kiln::codegen::cpu
