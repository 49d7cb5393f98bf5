#include "tests/emulated_gpu/hip/counters.h"

#include <cstdio>
#include <numeric>

#include "tests/emulated_gpu/common/report.h"

namespace emulated_gpu::hip {
namespace {

constexpr const char* kClassNames[kInstructionClasses] = {
    "scalar",  "vector_integer", "vector_float", "transcendental", "conversion",    "move",
    "compare", "cross_lane",     "matrix",       "scalar_memory",  "vector_memory", "lds",
    "wait",    "barrier",        "control"};

}  // namespace

uint64_t Counters::all_wave_instructions() const {
    return std::accumulate(wave_instructions.begin(), wave_instructions.end(), uint64_t{0});
}

std::string Counters::json() const {
    std::string text = "{\"kernel\": " + json_string(kernel);
    const auto add = [&](const char* name, uint64_t value) {
        text += std::string(", \"") + name + "\": " + std::to_string(value);
    };
    add("workgroups", workgroups);
    add("work_items", work_items);
    text += ", \"wave_instructions\": {";
    for (size_t i = 0; i < kInstructionClasses; ++i) {
        text += std::string(i == 0 ? "\"" : ", \"") + kClassNames[i] + "\": " + std::to_string(wave_instructions[i]);
    }
    text += "}";
    add("all_wave_instructions", all_wave_instructions());
    add("lane_instructions", lane_instructions);
    add("matrix_operations", matrix_operations);
    add("matrix_multiply_adds", matrix_multiply_adds);
    char share[32];
    const double all = static_cast<double>(all_wave_instructions());
    std::snprintf(share, sizeof share, "%.4f", all == 0 ? 0 : static_cast<double>(matrix_operations) / all);
    text += std::string(", \"matrix_share\": ") + share;
    add("global_load_sectors", global_load_sectors);
    add("global_store_sectors", global_store_sectors);
    add("global_fewest_sectors", global_fewest_sectors);
    add("global_load_bytes", global_load_bytes);
    add("global_store_bytes", global_store_bytes);
    add("scalar_load_bytes", scalar_load_bytes);
    add("lds_load_bytes", lds_load_bytes);
    add("lds_store_bytes", lds_store_bytes);
    add("direct_to_lds_bytes", direct_to_lds_bytes);
    add("scratch_bytes", scratch_bytes);
    add("lds_cycles", lds_cycles);
    add("lds_fewest_cycles", lds_fewest_cycles);
    add("lds_bank_conflicts", bank_conflicts());
    add("barriers", barriers);
    return text + "}";
}

}  // namespace emulated_gpu::hip
