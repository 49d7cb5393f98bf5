// Launches that must be refused, each with the text that names the argument and both values.
#include <doctest/doctest.h>

#include <limits>

#include "tests/runtime/host.h"

namespace kiln::test {
namespace {

constexpr const char* kText = R"(
kernel product<T: real>(a: in T[M, K], b: in T[K, N], c: out T[M, N], bias: in T[N] = none, alpha: f32 = 1)
  require K < 1000, "K is {}, and at most 999 fits", K
grid i in 0 .. M, j in 0 .. N {
    var s: T = 0
    for k in 0 .. K { s += a[i, k] * b[k, j] }
    static if present(bias) { s += bias[j] }
    c[i, j] = s * T(alpha)
}
kernel numbers(n: i8, u: u32, x: f32, flag: bool, y: out f32[1])
grid i in 0 .. 1 { y[0] = x + f32(n) + f32(u) + f32(flag) }
kernel update(x: inout f32[N])
grid i in 0 .. N { x[i] = x[i] + 1 }
kernel sized<D: int>(x: in f32[M, D], w: in f32[D * 2], y: out f32[M])
  where D <= 64
grid i in 0 .. M { y[i] = sum(x[i, :]) + w[0] }
)";

/// Memory that the launches below name; they are refused before any of it is touched.
float memory[4096];

class Refused {
public:
    Kernel kernel = kernel_of(kText, "product");

