#include "runtime/gpu/bound_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "kiln/error.hpp"

namespace kiln::runtime::gpu {

namespace {

// What cudaMalloc and hipMalloc give; code may count on it.
constexpr std::uint64_t kAlignment = 256;

/// The kernel's scratch tensors in one range of memory.
class ScratchLayout {
public:
    ScratchLayout(const ir::Kernel& kernel, const ir::Launch& launch) {
        for (std::size_t i = 0; i < kernel.scratch.size(); ++i) {
            const ir::ScalarType element = kernel.type(kernel.scratch[i].value).element;
            const auto bits = static_cast<std::uint64_t>(ir::bit_width(element));
            const auto count = static_cast<std::uint64_t>(launch.scratch[i].count());
            Tensor tensor{kernel.scratch[i].value, bytes_, count, ir::bit_width(element) / 8, launch.scratch[i], {}};
            if (kernel.scratch[i].initial) tensor.initial = launch.values[kernel.scratch[i].initial->index].bits;
            bytes_ += ((count * bits + 7) / 8 + kAlignment - 1) / kAlignment * kAlignment;
            tensors_.push_back(tensor);
        }
    }

    struct Tensor {
        ir::ValueId value;
        std::uint64_t offset, count;
        int element_bytes;
        ir::Shape sizes;
        std::optional<std::uint64_t> initial;
    };

    std::uint64_t bytes() const { return bytes_; }
    const std::vector<Tensor>& tensors() const { return tensors_; }
    const Tensor* find(ir::ValueId value) const {
        const auto found =
            std::find_if(tensors_.begin(), tensors_.end(), [&](const Tensor& t) { return t.value == value; });
        return found == tensors_.end() ? nullptr : &*found;
    }

private:
    std::vector<Tensor> tensors_;
    std::uint64_t bytes_ = 0;
};

struct BoundPhase {
    /// A slot that holds the address of a scratch tensor, known only when the launch runs.
    struct ScratchSlot {
        std::size_t slot;
        std::uint64_t offset;
    };

    Handle function = nullptr;
    std::uint32_t threads = 0, shared_bytes = 0;
    std::int64_t programs = 0;
    std::int64_t blocks_per_launch = 1;
    std::vector<std::uint64_t> slots;
    std::vector<ScratchSlot> scratch;
};

/// Fills the slots of one phase.
class Packer {
public:
    Packer(const ir::Kernel& kernel, const ir::Launch& launch, std::span<const ir::Argument> arguments,
           const ScratchLayout& scratch, BoundPhase& phase)
        : kernel_(kernel), launch_(launch), arguments_(arguments), scratch_(scratch), phase_(phase) {}

    void add(ir::ValueId value) {
        if (!kernel_.type(value).is_tensor()) return add_number(launch_.values[value.index].bits);
        if (const ScratchLayout::Tensor* tensor = scratch_.find(value)) return add_scratch(*tensor);
        for (std::size_t i = 0; i < kernel_.parameters.size(); ++i) {
            if (kernel_.parameters[i].value != value) continue;
            const auto* view = std::get_if<ir::TensorView>(&arguments_[i]);
            if (view == nullptr) return add_absent(kernel_.type(value).shape.rank());
            add_number(reinterpret_cast<std::uint64_t>(view->data));
            add_extents(view->sizes);
            add_extents(view->strides);
        }
    }

    void add_number(std::uint64_t bits) { phase_.slots.push_back(bits); }

private:
    void add_extents(const ir::Shape& extents) {
        for (const std::int64_t extent : extents) add_number(static_cast<std::uint64_t>(extent));
    }

    /// A tensor that was left out: no code looks at it, but its place is there.
    void add_absent(std::size_t rank) { phase_.slots.resize(phase_.slots.size() + 1 + 2 * rank, 0); }

    void add_scratch(const ScratchLayout::Tensor& tensor) {
        phase_.scratch.push_back({phase_.slots.size(), tensor.offset});
        add_number(0);
        add_extents(tensor.sizes);
        ir::Shape strides = tensor.sizes;
        std::int64_t stride = 1;
        for (std::size_t axis = strides.rank(); axis-- > 0;) {
            strides[axis] = stride;
            stride *= tensor.sizes[axis];
        }
        add_extents(strides);
    }

