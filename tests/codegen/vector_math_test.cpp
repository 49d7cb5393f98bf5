// Transcendental functions against the mathematics library in the next wider type, over all exponents.
#include "codegen/cpu/vector_math.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <random>

#include "ir/semantics.h"
#include "ir/small_float.h"
#include "tests/codegen/element_jit.h"

using namespace kiln;
using codegen::cpu::Target;
using codegen::cpu::VectorOps;
using ir::OpKind;
using ir::ScalarType;

namespace {

constexpr OpKind kUnary[] = {OpKind::Exp, OpKind::Exp2, OpKind::Log,  OpKind::Log2, OpKind::Rsqrt,
                             OpKind::Sin, OpKind::Cos,  OpKind::Tanh, OpKind::Erf};

template <class Wide>
Wide reference(OpKind kind, Wide x, Wide y = 0) {
    if (kind == OpKind::Exp) return std::exp(x);
    if (kind == OpKind::Exp2) return std::exp2(x);
    if (kind == OpKind::Log) return std::log(x);
    if (kind == OpKind::Log2) return std::log2(x);
    if (kind == OpKind::Rsqrt) return 1 / std::sqrt(x);
    if (kind == OpKind::Sin) return std::sin(x);
    if (kind == OpKind::Cos) return std::cos(x);
    if (kind == OpKind::Tanh) return std::tanh(x);
    if (kind == OpKind::Erf) return std::erf(x);
    if (kind == OpKind::Pow) return std::pow(x, y);
    throw support::InternalError("vector_math_test", "no reference");
}

/// Distance in units of the last place of the exact result's binade.
template <class T, class Wide>
double ulps(T actual, Wide exact) {
    const T rounded = static_cast<T>(exact);
    if (std::isnan(rounded) || std::isnan(actual)) return std::isnan(rounded) && std::isnan(actual) ? 0 : HUGE_VAL;
    if (actual == rounded) return rounded == 0 && std::signbit(actual) != std::signbit(rounded) ? HUGE_VAL : 0;
    if (std::isinf(actual) || std::isinf(rounded)) {
        const T finite = std::isinf(actual) ? rounded : actual;
        return std::abs(finite) == std::numeric_limits<T>::max() ? 1 : HUGE_VAL;
    }
    const int exponent = std::max(std::ilogb(exact), std::numeric_limits<T>::min_exponent - 1);
    const Wide place = std::ldexp(Wide{1}, exponent - std::numeric_limits<T>::digits + 1);
    return static_cast<double>(std::abs((static_cast<Wide>(actual) - exact) / place));
}

template <class T>
std::vector<T> edge_values() {
    using Limits = std::numeric_limits<T>;
    std::vector<T> values = {0,
                             1,
                             T(0.5),
                             2,
                             3,
                             4,
                             10,
                             T(0.625),
                             T(0.921875),
                             T(88.72283),
                             T(88.72284),
                             T(103.9721),
                             T(103.98),
                             126,
                             127,
                             128,
                             T(127.99999),
                             149,
                             150,
                             151,
                             T(0.70710678),
                             T(1.41421356),
                             T(3.9),
                             T(1e6),
                             T(1048577),
                             T(1e10),
                             T(1e30),
                             Limits::min(),
                             Limits::denorm_min(),
                             Limits::max(),
                             Limits::infinity(),
                             T(709.78),
                             T(745.13),
                             T(1023.9),
                             T(1074),
                             T(1075),
                             T(1.5707963267948966),
                             T(3.141592653589793),
                             T(1.0000001),
                             T(0.99999994)};
    const std::size_t positive = values.size();
    for (std::size_t i = 0; i < positive; ++i) values.push_back(-values[i]);
    values.push_back(Limits::quiet_NaN());
    return values;
}

/// Edges, then patterns that cover every exponent evenly.
template <class T>
std::vector<T> samples(std::size_t count) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    std::vector<T> values = edge_values<T>();
    std::mt19937_64 random(3);
    while (values.size() < count || values.size() % 16 != 0) {
        T value = std::bit_cast<T>(static_cast<Bits>(random()));
        if (random() % 2 == 0) value = static_cast<T>(static_cast<double>(random() % 4000001) / 10000.0 - 200);
        values.push_back(value);
    }
    return values;
}

constexpr ScalarType type_of(float) {
    return ScalarType::F32;
}
constexpr ScalarType type_of(double) {
    return ScalarType::F64;
}

/// test_exp and so on.
std::string symbol(OpKind kind) {
    return "test_" + std::string(ir::info(kind).mnemonic);
}

void add_unary(test::ElementModule& module, ScalarType type, unsigned lanes) {
    for (const OpKind kind : kUnary) {
        module.add(symbol(kind), lanes, {type}, type, [&](VectorOps& ops, const std::vector<llvm::Value*>& operands) {
            return ops.elementwise(kind, type, operands);
        });
    }
    module.load();
}

