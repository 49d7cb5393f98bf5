// Seeded random kernels for property tests: verified by construction, full of index arithmetic, masks, loops and dots.
#pragma once

#include <random>

#include "ir/builder.h"

namespace kiln::test {

/// `k(x: in f32<?>, id: in i32<?>, n: i64, y: out f32<?, kColumns>, z: out i64<?, kColumns>)`, one program for each of
/// `0 .. N by step`. Program i writes row i of y and z: every value it made, as far as the row reaches.
class RandomKernel {
public:
    static constexpr std::int64_t kColumns = 4096;

    explicit RandomKernel(std::uint32_t seed) : random_(seed), builder_(kernel_, {}) {
        kernel_.name = "k";
        kernel_.fits_32_bits = chance(2);
        x_ = parameter("x", ir::Type::tensor(ir::Access::In, ir::ScalarType::F32, {ir::kDynamic}));
        id_ = parameter("id", ir::Type::tensor(ir::Access::In, ir::ScalarType::I32, {ir::kDynamic}));
        const ir::ValueId n = parameter("n", ir::Type::scalar(ir::kInt));
        y_ = parameter("y", ir::Type::tensor(ir::Access::Out, ir::ScalarType::F32, {ir::kDynamic, kColumns}));
        z_ = parameter("z", ir::Type::tensor(ir::Access::Out, ir::kInt, {ir::kDynamic, kColumns}));
        size_ = kernel_.add_value(ir::Type::scalar(ir::kInt), "N");
        kernel_.sizes.push_back({"N", size_, 0, 0, 1, 0, chance(2) ? 4 : 1});
        make_phase();
        values_ = {n, size_, offset_};
        for (int i = 0; i < 4; ++i)
            values_.push_back(builder_.constant_int(pick<std::int64_t>({-5, 0, 1, 3, 8, 1ll << 31})));
        values_.push_back(builder_.constant(ir::Scalar::f32(static_cast<float>(below(3)) - 0.5f)));
        values_.push_back(builder_.constant(ir::Scalar::f32(-0.0f)));
        for (int i = 0; i < 20; ++i) add_op(2);
        store_all();
    }

