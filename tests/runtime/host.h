// What the tests of the public API share: the error of an action as text, and a cache folder of a test's own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "kiln/kiln.hpp"
#include "tests/support/temporary_folder.h"

namespace kiln::test {

/// "user: `b` has ..." of the Error that `action` throws; empty if it throws none.
template <class Action>
std::string error_of(const Action& action) {
    try {
        action();
        return "";
    } catch (const Error& error) {
        constexpr const char* kKinds[] = {"user", "device", "compiler", "internal"};
        return std::string(kKinds[static_cast<int>(error.kind())]) + ": " + error.what();
    }
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

inline Stream cpu() {
    return Device::open("cpu").stream();
}

inline Kernel kernel_of(const std::string& text, const std::string& name, const std::vector<Generic>& generics = {}) {
    return Module::from_text(text).kernel(name, generics);
}

/// An environment variable for the time of a test; null takes it away.
class ScopedVariable {
public:
    ScopedVariable(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) {
            old_ = old;
            had_ = true;
        }
        set(value);
    }
    ~ScopedVariable() { set(had_ ? old_.c_str() : nullptr); }
    ScopedVariable(const ScopedVariable&) = delete;
    ScopedVariable& operator=(const ScopedVariable&) = delete;

private:
    void set(const char* value) const {
        if (value == nullptr) {
            ::unsetenv(name_);
        } else {
            ::setenv(name_, value, 1);
        }
    }

    const char* name_;
    std::string old_;
    bool had_ = false;
};

/// A new folder that KILN_CACHE names; gone with it.
class TemporaryCache {
public:
    std::string folder() const { return folder_.in("kiln"); }
    std::vector<std::filesystem::path> entries() const {
        std::vector<std::filesystem::path> paths;
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(folder(), error)) paths.push_back(entry.path());
        return paths;
    }

private:
    tests::TemporaryFolder folder_;
    ScopedVariable variable_{"KILN_CACHE", folder().c_str()};
};

}  // namespace kiln::test
