// Kernels compiled by clang for each processor, compared with the host.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>

#include "tests/emulated_gpu/hip_tests/clang.h"
#include "tests/emulated_gpu/hip_tests/hip_kernels.h"
#include "tests/emulated_gpu/hip_tests/machine.h"

namespace emulated_gpu::hip {
namespace {

uint16_t to_bf16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
float from_bf16(uint16_t bits) {
    return std::bit_cast<float>(uint32_t{bits} << 16);
}

const std::vector<std::string> kCdnaProcessors{"gfx90a", "gfx942", "gfx950"};
const std::vector<std::string> kProcessors{"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"};

std::vector<float> random_floats(size_t count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> values(count);
    for (float& value : values) value = uniform(random);
    return values;
}

TEST_SUITE("emulated_gpu") {
    TEST_CASE("hip: vector addition with a partial last wave") {
        for (const std::string& processor : kProcessors) {
            Machine machine(compile_hip(kVectorAdd, processor), processor);
            const std::vector<float> a = random_floats(1000, 1);
            const std::vector<float> b = random_floats(1000, 2);
            const uint64_t c = machine.upload(std::vector<float>(1000, NAN));
            const Counters counters =
                machine.run("vector_add", {4, 1, 1}, {256, 1, 1},
                            Arguments().add(machine.upload(a)).add(machine.upload(b)).add(c).add(1000));
            const std::vector<float> sums = machine.download<float>(c, 1000);
            for (size_t i = 0; i < 1000; ++i) REQUIRE(sums[i] == a[i] + b[i]);
            CHECK(counters.global_load_bytes == 8000);
            CHECK(counters.global_store_bytes == 4000);
            CHECK(counters.global_load_sectors + counters.global_store_sectors == counters.global_fewest_sectors);
        }
    }

    TEST_CASE("hip: a reduction through shuffles and LDS") {
        for (const std::string& processor : kProcessors) {
            Machine machine(compile_hip(kReduction, processor), processor);
            const std::vector<float> in = random_floats(2500, 3);
            const uint64_t out = machine.upload(std::vector<float>(3, NAN));
            const Counters counters =
                machine.run("reduce", {3, 1, 1}, {256, 1, 1}, Arguments().add(machine.upload(in)).add(out).add(2500));
            const std::vector<float> sums = machine.download<float>(out, 3);
            for (size_t group = 0; group < 3; ++group) {
                double sum = 0;
                for (size_t i = group * 1024; i < std::min<size_t>(2500, (group + 1) * 1024); ++i) sum += double{in[i]};
                CHECK(double{sums[group]} == doctest::Approx(sum).epsilon(1e-4));
            }
            CHECK(counters.barriers == 3);
        }
    }

    TEST_CASE("hip: a tiled product in LDS, sizes that are no multiples") {
        for (const std::string& processor : kProcessors) {
            Machine machine(compile_hip(kTiledGemm, processor), processor);
            const int m = 70;
            const int n = 45;
            const int k = 50;
            const std::vector<float> a = random_floats(size_t{70} * 50, 4);
            const std::vector<float> b = random_floats(size_t{50} * 45, 5);
            const uint64_t c = machine.upload(std::vector<float>(size_t{70} * 45, NAN));
            machine.run("gemm", {2, 3, 1}, {256, 1, 1},
                        Arguments().add(machine.upload(a)).add(machine.upload(b)).add(c).add(m).add(n).add(k));
            const std::vector<float> products = machine.download<float>(c, size_t{70} * 45);
            for (int row = 0; row < m; ++row) {
                for (int column = 0; column < n; ++column) {
                    float sum = 0;
                    for (int i = 0; i < k; ++i) {
                        sum =
                            std::fma(a[static_cast<size_t>(row * k + i)], b[static_cast<size_t>(i * n + column)], sum);
                    }
                    REQUIRE(products[static_cast<size_t>(row * n + column)] == sum);
                }
            }
        }
    }

    TEST_CASE("hip: a product of 256 by 256 by 256 by matrix instructions, its time and its counters") {
        constexpr size_t kSize = 256;
        for (const std::string& processor : kProcessors) {
            const bool is_rdna = family_of(processor) != Family::Cdna;
            Machine machine(compile_hip(is_rdna ? kWaveMatrixGemm : kMatrixGemm, processor), processor);
            const uint32_t items = is_rdna ? 128 : 256;
            std::vector<uint16_t> a;
            std::vector<uint16_t> b;
            for (const float value : random_floats(kSize * kSize, 8)) a.push_back(to_bf16(value));
            for (const float value : random_floats(kSize * kSize, 9)) b.push_back(to_bf16(value));
            const uint64_t c = machine.upload(std::vector<float>(kSize * kSize, NAN));
            const int size = kSize;
            const Arguments arguments =
                Arguments().add(machine.upload(a)).add(machine.upload(b)).add(c).add(size).add(size).add(size);
            machine.run("gemm", {4, 4, 1}, {items, 1, 1}, arguments);
            const std::clock_t start = std::clock();  // of the processor: the machine may be busy
            const Counters counters = machine.run("gemm", {4, 4, 1}, {items, 1, 1}, arguments);
            const double milliseconds = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
            std::printf("%s, 256^3 in bf16: %.1f ms: %s\n", processor.c_str(), milliseconds, counters.json().c_str());
            const std::vector<float> products = machine.download<float>(c, kSize * kSize);
            double worst = 0;
            for (size_t row = 0; row < kSize; ++row) {
                for (size_t column = 0; column < kSize; ++column) {
                    double sum = 0;
                    for (size_t i = 0; i < kSize; ++i) {
                        sum += double{from_bf16(a[row * kSize + i])} * double{from_bf16(b[column * kSize + i])};
                    }
                    worst = std::max(worst, std::fabs(double{products[row * kSize + column]} - sum));
                }
            }
            CHECK(worst < 1e-4);
            CHECK(milliseconds < 2000);
            CHECK(counters.matrix_operations == 4096);
            CHECK(counters.matrix_multiply_adds == kSize * kSize * kSize);
            CHECK(counters.barriers == 16 * 16);
            CHECK(counters.global_store_bytes == kSize * kSize * 4);
        }
    }

    TEST_CASE("hip: attention of 1 by 2 by 256 by 64 by matrix instructions, and its time") {
        constexpr size_t kQueries = 256;
        constexpr size_t kDepth = 64;
        constexpr size_t kHeads = 2;
        const size_t count = kHeads * kQueries * kDepth;
        const auto rounded = [count](uint64_t seed, float scale) {
            std::vector<uint16_t> values;
            for (const float value : random_floats(count, seed)) values.push_back(to_bf16(scale * value));
            return values;
        };
        const std::vector<uint16_t> q = rounded(21, 1.442695F / 8);
        const std::vector<uint16_t> k = rounded(22, 1);
        const std::vector<uint16_t> v = rounded(23, 1);
        for (const std::string& processor : kCdnaProcessors) {
            Machine machine(compile_hip(kAttention, processor), processor);
            const uint64_t out = machine.upload(std::vector<float>(count, NAN));
            const Arguments arguments = Arguments()
                                            .add(machine.upload(q))
                                            .add(machine.upload(k))
                                            .add(machine.upload(v))
                                            .add(out)
                                            .add(static_cast<int>(kQueries));
            machine.run("attention", {kQueries / 64, kHeads, 1}, {256, 1, 1}, arguments);
            const std::clock_t start = std::clock();
            const Counters counters = machine.run("attention", {kQueries / 64, kHeads, 1}, {256, 1, 1}, arguments);
            const double milliseconds = 1000.0 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
            std::printf("%s, attention: %.1f ms\n", processor.c_str(), milliseconds);
            CHECK(milliseconds < 2000);
            CHECK(counters.matrix_multiply_adds == 2 * kHeads * kQueries * kQueries * kDepth);
            const std::vector<float> values = machine.download<float>(out, count);
            for (size_t row = 0; row < kHeads * kQueries; row += 37) {
                const size_t head = row / kQueries * kQueries;
                std::vector<double> sums(kDepth, 0);
                double total = 0;
                for (size_t key = head; key < head + kQueries; ++key) {
                    double score = 0;
                    for (size_t i = 0; i < kDepth; ++i) {
                        score += double{from_bf16(q[row * kDepth + i])} * double{from_bf16(k[key * kDepth + i])};
                    }
                    const double weight = std::exp2(score);
                    total += weight;
                    for (size_t i = 0; i < kDepth; ++i) sums[i] += weight * double{from_bf16(v[key * kDepth + i])};
                }
                for (size_t i = 0; i < kDepth; ++i) {
                    REQUIRE(std::fabs(double{values[row * kDepth + i]} - sums[i] / total) < 3e-3);
                }
            }
        }
    }

    TEST_CASE("hip: softmax") {
        for (const std::string& processor : kProcessors) {
            Machine machine(compile_hip(kSoftmax, processor), processor);
            const std::vector<float> in = random_floats(size_t{5} * 300, 6);
            const uint64_t out = machine.upload(std::vector<float>(size_t{5} * 300, NAN));
            machine.run("softmax", {5, 1, 1}, {machine.module().wave_lanes(), 1, 1},
                        Arguments().add(machine.upload(in)).add(out).add(300));
            const std::vector<float> values = machine.download<float>(out, size_t{5} * 300);
            for (size_t row = 0; row < 5; ++row) {
                double sum = 0;
                for (size_t i = 0; i < 300; ++i) sum += std::exp(double{in[row * 300 + i]});
                for (size_t i = 0; i < 300; ++i) {
                    const double expected = std::exp(double{in[row * 300 + i]}) / sum;
                    REQUIRE(double{values[row * 300 + i]} == doctest::Approx(expected).epsilon(1e-5));
                }
            }
        }
    }

    TEST_CASE("hip: atomics and gathers") {
        for (const std::string& processor : kProcessors) {
            Machine machine(compile_hip(kHistogram, processor), processor);
            std::vector<uint8_t> in(3000);
            std::mt19937 random(7);
            for (uint8_t& value : in) value = static_cast<uint8_t>(random());
            const uint64_t counts = machine.upload(std::vector<uint32_t>(64, 0));
            machine.run("histogram", {4, 1, 1}, {256, 1, 1}, Arguments().add(machine.upload(in)).add(counts).add(3000));
            std::vector<uint32_t> expected(64, 0);
            for (const uint8_t value : in) ++expected[value % 64];
            CHECK(machine.download<uint32_t>(counts, 64) == expected);

            const std::vector<double> table{1.5, 2.5, 3.5};
            const std::vector<int> index{2, -1, 0, 1, 2};
            const uint64_t out = machine.upload(std::vector<double>(5, 0));
            machine.run("gather", {1, 1, 1}, {64, 1, 1},
                        Arguments().add(machine.upload(table)).add(machine.upload(index)).add(out).add(5));
            CHECK(machine.download<double>(out, 5) == std::vector<double>{3.5, -1, 1.5, 2.5, 3.5});
        }
    }
}

}  // namespace
}  // namespace emulated_gpu::hip
