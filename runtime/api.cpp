// The public classes of include/kiln, each a thin handle on runtime/state.h.
#include <fmt/format.h>

#include <new>
#include <type_traits>

#include "ir/support/internal_error.h"
#include "kiln/kiln.hpp"
#include "runtime/backend.h"
#include "runtime/capture.h"
#include "runtime/state.h"

namespace kiln {

namespace {

/// Runs `action`; what is thrown inside Kiln leaves as an Error. Exceptions of the host's own (from a TextReader) pass.
template <class Action>
auto translated(const Action& action) {
    try {
        return action();
    } catch (const support::InternalError& error) {
        throw Error(ErrorKind::internal, error.what());
    } catch (const std::bad_alloc&) {
        throw Error(ErrorKind::device, "there is not enough memory");
    }
}

/// Runs `action` and hands an Error out as a value.
template <class Action>
auto attempt(const Action& action) -> Result<decltype(action())> {
    try {
        if constexpr (std::is_void_v<decltype(action())>) {
            action();
            return {};
        } else {
            return action();
        }
    } catch (const Error& error) {
        return error;
    }
}

}  // namespace

const char* version() {
    return KILN_VERSION;
}

std::string_view name(DType dtype) {
    return ir::name(runtime::to_scalar_type(dtype));
}

void capture(const std::string& path) {
    runtime::start_capture(path);
}

std::string_view name(LaunchInfo::Choice choice) {
    switch (choice) {
        case LaunchInfo::Choice::given:
            return "given";
        case LaunchInfo::Choice::pinned:
            return "pinned";
        case LaunchInfo::Choice::exact:
            return "exact";
        case LaunchInfo::Choice::nearest_shape:
            return "nearest_shape";
        case LaunchInfo::Choice::nearest_device:
            return "nearest_device";
        case LaunchInfo::Choice::model:
            return "model";
        case LaunchInfo::Choice::by_default:
            return "default";
    }
    return "default";
}

DType dtype_from_dlpack(int code, int bits, int lanes) {
    // Codes of DLDataTypeCode in dlpack.h: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool, 10 f8e4m3fn, 12 f8e5m2, 14
    // f8e8m0fnu.
    struct Row {
        int code, bits;
        DType dtype;
    };
    constexpr Row kRows[] = {{0, 8, i8},      {0, 16, i16},    {0, 32, i32},    {0, 64, i64},
                             {1, 8, u8},      {1, 16, u16},    {1, 32, u32},    {1, 64, u64},
                             {2, 16, f16},    {2, 32, f32},    {2, 64, f64},    {4, 16, bf16},
                             {6, 8, boolean}, {10, 8, f8e4m3}, {12, 8, f8e5m2}, {14, 8, f8e8m0}};
    for (const Row& row : kRows) {
        if (row.code == code && row.bits == bits && lanes == 1) return row.dtype;
    }
    throw Error(ErrorKind::user, fmt::format("Kiln has no element type for the DLPack type code {}, {} bits, {} lanes",
                                             code, bits, lanes));
}

MemoryHome home_from_dlpack(int device_type) {
    // DLDeviceType: 1 CPU, 2 CUDA, 10 ROCm; 3 and 11 are host memory pinned by CUDA and ROCm, 13 is managed by CUDA.
    switch (device_type) {
        case 1:
        case 3:
        case 11:
        case 13:
            return MemoryHome::any;
        case 2:
            return MemoryHome::cuda;
        case 10:
            return MemoryHome::hip;
        default:
            throw Error(ErrorKind::user, fmt::format("the DLPack tensor lies on a device of type {}, whose memory Kiln "
                                                     "cannot reach: copy it to the CPU first",
                                                     device_type));
    }
}

Device Device::open(const std::string& name) {
    return Device(translated([&] { return runtime::open_backend(name); }));
}

Result<Device> Device::try_open(const std::string& name) {
    return attempt([&] { return open(name); });
}

std::vector<std::string> Device::available() {
    return runtime::available_backends();
}
const std::string& Device::name() const {
    return backend_->name();
}
const std::string& Device::description() const {
    return backend_->description();
}
std::int64_t Device::units() const {
    return backend_->units();
}
Stream Device::stream() const {
    return Stream(backend_, backend_->default_stream());
}
Stream Device::make_stream() const {
    return Stream(backend_, backend_->make_stream());
}
Stream Device::stream(void* native) const {
    return Stream(backend_, backend_->wrap_stream(native));
}
Buffer Device::allocate(std::size_t bytes) const {
    return Buffer(backend_->allocate(bytes), bytes);
}

void Event::synchronise() const {
    event_->synchronise();
}
double Event::seconds_since(const Event& earlier) const {
    return event_->seconds_since(*earlier.event_);
}

void Stream::synchronise() const {
    stream_->synchronise();
}
Event Stream::record() const {
    return Event(stream_->record());
}
void Stream::wait(const Event& event) const {
    stream_->wait(*event.event_);
}
void Stream::copy_to_device(void* device_memory, const void* host_memory, std::size_t bytes) const {
    backend_->copy_to_device(device_memory, host_memory, bytes, *stream_);
}
void Stream::copy_to_host(void* host_memory, const void* device_memory, std::size_t bytes) const {
    backend_->copy_to_host(host_memory, device_memory, bytes, *stream_);
}
void* Stream::native() const {
    return stream_->native();
}

Module Module::from_file(const std::string& path) {
    return translated([&] {
        return Module(
            std::make_shared<runtime::ModuleState>(path, runtime::with_standard_library(frontend::read_file)));
    });
}

Module Module::from_text(const std::string& text, const std::string& name, const TextReader& reader) {
    const auto serve = [&](const std::string& path) -> std::optional<std::string> {
        if (path == name) return text;
        return reader ? reader(path) : frontend::read_file(path);
    };
    return translated(
        [&] { return Module(std::make_shared<runtime::ModuleState>(name, runtime::with_standard_library(serve))); });
}

Result<Module> Module::try_from_file(const std::string& path) {
    return attempt([&] { return from_file(path); });
}

Result<Module> Module::try_from_text(const std::string& text, const std::string& name, const TextReader& reader) {
    return attempt([&] { return from_text(text, name, reader); });
}

std::vector<std::string> Module::kernels() const {
    std::vector<std::string> names;
    for (const frontend::KernelSignature& signature : state_->signatures()) names.push_back(signature.name);
    return names;
}

Kernel Module::kernel(const std::string& name, const std::vector<Generic>& generics) const {
    return translated([&] { return Kernel(std::make_shared<runtime::KernelState>(state_, name, generics)); });
}

Result<Kernel> Module::try_kernel(const std::string& name, const std::vector<Generic>& generics) const {
    return attempt([&] { return kernel(name, generics); });
}

const std::string& Kernel::name() const {
    return state_->name();
}

void Kernel::launch_with(const Stream& stream, std::span<const Argument> arguments) const {
    prepare_with(stream, arguments).launch();
}

Result<void> Kernel::try_launch_with(const Stream& stream, std::span<const Argument> arguments) const {
    return attempt([&] { launch_with(stream, arguments); });
}

PreparedLaunch Kernel::prepare_with(const Stream& stream, std::span<const Argument> arguments) const {
    return translated([&] {
        std::shared_ptr<runtime::PreparedState> prepared =
            state_->prepare(runtime::LaunchPlace{*stream.backend(), stream.queue()}, arguments);
        if (runtime::is_capturing()) runtime::record_launch(state_->captured(*stream.backend(), arguments));
        return PreparedLaunch(std::move(prepared));
    });
}

Result<PreparedLaunch> Kernel::try_prepare_with(const Stream& stream, std::span<const Argument> arguments) const {
    return attempt([&] { return prepare_with(stream, arguments); });
}

void PreparedLaunch::launch() const {
    translated([&] { state_->bound().run(); });
}

const LaunchInfo& PreparedLaunch::info() const {
    return state_->info();
}

}  // namespace kiln
