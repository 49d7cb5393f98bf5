#include "tests/emulated_gpu/cuda/device_printf.h"

#include <cstdio>
#include <cstring>

#include "tests/emulated_gpu/cuda/memory_access.h"

namespace emulated_gpu {
namespace {

/// Walks the argument buffer.
class Arguments {
public:
    Arguments(Step& step, int lane, uint64_t address) : step_(step), lane_(lane), address_(address) {}

    uint64_t next(uint64_t bytes) {
        address_ = (address_ + bytes - 1) / bytes * bytes;
        uint64_t value = 0;
        read_generic(step_, lane_, address_, bytes, &value);
        address_ += bytes;
        return value;
    }

private:
    Step& step_;
    int lane_;
    uint64_t address_;
};

template <class T>
std::string formatted(const std::string& specification, T value) {
    char text[512];
    const int length = std::snprintf(text, sizeof text, specification.c_str(), value);
    return std::string(text, length < 0 ? 0 : std::min<size_t>(static_cast<size_t>(length), sizeof text - 1));
}

/// One conversion; `flags` holds '%' with flags, width and precision.
std::string convert(Step& step, Arguments& arguments, const std::string& flags, bool wide, char conversion) {
    switch (conversion) {
        case 'd':
        case 'i':
            if (wide) return formatted(flags + "lld", static_cast<long long>(arguments.next(8)));
            return formatted(flags + "d", static_cast<int>(arguments.next(4)));
        case 'u':
        case 'x':
        case 'X':
        case 'o':
            if (wide) return formatted(flags + "ll" + conversion, static_cast<unsigned long long>(arguments.next(8)));
            return formatted(flags + conversion, static_cast<unsigned>(arguments.next(4)));
        case 'c':
            return formatted(flags + "c", static_cast<int>(arguments.next(4)));
        case 'p':
            return formatted(flags + "p", reinterpret_cast<void*>(arguments.next(8)));
        case 's':
            return formatted(flags + "s", read_device_string(step, arguments.next(8)).c_str());
        case 'f':
        case 'F':
        case 'e':
        case 'E':
        case 'g':
        case 'G':
        case 'a':
        case 'A':
            return formatted(flags + conversion, as_f64(arguments.next(8)));
        default:
            return flags + conversion;
    }
}

}  // namespace

std::string read_device_string(Step& step, uint64_t address) {
    std::string text;
    while (text.size() < 4096) {
        const uint8_t* byte = step.launch.memory.at(address + text.size(), 1);
        if (byte == nullptr || *byte == 0) break;
        text += static_cast<char>(*byte);
    }
    return text;
}

std::string format_device_text(Step& step, int lane, uint64_t format, uint64_t arguments_at) {
    const std::string pattern = read_device_string(step, format);
    Arguments arguments(step, lane, arguments_at);
    std::string text;
    for (size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] != '%') {
            text += pattern[i];
            continue;
        }
        if (i + 1 < pattern.size() && pattern[i + 1] == '%') {
            text += '%';
            ++i;
            continue;
        }
        std::string flags = "%";
        bool wide = false;
        for (++i; i < pattern.size() && std::strchr("-+ #0123456789.*hlzjt", pattern[i]) != nullptr; ++i) {
            if (pattern[i] == '*')
                flags += std::to_string(static_cast<int>(arguments.next(4)));
            else if (std::strchr("lzjt", pattern[i]) != nullptr)
                wide = true;
            else if (pattern[i] != 'h')
                flags += pattern[i];
        }
        if (i < pattern.size()) text += convert(step, arguments, flags, wide, pattern[i]);
    }
    return text;
}

}  // namespace emulated_gpu
