// The walk from the checked tree to tile IR for one specialisation. Types are checked as operations are lowered, since
// only then they are known. One class, its parts in a file each:
//   scope.cpp          names                               types.cpp        types, and bringing values to them
//   constants.cpp      literals, untyped constants         operators.cpp    operators and elementwise ops
//   expressions.cpp    names, suffixes, conversions        index_lists.cpp  reads, writes, views
//   statements.cpp     declarations, assignment, return    control.cpp      loops and branches, var as SSA
//   builtins_lower.cpp, reductions_lower.cpp, combining_lower.cpp, philox.cpp, messages_lower.cpp   builtins
//   functions.cpp, deduction.cpp                           inlining, lifting, deduction
//   schedule_choices.cpp  keys of schedules
//   configuration.cpp  generics, tunables                  kernel_header.cpp  parameters, sizes, clauses, phases
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "frontend/diagnostics.h"
#include "frontend/schedule.h"
#include "frontend/specialise.h"
#include "frontend/value.h"
#include "ir/builder.h"

namespace kiln::frontend {

/// Where a name leads: a binding, a declaration of some file, or nothing of the program's (a type or builtin name).
struct Resolved {
    Binding* binding = nullptr;
    std::size_t file = 0;
    dsl::NodeId declaration = dsl::kNoNode;
    bool found() const { return binding != nullptr || declaration != dsl::kNoNode; }
};

/// The error messages of one run; a message is given once a place, however often a function is inlined.
class Reporter {
public:
    explicit Reporter(support::Diagnostics& diagnostics) : diagnostics_(&diagnostics) {}

    template <class... Arguments>
    support::Diagnostic& report(const support::DiagnosticKind& kind, support::Span span,
                                const Arguments&... arguments) {
        if (kind.severity == support::Severity::Error) ++errors_;
        if (!reported_.insert({&kind, span.source, span.begin}).second) return repeated_ = {};
        return diagnostics_->report(kind, span, arguments...);
    }
    /// Errors found, those counted that were said before.
    std::size_t errors() const { return errors_; }

private:
    support::Diagnostics* diagnostics_;
    std::size_t errors_ = 0;
    std::set<std::tuple<const support::DiagnosticKind*, std::uint32_t, std::uint32_t>> reported_;
    support::Diagnostic repeated_;
};

/// Whether a scalar or tile of one shape can be repeated to another: equal rank, and only length 1 is repeated.
bool broadcasts_to(const ir::Shape& from, const ir::Shape& to);

/// An argument of a call as evaluated in the caller.
struct CallArgument {
    Value value;
    support::Span span;
};

/// The size of axes and compile-time numbers where a body is checked without a host.
inline constexpr std::int64_t kRepresentativeSize = 16;
/// What a generic type stands for there, if its class admits it; i32 otherwise.
inline constexpr ir::ScalarType kRepresentativeType = ir::ScalarType::F16;

class Lowerer {
public:
    Lowerer(const Program& program, const Request& request, Reporter& reporter, bool checking = false,
            Places* places = nullptr);

    /// The specialisation, or nothing if there were errors.
    std::optional<Specialisation> run();
    std::vector<ir::Configuration> all_configurations();
    /// Lowers a function of the root file with representative arguments, for its messages only.
    void check_function(dsl::NodeId function);

private:
    // ---- state ----

    /// A call of a function whose parameters are scalars with tiles: in its body, scalars may be tiles of this shape.
    struct Lift {
        std::uint32_t id = 0;
        ir::Shape shape;
    };
    struct Frame {
        const Frame* caller = nullptr;
        FunctionValue function;
        support::Span call;
        std::string_view name;              ///< of the function, for messages
        std::optional<SurfaceType> result;  ///< declared
        Value value = Value::none();        ///< returned
        bool terminated = false;            ///< a `return` was lowered
    };
    /// The loop whose body is being lowered. Whoever leaves a round early hands out `left` and the variables.
    struct Loop {
        std::vector<Binding*> carried;  ///< the variables that the body assigns
        std::optional<ir::ValueId>
            left;            ///< whether a `break` was met; in a loop of each element, a tile. None: no `break`
        bool ended = false;  ///< a `break` or `continue` was lowered
    };
    /// What follows a block that contains `return`, `break` or `continue`: statements of the blocks around it.
    struct Continuation {
        std::span<const dsl::NodeId> statements;
        Binding* scope = nullptr;
        const Continuation* next = nullptr;
    };
    /// Restores file, scope, frame and lift when a visit elsewhere ends.
    class Visit;

