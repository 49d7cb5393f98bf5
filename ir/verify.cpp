#include "ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/attribute_form.h"
#include "ir/builder.h"
#include "ir/support/internal_error.h"
#include "ir/text.h"

namespace kiln::ir {

namespace {

/// More elements than this has no tile: counts then fit 32 bits everywhere.
constexpr std::int64_t kMaxTileElements = std::numeric_limits<std::int32_t>::max();

bool is_number(ScalarType type) {
    return is_integer(type) || is_float(type);
}

/// Whether every id in the kernel names a part of its arena, and every part of the tree is owned once. What follows may
/// then walk it.
class Structure {
public:
    Structure(const Kernel& kernel, std::vector<std::string>& violations)
        : kernel_(kernel), violations_(violations), op_seen_(kernel.ops.size()), block_seen_(kernel.blocks.size()) {}

    bool check() {
        for (const Parameter& parameter : kernel_.parameters) {
            if (parameter.value.valid() || parameter.present) check_value(parameter.value, "parameter");
        }
        for (const SizeBinding& size : kernel_.sizes) check_value(size.value, "size");
        for (const ExtentCheck& check : kernel_.checks) check_value(check.expected, "check");
        for (const Scratch& scratch : kernel_.scratch) {
            check_value(scratch.value, "scratch");
            for (const ValueId extent : scratch.extents) check_value(extent, "scratch");
            if (scratch.initial) check_value(*scratch.initial, "scratch");
        }
        check_block(kernel_.host, OpId{});
        for (const Phase& phase : kernel_.phases) {
            for (const GridAxis& axis : phase.axes) {
                for (const ValueId bound : {axis.lower, axis.upper, axis.step}) check_value(bound, "grid");
            }
            check_block(phase.block, OpId{});
        }
        return violations_.empty();
    }

private:
    void check_value(ValueId value, const std::string& where) {
        if (value.index >= kernel_.values.size()) violations_.push_back(where + ": names a value that does not exist");
    }

    void check_block(BlockId id, OpId parent) {
        if (id.index >= kernel_.blocks.size()) {
            violations_.push_back("names a block that does not exist");
            return;
        }
        if (std::exchange(block_seen_[id.index], char{1})) {
            violations_.push_back(fmt::format("block {}: stands in two places", id.index));
            return;
        }
        const Block& block = kernel_[id];
        if (block.parent != parent)
            violations_.push_back(fmt::format("block {}: names another op as its owner", id.index));
        for (const ValueId argument : block.arguments) check_value(argument, "block argument");
        for (const OpId op : block.ops) check_op(op, id);
    }

    void check_op(OpId id, BlockId parent) {
        if (id.index >= kernel_.ops.size()) {
            violations_.push_back("a block names an op that does not exist");
            return;
        }
        if (std::exchange(op_seen_[id.index], char{1})) {
            violations_.push_back(fmt::format("op {}: stands in two places", id.index));
            return;
        }
        const Op& op = kernel_[id];
        const std::string where(info(op.kind).mnemonic);
        if (op.parent != parent) violations_.push_back(where + ": names another block as its own");
        for (const ValueId operand : op.operands) check_value(operand, where);
        for (const ValueId result : op.results) {
            check_value(result, where);
            if (result.index < kernel_.values.size() && kernel_[result].definition != id) {
                violations_.push_back(where + ": its result names another op as its definition");
            }
        }
        for (const BlockId block : op.blocks) check_block(block, id);
    }

    const Kernel& kernel_;
    std::vector<std::string>& violations_;
    std::vector<char> op_seen_, block_seen_;
};

/// The rules of ops: types, attributes, blocks. Values in scope are checked by Scopes.
class OpRules {
public:
    OpRules(const Kernel& kernel, std::vector<std::string>& violations) : kernel_(kernel), violations_(violations) {}

    void check(OpId id, bool in_host) {
        at_ = id;
        const Op& op = kernel_[id];
        if (op.attribute.index() != empty_attribute(op.kind).index()) return fail("carries the wrong attribute");
        for (const ValueId result : op.results) check_type(kernel_.type(result));
        check_host(op, in_host);
        if (check_row(op)) check_own(op);
    }

    /// A violation that is not about an op.
    void check_declared_type(const Type& type, const std::string& where) {
        where_ = where;
        check_type(type);
        where_.clear();
    }

private:
    void fail(const std::string& what) {
        violations_.push_back((where_.empty() ? "`" + print(kernel_, at_) + "`" : where_) + ": " + what);
    }
    bool expect(bool holds, const std::string& what) {
        if (!holds) fail(what);
        return holds;
    }
    const Type& operand(const Op& op, std::size_t index) const { return kernel_.type(op.operands[index]); }
    const Type& result(const Op& op) const { return kernel_.type(op.result()); }
    bool expect_counts(const Op& op, std::size_t operands, std::size_t results) {
        return expect(op.operands.size() == operands, fmt::format("takes {} operands", operands)) &&
               expect(op.results.size() == results, fmt::format("has {} results", results)) &&
               expect(op.blocks.empty(), "has no blocks");
    }
    bool expect_values(const Op& op) {
        bool all = true;
        for (const ValueId value : op.operands) all = all && !kernel_.type(value).is_tensor();
        return expect(all, "takes no tensors");
    }

