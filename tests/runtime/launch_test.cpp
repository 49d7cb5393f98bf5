// Launches that must work, through the public header: how arguments may be given and what they may look like.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "tests/runtime/host.h"

namespace kiln::test {
namespace {

constexpr const char* kScaled = R"(
kernel scaled<T: real>(x: in T[N], y: out T[N], factor: T, shift: T = 3, extra: in T[N] = none)
  tune BLOCK in {64}
grid i in 0 .. N by BLOCK {
    var value = x[i :+ BLOCK] * factor + shift
    static if present(extra) { value += extra[i :+ BLOCK] }
    y[i :+ BLOCK] = value
}
)";

constexpr const char* kRowSum = R"(
kernel row_sum<C: int>(x: in f32[A, B, C], y: out f32[A, B])
grid a in 0 .. A, b in 0 .. B {
    y[a, b] = sum(x[a, b, :])
}
)";

constexpr const char* kCopy = R"(
kernel copy<T: any>(x: in T[M, N], y: out T[M, N])
  tune BLOCK in {16}
grid i in 0 .. M, j in 0 .. N by BLOCK {
    y[i, j :+ BLOCK] = x[i, j :+ BLOCK]
}
)";

/// DLPack's DLTensor, as its header declares it.
struct DlTensor {
    void* data;
    struct {
        std::int32_t device_type, device_id;
    } device;
    std::int32_t ndim;
    struct {
        std::uint8_t code, bits;
        std::uint16_t lanes;
    } dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};

