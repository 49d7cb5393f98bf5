// The public classes of include/kiln, each a thin handle on runtime/state.h.
#include <fmt/format.h>

#include "kiln/kiln.hpp"
#include "runtime/backend.h"
#include "runtime/capture.h"
#include "runtime/state.h"

namespace kiln {

namespace {

/// Runs `action` and hands an Error out as a value.
template <class T, class Action>
Result<T> attempt(const Action& action) {
    try {
        return action();
    } catch (const Error& error) {
        return error;
    }
}

}  // namespace

const char* version() { return KILN_VERSION; }

void capture(const std::string& path) { runtime::start_capture(path); }

std::string_view name(LaunchInfo::Choice choice) {
    switch (choice) {
        case LaunchInfo::Choice::given: return "given";
        case LaunchInfo::Choice::pinned: return "pinned";
        case LaunchInfo::Choice::exact: return "exact";
        case LaunchInfo::Choice::nearest_shape: return "nearest_shape";
        case LaunchInfo::Choice::nearest_device: return "nearest_device";
        case LaunchInfo::Choice::model: return "model";
        case LaunchInfo::Choice::by_default: return "default";
    }
    return "default";
}

std::string_view name(DType dtype) { return ir::name(runtime::to_scalar_type(dtype)); }

DType dtype_from_dlpack(int code, int bits, int lanes) {
    // Codes of DLDataTypeCode in dlpack.h: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool.
    struct Row {
        int code, bits;
        DType dtype;
    };
    constexpr Row kRows[] = {{0, 8, i8},   {0, 16, i16}, {0, 32, i32}, {0, 64, i64},  {1, 8, u8},   {1, 16, u16}, {1, 32, u32},
                             {1, 64, u64}, {2, 16, f16}, {2, 32, f32}, {2, 64, f64}, {4, 16, bf16}, {6, 8, boolean}};
    for (const Row& row : kRows) {
        if (row.code == code && row.bits == bits && lanes == 1) return row.dtype;
    }
    throw Error(ErrorKind::user, fmt::format("Kiln has no element type for the DLPack type code {}, {} bits, {} lanes",
                                             code, bits, lanes));
}

Device Device::open(const std::string& name) {
    std::shared_ptr<runtime::DeviceBackend> backend = runtime::open_backend(name);
    if (backend == nullptr) {
        throw Error(ErrorKind::device, fmt::format("there is no device `{}`; this build knows: {}", name,
                                                   fmt::join(runtime::available_backends(), ", ")));
    }
    return Device(std::move(backend));
}

Result<Device> Device::try_open(const std::string& name) {
    return attempt<Device>([&] { return open(name); });
}

std::vector<std::string> Device::available() { return runtime::available_backends(); }
const std::string& Device::name() const { return backend_->name(); }
const std::string& Device::description() const { return backend_->description(); }
std::int64_t Device::units() const { return backend_->units(); }
Stream Device::stream() const { return Stream(backend_); }

void Stream::synchronise() const { backend_->synchronise(); }

Module Module::from_file(const std::string& path) {
    return Module(std::make_shared<runtime::ModuleState>(path, runtime::with_standard_library(frontend::read_file)));
}

Module Module::from_text(const std::string& text, const std::string& name, const TextReader& reader) {
    const auto serve = [&](const std::string& path) -> std::optional<std::string> {
        if (path == name) return text;
        return reader ? reader(path) : frontend::read_file(path);
    };
    return Module(std::make_shared<runtime::ModuleState>(name, runtime::with_standard_library(serve)));
}

Result<Module> Module::try_from_file(const std::string& path) {
    return attempt<Module>([&] { return from_file(path); });
}

Result<Module> Module::try_from_text(const std::string& text, const std::string& name, const TextReader& reader) {
    return attempt<Module>([&] { return from_text(text, name, reader); });
}

std::vector<std::string> Module::kernels() const {
    std::vector<std::string> names;
    for (const frontend::KernelSignature& signature : state_->signatures()) names.push_back(signature.name);
    return names;
}

Kernel Module::kernel(const std::string& name, const std::vector<Generic>& generics) const {
    return Kernel(std::make_shared<runtime::KernelState>(state_, name, generics));
}

const std::string& Kernel::name() const { return state_->name(); }

void Kernel::launch_with(const Stream& stream, std::span<const Argument> arguments) const {
    prepare_with(stream, arguments).launch();
}

Result<void> Kernel::try_launch_with(const Stream& stream, std::span<const Argument> arguments) const {
    try {
        launch_with(stream, arguments);
        return {};
    } catch (const Error& error) {
        return error;
    }
}

PreparedLaunch Kernel::prepare_with(const Stream& stream, std::span<const Argument> arguments) const {
    std::shared_ptr<runtime::PreparedState> prepared = state_->prepare(*stream.backend(), arguments);
    if (runtime::is_capturing()) runtime::record_launch(state_->captured(*stream.backend(), arguments));
    return PreparedLaunch(std::move(prepared));
}

void PreparedLaunch::launch() const { state_->bound().run(); }
const LaunchInfo& PreparedLaunch::info() const { return state_->info(); }

}  // namespace kiln
