// Reads and writes of every kind, element type, shape and stride: compiled code against the interpreter.
#include <fmt/format.h>

#include "kernel_case.h"

using namespace kiln;
using namespace kiln::test;
using enum ir::ScalarType;

namespace {

constexpr std::int64_t kLengths[] = {1, 2, 3, 5, 17, 31, 64, 65, 97, 129, 203};

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("copies of every element type and odd shape") {
        const std::string text = R"(
kernel k<T: any>(x: in T[M, N], y: out T[M, N])
  tune BM in {4}, BN in {32}
grid i in 0 .. M by BM, j in 0 .. N by BN { y[i :+ BM, j :+ BN] = x[i :+ BM, j :+ BN] }
)";
        std::uint32_t seed = 0;
        for (const ir::ScalarType type : {Bool, I8, U16, I32, U64, F16, BF16, F32, F64, F8E4M3, F8E5M2}) {
            for (const std::int64_t n : {std::int64_t{1}, std::int64_t{5}, kLengths[seed % 11]}) {
                CAPTURE(ir::name(type));
                CAPTURE(n);
                ++seed;
                check_case({text, {{"x", tensor(type, {5, n}, 1)}, {"y", tensor(type, {5, n}, 2)}}}, Variants::Two,
                           seed);
            }
        }
    }

    TEST_CASE("matrices of any strides are read and written alike") {
        const std::string text = R"(
kernel k(x: in f32[M, N], y: out f32[M, N], r: out f32[M])
grid i in 0 .. M by 8, j in 0 .. N by 32 {
    let t = x[i :+ 8, j :+ 32]
    y[i :+ 8, j :+ 32] = t * 2 + 1
    if j == 0 { r[i :+ 8] = max(x[i :+ 8, 0 :+ 64, fill = -inf], axis = 1) }
}
)";
        const std::int64_t m = 17, n = 65;
        std::uint32_t seed = 0;
        for (const ir::Shape& in : matrix_strides(m, n, false)) {
            const std::vector<ir::Shape> out = matrix_strides(m, n, true);
            CAPTURE(ir::to_string(in));
            check_case({text,
                        {{"x", strided(tensor(F32, {m, n}, 1), in)},
                         {"y", strided(tensor(F32, {m, n}, 2), out[seed % out.size()])},
                         {"r", strided(tensor(F32, {m}, 3), {seed % 2 == 0 ? 3 : -1})}}},
                       Variants::Two, seed);
            ++seed;
        }
    }

    TEST_CASE("a view of another tensor gives what its contiguous copy gives") {
        // [2, 4, 8] with strides 8, 16, 1 over 0 ... 63: rows that a look at the last stride alone gets wrong.
        const std::string text = R"(
kernel k(x: in f32[A, B, 8], y: out f32[A, B])
grid a in 0 .. A, b in 0 .. B { y[a, b] = sum(x[a, b, :]) }
)";
        const TensorSpec x = strided(tensor(F32, {2, 4, 8}), {8, 16, 1});
        KernelCase test{text, {{"x", x}, {"y", tensor(F32, {2, 4})}}};
        test.contents["x"] = [](std::int64_t index) {
            const std::int64_t a = index / 32, b = index / 8 % 4, c = index % 8;
            return ir::Scalar::f32(static_cast<float>(8 * a + 16 * b + c));
        };
        const auto result = interpreted(test);
        for (std::int64_t index = 0; index < 8; ++index) {
            const double first = static_cast<double>(8 * (index / 4) + 16 * (index % 4));
            CHECK(element_of(*result.at("y"), index).as_double() == 8 * first + 28);
        }
        check_case(test);
    }

    TEST_CASE("slices that begin before a tensor and end behind it read fill and write nothing") {
        const std::string text = R"(
kernel k(x: in f32[N], y: out f32[N], z: out f32[N], p: int)
grid i in -40 .. N + 40 by 16 {
    y[i + p :+ 16] = x[i + p :+ 16, fill = 7] + 1
    z[i - 3 :+ 16] = x[i + 5 :+ 16, fill = -inf]
}
)";
        for (const std::int64_t n : kLengths) {
            CAPTURE(n);
            check_case({text,
                        {{"x", tensor(F32, {n}, 1)},
                         {"y", tensor(F32, {n}, 2)},
                         {"z", tensor(F32, {n}, 3)},
                         {"p", ir::Scalar::int64(n % 7 - 3)}}},
                       Variants::Two, static_cast<std::uint32_t>(n));
        }
        check_case({text,
                    {{"x", tensor(F32, {9}, 1)},
                     {"y", tensor(F32, {9}, 2)},
                     {"z", tensor(F32, {9}, 3)},
                     {"p", ir::Scalar::int64(std::numeric_limits<std::int64_t>::max() - 20)}}});
    }

    TEST_CASE("masks with fill, as option and as select") {
        const std::string text = R"(
kernel k<T: number>(x: in T[M, N], m: in bool[M, N], y: out T[M, N], z: out T[M, N])
grid i in 0 .. M by 4, j in 0 .. N by 32 {
    let keep = m[i :+ 4, j :+ 32]
    y[i :+ 4, j :+ 32, mask = keep] = x[i :+ 4, j :+ 32, mask = keep, fill = T(3)]
    z[i :+ 4, j :+ 32] = select(keep, x[i :+ 4, j :+ 32], T(5)) + x[i :+ 4, j :+ 32, mask = keep[:, 0 :+ 1]]
}
)";
        for (const ir::ScalarType type : {F32, F16, BF16, F64, I8, U16, I32, I64}) {
            CAPTURE(ir::name(type));
            check_case({text,
                        {{"x", tensor(type, {7, 65}, 1)},
                         {"m", tensor(Bool, {7, 65}, 2)},
                         {"y", tensor(type, {7, 65}, 3)},
                         {"z", tensor(type, {7, 65}, 4)}}},
                       Variants::Two, static_cast<std::uint32_t>(type));
        }
    }

    TEST_CASE("gathers and scatters of rows, of elements and outside the tensor") {
        const std::string text = R"(
kernel k<T: any>(x: in T[M, N], id: in i32[R], y: out T[R, N], z: out T[R, 8], w: out T[M, N])
grid i in 0 .. R by 8 {
    let rows = id[i :+ 8, fill = -1]
    y[i :+ 8, 0 :+ 40] = x[rows, 0 :+ 40]
    z[i :+ 8, 0 :+ 8] = x[rows[:, _], 2 * iota(8)[_, :] - 1]
    let inside = rows >= 0
    w[rows, 3 :+ 8] = x[i + iota(8), i :+ 8]
}
)";
        // Every row is named once at most; -1 and 90 are outside.
        const Contents id = listed(I32, {3, -1, 0, 8, 90, 7, 5, -1, 2, -1, 6, -1, -1, 4, -1, 1, -1, -1, -1, 90, 90});
        for (const ir::ScalarType type : {F32, BF16, F64, I8, Bool, F8E4M3}) {
            CAPTURE(ir::name(type));
            KernelCase test{text,
                            {{"x", tensor(type, {9, 31}, 1)},
                             {"id", tensor(I32, {21})},
                             {"y", tensor(type, {21, 31}, 3)},
                             {"z", tensor(type, {21, 8}, 4)},
                             {"w", strided(tensor(type, {9, 31}, 5), {37, 1})}}};
            test.contents["id"] = id;
            check_case(test, Variants::Two, static_cast<std::uint32_t>(type));
        }
    }

    TEST_CASE("views clip at their own bounds") {
        const std::string text = R"(
kernel k(x: in f32[M, N], lo: int, hi: int, y: out f32[32, 32], z: out f32[M, N], s: out int[4])
grid one in 0 .. 1 {
    let part = x[lo .. hi]
    let inner = part[1 .. 9, 2 .. hi]
    y[0 :+ 32, 0 :+ 32] = inner[0 :+ 32, 0 :+ 32, fill = -5]
    s[0] = size(part, 0)
    s[1] = size(inner, 0)
    s[2] = size(inner, 1)
    let row = x[hi]
    s[3] = int(row[2])
    z[lo .. hi][-1 :+ 32, 0 :+ 32] = x[0 :+ 32, 0 :+ 32] * 2
}
)";
        for (const auto& [lo, hi] : {std::pair{0, 12}, {3, 7}, {-4, 5}, {9, 100}, {8, 2}, {20, 30}, {-9, -2}}) {
            CAPTURE(lo);
            CAPTURE(hi);
            check_case({text,
                        {{"x", tensor(F32, {12, 17}, 1, 100)},
                         {"lo", ir::Scalar::int64(lo)},
                         {"hi", ir::Scalar::int64(hi)},
                         {"y", tensor(F32, {32, 32}, 2)},
                         {"z", tensor(F32, {12, 17}, 3)},
                         {"s", tensor(I64, {4}, 4)}}},
                       Variants::Two, static_cast<std::uint32_t>(lo + 50));
        }
    }

    TEST_CASE("reductions over every length read each element once") {
        const std::string text = R"(
kernel k<N: int>(x: in f32[M, N], y: out f32[M], z: out f32[M], w: out f32[N])
grid one in 0 .. 1 {
    static for i in 0 .. 3 {
        y[i] = max(abs(x[i, :]))
        z[i] = sum(x[i, :])
    }
    w[:] = sum(x[0 :+ 3, :], axis = 0)
}
)";
        // One element is -5, the rest 0: a skipped or doubled element shows.
        for (const std::int64_t n : {1, 2, 3, 31, 97, 576}) {
            for (const std::int64_t hot : {std::int64_t{0}, n / 2, n - 1, n * 2 / 3}) {
                CAPTURE(n);
                CAPTURE(hot);
                KernelCase test{text,
                                {{"x", tensor(F32, {3, n})},
                                 {"y", tensor(F32, {3})},
                                 {"z", tensor(F32, {3})},
                                 {"w", tensor(F32, {n})}}};
                test.contents["x"] = [=](std::int64_t index) {
                    return ir::Scalar::f32(index % n == hot ? -5.0f : 0.0f);
                };
                check_case(test, Variants::Two, static_cast<std::uint32_t>(n + hot));
            }
        }
    }
}