    void check_type(const Type& type) {
        if (type.is_scalar()) {
            expect(type.shape.empty(), "a scalar has no axes");
            return;
        }
        expect(!type.shape.empty(), "a tile or tensor has at least one axis");
        std::int64_t count = 1;
        for (const std::int64_t extent : type.shape) {
            if (type.is_tensor()) {
                expect(extent >= 0 || extent == kDynamic, "sizes are not negative");
                continue;
            }
            if (!expect(extent >= 1, "extents of a tile are at least 1")) return;
            if (!expect(extent <= kMaxTileElements / count, "a tile has at most 2^31 - 1 elements")) return;
            count *= extent;
        }
    }

    /// The host block computes scalars; its loops and branches are allowed, memory is not.
    void check_host(const Op& op, bool in_host) {
        const OpInfo& row = info(op.kind);
        if (!in_host) {
            expect(row.group != OpGroup::Host, "stands only in the host block");
            return;
        }
        expect(row.group != OpGroup::Memory || op.kind == OpKind::Size, "does not stand in the host block");
        expect(row.effect != Effect::Writes, "has no place in the host block");
        for (const ValueId result : op.results) expect(kernel_.type(result).is_scalar(), "host values are scalars");
    }

    /// Counts, letters and result rule of the row; false where nothing more can be said.
    bool check_row(const Op& op) {
        const OpInfo& row = info(op.kind);
        const bool own = row.operands.find('*') != std::string_view::npos || row.result == ResultRule::Own;
        if (!is_elementwise(op.kind))
            return own || expect_counts(op, row.operands.size(), row.result != ResultRule::None);
        if (!expect_counts(op, row.operands.size(), 1) || !expect_values(op)) return false;
        return check_letters(op, row.operands) && check_result(op, row.result);
    }

    bool check_letters(const Op& op, std::string_view letters) {
        const Type* main = nullptr;
        for (std::size_t i = 0; i < letters.size(); ++i) {
            const Type& type = operand(op, i);
            if (!expect(type.shape == operand(op, 0).shape, "operands have one shape")) return false;
            if (!expect(admits(letters[i], type.element),
                        fmt::format("operand {} may not be {}", i, name(type.element)))) {
                return false;
            }
            if (letters[i] == 'b' || letters[i] == '*') continue;
            if (main != nullptr && !expect(main->element == type.element, "operands have one element type"))
                return false;
            main = &type;
        }
        return true;
    }

    static bool admits(char letter, ScalarType type) {
        switch (letter) {
            case 'N':
                return is_number(type);
            case 'R':
                return is_float(type);
            case 'I':
                return is_integer(type);
            case 'B':
            case 'b':
                return type == ScalarType::Bool;
            case 'A':
            case '*':
                return true;
        }
        throw support::InternalError("ir::verify", fmt::format("ops.def has no operand letter `{}`", letter));
    }

    bool check_result(const Op& op, ResultRule rule) {
        switch (rule) {
            case ResultRule::First:
                return expect(result(op) == operand(op, 0), "the result has operand 0's type");
            case ResultRule::Second:
                return expect(result(op) == operand(op, 1), "the result has operand 1's type");
            case ResultRule::Flag:
                return expect(result(op) == operand(op, 0).with_element(ScalarType::Bool),
                              "the result is bool of operand 0's shape");
            case ResultRule::Own:
            case ResultRule::None:
                return true;
        }
        return true;
    }

