// The files of a program: read, parsed, imports followed, names checked. Needs no specialisation.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dsl/ast.h"
#include "frontend/places.h"
#include "ir/support/diagnostic.h"

namespace kiln::frontend {

/// Text of the file at a path, or nothing if there is none. `kiln/...` names the standard library; a host may serve
/// files from memory.
using FileReader = std::function<std::optional<std::string>(const std::string& path)>;

/// One .kiln file. `declarations` maps the names it declares (constants, types, functions, kernels) to their nodes,
/// `imports` an alias to the index of the imported file.
struct File {
    std::string path;
    std::uint32_t source = 0;
    dsl::Ast ast;
    std::unordered_map<std::string_view, dsl::NodeId> declarations;
    std::unordered_map<std::string_view, std::size_t> imports;
};

/// A root file (index 0) and everything it imports. Texts live in `sources`; trees and spans refer to them.
struct Program {
    support::SourceMap sources;
    std::vector<File> files;
};

/// Reads `path` and its imports through `reader` and checks all names: unknown names (with the nearest known one),
/// duplicates, shadowing, reserved uses, import cycles, misplaced statements, clauses that name nothing. Dead branches
/// of `static if` are checked too. Problems go to `diagnostics`; the program is complete but must not be specialised if
/// there are errors. An unreadable root is a diagnostic at an empty source named `path`. `places`, if given, gets where
/// names lead.
Program load_program(const std::string& path, const FileReader& reader, support::Diagnostics& diagnostics,
                     Places* places = nullptr);

/// Reads files from disk.
std::optional<std::string> read_file(const std::string& path);

}  // namespace kiln::frontend
