// Keys of `schedule` blocks from the source text to the code that runs.
#include <doctest/doctest.h>

#include <algorithm>

#include "host.h"
#include "ir/launch.h"
#include "runtime/state.h"
#include "runtime/tuning_problem.h"
#include "store_support.h"

namespace kiln::runtime {
namespace {

using tests::TemporaryFolder;

// Each program writes down how many ran before it.
constexpr const char* kNumberedText = R"(kernel numbered(count: inout i32[1], order: out i32[Z, M, N])
  schedule cpu { grid_order in {rows, columns, grouped(2)} }
grid z in 0 .. Z, i in 0 .. M, j in 0 .. N { order[z, i, j] = atomic_add(count[0], 1) }
kernel line(count: inout i32[1], order: out i32[N])
  schedule cpu { grid_order = columns }
grid j in 0 .. N { order[j] = atomic_add(count[0], 1) }
kernel plain(count: inout i32[1], order: out i32[M, N])
  tune UNUSED in {1, 2}
grid i in 0 .. M, j in 0 .. N { order[i, j] = atomic_add(count[0], 1) }
)";

const std::shared_ptr<const ModuleState>& module() {
    static const auto state = std::make_shared<const ModuleState>(
        "schedule.kiln", [](const std::string&) { return std::optional<std::string>(kNumberedText); });
    return state;
}

struct Numbered {
    std::vector<std::int32_t> order;
    LaunchInfo info;
    ir::Schedule schedule;
};

/// The programs of the kernel, one after another in the order of their numbers.
Numbered run(const std::string& kernel, const std::vector<std::int64_t>& sizes, const std::vector<Generic>& generics) {
    std::int64_t programs = 1;
    for (const std::int64_t size : sizes) programs *= size;
    Numbered result;
    result.order.assign(static_cast<std::size_t>(programs), -1);
    std::int32_t count = 0;
    KernelState state(module(), kernel, generics);
    Extents extents;
    for (const std::int64_t size : sizes) extents.push_back(size);
    const std::vector<Argument> arguments = {tensor(&count, {1}), tensor(result.order.data(), extents)};
    const auto prepared = state.prepare(*Device::open("cpu").stream().backend(), arguments);
    prepared->bound().run_programs(0, 0, programs);
    CHECK(count == programs);
    result.info = prepared->info();
    result.schedule = prepared->compiled().specialisation.kernel.schedule;
    return result;
}

/// The same as ir::program_offsets() has it; offsets are places here.
std::vector<std::int32_t> defined_order(const ir::Schedule& schedule, const std::vector<std::int64_t>& sizes) {
    ir::Kernel kernel;
    kernel.schedule = schedule;
    ir::Launch launch;
    launch.values = {ir::Scalar::int64(0), ir::Scalar::int64(1)};
    launch.grids = {sizes};
    auto& axes = kernel.phases.emplace_back().axes;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
        axes.push_back({"", ir::ValueId{0}, ir::ValueId{0}, ir::ValueId{1}});
    }
    std::vector<std::int32_t> order(static_cast<std::size_t>(launch.programs(0)));
    for (std::int32_t program = 0; program < static_cast<std::int32_t>(order.size()); ++program) {
        std::int64_t place = 0;
        const auto offsets = ir::program_offsets(kernel, launch, 0, program);
        for (std::size_t axis = 0; axis < sizes.size(); ++axis) place = place * sizes[axis] + offsets[axis];
        order[static_cast<std::size_t>(place)] = program;
    }
    return order;
}

}  // namespace

TEST_SUITE("differential") {
    TEST_CASE("schedules: on the CPU programs run in the grid order that the IR defines") {
        for (const std::vector<std::int64_t>& sizes :
             std::initializer_list<std::vector<std::int64_t>>{{2, 5, 3}, {1, 1, 4}, {3, 4, 1}, {1, 7, 7}}) {
            std::vector<std::vector<std::int32_t>> seen;
            for (const char* order : {"rows", "columns", "grouped(2)", "grouped(3)", "grouped(9)", "longest_first"}) {
                const Numbered result = run("numbered", sizes, {{"grid_order", order}});
                CHECK(result.order == defined_order(result.schedule, sizes));
                CHECK(result.info.tunables == std::map<std::string, std::string>{{"grid_order", order}});
                CHECK(result.info.choice == LaunchInfo::Choice::given);
                seen.push_back(result.order);
            }
            CHECK(std::is_sorted(seen[0].begin(), seen[0].end()));
            CHECK(seen[4] == seen[1]);
            CHECK(seen[5] == seen[0]);
        }
        CHECK(run("line", {5}, {}).order == std::vector<std::int32_t>{0, 1, 2, 3, 4});
        CHECK(run("plain", {2, 2}, {{"grid_order", "columns"}}).order == std::vector<std::int32_t>{0, 2, 1, 3});
    }
}

TEST_SUITE("unit") {
    TEST_CASE("schedules: a stored key is used; one that the kernel has not is passed over") {
        StoreOptions options;
        options.off = true;
        const auto store = std::make_shared<TuningStore>(options);
        replace_tuning_store(store);
        CHECK(run("numbered", {1, 2, 2}, {}).info.tunables.at("grid_order") == "rows");
        Measurement row = measured({}, {{"grid_order", {"grouped(2)", ""}}}, 1e-3);
        row.device = describe_device(*Device::open("cpu").stream().backend());
        row.problem.kernel = kernel_identity(module()->program(), "numbered");
        row.problem.name = "numbered";
        row.problem.arguments = {{"count", "i32"}, {"order", "i32"}};
        row.problem.sizes = {{"Z", 1}, {"M", 2}, {"N", 2}};
        store->record(row);
        for (const char* other : {"grouped(4)", "spirals", "4", "(("}) {
            row.configuration = {{"grid_order", {other, ""}}};
            row.seconds = 1e-6;
            store->record(row);
        }
        row.configuration = {{"grid_order", {"columns", ""}}, {"warps", {"4", ""}}};
        store->record(row);
        row.configuration = {};
        store->record(row);
        const Numbered result = run("numbered", {1, 2, 2}, {});
        replace_tuning_store(nullptr);
        CHECK(result.info.choice == LaunchInfo::Choice::exact);
        CHECK(result.info.tunables.at("grid_order") == "grouped(2)");
        CHECK(result.order == std::vector<std::int32_t>{0, 2, 1, 3});
    }

    TEST_CASE("schedules: two values of a key are two kernels in the cache (K13)") {
        const test::TemporaryCache cache;
        const auto key = [](const char* order) { return run("plain", {2, 2}, {{"grid_order", order}}).info.key; };
        CHECK(key("columns") != key("rows"));
        CHECK(key("columns") == key("columns"));
    }

    TEST_CASE("schedules: keys that a device lacks, and values that are none, are errors of the caller") {
        const auto error = [](const Generic& given) {
            return test::error_of([&] { run("numbered", {1, 2, 2}, {given}); });
        };
        CHECK(test::contains(error({"warps", 4}), " has no `warps`"));
        CHECK(test::contains(error({"grid_order", 4}), "is one of `rows`, `columns`, `grouped`, `longest_first`"));
        CHECK(test::contains(error({"grid_order", "grouped"}), "and not grouped"));
        CHECK(test::contains(error({"grid_order", "a b"}), "takes a number, or a word of the schedule"));
        CHECK(test::contains(error({"stages", 9}), "is a number from 1 to 8 and not 9"));
        CHECK(test::contains(error({"ordr", 9}), "has no generic or tunable"));
    }
}

}  // namespace kiln::runtime
