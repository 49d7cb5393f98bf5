#include "frontend/specialise.h"

#include <charconv>

#include "frontend/builtins.h"
#include "frontend/lowering.h"
#include "ir/semantics.h"

namespace kiln::frontend {

std::optional<Specialisation> specialise(const Program& program, const Request& request,
                                         support::Diagnostics& diagnostics) {
    Reporter reporter(diagnostics);
    return Lowerer(program, request, reporter).run();
}

std::vector<ir::Configuration> configurations(const Program& program, const Request& request,
                                              support::Diagnostics& diagnostics) {
    Reporter reporter(diagnostics);
    return Lowerer(program, request, reporter).all_configurations();
}

void check_bodies(const Program& program, support::Diagnostics& diagnostics, Places* places) {
    Reporter reporter(diagnostics);
    const dsl::Ast& ast = program.files[0].ast;
    for (const dsl::NodeId declaration : ast.children_of(ast.root)) {
        const dsl::Node& declared = ast[declaration];
        if (declared.kind == dsl::NodeKind::Function) {
            Lowerer(program, {}, reporter, true, places).check_function(declaration);
        }
        if (declared.kind != dsl::NodeKind::Kernel) continue;
        Request request;
        request.kernel = declared.text;
        Lowerer(program, request, reporter, true, places).run();
        for (const dsl::NodeId parameter : ast.children_of(ast.child(declaration, 1))) {
            const bool tensor = ast[ast.child(parameter, 0)].kind == dsl::NodeKind::TensorType;
            if (!tensor || ast.child(parameter, 1) == dsl::kNoNode) continue;
            request.parameters[std::string(ast[parameter].text)].present = false;
        }
        if (!request.parameters.empty()) Lowerer(program, request, reporter, true, places).run();
    }
}

namespace {

std::optional<ir::Scalar> parse_scalar(ir::ScalarType type, const std::string& text) {
    const char* end = text.data() + text.size();
    if (type == ir::ScalarType::Bool) {
        if (text != "true" && text != "false") return std::nullopt;
        return ir::Scalar::boolean(text == "true");
    }
    if (ir::is_integer(type)) {
        std::int64_t value = 0;
        const auto [stop, status] = std::from_chars(text.data(), end, value);
        const ir::Scalar scalar = ir::Scalar::integer(type, value);
        const bool whole = status == std::errc{} && stop == end && scalar.as_int64() == value;
        return whole ? std::optional(scalar) : std::nullopt;
    }
    if (!ir::is_float(type)) return std::nullopt;
    double value = 0;
    const auto [stop, status] = std::from_chars(text.data(), end, value);
    return status == std::errc{} && stop == end ? std::optional(ir::round_to(type, value)) : std::nullopt;
}

/// The function a path names, seen from the root file.
bool names_function(const Program& program, const std::string& path) {
    const std::size_t dot = path.find('.');
    std::size_t file = 0;
    if (dot != std::string::npos) {
        const auto module = program.files[0].imports.find(std::string_view(path).substr(0, dot));
        if (module == program.files[0].imports.end()) return false;
        file = module->second;
    }
    const auto& declarations = program.files[file].declarations;
    const auto found = declarations.find(std::string_view(path).substr(dot == std::string::npos ? 0 : dot + 1));
    return found != declarations.end() && program.files[file].ast[found->second].kind == dsl::NodeKind::Function;
}

std::optional<GenericValue> parse_value(const Program& program, std::string_view type, const std::string& text) {
    if (is_type_class(type)) {
        if (const auto scalar = ir::scalar_type_named(text)) return *scalar;
        return std::nullopt;
    }
    if (const auto scalar = ir::scalar_type_named(type)) {
        if (const auto value = parse_scalar(*scalar, text)) return *value;
        return std::nullopt;
    }
    if (names_function(program, text)) return FunctionName{text};
    return std::nullopt;
}

std::optional<GenericValue> parse_tunable(const std::string& text) {
    for (const ir::ScalarType type : {ir::ScalarType::Bool, ir::kInt}) {
        if (const auto value = parse_scalar(type, text)) return *value;
    }
    return std::nullopt;
}

}  // namespace

std::optional<GenericValue> parse_generic(const Program& program, const std::string& kernel, const std::string& name,
                                          const std::string& text) {
    const File& root = program.files[0];
    const auto found = root.declarations.find(kernel);
    if (found == root.declarations.end() || root.ast[found->second].kind != dsl::NodeKind::Kernel) return std::nullopt;
    const dsl::NodeId generics = root.ast.child(found->second, 0);
    if (generics != dsl::kNoNode) {
        for (const dsl::NodeId generic : root.ast.children_of(generics)) {
            if (root.ast[generic].text != name) continue;
            const std::string_view type = program.sources.text(root.ast[root.ast.child(generic, 0)].span);
            return parse_value(program, type, text);
        }
    }
    for (const dsl::NodeId clause : root.ast.children_of(root.ast.child(found->second, 2))) {
        if (root.ast[clause].kind != dsl::NodeKind::Tune) continue;
        for (const dsl::NodeId tunable : root.ast.children_of(clause)) {
            if (root.ast[tunable].text == name) return parse_tunable(text);
        }
    }
    return std::nullopt;
}

}  // namespace kiln::frontend
