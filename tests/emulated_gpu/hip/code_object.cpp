// Reading the ELF files of amdgcn-amd-amdhsa: program headers, symbols, relocations, metadata, kernel descriptors
// (LLVM's "User Guide for AMDGPU Backend", "Code Object" and "Kernel Descriptor"; ELF gABI).

#include "tests/emulated_gpu/hip/code_object.h"

#include <elf.h>

#include <cstring>
#include <nlohmann/json.hpp>

namespace emulated_gpu::hip {
namespace {

constexpr uint16_t kMachineAmdGpu = 224;
constexpr uint8_t kOsAbiAmdHsa = 64;
constexpr uint32_t kMetadataNote = 32;
constexpr uint64_t kMostImageBytes = uint64_t{1} << 30;
constexpr std::string_view kBundleMagic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr uint32_t kRelative64 = 13;
constexpr uint32_t kAbsolute64 = 3;

/// Typed reads that cannot leave the bytes.
class Reader {
public:
    explicit Reader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

    template <class T>
    T at(uint64_t offset) const {
        T value;
        std::memcpy(&value, range(offset, sizeof(T)).data(), sizeof(T));
        return value;
    }
    std::span<const uint8_t> range(uint64_t offset, uint64_t size) const {
        if (offset > bytes_.size() || size > bytes_.size() - offset) {
            throw LoadError("the code object is truncated: it refers to byte " + std::to_string(offset) + " of " +
                            std::to_string(bytes_.size()));
        }
        return bytes_.subspan(offset, size);
    }
    std::string text(uint64_t offset) const {
        const auto rest = range(offset, bytes_.size() - std::min<uint64_t>(offset, bytes_.size()));
        const void* end = std::memchr(rest.data(), 0, rest.size());
        if (end == nullptr) throw LoadError("the code object has a name without an end");
        return {reinterpret_cast<const char*>(rest.data()), static_cast<const char*>(end)};
    }

private:
    std::span<const uint8_t> bytes_;
};

bool is_elf(std::span<const uint8_t> bytes) {
    return bytes.size() >= sizeof(Elf64_Ehdr) && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

bool is_bundle(std::span<const uint8_t> bytes) {
    return bytes.size() >= kBundleMagic.size() &&
           std::memcmp(bytes.data(), kBundleMagic.data(), kBundleMagic.size()) == 0;
}

/// The target "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-" names the processor gfx90a.
std::string processor_of_triple(const std::string& triple) {
    const size_t at = triple.find("gfx");
    return at == std::string::npos ? "" : triple.substr(at, triple.find(':', at) - at);
}

std::span<const uint8_t> unbundle(std::span<const uint8_t> bytes, const std::string& processor) {
    const Reader reader(bytes);
    uint64_t at = kBundleMagic.size();
    const auto count = reader.at<uint64_t>(at);
    at += 8;
    std::string known;
    for (uint64_t i = 0; i < count; ++i) {
        const auto offset = reader.at<uint64_t>(at);
        const auto size = reader.at<uint64_t>(at + 8);
        const auto length = reader.at<uint64_t>(at + 16);
        const auto name = reader.range(at + 24, length);
        const std::string triple(reinterpret_cast<const char*>(name.data()), length);
        at += 24 + length;
        if (processor_of_triple(triple) == processor) return reader.range(offset, size);
        known += (known.empty() ? "" : ", ") + triple;
    }
    throw LoadError("the bundle has no code for " + processor + ", only for " + known);
}

void load_segments(const Reader& reader, const Elf64_Ehdr& header, CodeObject& object) {
    for (uint64_t i = 0; i < header.e_phnum; ++i) {
        const auto segment = reader.at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
        if (segment.p_type != PT_LOAD) continue;
        if (segment.p_memsz > kMostImageBytes || segment.p_vaddr > kMostImageBytes ||
            segment.p_filesz > segment.p_memsz) {
            throw LoadError("the code object has a segment of senseless size");
        }
        const auto content = reader.range(segment.p_offset, segment.p_filesz);
        const uint64_t end = segment.p_vaddr + segment.p_memsz;
        if (object.image.size() < end) object.image.resize(end);
        std::memcpy(object.image.data() + segment.p_vaddr, content.data(), content.size());
    }
}

void read_symbols(const Reader& reader, const Elf64_Shdr& table, const Elf64_Shdr& names, CodeObject& object) {
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
        const auto symbol = reader.at<Elf64_Sym>(table.sh_offset + at);
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) continue;
        const int type = ELF64_ST_TYPE(symbol.st_info);
        if (type != STT_FUNC && type != STT_OBJECT) continue;
        if (symbol.st_value > object.image.size() || symbol.st_size > object.image.size() - symbol.st_value) {
            throw LoadError("the code object has a symbol outside its segments");
        }
        auto& symbols = type == STT_FUNC ? object.functions : object.objects;
        symbols[reader.text(names.sh_offset + symbol.st_name)] = {symbol.st_value, symbol.st_size};
    }
}

void read_relocations(const Reader& reader, const Elf64_Shdr& table, const Elf64_Shdr& symbols, CodeObject& object) {
    for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= table.sh_size; at += sizeof(Elf64_Rela)) {
        const auto relocation = reader.at<Elf64_Rela>(table.sh_offset + at);
        const uint32_t type = ELF64_R_TYPE(relocation.r_info);
        auto value = static_cast<uint64_t>(relocation.r_addend);
        if (type == kAbsolute64) {
            const uint64_t index = ELF64_R_SYM(relocation.r_info);
            value += reader.at<Elf64_Sym>(symbols.sh_offset + index * sizeof(Elf64_Sym)).st_value;
        } else if (type != kRelative64) {
            throw LoadError("relocation type " + std::to_string(type) + " is not modelled");
        }
        if (relocation.r_offset > object.image.size() || object.image.size() - relocation.r_offset < 8) {
            throw LoadError("the code object has a relocation outside its segments");
        }
        object.relocations.emplace_back(relocation.r_offset, value);
    }
}