    template <class... Arguments>
    support::Diagnostic& error(const support::DiagnosticKind& kind, support::Span span, const Arguments&... arguments) {
        support::Diagnostic& diagnostic = reporter_.report(kind, span, arguments...);
        add_call_notes(diagnostic);
        return diagnostic;
    }
    void add_call_notes(support::Diagnostic& diagnostic) const;
    /// "`what` is not supported yet"; returns poison.
    Value unsupported(std::string_view what, support::Span span);
    /// Counts a statement, call or turn of an unrolled loop; false, with a message, if there were too many.
    bool spend(support::Span at);

    // ---- tree ----
    const dsl::Ast& ast() const { return program_.files[file_].ast; }
    const dsl::Node& node(dsl::NodeId id) const { return ast()[id]; }
    std::span<const dsl::NodeId> children(dsl::NodeId id) const { return ast().children_of(id); }
    dsl::NodeId child(dsl::NodeId id, std::size_t index) const { return ast().child(id, index); }
    support::Span span(dsl::NodeId id) const { return node(id).span; }
    std::string text(dsl::NodeId id) const { return std::string(program_.sources.text(span(id))); }

    // ---- scope.cpp ----
    Binding* declare(std::string_view name, Value value, support::Span span, BindingKind kind = BindingKind::Fixed);
    void declare_type(std::string_view name, ir::ScalarType type, support::Span span);
    /// What an editor shows of a binding: its type, and its value if that is known.
    std::string description(const Binding& binding) const;
    Binding* find(std::string_view name) const;
    /// A binding made after `base`.
    Binding* find_since(std::string_view name, const Binding* base) const;
    Resolved resolve(std::string_view name) const;
    /// "name" or "module.name".
    Resolved resolve_path(std::string_view path) const;
    Value value_of(const Resolved& resolved, std::string_view name, support::Span span);
    Value binding_value(const Binding& binding, support::Span span);
    Value declaration_value(std::size_t file, dsl::NodeId declaration, support::Span span);
    /// Whether all names of an expression are compile-time values.
    bool is_compile_time(dsl::NodeId expression) const;
    bool known_outside(std::string_view name) const;

    // ---- types.cpp ----
    SurfaceType type_of(dsl::NodeId type);
    SurfaceType named_type(std::string_view path, support::Span span);
    std::optional<ir::ScalarType> scalar_type(std::string_view path, support::Span span);
    std::optional<ir::Shape> tile_shape(std::span<const dsl::NodeId> sizes);
    bool check_shape(const ir::Shape& shape, support::Span span);
    /// The scalar type that a name means where a type may stand in an expression.
    std::optional<ir::ScalarType> type_named(std::string_view name) const;
    std::string type_text(const SurfaceType& type) const;
    std::string type_text(const Value& value) const;
    /// A value of the wanted type. Untyped constants adapt; `broadcasts`: scalars and axes of length 1 are repeated.
    /// `what` begins the message: "the argument `m`". Constants stay constants if a scalar is wanted.
    Value coerce(const Value& value, const SurfaceType& type, bool broadcasts, support::Span span,
                 const std::string& what);
    Value coerce_data(const Value& value, const ir::Type& type, bool broadcasts, support::Span span,
                      const std::string& what);
    bool admits(std::string_view scalar_class, ir::ScalarType type) const;

