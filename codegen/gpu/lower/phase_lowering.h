// One phase from tile IR to statements. The class holds what its parts share; each part is a file:
//
//   phase_lowering.cpp   the walk over blocks, control flow, scalars, names
//   lower_elements.cpp   loops over registers: elementwise ops, and reads of any tile under any layout
//   lower_tensors.cpp    tensors, views, and the addresses and edges of an access
//   lower_access.cpp     loads, stores, atomics
//   lower_moves.cpp      from one layout to another, and parts of tiles, through shared memory
//   move_through_shared.cpp   the way through shared memory
//   lower_reduce.cpp     reductions and folds
//   stage_operand.cpp, copy_operand.cpp   tiles into shared memory: from registers, from global memory
//   pipeline_loop.cpp    the latter ahead of the iterations of a loop
//   lower_product.cpp    dot by multiply-adds from shared memory
//   lower_matrix_product.cpp   dot by matrix instructions
//   lower_scan.cpp, lower_sort.cpp   scans; sorts and bincount
#pragma once

#include <functional>
#include <map>
#include <set>

#include "codegen/gpu/lower/assign_layouts.h"
#include "codegen/gpu/lower/matrix_fragments.h"
#include "codegen/gpu/lower/placed.h"
#include "codegen/gpu/lower/stage_operand.h"
#include "codegen/gpu/lower/tensor_facts.h"
#include "codegen/gpu/scalar_text.h"
#include "codegen/gpu/shared_layout.h"
#include "codegen/gpu/source.h"

namespace kiln::codegen::gpu {

struct AccessAxis;

/// How a phase spends shared memory; the less generous, the slower.
struct SharedUse {
    bool pads = true;  ///< rows of a product's operands are padded, so that they meet different banks
    int stages = 1;    ///< slots of the rings through which operands come ahead of a loop's iterations
    int pieces = 1;    ///< in which a product's operands are put there, one after another along the contraction
};

/// An op that this code generator does not take on this target; becomes the Refusal of the kernel.
struct Refused {
    Refusal refusal;
};

class PhaseLowering {
public:
    PhaseLowering(const ir::Kernel& kernel, const ir::Facts& facts, const std::vector<ir::ScalarType>& stored,
                  std::size_t phase, const Target& target, int warps, SharedUse shared);

    /// Throws Refused.
    PlacedPhase run();

private:
    /// A block being lowered.
    struct Scope {
        ir::BlockId block;
        Statements* out = nullptr;
        bool repeats = false;  ///< the body of a loop
    };
    /// A value that has been computed under another layout, for as long as its scope is open.
    struct Copy {
        ir::ValueId value;
        Layout layout;
        std::string name;
        std::size_t depth = 0;
    };
    /// A tile in shared memory.
    struct Staged {
        ir::ValueId value;
        Window window;
        StagedOperand operand;
        std::size_t depth = 0;
    };
    /// C text of a tensor.
    struct TensorText {
        std::string data;
        std::vector<std::string> sizes, strides;
        bool wide = true;  ///< sizes may exceed 32 bits
        std::string skip;  ///< 4-bit elements: of `data` to the first, since a pointer has no half bytes
    };
    /// A loop over the registers of a layout, under construction.
    struct Loop {
        Layout layout;
        Lines lines;
        std::string counter = "r";
        struct Local {
            ir::ValueId value;
            Layout layout;
            std::vector<int> registers;
            std::string text;
        };
        std::vector<Local> locals;
    };

