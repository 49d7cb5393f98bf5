#include "autotune/protocol.h"

#include <nlohmann/json.hpp>

namespace kiln::autotune {

namespace {

using Json = nlohmann::json;

std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

constexpr std::string_view kActions[] = {"compile", "try", "confirm"};

/// Calls `read` with the parsed line; nothing if the line is no JSON or lacks something.
template <class T, class Read>
std::optional<T> parse(const std::string& line, const Read& read) {
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object()) return std::nullopt;
    try {
        return read(json);
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

Json to_json(const MeasureOptions& options) {
    return {{"warm_up", options.warm_up},     {"fewest", options.fewest},   {"most", options.most},
            {"precision", options.precision}, {"seconds", options.seconds}, {"cold", options.cold}};
}

MeasureOptions measure_options(const Json& json) {
    MeasureOptions options;
    options.warm_up = json.at("warm_up");
    options.fewest = json.at("fewest");
    options.most = json.at("most");
    options.precision = json.at("precision");
    options.seconds = json.at("seconds");
    options.cold = json.at("cold");
    return options;
}

Json to_json(const TrialResult& result) {
    return {{"verdict", runtime::verdict_name(result.verdict)},
            {"reason", result.reason},
            {"seconds", result.timing.seconds},
            {"spread_seconds", result.timing.spread_seconds},
            {"runs", result.timing.runs},
            {"contended", result.timing.contended},
            {"clock_mhz", result.clock_mhz},
            {"compile_seconds", result.compile_seconds},
            {"spent", result.spent}};
}

std::optional<Answer> trial_result(const Json& json) {
    const std::optional<Verdict> verdict = runtime::verdict_named(json.at("verdict").get<std::string>());
    if (!verdict) return std::nullopt;
    TrialResult result;
    result.verdict = *verdict;
    result.reason = json.at("reason");
    result.timing.seconds = json.at("seconds");
    result.timing.spread_seconds = json.at("spread_seconds");
    result.timing.runs = json.at("runs");
    result.timing.contended = json.at("contended");
    result.clock_mhz = json.at("clock_mhz");
    result.compile_seconds = json.at("compile_seconds");
    result.spent = json.at("spent");
    return result;
}

}  // namespace

std::string to_line(const Job& job) {
    return dump({{"job", Json::parse(runtime::to_line(job.launch))},
                 {"root", job.root},
                 {"texts", job.texts},
                 {"seed", job.seed},
                 {"measure", to_json(job.measure)}});
}

std::string to_line(const TrialRequest& request) {
    return dump({{"trial", request.tunables},
                 {"action", kActions[static_cast<std::size_t>(request.action)]},
                 {"give_up_above", request.give_up_above}});
}

std::string to_line(const Answer& answer) {
    if (const auto* stage = std::get_if<Stage>(&answer)) return dump({{"stage", stage->name}});
    if (const auto* ready = std::get_if<Ready>(&answer)) return dump({{"ready", ready->device}});
    if (const auto* fatal = std::get_if<Fatal>(&answer)) return dump({{"fatal", fatal->reason}});
    return dump(to_json(std::get<TrialResult>(answer)));
}

std::optional<Job> parse_job(const std::string& line) {
    return parse<Job>(line, [](const Json& json) -> std::optional<Job> {
        std::string reason;
        std::optional<runtime::CapturedLaunch> launch = runtime::parse_captured(json.at("job").dump(), reason);
        if (!launch) return std::nullopt;
        return Job{std::move(*launch), json.at("root"), json.at("texts"), json.at("seed"),
                   measure_options(json.at("measure"))};
    });
}

std::optional<TrialRequest> parse_request(const std::string& line) {
    return parse<TrialRequest>(line, [](const Json& json) -> std::optional<TrialRequest> {
        TrialRequest request;
        request.tunables = json.at("trial");
        request.give_up_above = json.at("give_up_above");
        const std::string action = json.at("action");
        for (std::size_t i = 0; i < std::size(kActions); ++i) {
            request.action = static_cast<TrialAction>(i);
            if (kActions[i] == action) return request;
        }
        return std::nullopt;
    });
}

std::optional<Answer> parse_answer(const std::string& line) {
    return parse<Answer>(line, [](const Json& json) -> std::optional<Answer> {
        if (json.contains("stage")) return Stage{json.at("stage")};
        if (json.contains("ready")) return Ready{json.at("ready")};
        if (json.contains("fatal")) return Fatal{json.at("fatal")};
        return trial_result(json);
    });
}

}  // namespace kiln::autotune