nlohmann::json read_metadata(const Reader& reader, const Elf64_Shdr& section) {
    uint64_t at = section.sh_offset;
    const uint64_t end = at + section.sh_size;
    while (at + sizeof(Elf64_Nhdr) <= end) {
        const auto note = reader.at<Elf64_Nhdr>(at);
        const uint64_t description = at + sizeof(Elf64_Nhdr) + (uint64_t{note.n_namesz} + 3) / 4 * 4;
        if (note.n_type == kMetadataNote) {
            const auto content = reader.range(description, note.n_descsz);
            return nlohmann::json::from_msgpack(content.begin(), content.end());
        }
        at = description + (uint64_t{note.n_descsz} + 3) / 4 * 4;
    }
    return {};
}

FloatMode read_mode(uint32_t rsrc1) {
    FloatMode mode;
    mode.round_32 = (rsrc1 >> 12) & 3;
    mode.round_16_64 = (rsrc1 >> 14) & 3;
    mode.denormals_32 = (rsrc1 >> 16) & 3;
    mode.denormals_16_64 = (rsrc1 >> 18) & 3;
    mode.dx10_clamp = (rsrc1 >> 21) & 1;
    mode.ieee = (rsrc1 >> 23) & 1;
    return mode;
}

InitialRegisters read_initial_registers(uint32_t rsrc2, uint16_t properties, uint16_t preload) {
    InitialRegisters initial;
    initial.private_segment_buffer = properties & 1;
    initial.dispatch_pointer = properties & 2;
    initial.queue_pointer = properties & 4;
    initial.kernel_arguments = properties & 8;
    initial.dispatch_id = properties & 16;
    initial.flat_scratch = properties & 32;
    initial.private_segment_size = properties & 64;
    initial.preloaded_dwords = preload & 0x7f;
    initial.preload_offset_dwords = preload >> 7;
    initial.private_segment = rsrc2 & 1;
    initial.user_registers = (rsrc2 >> 1) & 31;
    for (uint32_t i = 0; i < 3; ++i) initial.workgroup_id[i] = (rsrc2 >> (7 + i)) & 1;
    initial.workgroup_info = (rsrc2 >> 10) & 1;
    return initial;
}

void read_descriptor(const CodeObject& object, const std::string& symbol, KernelDescription& kernel) {
    const auto found = object.objects.find(symbol);
    if (found == object.objects.end()) throw LoadError("the code object lacks the kernel descriptor " + symbol);
    const uint64_t at = found->second.value;
    const Reader image(object.image);
    kernel.lds_bytes = image.at<uint32_t>(at);
    kernel.private_bytes = image.at<uint32_t>(at + 4);
    kernel.entry = at + static_cast<uint64_t>(image.at<int64_t>(at + 16));
    const auto properties = image.at<uint16_t>(at + 56);
    kernel.wave_lanes = (properties & 0x400) != 0 ? 32 : 64;
    kernel.mode = read_mode(image.at<uint32_t>(at + 48));
    if (object.architecture.family == Family::Rdna4) {  // these bits mean something else there
        kernel.mode.dx10_clamp = true;
        kernel.mode.ieee = false;
    }
    kernel.initial = read_initial_registers(image.at<uint32_t>(at + 52), properties, image.at<uint16_t>(at + 58));
    if (kernel.entry >= object.image.size()) throw LoadError("kernel " + kernel.name + " begins outside the code");
    // Code for firmware without preloading comes first: 256 bytes that other firmware passes over.
    if (kernel.initial.preloaded_dwords > 0) kernel.entry += 256;
}