    // phase_lowering.cpp
    void add_frame();
    void add_program_offsets();
    void walk(ir::BlockId block, Statements& out, bool repeats, const std::function<void()>& first = {},
              const std::function<void()>& last = {});
    void lower(const ir::Op& op);
    void lower_elementwise(const ir::Op& op);
    void lower_reshape(const ir::Op& op);
    void lower_scalar(const ir::Op& op);
    void lower_for(const ir::Op& op);
    ir::ScalarType counter_type(const ir::Op& loop) const;
    void emit_index(const ir::Op& loop, const std::string& trip);
    void close_scope();
    void lower_while(const ir::Op& op);
    void lower_if(const ir::Op& op);
    void declare(ir::ValueId value);
    void assign_all(const std::vector<ir::ValueId>& targets, std::span<const ir::ValueId> sources);
    void assign(Lines& lines, const std::string& target, ir::ValueId target_value, ir::ValueId source);
    void emit(Statement statement);
    void emit(Lines lines, std::vector<Touch> touches = {});
    void emit_barrier(bool orders_global);
    [[noreturn]] void refuse(const std::string& message) const;

    // Names and types
    const std::string& name(ir::ValueId value);
    std::string fresh(const std::string& hint);
    std::string scalar(ir::ValueId value);
    bool is_constant(ir::ValueId value, std::int64_t integer) const;
    std::string scalar_as(ir::ValueId value, ir::ScalarType type);
    ir::ScalarType stored(ir::ValueId value) const { return stored_[value.index]; }
    std::string c_type(ir::ValueId value) const { return std::string(gpu::c_type(stored(value))); }
    std::string launch_scalar(ir::ValueId value);
    std::string parameter_slot(const std::string& type, const std::string& slot);
    /// A constant of the function's top: `const TYPE name = text;`, once for each text.
    std::string hoisted(const std::string& type, const std::string& hint, const std::string& text);
    std::string elementwise_text(const ir::Op& op, const std::vector<std::string>& operands) const;
    std::string conversion_text(const ir::Op& op, const std::string& operand) const;

    // lower_elements.cpp
    void add_pending(const ir::Op& op);
    void flush();
    bool is_pending(ir::ValueId value) const;
    /// The element of a value for each step of the loop.
    std::string element(Loop& loop, ir::ValueId value);
    std::string element(Loop& loop, const Reach& reach);
    std::string free_element(Loop& loop, const Reach& reach);
    std::string table(Loop& loop, const std::vector<std::int64_t>& values);
    std::string index_text(Loop& loop, const std::vector<int>& registers);
    /// Coordinate along an axis: the thread's part and the registers'.
    std::string thread_coordinate(const Layout& layout, std::size_t axis);
    std::vector<std::int64_t> register_coordinates(const Layout& layout, std::size_t axis) const;
    std::string coordinate(Loop& loop, const Reach& reach, std::size_t axis);
    /// Condition for an element to lie inside the tile; empty if all do.
    std::string guard(Loop& loop);
    /// Condition for the thread to be the first of those that hold the same elements; empty if there are no others.
    std::string first_copy(const Layout& layout);
    std::string first_copy(int lanes, const Digits& warps);
    Layout natural_layout(ir::ValueId value) const;
    Layout natural_layout(const ir::Shape& shape) const;
    /// How the registers of a loop lie in memory with these strides: the thread's part and the registers'.
    std::string linear(Loop& loop, const Reach& reach, const ir::Shape& strides, std::int64_t offset = 0);

    // lower_moves.cpp
    std::string materialise(ir::ValueId value, const Layout& layout);
    Statements& statements_for(ir::ValueId value, std::size_t& depth);
    void move(Statements& out, ir::ScalarType type, const std::string& source, const Layout& from,
              const std::string& target, const Layout& to);
    // move_through_shared.cpp
    SharedLayout exchange_layout(ir::ScalarType type, const Layout& from, const Layout& to) const;
    std::string shared_subscript(Loop& loop, const Layout& layout, const SharedLayout& shared);
    void move_through_shared(Statements& out, ir::ScalarType type, const std::string& source, const Layout& from,
                             const std::string& target, const Layout& to);
    void read_part(Statements& out, ir::ValueId value, const Layout& layout, const std::string& target);
    std::uint32_t add_buffer(const std::string& hint, const std::string& element, std::int64_t bytes);
    void write_shared(Statements& out, ir::ValueId value, const ir::Shape& strides, std::int64_t offset,
                      std::uint32_t buffer, ir::ScalarType element);
    void read_shared(Statements& out, std::uint32_t buffer, const ir::Shape& strides, std::int64_t offset,
                     const Layout& layout, const std::string& type, const std::string& target);
    /// Where an op that leaves its result in `layout` should put it, and what has to follow.
    std::string result_name(ir::ValueId value, const Layout& layout);
    void finish(ir::ValueId value, const Layout& layout, const std::string& at);
    std::string array(ir::ScalarType type, const std::string& name, const Layout& layout) const;