    // ---- constants.cpp ----
    Value number(dsl::NodeId literal);
    /// An untyped constant as a scalar of the type, or nothing after an error.
    std::optional<ir::Scalar> adapt(const Constant& constant, ir::ScalarType type, support::Span span);
    /// Constants become IR constants of their type (int or f32 if untyped), also inside tuples.
    Value materialise(const Value& value, support::Span span);
    std::optional<ir::Scalar> constant_scalar(const Value& value, support::Span span, std::string_view what);
    std::optional<std::int64_t> constant_int(dsl::NodeId expression, std::string_view what);
    std::optional<std::int64_t> constant_int(const Value& value, support::Span span, std::string_view what);
    std::optional<bool> constant_bool(dsl::NodeId expression, std::string_view what);
    /// The value of a `const` of any type, coerced to the declared type if there is one.
    Value compile_time(dsl::NodeId expression, dsl::NodeId type, std::string_view what);

    // ---- expressions.cpp, operators.cpp ----
    Value expression(dsl::NodeId id);
    Value name(dsl::NodeId id);
    Value prefix(dsl::NodeId id);
    Value chain(dsl::NodeId id);
    Value suffixed(dsl::NodeId id) { return suffixed(id, children(id).size()); }
    /// The value of the first `end` parts: primary and suffixes.
    Value suffixed(dsl::NodeId id, std::size_t end);
    Value tuple(dsl::NodeId id);
    /// The primary with the suffixes that name a declaration, type or builtin; `next` is the first suffix left.
    Value primary(std::span<const dsl::NodeId> parts, std::size_t& next);
    Value call_value(const Value& callee, dsl::NodeId call, support::Span whole);
    Value convert_call(ir::ScalarType type, dsl::NodeId sizes, dsl::NodeId call, support::Span whole);
    Value convert_value(ir::OpKind kind, const Value& value, ir::ScalarType type, support::Span span);

    struct Operand {
        Value value;
        support::Span span;
    };
    Value binary(std::string_view operation, const Operand& left, const Operand& right, support::Span at);
    Value compare_functions(std::string_view operation, const Operand& left, const Operand& right, support::Span at);
    Value unary(char operation, const Operand& operand, support::Span at);
    /// Brings operands to one element type; false after an error. Untyped ones stay so if all are.
    bool unify(std::span<Operand*> operands, std::string_view operation, support::Span at);
    bool admit_operand(ir::OpKind kind, char letter, const Value& value, std::string_view operation,
                       support::Span span);
    /// An elementwise op on operands, by the letters of its row; folds constants.
    Value apply(ir::OpKind kind, std::vector<Operand> operands, std::string_view operation, support::Span at);
    Value fold_constants(ir::OpKind kind, std::span<const Operand> operands);
    std::optional<ir::Shape> common_shape(std::span<const Operand> operands, std::string_view operation,
                                          support::Span at);
    /// The text of an operand with a new axis in front, for a hint.
    std::string with_new_axis(support::Span at) const;
    const ir::Type& type(const Value& value) const { return builder_.kernel().type(value.id); }
    ir::ScalarType element(const Value& value) const;
    ir::Shape shape(const Value& value) const;
    std::string source_text(support::Span span) const { return std::string(program_.sources.text(span)); }

    // ---- index_lists.cpp ----
    struct IndexList;
    Value index(const Value& indexed, dsl::NodeId list, support::Span whole);
    struct TilePart;
    bool tile_entry(const ir::Shape& have, dsl::NodeId item, TilePart& part);
    Value index_tile(const Value& tile, dsl::NodeId list, support::Span whole);
    void store(const Tensor& tensor, dsl::NodeId list, const Value& value, support::Span value_span,
               support::Span whole);
    bool read_entries(const Tensor& tensor, dsl::NodeId list, IndexList& entries);
    bool read_entry(const Tensor& tensor, dsl::NodeId item, IndexList& entries);
    bool read_option(const Tensor& tensor, dsl::NodeId item, IndexList& entries);
    bool slice_entry(const Tensor& tensor, dsl::NodeId item, IndexList& entries);
    bool all_entry(const Tensor& tensor, dsl::NodeId item, IndexList& entries);
    bool check_entries(const Tensor& tensor, dsl::NodeId list, IndexList& entries);
    bool gather_tiles(IndexList& entries);
    bool finish_shape(const Tensor& tensor, dsl::NodeId list, IndexList& entries);
    Value view(const Tensor& tensor, IndexList& entries);
    Value read(const Tensor& tensor, IndexList& entries, support::Span whole);
    std::optional<ir::ValueId> fill_option(const Tensor& tensor, const IndexList& entries);
    /// Sets `mask` if there is one; false after an error.
    bool mask_option(const IndexList& entries, std::optional<ir::ValueId>& mask);
    std::optional<ir::ValueId> index_value(const Value& value, support::Span span);
    std::optional<ir::ValueId> index_value(dsl::NodeId expression);
    std::optional<ir::ValueId> as_int(const Value& value, support::Span span);
    ir::ValueId size_value(const Tensor& tensor, std::size_t axis);

