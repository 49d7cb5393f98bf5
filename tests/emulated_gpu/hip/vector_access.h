#pragma once

#include "tests/emulated_gpu/hip/decode.h"
#include "tests/emulated_gpu/hip/memory_access.h"

namespace emulated_gpu::hip {

/// How bytes of memory become a register, and back.
enum class Format : uint8_t {
    Words,
    U8,
    I8,
    U16,
    I16,
    U8Low,  // d16: into 16 bits of a register whose other half stays
    I8Low,
    U16Low,
    U8High,
    I8High,
    U16High,
};

/// An instruction's name behind "global_load_", "buffer_store_" and the like.
struct AccessForm {
    const char* name;
    Format format;
    uint32_t bytes;
    const char* rdna_name = nullptr;
};
inline constexpr AccessForm kLoadForms[] = {
    {"ubyte", Format::U8, 1, "u8"},
    {"sbyte", Format::I8, 1, "i8"},
    {"ushort", Format::U16, 2, "u16"},
    {"sshort", Format::I16, 2, "i16"},
    {"dword", Format::Words, 4, "b32"},
    {"dwordx2", Format::Words, 8, "b64"},
    {"dwordx3", Format::Words, 12, "b96"},
    {"dwordx4", Format::Words, 16, "b128"},
    {"ubyte_d16", Format::U8Low, 1, "d16_u8"},
    {"sbyte_d16", Format::I8Low, 1, "d16_i8"},
    {"short_d16", Format::U16Low, 2, "d16_b16"},
    {"ubyte_d16_hi", Format::U8High, 1, "d16_hi_u8"},
    {"sbyte_d16_hi", Format::I8High, 1, "d16_hi_i8"},
    {"short_d16_hi", Format::U16High, 2, "d16_hi_b16"},
};
inline constexpr AccessForm kStoreForms[] = {
    {"byte", Format::U8, 1, "b8"},
    {"short", Format::U16, 2, "b16"},
    {"byte_d16_hi", Format::U8High, 1, "d16_hi_b8"},
    {"short_d16_hi", Format::U16High, 2, "d16_hi_b16"},
    {"dword", Format::Words, 4, "b32"},
    {"dwordx2", Format::Words, 8, "b64"},
    {"dwordx3", Format::Words, 12, "b96"},
    {"dwordx4", Format::Words, 16, "b128"},
};

enum class Space : uint8_t { Global, Flat, Scratch };

/// Where each active lane's access leads.
struct VectorAccess {
    Space space = Space::Global;
    uint64_t mask = 0;   // lanes that access memory
    uint64_t zeros = 0;  // lanes out of a buffer's range: loads give 0, stores do nothing
    std::array<uint64_t, kLanes> address{};
    bool touches_lds = false;  // set by flat accesses
    std::vector<LdsRange> ranges;
};

/// Loads into the op's result, or stores the op's last source; formats and sizes are the op's.
void load_vector(Step& step, VectorAccess& access);
void store_vector(Step& step, VectorAccess& access);
/// Copies each lane's bytes to LDS when a wait covers them: `lds_base` plus 4 bytes (or the access's size) for each
/// lane.
void load_to_lds(Step& step, VectorAccess& access, uint32_t lds_base);
void atomic_vector(Step& step, VectorAccess& access);

enum class AtomicKind : uint8_t {
    Swap,
    CompareSwap,
    CompareSwapF32,
    Add,
    Subtract,
    ReverseSubtract,
    SignedMin,
    UnsignedMin,
    SignedMax,
    UnsignedMax,
    And,
    Or,
    Xor,
    MaskedOr,
    Increment,
    Decrement,
    AddF32,
    MinF32,
    MaxF32,
    AddF64,
    MinF64,
    MaxF64,
    PackedAddF16,
    PackedAddBf16,
    ConditionalSubtract,
    SubtractToZero,
};
/// What memory holds afterwards; `bytes` is 4 or 8, `compare` is only used where two values are given.
uint64_t apply_atomic(AtomicKind kind, uint32_t bytes, uint64_t old, uint64_t data, uint64_t compare);

struct AtomicForm {
    const char* name;
    AtomicKind kind;
    uint32_t bytes;
    const char* rdna_name = nullptr;
};
/// Names behind "global_atomic_"; with "_x2" for 64 bits.
inline constexpr AtomicForm kAtomicForms[] = {
    {"swap", AtomicKind::Swap, 4, "swap_b32"},
    {"cmpswap", AtomicKind::CompareSwap, 4, "cmpswap_b32"},
    {"add", AtomicKind::Add, 4, "add_u32"},
    {"sub", AtomicKind::Subtract, 4, "sub_u32"},
    {"smin", AtomicKind::SignedMin, 4, "min_i32"},
    {"umin", AtomicKind::UnsignedMin, 4, "min_u32"},
    {"smax", AtomicKind::SignedMax, 4, "max_i32"},
    {"umax", AtomicKind::UnsignedMax, 4, "max_u32"},
    {"and", AtomicKind::And, 4, "and_b32"},
    {"or", AtomicKind::Or, 4, "or_b32"},
    {"xor", AtomicKind::Xor, 4, "xor_b32"},
    {"inc", AtomicKind::Increment, 4, "inc_u32"},
    {"dec", AtomicKind::Decrement, 4, "dec_u32"},
    {"swap_x2", AtomicKind::Swap, 8, "swap_b64"},
    {"cmpswap_x2", AtomicKind::CompareSwap, 8, "cmpswap_b64"},
    {"add_x2", AtomicKind::Add, 8, "add_u64"},
    {"sub_x2", AtomicKind::Subtract, 8, "sub_u64"},
    {"smin_x2", AtomicKind::SignedMin, 8, "min_i64"},
    {"umin_x2", AtomicKind::UnsignedMin, 8, "min_u64"},
    {"smax_x2", AtomicKind::SignedMax, 8, "max_i64"},
    {"umax_x2", AtomicKind::UnsignedMax, 8, "max_u64"},
    {"and_x2", AtomicKind::And, 8, "and_b64"},
    {"or_x2", AtomicKind::Or, 8, "or_b64"},
    {"xor_x2", AtomicKind::Xor, 8, "xor_b64"},
    {"inc_x2", AtomicKind::Increment, 8, "inc_u64"},
    {"dec_x2", AtomicKind::Decrement, 8, "dec_u64"},
    {"add_f32", AtomicKind::AddF32, 4},
    {"add_f64", AtomicKind::AddF64, 8},
    {"min_f64", AtomicKind::MinF64, 8},
    {"max_f64", AtomicKind::MaxF64, 8},
    {"pk_add_f16", AtomicKind::PackedAddF16, 4},
    {"pk_add_bf16", AtomicKind::PackedAddBf16, 4},
    {"min_f32", AtomicKind::MinF32, 4, "min_num_f32"},
    {"max_f32", AtomicKind::MaxF32, 4, "max_num_f32"},
    {"cond_sub_u32", AtomicKind::ConditionalSubtract, 4},
    {"csub_u32", AtomicKind::SubtractToZero, 4, "sub_clamp_u32"},
};

/// Fields of Op::detail for memory instructions: the format or kind of atomic in the low byte, then flags.
inline constexpr uint64_t kReturnsOld = uint64_t{1} << 8;
inline Format format_of(const Op& op) {
    return static_cast<Format>(op.detail & 0xff);
}
inline AtomicKind atomic_of(const Op& op) {
    return static_cast<AtomicKind>(op.detail & 0xff);
}

/// Adds a decoder for each form under its names behind `prefix`.
template <class Form, size_t kCount, class F>
void add_forms(DecoderTable& table, const std::string& prefix, const Form (&forms)[kCount], F decode_form) {
    for (const Form& form : forms) {
        table[prefix + form.name] = [&form, decode_form](Decode& decode) { decode_form(decode, form); };
        if (form.rdna_name != nullptr) table[prefix + form.rdna_name] = table[prefix + form.name];
    }
}

/// Takes the modifiers that steer caches, which are not modelled, and tells whether an atomic returns the old value.
bool take_cache_modifiers(Decode& decode);

/// The 64 words of register `part` of a source that is a vector register.
inline const uint32_t* vector_words(const Step& step, size_t source, uint32_t part = 0) {
    return step.wave.vector[step.op.sources[source].index + part].at;
}
/// The value a lane stores, assembled from registers of the source.
void gather_bytes(const Step& step, size_t source, Format format, uint32_t bytes, uint32_t lane, uint8_t* data);
/// Puts loaded bytes into 32-bit words as the format wants; `old` is what the register holds.
uint32_t extend(Format format, const uint8_t* data, uint32_t old);
/// Writes loaded data of all lanes to the result: `bytes` a lane, 16 bytes apart.
void put_loaded(const Step& step, Format format, uint32_t bytes, const uint8_t (*data)[16]);
uint32_t registers_for(uint32_t bytes);

}  // namespace emulated_gpu::hip
