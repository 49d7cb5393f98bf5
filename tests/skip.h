// A test that cannot run on this machine says so and ends as skipped; `./kiln test --require NAME` makes that a
// failure.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace kiln::test {

[[noreturn]] inline void skip(const std::string& name, const std::string& reason) {
    std::printf("skipped: %s: %s\n", name.c_str(), reason.c_str());
    std::fflush(stdout);
    const char* required = std::getenv("KILN_TEST_REQUIRE");
    const std::string names = required == nullptr ? "" : "," + std::string(required) + ",";
    const bool is_required = names.find("," + name + ",") != std::string::npos;
    if (is_required) std::printf("failed: %s is required\n", name.c_str());
    std::fflush(stdout);
    std::_Exit(is_required ? 1 : 77);
}

}  // namespace kiln::test
