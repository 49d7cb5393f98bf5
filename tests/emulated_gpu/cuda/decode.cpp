#include "tests/emulated_gpu/cuda/decode.h"

#include <algorithm>

namespace emulated_gpu {
namespace {

const std::map<std::string, SpecialRegister> kSpecials = {
    {"%tid.x", SpecialRegister::TidX},
    {"%tid.y", SpecialRegister::TidY},
    {"%tid.z", SpecialRegister::TidZ},
    {"%ntid.x", SpecialRegister::NtidX},
    {"%ntid.y", SpecialRegister::NtidY},
    {"%ntid.z", SpecialRegister::NtidZ},
    {"%ctaid.x", SpecialRegister::CtaidX},
    {"%ctaid.y", SpecialRegister::CtaidY},
    {"%ctaid.z", SpecialRegister::CtaidZ},
    {"%nctaid.x", SpecialRegister::NctaidX},
    {"%nctaid.y", SpecialRegister::NctaidY},
    {"%nctaid.z", SpecialRegister::NctaidZ},
    {"%laneid", SpecialRegister::LaneId},
    {"%warpid", SpecialRegister::WarpId},
    {"%nwarpid", SpecialRegister::NwarpId},
    {"%smid", SpecialRegister::SmId},
    {"%nsmid", SpecialRegister::NsmId},
    {"%gridid", SpecialRegister::GridId},
    {"%lanemask_eq", SpecialRegister::LanemaskEq},
    {"%lanemask_le", SpecialRegister::LanemaskLe},
    {"%lanemask_lt", SpecialRegister::LanemaskLt},
    {"%lanemask_ge", SpecialRegister::LanemaskGe},
    {"%lanemask_gt", SpecialRegister::LanemaskGt},
    {"%total_smem_size", SpecialRegister::TotalSharedSize},
    {"%dynamic_smem_size", SpecialRegister::DynamicSharedSize},
    {"%cluster_ctaid.x", SpecialRegister::ClusterCtaidX},
    {"%cluster_ctaid.y", SpecialRegister::ClusterCtaidY},
    {"%cluster_ctaid.z", SpecialRegister::ClusterCtaidZ},
    {"%cluster_nctaid.x", SpecialRegister::ClusterNctaidX},
    {"%cluster_nctaid.y", SpecialRegister::ClusterNctaidY},
    {"%cluster_nctaid.z", SpecialRegister::ClusterNctaidZ},
    {"%clusterid.x", SpecialRegister::ClusterIdX},
    {"%clusterid.y", SpecialRegister::ClusterIdY},
    {"%clusterid.z", SpecialRegister::ClusterIdZ},
    {"%nclusterid.x", SpecialRegister::NclusterIdX},
    {"%nclusterid.y", SpecialRegister::NclusterIdY},
    {"%nclusterid.z", SpecialRegister::NclusterIdZ},
    {"%cluster_ctarank", SpecialRegister::ClusterCtarank},
    {"%cluster_nctarank", SpecialRegister::ClusterNctarank},
    {"%is_explicit_cluster", SpecialRegister::IsExplicitCluster},
};

}  // namespace

Decode::Decode(LoadedFunction& function, const SymbolTable& symbols, const Instruction& instruction, Op& op)
    : function_(function),
      symbols_(symbols),
      instruction_(instruction),
      op_(op),
      taken_(instruction.modifiers.size()) {}

bool Decode::has(const std::string& modifier) const {
    for (size_t i = 0; i < taken_.size(); ++i) {
        if (!taken_[i] && instruction_.modifiers[i] == modifier) return true;
    }
    return false;
}

bool Decode::accept(const std::string& modifier) {
    for (size_t i = 0; i < taken_.size(); ++i) {
        if (taken_[i] || instruction_.modifiers[i] != modifier) continue;
        taken_[i] = true;
        return true;
    }
    return false;
}

void Decode::expect(const std::string& modifier) {
    if (!accept(modifier)) fail("'" + instruction_.text + "' lacks '." + modifier + "'");
}

bool Decode::has_type() const {
    for (size_t i = 0; i < taken_.size(); ++i) {
        if (!taken_[i] && type_named(instruction_.modifiers[i]) != Type::None) return true;
    }
    return false;
}

Type Decode::type() {
    for (size_t i = 0; i < taken_.size(); ++i) {
        const Type type = taken_[i] ? Type::None : type_named(instruction_.modifiers[i]);
        if (type == Type::None) continue;
        taken_[i] = true;
        return type;
    }
    fail("'" + instruction_.text + "' lacks a type");
}

int Decode::vector() {
    if (accept("v2")) return 2;
    if (accept("v4")) return 4;
    return 1;
}

bool Decode::rounding(Rounding& rounding) {
    static const std::pair<const char*, Rounding> kNames[] = {
        {"rn", Rounding::NearestEven}, {"rz", Rounding::Zero},         {"rm", Rounding::Down},
        {"rp", Rounding::Up},          {"rni", Rounding::NearestEven}, {"rzi", Rounding::Zero},
        {"rmi", Rounding::Down},       {"rpi", Rounding::Up},          {"rna", Rounding::NearestAway}};
    for (const auto& [name, direction] : kNames) {
        if (!accept(name)) continue;
        rounding = direction;
        return true;
    }
    return false;
}

void Decode::cache_hints() {
    for (const char* hint : {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last",
                             "L1::no_allocate", "L2::evict_normal", "L2::evict_first", "L2::evict_last", "L2::64B",
                             "L2::128B", "L2::256B", "ca", "cg", "cs", "lu", "cv", "wb", "wt"}) {
        accept(hint);
    }
    if (accept("L2::cache_hint")) {
        if (instruction_.operands.empty()) fail("a cache policy expected");
        has_policy_ = true;
    }
}

void Decode::needs(int capability, bool arch_specific) const {
    const Module& module = *symbols_.module;
    if (module.capability >= capability && (!arch_specific || module.arch_specific)) return;
    fail("'" + instruction_.text + "' needs target sm_" + std::to_string(capability) + (arch_specific ? "a" : "") +
         ", not " + module.target);
}

void Decode::expect_operands(size_t least, size_t most) {
    if (count() >= least && count() <= most) return;
    fail("'" + instruction_.text + "' does not take " + std::to_string(count()) + " operands");
}

void Decode::result(const Operand& operand) {
    if (op_.result_count >= kMostResults) fail("too many results");
    uint32_t slot = function_.sink;
    if (operand.kind == Operand::Kind::Register) {
        slot = static_cast<uint32_t>(operand.index);
        if (op_.result_count == 0) {
            op_.result_bits = static_cast<uint8_t>(type_bits(function_.source->registers[slot].type));
        }
    } else if (operand.kind != Operand::Kind::Discard) {
        fail("'" + instruction_.text + "' writes to registers only");
    }
    op_.results[op_.result_count++] = slot;
}

void Decode::source(const Operand& operand, Type type, bool strict) {
    if (op_.source_count >= kMostSources) fail("too many sources");
    if (operand.negated) op_.negated |= 1U << op_.source_count;
    if (strict) op_.strict |= 1U << op_.source_count;
    op_.sources[op_.source_count++] = slot_of(operand, type);
}

void Decode::address(const Operand& operand) {
    if (operand.kind != Operand::Kind::Address) fail("an address in brackets expected");
    op_.offset = operand.integer;
    if (!operand.parts.empty()) return source(operand.parts[0], Type::B64, true);
    op_.sources[op_.source_count++] = constant_slot(0);
}

void Decode::results_of(const Operand& operand) {
    if (operand.kind != Operand::Kind::Vector) return result(operand);
    for (const Operand& part : operand.parts) result(part);
}

void Decode::sources_of(const Operand& operand, Type type, bool strict) {
    if (operand.kind != Operand::Kind::Vector) return source(operand, type, strict);
    for (const Operand& part : operand.parts) source(part, type, strict);
}

int64_t Decode::constant(const Operand& operand) const {
    if (operand.kind != Operand::Kind::Integer) fail("an integer constant expected");
    return operand.integer;
}

uint32_t Decode::constant_slot(uint64_t bits) {
    for (const auto& [slot, value] : function_.constants) {
        if (value == bits) return slot;
    }
    function_.constants.emplace_back(function_.slot_count, bits);
    return function_.slot_count++;
}

uint32_t Decode::slot_of(const Operand& operand, Type type) {
    const int bits = type_bits(type);
    switch (operand.kind) {
        case Operand::Kind::Register:
            return static_cast<uint32_t>(operand.index);
        case Operand::Kind::Special:
            return special_slot(operand);
        case Operand::Kind::Integer:
            if (type == Type::Predicate) return constant_slot(operand.integer != 0);
            return constant_slot(low_bits(static_cast<uint64_t>(operand.integer), bits));
        case Operand::Kind::Float: {
            auto raw = static_cast<uint64_t>(operand.integer);
            if (operand.is_double && bits == 32) raw = std::bit_cast<uint32_t>(static_cast<float>(as_f64(raw)));
            if (!operand.is_double && bits == 64) raw = std::bit_cast<uint64_t>(static_cast<double>(as_f32(raw)));
            return constant_slot(raw);
        }
        case Operand::Kind::Symbol:
            return symbol_slot(operand);
        case Operand::Kind::Address:
        case Operand::Kind::Vector:
        case Operand::Kind::Label:
        case Operand::Kind::Discard:
        case Operand::Kind::Paired:
            break;
    }
    fail("'" + instruction_.text + "' cannot read this operand");
}

uint32_t Decode::local_slot(uint64_t offset) {
    for (const auto& [slot, value] : function_.local_addresses) {
        if (value == offset) return slot;
    }
    function_.local_addresses.emplace_back(function_.slot_count, offset);
    return function_.slot_count++;
}

uint32_t Decode::symbol_slot(const Operand& operand) {
    const auto addend = static_cast<uint64_t>(operand.integer);
    const std::string& name = operand.name;
    if (const auto found = function_.locals.find(name); found != function_.locals.end()) {
        return local_slot(found->second.offset + addend);
    }
    if (const auto found = function_.parameters.find(name); found != function_.parameters.end()) {
        return constant_slot(found->second.offset + addend);
    }
    if (const auto found = symbols_.shared_offsets->find(name); found != symbols_.shared_offsets->end()) {
        return constant_slot(found->second + addend);
    }
    if (const auto found = symbols_.variables->find(name); found != symbols_.variables->end()) {
        return constant_slot(found->second.offset + addend);
    }
    if (symbols_.functions->contains(name)) refuse("the address of a function");
    fail("there is no variable '" + name + "'");
}

uint32_t Decode::special_slot(const Operand& operand) {
    SpecialRegister which = SpecialRegister::Zero;
    if (const auto found = kSpecials.find(operand.name); found != kSpecials.end()) {
        which = found->second;
    } else if (!operand.name.starts_with("%envreg")) {
        refuse("the register '" + operand.name + "'");
    }
    for (const auto& [slot, value] : function_.specials) {
        if (value == which) return slot;
    }
    function_.specials.emplace_back(function_.slot_count, which);
    return function_.slot_count++;
}

void Decode::fail(const std::string& message) const {
    throw PtxError(instruction_.position, message);
}

void Decode::refuse(const std::string& what) const {
    const std::string of = what.empty() ? "" : what + " of ";
    throw PtxError(instruction_.position,
                   "tests/emulated_gpu: " + of + "'" + instruction_.text + "' is not emulated yet");
}

void Decode::finish() const {
    for (size_t i = 0; i < taken_.size(); ++i) {
        if (!taken_[i]) refuse("'." + instruction_.modifiers[i] + "'");
    }
}

const std::map<std::string, Decoder>& all_decoders() {
    static const std::map<std::string, Decoder> decoders = [] {
        std::map<std::string, Decoder> all;
        add_integer_decoders(all);
        add_logic_decoders(all);
        add_compare_decoders(all);
        add_float_decoders(all);
        add_conversion_decoders(all);
        add_memory_decoders(all);
        add_atomic_decoders(all);
        add_matrix_decoders(all);
        add_warp_decoders(all);
        add_control_decoders(all);
        add_barrier_decoders(all);
        add_memory_barrier_decoders(all);
        add_warpgroup_decoders(all);
        add_cluster_decoders(all);
        return all;
    }();
    return decoders;
}

}  // namespace emulated_gpu