    // lower_tensors.cpp
    TensorText& tensor(ir::ValueId value);
    void add_parameter(ir::ValueId value);
    std::string pointer_type(ir::ValueId tensor) const;
    void lower_view(const ir::Op& op);
    struct Access;
    Access plan_access(const ir::Op& op, const Layout& layout, Lines& lines, const Window& window = {});
    void add_base(Access& access, Lines& lines);
    std::string whole_inside(const Access& access);
    std::string inside_text(ir::ValueId index, const std::string& size, bool wide);
    std::string address(Loop& loop, Access& access);
    std::string inside(Loop& loop, Access& access, bool edges);
    std::string inside_tensor(Loop& loop, Access& access, bool edges, const AccessAxis* except);
    void read_indices(Loop& loop, Access& access);
    Touch touch(const ir::Op& op, bool writes) const;

    // lower_access.cpp
    void lower_load(const ir::Op& op);
    void lower_store(const ir::Op& op);
    void lower_atomic(const ir::Op& op);
    void load_tile(Lines& lines, Access& access, const std::string& target, int vector);
    void load_loop(Lines& lines, Access& access, const std::string& target, bool edges, int vector);
    void store_loop(Lines& lines, Access& access, bool edges, int vector);
    std::string atomic_text(const ir::Op& op, const std::string& address, const std::vector<std::string>& operands);
    bool is_disjoint(const ir::Op& op) const;
    int vector_of(const ir::Op& op, const Layout& layout) const;
    Layout store_layout(const ir::Op& op) const;
    Layout memory_layout(const ir::Op& op) const;
    std::int64_t bytes_at_once(const ir::Op& op, const Layout& layout) const;
    [[noreturn]] void refuse_four_bit_rows() const;
    void share_old_values(const ir::Op& op, const Layout& layout, const std::string& old);

    // lower_reduce.cpp
    struct Combination;
    void lower_reduce(const ir::Op& op);
    void lower_fold(const ir::Op& op);
    void combine_into(Lines& lines, const Combination& all, const std::string& to,
                      const std::vector<std::string>& values, bool values_first);
    void combine_lanes(const Combination& all, const Reduction& reduction, const std::string& valid);
    void combine_warps(const Combination& all, const Layout& source, const Reduction& reduction,
                       const std::string& valid);
    void finish_reduction(ir::ValueId value, const Layout& part_layout, const std::string& part, ir::ScalarType type);
    std::vector<std::string> combine(Lines& lines, const ir::Op& op, const std::vector<std::string>& first,
                                     const std::vector<std::string>& second);

