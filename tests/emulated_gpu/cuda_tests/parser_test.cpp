#include <doctest/doctest.h>

#include <string>

#include "tests/emulated_gpu/cuda/ptx_parser.h"

TEST_SUITE("emulated_gpu") {
    using namespace emulated_gpu;

    const std::string kHeader = ".version 8.0\n.target sm_80\n.address_size 64\n";

    TEST_CASE("emulated gpu: a module's directives, variables and functions are read") {
        const Module module = parse_ptx(kHeader + R"(
            .file 1 "saxpy.cu"
            .const .align 8 .b8 table[4] = {1, 2, 0x3, 0b100};
            .global .f32 scales[2] = {0f3F800000, 2.5};
            .global .u64 pointer = table+2;
            .extern .shared .align 16 .b8 dynamic[];
            .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
            .visible .entry kernel(.param .u64 p, .param .align 4 .b8 s[12]) .maxntid 128, 1, 1 .minnctapersm 2
            {
                .reg .pred %p<2>;
                .reg.b32 %r<3>;
                .shared .align 4 .b8 tile[64];
                .loc 1 7 3
                mov.u32 %r1, %tid.x;
                setp.gt.u32 %p1, %r1, 3U;
                @!%p1 bra $done;
                { .reg .b32 %r1; mov.b32 %r1, -5; }
            $done:
                ret;
            })");
        CHECK(module.version == 80);
        CHECK(module.capability == 80);
        CHECK(module.files.at(1) == "saxpy.cu");
        REQUIRE(module.variables.size() == 4);
        CHECK(module.variables[0].initial == std::vector<uint8_t>{1, 2, 3, 4});
        CHECK(module.variables[1].initial == std::vector<uint8_t>{0, 0, 0x80, 0x3f, 0, 0, 0x20, 0x40});
        REQUIRE(module.variables[2].relocations.size() == 1);
        CHECK(module.variables[2].relocations[0].addend == 2);
        CHECK(module.variables[3].bytes == 0);
        REQUIRE(module.functions.size() == 2);
        CHECK_FALSE(module.functions[0].has_body);
        const Function& kernel = module.functions[1];
        CHECK(kernel.is_entry);
        CHECK(kernel.maximum_threads[0] == 128);
        CHECK(kernel.parameters[1].bytes == 12);
        CHECK(kernel.registers.size() == 6);
        REQUIRE(kernel.body.size() == 5);
        CHECK(kernel.body[0].source.line == 7);
        CHECK(kernel.body[2].guard.negated);
        CHECK(kernel.body[2].operands[0].index == 4);
        CHECK(kernel.body[3].operands[0].index == 5);  // the inner %r1
        CHECK(kernel.body[3].operands[1].integer == -5);
    }

    void check_error(const std::string& text, int line, const std::string& part) {
        CAPTURE(text);
        try {
            parse_ptx(text);
            FAIL("no error");
        } catch (const PtxError& error) {
            CHECK(error.position().line == line);
            CHECK_MESSAGE(std::string(error.what()).find(part) != std::string::npos, error.what());
        }
    }

    TEST_CASE("emulated gpu: malformed PTX is an error with its place") {
        check_error("", 1, "'.version'");
        check_error(kHeader + ".entry k() { mov.u32 %r1 5; }", 4, "';' expected");
        check_error(kHeader + ".entry k() { bra nowhere; }", 4, "no label 'nowhere'");
        check_error(kHeader + ".entry k() {\n ret;", 5, "'}' expected");
        check_error(kHeader + ".entry k() { .reg .b32 %r; .reg .b32 %r; }", 4, "declared twice");
        check_error(kHeader + ".global .b8 x[2] = {1, 2, 3};", 4, "fewer initial values");
        check_error(kHeader + "\n.tex .u32 t;", 5, "'.tex' is not emulated");
        check_error(kHeader + ".global .f32 x = 0f3F80;", 4, "8 hex digits");
        check_error(kHeader + "/* no end", 4, "comment does not end");
        check_error(kHeader + ".entry k() { .reg .b128 %x; }", 4, "b128");
    }

    TEST_CASE("emulated gpu: no damage to a module's text crashes the parser") {
        const std::string text = kHeader +
                                 ".global .b8 x[3] = {1, 2};\n.entry k(.param .u64 p) {\n .reg .b32 %r<4>;\n"
                                 "L: @%p bra L;\n ld.global.v2.u32 {%r1, %r2}, [%r3+4];\n}";
        for (size_t at = 0; at < text.size(); ++at) {
            for (const char replacement : {'\0', '{', '}', '"', '9', '.', ';', '%'}) {
                std::string damaged = text;
                damaged[at] = replacement;
                try {
                    parse_ptx(damaged);
                } catch (const PtxError&) {
                }
            }
            try {
                parse_ptx(text.substr(0, at));
            } catch (const PtxError&) {
            }
        }
        CHECK(true);
    }
}
