// softmax, softmax_long and vector_add against plain C++.
#include <algorithm>

#include "library_run.h"

using namespace kiln;
using namespace kiln::test;

namespace {

template <class R>
std::vector<R> softmax_of(const std::vector<double>& row) {
    R top = static_cast<R>(-std::numeric_limits<double>::infinity()), sum = 0;
    for (const double value : row) top = std::max(top, static_cast<R>(value));
    std::vector<R> result;
    for (const double value : row) {
        result.push_back(std::exp(static_cast<R>(value) - top));
        sum += result.back();
    }
    for (R& value : result) value /= sum;
    return result;
}

void check_softmax(const std::string& kernel, DType type, std::int64_t m, std::int64_t n, double scale,
                   const std::vector<Generic>& tunables = {}) {
    CAPTURE(kernel);
    CAPTURE(name(type));
    CAPTURE(n);
    LibraryTensor x = LibraryTensor::noise(type, {m, n}, static_cast<std::uint64_t>(n), scale, 3), y(type, {m, n}, 1);
    x.set(n / 2, -std::numeric_limits<double>::infinity());
    if (n == 1) x.set(0, 0.5);
    launch("softmax.kiln", kernel, tunables, {x.view(), y.view()});
    std::vector<double> exact, plain;
    for (std::int64_t i = 0; i < m; ++i) {
        std::vector<double> row;
        for (std::int64_t j = 0; j < n; ++j) row.push_back(x[i * n + j]);
        for (const double value : softmax_of<double>(row)) exact.push_back(value);
        for (const float value : softmax_of<float>(row)) plain.push_back(rounded(type, static_cast<double>(value)));
    }
    check_accuracy(y, exact, plain);
    check_reference("softmax.kiln", kernel, tunables, {x.view(), y.view()});
}

}  // namespace

TEST_SUITE("library") {
    TEST_CASE("softmax is as accurate as a plain loop") {
        int round = 0;
        for (const std::int64_t n : {1, 2, 5, 31, 64, 97, 203, 1000, 4096}) {
            check_softmax("softmax", std::vector<DType>{f32, f16, bf16}[static_cast<std::size_t>(round++ % 3)], 3, n,
                          8);
        }
    }

    TEST_CASE("softmax_long is as accurate as a plain loop, in every configuration") {
        for (const std::int64_t n : {1, 5, 203, 1025, 5000}) {
            for (const int block : {1024, 2048, 4096}) {
                const DType type = std::vector<DType>{f32, f16, bf16}[static_cast<std::size_t>((n + block / 1024) % 3)];
                check_softmax("softmax_long", type, 3, n, 8, {{"BLOCK", block}});
            }
        }
        check_softmax("softmax_long", f32, 5, 3000, 80);
    }

    TEST_CASE("vector_add equals a plain loop in every number type and configuration") {
        for (const DType type : {f16, bf16, f32, f64}) {
            for (const int block : {256, 512, 1024, 2048}) {
                CAPTURE(name(type));
                CAPTURE(block);
                const std::int64_t n = 1003;
                LibraryTensor a = LibraryTensor::noise(type, {n}, 1), b = LibraryTensor::noise(type, {n}, 2),
                              y(type, {n});
                launch("vector_add.kiln", "vector_add", {{"BLOCK", block}}, {a.view(), b.view(), y.view()});
                std::int64_t wrong = 0;
                for (std::int64_t i = 0; i < n; ++i) wrong += y[i] == rounded(type, a[i] + b[i]) ? 0 : 1;
                CHECK(wrong == 0);
                check_reference("vector_add.kiln", "vector_add", {{"BLOCK", block}}, {a.view(), b.view(), y.view()});
            }
        }
    }

    TEST_CASE("nothing to add is no error, before and after a launch that does something") {
        for (const std::int64_t n : {0, 64, 0}) {
            LibraryTensor a = LibraryTensor::filled(f32, {n}, 1), b = LibraryTensor::filled(f32, {n}, 2), y(f32, {n});
            launch("vector_add.kiln", "vector_add", {}, {a.view(), b.view(), y.view()});
            for (std::int64_t i = 0; i < n; ++i) CHECK(y[i] == 3);
        }
    }
}
