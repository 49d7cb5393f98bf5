#include "runtime/gpu/code_stats.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>

#include "kiln/error.hpp"

namespace kiln::runtime::gpu {

namespace {

/// What one function needs, by itself.
struct FunctionNeeds {
    std::int64_t registers = 0, shared_bytes = 0, spill_bytes = 0, stack_bytes = 0;
};
using Needs = std::map<std::string, FunctionNeeds, std::less<>>;

/// The number before `unit` in a line such as "    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads".
std::int64_t number_before(std::string_view line, std::string_view unit) {
    const std::size_t at = line.find(unit);
    if (at == std::string_view::npos || at == 0) return 0;
    const std::size_t end = line.find_last_of("0123456789", at);
    if (end == std::string_view::npos) return 0;
    const std::size_t before = line.find_last_not_of("0123456789", end);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    std::int64_t number = 0;
    std::from_chars(line.data() + begin, line.data() + end + 1, number);
    return number;
}

/// ptxas --verbose: "Compiling entry function 'NAME' for 'sm_80'", then two lines with the numbers.
Needs nvidia_needs(const std::string& log) {
    constexpr std::string_view kName = "Compiling entry function '";
    Needs needs;
    FunctionNeeds* current = nullptr;
    for (std::size_t at = 0; at < log.size();) {
        const std::size_t end = std::min(log.find('\n', at), log.size());
        const std::string_view line = std::string_view(log).substr(at, end - at);
        at = end + 1;
        if (const std::size_t name = line.find(kName); name != std::string_view::npos) {
            const std::string_view rest = line.substr(name + kName.size());
            current = &needs[std::string(rest.substr(0, rest.find('\'')))];
        }
        if (current == nullptr) continue;
        if (line.find("bytes stack frame") != std::string_view::npos) {
            current->stack_bytes = number_before(line, " bytes stack frame");
            current->spill_bytes =
                std::max(number_before(line, " bytes spill stores"), number_before(line, " bytes spill loads"));
        }
        if (line.find("Used ") != std::string_view::npos) {
            current->registers = number_before(line, " registers");
            current->shared_bytes = number_before(line, " bytes smem");
        }
    }
    return needs;
}

/// The metadata note of an AMD code object: MessagePack in an ELF note of type NT_AMDGPU_METADATA (LLVM's User Guide
/// for the AMDGPU Backend, "Code Object V3 and Above Metadata").
std::span<const char> amd_metadata(std::span<const char> code) {
    constexpr std::uint32_t kMetadataType = 32;
    Elf64_Ehdr header;
    if (code.size() < sizeof header || std::memcmp(code.data(), ELFMAG, SELFMAG) != 0) return {};
    std::memcpy(&header, code.data(), sizeof header);
    for (std::size_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        const std::uint64_t place = header.e_phoff + i * header.e_phentsize;
        if (place > code.size() || code.size() - place < sizeof segment) return {};
        std::memcpy(&segment, code.data() + place, sizeof segment);
        if (segment.p_type != PT_NOTE || segment.p_offset > code.size()) continue;
        std::span<const char> notes =
            code.subspan(segment.p_offset, std::min<std::uint64_t>(segment.p_filesz, code.size() - segment.p_offset));
        while (notes.size() >= sizeof(Elf64_Nhdr)) {
            Elf64_Nhdr note;
            std::memcpy(&note, notes.data(), sizeof note);
            const std::uint64_t text = sizeof note + (std::uint64_t{note.n_namesz} + 3) / 4 * 4;
            const std::uint64_t end = text + (std::uint64_t{note.n_descsz} + 3) / 4 * 4;
            if (text + note.n_descsz > notes.size()) return {};
            if (note.n_type == kMetadataType) return notes.subspan(text, note.n_descsz);
            notes = notes.subspan(std::min<std::uint64_t>(end, notes.size()));
        }
    }
    return {};
}

Needs amd_needs(std::span<const char> code) {
    constexpr std::int64_t kBytesOfRegister = 4;
    const std::span<const char> metadata = amd_metadata(code);
    const nlohmann::json json = nlohmann::json::from_msgpack(metadata.begin(), metadata.end(), true, false);
    Needs needs;
    if (!json.is_object() || !json.contains("amdhsa.kernels")) return needs;
    for (const nlohmann::json& kernel : json["amdhsa.kernels"]) {
        const auto number = [&](const char* name) { return kernel.value(name, std::int64_t{0}); };
        needs[kernel.value(".name", std::string())] = {number(".vgpr_count"), number(".group_segment_fixed_size"),
                                                       kBytesOfRegister * number(".vgpr_spill_count"),
                                                       number(".private_segment_fixed_size")};
    }
    return needs;
}

}  // namespace

std::vector<PhaseStats> phase_stats(const codegen::gpu::Source& source, const CompiledSource& compiled,
                                    const codegen::gpu::Target& target) {
    const Needs needs =
        target.vendor == codegen::gpu::Vendor::Nvidia ? nvidia_needs(compiled.log) : amd_needs(compiled.binary);
    std::vector<PhaseStats> list;
    for (const codegen::gpu::PhaseSource& phase : source.phases) {
        const auto found = needs.find(phase.symbol);
        if (found == needs.end()) {
            throw Error(ErrorKind::compiler, fmt::format("the compiler says nothing of what `{}` needs", phase.symbol));
        }
        const FunctionNeeds& need = found->second;
        list.push_back({phase.symbol, phase.threads, need.registers, need.shared_bytes + phase.shared_bytes,
                        need.spill_bytes, need.stack_bytes, 0, 0});
        PhaseStats& stats = list.back();
        const codegen::gpu::Occupancy occupancy =
            codegen::gpu::occupancy(target, phase.threads, static_cast<int>(stats.registers), stats.shared_bytes);
        stats.blocks_per_unit = occupancy.blocks;
        stats.occupancy = occupancy.fraction;
    }
    return list;
}

}  // namespace kiln::runtime::gpu