/// All patterns of f16 or bf16: computed in f32 and rounded, so hardly more than half a place off.
void check_narrow(const Target& target, ScalarType type, int digits, int least_exponent) {
    test::ElementModule module(target);
    add_unary(module, type, static_cast<unsigned>(target.vector_bytes / 4));
    std::vector<std::uint16_t> inputs(65536), outputs(65536);
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<std::uint16_t>(i);
    const void* pointer = inputs.data();
    for (const OpKind kind : kUnary) {
        module.function(symbol(kind))(&pointer, outputs.data(), 65536);
        int wrong = 0;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const double exact = reference<double>(kind, ir::decode_real(type, inputs[i]));
            const double found = ir::decode_real(type, outputs[i]);
            const double rounded = ir::round_to(type, exact).as_double();
            if (found == rounded || (std::isnan(found) && std::isnan(rounded))) continue;
            const double place = std::ldexp(1, std::max(std::ilogb(exact), least_exponent) - digits + 1);
            if (std::isfinite(found) && std::abs(found - exact) <= 0.501 * place) continue;
            if (++wrong < 4)
                FAIL_CHECK(ir::info(kind).mnemonic << " of " << ir::decode_real(type, inputs[i]) << " is " << found);
        }
        CHECK(wrong == 0);
    }
}

template <class T, class Wide>
void check_unary(const Target& target, unsigned lanes, std::size_t count) {
    test::ElementModule module(target);
    add_unary(module, type_of(T{}), lanes);
    const std::vector<T> inputs = samples<T>(count);
    const void* pointer = inputs.data();
    for (const OpKind kind : kUnary) {
        std::vector<T> outputs(inputs.size());
        module.function(symbol(kind))(&pointer, outputs.data(), static_cast<std::int64_t>(inputs.size()));
        double worst = 0;
        T where = 0;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const double error = ulps(outputs[i], reference<Wide>(kind, inputs[i]));
            if (error > worst) worst = error, where = inputs[i];
        }
        CHECK_MESSAGE(worst <= 2, ir::info(kind).mnemonic << " of " << where << " is " << worst << " ulp off, at "
                                                          << lanes << " lanes of " << target.cpu);
    }
}

