// Seeded random programs in the language: well typed by construction, of everything whose bits the language fixes
// (elementwise chains, conversions, loads and stores with masks and fill, gathers, views, loops, branches, local
// functions, and reductions and dots of whole numbers), so that interpreter and compiled code must agree bit for bit.
#pragma once

#include <fmt/format.h>

#include <random>
#include <string>
#include <vector>

#include "kernel_case.h"

namespace kiln::test {

class RandomText {
public:
    explicit RandomText(std::uint32_t seed) : random_(seed) {}

    KernelCase make() {
        rows_ = pick<int>({1, 2, 4, 5, 8});
        columns_ = pick<int>({1, 3, 8, 16, 31, 32});
        real_ = pick<ir::ScalarType>({F32, F32, F16, BF16, F64});
        whole_ = pick<ir::ScalarType>({I32, I32, I8, I16, I64, U8, U32, U64});
        declare_inputs();
        const int statements = 2 + below(4);
        for (int i = 0; i < statements; ++i) add_statement(2);
        add_stores();
        return finish();
    }

private:
    static constexpr ir::ScalarType I8 = ir::ScalarType::I8, I16 = ir::ScalarType::I16, I32 = ir::ScalarType::I32,
                                    I64 = ir::ScalarType::I64, U8 = ir::ScalarType::U8, U32 = ir::ScalarType::U32,
                                    U64 = ir::ScalarType::U64, F16 = ir::ScalarType::F16, BF16 = ir::ScalarType::BF16,
                                    F32 = ir::ScalarType::F32, F64 = ir::ScalarType::F64, Bool = ir::ScalarType::Bool;

    /// Extents of a value: 0 stands for a scalar's missing axes; both or one axis may be 1.
    enum class Form { Scalar, Tile, Row, Column };
    struct Known {
        std::string name;
        ir::ScalarType type;
        Form form;
    };

    int below(int bound) { return static_cast<int>(random_() % static_cast<std::uint32_t>(bound)); }
    bool chance(int in) { return below(in) == 0; }
    template <class T>
    T pick(std::vector<T> choices) {
        return choices[random_() % choices.size()];
    }

    std::string extents(Form form) const {
        switch (form) {
            case Form::Scalar:
                return "";
            case Form::Tile:
                return fmt::format("[{}, {}]", rows_, columns_);
            case Form::Row:
                return fmt::format("[1, {}]", columns_);
            case Form::Column:
                return fmt::format("[{}, 1]", rows_);
        }
        return "";
    }
    std::string spelled(ir::ScalarType type) const { return std::string(ir::name(type)); }
    std::string fresh() { return fmt::format("t{}", count_++); }
    Form some_form() { return pick<Form>({Form::Tile, Form::Tile, Form::Tile, Form::Row, Form::Column, Form::Scalar}); }
    ir::ScalarType some_type() { return pick<ir::ScalarType>({real_, real_, F32, whole_, whole_, I64, Bool}); }
    ir::ScalarType some_number() { return pick<ir::ScalarType>({real_, real_, F32, whole_, I64}); }

    void line(const std::string& text) {
        body_ += std::string(static_cast<std::size_t>(4 * (depth_ + 1)), ' ') + text + "\n";
    }
    void know(const std::string& name, ir::ScalarType type, Form form) { known_.push_back({name, type, form}); }

    void declare_inputs() {
        know("n", I64, Form::Scalar);
        know("i", I64, Form::Scalar);
        know("j", I64, Form::Scalar);
        for (int count = 0; count < 2; ++count) add_load();
    }

