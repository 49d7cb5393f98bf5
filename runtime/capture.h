// Records which launches an application makes, so that they can be tuned elsewhere: kernels, types, sizes, strides and
// numbers; never the contents of tensors. One line of JSON a distinct launch; docs/tuning_store.md describes it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "frontend/signature.h"
#include "kiln/tensor.hpp"

namespace kiln::runtime {

struct CapturedTensor {
    std::string name;  ///< of the parameter
    DType dtype = DType::f32;
    std::vector<std::int64_t> sizes, strides;  ///< in elements
    friend bool operator==(const CapturedTensor&, const CapturedTensor&) = default;
};

/// A number as the application gave it.
using CapturedNumber = std::variant<bool, std::int64_t, double>;

/// One launch. Optional parameters that were left out are missing from both lists.
struct CapturedLaunch {
    std::string file;      ///< "kiln/gemm.kiln", an absolute path, or the name of a text in memory
    std::string identity;  ///< kernel_identity() of the text that ran
    std::string kernel;    ///< "gemm"
    std::string device;    ///< "cpu"
    std::map<std::string, std::string> generics;  ///< those the host gave, as the language spells them
    std::map<std::string, std::string> tunables;  ///< those the host gave; usually none
    std::vector<CapturedTensor> tensors;
    std::map<std::string, CapturedNumber> numbers;  ///< by parameter

    friend bool operator==(const CapturedLaunch&, const CapturedLaunch&) = default;
};

/// One line, without the newline.
std::string to_line(const CapturedLaunch& launch);
/// Nothing, with the reason, if the line is damaged or from a newer Kiln.
std::optional<CapturedLaunch> parse_captured(std::string_view line, std::string& reason);

struct CaptureFile {
    std::vector<CapturedLaunch>
        launches;                       ///< distinct ones, in the order of the file; numbers do not make a difference
    std::vector<std::string> problems;  ///< "capture.jsonl:17: ..." for lines that were passed over
};
/// Nothing if the file cannot be read.
std::optional<CaptureFile> read_capture(const std::string& path);

/// Appends launches to the file from now on; an empty path stops. Failure to write is one warning, and capture stops.
void start_capture(const std::string& path);
/// The first call reads KILN_CAPTURE.
bool is_capturing();
/// Appends the launch, unless this process has recorded one that differs in its numbers only.
void record_launch(const CapturedLaunch& launch);

}  // namespace kiln::runtime
