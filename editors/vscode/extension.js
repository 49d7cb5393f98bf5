// Starts `kiln lsp`. Without the client library (npm install) only highlighting works, which needs no code.
"use strict";

const vscode = require("vscode");

let client;

function activate() {
    let library;
    try {
        library = require("vscode-languageclient/node");
    } catch {
        return;
    }
    const command = vscode.workspace.getConfiguration("kiln").get("program", "kiln");
    const server = { command, args: ["lsp"], transport: library.TransportKind.stdio };
    client = new library.LanguageClient("kiln", "Kiln", server, { documentSelector: [{ language: "kiln" }] });
    return client.start();
}

function deactivate() {
    return client && client.stop();
}

module.exports = { activate, deactivate };