    ir::Kernel& kernel() { return kernel_; }

private:
    std::uint32_t below(std::size_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
    bool chance(std::size_t in) { return below(in) == 0; }
    template <class T>
    T pick(std::initializer_list<T> choices) {
        return choices.begin()[below(choices.size())];
    }

    ir::ValueId parameter(const char* name, const ir::Type& type) {
        const ir::ValueId value = kernel_.add_value(type, name);
        kernel_.parameters.push_back({name, value});
        return value;
    }

    void make_phase() {
        kernel_.host = kernel_.add_block();
        builder_.set_block(kernel_.host);
        const ir::ValueId lower = builder_.constant_int(pick<std::int64_t>({0, 0, 4, -4}));
        const ir::ValueId step = builder_.constant_int(pick<std::int64_t>({1, 4, 8}));
        ir::Phase phase;
        phase.axes.push_back({"i", lower, size_, step});
        phase.block = kernel_.add_block();
        offset_ = kernel_.add_argument(phase.block, ir::Type::scalar(ir::kInt), "i");
        kernel_.phases.push_back(phase);
        builder_.set_block(phase.block);
    }

    const ir::Type& type(ir::ValueId value) const { return kernel_.type(value); }

    /// A value made so far of an element type and, unless `shape` is null, of a shape.
    std::optional<ir::ValueId> some(ir::ScalarType element, const ir::Shape* shape = nullptr) {
        for (int i = 0; i < 12; ++i) {
            const ir::ValueId value = values_[below(values_.size())];
            if (type(value).element == element && (shape == nullptr || type(value).shape == *shape)) return value;
        }
        return std::nullopt;
    }
    /// A value of that element type and shape, made for the purpose if there is none.
    ir::ValueId operand(ir::ScalarType element, const ir::Shape& shape) {
        if (const auto found = some(element, &shape)) return *found;
        if (const auto scalar = some(element, &kScalar)) return builder_.broadcast(*scalar, shape);
        return builder_.splat(ir::Scalar{element, chance(2) ? 1u : 0u}, ir::Type::tile(element, shape));
    }
    ir::Shape some_shape() {
        switch (below(5)) {
            case 0:
                return {4};
            case 1:
                return {8};
            case 2:
                return {4, 8};
            case 3:
                return {4, 1};
            default:
                return {};
        }
    }
    ir::ScalarType some_integer() {
        if (chance(2)) return ir::kInt;
        return pick<ir::ScalarType>({ir::ScalarType::I8, ir::ScalarType::I32, ir::ScalarType::U8, ir::ScalarType::U32,
                                     ir::ScalarType::U64, ir::ScalarType::I64});
    }

    void add_op(int depth) {
        switch (below(13)) {
            case 12:
                return add_combining();
            case 0:
            case 1:
                return add_elementwise_of(ir::OpGroup::Elementwise, some_integer());
            case 2:
                return add_elementwise_of(ir::OpGroup::Elementwise, ir::ScalarType::F32);
            case 3:
                return add_elementwise_of(ir::OpGroup::Elementwise, ir::ScalarType::Bool);
            case 4:
                return values_.push_back(index_tile());
            case 5:
                return add_conversion();
            case 6:
                return add_load();
            case 7:
                return add_movement();
            case 8:
                return add_select();
            case 9:
                return add_reduction();
            case 10:
                return chance(3) ? add_dot() : add_load();
            case 11:
                return depth > 0 ? chance(3) ? add_if(depth - 1) : add_loop(depth - 1) : add_select();
        }
    }

    void add_elementwise_of(ir::OpGroup group, ir::ScalarType element) {
        while (true) {
            const ir::OpInfo& op = ir::kOps[below(ir::kOps.size())];
            if (op.group != group || op.result == ir::ResultRule::Own || op.kind == ir::OpKind::Select) continue;
            bool fits = true;
            for (const char letter : op.operands) fits = fits && admits(letter, element);
            const bool inexact = op.operands.find('R') != std::string_view::npos && op.kind != ir::OpKind::Fma;
            if (!fits || inexact) continue;
            const ir::Shape shape = some_shape();
            std::vector<ir::ValueId> operands;
            for (std::size_t i = 0; i < op.operands.size(); ++i) operands.push_back(operand(element, shape));
            return values_.push_back(builder_.elementwise(op.kind, operands));
        }
    }
    static bool admits(char letter, ir::ScalarType element) {
        const bool number = element != ir::ScalarType::Bool;
        return letter == '*' || (letter == 'B' && !number) || (letter == 'N' && number) ||
               (letter == 'R' && ir::is_float(element)) || (letter == 'I' && ir::is_integer(element));
    }

    /// start + iota, in one or two axes, as the front end writes it.
    ir::ValueId index_tile() {
        const std::int64_t length = pick<std::int64_t>({1, 4, 8});
        const ir::ValueId start = operand(ir::kInt, {});
        const ir::ValueId tile =
            builder_.elementwise(ir::OpKind::Add, {builder_.broadcast(start, {length}), builder_.iota(length)});
        if (chance(2)) return tile;
        if (chance(2)) return builder_.broadcast(builder_.reshape(tile, {length, 1}), {length, 8});
        return builder_.broadcast(builder_.reshape(tile, {1, length}), {4, length});
    }

    void add_conversion() {
        const ir::ScalarType from = chance(4) ? ir::ScalarType::F32 : some_integer();
        const ir::ScalarType to = chance(4) ? ir::ScalarType::F32 : some_integer();
        const ir::OpKind kind = chance(4) ? ir::OpKind::Saturate : ir::OpKind::Convert;
        values_.push_back(builder_.convert(kind, operand(from, some_shape()), to));
    }

    void add_load() {
        const bool ids = chance(3);
        const ir::ScalarType element = ids ? ir::ScalarType::I32 : ir::ScalarType::F32;
        const ir::ValueId fill = builder_.constant(ir::Scalar{element, 0});
        ir::AccessAttribute access{{{ir::AxisKind::Index}}, false};
        ir::ValueId index = operand(ir::kInt, {});
        ir::Shape shape;
        if (chance(2)) {
            access.axes[0] = {ir::AxisKind::Slice, pick<std::int64_t>({1, 4, 8})};
            shape = {access.axes[0].length};
        } else if (chance(2)) {
            access.axes[0].kind = ir::AxisKind::Gather;
            index = chance(3) ? operand(some_integer(), {4}) : index_tile();
            shape = type(index).shape;
        }
        std::optional<ir::ValueId> mask;
        if (chance(3)) mask = operand(ir::ScalarType::Bool, shape);
        const ir::ValueId loaded = builder_.load(ids ? id_ : x_, access, {index}, fill, mask);
        values_.push_back(loaded);
        if (!chance(3)) return;
        const ir::ValueId fills = builder_.broadcast(fill, shape);
        values_.back() =
            builder_.elementwise(ir::OpKind::Select, {operand(ir::ScalarType::Bool, shape), loaded, fills});
    }

    void add_movement() {
        const ir::ValueId value = operand(chance(3) ? ir::ScalarType::F32 : ir::kInt, {4, 8});
        switch (below(4)) {
            case 0:
                return values_.push_back(builder_.reshape(value, {8, 4}));
            case 1:
                return values_.push_back(builder_.permute(value, {1, 0}));
            case 2:
                return values_.push_back(builder_.permute(builder_.permute(value, {1, 0}), {1, 0}));
            case 3:
                return values_.push_back(builder_.reshape(builder_.extract(value, {2, 3}, {1, 4}), {4}));
        }
    }

    void add_select() {
        const ir::Shape shape = some_shape();
        const ir::ScalarType element = chance(2) ? ir::kInt : ir::ScalarType::F32;
        const ir::ValueId condition = operand(ir::ScalarType::Bool, shape);
        const ir::ValueId first = operand(element, shape);
        values_.push_back(builder_.elementwise(ir::OpKind::Select, {condition, first, operand(element, shape)}));
    }

    void add_reduction() {
        const ir::ValueId value = operand(chance(2) ? ir::kInt : ir::ScalarType::F32, {4, 8});
        const ir::ReduceKind kind =
            pick<ir::ReduceKind>({ir::ReduceKind::Sum, ir::ReduceKind::Min, ir::ReduceKind::Max});
        values_.push_back(builder_.reduce(kind, value, below(2)));
    }

    /// Ops that go element by element.
    void add_combining() {
        const bool whole = chance(2);
        const ir::ValueId value = operand(whole ? ir::kInt : ir::ScalarType::F32, {4, 8});
        switch (below(4)) {
            case 0: {
                const ir::OpId sort = builder_.sort(value, {below(2), chance(2)});
                for (const ir::ValueId result : kernel_[sort].results) values_.push_back(result);
                return;
            }
            case 1:
                return values_.push_back(builder_.bincount(operand(ir::kInt, {8}), 4, std::nullopt));
            case 2:
                return values_.push_back(builder_.join({operand(ir::kInt, {4}), operand(ir::kInt, {4})}, 0));
            case 3:
                return add_fold(value, chance(2) ? ir::OpKind::Fold : ir::OpKind::Scan);
        }
    }

    /// Combines pairs by a block that uses a value from outside and branches.
    void add_fold(ir::ValueId value, ir::OpKind kind) {
        const ir::ValueId outside = operand(ir::kInt, {}), second = operand(ir::kInt, {4, 8});
        const ir::BlockId outer = builder_.block();
        const ir::OpId op = builder_.combine_elements(kind, {value, second}, below(2));
        const ir::BlockId block = kernel_[op].blocks[0];
        const std::vector<ir::ValueId> arguments = kernel_[block].arguments;
        builder_.set_block(block);
        const ir::ValueId greater = builder_.elementwise(ir::OpKind::Greater, {arguments[0], arguments[2]});
        const ir::OpId branch = builder_.if_else(greater, {ir::Type::scalar(ir::kInt)});
        const std::vector<ir::BlockId> branches = kernel_[branch].blocks;
        builder_.set_block(branches[0]);
        builder_.yield({builder_.elementwise(ir::OpKind::Add, {arguments[1], outside})});
        builder_.set_block(branches[1]);
        builder_.yield({builder_.elementwise(ir::OpKind::Xor, {arguments[3], arguments[1]})});
        builder_.set_block(block);
        const ir::ValueId chosen = kernel_[branch].result();
        builder_.yield({builder_.elementwise(ir::OpKind::Max, {arguments[0], arguments[2]}), chosen});
        builder_.set_block(outer);
        for (const ir::ValueId result : kernel_[op].results) values_.push_back(result);
    }

    /// x + dot(a, b), which fusion may round otherwise: compare it within a bound.
    void add_dot() {
        const ir::ScalarType element = ir::ScalarType::F32;
        const ir::ValueId a = operand(element, {4, 8});
        const ir::ValueId zero = builder_.splat(ir::Scalar{element, 0}, ir::Type::tile(element, {4, 4}));
        const ir::ValueId product = builder_.dot(a, builder_.permute(a, {1, 0}), zero, ir::DotPrecision::Default);
        values_.push_back(builder_.elementwise(ir::OpKind::Add, {operand(element, {4, 4}), product}));
    }

    void add_block(int depth) {
        const std::size_t known = values_.size();
        for (std::uint32_t i = 2 + below(4); i > 0; --i) add_op(depth);
        scope_.push_back(known);
    }
    void leave_scope(ir::BlockId outer) {
        values_.resize(scope_.back());
        scope_.pop_back();
        builder_.set_block(outer);
    }

    /// A number that depends on every value made since there were `known`, so that none of them is dead.
    ir::ValueId digest(std::size_t known, ir::ValueId start) {
        for (std::size_t i = known; i < values_.size(); ++i) {
            const ir::ValueId value = builder_.convert(ir::OpKind::Convert, values_[i], ir::kInt);
            const ir::ValueId flat = builder_.reshape(value, {type(value).shape.count()});
            start = builder_.elementwise(ir::OpKind::Add, {start, builder_.reduce(ir::ReduceKind::Sum, flat, 0)});
        }
        return start;
    }

    void add_loop(int depth) {
        const ir::BlockId outer = builder_.block();
        const ir::ValueId step = builder_.constant_int(pick<std::int64_t>({1, 4}));
        const ir::ValueId upper = chance(2) ? size_ : builder_.constant_int(below(12));
        const ir::ValueId lower = builder_.constant_int(pick<std::int64_t>({0, 0, 3}));
        const std::vector<ir::ValueId> initial{operand(ir::ScalarType::F32, {4}), operand(ir::kInt, {})};
        const ir::OpId loop = builder_.for_loop(lower, upper, step, initial);
        const ir::BlockId body = kernel_[loop].blocks[0];
        builder_.set_block(body);
        const std::size_t known = values_.size();
        for (const ir::ValueId argument : kernel_[body].arguments) values_.push_back(argument);
        add_block(depth);
        scope_.back() = known;
        builder_.yield({operand(ir::ScalarType::F32, {4}), digest(known, operand(ir::kInt, {}))});
        leave_scope(outer);
        for (const ir::ValueId result : kernel_[loop].results) values_.push_back(result);
    }

    void add_if(int depth) {
        const ir::BlockId outer = builder_.block();
        const ir::OpId branch = builder_.if_else(operand(ir::ScalarType::Bool, {}), {ir::Type::scalar(ir::kInt)});
        for (const ir::BlockId block : std::vector<ir::BlockId>(kernel_[branch].blocks)) {
            builder_.set_block(block);
            add_block(depth);
            builder_.yield({digest(scope_.back(), operand(ir::kInt, {}))});
            leave_scope(outer);
        }
        values_.push_back(kernel_[branch].result());
    }

    void store_all() {
        std::int64_t column = 0;
        for (const ir::ValueId value : std::vector<ir::ValueId>(values_)) {
            const ir::Shape shape = type(value).shape;
            const bool real = ir::is_float(type(value).element);
            if (column + shape.count() > kColumns) continue;
            const ir::ValueId flat = builder_.reshape(value, {shape.count()});
            const ir::ValueId moved =
                builder_.convert(ir::OpKind::Convert, flat, real ? ir::ScalarType::F32 : ir::kInt);
            const ir::AccessAttribute access{{{ir::AxisKind::Index}, {ir::AxisKind::Slice, shape.count()}}, false};
            builder_.store(real ? y_ : z_, access, {offset_, builder_.constant_int(column)}, moved, std::nullopt);
            column += shape.count();
        }
    }

    static inline const ir::Shape kScalar{};

    std::mt19937 random_;
    ir::Kernel kernel_;
    ir::Builder builder_;
    ir::ValueId x_, id_, y_, z_, size_, offset_;
    std::vector<ir::ValueId> values_;
    std::vector<std::size_t> scope_;
};

}  // namespace kiln::test
