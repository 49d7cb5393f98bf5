// WMMA: products of random matrices laid out as AMD's documents tell, here with formulas of its own.

#include <cmath>
#include <random>

#include "tests/emulated_gpu/hip_tests/assembly.h"
#include "tests/emulated_gpu/hip_tests/clang.h"
#include "tests/emulated_gpu/hip_tests/machine.h"

namespace emulated_gpu::hip {
namespace {

enum class Type : uint8_t { F16, Bf16, F32, E4M3, E5M2, I8, I4, I32 };

struct Product {
    const char* name;
    Type a;
    Type b;
    Type result;
    int depth;
    const char* modifiers = "";
};

int bits_of(Type type) {
    switch (type) {
        case Type::F16:
        case Type::Bf16:
            return 16;
        case Type::F32:
        case Type::I32:
            return 32;
        case Type::E4M3:
        case Type::E5M2:
        case Type::I8:
            return 8;
        case Type::I4:
            return 4;
    }
    return 0;
}

/// Integers from -4 to 4, which every type holds exactly.
uint32_t encode(Type type, int value) {
    const auto single = std::bit_cast<uint32_t>(static_cast<float>(value));
    const uint32_t sign = value < 0 ? 1 : 0;
    const auto exponent = static_cast<int>(single >> 23 & 0xff) - 127;
    const auto small = [&](int exponent_bits, int mantissa_bits) {
        const int bias = (1 << (exponent_bits - 1)) - 1;
        const uint32_t magnitude = value == 0 ? 0
                                              : static_cast<uint32_t>(exponent + bias) << mantissa_bits |
                                                    (single & 0x7fffff) >> (23 - mantissa_bits);
        return sign << (exponent_bits + mantissa_bits) | magnitude;
    };
    switch (type) {
        case Type::F16:
            return small(5, 10);
        case Type::Bf16:
            return single >> 16;
        case Type::F32:
            return single;
        case Type::E4M3:
            return small(4, 3);
        case Type::E5M2:
            return small(5, 2);
        case Type::I8:
            return static_cast<uint8_t>(value);
        case Type::I4:
            return static_cast<uint32_t>(value) & 15;
        case Type::I32:
            return static_cast<uint32_t>(value);
    }
    return 0;
}

using Registers = std::vector<uint32_t>;  // [lane][register]

struct Layout {
    bool rdna3;
    int lanes;