    template <class... Arguments>
    std::string operator()(const Arguments&... arguments) const {
        return error_of([&] { kernel.launch(cpu(), arguments...); });
    }
};

const Tensor kA = tensor(memory, {2, 3}), kB = tensor(memory + 100, {3, 4}), kC = tensor(memory + 200, {2, 4});

TEST_SUITE("unit") {
    TEST_CASE("refused: what does not match the declaration") {
        const Refused refused;
        CHECK(refused(kA, kB) == "user: `c` of `product` was not given");
        CHECK(refused(kA, kB, none) == "user: `c` of `product` was not given");
        CHECK(refused() == "user: `a` of `product` was not given");
        CHECK(refused(kA, kB, kC, none, 1, 2) == "user: `product` takes 5 arguments, and 6 were given");
        CHECK(refused(kA, kB, kC, arg("bais", kA)) == "user: `product` has no parameter `bais`; did you mean `bias`?");
        CHECK(refused(kA, kB, kC, arg("zzzzzz", kA)) == "user: `product` has no parameter `zzzzzz`");
        CHECK(refused(kA, kB, kC, arg("a", kA)) == "user: `a` was given twice");
        CHECK(refused(arg("a", kA), arg("a", kA)) == "user: `a` was given twice");
        CHECK(refused(arg("a", kA), kB, kC) ==
              "user: an argument by position follows one by name in the launch of `product`");
        CHECK(refused(kA, 3, kC) == "user: `b` is a tensor, and a number was given");
        CHECK(refused(kA, kB, kC, none, kA) == "user: `alpha` is a number (f32), and a tensor was given");
        CHECK(refused(kA, kB, kC, none, true) == "user: `alpha` is f32, and a bool was given");
    }

    TEST_CASE("refused: rank, element type, and sizes that disagree") {
        const Refused refused;
        CHECK(refused(kA, tensor(memory, {3}), kC) ==
              "user: `b` has 2 axes in the kernel, and a tensor of 1 axis was given");
        CHECK(refused(kA, Tensor{memory, f32, {3, 4}, {4}}, kC) == "user: `b` was given 2 sizes and 1 strides");
        CHECK(refused(kA, tensor(memory + 100, {5, 4}), kC) ==
              "user: `b` has 5 along axis 0 where `a` has 3 along axis 1 (K)");
        CHECK(refused(kA, kB, tensor(memory + 200, {2, 5})) ==
              "user: `c` has 5 along axis 1 where `b` has 4 along axis 1 (N)");
        CHECK(refused(kA, kB, tensor(memory + 200, {7, 4}), tensor(memory + 300, {9})) ==
              "user: `c` has 7 along axis 0 where `a` has 2 along axis 0 (M)\n"
              "`bias` has 9 along axis 0 where `b` has 4 along axis 1 (N)");
        const std::string types = refused(kA, tensor(f64, memory + 100, {3, 4}), kC);
        CHECK(types == "user: `b` has elements of type f64 where `a` has f32 (T)");
        const std::string integers =
            refused(tensor(i32, memory, {2, 3}), tensor(i32, memory + 100, {3, 4}), tensor(i32, memory + 200, {2, 4}));
        CHECK(contains(integers, "i32"));
        CHECK(contains(integers, "real"));
    }

    TEST_CASE("refused: sizes that cannot be, and memory that is not there") {
        const Refused refused;
        CHECK(refused(tensor(memory, {2, -3}), kB, kC) == "user: `a` was given the negative size -3");
        CHECK(refused(tensor(static_cast<float*>(nullptr), {2, 3}), kB, kC) == "user: `a` is null");
        CHECK(
            refused(tensor(memory, {4, 4611686018427387905}), tensor(memory, {4611686018427387905, 0}),
                    tensor(memory, {4, 0})) ==
            "user: `a` with sizes [4, 4611686018427387905] and strides [4611686018427387905, 1] is larger than memory "
            "can be\n`b` with sizes [4611686018427387905, 0] and strides [0, 1] is larger than memory can be");
        const Tensor stretched{memory, f32, {2, 3}, {std::numeric_limits<std::int64_t>::max(), 1}};
        CHECK(contains(refused(stretched, kB, kC), "is larger than memory can be"));
        const Tensor lowest{memory, f32, {2, 3}, {std::numeric_limits<std::int64_t>::min(), 1}};
        CHECK(contains(refused(lowest, kB, kC), "is larger than memory can be"));
    }

    TEST_CASE("refused: an output that shares elements, or may") {
        const Refused refused;
        CHECK(refused(kA, kB, tensor(memory + 3, {2, 4})) ==
              "user: `c` and `a` lie in one range of memory, `c` is written, and whether they share elements is "
              "undecided: "
              "use separate memory");
        CHECK(refused(tensor(memory, {2, 4}), tensor(memory + 100, {4, 4}), tensor(memory + 7, {2, 4})) ==
              "user: `c` and `a` share elements, and `c` is written: use a kernel with `inout`, or separate memory");
        CHECK(refused(kA, kB, Tensor{memory + 200, f32, {2, 4}, {0, 1}}) ==
              "user: elements of `c` share memory with each other, and it is written");
        CHECK(refused(kA, kB, Tensor{memory + 200, f32, {2, 4}, {2, 1}}) ==
              "user: elements of `c` share memory with each other, and it is written");
        const Kernel update = kernel_of(kText, "update");
        CHECK(error_of([&] {
                  update.launch(cpu(), Tensor{memory, f32, {4}, {0}});
              }) == "user: elements of `x` share memory with each other, and it is written");
    }

    TEST_CASE("refused: numbers out of range or of another kind") {
        const Kernel kernel = kernel_of(kText, "numbers");
        const Tensor y = tensor(memory, {1});
        const auto refused = [&](const auto&... arguments) {
            return error_of([&] { kernel.launch(cpu(), arguments...); });
        };
        CHECK(refused(128, 0, 0, true, y) == "user: `n` is 128, which i8 cannot hold");
        CHECK(refused(-129, 0, 0, true, y) == "user: `n` is -129, which i8 cannot hold");
        CHECK(refused(0, -1, 0, true, y) == "user: `u` is -1, which u32 cannot hold");
        CHECK(refused(0, 4294967296u + std::int64_t{0}, 0, true, y) ==
              "user: `u` is 4294967296, which u32 cannot hold");
        CHECK(refused(0, std::numeric_limits<std::uint64_t>::max(), 0, true, y) ==
              "user: `u` is 18446744073709551615, which u32 cannot hold");
        CHECK(refused(0, 1.0, 0, true, y) == "user: `u` is u32, and a floating-point number was given");
        CHECK(refused(0, 0, true, true, y) == "user: `x` is f32, and a bool was given");
        CHECK(refused(0, 0, 0, 1, y) == "user: `flag` is bool, and an integer was given");
        CHECK(refused(0, 0, 0, 1.0, y) == "user: `flag` is bool, and a floating-point number was given");
    }

    TEST_CASE("refused: what `require` and `where` do not admit") {
        const Refused refused;
        CHECK(refused(tensor(memory, {1, 1500}), tensor(memory, {1500, 1}), tensor(memory + 2000, {1, 1})) ==
              "user: K is 1500, and at most 999 fits");
        const Kernel sized = kernel_of(kText, "sized");
        const auto launch = [&](std::int64_t d, std::int64_t w) {
            return error_of([&] {
                sized.launch(cpu(), tensor(memory, {1, d}), tensor(memory + 500, {w}), tensor(memory + 1000, {1}));
            });
        };
        CHECK(launch(8, 16) == "");
        CHECK(launch(8, 15) == "user: `w` has 15 along axis 0 where D * 2 is 16");
        CHECK(contains(launch(65, 130), "D <= 64"));
        // A refusal leaves the handle as it was.
        CHECK(launch(8, 16) == "");
    }

    TEST_CASE("refused: unknown kernels, generics and tunables, and values that do not fit") {
        const Module module = Module::from_text(kText);
        const auto refused = [&](const std::string& kernel, const std::vector<Generic>& generics) {
            return error_of([&] { module.kernel(kernel, generics); });
        };
        CHECK(refused("prodct", {}) == "user: there is no kernel `prodct`; did you mean `product`?");
        CHECK(refused("zzzzzz", {}) == "user: there is no kernel `zzzzzz`");
        CHECK(refused("product", {{"U", f32}}) == "user: `product` has no generic or tunable `U`");
        CHECK(refused("product", {{"T", 3}}) == "user: `T` takes an element type");
        CHECK(refused("sized", {{"D", f32}}) == "user: `D` takes a number (int)");
        CHECK(refused("sized", {{"D", "text"}}) == "user: `D` takes a number (int)");
        CHECK(refused("sized", {{"D", 2.5}}) == "user: `D` is i64, and a floating-point number was given");
        CHECK(refused("sized", {{"D", true}}) == "user: `D` is i64, and a bool was given");
        const auto result = module.try_kernel("prodct");
        REQUIRE(!result);
        CHECK(result.error().kind() == ErrorKind::user);
        const std::string type = error_of([&] {
            module.kernel("product").launch(cpu(), tensor(i32, memory, {2, 3}), kB, kC);
        });
        CHECK(type == "user: `b` has elements of type f32 where `a` has i32 (T)");
        const std::string given = error_of([&] { module.kernel("product", {{"T", f64}}).launch(cpu(), kA, kB, kC); });
        CHECK(given == "user: `a` has elements of type f32 where T is f64");
        const std::string declared = error_of([&] { module.kernel("update").launch(cpu(), tensor(i32, memory, {4})); });
        CHECK(declared == "user: `x` has elements of type i32 where the kernel takes f32");
        const Kernel fixed = module.kernel("sized", {{"D", 16}});
        const std::string size = error_of([&] {
            fixed.launch(cpu(), tensor(memory, {1, 8}), tensor(memory + 500, {16}), tensor(memory + 1000, {1}));
        });
        CHECK(contains(size, "16"));
        CHECK(contains(size, "8"));
    }

    TEST_CASE("refused: errors of the text arrive with line, caret and hint, several at once") {
        const auto result = Module::try_from_text(
            "kernel k(x: in f32[N], y: out f32[N])\n"
            "grid i in 0 .. N {\n"
            "    y[i] = xx[i]\n"
            "    z[i] = 1\n"
            "}\n",
            "mine.kiln");
        REQUIRE(!result);
        const std::string text = result.error().what();
        CHECK(contains(text, "mine.kiln:3:12"));
        CHECK(contains(text, "y[i] = xx[i]"));
        CHECK(contains(text, "^^"));
        CHECK(contains(text, "did you mean `x`?"));
        CHECK(contains(text, "mine.kiln:4:5"));
        CHECK(!Module::try_from_file("/nowhere/at_all.kiln"));
    }

    TEST_CASE("refused: an error of types appears at the first launch, and again at the second") {
        const Kernel kernel = kernel_of(
            "kernel k<T: real>(x: in T[N], y: out f32[N])\n"
            "grid i in 0 .. N { y[i] = x[i] }\n",
            "k");
        for (int round = 0; round < 2; ++round) {
            const auto result = kernel.try_launch(cpu(), tensor(f64, memory, {2}), tensor(memory + 100, {2}));
            REQUIRE(!result);
            CHECK(result.error().kind() == ErrorKind::user);
            CHECK(contains(result.error().what(), "text.kiln:2:"));
        }
        CHECK(kernel.try_launch(cpu(), tensor(memory, {2}), tensor(memory + 100, {2})));
    }

    TEST_CASE("refused: the try_ forms return what the others throw") {
        CHECK(contains(error_of([] { Device::open("cuda:0"); }), "device: there is no device `cuda:0`"));
        const auto device = Device::try_open("abacus");
        REQUIRE(!device);
        CHECK(device.error().kind() == ErrorKind::device);
        CHECK(error_of([&] { Device::try_open("abacus").value(); }) != "");
        const Refused refused;
        const auto prepared = refused.kernel.try_prepare(cpu(), kA, kB);
        REQUIRE(!prepared);
        CHECK(std::string(prepared.error().what()) == "`c` of `product` was not given");
        const auto launched = refused.kernel.try_launch(cpu(), kA, kB, kC);
        CHECK(launched);
        launched.value();
        CHECK(Device::available() == std::vector<std::string>{"cpu"});
        CHECK(Device::open().name() == "cpu");
        CHECK(Device::open().units() >= 1);
    }
}

}  // namespace
}  // namespace kiln::test
