// Which tiles of a phase live where, and what is computed in which loop nest. Knows no LLVM.
//
// A tile value is either *inline* (recomputed, element by element, inside the nest of whoever uses it) or in a *buffer*
// (row-major scratch memory of the thread). Work that touches memory is a *root*: an assignment to a buffer, a
// reduction or a store. Roots over one space that do not wait for each other share a nest. Example: for `e = exp(row -
// m); s = sum(e); y = e / s` the plan is
//
//   nest [N] { assign e; reduce s }     e is used twice and is not cheap, so it gets a buffer
//   nest [N] { store y }                waits for s
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "codegen/cpu/target.h"
#include "ir/kernel.h"

namespace kiln::codegen::cpu {

using BufferId = std::uint32_t;
inline constexpr BufferId kNoBuffer = std::numeric_limits<BufferId>::max();

/// Scratch memory of `shape`, row-major without gaps. Types of four bits take a byte an element.
struct Buffer {
    ir::ScalarType element = ir::ScalarType::F32;
    ir::Shape shape;
    std::uint64_t offset = 0;  ///< bytes from the thread's scratch memory, a multiple of 64
};

enum class Place : std::uint8_t {
    Inline,  ///< tiles that are recomputed where they are used, scalars and tensors
    Buffer,
};

enum class RootKind : std::uint8_t { Assign, Reduce, Store };

/// One result of a nest. `value` is evaluated at every point of the nest's space: what is assigned, reduced or stored.
/// An assignment to a buffer of another element type converts.
struct Root {
    RootKind kind = RootKind::Assign;
    ir::ValueId value;
    ir::OpId op;                  ///< Reduce and Store
    BufferId buffer = kNoBuffer;  ///< Assign; Reduce to a tile
};

/// Loops over `space`. Its lanes run along lane_axis(space).
struct Nest {
    ir::Shape space;
    std::vector<Root> roots;
    int vertical_axis = -1;  ///< the axis that its only root reduces across the lanes, or -1
};

/// The last axis with more than one element; the last if there is none.
std::uint32_t lane_axis(const ir::Shape& space);

enum class StepKind : std::uint8_t {
    Op,       ///< scalars, views, dot, control
    Nest,     ///< `nest` indexes Plan::nests
    SunkDot,  ///< a For that is one dot: `op` is the loop
};
struct Step {
    StepKind kind = StepKind::Op;
    ir::OpId op;
    std::uint32_t nest = 0;
};

/// A tile that a control op hands on: `from` is evaluated into `to`, through `temporary` if `to` is read by another
/// move of the same op.
struct Move {
    BufferId to = kNoBuffer;
    ir::ValueId from;
    BufferId temporary = kNoBuffer;
};

/// How dot reads an operand.
struct DotOperand {
    ir::ValueId base;           ///< the operand below its permutes: in a buffer, or a load
    bool transposed = false;    ///< the operand is base with its two axes exchanged
    bool view = false;          ///< base is a load that is read in place
    BufferId copy = kNoBuffer;  ///< base is copied here: always, or if it is a view that begins before its tensor
};

struct DotPlan {
    ir::OpId op;  ///< the Dot
    DotOperand a, b;
    ir::ValueId accumulator;  ///< what the sum starts from; invalid if that is zero
    BufferId result = kNoBuffer;
};

struct Plan {
    std::vector<Place> places;            ///< by value
    std::vector<BufferId> value_buffers;  ///< by value; of values in buffers
    std::vector<Buffer> buffers;
    std::vector<Nest> nests;
    std::vector<std::vector<Step>> blocks;  ///< by block; of the phase's blocks
    std::vector<std::vector<Move>> moves;   ///< by op: Yield, For and While
    std::vector<std::uint32_t> dot_of_op;   ///< by op: index into dots for Dot and sunk For
    std::vector<DotPlan> dots;
    std::uint64_t scratch_bytes = 0;

    bool in_buffer(ir::ValueId value) const { return places[value.index] == Place::Buffer; }
    const Buffer& buffer(ir::ValueId value) const { return buffers[value_buffers[value.index]]; }
};

/// Whether an op works on whole tiles, one element after another: its tiles all lie in buffers. lower_elements.h.
bool works_on_buffers(ir::OpKind kind);

Plan make_plan(const ir::Kernel& kernel, const ir::Phase& phase);

/// The tensor parameter or scratch tensor below a chain of views.
ir::ValueId root_tensor(const ir::Kernel& kernel, ir::ValueId tensor);
/// The first operand of an access that belongs to `axis`.
std::size_t axis_operand(const ir::AccessAttribute& access, std::size_t axis);
/// The axes of operand and result of a reshape that only adds or drops axes of length 1: for each axis of the operand
/// the axis of the result with the same elements, or -1 for one of length 1. False if it is another reshape.
bool unit_reshape(const ir::Shape& operand, const ir::Shape& result, std::vector<int>& axes);
/// The type in which elements of a type are kept in buffers: bytes for types of four bits.
ir::ScalarType buffer_element(ir::ScalarType element);
/// The type in which dot takes operands of a type that it has no code for, or the type itself.
ir::ScalarType dot_operand_element(ir::ScalarType element);

}  // namespace kiln::codegen::cpu
