// Conversions of every 8- and 16-bit pattern to every type: the same bits from interpreter and compiled code, at each
// level of x86-64. tests/ir/small_float_test.cpp compares the interpreter's with a bitwise reference.
#include <fmt/format.h>

#include "kernel_case.h"

using namespace kiln;
using namespace kiln::test;
using enum ir::ScalarType;

namespace {

constexpr ir::ScalarType kSources[] = {I8, U8, F8E4M3, F8E5M2, F8E8M0, I16, U16, F16, BF16};
constexpr ir::ScalarType kTargets[] = {I8,   I16, I32, I64, U8, U16,    U32,    U64,    F16,
                                       BF16, F32, F64, I4,  U4, F4E2M1, F8E4M3, F8E5M2, F8E8M0};

/// A type in which a tensor of whole bytes holds the target's values exactly.
std::string stored(ir::ScalarType type) {
    if (type == I4) return "i8";
    if (type == U4) return "u8";
    return type == F4E2M1 ? "f16" : std::string(ir::name(type));
}

/// Every pattern of the type, through every target.
KernelCase all_casts(ir::ScalarType from, bool saturates) {
    KernelCase test;
    const std::int64_t count = std::int64_t{1} << ir::bit_width(from);
    std::string parameters, body;
    for (const ir::ScalarType to : kTargets) {
        const std::string name(ir::name(to)), as = stored(to);
        const std::string value = saturates ? fmt::format("saturate(t, {})", name) : name + "(t)";
        parameters += fmt::format(", to_{}: out {}[N]", name, as);
        body += fmt::format("    to_{}[i :+ 256] = {}\n", name, as == name ? value : as + "(" + value + ")");
        test.arguments.emplace("to_" + name, tensor(*ir::scalar_type_named(as), {count}));
    }
    test.text = fmt::format("kernel k(x: in {}[N]{})\ngrid i in 0 .. N by 256 {{\n    let t = x[i :+ 256]\n{}}}\n",
                            ir::name(from), parameters, body);
    test.arguments.emplace("x", tensor(from, {count}));
    test.contents["x"] = [from](std::int64_t index) { return ir::Scalar{from, static_cast<std::uint64_t>(index)}; };
    return test;
}

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("casts of every 8- and 16-bit pattern") {
        for (const ir::ScalarType from : kSources) {
            CAPTURE(ir::name(from));
            check_case(all_casts(from, false));
        }
    }
    TEST_CASE("saturating casts of every 8- and 16-bit pattern") {
        for (const ir::ScalarType from : kSources) {
            CAPTURE(ir::name(from));
            check_case(all_casts(from, true));
        }
    }
}
