// The keys of `schedule` blocks and the targets that have them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/configuration.h"

namespace kiln::frontend {

/// A bare word of a key, such as `rows` or `grouped(4)`. Empty `targets`: wherever the key is known.
struct ScheduleWord {
    std::string_view name;
    std::size_t arguments = 0;
    std::span<const std::string_view> targets = {};
};

/// A key. Without words it takes an expression, which the specialiser holds to [lowest, highest].
struct ScheduleKey {
    std::string_view name;
    std::span<const std::string_view> targets;  ///< targets or families; empty: all
    std::span<const ScheduleWord> words;
    int lowest = 0, highest = 0;
};

/// What may stand after `schedule`: families and architectures.
const std::vector<std::string_view>& schedule_targets();
/// `cpu`, `gpu`, `nvidia`, `amd`, or empty for `cpu` and `gpu`; the next wider target. Empty for a name that is none.
std::string_view wider_target(std::string_view target);

std::span<const ScheduleKey> schedule_keys();
const ScheduleKey* find_schedule_key(std::string_view name);

/// Why a host may not give a key this value on a target, as a predicate: "is a number from 1 to 16 and not 32"; empty
/// if it may.
std::string schedule_value_problem(const ScheduleKey& key, const ir::ScheduleValue& value, std::string_view target);

/// Whether `target` is one of `targets` or belongs to one of these families. An empty list admits every target.
bool admits_target(std::span<const std::string_view> targets, std::string_view target);

}  // namespace kiln::frontend
