// The placed program: a phase as the statements that one thread of a block runs.
//
// It is a tree of statements. Each is text in the common part of CUDA and HIP (a few lines, or the head of a nested
// block), together with what the passes behind the lowering must know: which memory it touches, so that barriers can be
// placed and shared memory can be reused, and whether all threads run it together.
//
// Shared memory is seen as *buffers*. A buffer gets its offset late, when it is known which of them live at one time;
// text names it by its own C name, which the writer declares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace kiln::codegen::gpu {

/// A piece of shared memory.
struct Buffer {
    std::string name;          ///< of the C pointer
    std::string element;       ///< C type it points to
    std::int64_t bytes = 0;    ///< of all slots together
    std::int64_t offset = -1;  ///< from the start of the block's shared memory; given by allocate_shared
    int slots = 1;             ///< of a ring: iteration n of its loop reads slot n modulo their number
};

/// Any slot of a ring.
inline constexpr int kAnySlot = -1;

/// A use of memory that other threads of the block may touch, too.
struct Touch {
    enum class Space : std::uint8_t { Shared, Global };
    Space space = Space::Shared;
    std::uint32_t id = 0;  ///< Shared: index of the buffer; Global: the ValueId of the parameter or scratch tensor
    bool writes = false;
    bool by_one_thread = false;  ///< always the same thread: ordered with its own earlier uses
    bool disjoint = false;       ///< a write that names other elements each time its loop comes round
    bool asynchronous = false;   ///< a copy under way until a Wait of the thread that began it
    int slot = 0;                ///< of a ring: that of so many iterations after the current one, or kAnySlot
    friend bool operator==(const Touch&, const Touch&) = default;
};

/// A step, or a block of steps.
struct Statement {
    enum class Kind : std::uint8_t {
        Lines,    ///< text
        Block,    ///< `head { body }`, once or never: `if`, or a plain scope; with `otherwise`, `else { otherwise }`
        Loop,     ///< `head { body }`, any number of times
        Leave,    ///< text that may leave the loop around it
        Barrier,  ///< all threads of the block meet
        Commit,   ///< the asynchronous copies that the thread began since the last one become a group
        Wait,     ///< until at most `under_way` of the thread's groups are
    };
    Kind kind = Kind::Lines;
    std::vector<std::string> lines;  ///< indented relative to the statement
    std::string head;
    std::vector<Touch> touches;
    std::vector<Statement> body, otherwise;
    std::vector<std::uint32_t> rings;  ///< of a loop: the buffers whose slots follow its iterations
    int under_way = 0;
    bool orders_global = false;  ///< of a barrier: uses of global memory, too, and not of shared memory alone
    support::Span span;
};
using Statements = std::vector<Statement>;

/// A slot of the parameter: 8 bytes, whatever the type.
struct Slot {
    std::string type, name;
};

struct PlacedPhase {
    std::string symbol;
    std::vector<ir::ValueId> values;
    std::vector<Slot> slots;
    int threads = 0;
    int registers = 0;  ///< of a thread, estimated
    std::vector<Buffer> buffers;
    std::int64_t shared_bytes = 0;
    std::vector<std::string> prologue;  ///< declarations at the top of the function
    Statements body;
};

/// Lines of C under construction.
class Lines {
public:
    void add(const std::string& text) { lines_.push_back(std::string(4 * depth_, ' ') + text); }
    void append(Lines other) {
        for (const std::string& line : other.take()) add(line);
    }
    void open(const std::string& head) {
        add(head + " {");
        ++depth_;
    }
    void close() {
        --depth_;
        add("}");
    }
    /// `} else {`
    void otherwise() {
        --depth_;
        add("} else {");
        ++depth_;
    }
    /// A loop over registers, to be unrolled. One step needs no loop.
    void open_unrolled(const std::string& name, std::int64_t count, std::int64_t step = 1);
    bool empty() const { return lines_.empty(); }
    std::vector<std::string> take() { return std::move(lines_); }

private:
    std::vector<std::string> lines_;
    std::size_t depth_ = 0;
};

}  // namespace kiln::codegen::gpu
