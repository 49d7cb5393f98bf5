// Everything that can go wrong, typed. Functions throw kiln::Error; their try_ forms return it in a Result.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "kiln/export.hpp"

namespace kiln {

enum class ErrorKind {
    user,      ///< a mistake in a kernel's text or in the arguments of a call; the message says what would work
    device,    ///< the device is missing, or refused to do what it was asked
    compiler,  ///< a compiler is missing, or refused code that Kiln generated
    internal,  ///< a broken invariant of Kiln's own: please report it
};

/// The message may have several lines: diagnostics come with source line and caret.
class KILN_API Error : public std::runtime_error {
public:
    Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
    ErrorKind kind() const noexcept { return kind_; }

private:
    ErrorKind kind_;
};

/// A value, or the error that stood in its way.
template <class T>
class Result {
public:
    Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const noexcept { return content_.index() == 0; }
    const Error& error() const { return std::get<1>(content_); }
    /// The value; throws the error if there is none.
    T& value() & {
        if (!*this) throw error();
        return std::get<0>(content_);
    }
    T value() && { return std::move(value()); }

private:
    std::variant<T, Error> content_;
};

/// Success, or the error that stood in its way.
template <>
class Result<void> {
public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    explicit operator bool() const noexcept { return std::holds_alternative<std::monostate>(error_); }
    const Error& error() const { return std::get<Error>(error_); }
    void value() const {
        if (!*this) throw error();
    }

private:
    std::variant<std::monostate, Error> error_;
};

}  // namespace kiln