    void check_own(const Op& op) {
        switch (op.kind) {
            case OpKind::Constant:
                return check_constant(op);
            case OpKind::Iota:
                return check_iota(op);
            case OpKind::Broadcast:
                return check_broadcast(op);
            case OpKind::Reshape:
                return check_reshape(op);
            case OpKind::Permute:
                return check_permute(op);
            case OpKind::Extract:
                return check_extract(op);
            case OpKind::Equal:
            case OpKind::NotEqual:
                return check_equality(op);
            case OpKind::Convert:
            case OpKind::Saturate:
            case OpKind::Bitcast:
                return check_conversion(op);
            case OpKind::Reduce:
                return check_reduce(op);
            case OpKind::Dot:
                return check_dot(op);
            case OpKind::Join:
                return check_join(op);
            case OpKind::Fold:
            case OpKind::Scan:
                return check_combine(op);
            case OpKind::Sort:
                return check_sort(op);
            case OpKind::Bincount:
                return check_bincount(op);
            case OpKind::Atomic:
                return check_atomic(op);
            case OpKind::Print:
                return check_print(op);
            case OpKind::View:
                return check_view(op);
            case OpKind::Size:
                return check_size(op);
            case OpKind::Load:
                return check_load(op);
            case OpKind::Store:
                return check_store(op);
            case OpKind::For:
                return check_for(op);
            case OpKind::While:
                return check_while(op);
            case OpKind::If:
                return check_if(op);
            case OpKind::Units:
                return check_units(op);
            case OpKind::Assert:
            case OpKind::Require:
                return check_require(op);
            // Their row says everything.
            case OpKind::Yield:
            case OpKind::Add:
            case OpKind::Sub:
            case OpKind::Mul:
            case OpKind::Div:
            case OpKind::Rem:
            case OpKind::Neg:
            case OpKind::And:
            case OpKind::Or:
            case OpKind::Xor:
            case OpKind::Not:
            case OpKind::Shl:
            case OpKind::Shr:
            case OpKind::LogicalAnd:
            case OpKind::LogicalOr:
            case OpKind::LogicalNot:
            case OpKind::Less:
            case OpKind::LessEqual:
            case OpKind::Greater:
            case OpKind::GreaterEqual:
            case OpKind::Abs:
            case OpKind::Min:
            case OpKind::Max:
            case OpKind::Minimum:
            case OpKind::Maximum:
            case OpKind::Fma:
            case OpKind::Sqrt:
            case OpKind::Exp:
            case OpKind::Exp2:
            case OpKind::Log:
            case OpKind::Log2:
            case OpKind::Rsqrt:
            case OpKind::Sin:
            case OpKind::Cos:
            case OpKind::Tanh:
            case OpKind::Erf:
            case OpKind::Pow:
            case OpKind::Floor:
            case OpKind::Ceil:
            case OpKind::Trunc:
            case OpKind::Round:
            case OpKind::IsNan:
            case OpKind::IsInf:
            case OpKind::Select:
            case OpKind::CeilDiv:
            case OpKind::FloorDiv:
            case OpKind::Mod:
            case OpKind::Ilog2:
            case OpKind::Popcount:
            case OpKind::Clz:
                return;
        }
    }

    // Constants and shape

    void check_constant(const Op& op) {
        if (!expect_counts(op, 0, 1)) return;
        const Scalar constant = attribute<Scalar>(op);
        expect(result(op) == Type::scalar(constant.type), "the result is a scalar of the constant's type");
        const int bits = constant.type == ScalarType::Bool ? 1 : bit_width(constant.type);
        expect(bits == 64 || constant.bits >> bits == 0, "bits beyond the type's width are zero");
    }
    void check_iota(const Op& op) {
        if (!expect_counts(op, 0, 1)) return;
        const bool counts = result(op).element == kInt || result(op).element == ScalarType::I32;
        expect(result(op).is_tile() && counts && result(op).shape.rank() == 1,
               "the result is an int tile of one axis, or one narrowed to i32");
    }
    /// One operand, one result, no tensors, the same element type.
    bool check_reshaping(const Op& op) {
        return expect_counts(op, 1, 1) && expect_values(op) &&
               expect(result(op).element == operand(op, 0).element, "the element type stays");
    }
    void check_broadcast(const Op& op) {
        if (!check_reshaping(op) || !expect(result(op).is_tile(), "the result is a tile")) return;
        const Shape& from = operand(op, 0).shape;
        const Shape& to = result(op).shape;
        if (from.empty() || !expect(from.rank() == to.rank(), "a tile keeps its rank")) return;
        for (std::size_t i = 0; i < to.rank(); ++i)
            expect(from[i] == to[i] || from[i] == 1, "only length 1 is repeated");
    }
    void check_reshape(const Op& op) {
        if (check_reshaping(op))
            expect(result(op).shape.count() == operand(op, 0).shape.count(), "the element count stays");
    }
    void check_permute(const Op& op) {
        if (!check_reshaping(op)) return;
        const Shape& from = operand(op, 0).shape;
        const Shape& to = result(op).shape;
        const Shape& axes = attribute<AxesAttribute>(op).axes;
        if (!expect(axes.rank() == from.rank() && to.rank() == from.rank(), "names each axis once")) return;
        unsigned named = 0;
        for (std::size_t i = 0; i < axes.rank(); ++i) {
            const bool fresh = axes[i] >= 0 && axes[i] < std::int64_t(from.rank()) && !(named >> axes[i] & 1u);
            if (!expect(fresh, "names each axis once")) return;
            named |= 1u << axes[i];
            expect(to[i] == from[axes[i]], "each axis keeps its extent");
        }
    }
    void check_extract(const Op& op) {
        if (!check_reshaping(op)) return;
        const Shape& from = operand(op, 0).shape;
        const Shape& to = result(op).shape;
        const Shape& starts = attribute<AxesAttribute>(op).axes;
        if (!expect(starts.rank() == from.rank() && to.rank() == from.rank(), "gives each axis a start")) return;
        for (std::size_t i = 0; i < to.rank(); ++i) {
            expect(starts[i] >= 0 && starts[i] <= from[i] - to[i], "the part lies within the tile");
        }
    }

