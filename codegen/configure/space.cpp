#include "codegen/configure/space.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpu/plan.h"
#include "codegen/cpu/register_tile.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::configure {

namespace {

std::size_t distance(std::size_t a, std::size_t b) {
    return a > b ? a - b : b - a;
}

std::size_t place_of(std::vector<std::string>& choices, const std::string& value) {
    const auto found = std::find(choices.begin(), choices.end(), value);
    const auto place = static_cast<std::size_t>(found - choices.begin());
    if (found == choices.end()) choices.push_back(value);
    return place;
}

std::uint64_t packed_bytes(const ir::Kernel& kernel, const ir::Op& dot) {
    const ir::Shape& a = kernel.type(dot.operands[0]).shape;
    const ir::Shape& b = kernel.type(dot.operands[1]).shape;
    const int word = std::max(4, ir::bit_width(kernel.type(dot.result()).element) / 8);
    return static_cast<std::uint64_t>((a[0] + b[1]) * std::max(a[1], cpu::kDotChunk) * word);
}

}  // namespace

Space::Space(std::vector<Configuration> configurations) {
    for (Configuration& configuration : configurations) {
        if (!index_.emplace(ir::to_string(configuration), configurations_.size()).second) continue;
        const std::map<std::string, std::string> values = configuration.spelled();
        if (dimensions_.empty()) {
            for (const auto& [name, value] : values) dimensions_.push_back({name, {}});
        }
        const bool fits = std::equal(values.begin(), values.end(), dimensions_.begin(), dimensions_.end(),
                                     [](const auto& value, const Dimension& one) { return value.first == one.name; });
        if (!fits)
            throw support::InternalError("codegen/configure", "configurations of different dimensions in one space");
        std::vector<std::size_t> places;
        for (Dimension& dimension : dimensions_) {
            places.push_back(place_of(dimension.choices, values.at(dimension.name)));
        }
        places_.push_back(std::move(places));
        configurations_.push_back(std::move(configuration));
    }
}

std::optional<std::size_t> Space::find(const Configuration& configuration) const {
    const auto found = index_.find(ir::to_string(configuration));
    if (found == index_.end()) return std::nullopt;
    return found->second;
}

std::uint64_t Space::unconditioned_size() const {
    std::uint64_t size = configurations_.empty() ? 0 : 1;
    for (const Dimension& dimension : dimensions_) size *= dimension.choices.size();
    return size;
}

std::vector<std::size_t> Space::neighbours(std::size_t index, std::size_t reach) const {
    std::vector<std::pair<std::size_t, std::size_t>> found;  // distance, configuration
    for (std::size_t other = 0; other < size(); ++other) {
        std::size_t differing = 0, far = 0;
        for (std::size_t dimension = 0; dimension < dimensions_.size(); ++dimension) {
            const std::size_t apart = distance(places_[index][dimension], places_[other][dimension]);
            differing += apart != 0;
            far = std::max(far, apart);
        }
        if (differing == 1 && far <= reach) found.emplace_back(far, other);
    }
    std::sort(found.begin(), found.end());
    std::vector<std::size_t> neighbours;
    for (const auto& [apart, other] : found) neighbours.push_back(other);
    return neighbours;
}

bool sums_in_any_order(const ir::Kernel& kernel) {
    for (const ir::Block& block : kernel.blocks) {
        for (const ir::OpId id : block.ops) {
            const ir::Op& op = kernel[id];
            if (op.kind != ir::OpKind::Atomic) continue;
            const bool adds = ir::attribute<ir::AtomicAttribute>(op).kind == ir::AtomicKind::Add;
            if (adds && ir::is_float(kernel.type(op.operands.front()).element)) return true;
        }
    }
    return false;
}

std::uint64_t estimated_scratch(const ir::Kernel& kernel, const ir::Phase& phase) {
    const cpu::Plan plan = cpu::make_plan(kernel, phase);
    std::uint64_t packed = 0;
    for (const cpu::DotPlan& dot : plan.dots) packed = std::max(packed, packed_bytes(kernel, kernel[dot.op]));
    return plan.scratch_bytes + packed;
}

std::optional<std::string> exclusion(const ir::Kernel& kernel, const Limits& limits) {
    for (const ir::Value& value : kernel.values) {
        if (!value.type.is_tile() || value.type.shape.count() <= limits.tile_elements) continue;
        return fmt::format("a tile of {} has {} elements, and {} are the most", ir::to_string(value.type),
                           value.type.shape.count(), limits.tile_elements);
    }
    for (std::size_t phase = 0; phase < kernel.phases.size(); ++phase) {
        const std::uint64_t bytes = estimated_scratch(kernel, kernel.phases[phase]);
        if (bytes <= limits.scratch_bytes) continue;
        return fmt::format("phase {} needs {} KiB of scratch memory a program, and {} KiB are the most", phase + 1,
                           bytes >> 10, limits.scratch_bytes >> 10);
    }
    return std::nullopt;
}

}  // namespace kiln::codegen::configure
