#include <charconv>
#include <unordered_map>

#include "ir/attribute_form.h"
#include "ir/builder.h"
#include "ir/diagnostics.h"
#include "ir/text.h"
#include "ir/text_lexer.h"

namespace kiln::ir {

namespace {

/// Blocks may stand this deep, so that no text overruns the stack.
constexpr int kMaxDepth = 256;

std::string described(const Token& token, std::string_view source_text) {
    return token.kind == TokenKind::End ? "the end of the text" : "`" + std::string(source_text) + "`";
}

class Parser {
public:
    Parser(const support::SourceMap& sources, std::uint32_t source, support::Diagnostics& diagnostics)
        : sources_(sources), diagnostics_(diagnostics), lexer_(sources, source, diagnostics) {}

    /// Reads into kernel(); throws TextError at the first error, after reporting it.
    void read() {
        advance();
        kernel_.host = kernel_.add_block();
        read_signature();
        expect("{");
        while (at_word("size")) read_size();
        while (at_word("check")) read_check();
        if (accept_word("host")) read_braced(kernel_.host);
        while (at_word("scratch")) read_scratch();
        while (at_word("phase")) read_phase();
        expect("}");
        if (token_.kind != TokenKind::End) fail_expected("the end of the text");
        for (const auto& [index, token] : pending_checks_) kernel_.checks[index].expected = known(token);
    }

    Kernel& kernel() { return kernel_; }

private:
    // Tokens

    void advance() {
        previous_ = token_.span;
        token_ = lexer_.next();
    }
    Token take() {
        const Token token = token_;
        advance();
        return token;
    }
    template <class... Arguments>
    [[noreturn]] void fail(const support::DiagnosticKind& kind, support::Span span, const Arguments&... arguments) {
        diagnostics_.report(kind, span, arguments...);
        throw TextError();
    }
    [[noreturn]] void fail_expected(const std::string& what) {
        fail(kUnexpectedToken, token_.span, what, described(token_, sources_.text(token_.span)));
    }
    bool at_mark(std::string_view mark) const { return token_.kind == TokenKind::Mark && token_.text == mark; }
    bool at_word(std::string_view word) const { return token_.kind == TokenKind::Word && token_.text == word; }
    bool accept(std::string_view mark) {
        if (!at_mark(mark)) return false;
        advance();
        return true;
    }
    bool accept_word(std::string_view word) {
        if (!at_word(word)) return false;
        advance();
        return true;
    }
    void expect(std::string_view mark) {
        if (!accept(mark)) fail_expected("`" + std::string(mark) + "`");
    }
    void expect_word(std::string_view word) {
        if (!accept_word(word)) fail_expected("`" + std::string(word) + "`");
    }
    Token take_kind(TokenKind kind, const std::string& what) {
        if (token_.kind != kind) fail_expected(what);
        return take();
    }
    Token take_value() { return take_kind(TokenKind::Value, "a value"); }

