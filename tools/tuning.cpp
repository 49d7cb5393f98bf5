// kiln tuning: the store of measurements: join, export, import, show, prune, and pin.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

#include "kiln/error.hpp"
#include "runtime/tuning_lock.h"
#include "runtime/tuning_store.h"
#include "tools/command.h"

namespace kiln::tools {

namespace {

using Json = nlohmann::json;
using runtime::Measurement;
using runtime::TuningStore;

struct TuningOptions {
    std::string store;
    std::string kernel, device, verdict, build, older_than, output;
    std::vector<std::string> files;
    bool other_builds = false;
    bool all = false;
    bool json = false;
};

Error user_error(const std::string& message) {
    return Error(ErrorKind::user, message);
}

std::shared_ptr<TuningStore> open_store(const TuningOptions& options) {
    if (options.store.empty()) return runtime::tuning_store();
    runtime::StoreOptions places = runtime::StoreOptions::from_environment();
    places.file = options.store;
    places.off = false;
    places.private_folder = false;
    return std::make_shared<TuningStore>(places);
}

/// "90m", "12h", "30d" in milliseconds.
std::int64_t milliseconds(const std::string& age) {
    constexpr std::pair<char, std::int64_t> kUnits[] = {{'m', 60'000}, {'h', 3'600'000}, {'d', 86'400'000}};
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(age.data(), age.data() + age.size(), number);
    for (const auto& [letter, unit] : kUnits) {
        const bool fits = error == std::errc() && end + 1 == age.data() + age.size() && *end == letter;
        if (fits && number >= 0 && number < 1'000'000) return number * unit;
    }
    throw user_error(
        fmt::format("an age is a number of minutes, hours or days such as 90m, 12h or 30d, and `{}` was given", age));
}

runtime::RowFilter filter_of(const TuningOptions& options) {
    runtime::RowFilter filter;
    filter.kernel = options.kernel;
    filter.device = options.device;
    filter.build = options.build;
    if (options.other_builds) filter.not_build = runtime::tuning_build();
    if (!options.verdict.empty()) filter.verdict = runtime::verdict_named(options.verdict);
    if (!options.older_than.empty()) filter.before_ms = runtime::now_ms() - milliseconds(options.older_than);
    return filter;
}

/// Text to a file, or to stdout if no file is named.
void write_out(const std::string& text, const std::string& path) {
    if (path.empty()) {
        std::cout << text << std::flush;
        if (!std::cout) throw user_error("the output cannot be written");
        return;
    }
    std::ofstream stream(path, std::ios::binary | std::ios::trunc);
    stream << text << std::flush;
    if (!stream) throw user_error(fmt::format("{} cannot be written", path));
}

int report_merge(const runtime::MergeReport& report, const TuningOptions& options, std::FILE* out) {
    for (const std::string& problem : report.problems) fmt::print(stderr, "{}\n", problem);
    if (options.json) {
        const Json json = {
            {"added", report.added}, {"known", report.known}, {"bad", report.bad}, {"problems", report.problems}};
        fmt::print(out, "{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
    } else {
        fmt::print(out, "{} rows added, {} known before, {} lines passed over\n", report.added, report.known,
                   report.bad);
    }
    return report.bad == 0 ? kSuccess : kUserError;
}

runtime::MergeReport merge_into(TuningStore& store, const std::vector<std::string>& files) {
    runtime::MergeReport total;
    for (const std::string& file : files) {
        const runtime::MergeReport report = store.merge_file(file);
        total.added += report.added;
        total.known += report.known;
        total.bad += report.bad;
        total.problems.insert(total.problems.end(), report.problems.begin(), report.problems.end());
    }
    return total;
}

int merge(const TuningOptions& options) {
    runtime::StoreOptions in_memory;
    in_memory.off = true;
    TuningStore joined(in_memory);
    const runtime::MergeReport report = merge_into(joined, options.files);
    std::ostringstream text;
    joined.export_lines(text, filter_of(options));
    write_out(text.str(), options.output);
    return report_merge(report, options, options.output.empty() ? stderr : stdout);
}

int import(const TuningOptions& options) {
    const std::shared_ptr<TuningStore> store = open_store(options);
    const runtime::MergeReport report = merge_into(*store, options.files);
    if (!store->is_on_disk()) throw user_error("the rows cannot be kept: there is no store that can be written");
    return report_merge(report, options, stdout);
}

int export_rows(const TuningOptions& options) {
    std::ostringstream text;
    open_store(options)->export_lines(text, filter_of(options));
    write_out(text.str(), options.output);
    return kSuccess;
}

/// Rows of one problem on one device.
struct Group {
    const Measurement* first = nullptr;
    std::size_t rows = 0;
    std::map<std::string, std::size_t> verdicts;
    std::shared_ptr<const runtime::StoredMatch> best;  ///< null: nothing verified by this build
};

std::vector<Group> grouped(TuningStore& store, const std::vector<Measurement>& rows) {
    using Key = std::tuple<std::string, std::map<std::string, std::string>, std::map<std::string, std::string>,
                           std::map<std::string, std::int64_t>, std::string, std::string, std::int64_t>;
    std::map<Key, Group> groups;
    for (const Measurement& row : rows) {
        const Key key(row.problem.name, row.problem.generics, row.problem.arguments, row.problem.sizes,
                      row.problem.kernel, row.device.fingerprint, row.device.units);
        Group& group = groups[key];
        if (group.first == nullptr) group.first = &row;
        ++group.rows;
        ++group.verdicts[std::string(runtime::verdict_name(row.verdict))];
    }
    std::vector<Group> result;
    for (auto& [key, group] : groups) {
        auto match = store.find(group.first->problem, group.first->device);
        if (match != nullptr && match->kind == runtime::MatchKind::Exact) group.best = std::move(match);
        result.push_back(std::move(group));
    }
    return result;
}

template <class Values>
std::string assignments(const Values& values) {
    std::string text;
    for (const auto& [name, value] : values) text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
    return text;
}

Json to_json(const Group& group) {
    Json json = {{"kernel", group.first->problem.name},
                 {"file", group.first->problem.file},
                 {"identity", group.first->problem.kernel},
                 {"generics", group.first->problem.generics},
                 {"arguments", group.first->problem.arguments},
                 {"sizes", group.first->problem.sizes},
                 {"device", group.first->device.name},
                 {"units", group.first->device.units},
                 {"rows", group.rows},
                 {"verdicts", group.verdicts}};
    json["best"] = group.best == nullptr ? Json() : Json::parse(to_line(group.best->measurement));
    return json;
}

void print(const Group& group) {
    const std::string best = group.best == nullptr
                                 ? "nothing verified by this build"
                                 : fmt::format("{:.4f} ms  {}  {}", group.best->measurement.seconds * 1e3,
                                               to_string(group.best->measurement.configuration),
                                               numerics_name(group.best->measurement.numerics));
    fmt::print("{} {} {} on {} ({} units): {} rows; {}\n", group.first->problem.name,
               assignments(group.first->problem.generics), assignments(group.first->problem.sizes),
               group.first->device.name, group.first->device.units, group.rows, best);
}

int show(const TuningOptions& options) {
    const std::shared_ptr<TuningStore> store = open_store(options);
    const std::vector<Measurement> rows = store->rows(filter_of(options));
    const std::vector<Group> groups = grouped(*store, rows);
    const runtime::StoreStatistics statistics = store->statistics();
    if (options.json) {
        Json json = {{"file", store->file()},
                     {"build", runtime::tuning_build()},
                     {"bytes", statistics.bytes},
                     {"rows", statistics.rows},
                     {"rows_of_other_builds", statistics.other_builds},
                     {"damaged_rows", statistics.damaged},
                     {"verdicts", statistics.verdicts},
                     {"problems", Json::array()}};
        for (const Group& group : groups) json["problems"].push_back(to_json(group));
        if (options.all) {
            for (const Measurement& row : rows) json["measurements"].push_back(Json::parse(to_line(row)));
        }
        fmt::print("{}\n", json.dump(2));
        return kSuccess;
    }
    fmt::print("{}: {} rows, {} of them of other builds, {} damaged, {} bytes\n",
               store->file().empty() ? "in memory" : store->file(), statistics.rows, statistics.other_builds,
               statistics.damaged, statistics.bytes);
    for (const Group& group : groups) print(group);
    if (!options.all) return kSuccess;
    for (const Measurement& row : rows) {
        fmt::print("{} {}  {}  {:.4f} ms ± {:.4f}  {}  {}{}{}\n", row.problem.name, assignments(row.problem.sizes),
                   runtime::verdict_name(row.verdict), row.seconds * 1e3, row.spread_seconds * 1e3,
                   to_string(row.configuration), numerics_name(row.numerics), row.contended ? "  (contended)" : "",
                   row.reason.empty() ? "" : "  " + row.reason);
    }
    return kSuccess;
}

int prune(const TuningOptions& options) {
    const bool names_something = !options.kernel.empty() || !options.build.empty() || options.other_builds ||
                                 !options.older_than.empty() || !options.verdict.empty() || !options.device.empty();
    if (!names_something && !options.all) {
        throw user_error(
            "say which rows to remove: --older-than, --other-builds, --build, --kernel, --device, --verdict or --all");
    }
    const std::size_t removed = open_store(options)->prune(filter_of(options));
    if (options.json) {
        fmt::print("{}\n", Json({{"removed", removed}}).dump(2));
    } else {
        fmt::print("{} rows removed\n", removed);
    }
    return kSuccess;
}

int lock(const TuningOptions& options) {
    const std::shared_ptr<TuningStore> store = open_store(options);
    const std::vector<Measurement> rows = store->rows(filter_of(options));
    std::vector<Measurement> winners;
    for (const Group& group : grouped(*store, rows)) {
        if (group.best != nullptr) winners.push_back(group.best->measurement);
    }
    if (winners.empty()) throw user_error("the store has no verified measurement of this build to pin");
    write_out(runtime::make_lock(winners), options.output);
    return kSuccess;
}

CLI::App* add(CLI::App& group, const char* name, const char* what, const std::shared_ptr<TuningOptions>& options,
              Action& action, int (*body)(const TuningOptions&)) {
    CLI::App* command = group.add_subcommand(name, what);
    command->callback([options, &action, body] { action = [options, body] { return body(*options); }; });
    return command;
}

void add_store(CLI::App& command, TuningOptions& options) {
    command.add_option("--store", options.store,
                       "the database, instead of the one KILN_TUNING names or ~/.local/share/kiln/tuning.db");
}

void add_filter(CLI::App& command, TuningOptions& options) {
    command.add_option("--kernel", options.kernel, "only rows of this kernel: a name or an identity");
    command.add_option("--device", options.device, "only rows of this device: a name or a fingerprint");
    command.add_option("--build", options.build, "only rows of this build");
    command.add_option("--verdict", options.verdict, "only rows with this verdict")
        ->check(CLI::IsMember(
            {"verified", "unchecked", "wrong", "compile_failed", "refused", "crashed", "timed_out", "excluded"}));
    command.add_option("--older-than", options.older_than, "only rows older than 90m, 12h or 30d");
    command.add_flag("--other-builds", options.other_builds, "only rows that another build of Kiln measured");
}

void add_files(CLI::App& command, TuningOptions& options) {
    command.add_option("files", options.files, "text exports or databases")->required();
}

}  // namespace

void add_tuning(CLI::App& program, Action& action) {
    auto options = std::make_shared<TuningOptions>();
    CLI::App* group = program.add_subcommand("tuning", "what was measured: merge, export, import, show, prune, lock");
    group->require_subcommand(1);
    CLI::App* command = add(*group, "merge", "join exports and databases into one text export", options, action, merge);
    add_files(*command, *options);
    add_filter(*command, *options);
    command->add_option("--output,-o", options->output, "file to write; stdout if it is left out");
    command->add_flag("--json", options->json, "print the counts as JSON");
    command = add(*group, "import", "add exports and databases to the store", options, action, import);
    add_files(*command, *options);
    add_store(*command, *options);
    command->add_flag("--json", options->json, "print the counts as JSON");
    command = add(*group, "export", "write the store as text, one row a line", options, action, export_rows);
    add_store(*command, *options);
    add_filter(*command, *options);
    command->add_option("--output,-o", options->output, "file to write; stdout if it is left out");
    command = add(*group, "show", "what is stored, and the best of each problem", options, action, show);
    add_store(*command, *options);
    add_filter(*command, *options);
    command->add_flag("--all", options->all, "every row, too");
    command->add_flag("--json", options->json, "as JSON");
    command = add(*group, "prune", "remove rows", options, action, prune);
    add_store(*command, *options);
    add_filter(*command, *options);
    command->add_flag("--all", options->all, "remove every row");
    command->add_flag("--json", options->json, "print the count as JSON");
    command = add(*group, "lock", "write a lock file that pins the best of each problem", options, action, lock);
    add_store(*command, *options);
    add_filter(*command, *options);
    command->add_option("--output,-o", options->output, "file to write; stdout if it is left out");
    group->footer(
        "Examples:\n  kiln tuning merge shard-*.jsonl -o all.jsonl && kiln tuning import all.jsonl\n"
        "  kiln tuning prune --older-than 90d --other-builds\n  kiln tuning lock --kernel gemm -o gemm.lock");
}

}  // namespace kiln::tools