    // stage_operand.cpp
    /// The left (0) or right (1) operand of a product in shared memory, brought there where it is not yet; all of it,
    /// or a window.
    StagedOperand stage_operand(const ir::Op& product, std::size_t operand, const Window& window);
    OperandReads all_reads(const OperandReads& reads) const;
    OperandWrite plan_write(const OperandReads& reads, const Window& window) const;
    const StagedOperand* find_staged(ir::ValueId value, ir::ScalarType type, const Window& window,
                                     const SharedLayout* layout = nullptr) const;
    StagedOperand stage(ir::ValueId value, ir::ScalarType type, const OperandWrite& write, const Window& window);
    StagedOperand add_operand(ir::ValueId value, ir::ScalarType type, const SharedLayout& layout, int slots);
    void write_operand(Statements& out, ir::ValueId value, const StagedOperand& operand, const Window& window);
    void write_registers(Statements& out, const Layout& layout, const StagedOperand& operand, const Window& window,
                         const std::function<std::string(Loop&)>& item);
    // copy_operand.cpp
    OperandWrite plan_copy(const OperandReads& reads, const ir::Shape& shape) const;
    void copy_operand(Statements& out, ir::ValueId value, const StagedOperand& operand, const OperandWrite& write,
                      const Window& window);
    std::string declare_held(Statements& out, ir::ValueId value, const OperandWrite& write);
    void load_held(Statements& out, ir::ValueId value, const std::string& held, const OperandWrite& write,
                   const Window& window);
    void store_held(Statements& out, ir::ValueId value, const std::string& held, const StagedOperand& operand,
                    const OperandWrite& write);
    void begin_copy(Statements& out, ir::ValueId value, const StagedOperand& operand, const OperandWrite& write,
                    const Window& window);
    void copy_loop(Lines& lines, Access& access, const StagedOperand& operand, const OperandWrite& write, bool edges);

    // pipeline_loop.cpp
    /// A tile that comes ahead of the iteration that reads it.
    struct Ring {
        ir::ValueId value;
        OperandWrite write;
        StagedOperand all;  ///< `place` is that of the first slot
        int slots = 1;
        std::string held;  ///< the registers of this iteration in which the next one's tile waits
    };
    struct Pipeline {
        const ir::Op* loop = nullptr;
        std::string trips;  ///< C text of the number of iterations
        std::vector<Ring> rings;
        std::vector<const ir::Op*> slice;  ///< ops of the body that say where another iteration's tiles lie, in order
    };
    Pipeline plan_pipeline(const ir::Op& loop);
    bool follows_index(const ir::Op& loop, ir::ValueId value, std::set<const ir::Op*>& slice) const;
    OperandReads first_reads(ir::ValueId value) const;
    StagedOperand slot_of(const Ring& ring, const std::string& trip, int ahead);
    void for_iteration(const Pipeline& pipeline, const std::string& trip, int ahead,
                       const std::function<void(Statements&)>& bring);
    bool has_rings(const Pipeline& pipeline, bool asynchronous) const;
    void begin_copies(const Pipeline& pipeline, const std::string& trip, int ahead);
    void stage_invariants(const ir::Op& loop);
    void fill_rings(const Pipeline& pipeline);
    void begin_iteration(Pipeline& pipeline, const std::string& trip);
    void end_iteration(const Pipeline& pipeline, const std::string& trip);

    // lower_product.cpp
    /// What a thread holds: rows, vectors of columns, and elements of the contraction taken at once.
    struct ProductBlock {
        std::vector<std::int64_t> rows, columns;
        int step = 1, vector = 1;
        std::int64_t depth = 1;
        bool along_depth = false;  ///< rows of the right operand in memory lie along the contraction
    };
    void lower_product(const ir::Op& op);
    ProductBlock product_block(const ir::Op& op) const;
    void start_sums(const ir::Op& op);
    OperandReads operand_reads(const ir::Op& op, std::size_t operand) const;
    OperandReads multiply_add_reads(const ir::Op& op, std::size_t operand) const;
    std::string product_place(Loop& loop, const Layout& layout, std::size_t axis,
                              const std::vector<std::int64_t>& values, std::int64_t unit);
    void read_columns(Lines& lines, const ir::Op& op, const StagedOperand& b, const ProductBlock& block);
    void read_columns_along_depth(Lines& lines, const ir::Op& op, const StagedOperand& b, const ProductBlock& block);
    void multiply(Lines& lines, const ir::Op& op, const StagedOperand& a, const StagedOperand& b,
                  const ProductBlock& block);

