// The performance contract (docs/language.md, section 11) on the IR: for each clause that tile passes serve, a program
// that gets it and one that does not, with the reason that `kiln explain` gives.
#include "ir/passes/pipeline.h"
#include "ir/passes/rewrite.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "tests/frontend/kernel_run.h"

namespace kiln::test {

namespace {

struct Passed {
    ir::Kernel before, after;
    ir::Shortfalls shortfalls;
    std::string text;  ///< after

    explicit Passed(const std::string& body, bool fits_32_bits = true) {
        const frontend::Program program =
            load_text("kernel k(x: in f32[N], id: in i32[N], far: in i64[N], y: out f32[R], n: int)\n" + body);
        frontend::Request request;
        request.kernel = "k";
        request.fits_32_bits = fits_32_bits;
        before = specialised(program, request).kernel;
        after = before;
        shortfalls = ir::run_tile_passes(after);
        ir::verify_or_throw(after, "the tile passes");
        text = ir::print(after);
    }

    /// The loops of the phase, outer ones first, in order.
    std::vector<ir::OpId> loops() const {
        std::vector<ir::OpId> found;
        ir::for_each_op(after, after.phases[0].block, [&](ir::OpId op) {
            if (after[op].kind == ir::OpKind::For) found.push_back(op);
        });
        return found;
    }
    std::size_t count(ir::OpKind kind, ir::BlockId block) const {
        std::size_t found = 0;
        ir::for_each_op(after, block, [&](ir::OpId op) { found += after[op].kind == kind ? 1 : 0; });
        return found;
    }
    std::size_t count(ir::OpKind kind) const { return count(kind, after.phases[0].block); }
    /// How many tiles of the phase have 64-bit elements.
    std::size_t int_tiles() const {
        std::size_t found = 0;
        ir::for_each_op(after, after.phases[0].block, [&](ir::OpId op) {
            for (const ir::ValueId result : after[op].results) {
                const ir::Type& type = after.type(result);
                found += type.is_tile() && type.element == ir::kInt ? 1 : 0;
            }
        });
        return found;
    }
    /// "a: reason\n" for each.
    std::string reasons() const {
        std::string list;
        for (const ir::Shortfall& shortfall : shortfalls)
            list += std::string(1, shortfall.clause) + ": " + shortfall.reason + "\n";
        return list;
    }
    /// What the kernel leaves in y, before and after the passes.
    void check_same(std::int64_t size, std::int64_t n) const {
        CAPTURE(size);
        CAPTURE(n);
        const auto result = [&](const ir::Kernel& kernel) {
            HostTensor x = HostTensor::noise(ir::ScalarType::F32, {size}, 7);
            HostTensor id(ir::ScalarType::I32, {size},
                          [](std::int64_t i) { return static_cast<double>(i * 7 % 5 - 1); });
            HostTensor far(ir::ScalarType::I64, {size}, [](std::int64_t i) { return static_cast<double>(i) * 1e15; });
            HostTensor y = HostTensor::filled(ir::ScalarType::F32, {4}, -3);
            const std::vector<ir::Argument> arguments = {x.view(), id.view(), far.view(), y.view(),
                                                         ir::Scalar::int64(n)};
            REQUIRE(ir::interpret(kernel, arguments).messages.empty());
            std::vector<double> values;
            for (std::int64_t i = 0; i < 4; ++i) values.push_back(y[i]);
            return values;
        };
        CHECK(result(before) == result(after));
    }
};

constexpr std::int64_t kSizes[] = {0, 1, 31, 32, 33, 63, 64, 65, 100, 128};

}  // namespace

TEST_SUITE("ir") {
    TEST_CASE("contract (a): a mask at the end of a loop costs nothing before it") {
        const Passed passed(
            "grid i in 0 .. 1 {\n    var s: f32 = 0\n    for j in 0 .. N by 32 {\n"
            "        s += sum(select(j + iota(32) < N, x[j :+ 32, fill = 1] * 2, 5), axis = 0)\n    }\n    y[i] = "
            "s\n}\n");
        const auto loops = passed.loops();
        REQUIRE_MESSAGE(loops.size() == 2, passed.text);
        CHECK(passed.count(ir::OpKind::Less, passed.after[loops[0]].blocks[0]) == 0);
        CHECK(passed.count(ir::OpKind::Select, passed.after[loops[0]].blocks[0]) == 0);
        CHECK(passed.count(ir::OpKind::Less, passed.after[loops[1]].blocks[0]) == 1);
        CHECK(passed.reasons() == "");
        for (const std::int64_t size : kSizes) passed.check_same(size, 0);
    }

    TEST_CASE("contract (a): a window has a beginning, a middle and an end") {
        const Passed passed(
            "grid i in 0 .. 4 {\n    var s: f32 = 0\n    for j in 0 .. N by 16 {\n        let at = j + iota(16)\n"
            "        s += sum(select(at >= i * 5 && at <= i * 5 + 40, x[j :+ 16] + 1, 0), axis = 0)\n    }\n    y[i] = "
            "s\n}\n");
        const auto loops = passed.loops();
        REQUIRE_MESSAGE(loops.size() == 3, passed.text);
        const auto comparisons = [&](std::size_t loop) {
            const ir::BlockId body = passed.after[loops[loop]].blocks[0];
            return passed.count(ir::OpKind::GreaterEqual, body) + passed.count(ir::OpKind::LessEqual, body);
        };
        CHECK(comparisons(0) >= 1);  // facts decide the other one there
        CHECK(comparisons(1) == 0);
        CHECK(comparisons(2) == 2);
        for (const std::int64_t size : kSizes) passed.check_same(size, 0);
    }

    TEST_CASE("contract (a): a lower bound alone makes two parts") {
        const Passed passed(
            "grid i in 0 .. 4 {\n    var s: f32 = 0\n    for j in 3 .. N by 8 {\n"
            "        s += sum(select(j + iota(8) > 20 - i, x[j :+ 8] + 1, 7), axis = 0)\n    }\n    y[i] = s\n}\n");
        REQUIRE_MESSAGE(passed.loops().size() == 2, passed.text);
        CHECK(passed.count(ir::OpKind::Greater) == 1);
        for (const std::int64_t size : kSizes) passed.check_same(size, 0);
    }

    TEST_CASE("contract (a): of nested loops each is divided at its own masks") {
        const Passed passed(
            "grid i in 0 .. 4 {\n    var s: f32 = 0\n    for a in 0 .. N by 32 {\n"
            "        let rows = a + iota(32)\n        s += sum(select(rows < N, x[a :+ 32] + 1, 3), axis = 0)\n"
            "        for b in 0 .. a + 1 by 32 {\n            let columns = b + iota(32)\n"
            "            s += sum(sum(select(columns[_, :] <= rows[:, _], x[b :+ 32][_, :] * 2, 0), axis = 1), axis = "
            "0)\n"
            "        }\n    }\n    y[i] = s\n}\n");
        CHECK_MESSAGE(passed.loops().size() == 6, passed.text);
        for (const std::int64_t size : kSizes) passed.check_same(size, 0);
    }

    TEST_CASE("contract (a): what is not divided has its reason") {
        const auto reasons = [](const std::string& body, bool fits = true) { return Passed(body, fits).reasons(); };
        const std::string head = "grid i in 0 .. 1 {\n    var s: f32 = 0\n", tail = "    y[i] = s\n}\n";
        CHECK(reasons(head +
                      "    for j in 0 .. N by n { s += sum(select(j + iota(4) < N, x[j :+ 4] + 1, 0), axis = 0) }\n" +
                      tail) ==
              "a: this mask is computed in each round: the loop's step is known only at launch\n"
              "g: the step of this loop is known only at launch\n");
        CHECK(reasons(head +
                      "    for j in 0 .. N by 4 { s += sum(select(j + iota(4) < n, x[j :+ 4] + 1, 0), axis = 0) }\n" +
                      tail) ==
              "a: this mask is computed in each round: its bound is no sum of values from outside the loop, or may "
              "wrap\n"
              "f: this arithmetic of index tiles takes 64 bits: a number that a launch gives has no range\n");
        // No size is so large that the sum could wrap, whatever is known of the arguments.
        CHECK(
            reasons(
                head + "    for j in 0 .. N by 4 { s += sum(select(j + iota(4) < N, x[j :+ 4] + 1, 0), axis = 0) }\n" +
                    tail,
                false) == "f: this arithmetic of index tiles takes 64 bits: the arguments are not known to be small\n");
        // A mask that never changes in the loop, or that facts decide, is no matter of the loop.
        CHECK(reasons(head +
                      "    for j in 0 .. 64 by 4 { s += sum(select(j + iota(4) < 64 && i + iota(4) < N, x[j :+ 4] + 1, "
                      "0), axis = 0) }\n" +
                      tail) == "");
    }

    TEST_CASE("contract (b): a select of a read is the masked read") {
        const auto loads = [](const std::string& statement) {
            const Passed passed(
                "grid i in 0 .. 1 {\n    let m = x[0 :+ 4] > 0\n    let t = x[n :+ 4]\n    let c = id[n :+ 4]\n" +
                statement + "}\n");
            return passed.text.find(" mask ") != std::string::npos ? "masked" : passed.reasons();
        };
        CHECK(loads("    y[0 :+ 4] = select(m, t, 0)\n") == "masked");
        CHECK(loads("    y[0 :+ 4] = select(m, 0, t)\n") == "masked");
        CHECK(loads("    y[0 :+ 4] = select(m, t, 1)\n") ==
              "b: this select of a read reads all of it: elements outside the tensor would differ: give the read "
              "`fill` the other value\n");
        CHECK(loads("    y[0 :+ 4] = select(m, t, f32(c))\n") ==
              "b: this select of a read reads all of it: the other value is not one for all elements\n");
        CHECK(
            loads("    var s: f32[4] = 0\n    for j in 0 .. n { s = select(s > f32(j), t, 0) }\n    y[0 :+ 4] = s\n") ==
            "b: this select of a read reads all of it: the read stands outside the loop or branch of the select\n");
        // Two uses: the whole is needed anyhow.
        CHECK(loads("    y[0 :+ 4] = select(m, t, 0) + t\n") == "");
    }

    TEST_CASE("contract (b): a read that lies inside takes any value where the mask is false") {
        const frontend::Program program = load_text(
            "kernel k<D: int>(x: in f32[D], y: out f32[D])\ngrid i in 0 .. 16 by 4 {\n"
            "    y[i :+ 4] = select(i + iota(4) < 9, x[i :+ 4], -1)\n}\n");
        frontend::Request request;
        request.kernel = "k";
        request.generics["D"] = ir::Scalar::int64(16);
        ir::Kernel kernel = specialised(program, request).kernel;
        CHECK(ir::run_tile_passes(kernel).empty());
        CHECK_MESSAGE(ir::print(kernel).find("select") == std::string::npos, ir::print(kernel));
    }

    TEST_CASE("contract (c): index tiles that count are slices") {
        CHECK(Passed("grid i in 0 .. N by 4 { y[i :+ 4] = x[n + iota(4)] }\n").text.find("gather") ==
              std::string::npos);
        const Passed narrow("grid i in 0 .. N by 4 { y[i :+ 4] = x[i32(n) + i32(iota(4))] }\n");
        CHECK(narrow.reasons() ==
              "c: this index tile counts up and is no slice: it may wrap in its type: compute it in `int`\n");
    }

    TEST_CASE("contract (d): equal reads of an `in` tensor are one") {
        CHECK(Passed("grid i in 0 .. N by 4 { y[i :+ 4] = x[i :+ 4] * x[i + 0 :+ 4] }\n").count(ir::OpKind::Load) == 1);
        CHECK(Passed("grid i in 0 .. N by 4 { y[i :+ 4] = x[i :+ 4] * x[i + 1 :+ 4] }\n").count(ir::OpKind::Load) == 2);
    }

    TEST_CASE("contract (d): equal reads of which neither stands before the other have their reason") {
        const std::string branches =
            "grid i in 0 .. 1 {\n    if n > 0 { y[0 :+ 4] = x[n :+ 4] } else { y[0 :+ 4] = x[n :+ 4, fill = F] * 2 "
            "}\n}\n";
        const auto reasons = [&](const std::string& fill) {
            std::string text = branches;
            return Passed(text.replace(text.find('F'), 1, fill)).reasons();
        };
        CHECK(reasons("0") == "d: an equal read stands in another branch or loop: read it before both\n");
        CHECK(reasons("1") == "");
        // A pass that divides a loop copies its reads.
        CHECK(Passed("grid i in 0 .. 1 {\n    for j in 0 .. N by 4 {\n"
                     "        y[0 :+ 4] = select(j + iota(4) < N, x[j :+ 4] + x[n :+ 4], 0)\n    }\n}\n")
                  .reasons() == "");
    }

    TEST_CASE("contract (f): index tiles are computed in 32 bits") {
        const Passed passed(
            "grid i in 0 .. 4 {\n    var s: f32 = 0\n    for j in 0 .. N by 16 {\n        let at = j + iota(16)\n"
            "        let block = reshape(at, 4, 4) / 3 + 2 * i\n"
            "        s += sum(select(at % 3 == i, x[at * 2 - i] + 1, f32(at)), axis = 0)\n"
            "        s += f32(sum(i32(block), axis = 0)[1])\n    }\n    y[i] = s\n}\n");
        CHECK_MESSAGE(passed.int_tiles() == 0, passed.text);
        CHECK(passed.reasons() == "");
        for (const std::int64_t size : kSizes) passed.check_same(size, 0);
    }

    TEST_CASE("contract (f): what needs 64 bits keeps them") {
        // What is used as it is: here in a sum of `int`, and carried by a loop.
        const Passed summed(
            "grid i in 0 .. 4 {\n    var at = i + iota(4)\n    while at[0] < N { at = at + 5 }\n"
            "    y[i] = f32(sum(i * iota(4), axis = 0)) + f32(sum(at, axis = 0))\n}\n");
        CHECK_MESSAGE(summed.int_tiles() > 2, summed.text);
        for (const std::int64_t size : kSizes) summed.check_same(size, 0);
        // Counts of bits, and shifts by more than 31.
        const Passed bits(
            "grid i in 0 .. 4 { y[i] = sum(f32(popcount(i - iota(8)) + clz(i + iota(8)) + (iota(8) << i * 11)), "
            "axis = 0) }\n");
        bits.check_same(4, 0);
    }

    TEST_CASE("contract (f): what is not narrowed has its reason") {
        const auto reasons = [](const std::string& body, bool fits = true) { return Passed(body, fits).reasons(); };
        const std::string head = "f: this arithmetic of index tiles takes 64 bits: ";
        const std::string slices =
            "grid i in 0 .. N by 4 { y[i :+ 4] = select((i + iota(4)) / 3 > 7, x[i :+ 4] + 1, 0) }\n";
        CHECK(reasons(slices) == "");
        CHECK(reasons(slices, false) == head + "the arguments are not known to be small\n");
        CHECK(reasons("grid i in 0 .. 4 by 4 { y[i :+ 4] = f32(n + iota(4)) }\n") ==
              head + "a number that a launch gives has no range\n");
        CHECK(reasons("grid i in 0 .. 4 { for j in 0 .. n by 4 { y[i] = sum(f32(j + iota(4)), axis = 0) } }\n") ==
              head + "a number that a launch gives has no range\n");
        CHECK(reasons("grid i in 0 .. 4 {\n    var k = 0\n    while k < N { k = k + 3 }\n"
                      "    y[i] = sum(f32(k + iota(4)), axis = 0)\n}\n") ==
              head + "a number that a loop or branch hands on has no range\n");
        CHECK(reasons("grid i in 0 .. N by 4 { y[i :+ 4] = f32((i + iota(4)) * N) }\n") ==
              head + "its result may need them\n");
        CHECK(reasons("grid i in 0 .. N by 4 { y[i :+ 4] = f32(i * N + iota(4)) }\n") ==
              head + "a result on the way may need them\n");
        // Numbers from i32 memory have the range of their type, those from i64 memory are the program's own.
        CHECK(reasons("grid i in 0 .. N by 4 { y[i :+ 4] = f32(int(id[i :+ 4]) / 2) }\n") == "");
        CHECK(reasons("grid i in 0 .. N by 4 { y[i :+ 4] = f32(int(id[i :+ 4]) + 1) }\n") ==
              head + "its result may need them\n");
        CHECK(reasons("grid i in 0 .. N by 4 { y[i :+ 4] = f32(far[i :+ 4] + 1) }\n") == "");
    }

    TEST_CASE("contract (g): steps by tunables and units() are constants") {
        const frontend::Program program = load_text(
            "kernel k(x: in f32[N], y: out f32[N])\n  tune B in {4, 8}\ngrid i in 0 .. N by B * units() {\n"
            "    for j in i .. i + B * units() by B { y[j :+ B] = x[j :+ B] }\n}\n");
        frontend::Request request;
        request.kernel = "k";
        request.units = 3;
        ir::Kernel kernel = specialised(program, request).kernel;
        CHECK(ir::run_tile_passes(kernel).empty());
        const auto step = kernel.constant(kernel.phases[0].axes[0].step);
        REQUIRE(step.has_value());
        CHECK(step->as_int64() == 12);
        const Passed launched("grid i in 0 .. N by n { y[i] = x[i] }\n");
        CHECK(launched.reasons() == "g: the step of this grid is known only at launch\n");
    }
}

}  // namespace kiln::test
