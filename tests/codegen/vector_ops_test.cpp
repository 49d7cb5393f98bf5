// Every elementwise op and conversion, compiled, against ir/semantics.h, over edge values and random patterns.
#include "codegen/cpu/vector_ops.h"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "ir/semantics.h"
#include "tests/codegen/element_jit.h"

using namespace kiln;
using codegen::cpu::Target;
using codegen::cpu::VectorOps;
using ir::OpKind;
using ir::Scalar;
using ir::ScalarType;

namespace {

constexpr ScalarType kComputed[] = {ScalarType::Bool, ScalarType::I8,  ScalarType::I16,  ScalarType::I32,
                                    ScalarType::I64,  ScalarType::U8,  ScalarType::U16,  ScalarType::U32,
                                    ScalarType::U64,  ScalarType::F16, ScalarType::BF16, ScalarType::F32,
                                    ScalarType::F64};
constexpr ScalarType kStorage[] = {ScalarType::I4,     ScalarType::U4,     ScalarType::F4E2M1,
                                   ScalarType::F8E4M3, ScalarType::F8E5M2, ScalarType::F8E8M0};

std::uint64_t mask_of(ScalarType type) {
    return type == ScalarType::Bool ? 1 : ~std::uint64_t{0} >> (64 - ir::bit_width(type));
}

/// Bit patterns around which things go wrong.
std::vector<std::uint64_t> edges(ScalarType type) {
    std::vector<std::uint64_t> patterns;
    if (ir::is_float(type)) {
        for (const double value : {0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 7.0, 1e10, 65519.0, 65520.0, 1e-5, 3.4e38, 1e-40,
                                   2147483648.0, 9.3e18, 255.5}) {
            patterns.push_back(ir::round_to(type, value).bits);
            patterns.push_back(ir::round_to(type, -value).bits);
        }
        const auto infinity = ir::round_to(type, HUGE_VAL).bits;
        for (const std::uint64_t bits : {infinity, infinity - 1, infinity + 1, std::uint64_t{1}}) {
            patterns.push_back(bits);
            patterns.push_back(bits | (mask_of(type) ^ (mask_of(type) >> 1)));
        }
        patterns.push_back(ir::round_to(type, NAN).bits);
        return patterns;
    }
    const std::uint64_t top = mask_of(type) ^ (mask_of(type) >> 1);
    for (const std::uint64_t bits : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3},
                                     std::uint64_t{7}, std::uint64_t{10}, top, top - 1, top + 1}) {
        patterns.push_back(bits & mask_of(type));
        patterns.push_back((0 - bits) & mask_of(type));
    }
    return patterns;
}

std::vector<std::uint64_t> random_patterns(ScalarType type, std::size_t count, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> patterns;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t bits = random();
        if (ir::is_integer(type) && i % 2 == 1)
            bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(bits) >> (bits % 64));
        patterns.push_back(bits & mask_of(type));
    }
    return patterns;
}

int bytes_of(ScalarType type) {
    return ir::bit_width(type) == 4 ? 1 : ir::byte_width(type);
}

std::vector<char> to_memory(const std::vector<std::uint64_t>& patterns, ScalarType type) {
    std::vector<char> memory(patterns.size() * bytes_of(type));
    for (std::size_t i = 0; i < patterns.size(); ++i)
        std::memcpy(&memory[i * bytes_of(type)], &patterns[i], bytes_of(type));
    return memory;
}

std::uint64_t from_memory(const std::vector<char>& memory, std::size_t index, ScalarType type) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &memory[index * bytes_of(type)], bytes_of(type));
    return bits;
}

bool is_nan(Scalar value) {
    return ir::is_float(value.type) && std::isnan(value.as_double());
}

bool same(Scalar a, Scalar b) {
    return a == b || (is_nan(a) && is_nan(b));
}

/// Distance in places of the last bit, of two f16 or bf16 numbers.
int places(Scalar a, Scalar b) {
    const auto order = [](Scalar value) {
        const int magnitude = static_cast<int>(value.bits & 0x7fff);
        return value.bits & 0x8000 ? -magnitude : magnitude;
    };
    return std::abs(order(a) - order(b));
}

bool is_transcendental(OpKind kind) {
    constexpr OpKind kAll[] = {OpKind::Exp, OpKind::Exp2, OpKind::Log,  OpKind::Log2, OpKind::Rsqrt,
                               OpKind::Sin, OpKind::Cos,  OpKind::Tanh, OpKind::Erf,  OpKind::Pow};
    return std::find(std::begin(kAll), std::end(kAll), kind) != std::end(kAll);
}

