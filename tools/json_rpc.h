// JSON-RPC 2.0 in the framing of language servers: headers, an empty line, and as many bytes as `Content-Length` says.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace kiln::tools {

/// Codes that the protocols fix (JSON-RPC 2.0, 5.1; Language Server Protocol 3.17, "Response Message").
enum RpcError : int {
    kParseError = -32700,
    kInvalidRequest = -32600,
    kMethodNotFound = -32601,
    kInvalidParams = -32602,
    kInternalRpcError = -32603,
    kNotInitialised = -32002
};

/// The next message as text; nothing where the input ends. A header without a length that can be one is skipped, and
/// `malformed` set, since nobody knows how long its message is: the reader goes on with the next header.
struct RpcMessage {
    std::string text;
    bool malformed = false;
};
std::optional<RpcMessage> read_message(std::istream& input);

void write_message(std::ostream& output, const nlohmann::json& message);

}  // namespace kiln::tools
