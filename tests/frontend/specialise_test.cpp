#include "frontend/specialise.h"

#include "tests/frontend/kernel_run.h"

namespace kiln::test {

namespace {

using ir::ScalarType;
using ir::Shape;

ir::Scalar integer(std::int64_t value) {
    return ir::Scalar::int64(value);
}

double gelu(double x) {
    return 0.5 * x * (1 + std::erf(x * 0.7071067811865476));
}

struct GemmCase {
    ScalarType element;
    bool bias, residual, activated;
};

/// Odd sizes, so that every edge of every tile is cut.
Launch gemm_launch(const GemmCase& given, std::int64_t m, std::int64_t n, std::int64_t k) {
    Launch launch;
    launch.tensors["a"] = HostTensor::noise(given.element, Shape{m, k}, 1);
    launch.tensors["b"] = HostTensor::noise(given.element, Shape{k, n}, 2);
    launch.tensors["c"] = HostTensor::filled(ScalarType::F32, Shape{m, n}, 7);
    if (given.bias) launch.tensors["bias"] = HostTensor::noise(ScalarType::F32, Shape{n}, 3);
    if (given.residual) launch.tensors["residual"] = HostTensor::noise(ScalarType::F32, Shape{m, n}, 4);
    launch.scalars["alpha"] = ir::Scalar::f32(0.75f);
    if (given.activated) launch.generics["activation"] = frontend::FunctionName{"act.gelu"};
    launch.tunables = {{"BM", integer(16)}, {"BN", integer(8)}, {"BK", integer(32)}};
    return launch;
}

double gemm_element(const Launch& launch, const GemmCase& given, std::int64_t i, std::int64_t j) {
    const HostTensor &a = launch.tensors.at("a"), &b = launch.tensors.at("b");
    const std::int64_t k = a.sizes()[1], n = b.sizes()[1];
    double sum = 0;
    for (std::int64_t at = 0; at < k; ++at) sum += a[i * k + at] * b[at * n + j];
    sum *= 0.75;
    if (given.bias) sum += launch.tensors.at("bias")[j];
    if (given.activated) sum = gelu(sum);
    if (given.residual) sum += launch.tensors.at("residual")[i * n + j];
    return sum;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("vector_add adds every element and no more, for floats and integers") {
        const frontend::Program program = load_library("vector_add.kiln");
        for (const ScalarType type : {ScalarType::F32, ScalarType::F16, ScalarType::I32, ScalarType::U8}) {
            Launch launch;
            launch.tensors["a"] = HostTensor(type, Shape{301}, [](std::int64_t i) { return i % 50; });
            launch.tensors["b"] = HostTensor(type, Shape{301}, [](std::int64_t i) { return i % 7; });
            launch.tensors["y"] = HostTensor::filled(type, Shape{301}, 99);
            for (const char* kernel : {"vector_add", "vector_add_naive"}) {
                run_kernel(program, kernel, launch);
                CHECK(worst_excess(
                          launch.tensors["y"], [](std::int64_t i) { return i % 50 + i % 7; }, 0) < 0);
            }
        }
    }

    TEST_CASE("gemm with every combination of its options, at odd sizes") {
        const frontend::Program program = load_library("gemm.kiln");
        const std::int64_t m = 19, n = 21, k = 37;
        for (const ScalarType element : {ScalarType::F32, ScalarType::BF16}) {
            for (int options = 0; options < 8; ++options) {
                CAPTURE(options);
                const GemmCase given{element, (options & 1) != 0, (options & 2) != 0, (options & 4) != 0};
                Launch launch = gemm_launch(given, m, n, k);
                for (const char* kernel : {"gemm", "gemm_naive"}) {
                    if (kernel == std::string("gemm_naive")) launch.tunables.clear();
                    run_kernel(program, kernel, launch);
                    const auto expected = [&](std::int64_t i) { return gemm_element(launch, given, i / n, i % n); };
                    CHECK(worst_excess(launch.tensors["c"], expected, 1e-5) < 1e-5);
                }
            }
        }
    }

    TEST_CASE("what divides an axis divides a size as far as the size's form lets it") {
        const frontend::Program program = load_text(
            "kernel k(a: in f32[N, N], b: in f32[M * 6], c: in f32[K + 32], d: in f32[L - 1], e: out f32[P])\n"
            "grid i in 0 .. P {\n    e[i] = a[0, 0] + b[0] + c[0] + d[0]\n}\n");
        frontend::Request request;
        request.kernel = "k";
        request.parameters["a"].divisors = Shape{256, 16};
        request.parameters["b"].divisors = Shape{48};
        request.parameters["c"].divisors = Shape{64};
        request.parameters["d"].divisors = Shape{16};
        std::map<std::string, std::int64_t> divisors;
        for (const ir::SizeBinding& size : specialised(program, request).kernel.sizes)
            divisors[size.name] = size.divisor;
        CHECK(divisors == std::map<std::string, std::int64_t>{{"K", 32}, {"L", 1}, {"M", 8}, {"N", 256}, {"P", 1}});
    }

    TEST_CASE("gemm over no columns writes the bias") {
        const frontend::Program program = load_library("gemm.kiln");
        const GemmCase given{ScalarType::F32, true, false, false};
        Launch launch = gemm_launch(given, 5, 6, 0);
        run_kernel(program, "gemm", launch);
        CHECK(worst_excess(
                  launch.tensors["c"], [&](std::int64_t i) { return launch.tensors["bias"][i % 6]; }, 0) < 0);
    }
}

}  // namespace kiln::test
