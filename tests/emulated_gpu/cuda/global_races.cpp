#include "tests/emulated_gpu/cuda/global_races.h"

#include <string>

#include "tests/emulated_gpu/common/report.h"

namespace emulated_gpu {
namespace {

[[noreturn]] void report_race(const char* access, uint64_t address, const char* earlier, uint32_t block, int line,
                              int lane) {
    throw Fault{FaultKind::GlobalRace,
                std::string(access) + " the byte at " + hexadecimal(address) + ", which block " +
                    std::to_string(block) + " of the grid " + earlier + " at ptx line " + std::to_string(line) +
                    ", with no order between the two",
                lane};
}

}  // namespace

GlobalRaces::Byte& GlobalRaces::byte_at(uint64_t address) {
    const uint64_t number = address / kPageBytes;
    if (number != recent_number_) {
        std::unique_ptr<Page>& page = pages_[number];
        if (!page) page = std::make_unique<Page>();
        recent_ = page.get();
        recent_number_ = number;
    }
    return (*recent_)[address % kPageBytes];
}

void GlobalRaces::read(uint64_t address, uint64_t bytes, const Access& by) {
    const auto block = static_cast<uint32_t>(by.block);
    for (uint64_t at = address; at < address + bytes; ++at) {
        Byte& byte = byte_at(at);
        const Event& written = byte.written;
        if (written.tick > by.clock[written.block] && written.block != block && !(by.relaxed && byte.relaxed)) {
            report_race("reads", at, "wrote", written.block, written.line, by.lane);
        }
        if (by.relaxed) continue;
        const Event event{block, by.clock[by.block], by.line};
        if (byte.read[0].tick != 0 && byte.read[0].block != block) byte.read[1] = byte.read[0];
        byte.read[0] = event;
    }
}

void GlobalRaces::write(uint64_t address, uint64_t bytes, const Access& by) {
    const auto block = static_cast<uint32_t>(by.block);
    for (uint64_t at = address; at < address + bytes; ++at) {
        Byte& byte = byte_at(at);
        const Event& written = byte.written;
        if (written.tick > by.clock[written.block] && written.block != block && !(by.relaxed && byte.relaxed)) {
            report_race("writes", at, "wrote", written.block, written.line, by.lane);
        }
        for (const Event& read : byte.read) {
            if (read.tick > by.clock[read.block] && read.block != block) {
                report_race("writes", at, "read", read.block, read.line, by.lane);
            }
        }
        byte = {{block, by.clock[by.block], by.line}, {}, by.relaxed};
    }
}

}  // namespace emulated_gpu