    /// An expression of the type whose form is `form`, or a smaller one that broadcasts to it.
    std::string operand(ir::ScalarType type, Form form) {
        for (int attempt = 0; attempt < 10; ++attempt) {
            const Known& known = known_[random_() % known_.size()];
            const bool fits =
                known.form == form || known.form == Form::Scalar || (form == Form::Tile && known.form != Form::Tile);
            if (!fits) continue;
            if (known.type == type) return known.name;
            if (type == Bool || attempt < 5) continue;
            return fmt::format("{}({})", spelled(type), known.name);
        }
        if (type == Bool) return chance(2) ? "(n > 3)" : "(i == j)";
        const std::string literal = ir::is_float(type) ? pick<std::string>({"0.5", "-2.0", "3.0", "0.0", "1.0"})
                                                       : pick<std::string>({"0", "1", "2", "7"});
        return fmt::format("{}({})", spelled(type), literal);
    }
    /// A value of exactly that form.
    std::string whole_operand(ir::ScalarType type, Form form) {
        if (form == Form::Scalar) return operand(type, form);
        return fmt::format("{}{}({})", spelled(type), extents(form), operand(type, form));
    }

    std::string expression(ir::ScalarType type, Form form, int depth) {
        if (depth == 0 || chance(4)) return operand(type, form);
        const auto sub = [&](ir::ScalarType of) { return expression(of, form, depth - 1); };
        if (type == Bool) return condition(form, depth);
        switch (below(10)) {
            case 0:
            case 1:
            case 2:
                return fmt::format("({} {} {})", sub(type), pick<std::string>({"+", "-", "*"}), sub(type));
            case 3:
                return fmt::format("({} / {})", sub(type), sub(type));
            case 4:
                return fmt::format("{}({}, {})", pick<std::string>({"min", "max"}), sub(type), sub(type));
            case 5:
                return fmt::format("select({}, {}, {})", sub(Bool), sub(type), sub(type));
            case 6:
                return converted(type, form, depth);
            default:
                return ir::is_float(type) ? of_reals(type, form, depth) : of_integers(type, form, depth);
        }
    }
    std::string condition(Form form, int depth) {
        const ir::ScalarType type = some_number();
        const auto sub = [&](ir::ScalarType of) { return expression(of, form, depth - 1); };
        switch (below(4)) {
            case 0:
                return fmt::format("({} && {})", sub(Bool), sub(Bool));
            case 1:
                return fmt::format("({} || !{})", sub(Bool), sub(Bool));
            default:
                return fmt::format("({} {} {})", sub(type), pick<std::string>({"<", "<=", ">", ">=", "==", "!="}),
                                   sub(type));
        }
    }
    std::string converted(ir::ScalarType type, Form form, int depth) {
        ir::ScalarType from = some_number();
        if (from == type) from = from == I64 ? I32 : I64;
        const std::string inner = expression(from, form, depth - 1);
        return chance(3) ? fmt::format("saturate({}, {})", inner, spelled(type))
                         : fmt::format("{}({})", spelled(type), inner);
    }
    std::string of_reals(ir::ScalarType type, Form form, int depth) {
        const auto sub = [&] { return expression(type, form, depth - 1); };
        switch (below(5)) {
            case 0:
                return fmt::format("fma({}, {}, {})", sub(), sub(), sub());
            case 1:
                return fmt::format("{}({})", pick<std::string>({"abs", "floor", "ceil", "trunc", "round", "sqrt"}),
                                   sub());
            case 2:
                return fmt::format("{}({}, {})", pick<std::string>({"minimum", "maximum"}), sub(), sub());
            case 3:
                return fmt::format("(-{})", sub());
            default:
                return fmt::format("clamp({}, {}, {})", sub(), sub(), sub());
        }
    }
    std::string of_integers(ir::ScalarType type, Form form, int depth) {
        const auto sub = [&] { return expression(type, form, depth - 1); };
        switch (below(5)) {
            case 0:
                return fmt::format("({} {} {})", sub(), pick<std::string>({"&", "|", "^", "<<", ">>", "%"}), sub());
            case 1:
                return fmt::format("{}({}, {})", pick<std::string>({"floordiv", "mod", "cdiv"}), sub(), sub());
            case 2:
                return fmt::format("{}({})", pick<std::string>({"ilog2", "popcount", "clz", "abs"}), sub());
            case 3:
                return fmt::format("(~{})", sub());
            default:
                return fmt::format("clamp({}, {}, {})", sub(), sub(), sub());
        }
    }

