#pragma once

#include <string_view>

#include "tests/emulated_gpu/cuda/ptx_module.h"

namespace emulated_gpu {

/// Parses a PTX module (PTX ISA 8.x and 9.0, chapters "Syntax" and "Directives"). Throws PtxError at whatever is
/// malformed or not known. Instructions are parsed by form alone: what each one means is the loader's matter.
Module parse_ptx(std::string_view text);

}  // namespace emulated_gpu
