// Builtins that combine, order, count and draw, atomics, and messages: values through the interpreter.
#include "tests/frontend/kernel_run.h"
#include "tests/support/special_values.h"

namespace kiln::test {

namespace {

using ir::ScalarType;
using ir::Shape;
using Values = std::vector<double>;

/// Runs `k(x: in f32[N], n: inout T[M])` and returns n.
Values result_of(const std::string& body, const Values& x, const std::string& type = "f32", Values n = Values(8, -1)) {
    const frontend::Program program =
        load_text("kernel k(x: in f32[N], n: inout " + type + "[M])\ngrid one in 0 .. 1 {\n" + body + "\n}\n");
    const auto element = *ir::scalar_type_named(type);
    Launch launch;
    launch.tensors["x"] = HostTensor(ScalarType::F32, Shape{static_cast<std::int64_t>(x.size())},
                                     [&](std::int64_t i) { return x[static_cast<std::size_t>(i)]; });
    launch.tensors["n"] = HostTensor(element, Shape{static_cast<std::int64_t>(n.size())},
                                     [&](std::int64_t i) { return n[static_cast<std::size_t>(i)]; });
    run_kernel(program, "k", launch);
    Values values;
    for (std::int64_t i = 0; i < launch.tensors["n"].count(); ++i) values.push_back(launch.tensors["n"][i]);
    return values;
}

std::string text_of(const Values& values) {
    return fmt::format("{}", fmt::join(values, " "));
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("philox gives the published words, also on tiles") {
        const Values zero = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
        const std::string scalar = R"(
    let a, b, c, d = philox(0, 0)
    n[0 :+ 4] = stack(a, b, c, d, axis = 0)
    let e, f, g, h = philox(broadcast(u64(size(x, 0)) - 2, 2), 0)
    n[4 :+ 4] = join(stack(e, f, axis = 1), stack(g, h, axis = 1), axis = 1)[1, :])";
        const Values words = result_of(scalar, {0, 0}, "u32", Values(8, 0));
        CHECK(Values(words.begin(), words.begin() + 4) == zero);
        CHECK(Values(words.begin() + 4, words.end()) == zero);
        // random is the first word's upper 24 bits
        CHECK(result_of("n[0] = random(0, 0)", {0}, "f32", {0}) == Values{std::floor(0x6627e8d5 / 256.0) * 0x1p-24});
    }

    TEST_CASE("stack and join put tiles beside each other") {
        const std::string body = R"(
    let a = x[0 :+ 2]
    let b = x[2 :+ 2]
    n[0 :+ 4] = join(a, b, axis = 0)
    n[4 :+ 4] = reshape(stack(a, b, axis = 1), 4))";
        CHECK(result_of(body, {1, 2, 3, 4}) == Values{1, 2, 3, 4, 1, 3, 2, 4});
    }

