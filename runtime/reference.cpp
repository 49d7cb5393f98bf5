#include "runtime/reference.h"

namespace kiln::runtime {

namespace {

std::shared_ptr<const ModuleState> imported_module(const frontend::Program& program, std::string_view alias) {
    const frontend::File& imported = program.files[program.files[0].imports.at(alias)];
    const auto read = [&program](const std::string& path) -> std::optional<std::string> {
        for (const frontend::File& file : program.files) {
            if (file.path == path) return std::string(program.sources.text(file.source));
        }
        return std::nullopt;
    };
    return std::make_shared<ModuleState>(imported.path, read);
}

}  // namespace

ReferenceKernel find_reference(const KernelState& kernel, const std::string& path) {
    const std::size_t dot = path.find('.');
    ReferenceKernel reference{kernel.shared_module(), nullptr};
    if (dot != std::string::npos) {
        reference.module = imported_module(kernel.module().program(), std::string_view(path).substr(0, dot));
    }
    reference.signature = &reference.module->find(path.substr(dot == std::string::npos ? 0 : dot + 1));
    return reference;
}

}  // namespace kiln::runtime
