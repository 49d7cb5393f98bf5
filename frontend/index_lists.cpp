// Index lists: reads, writes and views of tensors, and parts of tiles.
#include <array>

#include "frontend/lowering.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

/// An index list as read, one entry an item that is no option.
struct Lowerer::IndexList {
    enum class Kind : std::uint8_t { Index, Slice, Gather, Range, Rest, NewAxis };
    struct Entry {
        Kind kind;
        dsl::NodeId node;
        ir::ValueId first, second;  ///< the index, start or tile; Range: lo and hi
        std::int64_t length = 0;    ///< Slice
    };
    std::vector<Entry> entries;
    std::size_t axis = 0;  ///< axes named so far
    dsl::NodeId fill = dsl::kNoNode, mask = dsl::kNoNode;
    bool is_view = false;
    bool may_clip = false;  ///< some element may lie outside
    ir::Shape shape;        ///< of the result, new axes included

    /// Options and operands as the IR wants them.
    ir::AccessAttribute access() const {
        ir::AccessAttribute access;
        for (const Entry& entry : entries) {
            switch (entry.kind) {
                case Kind::Index:
                    access.axes.push_back({ir::AxisKind::Index, 0});
                    break;
                case Kind::Slice:
                    access.axes.push_back({ir::AxisKind::Slice, entry.length});
                    break;
                case Kind::Gather:
                    access.axes.push_back({ir::AxisKind::Gather, 0});
                    break;
                case Kind::Range:
                    access.axes.push_back({ir::AxisKind::Range, 0});
                    break;
                case Kind::Rest:
                    access.axes.push_back({ir::AxisKind::All, 0});
                    break;
                case Kind::NewAxis:
                    break;
            }
        }
        return access;
    }
    std::vector<ir::ValueId> operands() const {
        std::vector<ir::ValueId> operands;
        for (const Entry& entry : entries) {
            if (entry.first.valid()) operands.push_back(entry.first);
            if (entry.second.valid()) operands.push_back(entry.second);
        }
        return operands;
    }
    ir::Shape gather_shape(const ir::Kernel& kernel) const {
        for (const Entry& entry : entries) {
            if (entry.kind == Kind::Gather) return kernel.type(entry.first).shape;
        }
        return {};
    }
};

Value Lowerer::index(const Value& indexed, dsl::NodeId list, support::Span whole) {
    if (indexed.is_runtime() && lift_ == nullptr && type(indexed).is_tile()) return index_tile(indexed, list, whole);
    if (indexed.kind != ValueKind::Tensor) {
        support::Diagnostic& diagnostic = error(diagnostics::kNotIndexable, whole, type_text(indexed));
        if (indexed.kind == ValueKind::Tuple)
            diagnostic.help("a name for each part takes a tuple apart: `let a, b = ...`");
        return {};
    }
    IndexList entries;
    if (!read_entries(*indexed.tensor, list, entries)) return {};
    builder_.set_span(whole);
    return entries.is_view ? view(*indexed.tensor, entries) : read(*indexed.tensor, entries, whole);
}

std::optional<ir::ValueId> Lowerer::as_int(const Value& value, support::Span at) {
    const Value known = materialise(value, at);
    if (known.poison()) return std::nullopt;
    if (!known.is_runtime() || !ir::is_integer(type(known).element)) {
        error(diagnostics::kOperandClass, at, "an index", "an integer", type_text(value));
        return std::nullopt;
    }
    return builder_.convert(ir::OpKind::Convert, known.id, ir::kInt);
}

std::optional<ir::ValueId> Lowerer::index_value(const Value& value, support::Span at) {
    const std::optional<ir::ValueId> id = as_int(value, at);
    if (!id || builder_.kernel().type(*id).is_scalar()) return id;
    error(diagnostics::kOperandClass, at, "a start or bound", "an integer", type_text(value));
    return std::nullopt;
}

