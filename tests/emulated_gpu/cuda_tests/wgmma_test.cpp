// wgmma.mma_async for all types, majors and swizzles, on matrices that the test itself lays out in shared memory as the
// figures and tables of the PTX ISA document show.

#include <functional>

#include "tests/emulated_gpu/common/numeric.h"
#include "tests/emulated_gpu/cuda_tests/compiled_kernels.h"

namespace emulated_gpu {
namespace {

constexpr size_t kImageBytes = 32768;  // of shared memory: A in the first half, B in the second

struct ProductCase {
    std::string types;  // "f32.bf16.bf16"
    int columns = 64;
    int element_bits = 16;
    int swizzle_a = 0;  // bytes; 0: none
    int swizzle_b = 0;
    bool m_major = false;
    bool n_major = false;
    bool a_in_registers = false;
    bool has_majors = true;
    bool has_scales = true;
    bool adds = true;
    bool negates_a = false;
    int d_bits = 32;
};

/// An operand of `rows` (M or N) by the K of 32 bytes, placed by the document's atoms: 8 lines of the swizzle's span,
/// whose 16-byte chunks are permuted; without swizzle, 8 lines of 16 bytes.
class Placed2D {
public:
    Placed2D(int element_bits, int swizzle, bool k_major, int rows)
        : bits_(element_bits), span_(swizzle == 0 ? 16 : swizzle), swizzle_(swizzle), k_major_(k_major), rows_(rows) {}

