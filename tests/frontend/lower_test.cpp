// Small programs through the interpreter: what each construct of the language does to values.
#include "tests/frontend/kernel_run.h"

namespace kiln::test {

namespace {

using ir::ScalarType;
using ir::Shape;

/// Runs `k(x: in f32[N], id: in i32[M], y: inout f32[N])` with x = 1, 2, 3 ..., id as given, y = -1, and returns y.
HostTensor results_of(const std::string& rest, std::vector<double> id = {0, 1, 2, 3}, std::int64_t n = 10) {
    const frontend::Program program = load_text("kernel k(x: in f32[N], id: in i32[M], y: inout f32[N])\n" + rest);
    Launch launch;
    launch.tensors["x"] = HostTensor(ScalarType::F32, Shape{n}, [](std::int64_t i) { return i + 1; });
    launch.tensors["id"] = HostTensor(ScalarType::I32, Shape{static_cast<std::int64_t>(id.size())},
                                      [&](std::int64_t i) { return id[static_cast<std::size_t>(i)]; });
    launch.tensors["y"] = HostTensor::filled(ScalarType::F32, Shape{n}, -1);
    run_kernel(program, "k", launch);
    return launch.tensors["y"];
}

std::vector<double> values(const HostTensor& tensor) {
    std::vector<double> all;
    for (std::int64_t i = 0; i < tensor.count(); ++i) all.push_back(tensor[i]);
    return all;
}

using Values = std::vector<double>;

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("gathers read fill outside, scatters drop it, masks leave the rest alone") {
        const HostTensor y = results_of(R"(
grid one in 0 .. 1 {
    let at = id[0 :+ 4]
    y[at] = x[at, fill = 50] * 2
    y[4 :+ 4, mask = iota(4) % 2 == 0] = x[8 :+ 4, mask = iota(4) != 0, fill = 7]
})",
                                        {3, -1, 0, 99});
        CHECK(values(y) == Values{2, -1, -1, 8, 7, -1, 7, -1, -1, -1});
    }

    TEST_CASE("a view clips at its own bounds and clamps them to the tensor") {
        const HostTensor y = results_of(R"(
grid one in 0 .. 1 {
    let part = x[2 .. 5]
    y[0 :+ 6] = part[1 :+ 6, fill = 40]
    let wide = x[-3 .. 100]
    y[6] = f32(size(wide, 0))
    y[7 .. 9][0 :+ 8] = 9
})");
        CHECK(values(y) == Values{4, 5, 40, 40, 40, 40, 10, 9, 9, -1});
    }

    TEST_CASE("`return` in a branch ends the program or gives the function's result") {
        const HostTensor y = results_of(R"(
grid i in 0 .. N {
    fn kind(v: int) -> f32 {
        if v > 6 { return 3 }
        var low: f32 = 0
        if v < 2 { low = 1 } else if v == 2 { return 9 } else { low += 2 }
        return low * 10
    }
    if i == 4 { return }
    y[i] = kind(i)
})");
        CHECK(values(y) == Values{10, 10, 9, 20, -1, 20, 20, 3, 3, 3});
    }

    TEST_CASE("phases see each other through scratch, whose initial value holds until it is written") {
        const HostTensor y = results_of(R"(
  let blocks = cdiv(N, 4)
  scratch total: f32[blocks + 1] = 100
grid b in 0 .. blocks {
    total[b] = sum(x[b * 4 :+ 4])
}
grid i in 0 .. N by 4 {
    y[i :+ 4] = total[i / 4] + total[blocks]
})");
        CHECK(values(y) == Values{110, 110, 110, 110, 126, 126, 126, 126, 119, 119});
    }

    TEST_CASE("variables, tuples among them, are carried by loops and branches") {
        const HostTensor y = results_of(R"(
grid one in 0 .. 1 {
    fn step(state: (f32, int), add: f32) -> (f32, int) {
        let total, count = state
        return (total + add, count + 1)
    }
    var state = (f32(0), 0)
    var odd: f32 = 0
    var j: int = 0
    while j < N {
        state = step(state, x[j])
        if j % 2 == 1 { odd += x[j] } else if j == 4 { state = (f32(0), 0) }
        j += 1
    }
    let total, count = state
    y[0] = total
    y[1] = f32(count)
    y[2] = odd
    var pair = (x[0 :+ 2], x[2 :+ 2])
    for k in 0 .. 3 {
        let a, b = pair
        pair = (b, a + b)
    }
    let first, second = pair
    y[3 :+ 2] = first
    y[5 :+ 2] = second
})");
        // j = 4 starts again: 6 + ... + 10 in five steps; then Fibonacci's rule on (1, 2) and (3, 4).
        CHECK(values(y) == Values{40, 5, 30, 7, 10, 11, 16, -1, -1, -1});
    }

    TEST_CASE("static code is unrolled, dead branches are not typed, and functions are values") {
        const HostTensor y = results_of(R"(
grid one in 0 .. 1 {
    const N2 = 1 << 2
    fn twice(v: f32) -> f32 = v * 2
    fn apply(f: fn(f32) -> f32, v: f32) -> f32 {
        static if f == twice { return f(v) + 0.5 } else { return f(v) }
    }
    fn same(v: f32) -> f32 = v
    static for s in 0 .. N2 by 2 {
        static if s == 0 { y[s] = apply(twice, x[s]) } else { y[s] = apply(same, x[s]) }
    }
    static if N2 > 100 { y[0] = id }
    let t = reshape(x[0 :+ 6], 2, 3)
    let _, middle, right = split(t, 3, axis = 1)
    y[4 :+ 2] = middle[:, 0]
    y[6 :+ 2] = transpose(right)[0, :]
    y[8 :+ 2] = permute(t, 1, 0)[2, 0 :+ 2] + sum(t, axis = 1)
})");
        CHECK(values(y) == Values{2.5, -1, 3, -1, 2, 5, 3, 6, 9, 21});
    }
}

}  // namespace kiln::test
