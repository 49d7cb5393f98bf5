#include "ir/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace kiln::ir {

namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
    text = trimmed(text);
    std::int64_t value = 0;
    const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
    return value;
}

bool is_word(std::string_view text) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    return !text.empty() && letter(text.front()) &&
           std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace

std::string to_string(const ScheduleValue& value) {
    std::string numbers;
    for (const std::int64_t number : value.numbers) {
        numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", number);
    }
    if (value.is_number()) return numbers;
    return numbers.empty() ? value.word : fmt::format("{}({})", value.word, numbers);
}

std::optional<ScheduleValue> parse_schedule_value(std::string_view text) {
    text = trimmed(text);
    if (const auto number = parse_number(text)) return ScheduleValue::number(*number);
    const std::size_t open = std::min(text.find('('), text.size());
    ScheduleValue value{std::string(trimmed(text.substr(0, open))), {}};
    if (!is_word(value.word)) return std::nullopt;
    if (open == text.size()) return value;
    if (text.back() != ')') return std::nullopt;
    std::string_view list = text.substr(open + 1, text.size() - open - 2);
    while (true) {
        const std::size_t comma = list.find(',');
        const auto number = parse_number(list.substr(0, comma));
        if (!number) return std::nullopt;
        value.numbers.push_back(*number);
        if (comma == std::string_view::npos) return value;
        list.remove_prefix(comma + 1);
    }
}

std::int64_t schedule_number(const Schedule& schedule, std::string_view key, std::int64_t otherwise) {
    const auto found = schedule.find(std::string(key));
    return found == schedule.end() || found->second.numbers.empty() ? otherwise : found->second.numbers.front();
}

std::map<std::string, std::string> Configuration::spelled() const {
    std::map<std::string, std::string> values;
    for (const auto& [name, value] : tunables) values[name] = to_string(value);
    for (const auto& [key, value] : schedule) values[key] = to_string(value);
    return values;
}

std::string to_string(const Configuration& configuration) {
    std::string text;
    for (const auto& [name, value] : configuration.spelled()) {
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
    }
    return text;
}

}  // namespace kiln::ir
