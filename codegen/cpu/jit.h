// Objects into callable code, with ORC. No LLVM type shows.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "codegen/cpu/abi.h"

namespace kiln::codegen::cpu {

/// A loaded object. Its code lives as long as this does.
class LoadedObject {
public:
    virtual ~LoadedObject() = default;
    /// The phase of that symbol, or null if the object lacks it.
    virtual PhaseFunction find(const std::string& symbol) const = 0;
};

/// Links an object into this process. A damaged object, or one that names unknown symbols, gives null and the reason;
/// it never ends the process.
std::unique_ptr<LoadedObject> load_object(std::span<const char> object, std::string& reason);

}  // namespace kiln::codegen::cpu
