// The texts of the standard library. Defined by the generated source of the room `library`, so that the runtime can
// serve `import "kiln/..."` without including it.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace kiln::runtime {

/// The text of "kiln/gemm.kiln", and so on; nothing if there is no such file.
std::optional<std::string_view> standard_library_text(std::string_view path);

/// All paths it serves, sorted.
std::vector<std::string_view> standard_library_paths();

}  // namespace kiln::runtime
