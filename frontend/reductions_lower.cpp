// Reductions and dot.
#include <array>

#include "frontend/lowering.h"
#include "ir/support/internal_error.h"

namespace kiln::frontend {

namespace {

struct ReductionRow {
    std::string_view name;
    ir::ReduceKind kind;
};

constexpr auto kReductions = std::to_array<ReductionRow>({
    {"sum", ir::ReduceKind::Sum},
    {"min", ir::ReduceKind::Min},
    {"max", ir::ReduceKind::Max},
    {"minimum", ir::ReduceKind::Minimum},
    {"maximum", ir::ReduceKind::Maximum},
    {"any", ir::ReduceKind::Any},
    {"all", ir::ReduceKind::All},
});

struct PrecisionRow {
    std::string_view name;
    ir::DotPrecision precision;
};

constexpr auto kPrecisions = std::to_array<PrecisionRow>({
    {"exact", ir::DotPrecision::Exact},
    {"tf32", ir::DotPrecision::Tf32},
    {"tf32x3", ir::DotPrecision::Tf32x3},
    {"bf16x3", ir::DotPrecision::Bf16x3},
    {"fast", ir::DotPrecision::Fast},
});

/// What a reduction combines, for the message that refuses another type; empty if it takes the type.
std::string_view refused_class(ir::ReduceKind kind, ir::ScalarType element) {
    const ir::ScalarClass found = ir::scalar_class(element);
    switch (kind) {
        case ir::ReduceKind::Any:
        case ir::ReduceKind::All:
            return found == ir::ScalarClass::Bool ? "" : "bool";
        case ir::ReduceKind::Minimum:
        case ir::ReduceKind::Maximum:
            return found == ir::ScalarClass::Float ? "" : "real numbers";
        case ir::ReduceKind::Sum:
        case ir::ReduceKind::Min:
        case ir::ReduceKind::Max:
            return found == ir::ScalarClass::Bool || found == ir::ScalarClass::Storage ? "numbers" : "";
    }
    throw support::InternalError("frontend::refused_class", "unknown reduction");
}

/// Whether zeros beyond the edge change the result: they are neutral for sums only.
bool zeros_matter(ir::ReduceKind kind) {
    return kind != ir::ReduceKind::Sum && kind != ir::ReduceKind::Any;
}

bool wants_f32(ir::DotPrecision precision) {
    switch (precision) {
        case ir::DotPrecision::Tf32:
        case ir::DotPrecision::Tf32x3:
        case ir::DotPrecision::Bf16x3:
            return true;
        case ir::DotPrecision::Default:
        case ir::DotPrecision::Exact:
        case ir::DotPrecision::Fast:
            return false;
    }
    throw support::InternalError("frontend::wants_f32", "unknown precision");
}

}  // namespace

Value Lowerer::reduction_builtin(const Call& call) {
    if (!check_arguments(call, 1, 1, {"axis"})) return {};
    const std::optional<Value> tile = tile_argument(call, 0);
    if (!tile) return {};
    for (const ReductionRow& row : kReductions) {
        if (row.name == call.name) return reduce_tile(row.kind, *tile, call);
    }
    throw support::InternalError("frontend::reduction_builtin", "unknown reduction " + std::string(call.name));
}

Value Lowerer::reduce_tile(ir::ReduceKind kind, const Value& tile, const Call& call) {
    const std::string_view refused = refused_class(kind, element(tile));
    if (!refused.empty()) {
        error(diagnostics::kOperandClass, span(call.arguments[0]), fmt::format("`{}`", call.name), refused,
              type_text(tile));
        return {};
    }
    std::uint32_t axis = 0;
    ir::ValueId operand = tile.id;
    if (option(call, "axis")) {
        const std::optional<std::uint32_t> given = axis_option(call, shape(tile).rank());
        if (!given) return {};
        axis = *given;
    } else {
        builder_.set_span(call.span);
        operand = builder_.reshape(tile.id, ir::Shape{shape(tile).count()});
    }
    if (tile.zero_outside && zeros_matter(kind)) warn_zero_outside(tile, call);
    builder_.set_span(call.span);
    return Value::runtime(builder_.reduce(kind, operand, axis));
}

void Lowerer::warn_zero_outside(const Value& tile, const Call& call) {
    const std::string type = type_text(SurfaceType::of(ir::Type::scalar(element(tile))));
    const bool greatest = call.name == "max" || call.name == "maximum";
    error(diagnostics::kZeroOutside, span(call.arguments[0]), call.name)
        .help(greatest ? fmt::format("give `fill = lowest({})`", type) : "give a `fill` that is neutral");
}

std::optional<ir::DotPrecision> Lowerer::precision_option(const Call& call, ir::ScalarType element) {
    const std::optional<dsl::NodeId> given = option(call, "precision");
    if (!given) return ir::DotPrecision::Default;
    const std::string word = text(*given);
    for (const PrecisionRow& row : kPrecisions) {
        if (row.name != word) continue;
        if (!wants_f32(row.precision) || element == ir::ScalarType::F32) return row.precision;
        error(diagnostics::kOperandClass, span(*given), fmt::format("`precision = {}`", word), "f32 operands",
              type_text(SurfaceType::of(ir::Type::scalar(element))));
        return std::nullopt;
    }
    error(diagnostics::kOptionValue, span(*given), "precision", "`exact`, `tf32`, `tf32x3`, `bf16x3`, `fast`");
    return std::nullopt;
}

Value Lowerer::dot_builtin(const Call& call) {
    if (!check_arguments(call, 2, 2, {"precision"})) return {};
    const std::optional<Value> a = tile_argument(call, 0);
    const std::optional<Value> b = a ? tile_argument(call, 1) : std::nullopt;
    if (!b) return {};
    const ir::Shape rows = shape(*a), columns = shape(*b);
    if (rows.rank() != 2 || columns.rank() != 2 || rows[1] != columns[0]) {
        error(diagnostics::kDotShapes, call.span, type_text(*a), type_text(*b))
            .help("it takes [M, K] and [K, N] and gives [M, N]");
        return {};
    }
    const std::optional<ir::ScalarType> accumulator = ir::dot_accumulator(element(*a), element(*b));
    if (!accumulator) {
        error(diagnostics::kDotTypes, call.span, type_text(*a), type_text(*b))
            .help("convert one, so that both are of one real type, fp8, or 8-bit or 4-bit integers");
        return {};
    }
    const std::optional<ir::DotPrecision> precision = precision_option(call, element(*a));
    if (!precision) return {};
    builder_.set_span(call.span);
    const ir::Type result = ir::Type::tile(*accumulator, ir::Shape{rows[0], columns[1]});
    const ir::ValueId zero = builder_.splat(ir::Scalar{*accumulator, 0}, result);
    return Value::runtime(builder_.dot(a->id, b->id, zero, *precision));
}

}  // namespace kiln::frontend
