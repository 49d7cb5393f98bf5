// From one layout to another, and layouts as text.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/gpu/layout.h"
#include "ir/support/internal_error.h"

namespace kiln::codegen::gpu {
namespace {

/// A lane that needs one of more source registers than these goes through shared memory.
constexpr std::size_t kMostCandidates = 4;

struct Piece {
    const Part* part;
    int first;  ///< register
};

Piece piece_of_register(const Layout& layout, int number) {
    int first = 0;
    for (const Part& part : layout.parts()) {
        if (number < first + count(part.registers)) return {&part, first};
        first += count(part.registers);
    }
    throw support::InternalError("codegen::gpu::plan", "no such register in " + to_string(layout));
}

/// Same threads for every element: then each register of the destination is a register of the source.
std::optional<Conversion> rename_registers(const Layout& source, const Layout& destination) {
    Conversion result;
    result.movement = Movement::Registers;
    for (int number = 0; number < destination.registers(); ++number) {
        const Coordinates element = destination.at({number, 0, 0});
        if (!destination.contains(element)) {
            result.registers.push_back(-1);
            continue;
        }
        const std::optional<Place> place = source.find(element);
        if (!place || place->lane != 0 || place->warp != 0) return std::nullopt;
        const Part& from = *piece_of_register(source, place->reg).part;
        const Part& to = *piece_of_register(destination, number).part;
        if (from.lanes != to.lanes || from.warps != to.warps) return std::nullopt;
        result.registers.push_back(place->reg);
    }
    return result;
}

/// Whether a common refinement of the digits along each axis exists, so that each digit of one layout is made of whole
/// digits of the other.
bool have_common_digits(const Part& a, const Part& b) {
    for (std::size_t axis = 0; axis < a.origin.rank(); ++axis) {
        std::vector<std::int64_t> strides;
        for (const Part* part : {&a, &b}) {
            for (const Digits* digits : {&part->registers, &part->lanes, &part->warps}) {
                for (const Digit& digit : *digits) {
                    if (digit.axis == static_cast<int>(axis)) strides.push_back(digit.stride);
                }
            }
        }
        std::sort(strides.begin(), strides.end());
        for (std::size_t i = 1; i < strides.size(); ++i) {
            if (strides[i] % strides[i - 1] != 0) return false;
        }
    }
    return true;
}

/// What the bits of the reader's lane do: choose the source lane or the source register. False where one leads to
/// another warp.
bool place_lane_bits(const Layout& source, const Layout& destination, Conversion& result) {
    const Digits& readers = destination.parts().front().lanes;
    const Digits& holders = source.parts().front().lanes;
    for (std::size_t bit = 0; bit < readers.size(); ++bit) {
        // A source that repeats along this bit is read where the reader is.
        int lane = holders[bit].axis == kBroadcast ? 1 << bit : 0;
        if (readers[bit].axis != kBroadcast) {
            const std::optional<Place> place = source.find(destination.at({0, 1 << bit, 0}));
            // Beyond the box of the source lies nothing of the tile.
            if (place && place->warp != 0) return false;
            if (place) lane |= place->lane;
            if (place && place->reg != 0) result.selectors.push_back(1 << bit);
        }
        result.lane_bits.push_back(lane);
    }
    return std::size_t{1} << result.selectors.size() <= kMostCandidates;
}

std::optional<Exchange> exchange_of(const Layout& source, const Layout& destination, int number,
                                    const std::vector<int>& selectors) {
    Exchange result;
    for (unsigned choice = 0; choice < 1u << selectors.size(); ++choice) {
        int lane = 0;
        for (std::size_t i = 0; i < selectors.size(); ++i) {
            if ((choice >> i & 1u) != 0) lane |= selectors[i];
        }
        const Coordinates element = destination.at({number, lane, 0});
        const std::optional<Place> place = destination.contains(element) ? source.find(element) : std::nullopt;
        if (place && place->warp != 0) return std::nullopt;
        if (place && choice == 0) result.lane = place->lane;
        result.registers.push_back(place ? place->reg : -1);
    }
    return result;
}

std::optional<Conversion> shuffle(const Layout& source, const Layout& destination) {
    if (source.parts().size() != 1 || destination.parts().size() != 1) return std::nullopt;
    const Part &from = source.parts().front(), &to = destination.parts().front();
    if (from.warps != to.warps || !have_common_digits(from, to)) return std::nullopt;
    Conversion result;
    result.movement = Movement::Shuffles;
    if (!place_lane_bits(source, destination, result)) return std::nullopt;
    for (int number = 0; number < destination.registers(); ++number) {
        std::optional<Exchange> exchange = exchange_of(source, destination, number, result.selectors);
        if (!exchange) return std::nullopt;
        result.exchanges.push_back(std::move(*exchange));
    }
    return result;
}

/// Neighbouring bits of a number that move by doubling strides.
struct Run {
    int first, bits;
    std::int64_t stride;
};

std::vector<Run> runs(const Digits& digits, int axis) {
    std::vector<Run> result;
    int bit = 0;
    for (const Digit& digit : digits) {
        if (digit.axis == axis) {
            const bool extends = !result.empty() && result.back().first + result.back().bits == bit &&
                                 digit.stride == result.back().stride << result.back().bits;
            if (extends) {
                ++result.back().bits;
            } else {
                result.push_back({bit, 1, digit.stride});
            }
        }
        ++bit;
    }
    return result;
}

std::string times(const std::string& factor, std::int64_t stride) {
    return stride == 1 ? factor : fmt::format("{} * {}u", factor, stride);
}

std::string bit_terms(const Digits& digits, int axis, std::string_view name) {
    std::string result;
    for (const Run& run : runs(digits, axis)) {
        const bool last = static_cast<std::size_t>(run.first + run.bits) == digits.size();
        const std::string shifted = run.first == 0 ? std::string(name) : fmt::format("({} >> {})", name, run.first);
        const std::string term = last ? shifted : fmt::format("({} & {}u)", shifted, (1 << run.bits) - 1);
        result += (result.empty() ? "" : " + ") + times(term, run.stride);
    }
    return result;
}

std::string digit_terms(const Digits& digits, int axis, std::string_view name) {
    std::string result;
    int weight = 1;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const Digit& digit = digits[i];
        if (digit.axis == axis) {
            std::string term = weight == 1 ? std::string(name) : fmt::format("({} / {}u)", name, weight);
            if (i + 1 < digits.size()) term = fmt::format("({} % {}u)", term, digit.count);
            result += (result.empty() ? "" : " + ") + times(term, digit.stride);
        }
        weight *= digit.count;
    }
    return result;
}

}  // namespace

