#include "runtime/cpu/cpu_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "codegen/cpu/compile.h"
#include "codegen/cpu/jit.h"
#include "codegen/cpu/target.h"
#include "kiln/error.hpp"
#include "runtime/cpu/executor.h"

namespace kiln::runtime::cpu {

namespace {

namespace cpu = codegen::cpu;

// A cache line, and the widest vector.
constexpr std::uint64_t kAlignment = 64;

std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Memory of the kernel's scratch tensors, and the tensors in it.
class ScratchTensors {
public:
    ScratchTensors(const ir::Kernel& kernel, const ir::Launch& launch) {
        std::uint64_t bytes = 0;
        std::vector<std::uint64_t> offsets;
        for (std::size_t i = 0; i < kernel.scratch.size(); ++i) {
            const ir::ScalarType element = kernel.type(kernel.scratch[i].value).element;
            offsets.push_back(bytes);
            const auto count = static_cast<std::uint64_t>(launch.scratch[i].count());
            bytes += aligned((count * static_cast<std::uint64_t>(ir::bit_width(element)) + 7) / 8);
        }
        allocate(bytes);
        for (std::size_t i = 0; i < kernel.scratch.size(); ++i) add(kernel, launch, i, offsets[i]);
    }

    const std::vector<ir::TensorView>& tensors() const { return tensors_; }

    /// Sets the tensors declared with an initial value.
    void initialise() {
        for (const Initial& initial : initials_) {
            const ir::TensorView& tensor = tensors_[initial.tensor];
            const int bytes = ir::byte_width(tensor.element);
            for (std::int64_t i = 0; i < tensor.sizes.count(); ++i) {
                std::memcpy(tensor.data + i * bytes, &initial.value.bits, static_cast<std::size_t>(bytes));
            }
        }
    }

private:
    struct Initial {
        std::size_t tensor;
        ir::Scalar value;
    };

    void allocate(std::uint64_t bytes) {
        if (bytes == 0) return;
        memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, bytes)));
        if (memory_ != nullptr) return;
        throw Error(ErrorKind::device, fmt::format("there is no memory for {} bytes of scratch", bytes));
    }

    void add(const ir::Kernel& kernel, const ir::Launch& launch, std::size_t index, std::uint64_t offset) {
        const ir::Scratch& scratch = kernel.scratch[index];
        ir::TensorView tensor{kernel.type(scratch.value).element, memory_.get() + offset, launch.scratch[index], {}};
        tensor.strides = tensor.sizes;
        std::int64_t stride = 1;
        for (std::size_t axis = tensor.sizes.rank(); axis-- > 0;) {
            tensor.strides[axis] = stride;
            stride *= tensor.sizes[axis];
        }
        tensors_.push_back(tensor);
        if (scratch.initial) initials_.push_back({index, launch.values[scratch.initial->index]});
    }

    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };

    std::unique_ptr<std::byte, Free> memory_;
    std::vector<ir::TensorView> tensors_;
    std::vector<Initial> initials_;
};

struct BoundPhase {
    cpu::PhaseFunction function;
    std::vector<std::uint64_t> values;
    std::vector<std::int64_t> grid;
    std::int64_t programs;
    std::uint64_t scratch_bytes;
};

class CpuBoundLaunch final : public BoundLaunch {
public:
    CpuBoundLaunch(const ir::Kernel& kernel, const ir::Launch& launch, std::span<const ir::Argument> arguments,
                   std::span<const cpu::PhaseFunction> functions, const std::vector<PhaseEntry>& entries)
        : scratch_(kernel, launch) {
        for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
            if (!kernel.type(kernel.parameters[i].value).is_tensor()) continue;
            const auto* tensor = std::get_if<ir::TensorView>(&arguments[i]);
            views_.push_back(tensor == nullptr ? ir::TensorView{} : *tensor);
        }
        views_.insert(views_.end(), scratch_.tensors().begin(), scratch_.tensors().end());
        for (const ir::TensorView& view : views_) {
            tensors_.push_back({view.data, view.sizes.begin(), view.strides.begin()});
        }
        const std::vector<ir::ValueId> values = launch_values(kernel);
        for (std::size_t i = 0; i < entries.size(); ++i) {
            BoundPhase phase{functions[i], {}, launch.grids[i], launch.programs(i), entries[i].scratch_bytes};
            for (const std::uint32_t place : entries[i].values) {
                phase.values.push_back(launch.values[values[place].index].bits);
            }
            phases_.push_back(std::move(phase));
        }
    }

    void run() override {
        scratch_.initialise();
        for (std::size_t i = 0; i < phases_.size(); ++i) {
            for_each_range(phases_[i].programs,
                           [&](std::int64_t first, std::int64_t last) { run_programs(i, first, last); });
        }
    }

    void run_programs(std::size_t index, std::int64_t first, std::int64_t last) override {
        const BoundPhase& phase = phases_[index];
        const cpu::LaunchFrame frame{tensors_.data(), phase.values.data()};
        phase.function(&frame, phase.grid.data(), first, last, thread_scratch(phase.scratch_bytes));
    }

private:
    ScratchTensors scratch_;
    std::vector<ir::TensorView> views_;
    std::vector<cpu::TensorFrame> tensors_;
    std::vector<BoundPhase> phases_;
};

class CpuEvent final : public DeviceEvent {
public:
    void synchronise() override {}
    double seconds_since(const DeviceEvent& earlier) const override {
        return std::chrono::duration<double>(time_ - dynamic_cast<const CpuEvent&>(earlier).time_).count();
    }

private:
    std::chrono::steady_clock::time_point time_ = std::chrono::steady_clock::now();
};

