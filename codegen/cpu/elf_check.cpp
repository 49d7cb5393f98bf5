#include "codegen/cpu/elf_check.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace kiln::codegen::cpu {
namespace {

#if defined(__aarch64__)
constexpr Elf64_Half kHostMachine = EM_AARCH64;
#else
constexpr Elf64_Half kHostMachine = EM_X86_64;
#endif

class Checker {
public:
    explicit Checker(std::span<const char> object) : object_(object) {}

    std::string run() {
        if (std::string reason = check_header(); !reason.empty()) return reason;
        if (std::string reason = check_sections(); !reason.empty()) return reason;
        for (const Elf64_Shdr& section : sections_) {
            if (section.sh_type == SHT_SYMTAB && !symbols_fit(section)) return "its symbol table is damaged";
            if (section.sh_type == SHT_RELA && !relocations_fit(section)) return "its relocations are damaged";
        }
        return {};
    }

private:
    template <class Record>
    Record read(std::uint64_t offset) const {
        Record record;
        std::memcpy(&record, object_.data() + offset, sizeof(Record));
        return record;
    }

    bool inside(std::uint64_t offset, std::uint64_t size) const {
        return offset <= object_.size() && size <= object_.size() - offset;
    }

    std::string check_header() {
        if (object_.size() < sizeof(Elf64_Ehdr)) return "it is shorter than an ELF header";
        header_ = read<Elf64_Ehdr>(0);
        if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) return "it is not an ELF object";
        if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
            header_.e_ident[EI_VERSION] != EV_CURRENT || header_.e_version != EV_CURRENT) {
            return "it is not a 64-bit little-endian ELF object";
        }
        if (header_.e_machine != kHostMachine) return "it is for another machine";
        if (header_.e_type != ET_REL || header_.e_ehsize != sizeof(Elf64_Ehdr) || header_.e_phnum != 0 ||
            header_.e_flags != 0) {
            return "it is not a relocatable object";
        }
        return {};
    }

    std::string check_sections() {
        const std::uint64_t count = header_.e_shnum;
        if (header_.e_shentsize != sizeof(Elf64_Shdr) || count == 0 || header_.e_shstrndx >= count ||
            header_.e_shoff % alignof(Elf64_Shdr) != 0 || !inside(header_.e_shoff, count * sizeof(Elf64_Shdr))) {
            return "its section table is damaged";
        }
        for (std::uint64_t i = 0; i < count; ++i) {
            sections_.push_back(read<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
        }
        if (sections_[header_.e_shstrndx].sh_type != SHT_STRTAB) return "its section table is damaged";
        int symbol_tables = 0;
        for (const Elf64_Shdr& section : sections_) {
            symbol_tables += section.sh_type == SHT_SYMTAB;
            if (!section_fits(section)) return "a section is damaged";
        }
        return symbol_tables == 1 ? std::string() : "it has no symbol table";
    }

    static bool known_type(Elf64_Word type) {
        return type == SHT_NULL || type == SHT_PROGBITS || type == SHT_SYMTAB || type == SHT_STRTAB ||
               type == SHT_RELA || type == SHT_NOBITS || type == SHT_X86_64_UNWIND || type == kLlvmAddressSignificance;
    }

    /// Alignments are bounded as well, since the linker would reserve memory by them.
    bool section_fits(const Elf64_Shdr& section) const {
        constexpr std::uint64_t kMostAlignment = 4096;
        const std::uint64_t alignment = section.sh_addralign;
        if (!known_type(section.sh_type) || (alignment & (alignment - 1)) != 0 || alignment > kMostAlignment ||
            section.sh_link >= sections_.size() || !name_fits(sections_[header_.e_shstrndx], section.sh_name) ||
            section.sh_addr != 0 || (section.sh_flags & SHF_COMPRESSED) != 0) {
            return false;
        }
        constexpr std::uint64_t kMostZeroBytes = std::uint64_t{1} << 30;
        if (section.sh_type == SHT_NOBITS) return section.sh_size <= kMostZeroBytes;
        return section.sh_type == SHT_NULL || inside(section.sh_offset, section.sh_size);
    }

    bool name_fits(const Elf64_Shdr& table, std::uint64_t name) const {
        return table.sh_type == SHT_STRTAB && inside(table.sh_offset, table.sh_size) && name < table.sh_size &&
               object_[table.sh_offset + table.sh_size - 1] == 0;
    }

    bool symbols_fit(const Elf64_Shdr& table) const {
        const std::uint64_t count = table.sh_size / sizeof(Elf64_Sym);
        if (table.sh_entsize != sizeof(Elf64_Sym) || table.sh_size % sizeof(Elf64_Sym) != 0 || count == 0 ||
            table.sh_info > count || table.sh_info == 0) {
            return false;
        }
        for (std::uint64_t i = 0; i < count; ++i) {
            const auto symbol = read<Elf64_Sym>(table.sh_offset + i * sizeof(Elf64_Sym));
            if (!name_fits(sections_[table.sh_link], symbol.st_name) || !symbol_fits(symbol)) return false;
        }
        return true;
    }

    bool symbol_fits(const Elf64_Sym& symbol) const {
        const auto type = ELF64_ST_TYPE(symbol.st_info);
        const auto binding = ELF64_ST_BIND(symbol.st_info);
        if (type > STT_FILE || (binding != STB_LOCAL && binding != STB_GLOBAL && binding != STB_WEAK)) return false;
        if (symbol.st_shndx == SHN_UNDEF) return true;
        if (symbol.st_shndx == SHN_ABS) return type == STT_FILE;
        if (symbol.st_shndx >= sections_.size()) return false;
        const std::uint64_t size = sections_[symbol.st_shndx].sh_size;
        return symbol.st_value <= size && symbol.st_size <= size - symbol.st_value;
    }

    bool relocations_fit(const Elf64_Shdr& table) const {
        if (table.sh_entsize != sizeof(Elf64_Rela) || table.sh_size % sizeof(Elf64_Rela) != 0 ||
            table.sh_info >= sections_.size() || sections_[table.sh_link].sh_type != SHT_SYMTAB) {
            return false;
        }
        const Elf64_Shdr& target = sections_[table.sh_info];
        const std::uint64_t symbols = sections_[table.sh_link].sh_size / sizeof(Elf64_Sym);
        constexpr std::uint64_t kLargestField = 8;
        for (std::uint64_t offset = 0; offset < table.sh_size; offset += sizeof(Elf64_Rela)) {
            const auto entry = read<Elf64_Rela>(table.sh_offset + offset);
            const std::uint64_t field = field_bytes(ELF64_R_TYPE(entry.r_info));
            if (field > kLargestField || ELF64_R_SYM(entry.r_info) >= symbols || target.sh_type != SHT_PROGBITS ||
                target.sh_size < field || entry.r_offset > target.sh_size - field) {
                return false;
            }
        }
        return true;
    }

    /// Bytes that a relocation writes; more than any for a type that no object of ours holds.
    static std::uint64_t field_bytes(std::uint64_t type) {
#if defined(__aarch64__)
        return type == R_AARCH64_ABS64 || type == R_AARCH64_PREL64 ? 8 : 4;
#else
        if (type == R_X86_64_64 || type == R_X86_64_PC64) return 8;
        const bool word = type == R_X86_64_PC32 || type == R_X86_64_PLT32 || type == R_X86_64_32 ||
                          type == R_X86_64_32S || type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX ||
                          type == R_X86_64_REX_GOTPCRELX;
        return word ? 4 : ~std::uint64_t{0};
#endif
    }

    static constexpr Elf64_Word kLlvmAddressSignificance = 0x6fff4c03;

    std::span<const char> object_;
    Elf64_Ehdr header_{};
    std::vector<Elf64_Shdr> sections_;
};

}  // namespace

std::string find_elf_damage(std::span<const char> object) {
    return Checker(object).run();
}

}  // namespace kiln::codegen::cpu
