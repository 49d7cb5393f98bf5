// From a request to callable code: memory (the caller's), disk, or compilation. This is where the rooms meet.
//
// Two keys. The *request key* covers everything a specialisation is asked for: the texts of the files, the request, the
// device, the build of Kiln. Its entry holds what a launch needs to know and names the *content key*, a hash of the tile
// IR after its passes, under which the code itself is kept: requests that differ only in comments or names share it.
// Parsing comes before the key, since only the signature tells which sizes are part of a specialisation; it takes a
// fraction of a millisecond.
#pragma once

#include <memory>
#include <string>

#include "frontend/specialise.h"
#include "kiln/module.hpp"
#include "runtime/backend.h"
#include "runtime/kernel_cache.h"
#include "runtime/body_facts.h"

namespace kiln::runtime {

/// A specialised kernel, compiled and loaded. `kernel` has its parameters, sizes, checks and host block, which launches
/// need, but empty phases.
struct CompiledKernel {
    frontend::Specialisation specialisation;
    BodyFacts facts;
    std::unique_ptr<LoadedKernel> code;
    LaunchInfo info;

    const ir::Kernel& kernel() const { return specialisation.kernel; }
};

/// The one pipeline, from request to code. Throws Error.
std::shared_ptr<const CompiledKernel> compile_kernel(const frontend::Program& program, const frontend::Request& request,
                                                     const DeviceBackend& backend, const KernelCache& cache);

/// The first half alone: specialised and through the tile passes, bodies included. Throws Error.
frontend::Specialisation specialise_kernel(const frontend::Program& program, const frontend::Request& request);

/// "bf16", "64", "true", "act.gelu": as the language spells it.
std::string to_string(const frontend::GenericValue& value);

}  // namespace kiln::runtime
