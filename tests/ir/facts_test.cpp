#include "ir/facts.h"

#include <doctest/doctest.h>

#include "ir/semantics.h"
#include "ir_text.h"
#include "random_kernel.h"

using namespace kiln;

namespace {

ir::ValueId named(const ir::Kernel& kernel, const std::string& name) {
    for (std::uint32_t i = 0; i < kernel.values.size(); ++i) {
        if (kernel.values[i].name == name) return {i};
    }
    FAIL("no value is named " << name);
    return {};
}

/// The fact of `%v` in a small kernel, as "lo ... hi / divisor".
std::string fact_of(const std::string& body, const std::string& freedom = "") {
    std::string text = test::small_kernel(body);
    text.insert(text.find(" {"), freedom);
    const ir::Kernel kernel = test::kernel_of(text);
    const ir::Fact fact = ir::Facts(kernel)[named(kernel, "v")];
    return fmt::format("{} ... {} / {}", fact.lo, fact.hi, fact.divisor);
}

/// Runs a kernel's arithmetic on arbitrary inputs, and holds every integer against its facts. Integers that are read
/// are taken at random; floats that are read, and dots, are zero.
class Observer {
public:
    Observer(const ir::Kernel& kernel, std::uint32_t seed)
        : kernel_(kernel), facts_(kernel), random_(seed), values_(kernel.values.size()) {}

    void run() {
        for (const ir::Parameter& parameter : kernel_.parameters) {
            if (kernel_.type(parameter.value).is_scalar())
                set(parameter.value, arbitrary(kernel_.type(parameter.value)));
        }
        for (const ir::SizeBinding& size : kernel_.sizes) {
            set(size.value, {ir::Scalar::int64(static_cast<std::int64_t>(random_() % 12) * size.divisor)});
        }
        run_block(kernel_.host);
        for (const ir::Phase& phase : kernel_.phases) {
            const ir::GridAxis& axis = phase.axes[0];
            for (std::int64_t i = integer(axis.lower); i < integer(axis.upper); i += integer(axis.step)) {
                set(kernel_[phase.block].arguments[0], {ir::Scalar::int64(i)});
                run_block(phase.block);
            }
        }
    }

    std::size_t checked() const { return checked_; }

private:
    using Elements = std::vector<ir::Scalar>;

    std::int64_t integer(ir::ValueId value) const { return values_[value.index][0].as_int64(); }

    Elements arbitrary(const ir::Type& type) {
        Elements elements;
        for (std::int64_t i = 0; i < type.shape.count(); ++i) {
            const auto small = static_cast<std::int64_t>(random_() % 9) - 4;
            const auto any = static_cast<std::int64_t>((std::uint64_t{random_()} << 32) | random_());
            const std::int64_t value = random_() % 2 == 0 ? small : any;
            elements.push_back(ir::is_float(type.element) ? ir::Scalar{type.element, 0}
                                                          : ir::Scalar::integer(type.element, value));
        }
        return elements;
    }

    void set(ir::ValueId value, Elements elements) {
        const ir::ScalarType type = kernel_.type(value).element;
        if (ir::is_integer(type) || type == ir::ScalarType::Bool) check(value, elements);
        values_[value.index] = std::move(elements);
    }

    void check(ir::ValueId value, const Elements& elements) {
        const ir::Fact& fact = facts_[value];
        bool holds = true;
        for (const ir::Scalar element : elements) {
            const std::int64_t held = element.as_int64();
            const bool divides = fact.divisor == 0 ? held == 0 : held % fact.divisor == 0;
            holds = holds && fact.lo <= held && held <= fact.hi && divides;
        }
        ++checked_;
        if (!holds || !matches_pattern(value, elements)) {
            const ir::OpId op = kernel_[value].definition;
            FAIL("fact " << fact.lo << " ... " << fact.hi << " / " << fact.divisor << " of "
                         << (op.valid() ? ir::print(kernel_, op) : kernel_[value].name) << " with first element "
                         << elements[0].as_int64() << "\n"
                         << ir::print(kernel_));
        }
    }

    bool matches_pattern(ir::ValueId value, const Elements& elements) const {
        const ir::Contiguity contiguity = facts_.contiguity(value);
        const ir::Type& type = kernel_.type(value);
        if (!contiguity.known && !facts_.is_uniform(value)) return true;
        std::int64_t behind = 1;
        if (contiguity.known) {
            for (std::size_t axis = contiguity.axis + 1; axis < type.shape.rank(); ++axis) behind *= type.shape[axis];
        }
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const std::int64_t steps =
                contiguity.known ? static_cast<std::int64_t>(i) / behind % type.shape[contiguity.axis] : 0;
            const ir::Scalar operands[] = {elements[0], ir::Scalar::integer(type.element, steps)};
            const ir::Scalar expected = steps == 0 ? elements[0] : ir::evaluate(ir::OpKind::Add, operands);
            if (elements[i] != expected) return false;
        }
        return true;
    }

