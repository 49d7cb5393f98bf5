#include "tools/language_server.h"

#include <fmt/format.h>

#include "kiln/kiln.hpp"
#include "runtime/state.h"

namespace kiln::tools {

namespace {

using Json = nlohmann::json;

constexpr int kFullText = 1;  // TextDocumentSyncKind.Full

Json capabilities() {
    const Json sync = {{"openClose", true}, {"change", kFullText}};
    return {{"capabilities",
             {{"positionEncoding", "utf-16"},
              {"textDocumentSync", sync},
              {"hoverProvider", true},
              {"definitionProvider", true},
              {"documentFormattingProvider", true}}},
            {"serverInfo", {{"name", "kiln"}, {"version", kiln::version()}}}};
}

/// A method that this server answers, and does not know.
struct UnknownMethod {
    std::string method;
};

}  // namespace

bool LanguageServer::serve() {
    while (!left_) {
        const std::optional<RpcMessage> message = read_message(input_);
        if (!message) break;
        receive(*message);
    }
    return state_ == State::ShutDown;
}

void LanguageServer::receive(const RpcMessage& message) {
    if (message.malformed)
        return send_error(nullptr, kParseError, "a header without a `Content-Length` that can be one");
    const Json json = Json::parse(message.text, nullptr, false);
    if (json.is_discarded()) return send_error(nullptr, kParseError, "the message is no JSON");
    const auto id = json.is_object() ? json.find("id") : json.end();
    const bool is_request = json.is_object() && id != json.end();
    if (!json.is_object() || !json.contains("method") || !json["method"].is_string()) {
        // An answer to a request of the server: it makes none.
        if (json.is_object() && (json.contains("result") || json.contains("error"))) return;
        return send_error(is_request ? *id : Json(), kInvalidRequest, "a message is an object with a `method`");
    }
    const std::string method = json["method"];
    const Json parameters = json.value("params", Json::object());
    if (is_request) return request(*id, method, parameters);
    try {
        notification(method, parameters);
    } catch (const std::exception& error) {
        log(fmt::format("`{}`: {}", method, error.what()));
    }
}

void LanguageServer::request(const Json& id, const std::string& method, const Json& parameters) {
    if (method == "initialize" && state_ == State::Fresh) {
        state_ = State::Running;
        return write_message(output_, {{"jsonrpc", "2.0"}, {"id", id}, {"result", capabilities()}});
    }
    if (state_ == State::Fresh) return send_error(id, kNotInitialised, "`initialize` comes first");
    if (state_ == State::ShutDown || method == "initialize") {
        return send_error(id, kInvalidRequest, fmt::format("`{}` may not come now", method));
    }
    try {
        const Json result = answer(method, parameters);
        write_message(output_, {{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
    } catch (const UnknownMethod&) {
        send_error(id, kMethodNotFound, fmt::format("`{}` is not offered", method));
    } catch (const Json::exception& error) {
        send_error(id, kInvalidParams, error.what());
    } catch (const std::exception& error) {
        send_error(id, kInternalRpcError, error.what());
    }
}

Json LanguageServer::answer(const std::string& method, const Json& parameters) {
    if (method == "shutdown") {
        state_ = State::ShutDown;
        return nullptr;
    }
    const bool at_place = method == "textDocument/hover" || method == "textDocument/definition";
    if (!at_place && method != "textDocument/formatting") throw UnknownMethod{method};
    const OpenDocument* document = find(parameters);
    if (document == nullptr) return nullptr;
    if (!at_place) return document->formatting();
    const Json& position = parameters.at("position");
    const auto line = position.at("line").get<std::uint32_t>();
    const auto character = position.at("character").get<std::uint32_t>();
    return method == "textDocument/hover" ? document->hover(line, character) : document->definition(line, character);
}

void LanguageServer::notification(const std::string& method, const Json& parameters) {
    if (method == "exit") {
        left_ = true;
        return;
    }
    if (state_ != State::Running) return;
    if (method == "textDocument/didOpen") {
        const Json& document = parameters.at("textDocument");
        open(document.at("uri"), document.at("text"));
    } else if (method == "textDocument/didChange") {
        // Each change is the whole text; the last one holds.
        const Json& changes = parameters.at("contentChanges");
        if (!changes.empty()) open(parameters.at("textDocument").at("uri"), changes.back().at("text"));
    } else if (method == "textDocument/didClose") {
        close(parameters.at("textDocument").at("uri"));
    }
}

void LanguageServer::open(const std::string& uri, std::string text) {
    const auto [found, fresh] = documents_.try_emplace(uri, uri, text);
    if (!fresh) found->second.set_text(std::move(text));
    publish(found->second);
}

void LanguageServer::close(const std::string& uri) {
    documents_.erase(uri);
    send_notification("textDocument/publishDiagnostics", {{"uri", uri}, {"diagnostics", Json::array()}});
}

/// Imports are read from other open documents first, since those may be newer than the disk.
void LanguageServer::publish(OpenDocument& document) {
    const auto reader = [&](const std::string& path) -> std::optional<std::string> {
        for (const auto& [uri, other] : documents_) {
            if (path_of_uri(uri) == path) return other.text();
        }
        return frontend::read_file(path);
    };
    document.check(runtime::with_standard_library(reader));
    send_notification("textDocument/publishDiagnostics", document.diagnostics());
}

const OpenDocument* LanguageServer::find(const Json& parameters) const {
    const auto found = documents_.find(parameters.at("textDocument").at("uri").get<std::string>());
    return found == documents_.end() ? nullptr : &found->second;
}

void LanguageServer::send_error(const Json& id, RpcError code, const std::string& message) {
    write_message(output_, {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

void LanguageServer::send_notification(const std::string& method, const Json& parameters) {
    write_message(output_, {{"jsonrpc", "2.0"}, {"method", method}, {"params", parameters}});
}

void LanguageServer::log(const std::string& message) {
    constexpr int kError = 1;  // MessageType.Error
    send_notification("window/logMessage", {{"type", kError}, {"message", message}});
}

}  // namespace kiln::tools