/// A launch has finished when the call returns, so there is nothing to wait for.
class CpuStream final : public DeviceStream {
public:
    void synchronise() override {}
    std::shared_ptr<DeviceEvent> record() override { return std::make_shared<CpuEvent>(); }
    void wait(const DeviceEvent&) override {}
    void* native() const override { return nullptr; }
    void check_may_load(const std::string&) const override {}
};

class CpuLoadedKernel final : public LoadedKernel {
public:
    CpuLoadedKernel(std::unique_ptr<cpu::LoadedObject> object, std::vector<cpu::PhaseFunction> functions,
                    std::vector<PhaseEntry> entries)
        : object_(std::move(object)), functions_(std::move(functions)), entries_(std::move(entries)) {}

    std::unique_ptr<BoundLaunch> bind(const ir::Kernel& kernel, const ir::Launch& launch,
                                      std::span<const ir::Argument> arguments,
                                      const std::shared_ptr<DeviceStream>&) override {
        return std::make_unique<CpuBoundLaunch>(kernel, launch, arguments, functions_, entries_);
    }

private:
    std::unique_ptr<cpu::LoadedObject> object_;
    std::vector<cpu::PhaseFunction> functions_;
    std::vector<PhaseEntry> entries_;
};

Error unknown_level(const char* level) {
    return Error(ErrorKind::user,
                 fmt::format("KILN_CPU is `{}`, and must be x86_64_v2, x86_64_v3 or x86_64_v4", level));
}

/// The host's target. Throws Error(user) if KILN_CPU names no level: a misspelt one would silently change nothing.
const cpu::Target& checked_host_target() {
    const char* level = std::getenv("KILN_CPU");
    if (level == nullptr || *level == '\0') return cpu::host_target();
    if (!std::string_view(level).starts_with("x86_64_v") || cpu::target_named(level) == nullptr)
        throw unknown_level(level);
    return cpu::host_target();
}

class CpuBackend final : public DeviceBackend {
public:
    CpuBackend() : target_(checked_host_target()) {
        description_ = fmt::format("{} ({} threads, {}-bit vectors{})", target_.cpu, thread_count(),
                                   target_.vector_bytes * 8, target_.has_bf16_dot ? ", bf16 dot" : "");
    }

    const std::string& name() const override { return name_; }
    const std::string& description() const override { return description_; }
    std::int64_t units() const override { return thread_count(); }
    const std::vector<std::string>& schedule_names() const override { return target_.schedule_names; }
    std::string fingerprint() const override { return cpu::fingerprint(target_); }

    Artifact compile(const ir::Kernel& kernel, const support::SourceMap&) const override {
        cpu::ObjectCode object = cpu::compile(kernel, target_);
        const std::vector<ir::ValueId> values = launch_values(kernel);
        Artifact artifact{std::move(object.object), {}};
        for (const cpu::PhaseCode& phase : object.phases) {
            PhaseEntry entry{phase.symbol, {}, phase.scratch_bytes};
            for (const ir::ValueId value : phase.values) entry.values.push_back(place_of(value, values));
            artifact.phases.push_back(std::move(entry));
        }
        return artifact;
    }

    std::unique_ptr<LoadedKernel> load(const Artifact& artifact, std::string& reason) const override {
        std::unique_ptr<cpu::LoadedObject> object = cpu::load_object(artifact.code, reason);
        if (object == nullptr) return nullptr;
        std::vector<cpu::PhaseFunction> functions;
        for (const PhaseEntry& phase : artifact.phases) {
            functions.push_back(object->find(phase.symbol));
            if (functions.back() == nullptr) {
                reason = "the object lacks " + phase.symbol;
                return nullptr;
            }
        }
        return std::make_unique<CpuLoadedKernel>(std::move(object), std::move(functions), artifact.phases);
    }

    std::shared_ptr<DeviceStream> default_stream() const override { return stream_; }
    std::shared_ptr<DeviceStream> make_stream() const override { return std::make_shared<CpuStream>(); }
    std::shared_ptr<DeviceStream> wrap_stream(void*) const override {
        throw Error(ErrorKind::user, "the CPU has no streams that a driver made: use stream() or make_stream()");
    }

    bool uses_facts() const override { return false; }
    bool has_own_memory() const override { return false; }
    std::shared_ptr<void> allocate(std::size_t bytes) const override {
        void* const memory = std::aligned_alloc(kAlignment, aligned(std::max<std::size_t>(bytes, 1)));
        if (memory == nullptr) throw Error(ErrorKind::device, fmt::format("there is no memory for {} bytes", bytes));
        return {memory, [](void* given) { std::free(given); }};
    }
    void copy_to_device(void* to, const void* from, std::size_t bytes, DeviceStream&) const override {
        if (bytes > 0) std::memcpy(to, from, bytes);
    }
    void copy_to_host(void* to, const void* from, std::size_t bytes, DeviceStream&) const override {
        if (bytes > 0) std::memcpy(to, from, bytes);
    }
    void check_memory(const std::string& name, const Tensor& tensor) const override {
        if (tensor.home == MemoryHome::any) return;
        throw Error(ErrorKind::user,
                    fmt::format("`{}` lies in the memory of a GPU, which the CPU cannot read: copy it to "
                                "the CPU first, or launch on that device",
                                name));
    }

private:
    const cpu::Target& target_;
    std::string name_ = "cpu";
    std::string description_;
    std::shared_ptr<DeviceStream> stream_ = std::make_shared<CpuStream>();
};

}  // namespace

std::shared_ptr<DeviceBackend> make_backend() {
    return std::make_shared<CpuBackend>();
}

}  // namespace kiln::runtime::cpu