    // ---- builtins_lower.cpp, reductions_lower.cpp ----
    struct Call {
        std::string_view name;
        support::Span span;
        std::vector<dsl::NodeId> arguments;
        std::vector<dsl::NodeId> options;  ///< Named nodes
    };
    using BuiltinFunction = Value (Lowerer::*)(const Call&);
    Value builtin(std::string_view name, dsl::NodeId call, support::Span whole);
    bool check_arguments(const Call& call, std::size_t least, std::size_t most,
                         std::initializer_list<std::string_view> options);
    Operand operand(dsl::NodeId argument);
    std::vector<Operand> operands(const Call& call);
    std::optional<dsl::NodeId> option(const Call& call, std::string_view name) const;
    /// A tile (materialised), or nothing after an error.
    std::optional<Value> tile_argument(const Call& call, std::size_t index);
    std::optional<ir::ScalarType> type_argument(const Call& call, std::size_t index);
    const Tensor* tensor_argument(const Call& call, std::size_t index);
    std::optional<ir::Shape> sizes_argument(const Call& call, std::size_t first);
    std::optional<std::uint32_t> axis_option(const Call& call, std::size_t rank);
    bool refuse_lifted(std::string_view what, support::Span span);
    Value elementwise_builtin(ir::OpKind kind, const Call& call);
    Value clamp_builtin(const Call& call);
    Value convert_builtin(const Call& call);
    Value unit_builtin(const Call& call);
    Value unit_of(const Operand& bits, const Call& call);
    Value iota_builtin(const Call& call);
    Value broadcast_builtin(const Call& call);
    Value reshape_builtin(const Call& call);
    Value transpose_builtin(const Call& call);
    Value permute_builtin(const Call& call);
    Value split_builtin(const Call& call);
    Value reduction_builtin(const Call& call);
    Value reduce_tile(ir::ReduceKind kind, const Value& tile, const Call& call);
    void warn_zero_outside(const Value& tile, const Call& call);
    Value dot_builtin(const Call& call);
    // combining_lower.cpp
    Value join_builtin(const Call& call);
    Value stack_builtin(const Call& call);
    Value reduce_builtin(const Call& call);
    Value scan_builtin(const Call& call);
    Value argmax_builtin(const Call& call);
    Value cumsum_builtin(const Call& call);
    Value sort_builtin(const Call& call);
    Value topk_builtin(const Call& call);
    Value bincount_builtin(const Call& call);
    Value dot_scaled_builtin(const Call& call);
    std::optional<std::vector<ir::ValueId>> joined_parts(const Call& call, bool scalars);
    Value combine_tiles(ir::OpKind kind, const Call& call);
    Value combine_with(ir::OpKind kind, const Value& given, const FunctionValue& function,
                       std::vector<ir::ValueId> tiles, std::uint32_t axis, const Call& call);
    bool check_combiner(std::size_t first, const Call& call);
    std::optional<ir::ValueId> number_tile(const Call& call, bool bools);
    ir::ValueId counted_along(const ir::Shape& shape, std::uint32_t axis);
    std::optional<bool> flag_option(const Call& call, std::string_view name);
    /// The tile times its scales, of shape [M, K / n] or [K / n, N], repeated along the axis of K; in f32.
    ir::ValueId scaled_operand(const Value& tile, const Value& scales, std::uint32_t axis, std::int64_t block);
    bool check_scaled(const Call& call, const std::vector<Value>& tiles, std::int64_t block);
    // philox.cpp
    Value philox_builtin(const Call& call);
    Value random_builtin(const Call& call);
    std::optional<std::vector<Value>> philox_words(const Call& call);
    // messages_lower.cpp
    Value print_builtin(const Call& call);
    Value assert_builtin(const Call& call);
    std::optional<std::vector<ir::ValueId>> message_arguments(const Call& call, std::size_t first);
    std::optional<std::string> message_text(const Call& call, std::size_t index);
    // index_lists.cpp
    Value atomic_builtin(const Call& call);
    Value atomic_at(const Tensor& tensor, dsl::NodeId list, ir::AtomicAttribute atomic, const Call& call);
    std::optional<bool> order_option(const Call& call);
    std::optional<ir::DotPrecision> precision_option(const Call& call, ir::ScalarType element);
    Value size_builtin(const Call& call);
    Value present_builtin(const Call& call);
    Value lowest_builtin(const Call& call);
    Value epsilon_builtin(const Call& call);
    Value units_builtin(const Call& call);
    static const std::map<std::string_view, BuiltinFunction>& builtin_functions();

