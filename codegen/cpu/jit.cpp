#include "codegen/cpu/jit.h"

#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/Core.h>
#include <llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>
#if __has_include(<llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>)
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#endif
#if __has_include(<llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>)
#include <llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h>
#else
#include <llvm/ExecutionEngine/Orc/ExecutorProcessControl.h>
#endif

#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "codegen/cpu/elf_check.h"

namespace kiln::codegen::cpu {
namespace {

namespace orc = llvm::orc;

template <class Result, class... Arguments>
orc::ExecutorAddr address_of(Result (*function)(Arguments...)) {
    return orc::ExecutorAddr::fromPtr(function);
}

using FloatUnary = float (*)(float);
using DoubleUnary = double (*)(double);
using DoubleBinary = double (*)(double, double);
using DoubleTernary = double (*)(double, double, double);

/// All that generated code may call. Anything else in an object is refused.
const std::map<std::string, orc::ExecutorAddr>& callable_symbols() {
    static const std::map<std::string, orc::ExecutorAddr> symbols = {
        {"sinf", address_of(static_cast<FloatUnary>(std::sin))},
        {"cosf", address_of(static_cast<FloatUnary>(std::cos))},
        {"sin", address_of(static_cast<DoubleUnary>(std::sin))},
        {"cos", address_of(static_cast<DoubleUnary>(std::cos))},
        {"erf", address_of(static_cast<DoubleUnary>(std::erf))},
        {"pow", address_of(static_cast<DoubleBinary>(std::pow))},
        {"fma", address_of(static_cast<DoubleTernary>(std::fma))},
        {"memcpy", address_of(std::memcpy)},
        {"memmove", address_of(std::memmove)},
        {"memset", address_of(std::memset)},
    };
    return symbols;
}

/// The symbols an object defines for others, and those it asks for.
struct ObjectSymbols {
    std::vector<std::string> defined, undefined;
};

llvm::Expected<ObjectSymbols> read_symbols(const llvm::MemoryBuffer& buffer) {
    auto object = llvm::object::ObjectFile::createObjectFile(buffer.getMemBufferRef());
    if (!object) return object.takeError();
    ObjectSymbols symbols;
    for (const llvm::object::SymbolRef& symbol : (*object)->symbols()) {
        auto flags = symbol.getFlags();
        if (!flags) return flags.takeError();
        auto name = symbol.getName();
        if (!name) return name.takeError();
        if (*flags & llvm::object::SymbolRef::SF_FormatSpecific) continue;
        if (*flags & llvm::object::SymbolRef::SF_Undefined) {
            symbols.undefined.push_back(name->str());
        } else if (*flags & llvm::object::SymbolRef::SF_Global) {
            symbols.defined.push_back(name->str());
        }
    }
    return symbols;
}

class OrcObject final : public LoadedObject {
public:
    OrcObject(std::unique_ptr<orc::ExecutionSession> session, std::unique_ptr<orc::ObjectLinkingLayer> layer)
        : session_(std::move(session)), layer_(std::move(layer)) {
        session_->setErrorReporter([this](llvm::Error error) { note(std::move(error)); });
    }

    ~OrcObject() override { note(session_->endSession()); }

    PhaseFunction find(const std::string& symbol) const override {
        const auto found = addresses_.find(symbol);
        return found == addresses_.end() ? nullptr : found->second.toPtr<PhaseFunction>();
    }

    bool link(std::unique_ptr<llvm::MemoryBuffer> buffer, const ObjectSymbols& symbols) {
        auto library = session_->createJITDylib("kernel");
        if (!library) return note(library.takeError());
        if (!note(define_callable(*library, symbols.undefined))) return false;
        if (!note(layer_->add(*library, std::move(buffer)))) return false;
        orc::SymbolLookupSet wanted;
        for (const std::string& name : symbols.defined) wanted.add(session_->intern(name));
        auto found = session_->lookup(orc::makeJITDylibSearchOrder(&*library), std::move(wanted));
        if (!found) return note(found.takeError());
        for (const auto& [name, definition] : *found) addresses_.emplace((*name).str(), definition.getAddress());
        return true;
    }

    const std::string& messages() const { return messages_; }

private:
    llvm::Error define_callable(orc::JITDylib& library, const std::vector<std::string>& names) {
        orc::SymbolMap symbols;
        for (const std::string& name : names) {
            symbols[session_->intern(name)] = {callable_symbols().at(name),
                                               llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
        }
        return symbols.empty() ? llvm::Error::success() : library.define(orc::absoluteSymbols(std::move(symbols)));
    }

    /// Keeps an error's text; true if there was none.
    bool note(llvm::Error error) {
        if (!error) return true;
        messages_ += (messages_.empty() ? "" : "; ") + llvm::toString(std::move(error));
        return false;
    }

    std::string messages_;
    std::unique_ptr<orc::ExecutionSession> session_;
    std::unique_ptr<orc::ObjectLinkingLayer> layer_;
    std::map<std::string, orc::ExecutorAddr> addresses_;
};

llvm::Expected<std::unique_ptr<OrcObject>> make_session() {
    auto control = orc::SelfExecutorProcessControl::Create(nullptr, std::make_unique<orc::InPlaceTaskDispatcher>());
    if (!control) return control.takeError();
    auto session = std::make_unique<orc::ExecutionSession>(std::move(*control));
    auto layer = std::make_unique<orc::ObjectLinkingLayer>(*session);
    return std::make_unique<OrcObject>(std::move(session), std::move(layer));
}

}  // namespace

std::unique_ptr<LoadedObject> load_object(std::span<const char> object, std::string& reason) {
    reason = find_elf_damage(object);
    if (!reason.empty()) return nullptr;

    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), "kernel");
    auto symbols = read_symbols(*buffer);
    if (!symbols) {
        reason = llvm::toString(symbols.takeError());
        return nullptr;
    }
    for (const std::string& name : symbols->undefined) {
        if (callable_symbols().contains(name)) continue;
        reason = "it names the unknown symbol '" + name + "'";
        return nullptr;
    }
    auto loaded = make_session();
    if (!loaded) {
        reason = llvm::toString(loaded.takeError());
        return nullptr;
    }
    if (!(*loaded)->link(std::move(buffer), *symbols)) {
        reason = (*loaded)->messages();
        return nullptr;
    }
    return std::move(*loaded);
}

}  // namespace kiln::codegen::cpu