/// Whether the row of the op admits the type.
bool takes(const ir::OpInfo& op, ScalarType type) {
    if (op.group != ir::OpGroup::Elementwise) return false;
    if (op.kind == OpKind::Convert || op.kind == OpKind::Saturate || op.kind == OpKind::Bitcast) return false;
    const bool is_bool = type == ScalarType::Bool;
    switch (op.operands.back()) {
        case 'N':
            return !is_bool;
        case 'R':
            return ir::is_float(type);
        case 'I':
            return ir::is_integer(type);
        case 'B':
            return is_bool;
        default:
            return true;
    }
}

struct Case {
    OpKind kind;
    std::vector<ScalarType> inputs;
    ScalarType output;
    std::string name;
};

std::vector<Case> cases_of(ScalarType type) {
    std::vector<Case> cases;
    for (const ir::OpInfo& op : ir::kOps) {
        // Of f32 and f64 these have a bound and a test of their own.
        const bool bounded = is_transcendental(op.kind) && ir::bit_width(type) > 16;
        if (!takes(op, type) || bounded) continue;
        std::vector<ScalarType> inputs(op.operands.size(), type);
        if (op.operands.front() == 'b') inputs[0] = ScalarType::Bool;
        const ScalarType output = op.result == ir::ResultRule::Flag ? ScalarType::Bool : type;
        cases.push_back({op.kind, inputs, output, std::string(op.mnemonic)});
    }
    return cases;
}

/// Operand lists: all pairs (triples of fewer) of edges, then random ones.
std::vector<std::vector<std::uint64_t>> operand_patterns(const Case& test, std::size_t multiple) {
    std::vector<std::vector<std::uint64_t>> operands(test.inputs.size());
    std::vector<std::vector<std::uint64_t>> values;
    for (const ScalarType input : test.inputs) values.push_back(edges(input));
    std::size_t combinations = 1;
    for (const auto& list : values) combinations *= list.size();
    for (std::size_t i = 0; i < combinations; ++i) {
        std::size_t rest = i;
        for (std::size_t o = 0; o < operands.size(); ++o) {
            operands[o].push_back(values[o][rest % values[o].size()]);
            rest /= values[o].size();
        }
    }
    std::size_t total = combinations + 2000;
    total = (total + multiple - 1) / multiple * multiple;
    for (std::size_t o = 0; o < operands.size(); ++o) {
        const auto random = random_patterns(test.inputs[o], total - combinations, 17 + o);
        operands[o].insert(operands[o].end(), random.begin(), random.end());
    }
    return operands;
}

void run_case(const test::ElementModule& module, const std::string& name, const Case& test, unsigned lanes) {
    const auto patterns = operand_patterns(test, lanes);
    const std::size_t count = patterns.front().size();
    std::vector<std::vector<char>> memory;
    std::vector<const void*> inputs;
    for (std::size_t o = 0; o < patterns.size(); ++o) memory.push_back(to_memory(patterns[o], test.inputs[o]));
    for (const auto& bytes : memory) inputs.push_back(bytes.data());
    std::vector<char> output(count * bytes_of(test.output));
    module.function(name)(inputs.data(), output.data(), static_cast<std::int64_t>(count));

    int failures = 0;
    for (std::size_t i = 0; i < count && failures < 3; ++i) {
        std::vector<Scalar> operands;
        std::string text;
        for (std::size_t o = 0; o < patterns.size(); ++o) {
            operands.push_back({test.inputs[o], patterns[o][i]});
            text += " " + ir::to_string(operands.back());
        }
        const Scalar expected = ir::evaluate(test.kind, operands);
        const Scalar actual{test.output, from_memory(output, i, test.output)};
        const bool near = is_transcendental(test.kind) && !is_nan(expected) && places(actual, expected) <= 1;
        if (same(actual, expected) || near) continue;
        ++failures;
        FAIL_CHECK(name << text << ": " << ir::to_string(actual) << ", not " << ir::to_string(expected));
    }
    CHECK(failures == 0);
}