    SurfaceType surface_type(const Value& value) const;

    // ---- statements.cpp ----
    void block(dsl::NodeId id, const Continuation* next = nullptr);
    void statements(std::span<const dsl::NodeId> list, const Continuation* next);
    void follow(const Continuation* next);
    void statement(dsl::NodeId id);
    void let_statement(dsl::NodeId id, BindingKind kind);
    void bind_slots(dsl::NodeId binding, const Value& value, support::Span value_span, BindingKind kind);
    void name_value(const Value& value, std::string_view name);
    void constant_statement(dsl::NodeId id);
    void local_function(dsl::NodeId id);
    void assign_statement(dsl::NodeId id);
    void assign(dsl::NodeId target, const Value& value, support::Span value_span);
    void update(dsl::NodeId target, const dsl::Node& statement, dsl::NodeId value);
    void assign_variable(Binding& variable, const Value& value, support::Span target, support::Span value_span);
    void return_statement(dsl::NodeId id);
    /// A value as the current function's result.
    Value returned(const Value& value, support::Span at);
    void expression_statement(dsl::NodeId id);

    // ---- control.cpp ----
    void for_statement(dsl::NodeId id);
    void while_statement(dsl::NodeId id);
    void if_statement(dsl::NodeId id);
    bool check_branches(std::span<const dsl::NodeId> parts);
    void if_branches(std::span<const dsl::NodeId> parts, const std::vector<Binding*>& carried);
    /// A branch of each element of a lifted call: both sides are lowered, one after the other, and selected from.
    template <class Then, class Otherwise>
    std::vector<ir::ValueId> select_branches(ir::ValueId test, Then then, Otherwise otherwise);
    /// A branch that may leave the function or the round of a loop: what follows it is lowered into its blocks, whose
    /// results are the function's or the round's.
    void leaving_if(std::span<const dsl::NodeId> parts, const Continuation& rest);
    void leave_loop(dsl::NodeId id);
    bool has_left() const { return loop_ != nullptr ? loop_->ended : frame_->terminated; }
    /// What leaves the function or the round: types, values, and how it goes on after a branch that yielded them.
    std::vector<ir::Type> leaving_types() const;
    std::vector<ir::ValueId> take_leaving(support::Span at);
    void set_leaving(std::span<const ir::ValueId> ids);
    std::vector<ir::ValueId> take_returned(support::Span at);
    void static_if(dsl::NodeId id, const Continuation* rest);
    void static_for(dsl::NodeId id);
    void static_assert_statement(dsl::NodeId id);
    struct LoopRange {
        ir::ValueId lower, upper, step;  ///< in a lifted call, tiles where they differ from element to element
    };
    static bool leaves(dsl::NodeKind kind);
    /// Whether a statement contains `return`, or a `break` or `continue` of the loop around it.
    bool may_leave(dsl::NodeId statement) const;
    bool may_break(dsl::NodeId statement) const;
    void loop_body(dsl::NodeId body, Loop& loop);
    /// A loop that a `break` may end, or whose rounds differ from element to element: a While that carries whether it
    /// goes on. `range`: of a For.
    void flagged_loop(dsl::NodeId id, const std::optional<LoopRange>& range);
    struct FlaggedLoop;
    void flagged_condition(dsl::NodeId id, const FlaggedLoop& form, ir::BlockId inside);
    void flagged_round(dsl::NodeId id, const FlaggedLoop& form, const std::optional<LoopRange>& range,
                       ir::BlockId inside);
    ir::ValueId counts_on(const LoopRange& range, ir::ValueId index);
    ir::ValueId spread(ir::ValueId value);
    ir::ValueId spread_op(ir::OpKind kind, ir::ValueId a, ir::ValueId b);
    std::optional<ir::ValueId> condition(dsl::NodeId expression);
    std::optional<ir::ValueId> condition_value(const Value& value, support::Span at);
    std::optional<LoopRange> loop_range(dsl::NodeId range);
    std::optional<ir::ValueId> loop_bound(const Value& value, support::Span at);
    /// The variables around these blocks that they assign.
    std::vector<Binding*> assigned_variables(std::span<const dsl::NodeId> blocks);
    void collect_assigned(dsl::NodeId id, std::vector<Binding*>& found);
    void flatten(const Value& value, std::vector<ir::ValueId>& ids) const;
    Value rebuild(const Value& like, std::span<const ir::ValueId>& ids) const;
    std::vector<ir::ValueId> current(const std::vector<Binding*>& variables) const;
    void set_current(const std::vector<Binding*>& variables, std::span<const ir::ValueId> ids);
    std::vector<ir::Type> types_of(const std::vector<ir::ValueId>& ids) const;
    void flatten_type(const SurfaceType& type, std::vector<ir::Type>& types) const;
    Value rebuild_type(const SurfaceType& type, std::span<const ir::ValueId>& ids) const;

