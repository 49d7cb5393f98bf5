// Expressions for what depends on a register's number: they have the values they were made from.
#include "codegen/gpu/lower/register_text.h"

#include <doctest/doctest.h>

using kiln::codegen::gpu::product_text;
using kiln::codegen::gpu::register_expression;
using kiln::codegen::gpu::sum_text;

TEST_SUITE("unit") {
    TEST_CASE("gpu: registers' coordinates are written as digits of the counter") {
        CHECK(register_expression({0, 1, 2, 3}, "r") == "r");
        CHECK(register_expression({5, 5, 5, 5}, "r") == "5");
        CHECK(register_expression({0, 4, 8, 12}, "r") == "r * 4");
        CHECK(register_expression({0, 1, 0, 1}, "r") == "r % 2");
        CHECK(register_expression({0, 0, 1, 1}, "k") == "k / 2");
        CHECK(register_expression({0, 1, 64, 65, 8, 9, 72, 73}, "r") == "r % 2 + r / 2 % 2 * 64 + r / 4 * 8");
        CHECK(register_expression({3, 4, 3, 4}, "r") == "3 + r % 2");
        CHECK(register_expression({7}, "r") == "7");
    }

    TEST_CASE("gpu: what no sum of digits gives needs a table") {
        CHECK(register_expression({0, 1, 3, 2}, "r").empty());
        CHECK(register_expression({0, 1, 2, 0, 1}, "r").empty());
    }

    TEST_CASE("gpu: sums and products leave out what adds nothing") {
        CHECK(sum_text("a", "0") == "a");
        CHECK(sum_text("", "b") == "b");
        CHECK(sum_text("0", "0") == "0");
        CHECK(product_text("a + b", "c") == "(a + b) * c");
        CHECK(product_text("a", "1") == "a");
        CHECK(product_text("1", "c") == "c");
        CHECK(product_text("a", "0") == "0");
    }
}