    void check_join(const Op& op) {
        if (!expect(op.operands.size() >= 2 && op.results.size() == 1 && op.blocks.empty(), "joins two or more tiles"))
            return;
        const std::uint32_t axis = attribute<AxisAttribute>(op).axis;
        Type joined = operand(op, 0);
        if (!expect(joined.is_tile() && axis < joined.shape.rank(), "the axis exists")) return;
        joined.shape[axis] = 0;
        for (const ValueId value : op.operands) {
            Type part = kernel_.type(value);
            if (!expect(part.is_tile() && part.shape.rank() == joined.shape.rank(), "joins tiles of one rank")) return;
            joined.shape[axis] += part.shape[axis];
            part.shape[axis] = joined.shape[axis];
            if (!expect(part == joined, "all axes but the joined one are equal")) return;
        }
        expect(result(op) == joined, "the result is the tiles one behind the other");
    }

    // Elementwise ops with rules of their own

    void check_equality(const Op& op) {
        const ScalarType element = operand(op, 0).element;
        expect(element == operand(op, 1).element, "operands have one element type");
        expect(is_number(element) || element == ScalarType::Bool, "compares numbers or bools");
    }
    void check_conversion(const Op& op) {
        const Type& from = operand(op, 0);
        const Type& to = result(op);
        expect(to.shape == from.shape && !to.is_tensor(), "the shape stays");
        if (op.kind == OpKind::Bitcast) {
            expect(bit_width(from.element) == bit_width(to.element), "both types have one width");
        } else {
            expect(to.element != ScalarType::Bool || from.element == ScalarType::Bool, "a number is no bool");
        }
    }

    // Contractions

    void check_reduce(const Op& op) {
        if (!expect_counts(op, 1, 1) || !expect_values(op)) return;
        const Type& type = operand(op, 0);
        const auto& [kind, axis] = attribute<ReduceAttribute>(op);
        if (!expect(axis < type.shape.rank(), "the axis exists")) return;
        Shape shape = type.shape;
        shape.erase(axis);
        expect(result(op) == Type::tile(type.element, shape), "the result is the operand without the axis");
        expect(reduces(kind, type.element), fmt::format("`{}` does not reduce {}", name(kind), name(type.element)));
    }
    static bool reduces(ReduceKind kind, ScalarType element) {
        switch (kind) {
            case ReduceKind::Sum:
            case ReduceKind::Min:
            case ReduceKind::Max:
                return is_number(element);
            case ReduceKind::Minimum:
            case ReduceKind::Maximum:
                return is_float(element);
            case ReduceKind::Any:
            case ReduceKind::All:
                return element == ScalarType::Bool;
        }
        return false;
    }
    void check_dot(const Op& op) {
        if (!expect_counts(op, 3, 1) || !expect_values(op)) return;
        const Type& a = operand(op, 0);
        const Type& b = operand(op, 1);
        const Type& c = operand(op, 2);
        const bool matrices = a.shape.rank() == 2 && b.shape.rank() == 2 && c.shape.rank() == 2;
        if (!expect(matrices, "takes tiles of two axes")) return;
        expect(a.shape[1] == b.shape[0] && a.shape[0] == c.shape[0] && b.shape[1] == c.shape[1],
               "[M, K] by [K, N] gives [M, N]");
        expect(dot_accumulator(a.element, b.element) == c.element, "accumulates in the type of both operands");
        expect(result(op) == c, "the result has the accumulator's type");
        const DotPrecision precision = attribute<DotAttribute>(op).precision;
        const bool f32_only =
            precision == DotPrecision::Tf32 || precision == DotPrecision::Tf32x3 || precision == DotPrecision::Bf16x3;
        expect(!f32_only || a.element == ScalarType::F32, "this precision takes f32");
    }

