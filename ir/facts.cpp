#include "ir/facts.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "ir/limits.h"
#include "ir/support/internal_error.h"

namespace kiln::ir {

namespace {

__extension__ typedef __int128 Wide;  // holds every product of two 64-bit values

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();

/// Whether an op's result has no other elements than its operand.
bool moves_elements(OpKind kind) {
    return kind == OpKind::Broadcast || kind == OpKind::Reshape || kind == OpKind::Permute || kind == OpKind::Extract;
}

bool has_facts(ScalarType type) {
    return is_integer(type) || type == ScalarType::Bool;
}

/// A u64 of which the top bit may be set: its order is not that of the i64 of the same bits.
bool is_opaque(ScalarType type, const Fact& fact) {
    return type == ScalarType::U64 && fact.lo < 0;
}

std::int64_t gcd(std::int64_t a, std::int64_t b) {
    return std::gcd(a, b);
}

std::int64_t magnitude_divisor(std::int64_t value) {
    if (value == kLeast) return std::int64_t{1} << 62;  // |value| is no int64
    return value < 0 ? -value : value;
}

/// The part of a divisor that stays one modulo 2^width.
std::int64_t power_of_two_part(std::int64_t divisor, int width) {
    const int power = divisor == 0 ? 62 : std::countr_zero(static_cast<std::uint64_t>(divisor));
    return std::int64_t{1} << std::min({power, width, 62});
}

std::int64_t floor_divide(Wide a, Wide b) {
    return static_cast<std::int64_t>(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

/// Draws the bounds in to multiples of the divisor.
Fact tightened(Fact fact) {
    if (fact.divisor == 0) return {0, 0, 0};
    const Wide low = -Wide(floor_divide(-Wide(fact.lo), fact.divisor)) * fact.divisor;
    const Wide high = Wide(floor_divide(fact.hi, fact.divisor)) * fact.divisor;
    if (low > high || low < kLeast || high > kGreatest) return fact;
    return {static_cast<std::int64_t>(low), static_cast<std::int64_t>(high), fact.divisor};
}

/// A result whose exact value lies in [lo, hi]; everything the type holds where that may wrap.
Fact wrapped(ScalarType type, Wide lo, Wide hi, std::int64_t divisor) {
    const Fact full = full_range(type);
    const std::int64_t least = type == ScalarType::U64 ? 0 : full.lo;
    if (lo >= least && hi <= full.hi) {
        return tightened({static_cast<std::int64_t>(lo), static_cast<std::int64_t>(hi), divisor});
    }
    return {full.lo, full.hi, power_of_two_part(divisor, bit_width(type))};
}

Fact constant_fact(std::int64_t value) {
    return {value, value, magnitude_divisor(value)};
}

Fact flag(bool surely, bool never) {
    return {surely ? 1 : 0, never ? 0 : 1, 1};
}

Fact join(const Fact& a, const Fact& b) {
    return {std::min(a.lo, b.lo), std::max(a.hi, b.hi), gcd(a.divisor, b.divisor)};
}

/// Whether no value is in both.
bool apart(const Fact& a, const Fact& b) {
    return a.hi < b.lo || b.hi < a.lo;
}

std::int64_t ilog2(std::int64_t value) {
    return value <= 0 ? -1 : std::bit_width(static_cast<std::uint64_t>(value)) - 1;
}

Fact product(ScalarType type, const Fact& a, const Fact& b) {
    const auto [lo, hi] = std::minmax({Wide(a.lo) * b.lo, Wide(a.lo) * b.hi, Wide(a.hi) * b.lo, Wide(a.hi) * b.hi});
    const Wide divisor = Wide(a.divisor) * b.divisor;
    return wrapped(type, lo, hi, divisor <= kGreatest ? static_cast<std::int64_t>(divisor) : a.divisor);
}

enum class Rounding { Truncate, Down, Up };

std::int64_t divided(std::int64_t a, std::int64_t b, Rounding rounding) {
    switch (rounding) {
        case Rounding::Truncate:
            return a / b;
        case Rounding::Down:
            return floor_divide(a, b);
        case Rounding::Up:
            return static_cast<std::int64_t>(-Wide(floor_divide(-Wide(a), b)));
    }
    throw support::InternalError("ir::Facts", "unknown rounding");
}

/// Only positive divisors say something; all three roundings grow with the dividend and shrink with the divisor.
Fact quotient(ScalarType type, const Fact& a, const Fact& b, Rounding rounding) {
    if (b.lo <= 0) return full_range(type);
    const auto at = [&](std::int64_t x, std::int64_t y) { return divided(x, y, rounding); };
    const auto [lo, hi] = std::minmax({at(a.lo, b.lo), at(a.lo, b.hi), at(a.hi, b.lo), at(a.hi, b.hi)});
    const bool exact = b.lo == b.hi && a.divisor % b.lo == 0;
    return wrapped(type, lo, hi, exact ? a.divisor / b.lo : 1);
}

Fact remainder(ScalarType type, const Fact& a, const Fact& b) {
    if (b.lo <= 0) return full_range(type);
    const std::int64_t divisor = gcd(a.divisor, b.divisor);
    if (b.lo == b.hi && a.divisor % b.lo == 0) return constant_fact(0);
    if (a.lo >= 0 && a.hi < b.lo) return a;
    const std::int64_t least = a.lo >= 0 ? 0 : std::max(a.lo, 1 - b.hi);
    const std::int64_t greatest = a.hi <= 0 ? 0 : std::min(a.hi, b.hi - 1);
    return wrapped(type, least, greatest, divisor);
}

Fact modulus(ScalarType type, const Fact& a, const Fact& b) {
    if (b.lo <= 0) return full_range(type);
    if (a.lo >= 0) return remainder(type, a, b);
    if (b.lo == b.hi && a.divisor % b.lo == 0) return constant_fact(0);
    return wrapped(type, 0, b.hi - 1, gcd(a.divisor, b.divisor));
}

Fact absolute(ScalarType type, const Fact& a) {
    const Wide low = a.lo >= 0 ? Wide(a.lo) : a.hi <= 0 ? -Wide(a.hi) : Wide(0);
    return wrapped(type, low, std::max(-Wide(a.lo), Wide(a.hi)), a.divisor);
}

/// Bits common to all of a multiple's low end stay zero.
Fact conjunction(ScalarType type, const Fact& a, const Fact& b) {
    const std::int64_t divisor =
        std::max(power_of_two_part(a.divisor, bit_width(type)), power_of_two_part(b.divisor, bit_width(type)));
    if (a.lo < 0 && b.lo < 0) return {full_range(type).lo, full_range(type).hi, divisor};
    const std::int64_t greatest = a.lo < 0 ? b.hi : b.lo < 0 ? a.hi : std::min(a.hi, b.hi);
    return wrapped(type, 0, greatest, divisor);
}

Fact disjunction(ScalarType type, const Fact& a, const Fact& b) {
    if (a.lo < 0 || b.lo < 0) return full_range(type);
    const auto width = std::bit_width(static_cast<std::uint64_t>(std::max(a.hi, b.hi)));
    const std::int64_t divisor =
        std::min(power_of_two_part(a.divisor, bit_width(type)), power_of_two_part(b.divisor, bit_width(type)));
    return wrapped(type, 0, (Wide(1) << width) - 1, divisor);
}

Fact shifted_left(ScalarType type, const Fact& a, const Fact& b) {
    if (b.lo < 0 || b.hi >= bit_width(type)) return full_range(type);
    const Wide least = Wide(1) << b.lo;
    const Wide greatest = Wide(1) << b.hi;
    const auto [lo, hi] = std::minmax({a.lo * least, a.lo * greatest, a.hi * least, a.hi * greatest});
    const Wide divisor = a.divisor * least;
    return wrapped(type, lo, hi, divisor <= kGreatest ? static_cast<std::int64_t>(divisor) : a.divisor);
}

Fact shifted_right(ScalarType type, const Fact& a, const Fact& b) {
    if (b.lo < 0 || b.hi >= bit_width(type)) return full_range(type);
    const auto [lo, hi] = std::minmax({a.lo >> b.lo, a.lo >> b.hi, a.hi >> b.lo, a.hi >> b.hi});
    return wrapped(type, lo, hi, 1);
}

/// The values lower, lower + step, ... below upper: of a loop that runs, or of a grid.
Fact counted(const Fact& lower, const Fact& upper, const Fact& step) {
    const std::int64_t highest = upper.hi == kLeast ? kLeast : upper.hi - 1;
    Fact index{lower.lo, std::max(highest, lower.lo), gcd(lower.divisor, step.divisor)};
    if (lower.lo == lower.hi && step.lo == step.hi && step.lo > 0) {
        const Wide steps = (Wide(index.hi) - lower.lo) / step.lo;
        index.hi = static_cast<std::int64_t>(lower.lo + steps * step.lo);
    }
    return tightened(index);
}

}  // namespace

Fact full_range(ScalarType type) {
    if (type == ScalarType::Bool) return {0, 1, 1};
    if (!is_integer(type) || bit_width(type) == 64) return {};
    const int width = bit_width(type);
    const std::int64_t half = std::int64_t{1} << (width - 1);
    return is_signed(type) ? Fact{-half, half - 1, 1} : Fact{0, 2 * half - 1, 1};
}

/// One walk in program order: every operand's facts stand before they are asked for.
class FactsAnalysis {
public:
    FactsAnalysis(const Kernel& kernel, Facts& facts)
        : kernel_(kernel), facts_(facts.facts_), indices_(facts.indices_) {}

    void run() {
        facts_.reserve(kernel_.values.size());
        for (const Value& value : kernel_.values) facts_.push_back(full_range(value.type.element));
        indices_.resize(kernel_.values.size());
        uppers_.resize(kernel_.values.size());
        for (std::size_t i = 0; i < kernel_.values.size(); ++i) {
            if (kernel_.values[i].type.is_scalar()) indices_[i] = {Facts::Pattern::Uniform, 0};
        }
        for (const SizeBinding& size : kernel_.sizes) (*this)[size.value] = size_fact(size);
        visit(kernel_.host);
        for (const Phase& phase : kernel_.phases) {
            const std::vector<ValueId>& offsets = kernel_[phase.block].arguments;
            for (std::size_t i = 0; i < phase.axes.size(); ++i) {
                const GridAxis& axis = phase.axes[i];
                (*this)[offsets[i]] = counted((*this)[axis.lower], (*this)[axis.upper], (*this)[axis.step]);
                uppers_[offsets[i].index] = axis.upper;
            }
            visit(phase.block);
        }
    }

private:
    Fact& operator[](ValueId value) { return facts_[value.index]; }
    Facts::Index& index(ValueId value) { return indices_[value.index]; }
    const Shape& shape(ValueId value) const { return kernel_.type(value).shape; }

    Fact extent_fact() const { return {0, kernel_.fits_32_bits ? kLargestNarrowExtent : kLargestExtent, 1}; }

    /// extent = size * scale + offset, with size >= 0.
    Fact size_fact(const SizeBinding& size) const {
        Fact fact{0, kGreatest, size.divisor};
        if (size.scale > 0) {
            const Wide highest = (Wide(extent_fact().hi) - size.offset) / size.scale;
            fact.hi = static_cast<std::int64_t>(std::clamp(highest, Wide(0), Wide(kGreatest)));
        }
        return tightened(fact);
    }

    void visit(BlockId block) {
        for (const OpId op : kernel_[block].ops) visit(kernel_[op]);
    }

    void visit(const Op& op) {
        if (op.kind == OpKind::For) return visit_for(op);
        if (op.kind == OpKind::While) return visit_while(op);
        if (op.kind == OpKind::If) return visit_if(op);
        visit_plain(op);
    }

    void visit_for(const Op& op) {
        const Block& body = kernel_[op.blocks.front()];
        const ValueId index = body.arguments.front();
        (*this)[index] = counted((*this)[op.operands[0]], (*this)[op.operands[1]], (*this)[op.operands[2]]);
        uppers_[index.index] = op.operands[1];
        visit(op.blocks.front());
        const Op& yield = kernel_[body.ops.back()];
        for (std::size_t i = 0; i < op.results.size(); ++i) {
            (*this)[op.results[i]] = join((*this)[op.operands[i + 3]], (*this)[yield.operands[i]]);
        }
    }

    /// Results and the second block's arguments are what the first block yields behind the condition.
    void visit_while(const Op& op) {
        visit(op.blocks[0]);
        const Op& yield = kernel_[kernel_[op.blocks[0]].ops.back()];
        for (std::size_t i = 0; i < op.results.size(); ++i) {
            (*this)[op.results[i]] = (*this)[yield.operands[i + 1]];
            (*this)[kernel_[op.blocks[1]].arguments[i]] = (*this)[yield.operands[i + 1]];
        }
        visit(op.blocks[1]);
    }

    void visit_if(const Op& op) {
        for (const BlockId block : op.blocks) visit(block);
        const Op& first = kernel_[kernel_[op.blocks[0]].ops.back()];
        const Op& second = kernel_[kernel_[op.blocks[1]].ops.back()];
        for (std::size_t i = 0; i < op.results.size(); ++i) {
            (*this)[op.results[i]] = join((*this)[first.operands[i]], (*this)[second.operands[i]]);
        }
    }

    void visit_plain(const Op& op) {
        if (op.results.size() != 1) return;
        const Type& type = kernel_.type(op.result());
        if (type.is_tensor()) return;
        if (type.is_tile()) index(op.result()) = pattern(op);
        if (has_facts(type.element)) (*this)[op.result()] = value_fact(op, type.element);
    }

    Fact value_fact(const Op& op, ScalarType type) {
        if (is_elementwise(op.kind)) return elementwise_fact(op, type);
        if (op.kind == OpKind::Constant) return constant_fact(attribute<Scalar>(op).as_int64());
        if (op.kind == OpKind::Iota) return {0, shape(op.result())[0] - 1, shape(op.result())[0] == 1 ? 0 : 1};
        if (op.kind == OpKind::Size) return length_fact(op);
        if (op.kind == OpKind::Units) return {1, std::numeric_limits<std::int32_t>::max(), 1};
        if (op.kind == OpKind::Reduce) return reduce_fact(op, type);
        return moves_elements(op.kind) ? (*this)[op.operands[0]] : full_range(type);
    }

    Fact length_fact(const Op& op) const {
        const std::int64_t length = shape(op.operands[0])[attribute<AxisAttribute>(op).axis];
        return length == kDynamic ? extent_fact() : constant_fact(length);
    }

    Fact reduce_fact(const Op& op, ScalarType type) {
        const Fact& fact = (*this)[op.operands[0]];
        const auto& [kind, axis] = attribute<ReduceAttribute>(op);
        if (kind != ReduceKind::Sum) return fact;
        if (is_opaque(type, fact)) return full_range(type);
        const std::int64_t count = shape(op.operands[0])[axis];
        return wrapped(type, Wide(fact.lo) * count, Wide(fact.hi) * count, fact.divisor);
    }

    Fact elementwise_fact(const Op& op, ScalarType type) {
        const ScalarType from = kernel_.type(op.operands.front()).element;
        if (op.kind == OpKind::Select) return select_fact(op);
        if (op.kind == OpKind::Convert || op.kind == OpKind::Saturate) return conversion_fact(op, from, type);
        if (!has_facts(from)) return full_range(type);
        if (op.kind == OpKind::Less && is_below_bound(op.operands[0], op.operands[1])) return constant_fact(1);
        if (op.kind == OpKind::Greater && is_below_bound(op.operands[1], op.operands[0])) return constant_fact(1);
        const Fact& a = (*this)[op.operands.front()];
        const Fact& b = (*this)[op.operands.back()];
        if (is_opaque(from, a) || is_opaque(from, b)) return opaque_fact(op.kind, type, a, b);
        return exact_fact(op.kind, type, a, b);
    }

    /// The scalar or tile whose elements the value repeats or moves.
    ValueId source(ValueId value) const {
        const Op* op = kernel_.definition(value);
        while (op != nullptr && moves_elements(op->kind)) {
            value = op->operands[0];
            op = kernel_.definition(value);
        }
        return value;
    }

    /// Whether `value` is index + rest with rest in 0 ... g - 1, where g divides the index as well as its upper bound
    /// `bound`: the index is then at most bound - g, and nothing wraps. This decides the mask `j + iota(L) < N`.
    bool is_below_bound(ValueId value, ValueId bound) {
        const ValueId upper = source(bound);
        if (!kernel_.type(upper).is_scalar()) return false;
        const ValueId whole = source(value);
        if (stays_below(whole, upper)) return true;
        const Op* sum = kernel_.definition(whole);
        if (sum == nullptr || sum->kind != OpKind::Add) return false;
        return is_below_bound(sum->operands[0], sum->operands[1], upper) ||
               is_below_bound(sum->operands[1], sum->operands[0], upper);
    }
    /// Whether an index has this upper bound, or the lesser of it and others.
    bool stays_below(ValueId index, ValueId upper) const {
        ValueId bound = uppers_[index.index];
        for (const Op* op = nullptr; bound.valid() && bound != upper; bound = op->operands[1]) {
            op = kernel_.definition(bound);
            if (op == nullptr || op->kind != OpKind::Min) return false;
            if (op->operands[0] == upper) return true;
        }
        return bound.valid();
    }
    bool is_below_bound(ValueId index, ValueId rest, ValueId upper) {
        const ValueId start = source(index);
        if (!stays_below(start, upper)) return false;
        const std::int64_t common = gcd((*this)[start].divisor, (*this)[upper].divisor);
        return (*this)[rest].lo >= 0 && (*this)[rest].hi < common;
    }

    /// What holds of bits, whatever their order.
    static Fact opaque_fact(OpKind kind, ScalarType type, const Fact& a, const Fact& b) {
        Fact fact = full_range(type);
        const bool wraps = kind == OpKind::Add || kind == OpKind::Sub || kind == OpKind::Mul;
        if (wraps) fact.divisor = power_of_two_part(gcd(a.divisor, b.divisor), 62);
        if (kind == OpKind::And) return conjunction(type, a, b);
        if (kind == OpKind::Popcount || kind == OpKind::Clz) return {0, 64, 1};
        if (kind == OpKind::IsNan || kind == OpKind::IsInf) return flag(false, true);
        return fact;
    }

    Fact select_fact(const Op& op) {
        const Fact& condition = (*this)[op.operands[0]];
        if (condition.lo == 1) return (*this)[op.operands[1]];
        if (condition.hi == 0) return (*this)[op.operands[2]];
        return join((*this)[op.operands[1]], (*this)[op.operands[2]]);
    }

    Fact conversion_fact(const Op& op, ScalarType from, ScalarType to) {
        if (!has_facts(from) || !is_integer(to)) return full_range(to);
        const Fact& fact = (*this)[op.operands[0]];
        if (!is_opaque(from, fact)) {
            const Fact converted = wrapped(to, fact.lo, fact.hi, fact.divisor);
            if (op.kind == OpKind::Convert) return converted;
            const Fact full = full_range(to);
            const std::int64_t least = is_signed(to) ? full.lo : 0;
            if (fact.lo >= least && fact.hi <= full.hi) return converted;
            return {std::clamp(fact.lo, least, full.hi), std::clamp(fact.hi, least, full.hi), 1};
        }
        Fact full = full_range(to);
        if (op.kind == OpKind::Convert) full.divisor = power_of_two_part(fact.divisor, bit_width(to));
        return full;
    }

    static Fact exact_fact(OpKind kind, ScalarType type, const Fact& a, const Fact& b) {
        switch (kind) {
            case OpKind::Add:
                return wrapped(type, Wide(a.lo) + b.lo, Wide(a.hi) + b.hi, gcd(a.divisor, b.divisor));
            case OpKind::Sub:
                return wrapped(type, Wide(a.lo) - b.hi, Wide(a.hi) - b.lo, gcd(a.divisor, b.divisor));
            case OpKind::Mul:
                return product(type, a, b);
            case OpKind::Div:
                return quotient(type, a, b, Rounding::Truncate);
            case OpKind::Rem:
                return remainder(type, a, b);
            case OpKind::Neg:
                return wrapped(type, -Wide(a.hi), -Wide(a.lo), a.divisor);
            case OpKind::And:
                return conjunction(type, a, b);
            case OpKind::Or:
                return disjunction(type, a, b);
            case OpKind::Xor:
                return disjunction(type, a, b);
            case OpKind::Not:
                return wrapped(type, -1 - Wide(a.hi), -1 - Wide(a.lo), 1);
            case OpKind::Shl:
                return shifted_left(type, a, b);
            case OpKind::Shr:
                return shifted_right(type, a, b);
            case OpKind::LogicalAnd:
                return {std::min(a.lo, b.lo), std::min(a.hi, b.hi), 1};
            case OpKind::LogicalOr:
                return {std::max(a.lo, b.lo), std::max(a.hi, b.hi), 1};
            case OpKind::LogicalNot:
                return {1 - a.hi, 1 - a.lo, 1};
            case OpKind::Equal:
                return flag(a.lo == a.hi && b.lo == b.hi && a.lo == b.lo, apart(a, b));
            case OpKind::NotEqual:
                return flag(apart(a, b), a.lo == a.hi && b.lo == b.hi && a.lo == b.lo);
            case OpKind::Less:
                return flag(a.hi < b.lo, a.lo >= b.hi);
            case OpKind::LessEqual:
                return flag(a.hi <= b.lo, a.lo > b.hi);
            case OpKind::Greater:
                return flag(a.lo > b.hi, a.hi <= b.lo);
            case OpKind::GreaterEqual:
                return flag(a.lo >= b.hi, a.hi < b.lo);
            case OpKind::Abs:
                return absolute(type, a);
            case OpKind::Min:
                return {std::min(a.lo, b.lo), std::min(a.hi, b.hi), gcd(a.divisor, b.divisor)};
            case OpKind::Max:
                return {std::max(a.lo, b.lo), std::max(a.hi, b.hi), gcd(a.divisor, b.divisor)};
            case OpKind::IsNan:
                return flag(false, true);
            case OpKind::IsInf:
                return flag(false, true);
            case OpKind::CeilDiv:
                return quotient(type, a, b, Rounding::Up);
            case OpKind::FloorDiv:
                return quotient(type, a, b, Rounding::Down);
            case OpKind::Mod:
                return modulus(type, a, b);
            case OpKind::Ilog2:
                return wrapped(type, a.lo > 0 ? ilog2(a.lo) : -1, ilog2(a.hi), 1);
            case OpKind::Popcount:
                return {0, bit_width(type), 1};
            case OpKind::Clz:
                return {0, bit_width(type), 1};
            // Handled by the caller, or never integers.
            case OpKind::Constant:
            case OpKind::Iota:
            case OpKind::Broadcast:
            case OpKind::Reshape:
            case OpKind::Permute:
            case OpKind::Extract:
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
            case OpKind::Select:
            case OpKind::Convert:
            case OpKind::Saturate:
            case OpKind::Bitcast:
            case OpKind::Reduce:
            case OpKind::Dot:
            case OpKind::View:
            case OpKind::Size:
            case OpKind::Load:
            case OpKind::Store:
            case OpKind::For:
            case OpKind::While:
            case OpKind::If:
            case OpKind::Yield:
            case OpKind::Units:
            case OpKind::Join:
            case OpKind::Fold:
            case OpKind::Scan:
            case OpKind::Sort:
            case OpKind::Bincount:
            case OpKind::Atomic:
            case OpKind::Print:
            case OpKind::Assert:
            case OpKind::Require:
                return full_range(type);
        }
        throw support::InternalError("ir::Facts", "unknown op kind");
    }

    // Patterns of tiles

    Facts::Index pattern(const Op& op) {
        const Facts::Index unknown{};
        if (op.kind == OpKind::Iota) return {Facts::Pattern::Counting, 0};
        if (op.operands.empty()) return unknown;
        const Facts::Index from = index(op.operands[0]);
        if (is_elementwise(op.kind)) return elementwise_pattern(op);
        if (!moves_elements(op.kind) || from.pattern == Facts::Pattern::Unknown) return unknown;
        if (from.pattern == Facts::Pattern::Uniform || op.kind == OpKind::Extract) return from;
        const Shape& before = shape(op.operands[0]);
        const Shape& after = shape(op.result());
        if (op.kind == OpKind::Broadcast) {
            return before[from.axis] == after[from.axis] ? from : Facts::Index{Facts::Pattern::Uniform, 0};
        }
        return op.kind == OpKind::Reshape ? reshaped(from, before, after) : permuted(from, op);
    }

    /// The axis of the same length with as many elements behind it.
    static Facts::Index reshaped(Facts::Index from, const Shape& before, const Shape& after) {
        std::int64_t behind = 1;
        for (std::size_t axis = before.rank(); axis-- > std::size_t{from.axis} + 1;) behind *= before[axis];
        std::int64_t count = 1;
        for (std::size_t axis = after.rank(); axis-- > 0;) {
            if (count == behind && after[axis] == before[from.axis]) {
                return {Facts::Pattern::Counting, static_cast<std::uint8_t>(axis)};
            }
            count *= after[axis];
        }
        return {};
    }

    static Facts::Index permuted(Facts::Index from, const Op& op) {
        const Shape& axes = attribute<AxesAttribute>(op).axes;
        for (std::size_t axis = 0; axis < axes.rank(); ++axis) {
            if (axes[axis] == from.axis) return {Facts::Pattern::Counting, static_cast<std::uint8_t>(axis)};
        }
        return {};
    }

    Facts::Index elementwise_pattern(const Op& op) {
        const bool uniform = std::all_of(op.operands.begin(), op.operands.end(), [&](ValueId operand) {
            return index(operand).pattern == Facts::Pattern::Uniform;
        });
        if (uniform) return {Facts::Pattern::Uniform, 0};
        const Facts::Index first = index(op.operands.front());
        const Facts::Index last = index(op.operands.back());
        if (op.kind == OpKind::Convert && is_integer(kernel_.type(op.result()).element)) return converted(op, first);
        const bool moved = op.kind == OpKind::Add || op.kind == OpKind::Sub;
        if (moved && last.pattern == Facts::Pattern::Uniform) return first;
        if (op.kind == OpKind::Add && first.pattern == Facts::Pattern::Uniform) return last;
        return {};
    }

    /// Modulo 2^width still counts in a narrower type; in a wider one only if it did not wrap before.
    Facts::Index converted(const Op& op, Facts::Index from) {
        const ScalarType type = kernel_.type(op.operands[0]).element;
        if (!is_integer(type)) return {};
        const bool narrower = bit_width(kernel_.type(op.result()).element) <= bit_width(type);
        const Fact full = full_range(type);
        const Fact& fact = (*this)[op.operands[0]];
        const bool wraps = fact.lo == full.lo && fact.hi == full.hi;
        return narrower || !wraps ? from : Facts::Index{};
    }

    const Kernel& kernel_;
    std::vector<Fact>& facts_;
    std::vector<Facts::Index>& indices_;
    std::vector<ValueId> uppers_;  ///< of loop indices and grid offsets: the bound below which they stay
};

Facts::Facts(const Kernel& kernel) {
    FactsAnalysis(kernel, *this).run();
}

Contiguity Facts::contiguity(ValueId value) const {
    if (value.index >= indices_.size()) return {};
    const Index& index = indices_[value.index];
    return {index.pattern == Pattern::Counting, index.axis};
}

bool Facts::fits_32_bits(const Kernel& kernel, const Op& op) const {
    // These look at all 64 bits, or at the width.
    if (op.kind == OpKind::Popcount || op.kind == OpKind::Clz || op.kind == OpKind::Bitcast) return false;
    const auto fits = [&](ValueId value) {
        return kernel.type(value).element != ScalarType::I64 || (*this)[value].fits_32_bits();
    };
    if (!std::all_of(op.operands.begin(), op.operands.end(), fits)) return false;
    if (!std::all_of(op.results.begin(), op.results.end(), fits)) return false;
    if (op.kind != OpKind::Shl && op.kind != OpKind::Shr) return true;
    const Fact& count = (*this)[op.operands[1]];  // counts are taken modulo the width
    return count.lo >= 0 && count.hi < 32;
}

bool Facts::is_uniform(ValueId value) const {
    return value.index < indices_.size() && indices_[value.index].pattern == Pattern::Uniform;
}

}  // namespace kiln::ir
