#include "codegen/gpu/lower/allocate_shared.h"

#include <algorithm>
#include <limits>

namespace kiln::codegen::gpu {

namespace {

constexpr std::int64_t kAlignment = 16;

struct Life {
    std::size_t first = std::numeric_limits<std::size_t>::max(), last = 0;
    bool used() const { return first <= last; }
};

/// Numbers the statements in order and notes where each buffer lives.
class Liveness {
public:
    explicit Liveness(const PlacedPhase& phase) : lives(phase.buffers.size()) { walk(phase.body); }

    std::vector<Life> lives;

private:
    void walk(const Statements& statements) {
        for (const Statement& statement : statements) {
            const std::size_t begin = ++time_;
            for (const Touch& touch : statement.touches) {
                if (touch.space == Touch::Space::Shared) extend(lives[touch.id], time_);
            }
            walk(statement.body);
            walk(statement.otherwise);
            if (statement.kind == Statement::Kind::Loop) keep_through(begin, ++time_);
        }
    }
    static void extend(Life& life, std::size_t time) {
        life.first = std::min(life.first, time);
        life.last = std::max(life.last, time);
    }
    /// What was alive before the loop and is touched in it must outlast its last iteration.
    void keep_through(std::size_t begin, std::size_t end) {
        for (Life& life : lives) {
            if (life.used() && life.first < begin && life.last >= begin) life.last = std::max(life.last, end);
        }
    }

    std::size_t time_ = 0;
};

}  // namespace

void allocate_shared(PlacedPhase& phase) {
    const Liveness liveness(phase);
    // Largest first, each at the lowest place that no buffer alive at the same time takes.
    std::vector<std::size_t> order(phase.buffers.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return phase.buffers[a].bytes > phase.buffers[b].bytes; });
    std::vector<std::size_t> placed;
    phase.shared_bytes = 0;
    for (const std::size_t i : order) {
        Buffer& buffer = phase.buffers[i];
        const Life& life = liveness.lives[i];
        buffer.offset = 0;
        if (!life.used()) continue;
        for (std::size_t k = 0; k < placed.size(); ++k) {
            const Buffer& other = phase.buffers[placed[k]];
            const Life& its = liveness.lives[placed[k]];
            const bool together = life.first <= its.last && its.first <= life.last;
            const bool overlaps =
                buffer.offset < other.offset + other.bytes && other.offset < buffer.offset + buffer.bytes;
            if (!together || !overlaps) continue;
            buffer.offset = (other.offset + other.bytes + kAlignment - 1) / kAlignment * kAlignment;
            k = static_cast<std::size_t>(-1);  // from the start: an earlier one may overlap the new place
        }
        placed.push_back(i);
        phase.shared_bytes = std::max(phase.shared_bytes, buffer.offset + buffer.bytes);
    }
}

}  // namespace kiln::codegen::gpu