bool Conversion::moves_lanes(const Exchange& exchange) const {
    if (exchange.lane != 0) return true;
    for (std::size_t bit = 0; bit < lane_bits.size(); ++bit) {
        if (lane_bits[bit] != 1 << bit) return true;
    }
    return false;
}

Conversion plan(const Layout& source, const Layout& destination) {
    if (!(source.shape() == destination.shape()) || source.lanes() != destination.lanes() ||
        source.warps() != destination.warps()) {
        throw support::InternalError("codegen::gpu::plan",
                                     "from " + to_string(source) + " to " + to_string(destination));
    }
    if (source == destination) return {};
    if (std::optional<Conversion> renamed = rename_registers(source, destination)) return *renamed;
    if (std::optional<Conversion> shuffled = shuffle(source, destination)) return *shuffled;
    Conversion result;
    result.movement = Movement::Shared;
    return result;
}

std::string expression(const Digits& digits, int axis, std::string_view name) {
    const bool bits_only =
        std::all_of(digits.begin(), digits.end(), [](const Digit& digit) { return digit.count == 2; });
    const std::string result = bits_only ? bit_terms(digits, axis, name) : digit_terms(digits, axis, name);
    return result.empty() ? "0" : result;
}

std::string expression(const Part& part, int axis, std::string_view lane, std::string_view warp) {
    const std::int64_t origin = part.origin[static_cast<std::size_t>(axis)];
    std::string result = origin == 0 ? "" : fmt::format("{}u", origin);
    for (const std::string& term : {expression(part.lanes, axis, lane), expression(part.warps, axis, warp)}) {
        if (term != "0") result += (result.empty() ? "" : " + ") + term;
    }
    return result.empty() ? "0" : result;
}

}  // namespace kiln::codegen::gpu