    // ---- functions.cpp ----
    Value call(const FunctionValue& function, std::vector<CallArgument> arguments, support::Span whole);
    bool add_defaults(const FunctionValue& function, std::vector<CallArgument>& arguments, support::Span whole);
    Value run_body(const FunctionValue& function);
    bool check_recursion(const FunctionValue& function, support::Span whole);
    std::span<const dsl::NodeId> parameters(const FunctionValue& function) const;
    /// Broadcasts tile arguments of a function of scalars to one shape and enters the lift; false after an error.
    bool enter_lift(std::span<const dsl::NodeId> parameters, std::vector<CallArgument>& arguments,
                    std::string_view name, support::Span whole);
    void collect_tiles(const Value& value, std::vector<Operand>& tiles, support::Span at) const;
    Value broadcast_parts(const Value& value, const ir::Shape& shape, support::Span at);
    enum class ParameterForm : std::uint8_t { Scalar, Tile, Tensor, Function };
    ParameterForm form_of(dsl::NodeId type);
    bool declare_representatives(dsl::NodeId function);
    Value representative_argument(dsl::NodeId parameter);

    // ---- deduction.cpp ----
    /// The names a signature declares. `values` are compile-time: generics, and names that are extents of tiles.
    struct Signature {
        const Binding* base = nullptr;  ///< the scope around the function
        std::set<std::string_view> types, generics, values;
    };
    /// `name + c`, `name - c`, `name * c` with c compile-time.
    struct Solved {
        std::string_view name;
        char operation = '+';
        dsl::NodeId constant = dsl::kNoNode;
    };
    /// extent = size * scale + offset
    struct Linear {
        std::int64_t scale = 1, offset = 0;
    };
    Signature read_signature(dsl::NodeId function);
    void collect_tile_names(dsl::NodeId type, std::set<std::string_view>& names);
    std::optional<Solved> solved_form(dsl::NodeId size) const;
    std::optional<Linear> linear(const Solved& solved);
    /// Whether a size of the signature has no meaning yet.
    bool is_open(std::string_view name, const Signature& signature) const;
    bool bind_signature(const FunctionValue& function, std::vector<CallArgument>& arguments, support::Span whole);
    bool bind_constants(std::span<const dsl::NodeId> parameters, std::span<CallArgument> arguments,
                        Signature& signature);
    /// Binds what an argument gives to the open names of its parameter's type. The last pass solves `name + c` and
    /// takes untyped constants for what they are alone.
    void deduce(dsl::NodeId type, const CallArgument& argument, Signature& signature, bool last);
    void deduce_element(dsl::NodeId type, const Value& value, Signature& signature, bool last);
    void deduce_size(dsl::NodeId size, const CallArgument& argument, std::size_t axis, std::int64_t extent,
                     Signature& signature, bool last);
    void bind_size(std::string_view name, const CallArgument& argument, std::size_t axis, std::int64_t extent,
                   const Signature& signature, Linear form, support::Span at);
    bool finish_generics(dsl::NodeId generics, const Signature& signature, support::Span whole);
    bool check_class(dsl::NodeId generic, ir::ScalarType type, support::Span at);
    bool bind_parameter(dsl::NodeId parameter, const CallArgument& argument, const Signature& signature);
    /// Whether a tensor parameter is given a tensor of its rank.
    bool check_rank(dsl::NodeId parameter, const CallArgument& argument);
    bool bind_tensor(dsl::NodeId parameter, const CallArgument& argument, const Signature& signature);
    bool check_tensor_sizes(dsl::NodeId sizes, const Tensor& tensor, support::Span at, std::string_view parameter,
                            const Signature& signature);
    bool check_function_type(const SurfaceType& wanted, const FunctionValue& function, support::Span span);
    bool generic_is_type(dsl::NodeId generic) const;

