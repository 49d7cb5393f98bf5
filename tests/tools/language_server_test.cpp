// `kiln lsp` as an editor meets it: a process that is written messages and answers them.
#include <doctest/doctest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/runtime/host.h"

namespace kiln::test {
namespace {

using Json = nlohmann::json;

/// A running server. Answers are read with a time limit, so that a silent server fails the test.
class Server {
public:
    Server() {
        std::array<int, 2> in{}, out{};
        REQUIRE(::pipe(in.data()) == 0);
        REQUIRE(::pipe(out.data()) == 0);
        ::signal(SIGPIPE, SIG_IGN);
        child_ = ::fork();
        if (child_ == 0) {
            ::dup2(in[0], 0);
            ::dup2(out[1], 1);
            for (const int each : {in[0], in[1], out[0], out[1]}) ::close(each);
            ::execl(KILN_PROGRAM, "kiln", "lsp", static_cast<char*>(nullptr));
            ::_exit(127);
        }
        ::close(in[0]);
        ::close(out[1]);
        to_ = in[1];
        from_ = out[0];
    }
    ~Server() {
        if (to_ >= 0) ::close(to_);
        ::close(from_);
        if (child_ > 0) ::kill(child_, SIGKILL), ::waitpid(child_, nullptr, 0);
    }
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    void write(std::string_view bytes) {
        while (!bytes.empty()) {
            const ssize_t written = ::write(to_, bytes.data(), bytes.size());
            REQUIRE(written > 0);
            bytes.remove_prefix(static_cast<std::size_t>(written));
        }
    }
    void send(const std::string& body) { write("Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body); }
    void notify(const std::string& method, const Json& parameters) {
        send(Json{{"jsonrpc", "2.0"}, {"method", method}, {"params", parameters}}.dump(-1, ' ', false,
                                                                                       Json::error_handler_t::replace));
    }
    /// Sends a request and returns the answer; notifications before it are kept in `heard`.
    Json ask(const std::string& method, const Json& parameters) {
        const int id = ++last_id_;
        send(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", parameters}}.dump());
        while (true) {
            Json message = receive();
            if (message.contains("id") && message["id"] == id) return message;
            heard.push_back(std::move(message));
        }
    }
    Json receive() {
        std::size_t end;
        while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) read_more();
        const std::size_t length = std::stoul(buffer_.substr(std::string("Content-Length: ").size()));
        while (buffer_.size() < end + 4 + length) read_more();
        const Json message = Json::parse(buffer_.substr(end + 4, length));
        buffer_.erase(0, end + 4 + length);
        CHECK(message["jsonrpc"] == "2.0");
        return message;
    }
    /// Ends the input and returns the exit code.
    int finish() {
        ::close(to_);
        to_ = -1;
        int status = 0;
        ::waitpid(child_, &status, 0);
        child_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

    Json open(const std::string& uri, const std::string& text) {
        notify("textDocument/didOpen",
               {{"textDocument", {{"uri", uri}, {"languageId", "kiln"}, {"version", 1}, {"text", text}}}});
        return published();
    }
    Json published() {
        const Json message = receive();
        CHECK(message["method"] == "textDocument/publishDiagnostics");
        return message["params"];
    }
    Json at(const std::string& method, const std::string& uri, int line, int character) {
        return ask("textDocument/" + method, {{"textDocument", {{"uri", uri}}},
                                              {"position", {{"line", line}, {"character", character}}}})["result"];
    }

    std::vector<Json> heard;

private:
    void read_more() {
        pollfd ready{from_, POLLIN, 0};
        REQUIRE_MESSAGE(::poll(&ready, 1, 20'000) == 1, "the server does not answer");
        std::array<char, 4096> bytes;
        const ssize_t count = ::read(from_, bytes.data(), bytes.size());
        REQUIRE_MESSAGE(count > 0, "the server has ended");
        buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    }

    pid_t child_ = -1;
    int to_ = -1, from_ = -1, last_id_ = 0;
    std::string buffer_;
};

constexpr const char* kUri = "file:///nowhere/a%20b.kiln";
constexpr const char* kText = R"(import "kiln/activations.kiln" as act
/// twice as much
fn twice(x: f32) -> f32 = 2 * x
kernel k<T: float>(x: in T[M, N], y: out T[M, N])
  tune BM in {16, 32}
grid i in 0 .. M by BM, j in 0 .. N by 64 {
    // π in a comment, 𝛑 too
    let tile = x[i :+ BM, j :+ 64]
    let doubled = twice(f32(tile))
    let rows = act.relu(sum(doubled, axis = 1))
    y[i :+ BM, j :+ 64] = T(rows[:, _])
}
)";

std::unique_ptr<Server> initialised() {
    auto server = std::make_unique<Server>();
    const Json answer = server->ask("initialize", {{"capabilities", Json::object()}});
    CHECK(answer["result"]["capabilities"]["hoverProvider"] == true);
    server->notify("initialized", Json::object());
    return server;
}

std::string hover_text(const Json& hover) {
    return hover.is_null() ? "" : hover["contents"]["value"].get<std::string>();
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("kiln lsp: diagnostics come and go with the text") {
        const auto server = initialised();
        CHECK(server->open(kUri, kText)["diagnostics"].empty());
        const auto change = [&](const std::string& text) {
            server->notify("textDocument/didChange",
                           {{"textDocument", {{"uri", kUri}, {"version", 2}}}, {"contentChanges", {{{"text", text}}}}});
            return server->published();
        };
        // The character counts UTF-16 units: the letter before has two.
        const Json broken = change("fn f(x: f32) -> f32 = x // 𝛑\nconst π = 1\nfn g(x: f32) -> f32 = y\n");
        REQUIRE(!broken["diagnostics"].empty());
        CHECK(broken["uri"] == kUri);
        const Json first = broken["diagnostics"][0];
        CHECK(first["severity"] == 1);
        CHECK(first["range"]["start"]["line"] == 1);
        CHECK(first["range"]["start"]["character"] == 6);
        const Json unknown = change("fn fooo(x: f32) -> f32 = x\nfn g(x: f32) -> f32 = foo(x)\n")["diagnostics"];
        REQUIRE(unknown.size() == 1);
        CHECK(unknown[0]["message"] == "`foo` is not declared\nhint: did you mean `fooo`?");
        CHECK(unknown[0]["range"]["start"] == Json{{"line", 1}, {"character", 22}});
        CHECK(unknown[0]["range"]["end"] == Json{{"line", 1}, {"character", 25}});
        const Json related = change("const A = 1\nconst A = 2\n")["diagnostics"];
        REQUIRE(related.size() == 1);
        CHECK(related[0]["relatedInformation"][0]["location"]["range"]["start"] == Json{{"line", 0}, {"character", 6}});
        CHECK(change(kText)["diagnostics"].empty());
        server->notify("textDocument/didClose", {{"textDocument", {{"uri", kUri}}}});
        CHECK(server->published()["diagnostics"].empty());
        CHECK(server->ask("shutdown", nullptr)["result"].is_null());
        server->notify("exit", nullptr);
        CHECK(server->finish() == 0);
    }

    TEST_CASE("kiln lsp: hover tells types and extents, definitions lead to declarations") {
        const auto server = initialised();
        server->open(kUri, kText);
        // "tile" in twice(f32(tile)), and where it is declared.
        CHECK(hover_text(server->at("hover", kUri, 8, 28)) == "```kiln\ntile: f16[16, 64]\n```");
        CHECK(hover_text(server->at("hover", kUri, 7, 9)) == "```kiln\ntile: f16[16, 64]\n```");
        CHECK(hover_text(server->at("hover", kUri, 7, 15)) == "```kiln\nx: in f16[_, _]\n```");
        CHECK(hover_text(server->at("hover", kUri, 5, 20)) == "```kiln\nBM: int = 16\n```");
        CHECK(hover_text(server->at("hover", kUri, 8, 20)) ==
              "```kiln\nfn twice(x: f32) -> f32 = 2 * x\n```\n\n twice as much");
        CHECK(hover_text(server->at("hover", kUri, 0, 35)) == "```kiln\nimport \"kiln/activations.kiln\" as act\n```");
        CHECK(hover_text(server->at("hover", kUri, 9, 26)).starts_with("```kiln\nsum\n```"));
        CHECK(server->at("hover", kUri, 6, 8).is_null());
        CHECK(server->at("hover", kUri, 4'000'000, 4'000'000).is_null());

        const Json tile = server->at("definition", kUri, 8, 28);
        CHECK(tile["uri"] == kUri);
        CHECK(tile["range"]["start"] == Json{{"line", 7}, {"character", 8}});
        CHECK(tile["range"]["end"] == Json{{"line", 7}, {"character", 12}});
        CHECK(server->at("definition", kUri, 8, 20)["range"]["start"] == Json{{"line", 2}, {"character", 3}});
        CHECK(server->at("definition", kUri, 5, 15)["range"]["start"] == Json{{"line", 3}, {"character", 27}});
        // The library is in the program, not on the disk: its files have a hover and no place to go to.
        CHECK(hover_text(server->at("hover", kUri, 9, 20)).starts_with("```kiln\nfn relu(x: f32) -> f32"));
        CHECK(server->at("definition", kUri, 9, 20).is_null());
        CHECK(server->at("definition", "file:///other.kiln", 0, 0).is_null());
    }

    TEST_CASE("kiln lsp: imports are found in other open documents, and definitions lead there") {
        const auto server = initialised();
        server->open("file:///nowhere/one.kiln", "fn one(x: f32) -> f32 = x\n");
        const std::string two = "import \"one.kiln\" as one\nfn two(x: f32) -> f32 = one.one(x)\n";
        CHECK(server->open("file:///nowhere/two.kiln", two)["diagnostics"].empty());
        const Json place = server->at("definition", "file:///nowhere/two.kiln", 1, 29);
        CHECK(place["uri"] == "file:///nowhere/one.kiln");
        CHECK(place["range"]["start"] == Json{{"line", 0}, {"character", 3}});
        const Json missing =
            server->open("file:///nowhere/three.kiln", "import \"four.kiln\" as four\n")["diagnostics"];
        REQUIRE(missing.size() == 1);
        CHECK(missing[0]["range"]["start"] == Json{{"line", 0}, {"character", 7}});
    }

    TEST_CASE("kiln lsp: formatting replaces the text, and leaves a broken one alone") {
        const auto server = initialised();
        const auto format = [&](const std::string& text) {
            server->open(kUri, text);
            return server->ask("textDocument/formatting",
                               {{"textDocument", {{"uri", kUri}}}, {"options", Json::object()}})["result"];
        };
        const Json edits = format("fn  f( x:f32 )->f32=x\n");
        REQUIRE(edits.size() == 1);
        CHECK(edits[0]["newText"] == "fn f(x: f32) -> f32 = x\n");
        CHECK(edits[0]["range"]["start"] == Json{{"line", 0}, {"character", 0}});
        CHECK(edits[0]["range"]["end"] == Json{{"line", 1}, {"character", 0}});
        CHECK(format("fn f(x: f32) -> f32 = x\n").empty());
        CHECK(format("fn f(").is_null());
    }
}

TEST_SUITE("faults") {
    TEST_CASE("kiln lsp: whatever it is sent, it answers the next request") {
        Server server;
        const auto code = [&](const std::string& body) {
            server.send(body);
            return server.receive()["error"]["code"].get<int>();
        };
        CHECK(code(R"({"jsonrpc":"2.0","id":1,"method":"textDocument/hover"})") == -32002);
        CHECK(server.ask("initialize", Json::object()).contains("result"));
        CHECK(code("") == -32700);
        CHECK(code("{") == -32700);
        CHECK(code("\xff\xfe") == -32700);
        CHECK(code(std::string(100'000, '[')) == -32700);
        CHECK(code("[]") == -32600);
        CHECK(code("3") == -32600);
        CHECK(code(R"({"id":1})") == -32600);
        CHECK(code(R"({"id":1,"method":3})") == -32600);
        CHECK(code(R"({"id":1,"method":"initialize"})") == -32600);
        CHECK(code(R"({"id":1,"method":"nonsense"})") == -32601);
        CHECK(code(R"({"id":1,"method":"textDocument/hover"})") == -32602);
        CHECK(code(R"({"id":1,"method":"textDocument/hover","params":[1]})") == -32602);
        CHECK(code(R"({"id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":5}}})") == -32602);
        server.open(kUri, kText);
        CHECK(
            code(
                R"({"id":1,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///nowhere/a%20b.kiln"},"position":{"line":"x"}}})") ==
            -32602);
        // Notifications have no answer, but a log where something is wrong.
        server.send(R"({"method":"textDocument/didOpen","params":{"textDocument":{"uri":1}}})");
        CHECK(server.receive()["method"] == "window/logMessage");
        server.send(R"({"method":"nonsense","params":7})");
        // Headers: no length, one that is none, one that is too large, an unknown header before the right one.
        for (const char* header : {"Nonsense: 3\r\n\r\n", "Content-Length: x\r\n\r\n",
                                   "Content-Length: 99999999999999\r\n\r\n", "Content-Length: -1\r\n\r\n"}) {
            server.write(header);
            CHECK(server.receive()["error"]["code"] == -32700);
        }
        const std::string hover = R"({"id":2,"method":"shutdown"})";
        server.write("Content-Type: x\r\ncontent-length:  " + std::to_string(hover.size()) + "\n\n" + hover);
        CHECK(server.receive()["id"] == 2);
        CHECK(code(R"({"id":1,"method":"textDocument/hover"})") == -32600);
        CHECK(server.finish() == 0);
    }

    TEST_CASE("kiln lsp: a text that changes at random keeps its server") {
        const auto server = initialised();
        std::mt19937 random(5);
        std::string text = kText;
        server->open(kUri, text);
        for (int round = 0; round < 300; ++round) {
            const std::size_t at = random() % (text.size() + 1), length = random() % 6;
            const std::string_view pieces[] = {"", "(", "}", "let ", "x", "\n", "0", "𝛑", "\"", "static if "};
            text.replace(at, std::min(length, text.size() - at), pieces[random() % std::size(pieces)]);
            if (round % 20 == 19) text = kText;
            server->notify("textDocument/didChange",
                           {{"textDocument", {{"uri", kUri}}}, {"contentChanges", {{{"text", text}}}}});
            CHECK(server->published()["uri"] == kUri);
        }
        server->at("hover", kUri, 3, 3);
    }

    TEST_CASE("kiln lsp: a client that just leaves gets exit code 1") {
        const auto server = initialised();
        server->write("Content-Length: 100\r\n\r\n{");
        CHECK(server->finish() == 1);
    }
}

}  // namespace kiln::test