    // lower_matrix_product.cpp
    /// The order of the contraction, and the operand that is held in registers as the instructions want it.
    struct MatrixOrder {
        DepthOrder depth;
        std::optional<std::size_t> held;
    };
    /// An operand while the product is lowered.
    struct MatrixOperand {
        std::string name;     ///< of the array of words
        std::string address;  ///< name of the tile's address in shared memory, where `ldmatrix` reads it
        OperandTile tile;
        ir::ScalarType type = ir::ScalarType::F32;
        Fragments fragments;
        std::optional<StagedOperand> staged;  ///< none: held in registers
        int words = 0, reads = 0;             ///< of a group
        bool rounds_to_tf32 = false;
    };
    void lower_matrix_product(const ir::Op& op, const MatrixProduct& product);
    MatrixOrder matrix_order(const ir::Op& op, const MatrixProduct& product, std::int64_t depth) const;
    OperandReads matrix_reads(const ir::Op& op, const MatrixProduct& product, std::size_t side) const;
    MatrixOperand matrix_operand(const ir::Op& op, const MatrixProduct& product, std::size_t side,
                                 const MatrixOrder& order, const Window& window);
    void multiply_groups(Lines& lines, const ir::Op& op, const MatrixProduct& product, const MatrixOperand& left,
                         const MatrixOperand& right, const DepthOrder& order);
    void multiply_group(Lines& lines, const MatrixProduct& product, const MatrixOperand& left,
                        const MatrixOperand& right, int steps, const std::string& sums);
    void read_group(Lines& lines, const MatrixOperand& operand, int groups);
    void read_matrices(Lines& lines, const MatrixOperand& operand, int groups);
    void read_vectors(Lines& lines, const MatrixOperand& operand, int groups);
    void read_turned(Lines& lines, const MatrixOperand& operand, int groups);
    void gather_words(Lines& lines, const MatrixOperand& operand, int groups);
    void pack_held(Lines& lines, const MatrixOperand& operand, int groups);
    std::string read_offset(Loop& loop, const MatrixOperand& operand);

    // lower_scan.cpp, lower_sort.cpp
    struct Scanning;
    void lower_scan(const ir::Op& op);
    Scanning begin_scan(const ir::Op& op);
    void scan_runs(Scanning& scan);
    void scan_lanes(Scanning& scan);
    void scan_warps(Scanning& scan);
    void assign_combined(Lines& lines, const Scanning& scan, const std::vector<std::string>& to,
                         const std::vector<std::string>& values);
    void lower_sort(const ir::Op& op);
    void add_order(Lines& lines, const ir::Op& op, const std::string& name, std::int64_t length);
    void emit_network(const ir::Op& op, std::uint32_t keys, std::uint32_t places, std::int64_t padded,
                      std::int64_t count);
    void lower_bincount(const ir::Op& op);

    const ir::Kernel& kernel_;
    const ir::Facts& facts_;
    const std::vector<ir::ScalarType>& stored_;
    const ir::Phase& phase_;
    const Target& target_;
    int warps_;
    SharedUse shared_;
    TileValues values_;
    TensorFacts tensors_;
    TileLayouts layouts_;
    PlacedPhase placed_;

    std::vector<Scope> scopes_;
    std::vector<std::size_t> depth_of_;  ///< by ValueId: number of scopes open where it was defined
    std::vector<std::string> names_;
    std::map<std::uint32_t, std::string> overrides_;  ///< C text of values of a combining block
    std::map<std::string, std::string> hoisted_;
    std::map<std::uint32_t, TensorText> texts_;
    std::set<std::uint32_t> written_;  ///< roots that the phase writes
    std::vector<std::vector<const ir::Op*>> uses_;
    std::vector<Copy> copies_;
    std::vector<Staged> staged_;
    std::vector<const ir::Op*> pending_;
    Layout pending_layout_;
    support::Span span_;
    int counter_ = 0;
};

}  // namespace kiln::codegen::gpu