    // ---- configuration.cpp ----
    struct TunableChoices {
        std::string_view name;
        std::vector<ir::Scalar> choices;
    };
    struct KeyChoices {
        std::string_view key;
        std::vector<ir::ScheduleValue> choices;
    };
    struct Choices {
        std::vector<TunableChoices> tunables;
        std::vector<KeyChoices> keys;
        /// The configuration of one choice each, those of tunables first.
        ir::Configuration at(std::span<const std::size_t> places) const;
    };
    bool find_kernel();
    bool check_request();
    bool bind_generics();
    bool bind_generic(dsl::NodeId generic);
    bool declare_generic(dsl::NodeId generic, const GenericValue& given);
    Value given_value(dsl::NodeId generic, const GenericValue& given);
    std::optional<GenericValue> deduce_generic(std::string_view name, bool is_type);
    std::optional<GenericValue> deduce_from_size(dsl::NodeId size, std::string_view name, std::int64_t extent);
    /// Declares a generic with a value to check bodies with.
    std::optional<Value> representative(dsl::NodeId generic);
    GenericValue recorded(const Value& value) const;
    Choices all_choices();
    std::optional<ir::Scalar> tunable_value(dsl::NodeId choice);
    /// Walks the product of the choices, the last one fastest, and calls `take` for each legal one until it says false.
    void each_configuration(const std::function<bool(const ir::Configuration&)>& take);
    bool is_legal(const ir::Configuration& configuration);
    void report_no_configuration();
    /// "GROUP is 48, D is 64": the constants that an expression names.
    void list_constants(dsl::NodeId expression, std::string& list) const;
    void declare_tunable(dsl::NodeId tunable, const std::map<std::string, ir::Scalar>& values);

    // ---- schedule_choices.cpp ----
    /// Those of the most specific matching `schedule` block that names the tunable or key; empty if none does.
    std::span<const dsl::NodeId> scheduled_choices(std::string_view name);
    bool declares_tunable(std::string_view name) const;
    std::optional<std::int64_t> schedule_number(dsl::NodeId id, std::string_view what, std::int64_t lowest,
                                                std::int64_t highest);
    std::optional<ir::ScheduleValue> schedule_value(const ScheduleKey& key, dsl::NodeId id);
    /// Of the keys that are given, and of those that matching blocks name.
    std::vector<KeyChoices> key_choices();
    /// The blocks of all targets, for their messages only.
    void check_schedules();
    bool check_requested_schedule();