    void check_combine(const Op& op) {
        if (!check_blocks(op, 1) || !expect(!op.operands.empty() && expect_values(op), "takes tiles")) return;
        const std::uint32_t axis = attribute<AxisAttribute>(op).axis;
        const Shape shape = operand(op, 0).shape;
        if (!expect(axis < shape.rank(), "the axis exists")) return;
        std::vector<Type> elements, results;
        for (const ValueId value : op.operands) {
            const Type& type = kernel_.type(value);
            if (!expect(type.shape == shape, "operands have one shape")) return;
            Shape kept = shape;
            if (op.kind == OpKind::Fold) kept.erase(axis);
            elements.push_back(Type::scalar(type.element));
            results.push_back(Type::tile(type.element, kept));
        }
        expect(types_of(op.results) == results, "has a result for each operand");
        expect(yielded(op.blocks[0]) == elements, "the block yields an element of each");
        std::vector<Type> both = elements;
        both.insert(both.end(), elements.begin(), elements.end());
        expect(arguments(op.blocks[0]) == both, "the block takes two elements of each");
        check_scalar_block(op.blocks[0]);
    }
    /// What combines elements computes with scalars and writes nothing.
    void check_scalar_block(BlockId block) {
        for (const OpId id : kernel_[block].ops) {
            const Op& inner = kernel_[id];
            expect(info(inner.kind).effect != Effect::Writes, "its block writes nothing");
            for (const ValueId value : inner.results) expect(!kernel_.type(value).is_tile(), "its block makes scalars");
            for (const BlockId nested : inner.blocks) check_scalar_block(nested);
        }
    }
    void check_sort(const Op& op) {
        if (!expect_counts(op, 1, 2) || !expect_values(op)) return;
        const Type& type = operand(op, 0);
        expect(attribute<SortAttribute>(op).axis < type.shape.rank(), "the axis exists");
        expect(is_number(type.element), "sorts numbers");
        expect(result(op) == type && kernel_.type(op.results[1]) == type.with_element(kInt),
               "the results are the sorted tile and its indices");
    }
    void check_bincount(const Op& op) {
        const bool masked = op.operands.size() == 2;
        if (!expect_counts(op, masked ? 2 : 1, 1) || !expect_values(op)) return;
        expect(operand(op, 0).is_tile() && is_integer(operand(op, 0).element), "counts an integer tile");
        expect(!masked || operand(op, 1) == operand(op, 0).with_element(ScalarType::Bool),
               "the mask is bool of the same shape");
        expect(result(op).is_tile() && result(op).element == ScalarType::U32 && result(op).shape.rank() == 1,
               "the result is a u32 tile of one axis");
    }

    // Memory

