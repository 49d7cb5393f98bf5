// What a kernel may be specialised by beside its types and sizes: values of its tunables, and the keys of its schedule.
// No value changes what a kernel computes beyond the order of its sums.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/scalar.h"

namespace kiln::ir {

/// The value of a schedule key: a number (`4`), a word (`rows`), or a word with numbers (`grouped(4)`).
struct ScheduleValue {
    std::string word;                   ///< empty: a number
    std::vector<std::int64_t> numbers;  ///< without a word exactly one

    static ScheduleValue number(std::int64_t value) { return {{}, {value}}; }
    bool is_number() const { return word.empty(); }
    friend bool operator==(const ScheduleValue&, const ScheduleValue&) = default;
};

/// "4", "rows", "grouped(4)", "mma(16, 8, 16)".
std::string to_string(const ScheduleValue& value);
/// The inverse of to_string; spaces do not matter. Nothing if the text is no such value.
std::optional<ScheduleValue> parse_schedule_value(std::string_view text);

/// Keys with their values. frontend/schedule.h has the keys that there are, and which targets have them.
using Schedule = std::map<std::string, ScheduleValue>;

/// The number that a key has; `otherwise` where the schedule does not name the key.
std::int64_t schedule_number(const Schedule& schedule, std::string_view key, std::int64_t otherwise);

/// A value for every tunable of a kernel, and for every key of the schedule that matches the target. Names of both are
/// apart: a tunable hides the key of its name.
struct Configuration {
    std::map<std::string, Scalar> tunables;
    Schedule schedule;

    bool empty() const { return tunables.empty() && schedule.empty(); }
    /// All of it by name, as the language spells the values.
    std::map<std::string, std::string> spelled() const;
    friend bool operator==(const Configuration&, const Configuration&) = default;
};

/// "BK=32, BM=64, grid_order=grouped(4)": the same text for the same configuration, everywhere.
std::string to_string(const Configuration& configuration);

}  // namespace kiln::ir
