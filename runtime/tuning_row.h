// Rows of the tuning store as text, with the keys they are found by; shared by the files of the store.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/key.h"
#include "runtime/tuning_store.h"

namespace kiln::runtime {

using Json = nlohmann::json;

/// One line, keys sorted, bytes that are no UTF-8 replaced.
std::string dump(const Json& json);

/// A row as it is stored. `id` is the hash of `text`, so that a damaged row shows, and equal rows are one row.
struct EncodedRow {
    std::string id;
    std::string text;
    Measurement measurement;
};
std::optional<EncodedRow> encode_line(std::string_view line, std::string& reason);
std::string id_of(std::string_view text);

/// Kernel, generics and arguments: problems that differ in their sizes only.
std::string class_of(const TuningProblem& problem);
std::string sizes_text(const TuningProblem& problem);
std::string configuration_text(const Configuration& configuration);
/// Equal for equal devices.
std::string device_key(const TuningDevice& device);

}  // namespace kiln::runtime
