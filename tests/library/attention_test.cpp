// attention and attention_alibi against float64, over their options, head sizes, lengths and element types.
#include <bit>

#include "library_run.h"
#include "tests/support/special_values.h"

using namespace kiln;
using namespace kiln::test;

namespace {

struct AttentionCase {
    DType type = f32;
    std::int64_t b = 1, h = 4, hk = 2, m = 33, n = 97, d = 64, dv = 0;
    bool causal = false;
    std::int64_t window = 0;
    double softcap = 0;
    bool sinks = false, lse = false, alibi = false;
    double amplitude = 1;
    std::vector<Generic> tunables;
};

/// How scores and weights are computed: R throughout, weights rounded to the type before they meet the values, as
/// every kernel that multiplies in the type does.
struct Row {
    std::vector<double> output;
    double lse;
};

class AttentionRun {
public:
    explicit AttentionRun(const AttentionCase& test) : test_(test) {
        if (test_.dv == 0) test_.dv = test_.d;
        scale_ = static_cast<double>(static_cast<float>(1 / std::sqrt(static_cast<double>(test_.d))));
        q_ = LibraryTensor::noise(test.type, {test.b, test.h, test.m, test_.d}, 1, 3 * test.amplitude);
        k_ = LibraryTensor::noise(test.type, {test.b, test.hk, test.n, test_.d}, 2, 3 * test.amplitude);
        v_ = LibraryTensor::noise(test.type, {test.b, test.hk, test.n, test_.dv}, 3);
        o_ = LibraryTensor(test.type, {test.b, test.h, test.m, test_.dv});
        lse_ = LibraryTensor(f32, {test.b, test.h, test.m});
        heads_ = LibraryTensor::noise(f32, {test.h}, 4);  // sinks, or slopes
    }

    std::string kernel() const { return test_.alibi ? "attention_alibi" : "attention"; }
    std::vector<Generic> generics() const {
        std::vector<Generic> list = test_.tunables;
        if (test_.alibi) return list;
        list.insert(list.end(), {{"causal", test_.causal}, {"window", test_.window}, {"softcap", test_.softcap}});
        return list;
    }
    std::vector<Argument> arguments() {
        std::vector<Argument> list = {arg("q", q_.view()), arg("k", k_.view()), arg("v", v_.view()),
                                      arg("scale", scale_), arg("o", o_.view())};
        if (test_.alibi) list.push_back(arg("slope", heads_.view()));
        if (test_.sinks) list.push_back(arg("sinks", heads_.view()));
        if (test_.lse) list.push_back(arg("lse", lse_.view()));
        return list;
    }

    void check() {
        launch("attention.kiln", kernel(), generics(), arguments());
        std::vector<double> exact, plain, exact_lse, plain_lse;
        for (std::int64_t row = 0; row < test_.b * test_.h * test_.m; ++row) {
            const Row x = computed<double>(row), p = computed<float>(row);
            exact.insert(exact.end(), x.output.begin(), x.output.end());
            for (const double value : p.output) plain.push_back(rounded(test_.type, value));
            exact_lse.push_back(x.lse);
            plain_lse.push_back(p.lse);
        }
        check_accuracy(o_, exact, plain);
        if (test_.lse) check_accuracy(lse_, exact_lse, plain_lse);
    }
    void check_reference() { test::check_reference("attention.kiln", kernel(), generics(), arguments()); }

    LibraryTensor& q() { return q_; }
    LibraryTensor& k() { return k_; }
    LibraryTensor& v() { return v_; }
    LibraryTensor& o() { return o_; }
    LibraryTensor& lse() { return lse_; }

private:
    bool keeps(std::int64_t i, std::int64_t j) const {
        const std::int64_t offset = test_.n - test_.m;
        if ((test_.causal || test_.alibi) && j > i + offset) return false;
        return test_.window == 0 || j > i + offset - test_.window;
    }

    /// The score of a query of the whole list and a key of its head, in R.
    template <class R>
    R score(std::int64_t row, std::int64_t head, std::int64_t j) const {
        const std::int64_t h = row / test_.m % test_.h, i = row % test_.m;
        R sum = 0;
        for (std::int64_t x = 0; x < test_.d; ++x) {
            sum += static_cast<R>(q_[row * test_.d + x]) * static_cast<R>(k_[(head * test_.n + j) * test_.d + x]);
        }
        sum *= static_cast<R>(scale_);
        if (test_.softcap > 0) sum = static_cast<R>(test_.softcap) * std::tanh(sum / static_cast<R>(test_.softcap));
        if (test_.alibi) sum += static_cast<R>(heads_[h]) * static_cast<R>(j - i);
        return sum;
    }

