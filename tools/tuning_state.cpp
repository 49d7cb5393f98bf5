#include "tools/tuning_state.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "kiln/error.hpp"
#include "runtime/tuning_database.h"
#include "runtime/tuning_lock.h"
#include "runtime/tuning_store.h"

namespace kiln::tools {

namespace {

void look_at_store(TuningState& state) {
    std::error_code error;
    state.bytes = std::filesystem::file_size(state.file, error);
    if (error) state.bytes = 0;
    try {
        const auto database = runtime::TuningDatabase::open(state.file, runtime::TuningDatabase::Access::ReadOnly);
        database->select({}, [&](runtime::EncodedRow&&) { ++state.rows; });
        state.damaged_rows = database->damaged_rows();
        if (!database->is_sound()) {
            state.state = "damaged; its readable rows go to a new one when it is next used";
        } else {
            state.state = ::access(state.file.c_str(), W_OK) == 0 ? "in use" : "read only";
        }
    } catch (const runtime::StoreError& store_error) {
        state.state = fmt::format("not used: {}", store_error.what());
    }
}

void look_at_lock(TuningState& state) {
    const char* named = std::getenv("KILN_TUNING_LOCK");
    if (named == nullptr || *named == '\0') return;
    state.lock = named;
    try {
        if (const auto lock = runtime::tuning_lock()) state.pins = lock->pins().size();
    } catch (const Error& error) {
        state.lock_problem = error.what();
    }
}

}  // namespace

TuningState tuning_state() {
    TuningState state;
    const runtime::StoreOptions options = runtime::StoreOptions::from_environment();
    state.file = options.file;
    std::error_code error;
    if (options.off) {
        state.state = "off";
    } else if (options.file.empty()) {
        state.state = "in memory only: neither HOME nor KILN_TUNING is set";
    } else if (!std::filesystem::exists(options.file, error)) {
        state.state = "made when something is first measured";
    } else {
        look_at_store(state);
    }
    look_at_lock(state);
    return state;
}

nlohmann::json to_json(const TuningState& state) {
    nlohmann::json json = {{"store",
                            {{"file", state.file},
                             {"state", state.state},
                             {"rows", state.rows},
                             {"damaged_rows", state.damaged_rows},
                             {"bytes", state.bytes}}}};
    if (!state.lock.empty()) {
        json["lock"] = {{"file", state.lock}, {"pins", state.pins}, {"problem", state.lock_problem}};
    }
    return json;
}

std::string to_text(const TuningState& state) {
    std::string text = fmt::format("tuning   {} ({})", state.file.empty() ? "none" : state.file, state.state);
    if (state.bytes > 0) {
        text += fmt::format(": {} rows, {} of them damaged, {} bytes", state.rows, state.damaged_rows, state.bytes);
    }
    if (state.lock.empty()) return text + "\n";
    return text + fmt::format("\nlock     {} ({})\n", state.lock,
                              state.lock_problem.empty() ? fmt::format("{} pins", state.pins)
                                                         : "not usable: " + state.lock_problem);
}

}  // namespace kiln::tools
