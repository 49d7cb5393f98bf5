// Warpgroup-level matrix instructions: PTX ISA, chapter "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
// Instructions", and setmaxnreg. Four warps multiply together; each has 16 rows of A and D.

#include <algorithm>
#include <cmath>

#include "tests/emulated_gpu/cuda/lanewise.h"
#include "tests/emulated_gpu/cuda/matrix_elements.h"
#include "tests/emulated_gpu/cuda/memory_access.h"
#include "tests/emulated_gpu/cuda/shared_matrix.h"

namespace emulated_gpu {
namespace {

constexpr uint32_t kWarpsTogether = 4;
constexpr int kRowsOfWarp = 16;
constexpr size_t kMostColumns = 256;
constexpr uint64_t kChunkBytes = 16;

/// The shape of what one warp multiplies.
MatrixShape of_warp(const MatrixShape& shape) {
    MatrixShape part = shape;
    part.m = kRowsOfWarp;
    return part;
}
size_t chunk_elements(Type type) {
    return static_cast<size_t>(128 / type_bits(type));
}

/// Calls `visit(offset, row, chunk)` for each chunk of a matrix of `extent` rows from `first` on and `k` elements
/// (K-major), or `k` rows and `extent` elements (MN-major).
template <class Visit>
void for_chunks(const SharedMatrix& matrix, bool k_major, Type type, size_t first, size_t extent, size_t k,
                Visit&& visit) {
    const size_t per_chunk = chunk_elements(type);
    const size_t rows = k_major ? extent : k;
    const size_t first_row = k_major ? first : 0;
    const size_t chunks = (k_major ? k : extent) / per_chunk;
    const size_t first_chunk = k_major ? 0 : first / per_chunk;
    for (size_t row = first_row; row < first_row + rows; ++row) {
        for (size_t c = first_chunk; c < first_chunk + chunks; ++c) visit(matrix.chunk(k_major, row, c), row, c);
    }
}

void check_descriptor(const SharedMatrix& matrix, const char* name) {
    if (matrix.reserved_bits_set) {
        throw Fault{FaultKind::BadDescriptor, std::string("reserved bits of the descriptor of ") + name + " are set"};
    }
    if (matrix.base_offset != 0) {
        throw Fault{FaultKind::BadDescriptor, std::string("tests/emulated_gpu: the base offset in the descriptor of ") +
                                                  name + " is not emulated yet"};
    }
}

/// Checks and notes the reads of one matrix in shared memory.
void note_reads(Step& step, const SharedMatrix& matrix, bool k_major, Type type, size_t first, size_t extent,
                const char* name) {
    const auto k = static_cast<size_t>(step.op.matrix.k);
    const SharedShadow::AsyncRead read{step.warp.agent,
                                       step.warp.clock,
                                       step.warp.proxied,
                                       step.block.cluster.products_agent(step.block, step.warp),
                                       step.warp.products.committed + 1,
                                       step.line(),
                                       -1};
    for_chunks(matrix, k_major, type, first, extent, k, [&](uint64_t offset, size_t, size_t) {
        if (offset + kChunkBytes > step.block.shared.size()) {
            throw Fault{FaultKind::IllegalAddress,
                        std::string("the descriptor of ") + name + " leads to byte " + std::to_string(offset) +
                            " of the block's " + std::to_string(step.block.shared.size()) + " bytes of shared memory"};
        }
        if (step.block.shadow) step.block.shadow->read_asynchronously(offset, kChunkBytes, read);
    });
}

std::string register_name(const Step& step, uint32_t slot) {
    return step.frame.function->source->registers[slot].name;
}

/// Whether a product under way accumulates into exactly the same registers: then the order of both is defined.
bool same_accumulators(const Step& step, uint32_t slot) {
    for (const PendingProduct& other : step.warp.products.pending) {
        const auto& theirs = other.op->accumulators;
        if (other.frame.get() != &step.frame || std::find(theirs.begin(), theirs.end(), slot) == theirs.end()) continue;
        if (theirs != step.op.accumulators || other.op->matrix.n != step.op.matrix.n) return false;
    }
    return true;
}

void check_registers(const Step& step, size_t a_registers, bool adds) {
    if (!step.launch.options.check_registers) return;
    if (!step.warp.products.fenced) {
        throw Fault{FaultKind::MissingFence, "the first wgmma.mma_async of a warp needs a wgmma.fence before it"};
    }
    const auto check_fenced = [&](uint32_t slot) {
        if (step.frame.unfenced[slot] == 0) return;
        throw Fault{FaultKind::MissingFence, "register " + register_name(step, slot) +
                                                 " was written with no wgmma.fence between that and this instruction"};
    };
    for (size_t i = 0; i < a_registers; ++i) {
        const uint32_t slot = step.op.sources[i];
        check_fenced(slot);
        if (step.frame.in_flight[slot] & kAccumulates) {
            throw Fault{FaultKind::RegisterNotWaitedFor, "reads register " + register_name(step, slot) +
                                                             ", an accumulator of a wgmma.mma_async not waited for"};
        }
        if (step.ready(i) != kAllLanes) {
            throw Fault{FaultKind::UninitialisedRegister,
                        "register " + register_name(step, slot) + " of A was never written"};
        }
    }
    for (const uint32_t slot : step.op.accumulators) {
        if (slot == step.frame.function->sink) continue;
        check_fenced(slot);
        if (step.frame.in_flight[slot] & kReadInFlight || !same_accumulators(step, slot)) {
            throw Fault{FaultKind::RegisterNotWaitedFor,
                        "accumulates into register " + register_name(step, slot) +
                            ", which a wgmma.mma_async of another shape uses that has not been waited for"};
        }
        if (adds && step.frame.in_flight[slot] == 0 && step.frame.initialised[slot] != kAllLanes) {
            throw Fault{FaultKind::UninitialisedRegister,
                        "accumulates into register " + register_name(step, slot) + ", which was never written"};
        }
    }
}

uint64_t uniform_value(const Step& step, size_t source, const char* what) {
    const uint64_t* values = step.source(source);
    for (int lane = 1; lane < kLanes; ++lane) {
        if (values[lane] == values[0]) continue;
        throw Fault{FaultKind::BarrierMisuse, std::string(what) + " of a wgmma differs between lanes", lane};
    }
    return values[0];
}

bool whole_warp(Step& step) {
    if (!gathered(step, kAllLanes)) return false;
    if (step.mask == kAllLanes) return true;
    throw Fault{FaultKind::DivergentBarrier, "'" + step.op.instruction->text + "' needs all 32 lanes of the warp"};
}

void check_warpgroup(const Step& step) {
    if (step.warp.index / kWarpsTogether * kWarpsTogether + kWarpsTogether <= step.block.warps.size()) return;
    throw Fault{FaultKind::BarrierMisuse, "'" + step.op.instruction->text +
                                              "' needs a warpgroup of four warps, but warp " +
                                              std::to_string(step.warp.index) + " is in one of fewer"};
}

/// Sources: A (registers or a descriptor), the descriptor of B, and whether to add to D.
Flow issue_product(Step& step) {
    if (!whole_warp(step)) return Flow::Blocked;
    check_warpgroup(step);
    const MatrixShape& shape = step.op.matrix;
    const size_t a_sources = shape.a_in_registers ? 4 : 1;
    PendingProduct product;
    product.op = &step.op;
    product.frame = step.group.frame;
    product.group = step.warp.products.committed;
    product.adds = ((uniform_value(step, a_sources + 1, "scale-d") ^ (step.op.negated >> (a_sources + 1))) & 1) != 0;
    product.b = uniform_value(step, a_sources, "the descriptor of B");
    check_registers(step, shape.a_in_registers ? a_sources : 0, product.adds);
    if (!shape.a_in_registers) {
        product.a = uniform_value(step, 0, "the descriptor of A");
        const SharedMatrix a(product.a);
        check_descriptor(a, "A");
        note_reads(step, a, !shape.transposes_a, shape.a, step.warp.index % kWarpsTogether * kRowsOfWarp, kRowsOfWarp,
                   "A");
    }
    const SharedMatrix b(product.b);
    check_descriptor(b, "B");
    note_reads(step, b, !shape.transposes_b, shape.b, 0, static_cast<size_t>(shape.n), "B");
    for (size_t i = 0; i < (shape.a_in_registers ? a_sources : 0); ++i) {
        step.frame.in_flight[step.op.sources[i]] |= kReadInFlight;
    }
    for (const uint32_t slot : step.op.accumulators) step.frame.in_flight[slot] |= kAccumulates;
    step.warp.products.pending.push_back(std::move(product));
    step.block.cluster.signal();  // other warps of the four may wait for this
    Counters& counters = step.launch.counters;
    ++counters.matrix_operations;
    counters.matrix_multiply_adds += static_cast<uint64_t>(kRowsOfWarp * shape.n * shape.k);
    return Flow::Next;
}

/// A of one warp and B of all, and their product.
template <class T>
struct Product {
    const MatrixShape& shape;
    std::vector<T> b;  // [k][n]
    std::vector<T> a;  // [row][k]