    void run_block(ir::BlockId block) {
        for (const ir::OpId op : kernel_[block].ops) run_op(kernel_[op]);
    }

    const ir::Op& yield(ir::BlockId block) const { return kernel_[kernel_[block].ops.back()]; }

    void run_op(const ir::Op& op) {
        if (op.kind == ir::OpKind::For) return run_for(op);
        if (is_opaque(op.kind)) {
            for (const ir::ValueId result : op.results) set(result, arbitrary(kernel_.type(result)));
            return;
        }
        if (op.kind == ir::OpKind::If) {
            const ir::BlockId block = op.blocks[integer(op.operands[0]) != 0 ? 0 : 1];
            run_block(block);
            for (std::size_t i = 0; i < op.results.size(); ++i)
                set(op.results[i], values_[yield(block).operands[i].index]);
        } else if (op.results.size() == 1) {
            set(op.result(), result(op));
        }
    }

    /// Ops of whose results nothing is claimed.
    static bool is_opaque(ir::OpKind kind) {
        return kind == ir::OpKind::Join || kind == ir::OpKind::Fold || kind == ir::OpKind::Scan ||
               kind == ir::OpKind::Sort || kind == ir::OpKind::Bincount;
    }

    void run_for(const ir::Op& op) {
        const ir::Block& body = kernel_[op.blocks[0]];
        std::vector<Elements> carried;
        for (std::size_t i = 3; i < op.operands.size(); ++i) carried.push_back(values_[op.operands[i].index]);
        for (std::int64_t i = integer(op.operands[0]); i < integer(op.operands[1]); i += integer(op.operands[2])) {
            set(body.arguments[0], {ir::Scalar::int64(i)});
            for (std::size_t c = 0; c < carried.size(); ++c) set(body.arguments[c + 1], carried[c]);
            run_block(op.blocks[0]);
            for (std::size_t c = 0; c < carried.size(); ++c)
                carried[c] = values_[yield(op.blocks[0]).operands[c].index];
        }
        for (std::size_t c = 0; c < carried.size(); ++c) set(op.results[c], carried[c]);
    }

    Elements result(const ir::Op& op) {
        const ir::Type& type = kernel_.type(op.result());
        if (op.kind == ir::OpKind::Constant) return {ir::attribute<ir::Scalar>(op)};
        if (op.kind == ir::OpKind::Load || op.kind == ir::OpKind::Dot) return arbitrary(type);
        if (op.kind == ir::OpKind::Reduce) return reduced(op);
        Elements elements;
        for (std::int64_t i = 0; i < type.shape.count(); ++i) elements.push_back(element(op, type, i));
        return elements;
    }

    ir::Scalar element(const ir::Op& op, const ir::Type& type, std::int64_t i) {
        if (op.kind == ir::OpKind::Iota) return ir::Scalar::int64(i);
        const Elements& from = values_[op.operands[0].index];
        if (op.kind == ir::OpKind::Reshape) return from[static_cast<std::size_t>(i)];
        if (!ir::is_elementwise(op.kind)) return from[static_cast<std::size_t>(moved_from(op, type, i))];
        std::vector<ir::Scalar> operands;
        for (const ir::ValueId operand : op.operands)
            operands.push_back(values_[operand.index][static_cast<std::size_t>(i)]);
        const bool converts = ir::info(op.kind).result == ir::ResultRule::Own;
        return converts ? ir::convert(op.kind, operands[0], type.element) : ir::evaluate(op.kind, operands);
    }

    /// Broadcast, Permute, Extract: which element of the operand the result's element `i` is.
    std::int64_t moved_from(const ir::Op& op, const ir::Type& type, std::int64_t i) const {
        const ir::Shape& from = kernel_.type(op.operands[0]).shape;
        if (from.empty()) return 0;
        ir::Shape at = from;
        for (std::size_t axis = type.shape.rank(); axis-- > 0; i /= type.shape[axis]) {
            const std::int64_t here = i % type.shape[axis];
            if (op.kind == ir::OpKind::Broadcast) at[axis] = from[axis] == 1 ? 0 : here;
            if (op.kind == ir::OpKind::Permute) at[static_cast<std::size_t>(axes(op)[axis])] = here;
            if (op.kind == ir::OpKind::Extract) at[axis] = axes(op)[axis] + here;
        }
        std::int64_t linear = 0;
        for (std::size_t axis = 0; axis < from.rank(); ++axis) linear = linear * from[axis] + at[axis];
        return linear;
    }
    static const ir::Shape& axes(const ir::Op& op) { return ir::attribute<ir::AxesAttribute>(op).axes; }

