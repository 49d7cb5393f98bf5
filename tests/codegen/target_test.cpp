#include "codegen/cpu/target.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "codegen/cpu/object_emit.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

using namespace kiln::codegen::cpu;

namespace {

bool has(const Target& target, const std::string& feature) {
    return std::find(target.features.begin(), target.features.end(), "+" + feature) != target.features.end();
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("levels of x86-64 are known by name") {
        const Target* v2 = target_named("x86_64_v2");
        const Target* v3 = target_named("x86_64_v3");
        const Target* v4 = target_named("x86_64_v4");
        REQUIRE((v2 && v3 && v4));
        CHECK(v2->vector_bytes == 16);
        CHECK(v3->vector_bytes == 32);
        CHECK(v4->vector_bytes == 64);
        CHECK(!v2->has_fma);
        CHECK(v3->has_fma);
        CHECK(v4->vector_registers == 32);
        CHECK(!v4->has_bf16_dot);
        CHECK(v3->schedule_names == std::vector<std::string>{"cpu", "x86_64_v3"});
        CHECK(has(*v4, "avx512bw"));
        CHECK(!has(*v3, "avx512f"));
        CHECK(target_named("x86_64_v5") == nullptr);
        CHECK(target_named("cpu") == &host_target());
        CHECK(target_named("aarch64")->schedule_names.back() == "aarch64");
        CHECK(std::is_sorted(v4->features.begin(), v4->features.end()));
    }

    TEST_CASE("fingerprints tell targets with different code apart") {
        CHECK(fingerprint(*target_named("x86_64_v2")) != fingerprint(*target_named("x86_64_v3")));
        Target other = host_target();
        CHECK(fingerprint(other) == fingerprint(host_target()));
        other.features.pop_back();
        CHECK(fingerprint(other) != fingerprint(host_target()));
    }

#if defined(__x86_64__)
    TEST_CASE("the host has what is said of it") {
        const Target& host = host_target();
        const char* restriction = std::getenv("KILN_CPU");
        CHECK(can_generate(host));
        if (has(host, "avx2")) CHECK(__builtin_cpu_supports("avx2"));
        if (has(host, "fma")) CHECK(__builtin_cpu_supports("fma"));
        if (has(host, "avx512f")) CHECK(__builtin_cpu_supports("avx512f"));
        if (!restriction) {
            CHECK(has(host, "avx2") == (__builtin_cpu_supports("avx2") != 0));
            CHECK(has(host, "avx512bw") == (__builtin_cpu_supports("avx512bw") != 0));
        }
        CHECK(host.schedule_names.front() == "cpu");
        CHECK(host.l1_bytes >= 8 << 10);
        CHECK(host.l2_bytes > host.l1_bytes);
    }
#endif
}
