#include "tests/emulated_gpu/hip/instruction.h"

#include <cctype>
#include <cstdlib>

namespace emulated_gpu::hip {
namespace {

struct NamedRegister {
    const char* name;
    uint32_t index;
    uint32_t count;
};
constexpr NamedRegister kNamed[] = {
    {"vcc", kVcc, 2},
    {"vcc_lo", kVcc, 1},
    {"vcc_hi", kVcc + 1, 1},
    {"exec", kExec, 2},
    {"exec_lo", kExec, 1},
    {"exec_hi", kExec + 1, 1},
    {"m0", kM0, 1},
    {"null", kNull, 1},
    {"flat_scratch", kFlatScratch, 2},
    {"flat_scratch_lo", kFlatScratch, 1},
    {"flat_scratch_hi", kFlatScratch + 1, 1},
    {"xnack_mask", kXnackMask, 2},
    {"xnack_mask_lo", kXnackMask, 1},
    {"xnack_mask_hi", kXnackMask + 1, 1},
};

/// Splits at `separator` outside of brackets.
std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts(1);
    int depth = 0;
    for (const char c : text) {
        if (c == '[' || c == '(') ++depth;
        if (c == ']' || c == ')') --depth;
        if (c == separator && depth == 0)
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

bool all_digits(const std::string& text) {
    if (text.empty()) return false;
    for (const char c : text) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
    }
    return true;
}

/// "5" or "[4:7]" behind a register's letter.
bool parse_range(const std::string& text, Operand& operand) {
    if (all_digits(text)) {
        operand.index = static_cast<uint32_t>(std::atoi(text.c_str()));
        return true;
    }
    if (text.size() < 3 || text.front() != '[' || text.back() != ']') return false;
    const std::vector<std::string> ends = split(text.substr(1, text.size() - 2), ':');
    if (!all_digits(ends.front()) || !all_digits(ends.back())) return false;
    operand.index = static_cast<uint32_t>(std::atoi(ends.front().c_str()));
    operand.count = static_cast<uint32_t>(std::atoi(ends.back().c_str())) - operand.index + 1;
    return true;
}

bool parse_register(const std::string& text, Operand& operand) {
    for (const NamedRegister& named : kNamed) {
        if (text != named.name) continue;
        operand.kind = Operand::Kind::Scalar;
        operand.index = named.index;
        operand.count = named.count;
        return true;
    }
    if (text.starts_with("ttmp") && parse_range(text.substr(4), operand)) {
        operand.kind = Operand::Kind::Scalar;
        operand.index += kTrapRegisters;
        return true;
    }
    if (text.empty() || (text[0] != 'v' && text[0] != 's' && text[0] != 'a')) return false;
    const bool is_half = text.ends_with(".l") || text.ends_with(".h");
    if (!parse_range(text.substr(1, text.size() - (is_half ? 3 : 1)), operand)) return false;
    operand.high_half = text.ends_with(".h");
    operand.kind = text[0] == 's' ? Operand::Kind::Scalar : Operand::Kind::Vector;
    if (text[0] == 'a') operand.index += kAccumulators;
    const uint32_t limit = text[0] == 's' ? kVcc : text[0] == 'a' ? kVectorRegisters : kAccumulators;
    return operand.count > 0 && operand.index + operand.count <= limit;
}

bool parse_number(const std::string& text, Operand& operand) {
    if (parse_integer(text, operand.integer)) {
        operand.kind = Operand::Kind::Integer;
        operand.literal = text.starts_with("0x") || text.starts_with("-0x");
        return true;
    }
    char* end = nullptr;
    operand.real = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || *end != 0) return false;
    operand.kind = Operand::Kind::Float;
    return true;
}

/// Strips `name(` and `)`.
bool strip_call(std::string& text, const std::string& name) {
    if (!text.starts_with(name + "(") || text.back() != ')') return false;
    text = text.substr(name.size() + 1, text.size() - name.size() - 2);
    return true;
}

Operand parse_operand(std::string text) {
    Operand operand;
    operand.text = text;
    if (parse_number(text, operand)) return operand;
    if (strip_call(text, "lit") || strip_call(text, "lit64")) {
        parse_number(text, operand);
        operand.literal = true;
        return operand;
    }
    if (strip_call(text, "neg")) {
        operand.negate = true;
    } else if (text.starts_with("-")) {
        operand.negate = true;
        text = text.substr(1);
    }
    if (strip_call(text, "abs")) operand.absolute = true;
    if (text.size() > 2 && text.front() == '|' && text.back() == '|') {
        operand.absolute = true;
        text = text.substr(1, text.size() - 2);
    }
    if (strip_call(text, "sext")) operand.sign_extend = true;
    if (parse_register(text, operand) || parse_number(text, operand)) return operand;
    if (text == "off") operand.kind = Operand::Kind::Off;
    if (text == "src_shared_base" || text == "src_private_base") operand.kind = Operand::Kind::Aperture;
    return operand;
}

void add_modifier(const std::string& text, Instruction& instruction) {
    const size_t colon = text.find(':');
    const size_t call = text.find('(');
    if (call != std::string::npos && call < colon) {
        instruction.modifiers[text.substr(0, call)] = text.substr(call + 1, text.size() - call - 2);
    } else if (colon != std::string::npos) {
        instruction.modifiers[text.substr(0, colon)] = text.substr(colon + 1);
    } else {
        instruction.modifiers[text] = "";
    }
}

bool strip_suffix(std::string& text, const std::string& suffix) {
    if (!text.ends_with(suffix)) return false;
    text.resize(text.size() - suffix.size());
    return true;
}

constexpr std::string_view kDualPrefix = "v_dual_";

/// "v_dual_mov_b32 v0, v1 :: v_dual_add_f32 v2, v3, v4": two instructions in one.
Instruction parse_dual(const DisassembledInstruction& disassembled, size_t separator) {
    Instruction instruction;
    instruction.address = disassembled.address;
    instruction.bytes = disassembled.bytes;
    instruction.text = disassembled.text;
    instruction.mnemonic = "v_dual";
    for (const std::string& text : {disassembled.text.substr(0, separator), disassembled.text.substr(separator + 4)}) {
        DisassembledInstruction half = disassembled;
        half.text = text.starts_with(kDualPrefix) ? "v_" + text.substr(kDualPrefix.size()) : text;
        instruction.halves.push_back(parse_instruction(half));
    }
    return instruction;
}

}  // namespace