    /// Operands of an access that stand behind those of its axes.
    static std::size_t further_operands(const Op& op) {
        const std::size_t mask = access_of(op).masked ? 1 : 0;
        if (op.kind == OpKind::View) return 1 + mask;
        if (op.kind != OpKind::Atomic) return 2 + mask;
        return (attribute<AtomicAttribute>(op).kind == AtomicKind::Cas ? 4u : 3u) + mask;
    }
    /// Tensor, rank, kinds and operands of the axes; false where the shape cannot be told.
    bool check_access(const Op& op, bool view) {
        const AccessAttribute& access = access_of(op);
        if (!expect(op.operands.size() == axis_operand_count(access) + further_operands(op),
                    "has an operand for each axis"))
            return false;
        if (!expect(op.blocks.empty(), "has no blocks")) return false;
        if (!expect(operand(op, 0).is_tensor(), "names a tensor")) return false;
        if (!expect(access.axes.size() == operand(op, 0).shape.rank(), "names each axis of the tensor")) return false;
        std::size_t next = 1;
        for (const AxisAccess& axis : access.axes) {
            if (!check_axis(op, axis, view, next)) return false;
        }
        return view || check_gathers(op, access);
    }
    bool check_axis(const Op& op, const AxisAccess& axis, bool view, std::size_t& next) {
        switch (axis.kind) {
            case AxisKind::Index:
                return check_index(op, next++);
            case AxisKind::Slice:
                return expect(!view, "a view has no slices") && check_index(op, next++) &&
                       expect(axis.length >= 1, "a slice has at least one element");
            case AxisKind::Gather: {
                const Type& index = operand(op, next++);
                return expect(!view, "a view has no gathers") &&
                       expect(index.is_tile() && is_integer(index.element), "gathers by an integer tile");
            }
            case AxisKind::Range: {
                const bool lower = check_index(op, next++);
                return check_index(op, next++) && lower && expect(view, "only views have ranges");
            }
            case AxisKind::All:
                return expect(view, "only views take whole axes");
        }
        return false;
    }
    bool check_index(const Op& op, std::size_t index) {
        const Type& type = operand(op, index);
        return expect(type.is_scalar() && is_integer(type.element), "an index is an integer scalar");
    }
    bool check_gathers(const Op& op, const AccessAttribute& access) {
        const Shape* shape = nullptr;
        std::size_t rank = 0;
        for (std::size_t i = 0; i < access.axes.size(); ++i) {
            if (access.axes[i].kind == AxisKind::Slice) ++rank;
            if (access.axes[i].kind != AxisKind::Gather) continue;
            const Shape& next = operand(op, i + 1).shape;
            if (shape == nullptr) rank += next.rank();
            if (shape != nullptr && !expect(next == *shape, "gather tiles have one shape")) return false;
            shape = &next;
        }
        gather_shape_ = shape == nullptr ? Shape() : *shape;
        return expect(rank <= kMaxRank, "a tile has at most 8 axes");
    }
    void check_moved(const Op& op, const Type& moved) {
        const AccessAttribute& access = access_of(op);
        const Shape shape = access_shape(access, gather_shape_);
        expect(moved == Type::tile(operand(op, 0).element, shape), "the value has the shape and type that are named");
        if (!access.masked) return;
        expect(kernel_.type(op.operands.back()) == Type::tile(ScalarType::Bool, shape),
               "the mask is bool of the same shape");
    }
    void check_load(const Op& op) {
        if (!check_access(op, false) || !expect(op.results.size() == 1, "has 1 results")) return;
        expect(operand(op, 0).access != Access::Out, "does not read an out tensor");
        const std::size_t fill = axis_operand_count(attribute<AccessAttribute>(op)) + 1;
        expect(operand(op, fill) == Type::scalar(operand(op, 0).element), "fill is a scalar of the tensor's type");
        check_moved(op, result(op));
    }
    void check_store(const Op& op) {
        if (!check_access(op, false) || !expect(op.results.empty(), "has 0 results")) return;
        expect(operand(op, 0).access != Access::In, "does not write an in tensor");
        check_moved(op, operand(op, axis_operand_count(attribute<AccessAttribute>(op)) + 1));
    }
    void check_atomic(const Op& op) {
        if (!check_access(op, false) || !expect(op.results.size() == 1, "has 1 results")) return;
        const AtomicAttribute& atomic = attribute<AtomicAttribute>(op);
        const ScalarType element = operand(op, 0).element;
        expect(operand(op, 0).access != Access::In, "does not write an in tensor");
        expect(atomic_updates(atomic.kind, element),
               fmt::format("`{}` does not update {}", name(atomic.kind), name(element)));
        const std::size_t first = axis_operand_count(atomic.access) + 1;
        const std::size_t values = atomic.kind == AtomicKind::Cas ? 2 : 1;
        for (std::size_t i = 0; i < values; ++i)
            expect(operand(op, first + i) == result(op), "values are as the result");
        expect(operand(op, first + values) == Type::scalar(element), "fill is a scalar of the tensor's type");
        check_moved(op, result(op));
    }
    void check_view(const Op& op) {
        const AccessAttribute& access = attribute<AccessAttribute>(op);
        if (!expect(!access.masked, "a view has no mask")) return;
        if (!check_access(op, true) || !expect(op.results.size() == 1, "has 1 results")) return;
        expect(result(op) == view_type(operand(op, 0), access), "the result is the narrowed tensor");
    }
    void check_size(const Op& op) {
        if (!expect_counts(op, 1, 1) || !expect(operand(op, 0).is_tensor(), "names a tensor")) return;
        expect(attribute<AxisAttribute>(op).axis < operand(op, 0).shape.rank(), "the axis exists");
        expect(result(op) == Type::scalar(kInt), "the result is int");
    }

    // Control

    bool check_blocks(const Op& op, std::size_t count) {
        if (!expect(op.blocks.size() == count, fmt::format("has {} blocks", count))) return false;
        for (const BlockId block : op.blocks) {
            const std::vector<OpId>& ops = kernel_[block].ops;
            if (!expect(!ops.empty() && kernel_[ops.back()].kind == OpKind::Yield, "each block ends with yield"))
                return false;
        }
        return true;
    }
    std::vector<Type> types_of(const std::vector<ValueId>& values, std::size_t first = 0) const {
        std::vector<Type> types;
        for (std::size_t i = first; i < values.size(); ++i) types.push_back(kernel_.type(values[i]));
        return types;
    }
    std::vector<Type> yielded(BlockId block) const { return types_of(kernel_[kernel_[block].ops.back()].operands); }
    std::vector<Type> arguments(BlockId block) const { return types_of(kernel_[block].arguments); }