std::optional<ir::ValueId> Lowerer::index_value(dsl::NodeId id) {
    return index_value(expression(id), span(id));
}

ir::ValueId Lowerer::size_value(const Tensor& tensor, std::size_t axis) {
    const std::int64_t fixed = builder_.kernel().type(tensor.value).shape[axis];
    if (fixed != ir::kDynamic) return builder_.constant_int(fixed);
    if (tensor.sizes[axis]) return *tensor.sizes[axis];
    return builder_.size(tensor.value, static_cast<std::uint32_t>(axis));
}

bool Lowerer::read_entries(const Tensor& tensor, dsl::NodeId list, IndexList& entries) {
    bool good = true;
    for (const dsl::NodeId item : children(list)) {
        const bool option = node(item).kind == dsl::NodeKind::Named;
        good &= option ? read_option(tensor, item, entries) : read_entry(tensor, item, entries);
    }
    return good && check_entries(tensor, list, entries) && gather_tiles(entries) && finish_shape(tensor, list, entries);
}

bool Lowerer::read_option(const Tensor&, dsl::NodeId item, IndexList& entries) {
    const dsl::Node& option = node(item);
    if (option.text != "fill" && option.text != "mask") {
        error(diagnostics::kUnknownIndexOption, option.name_span, option.text);
        return false;
    }
    (option.text == "fill" ? entries.fill : entries.mask) = item;
    return true;
}

bool Lowerer::read_entry(const Tensor& tensor, dsl::NodeId item, IndexList& entries) {
    using Kind = IndexList::Kind;
    switch (node(item).kind) {
        case dsl::NodeKind::NewAxis:
            entries.entries.push_back({Kind::NewAxis, item, {}, {}});
            return true;
        case dsl::NodeKind::All:
            return all_entry(tensor, item, entries);
        case dsl::NodeKind::Slice:
            return slice_entry(tensor, item, entries);
        case dsl::NodeKind::Rest:
            entries.entries.push_back({Kind::Rest, item, {}, {}});
            ++entries.axis;
            return true;
        case dsl::NodeKind::Between: {
            const auto lower = index_value(child(item, 0)), upper = index_value(child(item, 1));
            if (!lower || !upper) return false;
            entries.entries.push_back({Kind::Range, item, *lower, *upper});
            ++entries.axis;
            return true;
        }
        default:
            break;
    }
    const std::optional<ir::ValueId> id = as_int(expression(item), span(item));
    if (!id) return false;
    const bool tile = builder_.kernel().type(*id).is_tile();
    entries.entries.push_back({tile ? Kind::Gather : Kind::Index, item, *id, {}});
    entries.may_clip |= tile;
    ++entries.axis;
    return true;
}

bool Lowerer::slice_entry(const Tensor& tensor, dsl::NodeId item, IndexList& entries) {
    if (refuse_lifted("a tile", span(item))) return false;
    const Value start = expression(child(item, 0));
    const auto first = index_value(start, span(child(item, 0)));
    const auto length = constant_int(child(item, 1), "the length of a slice");
    if (!first || !length) return false;
    if (*length < 1) {
        error(diagnostics::kExtent, span(child(item, 1)), *length);
        return false;
    }
    const ir::Shape& sizes = builder_.kernel().type(tensor.value).shape;
    const std::int64_t size = entries.axis < sizes.rank() ? sizes[entries.axis] : ir::kDynamic;
    const bool inside = start.is_constant() && size != ir::kDynamic && start.constant.scalar.as_int64() >= 0 &&
                        start.constant.scalar.as_int64() <= size - *length;
    entries.may_clip |= !inside;
    entries.entries.push_back({IndexList::Kind::Slice, item, *first, {}, *length});
    ++entries.axis;
    return true;
}

