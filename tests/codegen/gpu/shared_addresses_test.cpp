// Addresses of shared memory in real code: a tile goes from one layout to another through shared memory on the emulated
// GPU, which counts the rounds of the banks by itself.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "codegen/gpu/shared_layout.h"
#include "emulated_device.h"
#include "layout_support.h"

using namespace kiln;
using namespace kiln::codegen::gpu;
using namespace kiln::test;

namespace {

std::string vector_type(int vector) {
    return vector == 1 ? "unsigned" : fmt::format("uint{}", vector);
}

/// `place` of each register of a thread, with `use` made of each vector of them.
template <class Use>
std::string accesses(const Layout& layout, const SharedLayout& shared, int vector, Use use) {
    const std::optional<std::vector<SharedOffset>> offsets = split(layout, shared);
    REQUIRE(offsets.has_value());
    std::string text = fmt::format("    {{\n        unsigned base = {};\n",
                                   base_expression(layout.parts().front(), shared, "lane", "warp"));
    for (int number = 0; number < layout.registers(); number += vector) {
        const SharedOffset& offset = (*offsets)[static_cast<std::size_t>(number)];
        const std::string place =
            fmt::format("(({}*)(bytes + (base ^ {}u) + {}u))", vector_type(vector), offset.flip, offset.add);
        text += use(number, place);
    }
    return text + "    }\n";
}

/// Row-major numbers are written as one layout says and read as the other does.
std::string program(const Layout& write, const Layout& read, const SharedLayout& shared, int vector_written,
                    int vector_read) {
    const Part& part = write.parts().front();
    std::string number;
    std::int64_t step = 1;
    for (std::size_t axis = write.shape().rank(); axis-- > 0; step *= write.shape()[axis]) {
        number += fmt::format("{}({}) * {}u", number.empty() ? "" : " + ",
                              expression(part, static_cast<int>(axis), "lane", "warp"), step);
    }
    const char* const members[] = {".x", ".y", ".z", ".w"};
    std::string text = fmt::format(
        "extern \"C\" __global__ void f(const unsigned long long*, unsigned long long* out, int) {{\n"
        "    __shared__ __align__(16) unsigned char bytes[{}];\n"
        "    unsigned lane = threadIdx.x & 31u, warp = threadIdx.x >> 5, first = {};\n",
        shared.bytes(), number);
    text += accesses(write, shared, vector_written, [&](int reg, const std::string& place) {
        std::string values;
        for (int i = reg; i < reg + vector_written; ++i) {
            values += fmt::format("{}first + {}u", i == reg ? "" : ", ", row_major(write.shape(), write.at({i, 0, 0})));
        }
        return vector_written == 1
                   ? fmt::format("        *{} = {};\n", place, values)
                   : fmt::format("        *{} = make_{}({});\n", place, vector_type(vector_written), values);
    });
    text += "    __syncthreads();\n";
    text += accesses(read, shared, vector_read, [&](int reg, const std::string& place) {
        std::string lines = fmt::format("        {} v{} = *{};\n", vector_type(vector_read), reg, place);
        for (int i = 0; i < vector_read; ++i) {
            lines += fmt::format("        out[threadIdx.x * {} + {}] = v{}{};\n", read.registers(), reg + i, reg,
                                 vector_read == 1 ? "" : members[i]);
        }
        return lines;
    });
    return text + "}\n";
}

/// The number behind a key in the last line of the emulator's report.
std::int64_t counted(const std::filesystem::path& report, const std::string& key) {
    std::ifstream file(report);
    std::string line, last;
    while (std::getline(file, line)) last = line;
    const std::size_t at = last.find("\"" + key + "\":");
    REQUIRE_MESSAGE(at != std::string::npos, last);
    return std::stoll(last.substr(at + key.size() + 3));
}

struct Case {
    ir::Shape shape;
    int vector_written, vector_read;
    std::vector<int> order_read;
};

}  // namespace

TEST_SUITE_BEGIN("emulated_gpu");

TEST_CASE("shared addresses: the emulated GPU finds every element, and as many conflicts as the algebra counts") {
    const std::filesystem::path report =
        std::filesystem::temp_directory_path() / fmt::format("kiln_report_{}", getpid());
    setenv("EMULATED_GPU_REPORT", report.c_str(), 1);
    const Target& target = *find_target("sm_80").target;
    const Case cases[] = {
        {{32, 32}, 1, 1, {0, 1}},      {{64, 64}, 4, 1, {0, 1}}, {{64, 96}, 4, 4, {1, 0}},
        {{16, 160}, 2, 1, {0, 1}},     {{64, 80}, 4, 1, {0, 1}}, {{4, 16, 32}, 4, 2, {2, 0, 1}},
        {{8, 8, 48}, 1, 1, {1, 2, 0}},
    };
    int checked = 0;
    for (const Case& test : cases) {
        const Layout write = coalesced(test.shape, test.vector_written, 32, 4);
        const Layout read = coalesced(test.shape, test.vector_read, 32, 4, test.order_read);
        if (!write.exact() || !read.exact()) continue;
        const std::vector<SharedAccess> both = {{write, test.vector_written, true}, {read, test.vector_read, false}};
        SharedLayout plain{test.shape, 4, test.shape.back() * 4, 16, 0, 0}, swizzled = plain, padded = plain;
        swizzled.bits = 2;
        padded.pitch += 16;
        for (const SharedLayout& shared : {plain, swizzled, padded, choose(test.shape, 4, both, target)}) {
            CAPTURE(to_string(write));
            CAPTURE(to_string(read));
            CAPTURE(shared.pitch);
            CAPTURE(shared.bits);
            if (!split(write, shared) || !split(read, shared)) continue;
            const std::string text = program(write, read, shared, test.vector_written, test.vector_read);
            const Compiled compiled = Nvrtc::get().compile(text, "compute_80");
            REQUIRE_MESSAGE(compiled.succeeded, compiled.log << text);
            EmulatedDevice& device = EmulatedDevice::get();
            const auto results = static_cast<std::size_t>(128 * read.registers());
            const std::vector<std::uint64_t> found = device.map(device.load(compiled.code), "f", {0}, 128, results);
            CHECK(at_all_places(read, [&](Place place) {
                const auto at = static_cast<std::size_t>((place.warp * 32 + place.lane) * read.registers() + place.reg);
                return found[at] == static_cast<std::uint64_t>(row_major(test.shape, read.at(place)));
            }));
            const std::int64_t extra = counted(report, "shared_bank_conflicts");
            ++checked;
            CHECK(extra == conflicts(both[0], shared, target) + conflicts(both[1], shared, target));
        }
    }
    CHECK(checked >= 20);
    std::filesystem::remove(report);
}

TEST_SUITE_END();
