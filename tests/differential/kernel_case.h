// A kernel given as text or as a file of the library, with its arguments: run through the interpreter once and through
// compiled code for several targets, with and without the tile passes, and compared.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "../codegen/kernel_run.h"
#include "frontend/specialise.h"

namespace kiln::test {

using Contents = std::function<ir::Scalar(std::int64_t)>;

/// One run of a kernel. A parameter without an argument is absent, or takes its default.
struct KernelCase {
    std::string text;  ///< the program; or, if it ends in ".kiln", a file of the library
    std::map<std::string, ArgumentSpec> arguments;
    std::map<std::string, frontend::GenericValue> generics;
    std::map<std::string, ir::Scalar> tunables;
    /// Elements of a tensor by name, from their place in row-major order; the others hold what their TensorSpec says.
    std::map<std::string, Contents> contents;
    std::map<std::string, Tolerance> tolerances;  ///< of outputs by name; absent: the same bits
    std::string kernel = "k";
};

/// Which compilations are compared with the interpreter.
enum class Variants {
    All,       ///< host with and without the passes, x86_64_v2 and x86_64_v3, with facts of the arguments and without
    Two,       ///< host with the passes; one other, drawn by `seed`
    One,       ///< one of All, drawn by `seed`
    EachPass,  ///< All, and host once without each of the tile passes
};

/// Fails the running test, with the program, where compiled code leaves anything else than the interpreter.
void check_case(const KernelCase& test, Variants variants = Variants::All, std::uint32_t seed = 0);

/// The case's kernel after the tile passes, with no facts of its arguments, to run on others.
ir::Kernel specialised_kernel(const KernelCase& test);

/// The tensors a kernel leaves after the interpreter ran it.
std::map<std::string, std::unique_ptr<GuardedTensor>> interpreted(const KernelCase& test);

/// Fails the running test where the interpreter leaves other bits for the two: one kernel, written in two ways.
void check_same_meaning(const KernelCase& test, const KernelCase& other);

/// The value of an element, given its index in row-major order.
ir::Scalar element_of(const GuardedTensor& tensor, std::int64_t index);

/// A row-major tensor argument with values that look random.
TensorSpec tensor(ir::ScalarType element, const ir::Shape& sizes, std::uint32_t seed = 1, double scale = 1);
/// These values in order, each rounded once to the element type; the last one is repeated.
Contents listed(ir::ScalarType element, std::vector<double> list);
/// The same sizes, laid out by other strides.
TensorSpec strided(TensorSpec spec, const ir::Shape& strides);

/// The ways a matrix can lie in memory that every kernel must handle alike: row-major, padded rows, transposed, every
/// other column, rows backwards, columns backwards; `out` leaves out the one whose elements share memory.
std::vector<ir::Shape> matrix_strides(std::int64_t rows, std::int64_t columns, bool out);

}  // namespace kiln::test