bool Lowerer::all_entry(const Tensor& tensor, dsl::NodeId item, IndexList& entries) {
    if (refuse_lifted("a tile", span(item))) return false;
    const ir::Shape sizes = builder_.kernel().type(tensor.value).shape;  // a copy: new values move the old ones
    const std::size_t axis = entries.axis++;
    if (axis >= sizes.rank()) return true;  // check_entries says that there are too many
    if (sizes[axis] == ir::kDynamic) {
        error(diagnostics::kColonSize, span(item)).help("declare `<N: int>`, or loop with `j :+ BLOCK`");
        return false;
    }
    if (sizes[axis] < 1) {
        error(diagnostics::kExtent, span(item), sizes[axis]);
        return false;
    }
    entries.entries.push_back({IndexList::Kind::Slice, item, builder_.constant_int(0), {}, sizes[axis]});
    return true;
}

bool Lowerer::check_entries(const Tensor& tensor, dsl::NodeId list, IndexList& entries) {
    using Kind = IndexList::Kind;
    const std::size_t rank = builder_.kernel().type(tensor.value).shape.rank();
    const IndexList::Entry* not_of_view = nullptr;
    bool ranges = false;
    for (const IndexList::Entry& entry : entries.entries) {
        ranges |= entry.kind == Kind::Range || entry.kind == Kind::Rest;
        const bool fits = entry.kind == Kind::Index || entry.kind == Kind::Range || entry.kind == Kind::Rest;
        if (!fits && not_of_view == nullptr) not_of_view = &entry;
    }
    if (entries.axis > rank || (entries.axis < rank && !ranges && not_of_view != nullptr)) {
        support::Diagnostic& wrong = error(diagnostics::kAxesNamed, span(list), tensor.name, rank,
                                           rank == 1 ? "axis" : "axes", entries.axis, entries.axis == 1 ? "is" : "are");
        if (entries.axis < rank) wrong.help("add `:` or `j :+ L`");
        return false;
    }
    entries.is_view = ranges || entries.axis < rank;
    const dsl::NodeId option = entries.fill != dsl::kNoNode ? entries.fill : entries.mask;
    if (!entries.is_view || (not_of_view == nullptr && option == dsl::kNoNode)) return true;
    const dsl::NodeId wrong = not_of_view != nullptr ? not_of_view->node : option;
    error(diagnostics::kViewEntry, span(wrong), text(wrong)).help("read from the view with a second index list");
    return false;
}

bool Lowerer::gather_tiles(IndexList& entries) {
    using Kind = IndexList::Kind;
    std::vector<Operand> tiles;
    for (const IndexList::Entry& entry : entries.entries) {
        if (entry.kind == Kind::Gather) tiles.push_back({Value::runtime(entry.first), span(entry.node)});
    }
    if (tiles.size() < 2) return true;
    const std::optional<ir::Shape> shape = common_shape(tiles, "gather", tiles.back().span);
    if (!shape) return false;
    for (IndexList::Entry& entry : entries.entries) {
        if (entry.kind == Kind::Gather) entry.first = builder_.broadcast(entry.first, *shape);
    }
    return true;
}

bool Lowerer::finish_shape(const Tensor&, dsl::NodeId list, IndexList& entries) {
    using Kind = IndexList::Kind;
    const ir::Shape gather = entries.gather_shape(builder_.kernel());
    std::vector<std::int64_t> extents;
    bool gathered = false;
    for (const IndexList::Entry& entry : entries.entries) {
        if (entry.kind == Kind::Slice) extents.push_back(entry.length);
        if (entry.kind == Kind::NewAxis) extents.push_back(1);
        if (entry.kind != Kind::Gather || gathered) continue;
        extents.insert(extents.end(), gather.begin(), gather.end());
        gathered = true;
    }
    if (extents.size() > ir::kMaxRank) {
        error(diagnostics::kTooManyAxes, span(list), ir::kMaxRank);
        return false;
    }
    entries.shape = ir::Shape(extents);
    return check_shape(entries.shape, span(list));
}