KernelDescription read_kernel(const CodeObject& object, const nlohmann::json& metadata) {
    KernelDescription kernel;
    kernel.name = metadata.at(".name").get<std::string>();
    kernel.argument_bytes = metadata.at(".kernarg_segment_size").get<uint32_t>();
    kernel.most_threads = metadata.value(".max_flat_workgroup_size", 1024U);
    kernel.vector_registers = metadata.value(".vgpr_count", 0U);
    kernel.scalar_registers = metadata.value(".sgpr_count", 0U);
    kernel.spilled_registers = metadata.value(".vgpr_spill_count", 0U);
    kernel.dynamic_stack = metadata.value(".uses_dynamic_stack", false);
    if (metadata.contains(".args")) {
        for (const auto& argument : metadata.at(".args")) {
            kernel.arguments.push_back({argument.at(".value_kind").get<std::string>(),
                                        argument.at(".offset").get<uint32_t>(), argument.at(".size").get<uint32_t>()});
            const KernelArgument& last = kernel.arguments.back();
            if (uint64_t{last.offset} + last.bytes > kernel.argument_bytes) {
                throw LoadError("kernel " + kernel.name + " has an argument beyond its argument segment");
            }
        }
    }
    read_descriptor(object, metadata.at(".symbol").get<std::string>(), kernel);
    return kernel;
}

void read_sections(const Reader& reader, const Elf64_Ehdr& header, CodeObject& object, nlohmann::json& metadata) {
    const auto section = [&](uint64_t i) {
        if (i >= header.e_shnum) throw LoadError("the code object refers to a section that it lacks");
        return reader.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    };
    for (uint64_t i = 0; i < header.e_shnum; ++i) {
        const Elf64_Shdr current = section(i);
        if (current.sh_type == SHT_SYMTAB || current.sh_type == SHT_DYNSYM) {
            read_symbols(reader, current, section(current.sh_link), object);
        } else if (current.sh_type == SHT_RELA && (current.sh_flags & SHF_ALLOC)) {
            read_relocations(reader, current, section(current.sh_link), object);
        } else if (current.sh_type == SHT_NOTE && metadata.is_null()) {
            metadata = read_metadata(reader, current);
        }
    }
}

void read_kernels(const nlohmann::json& metadata, const std::string& processor, CodeObject& object) {
    const std::string target = metadata.at("amdhsa.target").get<std::string>();
    Architecture& architecture = object.architecture;
    architecture.processor = processor_of_triple(target);
    if (architecture.processor != processor) {
        throw LoadError("the code object is for " + architecture.processor + ", the device is " + processor);
    }
    architecture.family = family_of(processor);
    architecture.wave_lanes = usual_wave_lanes(architecture.family);
    if (!metadata.contains("amdhsa.kernels")) return;
    for (const auto& kernel : metadata.at("amdhsa.kernels")) {
        KernelDescription description = read_kernel(object, kernel);
        if (description.wave_lanes == 32 && !architecture.is_rdna()) {
            throw LoadError("kernel " + description.name + " wants waves of 32 lanes, which " + processor + " lacks");
        }
        if (!object.kernels.empty() && architecture.wave_lanes != description.wave_lanes) {
            throw LoadError("kernel " + description.name + " wants waves of " + std::to_string(description.wave_lanes) +
                            " lanes, others of " + std::to_string(architecture.wave_lanes) +
                            ": the two in one code object are not modelled");
        }
        architecture.wave_lanes = description.wave_lanes;
        object.kernels.emplace(description.name, std::move(description));
    }
}

}  // namespace

CodeObject read_code_object(std::span<const uint8_t> bytes, const std::string& processor) {
    if (is_bundle(bytes)) bytes = unbundle(bytes, processor);
    if (!is_elf(bytes)) throw LoadError("this is neither a code object (ELF) nor a bundle of them");
    const Reader reader(bytes);
    const auto header = reader.at<Elf64_Ehdr>(0);
    if (header.e_machine != kMachineAmdGpu || header.e_ident[EI_OSABI] != kOsAbiAmdHsa) {
        throw LoadError("the ELF file is no code object for amdgcn-amd-amdhsa");
    }
    CodeObject object;
    object.file.assign(bytes.begin(), bytes.end());
    load_segments(reader, header, object);
    nlohmann::json metadata;
    try {
        read_sections(reader, header, object, metadata);
        if (metadata.is_null()) throw LoadError("the code object has no metadata");
        read_kernels(metadata, processor, object);
    } catch (const nlohmann::json::exception& error) {
        throw LoadError(std::string("the code object's metadata is malformed: ") + error.what());
    }
    return object;
}

uint64_t size_of_image(const void* data) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    const auto read = [&](uint64_t offset) {
        uint64_t value;
        std::memcpy(&value, bytes + offset, sizeof value);
        return value;
    };
    if (std::memcmp(bytes, ELFMAG, SELFMAG) == 0) {
        Elf64_Ehdr header;
        std::memcpy(&header, bytes, sizeof header);
        return header.e_shoff + uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
    }
    if (std::memcmp(bytes, kBundleMagic.data(), kBundleMagic.size()) != 0) return 0;
    uint64_t at = kBundleMagic.size() + 8;
    uint64_t end = 0;
    for (uint64_t i = 0; i < read(kBundleMagic.size()); ++i) {
        end = std::max(end, read(at) + read(at + 8));
        at += 24 + read(at + 16);
    }
    return std::max(end, at);
}

}  // namespace emulated_gpu::hip