    const ir::Kernel& kernel_;
    const ir::Launch& launch_;
    std::span<const ir::Argument> arguments_;
    const ScratchLayout& scratch_;
    BoundPhase& phase_;
};

class GpuBoundLaunch final : public BoundLaunch {
public:
    GpuBoundLaunch(const GpuDevice& device, ScratchLayout scratch, std::vector<BoundPhase> phases,
                   std::shared_ptr<DeviceStream> stream)
        : device_(device), scratch_(std::move(scratch)), phases_(std::move(phases)), stream_(std::move(stream)) {}

    void run() override {
        const CurrentDevice current(device_.driver, device_.index);
        with_scratch([&] {
            for (BoundPhase& phase : phases_) run_range(phase, 0, phase.programs);
        });
    }

    void run_programs(std::size_t index, std::int64_t first, std::int64_t last) override {
        const CurrentDevice current(device_.driver, device_.index);
        with_scratch([&] { run_range(phases_[index], first, last); });
    }

private:
    template <class Action>
    void with_scratch(const Action& action) {
        if (scratch_.bytes() == 0) return action();
        const ScratchPool::Lease lease(device_.scratch, scratch_.bytes(), stream_->native());
        for (BoundPhase& phase : phases_) {
            for (const BoundPhase::ScratchSlot& slot : phase.scratch) {
                phase.slots[slot.slot] = lease.address() + slot.offset;
            }
        }
        for (const ScratchLayout::Tensor& tensor : scratch_.tensors()) {
            if (!tensor.initial || tensor.count == 0) continue;
            device_.driver.fill(lease.address() + tensor.offset, *tensor.initial, tensor.element_bytes, tensor.count,
                                stream_->native());
        }
        action();
    }

    /// Programs [first, last), in as many launches as the driver's limits need.
    void run_range(BoundPhase& phase, std::int64_t first, std::int64_t last) {
        while (first < last) {
            const std::int64_t blocks = std::min(last - first, phase.blocks_per_launch);
            phase.slots[0] = static_cast<std::uint64_t>(first);
            device_.driver.launch(phase.function, static_cast<std::uint32_t>(blocks), phase.threads, phase.shared_bytes,
                                  stream_->native(), phase.slots.data());
            first += blocks;
        }
    }

    const GpuDevice& device_;
    const ScratchLayout scratch_;
    std::vector<BoundPhase> phases_;
    const std::shared_ptr<DeviceStream> stream_;
};

}  // namespace

GpuDevice::GpuDevice(const Driver& given_driver, int given_index, DeviceFacts given_facts)
    : driver(given_driver),
      index(given_index),
      name(fmt::format("{}:{}", driver.name(), index)),
      facts(std::move(given_facts)),
      scratch(driver, name, facts.memory_bytes / 2) {}

std::unique_ptr<BoundLaunch> GpuLoadedKernel::bind(const ir::Kernel& kernel, const ir::Launch& launch,
                                                   std::span<const ir::Argument> arguments,
                                                   const std::shared_ptr<DeviceStream>& stream) {
    ScratchLayout scratch(kernel, launch);
    device_.scratch.check(kernel.name, scratch.bytes());
    const std::vector<ir::ValueId> values = launch_values(kernel);
    std::vector<BoundPhase> phases(phases_.size());
    for (std::size_t i = 0; i < phases_.size(); ++i) {
        const PhaseEntry& entry = phases_[i];
        BoundPhase& phase = phases[i];
        phase.function = functions_[i];
        phase.threads = entry.threads;
        phase.shared_bytes = static_cast<std::uint32_t>(entry.shared_bytes);
        phase.programs = launch.programs(i);
        phase.blocks_per_launch =
            std::min(device_.facts.blocks_per_launch, device_.facts.threads_per_launch / entry.threads);
        Packer packer(kernel, launch, arguments, scratch, phase);
        packer.add_number(0);
        for (const std::int64_t extent : launch.grids[i]) packer.add_number(static_cast<std::uint64_t>(extent));
        for (const std::uint32_t place : entry.values) packer.add(values[place]);
    }
    return std::make_unique<GpuBoundLaunch>(device_, std::move(scratch), std::move(phases), stream);
}

}  // namespace kiln::runtime::gpu