Value Lowerer::view(const Tensor& tensor, IndexList& entries) {
    const std::size_t rank = builder_.kernel().type(tensor.value).shape.rank();
    while (entries.axis < rank) {
        entries.entries.push_back({IndexList::Kind::Rest, dsl::kNoNode, {}, {}});
        ++entries.axis;
    }
    Tensor& result = tensors_.emplace_back();
    result.value = builder_.view(tensor.value, entries.access(), entries.operands());
    result.access = tensor.access;
    result.name = tensor.name;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        if (entries.entries[axis].kind == IndexList::Kind::Rest) result.sizes.push_back(tensor.sizes[axis]);
        if (entries.entries[axis].kind == IndexList::Kind::Range) result.sizes.push_back(std::nullopt);
    }
    return Value::of(result);
}

std::optional<ir::ValueId> Lowerer::fill_option(const Tensor& tensor, const IndexList& entries) {
    const ir::ScalarType element = builder_.kernel().type(tensor.value).element;
    if (entries.fill == dsl::kNoNode) return builder_.constant(ir::Scalar{element, 0});
    const dsl::NodeId given = child(entries.fill, 0);
    Value value = expression(given);
    if (value.is_runtime() && lift_ != nullptr && type(value).is_tile()) {
        unsupported("a `fill` that differs from element to element", span(given));
        return std::nullopt;
    }
    value = coerce(value, SurfaceType::of(ir::Type::scalar(element)), false, span(given), "`fill`");
    value = materialise(value, span(given));
    return value.poison() ? std::nullopt : std::optional(value.id);
}

bool Lowerer::mask_option(const IndexList& entries, std::optional<ir::ValueId>& mask) {
    if (entries.mask == dsl::kNoNode) return true;
    const dsl::NodeId given = child(entries.mask, 0);
    const ir::Type wanted = ir::Type::tile(ir::ScalarType::Bool, entries.shape);
    const Value value =
        materialise(coerce(expression(given), SurfaceType::of(wanted), true, span(given), "`mask`"), span(given));
    if (value.poison()) return false;
    mask = builder_.reshape(value.id, ir::access_shape(entries.access(), entries.gather_shape(builder_.kernel())));
    return true;
}

Value Lowerer::read(const Tensor& tensor, IndexList& entries, support::Span whole) {
    if (tensor.access == ir::Access::Out) {
        error(diagnostics::kOutRead, whole, tensor.name).help("declare it `inout`");
        return {};
    }
    const std::optional<ir::ValueId> fill = fill_option(tensor, entries);
    std::optional<ir::ValueId> mask;
    if (!fill || !mask_option(entries, mask)) return {};
    builder_.set_span(whole);
    const ir::ValueId loaded = builder_.load(tensor.value, entries.access(), entries.operands(), *fill, mask);
    Value value = Value::runtime(builder_.reshape(loaded, entries.shape));
    value.zero_outside = entries.may_clip && entries.fill == dsl::kNoNode && !entries.shape.empty();
    return value;
}

void Lowerer::store(const Tensor& tensor, dsl::NodeId list, const Value& value, support::Span value_span,
                    support::Span whole) {
    if (tensor.access == ir::Access::In) {
        error(diagnostics::kInWritten, whole, tensor.name).help("declare it `out` or `inout`");
        return;
    }
    if (refuse_lifted("a write", whole)) return;
    IndexList entries;
    if (!read_entries(tensor, list, entries) || value.poison()) return;
    for (const IndexList::Entry& entry : entries.entries) {
        if (entry.kind != IndexList::Kind::NewAxis) continue;
        error(diagnostics::kNewAxisWritten, span(entry.node));
        return;
    }
    if (entries.is_view || entries.fill != dsl::kNoNode) {
        const bool view = entries.is_view;
        error(diagnostics::kWriteEntry, view ? whole : span(entries.fill), view ? "a view" : "`fill`")
            .help(view ? "name every axis, with `:` or `i :+ L`" : "elements outside are not written");
        return;
    }
    std::optional<ir::ValueId> mask;
    const ir::Type wanted = ir::Type::tile(builder_.kernel().type(tensor.value).element, entries.shape);
    const Value stored = materialise(
        coerce(value, SurfaceType::of(wanted), true, value_span, fmt::format("the place in `{}`", tensor.name)),
        value_span);
    if (stored.poison() || !mask_option(entries, mask)) return;
    builder_.set_span(whole);
    builder_.store(tensor.value, entries.access(), entries.operands(), stored.id, mask);
}

