#include "ir/text.h"

#include <doctest/doctest.h>

#include <random>
#include <set>

#include "every_op.h"
#include "ir/diagnostics.h"
#include "ir/support/internal_error.h"
#include "ir_text.h"

using namespace kiln;

namespace {

struct Reading {
    support::SourceMap sources;
    support::Diagnostics diagnostics;
    ir::Kernel kernel;

    explicit Reading(const std::string& text) {
        kernel = ir::parse(sources, sources.add("test.ir", text), diagnostics);
    }
};

const char* const kWorkedExample = R"(kernel @k(%x: in f32<?>, %y: out f32<?>) {
  size %N = extent(%x, 0)
  check extent(%y, 0) = %N
  host {
    %lo = constant 0 : i64
    %step = constant 4 : i64
  }
  phase (%i in %lo .. %N by %step) {
    %zero = constant 0 : f32
    %tile = load %x[%i :+ 4] fill %zero : f32[4]
    %two = constant 2 : f32
    %twos = broadcast %two : f32[4]
    %product = mul %tile, %twos : f32[4]
    store %y[%i :+ 4], %product
  }
}
)";

/// A text that ends in the first error, what it says, and where (line:column).
struct Malformed {
    const support::DiagnosticKind* kind;
    const char* text;
    const char* place;
    const char* message;
};

std::string nested(int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += "if %c {\n";
    for (int i = 0; i < depth; ++i) text += "yield\n} else {\nyield\n}\n";
    return "kernel @k(%c: bool) { phase () {\n" + text + "} }";
}

const Malformed kMalformed[] = {
    {&ir::kUnexpectedToken, "kernel k()", "1:8", "expected the kernel's name and not `k`"},
    {&ir::kUnexpectedToken, "kernel @k(", "1:11", "expected a value and not the end of the text"},
    {&ir::kUnexpectedToken, "kernel @k() { host {\n  %a = constant }", "2:17", "expected a constant and not `}`"},
    {&ir::kUnexpectedToken, "kernel @k() { } x", "1:17", "expected the end of the text and not `x`"},
    {&ir::kUnexpectedToken, "kernel @k(%t: f32) { host { %a = reduce most %t axis 0 : f32", "1:41",
     "expected a kind of reduction and not `most`"},
    {&ir::kUnknownCharacter, "kernel @k(%a; f32)", "1:13", "`;` cannot begin anything"},
    {&ir::kUnknownCharacter, "kernel @k\x01", "1:10", "`byte 0x01` cannot begin anything"},
    {&ir::kUnterminatedString, "kernel @k(absent \"x\n)", "1:18", "this text in quotes does not end on its line"},
    {&ir::kUnknownEscape, "kernel @k(absent \"a\\n\")", "1:18", "`\\n` escapes nothing"},
    {&ir::kUnknownOp, "kernel @k() { host {\n  %a = plus %b }", "2:8", "there is no op `plus`"},
    {&ir::kUnknownType, "kernel @k(%a: f33)", "1:15", "`f33` is not an element type"},
    {&ir::kUnknownValue, "kernel @k() { host {\n  %a = neg %a : i64 }", "2:12", "`%a` is not defined above"},
    {&ir::kUnknownValue, "kernel @k(%x: in f32<?>) {\n  check extent(%x, 0) = %M\n}", "2:25",
     "`%M` is not defined above"},
    {&ir::kDefinedTwice, "kernel @k(%a: i64, %a: i64)", "1:20", "`%a` is defined twice"},
    {&ir::kNotAnInteger, "kernel @k(%a: in f32<99999999999999999999>)", "1:22",
     "`99999999999999999999` is not an integer in 0 ... 9223372036854775807"},
    {&ir::kNotAConstant, "kernel @k() { host {\n  %a = constant 300 : i8 }", "2:17",
     "`300` is not a constant of type i8"},
    {&ir::kNotAConstant, "kernel @k() { host {\n  %a = constant nan : i8 }", "2:17",
     "`nan` is not a constant of type i8"},
    {&ir::kTooManyAxes, "kernel @k(%a: in f32<1, 2, 3, 4, 5, 6, 7, 8, 9>)", "1:46",
     "a shape in the IR has at most 8 axes"},
    {&ir::kResultCount, "kernel @k(%a: i64) { host {\n  %b = neg %a : i64, i64 }", "2:15",
     "1 results are named and 2 types are given"},
};

