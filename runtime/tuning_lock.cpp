#include "runtime/tuning_lock.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <tuple>

#include "kiln/error.hpp"
#include "runtime/tuning_row.h"

namespace kiln::runtime {

namespace {

constexpr int kLockVersion = 1;

Error lock_error(const std::string& path, std::size_t line, const std::string& message) {
    return Error(ErrorKind::user, fmt::format("{}:{}: {}", path, line, message));
}

/// Reads a text and counts its lines: the parser's place in it while it hands out what it has read.
class CountingIterator {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    CountingIterator(const char* at, std::size_t* line) : at_(at), line_(line) {}
    reference operator*() const { return *at_; }
    CountingIterator& operator++() {
        if (*at_ == '\n') ++*line_;
        ++at_;
        return *this;
    }
    CountingIterator operator++(int) {
        const CountingIterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }
    friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return a.at_ != b.at_; }

private:
    const char* at_;
    std::size_t* line_;
};

struct ParsedLock {
    Json json;
    std::vector<std::size_t> pin_lines;  ///< where each object of `pins` begins
};

ParsedLock parse_with_lines(const std::string& text, const std::string& path) {
    ParsedLock parsed;
    std::size_t line = 1;
    const auto watch = [&](int depth, Json::parse_event_t event, Json&) {
        if (event == Json::parse_event_t::object_start && depth == 2) parsed.pin_lines.push_back(line);
        return true;
    };
    try {
        const char* begin = text.data();
        parsed.json = Json::parse(CountingIterator(begin, &line), CountingIterator(begin + text.size(), &line), watch);
    } catch (const Json::exception& error) {
        throw lock_error(path, line, fmt::format("the lock file is damaged ({})", error.what()));
    }
    return parsed;
}

/// Text, number or truth value as the language spells it.
std::string value_text(const Json& json) {
    if (json.is_string()) return json.get<std::string>();
    if (json.is_boolean() || json.is_number_integer()) return json.dump();
    throw std::invalid_argument("a value is neither text nor an integer nor true or false");
}

std::map<std::string, std::string> texts_of(const Json& json) {
    std::map<std::string, std::string> texts;
    for (const auto& [name, value] : json.items()) texts[name] = value_text(value);
    return texts;
}

Pin pin_of(const Json& json, std::size_t line) {
    constexpr std::string_view kFields[] = {"kernel",    "file",  "target",       "generics",
                                            "arguments", "sizes", "configuration"};
    for (const auto& [name, value] : json.items()) {
        if (std::find(std::begin(kFields), std::end(kFields), name) == std::end(kFields)) {
            throw std::invalid_argument(fmt::format("a pin has no field `{}`", name));
        }
    }
    Pin pin;
    pin.line = line;
    if (!json.contains("kernel")) throw std::invalid_argument("a pin names no `kernel`");
    pin.kernel = json.at("kernel").get<std::string>();
    pin.file = json.value("file", "");
    pin.target = json.value("target", "");
    pin.generics = texts_of(json.value("generics", Json::object()));
    pin.arguments = texts_of(json.value("arguments", Json::object()));
    const Json sizes = json.value("sizes", Json::object());
    for (const auto& [name, size] : sizes.items()) pin.sizes[name] = size.get<std::int64_t>();
    if (!json.contains("configuration") || !json.at("configuration").is_object()) {
        throw std::invalid_argument(fmt::format("the pin for `{}` has no `configuration`", pin.kernel));
    }
    for (const auto& [name, value] : json.at("configuration").items()) {
        if (value.is_object()) {
            pin.configuration[name] = {value_text(value.at("value")), value.at("expression").get<std::string>()};
        } else {
            pin.configuration[name] = {value_text(value), ""};
        }
    }
    return pin;
}

auto selector(const Pin& pin) {
    return std::tie(pin.kernel, pin.file, pin.target, pin.generics, pin.arguments, pin.sizes);
}

template <class Map>
bool agrees(const Map& asked, const Map& present) {
    for (const auto& [name, value] : asked) {
        const auto found = present.find(name);
        if (found == present.end() || found->second != value) return false;
    }
    return true;
}

std::string last_part(const std::string& path) {
    return path.substr(path.rfind('/') + 1);
}

Json pin_json(const Measurement& row) {
    Json configuration = Json::object();
    for (const auto& [name, choice] : row.configuration) {
        if (choice.expression.empty()) {
            configuration[name] = choice.value;
        } else {
            configuration[name] = {{"value", choice.value}, {"expression", choice.expression}};
        }
    }
    return {{"kernel", row.problem.name},          {"file", last_part(row.problem.file)},
            {"target", row.device.targets.back()}, {"generics", row.problem.generics},
            {"arguments", row.problem.arguments},  {"sizes", row.problem.sizes},
            {"configuration", configuration}};
}

}  // namespace

