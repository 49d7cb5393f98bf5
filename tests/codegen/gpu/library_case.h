// Kernels of the library with arguments, specialised for a GPU target: what the code generator's tests run on.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "codegen/gpu/target.h"
#include "frontend/specialise.h"
#include "ir/launch.h"

namespace kiln::test {

/// What an element is, by its place in row-major order.
using Element = std::function<double(std::int64_t)>;

struct CaseTensor {
    std::string name;
    ir::ScalarType type;
    std::vector<std::int64_t> sizes;
    Element element;
    std::vector<std::int64_t> strides;  ///< empty: row-major
};

struct LibraryCase {
    std::string file, kernel;
    std::map<std::string, frontend::GenericValue> generics;
    std::vector<CaseTensor> tensors;
    std::map<std::string, double> numbers;
    std::map<std::string, std::int64_t> tunables;
    bool unordered = false;  ///< float atomics: sums in any order
    std::string text;        ///< of the file, where it is not one of the library
};

/// A case for each kernel of the library that ships, and more than one where types change the code. Shapes are small
/// and odd.
std::vector<LibraryCase> library_cases();

/// The kernel and the types of its tensors, for messages.
std::string label(const LibraryCase& test);

/// What the runtime would prove of the arguments, or nothing.
enum class Proven { Nothing, All };

struct SpecialisedCase {
    frontend::Program program;
    frontend::Specialisation specialisation;

    const ir::Kernel& kernel() const { return specialisation.kernel; }
};

/// Through the front end and the tile passes. Fails the test if that fails.
SpecialisedCase specialise(const LibraryCase& test, const codegen::gpu::Target& target, Proven proven);

/// Arguments of a case in memory of their own.
class CaseMemory {
public:
    CaseMemory(const LibraryCase& test, const ir::Kernel& kernel, const std::map<std::string, ir::Scalar>& defaults);
    CaseMemory(const CaseMemory&) = delete;
    CaseMemory& operator=(const CaseMemory&) = delete;

    std::span<const ir::Argument> arguments() const { return arguments_; }
    /// Bytes of the tensors, in the order of the parameters; empty for others.
    std::vector<std::vector<std::byte>>& bytes() { return bytes_; }
    double value(std::size_t parameter, std::int64_t place) const;
    std::int64_t count(std::size_t parameter) const;

private:
    void add_tensor(const CaseTensor& tensor);

    std::vector<std::vector<std::byte>> bytes_;
    std::vector<ir::Argument> arguments_;
};

/// Compares what two runs left, tensor by tensor. Empty if they agree: sums may be in another order.
std::string difference(const LibraryCase& test, const ir::Kernel& kernel, const CaseMemory& found,
                       const CaseMemory& expected);

}  // namespace kiln::test
