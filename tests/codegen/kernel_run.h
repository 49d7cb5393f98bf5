// Runs kernels through the interpreter and through compiled code, on guarded memory, and compares what they leave.
#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "codegen/cpu/compile.h"
#include "codegen/cpu/jit.h"
#include "ir/interpret.h"
#include "ir/launch.h"
#include "ir/text.h"
#include "tests/codegen/guarded_bytes.h"

namespace kiln::test {

/// A tensor argument, described so that it can be made anew with the same contents.
struct TensorSpec {
    ir::ScalarType element = ir::ScalarType::F32;
    ir::Shape sizes;
    ir::Shape strides;  ///< empty: row-major
    std::uint32_t seed = 1;
    double scale = 1;  ///< floats lie in [-scale, scale), integers in [-100 * scale, 100 * scale) as far as they fit
};
using ArgumentSpec = std::variant<std::monostate, TensorSpec, ir::Scalar>;

inline ir::Shape row_major(const ir::Shape& sizes) {
    ir::Shape strides = sizes;
    std::int64_t stride = 1;
    for (std::size_t axis = sizes.rank(); axis-- > 0;) {
        strides[axis] = stride;
        stride *= std::max<std::int64_t>(sizes[axis], 1);
    }
    return strides;
}

/// A tensor in guarded memory. Elements that no index reaches keep their ones.
class GuardedTensor {
public:
    explicit GuardedTensor(const TensorSpec& spec, Guard guard = Guard::Behind) {
        view_.element = spec.element;
        view_.sizes = spec.sizes;
        view_.strides = spec.strides.empty() ? row_major(spec.sizes) : spec.strides;
        std::int64_t lowest = 0, highest = 0;
        bool empty = false;
        for (std::size_t axis = 0; axis < spec.sizes.rank(); ++axis) {
            empty = empty || spec.sizes[axis] == 0;
            const std::int64_t reach = (spec.sizes[axis] - 1) * view_.strides[axis];
            (reach < 0 ? lowest : highest) += reach;
        }
        const std::int64_t elements = empty ? 0 : highest - lowest + 1;
        lowest_ = lowest;
        reached_.resize(static_cast<std::size_t>(elements));
        bits_ = ir::bit_width(spec.element);
        bytes_ = std::make_unique<GuardedBytes>(static_cast<std::size_t>((elements * bits_ + 7) / 8), guard);
        view_.data = bytes_->data() - lowest * bits_ / 8;
        std::mt19937 random(spec.seed);
        if (!empty) fill(spec, random, 0, 0);
    }

    const ir::TensorView& view() const { return view_; }
    const GuardedBytes& bytes() const { return *bytes_; }
    /// Whether an index reaches the n-th place from the lowest; otherwise it is a gap between elements.
    bool is_element(std::size_t place) const { return reached_[place]; }

private:
    void fill(const TensorSpec& spec, std::mt19937& random, std::size_t axis, std::int64_t offset) {
        if (axis == spec.sizes.rank()) return put(spec, random, offset);
        for (std::int64_t i = 0; i < spec.sizes[axis]; ++i)
            fill(spec, random, axis + 1, offset + i * view_.strides[axis]);
    }
    void put(const TensorSpec& spec, std::mt19937& random, std::int64_t offset) {
        reached_[static_cast<std::size_t>(offset - lowest_)] = true;
        std::uint64_t bits = 0;
        const double unit = std::uniform_real_distribution<double>(-1, 1)(random);
        switch (ir::scalar_class(spec.element)) {
            case ir::ScalarClass::Bool:
                bits = random() % 2;
                break;
            case ir::ScalarClass::Signed:
            case ir::ScalarClass::Unsigned:
                bits = ir::Scalar::integer(spec.element, static_cast<std::int64_t>(unit * spec.scale * 100)).bits;
                break;
            case ir::ScalarClass::Float:
                bits = ir_round(spec.element, unit * spec.scale);
                break;
            case ir::ScalarClass::Storage:
                bits = random() % (1u << bits_);
                break;
        }
        if (spec.element == ir::ScalarType::F8E4M3 && (bits & 0x7f) == 0x7f) bits = 0x30;
        if (spec.element == ir::ScalarType::F8E5M2 && (bits & 0x7c) == 0x7c) bits = 0x30;
        if (bits_ < 8) {
            std::byte& byte = view_.data[offset / 2];
            const int shift = offset % 2 == 0 ? 0 : 4;
            byte = (byte & ~(std::byte{15} << shift)) | (std::byte(bits) << shift);
        } else {
            std::memcpy(view_.data + offset * bits_ / 8, &bits, static_cast<std::size_t>(bits_ / 8));
        }
    }
    static std::uint64_t ir_round(ir::ScalarType type, double value);

    ir::TensorView view_;
    int bits_ = 8;
    std::int64_t lowest_ = 0;
    std::vector<bool> reached_;
    std::unique_ptr<GuardedBytes> bytes_;
};

/// Arguments in memory of their own.
struct Arguments {
    std::vector<std::unique_ptr<GuardedTensor>> tensors;  ///< null for arguments that are none
    std::vector<ir::Argument> arguments;

    explicit Arguments(const std::vector<ArgumentSpec>& specs, Guard guard = Guard::Behind) {
        for (const ArgumentSpec& spec : specs) {
            tensors.emplace_back();
            if (const auto* tensor = std::get_if<TensorSpec>(&spec)) {
                tensors.back() = std::make_unique<GuardedTensor>(*tensor, guard);
                arguments.push_back(tensors.back()->view());
            } else if (const auto* scalar = std::get_if<ir::Scalar>(&spec)) {
                arguments.push_back(*scalar);
            } else {
                arguments.emplace_back();
            }
        }
    }
};

/// Compiles a kernel for a target this host has and runs it.
void run_compiled(const ir::Kernel& kernel, std::span<const ir::Argument> arguments,
                  const codegen::cpu::Target& target);

/// How far compiled code may be from the interpreter: |x - r| <= absolute + relative * |r|; both zero: the same bytes.
struct Tolerance {
    double relative = 0, absolute = 0;
};

/// The first place where two tensors differ, the bytes between and around their elements included, or an empty text.
std::string difference(const GuardedTensor& actual, const GuardedTensor& expected, Tolerance tolerance);

/// Runs both and compares every byte of every tensor, also those between the elements.
void check_same(const ir::Kernel& kernel, const std::vector<ArgumentSpec>& specs, Tolerance tolerance = {},
                const codegen::cpu::Target& target = codegen::cpu::host_target());

}  // namespace kiln::test
