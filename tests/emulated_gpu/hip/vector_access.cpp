// Loads, stores and atomics of vector registers, wherever their addresses come from.

#include "tests/emulated_gpu/hip/vector_access.h"

#include <algorithm>
#include <cmath>

#include "tests/emulated_gpu/hip/lane_math.h"

namespace emulated_gpu::hip {
namespace {

/// Where a generic address leads.
Space resolve(Space space, uint64_t& address, bool& lds) {
    lds = false;
    if (space != Space::Flat) return space;
    if (address - kLdsAperture < kApertureBytes) {
        address -= kLdsAperture;
        lds = true;
        return Space::Flat;
    }
    if (address - kPrivateAperture < kApertureBytes) {
        address -= kPrivateAperture;
        return Space::Scratch;
    }
    return Space::Global;
}

void read_lane(Step& step, VectorAccess& access, uint32_t lane, uint32_t bytes, uint8_t* data) {
    uint64_t address = access.address[lane];
    bool lds = false;
    const Space space = resolve(access.space, address, lds);
    if (lds) {
        std::memcpy(data, lds_bytes(step, static_cast<int>(lane), address, bytes, Access::Load), bytes);
        note_lds(step, lane, static_cast<uint32_t>(address), bytes, Access::Load);
        access.ranges.push_back({static_cast<uint32_t>(address), bytes, false});
        access.touches_lds = true;
    } else if (space == Space::Scratch) {
        read_scratch(step, lane, address & 0xffff'ffff, bytes, data);
    } else {
        std::memcpy(data, global_bytes(step, static_cast<int>(lane), address, bytes, Access::Load), bytes);
    }
}

void write_lane(Step& step, VectorAccess& access, uint32_t lane, uint32_t bytes, const uint8_t* data) {
    uint64_t address = access.address[lane];
    bool lds = false;
    const Space space = resolve(access.space, address, lds);
    if (lds) {
        std::memcpy(lds_bytes(step, static_cast<int>(lane), address, bytes, Access::Store), data, bytes);
        note_lds(step, lane, static_cast<uint32_t>(address), bytes, Access::Store);
        access.ranges.push_back({static_cast<uint32_t>(address), bytes, true});
        access.touches_lds = true;
    } else if (space == Space::Scratch) {
        write_scratch(step, lane, address & 0xffff'ffff, bytes, data);
    } else {
        std::memcpy(global_bytes(step, static_cast<int>(lane), address, bytes, Access::Store), data, bytes);
    }
}

/// Counted by vmcnt and, where it went to LDS, by lgkmcnt too. RDNA counts what returns nothing by itself.
void issue_vector(Step& step, VectorAccess& access, uint32_t registers) {
    const bool is_counted_apart = registers == 0 && step.launch.module.object.architecture.is_rdna();
    Pending pending;
    pending.kind = is_counted_apart ? Pending::Kind::VectorStore : Pending::Kind::VectorMemory;
    pending.first = step.op.result.index;
    pending.count = static_cast<uint16_t>(registers);
    if (access.touches_lds) {
        Pending in_lds;
        in_lds.kind = Pending::Kind::Lds;
        in_lds.ranges = std::move(access.ranges);
        issue(step, std::move(in_lds));
    }
    issue(step, std::move(pending));
}

void count(Step& step, const VectorAccess& access, bool store) {
    if (access.space == Space::Scratch || access.touches_lds || access.mask == 0) return;
    LaneAddresses addresses;
    addresses.mask = access.mask;
    addresses.address = access.address;
    addresses.bytes = step.op.bytes;
    count_global(step.launch.counters, addresses, store);
}

double smaller(double a, double b) {
    return std::isnan(a) || b < a ? b : a;
}
double larger(double a, double b) {
    return std::isnan(a) || b > a ? b : a;
}

template <class Read, class Write>
uint64_t add_halves(uint64_t old, uint64_t data, Read read, Write write) {
    uint64_t sum = 0;
    for (const uint32_t shift : {0U, 16U}) {
        const double both = double{read(static_cast<uint32_t>(old >> shift) & 0xffff)} +
                            double{read(static_cast<uint32_t>(data >> shift) & 0xffff)};
        sum |= uint64_t{write(static_cast<float>(both)) & 0xffff} << shift;
    }
    return sum;
}

uint64_t f32_bits(double value) {
    return std::bit_cast<uint32_t>(static_cast<float>(value));
}
double f32_of(uint64_t bits) {
    return double{std::bit_cast<float>(static_cast<uint32_t>(bits))};
}

}  // namespace

uint32_t registers_for(uint32_t bytes) {
    return (bytes + 3) / 4;
}

bool take_cache_modifiers(Decode& decode) {
    const bool returns = decode.take_flag("glc") || decode.take_flag("sc0");
    for (const char* name : {"slc", "nt", "sc1", "scc", "dlc", "scope"}) decode.take_flag(name);
    const std::string hint = decode.take_text("th").value_or("");  // RDNA4: temporal hint
    return returns || hint.find("RETURN") != std::string::npos;
}

void gather_bytes(const Step& step, size_t source, Format format, uint32_t bytes, uint32_t lane, uint8_t* data) {
    if (format == Format::Words) {
        for (uint32_t i = 0; i < bytes / 4; ++i) std::memcpy(data + 4 * i, vector_words(step, source, i) + lane, 4);
        return;
    }
    uint32_t word = vector_words(step, source)[lane];
    if (format == Format::U8High || format == Format::U16High) word >>= 16;
    std::memcpy(data, &word, bytes);
}

uint32_t extend(Format format, const uint8_t* data, uint32_t old) {
    uint16_t half = 0;
    uint32_t word = 0;
    switch (format) {
        case Format::Words:
            std::memcpy(&word, data, 4);
            return word;
        case Format::U8:
            return data[0];
        case Format::I8:
            return static_cast<uint32_t>(static_cast<int8_t>(data[0]));
        case Format::U16:
            std::memcpy(&half, data, 2);
            return half;
        case Format::I16:
            std::memcpy(&half, data, 2);
            return static_cast<uint32_t>(static_cast<int16_t>(half));
        case Format::U8Low:
            return (old & 0xffff0000) | data[0];
        case Format::I8Low:
            return (old & 0xffff0000) | static_cast<uint16_t>(static_cast<int8_t>(data[0]));
        case Format::U16Low:
            std::memcpy(&half, data, 2);
            return (old & 0xffff0000) | half;
        case Format::U8High:
            return (old & 0xffff) | uint32_t{data[0]} << 16;
        case Format::I8High:
            return (old & 0xffff) | static_cast<uint32_t>(static_cast<int8_t>(data[0])) << 16;
        case Format::U16High:
            std::memcpy(&half, data, 2);
            return (old & 0xffff) | uint32_t{half} << 16;
    }
    return 0;
}

void put_loaded(const Step& step, Format format, uint32_t bytes, const uint8_t (*data)[16]) {
    Lanes32 out;
    for (uint32_t part = 0; part < registers_for(bytes); ++part) {
        const uint32_t index = step.op.result.index + part;
        const uint32_t* old = step.wave.vector[index].at;
        for (uint32_t lane = 0; lane < kLanes; ++lane) out.at[lane] = extend(format, data[lane] + 4 * part, old[lane]);
        step.put_raw(index, out.at, step.exec);
    }
}

void load_vector(Step& step, VectorAccess& access) {
    alignas(64) uint8_t data[kLanes][16];
    for_lanes(access.zeros, [&](uint32_t lane) { std::memset(data[lane], 0, 16); });
    for_lanes(access.mask, [&](uint32_t lane) { read_lane(step, access, lane, step.op.bytes, data[lane]); });
    for_lanes(~(access.mask | access.zeros), [&](uint32_t lane) { std::memset(data[lane], 0, 16); });
    put_loaded(step, format_of(step.op), step.op.bytes, data);
    count(step, access, false);
    issue_vector(step, access, registers_for(step.op.bytes));
}

void store_vector(Step& step, VectorAccess& access) {
    const size_t source = step.op.source_count - 1U;
    if (access.space != Space::Scratch) step.require_known(step.known(source, registers_for(step.op.bytes)), "stored");
    for_lanes(access.mask, [&](uint32_t lane) {
        uint8_t data[16];
        gather_bytes(step, source, format_of(step.op), step.op.bytes, lane, data);
        write_lane(step, access, lane, step.op.bytes, data);
    });
    count(step, access, true);
    issue_vector(step, access, 0);
}

void load_to_lds(Step& step, VectorAccess& access, uint32_t lds_base) {
    Pending pending;
    pending.kind = Pending::Kind::VectorMemory;
    const uint32_t apart = std::max(step.op.bytes, 4U);
    for_lanes(access.mask | access.zeros, [&](uint32_t lane) {
        LdsCopy copy;
        copy.lane = lane;
        copy.offset = lds_base + lane * apart;
        copy.bytes = step.op.bytes;
        copy.address = access.address[lane];
        copy.zeros = ((access.zeros >> lane) & 1) != 0;
        lds_bytes(step, static_cast<int>(lane), copy.offset, apart, Access::Store);
        if (!copy.zeros) global_bytes(step, static_cast<int>(lane), copy.address, copy.bytes, Access::Load);
        if (step.group.shadow != nullptr) {
            step.group.shadow->issue_copy(copy.offset, copy.bytes, step.wave.index, step.wave.clock, step.line(),
                                          static_cast<int>(lane));
        }
        pending.copies.push_back(copy);
    });
    step.launch.counters.direct_to_lds_bytes += pending.copies.size() * step.op.bytes;
    count(step, access, false);
    issue(step, std::move(pending));
}

uint64_t apply_atomic(AtomicKind kind, uint32_t bytes, uint64_t old, uint64_t data, uint64_t compare) {
    const uint32_t up = 64 - 8 * bytes;
    const auto signed_less = [up](uint64_t a, uint64_t b) {
        return static_cast<int64_t>(a << up) < static_cast<int64_t>(b << up);
    };
    const double old_f64 = std::bit_cast<double>(old);
    const double data_f64 = std::bit_cast<double>(data);
    switch (kind) {
        case AtomicKind::Swap:
            return data;
        case AtomicKind::CompareSwap:
            return old == compare ? data : old;
        case AtomicKind::CompareSwapF32:
            return f32_of(old) == f32_of(compare) ? data : old;
        case AtomicKind::Add:
            return old + data;
        case AtomicKind::Subtract:
            return old - data;
        case AtomicKind::ReverseSubtract:
            return data - old;
        case AtomicKind::SignedMin:
            return signed_less(data, old) ? data : old;
        case AtomicKind::UnsignedMin:
            return std::min(old, data);
        case AtomicKind::SignedMax:
            return signed_less(old, data) ? data : old;
        case AtomicKind::UnsignedMax:
            return std::max(old, data);
        case AtomicKind::And:
            return old & data;
        case AtomicKind::Or:
            return old | data;
        case AtomicKind::Xor:
            return old ^ data;
        case AtomicKind::MaskedOr:
            return (old & ~compare) | data;
        case AtomicKind::Increment:
            return old >= data ? 0 : old + 1;
        case AtomicKind::Decrement:
            return old == 0 || old > data ? data : old - 1;
        case AtomicKind::AddF32:
            return f32_bits(f32_of(old) + f32_of(data));
        case AtomicKind::MinF32:
            return f32_bits(smaller(f32_of(old), f32_of(data)));
        case AtomicKind::MaxF32:
            return f32_bits(larger(f32_of(old), f32_of(data)));
        case AtomicKind::AddF64:
            return std::bit_cast<uint64_t>(old_f64 + data_f64);
        case AtomicKind::MinF64:
            return std::bit_cast<uint64_t>(smaller(old_f64, data_f64));
        case AtomicKind::MaxF64:
            return std::bit_cast<uint64_t>(larger(old_f64, data_f64));
        case AtomicKind::PackedAddF16:
            return add_halves(old, data, half_to_float, float_to_half);
        case AtomicKind::PackedAddBf16:
            return add_halves(old, data, bf16_to_float, float_to_bf16);
        case AtomicKind::ConditionalSubtract:
            return old >= data ? old - data : old;
        case AtomicKind::SubtractToZero:
            return old >= data ? old - data : 0;
    }
    return old;
}

void atomic_vector(Step& step, VectorAccess& access) {
    const size_t source = step.op.source_count - 1U;
    const AtomicKind kind = atomic_of(step.op);
    const uint32_t bytes = step.op.bytes;
    const bool compares = kind == AtomicKind::CompareSwap;
    const bool returns = (step.op.detail & kReturnsOld) != 0;
    step.require_known(step.known(source, bytes / 4 * (compares ? 2 : 1)), "used by an atomic");
    alignas(64) uint8_t old_values[kLanes][16] = {};
    for_lanes(access.mask, [&](uint32_t lane) {
        uint8_t values[16] = {};
        gather_bytes(step, source, Format::Words, bytes * (compares ? 2 : 1), lane, values);
        uint64_t data = 0;
        uint64_t compare = 0;
        uint64_t old = 0;
        std::memcpy(&data, values, bytes);
        std::memcpy(&compare, values + bytes, bytes);
        uint64_t address = access.address[lane];
        bool lds = false;
        const Space space = resolve(access.space, address, lds);
        if (space == Space::Scratch) throw Fault{FaultKind::IllegalAddress, "an atomic of private memory"};
        uint8_t* at = lds ? lds_bytes(step, static_cast<int>(lane), address, bytes, Access::Atomic)
                          : global_bytes(step, static_cast<int>(lane), address, bytes, Access::Atomic);
        if (lds) {
            note_lds(step, lane, static_cast<uint32_t>(address), bytes, Access::Atomic);
            access.ranges.push_back({static_cast<uint32_t>(address), bytes, true});
            access.touches_lds = true;
        }
        std::memcpy(&old, at, bytes);
        std::memcpy(old_values[lane], &old, bytes);
        const uint64_t now = apply_atomic(kind, bytes, old, data, compare);
        std::memcpy(at, &now, bytes);
    });
    if (returns) put_loaded(step, Format::Words, bytes, old_values);
    count(step, access, true);
    issue_vector(step, access, returns ? bytes / 4 : 0);
}

}  // namespace emulated_gpu::hip
