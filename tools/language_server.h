// The Language Server Protocol, version 3.17, of what Kiln offers: diagnostics, hover, go to definition, formatting.
#pragma once

#include <iosfwd>
#include <map>
#include <nlohmann/json.hpp>

#include "tools/json_rpc.h"
#include "tools/open_document.h"

namespace kiln::tools {

/// Serves one client until it says `exit` or its input ends. No message, whatever is in it, ends the server.
class LanguageServer {
public:
    LanguageServer(std::istream& input, std::ostream& output) : input_(input), output_(output) {}

    /// Whether the client shut the server down before it left, as the protocol wants.
    bool serve();

private:
    using Json = nlohmann::json;
    enum class State : std::uint8_t { Fresh, Running, ShutDown };

    void receive(const RpcMessage& message);
    void request(const Json& id, const std::string& method, const Json& parameters);
    void notification(const std::string& method, const Json& parameters);
    Json answer(const std::string& method, const Json& parameters);

    void open(const std::string& uri, std::string text);
    void close(const std::string& uri);
    void publish(OpenDocument& document);
    const OpenDocument* find(const Json& parameters) const;

    void send_error(const Json& id, RpcError code, const std::string& message);
    void send_notification(const std::string& method, const Json& parameters);
    void log(const std::string& message);

    std::istream& input_;
    std::ostream& output_;
    State state_ = State::Fresh;
    bool left_ = false;
    std::map<std::string, OpenDocument> documents_;  ///< by URI
};

}  // namespace kiln::tools
