// A measurement as a line of JSON, and back. docs/tuning_store.md describes the fields.
#include "runtime/tuning_row.h"

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kiln::runtime {

namespace {

constexpr int kLineVersion = 1;
// A row has a few hundred bytes; nothing of ours comes near this.
constexpr std::size_t kLongestLine = std::size_t{1} << 20;

constexpr std::string_view kVerdictNames[] = {"verified", "unchecked", "wrong",     "compile_failed",
                                              "refused",  "crashed",   "timed_out", "excluded"};

/// JSON has no infinities.
double finite(double value) {
    return std::isfinite(value) ? value : 0;
}

Json to_json(const Configuration& configuration) {
    Json json = Json::object();
    for (const auto& [name, choice] : configuration) {
        if (choice.expression.empty()) {
            json[name] = choice.value;
        } else {
            json[name] = {{"value", choice.value}, {"expression", choice.expression}};
        }
    }
    return json;
}

Json to_json(const TuningDevice& device) {
    return {{"name", device.name},
            {"description", device.description},
            {"fingerprint", device.fingerprint},
            {"targets", device.targets},
            {"units", device.units}};
}

Json to_json(const Measurement& row) {
    return {{"kiln_tuning", kLineVersion},
            {"kernel", row.problem.kernel},
            {"name", row.problem.name},
            {"file", row.problem.file},
            {"generics", row.problem.generics},
            {"arguments", row.problem.arguments},
            {"sizes", row.problem.sizes},
            {"device", to_json(row.device)},
            {"configuration", to_json(row.configuration)},
            {"build", row.build},
            {"numerics", numerics_name(row.numerics)},
            {"verdict", verdict_name(row.verdict)},
            {"reason", row.reason},
            {"seconds", finite(row.seconds)},
            {"spread_seconds", finite(row.spread_seconds)},
            {"runs", row.runs},
            {"contended", row.contended},
            {"clock_mhz", finite(row.clock_mhz)},
            {"seed", row.seed},
            {"taken_ms", row.taken_ms}};
}

Configuration configuration_of(const Json& json) {
    Configuration configuration;
    for (const auto& [name, value] : json.items()) {
        TunedValue& choice = configuration[name];
        if (value.is_string()) {
            choice.value = value.get<std::string>();
        } else {
            choice = {value.at("value").get<std::string>(), value.at("expression").get<std::string>()};
        }
    }
    return configuration;
}

TuningDevice device_of(const Json& json) {
    TuningDevice device{json.at("name").get<std::string>(), json.value("description", ""),
                        json.at("fingerprint").get<std::string>(), json.at("targets").get<std::vector<std::string>>(),
                        json.at("units").get<std::int64_t>()};
    if (device.targets.empty() || device.units < 1) throw std::invalid_argument("a device without targets or units");
    return device;
}

TuningProblem problem_of(const Json& json) {
    using Texts = std::map<std::string, std::string>;
    TuningProblem problem{
        json.at("kernel").get<std::string>(), json.at("name").get<std::string>(), json.value("file", ""),
        json.at("generics").get<Texts>(),     json.at("arguments").get<Texts>(),  {}};
    for (const auto& [name, size] : json.at("sizes").items()) {
        if (!size.is_number_integer() || size.get<std::int64_t>() < 0) {
            throw std::invalid_argument("the size " + name + " is no whole number");
        }
        problem.sizes[name] = size.get<std::int64_t>();
    }
    return problem;
}

Numerics numerics_named(const std::string& name) {
    for (const Numerics numerics : {Numerics::Ordered, Numerics::Unordered}) {
        if (numerics_name(numerics) == name) return numerics;
    }
    throw std::invalid_argument("there is no numerics class " + name);
}

Measurement measurement_of(const Json& json) {
    Measurement row;
    row.problem = problem_of(json);
    row.device = device_of(json.at("device"));
    row.configuration = configuration_of(json.at("configuration"));
    row.build = json.at("build").get<std::string>();
    row.numerics = numerics_named(json.value("numerics", "ordered"));
    const std::optional<Verdict> verdict = verdict_named(json.at("verdict").get<std::string>());
    if (!verdict) throw std::invalid_argument("there is no verdict " + json.at("verdict").get<std::string>());
    row.verdict = *verdict;
    row.reason = json.value("reason", "");
    row.seconds = json.at("seconds").get<double>();
    row.spread_seconds = json.value("spread_seconds", 0.0);
    row.runs = json.value("runs", std::int64_t{0});
    row.contended = json.value("contended", false);
    row.clock_mhz = json.value("clock_mhz", 0.0);
    row.seed = json.value("seed", std::uint64_t{0});
    row.taken_ms = json.at("taken_ms").get<std::int64_t>();
    const bool timed = row.verdict == Verdict::Verified;
    if (!std::isfinite(row.seconds) || row.seconds < 0 || (timed && row.seconds == 0)) {
        throw std::invalid_argument("no time stands where one must");
    }
    return row;
}

}  // namespace

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string id_of(std::string_view text) {
    const Checksum sum = checksum(text);
    return fmt::format("{:016x}{:016x}", sum.high, sum.low);
}

std::string_view verdict_name(Verdict verdict) {
    return kVerdictNames[static_cast<std::size_t>(verdict)];
}

std::optional<Verdict> verdict_named(std::string_view name) {
    const auto found = std::find(std::begin(kVerdictNames), std::end(kVerdictNames), name);
    if (found == std::end(kVerdictNames)) return std::nullopt;
    return static_cast<Verdict>(found - std::begin(kVerdictNames));
}

std::string_view numerics_name(Numerics numerics) {
    return numerics == Numerics::Ordered ? "ordered" : "unordered";
}

std::string to_string(const Configuration& configuration) {
    std::string text;
    for (const auto& [name, choice] : configuration) {
        text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, choice.value);
        if (!choice.expression.empty()) text += fmt::format(" ({})", choice.expression);
    }
    return text;
}