    void check_for(const Op& op) {
        if (!check_blocks(op, 1) || !expect(op.operands.size() >= 3, "takes lower, upper and step")) return;
        for (std::size_t i = 0; i < 3; ++i) expect(operand(op, i) == Type::scalar(kInt), "bounds and step are int");
        const std::vector<Type> carried = types_of(op.operands, 3);
        std::vector<Type> expected = carried;
        expected.insert(expected.begin(), Type::scalar(kInt));
        expect(types_of(op.results) == carried, "results have the types of the initial values");
        expect(arguments(op.blocks[0]) == expected, "the block takes the index and the carried values");
        expect(yielded(op.blocks[0]) == carried, "the block yields the carried values");
        expect_carried(carried);
    }
    void check_while(const Op& op) {
        if (!check_blocks(op, 2)) return;
        const std::vector<Type> carried = types_of(op.operands);
        std::vector<Type> decided = carried;
        decided.insert(decided.begin(), Type::scalar(ScalarType::Bool));
        expect(types_of(op.results) == carried, "results have the types of the initial values");
        expect(arguments(op.blocks[0]) == carried && arguments(op.blocks[1]) == carried,
               "both blocks take the carried values");
        expect(yielded(op.blocks[0]) == decided, "the first block yields the condition and the carried values");
        expect(yielded(op.blocks[1]) == carried, "the second block yields the carried values");
        expect_carried(carried);
    }
    void check_if(const Op& op) {
        if (!check_blocks(op, 2) || !expect(op.operands.size() == 1, "takes a condition")) return;
        expect(operand(op, 0) == Type::scalar(ScalarType::Bool), "the condition is a bool scalar");
        const std::vector<Type> results = types_of(op.results);
        for (const BlockId block : op.blocks) {
            expect(kernel_[block].arguments.empty(), "its blocks take nothing");
            expect(yielded(block) == results, "each block yields the results");
        }
        expect_carried(results);
    }
    void expect_carried(const std::vector<Type>& types) {
        const bool tensors = std::any_of(types.begin(), types.end(), [](const Type& type) { return type.is_tensor(); });
        expect(!tensors, "carries no tensors");
    }

    void check_print(const Op& op) {
        expect(op.results.empty() && op.blocks.empty() && expect_values(op), "prints values");
    }

    // Host

    void check_units(const Op& op) {
        if (expect_counts(op, 0, 1)) expect(result(op) == Type::scalar(kInt), "the result is int");
    }
    void check_require(const Op& op) {
        if (!expect(!op.operands.empty(), "takes a condition") || !expect(op.results.empty(), "has 0 results")) return;
        expect(operand(op, 0) == Type::scalar(ScalarType::Bool), "the condition is a bool scalar");
        for (const ValueId value : op.operands) expect(kernel_.type(value).is_scalar(), "takes scalars");
    }

    const Kernel& kernel_;
    std::vector<std::string>& violations_;
    OpId at_;
    std::string where_;
    Shape gather_shape_;
};

/// Walks the kernel in order and knows which values may be used at each place.
class Scopes {
public:
    Scopes(const Kernel& kernel, std::vector<std::string>& violations)
        : kernel_(kernel), violations_(violations), rules_(kernel, violations), visible_(kernel.values.size()) {}

    void check() {
        check_parameters();
        for (const SizeBinding& size : kernel_.sizes) check_size(size);
        check_ops(kernel_.host, true);
        expect(kernel_[kernel_.host].arguments.empty(), "host: takes no arguments");
        for (const ExtentCheck& check : kernel_.checks) {
            check_extent(check.parameter, check.axis, "check");
            check_launch_int(check.expected, "check " + check.text);
        }
        for (const Scratch& scratch : kernel_.scratch) check_scratch(scratch);
        for (const Scratch& scratch : kernel_.scratch) define(scratch.value, "scratch");
        expect(!kernel_.phases.empty(), "the kernel has no phase");
        for (const Phase& phase : kernel_.phases) check_phase(phase);
    }

private:
    void expect(bool holds, const std::string& what) {
        if (!holds) violations_.push_back(what);
    }

    void fail(OpId op, const std::string& what) { violations_.push_back("`" + print(kernel_, op) + "`: " + what); }

    void define(ValueId value, const std::string& where) {
        expect(!visible_[value.index], where + ": a value is defined twice");
        visible_[value.index] = true;
    }

    void check_parameters() {
        for (const Parameter& parameter : kernel_.parameters) {
            if (!parameter.present) continue;
            define(parameter.value, "parameter " + parameter.name);
            const Type& type = kernel_.type(parameter.value);
            rules_.check_declared_type(type, "parameter " + parameter.name);
            expect(!type.is_tile(), "parameter " + parameter.name + ": is no tile");
            expect(parameter.facts.unit_axis < static_cast<int>(type.shape.rank()) && parameter.facts.alignment >= 1,
                   "parameter " + parameter.name + ": its facts name no axis or alignment");
        }
    }

    void check_extent(std::uint32_t parameter, std::uint32_t axis, const std::string& where) {
        const bool known = parameter < kernel_.parameters.size() && kernel_.parameters[parameter].present;
        const bool tensor = known && kernel_.type(kernel_.parameters[parameter].value).is_tensor();
        expect(tensor && axis < kernel_.type(kernel_.parameters[parameter].value).shape.rank(),
               where + ": names an axis of a tensor parameter that is present");
    }

