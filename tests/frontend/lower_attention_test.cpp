// Softmax and attention through the interpreter, against values computed here and against their own references.
#include <limits>

#include "tests/frontend/kernel_run.h"
#include "tests/support/special_values.h"

namespace kiln::test {

namespace {

using ir::ScalarType;
using ir::Shape;

struct AttentionCase {
    const char* name;
    std::int64_t m, n;
    bool causal = false;
    std::int64_t window = 0;
    double softcap = 0;
    bool sinks = false, lse = false, modified = false;
    std::int64_t key_heads = 2;
};

constexpr std::int64_t kBatches = 2, kHeads = 4, kDepth = 16, kValueDepth = 8;
constexpr double kScale = 0.25;

constexpr AttentionCase kCases[] = {
    {"plain", 13, 21},
    {"causal", 21, 21, true},
    {"causal with more queries than keys: rows without keys", 13, 9, true},
    {"causal with more keys than queries", 9, 40, true, 0, 0, false, true},
    {"window", 21, 21, true, 5},
    {"softcap", 13, 21, false, 0, 1.5},
    {"sinks and lse", 13, 21, true, 0, 0, true, true},
    {"everything", 17, 30, true, 7, 2.0, true, true, true},
    {"one key head", 7, 11, false, 0, 0, false, true, false, 1},
};

/// The library's attention with modifiers of one's own.
const char* kModified = R"(
import "kiln/attention.kiln" as att

fn tilt(s: f32, b: int, h: int, i: int, j: int) -> f32 = s + 0.125 * f32(j - i) + f32(h)
fn odd(b: int, h: int, i: int, j: int) -> bool = (i + j) % 3 != 1
kernel unused(x: in f32[N], y: out f32[N]) grid i in 0 .. N { y[i] = x[i] }
)";

struct Expected {
    std::vector<double> output, log_sum;
};

/// Scores of one row of queries: -inf where a key is not seen.
std::vector<double> scores(const AttentionCase& given, const Launch& launch, std::int64_t b, std::int64_t h,
                           std::int64_t i) {
    const HostTensor &q = launch.tensors.at("q"), &k = launch.tensors.at("k");
    const std::int64_t hk = h / (kHeads / given.key_heads), offset = given.n - given.m;
    std::vector<double> row;
    for (std::int64_t j = 0; j < given.n; ++j) {
        double s = 0;
        for (std::int64_t d = 0; d < kDepth; ++d) {
            s += q[((b * kHeads + h) * given.m + i) * kDepth + d] *
                 k[((b * given.key_heads + hk) * given.n + j) * kDepth + d];
        }
        s *= kScale;
        if (given.softcap > 0) s = given.softcap * std::tanh(s / given.softcap);
        if (given.modified) s += 0.125 * static_cast<double>(j - i) + static_cast<double>(h);
        bool keep = !given.modified || (i + j) % 3 != 1;
        if (given.causal) keep = keep && j <= i + offset;
        if (given.window > 0) keep = keep && j > i + offset - given.window;
        row.push_back(keep ? s : -kInfinity);
    }
    return row;
}

Expected expected(const AttentionCase& given, const Launch& launch) {
    const HostTensor& v = launch.tensors.at("v");
    Expected result;
    for (std::int64_t row = 0; row < kBatches * kHeads * given.m; ++row) {
        const std::int64_t i = row % given.m, h = row / given.m % kHeads, b = row / given.m / kHeads;
        const std::int64_t hk = h / (kHeads / given.key_heads);
        const std::vector<double> s = scores(given, launch, b, h, i);
        double total = given.sinks ? std::exp(launch.tensors.at("sinks")[h]) : 0;
        std::vector<double> output(kValueDepth);
        for (std::int64_t j = 0; j < given.n; ++j) {
            const double p = std::exp(s[static_cast<std::size_t>(j)]);
            total += p;
            for (std::int64_t d = 0; d < kValueDepth; ++d) {
                output[static_cast<std::size_t>(d)] +=
                    p * v[((b * given.key_heads + hk) * given.n + j) * kValueDepth + d];
            }
        }
        for (const double value : output) result.output.push_back(total == 0 ? 0 : value / total);
        result.log_sum.push_back(std::log(total));
    }
    return result;
}

Launch attention_launch(const AttentionCase& given, ScalarType element) {
    Launch launch;
    launch.tensors["q"] = HostTensor::noise(element, Shape{kBatches, kHeads, given.m, kDepth}, 1);
    launch.tensors["k"] = HostTensor::noise(element, Shape{kBatches, given.key_heads, given.n, kDepth}, 2);
    launch.tensors["v"] = HostTensor::noise(element, Shape{kBatches, given.key_heads, given.n, kValueDepth}, 3);
    launch.tensors["o"] = HostTensor::filled(element, Shape{kBatches, kHeads, given.m, kValueDepth}, 9);
    if (given.lse) launch.tensors["lse"] = HostTensor::filled(ScalarType::F32, Shape{kBatches, kHeads, given.m}, 9);
    if (given.sinks) launch.tensors["sinks"] = HostTensor::noise(ScalarType::F32, Shape{kHeads}, 5);
    launch.scalars["scale"] = ir::Scalar::f32(kScale);
    launch.generics["causal"] = ir::Scalar::boolean(given.causal);
    launch.generics["window"] = ir::Scalar::int64(given.window);
    launch.generics["softcap"] = ir::Scalar::f32(static_cast<float>(given.softcap));
    if (given.modified) launch.generics["score_mod"] = frontend::FunctionName{"tilt"};
    if (given.modified) launch.generics["mask_mod"] = frontend::FunctionName{"odd"};
    return launch;
}

frontend::Program modified_attention() {
    return load_checked("test.kiln", [](const std::string& path) -> std::optional<std::string> {
        if (path == "test.kiln") return kModified;
        return frontend::read_file(std::string(KILN_SOURCE_DIR) + "/library/attention.kiln");
    });
}

frontend::Request attention_request(const std::string& kernel, const Launch& launch) {
    frontend::Request request;
    request.kernel = kernel;
    request.generics = launch.generics;
    request.tunables = launch.tunables;
    for (const char* name : {"q", "k", "v", "o", "lse", "sinks"}) {
        const auto tensor = launch.tensors.find(name);
        request.parameters[name].present = tensor != launch.tensors.end();
        if (tensor == launch.tensors.end()) continue;
        request.parameters[name].element = tensor->second.element();
        request.parameters[name].sizes = tensor->second.sizes();
    }
    return request;
}

void check_attention(const AttentionCase& given, ScalarType element, double tolerance) {
    const frontend::Program program = modified_attention();
    for (const std::string kernel : {"att.attention", "att.attention_naive"}) {
        CAPTURE(kernel);
        Launch launch = attention_launch(given, element);
        if (kernel == "att.attention") launch.tunables = {{"BM", ir::Scalar::int64(8)}, {"BN", ir::Scalar::int64(16)}};
        const Expected wanted = expected(given, launch);
        const ir::LaunchErrors errors = run(specialised(program, attention_request(kernel, launch)), launch);
        REQUIRE(errors.messages.empty());
        const auto at = [](const std::vector<double>& values) {
            return [&values](std::int64_t i) { return values[static_cast<std::size_t>(i)]; };
        };
        CHECK(worst_excess(launch.tensors["o"], at(wanted.output), tolerance) < tolerance);
        if (given.lse) CHECK(worst_excess(launch.tensors["lse"], at(wanted.log_sum), 1e-5) < 1e-5);
    }
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("attention and its reference, in every combination of its options") {
        for (const AttentionCase& given : kCases) {
            CAPTURE(given.name);
            check_attention(given, ScalarType::F32, 1e-5);
            check_attention(given, ScalarType::F16, 4e-3);
        }
    }

    TEST_CASE("a local function of scalars that captures data is lifted over the tile of scores") {
        const frontend::Program program = load_library("attention.kiln");
        const AttentionCase given{"alibi", 13, 13, true, 0, 0, false, false, false, kHeads};
        HostTensor fast;
        for (const char* kernel : {"attention_alibi", "attention_alibi_naive"}) {
            Launch launch = attention_launch(given, ScalarType::F32);
            launch.generics.clear();
            launch.tensors["v"] = HostTensor::noise(ScalarType::F32, Shape{kBatches, kHeads, given.n, kDepth}, 3);
            launch.tensors["o"] = HostTensor::filled(ScalarType::F32, Shape{kBatches, kHeads, given.m, kDepth}, 9);
            launch.tensors["slope"] = HostTensor::noise(ScalarType::F32, Shape{kHeads}, 6);
            run_kernel(program, kernel, launch);
            if (fast.count() > 1) {
                CHECK(worst_excess(
                          launch.tensors["o"], [&](std::int64_t i) { return fast[i]; }, 1e-5) < 1e-5);
            }
            fast = launch.tensors["o"];
        }
        CHECK(std::abs(fast[5]) <= 1);
    }

    TEST_CASE("softmax of whole rows, of long rows, and its reference") {
        const frontend::Program program = load_library("softmax.kiln");
        const std::int64_t m = 3, n = 77;
        for (const char* kernel : {"softmax", "softmax_long", "softmax_naive"}) {
            CAPTURE(kernel);
            Launch launch;
            if (kernel == std::string("softmax_long")) launch.tunables["BLOCK"] = ir::Scalar::int64(32);
            launch.tensors["x"] =
                HostTensor(ScalarType::F32, Shape{m, n}, [](std::int64_t i) { return (i * 7 % 13) - 6; });
            launch.tensors["y"] = HostTensor::filled(ScalarType::F32, Shape{m, n}, 9);
            run_kernel(program, kernel, launch);
            const auto wanted = [&](std::int64_t at) {
                double sum = 0;
                for (std::int64_t j = 0; j < n; ++j) sum += std::exp(launch.tensors["x"][at / n * n + j]);
                return std::exp(launch.tensors["x"][at]) / sum;
            };
            CHECK(worst_excess(launch.tensors["y"], wanted, 1e-5) < 1e-7);
        }
    }
}

}  // namespace kiln::test
