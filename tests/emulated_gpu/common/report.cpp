#include "tests/emulated_gpu/common/report.h"

#include <cstdio>

namespace emulated_gpu {
namespace {

std::string triple(const std::array<uint32_t, 3>& at) {
    return "(" + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," + std::to_string(at[2]) + ")";
}

std::string json_triple(const std::array<uint32_t, 3>& at) {
    return "[" + std::to_string(at[0]) + "," + std::to_string(at[1]) + "," + std::to_string(at[2]) + "]";
}

}  // namespace

const char* fault_name(FaultKind kind) {
    switch (kind) {
        case FaultKind::IllegalAddress:
            return "illegal address";
        case FaultKind::MisalignedAddress:
            return "misaligned address";
        case FaultKind::Trap:
            return "trap";
        case FaultKind::AssertFailed:
            return "failed assertion";
        case FaultKind::Runaway:
            return "runaway kernel";
        case FaultKind::UninitialisedRegister:
            return "uninitialised register";
        case FaultKind::UninitialisedShared:
            return "uninitialised shared memory";
        case FaultKind::GlobalRace:
            return "race in global memory";
        case FaultKind::SharedRace:
            return "race in shared memory";
        case FaultKind::AsyncCopyNotWaitedFor:
            return "asynchronous copy not waited for";
        case FaultKind::MissingFence:
            return "missing fence";
        case FaultKind::BadDescriptor:
            return "bad descriptor";
        case FaultKind::RegisterNotWaitedFor:
            return "register not waited for";
        case FaultKind::DivergentBarrier:
            return "divergent barrier";
        case FaultKind::BarrierMisuse:
            return "misused barrier";
        case FaultKind::Deadlock:
            return "deadlock";
    }
    return "fault";
}

std::string Report::text() const {
    std::string line = "kernel " + kernel + ", block " + triple(block);
    if (has_thread) line += ", thread " + triple(thread);
    if (wave >= 0) line += ", wave " + std::to_string(wave);
    if (lane >= 0) line += ", lane " + std::to_string(lane);
    if (ptx_line > 0) line += ", ptx line " + std::to_string(ptx_line) + " (" + instruction + ")";
    if (code_address > 0) line += ", code address " + hexadecimal(code_address) + " (" + instruction + ")";
    if (source_line > 0) line += ", " + source_file + ":" + std::to_string(source_line);
    return line + ": " + fault_name(kind) + ": " + message;
}

std::string Report::json() const {
    std::string line = "{\"fault\": " + json_string(fault_name(kind)) + ", \"message\": " + json_string(message) +
                       ", \"kernel\": " + json_string(kernel) + ", \"block\": " + json_triple(block);
    if (has_thread) line += ", \"thread\": " + json_triple(thread);
    if (wave >= 0) line += ", \"wave\": " + std::to_string(wave);
    if (lane >= 0) line += ", \"lane\": " + std::to_string(lane);
    line += ", \"instruction\": " + json_string(instruction);
    if (ptx_line > 0) line += ", \"ptx_line\": " + std::to_string(ptx_line);
    if (code_address > 0) line += ", \"code_address\": " + json_string(hexadecimal(code_address));
    line += ", \"file\": " + json_string(source_file) + ", \"line\": " + std::to_string(source_line) + "}";
    return line;
}

std::string hexadecimal(uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string json_string(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
            quoted += escape;
        } else {
            quoted += c;
        }
    }
    return quoted + "\"";
}

}  // namespace emulated_gpu
