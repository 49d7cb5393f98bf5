// What is known about integer values without running them: range, divisibility, and whether 32 bits hold them. Sound,
// never complete: an unknown value has the full range and divisor 1.
#pragma once

#include "ir/kernel.h"

namespace kiln::ir {

/// lo <= value <= hi, and divisor divides value (divisor 0: the value is 0). For a tile, every element. A bool is 0 or
/// 1; a u64 is seen as the i64 of the same bits. Other types have no facts.
struct Fact {
    std::int64_t lo = std::numeric_limits<std::int64_t>::min();
    std::int64_t hi = std::numeric_limits<std::int64_t>::max();
    std::int64_t divisor = 1;

    bool fits_32_bits() const {
        return lo >= std::numeric_limits<std::int32_t>::min() && hi <= std::numeric_limits<std::int32_t>::max();
    }
};

/// An index tile that is `start + 0, 1, 2, ...` along one axis and constant along the others, all modulo 2^width. Where
/// its range leaves out the type's least or greatest value, it does not wrap.
struct Contiguity {
    bool known = false;
    std::uint32_t axis = 0;
};

class Facts {
public:
    explicit Facts(const Kernel& kernel);

    /// A value made after the analysis is unknown.
    const Fact& operator[](ValueId value) const {
        static const Fact kUnknown;
        return value.index < facts_.size() ? facts_[value.index] : kUnknown;
    }
    /// Whether an op gives the same values when its `int` operands and results are kept in 32 bits.
    bool fits_32_bits(const Kernel& kernel, const Op& op) const;
    /// Whether an integer tile counts up by one along exactly one axis.
    Contiguity contiguity(ValueId value) const;
    /// Whether all elements of the value are equal; true for scalars.
    bool is_uniform(ValueId value) const;

private:
    friend class FactsAnalysis;
    enum class Pattern : std::uint8_t { Unknown, Uniform, Counting };
    struct Index {
        Pattern pattern = Pattern::Unknown;
        std::uint8_t axis = 0;
    };

    std::vector<Fact> facts_;
    std::vector<Index> indices_;
};

/// The values that a type holds, as a fact.
Fact full_range(ScalarType type);

}  // namespace kiln::ir
