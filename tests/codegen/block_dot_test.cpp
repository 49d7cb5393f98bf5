// The generated block products against plain loops: shapes, strides, layouts, types, edges, on every runnable target.
#include "codegen/cpu/block_dot.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "ir/semantics.h"
#include "tests/codegen/element_jit.h"

using namespace kiln;
using codegen::cpu::BlockDot;
using codegen::cpu::BlockDotSpecification;
using codegen::cpu::MatrixLayout;
using codegen::cpu::Target;
using ir::ScalarType;

namespace {

using Integer = std::int64_t;
using DotFunction = void (*)(const void*, Integer, Integer, const void*, Integer, Integer, void*, Integer, Integer,
                             Integer, Integer, bool, void*);
using PackFunction = void (*)(const void*, Integer, Integer, Integer, Integer, void*);
using PackedFunction = void (*)(const void*, Integer, Integer, const void*, void*, Integer, Integer, Integer, Integer,
                                bool, void*);

/// The functions of one specification, loaded.
class Compiled {
public:
    Compiled(const Target& target, const BlockDotSpecification& specification) : module_("dot", context_) {
        codegen::cpu::prepare_module(module_, target);
        block_ = codegen::cpu::emit_block_dot(module_, target, specification, "dot");
        for (llvm::Function* function : {block_.dot, block_.pack_b, block_.dot_packed}) {
            if (function) function->setLinkage(llvm::GlobalValue::ExternalLinkage);
        }
        std::string reason;
        loaded_ = codegen::cpu::load_object(codegen::cpu::compile_module(module_, target), reason);
        REQUIRE_MESSAGE(loaded_, reason);
    }

    const BlockDot& block() const { return block_; }
    template <class Function>
    Function function(const char* name) const {
        return reinterpret_cast<Function>(reinterpret_cast<void*>(loaded_->find(name)));
    }

private:
    llvm::LLVMContext context_;
    llvm::Module module_;
    BlockDot block_;
    std::unique_ptr<codegen::cpu::LoadedObject> loaded_;
};

/// A matrix in guarded memory: its last element is the last byte before a page that must not be touched, and what lies
/// between its elements is NaN.
class Matrix {
public:
    Matrix(ScalarType type, Integer rows, Integer columns, MatrixLayout layout, Integer gap, std::mt19937& random)
        : type_(type), rows_(rows), columns_(columns) {
        row_stride_ = layout == MatrixLayout::ColumnMajor ? 1 : layout == MatrixLayout::Any ? 3 : columns + gap;
        column_stride_ = layout == MatrixLayout::ColumnMajor ? rows + gap
                         : layout == MatrixLayout::Any       ? 3 * rows + gap
                                                             : 1;
        const Integer size =
            rows == 0 || columns == 0 ? 0 : (rows - 1) * row_stride_ + (columns - 1) * column_stride_ + 1;
        memory_ = std::make_unique<test::GuardedBytes>(static_cast<std::size_t>(size * ir::byte_width(type)));
        std::memset(memory_->data(), 0xff, static_cast<std::size_t>(size * ir::byte_width(type)));
        for (Integer row = 0; row < rows; ++row) {
            for (Integer column = 0; column < columns; ++column) set(row, column, random);
        }
    }

    const void* data() const { return memory_->data(); }
    Integer row_stride() const { return row_stride_; }
    Integer column_stride() const { return column_stride_; }

    double at(Integer row, Integer column) const {
        ir::Scalar scalar{type_, 0};
        std::memcpy(&scalar.bits, address(row, column), static_cast<std::size_t>(ir::byte_width(type_)));
        return scalar.as_double();
    }

private:
    char* address(Integer row, Integer column) const {
        return reinterpret_cast<char*>(memory_->data()) +
               (row * row_stride_ + column * column_stride_) * ir::byte_width(type_);
    }
    /// Small multiples of 1/8, so that every sum is exact in f32.
    void set(Integer row, Integer column, std::mt19937& random) {
        const double value = static_cast<double>(random() % 33) - 16;
        const ir::Scalar scalar = ir::is_float(type_)
                                      ? ir::round_to(type_, value / 8)
                                      : ir::Scalar::integer(type_, static_cast<Integer>(random() % 256) - 128);
        std::memcpy(address(row, column), &scalar.bits, static_cast<std::size_t>(ir::byte_width(type_)));
    }