bool Pin::holds_for(const TuningProblem& problem, const TuningDevice& device) const {
    const bool target_fits =
        target.empty() || std::find(device.targets.begin(), device.targets.end(), target) != device.targets.end();
    return target_fits && kernel == problem.name && (file.empty() || file == last_part(problem.file)) &&
           agrees(generics, problem.generics) && agrees(arguments, problem.arguments) && agrees(sizes, problem.sizes);
}

std::size_t Pin::weight() const {
    return (file.empty() ? 0 : 1) + (target.empty() ? 0 : 1) + generics.size() + arguments.size() + sizes.size();
}

TuningLock TuningLock::parse(const std::string& text, const std::string& path) {
    const ParsedLock parsed = parse_with_lines(text, path);
    const Json& json = parsed.json;
    const Json version = json.is_object() ? json.value("kiln_lock", Json()) : Json();
    if (!version.is_number_integer()) throw lock_error(path, 1, "this is no lock file: it lacks `\"kiln_lock\": 1`");
    if (version.get<std::int64_t>() > kLockVersion) throw lock_error(path, 1, "the lock file is from a newer Kiln");
    for (const auto& [name, value] : json.items()) {
        if (name != "kiln_lock" && name != "pins")
            throw lock_error(path, 1, fmt::format("a lock file has no field `{}`", name));
    }
    const Json pins = json.value("pins", Json::array());
    if (!pins.is_array()) throw lock_error(path, 1, "`pins` is no list");
    TuningLock lock;
    lock.path_ = path;
    for (std::size_t i = 0; i < pins.size(); ++i) {
        if (!pins[i].is_object()) throw lock_error(path, 1, fmt::format("entry {} of `pins` is no object", i + 1));
        const std::size_t line = parsed.pin_lines[i];
        try {
            lock.pins_.push_back(pin_of(pins[i], line));
        } catch (const std::exception& error) {
            throw lock_error(path, line, error.what());
        }
        const Pin& added = lock.pins_.back();
        for (std::size_t earlier = 0; earlier < i; ++earlier) {
            const Pin& other = lock.pins_[earlier];
            if (selector(other) != selector(added) || other.configuration == added.configuration) continue;
            throw lock_error(
                path, line,
                fmt::format("`{}` is pinned to another configuration in line {}", added.kernel, other.line));
        }
    }
    return lock;
}

TuningLock TuningLock::read(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (!stream.is_open() || stream.bad()) {
        throw Error(ErrorKind::user, fmt::format("the lock file {} cannot be read ({})", path, std::strerror(errno)));
    }
    return parse(text, path);
}

const Pin* TuningLock::find(const TuningProblem& problem, const TuningDevice& device) const {
    const Pin* best = nullptr;
    for (const Pin& pin : pins_) {
        if (pin.holds_for(problem, device) && (best == nullptr || pin.weight() > best->weight())) best = &pin;
    }
    return best;
}

std::string make_lock(const std::vector<Measurement>& rows) {
    std::map<std::string, const Measurement*> best;  // by what the pin selects
    for (const Measurement& row : rows) {
        if (row.verdict != Verdict::Verified || row.build != tuning_build()) continue;
        Json selector = pin_json(row);
        selector.erase("configuration");
        const Measurement*& entry = best[dump(selector)];
        const bool better = entry == nullptr ||
                            std::tie(row.seconds, row.configuration) < std::tie(entry->seconds, entry->configuration);
        if (better) entry = &row;
    }
    std::string text = fmt::format("{{\"kiln_lock\": {}, \"pins\": [", kLockVersion);
    bool first = true;
    for (const auto& [key, row] : best) {
        text += fmt::format("{}\n  {}", first ? "" : ",", dump(pin_json(*row)));
        first = false;
    }
    return text + "\n]}\n";
}

namespace {

/// Never destroyed: a launch may ask while the process ends.
struct LockOfProcess {
    std::mutex mutex;
    std::string path;
    std::shared_ptr<const TuningLock> lock;
};

LockOfProcess& lock_of_process() {
    static auto* instance = [] {
        auto* made = new LockOfProcess;
        if (const char* path = std::getenv("KILN_TUNING_LOCK")) made->path = path;
        return made;
    }();
    return *instance;
}

}  // namespace

std::shared_ptr<const TuningLock> tuning_lock() {
    LockOfProcess& process = lock_of_process();
    const std::lock_guard guard(process.mutex);
    if (process.lock == nullptr && !process.path.empty()) {
        process.lock = std::make_shared<const TuningLock>(TuningLock::read(process.path));
    }
    return process.lock;
}

void use_tuning_lock(const std::string& path) {
    LockOfProcess& process = lock_of_process();
    const std::lock_guard guard(process.mutex);
    process.path = path;
    process.lock = nullptr;
}

}  // namespace kiln::runtime
