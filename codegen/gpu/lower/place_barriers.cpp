#include "codegen/gpu/lower/place_barriers.h"

#include <algorithm>

namespace kiln::codegen::gpu {

namespace {

/// What has been touched since the last barrier, on some way to this point.
using Pending = std::vector<Touch>;

bool same(const Touch& a, const Touch& b) {
    return a.space == b.space && a.id == b.id && a.writes == b.writes && a.by_one_thread == b.by_one_thread &&
           a.disjoint == b.disjoint;
}

void add(Pending& pending, const Touch& touch) {
    const auto found = std::find_if(pending.begin(), pending.end(), [&](const Touch& t) { return same(t, touch); });
    if (found == pending.end()) pending.push_back(touch);
}
void merge(Pending& pending, const Pending& other) {
    for (const Touch& touch : other) add(pending, touch);
}

class BarrierPlacement {
public:
    explicit BarrierPlacement(const PlacedPhase& phase) : phase_(phase) {}

    void walk(Statements& statements, Pending& pending) {
        for (std::size_t i = 0; i < statements.size(); ++i) {
            if (needs_barrier(statements[i], pending) || saves_barriers(statements[i], pending)) {
                Statement barrier;
                barrier.kind = Statement::Kind::Barrier;
                barrier.span = statements[i].span;
                statements.insert(statements.begin() + static_cast<std::ptrdiff_t>(i), std::move(barrier));
            }
            step(statements[i], pending);
        }
    }

private:
    void step(Statement& statement, Pending& pending) {
        switch (statement.kind) {
            case Statement::Kind::Barrier:
                pending.clear();
                return;
            case Statement::Kind::Lines:
                for (const Touch& touch : statement.touches) add(pending, touch);
                return;
            case Statement::Kind::Leave:
                merge(left_, pending);
                return;
            case Statement::Kind::Block: {
                Pending other = pending;
                walk(statement.body, pending);
                walk(statement.otherwise, other);
                merge(pending, other);
                return;
            }
            case Statement::Kind::Loop:
                return walk_loop(statement, pending);
        }
    }

    /// Until what is pending at the end of the body adds nothing at its beginning.
    void walk_loop(Statement& loop, Pending& pending) {
        const Pending outer = std::move(left_);
        left_.clear();
        Pending entry = pending;
        while (true) {
            Pending at = entry;
            walk(loop.body, at);
            const std::size_t known = entry.size();
            merge(entry, at);
            if (entry.size() == known) break;
        }
        pending = std::move(entry);
        merge(pending, left_);
        left_ = outer;
    }

    /// Whether a loop's body needs fewer barriers if one stands before the loop: what came before it is then ordered
    /// once and not in each iteration.
    bool saves_barriers(const Statement& loop, const Pending& pending) const {
        if (loop.kind != Statement::Kind::Loop || pending.empty()) return false;
        return barriers_in(loop, {}) < barriers_in(loop, pending);
    }
    std::size_t barriers_in(Statement loop, Pending pending) const {
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

    bool needs_barrier(const Statement& statement, const Pending& pending) const {
        return std::any_of(statement.touches.begin(), statement.touches.end(), [&](const Touch& now) {
            return std::any_of(pending.begin(), pending.end(), [&](const Touch& then) { return conflict(then, now); });
        });
    }

    bool conflict(const Touch& then, const Touch& now) const {
        if (then.space != now.space || (!then.writes && !now.writes)) return false;
        if (now.space == Touch::Space::Global) {
            if (then.id != now.id || (then.by_one_thread && now.by_one_thread)) return false;
            return !(then.writes && now.writes && then.disjoint && now.disjoint);
        }
        const Buffer& a = phase_.buffers[then.id];
        const Buffer& b = phase_.buffers[now.id];
        return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
    }

    const PlacedPhase& phase_;
    Pending left_;  ///< at the places that leave the loop being walked
};

}  // namespace

void place_barriers(PlacedPhase& phase) {
    Pending pending;
    BarrierPlacement(phase).walk(phase.body, pending);
}

}  // namespace kiln::codegen::gpu
