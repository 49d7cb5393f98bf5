#include "runtime/gpu/gpu_backend.h"

#include <fmt/format.h>

#include <mutex>
#include <unordered_map>

#include "codegen/gpu/target.h"
#include "kiln/error.hpp"
#include "runtime/gpu/bound_launch.h"
#include "runtime/gpu/gpu_stream.h"
#include "runtime/gpu/kernel_code.h"
#include "runtime/key.h"

namespace kiln::runtime::gpu {

namespace {

constexpr std::int64_t kSharedBytesWithoutAsking = 48 << 10;

Address to_address(const void* pointer) {
    return reinterpret_cast<Address>(pointer);
}

/// The modules of a device by their code. They are never unloaded: a captured graph may launch their functions at any
/// later time, and the driver does not tell.
class LoadedModules {
public:
    /// Null with the reason if the driver refuses both forms.
    Handle load(const Driver& driver, const Artifact& artifact, std::string& reason) {
        const Checksum key = checksum(artifact.code);
        const std::lock_guard lock(mutex_);
        if (const auto found = modules_.find(key); found != modules_.end()) return found->second;
        CodeForms forms = code_forms(artifact);
        if (forms.binary.empty()) {
            reason = "the code is damaged";
            return nullptr;
        }
        LoadedModule loaded = driver.load(forms.binary.data());
        if (loaded.module == nullptr && !forms.portable.empty()) {
            const std::string refusal = loaded.refusal;
            forms.portable.push_back('\0');
            loaded = driver.load(forms.portable.data());
            if (loaded.module == nullptr) loaded.refusal = fmt::format("{}; of its PTX: {}", refusal, loaded.refusal);
        }
        if (loaded.module == nullptr) {
            reason = loaded.refusal;
            return nullptr;
        }
        return modules_.emplace(key, loaded.module).first->second;
    }

private:
    std::mutex mutex_;
    std::unordered_map<Checksum, Handle, ChecksumHash> modules_;
};

class GpuBackend final : public DeviceBackend {
public:
    GpuBackend(const GpuVendor& vendor, const Driver& driver, int index, DeviceFacts facts,
               const codegen::gpu::FoundTarget& found)
        : vendor_(vendor),
          device_(driver, index, std::move(facts)),
          target_(*found.target),
          description_(fmt::format("{} ({}, {} units, {} MiB{}{})", device_.facts.name, device_.facts.architecture,
                                   device_.facts.units, device_.facts.memory_bytes >> 20,
                                   found.note.empty() ? "" : "; ", found.note)) {}

    const std::string& name() const override { return device_.name; }
    const std::string& description() const override { return description_; }
    std::int64_t units() const override { return device_.facts.units; }
    const std::vector<std::string>& schedule_names() const override { return target_.schedule_names; }

    std::string fingerprint() const override {
        const FoundCompiler found = vendor_.compiler_for(target_);
        return fmt::format("{}; {}; {} driver {}; {}", device_.facts.architecture, codegen::gpu::fingerprint(target_),
                           device_.driver.name(), device_.driver.version(),
                           found.compiler == nullptr
                               ? "no compiler"
                               : fmt::format("{} {}", found.compiler->name(), found.compiler->version()));
    }

    Artifact compile(const ir::Kernel& kernel, const support::SourceMap& sources) const override {
        const codegen::gpu::Source source = source_of(kernel, target_, sources);
        return to_artifact(kernel, source,
                           compile_source(source, kernel.name, target_, vendor_.compiler_for(target_), sources));
    }

    std::unique_ptr<LoadedKernel> load(const Artifact& artifact, std::string& reason) const override {
        const CurrentDevice current(device_.driver, device_.index);
        const RelaxedCapture relaxed(device_.driver);
        const Handle module = modules_.load(device_.driver, artifact, reason);
        if (module == nullptr) return nullptr;
        std::vector<Handle> functions;
        for (const PhaseEntry& phase : artifact.phases) {
            functions.push_back(device_.driver.find_function(module, phase.symbol));
            if (functions.back() == nullptr) {
                reason = "the code lacks " + phase.symbol;
                return nullptr;
            }
            if (!fits(functions.back(), phase, reason)) return nullptr;
        }
        return std::make_unique<GpuLoadedKernel>(device_, std::move(functions), artifact.phases);
    }

    std::shared_ptr<DeviceStream> default_stream() const override { return stream_; }
    std::shared_ptr<DeviceStream> make_stream() const override {
        const CurrentDevice current(device_.driver, device_.index);
        return std::make_shared<GpuStream>(device_, device_.driver.create_stream(), true);
    }
    std::shared_ptr<DeviceStream> wrap_stream(void* native) const override {
        return native == nullptr ? stream_ : std::make_shared<GpuStream>(device_, native, false);
    }

    bool uses_facts() const override { return true; }
    bool has_own_memory() const override { return true; }

