// A GPU that is not there: the runtime chooses and compiles for it as for a present one, and nothing runs.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "codegen/gpu/target.h"
#include "runtime/backend.h"

namespace kiln::test {

class AbsentGpu final : public runtime::DeviceBackend {
public:
    /// Sees each kernel that would be compiled.
    using Compile = std::function<void(const ir::Kernel&, const support::SourceMap&)>;

    AbsentGpu(const codegen::gpu::Target& target, Compile compile)
        : target_(target), compile_(std::move(compile)), name_("absent " + target.name) {}

    const std::string& name() const override { return name_; }
    const std::string& description() const override { return name_; }
    std::int64_t units() const override { return 128; }
    const std::vector<std::string>& schedule_names() const override { return target_.schedule_names; }
    bool uses_facts() const override { return true; }
    std::string fingerprint() const override { return name_; }
    runtime::Artifact compile(const ir::Kernel& kernel, const support::SourceMap& sources) const override {
        compile_(kernel, sources);
        return {};
    }
    std::unique_ptr<runtime::LoadedKernel> load(const runtime::Artifact&, std::string&) const override {
        return std::make_unique<Kernel>();
    }
    std::shared_ptr<runtime::DeviceStream> default_stream() const override { return std::make_shared<Stream>(); }
    std::shared_ptr<runtime::DeviceStream> make_stream() const override { return default_stream(); }
    std::shared_ptr<runtime::DeviceStream> wrap_stream(void*) const override { return default_stream(); }
    bool has_own_memory() const override { return true; }
    std::shared_ptr<void> allocate(std::size_t) const override { return nullptr; }
    void copy_to_device(void*, const void*, std::size_t, runtime::DeviceStream&) const override {}
    void copy_to_host(void*, const void*, std::size_t, runtime::DeviceStream&) const override {}
    void check_memory(const std::string&, const Tensor&) const override {}

private:
    class Launch final : public runtime::BoundLaunch {
        void run() override {}
        void run_programs(std::size_t, std::int64_t, std::int64_t) override {}
    };
    class Kernel final : public runtime::LoadedKernel {
        std::unique_ptr<runtime::BoundLaunch> bind(const ir::Kernel&, const ir::Launch&, std::span<const ir::Argument>,
                                                   const std::shared_ptr<runtime::DeviceStream>&) override {
            return std::make_unique<Launch>();
        }
    };
    class Stream final : public runtime::DeviceStream {
        void synchronise() override {}
        std::shared_ptr<runtime::DeviceEvent> record() override { return nullptr; }
        void wait(const runtime::DeviceEvent&) override {}
        void* native() const override { return nullptr; }
        void check_may_load(const std::string&) const override {}
    };

    const codegen::gpu::Target& target_;
    const Compile compile_;
    const std::string name_;
};

}  // namespace kiln::test
