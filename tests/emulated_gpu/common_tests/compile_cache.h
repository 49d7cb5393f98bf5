#pragma once

#include <functional>
#include <string>

namespace emulated_gpu {

/// What `compile` makes of the text in `key`, which names everything the result depends on: source, options, compiler
/// and its version. Kept between runs of the tests, in a folder of the build.
std::string compile_cached(const std::string& key, const std::function<std::string()>& compile);

}  // namespace emulated_gpu
