// Elements of tiles as LLVM values, inside a nest of counted loops.
//
// A point of a tile is given by a coordinate an axis, one of which may stand for several lanes side by side. Evaluating
// a tile at a point emits the expression that makes it, down to scalars, loads and buffers. What does not depend on the
// inner loops is emitted before them: every coordinate knows the loop it comes from, and code goes into the innermost
// loop that one of its coordinates needs. Equal elements at one point are made once.
#pragma once

#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/cpu/phase_state.h"

namespace kiln::codegen::cpu {

/// Element index `base`, or `base`, `base + 1`, ... one a lane.
struct Coordinate {
    llvm::Value* base = nullptr;
    bool lanes = false;
    friend bool operator==(const Coordinate&, const Coordinate&) = default;
    friend auto operator<=>(const Coordinate&, const Coordinate&) = default;
};
using Coordinates = std::vector<Coordinate>;

/// `value` has the nest's lanes, or is the scalar that they all have.
struct Element {
    llvm::Value* value = nullptr;
    bool uniform = true;
};

/// Where a load or store touches memory at a point.
struct AccessPoint {
    llvm::Value* address = nullptr;       ///< of the first lane; null for types of four bits
    llvm::Value* offset = nullptr;        ///< of the first lane, in elements
    llvm::Value* stride = nullptr;        ///< between lanes; null if there is one element or `lane_offsets` is set
    llvm::Value* lane_offsets = nullptr;  ///< what to add for each lane, in elements
    llvm::Value* mask = nullptr;          ///< null: all lanes may be touched
    bool lanes = false;
};

class Evaluator {
public:
    /// Code goes to the builder's insertion point. `inside`: the caller has tested access_inside for every access.
    Evaluator(PhaseState& state, bool inside);

    void set_lanes(unsigned lanes) { lanes_ = lanes; }
    unsigned lanes() const { return lanes_; }

    /// Computes a value that has a buffer, instead of reading it there.
    void make(ir::ValueId value) { made_.insert(value); }

    Element evaluate(ir::ValueId value, const Coordinates& at);
    /// With all lanes, also if it is uniform.
    llvm::Value* to_lanes(const Element& element);
    /// The only element of a tile, or the scalar itself.
    llvm::Value* evaluate_first(ir::ValueId value);
    /// A Load of a scalar.
    llvm::Value* load_scalar(const ir::Op& op) { return emit_load(op, {}).value; }
    /// Stores a value into a tile's buffer.
    void store_to_buffer(const Buffer& buffer, const ir::Shape& shape, const Coordinates& at, const Element& value);
    /// Where an access (of any kind but View) touches memory at a point of its tile.
    AccessPoint locate(const ir::Op& op, const Coordinates& at);
    /// Does a Store at a point of its tile.
    void store(const ir::Op& op, const Coordinates& at, const Element& value);

    /// A loop of the indices 0, step, ... below count; count is at least 1. Returns the index.
    llvm::Value* open_loop(std::int64_t count, std::int64_t step, const char* name);
    /// A value carried round the innermost loop; call it before anything is emitted there.
    llvm::PHINode* carry(llvm::Value* initial, const char* name);
    /// `next` holds the next value of each carried one, in the order of `carry`.
    void close_loop(const std::vector<llvm::Value*>& next);

    /// a + b and a * b of i64, emitted where both are known, once.
    llvm::Value* add(llvm::Value* a, llvm::Value* b);
    llvm::Value* multiply(llvm::Value* a, llvm::Value* b);
    llvm::Value* constant(std::int64_t value) const { return state_.ops.i64(value); }

private:
    struct Key {
        ir::ValueId value;
        Coordinates at;
        friend bool operator==(const Key&, const Key&) = default;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct Loop {
        llvm::BasicBlock* body;
        llvm::PHINode* index;
        std::int64_t count, step;
        std::vector<llvm::PHINode*> carried;
        std::vector<llvm::Value*> initial;
    };
    struct Level {
        llvm::IRBuilderBase::InsertPoint point;
        std::map<Key, Element> elements;
        std::map<std::pair<int, std::pair<llvm::Value*, llvm::Value*>>, llvm::Value*> arithmetic;
        std::unordered_map<llvm::Value*, llvm::Value*> splats;
    };

    unsigned level_of(llvm::Value* value) const;
    unsigned level_of(const Coordinates& at) const;
    template <class Emit>
    llvm::Value* at_level(unsigned level, Emit emit);
    llvm::Value* arithmetic(int kind, llvm::Value* a, llvm::Value* b);

    bool reads_buffer(ir::ValueId value) const { return state_.plan.in_buffer(value) && !made_.contains(value); }
    const Element* known(const Key& key) const;
    void remember(const Key& key, const Element& element);
    void operands_of(const Key& key, std::vector<Key>& operands);
    Element emit(const Key& key, const std::vector<Key>& operands);
    Element emit_elementwise(const ir::Op& op, const std::vector<Key>& operands);
    Element emit_iota(ir::ScalarType type, const Coordinate& at);
    Element emit_load(const ir::Op& op, const Coordinates& at);
    Element load_buffer(ir::ValueId value, const Coordinates& at);
    AccessPoint buffer_point(const Buffer& buffer, const ir::Shape& shape, const Coordinates& at);

    // memory_access.cpp
    Coordinates gather_coordinates(const ir::AccessAttribute& access, const ir::Op& op, const Coordinates& at) const;
    void locate_axis(const ir::Op& op, std::size_t axis, const Coordinates& at, std::size_t& tile_axis,
                     AccessPoint& point);
    void require_inside(AccessPoint& point, llvm::Value* index, llvm::Value* size);
    void restrict(AccessPoint& point, llvm::Value* condition);
    llvm::Value* load_at(ir::ScalarType element, const TensorHandle& tensor, const AccessPoint& point,
                         llvm::Value* fill);
    llvm::Value* load_nibbles(const TensorHandle& tensor, const AccessPoint& point, llvm::Value* fill);
    void store_nibbles(const TensorHandle& tensor, const AccessPoint& point, llvm::Value* value);
    llvm::Value* element_offsets(const AccessPoint& point);

    PhaseState& state_;
    bool inside_;
    unsigned lanes_ = 1;
    unsigned current_level_ = 0;  ///< where the builder stands
    std::set<ir::ValueId> made_;
    std::vector<Level> levels_;
    std::vector<Loop> loops_;
    std::unordered_map<const llvm::BasicBlock*, unsigned> block_levels_;  ///< level 0 where it is not listed
};

/// Whether no element of an access lies outside its tensor because of a scalar index or a slice; gathers and masks are
/// tested element by element in any case. i1.
llvm::Value* access_inside(PhaseState& state, const ir::Op& op);

}  // namespace kiln::codegen::cpu