    template <class R>
    Row computed(std::int64_t row) const {
        const bool exact = sizeof(R) == sizeof(double);
        const std::int64_t h = row / test_.m % test_.h, b = row / test_.m / test_.h, i = row % test_.m;
        const std::int64_t head = b * test_.hk + h / (test_.h / test_.hk);
        std::vector<R> scores(static_cast<std::size_t>(test_.n), static_cast<R>(-kInfinity));
        R top = test_.sinks ? static_cast<R>(heads_[h]) : static_cast<R>(-kInfinity);
        for (std::int64_t j = 0; j < test_.n; ++j) {
            if (!keeps(i, j)) continue;
            scores[static_cast<std::size_t>(j)] = score<R>(row, head, j);
            top = std::max(top, scores[static_cast<std::size_t>(j)]);
        }
        std::vector<R> sum(static_cast<std::size_t>(test_.dv), R{0});
        R total = test_.sinks ? std::exp(static_cast<R>(heads_[h]) - top) : R{0};
        for (std::int64_t j = 0; j < test_.n; ++j) {
            if (!keeps(i, j)) continue;
            const R weight = std::exp(scores[static_cast<std::size_t>(j)] - top);
            const R used = exact ? weight : static_cast<R>(rounded(test_.type, static_cast<double>(weight)));
            total += weight;
            for (std::int64_t x = 0; x < test_.dv; ++x) {
                sum[static_cast<std::size_t>(x)] += used * static_cast<R>(v_[(head * test_.n + j) * test_.dv + x]);
            }
        }
        Row result{{}, total == 0 ? -kInfinity : static_cast<double>(top + std::log(total))};
        for (const R value : sum) result.output.push_back(total == 0 ? 0.0 : static_cast<double>(value / total));
        return result;
    }

    AttentionCase test_;
    double scale_ = 1;
    LibraryTensor q_, k_, v_, o_, lse_, heads_;
};

void check(const AttentionCase& test) {
    CAPTURE(name(test.type));
    CAPTURE(test.d);
    CAPTURE(test.m);
    CAPTURE(test.n);
    CAPTURE(test.causal);
    CAPTURE(test.window);
    CAPTURE(test.softcap);
    AttentionRun run(test);
    run.check();
}

/// Outputs of a single head with equal scores (queries of zeros) and given values, one a key.
std::vector<double> equal_scores(DType type, std::int64_t queries, const std::vector<double>& values, bool causal,
                                 std::vector<double>* lse = nullptr) {
    AttentionCase test;
    test.type = type;
    test.h = test.hk = 1;
    test.m = queries;
    test.n = static_cast<std::int64_t>(values.size());
    test.d = test.dv = 1;
    test.causal = causal;
    test.lse = true;
    AttentionRun run(test);
    for (std::int64_t i = 0; i < queries; ++i) run.q().set(i, 0);
    for (std::size_t j = 0; j < values.size(); ++j) run.v().set(static_cast<std::int64_t>(j), values[j]);
    launch("attention.kiln", "attention", run.generics(), run.arguments());
    std::vector<double> outputs;
    for (std::int64_t i = 0; i < queries; ++i) {
        outputs.push_back(run.o()[i]);
        if (lse != nullptr) lse->push_back(run.lse()[i]);
    }
    run.check_reference();
    return outputs;
}

}  // namespace

