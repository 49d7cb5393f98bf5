// The page that `kiln report` writes: HTML with SVG in it and nothing from elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/tuning_store.h"

namespace kiln::tools {

/// The roofs of the device that measured, and where this problem stands below them.
struct Roofline {
    double operations = 0, bytes = 0;            ///< of one launch; bytes: each tensor once
    double peak_operations = 0, peak_bytes = 0;  ///< a second
};

/// One problem on one device.
struct ReportSection {
    std::string title;  ///< "gemm T=f32, K=512 M=512 N=512"
    std::string device;
    std::vector<runtime::Measurement> rows;  ///< in the order they were taken
    std::optional<Roofline> roofline;
};

std::string report_page(const std::vector<ReportSection>& sections);

}  // namespace kiln::tools
