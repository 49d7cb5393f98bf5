// GEMM beside OpenBLAS, f32, in one process: the two alternate, and each ratio is the median over such pairs, since
// clock and neighbours change from one second to the next. Both run with as many threads as KILN_THREADS says (1).
//
// OpenBLAS chooses its kernels by the processor's model and falls back to slow ones for a model it does not know, so the
// program first tries its kernel sets in processes of their own and then starts itself anew with the fastest.
#include <cblas.h>
#include <fmt/format.h>
#include <kiln/kiln.hpp>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

extern "C" void openblas_set_num_threads(int threads);
extern "C" char* openblas_get_corename();

namespace {

struct Shape {
    std::int64_t m, n, k;
};

struct Result {
    Shape shape;
    double kiln_gflops = 0, openblas_gflops = 0, ratio = 0, largest_difference = 0;
};

double seconds_of(const std::function<void()>& action) {
    const auto start = std::chrono::steady_clock::now();
    action();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
}

std::vector<float> normal_values(std::int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = normal(random);
    return values;
}

Result compare(const kiln::Kernel& gemm, const kiln::Stream& stream, Shape shape) {
    const auto [m, n, k] = shape;
    const std::vector<float> a = normal_values(m * k, 1), b = normal_values(k * n, 2);
    std::vector<float> ours(static_cast<std::size_t>(m * n)), theirs(ours.size());
    const auto launch = gemm.prepare(stream, kiln::tensor(a.data(), {m, k}), kiln::tensor(b.data(), {k, n}),
                                     kiln::tensor(ours.data(), {m, n}));
    const auto run_kiln = [&] { launch.launch(); };
    const auto run_openblas = [&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(m), static_cast<int>(n),
                    static_cast<int>(k), 1, a.data(), static_cast<int>(k), b.data(), static_cast<int>(n), 0,
                    theirs.data(), static_cast<int>(n));
    };
    run_kiln();
    run_openblas();
    std::vector<double> ratios, kiln_times, openblas_times;
    double total = 0;
    while (ratios.size() < 7 || (total < 1 && ratios.size() < 200)) {
        kiln_times.push_back(seconds_of(run_kiln));
        openblas_times.push_back(seconds_of(run_openblas));
        ratios.push_back(openblas_times.back() / kiln_times.back());
        total += kiln_times.back() + openblas_times.back();
    }
    Result result{shape};
    const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    result.kiln_gflops = flops / median(kiln_times) / 1e9;
    result.openblas_gflops = flops / median(openblas_times) / 1e9;
    result.ratio = median(ratios);
    for (std::size_t i = 0; i < ours.size(); ++i) {
        result.largest_difference = std::max(result.largest_difference, static_cast<double>(std::abs(ours[i] - theirs[i])));
    }
    return result;
}

/// GFLOP/s of OpenBLAS alone, for choosing its kernels.
double probe() {
    constexpr int kSize = 768;
    const std::vector<float> a = normal_values(kSize * kSize, 1);
    std::vector<float> c(a.size());
    const auto run = [&] {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, kSize, kSize, kSize, 1, a.data(), kSize, a.data(), kSize,
                    0, c.data(), kSize);
    };
    run();
    std::vector<double> times;
    for (int i = 0; i < 7; ++i) times.push_back(seconds_of(run));
    return 2.0 * kSize * kSize * kSize / median(times) / 1e9;
}

/// What this program prints when it is started with --probe and that kernel set; 0 where OpenBLAS lacks it.
double probe_in_child(const std::string& program, const std::string& core) {
    const std::string command = fmt::format("OPENBLAS_CORETYPE={} '{}' --probe", core, program);
    FILE* output = ::popen(command.c_str(), "r");
    double gflops = 0;
    if (output == nullptr || std::fscanf(output, "%lf", &gflops) != 1) gflops = 0;
    if (output != nullptr) ::pclose(output);
    return gflops;
}

[[noreturn]] void restart_with_best_kernels(char** arguments) {
    const std::string program = "/proc/self/exe";
    char path[4096];
    const ssize_t length = ::readlink(program.c_str(), path, sizeof path);
    const std::string self(path, length > 0 ? static_cast<std::size_t>(length) : 0);
    std::string best;
    double best_gflops = 0;
    for (const char* core : {"SkylakeX", "Cooperlake", "SapphireRapids", "Haswell", "Zen", "NeoverseN1", "Armv8"}) {
        const double gflops = probe_in_child(self, core);
        if (gflops > best_gflops) {
            best_gflops = gflops;
            best = core;
        }
    }
    ::setenv("OPENBLAS_CORETYPE", best.c_str(), 1);
    ::execv(self.c_str(), arguments);
    std::perror("execv");
    std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string option = argc > 1 ? argv[1] : "";
    const bool json = option == "--json";
    ::setenv("KILN_THREADS", "1", 0);
    openblas_set_num_threads(std::atoi(std::getenv("KILN_THREADS")));
    if (option == "--probe") {
        std::printf("%f\n", probe());
        return 0;
    }
    if (std::getenv("OPENBLAS_CORETYPE") == nullptr) restart_with_best_kernels(argv);

    const auto device = kiln::Device::open();
    const auto gemm = kiln::Module::from_file("kiln/gemm.kiln").kernel("gemm");
    nlohmann::json rows = nlohmann::json::array();
    if (!json) {
        fmt::print("kiln {} on {}; OpenBLAS core {}; f32, {} thread(s)\n", kiln::version(), device.description(),
                   openblas_get_corename(), std::getenv("KILN_THREADS"));
        fmt::print("{:<18} {:>12} {:>12} {:>8} {:>12}\n", "shape", "kiln GF/s", "blas GF/s", "ratio", "difference");
    }
    for (const Shape shape : {Shape{512, 512, 512}, Shape{1024, 1024, 1024}, Shape{2048, 2048, 2048},
                              Shape{4096, 4096, 64}, Shape{64, 4096, 4096}, Shape{1001, 1003, 1007}}) {
        const Result result = compare(gemm, device.stream(), shape);
        const std::string name = fmt::format("{}x{}x{}", shape.m, shape.n, shape.k);
        if (json) {
            rows.push_back({{"shape", name},
                            {"kiln_gflops", result.kiln_gflops},
                            {"openblas_gflops", result.openblas_gflops},
                            {"ratio", result.ratio},
                            {"largest_difference", result.largest_difference}});
        } else {
            fmt::print("{:<18} {:>12.1f} {:>12.1f} {:>8.3f} {:>12.2e}\n", name, result.kiln_gflops,
                       result.openblas_gflops, result.ratio, result.largest_difference);
        }
    }
    if (json) fmt::print("{}\n", nlohmann::json{{"openblas_core", openblas_get_corename()}, {"rows", rows}}.dump(2));
}
