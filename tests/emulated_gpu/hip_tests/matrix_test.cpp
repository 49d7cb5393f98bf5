// Matrix instructions: products of random matrices laid out as AMD's matrix instruction calculator tells, here with
// formulas of its own for every shape.

#include <cmath>
#include <random>

#include "tests/emulated_gpu/hip_tests/assembly.h"
#include "tests/emulated_gpu/hip_tests/clang.h"
#include "tests/emulated_gpu/hip_tests/machine.h"

namespace emulated_gpu::hip {
namespace {

struct Shape {
    const char* name;
    int rows, columns, depth, blocks;
    int bits;   // of an element of A and B
    char type;  // f: f16, b: bf16, s: f32, d: f64, i: i8, 8: fp8 of gfx942, o: fp8 of the OCP
    const char* processor;
};

/// Small integers, which every type holds exactly.
uint64_t encode(char type, int value) {
    const auto single = std::bit_cast<uint32_t>(static_cast<float>(value));
    if (type == 's') return single;
    if (type == 'b') return single >> 16;
    if (type == 'd') return std::bit_cast<uint64_t>(static_cast<double>(value));
    if (type == 'i') return static_cast<uint8_t>(value);
    const uint32_t sign = value < 0 ? 1 : 0;
    int magnitude = value < 0 ? -value : value;
    if (magnitude == 0) return 0;
    const int exponent = magnitude >= 4 ? 2 : magnitude >= 2 ? 1 : 0;
    if (type == 'f') {
        return sign << 15 | static_cast<uint32_t>(exponent + 15) << 10 |
               (static_cast<uint32_t>(magnitude << (10 - exponent)) & 0x3ff);
    }
    return sign << 7 | static_cast<uint32_t>(exponent + (type == 'o' ? 7 : 8)) << 3 |
           (static_cast<uint32_t>(magnitude << (3 - exponent)) & 7);
}

/// Puts `bits` of an element into a lane's registers.
void put_element(std::vector<uint32_t>& registers, int count, int lane, int element, int bits, uint64_t value) {
    const int at = element * bits;
    registers[static_cast<size_t>(lane * count + at / 32)] |= static_cast<uint32_t>(value) << (at % 32);
    if (bits == 64) registers[static_cast<size_t>(lane * count + at / 32 + 1)] |= static_cast<uint32_t>(value >> 32);
}

std::string range(char kind, int first, int count) {
    if (count == 1) return std::string(1, kind) + std::to_string(first);
    return std::string(1, kind) + "[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

/// Loads A, B and C lane by lane, multiplies once, stores D.
std::string body_of(const Shape& shape, int operand_registers, int result_registers, char accumulators) {
    std::string body = "s_load_dwordx8 s[4:11], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n";
    body += "v_mul_u32_u24 v1, " + std::to_string(4 * operand_registers) + ", v0\n";
    body += "v_mul_u32_u24 v2, " + std::to_string(4 * result_registers) + ", v0\n";
    for (int i = 0; i < operand_registers; ++i) {
        const std::string offset = " offset:" + std::to_string(4 * i) + "\n";
        body += "global_load_dword v" + std::to_string(10 + i) + ", v1, s[4:5]" + offset;
        body += "global_load_dword v" + std::to_string(30 + i) + ", v1, s[6:7]" + offset;
    }
    for (int i = 0; i < result_registers; ++i) {
        body += "global_load_dword " + range(accumulators, 64 + i, 1) + ", v2, s[8:9] offset:" + std::to_string(4 * i) +
                "\n";
    }
    const std::string result = range(accumulators, 64, result_registers);
    body += "s_waitcnt vmcnt(0)\n" + std::string(shape.name) + " " + result + ", " + range('v', 10, operand_registers) +
            ", " + range('v', 30, operand_registers) + ", " + result + "\ns_nop 15\ns_nop 15\n";
    for (int i = 0; i < result_registers; ++i) {
        body += "global_store_dword v2, " + range(accumulators, 64 + i, 1) +
                ", s[10:11] offset:" + std::to_string(4 * i) + "\n";
    }
    return body + "s_endpgm";
}

void check(const Shape& shape, char accumulators) {
    const int groups = 64 / (shape.rows * shape.blocks);
    const int per_lane = shape.depth / groups;
    const int operand_registers = std::max(1, per_lane * shape.bits / 32);
    const int words = shape.type == 'd' ? 2 : 1;
    const int result_registers = shape.rows * shape.columns * shape.blocks / 64 * words;
    std::mt19937 random(11);
    const auto draw = [&] { return static_cast<int>(random() % 9) - 4; };
    std::vector<int> a(static_cast<size_t>(shape.blocks * shape.rows * shape.depth));
    std::vector<int> b(static_cast<size_t>(shape.blocks * shape.columns * shape.depth));
    for (int& value : a) value = draw();
    for (int& value : b) value = draw();
    std::vector<uint32_t> lanes_a(static_cast<size_t>(64 * operand_registers));
    std::vector<uint32_t> lanes_b(static_cast<size_t>(64 * operand_registers));
    for (int lane = 0; lane < 64; ++lane) {
        const int line = lane % (shape.rows * shape.blocks);  // rows equal columns in every shape
        for (int i = 0; i < per_lane; ++i) {
            const int k = lane / (shape.rows * shape.blocks) * per_lane + i;
            const auto at = static_cast<size_t>(line * shape.depth + k);
            put_element(lanes_a, operand_registers, lane, i, shape.bits, encode(shape.type, a[at]));
            put_element(lanes_b, operand_registers, lane, i, shape.bits, encode(shape.type, b[at]));
        }
    }
    const auto encode_result = [&](int value) -> uint64_t {
        if (shape.type == 'i') return static_cast<uint32_t>(value);
        if (shape.type == 'd') return std::bit_cast<uint64_t>(static_cast<double>(value));
        return std::bit_cast<uint32_t>(static_cast<float>(value));
    };
    std::vector<uint32_t> lanes_c(static_cast<size_t>(64 * result_registers));
    std::vector<uint32_t> expected(lanes_c.size());
    for (int lane = 0; lane < 64; ++lane) {
        for (int part = 0; part < result_registers / words; ++part) {
            const int column = lane % shape.columns;
            int row = 0;
            int block = 0;
            if (shape.type == 'd') {
                row = 4 * part + lane / (16);
                block = shape.blocks == 1 ? 0 : lane / 4 % 4;
            } else if (shape.rows == 32) {
                row = part % 16 / 4 * 8 + lane / 32 * 4 + part % 4;
                block = part / 16;
            } else if (shape.rows == 16) {
                row = lane / 16 * 4 + part % 4;
                block = part / 4;
            } else {
                row = part;
                block = lane / 4;
            }
            const int start = draw();
            int sum = start;
            for (int k = 0; k < shape.depth; ++k) {
                sum += a[static_cast<size_t>((block * shape.rows + row) * shape.depth + k)] *
                       b[static_cast<size_t>((block * shape.columns + column) * shape.depth + k)];
            }
            for (int word = 0; word < words; ++word) {
                const auto at = static_cast<size_t>(lane * result_registers + part * words + word);
                lanes_c[at] = static_cast<uint32_t>(encode_result(start) >> (32 * word));
                expected[at] = static_cast<uint32_t>(encode_result(sum) >> (32 * word));
            }
        }
    }
    AssemblyKernel kernel;
    kernel.body = body_of(shape, operand_registers, result_registers, accumulators);
    Machine machine(assemble(assembly_text(kernel, shape.processor), shape.processor), shape.processor);
    const uint64_t out = machine.upload(std::vector<uint32_t>(expected.size(), 0));
    const Counters counters = machine.run(
        "kernel", {1, 1, 1}, {64, 1, 1},
        Arguments().add(machine.upload(lanes_a)).add(machine.upload(lanes_b)).add(machine.upload(lanes_c)).add(out));
    CHECK_MESSAGE(machine.download<uint32_t>(out, expected.size()) == expected, shape.name);
    CHECK(counters.matrix_operations == 1);
    CHECK(counters.matrix_multiply_adds ==
          static_cast<uint64_t>(shape.rows) * static_cast<uint64_t>(shape.columns * shape.depth * shape.blocks));
}

TEST_SUITE("emulated_gpu") {
    TEST_CASE("hip: matrix products of gfx90a") {
        const Shape shapes[] = {
            {"v_mfma_f32_32x32x1f32", 32, 32, 1, 2, 32, 's', "gfx90a"},
            {"v_mfma_f32_16x16x1f32", 16, 16, 1, 4, 32, 's', "gfx90a"},
            {"v_mfma_f32_4x4x1f32", 4, 4, 1, 16, 32, 's', "gfx90a"},
            {"v_mfma_f32_32x32x2f32", 32, 32, 2, 1, 32, 's', "gfx90a"},
            {"v_mfma_f32_16x16x4f32", 16, 16, 4, 1, 32, 's', "gfx90a"},
            {"v_mfma_f32_32x32x4f16", 32, 32, 4, 2, 16, 'f', "gfx90a"},
            {"v_mfma_f32_16x16x4f16", 16, 16, 4, 4, 16, 'f', "gfx90a"},
            {"v_mfma_f32_4x4x4f16", 4, 4, 4, 16, 16, 'f', "gfx90a"},
            {"v_mfma_f32_32x32x8f16", 32, 32, 8, 1, 16, 'f', "gfx90a"},
            {"v_mfma_f32_16x16x16f16", 16, 16, 16, 1, 16, 'f', "gfx90a"},
            {"v_mfma_f32_32x32x4bf16", 32, 32, 4, 1, 16, 'b', "gfx90a"},
            {"v_mfma_f32_16x16x8bf16", 16, 16, 8, 1, 16, 'b', "gfx90a"},
            {"v_mfma_f32_4x4x2bf16", 4, 4, 2, 16, 16, 'b', "gfx90a"},
            {"v_mfma_f32_32x32x8bf16_1k", 32, 32, 8, 1, 16, 'b', "gfx90a"},
            {"v_mfma_f32_16x16x16bf16_1k", 16, 16, 16, 1, 16, 'b', "gfx90a"},
            {"v_mfma_f32_16x16x4bf16_1k", 16, 16, 4, 4, 16, 'b', "gfx90a"},
            {"v_mfma_i32_32x32x4i8", 32, 32, 4, 2, 8, 'i', "gfx90a"},
            {"v_mfma_i32_32x32x8i8", 32, 32, 8, 1, 8, 'i', "gfx90a"},
            {"v_mfma_i32_16x16x16i8", 16, 16, 16, 1, 8, 'i', "gfx90a"},
            {"v_mfma_f64_16x16x4f64", 16, 16, 4, 1, 64, 'd', "gfx90a"},
            {"v_mfma_f64_4x4x4f64", 4, 4, 4, 4, 64, 'd', "gfx90a"},
        };
        for (const Shape& shape : shapes) check(shape, 'a');
        check(shapes[9], 'v');
    }

    TEST_CASE("hip: matrix products of gfx942") {
        const Shape shapes[] = {
            {"v_mfma_f32_32x32x8_f16", 32, 32, 8, 1, 16, 'f', "gfx942"},
            {"v_mfma_f32_16x16x16_bf16", 16, 16, 16, 1, 16, 'b', "gfx942"},
            {"v_mfma_i32_32x32x16_i8", 32, 32, 16, 1, 8, 'i', "gfx942"},
            {"v_mfma_i32_16x16x32_i8", 16, 16, 32, 1, 8, 'i', "gfx942"},
            {"v_mfma_f32_16x16x32_fp8_fp8", 16, 16, 32, 1, 8, '8', "gfx942"},
            {"v_mfma_f32_32x32x16_fp8_fp8", 32, 32, 16, 1, 8, '8', "gfx942"},
            {"v_mfma_f32_16x16x8_xf32", 16, 16, 8, 1, 32, 's', "gfx942"},
            {"v_mfma_f64_16x16x4_f64", 16, 16, 4, 1, 64, 'd', "gfx942"},
        };
        for (const Shape& shape : shapes) check(shape, 'a');
    }

    TEST_CASE("hip: matrix products of gfx950") {
        const Shape shapes[] = {
            {"v_mfma_f32_32x32x16_f16", 32, 32, 16, 1, 16, 'f', "gfx950"},
            {"v_mfma_f32_16x16x32_bf16", 16, 16, 32, 1, 16, 'b', "gfx950"},
            {"v_mfma_i32_16x16x64_i8", 16, 16, 64, 1, 8, 'i', "gfx950"},
            {"v_mfma_f32_16x16x32_fp8_fp8", 16, 16, 32, 1, 8, 'o', "gfx950"},
            {"v_mfma_f32_32x32x16_fp8_fp8", 32, 32, 16, 1, 8, 'o', "gfx950"},
        };
        for (const Shape& shape : shapes) check(shape, 'a');
    }
}

}  // namespace
}  // namespace emulated_gpu::hip
