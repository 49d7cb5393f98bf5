// node editor_extension.js FOLDER PROGRAM: loads the extension in FOLDER with stand-ins for the editor's module and for
// the client library, which here starts the server that the extension names and speaks the protocol as the editor does.
"use strict";

const assert = require("assert");
const { spawn } = require("child_process");
const Module = require("module");

const [folder, program] = process.argv.slice(2);
const timer = setTimeout(() => assert.fail("no answer in 60 seconds"), 60000);
let hasLibrary = false;
let client;

class LanguageClient {
    constructor(id, name, server, options) {
        Object.assign(this, { id, name, server, options, waiting: new Map(), published: [], buffer: Buffer.alloc(0) });
        client = this;
    }

    async start() {
        assert.strictEqual(this.server.transport, TransportKind.stdio);
        // The library adds the argument: client/src/node/main.ts of vscode-languageserver-node, createMessageTransports.
        this.process = spawn(this.server.command, [...this.server.args, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
        this.ended = new Promise((resolve) => this.process.on("exit", resolve));
        this.process.stdout.on("data", (bytes) => this.read(bytes));
        const answer = await this.ask("initialize", {
            processId: process.pid,
            rootUri: null,
            capabilities: { textDocument: { hover: { contentFormat: ["markdown"] }, publishDiagnostics: {} } },
        });
        this.capabilities = answer.capabilities;
        this.notify("initialized", {});
    }

    async stop() {
        assert.strictEqual(await this.ask("shutdown", null), null);
        this.notify("exit", null);
        assert.strictEqual(await this.ended, 0);
    }

    send(message) {
        const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
        this.process.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
        this.process.stdin.write(body);
    }

    notify(method, params) {
        this.send({ method, params });
    }

    ask(method, params) {
        const id = this.waiting.size + 1;
        const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
        this.send({ id, method, params });
        return answer;
    }

    read(bytes) {
        this.buffer = Buffer.concat([this.buffer, bytes]);
        for (;;) {
            const header = /^Content-Length: (\d+)\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(this.buffer.toString("latin1"));
            if (header === null || this.buffer.length < header[0].length + Number(header[1])) return;
            const end = header[0].length + Number(header[1]);
            const message = JSON.parse(this.buffer.subarray(header[0].length, end).toString());
            this.buffer = this.buffer.subarray(end);
            if (message.method === "textDocument/publishDiagnostics") this.published.push(message.params);
            if (message.id === undefined) continue;
            const { resolve, reject } = this.waiting.get(message.id);
            if (message.error) reject(new Error(message.error.message));
            else resolve(message.result);
        }
    }
}
const TransportKind = { stdio: 0, ipc: 1, pipe: 2, socket: 3 };

const load = Module._load;
Module._load = (name, ...rest) => {
    if (name === "vscode") {
        return { workspace: { getConfiguration: (section) => ({ get: (key) => ({ "kiln.program": program })[`${section}.${key}`] }) } };
    }
    if (name === "vscode-languageclient/node") {
        if (!hasLibrary) throw new Error(`Cannot find module '${name}'`);
        return { LanguageClient, TransportKind };
    }
    return load(name, ...rest);
};

async function main() {
    const extension = require(folder);

    // Without the library: highlighting alone, and no error.
    assert.strictEqual(await extension.activate(), undefined);
    assert.ok(!(await extension.deactivate()));

    hasLibrary = true;
    await extension.activate();
    assert.deepStrictEqual(client.options.documentSelector, [{ language: "kiln" }]);
    for (const provider of ["hoverProvider", "definitionProvider", "documentFormattingProvider"]) {
        assert.ok(client.capabilities[provider], provider);
    }
    const uri = "untitled:Untitled-1";
    const text = "fn twice(x: f32)->f32=2*x\nfn f(x: f32) -> f32 = twise(x)\n";
    client.notify("textDocument/didOpen", { textDocument: { uri, languageId: "kiln", version: 1, text } });
    const hover = await client.ask("textDocument/hover", { textDocument: { uri }, position: { line: 0, character: 4 } });
    assert.match(hover.contents.value, /fn twice/);
    assert.strictEqual(client.published.length, 1);
    assert.match(client.published[0].diagnostics[0].message, /`twise` is not declared/);
    const edits = await client.ask("textDocument/formatting", { textDocument: { uri }, options: { tabSize: 4, insertSpaces: true } });
    assert.match(edits[0].newText, /^fn twice\(x: f32\) -> f32 = 2 \* x\n/);
    await extension.deactivate();
    clearTimeout(timer);
}

main().catch((error) => {
    console.error(error);
    process.exit(1);
});
