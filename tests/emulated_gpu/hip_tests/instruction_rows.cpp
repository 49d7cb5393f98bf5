#include "tests/emulated_gpu/hip_tests/instruction_rows.h"

#include <cstdio>

#include "tests/emulated_gpu/hip_tests/assembly.h"
#include "tests/emulated_gpu/hip_tests/clang.h"
#include "tests/emulated_gpu/hip_tests/machine.h"

namespace emulated_gpu::hip {
namespace {

/// What every kernel of rows says in its processor's words.
struct Dialect {
    const char* load_arguments;
    const char* wait_for_scalars;
    const char* wait;
    const char* store;
};
constexpr Dialect kCdna{"s_load_dwordx2 s[4:5], s[0:1], 0x0\n", "s_waitcnt lgkmcnt(0)\n",
                        "s_waitcnt vmcnt(0) lgkmcnt(0)\n",
                        "global_store_dwordx2 v1, v[8:9], s[4:5]\nv_add_u32 v1, 8, v1\n"};
constexpr Dialect kRdna3{"s_load_b64 s[4:5], s[0:1], 0x0\n", "s_waitcnt lgkmcnt(0)\n",
                         "s_waitcnt vmcnt(0) lgkmcnt(0)\n",
                         "global_store_b64 v1, v[8:9], s[4:5]\nv_add_nc_u32 v1, 8, v1\n"};
constexpr Dialect kRdna4{"s_load_b64 s[4:5], s[0:1], 0x0\n", "s_wait_kmcnt 0x0\n",
                         "s_wait_loadcnt_dscnt 0x0\ns_wait_kmcnt 0x0\n",
                         "global_store_b64 v1, v[8:9], s[4:5]\nv_add_nc_u32 v1, 8, v1\n"};

const Dialect& dialect_of(const std::string& processor) {
    const Family family = family_of(processor);
    return family == Family::Cdna ? kCdna : family == Family::Rdna3 ? kRdna3 : kRdna4;
}

std::string load_pair(const std::string& kind, int first, uint64_t value) {
    char text[160];
    const char* move = kind == "v" ? "v_mov_b32" : "s_mov_b32";
    std::snprintf(text, sizeof text, "%s %s%d, 0x%x\n%s %s%d, 0x%x\n", move, kind.c_str(), first,
                  static_cast<unsigned>(value), move, kind.c_str(), first + 1, static_cast<unsigned>(value >> 32));
    return text;
}

std::string body_of(const std::vector<Row>& rows, RowKind kind, const Dialect& dialect) {
    std::string body = std::string(dialect.load_arguments) + "v_mov_b32 v1, 0\n" + dialect.wait_for_scalars;
    for (const Row& row : rows) {
        const std::string registers = kind == RowKind::Vector ? "v" : "s";
        const int first = kind == RowKind::Vector ? 2 : 10;
        body += load_pair(registers, first, row.a) + load_pair(registers, first + 2, row.b) +
                load_pair(registers, first + 4, row.c) + load_pair("v", 8, kOld);
        if (kind == RowKind::Vector) {
            body += load_pair("s", 10, row.a) + load_pair("s", 12, row.b) + load_pair("s", 14, row.c);
        } else {
            body += "s_mov_b64 s[8:9], 0\ns_cmp_eq_u32 s8, 1\n";
        }
        body += std::string(row.text) + "\n";
        if (kind == RowKind::ScalarWithScc) body += "s_cselect_b32 s9, 1, 0\n";
        if (kind != RowKind::Vector) body += "v_mov_b32 v8, s8\nv_mov_b32 v9, s9\n";
        body += std::string(dialect.wait) + dialect.store;
    }
    return body + "s_endpgm";
}

}  // namespace

void check_rows(const std::vector<Row>& rows, RowKind kind, const std::string& processor) {
    AssemblyKernel kernel;
    kernel.body = body_of(rows, kind, dialect_of(processor));
    kernel.lds_bytes = 1024;
    Machine machine(assemble(assembly_text(kernel, processor), processor), processor);
    const uint64_t out = machine.upload(std::vector<uint64_t>(rows.size(), 0));
    machine.run("kernel", {1, 1, 1}, {machine.module().wave_lanes(), 1, 1}, Arguments().add(out));
    const std::vector<uint64_t> values = machine.download<uint64_t>(out, rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
        const std::string text =
            std::string(rows[i].text) + ": " + hexadecimal(values[i]) + ", expected " + hexadecimal(rows[i].expected);
        CHECK_MESSAGE(values[i] == rows[i].expected, text);
    }
}

}  // namespace emulated_gpu::hip
