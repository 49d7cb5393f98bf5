// Each matrix instruction alone: its lanes hold what its layouts say, and it computes what the interpreter's dot does.
#include "codegen/gpu/matrix_instruction.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>

#include "codegen/gpu/scalar_text.h"
#include "emulated_device.h"
#include "ir/semantics.h"
#include "ir/tile_ops.h"

using namespace kiln;
using namespace kiln::codegen::gpu;
using namespace kiln::test;

namespace {

/// A matrix of elements of any type, as bits.
struct Matrix {
    ir::ScalarType type;
    std::size_t columns;
    std::vector<std::uint64_t> bits;

    std::uint64_t at(const Coordinates& place, bool transposed = false) const {
        const auto row = static_cast<std::size_t>(place[transposed ? 1 : 0]),
                   column = static_cast<std::size_t>(place[transposed ? 0 : 1]);
        return bits[row * columns + column];
    }
    std::vector<std::byte> bytes() const {
        const auto width = static_cast<std::size_t>(ir::byte_width(type));
        std::vector<std::byte> result(bits.size() * width);
        for (std::size_t i = 0; i < bits.size(); ++i) std::memcpy(result.data() + i * width, &bits[i], width);
        return result;
    }
};

std::uint64_t bits_of(ir::ScalarType type, double value) {
    return ir::convert(ir::OpKind::Convert, ir::Scalar::f64(value), type).bits;
}

template <class Next>
Matrix matrix(ir::ScalarType type, int rows, int columns, Next next) {
    Matrix result{type, static_cast<std::size_t>(columns), {}};
    for (int i = 0; i < rows * columns; ++i) result.bits.push_back(bits_of(type, next()));
    return result;
}

/// Small whole numbers, whose sums are exact in any order.
Matrix small_numbers(ir::ScalarType type, int rows, int columns, unsigned seed) {
    std::mt19937 random(seed);
    const int lowest = type == ir::ScalarType::U8 ? 0 : -4;
    return matrix(type, rows, columns, [&] { return lowest + static_cast<int>(random() % 8); });
}

Matrix expected(const MatrixInstruction& row, const Matrix& a, const Matrix& b, const Matrix& c) {
    const ir::DotOp op{row.left,
                       row.right,
                       row.accumulator,
                       static_cast<std::size_t>(row.rows()),
                       static_cast<std::size_t>(row.columns()),
                       static_cast<std::size_t>(row.depth())};
    std::vector<std::byte> result = c.bytes();
    ir::dot_tiles(op, a.bytes().data(), b.bytes().data(), c.bytes().data(), result.data());
    Matrix found = c;
    const auto width = static_cast<std::size_t>(ir::byte_width(c.type));
    for (std::size_t i = 0; i < found.bits.size(); ++i) std::memcpy(&found.bits[i], result.data() + i * width, width);
    return found;
}

/// The words that the lanes pass, lane by lane.
void add_words(std::vector<std::uint64_t>& words, const Layout& layout, const Matrix& matrix, bool transposed,
               int lane) {
    const int packed = elements_per_word(matrix.type), width = ir::bit_width(matrix.type);
    for (int first = 0; first < layout.registers(); first += packed) {
        std::uint64_t word = 0;
        for (int i = 0; i < packed; ++i) {
            word |= matrix.at(layout.at({first + i, lane, 0}), transposed) << (i * width);
        }
        words.push_back(word);
    }
}

int word_count(const Layout& layout, ir::ScalarType type) {
    return layout.registers() / elements_per_word(type);
}

/// A kernel for each instruction, as EmulatedDevice::map calls it.
std::string test_kernel(const MatrixInstruction& row, bool is_amd) {
    const int a = word_count(row.a, row.left), b = word_count(row.b, row.right), c = row.c.registers();
    const auto load = [&](std::string_view name, std::string_view type, int first, int count) {
        const std::string value = fmt::format("in[lane * {} + {} + i]", a + b + c, first);
        const std::string as = type == "double"  ? "kiln_f64_of_bits(" + value + ")"
                               : type == "float" ? "kiln_f32_of_bits((unsigned)" + value + ")"
                                                 : fmt::format("({}){}", type, value);
        return fmt::format("    {} {}[{}];\n    for (int i = 0; i < {}; ++i) {}[i] = {};\n", type, name, count, count,
                           name, as);
    };
    const std::string_view sum = c_type(row.accumulator);
    const std::string bits = sum == "double"  ? "kiln_bits_of_f64(c[i])"
                             : sum == "float" ? "kiln_bits_of_f32(c[i])"
                                              : "(unsigned)c[i]";
    return fmt::format(
        "extern \"C\" {} void test_{}(const unsigned long long* in, unsigned long long* out, int lanes) {{\n"
        "    const int lane = kiln_thread();\n    if (lane >= lanes) return;\n{}{}{}    {}(c, a, b);\n"
        "    for (int i = 0; i < {}; ++i) out[lane * {} + i] = {};\n}}\n\n",
        is_amd ? "__attribute__((global))" : "__global__", row.name, load("a", fragment_type(row.left), 0, a),
        load("b", fragment_type(row.right), a, b), load("c", sum, a + b, c), row.name, c, c, bits);
}

std::string test_source(MatrixUnit unit, bool is_amd) {
    std::string kernels;
    for (const MatrixInstruction& row : matrix_instructions(unit)) kernels += test_kernel(row, is_amd);
    return prelude(kernels, is_amd ? Dialect::Hip : Dialect::Cuda) + kernels;
}

/// Runs an instruction; the bits of c.
Matrix run(EmulatedDevice& device, void* module, const MatrixInstruction& row, const Matrix& a, const Matrix& b,
           const Matrix& c) {
    std::vector<std::uint64_t> words;
    const int lanes = row.a.lanes(), registers = row.c.registers();
    for (int lane = 0; lane < lanes; ++lane) {
        add_words(words, row.a, a, false, lane);
        add_words(words, row.b, b, true, lane);
        for (int reg = 0; reg < registers; ++reg) words.push_back(c.at(row.c.at({reg, lane, 0})));
    }
    const std::vector<std::uint64_t> results =
        device.map(module, "test_" + row.name, words, lanes, static_cast<std::size_t>(lanes * registers));
    Matrix found = c;
    for (int lane = 0; lane < lanes; ++lane) {
        for (int reg = 0; reg < registers; ++reg) {
            const Coordinates place = row.c.at({reg, lane, 0});
            found.bits[static_cast<std::size_t>(place[0]) * c.columns + static_cast<std::size_t>(place[1])] =
                results[static_cast<std::size_t>(lane * registers + reg)];
        }
    }
    return found;
}

void check_row(EmulatedDevice& device, void* module, const MatrixInstruction& row) {
    CAPTURE(row.name);
    const Matrix a = small_numbers(row.left, row.rows(), row.depth(), 1),
                 b = small_numbers(row.right, row.depth(), row.columns(), 2);
    Matrix c = small_numbers(row.accumulator, row.rows(), row.columns(), 3);
    // Sums of integers wrap.
    if (row.accumulator == ir::ScalarType::I32) c.bits[0] = 0x7fffffff, c.bits[1] = 0x80000000;
    CHECK(run(device, module, row, a, b, c).bits == expected(row, a, b, c).bits);
}

/// The smallest numbers of f16 and bf16 count, or not at all.
void check_subnormals(EmulatedDevice& device, void* module, const MatrixInstruction& row) {
    if (row.left != ir::ScalarType::F16 && row.left != ir::ScalarType::BF16) return;
    CAPTURE(row.name);
    const double tiny = row.left == ir::ScalarType::F16 ? 0x1p-20 : 0x1p-130,
                 large = row.left == ir::ScalarType::F16 ? 0x1p10 : 0x1p100;
    const Matrix a = matrix(row.left, row.rows(), row.depth(), [&] { return tiny; });
    const Matrix b = matrix(row.right, row.depth(), row.columns(), [&] { return large; });
    const Matrix c = matrix(row.accumulator, row.rows(), row.columns(), [] { return 0.0; });
    const std::uint64_t sum = row.flushes_subnormals ? 0 : bits_of(row.accumulator, row.depth() * tiny * large);
    CHECK(run(device, module, row, a, b, c).bits.front() == sum);
}

void check_nvidia(MatrixUnit unit, const std::string& capability) {
    setenv("EMULATED_GPU_CAPABILITIES", capability.c_str(), 1);
    const Compiled compiled = Nvrtc::get().compile(test_source(unit, false), "compute_" + capability);
    REQUIRE_MESSAGE(compiled.succeeded, compiled.log);
    EmulatedDevice& device = EmulatedDevice::get();
    void* module = device.load(compiled.code);
    for (const MatrixInstruction& row : matrix_instructions(unit)) {
        check_row(device, module, row);
        check_subnormals(device, module, row);
    }
}

/// But for types of which the emulated processor has no products.
void check_amd(MatrixUnit unit, const std::string& processor, const std::set<ir::ScalarType>& absent) {
    setenv("EMULATED_GPU_PROCESSORS", processor.c_str(), 1);
    std::string kernels;
    for (const MatrixInstruction& row : matrix_instructions(unit)) {
        if (absent.count(row.left) == 0) kernels += test_kernel(row, true);
    }
    const Compiled compiled = compile_hip(prelude(kernels, Dialect::Hip) + kernels, processor);
    REQUIRE_MESSAGE(compiled.succeeded, compiled.log);
    EmulatedDevice& device = EmulatedDevice::amd();
    void* module = device.load(compiled.code);
    for (const MatrixInstruction& row : matrix_instructions(unit)) {
        if (absent.count(row.left) != 0) continue;
        check_row(device, module, row);
        check_subnormals(device, module, row);
    }
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("matrix instructions: lanes and registers hold each element, and words are full") {
        for (const Target& target : target_table()) {
            std::set<std::string> names;
            for (const MatrixInstruction& row : matrix_instructions(target.matrix_unit)) {
                CAPTURE(row.name);
                CHECK(names.insert(row.name).second);
                CHECK(row.a.lanes() == target.lanes);
                CHECK(row.a.shape()[1] == row.b.shape()[1]);
                CHECK(row.a.shape()[0] == row.c.shape()[0]);
                CHECK(row.b.shape()[0] == row.c.shape()[1]);
                for (const Layout* layout : {&row.a, &row.b, &row.c}) {
                    CHECK(layout->exact());
                    const int copies = layout->repeated_lanes() == 0 ? 1 : 2;
                    CHECK(layout->registers() * layout->lanes() == layout->shape().count() * copies);
                }
                CHECK(row.a.registers() % elements_per_word(row.left) == 0);
                CHECK(row.b.registers() % elements_per_word(row.right) == 0);
            }
        }
    }

    TEST_CASE("matrix instructions: each compiles for every target that has it") {
        for (const Target& target : target_table()) {
            CAPTURE(target.name);
            if (target.matrix_unit == MatrixUnit::None) continue;
            const bool is_amd = target.vendor == Vendor::Amd;
            const std::string source = test_source(target.matrix_unit, is_amd);
            const Compiled compiled = is_amd ? compile_hip("#define KILN_LANES 64u\n" + source, target.name)
                                             : Nvrtc::get().compile(source, target.name);
            CHECK_MESSAGE(compiled.succeeded, compiled.log);
        }
    }
}

TEST_SUITE("emulated_gpu") {
    TEST_CASE("matrix instructions: sm_80 computes what the interpreter does") {
        check_nvidia(MatrixUnit::Ampere, "80");
    }
    TEST_CASE("matrix instructions: sm_89 computes what the interpreter does") {
        check_nvidia(MatrixUnit::Ada, "89");
    }
    TEST_CASE("matrix instructions: gfx90a computes what the interpreter does, but for subnormal numbers") {
        check_amd(MatrixUnit::Cdna2, "gfx90a", {});
    }
    TEST_CASE("matrix instructions: gfx942 computes what the interpreter does") {
        check_amd(MatrixUnit::Cdna3, "gfx942", {});
    }
    TEST_CASE("matrix instructions: gfx950 computes what the interpreter does") {
        check_amd(MatrixUnit::Cdna4, "gfx950", {ir::ScalarType::F8E4M3, ir::ScalarType::F8E5M2});
    }
}
