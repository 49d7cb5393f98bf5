// Libraries and programs of others that are looked for at run time: drivers and run-time compilers. Nothing of them is
// linked, so that one build of Kiln runs on machines with any of them or none.
#pragma once

#include <string>
#include <vector>

namespace kiln::runtime {

/// Where to look for one of them: first where the variable says, a file or a folder that holds one of `names`, and then
/// nowhere else; else for each of `names` (newest first), by the loader's rules and then in each of `folders`.
struct SearchPlace {
    const char* variable;
    std::vector<std::string> names;
    std::vector<std::string> folders;
};

/// The paths to try, in order; names without a slash are for the loader, or for PATH.
std::vector<std::string> search_order(const SearchPlace& place);

/// A shared library that is never unloaded: its threads and exit handlers outlive any handle of ours.
class DynamicLibrary {
public:
    /// Tries each path in order. If none loads, is_open() is false and reason() says what was tried.
    static DynamicLibrary open(const SearchPlace& place);

    bool is_open() const { return handle_ != nullptr; }
    const std::string& reason() const { return reason_; }
    /// The file that was loaded, links resolved.
    const std::string& path() const { return path_; }
    /// Null if the library lacks it.
    void* find(const char* symbol) const;

private:
    void* handle_ = nullptr;
    std::string path_, reason_;
};

/// The version at the end of a library's file name: "5.2.21153" of "libamdhip64.so.5.2.21153", else empty.
std::string version_in_name(const std::string& path);

}  // namespace kiln::runtime