namespace {

struct AtomicRow {
    std::string_view name;
    ir::AtomicKind kind;
};

constexpr auto kAtomics = std::to_array<AtomicRow>({
    {"atomic_add", ir::AtomicKind::Add},
    {"atomic_min", ir::AtomicKind::Min},
    {"atomic_max", ir::AtomicKind::Max},
    {"atomic_and", ir::AtomicKind::And},
    {"atomic_or", ir::AtomicKind::Or},
    {"atomic_xor", ir::AtomicKind::Xor},
    {"atomic_exchange", ir::AtomicKind::Exchange},
    {"atomic_cas", ir::AtomicKind::Cas},
});

ir::AtomicKind atomic_named(std::string_view name) {
    for (const AtomicRow& row : kAtomics) {
        if (row.name == name) return row.kind;
    }
    throw support::InternalError("frontend::atomic_builtin", "unknown atomic " + std::string(name));
}

}  // namespace

std::optional<bool> Lowerer::order_option(const Call& call) {
    const std::optional<dsl::NodeId> given = option(call, "order");
    if (!given) return false;
    const std::string word = text(*given);
    if (word == "relaxed" || word == "acq_rel") return word == "acq_rel";
    error(diagnostics::kOptionValue, span(*given), "order", "`relaxed`, `acq_rel`");
    return std::nullopt;
}

Value Lowerer::atomic_builtin(const Call& call) {
    ir::AtomicAttribute atomic;
    atomic.kind = atomic_named(call.name);
    const std::size_t count = atomic.kind == ir::AtomicKind::Cas ? 3 : 2;
    if (!check_arguments(call, count, count, {"order"}) || refuse_lifted("an atomic", call.span)) return {};
    const std::optional<bool> publishes = order_option(call);
    const dsl::NodeId target = call.arguments[0];
    const bool indexed =
        node(target).kind == dsl::NodeKind::Suffixed && node(children(target).back()).kind == dsl::NodeKind::Index;
    const Value place = indexed ? suffixed(target, children(target).size() - 1) : expression(target);
    if (place.poison() || !publishes) return {};
    if (!indexed || place.kind != ValueKind::Tensor) {
        error(diagnostics::kOperandClass, span(target), fmt::format("`{}`", call.name), "a place in a tensor",
              indexed ? "a part of a tile" : type_text(place));
        return {};
    }
    atomic.publishes = *publishes;
    return atomic_at(*place.tensor, children(target).back(), std::move(atomic), call);
}

Value Lowerer::atomic_at(const Tensor& tensor, dsl::NodeId list, ir::AtomicAttribute atomic, const Call& call) {
    const support::Span target = span(call.arguments[0]);
    const ir::ScalarType element = builder_.kernel().type(tensor.value).element;
    if (tensor.access == ir::Access::In) {
        error(diagnostics::kInWritten, target, tensor.name).help("declare it `out` or `inout`");
        return {};
    }
    if (!ir::atomic_updates(atomic.kind, element)) {
        error(diagnostics::kOperandClass, target, fmt::format("`{}`", call.name), ir::atomic_types(atomic.kind),
              ir::name(element));
        return {};
    }
    IndexList entries;
    if (!read_entries(tensor, list, entries)) return {};
    if (entries.is_view) {
        error(diagnostics::kWriteEntry, target, "a view").help("name every axis, with `:` or `i :+ L`");
        return {};
    }
    for (const IndexList::Entry& entry : entries.entries) {
        if (entry.kind != IndexList::Kind::NewAxis) continue;
        error(diagnostics::kNewAxisWritten, span(entry.node));
        return {};
    }
    const ir::Type wanted = ir::Type::tile(element, entries.shape);
    std::vector<ir::ValueId> values;
    for (std::size_t i = 1; i < call.arguments.size(); ++i) {
        const support::Span at = span(call.arguments[i]);
        const std::string what = fmt::format("the place in `{}`", tensor.name);
        const Value value = coerce(expression(call.arguments[i]), SurfaceType::of(wanted), true, at, what);
        if (value.poison()) return {};
        values.push_back(materialise(value, at).id);
    }
    const std::optional<ir::ValueId> fill = fill_option(tensor, entries);
    std::optional<ir::ValueId> mask;
    if (!fill || !mask_option(entries, mask)) return {};
    builder_.set_span(call.span);
    atomic.access = entries.access();
    Value old = Value::runtime(
        builder_.atomic(tensor.value, std::move(atomic), entries.operands(), std::move(values), *fill, mask));
    old.may_drop = true;
    return old;
}

