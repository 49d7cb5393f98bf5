// Keys of `schedule` blocks: part of a configuration and of the specialised kernel.
#include <doctest/doctest.h>

#include <algorithm>

#include "frontend/signature.h"
#include "frontend/specialise.h"
#include "kernel_run.h"

namespace kiln::frontend {
namespace {

constexpr const char* kPlanned = R"(
const WIDE = 8
kernel planned<S: int = 2>(x: in f32[N], y: out f32[N])
  tune B in {4, 8}
  where B > 4
  schedule cpu { grid_order in {rows, grouped(S * 2)}, B in {8, 16} }
  schedule x86_64_v4 { grid_order = columns }
  schedule gpu { warps in {4, WIDE}, stages in {2, 3}, slots in {2, 4}, B = 8 }
  schedule nvidia { warps in {WIDE} }
  schedule sm_80 { instruction = mma(16, 8, 16), persistent = true }
grid i in 0 .. N by B, j in 0 .. 1 { y[i :+ B] = x[i :+ B] }
kernel shadowed(y: out f32[N])
  tune stages in {32, 64}
  schedule cpu { stages = 64 }
grid i in 0 .. N by stages { y[i :+ stages] = 1 }
)";

std::vector<std::string> texts(const Request& request) {
    const Program program = test::load_text(kPlanned);
    support::Diagnostics diagnostics;
    std::vector<std::string> list;
    for (const ir::Configuration& configuration : configurations(program, request, diagnostics)) {
        list.push_back(ir::to_string(configuration));
    }
    CHECK_MESSAGE(!diagnostics.has_errors(), diagnostics.render(program.sources));
    return list;
}

Request request_for(std::vector<std::string> targets, const std::string& kernel = "planned") {
    Request request;
    request.kernel = kernel;
    request.targets = std::move(targets);
    return request;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("schedules: keys are part of the space, the most specific block wins key by key") {
        CHECK(texts(request_for({})) == Texts{"B=8"});
        CHECK(texts(request_for({"cpu"})) == Texts{"B=8, grid_order=rows", "B=8, grid_order=grouped(4)",
                                                   "B=16, grid_order=rows", "B=16, grid_order=grouped(4)"});
        CHECK(texts(request_for({"cpu", "x86_64_v4"})) == Texts{"B=8, grid_order=columns", "B=16, grid_order=columns"});
        // Three stages do not fit into two slots.
        CHECK(texts(request_for({"gpu", "amd"})) ==
              Texts{"B=8, slots=2, stages=2, warps=4", "B=8, slots=4, stages=2, warps=4",
                    "B=8, slots=4, stages=3, warps=4", "B=8, slots=2, stages=2, warps=8",
                    "B=8, slots=4, stages=2, warps=8", "B=8, slots=4, stages=3, warps=8"});
        const Texts ampere = texts(request_for({"gpu", "nvidia", "sm_80"}));
        CHECK(ampere.size() == 3);
        CHECK(ampere[0] == "B=8, instruction=mma(16, 8, 16), persistent=true, slots=2, stages=2, warps=8");
    }

    TEST_CASE("schedules: what is given takes the place of the choices, and needs no block") {
        Request request = request_for({"cpu"});
        request.schedule["grid_order"] = {"columns", {}};
        request.schedule["stages"] = ir::ScheduleValue::number(3);
        CHECK(texts(request) == Texts{"B=8, grid_order=columns, stages=3", "B=16, grid_order=columns, stages=3"});
        request.generics["S"] = ir::Scalar::int64(5);
        request.schedule.erase("grid_order");
        CHECK(texts(request)[1] == "B=8, grid_order=grouped(10), stages=3");
    }

    TEST_CASE("schedules: a tunable hides the key of its name") {
        CHECK(texts(request_for({"cpu"}, "shadowed")) == Texts{"stages=64"});
        CHECK(texts(request_for({"gpu"}, "shadowed")) == Texts{"stages=32", "stages=64"});
        const Program program = test::load_text(kPlanned);
        CHECK(signature(program, "planned")->has_schedule);
        CHECK(!signature(program, "shadowed")->has_schedule);
    }

    TEST_CASE("schedules: the specialised kernel has the chosen keys") {
        const Program program = test::load_text(kPlanned);
        for (Request request : {request_for({"cpu"}), request_for({"gpu", "nvidia", "sm_80"})}) {
            support::Diagnostics diagnostics;
            const auto list = configurations(program, request, diagnostics);
            const auto first = specialise(program, request, diagnostics);
            REQUIRE(first);
            CHECK(ir::Configuration{first->tunables, first->kernel.schedule} == list.front());
            request.tunables = list.back().tunables;
            request.schedule = list.back().schedule;
            const auto last = specialise(program, request, diagnostics);
            REQUIRE(last);
            CHECK(ir::Configuration{last->tunables, last->kernel.schedule} == list.back());
            CHECK(last->kernel.schedule != first->kernel.schedule);
        }
    }

    TEST_CASE("schedules: `kiln check` looks at the blocks of every target") {
        const auto errors = [](const std::string& setting) {
            const Program program = test::load_text("kernel k(y: out f32[N])\n  schedule sm_90a { " + setting +
                                                    " }\ngrid i in 0 .. N { }\n");
            support::Diagnostics diagnostics;
            check_bodies(program, diagnostics);
            return diagnostics.render(program.sources);
        };
        CHECK(errors("warps in {4, 16}") == "");
        CHECK(errors("warps in {4, 32}").find("`warps` is from 1 to 16, and this is 32") != std::string::npos);
        CHECK(errors("grid_order = grouped(0)").find("`grouped` is from 1 to 65536, and this is 0") !=
              std::string::npos);
        CHECK(errors("warps = N").find("known at compile time") != std::string::npos);
    }
}

}  // namespace kiln::frontend