    void add_statement(int depth) {
        switch (below(11)) {
            case 0:
            case 1:
            case 2:
                return add_let();
            case 3:
            case 4:
                return add_load();
            case 5:
                return add_reduction();
            case 6:
                return depth > 0 ? add_loop(depth) : add_let();
            case 7:
                return depth > 0 ? add_branch(depth) : add_let();
            case 8:
                return add_function();
            case 9:
                return add_dot();
            default:
                return add_movement();
        }
    }

    void add_let() {
        const ir::ScalarType type = some_type();
        const Form form = some_form();
        const std::string value = expression(type, form, 2), name = fresh();
        line(fmt::format("let {}: {}{} = {}", name, spelled(type), extents(form), value));
        know(name, type, form);
    }

    std::string some_start(const char* axis) {
        return pick<std::string>({axis, axis, fmt::format("{} - 2", axis), fmt::format("{} + 3", axis), "n", "0"});
    }
    void add_load() {
        const bool real = chance(2);
        const ir::ScalarType type = real ? real_ : whole_;
        const std::string tensor = real ? "x" : "u", name = fresh();
        std::string options;
        if (chance(3)) options += fmt::format(", fill = {}", operand(type, Form::Scalar));
        if (chance(3) && count_ > 0) options += fmt::format(", mask = {}", operand(Bool, Form::Tile));
        switch (below(5)) {
            case 0: {
                const std::string rows = fresh();
                line(fmt::format("let {} = id[{} :+ {}, fill = -1]", rows, some_start("i"), rows_));
                line(
                    fmt::format("let {} = {}[{}, {} :+ {}{}]", name, tensor, rows, some_start("j"), columns_, options));
                return know(name, type, Form::Tile);
            }
            case 1:
                line(fmt::format("let {} = {}[{}, {}]", name, tensor, some_start("i"), some_start("j")));
                return know(name, type, Form::Scalar);
            case 2:
                line(fmt::format("let {0} = {1}[{2} .. {3}, ..][{4} :+ {5}, {6} :+ {7}{8}]", name, tensor,
                                 some_start("i"), pick<std::string>({"M", "i + 3", "n"}), chance(2) ? "0" : "1", rows_,
                                 some_start("j"), columns_, options));
                return know(name, type, Form::Tile);
            case 3:
                line(fmt::format("let {} = {}[_, {}, {} :+ {}]", name, tensor, some_start("i"), some_start("j"),
                                 columns_));
                return know(name, type, Form::Row);
            default:
                line(fmt::format("let {} = {}[{} :+ {}, {} :+ {}{}]", name, tensor, some_start("i"), rows_,
                                 some_start("j"), columns_, options));
                return know(name, type, Form::Tile);
        }
    }

    /// Reductions whose result does not depend on their order.
    void add_reduction() {
        const bool rows = chance(2), all = chance(4);
        ir::ScalarType type = some_number();
        std::string function = pick<std::string>({"min", "max", "sum"});
        std::string value;
        if (function == "sum" && ir::is_float(type)) {
            type = F32;
            value = fmt::format("f32({} % 8)", whole_operand(I32, Form::Tile));
        } else if (chance(5)) {
            type = Bool;
            function = pick<std::string>({"any", "all"});
            value = whole_operand(Bool, Form::Tile);
        } else {
            value = whole_operand(type, Form::Tile);
        }
        const std::string name = fresh(), tile = fresh();
        line(fmt::format("let {}: {}{} = {}", tile, spelled(type), extents(Form::Tile), value));
        if (all) {
            line(fmt::format("let {} = {}({})", name, function, tile));
            return know(name, type, Form::Scalar);
        }
        line(fmt::format("let {} = {}({}, axis = {}){}", name, function, tile, rows ? 0 : 1,
                         rows ? "[_, :]" : "[:, _]"));
        know(name, type, rows ? Form::Row : Form::Column);
    }

