// Scans: each thread scans its run of consecutive elements, lanes exchange the totals of their runs (a Kogge-Stone
// scan), warps leave theirs in shared memory, and each thread then combines what stands before its run with its
// elements. Elements beyond the tile come last along the axis and cannot reach any inside.
#include <algorithm>
#include <bit>

#include "codegen/gpu/lower/phase_lowering.h"
#include "codegen/gpu/lower/register_text.h"
#include "ir/support/internal_error.h"
#include "ir/tile_ops.h"

namespace kiln::codegen::gpu {

using namespace ir;

/// A scan under way.
struct PhaseLowering::Scanning {
    const Op* op = nullptr;
    Layout layout;                               ///< of the elements (see scan_layout)
    std::int64_t run = 1, lanes = 1, warps = 1;  ///< consecutive registers, lanes and warps along the axis
    std::int64_t others = 1;                     ///< runs of a thread
    std::vector<std::string> types, elements, before, totals;
    std::string lane_place, warp_place;
};

PhaseLowering::Scanning PhaseLowering::begin_scan(const Op& op) {
    Scanning scan;
    scan.op = &op;
    const auto axis = attribute<AxisAttribute>(op).axis;
    scan.layout = scan_layout(kernel_.type(op.operands[0]).shape, axis, target_.lanes, warps_);
    const Part& part = scan.layout.parts().front();
    for (const Digit& digit : part.registers) {
        if (digit.axis == static_cast<int>(axis)) scan.run *= digit.count;
    }
    for (const Digit& digit : part.lanes) {
        if (digit.axis == static_cast<int>(axis)) scan.lanes *= digit.count;
    }
    for (const Digit& digit : part.warps) {
        if (digit.axis == static_cast<int>(axis)) scan.warps *= digit.count;
    }
    scan.others = scan.layout.registers() / scan.run;
    scan.lane_place = "(int)(lane % " + std::to_string(scan.lanes) + "u)";
    scan.warp_place = "(int)(warp % " + std::to_string(scan.warps) + "u)";
    const std::vector<ValueId>& arguments = kernel_[op.blocks[0]].arguments;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        scan.types.emplace_back(gpu::c_type(stored(arguments[i])));
        scan.elements.push_back(fresh("scanned"));
        scan.before.push_back(fresh("before"));
    }
    return scan;
}

void PhaseLowering::lower_scan(const Op& op) {
    flush();
    Scanning scan = begin_scan(op);
    scan_runs(scan);
    scan_lanes(scan);
    scan_warps(scan);
    for (std::size_t i = 0; i < op.results.size(); ++i) {
        const ValueId result = op.results[i];
        if (uses_[result.index].empty()) continue;
        const std::string at = result_name(result, scan.layout);
        Lines lines;
        lines.add(array(stored(result), at, scan.layout) + ";");
        lines.open_unrolled("r", scan.layout.registers());
        lines.add(at + "[r] = (" + c_type(result) + ")" + scan.elements[i] + "[r];");
        lines.close();
        emit(std::move(lines));
        finish(result, scan.layout, at);
    }
}

/// Each run by itself.
void PhaseLowering::scan_runs(Scanning& scan) {
    Lines lines;
    Loop loop{scan.layout};
    std::vector<std::string> values, last;
    for (std::size_t i = 0; i < scan.types.size(); ++i) {
        lines.add(scan.types[i] + " " + scan.elements[i] + "[" + std::to_string(scan.layout.registers()) + "];");
        const std::string value = fresh("value");
        loop.lines.add("const " + scan.types[i] + " " + value + " = (" + scan.types[i] + ")" +
                       element(loop, whole(scan.op->operands[i], scan.layout)) + ";");
        values.push_back(value);
        last.push_back(scan.elements[i] + "[r - 1]");
    }
    loop.lines.open("if (r % " + std::to_string(scan.run) + " == 0)");
    for (std::size_t i = 0; i < values.size(); ++i) loop.lines.add(scan.elements[i] + "[r] = " + values[i] + ";");
    loop.lines.otherwise();
    const std::vector<std::string> combined = combine(loop.lines, *scan.op, last, values);
    for (std::size_t i = 0; i < values.size(); ++i) loop.lines.add(scan.elements[i] + "[r] = " + combined[i] + ";");
    loop.lines.close();
    lines.open_unrolled("r", scan.layout.registers());
    lines.append(std::move(loop.lines));
    lines.close();
    emit(std::move(lines));
}

/// `before` becomes the total of the runs in lower lanes, where there are any.
void PhaseLowering::scan_lanes(Scanning& scan) {
    Lines lines;
    std::vector<std::string> totals;
    for (std::size_t i = 0; i < scan.types.size(); ++i) {
        totals.push_back(fresh("total"));
        const std::string size = "[" + std::to_string(scan.others) + "];";
        lines.add(scan.types[i] + " " + totals[i] + size);
        lines.add(scan.types[i] + " " + scan.before[i] + size);
    }
    lines.open_unrolled("o", scan.others);
    for (std::size_t i = 0; i < scan.types.size(); ++i) {
        lines.add(totals[i] + "[o] = " + scan.elements[i] + "[o * " + std::to_string(scan.run) + " + " +
                  std::to_string(scan.run - 1) + "];");
    }
    for (std::int64_t distance = 1; distance < scan.lanes; distance *= 2) {
        std::vector<std::string> lower, own;
        lines.open("");
        for (std::size_t i = 0; i < scan.types.size(); ++i) {
            lower.push_back(fresh("lower"));
            own.push_back(totals[i] + "[o]");
            lines.add("const " + scan.types[i] + " " + lower[i] + " = kiln_shuffle_up(" + own[i] + ", " +
                      std::to_string(distance) + ");");
        }
        const std::vector<std::string> combined = combine(lines, *scan.op, lower, own);
        lines.open("if (" + scan.lane_place + " >= " + std::to_string(distance) + ")");
        assign_combined(lines, scan, own, combined);
        lines.close();
        lines.close();
    }
    for (std::size_t i = 0; i < scan.types.size(); ++i) {
        lines.add(scan.before[i] + "[o] = kiln_shuffle_up(" + totals[i] + "[o], 1);");
    }
    lines.close();
    emit(std::move(lines));
    scan.totals = totals;
}