    // ---- kernel_header.cpp ----
    /// An axis of a tensor parameter, for the passes that bind sizes.
    struct TensorAxis {
        std::uint32_t parameter, axis;
        dsl::NodeId size;
        bool fixed = false;  ///< known at compile time
        bool bound = false;  ///< it declares a size
    };
    /// The message of `require` or `static assert` with its arguments.
    struct Message {
        std::string text;
        std::vector<Operand> arguments;
    };
    dsl::NodeId part(std::size_t index) const { return child(kernel_node_, index); }
    /// Finds the kernel and declares generics and parameters.
    bool open_kernel();
    bool declare_parameter(dsl::NodeId parameter);
    bool declare_tensor(dsl::NodeId parameter, dsl::NodeId type, bool present);
    bool declare_scalar(dsl::NodeId parameter, dsl::NodeId type);
    std::optional<std::int64_t> static_size(dsl::NodeId size);
    void bind_sizes();
    std::int64_t proven_divisor(const TensorAxis& axis, Linear form) const;
    void bind_size_to(TensorAxis& axis, std::string_view name, Linear form);
    void check_size(const TensorAxis& axis);
    void lower_clause(dsl::NodeId clause);
    void lower_where(dsl::NodeId clause);
    void lower_require(dsl::NodeId clause);
    void lower_scratch(dsl::NodeId clause);
    void lower_allow(dsl::NodeId clause);
    void lower_reference(dsl::NodeId clause);
    Message message_of(dsl::NodeId condition, std::string_view what);
    std::string formatted(const Message& message) const;
    /// Reports the first op from an index on that does not belong into the host block.
    void check_host_ops(std::size_t first);
    void lower_phase(dsl::NodeId phase);
    std::optional<ir::GridAxis> grid_axis(dsl::NodeId axis);

    const Program& program_;
    const Request& request_;
    Reporter& reporter_;
    bool checking_;   ///< representative arguments: conditions on them mean nothing
    Places* places_;  ///< may be null

    std::size_t file_ = 0;
    Binding* scope_ = nullptr;
    Frame* frame_ = nullptr;
    const Lift* lift_ = nullptr;
    Loop* loop_ = nullptr;
    std::optional<ir::ValueId> active_;  ///< in a lifted call: the elements that take the branches around; none: all
    std::uint32_t next_lift_ = 1;

    Specialisation result_;
    ir::Builder builder_;
    std::deque<Binding> bindings_;
    std::deque<Tensor> tensors_;
    std::deque<Lift> lifts_;
    std::map<std::pair<std::size_t, dsl::NodeId>, std::optional<Value>> file_constants_;  ///< nullopt: being computed
    std::map<dsl::NodeId, std::size_t> rejections_;  ///< configurations that a `where` refused
    bool too_few_slots_ = false;                     ///< a configuration was refused for that
    std::size_t steps_ = 0;

    dsl::NodeId kernel_node_ = dsl::kNoNode;
    std::vector<TensorAxis> axes_, absent_axes_;
    std::vector<Tensor*> parameter_tensors_;  ///< by parameter; null for scalars and absent ones
};

class Lowerer::Visit {
public:
    explicit Visit(Lowerer& lowering)
        : lowering_(lowering),
          file_(lowering.file_),
          scope_(lowering.scope_),
          frame_(lowering.frame_),
          lift_(lowering.lift_),
          loop_(lowering.loop_),
          active_(lowering.active_) {}
    ~Visit() {
        lowering_.file_ = file_;
        lowering_.scope_ = scope_;
        lowering_.frame_ = frame_;
        lowering_.lift_ = lift_;
        lowering_.loop_ = loop_;
        lowering_.active_ = active_;
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

private:
    Lowerer& lowering_;
    std::size_t file_;
    Binding* scope_;
    Frame* frame_;
    const Lift* lift_;
    Loop* loop_;
    std::optional<ir::ValueId> active_;
};

}  // namespace kiln::frontend