/// The part of a tile that an index list names: where it begins and how long it is along each axis of the tile, and the
/// extents of the result.
struct Lowerer::TilePart {
    ir::Shape starts, lengths;
    std::vector<std::int64_t> extents;
};

bool Lowerer::tile_entry(const ir::Shape& have, dsl::NodeId item, TilePart& part) {
    const dsl::NodeKind kind = node(item).kind;
    if (kind == dsl::NodeKind::Named || kind == dsl::NodeKind::Between || kind == dsl::NodeKind::Rest) {
        error(diagnostics::kTileEntry, span(item), text(item));
        return false;
    }
    const std::int64_t size = have[part.lengths.rank()];
    const bool slice = kind == dsl::NodeKind::Slice;
    std::optional<std::int64_t> first = 0, length = kind == dsl::NodeKind::All ? size : 1;
    if (kind != dsl::NodeKind::All) {
        const dsl::NodeId at = slice ? child(item, 0) : item;
        const Value start = expression(at);
        if (start.is_runtime()) {
            error(diagnostics::kTileIndex, span(at)).help("reduce (value, index) pairs");
            return false;
        }
        first = constant_int(start, span(at), "the index of a tile");
        if (slice) length = constant_int(child(item, 1), "the length of a slice");
    }
    if (!first || !length) return false;
    if (*length < 1 || *first < 0 || *first > size - *length) {
        error(diagnostics::kTileRange, span(item), *first, *first + *length, size);
        return false;
    }
    part.starts.push_back(*first);
    part.lengths.push_back(*length);
    if (slice || kind == dsl::NodeKind::All) part.extents.push_back(*length);
    return true;
}

Value Lowerer::index_tile(const Value& tile, dsl::NodeId list, support::Span whole) {
    const ir::Shape have = shape(tile);
    std::size_t named = 0;
    for (const dsl::NodeId item : children(list)) named += node(item).kind != dsl::NodeKind::NewAxis;
    if (named != have.rank()) {
        support::Diagnostic& wrong = error(diagnostics::kAxesNamed, span(list), "the tile", have.rank(),
                                           have.rank() == 1 ? "axis" : "axes", named, named == 1 ? "is" : "are");
        if (named < have.rank()) wrong.help("add `:`");
        return {};
    }
    TilePart part;
    for (const dsl::NodeId item : children(list)) {
        if (node(item).kind == dsl::NodeKind::NewAxis) {
            part.extents.push_back(1);
        } else if (!tile_entry(have, item, part)) {
            return {};
        }
    }
    if (part.extents.size() > ir::kMaxRank) {
        error(diagnostics::kTooManyAxes, span(list), ir::kMaxRank);
        return {};
    }
    builder_.set_span(whole);
    return Value::runtime(
        builder_.reshape(builder_.extract(tile.id, part.starts, part.lengths), ir::Shape(part.extents)));
}

}  // namespace kiln::frontend
