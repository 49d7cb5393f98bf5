// kiln demo: the main job of Kiln on this machine. The library's GEMM, attention and softmax at the shapes of one
// Llama-like layer, each compiled, cached, run and checked, as a table.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "kiln/kiln.hpp"
#include "runtime/verify.h"
#include "tools/measure.h"
#include "tools/oracle.h"
#include "tools/request.h"

namespace kiln::tools {

namespace {

struct Row {
    std::string name, shape;
    DType dtype = f32;
    double cold_ms = 0, cached_ms = 0, run_ms = 0;
    double rate = 0;  ///< GFLOP/s, or GB/s for softmax
    std::string unit;
    double error = 0, bound = 0, error_over_plain = 0;
    bool passed = false;
};

/// One line of the demo: a kernel of the library on tensors of its own.
struct Job {
    std::string title;
    std::string file, kernel;
    std::string shape;
    DType dtype = f32;
    std::vector<Generic> generics;
    std::vector<std::pair<std::string, Extents>> tensors;  ///< parameter and sizes, inputs before the output
    std::vector<std::pair<std::string, double>> numbers;
    double work = 0;  ///< FLOP of a launch, or bytes it must move
    std::string unit = "GFLOP/s";
    std::function<SampledErrors(const std::vector<Tensor>&)> errors;
};

constexpr std::uint64_t kSeed = 1;

Job gemm_job(const std::string& title, DType dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
    return {title,
            "kiln/gemm.kiln",
            "gemm",
            fmt::format("{}x{}x{}", m, n, k),
            dtype,
            {},
            {{"a", {m, k}}, {"b", {k, n}}, {"c", {m, n}}},
            {},
            2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k),
            "GFLOP/s",
            [](const std::vector<Tensor>& t) { return gemm_errors(t[0], t[1], t[2], kSeed); }};
}

Job attention_job(DType dtype, bool causal, std::int64_t heads, std::int64_t key_heads, std::int64_t length,
                  std::int64_t depth) {
    const double scale = 1 / std::sqrt(static_cast<double>(depth));
    const double pairs = static_cast<double>(length) * static_cast<double>(causal ? length + 1 : 2 * length) / 2;
    return {
        causal ? "attention, causal" : "attention",
        "kiln/attention.kiln",
        "attention",
        fmt::format("{} heads/{}, {} x {}", heads, key_heads, length, depth),
        dtype,
        {{"causal", causal}},
        {{"q", {1, heads, length, depth}},
         {"k", {1, key_heads, length, depth}},
         {"v", {1, key_heads, length, depth}},
         {"o", {1, heads, length, depth}}},
        {{"scale", scale}},
        4.0 * static_cast<double>(heads) * pairs * static_cast<double>(depth),
        "GFLOP/s",
        [=](const std::vector<Tensor>& t) { return attention_errors(t[0], t[1], t[2], t[3], scale, causal, kSeed); }};
}

Job softmax_job(DType dtype, std::int64_t rows, std::int64_t columns) {
    const double bytes = 2.0 * static_cast<double>(rows * columns) * (dtype == f32 ? 4 : 2);
    return {"softmax",
            "kiln/softmax.kiln",
            "softmax",
            fmt::format("{}x{}", rows, columns),
            dtype,
            {},
            {{"x", {rows, columns}}, {"y", {rows, columns}}},
            {},
            bytes,
            "GB/s",
            [](const std::vector<Tensor>& t) { return softmax_errors(t[0], t[1], kSeed); }};
}

/// One layer of a Llama-3-8B-like model at 512 tokens: width 4096, feed-forward 14336, 32 heads of 128 over 8.
std::vector<Job> layer_jobs() {
    std::vector<Job> jobs;
    for (const DType dtype : {f32, bf16}) {
        jobs.push_back(gemm_job("gemm, projection", dtype, 512, 4096, 4096));
        jobs.push_back(gemm_job("gemm, feed-forward", dtype, 512, 14336, 4096));
        jobs.push_back(attention_job(dtype, false, 32, 8, 512, 128));
        jobs.push_back(attention_job(dtype, true, 32, 8, 512, 128));
        jobs.push_back(softmax_job(dtype, 4096, 4096));
    }
    return jobs;
}

/// A folder for the cache of one job, so that "cold" is cold; gone with it.
class TemporaryCache {
public:
    TemporaryCache() {
        std::string pattern = (std::filesystem::temp_directory_path() / "kiln-demo-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw Error(ErrorKind::device, "no temporary folder can be made");
        folder_ = pattern;
        ::setenv("KILN_CACHE", folder_.c_str(), 1);
    }
    ~TemporaryCache() {
        std::error_code error;
        std::filesystem::remove_all(folder_, error);
    }
    TemporaryCache(const TemporaryCache&) = delete;
    TemporaryCache& operator=(const TemporaryCache&) = delete;

private:
    std::string folder_;
};

/// Shows what is going on, on a terminal only, and wipes it when it is over.
class Progress {
public:
    Progress(bool quiet, const std::string& text) : shown_(!quiet && ::isatty(STDERR_FILENO) == 1) {
        if (shown_) fmt::print(stderr, "  {} ...", text);
    }
    ~Progress() {
        if (shown_) fmt::print(stderr, "\r\033[K");
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

private:
    bool shown_;
};

/// A job's tensors, random inputs and room for the output, and the arguments that name them.
struct JobArguments {
    std::vector<std::vector<char>> memory;
    std::vector<Tensor> tensors;
    std::vector<Argument> arguments;
};

JobArguments make_arguments(const Job& job) {
    JobArguments made;
    made.memory.resize(job.tensors.size());
    for (std::size_t i = 0; i < job.tensors.size(); ++i) {
        made.tensors.push_back(random_tensor(job.dtype, job.tensors[i].second, kSeed + i, made.memory[i]));
        made.arguments.push_back(arg(job.tensors[i].first, made.tensors.back()));
    }
    for (const auto& [parameter, value] : job.numbers) made.arguments.push_back(arg(parameter, value));
    return made;
}

/// Milliseconds from reading the text to callable code, with a handle of its own.
double time_to_callable(const Job& job, const runtime::DeviceBackend& backend, const JobArguments& made) {
    const auto start = std::chrono::steady_clock::now();
    runtime::KernelState kernel(load_module(job.file), job.kernel, job.generics);
    kernel.prepare(backend, made.arguments);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void check_job(const Job& job, runtime::KernelState& kernel, const runtime::DeviceBackend& backend,
               const JobArguments& made, Row& row) {
    const runtime::VerifyReport report = runtime::verify(kernel, backend, made.arguments, kSeed);
    row.passed = report.passed;
    row.error = report.outputs.front().largest_error;
    row.bound = report.outputs.front().bound;
    const SampledErrors errors = job.errors(made.tensors);
    row.error_over_plain = errors.plain > 0 ? errors.kiln / errors.plain : 0;
}

Row run_job(const Job& job, const runtime::DeviceBackend& backend, bool quiet) {
    const TemporaryCache cache;
    const std::string what = fmt::format("{} {} {}", job.title, name(job.dtype), job.shape);
    Row row{job.title, job.shape, job.dtype};
    const JobArguments made = [&] {
        const Progress progress(quiet, what + ": making tensors");
        return make_arguments(job);
    }();
    row.cold_ms = time_to_callable(job, backend, made);
    row.cached_ms = time_to_callable(job, backend, made);
    runtime::KernelState kernel(load_module(job.file), job.kernel, job.generics);
    const auto prepared = kernel.prepare(backend, made.arguments);
    {
        const Progress progress(quiet, what + ": running");
        row.run_ms = median_seconds([&] { prepared->bound().run(); }) * 1e3;
        row.rate = job.work / row.run_ms / 1e6;
        row.unit = job.unit;
    }
    const Progress progress(quiet, what + ": checking");
    check_job(job, kernel, backend, made, row);
    return row;
}

void print_header() {
    fmt::print("{:<20} {:<22} {:<5} {:>8} {:>8} {:>9} {:>16}  {:>9} {:>9} {:>8}\n", "kernel", "shape", "dtype",
               "cold ms", "cached", "run ms", "speed", "error", "bound", "/ plain");
}

void print_row(const Row& row) {
    fmt::print("{:<20} {:<22} {:<5} {:>8.1f} {:>8.2f} {:>9.2f} {:>8.1f} {:<7}  {:>9.2e} {:>9.2e} {:>8.2f}  {}\n",
               row.name, row.shape, name(row.dtype), row.cold_ms, row.cached_ms, row.run_ms, row.rate, row.unit,
               row.error, row.bound, row.error_over_plain, row.passed ? "ok" : "WRONG");
    std::fflush(stdout);
}

nlohmann::json to_json(const Row& row) {
    return {{"kernel", row.name},
            {"shape", row.shape},
            {"dtype", std::string(name(row.dtype))},
            {"cold_ms", row.cold_ms},
            {"cached_ms", row.cached_ms},
            {"run_ms", row.run_ms},
            {"rate", row.rate},
            {"unit", row.unit},
            {"error", row.error},
            {"bound", row.bound},
            {"error_over_plain", row.error_over_plain},
            {"passed", row.passed}};
}

constexpr const char* kLegend = R"(
cold     from kernel text to callable code, nothing cached      cached   the same, the code on disk
error    largest difference from the kernel's reference (float64), where `bound` was allowed
/ plain  largest error against float64, over that of a plain loop in the same type: below 1 is better

Where to go next
  your own kernel   kiln check FILE, kiln run FILE KERNEL --verify, kiln emit FILE KERNEL --as ir|llvm|asm
  from C++          README.md shows one kernel end to end; examples/embed is a program to start from
  the language      docs/language.md; the kernels above are library/*.kiln
  everything        ./kiln test
)";

int demo(bool json) {
    const Device device = Device::open();
    const runtime::DeviceBackend& backend = *device.stream().backend();
    if (!json) {
        fmt::print(
            "Kiln {} on {}: {}\nOne Llama-like layer at 512 tokens, each result checked against its reference.\n\n",
            version(), device.name(), device.description());
        print_header();
    }
    nlohmann::json rows = nlohmann::json::array();
    bool passed = true;
    for (const Job& job : layer_jobs()) {
        const Row row = run_job(job, backend, json);
        passed &= row.passed;
        if (json) {
            rows.push_back(to_json(row));
        } else {
            print_row(row);
        }
    }
    if (json) {
        fmt::print("{}\n", nlohmann::json{{"device", device.description()}, {"rows", rows}}.dump(2));
    } else {
        fmt::print("{}", kLegend);
    }
    return passed ? kSuccess : kNotVerified;
}

}  // namespace

void add_demo(CLI::App& program, Action& action) {
    auto json = std::make_shared<bool>(false);
    CLI::App* command =
        program.add_subcommand("demo", "run and check the library at the shapes of one Llama-like layer");
    command->add_flag("--json", *json, "print JSON");
    command->footer("Example:\n  kiln demo --json");
    command->callback([json, &action] { action = [json] { return demo(*json); }; });
}

}  // namespace kiln::tools
