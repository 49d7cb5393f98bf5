// What reading or writing a slice of a tensor costs on a CPU. Private to configure.
#pragma once

#include <cstdint>

#include "codegen/configure/machine.h"

namespace kiln::codegen::configure {

/// One execution of a load or store by the loops of a nest.
struct TensorAccess {
    double element_bytes = 4;
    double elements = 0;  ///< different ones, inside the tensor
    double points = 0;    ///< reads or writes that the nest makes of them: more where the slice is broadcast
    /// The vector lanes walk along this many elements, so many bytes apart; 0 where the elements are neighbours.
    double lane_elements = 0;
    std::int64_t lane_stride_bytes = 0;
    bool masked = false;   ///< the tile reaches beyond the tensor
    bool gathers = false;  ///< positions are data
    bool again = false;    ///< an earlier nest of the same program has read these elements
};

double access_cycles(const TensorAccess& access, const CpuMachine& machine);

}  // namespace kiln::codegen::configure
