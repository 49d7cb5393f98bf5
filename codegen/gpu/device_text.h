// The files of codegen/gpu/device, embedded when Kiln is built.
#pragma once

#include <string_view>
#include <vector>

namespace kiln::codegen::gpu {

struct DeviceText {
    std::string_view name;  ///< of the file, without ".h"
    std::string_view text;
};
const std::vector<DeviceText>& device_texts();

}  // namespace kiln::codegen::gpu
