// The HIP half of the runtime on drivers that pretend to be of two versions.
#include <algorithm>

#include "runtime/hip/driver.h"
#include "runtime/hip/hip_backend.h"
#include "tests/runtime/gpu/gpu_support.h"

namespace kiln::test {
namespace {

struct FakeHip {
    FakeLibrary driver;

    explicit FakeHip(const char* path) : driver("KILN_HIP_DRIVER", path) {}
    std::shared_ptr<HandWrittenBackend> hand(std::size_t index = 0) const {
        const runtime::gpu::FoundBackends& found = runtime::hip::backends();
        REQUIRE_MESSAGE(found.devices.size() > index, found.reason);
        REQUIRE_MESSAGE(found.devices[index].backend != nullptr, found.devices[index].reason);
        return std::make_shared<HandWrittenBackend>(found.devices[index].backend,
                                                    [](const ir::Kernel& kernel) { return fake_artifact(kernel); });
    }
};

void use_both_kernels(const FakeHip& fake) {
    const auto backend = fake.hand();
    const DeviceVector x(*backend, {1, 2, 3, 4, 5}), y(*backend, {0, 0, 0, 0, 0});
    fake.driver->slots = 9;
    hand_kernel("twice")->prepare(*backend, std::vector<Argument>{x.tensor(), y.tensor(), 2.0})->bound().run();
    fake.driver->slots = 8;
    hand_kernel("reversed")->prepare(*backend, std::vector<Argument>{x.tensor(), y.tensor()})->bound().run();
    REQUIRE(fake.driver->launches.size() == 3);
    CHECK(fake.driver->launches[0].blocks == 2);
    CHECK(fake.driver->launches[0].threads == 64);
    const auto* scratch = reinterpret_cast<const float*>(fake.driver->launches[1].slots[5]);
    CHECK(std::vector<float>(scratch, scratch + 5) == std::vector<float>(5, 7));
    std::vector<float> host(5);
    const std::string error = error_of([&] {
        hand_kernel("twice")->prepare(*backend, std::vector<Argument>{tensor(host.data(), {5}), y.tensor(), 2.0});
    });
    CHECK(contains(error, "user: `x` lies in the memory of the host, and the launch is on hip:0"));
    const DeviceVector far(*fake.hand(1), {1, 2, 3, 4, 5});
    CHECK(contains(error_of([&] {
                       hand_kernel("twice")->prepare(*backend, std::vector<Argument>{far.tensor(), y.tensor(), 2.0});
                   }),
                   "`x` lies in the memory of hip:1"));
    CHECK(fake.driver->current == 0);
}

TEST_SUITE("unit") {
    TEST_CASE("hip driver: version 5.2 tells its architecture and runs both kernels") {
        const FakeHip fake(FAKE_HIP_5_DRIVER);
        fake.driver->architecture = "gfx90a:sramecc+:xnack-";
        const auto backend = fake.hand();
        CHECK(backend->name() == "hip:0");
        CHECK(contains(backend->description(), "Fake GPU (gfx90a, 7 units"));
        CHECK(contains(backend->fingerprint(), "hip driver 5.2.21153"));
        use_both_kernels(fake);
    }

    TEST_CASE("hip driver: version 7 tells its architecture and runs both kernels") {
        const FakeHip fake(FAKE_HIP_7_DRIVER);
        fake.driver->architecture = "gfx90a";
        const auto backend = fake.hand();
        CHECK(contains(backend->description(), "Fake GPU (gfx90a, 7 units"));
        CHECK(contains(backend->fingerprint(), "hip driver 7.0.51831"));
        CHECK(fake.driver->counts["hipGetDevicePropertiesR0600"] > 0);
        CHECK(fake.driver->counts["hipGetDeviceProperties"] == 0);
        use_both_kernels(fake);
    }

    TEST_CASE("hip driver: an architecture that Kiln has no code for is a reason") {
        const FakeHip fake(FAKE_HIP_7_DRIVER);
        fake.driver->architecture = "gfx803";
        REQUIRE(runtime::hip::backends().devices.size() == 2);
        CHECK(contains(runtime::hip::backends().devices[0].reason, "is gfx803, for which Kiln generates no code"));
    }

    TEST_CASE("hip driver: one older than 5.2 is a reason") {
        const FakeHip fake(FAKE_HIP_5_DRIVER);
        fake.driver->version = 50120531;
        CHECK(contains(runtime::hip::driver().reason, "is version 5.1, and Kiln needs 5.2 or newer"));
    }

    TEST_CASE("hip capture: without memory for graphs, a launch with scratch is refused and one without is captured") {
        const FakeHip fake(FAKE_HIP_5_DRIVER);
        fake.driver->architecture = "gfx90a";
        const auto backend = fake.hand();
        const DeviceVector x(*backend, {1, 2}), y(*backend, {0, 0});
        const auto stream = backend->make_stream();
        const std::vector<Argument> two = {x.tensor(), y.tensor()}, three = {x.tensor(), y.tensor(), 2.0};
        const auto with = hand_kernel("reversed")->prepare({*backend, stream}, two);
        const auto without = hand_kernel("twice")->prepare({*backend, stream}, three);
        fake.driver->capturing = stream->native();
        CHECK(contains(error_of([&] { with->bound().run(); }),
                       "device: a launch that needs 256 bytes of scratch cannot be "
                       "captured: this driver gives graphs no memory"));
        CHECK(fake.driver->launches.empty());
        without->bound().run();
        CHECK(fake.driver->launches.size() == 1);
    }

    TEST_CASE(
        "hip device: each function that fails is a device error in the driver's words, and the device is restored") {
        const FakeHip fake(FAKE_HIP_7_DRIVER);
        fake.driver->architecture = "gfx90a";
        const auto use = [&] {
            const auto backend = fake.hand();
            const auto stream = backend->make_stream();
            const DeviceVector x(*backend, {1, 2}), y(*backend, {0, 0});
            hand_kernel("reversed")
                ->prepare({*backend, stream}, std::vector<Argument>{x.tensor(), y.tensor()})
                ->bound()
                .run();
            stream->record()->synchronise();
            y.values();
        };
        use();
        std::vector<std::string> functions;
        for (const auto& [name, count] : fake.driver->counts) functions.push_back(name);
        std::size_t failing = 0;
        for (const std::string& function : functions) {
            CAPTURE(function);
            fake.driver->current = 1;
            fake.driver->failures = {{function, 2}};
            const std::string error = error_of(use);
            fake.driver->failures.clear();
            if (function != "hipSetDevice") CHECK(fake.driver->current == 1);
            if (error.empty()) continue;
            ++failing;
            CHECK(contains(error, "device: the HIP driver could not "));
            CHECK(contains(error, "hipErrorOutOfMemory (out of memory)"));
        }
        CHECK(failing > 10);
    }
}

}  // namespace
}  // namespace kiln::test
