#include "ir/type.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/support/internal_error.h"

namespace kiln::ir {

namespace {

std::string extents_text(const Shape& shape) {
    std::string text;
    for (const std::int64_t extent : shape) {
        if (!text.empty()) text += ", ";
        text += extent == kDynamic ? "?" : std::to_string(extent);
    }
    return text;
}

}  // namespace

std::optional<ScalarType> scalar_type_named(std::string_view name) {
    if (name == "int") return kInt;
    for (std::size_t i = 0; i < kScalars.size(); ++i) {
        if (kScalars[i].name == name) return static_cast<ScalarType>(i);
    }
    return std::nullopt;
}

Shape::Shape(std::initializer_list<std::int64_t> extents)
    : Shape(std::span<const std::int64_t>(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const std::int64_t> extents) {
    for (const std::int64_t extent : extents) push_back(extent);
}

void Shape::push_back(std::int64_t extent) {
    insert(rank_, extent);
}

void Shape::erase(std::size_t axis) {
    std::copy(extents_.begin() + axis + 1, extents_.begin() + rank_, extents_.begin() + axis);
    --rank_;
}

void Shape::insert(std::size_t axis, std::int64_t extent) {
    if (rank_ == kMaxRank) throw support::InternalError("ir::Shape", "more than 8 axes");
    std::copy_backward(extents_.begin() + axis, extents_.begin() + rank_, extents_.begin() + rank_ + 1);
    extents_[axis] = extent;
    ++rank_;
}

std::int64_t Shape::count() const {
    std::int64_t product = 1;
    for (const std::int64_t extent : *this) product *= extent;
    return product;
}

bool operator==(const Shape& a, const Shape& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::string_view name(Access access) {
    switch (access) {
        case Access::In:
            return "in";
        case Access::Out:
            return "out";
        case Access::InOut:
            return "inout";
    }
    throw support::InternalError("ir::name", "unknown access");
}

std::string to_string(const Shape& shape) {
    return fmt::format("[{}]", extents_text(shape));
}

std::string to_string(const Type& type) {
    switch (type.kind) {
        case TypeKind::Scalar:
            return std::string(name(type.element));
        case TypeKind::Tile:
            return fmt::format("{}[{}]", name(type.element), extents_text(type.shape));
        case TypeKind::Tensor:
            return fmt::format("{} {}<{}>", name(type.access), name(type.element), extents_text(type.shape));
    }
    throw support::InternalError("ir::to_string", "unknown type kind");
}

}  // namespace kiln::ir
