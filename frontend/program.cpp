// Reads the files of a program, parses them, follows imports and collects what each file declares.
#include "frontend/program.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "dsl/parse.h"
#include "frontend/diagnostics.h"
#include "frontend/names.h"

namespace kiln::frontend {

namespace {

using dsl::NodeId;
using dsl::NodeKind;
using support::Span;

constexpr std::string_view kLibrary = "kiln/";

/// `a/../b` is `b`, `./a` is `a`; what leads above the start stays, as `../a`.
std::string normalise(std::string_view path) {
    const bool absolute = !path.empty() && path.front() == '/';
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        const std::string_view part = path.substr(begin, end - begin);
        begin = end + 1;
        if (part.empty() || part == ".") continue;
        if (part == ".." && !parts.empty() && parts.back() != "..") {
            parts.pop_back();
        } else if (part != ".." || !absolute) {
            parts.push_back(part);
        }
    }
    std::string result = absolute ? "/" : "";
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) result += '/';
        result += parts[i];
    }
    return result;
}

/// The path of what `importer` names `path`.
std::string resolve_import(std::string_view importer, std::string_view path) {
    const bool fixed = path.substr(0, kLibrary.size()) == kLibrary || (!path.empty() && path.front() == '/');
    if (fixed) return normalise(path);
    const std::size_t slash = importer.rfind('/');
    const std::string_view folder = slash == std::string_view::npos ? "" : importer.substr(0, slash + 1);
    return normalise(fmt::format("{}{}", folder, path));
}

class Loader {
public:
    Loader(Program& program, const FileReader& reader, support::Diagnostics& diagnostics)
        : program_(program), reader_(reader), diagnostics_(diagnostics) {}

    void load(const std::string& root);
    const std::vector<bool>& complete() const { return complete_; }

private:
    /// A file that is being read: what it imports is not yet followed to the end.
    struct Open {
        std::size_t file;
        std::vector<NodeId> imports;
        std::size_t next = 0;
        Span importing;  ///< the import that led here
    };

    std::size_t read(const std::string& path, const std::optional<std::string>& text);
    void collect(std::size_t file);
    void follow(NodeId import);
    void open(std::size_t file, Span importing);
    bool closes_cycle(std::size_t file, Span import);
    /// Enters a name of a file; false (and a message) if it is taken.
    bool enter(std::size_t file, std::string_view name, Span span);

    Program& program_;
    const FileReader& reader_;
    support::Diagnostics& diagnostics_;
    std::vector<bool> complete_;
    std::map<std::string, std::size_t> by_path_;
    std::vector<Open> open_;
    std::map<std::pair<std::size_t, std::string_view>, Span> declared_;
};

void Loader::load(const std::string& root) {
    const std::optional<std::string> text = reader_(root);
    const std::size_t file = read(root, text);
    by_path_.emplace(normalise(root), file);
    if (!text) {
        diagnostics_.report(diagnostics::kUnreadableFile, Span{program_.files[file].source, 0, 0}, root);
        return;
    }
    open(file, {});
    while (!open_.empty()) {
        Open& current = open_.back();
        if (current.next == current.imports.size()) {
            open_.pop_back();
        } else {
            follow(current.imports[current.next++]);
        }
    }
}

std::size_t Loader::read(const std::string& path, const std::optional<std::string>& text) {
    const std::size_t index = program_.files.size();
    File& file = program_.files.emplace_back();
    file.path = path;
    file.source = program_.sources.add(path, text.value_or(""));
    complete_.push_back(false);
    if (!text) return index;
    const std::size_t errors = diagnostics_.error_count();
    file.ast = dsl::parse(program_.sources, file.source, diagnostics_);
    complete_[index] = diagnostics_.error_count() == errors && file.ast.root != dsl::kNoNode;
    if (file.ast.root != dsl::kNoNode) collect(index);
    return index;
}

bool Loader::enter(std::size_t file, std::string_view name, Span span) {
    const auto [earlier, free] = declared_.emplace(std::pair(file, name), span);
    if (!free) {
        diagnostics_.report(diagnostics::kDuplicate, span, name).note(earlier->second, "it is first declared here");
    }
    return free;
}

void Loader::collect(std::size_t index) {
    File& file = program_.files[index];
    for (const NodeId id : file.ast.children_of(file.ast.root)) {
        const dsl::Node& node = file.ast[id];
        if (node.kind == NodeKind::Error) continue;
        if (!enter(index, node.text, node.name_span)) continue;
        if (node.kind != NodeKind::Import) file.declarations.emplace(node.text, id);
    }
}

void Loader::open(std::size_t index, Span importing) {
    Open entry{index, {}, 0, importing};
    const dsl::Ast& ast = program_.files[index].ast;
    if (ast.root != dsl::kNoNode) {
        for (const NodeId id : ast.children_of(ast.root)) {
            if (ast[id].kind == NodeKind::Import) entry.imports.push_back(id);
        }
    }
    open_.push_back(std::move(entry));
}

bool Loader::closes_cycle(std::size_t file, Span import) {
    const auto first = std::find_if(open_.begin(), open_.end(), [file](const Open& each) { return each.file == file; });
    if (first == open_.end()) return false;
    auto& diagnostic = diagnostics_.report(diagnostics::kImportCycle, import, program_.files[file].path);
    diagnostic.help("move what both need into a file of its own");
    constexpr int kMostNotes = 8;
    for (auto each = first + 1; each != open_.end() && each - first <= kMostNotes; ++each) {
        diagnostic.note(each->importing, fmt::format("`{}` is imported here", program_.files[each->file].path));
    }
    return true;
}

void Loader::follow(NodeId import) {
    const std::size_t importer = open_.back().file;
    const dsl::Ast& ast = program_.files[importer].ast;
    const dsl::Node& path_node = ast[ast.child(import, 0)];
    const Span span = path_node.span;
    const std::string_view alias = ast[import].text;
    if (path_node.text.find('\\') != std::string_view::npos) {
        diagnostics_.report(diagnostics::kBackslashInPath, span);
        complete_[importer] = false;
        return;
    }
    const std::string path = resolve_import(program_.files[importer].path, path_node.text);
    const auto known = by_path_.find(path);
    if (known != by_path_.end()) {
        closes_cycle(known->second, span);
        program_.files[importer].imports.emplace(alias, known->second);
        return;
    }
    const std::optional<std::string> text = reader_(path);
    const std::size_t file = read(path, text);
    by_path_.emplace(path, file);
    program_.files[importer].imports.emplace(alias, file);
    if (text) {
        open(file, span);
        return;
    }
    auto& diagnostic = diagnostics_.report(diagnostics::kUnreadableFile, span, path);
    diagnostic.help(path.substr(0, kLibrary.size()) == kLibrary ? "the library has no such file"
                                                                : "paths are relative to the importing file");
}

}  // namespace

Program load_program(const std::string& path, const FileReader& reader, support::Diagnostics& diagnostics,
                     Places* places) {
    Program program;
    Loader loader(program, reader, diagnostics);
    loader.load(path);
    check_names(program, loader.complete(), diagnostics, places);
    return program;
}

std::optional<std::string> read_file(const std::string& path) {
    // A folder opens like a file.
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return std::nullopt;
    std::ifstream stream(path, std::ios::binary);
    if (!stream) return std::nullopt;
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (stream.bad()) return std::nullopt;
    return text;
}

}  // namespace kiln::frontend
