#include "codegen/gpu/lower/register_text.h"

namespace kiln::codegen::gpu {

namespace {

/// A digit of the counter and what a step of it adds.
struct Step {
    std::int64_t below = 1, count = 1, adds = 0;
};

/// Splits values (which begin with 0) into digits, the fastest first; empty if they are no sum of digits.
std::vector<Step> digits_of(const std::vector<std::int64_t>& values) {
    std::vector<Step> steps;
    const auto size = static_cast<std::int64_t>(values.size());
    for (std::int64_t below = 1; below < size;) {
        Step step{below, 1, values[static_cast<std::size_t>(below)]};
        while (below * (step.count + 1) <= size &&
               values[static_cast<std::size_t>(below * step.count)] == step.adds * step.count) {
            ++step.count;
        }
        if (below * step.count < size && (size % (below * step.count) != 0)) return {};
        // A digit that ends with the counter needs not be cut off.
        steps.push_back(step);
        if (step.count == 1) return {};
        below *= step.count;
    }
    for (std::int64_t n = 0; n < size; ++n) {
        std::int64_t sum = 0;
        for (const Step& step : steps) sum += n / step.below % step.count * step.adds;
        if (sum != values[static_cast<std::size_t>(n)]) return {};
    }
    return steps;
}

std::string text_of(const Step& step, std::int64_t size, const std::string& name) {
    std::string text = name;
    if (step.below > 1) text += " / " + std::to_string(step.below);
    if (step.below * step.count < size) text += " % " + std::to_string(step.count);
    if (step.adds != 1) text += " * " + std::to_string(step.adds);
    return text;
}

}  // namespace

std::string register_expression(const std::vector<std::int64_t>& values, const std::string& name) {
    if (values.empty()) return "0";
    const std::int64_t base = values.front();
    std::vector<std::int64_t> moved;
    bool constant = true;
    for (const std::int64_t value : values) {
        moved.push_back(value - base);
        constant = constant && value == base;
    }
    if (constant) return std::to_string(base);
    const std::vector<Step> steps = digits_of(moved);
    if (steps.empty()) return "";
    std::string text = base == 0 ? "" : std::to_string(base);
    for (const Step& step : steps) {
        if (step.adds == 0) continue;
        text += (text.empty() ? "" : " + ") + text_of(step, static_cast<std::int64_t>(values.size()), name);
    }
    return text;
}

std::string sum_text(const std::string& a, const std::string& b) {
    if (a.empty() || a == "0") return b.empty() ? "0" : b;
    if (b.empty() || b == "0") return a;
    return a + " + " + b;
}

std::string product_text(const std::string& a, const std::string& factor) {
    if (a.empty() || a == "0" || factor == "0") return "0";
    if (factor == "1") return a;
    if (a == "1") return factor;
    return (a.find_first_of("+-") == std::string::npos ? a : "(" + a + ")") + " * " + factor;
}

}  // namespace kiln::codegen::gpu
