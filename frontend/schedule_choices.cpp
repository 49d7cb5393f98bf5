// The keys of matching `schedule` blocks, and the values they may have.
#include "frontend/lowering.h"
#include "frontend/schedule.h"

namespace kiln::frontend {

namespace {

// Of the numbers in a word's brackets: the front end knows no more about them.
constexpr std::int64_t kGreatestArgument = 65536;

}  // namespace

std::span<const dsl::NodeId> Lowerer::scheduled_choices(std::string_view name) {
    std::span<const dsl::NodeId> choices;
    std::size_t best = 0;
    for (const dsl::NodeId clause : children(part(2))) {
        if (node(clause).kind != dsl::NodeKind::Schedule) continue;
        for (std::size_t rank = 0; rank < request_.targets.size(); ++rank) {
            if (request_.targets[rank] != node(clause).text || rank + 1 < best) continue;
            for (const dsl::NodeId setting : children(clause)) {
                if (node(setting).text != name) continue;
                choices = children(setting);
                best = rank + 1;
            }
        }
    }
    return choices;
}

bool Lowerer::declares_tunable(std::string_view name) const {
    for (const dsl::NodeId clause : children(part(2))) {
        if (node(clause).kind != dsl::NodeKind::Tune) continue;
        for (const dsl::NodeId tunable : children(clause)) {
            if (node(tunable).text == name) return true;
        }
    }
    return false;
}

std::optional<std::int64_t> Lowerer::schedule_number(dsl::NodeId id, std::string_view what, std::int64_t lowest,
                                                     std::int64_t highest) {
    if (!is_compile_time(id)) {
        error(diagnostics::kNotCompileTime, span(id), "a value of a schedule key");
        return std::nullopt;
    }
    const std::optional<std::int64_t> number = constant_int(id, what);
    if (!number || (lowest <= *number && *number <= highest)) return number;
    error(diagnostics::kScheduleRange, span(id), what, lowest, highest, *number);
    return std::nullopt;
}

std::optional<ir::ScheduleValue> Lowerer::schedule_value(const ScheduleKey& key, dsl::NodeId id) {
    const std::string what = fmt::format("`{}`", key.name);
    if (key.words.empty()) {
        const auto number = schedule_number(id, what, key.lowest, key.highest);
        if (!number) return std::nullopt;
        return ir::ScheduleValue::number(*number);
    }
    const bool called = node(id).kind == dsl::NodeKind::Suffixed;  // the name checker has seen to the rest
    ir::ScheduleValue value{std::string(node(called ? children(id)[0] : id).text), {}};
    if (!called) return value;
    for (const dsl::NodeId argument : children(children(id)[1])) {
        const auto number = schedule_number(argument, fmt::format("`{}`", value.word), 1, kGreatestArgument);
        if (!number) return std::nullopt;
        value.numbers.push_back(*number);
    }
    return value;
}

std::vector<Lowerer::KeyChoices> Lowerer::key_choices() {
    std::vector<KeyChoices> all;
    for (const ScheduleKey& key : schedule_keys()) {
        if (declares_tunable(key.name)) continue;
        const auto asked = request_.schedule.find(std::string(key.name));
        if (asked != request_.schedule.end()) {
            all.push_back({key.name, {asked->second}});
            continue;
        }
        const std::span<const dsl::NodeId> written = scheduled_choices(key.name);
        if (written.empty()) continue;
        KeyChoices& choices = all.emplace_back(KeyChoices{key.name, {}});
        for (const dsl::NodeId choice : written) {
            if (const auto value = schedule_value(key, choice)) choices.choices.push_back(*value);
        }
    }
    return all;
}

void Lowerer::check_schedules() {
    for (const dsl::NodeId clause : children(part(2))) {
        if (node(clause).kind != dsl::NodeKind::Schedule) continue;
        for (const dsl::NodeId setting : children(clause)) {
            const ScheduleKey* key = find_schedule_key(node(setting).text);
            for (const dsl::NodeId choice : children(setting)) {
                if (declares_tunable(node(setting).text)) {
                    tunable_value(choice);
                } else if (key != nullptr) {
                    schedule_value(*key, choice);
                }
            }
        }
    }
}

bool Lowerer::check_requested_schedule() {
    const support::Span at = node(kernel_node_).name_span;
    const std::string_view target = request_.targets.empty() ? std::string_view() : request_.targets.back();
    for (const auto& [name, value] : request_.schedule) {
        const ScheduleKey* key = find_schedule_key(name);
        if (key == nullptr || declares_tunable(name)) {
            error(diagnostics::kUnknownRequest, at, request_.kernel, "schedule key", name);
            return false;
        }
        if (!admits_target(key->targets, target)) {
            error(diagnostics::kUnknownScheduleKey, at, target, name);
            return false;
        }
        if (const std::string problem = schedule_value_problem(*key, value, target); !problem.empty()) {
            error(diagnostics::kScheduleRequest, at, name, problem);
            return false;
        }
    }
    return true;
}

std::string schedule_value_problem(const ScheduleKey& key, const ir::ScheduleValue& value, std::string_view target) {
    const auto within = [](std::int64_t number, std::int64_t lowest, std::int64_t highest) {
        return lowest <= number && number <= highest;
    };
    if (key.words.empty()) {
        if (value.is_number() && within(value.numbers.front(), key.lowest, key.highest)) return "";
        return fmt::format("is a number from {} to {} and not {}", key.lowest, key.highest, ir::to_string(value));
    }
    std::string words;
    for (const ScheduleWord& word : key.words) {
        if (!admits_target(word.targets, target)) continue;
        words += fmt::format("{}`{}`", words.empty() ? "" : ", ", word.name);
        if (word.name != value.word || word.arguments != value.numbers.size()) continue;
        const bool fit = std::all_of(value.numbers.begin(), value.numbers.end(),
                                     [&](std::int64_t number) { return within(number, 1, kGreatestArgument); });
        if (fit) return "";
    }
    return fmt::format("is one of {} and not {}", words, ir::to_string(value));
}

}  // namespace kiln::frontend
