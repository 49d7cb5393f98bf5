// gemm and gemm_batched against float64, over options, shapes, strides and element types.
#include "library_run.h"

using namespace kiln;
using namespace kiln::test;

namespace {

double gelu(double x) {
    return 0.5 * x * (1 + std::erf(x * 0.7071067811865476));
}
double gelu_tanh(double x) {
    return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}
struct Activation {
    const char* name;
    double (*exact)(double);
};
const std::vector<Activation> kActivations = {
    {"act.identity", [](double x) { return x; }},
    {"act.relu", [](double x) { return x < 0 ? 0.0 : x; }},
    {"act.silu", [](double x) { return x / (1 + std::exp(-x)); }},
    {"act.gelu", gelu},
    {"act.gelu_tanh", gelu_tanh},
};

struct GemmCase {
    DType type = f32, out = f32;
    std::int64_t m = 65, n = 97, k = 129;
    bool bias = false, residual = false;
    double alpha = 1;
    std::size_t activation = 0;
    bool a_transposed = false, b_transposed = false;
    std::int64_t padding = 0;
    std::vector<Generic> tunables;
};

/// A view with its two axes swapped.
Tensor transposed(Tensor tensor) {
    std::swap(tensor.sizes[0], tensor.sizes[1]);
    std::swap(tensor.strides[0], tensor.strides[1]);
    return tensor;
}

class GemmRun {
public:
    explicit GemmRun(const GemmCase& test) : test_(test) {
        a_ = test.a_transposed ? LibraryTensor::noise(test.type, {test.k, test.m}, 1, 1, test.padding)
                               : LibraryTensor::noise(test.type, {test.m, test.k}, 1, 1, test.padding);
        b_ = test.b_transposed ? LibraryTensor::noise(test.type, {test.n, test.k}, 2, 1, test.padding)
                               : LibraryTensor::noise(test.type, {test.k, test.n}, 2, 1, test.padding);
        bias_ = LibraryTensor::noise(test.out, {test.n}, 3);
        residual_ = LibraryTensor::noise(test.out, {test.m, test.n}, 4);
        c_ = LibraryTensor(test.out, {test.m, test.n}, test.padding);  // NaN before it is written
    }

    std::vector<Generic> generics() const {
        std::vector<Generic> list = {
            {"T", test_.type}, {"Out", test_.out}, {"activation", kActivations[test_.activation].name}};
        list.insert(list.end(), test_.tunables.begin(), test_.tunables.end());
        return list;
    }
    std::vector<Argument> arguments() {
        std::vector<Argument> list = {arg("a", test_.a_transposed ? transposed(a_.view()) : a_.view()),
                                      arg("b", test_.b_transposed ? transposed(b_.view()) : b_.view()),
                                      arg("c", c_.view()), arg("alpha", test_.alpha)};
        if (test_.bias) list.push_back(arg("bias", bias_.view()));
        if (test_.residual) list.push_back(arg("residual", residual_.view()));
        return list;
    }

    void check() {
        launch("gemm.kiln", "gemm", generics(), arguments());
        std::vector<double> exact, plain;
        for (std::int64_t i = 0; i < test_.m; ++i) {
            for (std::int64_t j = 0; j < test_.n; ++j) {
                exact.push_back(value<double>(i, j));
                plain.push_back(rounded(test_.out, static_cast<double>(value<float>(i, j))));
            }
        }
        check_accuracy(c_, exact, plain);
    }

private:
    double a(std::int64_t i, std::int64_t k) const {
        return a_[test_.a_transposed ? k * test_.m + i : i * test_.k + k];
    }
    double b(std::int64_t k, std::int64_t j) const {
        return b_[test_.b_transposed ? j * test_.k + k : k * test_.n + j];
    }

    /// An element, computed in R throughout.
    template <class R>
    R value(std::int64_t i, std::int64_t j) const {
        R sum = 0;
        for (std::int64_t k = 0; k < test_.k; ++k) sum += static_cast<R>(a(i, k)) * static_cast<R>(b(k, j));
        sum *= static_cast<R>(test_.alpha);
        if (test_.bias) sum += static_cast<R>(bias_[j]);
        sum = static_cast<R>(kActivations[test_.activation].exact(static_cast<double>(sum)));
        if (test_.residual) sum += static_cast<R>(residual_[i * test_.n + j]);
        return sum;
    }

    GemmCase test_;
    LibraryTensor a_, b_, bias_, residual_, c_;
};

}  // namespace

