// Layouts for the tiles of a phase that are kept in registers, and the number of warps that run it.
//
// Values that elementwise ops and control flow tie together form a *class* and share one layout. Accumulators of
// products come first and get the layout of a matrix instruction or, where none computes all products of the class, one
// of register blocks; the other classes follow, largest first. A class that meets
// one with a layout in a broadcast, a reduction or an index takes what is left of that layout, so that nothing moves
// between the two; else it gets the layout that suits its reads and writes of global memory best. Where two of these
// wishes meet in one value, the lowering converts.
#pragma once

#include <algorithm>
#include <map>

#include "codegen/gpu/lower/choose_matrix_product.h"
#include "codegen/gpu/lower/tensor_facts.h"
#include "codegen/gpu/lower/tile_values.h"
#include "codegen/gpu/target.h"

namespace kiln::codegen::gpu {

/// Layouts by ValueId, for kept tiles, and which products matrix instructions compute.
class TileLayouts {
public:
    explicit TileLayouts(std::size_t values) : layouts_(values) {}

    bool has(ir::ValueId value) const { return !layouts_[value.index].shape().empty(); }
    const Layout& operator[](ir::ValueId value) const { return layouts_[value.index]; }
    void set(ir::ValueId value, const Layout& layout) { layouts_[value.index] = layout; }

    /// Of the result of a dot; null if it is computed by multiply-adds.
    const MatrixProduct* matrix_product(ir::ValueId result) const {
        const auto found = products_.find(result.index);
        return found == products_.end() ? nullptr : &found->second;
    }
    void set_product(ir::ValueId result, const MatrixProduct& product) { products_[result.index] = product; }
    /// Whether a value has the layout of such a result.
    bool is_of_matrix_product(ir::ValueId value) const {
        return std::any_of(products_.begin(), products_.end(),
                           [&](const auto& product) { return layouts_[product.first] == layouts_[value.index]; });
    }

private:
    std::vector<Layout> layouts_;
    std::map<std::uint32_t, MatrixProduct> products_;
};

/// Warps for a block of the phase: enough that no thread holds too much of one tile, and no more than have work.
int choose_warps(const ir::Kernel& kernel, const ir::Phase& phase, const TileValues& values, const Target& target);

TileLayouts assign_layouts(const ir::Kernel& kernel, const ir::Phase& phase, const TileValues& values,
                           const TensorFacts& tensors, const Target& target, int warps);

/// For the result of a product computed by multiply-adds: each thread holds a block of rows x columns, columns in
/// vectors of up to 4 if `vectors`. `by_rows` puts all warps along the rows, so that a reduction of a row stays within
/// a warp.
Layout product_layout(const ir::Shape& shape, int lanes, int warps, bool by_rows, bool vectors = true);

/// Whether the right operand of a product is a transposed tile, whose elements along the contraction are neighbours. It
/// is then read along the contraction, too, and the threads stand one column apart.
bool reads_along_depth(const ir::Kernel& kernel, const ir::Op& dot);

/// For a scan: each thread holds a run of consecutive elements along the axis.
Layout scan_layout(const ir::Shape& shape, std::size_t axis, int lanes, int warps);

}  // namespace kiln::codegen::gpu