template <class T, class Wide>
void check_pow(const Target& target, unsigned lanes, std::size_t count) {
    test::ElementModule module(target);
    const ScalarType type = type_of(T{});
    module.add("test_pow", lanes, {type, type}, type, [&](VectorOps& ops, const std::vector<llvm::Value*>& operands) {
        return ops.elementwise(OpKind::Pow, type, operands);
    });
    module.load();
    std::vector<T> bases, exponents;
    std::vector<T> edges = edge_values<T>();
    for (const T exponent : {T(0.5), T(-0.5), T(5), T(-7), T(1e9), T(16777217)}) edges.push_back(exponent);
    for (const T base : edges) {
        for (const T exponent : edges) bases.push_back(base), exponents.push_back(exponent);
    }
    std::mt19937_64 random(5);
    while (bases.size() < count || bases.size() % 16 != 0) {
        bases.push_back(static_cast<T>(std::exp(static_cast<double>(random() % 2000001) / 12000.0 - 83)));
        exponents.push_back(static_cast<T>(static_cast<double>(random() % 200001) / 10000.0 - 10));
        if (random() % 4 == 0) bases.back() = -bases.back(), exponents.back() = std::floor(exponents.back());
    }
    const void* pointers[] = {bases.data(), exponents.data()};
    std::vector<T> outputs(bases.size());
    module.function("test_pow")(pointers, outputs.data(), static_cast<std::int64_t>(bases.size()));
    double worst = 0;
    std::size_t where = 0;
    for (std::size_t i = 0; i < bases.size(); ++i) {
        const double error = ulps(outputs[i], reference<Wide>(OpKind::Pow, bases[i], exponents[i]));
        if (error > worst) worst = error, where = i;
    }
    CHECK_MESSAGE(worst <= 4, "pow of " << bases[where] << " and " << exponents[where] << " is " << outputs[where]
                                        << ", " << worst << " ulp off, at " << lanes << " lanes of " << target.cpu);
}

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("functions of floats stay within their bounds") {
        for (const std::string& name : test::runnable_targets()) {
            const Target& target = *codegen::cpu::target_named(name);
            check_unary<float, double>(target, static_cast<unsigned>(target.vector_bytes / 4), 200000);
            check_unary<float, double>(target, 4, 40000);
            check_unary<float, double>(target, 1, 4000);
            check_pow<float, double>(target, static_cast<unsigned>(target.vector_bytes / 4), 60000);
            check_pow<float, double>(target, 1, 12000);
        }
    }

    TEST_CASE("functions of doubles stay within their bounds") {
        for (const std::string& name : test::runnable_targets()) {
            const Target& target = *codegen::cpu::target_named(name);
            check_unary<double, long double>(target, static_cast<unsigned>(target.vector_bytes / 8), 60000);
            check_unary<double, long double>(target, 1, 4000);
            check_pow<double, long double>(target, 4, 12000);
        }
    }

    TEST_CASE("functions of f16 and bf16 are those of f32, rounded, for all patterns") {
        for (const std::string& name : test::runnable_targets()) {
            check_narrow(*codegen::cpu::target_named(name), ScalarType::F16, 11, -14);
            check_narrow(*codegen::cpu::target_named(name), ScalarType::BF16, 8, -126);
        }
    }

    TEST_CASE("functions of floats: every 61st of all patterns" * doctest::skip()) {
        constexpr std::uint64_t kStep = 61, kBatch = 4096;
        const Target& target = codegen::cpu::host_target();
        test::ElementModule module(target);
        add_unary(module, ScalarType::F32, static_cast<unsigned>(target.vector_bytes / 4));
        for (const OpKind kind : kUnary) {
            double worst = 0;
            float where = 0;
            std::vector<float> inputs(kBatch), outputs(kBatch);
            for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += kStep * kBatch) {
                for (std::uint64_t i = 0; i < kBatch; ++i)
                    inputs[i] = std::bit_cast<float>(static_cast<std::uint32_t>(first + i * kStep));
                const void* pointer = inputs.data();
                module.function(symbol(kind))(&pointer, outputs.data(), kBatch);
                for (std::uint64_t i = 0; i < kBatch; ++i) {
                    const double error = ulps(outputs[i], reference<double>(kind, inputs[i]));
                    if (error > worst) worst = error, where = inputs[i];
                }
            }
            MESSAGE(ir::info(kind).mnemonic << ": at most " << worst << " ulp, at " << where);
            CHECK(worst <= 2);
        }
    }

    TEST_CASE("exponentials that may flush") {
        for (const std::string& name : test::runnable_targets()) {
            ir::Freedoms freedoms;
            freedoms.flush = true;
            test::ElementModule module(*codegen::cpu::target_named(name), freedoms);
            for (const OpKind kind : {OpKind::Exp, OpKind::Exp2}) {
                module.add("test_" + std::string(ir::info(kind).mnemonic), 16, {ScalarType::F32}, ScalarType::F32,
                           [&](VectorOps& ops, const std::vector<llvm::Value*>& operands) {
                               return ops.elementwise(kind, ScalarType::F32, operands);
                           });
            }
            module.load();
            const std::vector<float> inputs = samples<float>(100000);
            const void* pointer = inputs.data();
            for (const OpKind kind : {OpKind::Exp, OpKind::Exp2}) {
                std::vector<float> outputs(inputs.size());
                module.function("test_" + std::string(ir::info(kind).mnemonic))(
                    &pointer, outputs.data(), static_cast<std::int64_t>(inputs.size()));
                int wrong = 0;
                for (std::size_t i = 0; i < inputs.size(); ++i) {
                    const double exact = reference<double>(kind, inputs[i]);
                    const auto rounded = static_cast<float>(exact);
                    const bool same = outputs[i] == rounded || (std::isnan(rounded) && std::isnan(outputs[i]));
                    const bool flushed = exact < 0x1p-125 && outputs[i] == 0;
                    const bool near = std::abs(outputs[i] - exact) <= std::ldexp(exact, -21);
                    if (same || flushed || near) continue;
                    if (++wrong < 4) FAIL_CHECK(ir::info(kind).mnemonic << " of " << inputs[i] << ": " << outputs[i]);
                }
                CHECK(wrong == 0);
            }
        }
    }
}

TEST_SUITE("unit") {
    TEST_CASE("denormal results of exp2 are kept") {
        test::ElementModule module(codegen::cpu::host_target());
        module.add("test_exp2", 4, {ScalarType::F32}, ScalarType::F32,
                   [&](VectorOps& ops, const std::vector<llvm::Value*>& operands) {
                       return ops.elementwise(OpKind::Exp2, ScalarType::F32, operands);
                   });
        module.load();
        const float inputs[] = {-126, -127, -149, -150};
        float outputs[4];
        const void* pointer = inputs;
        module.function("test_exp2")(&pointer, outputs, 4);
        CHECK(outputs[0] == 0x1p-126f);
        CHECK(outputs[1] == 0x1p-127f);
        CHECK(outputs[2] == 0x1p-149f);
        CHECK(outputs[3] == 0);
    }
}
