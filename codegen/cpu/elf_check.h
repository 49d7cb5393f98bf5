// Whether bytes are a relocatable ELF object of this machine whose tables lie inside it. LLVM's readers end the process
// on some damage, so that an object from a cache is looked over before they see it.
#pragma once

#include <span>
#include <string>

namespace kiln::codegen::cpu {

/// The reason to refuse the object, or nothing.
std::string find_elf_damage(std::span<const char> object);

}  // namespace kiln::codegen::cpu