    int depth() const { return 256 / bits_; }
    /// Which bit of the image an element's first bit is.
    size_t bit(int row, int k) const {
        const int line = k_major_ ? row : k;   // lines of an atom are rows, or columns of K
        const int along = k_major_ ? k : row;  // elements along a line
        const int per_line = span_ * 8 / bits_;
        const int atom_line = line / 8;
        const int atom_along = along / per_line;
        const int atoms_along = k_major_ ? std::max(1, depth() / per_line) : (rows_ + per_line - 1) / per_line;
        // Atoms follow one another along the lines first.
        const size_t atom =
            (static_cast<size_t>(atom_line) * static_cast<size_t>(atoms_along) + static_cast<size_t>(atom_along)) *
            static_cast<size_t>(8 * span_);
        const size_t in_line = static_cast<size_t>(along % per_line) * static_cast<size_t>(bits_);
        size_t chunk = in_line / 128;
        const auto r = static_cast<size_t>(line % 8);
        if (swizzle_ == 128) chunk ^= r;
        if (swizzle_ == 64) chunk ^= r / 2;
        if (swizzle_ == 32) chunk ^= r / 4;
        return (atom + r * static_cast<size_t>(span_) + chunk * 16) * 8 + in_line % 128;
    }
    /// From atom to atom along the lines, and from 8 lines to the next 8.
    uint64_t along_bytes() const { return static_cast<uint64_t>(8 * span_); }
    uint64_t lines_bytes() const {
        const int per_line = span_ * 8 / bits_;
        const int atoms = k_major_ ? std::max(1, depth() / per_line) : (rows_ + per_line - 1) / per_line;
        return static_cast<uint64_t>(atoms) * along_bytes();
    }
    uint64_t descriptor(uint64_t start) const {
        // Without swizzle and MN-major the two offsets change places.
        uint64_t leading = along_bytes();
        uint64_t stride = lines_bytes();
        if (!k_major_ && swizzle_ == 0) std::swap(leading, stride);
        const uint64_t mode = swizzle_ == 0 ? 0 : swizzle_ == 128 ? 1 : swizzle_ == 64 ? 2 : 3;
        return (start >> 4) | ((leading >> 4) << 16) | ((stride >> 4) << 32) | (mode << 62);
    }

private:
    int bits_;
    int span_;
    int swizzle_;
    bool k_major_;
    int rows_;
};

std::string kernel_text(const ProductCase& test) {
    const int k = 256 / test.element_bits;
    const bool packed = test.d_bits == 16;
    const int registers = test.columns / (packed ? 4 : 2);
    std::string d;
    for (int i = 0; i < registers; ++i) d += (i == 0 ? "{%d" : ", %d") + std::to_string(i);
    d += "}";
    std::string text =
        ".version 8.3\n.target sm_90a\n.address_size 64\n"
        ".entry k(.param .u64 image, .param .u64 c, .param .u64 a, .param .u64 b, .param .u64 fragment) {\n"
        ".reg .b32 %r<16>, %v<4>, %a<4>, %d<" +
        std::to_string(registers) + ">; .reg .b64 %rd<16>; .reg .pred %p<4>;\n.shared .align 1024 .b8 memory[" +
        std::to_string(kImageBytes) +
        "];\n"
        "mov.u32 %r1, %tid.x; ld.param.u64 %rd1, [image]; ld.param.u64 %rd2, [c]; ld.param.u64 %rd3, [a]; "
        "ld.param.u64 %rd4, [b]; ld.param.u64 %rd8, [fragment];\n"
        "shl.b32 %r2, %r1, 4;\n"
        "LOOP: cvt.u64.u32 %rd5, %r2; add.u64 %rd5, %rd5, %rd1; mov.u32 %r3, memory; add.u32 %r3, %r3, %r2;\n"
        "ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%rd5]; st.shared.v4.u32 [%r3], {%v0, %v1, %v2, %v3};\n"
        "add.u32 %r2, %r2, 2048; setp.lt.u32 %p1, %r2, " +
        std::to_string(kImageBytes) +
        "; @%p1 bra LOOP;\nfence.proxy.async.shared::cta; bar.sync 0;\n"
        "mul.lo.u32 %r4, %r1, " +
        std::to_string(4 * registers) +
        "; cvt.u64.u32 %rd6, %r4; add.u64 %rd6, %rd6, %rd2;\n"
        "shl.b32 %r5, %r1, 4; cvt.u64.u32 %rd7, %r5; add.u64 %rd7, %rd7, %rd8;\n"
        "ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%rd7];\n";
    for (int i = 0; i < registers; ++i) {
        text += "ld.global.u32 %d" + std::to_string(i) + ", [%rd6+" + std::to_string(4 * i) + "];\n";
    }
    text += std::string("setp.eq.u32 %p2, 0, ") + (test.adds ? "0" : "1") + ";\nwgmma.fence.sync.aligned;\n";
    text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(test.columns) + "k" + std::to_string(k) + "." +
            test.types + " " + d + ", " + (test.a_in_registers ? "{%a0, %a1, %a2, %a3}" : "%rd3") + ", %rd4, %p2";
    if (test.has_scales) text += test.negates_a ? ", -1, 1" : ", 1, 1";
    if (test.has_majors && !test.a_in_registers) text += test.m_major ? ", 1" : ", 0";
    if (test.has_majors) text += test.n_major ? ", 1" : ", 0";
    text += ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
    for (int i = 0; i < registers; ++i) {
        text += "st.global.u32 [%rd6+" + std::to_string(4 * i) + "], %d" + std::to_string(i) + ";\n";
    }
    return text + "ret; }";
}

/// Small integers, which all types hold exactly; their bits in each type.
int value_of(int row, int k, int seed) {
    return (row * 5 + k * 3 + seed) % 4;
}
uint32_t bits_of(const std::string& type, int value) {
    if (type == "f16") return encode_float(value, kF16, Rounding::NearestEven);
    if (type == "bf16") return encode_float(value, kBF16, Rounding::NearestEven);
    if (type == "tf32") return std::bit_cast<uint32_t>(static_cast<float>(value));
    if (type == "e4m3") return encode_float(value, kE4M3, Rounding::NearestEven);
    if (type == "e5m2") return encode_float(value, kE5M2, Rounding::NearestEven);
    return static_cast<uint32_t>(value);
}

void put_bits(std::vector<uint8_t>& image, size_t bit, uint32_t value, int bits) {
    for (int i = 0; i < bits; ++i) {
        const size_t at = bit + static_cast<size_t>(i);
        if ((value >> i) & 1) image[at / 8] = static_cast<uint8_t>(image[at / 8] | (1U << (at % 8)));
    }
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == '.')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

void check_product(const ProductCase& test) {
    CAPTURE(test.types);
    CAPTURE(test.swizzle_a);
    CAPTURE(test.swizzle_b);
    CAPTURE(test.m_major);
    CAPTURE(test.n_major);
    const std::vector<std::string> types = split(test.types);
    const bool single_bits = test.element_bits == 1;
    const Placed2D a(test.element_bits, test.swizzle_a, !test.m_major, 64);
    const Placed2D b(test.element_bits, test.swizzle_b, !test.n_major, test.columns);
    const auto of_a = [&](int row, int k) { return single_bits ? value_of(row, k, 1) & 1 : value_of(row, k, 1); };
    const auto of_b = [&](int column, int k) {
        return single_bits ? value_of(column, k, 2) & 1 : value_of(column, k, 2);
    };
    std::vector<uint8_t> image(kImageBytes);
    std::vector<uint32_t> fragment(128 * 4);
    for (int k = 0; k < a.depth(); ++k) {
        for (int row = 0; row < 64; ++row) {
            const uint32_t bits = bits_of(types[1], of_a(row, k));
            put_bits(image, a.bit(row, k), bits, test.element_bits);
            // Document, figure of the fragment of A: rows r and r + 8 of 16, registers by halves of K.
            const int per_register = 32 / test.element_bits;
            const int thread = row / 16 * 32 + row % 8 * 4 + k / per_register % 4;
            const int index = row / 8 % 2 + k / (4 * per_register) * 2;
            fragment[static_cast<size_t>(thread * 4 + index)] |= bits << (k % per_register * test.element_bits);
        }
        for (int column = 0; column < test.columns; ++column) {
            put_bits(image, b.bit(column, k) + kImageBytes / 2 * 8, bits_of(types[2], of_b(column, k)),
                     test.element_bits);
        }
    }
    Machine machine(kernel_text(test), 90);
    const bool packed = test.d_bits == 16;
    const auto registers = static_cast<size_t>(test.columns / (packed ? 4 : 2));
    const bool is_integer = types[0] == "s32";
    const uint32_t before = is_integer ? 7 : packed ? 0x47004700 : std::bit_cast<uint32_t>(7.0F);
    const uint64_t device_c = machine.upload(std::vector<uint32_t>(128 * registers, before));
    const LaunchResult result = machine.launch(
        "k", {1, 1, 1}, {128, 1, 1},
        {machine.upload(image), device_c, a.descriptor(0), b.descriptor(kImageBytes / 2), machine.upload(fragment)});
    if (result.report) FAIL(result.report->text());
    const std::vector<uint32_t> d = machine.download<uint32_t>(device_c, 128 * registers);
    int wrong = 0;
    for (int row = 0; row < 64; ++row) {
        for (int column = 0; column < test.columns; ++column) {
            int sum = 0;
            for (int k = 0; k < a.depth(); ++k) sum += of_a(row, k) * of_b(column, k);
            const int expected = (test.adds ? 7 : 0) + (test.negates_a ? -sum : sum);
            // Document, figure of the fragment of D.
            const auto thread = static_cast<size_t>(row / 16 * 32 + row % 8 * 4 + column % 8 / 2);
            const auto j = static_cast<size_t>(column / 8 * 4 + row / 8 % 2 * 2 + column % 2);
            const uint32_t word = d[thread * registers + (packed ? j / 2 : j)];
            const uint32_t bits = packed ? (word >> (16 * (j % 2))) & 0xffff : word;
            const double value = is_integer ? static_cast<int32_t>(bits)
                                 : packed   ? decode_float(bits, kF16)
                                            : static_cast<double>(as_f32(bits));
            wrong += value != expected;
        }
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_SUITE("emulated_gpu") {
    TEST_CASE("emulated gpu: wgmma of all majors and swizzles") {
        for (const int swizzle_a : {0, 32, 64, 128}) {
            for (const int swizzle_b : {0, 32, 64, 128}) {
                for (const int majors : {0, 1, 2, 3}) {
                    ProductCase test;
                    test.types = "f32.bf16.bf16";
                    test.swizzle_a = swizzle_a;
                    test.swizzle_b = swizzle_b;
                    test.m_major = (majors & 1) != 0;
                    test.n_major = (majors & 2) != 0;
                    check_product(test);
                }
            }
        }
    }

    TEST_CASE("emulated gpu: wgmma of all types") {
        const auto check = [](const char* types, int element_bits, bool has_majors, bool has_scales, int d_bits,
                              int columns) {
            for (const bool in_registers : {false, true}) {
                ProductCase test;
                test.types = types;
                test.element_bits = element_bits;
                test.swizzle_a = test.swizzle_b = 128;
                test.has_majors = has_majors;
                test.has_scales = has_scales;
                test.d_bits = d_bits;
                test.columns = columns;
                test.a_in_registers = in_registers;
                check_product(test);
            }
        };
        check("f32.f16.f16", 16, true, true, 32, 8);
        check("f16.f16.f16", 16, true, true, 16, 16);
        check("f32.bf16.bf16", 16, true, true, 32, 24);
        check("f32.tf32.tf32", 32, false, true, 32, 40);
        check("f32.e4m3.e5m2", 8, false, true, 32, 128);
        check("f16.e5m2.e4m3", 8, false, true, 16, 32);
        check("s32.s8.u8", 8, false, false, 32, 96);
        check("s32.u8.u8", 8, false, false, 32, 32);
        check("s32.b1.b1.and.popc", 1, false, false, 32, 64);
    }

    TEST_CASE("emulated gpu: wgmma negates, overwrites and is wide") {
        ProductCase test;
        test.types = "f32.f16.f16";
        test.swizzle_a = test.swizzle_b = 64;
        test.negates_a = true;
        check_product(test);
        test.adds = false;
        test.columns = 256;
        check_product(test);
    }
}

}  // namespace emulated_gpu
