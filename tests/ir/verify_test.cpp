#include "ir/verify.h"

#include <doctest/doctest.h>

#include "every_op.h"
#include "ir/support/internal_error.h"
#include "ir_text.h"

using namespace kiln;

namespace {

/// A phase body (in test::small_kernel, with the values below) and a part of the violation it must have.
struct Broken {
    const char* body;
    const char* violation;
};

const std::string kPrelude =
    "    %f = constant 1 : f32\n"
    "    %t = constant true : bool\n"
    "    %tile = iota : i64[4]\n"
    "    %ft = broadcast %f : f32[4]\n"
    "    %mt = broadcast %f : f32[4, 4]\n"
    "    %b = broadcast %f : f32[2, 4]\n";

const Broken kBroken[] = {
    // The rows' letters and result rules
    {"%a = add %i, %f : i64", "operands have one element type"},
    {"%a = add %i, %tile : i64", "operands have one shape"},
    {"%a = add %i : i64", "takes 2 operands"},
    {"%a, %c = add %i, %i : i64, i64", "has 1 results"},
    {"%a = add %i, %i : i32", "the result has operand 0's type"},
    {"%a = add %t, %t : bool", "operand 0 may not be bool"},
    {"%a = rem %f, %f : f32", "operand 0 may not be f32"},
    {"%a = sqrt %i : i64", "operand 0 may not be i64"},
    {"%a = logical_not %i : i64", "operand 0 may not be i64"},
    {"%a = select %i, %f, %f : f32", "operand 0 may not be i64"},
    {"%a = select %t, %f, %i : i64", "operands have one element type"},
    {"%a = lt %i, %i : i64", "the result is bool of operand 0's shape"},
    {"%a = add %x, %x : in f32<?>", "takes no tensors"},
    // Ops with rules of their own
    {"%a = iota : i16[4]", "the result is an int tile of one axis"},
    {"%a = broadcast %ft : f32[4, 4]", "a tile keeps its rank"},
    {"%a = broadcast %ft : f32[8]", "only length 1 is repeated"},
    {"%a = broadcast %f : f64[8]", "the element type stays"},
    {"%a = reshape %ft : f32[3]", "the element count stays"},
    {"%a = permute %b axes [0, 0] : f32[2, 4]", "names each axis once"},
    {"%a = permute %b axes [1, 0] : f32[2, 4]", "each axis keeps its extent"},
    {"%a = extract %b starts [0, 2] : f32[2, 3]", "the part lies within the tile"},
    {"%a = extract %b starts [0] : f32[2, 3]", "gives each axis a start"},
    {"%a = convert %f : bool", "a number is no bool"},
    {"%a = convert %ft : f64[3]", "the shape stays"},
    {"%a = bitcast %f : i64", "both types have one width"},
    {"%a = reduce sum %b axis 2 : f32[2]", "the axis exists"},
    {"%a = reduce sum %b axis 0 : f32[2]", "the result is the operand without the axis"},
    {"%a = reduce any %b axis 0 : f32[4]", "`any` does not reduce f32"},
    {"%a = reduce maximum %tile axis 0 : i64", "`maximum` does not reduce i64"},
    {"%a = dot %b, %b, %mt : f32[4, 4]", "[M, K] by [K, N] gives [M, N]"},
    {"%a = dot %ft, %b, %mt : f32[4, 4]", "takes tiles of two axes"},
    {"%c = convert %mt : f64[4, 4]\n%a = dot %mt, %mt, %c : f64[4, 4]", "accumulates in the type of both operands"},
    {"%c = convert %mt : bf16[4, 4]\n%a = dot %c, %c, %mt precision tf32 : f32[4, 4]", "this precision takes f32"},
    {"%a = join %b axis 0 : f32[2, 4]", "joins two or more tiles"},
    {"%a = join %b, %b axis 2 : f32[4, 4]", "the axis exists"},
    {"%a = join %b, %ft axis 0 : f32[4, 4]", "joins tiles of one rank"},
    {"%a = join %b, %mt axis 1 : f32[2, 8]", "all axes but the joined one are equal"},
    {"%a = join %b, %mt axis 0 : f32[5, 4]", "the result is the tiles one behind the other"},
    {"%a, %c = sort %b axis 2 : f32[2, 4], i64[2, 4]", "the axis exists"},
    {"%a, %c = sort %b axis 0 : f32[2, 4], i32[2, 4]", "the results are the sorted tile and its indices"},
    {"%a = bincount %ft : u32[4]", "counts an integer tile"},
    {"%a = bincount %tile, %t : u32[4]", "the mask is bool of the same shape"},
    {"%a = bincount %tile : i32[4]", "the result is a u32 tile of one axis"},
    {"%a = fold %b axis 2 combine (%p, %q) : f32[2] {\nyield %p\n}", "the axis exists"},
    {"%a = fold %b axis 1 combine (%p, %q) : f32[4] {\nyield %p\n}", "has a result for each operand"},
    {"%a = fold %b axis 1 combine (%p, %q) : f32[2] {\nyield %i\n}", "the block yields an element of each"},
    {"%a = fold %b axis 1 combine (%p) : f32[2] {\nyield %p\n}", "the block takes two elements of each"},
    {"%a = scan %b axis 1 combine (%p, %q) : f32[2, 4] {\nprint \"no\"\nyield %p\n}", "its block writes nothing"},
    {"%a = scan %b axis 1 combine (%p, %q) : f32[2, 4] {\n%u = iota : i64[3]\nyield %p\n}", "its block makes scalars"},
    // Memory
    {"%a = atomic add %x[%i], %f fill %f : f32", "does not write an in tensor"},
    {"%a = atomic xor %y[%i], %f fill %f : f32", "`xor` does not update f32"},
    {"%a = atomic add %y[%i], %i fill %f : f32", "values are as the result"},
    {"%a = atomic cas %y[%i], %f fill %f : f32", "has an operand for each axis"},
    {"print \"{}\", %x", "takes no tensors"},
    {"assert %i, \"no\"", "the condition is a bool scalar"},
    {"%a = load %y[%i] fill %f : f32", "does not read an out tensor"},
    {"store %x[%i], %f", "does not write an in tensor"},
    {"%a = load %x[%i, %i] fill %f : f32", "names each axis of the tensor"},
    {"%a = load %f[%i] fill %f : f32", "names a tensor"},
    {"%a = load %x[%f] fill %f : f32", "an index is an integer scalar"},
    {"%a = load %x[%i :+ 0] fill %f : f32[4]", "a slice has at least one element"},
    {"%a = load %x[gather %i] fill %f : f32", "gathers by an integer tile"},
    {"%a = load %x[%i] fill %i : f32", "fill is a scalar of the tensor's type"},
    {"%a = load %x[%i :+ 4] fill %f : f32[5]", "the value has the shape and type that are named"},
    {"%a = load %x[%i :+ 4] fill %f mask %t : f32[4]", "the mask is bool of the same shape"},
    {"%a = load %x[%i .. %n] fill %f : f32", "only views have ranges"},
    {"%a = view %x[%i :+ 4] : in f32<4>", "a view has no slices"},
    {"%a = view %x[%i .. %n] : in f32<4>", "the result is the narrowed tensor"},
    {"%a = view %x[%i] : in f32<>", "a tile or tensor has at least one axis"},
    {"%a = size %x axis 1 : i64", "the axis exists"},
    {"store %y[%i :+ 4], %f", "the value has the shape and type that are named"},
    // Types
    {"%a = broadcast %f : f32[0]", "extents of a tile are at least 1"},
    {"%a = broadcast %f : f32[65536, 65536]", "a tile has at most 2^31 - 1 elements"},
    // Scopes
    {"%a = for %k in %n .. %n by %n carry (%d = %f) : f32 {\n%e = neg %d : f32\nyield %e\n}\n%g = neg %e : f32",
     "uses a value that is not defined before it"},
    {"if %t {\n%e = neg %f : f32\nyield\n} else {\n%g = neg %e : f32\nyield\n}",
     "uses a value that is not defined before it"},
    // Control
    {"if %t {\nyield\n} else {\n}", "each block ends with yield"},
    {"yield", "stands only at the end of a block of a control op"},
    {"if %t {\nyield\nyield\n} else {\nyield\n}", "stands only at the end of a block of a control op"},
    {"if %n {\nyield\n} else {\nyield\n}", "the condition is a bool scalar"},
    {"%a = if %t : f32 {\nyield %f\n} else {\nyield %n\n}", "each block yields the results"},
    {"for %k in %f .. %n by %n {\nyield\n}", "bounds and step are int"},
    {"%a = for %k in %n .. %n by %n carry (%d = %f) : f32 {\nyield %k\n}", "the block yields the carried values"},
    {"%a = for %k in %n .. %n by %n carry (%d = %f) : i64 {\nyield %d\n}", "results have the types of the initial"},
    {"%a = while (%d = %f) : f32 {\nyield %d\n} do (%e) {\nyield %e\n}", "the first block yields the condition"},
    {"%a = while (%d = %f) : f32 {\nyield %t, %d\n} do () {\nyield %f\n}", "both blocks take the carried values"},
    {"%a = if %t : in f32<?> {\nyield %x\n} else {\nyield %x\n}", "carries no tensors"},
    // The host block alone
    {"%a = units : i64", "stands only in the host block"},
    {"require %t, \"no\"", "stands only in the host block"},
};

std::string joined(const std::vector<std::string>& violations) {
    std::string text;
    for (const std::string& violation : violations) text += violation + "\n";
    return text;
}

ir::Kernel unverified(const std::string& text) {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    ir::Kernel kernel = ir::parse(sources, sources.add("test.ir", text), diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.render(sources));
    return kernel;
}

/// The violations of a kernel whose header and host block are given.
std::string header_violations(const std::string& header) {
    return joined(ir::verify(unverified("kernel @k(%x: in f32<?>, %n: i64, %f: f32) {\n" + header + "}\n")));
}

}  // namespace