void test_elementwise(const Target& target, ScalarType type) {
    test::ElementModule module(target);
    llvm::LLVMContext unused;
    llvm::IRBuilder<> builder(unused);
    const unsigned natural = VectorOps(builder, target).natural_lanes(type);
    const auto cases = cases_of(type);
    const unsigned all_lanes[] = {1, 3, natural};
    for (const unsigned lanes : all_lanes) {
        for (const Case& test : cases) {
            module.add(test.name + "_" + std::to_string(lanes), lanes, test.inputs, test.output,
                       [&](VectorOps& ops, const std::vector<llvm::Value*>& operands) {
                           return ops.elementwise(test.kind, test.inputs.back(), operands);
                       });
        }
    }
    const std::string text = codegen::cpu::module_text(module.module());
    for (const char* flag : {" nnan ", " ninf ", " fast ", " nsz ", " arcp ", " contract ", " afn ", " reassoc "}) {
        CHECK(text.find(flag) == std::string::npos);
    }
    module.load();
    for (const unsigned lanes : all_lanes) {
        for (const Case& test : cases) run_case(module, test.name + "_" + std::to_string(lanes), test, lanes);
    }
}

/// All patterns of up to 16 bits, or edges, random patterns and numbers of all sizes near ties of narrower types.
std::vector<std::uint64_t> conversion_patterns(ScalarType type) {
    std::vector<std::uint64_t> patterns;
    if (ir::bit_width(type) <= 16) {
        for (std::uint64_t bits = 0; bits <= mask_of(type); ++bits) patterns.push_back(bits);
    } else {
        patterns = edges(type);
        const auto random = random_patterns(type, 6000, 5);
        patterns.insert(patterns.end(), random.begin(), random.end());
        std::mt19937_64 generator(7);
        for (int i = 0; i < 6000 && ir::is_float(type); ++i) {
            const int fraction = type == ScalarType::F32 ? 23 : 52;
            const int kept = static_cast<int>(generator() % 12);
            const double scale = std::ldexp(1.0, static_cast<int>(generator() % 300) - 150);
            std::uint64_t bits = ir::round_to(type, scale).bits;
            bits |= (generator() & ((std::uint64_t{1} << kept) - 1)) << (fraction - kept);
            patterns.push_back((bits + generator() % 3 - 1) & mask_of(type));
        }
        for (int i = 0; i < 3000 && ir::is_integer(type); ++i) {
            const int shift = static_cast<int>(generator() % 60);
            patterns.push_back((((generator() & 0x3ff) << shift) + generator() % 3 - 1) & mask_of(type));
        }
    }
    while (patterns.size() % 48 != 0) patterns.push_back(0);
    return patterns;
}

struct Conversion {
    OpKind kind;
    ScalarType from, to;
    std::string name() const {
        return std::string(ir::info(kind).mnemonic) + "_" + std::string(ir::name(from)) + "_" +
               std::string(ir::name(to));
    }
};

std::vector<Conversion> conversions_from(ScalarType from) {
    std::vector<Conversion> conversions;
    std::vector<ScalarType> all(std::begin(kComputed), std::end(kComputed));
    all.insert(all.end(), std::begin(kStorage), std::end(kStorage));
    for (const ScalarType to : all) {
        if (ir::bit_width(from) == ir::bit_width(to)) conversions.push_back({OpKind::Bitcast, from, to});
        if (to == ScalarType::Bool) continue;
        conversions.push_back({OpKind::Convert, from, to});
        conversions.push_back({OpKind::Saturate, from, to});
    }
    return conversions;
}

void test_conversions(const Target& target, ScalarType from) {
    test::ElementModule module(target);
    const auto conversions = conversions_from(from);
    const unsigned all_lanes[] = {1, 3, 16};
    for (const unsigned lanes : all_lanes) {
        for (const Conversion& test : conversions) {
            module.add(test.name() + "_" + std::to_string(lanes), lanes, {from}, test.to,
                       [&](VectorOps& ops, const std::vector<llvm::Value*>& operands) {
                           return ops.convert(test.kind, operands[0], from, test.to);
                       });
        }
    }
    module.load();
    const auto patterns = conversion_patterns(from);
    const auto memory = to_memory(patterns, from);
    const void* input = memory.data();
    for (const Conversion& test : conversions) {
        std::vector<Scalar> expected;
        for (const std::uint64_t bits : patterns) expected.push_back(ir::convert(test.kind, {from, bits}, test.to));
        for (const unsigned lanes : all_lanes) {
            std::vector<char> output(patterns.size() * bytes_of(test.to));
            module.function(test.name() + "_" + std::to_string(lanes))(&input, output.data(),
                                                                       static_cast<std::int64_t>(patterns.size()));
            int failures = 0;
            for (std::size_t i = 0; i < patterns.size() && failures < 3; ++i) {
                const Scalar actual{test.to, from_memory(output, i, test.to)};
                if (same(actual, expected[i])) continue;
                ++failures;
                FAIL_CHECK(test.name() << " at " << lanes << " lanes of " << ir::to_string(Scalar{from, patterns[i]})
                                       << ": " << ir::to_string(actual) << ", not " << ir::to_string(expected[i]));
            }
            CHECK(failures == 0);
        }
    }
}