    ScalarType type_;
    Integer rows_, columns_, row_stride_, column_stride_;
    std::unique_ptr<test::GuardedBytes> memory_;
};

struct Extents {
    Integer rows, depth, columns;
};

template <class T>
void check_result(const Matrix& a, const Matrix& b, Extents extents, bool accumulate, const std::vector<T>& c,
                  Integer c_stride, const std::string& what) {
    int wrong = 0;
    for (Integer row = 0; row < extents.rows + 1; ++row) {
        for (Integer column = 0; column < c_stride; ++column) {
            const T initial = static_cast<T>(row - column);
            double expected = accumulate ? static_cast<double>(initial) : 0;
            if (row == extents.rows || column >= extents.columns) {
                expected = static_cast<double>(initial);
            } else {
                for (Integer k = 0; k < extents.depth; ++k) expected += a.at(row, k) * b.at(k, column);
            }
            if (static_cast<double>(c[row * c_stride + column]) != expected && ++wrong == 1) {
                FAIL_CHECK(what << " c[" << row << ", " << column << "] is " << c[row * c_stride + column] << ", not "
                                << expected);
            }
        }
    }
    CHECK(wrong == 0);
}

/// One call each of dot and of pack_b with dot_packed.
template <class T>
void run_call(const Compiled& compiled, const BlockDotSpecification& specification, Extents extents, bool accumulate) {
    std::mt19937 random(static_cast<unsigned>(extents.rows * 31 + extents.depth * 7 + extents.columns));
    const Matrix a(specification.a, extents.rows, extents.depth, specification.a_layout, 5, random);
    const Matrix b(specification.b, extents.depth, extents.columns, specification.b_layout, 3, random);
    const Integer c_stride = extents.columns + 9;
    std::vector<T> initial(static_cast<std::size_t>((extents.rows + 1) * c_stride));
    for (std::size_t i = 0; i < initial.size(); ++i) {
        initial[i] = static_cast<T>(static_cast<Integer>(i) / c_stride - static_cast<Integer>(i) % c_stride);
    }
    const auto aligned = [](std::uint64_t bytes) {
        void* memory = std::aligned_alloc(64, (bytes + 127) / 64 * 64);
        std::memset(memory, 0xff, bytes);
        return std::unique_ptr<void, decltype(&std::free)>(memory, &std::free);
    };
    const auto scratch = aligned(compiled.block().scratch_bytes);
    const std::string what = std::to_string(extents.rows) + "x" + std::to_string(extents.depth) + "x" +
                             std::to_string(extents.columns) + (accumulate ? " accumulated" : "");

    std::vector<T> c = initial;
    compiled.function<DotFunction>("dot")(a.data(), a.row_stride(), a.column_stride(), b.data(), b.row_stride(),
                                          b.column_stride(), c.data(), c_stride, extents.rows, extents.depth,
                                          extents.columns, accumulate, scratch.get());
    check_result(a, b, extents, accumulate, c, c_stride, what);
    if (!compiled.block().dot_packed) return;
    const auto packed = aligned(compiled.block().packed_bytes);
    c = initial;
    compiled.function<PackFunction>("dot.pack_b")(b.data(), b.row_stride(), b.column_stride(), extents.depth,
                                                  extents.columns, packed.get());
    compiled.function<PackedFunction>("dot.packed")(a.data(), a.row_stride(), a.column_stride(), packed.get(), c.data(),
                                                    c_stride, extents.rows, extents.depth, extents.columns, accumulate,
                                                    scratch.get());
    check_result(a, b, extents, accumulate, c, c_stride, what + " packed");
}

void run_specification(const Target& target, const BlockDotSpecification& specification) {
    const Compiled compiled(target, specification);
    const Integer rows = specification.rows, columns = specification.columns;
    const Integer depth = specification.depth > 0 ? specification.depth : 1100;
    std::vector<Extents> all = {{rows, depth, columns}, {rows, 0, columns}, {1, 1, 1}, {rows, 1, columns}};
    if (rows > 1) all.push_back({rows - 1, depth - depth / 3, columns});
    if (columns > 1) all.push_back({rows, depth / 2 + 1, columns - 1});
    if (rows > 5 && columns > 20) all.push_back({5, 33, columns - 19});
    all.push_back({0, depth, columns});
    for (const Extents& extents : all) {
        for (const bool accumulate : {false, true}) {
            const ScalarType sum = codegen::cpu::accumulator_type(specification.a);
            if (sum == ScalarType::F64) run_call<double>(compiled, specification, extents, accumulate);
            if (sum == ScalarType::I32) run_call<std::int32_t>(compiled, specification, extents, accumulate);
            if (sum == ScalarType::F32) run_call<float>(compiled, specification, extents, accumulate);
        }
    }
}

constexpr MatrixLayout kLayouts[] = {MatrixLayout::RowMajor, MatrixLayout::ColumnMajor, MatrixLayout::Any};

void run_layouts(const Target& target, ScalarType a, ScalarType b, Extents extents) {
    for (const MatrixLayout a_layout : kLayouts) {
        for (const MatrixLayout b_layout : kLayouts) {
            CAPTURE(static_cast<int>(a_layout));
            CAPTURE(static_cast<int>(b_layout));
            run_specification(target, {extents.rows, extents.columns, extents.depth, a, b, a_layout, b_layout});
        }
    }
}

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("block products of every layout and type") {
        for (const std::string& name : test::runnable_targets()) {
            CAPTURE(name);
            const Target& target = *codegen::cpu::target_named(name);
            run_layouts(target, ScalarType::F32, ScalarType::F32, {37, 70, 83});
            run_layouts(target, ScalarType::BF16, ScalarType::BF16, {37, 71, 83});
            run_layouts(target, ScalarType::F16, ScalarType::F16, {21, 40, 50});
            run_layouts(target, ScalarType::F64, ScalarType::F64, {13, 41, 35});
            run_layouts(target, ScalarType::I8, ScalarType::U8, {18, 45, 40});
        }
    }

