// The state of name checking, shared by names*.cpp.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/builtins.h"
#include "frontend/diagnostics.h"
#include "frontend/name_scopes.h"
#include "frontend/names.h"
#include "frontend/schedule.h"

namespace kiln::frontend {

/// What a name or `module.name` stands for. `node` lies in the tree of `file`.
struct Meaning {
    EntityKind kind = EntityKind::Builtin;
    std::size_t file = 0;
    dsl::NodeId node = dsl::kNoNode;
    const Entity* entity = nullptr;    ///< names declared inside a declaration
    const Builtin* builtin = nullptr;  ///< kind Builtin
    support::Span span;                ///< where it is declared, if it is
    bool known = false;                ///< false: already reported, or a member of an unreadable file
};

/// Checks one file. Errors beyond a limit are dropped, so that broken generated text does not cost for ever.
class NameChecker {
public:
    NameChecker(const Program& program, const std::vector<bool>& complete, std::size_t file,
                support::Diagnostics& diagnostics, Places* places);
    void check();

private:
    enum class Use : std::uint8_t { Read, Target, Place };
    /// The statements around the one that is checked.
    struct Body {
        bool kernel = false;
        bool returns_value = false;
        std::string_view name;
        std::vector<dsl::NodeId> loops;
    };
    /// A use of one declaration of this file inside another.
    struct Edge {
        dsl::NodeId target;
        support::Span use;
    };

    /// A declaration that could not be seen, and why: it comes later, its block has ended, or it is of a signature or
    /// grid whose names are not known there.
    struct Hidden {
        enum Why : std::uint8_t { None, Later, Ended, Elsewhere } why = None;
        support::Span span;
    };
    static constexpr std::size_t kErrorLimit = 100;

    // names.cpp: declarations
    void declaration(dsl::NodeId id);
    void constant(dsl::NodeId id, bool local);
    void type_alias(dsl::NodeId id);
    void function(dsl::NodeId id, bool local);
    void kernel(dsl::NodeId id);
    void generics(dsl::NodeId id);
    void parameters(dsl::NodeId id, bool of_kernel);
    void declare_plain_sizes(dsl::NodeId parameter, bool of_kernel);
    void declare_solved_sizes(dsl::NodeId parameter, bool of_kernel);
    bool is_compile_time(dsl::NodeId expression);
    void plain_size(dsl::NodeId size, dsl::NodeId parameter);
    void bind_size(dsl::NodeId size, dsl::NodeId parameter);
    /// The sizes of a parameter's shape; a kernel's tiles have none of interest.
    std::vector<dsl::NodeId> shape_of(dsl::NodeId parameter, bool of_kernel) const;
    bool is_optional(dsl::NodeId parameter) const;
    EntityKind parameter_kind(dsl::NodeId parameter) const;
    void parameter_type(dsl::NodeId parameter);
    void parameter_default(dsl::NodeId parameter);
    void phase(dsl::NodeId id);
    void find_cycles();
    void find_cycles_from(std::size_t start, std::vector<char>& colours,
                          const std::map<dsl::NodeId, std::size_t>& index);
    void report_cycle(std::span<const Edge> path);

    // names_type.cpp
    enum class Sizes : std::uint8_t { Parameter, Plain };
    void type(dsl::NodeId id, Sizes sizes = Sizes::Plain);
    void type_path(dsl::NodeId path);
    void size_list(dsl::NodeId id, Sizes sizes);

    // names_clause.cpp
    void clauses(dsl::NodeId id, dsl::NodeId kernel);
    void clause(dsl::NodeId id, dsl::NodeId kernel);
    void tune(dsl::NodeId id);
    void allow(dsl::NodeId id);
    void schedule(dsl::NodeId id);
    void setting(dsl::NodeId id, std::string_view target);
    void schedule_value(dsl::NodeId id, const ScheduleKey& key, std::string_view target);
    void scratch(dsl::NodeId id);
    void reference(dsl::NodeId id, dsl::NodeId kernel);
    void reference_parameters(dsl::NodeId path, dsl::NodeId kernel, const Meaning& reference);
    void condition(dsl::NodeId id);
    void stands_once(const std::string& what, support::Span span);
    void unknown_key(dsl::NodeId id, std::string_view target);

    // names_statement.cpp
    void block(dsl::NodeId id);
    void statements(dsl::NodeId id);
    void unreachable(dsl::NodeId leaving, dsl::NodeId next);
    void statement(dsl::NodeId id);
    void binding(dsl::NodeId id, EntityKind kind);
    void loop(dsl::NodeId id);
    void branches(dsl::NodeId id);
    void static_branches(dsl::NodeId id);
    void return_statement(dsl::NodeId id);
    bool has_value(dsl::NodeId return_node) const;
    void leave_loop(dsl::NodeId id, std::string_view word);
    void assign(dsl::NodeId id);
    void target(dsl::NodeId id, std::string_view operation);
    bool may_be_element(dsl::NodeId target);
    bool binds_tighter(dsl::NodeId chain, std::string_view sign) const;
    void element_update(dsl::NodeId target, dsl::NodeId assign);
    void expression_statement(dsl::NodeId id);
    void unused_result(const Meaning& callee, dsl::NodeId expression);