/// A module with one function void (const void* const* pointers, void* output, int64 number).
using Emit = std::function<void(VectorOps&, const std::vector<llvm::Value*>& pointers, llvm::Value* output,
                                llvm::Value* number)>;
class OneFunction {
public:
    OneFunction(const Target& target, std::size_t pointers, const Emit& emit) : module_("test", context_) {
        codegen::cpu::prepare_module(module_, target);
        llvm::IRBuilder<> builder(context_);
        auto* pointer = builder.getPtrTy();
        llvm::Function* function =
            codegen::cpu::begin_function(module_, target, "test", {pointer, pointer, builder.getInt64Ty()}, builder);
        function->setLinkage(llvm::GlobalValue::ExternalLinkage);
        std::vector<llvm::Value*> loaded;
        for (std::size_t i = 0; i < pointers; ++i) {
            loaded.push_back(builder.CreateLoad(pointer, builder.CreateConstGEP1_64(pointer, function->getArg(0), i)));
        }
        VectorOps ops(builder, target);
        emit(ops, loaded, function->getArg(1), function->getArg(2));
        builder.CreateRetVoid();
        std::string reason;
        loaded_ = codegen::cpu::load_object(codegen::cpu::compile_module(module_, target), reason);
        REQUIRE_MESSAGE(loaded_, reason);
    }
    void operator()(std::vector<const void*> pointers, void* output, std::int64_t number) const {
        const auto function =
            reinterpret_cast<test::ElementModule::Function>(reinterpret_cast<void*>(loaded_->find("test")));
        function(pointers.data(), output, number);
    }

private:
    llvm::LLVMContext context_;
    llvm::Module module_;
    std::unique_ptr<codegen::cpu::LoadedObject> loaded_;
};

/// Masked access by `count` lanes at the end of a page behind which nothing may be touched.
template <class T>
void test_masked(const Target& target, ScalarType type, unsigned lanes) {
    const OneFunction copy(target, 1,
                           [&](VectorOps& ops, const auto& pointers, llvm::Value* output, llvm::Value* count) {
                               llvm::Value* mask = ops.lanes_below(count, lanes);
                               llvm::Value* fill = ops.constant({type, 1}, lanes);
                               ops.store(type, ops.load_masked(type, pointers[0], mask, fill), output);
                               llvm::Value* behind = ops.element_address(type, output, ops.i64(lanes));
                               ops.store_masked(type, ops.load_masked(type, pointers[0], mask), behind, mask);
                           });
    for (const std::int64_t count : {std::int64_t{-3}, std::int64_t{0}, std::int64_t{1}, std::int64_t{lanes - 1},
                                     std::int64_t{lanes}, std::int64_t{1} << 33}) {
        const std::int64_t present = std::clamp<std::int64_t>(count, 0, lanes);
        test::GuardedBytes guarded(static_cast<std::size_t>(present) * sizeof(T));
        std::vector<T> output(2 * lanes, T{9});
        for (std::int64_t i = 0; i < present; ++i) reinterpret_cast<T*>(guarded.data())[i] = static_cast<T>(i % 2);
        copy({guarded.data()}, output.data(), count);
        for (std::int64_t i = 0; i < lanes; ++i) {
            CHECK(output[i] == (i < present ? static_cast<T>(i % 2) : T{1}));
            CHECK(output[lanes + i] == (i < present ? static_cast<T>(i % 2) : T{9}));
        }
    }
}

/// out[l] = in[l * stride] where l < 3 or the stride is odd, through gathers and scatters.
template <class T>
void test_strided(const Target& target, ScalarType type, unsigned lanes) {
    const OneFunction copy(
        target, 1, [&](VectorOps& ops, const auto& pointers, llvm::Value* output, llvm::Value* stride) {
            llvm::Value* mask = ops.lanes_below(ops.i64(3), lanes);
            llvm::Value* all = ops.load_strided(type, pointers[0], stride, lanes);
            llvm::Value* some =
                ops.load_strided(type, pointers[0], stride, lanes, mask, ops.constant({type, 1}, lanes));
            ops.store(type, all, output);
            ops.store_strided(type, some, ops.element_address(type, output, ops.i64(lanes)), ops.i64(2));
            ops.store_strided(type, all, ops.element_address(type, output, ops.i64(3 * lanes)), ops.i64(1), mask);
        });
    std::vector<T> input(lanes * 5);
    for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<T>((i * 7 / 3) % 2);
    for (const std::int64_t stride : {0, 1, 3, -1, 5}) {
        const T* first = stride < 0 ? &input[lanes - 1] : input.data();
        std::vector<T> output(lanes * 4, T{9});
        copy({first}, output.data(), stride);
        for (std::int64_t i = 0; i < lanes; ++i) {
            CHECK(output[i] == first[i * stride]);
            CHECK(output[lanes + 2 * i] == (i < 3 ? first[i * stride] : T{1}));
            if (i > 0) CHECK(output[lanes + 2 * i - 1] == T{9});
            if (lanes > 1) CHECK(output[3 * lanes + i] == (i < 3 ? first[i * stride] : T{9}));
        }
    }
}