TEST_SUITE("library") {
    TEST_CASE("gemm is as accurate as a plain loop for every type, option and activation") {
        int round = 0;
        for (const DType type : {f32, f16, bf16}) {
            for (int options = 0; options < 4; ++options) {
                for (std::size_t activation = 0; activation < kActivations.size(); ++activation) {
                    if (type != f32 && activation != (static_cast<std::size_t>(options) + 1) % kActivations.size())
                        continue;
                    CAPTURE(name(type));
                    CAPTURE(options);
                    CAPTURE(activation);
                    GemmCase test;
                    test.type = type;
                    test.out = round % 3 == 2 ? f32 : type;
                    test.bias = (options & 1) != 0;
                    test.residual = (options & 2) != 0;
                    test.alpha = round % 2 == 0 ? 1.0 : -0.75;
                    test.activation = activation;
                    test.padding = round % 3;
                    ++round;
                    GemmRun(test).check();
                }
            }
        }
    }

    TEST_CASE("gemm of odd shapes in every transposition") {
        int round = 0;
        for (const std::int64_t m : {1, 3, 17, 65, 203}) {
            for (const std::int64_t n : {1, 5, 64, 97, 300}) {
                GemmCase test;
                test.type = test.out = std::vector<DType>{f32, bf16, f16}[static_cast<std::size_t>(round % 3)];
                test.m = m;
                test.n = n;
                test.k = std::vector<std::int64_t>{1, 31, 64, 129, 257}[static_cast<std::size_t>(round % 5)];
                test.a_transposed = (round & 1) != 0;
                test.b_transposed = (round & 2) != 0;
                test.padding = round % 4;
                CAPTURE(round);
                ++round;
                GemmRun(test).check();
            }
        }
    }

    TEST_CASE("gemm writes every element, whatever its output held, for any K") {
        // Ones: each result is K, and NaN that is read from the output or behind a row shows.
        for (const std::int64_t k : {0, 1, 3, 8, 40, 56, 72, 133}) {
            for (int layout = 0; layout < 4; ++layout) {
                const bool wide = layout % 2 == 0;
                const std::int64_t m = wide ? 65 : 1, n = wide ? 65 : 64;
                CAPTURE(k);
                CAPTURE(layout);
                LibraryTensor a(f16, {m, k}, 3), b(f16, {k, n}, 3), at(f16, {k, m}, 3), bt(f16, {n, k}, 3);
                for (LibraryTensor* tensor : {&a, &b, &at, &bt}) {
                    for (std::int64_t i = 0; i < tensor->count(); ++i) tensor->set(i, 1);
                }
                LibraryTensor c(f32, {m, n});
                launch("gemm.kiln", "gemm", {{"T", f16}, {"Out", f32}},
                       {(layout & 1) != 0 ? transposed(at.view()) : a.view(),
                        (layout & 2) != 0 ? transposed(bt.view()) : b.view(), c.view()});
                std::int64_t wrong = 0;
                for (std::int64_t i = 0; i < c.count(); ++i) wrong += c[i] == static_cast<double>(k) ? 0 : 1;
                CHECK(wrong == 0);
            }
        }
    }

    TEST_CASE("gemm_batched shares a matrix through a stride of zero") {
        for (const DType type : {f32, f16, bf16}) {
            CAPTURE(name(type));
            const std::int64_t z = 3, m = 17, n = 65, k = 97;
            LibraryTensor a = LibraryTensor::noise(type, {z, m, k}, 1), b = LibraryTensor::noise(type, {k, n}, 2);
            LibraryTensor c(type, {z, m, n});
            Tensor shared = b.view();
            shared.sizes = {z, k, n};
            shared.strides = {0, n, 1};
            launch("gemm.kiln", "gemm_batched", {}, {a.view(), shared, c.view()});
            std::vector<double> exact, plain;
            for (std::int64_t i = 0; i < z * m; ++i) {
                for (std::int64_t j = 0; j < n; ++j) {
                    double sum = 0;
                    float single = 0;
                    for (std::int64_t p = 0; p < k; ++p) {
                        sum += a[i * k + p] * b[p * n + j];
                        single += static_cast<float>(a[i * k + p]) * static_cast<float>(b[p * n + j]);
                    }
                    exact.push_back(sum);
                    plain.push_back(rounded(type, static_cast<double>(single)));
                }
            }
            check_accuracy(c, exact, plain);
            check_reference("gemm.kiln", "gemm_batched", {}, {a.view(), shared, c.view()});
        }
    }

    TEST_CASE("gemm agrees with its own reference") {
        for (const DType type : {f32, f16, bf16}) {
            for (const std::size_t activation : {std::size_t{0}, std::size_t{3}}) {
                CAPTURE(name(type));
                GemmCase test;
                test.type = test.out = type;
                test.bias = test.residual = activation != 0;
                test.activation = activation;
                GemmRun run(test);
                check_reference("gemm.kiln", "gemm", run.generics(), run.arguments());
            }
        }
    }
}