    /// The place in depth of element `i` of a lane's share of A or B. RDNA3: each sixteen lanes hold it all.
    int depth(int lane, int i, int per_lane) const { return rdna3 ? i : lane / 16 * per_lane + i; }
    int per_lane(int depth) const { return rdna3 ? depth : depth / (lanes / 16); }
    int row(int lane, int i) const { return rdna3 ? i * (lanes / 16) + lane / 16 : lane / 16 * 8 + i; }
};

Registers operand(const Layout& layout, Type type, const std::vector<int>& matrix, int depth, int registers) {
    Registers words(static_cast<size_t>(layout.lanes * registers));
    const int per_lane = layout.per_lane(depth);
    for (int lane = 0; lane < layout.lanes; ++lane) {
        for (int i = 0; i < per_lane; ++i) {
            const int value = matrix[static_cast<size_t>(lane % 16 * depth + layout.depth(lane, i, per_lane))];
            const int at = i * bits_of(type);
            words[static_cast<size_t>(lane * registers + at / 32)] |= encode(type, value) << (at % 32);
        }
    }
    return words;
}

std::string vectors(int first, int count) {
    if (count == 1) return "v" + std::to_string(first);
    return "v[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

std::string body_of(const Product& product, const std::string& processor, int operands, int results) {
    const bool split = processor == "gfx1201";
    std::string body = "s_load_b256 s[4:11], s[0:1], 0x0\n";
    body += split ? "s_wait_kmcnt 0x0\n" : "s_waitcnt lgkmcnt(0)\n";
    body += "v_mul_u32_u24 v1, " + std::to_string(4 * operands) + ", v0\n";
    body += "v_mul_u32_u24 v2, " + std::to_string(4 * results) + ", v0\n";
    for (int i = 0; i < operands; ++i) {
        const std::string offset = " offset:" + std::to_string(4 * i) + "\n";
        body += "global_load_b32 v" + std::to_string(10 + i) + ", v1, s[4:5]" + offset;
        body += "global_load_b32 v" + std::to_string(30 + i) + ", v1, s[6:7]" + offset;
    }
    for (int i = 0; i < results; ++i) {
        body += "global_load_b32 v" + std::to_string(64 + i) + ", v2, s[8:9] offset:" + std::to_string(4 * i) + "\n";
    }
    body += split ? "s_wait_loadcnt 0x0\n" : "s_waitcnt vmcnt(0)\n";
    body += std::string(product.name) + " " + vectors(64, results) + ", " + vectors(10, operands) + ", " +
            vectors(30, operands) + ", " + vectors(64, results) + " " + product.modifiers + "\n";
    for (int i = 0; i < results; ++i) {
        body += "global_store_b32 v2, v" + std::to_string(64 + i) + ", s[10:11] offset:" + std::to_string(4 * i) + "\n";
    }
    return body + "s_endpgm";
}

struct Setup {
    std::string processor;
    Layout layout;
    int operands;
    int results;
    Registers a, b, c, expected;
};

/// What D = A B + C has to be, with random A, B and C.
Setup set_up(const Product& product, const std::string& processor, int lanes) {
    Setup setup{processor, {processor == "gfx1100", lanes}, 0, 0, {}, {}, {}, {}};
    const Layout& layout = setup.layout;
    const bool half_results = bits_of(product.result) == 16;
    setup.operands = layout.per_lane(product.depth) * bits_of(product.a) / 32;
    const int elements = 256 / lanes;
    setup.results = half_results && !layout.rdna3 ? elements / 2 : elements;
    std::mt19937 random(7);
    const auto draw = [&] { return static_cast<int>(random() % 9) - 4; };
    std::vector<int> a(static_cast<size_t>(16 * product.depth));
    std::vector<int> b(a.size());
    for (int& value : a) value = draw();
    for (int& value : b) value = draw();
    setup.a = operand(layout, product.a, a, product.depth, setup.operands);
    setup.b = operand(layout, product.b, b, product.depth, setup.operands);
    setup.c.resize(static_cast<size_t>(lanes * setup.results));
    setup.expected.resize(setup.c.size());
    for (int lane = 0; lane < lanes; ++lane) {
        for (int i = 0; i < elements; ++i) {
            const int start = draw();
            int sum = start;
            for (int k = 0; k < product.depth; ++k) {
                sum += a[static_cast<size_t>(layout.row(lane, i) * product.depth + k)] *
                       b[static_cast<size_t>(lane % 16 * product.depth + k)];
            }
            const int part = half_results && !layout.rdna3 ? i / 2 : i;
            const int shift = half_results && !layout.rdna3 ? 16 * (i % 2) : 0;
            const auto at = static_cast<size_t>(lane * setup.results + part);
            setup.c[at] |= encode(product.result, start) << shift;
            setup.expected[at] |= encode(product.result, sum) << shift;
        }
    }
    return setup;
}

LaunchResult run_product(const Product& product, const Setup& setup, Registers& values) {
    AssemblyKernel kernel;
    kernel.body = body_of(product, setup.processor, setup.operands, setup.results);
    kernel.wave_lanes = static_cast<uint32_t>(setup.layout.lanes);
    const std::vector<std::string> options =
        setup.layout.lanes == 64 ? std::vector<std::string>{kWideWaves} : std::vector<std::string>{};
    Machine machine(assemble(assembly_text(kernel, setup.processor), setup.processor, options), setup.processor);
    const uint64_t out = machine.upload(Registers(setup.expected.size(), 0));
    const LaunchResult result = machine.launch(
        "kernel", {1, 1, 1}, {kernel.wave_lanes, 1, 1},
        Arguments().add(machine.upload(setup.a)).add(machine.upload(setup.b)).add(machine.upload(setup.c)).add(out));
    values = machine.download<uint32_t>(out, setup.expected.size());
    return result;
}

void check_product(const Product& product, const std::string& processor, int lanes) {
    const Setup setup = set_up(product, processor, lanes);
    Registers values;
    const LaunchResult result = run_product(product, setup, values);
    if (result.report) FAIL(result.report->text());
    CHECK_MESSAGE(values == setup.expected, product.name << " on " << processor << ", lanes: " << lanes);
    CHECK(result.counters.matrix_operations == 1);
    CHECK(result.counters.matrix_multiply_adds == 256U * static_cast<unsigned>(product.depth));
}

const Product kProducts[] = {
    {"v_wmma_f32_16x16x16_f16", Type::F16, Type::F16, Type::F32, 16},
    {"v_wmma_f32_16x16x16_bf16", Type::Bf16, Type::Bf16, Type::F32, 16},
    {"v_wmma_f16_16x16x16_f16", Type::F16, Type::F16, Type::F16, 16},
    {"v_wmma_bf16_16x16x16_bf16", Type::Bf16, Type::Bf16, Type::Bf16, 16},
    {"v_wmma_i32_16x16x16_iu8", Type::I8, Type::I8, Type::I32, 16, "neg_lo:[1,1,0]"},
    {"v_wmma_i32_16x16x16_iu4", Type::I4, Type::I4, Type::I32, 16, "neg_lo:[1,1,0]"},
};
const Product kProductsOfRdna4[] = {
    {"v_wmma_f32_16x16x16_fp8_fp8", Type::E4M3, Type::E4M3, Type::F32, 16},
    {"v_wmma_f32_16x16x16_fp8_bf8", Type::E4M3, Type::E5M2, Type::F32, 16},
    {"v_wmma_f32_16x16x16_bf8_fp8", Type::E5M2, Type::E4M3, Type::F32, 16},
    {"v_wmma_f32_16x16x16_bf8_bf8", Type::E5M2, Type::E5M2, Type::F32, 16},
    {"v_wmma_i32_16x16x32_iu4", Type::I4, Type::I4, Type::I32, 32, "neg_lo:[1,1,0]"},
};

TEST_SUITE("emulated_gpu") {
    TEST_CASE("hip: matrix products of gfx1100, in waves of both sizes") {
        for (const Product& product : kProducts) {
            check_product(product, "gfx1100", 32);
            check_product(product, "gfx1100", 64);
        }
    }

    TEST_CASE("hip: matrix products of gfx1201") {
        for (const Product& product : kProducts) check_product(product, "gfx1201", 32);
        for (const Product& product : kProductsOfRdna4) check_product(product, "gfx1201", 32);
    }

    TEST_CASE("hip: operands of gfx1100's products have to be there twice") {
        Setup setup = set_up(kProducts[0], "gfx1100", 32);
        setup.a[static_cast<size_t>(20 * setup.operands + 3)] ^= 1;
        Registers values;
        const LaunchResult result = run_product(kProducts[0], setup, values);
        REQUIRE(result.report);
        CHECK(result.report->text().find("operand A of the product is not the same in lane 4 as in lane 20") !=
              std::string::npos);
    }

    TEST_CASE("hip: signs that WMMA changes") {
        // One operand of ones, the other of twos: 32, with the products' even and odd parts negated by turns.
        const auto value_of = [](const char* modifiers) {
            const Product product{"v_wmma_f32_16x16x16_f16", Type::F16, Type::F16, Type::F32, 16, modifiers};
            Setup setup = set_up(product, "gfx1201", 32);
            std::fill(setup.a.begin(), setup.a.end(), 0x3c003c00U);
            std::fill(setup.b.begin(), setup.b.end(), 0x40004000U);
            std::fill(setup.c.begin(), setup.c.end(), 0xbf800000U);
            Registers values;
            const LaunchResult result = run_product(product, setup, values);
            if (result.report) FAIL(result.report->text());
            return std::bit_cast<float>(values[37]);
        };
        CHECK(value_of("") == 31);
        CHECK(value_of("neg_lo:[1,0,0]") == -1);
        CHECK(value_of("neg_lo:[1,0,0] neg_hi:[1,0,0]") == -33);
        CHECK(value_of("neg_lo:[0,0,1]") == 33);
        CHECK(value_of("neg_hi:[0,0,1]") == 33);
    }
}

}  // namespace
}  // namespace emulated_gpu::hip
