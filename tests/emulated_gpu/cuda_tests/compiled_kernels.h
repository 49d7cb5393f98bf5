#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <random>
#include <vector>

#include "tests/emulated_gpu/cuda_tests/machine.h"

namespace emulated_gpu {

/// Packs kernel arguments at their natural alignment.
class Parameters {
public:
    template <class T>
    Parameters& add(T value) {
        while (bytes_.size() % sizeof(T) != 0) bytes_.push_back(0);
        const size_t at = bytes_.size();
        bytes_.resize(at + sizeof(T));
        std::memcpy(bytes_.data() + at, &value, sizeof(T));
        return *this;
    }
    const std::vector<uint8_t>& bytes() const { return bytes_; }

private:
    std::vector<uint8_t> bytes_;
};

inline std::vector<float> random_floats(size_t count, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> values(count);
    for (float& value : values) value = uniform(random);
    return values;
}

/// Rounds to bf16 by the bits, independently of the machine's own conversions.
inline uint16_t to_bf16(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
inline float from_bf16(uint16_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// One launch of the GEMM source's kernel on random matrices, and how far it is from a product in f64.
struct GemmRun {
    LaunchResult result;
    double worst_error = 0;
    double milliseconds = 0;  // of the processor, without compilation and the host's check
};
/// The processor time of this thread so far.
inline double processor_milliseconds() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}
/// Random matrices of a GEMM on the device: A of m x k and B of k x n in bf16, C of m x n in f32, all NaN.
class GemmProblem {
public:
    GemmProblem(Machine& machine, size_t m, size_t n, size_t k) : machine_(machine), m_(m), n_(n), k_(k) {
        for (const float value : random_floats(m * k, 1)) a_.push_back(to_bf16(value));
        for (const float value : random_floats(k * n, 2)) b_.push_back(to_bf16(value));
        device_a = machine.upload(a_, "A");
        device_b = machine.upload(b_, "B");
        device_c = machine.upload(std::vector<float>(m * n, NAN), "C");
    }
    GemmProblem(const GemmProblem&) = delete;
    GemmProblem& operator=(const GemmProblem&) = delete;
    ~GemmProblem() {
        for (const uint64_t address : {device_a, device_b, device_c}) machine_.memory().release(address);
    }

    /// How far C is from the product in f64.
    double worst_error() const {
        const std::vector<float> c = machine_.download<float>(device_c, m_ * n_);
        double worst = 0;
        for (size_t row = 0; row < m_; ++row) {
            for (size_t column = 0; column < n_; ++column) {
                double sum = 0;
                for (size_t i = 0; i < k_; ++i)
                    sum += double{from_bf16(a_[row * k_ + i])} * from_bf16(b_[i * n_ + column]);
                const double error = std::fabs(c[row * n_ + column] - sum);
                if (!(error <= worst)) worst = std::isnan(error) ? INFINITY : error;
            }
        }
        return worst;
    }

    uint64_t device_a = 0, device_b = 0, device_c = 0;

private:
    Machine& machine_;
    size_t m_, n_, k_;
    std::vector<uint16_t> a_, b_;
};

inline GemmRun run_gemm(Machine& machine, uint32_t m, uint32_t n, uint32_t k, uint32_t threads = 128) {
    const GemmProblem problem(machine, m, n, k);
    LaunchShape shape;
    shape.grid = {(n + 63) / 64, (m + 63) / 64, 1};
    shape.block = {threads, 1, 1};
    shape.parameters =
        Parameters().add(problem.device_a).add(problem.device_b).add(problem.device_c).add(m).add(n).add(k).bytes();
    GemmRun run;
    const double start = processor_milliseconds();
    run.result = run_kernel(*machine.module().kernels.at("gemm"), shape, machine.memory(), machine.options, {});
    run.milliseconds = processor_milliseconds() - start;
    run.worst_error = problem.worst_error();
    return run;
}

}  // namespace emulated_gpu