    void check_size(const SizeBinding& size) {
        const std::string where = "size " + size.name;
        define(size.value, where);
        check_extent(size.parameter, size.axis, where);
        expect(kernel_.type(size.value) == Type::scalar(kInt), where + ": is int");
        expect(size.scale != 0 && size.divisor >= 1, where + ": scale is not 0 and the divisor positive");
    }

    /// Called before any phase is walked: what is visible then are the launch values.
    void check_launch_int(ValueId value, const std::string& where) {
        expect(visible_[value.index] && kernel_.type(value) == Type::scalar(kInt), where + ": takes int launch values");
    }

    void check_scratch(const Scratch& scratch) {
        const std::string where = "scratch " + scratch.name;
        const Type& type = kernel_.type(scratch.value);
        rules_.check_declared_type(type, where);
        expect(type.is_tensor() && type.access == Access::InOut, where + ": is an inout tensor");
        expect(type.shape.rank() == scratch.extents.size(), where + ": has an extent for each axis");
        for (const ValueId extent : scratch.extents) check_launch_int(extent, where);
        if (!scratch.initial) return;
        expect(visible_[scratch.initial->index] && kernel_.type(*scratch.initial) == Type::scalar(type.element),
               where + ": its initial value is a launch value of its type");
    }

    void check_phase(const Phase& phase) {
        const std::vector<ValueId>& offsets = kernel_[phase.block].arguments;
        expect(!phase.axes.empty() && offsets.size() == phase.axes.size(), "phase: has an offset for each axis");
        for (const GridAxis& axis : phase.axes) {
            for (const ValueId bound : {axis.lower, axis.upper, axis.step})
                check_launch_int(bound, "grid " + axis.name);
        }
        for (const ValueId offset : offsets) {
            expect(kernel_.type(offset) == Type::scalar(kInt), "phase: offsets are int");
        }
        check_block(phase.block, false);
    }

    /// The block's values are in scope only within.
    void check_block(BlockId id, bool in_host) {
        const Block& block = kernel_[id];
        for (const ValueId argument : block.arguments) {
            define(argument, "block argument");
            expect(kernel_[argument].block == id, "block argument: names another block as its own");
        }
        check_ops(id, in_host);
        for (const ValueId argument : block.arguments) visible_[argument.index] = false;
        for (const OpId op : block.ops) {
            for (const ValueId result : kernel_[op].results) visible_[result.index] = false;
        }
    }

    void check_ops(BlockId id, bool in_host) {
        const Block& block = kernel_[id];
        for (const OpId op : block.ops) {
            check_operands(op);
            const bool ends = block.parent.valid() && op == block.ops.back();
            if (kernel_[op].kind == OpKind::Yield && !ends) {
                fail(op, "stands only at the end of a block of a control op");
            }
            rules_.check(op, in_host);
            for (const BlockId inner : kernel_[op].blocks) check_block(inner, in_host);
            for (const ValueId result : kernel_[op].results) {
                if (visible_[result.index]) fail(op, "its result is defined already");
                visible_[result.index] = true;
            }
        }
    }

    void check_operands(OpId op) {
        for (const ValueId operand : kernel_[op].operands) {
            if (!visible_[operand.index]) fail(op, "uses a value that is not defined before it");
        }
    }

    const Kernel& kernel_;
    std::vector<std::string>& violations_;
    OpRules rules_;
    std::vector<bool> visible_;
};

/// Each key and value can be read back from its text. Which keys and values there are is the front end's to say.
void check_schedule(const Schedule& schedule, std::vector<std::string>& violations) {
    for (const auto& [key, value] : schedule) {
        const auto word = parse_schedule_value(key);
        if (word && !word->is_number() && word->numbers.empty() && parse_schedule_value(to_string(value)) == value) {
            continue;
        }
        violations.push_back(fmt::format("schedule: `{} = {}` is no key with a value", key, to_string(value)));
    }
    const auto order = schedule.find("grid_order");
    if (order != schedule.end() && order->second.word == "grouped" && order->second.numbers.size() != 1) {
        violations.push_back("schedule: `grouped` takes one number");
    }
}

}  // namespace

std::vector<std::string> verify(const Kernel& kernel) {
    std::vector<std::string> violations;
    check_schedule(kernel.schedule, violations);
    if (Structure(kernel, violations).check()) Scopes(kernel, violations).check();
    return violations;
}

void verify_or_throw(const Kernel& kernel, const std::string& pass) {
    const std::vector<std::string> violations = verify(kernel);
    if (violations.empty()) return;
    std::string text;
    for (const std::string& violation : violations) text += "\n  " + violation;
    throw support::InternalError(pass, "the kernel is malformed" + text);
}

}  // namespace kiln::ir
