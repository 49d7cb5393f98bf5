#include "codegen/gpu/c_writer.h"

#include <algorithm>

namespace kiln::codegen::gpu {

namespace {

/// More resident threads than these hide no more latency.
constexpr int kUsefulThreads = 512;

class Writer {
public:
    explicit Writer(const support::SourceMap* sources) : sources_(sources) {}

    void line(const std::string& text) { text_ += (text.empty() ? "" : std::string(4 * depth_, ' ') + text) + "\n"; }

    void write(const PlacedPhase& phase, const Target& target, const Spelling& spelling) {
        write_parameters(phase);
        const std::string attributes = spelling.kernel_attributes(phase.threads, blocks_per_unit(phase, target));
        line("extern \"C\" " + attributes + " void " + phase.symbol + "(const " + phase.symbol +
             "_parameters parameters) {");
        ++depth_;
        if (phase.shared_bytes > 0) line(spelling.shared_declaration);
        for (const Buffer& buffer : phase.buffers) {
            line(buffer.element + "* const " + buffer.name + " = (" + buffer.element + "*)(shared_memory + " +
                 std::to_string(buffer.offset) + ");");
        }
        for (const std::string& text : phase.prologue) line(text);
        write(phase.body);
        --depth_;
        line("}");
    }

    std::string take() { return std::move(text_); }

private:
    /// Every field takes 8 bytes: the host fills the structure as an array of 64-bit slots.
    void write_parameters(const PlacedPhase& phase) {
        line("struct " + phase.symbol + "_parameters {");
        ++depth_;
        for (const Slot& slot : phase.slots) line("alignas(8) " + slot.type + " " + slot.name + ";");
        --depth_;
        line("};");
        line("");
    }

    /// How many blocks should be resident: what the compiler limits its registers by. As many as shared memory and the
    /// estimate allow, since a limit below the need makes it spill.
    static int blocks_per_unit(const PlacedPhase& phase, const Target& target) {
        const int needed = std::min(target.registers_per_thread, phase.registers + phase.registers / 2 + 16);
        const int fit = occupancy(target, phase.threads, needed, phase.shared_bytes).blocks;
        return std::max(1, std::min(fit, kUsefulThreads / phase.threads));
    }

    void write(const Statements& statements) {
        for (const Statement& statement : statements) write(statement);
    }
    void write(const Statement& statement) {
        const bool has_text = statement.kind != Statement::Kind::Barrier && statement.kind != Statement::Kind::Commit &&
                              statement.kind != Statement::Kind::Wait;
        if (has_text) mark(statement.span);
        switch (statement.kind) {
            case Statement::Kind::Lines:
            case Statement::Kind::Leave:
                for (const std::string& text : statement.lines) line(text);
                return;
            case Statement::Kind::Barrier:
                return line(statement.orders_global ? "kiln_barrier();" : "kiln_shared_barrier();");
            case Statement::Kind::Commit:
                return line("kiln_commit_copies();");
            case Statement::Kind::Wait:
                return line("kiln_wait_copies<" + std::to_string(statement.under_way) + ">();");
            case Statement::Kind::Block:
            case Statement::Kind::Loop:
                line(statement.head + " {");
                ++depth_;
                write(statement.body);
                --depth_;
                if (!statement.otherwise.empty()) {
                    line("} else {");
                    ++depth_;
                    write(statement.otherwise);
                    --depth_;
                }
                return line("}");
        }
    }

    /// The place in the .kiln text, for messages and profilers, where it changes.
    void mark(support::Span span) {
        if (sources_ == nullptr || span.source >= sources_->size()) return;
        const std::uint32_t number = sources_->locate(span.source, span.begin).line;
        if (number == marked_line_ && span.source == marked_source_) return;
        marked_line_ = number;
        marked_source_ = span.source;
        text_ += "#line " + std::to_string(number) + " \"" + escaped(sources_->name(span.source)) + "\"\n";
    }
    static std::string escaped(std::string_view name) {
        std::string text;
        for (const char c : name) {
            if (c == '"' || c == '\\') text += '\\';
            text += c;
        }
        return text;
    }

    const support::SourceMap* sources_;
    std::uint32_t marked_line_ = 0, marked_source_ = 0;
    std::string text_;
    std::size_t depth_ = 0;
};

}  // namespace

std::string write_source(const std::string& kernel, const std::vector<PlacedPhase>& phases, const Target& target,
                         const Spelling& spelling, const support::SourceMap* sources) {
    Writer writer(sources);
    for (const PlacedPhase& phase : phases) writer.write(phase, target, spelling);
    const std::string kernels = writer.take();
    return "// " + kernel + " for " + target.name + ", generated by Kiln\n" + spelling.definitions + "\n" +
           prelude(kernels, spelling.dialect) + kernels;
}

}  // namespace kiln::codegen::gpu
