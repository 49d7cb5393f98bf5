#include "codegen/configure/space.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/cpu/plan.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::configure {

namespace {

std::size_t distance(std::size_t a, std::size_t b) {
    return a > b ? a - b : b - a;
}

std::size_t place_of(std::vector<ir::Scalar>& choices, ir::Scalar value) {
    const auto found = std::find(choices.begin(), choices.end(), value);
    const auto place = static_cast<std::size_t>(found - choices.begin());
    if (found == choices.end()) choices.push_back(value);
    return place;
}

// Depth that block_dot packs at a time (codegen/cpu/block_dot.cpp).
constexpr std::int64_t kPackedDepth = 512;

std::uint64_t packed_bytes(const ir::Kernel& kernel, const ir::Op& dot) {
    const ir::Shape& a = kernel.type(dot.operands[0]).shape;
    const ir::Shape& b = kernel.type(dot.operands[1]).shape;
    const int word = std::max(4, ir::bit_width(kernel.type(dot.result()).element) / 8);
    return static_cast<std::uint64_t>((a[0] + b[1]) * std::max(a[1], kPackedDepth) * word);
}

}  // namespace

std::string to_string(const Configuration& configuration) {
    std::string text;
    for (const auto& [name, value] : configuration) {
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, ir::to_string(value));
    }
    return text;
}

Space::Space(std::vector<Configuration> configurations) {
    for (Configuration& configuration : configurations) {
        if (!index_.emplace(to_string(configuration), configurations_.size()).second) continue;
        if (tunables_.empty()) {
            for (const auto& [name, value] : configuration) tunables_.push_back({name, {}});
        }
        if (configuration.size() != tunables_.size()) {
            throw support::InternalError("codegen/configure", "configurations of different tunables in one space");
        }
        std::vector<std::size_t> places;
        for (Tunable& tunable : tunables_) places.push_back(place_of(tunable.choices, configuration.at(tunable.name)));
        places_.push_back(std::move(places));
        configurations_.push_back(std::move(configuration));
    }
}

std::optional<std::size_t> Space::find(const Configuration& configuration) const {
    const auto found = index_.find(to_string(configuration));
    if (found == index_.end()) return std::nullopt;
    return found->second;
}

std::uint64_t Space::unconditioned_size() const {
    std::uint64_t size = configurations_.empty() ? 0 : 1;
    for (const Tunable& tunable : tunables_) size *= tunable.choices.size();
    return size;
}

std::vector<std::size_t> Space::neighbours(std::size_t index, std::size_t reach) const {
    std::vector<std::pair<std::size_t, std::size_t>> found;  // distance, configuration
    for (std::size_t other = 0; other < size(); ++other) {
        std::size_t differing = 0, far = 0;
        for (std::size_t tunable = 0; tunable < tunables_.size(); ++tunable) {
            const std::size_t apart = distance(places_[index][tunable], places_[other][tunable]);
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
