// Text for what depends on the number of a register: indices and coordinates, as functions of a loop's counter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kiln::codegen::gpu {

/// An expression of the counter `name` (an int) that has values[n] where the counter is n: `r`, `r % 4 + r / 4 * 16`,
/// `3`. None of these forms: empty, and the caller has to print a table.
std::string register_expression(const std::vector<std::int64_t>& values, const std::string& name);

/// `a + b` with zeros left out; "0" if nothing is left.
std::string sum_text(const std::string& a, const std::string& b);
/// `a * factor`, with parentheses round a sum.
std::string product_text(const std::string& a, const std::string& factor);

}  // namespace kiln::codegen::gpu