TEST_SUITE("ir") {
    TEST_CASE("verify: a kernel of every op is well formed") {
        CHECK(joined(ir::verify(unverified(test::kEveryOp))) == "");
    }

    TEST_CASE("verify: each broken rule is named with its op") {
        for (const Broken& broken : kBroken) {
            const ir::Kernel kernel = unverified(test::small_kernel(kPrelude + broken.body + "\n"));
            const std::string violations = joined(ir::verify(kernel));
            CHECK_MESSAGE(violations.find(broken.violation) != std::string::npos,
                          (std::string(broken.body) + "\n" + violations));
            CHECK(violations.substr(0, 1) == "`");
        }
    }

    TEST_CASE("verify: all violations are collected") {
        const ir::Kernel kernel = unverified(
            test::small_kernel("    %f = constant 1 : f32\n    %a = not %f : f32\n    %b = lt %i, %i : i64\n"));
        const std::vector<std::string> violations = ir::verify(kernel);
        REQUIRE(violations.size() == 2);
        CHECK(violations[0] == "`%a = not %f : f32`: operand 0 may not be f32");
        CHECK(violations[1] == "`%b = lt %i, %i : i64`: the result is bool of operand 0's shape");
    }

    TEST_CASE("verify: headers and the host block") {
        const std::string phase = "  phase (%i in %n .. %n by %n) {\n  }\n";
        CHECK(header_violations(phase) == "");
        CHECK(header_violations("").find("the kernel has no phase") != std::string::npos);
        CHECK(header_violations("  phase () {\n  }\n").find("phase: has an offset") != std::string::npos);
        CHECK(header_violations("  phase (%i in %n .. %n by %f) {\n  }\n").find("grid i: takes int launch values") !=
              std::string::npos);
        CHECK(header_violations("  size %N = extent(%x, 1)\n" + phase).find("size N: names an axis") !=
              std::string::npos);
        CHECK(header_violations("  size %N = extent(%x, 0) divisor 0\n" + phase).find("size N: scale is not 0") !=
              std::string::npos);
        CHECK(header_violations("  check extent(%x, 0) = %f\n" + phase).find("check f: takes int launch values") !=
              std::string::npos);
        CHECK(header_violations("  host {\n%a = load %x[%n] fill %f : f32\n}\n" + phase)
                  .find("does not stand in the host block") != std::string::npos);
        CHECK(header_violations("  host {\nprint \"no\"\n}\n" + phase).find("has no place in the host block") !=
              std::string::npos);
        CHECK(header_violations("  host {\n%a = iota : i64[4]\n}\n" + phase).find("host values are scalars") !=
              std::string::npos);
        CHECK(header_violations("  scratch %s: in f32<?> of (%n)\n" + phase).find("scratch s: is an inout tensor") !=
              std::string::npos);
        CHECK(header_violations("  scratch %s: inout f32<?> of (%n, %n)\n" + phase).find("scratch s: has an extent") !=
              std::string::npos);
        CHECK(header_violations("  scratch %s: inout f32<?> of (%n) initial %n\n" + phase)
                  .find("scratch s: its initial value") != std::string::npos);
        CHECK(header_violations(phase + "  phase (%j in %n .. %n by %n) {\n    %a = neg %i : i64\n  }\n")
                  .find("uses a value that is not defined before it") != std::string::npos);
    }

    TEST_CASE("verify: a schedule holds keys with values") {
        ir::Kernel kernel = unverified(test::kEveryOp);
        const auto violations_with = [&](const char* key, const ir::ScheduleValue& value) {
            kernel.schedule = {{key, value}};
            return joined(ir::verify(kernel));
        };
        CHECK(violations_with("warps", ir::ScheduleValue::number(4)) == "");
        CHECK(violations_with("instruction", {"mma", {16, 8, 16}}) == "");
        for (const char* key : {"", "4", "two words", "f(1)"}) {
            CHECK(violations_with(key, ir::ScheduleValue::number(4)).find("is no key with a value") !=
                  std::string::npos);
        }
        for (const ir::ScheduleValue& value : {ir::ScheduleValue{}, {"", {1, 2}}, {"a b", {}}, {"4", {}}}) {
            CHECK(violations_with("warps", value).find("is no key with a value") != std::string::npos);
        }
        CHECK(violations_with("grid_order", {"grouped", {}}).find("takes one number") != std::string::npos);
    }

    TEST_CASE("verify: an absent parameter is not used") {
        const ir::Kernel kernel = unverified(
            "kernel @k(absent %x: in f32<?>, %n: i64) { host { } phase (%i in %n .. %n by %n) {\n"
            "%s = size %x axis 0 : i64\n} }");
        CHECK(joined(ir::verify(kernel)).find("uses a value that is not defined before it") != std::string::npos);
    }

    TEST_CASE("verify: ids outside the arenas and parts that stand twice are no crash") {
        const std::string text = test::small_kernel("    %a = neg %i : i64\n");
        const auto violations_of = [&](const auto& breaking) {
            ir::Kernel kernel = unverified(text);
            breaking(kernel);
            return joined(ir::verify(kernel));
        };
        const auto first_op = [](ir::Kernel& kernel) { return kernel[kernel.phases[0].block].ops[0]; };
        CHECK(violations_of([&](ir::Kernel& k) { k[first_op(k)].operands[0] = ir::ValueId{}; }) ==
              "neg: names a value that does not exist\n");
        CHECK(violations_of([&](ir::Kernel& k) { k[k.phases[0].block].ops.push_back(ir::OpId{99}); }) ==
              "a block names an op that does not exist\n");
        CHECK(violations_of([&](ir::Kernel& k) {
                  k[k.phases[0].block].ops.push_back(first_op(k));
              }).find("stands in two places") != std::string::npos);
        CHECK(violations_of([&](ir::Kernel& k) { k.phases.push_back(k.phases[0]); }).find("stands in two places") !=
              std::string::npos);
        CHECK(violations_of([&](ir::Kernel& k) { k.host = ir::BlockId{}; }) == "names a block that does not exist\n");
        CHECK(violations_of([&](ir::Kernel& k) { k[first_op(k)].parent = k.host; }) ==
              "neg: names another block as its own\n");
        CHECK(violations_of([&](ir::Kernel& k) {
                  k[first_op(k)].attribute = ir::DotAttribute{};
              }).find("carries the wrong attribute") != std::string::npos);
        CHECK(violations_of([&](ir::Kernel& k) {
                  k[k[first_op(k)].result()].definition = ir::OpId{0};
              }).find("names another op as its definition") != std::string::npos);
    }

    TEST_CASE("verify: verify_or_throw names the pass and the op") {
        const ir::Kernel kernel = unverified(test::small_kernel("    %a = neg %x : in f32<?>\n"));
        CHECK_THROWS_WITH_AS(ir::verify_or_throw(kernel, "fold_constants"),
                             "internal error in fold_constants: the kernel is malformed\n"
                             "  `%a = neg %x : in f32<?>`: takes no tensors",
                             support::InternalError);
        CHECK_NOTHROW(ir::verify_or_throw(unverified(test::kEveryOp), "none"));
    }
}
