#include "runtime/key.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

namespace kiln::runtime {

namespace {

struct BuildIdSearch {
    std::uintptr_t address;
    std::string found;
};

std::string build_id_in_notes(const char* notes, std::size_t size) {
    for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= size;) {
        ElfW(Nhdr) header;
        std::memcpy(&header, notes + at, sizeof header);
        const std::size_t name = at + sizeof header;
        const std::size_t description = name + (header.n_namesz + 3) / 4 * 4;
        if (header.n_type == NT_GNU_BUILD_ID && std::string_view(notes + name, 3) == "GNU") {
            std::string text;
            for (std::size_t i = 0; i < header.n_descsz; ++i) {
                text += fmt::format("{:02x}", static_cast<unsigned char>(notes[description + i]));
            }
            return text;
        }
        at = description + (header.n_descsz + 3) / 4 * 4;
    }
    return {};
}

bool holds(const dl_phdr_info& object, std::uintptr_t address) {
    for (int i = 0; i < object.dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object.dlpi_phdr[i];
        const std::uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
        if (segment.p_type == PT_LOAD && begin <= address && address < begin + segment.p_memsz) return true;
    }
    return false;
}

int visit_object(dl_phdr_info* object, std::size_t, void* data) {
    auto& search = *static_cast<BuildIdSearch*>(data);
    if (!holds(*object, search.address)) return 0;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)& segment = object->dlpi_phdr[i];
        if (segment.p_type != PT_NOTE || !search.found.empty()) continue;
        const auto* notes = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
        search.found = build_id_in_notes(notes, segment.p_memsz);
    }
    return 1;
}

}  // namespace

void KeyBuilder::add(std::string_view field) {
    add(field.size());
    bytes_ += field;
}

void KeyBuilder::add(std::uint64_t field) { bytes_.append(reinterpret_cast<const char*>(&field), sizeof field); }

std::string KeyBuilder::finish() const {
    const Checksum hash = checksum(bytes_);
    return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

Checksum checksum(std::span<const char> bytes) {
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    return {hash.low64, hash.high64};
}

const std::string& build_id() {
    static const std::string id = [] {
        BuildIdSearch search{reinterpret_cast<std::uintptr_t>(&visit_object), {}};
        dl_iterate_phdr(visit_object, &search);
        return search.found;
    }();
    return id;
}

}  // namespace kiln::runtime