bool parse_integer(const std::string& text, int64_t& value) {
    const size_t sign = text.starts_with("-") ? 1 : 0;
    const bool hexadecimal = text.compare(sign, 2, "0x") == 0;
    const std::string digits = text.substr(sign + (hexadecimal ? 2 : 0));
    if (digits.empty() || digits.size() > 20) return false;
    char* end = nullptr;
    if (std::isxdigit(static_cast<unsigned char>(digits[0])) == 0) return false;
    const auto magnitude = static_cast<int64_t>(std::strtoull(digits.c_str(), &end, hexadecimal ? 16 : 10));
    if (*end != 0) return false;
    value = sign != 0 ? -magnitude : magnitude;
    return true;
}

std::vector<int64_t> parse_list(const std::string& text) {
    std::vector<int64_t> values;
    if (text.size() < 2) return values;
    for (const std::string& part : split(text.substr(1, text.size() - 2), ',')) {
        int64_t value = 0;
        parse_integer(part, value);
        values.push_back(value);
    }
    return values;
}

Instruction parse_instruction(const DisassembledInstruction& disassembled) {
    const size_t separator = disassembled.text.find(" :: ");
    if (separator != std::string::npos) return parse_dual(disassembled, separator);
    Instruction instruction;
    instruction.address = disassembled.address;
    instruction.bytes = disassembled.bytes;
    instruction.text = disassembled.text;
    const size_t space = disassembled.text.find(' ');
    instruction.mnemonic = disassembled.text.substr(0, space);
    if (strip_suffix(instruction.mnemonic, "_dpp")) instruction.dpp = true;
    if (strip_suffix(instruction.mnemonic, "_sdwa")) instruction.sdwa = true;
    if (!strip_suffix(instruction.mnemonic, "_e32")) strip_suffix(instruction.mnemonic, "_e64");
    if (space == std::string::npos) return instruction;
    // The operands stand between commas; behind the last one, and between blanks, modifiers.
    for (const std::string& part : split(disassembled.text.substr(space + 1), ',')) {
        bool first = true;
        for (const std::string& word : split(part, ' ')) {
            if (word.empty()) continue;
            const bool is_modifier = !first || instruction.mnemonic == "s_waitcnt";
            if (is_modifier)
                add_modifier(word, instruction);
            else
                instruction.operands.push_back(parse_operand(word));
            first = false;
        }
    }
    return instruction;
}

}  // namespace emulated_gpu::hip