    void add_dot() {
        const std::string a = fresh(), name = fresh();
        const ir::ScalarType type = pick<ir::ScalarType>({F32, F16, BF16});
        line(fmt::format("let {}: {}{} = {}({} % 8)", a, spelled(type), extents(Form::Tile), spelled(type),
                         whole_operand(I32, Form::Tile)));
        const std::string product = fresh();
        line(fmt::format("let {0} = dot({1}, transpose({1}))", product, a));
        line(fmt::format("let {}: f32{} = f32({} % 64) + dot({}, {}({}))", name, extents(Form::Tile),
                         whole_operand(I32, Form::Tile), product, "f32", a));
        know(name, F32, Form::Tile);
    }

    void add_movement() {
        const ir::ScalarType type = some_type();
        const std::string value = whole_operand(type, Form::Tile), a = fresh(), name = fresh();
        line(fmt::format("let {} = {}", a, value));
        switch (below(3)) {
            case 0:
                line(fmt::format("let {} = reshape(transpose({}), {}, {})", name, a, rows_, columns_));
                return know(name, type, Form::Tile);
            case 1:
                line(fmt::format("let {} = {}[{}, :][_, :]", name, a, below(rows_)));
                return know(name, type, Form::Row);
            default:
                line(fmt::format("let {} = {}[:, {} :+ 1]", name, a, below(columns_)));
                return know(name, type, Form::Column);
        }
    }

    void add_function() {
        const ir::ScalarType from = some_number(), to = some_number();
        const Form form = some_form();
        const std::string function = fresh(), name = fresh();
        line(fmt::format("fn {}(p: {}, q: {}) -> {} {{", function, spelled(from), spelled(to), spelled(to)));
        std::vector<Known> outer = std::move(known_);
        known_ = {{"p", from, Form::Scalar}, {"q", to, Form::Scalar}, {"n", I64, Form::Scalar}};
        ++depth_;
        if (chance(2)) {
            line(fmt::format("if {} {{ return {} }}", expression(Bool, Form::Scalar, 1),
                             expression(to, Form::Scalar, 2)));
        }
        line(fmt::format("return {}", expression(to, Form::Scalar, 2)));
        --depth_;
        line("}");
        known_ = std::move(outer);
        line(fmt::format("let {} = {}({}, {})", name, function, whole_operand(from, form), operand(to, form)));
        know(name, to, form);
    }

    void add_loop(int depth) {
        const ir::ScalarType type = some_number(), other = some_number();
        const Form form = some_form();
        const std::string carried = fresh(), second = fresh(), k = fresh();
        line(fmt::format("var {}: {}{} = {}", carried, spelled(type), extents(form), operand(type, form)));
        line(fmt::format("var {}: {} = {}", second, spelled(other), operand(other, Form::Scalar)));
        const bool is_while = chance(3);
        if (is_while) {
            line(fmt::format("var {}: int = 0", k));
            line(fmt::format("while {} < {} {{", k, 1 + below(4)));
        } else {
            line(fmt::format("for {} in {} .. {} by {} {{", k, below(3), pick<std::string>({"4", "n", "N", "M"}),
                             1 + below(3)));
        }
        const std::size_t before = known_.size();
        ++depth_;
        know(k, I64, Form::Scalar);
        know(carried, type, form);
        know(second, other, Form::Scalar);
        const int statements = 1 + below(3);
        for (int i = 0; i < statements; ++i) add_inner_statement(depth - 1);
        line(fmt::format("{} = {}", carried, expression(type, form, 2)));
        line(fmt::format("{} = {}", second, expression(other, Form::Scalar, 2)));
        if (is_while) line(fmt::format("{} += 1", k));
        --depth_;
        line("}");
        known_.resize(before);
        const std::string name = fresh(), last = fresh();
        line(fmt::format("let {} = {}", name, carried));
        line(fmt::format("let {} = {}", last, second));
        know(name, type, form);
        know(last, other, Form::Scalar);
    }
    /// A local function may not see a `var`, so none is declared where some are.
    void add_inner_statement(int depth) {
        switch (below(5)) {
            case 0:
                return add_load();
            case 1:
                return add_reduction();
            case 2:
                return depth > 0 ? add_branch(depth) : add_let();
            default:
                return add_let();
        }
    }