    TEST_CASE("argmax takes NaN first, then the lowest of equal ones") {
        const std::string body = R"(
    let t = reshape(x[0 :+ 6], 2, 3)
    n[0 :+ 2] = argmax(t, axis = 1)
    n[2 :+ 3] = argmax(t, axis = 0)
    n[5] = argmax(t)
    n[6] = argmax(x[0 :+ 6] == 4)
    n[7] = argmax(i32(x[0 :+ 3])))";
        CHECK(result_of(body, {1, 4, 4, 5, 2, 3}, "i64", Values(8, -1)) == Values{1, 0, 1, 0, 0, 3, 1, 1});
        CHECK(result_of("n[0] = argmax(x[0 :+ 4])", {9, kNan, 2, kNan}, "i64", {0}) == Values{1});
        CHECK(result_of("n[0] = argmax(x[0 :+ 4])", {-INFINITY, -INFINITY, -3, -INFINITY}, "i64", {0}) == Values{2});
    }

    TEST_CASE("scan and cumsum run along an axis") {
        const std::string body = R"(
    n[0 :+ 4] = cumsum(x[0 :+ 4], axis = 0)
    n[4 :+ 4] = cumsum(x[0 :+ 4], axis = 0, exclusive = true))";
        CHECK(result_of(body, {1, 2, 3, 4}) == Values{1, 3, 6, 10, 0, 1, 3, 6});
        const std::string pairs = R"(
    fn then(a: (f32, f32), b: (f32, f32)) -> (f32, f32) {
        let a1, b1 = a
        let a2, b2 = b
        return (a1 * a2, a2 * b1 + b2)
    }
    let _, h = scan((broadcast(0.5, 2, 2), reshape(x[0 :+ 4], 2, 2)), then, axis = 0)
    n[0 :+ 4] = reshape(h, 4))";
        CHECK(result_of(pairs, {8, 4, 1, 1}, "f32", Values(4, 0)) == Values{8, 4, 5, 3});
        CHECK(result_of("n[0] = cumsum(x[0 :+ 1], axis = 0, exclusive = true)[0]", {5}, "f32", {7}) == Values{0});
        // f16 sums are carried in f32: 2049 is no f16, but 2052 is.
        CHECK(result_of("n[0] = cumsum(f16(x[0 :+ 4]), axis = 0)[3]", {2048, 1, 1, 2}, "f16", {0}) == Values{2052});
    }

    TEST_CASE("reduce combines with one's own function, whose captures it sees") {
        const std::string body = R"(
    let scale = x[3]
    fn wide(a: f32, b: f32) -> f32 {
        if a > b { return a + 0 * scale }
        return b
    }
    n[0] = reduce(x[0 :+ 3], wide)
    let lo, hi = reduce((reshape(x[0 :+ 4], 2, 2), reshape(x[0 :+ 4], 2, 2)), both, axis = 1)
    fn both(a: (f32, f32), b: (f32, f32)) -> (f32, f32) {
        let p, q = a
        let r, s = b
        return (min(p, r), max(q, s))
    }
    n[1 :+ 2] = lo
    n[3 :+ 2] = hi)";
        std::string ordered = body;
        const std::size_t from = ordered.find("    fn both"), to = ordered.find("    n[1 :+ 2]");
        const std::string function = ordered.substr(from, to - from);
        ordered.erase(from, to - from);
        ordered.insert(ordered.find("    let lo"), function);
        CHECK(result_of(ordered, {3, 7, 5, 2}, "f32", Values(5, 0)) == Values{7, 3, 2, 7, 5});
    }

    TEST_CASE("sort is stable, puts NaN at the great end, and topk names places") {
        CHECK(text_of(result_of("n[0 :+ 5] = sort(x[0 :+ 5], axis = 0)", {3, kNan, -1, 3, -INFINITY}, "f32",
                                Values(5, 0))) == text_of({-INFINITY, -1, 3, 3, kNan}));
        CHECK(text_of(result_of("n[0 :+ 5] = sort(x[0 :+ 5], axis = 0, descending = true)", {3, kNan, -1, 3, 9}, "f32",
                                Values(5, 0))) == text_of({kNan, 9, 3, 3, -1}));
        const std::string places = R"(
    let v, at = topk(reshape(x[0 :+ 6], 2, 3), 2)
    n[0 :+ 4] = reshape(f32(at), 4)
    n[4 :+ 4] = reshape(v, 4))";
        CHECK(text_of(result_of(places, {5, 5, 1, 2, 9, kNan})) == text_of({0, 1, 2, 1, 5, 5, kNan, 9}));
    }

    TEST_CASE("bincount counts what lies in range and under the mask") {
        const std::string body = R"(
    n[0 :+ 4] = bincount(i32(x[0 :+ 6]), 4)
    n[4 :+ 4] = bincount(i32(x[0 :+ 6]), 4, mask = iota(6) > 1))";
        CHECK(result_of(body, {0, 3, 3, -1, 4, 1}, "u32", Values(8, 9)) == Values{1, 1, 0, 2, 0, 1, 0, 1});
    }

    TEST_CASE("atomics apply once for each mention and give what stood there") {
        const std::string body = R"(
    let old = atomic_add(n[i32(x[0 :+ 4]), fill = 50], 10)
    n[4 :+ 4] = old)";
        CHECK(result_of(body, {0, 0, 3, -1}, "i32", {1, 2, 3, 4, 0, 0, 0, 0}) == Values{21, 2, 3, 14, 1, 11, 4, 50});
        const std::string kinds = R"(
    atomic_min(n[0], 5)
    atomic_max(n[1], 5)
    atomic_and(n[2], 6)
    atomic_or(n[3], 8)
    atomic_xor(n[4], 3, order = acq_rel)
    n[6] = atomic_exchange(n[5], 77)
    n[7] = atomic_cas(n[0], 5, 1) * 10 + atomic_cas(n[1], 5, 1))";
        CHECK(result_of(kinds, {0}, "u32", {9, 9, 3, 3, 5, 6, 0, 0}) == Values{1, 9, 2, 11, 6, 77, 6, 59});
        const std::string masked = "atomic_add(n[0 :+ 4, mask = iota(4) % 2 == 0], x[0 :+ 4])";
        CHECK(result_of(masked, {1, 2, 3, 4}, "f32", {0, 0, 0}) == Values{1, 0, 3});
        // one rounding each: 256 + 1 is 256 in bf16
        CHECK(result_of("atomic_add(n[i32(x[0 :+ 3])], 1)", {0, 0, 0}, "bf16", {256}) == Values{256});
        // a number before NaN
        CHECK(result_of("atomic_max(n[0], x[0])", {2}, "f32", {kNan}) == Values{2});
    }

    TEST_CASE("dot_scaled multiplies blocks by their scales") {
        const std::string body = R"(
    let ones = saturate(broadcast(1.5, 1, 4), f4e2m1)
    let column = saturate(broadcast(2.0, 4, 1), f8e4m3)
    let sa = saturate(reshape(x[0 :+ 2], 1, 2), f8e8m0)
    let sb = saturate(broadcast(0.5, 2, 1), f8e4m3)
    n[0] = dot_scaled(f4e2m1(f32(ones)), sa, transpose(f4e2m1(f32(transpose(column)))), sb, block = 2)[0, 0])";
        CHECK(result_of(body, {4, 1}, "f32", {0}) == Values{15});
    }

    TEST_CASE("print hands out lines, and a false assert ends the run with its program") {
        const frontend::Program program = load_text(R"(
fn root(v: f32) -> f32 {
    if v < 0 { return 0 }
    assert(v < 100, "{} is too much", 100)
    return v
}
kernel k(x: in f32[N], y: out f32[N])
grid i in 0 .. N by 2 {
    let t = x[i :+ 2]
    print("at {}: {}", i, t)
    y[i :+ 2] = root(t)
})");
        Launch launch;
        launch.tensors["x"] =
            HostTensor(ScalarType::F32, Shape{4}, [](std::int64_t i) { return i == 3 ? 200 : i - 1; });
        launch.tensors["y"] = HostTensor::filled(ScalarType::F32, Shape{4}, -1);
        const frontend::Specialisation specialisation = specialised(program, request_for(program, "k", launch));
        std::vector<std::string> lines;
        const std::vector<ir::Argument> arguments{launch.tensors["x"].view(), launch.tensors["y"].view()};
        const ir::LaunchErrors errors =
            ir::interpret(specialisation.kernel, arguments, 1, [&](const std::string& line) { lines.push_back(line); });
        CHECK(lines == std::vector<std::string>{"at 0: [-1, 0]", "at 2: [1, 200]"});
        REQUIRE(errors.messages.size() == 1);
        CHECK(errors.messages[0] == "100 is too much, in program (2)");
        CHECK(launch.tensors["y"][1] == 0);
        CHECK(launch.tensors["y"][2] == -1);
    }
}

}  // namespace kiln::test