    std::shared_ptr<void> allocate(std::size_t bytes) const override {
        const CurrentDevice current(device_.driver, device_.index);
        const RelaxedCapture relaxed(device_.driver);
        const Address address = device_.driver.allocate(std::max<std::size_t>(bytes, 1));
        return {reinterpret_cast<void*>(address), [this](void* memory) { free(memory); }};
    }

    void copy_to_device(void* to, const void* from, std::size_t bytes, DeviceStream& stream) const override {
        if (bytes == 0) return;
        const CurrentDevice current(device_.driver, device_.index);
        device_.driver.copy_to_device(to_address(to), from, bytes, stream.native());
        device_.driver.synchronise(stream.native());
    }
    void copy_to_host(void* to, const void* from, std::size_t bytes, DeviceStream& stream) const override {
        if (bytes == 0) return;
        const CurrentDevice current(device_.driver, device_.index);
        device_.driver.copy_to_host(to, to_address(from), bytes, stream.native());
        device_.driver.synchronise(stream.native());
    }

    void check_memory(const std::string& parameter, const Tensor& tensor) const override {
        if (tensor.home != MemoryHome::any && tensor.home != vendor_.home) throw elsewhere(parameter, "another GPU");
        if (tensor.data == nullptr) return;
        const CurrentDevice current(device_.driver, device_.index);
        const PointerPlace place = device_.driver.place_of(tensor.data);
        switch (place.kind) {
            case PointerPlace::Kind::unknown:
                if (!device_.facts.reads_host_memory) throw elsewhere(parameter, "the host");
                return;
            case PointerPlace::Kind::host:
                return;
            case PointerPlace::Kind::device:
                if (place.device == device_.index) return;
                throw elsewhere(parameter, fmt::format("{}:{}", device_.driver.name(), place.device));
        }
    }

private:
    /// Whether the device can run the function, or which resource it lacks. Asking also makes a driver that loads
    /// lazily load the function now, and not at its first launch, which may be a captured one.
    bool fits(Handle function, const PhaseEntry& phase, std::string& reason) const {
        const FunctionFacts facts = device_.driver.function_facts(function);
        const auto shared = static_cast<std::int64_t>(phase.shared_bytes);
        if (phase.threads < 1 || phase.threads > facts.threads_per_block) {
            reason = fmt::format("{} has {} threads a block, and its registers leave room for {}", phase.symbol,
                                 phase.threads, facts.threads_per_block);
            return false;
        }
        if (shared + facts.shared_bytes > device_.facts.shared_bytes_per_block) {
            reason = fmt::format("{} needs {} bytes of shared memory a block, and {} has {}", phase.symbol,
                                 shared + facts.shared_bytes, device_.name, device_.facts.shared_bytes_per_block);
            return false;
        }
        if (shared > kSharedBytesWithoutAsking) device_.driver.allow_shared_bytes(function, shared);
        return true;
    }

    void free(void* memory) const noexcept {
        if (driver_state() != DriverState::usable) return;
        try {
            const CurrentDevice current(device_.driver, device_.index);
            const RelaxedCapture relaxed(device_.driver);
            device_.driver.free(to_address(memory));
        } catch (const Error&) {
            // The device is lost, and its memory with it.
        }
    }

    Error elsewhere(const std::string& parameter, const std::string& where) const {
        return Error(ErrorKind::user,
                     fmt::format("`{}` lies in the memory of {}, and the launch is on {}: copy it there "
                                 "first (Device::allocate, Stream::copy_to_device)",
                                 parameter, where, device_.name));
    }

    const GpuVendor vendor_;
    const GpuDevice device_;
    const codegen::gpu::Target& target_;
    const std::string description_;
    const std::shared_ptr<DeviceStream> stream_ = std::make_shared<GpuStream>(device_, nullptr, false);
    mutable LoadedModules modules_;
};

FoundBackend find_backend(const GpuVendor& vendor, const Driver& driver, int index) {
    try {
        DeviceFacts facts = driver.facts(index);
        const codegen::gpu::FoundTarget found = codegen::gpu::find_target(facts.architecture);
        if (found.target == nullptr) {
            return {nullptr, fmt::format("{} is {}, for which Kiln generates no code: {}", facts.name,
                                         facts.architecture, found.note)};
        }
        return {std::make_shared<GpuBackend>(vendor, driver, index, std::move(facts), found), ""};
    } catch (const Error& error) {
        return {nullptr, error.what()};
    }
}

}  // namespace

FoundBackends find_backends(const GpuVendor& vendor) {
    const FoundDriver& found = vendor.driver();
    if (found.driver == nullptr) return {{}, found.reason};
    FoundBackends backends;
    for (int index = 0; index < found.driver->device_count(); ++index) {
        backends.devices.push_back(find_backend(vendor, *found.driver, index));
    }
    return backends;
}

}  // namespace kiln::runtime::gpu
