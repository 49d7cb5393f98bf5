#include "codegen/gpu/lower/place_barriers.h"

#include <algorithm>

#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {

namespace {

/// Groups of copies that may have been begun after one; more are as good as so many.
constexpr int kMostGroups = 16;
constexpr int kDone = -1;  ///< nothing is under way (any more)

/// A use that no barrier has ordered yet. Of an asynchronous copy also how many groups the thread has made since it was
/// begun, its own included, until a Wait covers it: no barrier orders it before.
struct Pending {
    Touch touch;
    int groups = kDone;
    friend bool operator==(const Pending&, const Pending&) = default;
};
/// On some way to a point.
using PendingSet = std::vector<Pending>;

void add(PendingSet& set, const Pending& pending) {
    if (std::find(set.begin(), set.end(), pending) == set.end()) set.push_back(pending);
}
void merge(PendingSet& set, const PendingSet& other) {
    for (const Pending& pending : other) add(set, pending);
}
/// Uses of a loop's rings as the next iteration sees them, or (kAnySlot) whoever comes behind the loop.
PendingSet moved_on(const PendingSet& set, const PlacedPhase& phase, const Statement& loop, bool leaves) {
    PendingSet moved;
    for (Pending pending : set) {
        const Touch& touch = pending.touch;
        const bool of_ring = touch.space == Touch::Space::Shared && touch.slot != kAnySlot &&
                             std::find(loop.rings.begin(), loop.rings.end(), touch.id) != loop.rings.end();
        const int slots = of_ring ? phase.buffers[touch.id].slots : 1;
        if (of_ring) pending.touch.slot = leaves ? kAnySlot : (touch.slot % slots + slots - 1) % slots;
        add(moved, pending);
    }
    return moved;
}

class BarrierPlacement {
public:
    explicit BarrierPlacement(const PlacedPhase& phase) : phase_(phase) {}

    void walk(Statements& statements, PendingSet& pending) {
        for (std::size_t i = 0; i < statements.size(); ++i) {
            const auto insert = [&](Statement::Kind kind, int under_way) {
                Statement statement;
                statement.kind = kind;
                statement.under_way = under_way;
                statement.span = statements[i].span;
                step(statement, pending);
                statements.insert(statements.begin() + static_cast<std::ptrdiff_t>(i++), std::move(statement));
            };
            const int groups = fewest_groups(statements[i], pending);
            if (groups == 0) throw support::InternalError("gpu::place_barriers", "a copy in no group is waited for");
            if (groups != kDone) insert(Statement::Kind::Wait, groups - 1);
            if (needs_barrier(statements[i], pending) || saves_barriers(statements[i], pending)) {
                insert(Statement::Kind::Barrier, 0);
            }
            step(statements[i], pending);
        }
    }

private:
    void step(Statement& statement, PendingSet& pending) {
        switch (statement.kind) {
            case Statement::Kind::Barrier:
                statement.orders_global =
                    statement.orders_global || std::any_of(pending.begin(), pending.end(), [](const Pending& one) {
                        return one.touch.space == Touch::Space::Global;
                    });
                std::erase_if(pending, [](const Pending& one) { return one.groups == kDone; });
                return;
            case Statement::Kind::Lines:
                for (const Touch& touch : statement.touches) add(pending, {touch, touch.asynchronous ? 0 : kDone});
                return;
            case Statement::Kind::Commit:
                return update(pending, [](int groups) { return std::min(groups + 1, kMostGroups); });
            case Statement::Kind::Wait:
                return update(pending, [&](int groups) { return groups > statement.under_way ? kDone : groups; });
            case Statement::Kind::Leave:
                merge(left_, pending);
                return;
            case Statement::Kind::Block: {
                PendingSet other = pending;
                walk(statement.body, pending);
                walk(statement.otherwise, other);
                merge(pending, other);
                return;
            }
            case Statement::Kind::Loop:
                return walk_loop(statement, pending);
        }
    }
    template <class Change>
    static void update(PendingSet& pending, const Change& change) {
        PendingSet updated;
        for (Pending one : pending) {
            if (one.groups != kDone) one.groups = change(one.groups);
            add(updated, one);
        }
        pending = std::move(updated);
    }

    /// Until what is pending at the end of the body adds nothing at its beginning.
    void walk_loop(Statement& loop, PendingSet& pending) {
        const PendingSet outer = std::move(left_);
        left_.clear();
        PendingSet entry = pending;
        while (true) {
            PendingSet at = entry;
            walk(loop.body, at);
            const std::size_t known = entry.size();
            merge(entry, moved_on(at, phase_, loop, false));
            if (entry.size() == known) break;
        }
        merge(entry, left_);
        pending = moved_on(entry, phase_, loop, true);
        left_ = outer;
    }

    /// Whether a loop's body needs fewer barriers if one stands before the loop: what came before it is then ordered
    /// once and not in each iteration.
    bool saves_barriers(const Statement& loop, const PendingSet& pending) const {
        if (loop.kind != Statement::Kind::Loop || pending.empty()) return false;
        return barriers_in(loop, {}) < barriers_in(loop, pending);
    }
    std::size_t barriers_in(Statement loop, PendingSet pending) const {
        BarrierPlacement trial(phase_);
        trial.walk_loop(loop, pending);
        return count_barriers(loop.body);
    }
    static std::size_t count_barriers(const Statements& statements) {
        std::size_t count = 0;
        for (const Statement& statement : statements) {
            count += statement.kind == Statement::Kind::Barrier ? 1 : 0;
            count += count_barriers(statement.body) + count_barriers(statement.otherwise);
        }
        return count;
    }

    bool needs_barrier(const Statement& statement, const PendingSet& pending) const {
        return std::any_of(statement.touches.begin(), statement.touches.end(), [&](const Touch& now) {
            return std::any_of(pending.begin(), pending.end(),
                               [&](const Pending& then) { return conflict(then.touch, now); });
        });
    }
    /// Groups that the thread has made since the latest copy under way that the statement meets; kDone if there is
    /// none.
    int fewest_groups(const Statement& statement, const PendingSet& pending) const {
        int fewest = kDone;
        for (const Touch& now : statement.touches) {
            for (const Pending& then : pending) {
                if (then.groups == kDone || !conflict(then.touch, now)) continue;
                fewest = fewest == kDone ? then.groups : std::min(fewest, then.groups);
            }
        }
        return fewest;
    }

    bool conflict(const Touch& then, const Touch& now) const {
        if (then.space != now.space || (!then.writes && !now.writes)) return false;
        if (now.space == Touch::Space::Global) {
            if (then.id != now.id || (then.by_one_thread && now.by_one_thread)) return false;
            return !(then.writes && now.writes && then.disjoint && now.disjoint);
        }
        const Buffer& a = phase_.buffers[then.id];
        const Buffer& b = phase_.buffers[now.id];
        if (then.id == now.id && then.slot != kAnySlot && now.slot != kAnySlot)
            return (then.slot - now.slot) % a.slots == 0;
        return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
    }

    const PlacedPhase& phase_;
    PendingSet left_;  ///< at the places that leave the loop being walked
};

}  // namespace

void place_barriers(PlacedPhase& phase) {
    PendingSet pending;
    BarrierPlacement(phase).walk(phase.body, pending);
}

}  // namespace kiln::codegen::gpu
