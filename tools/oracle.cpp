#include "tools/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "ir/semantics.h"
#include "runtime/arguments.h"

namespace kiln::tools {

namespace {

/// Elements [.., 0 .. count) along the last axis of a tensor, as double.
class Row {
public:
    Row(const Tensor& tensor, std::initializer_list<std::int64_t> index, std::size_t axis)
        : tensor_(tensor), axis_(axis) {
        std::size_t i = 0;
        for (const std::int64_t place : index) offset_ += place * tensor.strides[i++];
    }

    double operator[](std::int64_t place) const {
        const std::int64_t at = offset_ + place * tensor_.strides[axis_];
        if (tensor_.dtype == f32) return static_cast<const float*>(tensor_.data)[at];
        std::uint16_t bits;
        std::memcpy(&bits, static_cast<const char*>(tensor_.data) + at * 2, sizeof bits);
        return ir::Scalar{runtime::to_scalar_type(tensor_.dtype), bits}.as_double();
    }

private:
    const Tensor& tensor_;
    std::size_t axis_;
    std::int64_t offset_ = 0;
};

double rounded(DType dtype, float value) {
    return ir::round_to(runtime::to_scalar_type(dtype), static_cast<double>(value)).as_double();
}

void note(SampledErrors& errors, double truth, double kiln, double plain) {
    errors.kiln = std::max(errors.kiln, std::abs(kiln - truth));
    errors.plain = std::max(errors.plain, std::abs(plain - truth));
}

/// Both versions of a softmax over scores: in double, and in float with a shift by the maximum.
struct Softmax {
    std::vector<double> exact;
    std::vector<float> plain;

    explicit Softmax(const std::vector<double>& scores, const std::vector<float>& plain_scores) {
        const double top = *std::max_element(scores.begin(), scores.end());
        const float plain_top = *std::max_element(plain_scores.begin(), plain_scores.end());
        double sum = 0;
        float plain_sum = 0;
        for (const double score : scores) sum += exact.emplace_back(std::exp(score - top));
        for (const float score : plain_scores) plain_sum += plain.emplace_back(std::exp(score - plain_top));
        for (double& weight : exact) weight /= sum;
        for (float& weight : plain) weight /= plain_sum;
    }
};

std::int64_t draw(std::mt19937_64& random, std::int64_t count) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count));
}

}  // namespace

SampledErrors gemm_errors(const Tensor& a, const Tensor& b, const Tensor& c, std::uint64_t seed) {
    constexpr int kElements = 2048;
    std::mt19937_64 random(seed);
    SampledErrors errors;
    for (int sample = 0; sample < kElements; ++sample) {
        const std::int64_t i = draw(random, a.sizes[0]), j = draw(random, b.sizes[1]);
        const Row left(a, {i}, 1);
        double exact = 0;
        float plain = 0;
        for (std::int64_t k = 0; k < a.sizes[1]; ++k) {
            const double x = left[k], y = Row(b, {k}, 1)[j];
            exact += x * y;
            plain += static_cast<float>(x) * static_cast<float>(y);
        }
        note(errors, exact, Row(c, {i}, 1)[j], rounded(c.dtype, plain));
    }
    return errors;
}

SampledErrors softmax_errors(const Tensor& x, const Tensor& y, std::uint64_t seed) {
    constexpr int kRows = 64;
    std::mt19937_64 random(seed);
    SampledErrors errors;
    for (int sample = 0; sample < kRows; ++sample) {
        const std::int64_t i = draw(random, x.sizes[0]);
        const Row input(x, {i}, 1), output(y, {i}, 1);
        std::vector<double> scores;
        std::vector<float> plain_scores;
        for (std::int64_t j = 0; j < x.sizes[1]; ++j) {
            scores.push_back(input[j]);
            plain_scores.push_back(static_cast<float>(input[j]));
        }
        const Softmax weights(scores, plain_scores);
        for (std::int64_t j = 0; j < x.sizes[1]; ++j) {
            const auto at = static_cast<std::size_t>(j);
            note(errors, weights.exact[at], output[j], rounded(y.dtype, weights.plain[at]));
        }
    }
    return errors;
}

SampledErrors attention_errors(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& o, double scale,
                               bool causal, std::uint64_t seed) {
    constexpr int kRows = 64;
    std::mt19937_64 random(seed);
    SampledErrors errors;
    const std::int64_t depth = q.sizes[3], keys = k.sizes[2], queries = q.sizes[2];
    for (int sample = 0; sample < kRows; ++sample) {
        const std::int64_t b = draw(random, q.sizes[0]), h = draw(random, q.sizes[1]), i = draw(random, queries);
        const std::int64_t shared = h / (q.sizes[1] / k.sizes[1]);
        const std::int64_t seen = causal ? std::clamp<std::int64_t>(i + keys - queries + 1, 0, keys) : keys;
        if (seen == 0) continue;
        const Row query(q, {b, h, i}, 3);
        std::vector<double> scores;
        std::vector<float> plain_scores;
        for (std::int64_t j = 0; j < seen; ++j) {
            const Row key(k, {b, shared, j}, 3);
            double exact = 0;
            float plain = 0;
            for (std::int64_t d = 0; d < depth; ++d) {
                exact += query[d] * key[d];
                plain += static_cast<float>(query[d]) * static_cast<float>(key[d]);
            }
            scores.push_back(exact * scale);
            plain_scores.push_back(plain * static_cast<float>(scale));
        }
        const Softmax weights(scores, plain_scores);
        for (std::int64_t d = 0; d < depth; ++d) {
            double exact = 0;
            float plain = 0;
            for (std::int64_t j = 0; j < seen; ++j) {
                const double value = Row(v, {b, shared, j}, 3)[d];
                // A plain version of a narrow type rounds its weights to that type before the second product.
                const auto weight = static_cast<float>(rounded(v.dtype, weights.plain[static_cast<std::size_t>(j)]));
                exact += weights.exact[static_cast<std::size_t>(j)] * value;
                plain += weight * static_cast<float>(value);
            }
            note(errors, exact, Row(o, {b, h, i}, 3)[d], rounded(o.dtype, plain));
        }
    }
    return errors;
}

}  // namespace kiln::tools
