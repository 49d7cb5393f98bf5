// Who touched an element of memory that the programs of a phase share, and which of two accesses are in no order.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "ir/interpret.h"

namespace kiln::ir {

/// How many releases of other programs a program, or an element that `acq_rel` atomics update, knows of.
using ProgramClock = std::map<std::int64_t, std::uint32_t>;

/// The running program. The interpreter runs programs one after another, but nothing orders two programs of a phase
/// except that one acquires what the other released.
struct ProgramOrder {
    std::int64_t program = -1;
    std::uint32_t releases = 0;  ///< by this program so far
    ProgramClock known;
};

struct ElementAccess {
    std::int64_t program = -1;   ///< -1: none
    std::uint32_t releases = 0;  ///< of the program, before it
    const Op* op = nullptr;

    bool precedes(const ProgramOrder& now) const {
        if (program < 0 || program == now.program) return true;
        const auto found = now.known.find(program);
        return found != now.known.end() && found->second > releases;
    }
};

/// What one tensor's elements have been through. Elements are numbered by their offset.
class SharedElements {
public:
    /// An access that the new one conflicts with, and what it did.
    struct Conflict {
        ElementAccess access;
        Touch touch;
    };

    /// Accesses of earlier phases are in order with all that follow. What has been written stays written.
    void begin_phase() { accesses_.clear(), clocks_.clear(); }

    bool is_written(std::uint64_t offset) const { return written_.count(offset) != 0; }
    /// Whether an atomic has updated the element in this phase.
    bool is_updated(std::uint64_t offset) const {
        const auto found = accesses_.find(offset);
        return found != accesses_.end() && found->second.updater.program >= 0;
    }
    /// An earlier access that is in no order with `touch`, of which one writes, and not both atomically.
    std::optional<Conflict> conflict(std::uint64_t offset, Touch touch, const ProgramOrder& now) const;

    void add(std::uint64_t offset, Touch touch, const ElementAccess& access);
    /// An `acq_rel` atomic: the program learns what the element knows, and the element what the program knows.
    void synchronise(std::uint64_t offset, ProgramOrder& now);

private:
    /// Of readers the first and the last are kept: an access after which several have read conflicts with one of them,
    /// unless it is in order with both.
    struct Accesses {
        ElementAccess writer, updater, first_reader, last_reader;
    };

    std::unordered_set<std::uint64_t> written_;
    std::unordered_map<std::uint64_t, Accesses> accesses_;
    std::unordered_map<std::uint64_t, ProgramClock> clocks_;
};

}  // namespace kiln::ir