    // names_expression.cpp
    void range(dsl::NodeId id);
    void expressions(std::span<const dsl::NodeId> ids);
    void expression(dsl::NodeId id);
    void value_name(dsl::NodeId id);
    /// Checks a primary with suffixes. The meaning is that of the callee if a direct call ends the expression.
    Meaning suffixed(dsl::NodeId id, Use use);
    Meaning primary(dsl::NodeId id, std::size_t& next);
    void tensor_access(const Meaning& tensor, dsl::NodeId id, std::size_t first, Use use);
    bool reads_elements(const Meaning& tensor, std::span<const dsl::NodeId> suffixes) const;
    void call(const Meaning& callee, std::string_view name, support::Span span, dsl::NodeId id);
    void named_argument(const Meaning& callee, std::string_view name, dsl::NodeId id);
    void index(dsl::NodeId id, bool written);

    // names_resolve.cpp
    void declare(EntityKind kind, std::string_view name, support::Span span, dsl::NodeId node);
    Meaning resolve(std::string_view name, support::Span span);
    Meaning resolve_path(std::string_view path, support::Span span);
    void note_place(support::Span at, support::Span declaration) {
        if (places_ != nullptr) places_->lead(at, declaration);
    }
    Meaning member(std::size_t module, std::string_view name, std::string_view alias, support::Span span);
    Meaning declaration_meaning(std::size_t file, dsl::NodeId node) const;
    /// The meaning of a visible name, without a report and without counting as a use.
    Meaning look_up(std::string_view name);
    void unknown(std::string_view name, support::Span span, bool as_type);
    void check_entity(const Entity& entity, support::Span span);
    std::vector<std::string_view> visible_names(std::string_view like, bool types);
    /// Where the declaration that is checked declares a `name` that could not be seen at `use`.
    Hidden hidden_declaration(std::string_view name, support::Span use) const;
    /// Where `id` declares `name`; an empty span if it does not.
    support::Span declared_span(dsl::NodeId id, std::string_view name) const;
    void collect_guards(dsl::NodeId condition, bool truth, std::vector<std::string_view>& guards) const;
    support::Diagnostic& report(const support::DiagnosticKind& kind, support::Span span, const auto&... arguments);

    const dsl::Ast& ast() const { return files_.files[file_].ast; }
    const dsl::Ast& ast(std::size_t file) const { return files_.files[file].ast; }
    const dsl::Node& node(dsl::NodeId id) const { return ast()[id]; }
    std::span<const dsl::NodeId> children(dsl::NodeId id) const { return ast().children_of(id); }
    std::string_view text(support::Span span) const { return files_.sources.text(span); }
    std::string written(support::Span span) const;

    const Program& files_;
    const std::vector<bool>& complete_;
    const std::size_t file_;
    support::Diagnostics& diagnostics_;
    Places* places_;                ///< may be null
    support::Diagnostics dropped_;  ///< takes what comes after the limit
    std::size_t errors_ = 0;

    Scopes scopes_;
    std::vector<Body> bodies_;
    dsl::NodeId parameter_ = dsl::kNoNode;         ///< the parameter whose type or default is checked
    dsl::NodeId declaration_ = dsl::kNoNode;       ///< the declaration of the file that is checked
    std::set<std::string, std::less<>> reported_;  ///< unknown names of it, each reported once
    std::vector<std::pair<dsl::NodeId, std::vector<Edge>>> edges_;
    std::map<std::string, support::Span, std::less<>> clauses_seen_;
    std::vector<std::string_view> guards_;  ///< tensors known to be present here
    bool host_ = false;                     ///< in an expression that runs before the launch
    bool in_generics_ = false;              ///< in the type of a generic, which may be a class
    bool any_guard_ = false;                ///< in the type of an optional parameter
};

support::Diagnostic& NameChecker::report(const support::DiagnosticKind& kind, support::Span span,
                                         const auto&... arguments) {
    ++errors_;
    if (errors_ == kErrorLimit + 1) diagnostics_.report(diagnostics::kTooManyErrors, span);
    if (errors_ > kErrorLimit) return dropped_.report(kind, span, arguments...);
    return diagnostics_.report(kind, span, arguments...);
}

/// "`a`, `b` or `c`", for messages.
std::string list_of_names(std::span<const std::string_view> names, std::string_view last = "or");

/// "did you mean `x`?" as a hint, if a candidate is near.
void suggest(support::Diagnostic& diagnostic, std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace kiln::frontend
