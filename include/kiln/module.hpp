// Modules (a .kiln file with its imports) and the kernels they declare.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "kiln/device.hpp"
#include "kiln/tensor.hpp"

namespace kiln {

/// The value of a generic or tunable: a type, a number, or a function ("act.gelu").
using GenericValue = std::variant<DType, bool, std::int64_t, std::uint64_t, double, std::string>;

/// {"T", kiln::bf16}, {"causal", true}, {"BM", 128}, {"activation", "act.gelu"}
struct Generic {
    std::string name;
    GenericValue value;

    Generic(std::string name, DType dtype) : name(std::move(name)), value(dtype) {}
    Generic(std::string name, const char* function) : name(std::move(name)), value(std::string(function)) {}
    Generic(std::string name, std::string function) : name(std::move(name)), value(std::move(function)) {}
    /// bool, any integer, float or double
    template <class T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0>
    Generic(std::string name, T number) : name(std::move(name)), value(widest(number)) {}

private:
    template <class T>
    static GenericValue widest(T number) {
        if constexpr (std::is_same_v<T, bool>)
            return number;
        else if constexpr (std::is_floating_point_v<T>)
            return static_cast<double>(number);
        else if constexpr (std::is_signed_v<T>)
            return static_cast<std::int64_t>(number);
        else
            return static_cast<std::uint64_t>(number);
    }
};

/// Where the code of a launch came from, and what was chosen.
struct LaunchInfo {
    enum class Source {
        memory,    ///< this handle (or another of the same Kernel) had it already
        disk,      ///< the cache folder
        compiled,  ///< compiled now
    };
    /// Who chose the tunables.
    enum class Choice {
        given,           ///< the caller, by naming them
        pinned,          ///< the lock file
        exact,           ///< the tuning store: the fastest measured for these sizes on this device
        nearest_shape,   ///< the tuning store: measured for other sizes
        nearest_device,  ///< the tuning store: measured on another device of the family
        model,           ///< the cost model
        by_default,      ///< the first configuration of the kernel's lists that is legal
    };
    Source source = Source::memory;
    double seconds = 0;                           ///< from the request to callable code; 0 where it was in memory
    std::string key;                              ///< of the cache entry
    std::map<std::string, std::string> generics;  ///< all of them, as the language spells their values
    std::map<std::string, std::string> tunables;  ///< all of them, and the keys of the schedule that holds
    Choice choice = Choice::by_default;
    std::string chosen_from;  ///< "gemm.lock:3", "M=512, N=512", "cpu": where the choice stands
};

/// "exact", "nearest_shape", ...
KILN_API std::string_view name(LaunchInfo::Choice choice);

namespace runtime {
class KernelState;
class PreparedState;
class ModuleState;
}  // namespace runtime

/// A launch whose arguments are checked, bound and packed: launch() only runs it. It keeps the views it was made with,
/// so their memory must stay valid. Not for two threads at once.
class KILN_API PreparedLaunch {
public:
    void launch() const;
    const LaunchInfo& info() const;

private:
    friend class Kernel;
    explicit PreparedLaunch(std::shared_ptr<runtime::PreparedState> state) : state_(std::move(state)) {}

    std::shared_ptr<runtime::PreparedState> state_;
};

/// A kernel with the generics and tunables it was asked for; the others follow from the arguments of a launch.
/// Immutable, cheap to copy, shared by any threads: a cold specialisation is compiled once.
class KILN_API Kernel {
public:
    const std::string& name() const;

    /// Checks the arguments, compiles or finds the code, and runs it. Arguments stand in the order of the declaration,
    /// then by name; optional parameters may be left out. Throws Error; nothing has run then.
    template <class... Arguments>
    void launch(const Stream& stream, const Arguments&... arguments) const {
        const std::array<Argument, sizeof...(Arguments)> list{Argument(arguments)...};
        launch_with(stream, list);
    }
    template <class... Arguments>
    Result<void> try_launch(const Stream& stream, const Arguments&... arguments) const {
        const std::array<Argument, sizeof...(Arguments)> list{Argument(arguments)...};
        return try_launch_with(stream, list);
    }
    /// Compiles ahead, and makes a launch that can be repeated at little cost.
    template <class... Arguments>
    PreparedLaunch prepare(const Stream& stream, const Arguments&... arguments) const {
        const std::array<Argument, sizeof...(Arguments)> list{Argument(arguments)...};
        return prepare_with(stream, list);
    }
    template <class... Arguments>
    Result<PreparedLaunch> try_prepare(const Stream& stream, const Arguments&... arguments) const {
        const std::array<Argument, sizeof...(Arguments)> list{Argument(arguments)...};
        return try_prepare_with(stream, list);
    }

    void launch_with(const Stream& stream, std::span<const Argument> arguments) const;
    Result<void> try_launch_with(const Stream& stream, std::span<const Argument> arguments) const;
    PreparedLaunch prepare_with(const Stream& stream, std::span<const Argument> arguments) const;
    Result<PreparedLaunch> try_prepare_with(const Stream& stream, std::span<const Argument> arguments) const;

private:
    friend class Module;
    explicit Kernel(std::shared_ptr<runtime::KernelState> state) : state_(std::move(state)) {}

    std::shared_ptr<runtime::KernelState> state_;
};

/// Serves a file's text, or nothing if there is no such file.
using TextReader = std::function<std::optional<std::string>(const std::string& path)>;

/// A .kiln file with everything it imports, parsed and checked. Immutable and cheap to copy.
class KILN_API Module {
public:
    /// From disk; "kiln/gemm.kiln" names the standard library. Throws Error(user) with all diagnostics.
    static Module from_file(const std::string& path);
    /// From memory; `name` is what messages print. Imports come from `reader`, or from disk.
    static Module from_text(const std::string& text, const std::string& name = "text.kiln",
                            const TextReader& reader = nullptr);
    static Result<Module> try_from_file(const std::string& path);
    static Result<Module> try_from_text(const std::string& text, const std::string& name = "text.kiln",
                                        const TextReader& reader = nullptr);

    std::vector<std::string> kernels() const;
    /// Throws Error(user) if there is no such kernel, generic or tunable, or if a value does not fit.
    Kernel kernel(const std::string& name, const std::vector<Generic>& generics = {}) const;
    Result<Kernel> try_kernel(const std::string& name, const std::vector<Generic>& generics = {}) const;

private:
    explicit Module(std::shared_ptr<runtime::ModuleState> state) : state_(std::move(state)) {}

    std::shared_ptr<runtime::ModuleState> state_;
};

}  // namespace kiln
