// How long a launch should take on a CPU, from its IR, sizes and the machine's numbers alone, and what the time is made
// of. It orders configurations before any is compiled, and is what the runtime chooses by when nothing was measured.
//
// A few programs of each phase are walked: the corners of its grid and places in between. Their scalars are evaluated,
// so that loops have their true lengths (causal attention) and tiles at an edge their true extents. The work of a
// program is what the CPU plan (codegen/cpu/plan.h) says will run: dots by register tiles, with packing; nests over
// tiles, element by element; bytes by the cache that holds them. Programs are then dealt to threads as the executor
// does it, and the launch takes as long as the last thread, but no less than its memory traffic.
#pragma once

#include <string>
#include <vector>

#include "codegen/configure/machine.h"
#include "ir/launch.h"

namespace kiln::codegen::configure {

/// Part of a prediction.
struct Term {
    std::string name;     ///< "dot", "packing", "vector", "buffers", "memory", ...: one word
    double seconds = 0;   ///< of one thread or unit on average, so that the terms add up to the prediction
    std::string meaning;  ///< one line with the numbers behind it
};

struct Prediction {
    double seconds = 0;
    std::vector<Term> terms;             ///< largest first
    double operations = 0;               ///< of dots (two a product) and of elementwise ops
    double dot_operations = 0;           ///< of dots alone
    double compulsory_bytes = 0;         ///< each tensor once
    double moved_bytes = 0;              ///< that programs ask of tensors, reading the same again included
    double busy_units = 0;               ///< average number of threads (CPU) or units (GPU) at work
    double register_efficiency = 1;      ///< share of a multiplier's slots that dots fill with wanted products
    std::vector<std::string> placement;  ///< on GPUs how the blocks of each phase stand on a unit, in words
};

/// `kernel` has its bodies and has been through the tile passes; `launch` and `arguments` are its own.
/// Tensors' data is not looked at.
Prediction predict(const ir::Kernel& kernel, const ir::Launch& launch, std::span<const ir::Argument> arguments,
                   const CpuMachine& machine);

/// Of the arguments, each element once.
double compulsory_bytes(std::span<const ir::Argument> arguments);
/// Adds the terms up and orders them.
void finish(Prediction& prediction);

}  // namespace kiln::codegen::configure
