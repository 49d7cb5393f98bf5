// The tuning store and the lock file in force, for `kiln doctor`. Looks, and changes nothing on the disk.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace kiln::tools {

struct TuningState {
    std::string file;   ///< of the store; empty: none
    std::string state;  ///< "in use", or why it is not used
    std::size_t rows = 0, damaged_rows = 0;
    std::uint64_t bytes = 0;
    std::string lock;  ///< the lock file; empty: none
    std::size_t pins = 0;
    std::string lock_problem;  ///< why it cannot be used: no kernel with tunables can be launched until then
};

TuningState tuning_state();
nlohmann::json to_json(const TuningState& state);
/// Lines as `kiln doctor` prints them.
std::string to_text(const TuningState& state);

}  // namespace kiln::tools
