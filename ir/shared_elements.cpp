#include "ir/shared_elements.h"

#include <algorithm>

namespace kiln::ir {

std::optional<SharedElements::Conflict> SharedElements::conflict(std::uint64_t offset, Touch touch,
                                                                 const ProgramOrder& now) const {
    const auto found = accesses_.find(offset);
    if (found == accesses_.end()) return std::nullopt;
    const Accesses& earlier = found->second;
    if (!earlier.writer.precedes(now)) return Conflict{earlier.writer, Touch::Write};
    if (touch != Touch::Update && !earlier.updater.precedes(now)) return Conflict{earlier.updater, Touch::Update};
    if (touch == Touch::Read) return std::nullopt;
    for (const ElementAccess& reader : {earlier.first_reader, earlier.last_reader}) {
        if (!reader.precedes(now)) return Conflict{reader, Touch::Read};
    }
    return std::nullopt;
}

void SharedElements::add(std::uint64_t offset, Touch touch, const ElementAccess& access) {
    Accesses& accesses = accesses_[offset];
    switch (touch) {
        case Touch::Read:
            if (accesses.first_reader.program < 0) accesses.first_reader = access;
            accesses.last_reader = access;
            return;
        case Touch::Write:
            accesses.writer = access;
            break;
        case Touch::Update:
            accesses.updater = access;
            break;
    }
    written_.insert(offset);
}

void SharedElements::synchronise(std::uint64_t offset, ProgramOrder& now) {
    ProgramClock& clock = clocks_[offset];
    for (const auto& [program, releases] : clock) {
        std::uint32_t& known = now.known[program];
        known = std::max(known, releases);
    }
    now.known[now.program] = ++now.releases;
    clock = now.known;
}

}  // namespace kiln::ir
