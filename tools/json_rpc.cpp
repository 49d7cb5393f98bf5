#include "tools/json_rpc.h"

#include <charconv>
#include <istream>
#include <ostream>
#include <string_view>

namespace kiln::tools {

namespace {

constexpr std::size_t kLargestMessage = std::size_t{1} << 28;
constexpr std::size_t kLongestHeader = 4096;

/// A line without its end; nothing where the input ends. What is longer than any header is cut off.
std::optional<std::string> read_line(std::istream& input) {
    std::string line;
    char c = 0;
    while (input.get(c)) {
        if (c == '\n') {
            if (!line.empty() && line.back() == '\r') line.pop_back();
            return line;
        }
        if (line.size() < kLongestHeader) line.push_back(c);
    }
    return std::nullopt;
}

/// The length that a header line gives; nothing if it gives none, or one that no message can have.
std::optional<std::size_t> length_of(std::string_view line) {
    constexpr std::string_view kName = "content-length:";
    if (line.size() < kName.size()) return std::nullopt;
    for (std::size_t i = 0; i < kName.size(); ++i) {
        const char c = line[i];
        if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != kName[i]) return std::nullopt;
    }
    line.remove_prefix(std::min(line.find_first_not_of(' ', kName.size()), line.size()));
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), length);
    if (error != std::errc() || end != line.data() + line.size() || length > kLargestMessage) return std::nullopt;
    return length;
}

}  // namespace

std::optional<RpcMessage> read_message(std::istream& input) {
    std::optional<std::size_t> length;
    bool any = false;
    while (true) {
        const std::optional<std::string> line = read_line(input);
        if (!line) return std::nullopt;
        if (line->empty()) {
            if (!any) continue;  // blank lines between messages
            break;
        }
        any = true;
        if (const auto found = length_of(*line)) length = found;
    }
    if (!length) return RpcMessage{{}, true};
    RpcMessage message;
    message.text.resize(*length);
    input.read(message.text.data(), static_cast<std::streamsize>(*length));
    if (static_cast<std::size_t>(input.gcount()) != *length) return std::nullopt;
    return message;
}

void write_message(std::ostream& output, const nlohmann::json& message) {
    const std::string text = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    output << "Content-Length: " << text.size() << "\r\n\r\n" << text << std::flush;
}

}  // namespace kiln::tools
