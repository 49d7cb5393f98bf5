#include "tests/emulated_gpu/cuda/counters.h"

#include <cstdio>
#include <numeric>

#include "tests/emulated_gpu/common/report.h"

namespace emulated_gpu {
namespace {

constexpr const char* kClassNames[kInstructionClasses] = {"integer", "float",   "conversion", "move",
                                                          "compare", "memory",  "async_copy", "matrix",
                                                          "warp",    "barrier", "control"};

}  // namespace

uint64_t Counters::all_warp_instructions() const {
    return std::accumulate(warp_instructions.begin(), warp_instructions.end(), uint64_t{0});
}

std::string Counters::json() const {
    std::string text = "{\"kernel\": " + json_string(kernel);
    const auto add = [&](const char* name, uint64_t value) {
        text += std::string(", \"") + name + "\": " + std::to_string(value);
    };
    add("blocks", blocks);
    add("threads", threads);
    text += ", \"warp_instructions\": {";
    for (size_t i = 0; i < kInstructionClasses; ++i) {
        text += std::string(i == 0 ? "\"" : ", \"") + kClassNames[i] + "\": " + std::to_string(warp_instructions[i]);
    }
    text += "}";
    add("all_warp_instructions", all_warp_instructions());
    add("thread_instructions", thread_instructions);
    add("matrix_operations", matrix_operations);
    add("matrix_multiply_adds", matrix_multiply_adds);
    char share[32];
    const double all = static_cast<double>(all_warp_instructions());
    std::snprintf(share, sizeof share, "%.4f", all == 0 ? 0 : static_cast<double>(matrix_operations) / all);
    text += std::string(", \"matrix_share\": ") + share;
    add("global_load_sectors", global_load_sectors);
    add("global_store_sectors", global_store_sectors);
    add("global_fewest_sectors", global_fewest_sectors);
    add("global_load_bytes", global_load_bytes);
    add("global_store_bytes", global_store_bytes);
    add("shared_load_bytes", shared_load_bytes);
    add("shared_store_bytes", shared_store_bytes);
    add("async_copy_bytes", async_copy_bytes);
    add("local_bytes", local_bytes);
    add("shared_wavefronts", shared_wavefronts);
    add("shared_fewest_wavefronts", shared_fewest_wavefronts);
    add("shared_bank_conflicts", bank_conflicts());
    add("barriers", barriers);
    return text + "}";
}

}  // namespace emulated_gpu