    void add_branch(int depth) {
        const ir::ScalarType type = some_number();
        const Form form = some_form();
        const std::string target = fresh(), name = fresh();
        line(fmt::format("var {}: {}{} = {}", target, spelled(type), extents(form), operand(type, form)));
        const std::size_t before = known_.size();
        for (const char* head : {"if ", "} else {"}) {
            line(head[0] == 'i' ? fmt::format("if {} {{", expression(Bool, Form::Scalar, 2)) : std::string(head));
            ++depth_;
            add_inner_statement(depth - 1);
            line(fmt::format("{} = {}", target, expression(type, form, 2)));
            --depth_;
            known_.resize(before);
        }
        line("}");
        line(fmt::format("let {} = {}", name, target));
        know(name, type, form);
    }

    /// Every value reaches memory: reals in y, integers in z, bools in w, each value its own plane.
    void add_stores() {
        for (const Known& known : std::vector<Known>(known_)) {
            if (known.name == "n" || known.name == "i" || known.name == "j") continue;
            const bool real = ir::is_float(known.type);
            const std::string tensor = known.type == Bool ? "w" : real ? "y" : "z";
            int& plane = known.type == Bool ? flags_ : real ? reals_ : wholes_;
            const std::string element = known.type == Bool ? "bool" : real ? "f64" : "i64";
            const std::string value = known.type == Bool ? known.name : fmt::format("{}({})", element, known.name);
            const std::string mask = chance(5) ? fmt::format(", mask = {}", operand(Bool, Form::Tile)) : "";
            line(fmt::format("{}[{}, i :+ {}, j :+ {}{}] = {}", tensor, plane++, rows_, columns_, mask, value));
        }
    }

    KernelCase finish() {
        KernelCase test;
        test.text = fmt::format(
            "kernel k(x: in {0}[M, N], u: in {1}[M, N], id: in i32[R], n: int, y: out f64[{2}, M, N], "
            "z: out i64[{3}, M, N], w: out bool[{4}, M, N])\ngrid i in 0 .. M by {5}, j in 0 .. N by {6} {{\n{7}}}\n",
            spelled(real_), spelled(whole_), std::max(reals_, 1), std::max(wholes_, 1), std::max(flags_, 1), rows_,
            columns_, body_);
        const std::int64_t m = pick<std::int64_t>({1, 2, 3, 5, 9}), n = pick<std::int64_t>({1, 3, 5, 17, 31, 40});
        const std::vector<ir::Shape> layouts = matrix_strides(m, n, false);
        const auto seed = static_cast<std::uint32_t>(random_());
        test.arguments = {{"x", strided(tensor(real_, {m, n}, seed, 4), pick(layouts))},
                          {"u", strided(tensor(whole_, {m, n}, seed + 1, chance(2) ? 1 : 0.05), pick(layouts))},
                          {"id", tensor(I32, {m + 1}, seed + 2, 0.05)},
                          {"n", ir::Scalar::int64(below(7) - 1)},
                          {"y", tensor(F64, {std::max(reals_, 1), m, n}, seed + 3)},
                          {"z", tensor(I64, {std::max(wholes_, 1), m, n}, seed + 4)},
                          {"w", tensor(Bool, {std::max(flags_, 1), m, n}, seed + 5)}};
        return test;
    }

    std::mt19937 random_;
    int rows_ = 1, columns_ = 1;
    ir::ScalarType real_ = F32, whole_ = I32;
    int count_ = 0, depth_ = 0;
    int reals_ = 0, wholes_ = 0, flags_ = 0;
    std::string body_;
    std::vector<Known> known_;
};

}  // namespace kiln::test