TEST_SUITE("unit") {
    TEST_CASE("launch: by position, by name, and with optional parameters left out or given") {
        const Kernel kernel = kernel_of(kScaled, "scaled");
        const std::vector<float> x = {1, 2, 3}, extra = {100, 200, 300};
        std::vector<float> y(3);
        const Tensor tx = tensor(x.data(), {3}), ty = tensor(y.data(), {3}), te = tensor(extra.data(), {3});
        kernel.launch(cpu(), tx, ty, 2.0);
        CHECK(y == std::vector<float>{5, 7, 9});
        kernel.launch(cpu(), tx, ty, 2.0f, 0.5);
        CHECK(y == std::vector<float>{2.5, 4.5, 6.5});
        kernel.launch(cpu(), arg("factor", 1), arg("y", ty), arg("extra", te), arg("x", tx));
        CHECK(y == std::vector<float>{104, 205, 306});
        kernel.launch(cpu(), tx, ty, 1.0, arg("shift", 0), arg("extra", none));
        CHECK(y == x);
        kernel.launch(cpu(), tx, ty, 1.0, 0, te);
        CHECK(y == std::vector<float>{101, 202, 303});
    }

    TEST_CASE("launch: the element type follows from the arguments, and a number is converted to it") {
        const Kernel kernel = kernel_of(kScaled, "scaled");
        const std::vector<double> x = {1, 2};
        std::vector<double> y(2);
        kernel.launch(cpu(), tensor(x.data(), {2}), tensor(y.data(), {2}), 0.1, 0);
        CHECK(y == std::vector<double>{0.1, 0.2});
        // 1.5 and 2 in bf16.
        const std::vector<std::uint16_t> b = {0x3fc0, 0x4000};
        std::vector<std::uint16_t> r(2);
        kernel.launch(cpu(), tensor(bf16, const_cast<std::uint16_t*>(b.data()), {2}), tensor(bf16, r.data(), {2}), 2,
                      0);
        CHECK(r == std::vector<std::uint16_t>{0x4040, 0x4080});
    }

    TEST_CASE("launch: numbers of every kind arrive whole") {
        const char* text = R"(
kernel numbers(a: i8, b: u8, c: i64, d: u64, e: f16, f: bool, y: out f64[6])
grid i in 0 .. 1 {
    y[0] = f64(a)
    y[1] = f64(b)
    y[2] = f64(c / 2)
    y[3] = f64(d / 2)
    y[4] = f64(e)
    y[5] = f64(f)
}
)";
        std::vector<double> y(6);
        const Kernel kernel = kernel_of(text, "numbers");
        kernel.launch(cpu(), -128, 255u, std::numeric_limits<std::int64_t>::min(),
                      std::numeric_limits<std::uint64_t>::max(), 2049, true, tensor(y.data(), {6}));
        CHECK(y == std::vector<double>{-128, 255, -0x1p62, 0x1p63, 2048, 1});
        kernel.launch(cpu(), 127, 0, std::int64_t{-7}, std::uint64_t{6}, 0.1f, false, tensor(y.data(), {6}));
        CHECK(y == std::vector<double>{127, 0, -3, 3, 0x1.998p-4, 0});
    }

    TEST_CASE("launch: any strides of an input, transposed, negative and zero among them") {
        std::vector<float> data(64);
        std::iota(data.begin(), data.end(), 0.0f);
        const Kernel kernel = kernel_of(kRowSum, "row_sum");
        const auto sums = [&](std::int64_t offset, Extents sizes, Extents strides) {
            std::vector<float> y(static_cast<std::size_t>(sizes[0] * sizes[1]));
            kernel.launch(cpu(), Tensor{data.data() + offset, f32, sizes, strides},
                          tensor(y.data(), {sizes[0], sizes[1]}));
            std::vector<float> expected;
            for (std::int64_t a = 0; a < sizes[0]; ++a) {
                for (std::int64_t b = 0; b < sizes[1]; ++b) {
                    float sum = 0;
                    for (std::int64_t c = 0; c < sizes[2]; ++c) {
                        sum +=
                            data[static_cast<std::size_t>(offset + a * strides[0] + b * strides[1] + c * strides[2])];
                    }
                    expected.push_back(sum);
                }
            }
            CHECK(y == expected);
        };
        sums(0, {2, 4, 8}, {32, 8, 1});
        sums(0, {2, 4, 8}, {8, 16, 1});  // a view of 4 x 2 x 8
        sums(0, {2, 8, 4}, {32, 1, 8});  // last axes exchanged
        sums(63, {2, 4, 8}, {-32, -8, -1});
        sums(7, {2, 4, 8}, {32, 8, -1});
        sums(5, {2, 4, 8}, {0, 0, 1});  // one row, again and again
        sums(5, {2, 4, 8}, {8, 1, 0});
        sums(0, {1, 1, 1}, {1000, 1000, 1000});
    }

    TEST_CASE("launch: outputs with gaps leave the gaps alone") {
        const std::vector<std::int32_t> x = {1, 2, 3, 4, 5, 6};
        std::vector<std::int32_t> y(20, -1);
        kernel_of(kCopy, "copy").launch(cpu(), tensor(x.data(), {2, 3}), Tensor{y.data() + 1, i32, {2, 3}, {10, 2}});
        CHECK(y == std::vector<std::int32_t>{-1, 1, -1, 2, -1, 3, -1, -1, -1, -1, -1, 4, -1, 5, -1, 6, -1, -1, -1, -1});
        kernel_of(kCopy, "copy").launch(cpu(), tensor(x.data(), {2, 3}), Tensor{y.data() + 5, i32, {2, 3}, {-3, -1}});
        CHECK(std::vector<std::int32_t>(y.begin(), y.begin() + 6) == std::vector<std::int32_t>{6, 5, 4, 3, 2, 1});
    }

    TEST_CASE("launch: one handle takes aligned and unaligned memory, and odd row pitches") {
        const Kernel kernel = kernel_of(kCopy, "copy");
        std::vector<float> x(1185 * 3 + 1), y(x.size());
        std::iota(x.begin(), x.end(), 0.0f);
        for (const std::int64_t start : {0, 1}) {
            for (const std::int64_t pitch : {1185, 1000}) {
                std::fill(y.begin(), y.end(), -1.0f);
                kernel.launch(cpu(), Tensor{x.data() + start, f32, {3, 1000}, {pitch, 1}},
                              Tensor{y.data() + start, f32, {3, 1000}, {pitch, 1}});
                for (std::int64_t i = 0; i < 3; ++i) {
                    const auto row = static_cast<std::ptrdiff_t>(start + i * pitch);
                    CHECK(std::equal(x.begin() + row, x.begin() + row + 1000, y.begin() + row));
                }
            }
        }
    }

    TEST_CASE("launch: every element type that has a C++ type copies") {
        const Kernel kernel = kernel_of(kCopy, "copy");
        const auto copies = [&](auto sample) {
            using Element = decltype(sample);
            const Element x[2] = {sample, Element(1)};
            Element y[2] = {};
            kernel.launch(cpu(), tensor(x, {1, 2}), tensor(y, {1, 2}));
            CHECK(std::memcmp(x, y, sizeof x) == 0);
        };
        copies(true);
        copies(std::int8_t{-100});
        copies(std::uint8_t{200});
        copies(std::int16_t{-30000});
        copies(std::uint16_t{60000});
        copies(std::int32_t{-2000000000});
        copies(std::uint32_t{4000000000u});
        copies(std::numeric_limits<std::int64_t>::min());
        copies(std::numeric_limits<std::uint64_t>::max());
        copies(3.5f);
        copies(-1e300);
        copies(42LL);
    }

    TEST_CASE("launch: DLPack tensors, with and without strides and an offset") {
        std::vector<float> x = {0, 1, 2, 3, 4, 5}, y(4);
        std::int64_t shape[] = {2, 2}, strides[] = {1, 2};
        DlTensor source{x.data(), {1, 0}, 2, {2, 32, 1}, shape, strides, 4};
        const Tensor target = tensor(y.data(), {2, 2});
        kernel_of(kCopy, "copy").launch(cpu(), from_dlpack(source), target);
        CHECK(y == std::vector<float>{1, 3, 2, 4});
        source.strides = nullptr;
        kernel_of(kCopy, "copy").launch(cpu(), from_dlpack(source), target);
        CHECK(y == std::vector<float>{1, 2, 3, 4});
        for (const int gpu : {2, 10}) {
            source.device.device_type = gpu;
            CHECK(contains(error_of([&] { kernel_of(kCopy, "copy").launch(cpu(), from_dlpack(source), target); }),
                           "user: `x` lies in the memory of a GPU, which the CPU cannot read"));
        }
        source.device.device_type = 7;
        CHECK(error_of([&] { from_dlpack(source); }) ==
              "user: the DLPack tensor lies on a device of type 7, whose memory Kiln cannot reach: copy it to the CPU "
              "first");
        source.device.device_type = 1;
        source.dtype.lanes = 2;
        CHECK(error_of([&] { from_dlpack(source); }) ==
              "user: Kiln has no element type for the DLPack type code 2, 32 bits, 2 lanes");
        source.dtype.lanes = 1;
        source.ndim = 9;
        CHECK(error_of([&] { from_dlpack(source); }) == "user: a tensor has at most 8 axes");
        CHECK(dtype_from_dlpack(4, 16, 1) == bf16);
        CHECK(dtype_from_dlpack(6, 8, 1) == boolean);
        CHECK(dtype_from_dlpack(10, 8, 1) == f8e4m3);
    }

    TEST_CASE("launch: memory, copies, events and streams of a device work on the CPU as on a GPU") {
        const Device device = Device::open("cpu");
        const Stream stream = device.make_stream();
        const Buffer x = device.allocate(16), y = device.allocate(16);
        CHECK(x.bytes() == 16);
        const std::vector<float> values = {1, 2, 3, 4};
        stream.copy_to_device(x.data(), values.data(), 16);
        const Event before = stream.record();
        kernel_of(kScaled, "scaled")
            .launch(stream, tensor(f32, x.data(), {4}), tensor(f32, y.data(), {4}), 2.0, arg("shift", 0));
        const Event after = stream.record();
        device.stream().wait(after);
        after.synchronise();
        CHECK(after.seconds_since(before) >= 0);
        std::vector<float> result(4);
        stream.copy_to_host(result.data(), y.data(), 16);
        CHECK(result == std::vector<float>{2, 4, 6, 8});
        CHECK(stream.native() == nullptr);
        CHECK(contains(error_of([&] { device.stream(&result); }), "user: the CPU has no streams that a driver made"));
    }

    TEST_CASE("launch: every element type has its name") {
        const DType types[] = {boolean, i8,  i16, i32, i64, u8,     u16,    u32,    u64,   f16,
                               bf16,    f32, f64, i4,  u4,  f4e2m1, f8e4m3, f8e5m2, f8e8m0};
        const char* names[] = {"bool", "i8",  "i16", "i32", "i64", "u8",     "u16",    "u32",    "u64",   "f16",
                               "bf16", "f32", "f64", "i4",  "u4",  "f4e2m1", "f8e4m3", "f8e5m2", "f8e8m0"};
        for (std::size_t i = 0; i < std::size(types); ++i) CHECK(name(types[i]) == names[i]);
    }

    TEST_CASE("launch: an empty grid is a success, before, between and after others") {
        const Kernel kernel = kernel_of(kScaled, "scaled");
        std::vector<float> x(64, 1.0f), y(64, 7.0f);
        const auto launch = [&](std::int64_t n, const float* in, float* out) {
            kernel.launch(cpu(), tensor(in, {n}), tensor(out, {n}), 1, 0);
        };
        launch(0, nullptr, nullptr);
        CHECK(y[0] == 7);
        launch(64, x.data(), y.data());
        CHECK(y == x);
        y.assign(64, 7.0f);
        launch(0, x.data(), y.data());
        CHECK(y[0] == 7);
    }

    TEST_CASE("launch: attention without keys gives zeros, and minus infinity where it sums") {
        const auto module = Module::from_file("kiln/attention.kiln");
        for (const bool causal : {false, true}) {
            const Kernel kernel = module.kernel("attention", {{"causal", causal}});
            const std::vector<float> q(2 * 3 * 16, 1.0f);
            std::vector<float> o(q.size(), 7.0f), lse(2 * 3, 7.0f);
            float nothing = 0;
            kernel.launch(cpu(), tensor(q.data(), {1, 2, 3, 16}), tensor(&nothing, {1, 1, 0, 16}),
                          tensor(&nothing, {1, 1, 0, 16}), 0.25, tensor(o.data(), {1, 2, 3, 16}),
                          arg("lse", tensor(lse.data(), {1, 2, 3})));
            CHECK(o == std::vector<float>(q.size(), 0.0f));
            CHECK(lse == std::vector<float>(6, -std::numeric_limits<float>::infinity()));
        }
    }

    TEST_CASE("launch: an output that no program writes keeps what it held") {
        const char* text = R"(
kernel first_only(x: in f32[N], y: out f32[N])
grid i in 0 .. 1 { y[i] = x[i] }
)";
        const std::vector<float> x = {1, 2};
        std::vector<float> y = {7, 8};
        kernel_of(text, "first_only").launch(cpu(), tensor(x.data(), {2}), tensor(y.data(), {2}));
        CHECK(y == std::vector<float>{1, 8});
    }

    TEST_CASE("launch: a prepared launch repeats on the same memory, and tells where its code came from") {
        const ScopedVariable off("KILN_CACHE", "off");
        const Kernel kernel = kernel_of(kScaled, "scaled");
        std::vector<float> x = {1, 2}, y(2);
        const PreparedLaunch prepared = kernel.prepare(cpu(), tensor(x.data(), {2}), tensor(y.data(), {2}), 2, 0);
        CHECK(y == std::vector<float>{0, 0});
        prepared.launch();
        CHECK(y == std::vector<float>{2, 4});
        x[0] = 10;
        prepared.launch();
        CHECK(y == std::vector<float>{20, 4});
        CHECK(prepared.info().source == LaunchInfo::Source::compiled);
        CHECK(prepared.info().generics == std::map<std::string, std::string>{{"T", "f32"}});
        CHECK(prepared.info().tunables == std::map<std::string, std::string>{{"BLOCK", "64"}});
        const PreparedLaunch again = kernel.prepare(cpu(), tensor(x.data(), {2}), tensor(y.data(), {2}), 3, 0);
        CHECK(again.info().source == LaunchInfo::Source::memory);
        CHECK(again.info().seconds == 0);
        CHECK(again.info().key == prepared.info().key);
    }

    TEST_CASE("launch: views of columns of one packed matrix are inputs and output of one launch") {
        std::vector<float> packed = {1, 2, 0, 3, 4, 0};  // columns x0, x1, y
        const Kernel kernel = kernel_of(R"(
kernel pair_sum(a: in f32[N], b: in f32[N], y: out f32[N])
grid i in 0 .. N { y[i] = a[i] + b[i] }
)",
                                        "pair_sum");
        const auto column = [&](std::ptrdiff_t at) { return Tensor{packed.data() + at, f32, {2}, {3}}; };
        kernel.launch(cpu(), column(0), column(1), column(2));
        CHECK(packed == std::vector<float>{1, 2, 3, 3, 4, 7});
        kernel.launch(cpu(), column(0), column(0), column(2));  // inputs may overlap
        CHECK(packed == std::vector<float>{1, 2, 2, 3, 4, 6});
    }

    TEST_CASE("modules: from memory, with imports that a reader serves") {
        std::vector<std::string> asked;
        const TextReader reader = [&](const std::string& path) -> std::optional<std::string> {
            asked.push_back(path);
            if (path == "sub/twice.kiln") return "fn twice(x: f32) -> f32 = x * 2\n";
            return std::nullopt;
        };
        const char* text = R"(
import "sub/twice.kiln" as t
kernel double_it(x: in f32[N], y: out f32[N])
grid i in 0 .. N { y[i] = t.twice(x[i]) }
)";
        const Module module = Module::from_text(text, "main.kiln", reader);
        CHECK(asked == std::vector<std::string>{"sub/twice.kiln"});
        CHECK(module.kernels() == std::vector<std::string>{"double_it"});
        const std::vector<float> x = {4};
        std::vector<float> y(1);
        module.kernel("double_it").launch(cpu(), tensor(x.data(), {1}), tensor(y.data(), {1}));
        CHECK(y[0] == 8);
        const auto missing = Module::try_from_text("import \"gone.kiln\" as g\n", "main.kiln", reader);
        REQUIRE(!missing);
        CHECK(missing.error().kind() == ErrorKind::user);
        CHECK(contains(missing.error().what(), "gone.kiln"));
        CHECK(contains(missing.error().what(), "main.kiln:1"));
    }

    TEST_CASE("modules: two kernels of one name do not get into each other's way") {
        const auto writes = [](const std::string& value) {
            return kernel_of("kernel main(y: out f32[N])\ngrid i in 0 .. N { y[i] = " + value + " }\n", "main");
        };
        const Kernel one = writes("1");
        std::vector<float> y(1);
        const PreparedLaunch first = one.prepare(cpu(), tensor(y.data(), {1}));
        writes("5").launch(cpu(), tensor(y.data(), {1}));
        CHECK(y[0] == 5);
        first.launch();
        CHECK(y[0] == 1);
    }

    TEST_CASE("modules: generics and tunables take their values") {
        const char* text = R"(
import "kiln/activations.kiln" as act
kernel apply<T: real, K: int = 1, flag: bool = false, scale: f32 = 1, f: fn(f32) -> f32 = act.identity>(
    x: in f32[N], y: out T[N])
  tune BLOCK in {4, 8}
grid i in 0 .. N by BLOCK {
    y[i :+ BLOCK] = T(f(x[i :+ BLOCK]) * scale + f32(K) + select(flag, 100, 0))
}
)";
        const std::vector<float> x = {-2, 3};
        std::vector<double> y(2);
        const auto run = [&](const std::vector<Generic>& generics) {
            const PreparedLaunch launch =
                kernel_of(text, "apply", generics).prepare(cpu(), tensor(x.data(), {2}), tensor(y.data(), {2}));
            launch.launch();
            return launch.info();
        };
        const LaunchInfo plain = run({});
        CHECK(y == std::vector<double>{-1, 4});
        CHECK(plain.generics.at("T") == "f64");
        CHECK(plain.tunables.at("BLOCK") == "4");
        const LaunchInfo set =
            run({{"T", f64}, {"K", 10u}, {"flag", true}, {"scale", 0.5}, {"f", "act.relu"}, {"BLOCK", 8}});
        CHECK(y == std::vector<double>{110, 111.5});
        CHECK(set.generics == std::map<std::string, std::string>{
                                  {"T", "f64"}, {"K", "10"}, {"flag", "true"}, {"scale", "0.5"}, {"f", "act.relu"}});
        CHECK(set.tunables.at("BLOCK") == "8");
    }
}

}  // namespace
}  // namespace kiln::test
