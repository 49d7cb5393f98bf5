#include "frontend/signature.h"

#include <algorithm>

#include "frontend/names.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

namespace {

using dsl::Ast;
using dsl::kNoNode;
using dsl::NodeId;
using dsl::NodeKind;
using support::Span;

/// Reads the signature of one kernel from its tree.
class Reader {
public:
    Reader(const Program& program, const File& file) : program_(program), ast_(file.ast) {}

    KernelSignature kernel(NodeId id) const;

private:
    GenericSignature generic(NodeId id) const;
    ParameterSignature parameter(NodeId id) const;
    SizeSignature size(NodeId id) const;
    void clause(NodeId id, KernelSignature& signature) const;
    bool has_schedule(NodeId clauses, const KernelSignature& signature) const;
    std::string documentation(NodeId id) const;
    /// The text of a span, with every run of blanks and newlines as one blank.
    std::string written(Span span) const;
    std::string written(NodeId id) const { return written(ast_[id].span); }

    const Program& program_;
    const Ast& ast_;
};

bool has_child(const Ast& ast, NodeId id, std::size_t index) {
    const auto parts = ast.children_of(id);
    return parts.size() > index && parts[index] != kNoNode;
}

ir::Access access_named(std::string_view word) {
    if (word == "in") return ir::Access::In;
    if (word == "out") return ir::Access::Out;
    if (word == "inout") return ir::Access::InOut;
    throw support::InternalError("signature", "a tensor type without a direction");
}

std::string Reader::written(Span span) const {
    std::string result;
    for (const char c : program_.sources.text(span)) {
        const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (!blank) {
            result += c;
        } else if (!result.empty() && result.back() != ' ') {
            result += ' ';
        }
    }
    return result;
}

std::string Reader::documentation(NodeId id) const {
    std::string result;
    for (const dsl::DocComment& comment : ast_.docs) {
        if (comment.declaration != id) continue;
        std::string_view rest = program_.sources.text(comment.span);
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find('\n'), rest.size());
            std::string_view line = rest.substr(0, end);
            rest.remove_prefix(std::min(end + 1, rest.size()));
            const std::size_t slashes = line.find("///");
            if (slashes == std::string_view::npos) continue;
            line.remove_prefix(slashes + 3);
            if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
            while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
            if (!result.empty()) result += '\n';
            result += line;
        }
    }
    return result;
}

GenericSignature Reader::generic(NodeId id) const {
    GenericSignature result;
    result.name = ast_[id].text;
    const NodeId type = ast_.child(id, 0);
    result.type_text = written(type);
    switch (type_role(program_, 0, type)) {
        case TypeRole::Class:
            result.kind = GenericKind::Type;
            break;
        case TypeRole::Function:
            result.kind = GenericKind::Function;
            break;
        case TypeRole::Value:
        case TypeRole::Tensor:
            result.kind = GenericKind::Value;
            break;
    }
    result.has_default = has_child(ast_, id, 1);
    if (result.has_default) result.default_text = written(ast_.child(id, 1));
    return result;
}

SizeSignature Reader::size(NodeId id) const {
    SizeSignature result;
    result.text = written(id);
    const dsl::Node& node = ast_[id];
    if (node.kind == NodeKind::Name) result.name = node.text;
    const auto operands = ast_.children_of(id);
    if (node.kind != NodeKind::Chain || operands.size() != 2 || ast_[operands[0]].kind != NodeKind::Name) return result;
    const std::string_view operation = ast_.operators_of(id)[0].text;
    if (operation == "+" || operation == "-" || operation == "*") result.name = ast_[operands[0]].text;
    return result;
}

ParameterSignature Reader::parameter(NodeId id) const {
    ParameterSignature result;
    result.name = ast_[id].text;
    result.optional = has_child(ast_, id, 1);
    const NodeId type = ast_.child(id, 0);
    result.is_tensor = ast_[type].kind == NodeKind::TensorType;
    if (!result.is_tensor) {
        result.element = written(type);
        return result;
    }
    result.access = access_named(ast_[type].text);
    result.element = ast_[ast_.child(type, 0)].text;
    for (const NodeId axis : ast_.children_of(ast_.child(type, 1))) result.sizes.push_back(size(axis));
    return result;
}

void Reader::clause(NodeId id, KernelSignature& signature) const {
    if (ast_[id].kind == NodeKind::Reference) signature.reference = ast_[ast_.child(id, 0)].text;
    if (ast_[id].kind != NodeKind::Tune) return;
    for (const NodeId tunable : ast_.children_of(id)) {
        TunableSignature& entry = signature.tunables.emplace_back();
        entry.name = ast_[tunable].text;
        for (const NodeId choice : ast_.children_of(tunable)) entry.choices.push_back(written(choice));
    }
}

bool Reader::has_schedule(NodeId clauses, const KernelSignature& signature) const {
    for (const NodeId clause : ast_.children_of(clauses)) {
        if (ast_[clause].kind != NodeKind::Schedule) continue;
        for (const NodeId setting : ast_.children_of(clause)) {
            const bool is_tunable =
                std::any_of(signature.tunables.begin(), signature.tunables.end(),
                            [&](const auto& tunable) { return tunable.name == ast_[setting].text; });
            if (!is_tunable) return true;
        }
    }
    return false;
}

/// Marks the generics that some tensor parameter gives.
void deduce(KernelSignature& signature) {
    for (GenericSignature& generic : signature.generics) {
        for (const ParameterSignature& parameter : signature.parameters) {
            if (!parameter.is_tensor) continue;
            const bool element = generic.kind == GenericKind::Type && parameter.element == generic.name;
            const auto names_it = [&generic](const SizeSignature& size) { return size.name == generic.name; };
            const bool size = generic.kind == GenericKind::Value &&
                              std::any_of(parameter.sizes.begin(), parameter.sizes.end(), names_it);
            generic.deducible = generic.deducible || element || size;
        }
    }
}

KernelSignature Reader::kernel(NodeId id) const {
    const auto parts = ast_.children_of(id);
    KernelSignature result;
    result.name = ast_[id].text;
    result.documentation = documentation(id);
    if (parts[0] != kNoNode) {
        for (const NodeId each : ast_.children_of(parts[0])) result.generics.push_back(generic(each));
    }
    for (const NodeId each : ast_.children_of(parts[1])) result.parameters.push_back(parameter(each));
    for (const NodeId each : ast_.children_of(parts[2])) clause(each, result);
    result.has_schedule = has_schedule(parts[2], result);
    deduce(result);
    return result;
}

}  // namespace

std::vector<KernelSignature> signatures(const Program& program) {
    std::vector<KernelSignature> result;
    const File& root = program.files.front();
    if (root.ast.root == kNoNode) return result;
    const Reader reader(program, root);
    for (const NodeId id : root.ast.children_of(root.ast.root)) {
        if (root.ast[id].kind == NodeKind::Kernel) result.push_back(reader.kernel(id));
    }
    return result;
}

std::optional<KernelSignature> signature(const Program& program, const std::string& kernel) {
    const File& root = program.files.front();
    const auto found = root.declarations.find(kernel);
    if (found == root.declarations.end() || root.ast[found->second].kind != NodeKind::Kernel) return std::nullopt;
    return Reader(program, root).kernel(found->second);
}

}  // namespace kiln::frontend