std::string to_line(const Measurement& measurement) {
    return dump(to_json(measurement));
}

std::optional<Measurement> parse_line(std::string_view line, std::string& reason) {
    std::optional<EncodedRow> row = encode_line(line, reason);
    if (!row) return std::nullopt;
    return std::move(row->measurement);
}

std::optional<EncodedRow> encode_line(std::string_view line, std::string& reason) {
    if (line.size() > kLongestLine) {
        reason = "the line is too long";
        return std::nullopt;
    }
    try {
        const Json json = Json::parse(line);
        if (!json.is_object() || !json.contains("kiln_tuning")) {
            reason = "the line is no measurement";
            return std::nullopt;
        }
        if (json.at("kiln_tuning").get<int>() > kLineVersion) {
            reason = "the line is from a newer Kiln";
            return std::nullopt;
        }
        Measurement measurement = measurement_of(json);
        // Fields that this version does not know stay in the text.
        std::string text = dump(json);
        std::string id = id_of(text);
        return EncodedRow{std::move(id), std::move(text), std::move(measurement)};
    } catch (const std::exception& error) {
        reason = error.what();
        return std::nullopt;
    }
}

std::string class_of(const TuningProblem& problem) {
    KeyBuilder key;
    key.add(problem.kernel);
    for (const auto* texts : {&problem.generics, &problem.arguments}) {
        key.add(texts->size());
        for (const auto& [name, text] : *texts) {
            key.add(name);
            key.add(text);
        }
    }
    return key.finish();
}

std::string sizes_text(const TuningProblem& problem) {
    return dump(Json(problem.sizes));
}

std::string configuration_text(const Configuration& configuration) {
    return dump(to_json(configuration));
}

std::string device_key(const TuningDevice& device) {
    KeyBuilder key;
    key.add(device.fingerprint);
    key.add(static_cast<std::uint64_t>(device.units));
    return key.finish();
}

std::int64_t now_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace kiln::runtime
