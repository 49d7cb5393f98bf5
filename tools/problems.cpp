#include "tools/problems.h"

#include <fmt/format.h>

#include <charconv>

namespace kiln::tools {

namespace {

// More problems than this are a slip of the pen.
constexpr std::size_t kMostProblems = 4096;

template <class Number>
Number parse_number(std::string_view text, const std::string& what) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        throw user_error(fmt::format("{} has `{}` where a number should stand", what, text));
    }
    return value;
}

/// "512", "64..4096*2" or "64..512+64".
std::vector<std::int64_t> values_of(const std::string& text) {
    const std::string what = fmt::format("the size `{}`", text);
    const std::size_t dots = text.find("..");
    if (dots == std::string::npos) return {parse_number<std::int64_t>(text, what)};
    const std::string_view rest = std::string_view(text).substr(dots + 2);
    const std::size_t sign = rest.find_first_of("*+");
    if (sign == std::string_view::npos) {
        throw user_error(fmt::format("{} is a range without a step: add *2 or +64", what));
    }
    const auto first = parse_number<std::int64_t>(std::string_view(text).substr(0, dots), what);
    const auto last = parse_number<std::int64_t>(rest.substr(0, sign), what);
    const auto step = parse_number<std::int64_t>(rest.substr(sign + 1), what);
    const bool multiplies = rest[sign] == '*';
    if (first < 1 || last < first || step < (multiplies ? 2 : 1))
        throw user_error(what + " is an empty or endless range");
    std::vector<std::int64_t> values;
    for (std::int64_t value = first; value <= last && values.size() <= kMostProblems;) {
        values.push_back(value);
        const bool overflows =
            multiplies ? __builtin_mul_overflow(value, step, &value) : __builtin_add_overflow(value, step, &value);
        if (overflows) break;
    }
    return values;
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == separator) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

}  // namespace

std::vector<std::vector<std::string>> expand_sizes(const std::string& text) {
    std::vector<std::vector<std::string>> assignments = {{}};
    for (const std::string& part : split(text, ',')) {
        const std::size_t equals = part.find('=');
        if (equals == std::string::npos || equals == 0) {
            throw user_error(fmt::format("--size takes NAME=VALUE, and `{}` was given", part));
        }
        std::vector<std::vector<std::string>> longer;
        for (const std::int64_t value : values_of(part.substr(equals + 1))) {
            for (std::vector<std::string> assignment : assignments) {
                assignment.push_back(fmt::format("{}={}", part.substr(0, equals), value));
                longer.push_back(std::move(assignment));
            }
        }
        assignments = std::move(longer);
        if (assignments.size() > kMostProblems) {
            throw user_error(fmt::format("`{}` stands for more than {} problems", text, kMostProblems));
        }
    }
    return assignments;
}

double parse_duration(const std::string& text) {
    const std::string what = fmt::format("the duration `{}`", text);
    double unit = 1;
    std::string_view number = text;
    if (!number.empty() && std::string_view("smh").find(number.back()) != std::string_view::npos) {
        unit = number.back() == 's' ? 1 : number.back() == 'm' ? 60 : 3600;
        number.remove_suffix(1);
    }
    const double seconds = parse_number<double>(number, what) * unit;
    if (!(seconds >= 0) || seconds > 1e9) throw user_error(what + " is out of range");
    return seconds;
}

autotune::Shard parse_shard(const std::string& text) {
    const std::vector<std::string> parts = split(text, '/');
    const std::string what = fmt::format("the shard `{}`", text);
    if (parts.size() != 2) throw user_error(what + " is not of the form 0/8");
    const autotune::Shard shard{parse_number<std::size_t>(parts[0], what), parse_number<std::size_t>(parts[1], what)};
    if (shard.index >= shard.count) throw user_error(what + " counts from 0 and must lie below its count");
    return shard;
}

std::vector<runtime::CapturedLaunch> launches_of(const KernelOptions& options, const std::vector<std::string>& sizes) {
    std::vector<runtime::CapturedLaunch> launches;
    KernelOptions one = options;
    if (sizes.empty()) launches.push_back(launch_of(one));
    for (const std::string& text : sizes) {
        for (std::vector<std::string>& assignment : expand_sizes(text)) {
            one.sizes = std::move(assignment);
            launches.push_back(launch_of(one));
        }
    }
    return launches;
}

std::string title(const runtime::CapturedLaunch& launch) {
    std::string text = launch.kernel;
    for (const auto& [name, value] : launch.generics) text += fmt::format(" {}={}", name, value);
    for (const runtime::CapturedTensor& tensor : launch.tensors) {
        text += fmt::format(" {}[{}]", tensor.name, fmt::join(tensor.sizes, ","));
    }
    return text;
}

}  // namespace kiln::tools