    TEST_CASE("block products of odd shapes") {
        for (const std::string& name : test::runnable_targets()) {
            CAPTURE(name);
            const Target& target = *codegen::cpu::target_named(name);
            for (const Extents& extents : {Extents{1, 64, 1}, Extents{1, 129, 100}, Extents{64, 32, 16},
                                           Extents{7, 600, 130}, Extents{128, 48, 256}, Extents{3, 5, 7}}) {
                for (const ScalarType type : {ScalarType::F32, ScalarType::BF16}) {
                    run_specification(target, {extents.rows, extents.columns, extents.depth, type, type});
                }
            }
            run_specification(target, {24, 96, 0, ScalarType::F32, ScalarType::F32});
            run_specification(target, {24, 96, 0, ScalarType::BF16, ScalarType::BF16, MatrixLayout::ColumnMajor,
                                       MatrixLayout::ColumnMajor});
            run_specification(target, {4, 96, 0, ScalarType::F32, ScalarType::F32});
        }
    }

#if defined(__x86_64__)
    TEST_CASE("bf16 products by pairs") {
        Target target = codegen::cpu::host_target();
        const bool has_unit =
            std::find(target.features.begin(), target.features.end(), "+avx512bf16") != target.features.end();
        if (!has_unit || target.vector_bytes != 64) {
            MESSAGE("skipped: avx512_bf16: this processor lacks it");
            return;
        }
        target.has_bf16_dot = true;
        run_layouts(target, ScalarType::BF16, ScalarType::BF16, {37, 71, 83});
        run_specification(target, {24, 96, 0, ScalarType::BF16, ScalarType::BF16});
        run_specification(target, {1, 96, 129, ScalarType::BF16, ScalarType::BF16});
    }
#endif
}

TEST_SUITE("unit") {
    TEST_CASE("exact products keep what one rounding keeps") {
        // (1 + 2^-12)^2 - 1 is 2^-11 + 2^-24; a product rounded to f32 first loses the last bit.
        for (const std::string& name : test::runnable_targets()) {
            BlockDotSpecification specification{1, 1, 2, ScalarType::F32, ScalarType::F32};
            specification.precision = ir::DotPrecision::Exact;
            const Compiled compiled(*codegen::cpu::target_named(name), specification);
            const float x = 1 + 0x1p-12f;
            const float a[] = {1, x}, b[] = {-1, x};
            float c = 0;
            const auto scratch = std::unique_ptr<void, decltype(&std::free)>(
                std::aligned_alloc(64, (compiled.block().scratch_bytes + 63) / 64 * 64), &std::free);
            compiled.function<DotFunction>("dot")(a, 2, 1, b, 1, 1, &c, 1, 1, 2, 1, false, scratch.get());
            CHECK(c == 0x1p-11f + 0x1p-24f);
        }
    }

    TEST_CASE("types without a product are internal errors") {
        llvm::LLVMContext context;
        llvm::Module module("dot", context);
        codegen::cpu::prepare_module(module, codegen::cpu::host_target());
        const BlockDotSpecification mixed{4, 4, 4, ScalarType::F32, ScalarType::F16};
        CHECK_THROWS_AS(codegen::cpu::emit_block_dot(module, codegen::cpu::host_target(), mixed, "a"),
                        support::InternalError);
        const BlockDotSpecification whole{4, 4, 4, ScalarType::I32, ScalarType::I32};
        CHECK_THROWS_AS(codegen::cpu::emit_block_dot(module, codegen::cpu::host_target(), whole, "b"),
                        support::InternalError);
    }
}
