// The configurations a kernel may be compiled with, and which of them a target cannot take. Nothing here compiles.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace kiln::codegen::configure {

using ir::Configuration;

/// A tunable, or a key of the schedule.
struct Dimension {
    std::string name;
    std::vector<std::string> choices;  ///< in the order of the declaration, as the language spells them
};

/// The configurations that meet a kernel's conditions. Each is there once; the first is the default.
class Space {
public:
    /// Choices are taken in the order in which they first occur.
    explicit Space(std::vector<Configuration> configurations);

    const std::vector<Dimension>& dimensions() const { return dimensions_; }
    const std::vector<Configuration>& configurations() const { return configurations_; }
    std::size_t size() const { return configurations_.size(); }
    const Configuration& operator[](std::size_t index) const { return configurations_[index]; }
    /// Place of each dimension's value among its choices.
    const std::vector<std::size_t>& places(std::size_t index) const { return places_[index]; }
    std::optional<std::size_t> find(const Configuration& configuration) const;
    /// How many there would be without conditions.
    std::uint64_t unconditioned_size() const;

    /// Configurations that differ in one dimension, whose places lie at most `reach` apart; nearest first.
    std::vector<std::size_t> neighbours(std::size_t index, std::size_t reach) const;

private:
    std::vector<Dimension> dimensions_;
    std::vector<Configuration> configurations_;
    std::vector<std::vector<std::size_t>> places_;
    std::map<std::string, std::size_t> index_;
};

/// Whether two launches of a kernel may give other sums: float atomics add in whatever order programs come. Only ops
/// that some block lists count.
bool sums_in_any_order(const ir::Kernel& kernel);

/// What a target can take of one program.
struct Limits {
    std::uint64_t scratch_bytes = 0;  ///< private memory of a thread (CPU), shared memory of a block (GPU)
    std::int64_t tile_elements = 0;   ///< of one tile value
};

/// Of any CPU. Scratch memory is ordinary memory there; what exceeds every cache by far is never fast, and many threads
/// would take the host's memory.
inline constexpr Limits kCpuLimits{64u << 20, std::int64_t{1} << 24};

/// Bytes of scratch memory that a phase's program needs on a CPU, packed operands of dots included. An estimate from
/// above, made without compiling.
std::uint64_t estimated_scratch(const ir::Kernel& kernel, const ir::Phase& phase);

/// Why a specialised kernel cannot run within the limits, in one sentence; nothing if it can.
std::optional<std::string> exclusion(const ir::Kernel& kernel, const Limits& limits);

}  // namespace kiln::codegen::configure