    explicit Product(const MatrixShape& of) : shape(of) {}

    std::vector<T> read(const Block& block, uint64_t descriptor, bool k_major, Type type, size_t first, size_t extent,
                        bool k_first, bool negated) const {
        const auto k = static_cast<size_t>(shape.k);
        const size_t per_chunk = chunk_elements(type);
        std::vector<T> matrix(extent * k);
        for_chunks(
            SharedMatrix(descriptor), k_major, type, first, extent, k, [&](uint64_t offset, size_t row, size_t c) {
                std::array<T, 128> values;
                decode_chunk(type, block.shared.data() + offset, values.data());
                for (size_t i = 0; i < per_chunk; ++i) {
                    const size_t along_k = k_major ? c * per_chunk + i : row;
                    const size_t other = (k_major ? row : c * per_chunk + i) - first;
                    matrix[k_first ? along_k * extent + other : other * k + along_k] = negated ? -values[i] : values[i];
                }
            });
        return matrix;
    }

    void read_b(const Block& block, const PendingProduct& product) {
        b = read(block, product.b, !shape.transposes_b, shape.b, 0, static_cast<size_t>(shape.n), true,
                 shape.negates_b);
    }
    void read_a(const Block& block, const PendingProduct& product, uint32_t warp) {
        if (shape.a_in_registers) return read_a_registers(product);
        a = read(block, product.a, !shape.transposes_a, shape.a, warp % kWarpsTogether * kRowsOfWarp, kRowsOfWarp,
                 false, shape.negates_a);
    }
    void read_a_registers(const PendingProduct& product) {
        const MatrixShape part = of_warp(shape);
        const auto k = static_cast<size_t>(shape.k);
        a.assign(kRowsOfWarp * k, T{});
        for (int r = 0; r < registers_a(part); ++r) {
            const uint64_t* bits = product.frame->lanes(product.op->sources[static_cast<size_t>(r)]);
            for (int lane = 0; lane < kLanes; ++lane) {
                for (int i = 0; i < per_register(shape.a); ++i) {
                    const MatrixPlace at = fragment_a(part, lane, r, i);
                    const T value = element<T>(shape.a, bits[lane], i);
                    a[static_cast<size_t>(at.row) * k + static_cast<size_t>(at.column)] =
                        shape.negates_a ? -value : value;
                }
            }
        }
    }
    void row(size_t index, std::array<T, kMostColumns>& sums) const {
        const auto n = static_cast<size_t>(shape.n);
        const auto k = static_cast<size_t>(shape.k);
        std::fill_n(sums.begin(), n, T{});
        for (size_t i = 0; i < k; ++i) {
            const T left = a[index * k + i];
            const T* right = b.data() + i * n;
            if constexpr (std::is_same_v<T, double>) {
                for (size_t column = 0; column < n; ++column) sums[column] += left * right[column];
            } else if (shape.a == Type::B1) {
                for (size_t column = 0; column < n; ++column) sums[column] += left & right[column];
            } else {
                for (size_t column = 0; column < n; ++column) sums[column] += left * right[column];
            }
        }
    }
};

uint64_t finish(const MatrixShape& shape, uint64_t old, double sum) {
    if (shape.d == Type::F16) {
        return encode_float(f16_values()[old & 0xffff] + sum, kF16, Rounding::NearestEven);
    }
    const double total = as_f32(old) + sum;
    return std::isnan(total) ? 0x7fffffffU : std::bit_cast<uint32_t>(static_cast<float>(total));
}
uint64_t finish(const MatrixShape& shape, uint64_t old, int64_t sum) {
    const int64_t total = static_cast<int32_t>(old) + sum;
    return static_cast<uint32_t>(shape.saturate ? std::clamp<int64_t>(total, INT32_MIN, INT32_MAX) : total);
}

/// D of one warp. Products are exact and their sum is rounded once, as for mma.sync.
template <class T>
void accumulate(const PendingProduct& product, const Product<T>& values) {
    const MatrixShape& shape = product.op->matrix;
    const bool packed = shape.d == Type::F16;
    std::array<T, kMostColumns> sums;
    for (size_t row = 0; row < kRowsOfWarp; ++row) {
        values.row(row, sums);
        for (size_t column = 0; column < static_cast<size_t>(shape.n); ++column) {
            // Element j of a lane: two neighbouring columns, the same 8 rows below, then the next 8 columns.
            const size_t lane = row % 8 * 4 + column % 8 / 2;
            const size_t j = column / 8 * 4 + row / 8 * 2 + column % 2;
            const int shift = packed ? static_cast<int>(16 * (j % 2)) : 0;
            uint64_t& bits = product.frame->lanes(product.op->accumulators[packed ? j / 2 : j])[lane];
            const uint64_t old = product.adds ? bits >> shift : 0;
            const uint64_t value = finish(shape, old, sums[column]);
            bits = packed ? (bits & ~(uint64_t{0xffff} << shift)) | (value << shift) : value;
        }
    }
}

template <class T>
void compute(Block& block, const std::array<PendingProduct*, kWarpsTogether>& parts, uint32_t first_warp) {
    Product<T> values(parts[0]->op->matrix);
    values.read_b(block, *parts[0]);
    for (uint32_t i = 0; i < kWarpsTogether; ++i) {
        values.read_a(block, *parts[i], first_warp + i);
        accumulate(*parts[i], values);
        for (const uint32_t slot : parts[i]->op->accumulators) parts[i]->frame->initialised[slot] = kAllLanes;
        parts[i]->computed = true;
    }
}

/// Computes product `number` of the four warps.
void compute_together(Block& block, uint32_t first_warp, uint64_t number) {
    std::array<PendingProduct*, kWarpsTogether> parts{};
    for (uint32_t i = 0; i < kWarpsTogether; ++i) {
        WarpProducts& products = block.warps[first_warp + i].products;
        parts[i] = &products.pending[static_cast<size_t>(number - products.first)];
        if (parts[i]->op == parts[0]->op && parts[i]->b == parts[0]->b && parts[i]->a == parts[0]->a) continue;
        throw Fault{FaultKind::BarrierMisuse,
                    "the warps of a warpgroup execute different wgmma.mma_async: warp " + std::to_string(first_warp) +
                        " at ptx line " + std::to_string(parts[0]->op->instruction->position.line) + ", warp " +
                        std::to_string(first_warp + i) + " at ptx line " +
                        std::to_string(parts[i]->op->instruction->position.line) + ", or with other descriptors"};
    }
    if (is_float(parts[0]->op->matrix.a))
        compute<double>(block, parts, first_warp);
    else
        compute<int64_t>(block, parts, first_warp);
}

/// Registers are free again once no product under way uses them.
void forget_products(WarpProducts& products, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        auto& in_flight = products.pending[i].frame->in_flight;
        std::fill(in_flight.begin(), in_flight.end(), uint8_t{0});
    }
    products.pending.erase(products.pending.begin(), products.pending.begin() + static_cast<ptrdiff_t>(count));
    products.first += count;
    for (const PendingProduct& product : products.pending) {
        for (const uint32_t slot : product.op->accumulators) product.frame->in_flight[slot] |= kAccumulates;
        if (!product.op->matrix.a_in_registers) continue;
        for (size_t i = 0; i < 4; ++i) product.frame->in_flight[product.op->sources[i]] |= kReadInFlight;
    }
}

/// As late as is legal: products are computed when the first of the four warps waits for them.
Flow wait_for_products(Step& step) {
    if (!whole_warp(step)) return Flow::Blocked;
    check_warpgroup(step);
    WarpProducts& products = step.warp.products;
    const auto keep = static_cast<uint32_t>(step.op.detail);
    size_t count = 0;
    while (count < products.pending.size() && products.pending[count].group + keep < products.committed) ++count;
    const uint32_t first_warp = step.warp.index / kWarpsTogether * kWarpsTogether;
    for (uint32_t i = 0; i < kWarpsTogether; ++i) {
        if (step.block.warps[first_warp + i].products.issued() < products.first + count) return await_event(step);
    }
    for (size_t i = 0; i < count; ++i) {
        if (!products.pending[i].computed) compute_together(step.block, first_warp, products.first + i);
    }
    forget_products(products, count);
    uint32_t& known = step.warp.clock[step.block.cluster.products_agent(step.block, step.warp)];
    known = std::max(known, products.committed - std::min(products.committed, keep));
    return Flow::Next;
}

Flow commit_products(Step& step) {
    if (!whole_warp(step)) return Flow::Blocked;
    check_warpgroup(step);
    ++step.warp.products.committed;
    return Flow::Next;
}

Flow fence_registers(Step& step) {
    if (!whole_warp(step)) return Flow::Blocked;
    check_warpgroup(step);
    step.warp.products.fenced = true;
    std::fill(step.frame.unfenced.begin(), step.frame.unfenced.end(), uint8_t{0});
    return Flow::Next;
}

bool has_columns(const MatrixShape& shape) {
    if (shape.n < 8 || shape.n > 256 || shape.n % 8 != 0) return false;
    return is_float(shape.a) || shape.n <= 32 || shape.n % 16 == 0;
}

bool is_known_product(const MatrixShape& shape) {
    if (shape.m != 64 || shape.k * type_bits(shape.a) != 256 || !has_columns(shape)) return false;
    const bool bytes = shape.a == Type::E4M3 || shape.a == Type::E5M2;
    const bool same = shape.a == shape.b;
    if (bytes)
        return (shape.b == Type::E4M3 || shape.b == Type::E5M2) && (shape.d == Type::F16 || shape.d == Type::F32);
    if (shape.a == Type::F16) return same && (shape.d == Type::F16 || shape.d == Type::F32);
    if (shape.a == Type::BF16 || shape.a == Type::TF32) return same && shape.d == Type::F32;
    if (shape.a == Type::B1) return same && shape.d == Type::S32;
    const bool small = shape.a == Type::S8 || shape.a == Type::U8;
    return small && (shape.b == Type::S8 || shape.b == Type::U8) && shape.d == Type::S32;
}

void read_product_shape(Decode& decode, MatrixShape& shape) {
    for (const std::string& modifier : decode.instruction().modifiers) {
        if (std::sscanf(modifier.c_str(), "m%dn%dk%d", &shape.m, &shape.n, &shape.k) != 3) continue;
        decode.expect(modifier);
        break;
    }
    shape.saturate = decode.accept("satfinite");
    shape.d = decode.type();
    shape.a = decode.type();
    shape.b = decode.type();
    if (shape.a == Type::B1) {
        decode.expect("and");
        decode.expect("popc");
    }
    if (!is_known_product(shape)) decode.refuse();
}

/// scale-a and scale-b: 1 or -1.
bool read_negation(Decode& decode, size_t index) {
    const int64_t scale = decode.constant(decode.operand(index));
    if (scale != 1 && scale != -1) decode.fail("a scale of wgmma is 1 or -1");
    return scale == -1;
}

void decode_product(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Matrix;
    op.keeps_track = false;
    op.run = &issue_product;
    MatrixShape& shape = op.matrix;
    read_product_shape(decode, shape);
    const bool has_trans = shape.a == Type::F16 || shape.a == Type::BF16;
    shape.a_in_registers = decode.count() > 1 && decode.operand(1).kind == Operand::Kind::Vector;
    const size_t scales = is_float(shape.a) ? 2 : 0;
    const size_t majors = !has_trans ? 0 : shape.a_in_registers ? 1 : 2;
    decode.expect_operands(4 + scales + majors, 4 + scales + majors);
    const Operand& d = decode.operand(0);
    const auto registers = static_cast<size_t>(shape.n / (shape.d == Type::F16 ? 4 : 2));
    if (d.kind != Operand::Kind::Vector || d.parts.size() != registers) {
        decode.fail("D of '" + decode.instruction().text + "' has " + std::to_string(registers) + " registers");
    }
    for (const Operand& part : d.parts) {
        if (part.kind != Operand::Kind::Register) decode.fail("D of a wgmma is in registers");
        op.accumulators.push_back(static_cast<uint32_t>(part.index));
    }
    if (shape.a_in_registers && decode.operand(1).parts.size() != 4) decode.fail("A of a wgmma has 4 registers");
    decode.sources_of(decode.operand(1), shape.a_in_registers ? Type::B32 : Type::B64, !shape.a_in_registers);
    decode.source(decode.operand(2), Type::B64, true);
    decode.source(decode.operand(3), Type::Predicate, true);
    if (scales != 0) {
        shape.negates_a = read_negation(decode, 4);
        shape.negates_b = read_negation(decode, 5);
    }
    if (majors == 2) shape.transposes_a = decode.constant(decode.operand(6)) != 0;
    if (majors != 0) shape.transposes_b = decode.constant(decode.operand(5 + majors)) != 0;
}

void decode_wgmma(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Barrier;
    decode.needs(90, true);
    decode.function().uses_wgmma = decode.function().uses_async_reads = true;
    if (decode.accept("fence")) {
        op.run = &fence_registers;
        decode.expect_operands(0, 0);
    } else if (decode.accept("commit_group")) {
        op.run = &commit_products;
        decode.expect_operands(0, 0);
    } else if (decode.accept("wait_group")) {
        op.run = &wait_for_products;
        decode.expect_operands(1, 1);
        op.detail = static_cast<uint64_t>(decode.constant(decode.operand(0)));
    } else {
        decode.expect("mma_async");
        if (decode.has("sp")) decode.refuse();
        decode.expect("sync");
        decode.expect("aligned");
        return decode_product(decode);
    }
    decode.expect("sync");
    decode.expect("aligned");
}

/// op.detail: the registers of each thread from here on; op.flag: more than before.
Flow set_registers(Step& step) {
    if (!whole_warp(step)) return Flow::Blocked;
    check_warpgroup(step);
    const auto wanted = static_cast<uint32_t>(step.op.detail);
    uint32_t& have = step.warp.most_registers;
    if (step.op.flag ? wanted < have : wanted > have) {
        throw Fault{FaultKind::BarrierMisuse, "'" + step.op.instruction->text + "' asks for " + std::to_string(wanted) +
                                                  " registers where each thread has " + std::to_string(have)};
    }
    if (step.op.flag) {
        const uint32_t more = wanted - have;
        if (step.block.free_registers < more) return await_event(step);
        step.block.free_registers -= more;
    } else {
        step.block.free_registers += have - wanted;
        step.block.cluster.signal();
    }
    have = wanted;
    return Flow::Next;
}

void decode_setmaxnreg(Decode& decode) {
    Op& op = decode.op();
    op.klass = InstructionClass::Control;
    decode.needs(90, true);
    op.flag = decode.accept("inc");
    if (!op.flag) decode.expect("dec");
    for (const char* word : {"sync", "aligned", "u32"}) decode.expect(word);
    decode.expect_operands(1, 1);
    const int64_t count = decode.constant(decode.operand(0));
    if (count < 24 || count > 256 || count % 8 != 0) decode.fail("setmaxnreg takes 24 to 256 registers in steps of 8");
    op.detail = static_cast<uint64_t>(count);
    op.run = &set_registers;
}

}  // namespace

void add_warpgroup_decoders(std::map<std::string, Decoder>& decoders) {
    decoders["wgmma"] = &decode_wgmma;
    decoders["setmaxnreg"] = &decode_setmaxnreg;
}

}  // namespace emulated_gpu
