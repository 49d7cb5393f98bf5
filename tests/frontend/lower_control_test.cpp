// Leaving loops, and control flow that differs from element to element, through the interpreter.
#include "tests/frontend/kernel_run.h"

namespace kiln::test {

namespace {

using ir::ScalarType;
using ir::Shape;
using Values = std::vector<double>;

/// Runs `k(x: in f32[N], y: inout f32[N])` with x = 1, 2, 3 ..., y = -1, N = 10, and returns y.
Values result_of(const std::string& before, const std::string& body) {
    const frontend::Program program =
        load_text(before + "kernel k(x: in f32[N], y: inout f32[N])\ngrid one in 0 .. 1 {\n" + body + "}\n");
    Launch launch;
    launch.tensors["x"] = HostTensor(ScalarType::F32, Shape{10}, [](std::int64_t i) { return i + 1; });
    launch.tensors["y"] = HostTensor::filled(ScalarType::F32, Shape{10}, -1);
    run_kernel(program, "k", launch);
    Values values;
    for (std::int64_t i = 0; i < 10; ++i) values.push_back(launch.tensors["y"][i]);
    return values;
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("`break` and `continue` leave the loop or the round around them") {
        const Values y = result_of("", R"(
    var s: f32 = 0
    for i in 0 .. 10 {
        if i == 2 { continue }
        if i == 5 { break }
        s += x[i]
    }
    y[0] = s
    var n: int = 0
    while true {
        n += 1
        if n > 6 {
            break
        } else {
            if n % 2 == 0 { continue }
        }
        s += 100
    }
    y[1] = s
    y[2] = f32(n)
    for i in 0 .. 4 {
        for j in 0 .. 4 {
            if j > i { break }
            y[3] = y[3] + 1
        }
        static if true {
            if i == 2 { continue }
            y[4] = y[4] + 1
        }
    }
    for i in 0 .. 10 by 3 {
        y[5] = f32(i)
        break
    }
    for i in 5 .. 5 { break }
    for i in 9223372036854775800 .. 9223372036854775807 by 5 {
        if i < 0 { break }
        y[6] = y[6] + 1
    }
)");
        CHECK(y == Values{12, 312, 7, 9, 2, 0, 1, -1, -1, -1});
    }

    TEST_CASE("a function that returns early leaves the loop it is called in alone") {
        const Values y = result_of(R"(
fn sign(v: f32) -> f32 {
    if v < 3 { return -1 }
    for i in 0 .. 5 {
        if v == f32(i) { break }
    }
    if v == 5 { return 0 }
    return 1
}
)",
                                   R"(
    var s: f32 = 0
    for i in 0 .. 10 {
        let k = sign(x[i])
        if k == 0 { continue }
        s += k * x[i]
        if s > 20 { break }
    }
    y[0] = s
    var n: int = 0
    while sign(f32(n)) < 0 { n += 1 }
    y[1] = f32(n)
)");
        CHECK(y == Values{25, 3, -1, -1, -1, -1, -1, -1, -1, -1});
    }

    TEST_CASE("in a lifted call each element takes its own branch") {
        const Values y = result_of(R"(
fn kind(v: f32) -> f32 {
    if v > 8 { return -1 }
    var r = v
    if v < 3 {
        r = 100
    } else if v == 5 {
        if r > 0 { return 55 }
        r = 7
    } else {
        r += 0.5
    }
    return r
}
)",
                                   "    y[0 :+ 10] = kind(x[0 :+ 10])\n");
        CHECK(y == Values{100, 100, 3.5, 4.5, 55, 6.5, 7.5, 8.5, -1, -1});
    }

    TEST_CASE("in a lifted call each element runs its own number of rounds") {
        const std::string functions = R"(
fn halvings(v: f32) -> f32 {
    var k = v
    var n: f32 = 0
    while k > 1 {
        k = k / 2
        n += 1
    }
    return n
}
fn guarded(v: f32) -> f32 {
    var n: f32 = 0
    if v < 4 {
        while n != v { n += 1 }
    }
    return n
}
)";
        CHECK(result_of(functions, "    y[0 :+ 10] = halvings(x[0 :+ 10])\n") == Values{0, 1, 2, 2, 3, 3, 3, 3, 4, 4});
        CHECK(result_of(functions, "    y[0 :+ 10] = guarded(x[0 :+ 10] + 0)\n") ==
              Values{1, 2, 3, 0, 0, 0, 0, 0, 0, 0});
        // Elements that the branch leaves out would never end.
        CHECK(result_of(functions, "    y[0 :+ 10] = guarded(x[0 :+ 10] + select(iota(10) > 5, 0.5, 0))\n") ==
              Values{1, 2, 3, 0, 0, 0, 0, 0, 0, 0});
    }

    TEST_CASE("in a lifted call bounds of `for`, `break` and `continue` are each element's own") {
        const Values y = result_of("", R"(
    fn total(n: int) -> f32 {
        var s: f32 = 0
        for i in 0 .. n {
            if i == 5 { break }
            if i == 1 { continue }
            s += x[i]
        }
        return s
    }
    y[0 :+ 10] = total(iota(10))
)");
        CHECK(y == Values{0, 1, 1, 4, 8, 13, 13, 13, 13, 13});
    }
}

}  // namespace kiln::test