TEST_SUITE("library") {
    TEST_CASE("attention of every head size is as accurate as a plain loop") {
        int round = 0;
        for (const std::int64_t d : {40, 59, 64, 80, 96, 111, 128, 256}) {
            for (const DType type : {f32, f16, bf16}) {
                if (type != f32 && round % 2 == 0 && d != 80) {
                    ++round;
                    continue;
                }
                AttentionCase test;
                test.type = type;
                test.d = d;
                test.m = 17;
                test.n = 65 + round;
                test.causal = round % 2 == 1;
                test.lse = true;
                ++round;
                check(test);
            }
        }
    }

    TEST_CASE("attention's options, alone and together, are as accurate as a plain loop") {
        for (const DType type : {f32, f16, bf16}) {
            for (int options = 0; options < 32; ++options) {
                if (type != f32 && options % 11 != 9) continue;
                if (type == f32 && std::popcount(static_cast<unsigned>(options)) % 2 == 0 && options != 30) continue;
                CAPTURE(options);
                AttentionCase test;
                test.type = type;
                test.d = 40;
                test.causal = (options & 1) != 0;
                test.window = (options & 2) != 0 ? 19 : 0;
                test.softcap = (options & 4) != 0 ? 5 : 0;
                test.sinks = (options & 8) != 0;
                test.lse = (options & 16) != 0;
                check(test);
            }
        }
    }

    TEST_CASE("attention of odd lengths, with queries longer and shorter than keys") {
        int round = 0;
        for (const std::int64_t m : {1, 5, 65, 129}) {
            for (const std::int64_t n : {1, 2, 31, 130}) {
                AttentionCase test;
                test.type = std::vector<DType>{f32, bf16, f16}[static_cast<std::size_t>(round % 3)];
                test.b = 2;
                test.h = 3;
                test.hk = round % 2 == 0 ? 1 : 3;
                test.m = m;
                test.n = n;
                test.d = 16;
                test.dv = 24;
                test.causal = round % 4 != 3;
                test.lse = true;
                ++round;
                check(test);
            }
        }
    }

    TEST_CASE("attention_alibi is as accurate as a plain loop") {
        for (const DType type : {f32, f16, bf16}) {
            AttentionCase test;
            test.type = type;
            test.hk = test.h;
            test.alibi = true;
            test.d = 48;
            check(test);
            AttentionRun(test).check_reference();
        }
    }

    TEST_CASE("attention agrees with its own reference") {
        for (const DType type : {f32, f16, bf16}) {
            for (const std::int64_t d : {16, 80, 128}) {
                CAPTURE(name(type));
                CAPTURE(d);
                AttentionCase test;
                test.type = type;
                test.d = d;
                test.n = 203;
                test.causal = d != 16;
                test.window = d == 128 ? 31 : 0;
                test.softcap = d == 16 ? 10 : 0;
                test.sinks = test.lse = d != 80;
                AttentionRun(test).check_reference();
            }
        }
    }

    TEST_CASE("rows that see no key are 0 with a log-sum of -inf") {
        // Bottom-right alignment: of 5 queries over 2 keys the first three see none.
        std::vector<double> lse;
        CHECK(equal_scores(f32, 5, {10, 20}, true, &lse) == std::vector<double>{0, 0, 0, 10, 15});
        CHECK(lse[0] == -kInfinity);
        CHECK(lse[2] == -kInfinity);
        CHECK(lse[3] == doctest::Approx(0));
        CHECK(lse[4] == doctest::Approx(std::log(2.0)));
        // Of 2 queries over 5 keys the first sees 4.
        CHECK(equal_scores(f32, 2, {4, 8, 12, 16, 20}, true) == std::vector<double>{10, 12});
        // One query more than keys.
        lse.clear();
        CHECK(equal_scores(f32, 3, {1, 3}, true, &lse) == std::vector<double>{0, 1, 2});
        CHECK(lse[2] == doctest::Approx(0.693147));
    }

    TEST_CASE("no keys at all give zeros") {
        for (const bool causal : {false, true}) {
            std::vector<double> lse;
            CHECK(equal_scores(f16, 4, {}, causal, &lse) == std::vector<double>{0, 0, 0, 0});
            for (const double value : lse) CHECK(value == -kInfinity);
        }
    }

    TEST_CASE("values near the top of f16 do not overflow on the way") {
        for (const double value : equal_scores(f16, 2, std::vector<double>(1024, 60000), false)) CHECK(value == 60000);
        AttentionCase test;
        test.type = f16;
        test.d = 80;
        test.n = 203;
        test.amplitude = 30;  // scores of some tens of thousands
        AttentionRun run(test);
        launch("attention.kiln", "attention", run.generics(), run.arguments());
        std::int64_t not_finite = 0;
        for (std::int64_t i = 0; i < run.o().count(); ++i) not_finite += std::isfinite(run.o()[i]) ? 0 : 1;
        CHECK(not_finite == 0);
    }

    TEST_CASE("a key of NaN reaches the rows that see it and no other") {
        AttentionCase test;
        test.h = test.hk = 1;
        test.m = 40;
        test.n = 40;
        test.d = 16;
        test.causal = true;
        AttentionRun run(test);
        run.k().set(20 * 16, std::numeric_limits<double>::quiet_NaN());
        launch("attention.kiln", "attention", run.generics(), run.arguments());
        for (std::int64_t i = 0; i < 40; ++i) {
            CAPTURE(i);
            CHECK(std::isnan(run.o()[i * 16]) == (i >= 20));
        }
    }
}