    std::int64_t take_integer(std::int64_t lowest, std::int64_t highest) {
        const Token token = take_kind(TokenKind::Number, "an integer");
        std::int64_t value = 0;
        const char* end = token.text.data() + token.text.size();
        const auto [at, error] = std::from_chars(token.text.data(), end, value);
        if (error != std::errc{} || at != end || value < lowest || value > highest) {
            fail(kNotAnInteger, token.span, token.text, lowest, highest);
        }
        return value;
    }
    std::int64_t take_int64() {
        return take_integer(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
    }
    std::uint32_t take_index() {
        return static_cast<std::uint32_t>(take_integer(0, std::numeric_limits<std::uint32_t>::max()));
    }

    std::string take_string() {
        const Token token = take_kind(TokenKind::String, "a string");
        std::string text;
        for (std::size_t i = 0; i < token.text.size(); ++i) {
            if (token.text[i] != '\\') {
                text += token.text[i];
                continue;
            }
            const char escape = token.text[++i];
            if (escape == 'x') {
                text += hex_byte(token, i + 1);
                i += 2;
            } else if (escape == '"' || escape == '\\') {
                text += escape;
            } else {
                fail(kUnknownEscape, token.span, std::string(1, escape));
            }
        }
        return text;
    }
    char hex_byte(const Token& token, std::size_t at) {
        unsigned value = 0;
        const std::string_view digits = token.text.substr(at, 2);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
        if (error != std::errc{} || end != digits.data() + 2) fail(kUnknownEscape, token.span, "x");
        return static_cast<char>(value);
    }

    /// ` as "name"`, or the name of the value itself.
    std::string alias(const Token& value) { return accept_word("as") ? take_string() : std::string(value.text); }

    // Values and types

    ValueId known(const Token& token) {
        const auto found = names_.find(token.text);
        if (found == names_.end()) fail(kUnknownValue, token.span, sources_.text(token.span));
        return found->second;
    }
    ValueId take_known() { return known(take_value()); }

    void name_value(const Token& token, ValueId value) {
        if (!names_.emplace(token.text, value).second) fail(kDefinedTwice, token.span, sources_.text(token.span));
        const std::string_view hint = token.text.substr(0, token.text.find('.'));
        const bool only_digits = hint.find_first_not_of("0123456789") == std::string_view::npos;
        kernel_[value].name = only_digits ? std::string() : std::string(hint);
    }
    ValueId define(const Token& token, const Type& type) {
        const ValueId value = kernel_.add_value(type);
        name_value(token, value);
        return value;
    }

    Type take_type() {
        for (const Access access : {Access::In, Access::Out, Access::InOut}) {
            if (!accept_word(name(access))) continue;
            const ScalarType element = take_element();
            expect("<");
            return Type::tensor(access, element, take_extents(">"));
        }
        const ScalarType element = take_element();
        return accept("[") ? Type{TypeKind::Tile, element, Access::In, take_extents("]")} : Type::scalar(element);
    }
    ScalarType take_element() {
        const Token token = take_kind(TokenKind::Word, "a type");
        const auto element = scalar_type_named(token.text);
        if (!element) fail(kUnknownType, token.span, token.text);
        return *element;
    }
    /// Extents or indices up to `close`; `?` is a run-time size.
    Shape take_extents(std::string_view close) {
        Shape shape;
        while (!accept(close)) {
            if (!shape.empty()) expect(",");
            if (shape.rank() == kMaxRank) fail(kTooManyAxes, token_.span, kMaxRank);
            shape.push_back(accept("?") ? kDynamic : take_integer(0, std::numeric_limits<std::int64_t>::max()));
        }
        return shape;
    }

    // The parts of a kernel

    void read_signature() {
        expect_word("kernel");
        kernel_.name = take_kind(TokenKind::Kernel, "the kernel's name").text;
        expect("(");
        while (!accept(")")) {
            if (!kernel_.parameters.empty()) expect(",");
            read_parameter();
        }
        Freedoms& freedoms = kernel_.freedoms;
        freedoms.flush = accept_word("flush");
        freedoms.approximate = accept_word("approximate");
        freedoms.contract = accept_word("contract");
        freedoms.reassociate = accept_word("reassociate");
        kernel_.fits_32_bits = accept_word("fits_32_bits");
        if (accept_word("schedule")) read_schedule();
    }

    void read_schedule() {
        expect("(");
        do {
            const Token key = take_kind(TokenKind::Word, "a schedule key");
            expect("=");
            if (!kernel_.schedule.emplace(key.text, take_schedule_value()).second) {
                fail(kDefinedTwice, key.span, sources_.text(key.span));
            }
        } while (accept(","));
        expect(")");
    }

    ScheduleValue take_schedule_value() {
        if (token_.kind == TokenKind::Number) return ScheduleValue::number(take_int64());
        ScheduleValue value{std::string(take_kind(TokenKind::Word, "a number or a word").text), {}};
        if (!accept("(")) return value;
        do value.numbers.push_back(take_int64());
        while (accept(","));
        expect(")");
        return value;
    }

    void read_parameter() {
        Parameter parameter;
        parameter.span = token_.span;
        parameter.present = !accept_word("absent");
        if (!parameter.present && token_.kind == TokenKind::String) {
            parameter.name = take_string();
        } else {
            const Token token = take_value();
            expect(":");
            parameter.value = define(token, take_type());
            parameter.name = alias(token);
            if (accept_word("unit")) parameter.facts.unit_axis = static_cast<int>(take_integer(0, kMaxRank - 1));
            if (accept_word("align")) parameter.facts.alignment = take_index();
        }
        kernel_.parameters.push_back(std::move(parameter));
    }

    /// `extent(%parameter, axis) =`
    void take_extent_of(std::uint32_t& parameter, std::uint32_t& axis) {
        expect_word("extent");
        expect("(");
        const Token token = take_value();
        const ValueId value = known(token);
        parameter = 0;
        while (parameter < kernel_.parameters.size() && kernel_.parameters[parameter].value != value) ++parameter;
        if (parameter == kernel_.parameters.size()) fail(kUnknownValue, token.span, sources_.text(token.span));
        expect(",");
        axis = take_index();
        expect(")");
    }

    void read_size() {
        advance();
        SizeBinding size;
        const Token token = take_value();
        expect("=");
        take_extent_of(size.parameter, size.axis);
        size.name = alias(token);
        if (accept_word("scale")) size.scale = take_int64();
        if (accept_word("offset")) size.offset = take_int64();
        if (accept_word("divisor")) size.divisor = take_int64();
        size.value = define(token, Type::scalar(kInt));
        kernel_.sizes.push_back(std::move(size));
    }

    /// The expected value may be one of the host block, which stands below.
    void read_check() {
        advance();
        ExtentCheck check;
        take_extent_of(check.parameter, check.axis);
        expect("=");
        const Token token = take_value();
        check.text = alias(token);
        pending_checks_.emplace_back(kernel_.checks.size(), token);
        kernel_.checks.push_back(std::move(check));
    }

    void read_scratch() {
        advance();
        Scratch scratch;
        const Token token = take_value();
        expect(":");
        scratch.value = define(token, take_type());
        expect_word("of");
        expect("(");
        while (!accept(")")) {
            if (!scratch.extents.empty()) expect(",");
            scratch.extents.push_back(take_known());
        }
        if (accept_word("initial")) scratch.initial = take_known();
        scratch.name = alias(token);
        kernel_.scratch.push_back(std::move(scratch));
    }

    void read_phase() {
        Phase phase;
        phase.span = token_.span;
        advance();
        phase.block = kernel_.add_block();
        expect("(");
        while (!accept(")")) {
            if (!phase.axes.empty()) expect(",");
            const Token token = take_value();
            GridAxis axis;
            expect_word("in");
            axis.lower = take_known();
            expect("..");
            axis.upper = take_known();
            expect_word("by");
            axis.step = take_known();
            axis.name = alias(token);
            phase.axes.push_back(std::move(axis));
            name_value(token, kernel_.add_argument(phase.block, Type::scalar(kInt)));
        }
        read_braced(phase.block);
        kernel_.phases.push_back(std::move(phase));
    }

    void read_braced(BlockId block) {
        expect("{");
        if (++depth_ > kMaxDepth) fail(kNestedTooDeep, previous_, kMaxDepth);
        while (!at_mark("}")) read_op(block);
        --depth_;
        advance();
    }

    // Ops

    struct OpText {
        support::Span begin;
        std::vector<Token> results;
        OpKind kind = OpKind::Constant;
        std::vector<ValueId> operands;
        std::vector<Token> arguments;  ///< of a loop's first block
        Attribute attribute;
    };

    void read_op(BlockId block) {
        OpText op;
        op.begin = token_.span;
        while (token_.kind == TokenKind::Value) {
            op.results.push_back(take());
            if (!accept(",")) {
                expect("=");
                break;
            }
        }
        const Token mnemonic = take_kind(TokenKind::Word, "an op");
        const auto kind = op_with_mnemonic(mnemonic.text);
        if (!kind) fail(kUnknownOp, mnemonic.span, mnemonic.text);
        op.kind = *kind;
        if (op.kind == OpKind::Constant) return read_constant(op, block);
        read_details(op);
        finish_op(op, block, take_result_types(op));
    }

    /// The type stands behind the value that it explains.
    void read_constant(OpText& op, BlockId block) {
        support::Span span = token_.span;
        if (token_.kind != TokenKind::Number && token_.kind != TokenKind::Word) fail_expected("a constant");
        if (take().text == "nan" && at_mark(":")) {
            const support::Span colon = token_.span;
            advance();
            if (token_.kind == TokenKind::Number) {
                span = support::join(span, take().span);
            } else {
                return finish_constant(op, block, span, colon);
            }
        }
        const support::Span colon = token_.span;
        expect(":");
        finish_constant(op, block, span, colon);
    }

    void finish_constant(OpText& op, BlockId block, support::Span text, support::Span colon) {
        const Type type = take_type();
        const auto constant = parse_scalar(type.element, sources_.text(text));
        if (!constant) fail(kNotAConstant, text, sources_.text(text), name(type.element));
        if (op.results.size() != 1) fail(kResultCount, colon, op.results.size(), 1);
        op.attribute = *constant;
        finish_op(op, block, {type});
    }

    std::vector<Type> take_result_types(const OpText& op) {
        std::vector<Type> types;
        const support::Span span = token_.span;
        if (accept(":")) {
            types.push_back(take_type());
            while (accept(",")) types.push_back(take_type());
        }
        if (types.size() != op.results.size()) fail(kResultCount, span, op.results.size(), types.size());
        return types;
    }

    void read_details(OpText& op) {
        if (op.kind == OpKind::For) return read_for_head(op);
        if (op.kind == OpKind::While) return read_carried(op);
        op.attribute = empty_attribute(op.kind);
        std::visit([&](auto& attribute) { read_plain(op, attribute); }, op.attribute);
    }

    void read_operands(OpText& op) {
        if (token_.kind != TokenKind::Value) return;
        op.operands.push_back(take_known());
        while (accept(",")) op.operands.push_back(take_known());
    }

    void read_plain(OpText& op, std::monostate) { read_operands(op); }
    void read_plain(OpText&, Scalar&) {}
    void read_plain(OpText& op, ReduceAttribute& reduce) {
        const Token token = take_kind(TokenKind::Word, "a kind of reduction");
        const auto kind = reduce_kind_named(token.text);
        if (!kind) fail(kUnexpectedToken, token.span, "a kind of reduction", "`" + std::string(token.text) + "`");
        reduce.kind = *kind;
        read_operands(op);
        expect_word("axis");
        reduce.axis = take_index();
    }
    void read_plain(OpText& op, DotAttribute& dot) {
        read_operands(op);
        if (!accept_word("precision")) return;
        const Token token = take_kind(TokenKind::Word, "a precision");
        const auto precision = dot_precision_named(token.text);
        if (!precision) fail(kUnexpectedToken, token.span, "a precision", "`" + std::string(token.text) + "`");
        dot.precision = *precision;
    }
    void read_plain(OpText& op, AxisAttribute& size) {
        read_operands(op);
        expect_word("axis");
        size.axis = take_index();
        if (op.kind != OpKind::Fold && op.kind != OpKind::Scan) return;
        expect_word("combine");
        expect("(");
        for (bool first = true; !accept(")"); first = false) {
            if (!first) expect(",");
            op.arguments.push_back(take_value());
        }
    }
    void read_plain(OpText& op, AxesAttribute& axes) {
        read_operands(op);
        expect_word(op.kind == OpKind::Extract ? "starts" : "axes");
        expect("[");
        axes.axes = take_extents("]");
    }
    void read_plain(OpText& op, SortAttribute& sort) {
        read_operands(op);
        expect_word("axis");
        sort.axis = take_index();
        sort.descending = accept_word("descending");
    }
    void read_plain(OpText& op, AtomicAttribute& atomic) {
        const Token token = take_kind(TokenKind::Word, "a kind of atomic");
        const auto kind = atomic_kind_named(token.text);
        if (!kind) fail(kUnexpectedToken, token.span, "a kind of atomic", "`" + std::string(token.text) + "`");
        atomic.kind = *kind;
        atomic.publishes = accept_word("acq_rel");
        read_plain(op, atomic.access);
    }
    void read_plain(OpText& op, MessageAttribute& message) {
        if (op.kind != OpKind::Print) {
            op.operands.push_back(take_known());
            expect(",");
        }
        message.text = take_string();
        while (accept(",")) op.operands.push_back(take_known());
    }
    void read_plain(OpText& op, AccessAttribute& access) {
        op.operands.push_back(take_known());
        expect("[");
        while (!accept("]")) {
            if (!access.axes.empty()) expect(",");
            if (access.axes.size() == kMaxRank) fail(kTooManyAxes, token_.span, kMaxRank);
            access.axes.push_back(take_axis(op));
        }
        if (op.kind == OpKind::View) return;
        if (op.kind == OpKind::Load) expect_word("fill");
        if (op.kind == OpKind::Store) expect(",");
        if (op.kind == OpKind::Atomic) {
            while (accept(",")) op.operands.push_back(take_known());
            expect_word("fill");
        }
        op.operands.push_back(take_known());
        access.masked = accept_word("mask");
        if (access.masked) op.operands.push_back(take_known());
    }
    AxisAccess take_axis(OpText& op) {
        if (accept("..")) return {AxisKind::All};
        const bool gather = accept_word("gather");
        op.operands.push_back(take_known());
        if (gather) return {AxisKind::Gather};
        if (accept(":+")) return {AxisKind::Slice, take_int64()};
        if (!accept("..")) return {AxisKind::Index};
        op.operands.push_back(take_known());
        return {AxisKind::Range};
    }

    void read_for_head(OpText& op) {
        op.arguments.push_back(take_value());
        expect_word("in");
        op.operands.push_back(take_known());
        expect("..");
        op.operands.push_back(take_known());
        expect_word("by");
        op.operands.push_back(take_known());
        if (accept_word("carry")) read_carried(op);
    }

    /// `(%argument = %initial, ...)`
    void read_carried(OpText& op) {
        expect("(");
        for (bool first = true; !accept(")"); first = false) {
            if (!first) expect(",");
            op.arguments.push_back(take_value());
            expect("=");
            op.operands.push_back(take_known());
        }
    }

    /// Appends the op, reads its blocks and only then names its results: they cannot be used within.
    void finish_op(OpText& op, BlockId block, const std::vector<Type>& types) {
        Builder builder(kernel_, block);
        builder.set_span(support::join(op.begin, previous_));
        const OpId id = builder.append(op.kind, op.operands, types, std::move(op.attribute));
        if (op.kind == OpKind::For) read_for_block(op, id);
        if (op.kind == OpKind::Fold || op.kind == OpKind::Scan) read_combine_block(op, id);
        if (op.kind == OpKind::While) read_while_blocks(op, id);
        if (op.kind == OpKind::If) read_if_blocks(id);
        for (std::size_t i = 0; i < types.size(); ++i) name_value(op.results[i], kernel_[id].results[i]);
    }

    BlockId add_block(OpId op) {
        const BlockId block = kernel_.add_block();
        kernel_[block].parent = op;
        kernel_[op].blocks.push_back(block);
        return block;
    }
    void add_argument(BlockId block, const Token& token, const Type& type) {
        name_value(token, kernel_.add_argument(block, type));
    }

    void read_for_block(const OpText& op, OpId id) {
        const BlockId block = add_block(id);
        add_argument(block, op.arguments.front(), Type::scalar(kInt));
        for (std::size_t i = 1; i < op.arguments.size(); ++i) {
            add_argument(block, op.arguments[i], Type(kernel_.type(op.operands[i + 2])));
        }
        read_braced(block);
    }

    void read_combine_block(const OpText& op, OpId id) {
        const BlockId block = add_block(id);
        for (std::size_t i = 0; i < op.arguments.size(); ++i) {
            if (op.operands.empty()) fail_expected("a tile to combine");
            const ValueId tile = op.operands[i % op.operands.size()];
            add_argument(block, op.arguments[i], Type::scalar(kernel_.type(tile).element));
        }
        read_braced(block);
    }

    void read_while_blocks(const OpText& op, OpId id) {
        const BlockId condition = add_block(id);
        for (std::size_t i = 0; i < op.arguments.size(); ++i) {
            add_argument(condition, op.arguments[i], Type(kernel_.type(op.operands[i])));
        }
        read_braced(condition);
        expect_word("do");
        expect("(");
        const BlockId body = add_block(id);
        for (std::size_t i = 0; !accept(")"); ++i) {
            if (i > 0) expect(",");
            if (i == op.operands.size()) fail_expected("`)`");
            add_argument(body, take_value(), Type(kernel_.type(op.operands[i])));
        }
        read_braced(body);
    }

    void read_if_blocks(OpId id) {
        read_braced(add_block(id));
        expect_word("else");
        read_braced(add_block(id));
    }

    Kernel kernel_;
    const support::SourceMap& sources_;
    support::Diagnostics& diagnostics_;
    Lexer lexer_;
    Token token_;
    support::Span previous_;
    std::unordered_map<std::string_view, ValueId> names_;
    std::vector<std::pair<std::size_t, Token>> pending_checks_;
    int depth_ = 0;
};

}  // namespace

Kernel parse(const support::SourceMap& sources, std::uint32_t source, support::Diagnostics& diagnostics) {
    Parser parser(sources, source, diagnostics);
    try {
        parser.read();
    } catch (const TextError&) {
        // reported where it was found
    }
    return std::move(parser.kernel());
}

}  // namespace kiln::ir