void test_reduction(const Target& target, unsigned lanes) {
    const OneFunction reduce(target, 1, [&](VectorOps& ops, const auto& pointers, llvm::Value* output, llvm::Value*) {
        llvm::Value* values = ops.load(ScalarType::F32, pointers[0], lanes);
        int slot = 0;
        for (const auto kind : {ir::ReduceKind::Sum, ir::ReduceKind::Min, ir::ReduceKind::Max}) {
            ops.store(ScalarType::F32, ops.reduce_lanes(kind, ScalarType::F32, values),
                      ops.element_address(ScalarType::F32, output, ops.i64(slot++)));
        }
    });
    std::vector<float> values(lanes);
    float sum = 0, least = HUGE_VALF, greatest = -HUGE_VALF;
    for (unsigned i = 0; i < lanes; ++i) {
        values[i] = static_cast<float>(static_cast<int>((i * 37) % 23) - 11);
        sum += values[i];
        least = std::min(least, values[i]);
        greatest = std::max(greatest, values[i]);
    }
    float results[3];
    reduce({values.data()}, results, 0);
    CHECK(results[0] == sum);
    CHECK(results[1] == least);
    CHECK(results[2] == greatest);
    std::fill(values.begin(), values.end(), HUGE_VALF);
    reduce({values.data()}, results, 0);
    CHECK(results[1] == HUGE_VALF);
    for (float& value : values) value = -value;
    reduce({values.data()}, results, 0);
    CHECK(results[2] == -HUGE_VALF);
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("masked accesses of the cpu touch nothing else") {
        for (const std::string& name : test::runnable_targets()) {
            const Target& target = *codegen::cpu::target_named(name);
            for (const unsigned lanes : {1u, 5u, 16u}) {
                test_masked<std::uint8_t>(target, ScalarType::Bool, lanes);
                test_masked<std::uint8_t>(target, ScalarType::U8, lanes);
                test_masked<std::uint16_t>(target, ScalarType::BF16, lanes);
                test_masked<std::int32_t>(target, ScalarType::I32, lanes);
                test_masked<std::int64_t>(target, ScalarType::I64, lanes);
            }
        }
    }

    TEST_CASE("strided accesses of the cpu") {
        for (const std::string& name : test::runnable_targets()) {
            const Target& target = *codegen::cpu::target_named(name);
            for (const unsigned lanes : {1u, 6u, 16u}) {
                test_strided<std::uint8_t>(target, ScalarType::Bool, lanes);
                test_strided<std::uint16_t>(target, ScalarType::F16, lanes);
                test_strided<std::int32_t>(target, ScalarType::I32, lanes);
            }
        }
    }

    TEST_CASE("lanes reduce to one, infinities included") {
        for (const std::string& name : test::runnable_targets()) {
            for (const unsigned lanes : {1u, 2u, 3u, 7u, 16u, 24u, 64u}) {
                test_reduction(*codegen::cpu::target_named(name), lanes);
            }
        }
    }
}

TEST_SUITE("differential") {
    TEST_CASE("elementwise ops of the cpu are those of the interpreter") {
        for (const std::string& name : test::runnable_targets()) {
            CAPTURE(name);
            for (const ScalarType type : kComputed) {
                CAPTURE(ir::name(type));
                test_elementwise(*codegen::cpu::target_named(name), type);
            }
        }
    }

    TEST_CASE("conversions of the cpu are those of the interpreter") {
        for (const std::string& name : test::runnable_targets()) {
            CAPTURE(name);
            for (const ScalarType type : kComputed) test_conversions(*codegen::cpu::target_named(name), type);
            for (const ScalarType type : kStorage) test_conversions(*codegen::cpu::target_named(name), type);
        }
    }
}