/// What lower warps have comes before what lower lanes have, and both before the run.
void PhaseLowering::scan_warps(Scanning& scan) {
    const auto axis = static_cast<int>(attribute<AxisAttribute>(*scan.op).axis);
    std::vector<std::string> shared;
    std::vector<Touch> writes, reads;
    const std::optional<Slice> runs = slice(scan.layout, axis);
    if (!runs) throw support::InternalError("gpu::lower", "a scan over an axis of several parts");
    const Shape strides = dense_strides(runs->layout.shape());
    const std::int64_t lines_of_tile = runs->layout.shape().count();
    const std::string has_lanes = scan.lanes > 1 ? scan.lane_place + " > 0" : "false";
    if (scan.warps > 1) {
        for (std::size_t i = 0; i < scan.types.size(); ++i) {
            const std::int64_t bytes = std::max(1, bit_width(stored(kernel_[scan.op->blocks[0]].arguments[i])) / 8);
            const std::uint32_t buffer = add_buffer("totals", scan.types[i], scan.warps * lines_of_tile * bytes);
            shared.push_back(placed_.buffers[buffer].name);
            writes.push_back({Touch::Space::Shared, buffer, true});
            reads.push_back({Touch::Space::Shared, buffer, false});
        }
        Loop write{runs->layout};
        write.counter = "o";
        std::string condition = scan.lane_place + " == " + std::to_string(scan.lanes - 1);
        const std::string first = first_copy(scan.layout);
        if (!first.empty()) condition += " && " + first;
        const std::string at = linear(write, whole({}, runs->layout), strides);
        const std::string inside = guard(write);
        if (!inside.empty()) condition += " && " + inside;
        Lines lines;
        lines.open_unrolled("o", scan.others);
        write.lines.open("if (" + condition + ")");
        for (std::size_t i = 0; i < shared.size(); ++i) {
            write.lines.add(shared[i] + "[" + scan.warp_place + " * " + std::to_string(lines_of_tile) +
                            (at == "0" ? "" : " + " + at) + "] = " + scan.totals[i] + "[o];");
        }
        write.lines.close();
        lines.append(std::move(write.lines));
        lines.close();
        emit(std::move(lines), writes);
    }
    Loop loop{runs->layout};
    loop.counter = "o";
    const std::string at = linear(loop, whole({}, runs->layout), strides);
    const std::string inside = guard(loop);
    Lines lines;
    lines.open_unrolled("o", scan.others);
    loop.lines.add("bool has_before = " + has_lanes + ";");
    if (scan.warps > 1) {
        if (!inside.empty()) loop.lines.open("if (" + inside + ")");
        // From the nearest warp down to the first: each comes before all that was combined so far.
        loop.lines.open("for (int w = " + scan.warp_place + " - 1; w >= 0; --w)");
        std::vector<std::string> other;
        for (std::size_t i = 0; i < shared.size(); ++i) {
            other.push_back(fresh("other"));
            loop.lines.add("const " + scan.types[i] + " " + other[i] + " = " + shared[i] + "[w * " +
                           std::to_string(lines_of_tile) + (at == "0" ? "" : " + " + at) + "];");
        }
        loop.lines.open("if (has_before)");
        std::vector<std::string> own;
        for (const std::string& before : scan.before) own.push_back(before + "[o]");
        assign_combined(loop.lines, scan, own, combine(loop.lines, *scan.op, other, own));
        loop.lines.otherwise();
        for (std::size_t i = 0; i < other.size(); ++i) loop.lines.add(own[i] + " = " + other[i] + ";");
        loop.lines.close();
        loop.lines.add("has_before = true;");
        loop.lines.close();
        if (!inside.empty()) loop.lines.close();
    }
    loop.lines.open("if (has_before)");
    loop.lines.open_unrolled("k", scan.run);
    std::vector<std::string> before, own;
    for (std::size_t i = 0; i < scan.types.size(); ++i) {
        before.push_back(scan.before[i] + "[o]");
        own.push_back(scan.elements[i] + "[o * " + std::to_string(scan.run) + " + k]");
    }
    assign_combined(loop.lines, scan, own, combine(loop.lines, *scan.op, before, own));
    for (int i = 0; i < 2; ++i) loop.lines.close();
    lines.append(std::move(loop.lines));
    lines.close();
    emit(std::move(lines), reads);
}

/// All at once: each result may read all the old values.
void PhaseLowering::assign_combined(Lines& lines, const Scanning& scan, const std::vector<std::string>& to,
                                    const std::vector<std::string>& values) {
    std::vector<std::string> next;
    for (std::size_t i = 0; i < to.size(); ++i) {
        next.push_back(fresh("next"));
        lines.add("const " + scan.types[i] + " " + next[i] + " = " + values[i] + ";");
    }
    for (std::size_t i = 0; i < to.size(); ++i) lines.add(to[i] + " = " + next[i] + ";");
}

}  // namespace kiln::codegen::gpu
