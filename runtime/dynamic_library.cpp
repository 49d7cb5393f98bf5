#include "runtime/dynamic_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>

namespace kiln::runtime {

namespace {

std::string file_of(void* handle) {
    const link_map* map = nullptr;
    if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr) return {};
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(map->l_name, error);
    return error ? map->l_name : real.string();
}

}  // namespace

std::vector<std::string> search_order(const SearchPlace& place) {
    const char* named = std::getenv(place.variable);
    std::vector<std::string> paths;
    if (named != nullptr && *named != '\0') {
        std::error_code error;
        if (!std::filesystem::is_directory(named, error)) return {named};
        for (const std::string& name : place.names) paths.push_back((std::filesystem::path(named) / name).string());
        return paths;
    }
    paths = place.names;
    for (const std::string& folder : place.folders) {
        for (const std::string& name : place.names) paths.push_back(folder + "/" + name);
    }
    return paths;
}

DynamicLibrary DynamicLibrary::open(const SearchPlace& place) {
    DynamicLibrary library;
    std::string first_error;
    for (const std::string& path : search_order(place)) {
        // Local: symbols of a driver must not stand in for those of another library of the process.
        library.handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library.handle_ != nullptr) {
            library.path_ = file_of(library.handle_);
            return library;
        }
        const char* error = ::dlerror();
        // A file that is there and does not load says more than a name that is nowhere.
        std::error_code ignored;
        const bool is_there = path.find('/') != std::string::npos && std::filesystem::exists(path, ignored);
        if (first_error.empty() || is_there) first_error = error == nullptr ? path + " does not load" : error;
        if (is_there) break;
    }
    const char* named = std::getenv(place.variable);
    const bool is_named = named != nullptr && *named != '\0';
    library.reason_ = is_named ? fmt::format("{} is `{}`: {}", place.variable, named, first_error)
                               : fmt::format("{} (nor in the usual folders; {} may name a file or folder)", first_error,
                                             place.variable);
    return library;
}

void* DynamicLibrary::find(const char* symbol) const {
    return handle_ == nullptr ? nullptr : ::dlsym(handle_, symbol);
}

std::string version_in_name(const std::string& path) {
    const std::size_t at = path.rfind(".so.");
    if (at == std::string::npos) return {};
    const std::string version = path.substr(at + 4);
    return version.find_first_not_of("0123456789.") == std::string::npos ? version : std::string();
}

}  // namespace kiln::runtime
