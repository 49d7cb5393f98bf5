// What handles must stand: many threads, a fork, very many launches, being dropped while others launch.
#include <doctest/doctest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>

#include "tests/runtime/host.h"

namespace kiln::test {
namespace {

std::string adding(const std::string& value) {
    return "kernel add(x: in f32[N], y: out f32[N])\n  tune BLOCK in {16}\n"
           "grid i in 0 .. N by BLOCK { y[i :+ BLOCK] = x[i :+ BLOCK] + " +
           value + " }\n";
}

/// Runs `action` in a forked child; whether it returned true.
template <class Action>
bool holds_in_child(const Action& action) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(action() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool adds(const Kernel& kernel, float value, std::size_t size = 1000) {
    const std::vector<float> x(size, 1.0f);
    std::vector<float> y(size);
    const auto n = static_cast<std::int64_t>(size);
    kernel.launch(cpu(), tensor(x.data(), {n}), tensor(y.data(), {n}));
    return y == std::vector<float>(size, 1.0f + value);
}

TEST_SUITE("faults") {
    TEST_CASE("handles: eight threads that ask for one cold kernel compile it once") {
        for (int round = 0; round < 10; ++round) {
            const Kernel kernel = kernel_of(adding(std::to_string(round)), "add");
            std::atomic<int> ready{0}, compiled{0}, wrong{0};
            std::vector<std::thread> threads;
            for (int i = 0; i < 8; ++i) {
                threads.emplace_back([&] {
                    const std::vector<float> x(100, 1.0f);
                    std::vector<float> y(100);
                    ++ready;
                    while (ready < 8) std::this_thread::yield();
                    const PreparedLaunch launch =
                        kernel.prepare(cpu(), tensor(x.data(), {100}), tensor(y.data(), {100}));
                    launch.launch();
                    compiled += launch.info().source != LaunchInfo::Source::memory;
                    wrong += y != std::vector<float>(100, 1.0f + static_cast<float>(round));
                });
            }
            for (std::thread& thread : threads) thread.join();
            CHECK(compiled == 1);
            CHECK(wrong == 0);
        }
    }

    TEST_CASE("handles: threads that ask for different specialisations of one kernel do not wait in a row") {
        const Kernel kernel = kernel_of(
            "kernel total<D: int>(x: in f32[M, D], y: out f32[M])\n"
            "grid i in 0 .. M { y[i] = sum(x[i, :]) }\n",
            "total");
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (std::int64_t depth = 1; depth <= 8; ++depth) {
            threads.emplace_back([&, depth] {
                const std::vector<float> x(static_cast<std::size_t>(depth * 5), 1.0f);
                std::vector<float> y(5);
                for (int round = 0; round < 20; ++round) {
                    kernel.launch(cpu(), tensor(x.data(), {5, depth}), tensor(y.data(), {5}));
                    wrong += y != std::vector<float>(5, static_cast<float>(depth));
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(wrong == 0);
    }

    TEST_CASE("handles: an error of a cold kernel reaches every thread that waits for it") {
        const Kernel kernel =
            kernel_of("kernel k(x: in f32[N], y: out i32[N])\ngrid i in 0 .. N { y[i] = x[i] }\n", "k");
        std::atomic<int> errors{0};
        std::vector<std::thread> threads;
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([&] {
                float x = 0;
                std::int32_t y = 0;
                errors += !kernel.try_launch(cpu(), tensor(&x, {1}), tensor(&y, {1}));
            });
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(errors == 8);
    }

    TEST_CASE("handles: a forked child launches on the CPU, with what the parent compiled and with new kernels") {
        const Kernel kernel = kernel_of(adding("2"), "add");
        REQUIRE(adds(kernel, 2, 100000));  // the worker threads exist now
        CHECK(holds_in_child([&] { return adds(kernel, 2, 100000); }));
        CHECK(holds_in_child([&] { return adds(kernel_of(adding("3"), "add"), 3); }));
        CHECK(holds_in_child([&] {
            std::atomic<int> right{0};
            std::thread one([&] { right += adds(kernel, 2); });
            std::thread two([&] { right += adds(kernel, 2); });
            one.join();
            two.join();
            return right == 2;
        }));
        CHECK(adds(kernel, 2, 100000));
    }

    TEST_CASE("handles: 100,000 prepared launches, and then as many whole ones, leave the heap as it was") {
        const Kernel kernel = kernel_of(adding("1"), "add");
        std::vector<float> x(40, 1.0f), y(40);
        const Tensor tx = tensor(x.data(), {40}), ty = tensor(y.data(), {40});
        const PreparedLaunch launch = kernel.prepare(cpu(), tx, ty);
        const auto in_use = [] { return static_cast<std::int64_t>(::mallinfo2().uordblks); };
        for (int i = 0; i < 1000; ++i) launch.launch();
        const std::int64_t before = in_use();
        for (int i = 0; i < 100000; ++i) launch.launch();
        CHECK(in_use() - before <= 4096);
        for (int i = 0; i < 100; ++i) kernel.launch(cpu(), tx, ty);
        const std::int64_t between = in_use();
        for (int i = 0; i < 20000; ++i) kernel.launch(cpu(), tx, ty);
        CHECK(in_use() - between <= 4096);
    }

    TEST_CASE("handles: kernels come and go next to a thread that launches one") {
        const Kernel kernel = kernel_of(adding("1"), "add");
        REQUIRE(adds(kernel, 1));
        std::atomic<bool> stop{false};
        std::atomic<int> wrong{0}, launches{0};
        std::thread launching([&] {
            while (!stop) {
                wrong += !adds(kernel, 1);
                ++launches;
            }
        });
        for (int cycle = 0; cycle < 1000; ++cycle) {
            const float value = static_cast<float>(cycle % 7);
            if (!adds(kernel_of(adding(std::to_string(cycle % 7)), "add"), value, 20)) ++wrong;
        }
        stop = true;
        launching.join();
        CHECK(wrong == 0);
        CHECK(launches > 0);
    }

    TEST_CASE("handles: a prepared launch outlives kernel, module and device") {
        std::vector<float> x(10, 1.0f), y(10);
        const PreparedLaunch launch = [&] {
            const Module module = Module::from_text(adding("4"));
            return module.kernel("add").prepare(Device::open().stream(), tensor(x.data(), {10}),
                                                tensor(y.data(), {10}));
        }();
        launch.launch();
        CHECK(y == std::vector<float>(10, 5.0f));
    }
}

}  // namespace
}  // namespace kiln::test
