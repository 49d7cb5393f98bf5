// How much of the index arithmetic of the library facts prove to fit 32 bits: what contract (f) can count on.
#include "ir/facts.h"
#include "ir/passes/pipeline.h"
#include "ir/passes/rewrite.h"
#include "tests/dsl/must_fail_program.h"
#include "tests/frontend/kernel_run.h"

namespace kiln::test {

namespace {

struct Count {
    std::size_t narrow = 0, all = 0;
    std::size_t wide_tiles = 0,
                int_tiles = 0;  ///< computed tiles of 64-bit integers, behind all passes and before the last
};

std::size_t int_tiles(const ir::Kernel& kernel) {
    std::size_t count = 0;
    for (const ir::Phase& phase : kernel.phases) {
        ir::for_each_op(kernel, phase.block, [&](ir::OpId op) {
            const bool computes = ir::is_elementwise(kernel[op].kind) || kernel[op].kind == ir::OpKind::Iota;
            if (!computes) return;
            const ir::Type& type = kernel.type(kernel[op].result());
            count += type.is_tile() && type.element == ir::kInt ? 1 : 0;
        });
    }
    return count;
}

/// Values of type int in the phases, constants left out.
void count_values(const ir::Kernel& kernel, Count& count) {
    const ir::Facts facts(kernel);
    for (const ir::Phase& phase : kernel.phases) {
        ir::for_each_op(kernel, phase.block, [&](ir::OpId op) {
            for (const ir::ValueId result : kernel[op].results) {
                const ir::Type& type = kernel.type(result);
                if (type.is_tensor() || type.element != ir::kInt || kernel[op].kind == ir::OpKind::Constant) continue;
                ++count.all;
                count.narrow += facts[result].fits_32_bits() ? 1 : 0;
            }
        });
    }
}

/// All kernels of the library that a request without generics but usual ones specialises.
Count count_library(bool fits_32_bits) {
    Count count;
    for (const auto& path : dsl::kiln_files("library")) {
        const frontend::Program program = load_checked(path.string());
        const dsl::Ast& ast = program.files[0].ast;
        for (const dsl::NodeId declaration : ast.children_of(ast.root)) {
            if (ast[declaration].kind != dsl::NodeKind::Kernel) continue;
            frontend::Request request;
            request.kernel = ast[declaration].text;
            request.fits_32_bits = fits_32_bits;
            const dsl::NodeId generics = ast.child(declaration, 0);
            if (generics != dsl::kNoNode) {
                for (const dsl::NodeId generic : ast.children_of(generics)) {
                    const std::string type(program.sources.text(ast[ast.child(generic, 0)].span));
                    const std::string name(ast[generic].text);
                    if (type == "int") request.generics[name] = ir::Scalar::int64(64);
                    if (type == "float" || type == "real" || type == "number")
                        request.generics[name] = ir::ScalarType::F32;
                }
            }
            support::Diagnostics diagnostics;
            auto specialisation = frontend::specialise(program, request, diagnostics);
            if (!specialisation) continue;
            ir::Kernel narrowed = specialisation->kernel;
            ir::run_tile_passes(specialisation->kernel, "narrow_integers");
            count_values(specialisation->kernel, count);
            count.int_tiles += int_tiles(specialisation->kernel);
            ir::run_tile_passes(narrowed);
            count.wide_tiles += int_tiles(narrowed);
        }
    }
    return count;
}

}  // namespace

TEST_SUITE("ir") {
    TEST_CASE("contract (f): how much of the index arithmetic of the library facts prove to fit 32 bits") {
        const Count proven = count_library(true), open = count_library(false);
        MESSAGE("with small arguments: " << proven.narrow << " of " << proven.all << " values, " << proven.wide_tiles
                                         << " of " << proven.int_tiles
                                         << " tiles stay wide; of any size: " << open.narrow << " of " << open.all
                                         << ", " << open.wide_tiles << " of " << open.int_tiles);
        REQUIRE(proven.all > 300);
        CHECK(proven.narrow * 100 > proven.all * 70);
        CHECK(proven.wide_tiles * 2 < proven.int_tiles);
    }
}

}  // namespace kiln::test