/// A seeded change to a text: a byte, a piece cut out, doubled or moved.
std::string mutated(std::string text, std::mt19937& random) {
    const auto below = [&](std::size_t bound) { return random() % bound; };
    for (std::size_t count = 1 + below(3); count > 0 && text.size() > 2; --count) {
        const std::size_t at = below(text.size());
        const std::size_t length = std::min(text.size() - at, 1 + below(12));
        switch (below(5)) {
            case 0:
                text[at] = static_cast<char>(below(256));
                break;
            case 1:
                text.erase(at, length);
                break;
            case 2:
                text.insert(below(text.size()), text.substr(at, length));
                break;
            case 3:
                text[at] = "%(){}[]<>,:=?.0123456789-\"\\"[below(27)];
                break;
            case 4:
                std::swap(text[at], text[below(text.size())]);
                break;
        }
    }
    return text;
}

}  // namespace

TEST_SUITE("ir") {
    TEST_CASE("text: the worked example reads and prints as it is written") {
        CHECK(ir::print(test::kernel_of(kWorkedExample)) == kWorkedExample);
    }

    TEST_CASE("text: every op, attribute and clause makes the round trip") {
        const ir::Kernel kernel = test::kernel_of(test::kEveryOp);
        CHECK(ir::print(kernel) == test::kEveryOp);
        for (const ir::OpInfo& op : ir::kOps) {
            const std::string word = " " + std::string(op.mnemonic);
            const std::string text = test::kEveryOp;
            const bool found =
                text.find(word + " ") != std::string::npos || text.find(word + "\n") != std::string::npos;
            CHECK_MESSAGE(found, op.mnemonic);
        }
    }

    TEST_CASE("text: what is not printed keeps its default") {
        const ir::Kernel kernel = test::kernel_of(test::kEveryOp);
        CHECK(kernel.name == "every_op");
        CHECK(kernel.parameters[0].facts.unit_axis == 1);
        CHECK(kernel.parameters[0].facts.alignment == 64);
        CHECK(!kernel.parameters[2].present);
        CHECK(kernel.parameters[2].name == "c");
        CHECK(kernel.parameters[4].name == "zz");
        CHECK(kernel.parameters[5].facts.unit_axis == -1);
        CHECK(kernel.sizes[0].scale == 4);
        CHECK(kernel.sizes[0].offset == -8);
        CHECK(kernel.sizes[0].divisor == 2);
        CHECK(kernel.checks[0].text == "N * 4 - 8");
        CHECK(kernel.checks[1].text == "N");
        CHECK(kernel.phases[0].axes[1].name == "column");
        CHECK(kernel.freedoms == ir::Freedoms{true, true, true, true});
        CHECK(kernel.fits_32_bits);
    }

    TEST_CASE("text: the schedule is a kernel's own") {
        const auto text_with = [](const std::string& schedule) {
            return "kernel @k(%n: i64) flush" + schedule +
                   " {\n  host {\n  }\n  phase (%i in %n .. %n by %n) {\n  }\n}\n";
        };
        const std::string text = text_with(
            " schedule (grid_order = grouped(4), instruction = mma(16, 8, 16), persistent = true, warps = 8)");
        const ir::Kernel kernel = test::kernel_of(text);
        CHECK(ir::print(kernel) == text);
        CHECK(kernel.schedule.size() == 4);
        CHECK(ir::schedule_number(kernel.schedule, "warps", 4) == 8);
        CHECK(ir::schedule_number(kernel.schedule, "stages", 2) == 2);
        CHECK(kernel.schedule.at("persistent") == ir::ScheduleValue{"true", {}});
        for (const char* broken : {" schedule", " schedule ()", " schedule (warps)", " schedule (warps = )",
                                   " schedule (4 = warps)", " schedule (order = f())", " schedule (warps = 4",
                                   " schedule (warps = 4, warps = 8)", " schedule (warps = 99999999999999999999)"}) {
            support::SourceMap sources;
            support::Diagnostics diagnostics;
            ir::parse(sources, sources.add("broken", text_with(broken)), diagnostics);
            CHECK_MESSAGE(diagnostics.has_errors(), broken);
        }
    }

    TEST_CASE("text: values of schedule keys read back as they were") {
        for (const char* text : {"4", "-1", "rows", "grouped(4)", "mma(16, 8, 16)", "per_die"}) {
            const auto value = ir::parse_schedule_value(text);
            REQUIRE_MESSAGE(value, text);
            CHECK(ir::to_string(*value) == text);
        }
        CHECK(ir::parse_schedule_value(" mma( 16,8 , 16 ) ") == ir::ScheduleValue{"mma", {16, 8, 16}});
        for (const char* text : {"", " ", "4x", "a b", "f(", "f()", "f(1", "f(1,)", "f(x)", "f(1) ", "(1)", "f(1)2"}) {
            CHECK_MESSAGE((std::string(text) == "f(1) ") == ir::parse_schedule_value(text).has_value(), text);
        }
    }

    TEST_CASE("text: constants of every type keep their bits") {
        for (const auto& [text, type, bits] :
             std::initializer_list<std::tuple<const char*, const char*, std::uint64_t>>{
                 {"true", "bool", 1},
                 {"-1", "i8", 0xff},
                 {"-128", "i8", 0x80},
                 {"18446744073709551615", "u64", ~0ull},
                 {"-9223372036854775808", "i64", 1ull << 63},
                 {"-0", "f32", 0x80000000},
                 {"0.1", "f32", 0x3dcccccd},
                 {"inf", "f32", 0x7f800000},
                 {"-inf", "f64", 0xfffull << 52},
                 {"nan", "f32", 0x7fc00000},
                 {"nan:0x7fc00001", "f32", 0x7fc00001},
                 {"1", "bf16", 0x3f80},
                 {"6", "f4e2m1", 7},
                 {"-8", "i4", 8},
                 {"448", "f8e4m3", 0x7e}}) {
            const std::string line = std::string("    %c = constant ") + text + " : " + type + "\n";
            const ir::Kernel kernel = test::kernel_of(test::small_kernel(line));
            const ir::OpId op = kernel[kernel.phases[0].block].ops[0];
            CHECK_MESSAGE(ir::attribute<ir::Scalar>(kernel[op]).bits == bits, line);
            CHECK(ir::print(kernel).find(line) != std::string::npos);
        }
    }

    TEST_CASE("text: names are made unique and plain, whatever the hints are") {
        ir::Kernel kernel = test::kernel_of(test::small_kernel("    %a = neg %i : i64\n    %b = neg %a : i64\n"));
        for (ir::Value& value : kernel.values) value.name = "a b.c";
        kernel[kernel.sizes[0].value].name = "";
        kernel[kernel.parameters[3].value].name = "9";
        const std::string text = ir::print(kernel);
        CHECK(text.find("%a_b_c.2") != std::string::npos);
        CHECK(text.find("%_9") != std::string::npos);
        CHECK(ir::print(test::kernel_of(text)) == text);
    }

    TEST_CASE("text: one op prints on one line, malformed ones too") {
        ir::Kernel kernel = test::kernel_of(test::small_kernel("    %a = neg %i : i64\n"));
        const ir::OpId op = kernel[kernel.phases[0].block].ops[0];
        CHECK(ir::print(kernel, op) == "%a = neg %i : i64");
        kernel[op].kind = ir::OpKind::Load;
        kernel[op].attribute = ir::AccessAttribute{{{ir::AxisKind::Slice, 3}}, true};
        CHECK(ir::print(kernel, op) == "%a = load %i[%? :+ 3] fill %? mask %? : i64");
        CHECK(ir::print(kernel, ir::OpId{}) == "<no op>");
    }

    TEST_CASE("text: errors name their place") {
        for (const Malformed& malformed : kMalformed) {
            Reading reading(malformed.text);
            REQUIRE_MESSAGE(reading.diagnostics.error_count() == 1, malformed.text);
            const support::Diagnostic& diagnostic = reading.diagnostics.all().front();
            CHECK(diagnostic.kind == malformed.kind);
            CHECK(diagnostic.message == malformed.message);
            const support::Location at = reading.sources.locate(diagnostic.span.source, diagnostic.span.begin);
            CHECK(fmt::format("{}:{}", at.line, at.column) == std::string(malformed.place));
        }
    }

    TEST_CASE("text: every row of the diagnostics is provoked") {
        std::set<const support::DiagnosticKind*> provoked{&ir::kNestedTooDeep};  // by the test of depth
        for (const Malformed& malformed : kMalformed) provoked.insert(malformed.kind);
        for (const support::DiagnosticKind* kind : ir::kDiagnosticKinds) {
            CHECK_MESSAGE(provoked.count(kind) == 1, kind->name);
        }
    }

    TEST_CASE("text: depth is bounded") {
        CHECK(!Reading(nested(200)).diagnostics.has_errors());
        for (const int depth : {256, 100'000}) {
            Reading reading(nested(depth));
            REQUIRE(reading.diagnostics.error_count() == 1);
            CHECK(reading.diagnostics.all().front().kind == &ir::kNestedTooDeep);
        }
    }

    TEST_CASE("text: no text crashes the reader or the verifier") {
        std::mt19937 random(20260101);
        int read = 0;
        for (int i = 0; i < 4'000; ++i) {
            const std::string text = mutated(i % 4 == 0 ? kWorkedExample : test::kEveryOp, random);
            Reading reading(text);
            if (reading.diagnostics.has_errors()) continue;
            ++read;
            const std::string printed = ir::print(reading.kernel);
            Reading again(printed);
            REQUIRE_MESSAGE(!again.diagnostics.has_errors(), again.diagnostics.render(again.sources));
            REQUIRE(ir::print(again.kernel) == printed);
            ir::verify(reading.kernel);
        }
        CHECK(read > 100);
    }
}