    Elements reduced(const ir::Op& op) const {
        const auto& [kind, axis] = ir::attribute<ir::ReduceAttribute>(op);
        const ir::Type& from = kernel_.type(op.operands[0]);
        std::int64_t behind = 1;
        for (std::size_t i = axis + 1; i < from.shape.rank(); ++i) behind *= from.shape[i];
        Elements result(static_cast<std::size_t>(from.shape.count() / from.shape[axis]),
                        ir::reduce_identity(kind, from.element));
        for (std::int64_t i = 0; i < from.shape.count(); ++i) {
            const auto at = static_cast<std::size_t>(i / (behind * from.shape[axis]) * behind + i % behind);
            result[at] = ir::combine(kind, result[at], values_[op.operands[0].index][static_cast<std::size_t>(i)]);
        }
        return result;
    }

    const ir::Kernel& kernel_;
    ir::Facts facts_;
    std::mt19937 random_;
    std::vector<Elements> values_;
    std::size_t checked_ = 0;
};

}  // namespace

TEST_SUITE("ir") {
    TEST_CASE("facts: constants, sizes, grids and loops") {
        CHECK(fact_of("%v = constant -6 : i32\n") == "-6 ... -6 / 6");
        CHECK(fact_of("%v = add %N, %lo : i64\n") == "0 ... 72057594037927936 / 1");
        CHECK(fact_of("%v = add %N, %lo : i64\n", " fits_32_bits") == "0 ... 536870912 / 1");
        CHECK(fact_of("%v = add %i, %lo : i64\n", " fits_32_bits") == "0 ... 536870908 / 4");
        CHECK(fact_of("%u = constant 10 : i64\nfor %v in %lo .. %u by %step {\nyield\n}\n") == "0 ... 8 / 4");
        CHECK(fact_of("%u = constant 10 : i64\nfor %v in %n .. %u by %step {\nyield\n}\n") ==
              "-9223372036854775808 ... 9 / 1");
        CHECK(fact_of("%v = size %x axis 0 : i64\n", " fits_32_bits") == "0 ... 536870912 / 1");
        CHECK(fact_of("%f = constant 0 : i64\n%v = for %k in %lo .. %N by %step carry (%a = %step) : i64 {\n"
                      "%m = min %a, %step : i64\n%b = max %m, %f : i64\nyield %b\n}\n") == "0 ... 4 / 1");
    }

    TEST_CASE("facts: arithmetic, and what may wrap is unknown but for powers of two") {
        CHECK(fact_of("%v = mul %i, %step : i64\n", " fits_32_bits") == "0 ... 2147483632 / 16");
        CHECK(fact_of("%v = mul %i, %i : i64\n") == "-9223372036854775808 ... 9223372036854775807 / 16");
        CHECK(fact_of("%v = add %n, %n : i64\n") == "-9223372036854775808 ... 9223372036854775807 / 1");
        CHECK(fact_of("%v = neg %i : i64\n", " fits_32_bits") == "-536870908 ... 0 / 4");
        CHECK(fact_of("%v = div %i, %step : i64\n", " fits_32_bits") == "0 ... 134217727 / 1");
        CHECK(fact_of("%v = rem %n, %step : i64\n") == "-3 ... 3 / 1");
        CHECK(fact_of("%v = mod %n, %step : i64\n") == "0 ... 3 / 1");
        CHECK(fact_of("%v = rem %i, %step : i64\n") == "0 ... 0 / 0");
        CHECK(fact_of("%a = max %n, %lo : i64\n%v = min %a, %step : i64\n") == "0 ... 4 / 1");
        CHECK(fact_of("%v = and %n, %step : i64\n") == "0 ... 4 / 4");
        CHECK(fact_of("%v = convert %i : i32\n", " fits_32_bits") == "0 ... 536870908 / 4");
        CHECK(fact_of("%v = convert %n : u8\n") == "0 ... 255 / 1");
        CHECK(fact_of("%v = saturate %n : u8\n") == "0 ... 255 / 1");
        CHECK(fact_of("%v = ilog2 %n : i64\n") == "-1 ... 62 / 1");
    }

    TEST_CASE("facts: a u64 of which the top bit may be set has no order") {
        const std::string high = "%a = convert %n : u64\n%c = constant 5 : u64\n";
        CHECK(fact_of(high + "%v = lt %a, %c : bool\n") == "0 ... 1 / 1");
        CHECK(fact_of(high + "%v = div %a, %c : u64\n") == "-9223372036854775808 ... 9223372036854775807 / 1");
        CHECK(fact_of(high + "%v = min %a, %c : u64\n") == "-9223372036854775808 ... 9223372036854775807 / 1");
        CHECK(fact_of("%a = constant 3 : u64\n%c = constant 5 : u64\n%v = sub %a, %c : u64\n") ==
              "-9223372036854775808 ... 9223372036854775807 / 1");
        CHECK(fact_of("%a = constant 3 : u64\n%c = constant 5 : u64\n%v = lt %a, %c : bool\n") == "1 ... 1 / 1");
    }

    TEST_CASE("facts: comparisons") {
        CHECK(fact_of("%v = ge %i, %lo : bool\n") == "1 ... 1 / 1");
        CHECK(fact_of("%v = lt %i, %lo : bool\n") == "0 ... 0 / 1");
        CHECK(fact_of("%v = lt %i, %n : bool\n") == "0 ... 1 / 1");
        CHECK(fact_of("%v = ne %lo, %step : bool\n") == "1 ... 1 / 1");
        CHECK(fact_of("%v = isnan %n : bool\n") == "0 ... 0 / 1");
    }

    TEST_CASE("facts: an index and its tile stay below the loop's bound where both divide") {
        const std::string body =
            "%iota = iota : i64[4]\n%b = broadcast %i : i64[4]\n%c = add %b, %iota : i64[4]\n"
            "%M = broadcast %N : i64[4]\n%v = lt %c, %M : bool[4]\n";
        CHECK(fact_of(body) == "0 ... 1 / 1");
        CHECK(fact_of("%v = lt %i, %N : bool\n") == "1 ... 1 / 1");
        CHECK(fact_of("%v = gt %N, %i : bool\n") == "1 ... 1 / 1");
        std::string divisible = test::small_kernel(body);
        divisible.insert(divisible.find("extent(%x, 0)") + 13, " divisor 4");
        const ir::Kernel kernel = test::kernel_of(divisible);
        CHECK(ir::Facts(kernel)[named(kernel, "v")].lo == 1);
        divisible.replace(divisible.find("divisor 4"), 9, "divisor 2");
        const ir::Kernel less = test::kernel_of(divisible);
        CHECK(ir::Facts(less)[named(less, "v")].lo == 0);
    }

    TEST_CASE("facts: contiguity") {
        const ir::Kernel kernel = test::kernel_of(test::small_kernel(
            "%iota = iota : i64[4]\n%s = broadcast %n : i64[4]\n%a = add %s, %iota : i64[4]\n"
            "%r = reshape %a : i64[4, 1]\n%b = broadcast %r : i64[4, 8]\n%p = permute %b axes [1, 0] : i64[8, 4]\n"
            "%twice = add %a, %a : i64[4]\n%m = sub %iota, %s : i64[4]\n%other = sub %s, %iota : i64[4]\n"
            "%e = extract %p starts [0, 1] : i64[8, 2]\n%i32 = convert %iota : i32[4]\n"
            "%wide = convert %i32 : i64[4]\n%small = convert %a : i32[4]\n%back = convert %small : i64[4]\n"));
        const ir::Facts facts(kernel);
        const auto axis = [&](const char* name) {
            const ir::Contiguity contiguity = facts.contiguity(named(kernel, name));
            return contiguity.known ? static_cast<int>(contiguity.axis) : -1;
        };
        CHECK(axis("iota") == 0);
        CHECK(axis("a") == 0);
        CHECK(axis("r") == 0);
        CHECK(axis("b") == 0);
        CHECK(axis("p") == 1);
        CHECK(axis("e") == 1);
        CHECK(axis("m") == 0);
        CHECK(axis("wide") == 0);
        CHECK(axis("small") == 0);
        CHECK(axis("back") == -1);  // may have wrapped in 32 bits
        CHECK(axis("s") == -1);
        CHECK(axis("twice") == -1);
        CHECK(axis("other") == -1);
        CHECK(facts.is_uniform(named(kernel, "s")));
        CHECK(!facts.is_uniform(named(kernel, "a")));
    }

    TEST_CASE("facts: random programs keep to their facts") {
        std::size_t checked = 0;
        for (std::uint32_t seed = 0; seed < 400; ++seed) {
            const ir::Kernel kernel = test::RandomKernel(seed).kernel();
            ir::verify_or_throw(kernel, "RandomKernel");
            Observer observer(kernel, seed);
            observer.run();
            checked += observer.checked();
        }
        CHECK(checked > 20'000);
    }
}
