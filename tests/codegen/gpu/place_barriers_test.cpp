// Barriers and offsets in shared memory: where they must be, and nowhere else.
#include "codegen/gpu/lower/place_barriers.h"

#include <doctest/doctest.h>

#include "codegen/gpu/lower/allocate_shared.h"

using namespace kiln::codegen::gpu;

namespace {

Statement lines(const std::string& text, std::vector<Touch> touches) {
    Statement statement;
    statement.lines = {text};
    statement.touches = std::move(touches);
    return statement;
}
Statement write(std::uint32_t buffer) {
    return lines("w" + std::to_string(buffer), {{Touch::Space::Shared, buffer, true}});
}
Statement read(std::uint32_t buffer) {
    return lines("r" + std::to_string(buffer), {{Touch::Space::Shared, buffer, false}});
}
/// An asynchronous copy into, and a read of, a slot of the ring.
Statement copy(std::uint32_t buffer, int slot = 0) {
    Touch touch{Touch::Space::Shared, buffer, true};
    touch.asynchronous = true;
    touch.slot = slot;
    return lines("c" + std::to_string(slot), {touch});
}
Statement read_slot(std::uint32_t buffer, int slot) {
    Touch touch{Touch::Space::Shared, buffer, false};
    touch.slot = slot;
    return lines("r" + std::to_string(slot), {touch});
}
Statement write_slot(std::uint32_t buffer, int slot) {
    Touch touch{Touch::Space::Shared, buffer, true};
    touch.slot = slot;
    return lines("w" + std::to_string(slot), {touch});
}
Statement commit() {
    Statement statement;
    statement.kind = Statement::Kind::Commit;
    return statement;
}
Statement wait(int under_way) {
    Statement statement;
    statement.kind = Statement::Kind::Wait;
    statement.under_way = under_way;
    return statement;
}
Statement memory(std::uint32_t tensor, bool writes, bool by_one = false, bool disjoint = false) {
    return lines(writes ? "store" : "load", {{Touch::Space::Global, tensor, writes, by_one, disjoint}});
}
Statement around(Statement::Kind kind, Statements body, Statements otherwise = {}) {
    Statement statement;
    statement.kind = kind;
    statement.body = std::move(body);
    statement.otherwise = std::move(otherwise);
    return statement;
}
Statement leave() {
    Statement statement;
    statement.kind = Statement::Kind::Leave;
    return statement;
}

std::string text(const Statements& statements) {
    std::string all;
    for (const Statement& statement : statements) {
        if (statement.kind == Statement::Kind::Barrier) all += "| ";
        if (statement.kind == Statement::Kind::Leave) all += "break ";
        if (statement.kind == Statement::Kind::Commit) all += "; ";
        if (statement.kind == Statement::Kind::Wait) all += "wait" + std::to_string(statement.under_way) + " ";
        for (const std::string& line : statement.lines) all += line + " ";
        if (statement.kind == Statement::Kind::Loop) all += "loop ";
        if (statement.kind == Statement::Kind::Block) all += "if ";
        if (!statement.body.empty()) all += "{ " + text(statement.body) + "} ";
        if (!statement.otherwise.empty()) all += "else { " + text(statement.otherwise) + "} ";
    }
    return all;
}

/// Two buffers of 64 bytes beside each other, and a third in the place of the first.
std::string placed(Statements statements) {
    PlacedPhase phase;
    phase.buffers = {{"a", "float", 64, 0}, {"b", "float", 64, 64}, {"c", "float", 32, 16}};
    phase.body = std::move(statements);
    place_barriers(phase);
    return text(phase.body);
}

using Kind = Statement::Kind;

/// A ring of so many slots at the place of the first two buffers, and a loop that it turns with.
std::string turned(int slots, Statements before, Statements body, Statements behind = {}) {
    PlacedPhase phase;
    phase.buffers = {{"ring", "float", 128, 0, slots}, {"b", "float", 64, 64}};
    phase.body = std::move(before);
    phase.body.push_back(around(Kind::Loop, std::move(body)));
    phase.body.back().rings = {0};
    for (Statement& statement : behind) phase.body.push_back(std::move(statement));
    place_barriers(phase);
    return text(phase.body);
}

}  // namespace

TEST_SUITE("unit") {
    TEST_CASE("gpu: a barrier parts a write from a read, a read from a write, and a write from a write") {
        CHECK(placed({write(0), read(0)}) == "w0 | r0 ");
        CHECK(placed({read(0), write(0)}) == "r0 | w0 ");
        CHECK(placed({write(0), write(0)}) == "w0 | w0 ");
        CHECK(placed({read(0), read(0)}) == "r0 r0 ");
    }

    TEST_CASE("gpu: one barrier serves all that came before it, and other memory needs none") {
        CHECK(placed({write(0), write(1), read(0), read(1)}) == "w0 w1 | r0 r1 ");
        CHECK(placed({write(0), write(1)}) == "w0 w1 ");
    }

    TEST_CASE("gpu: buffers that share bytes depend on each other") {
        CHECK(placed({write(0), read(0), write(2)}) == "w0 | r0 | w2 ");
        CHECK(placed({write(1), read(1), write(2)}) == "w1 | r1 w2 ");
    }

    TEST_CASE("gpu: a loop meets its own last iteration") {
        CHECK(placed({around(Kind::Loop, {write(0), read(0)})}) == "loop { | w0 | r0 } ");
        CHECK(placed({write(0), around(Kind::Loop, {read(0)})}) == "w0 | loop { r0 } ");
        CHECK(placed({write(0), around(Kind::Loop, {read(0), write(1), read(1)})}) == "w0 loop { | r0 w1 | r1 } ");
        CHECK(placed({around(Kind::Loop, {read(1)})}) == "loop { r1 } ");
    }

    TEST_CASE("gpu: what either branch left pending is pending behind it") {
        CHECK(placed({around(Kind::Block, {write(0)}, {write(1)}), read(1)}) == "if { w0 } else { w1 } | r1 ");
        CHECK(placed({write(0), around(Kind::Block, {read(0)}), read(0)}) == "w0 if { | r0 } | r0 ");
    }

    TEST_CASE("gpu: what was pending where a loop is left is pending behind it") {
        CHECK(placed({around(Kind::Loop, {write(0), leave(), read(0)}), write(0)}) == "loop { | w0 break | r0 } | w0 ");
    }

    TEST_CASE(
        "gpu: global memory depends by tensor; one thread follows its own order; other elements are no conflict") {
        CHECK(placed({memory(1, true), memory(1, false)}) == "store | load ");
        CHECK(placed({memory(1, true), memory(2, false)}) == "store load ");
        CHECK(placed({memory(1, true, true), memory(1, true, true)}) == "store store ");
        CHECK(placed({memory(1, true, true), memory(1, false)}) == "store | load ");
        CHECK(placed({around(Kind::Loop, {memory(1, true, false, true)})}) == "loop { store } ");
        CHECK(placed({around(Kind::Loop, {memory(1, true)})}) == "loop { | store } ");
    }

    TEST_CASE("gpu: what an asynchronous copy brings is waited for, then the block meets") {
        CHECK(placed({copy(0), commit(), read(0)}) == "c0 ; wait0 | r0 ");
        CHECK(placed({copy(0), commit(), write(1), read(1), read(0)}) == "c0 ; w1 | r1 wait0 | r0 ");
        CHECK(placed({copy(0), commit(), copy(1), commit(), read(0)}) == "c0 ; c0 ; wait1 | r0 ");
        CHECK(placed({copy(0), commit(), wait(0), read(0)}) == "c0 ; wait0 | r0 ");
        CHECK(placed({copy(0), commit(), copy(0)}) == "c0 ; wait0 | c0 ");
        CHECK(placed({read(0), copy(0), commit()}) == "r0 | c0 ; ");
        CHECK(placed({around(Kind::Loop, {copy(0), commit(), read(0)})}) == "loop { | c0 ; wait0 | r0 } ");
        PlacedPhase phase;
        phase.buffers = {{"a", "float", 64, 0}};
        phase.body = {copy(0), read(0)};
        CHECK_THROWS(place_barriers(phase));
    }

    TEST_CASE("gpu: slots of a ring meet only when their turn comes") {
        // The copy two iterations ahead takes the slot that was read last: one barrier serves both.
        const Statements filled = {copy(0, 0), commit(), copy(0, 1), commit()};
        CHECK(turned(3, filled, {wait(1), around(Kind::Barrier, {}), copy(0, 2), commit(), read_slot(0, 0)}) ==
              "c0 ; c1 ; loop { wait1 | c2 ; r0 } ");
        // Where nobody waited for all but the last group, the read waits for all but the last two.
        CHECK(turned(3, filled, {around(Kind::Barrier, {}), copy(0, 2), commit(), read_slot(0, 0)}) ==
              "c0 ; c1 ; loop { | c2 ; wait2 | r0 } ");
        CHECK(turned(2, {write_slot(0, 0)}, {read_slot(0, 0), write_slot(0, 1)}) == "w0 loop { | r0 w1 } ");
        CHECK(turned(1, {write_slot(0, 0)}, {read_slot(0, 0), write_slot(0, 1)}) == "w0 loop { | r0 | w1 } ");
        // Behind the loop nobody knows which slot is which.
        CHECK(turned(2, {}, {write_slot(0, 0)}, {read_slot(0, 1)}) == "loop { | w0 } | r1 ");
        CHECK(turned(2, {}, {read_slot(0, 0)}, {write(1)}) == "loop { r0 } | w1 ");
    }

    TEST_CASE("gpu: buffers that never live together share their bytes") {
        PlacedPhase phase;
        phase.buffers = {{"a", "float", 100}, {"b", "float", 60}, {"c", "float", 40}};
        phase.body = {write(0), read(0), write(1), write(2), read(1), read(2)};
        allocate_shared(phase);
        CHECK(phase.buffers[0].offset == 0);
        CHECK(phase.buffers[1].offset == 0);
        CHECK(phase.buffers[2].offset == 64);
        CHECK(phase.shared_bytes == 104);
    }

    TEST_CASE("gpu: a buffer that a loop reads outlives the loop's last iteration") {
        PlacedPhase phase;
        phase.buffers = {{"a", "float", 64}, {"b", "float", 64}};
        phase.body = {write(0), around(Kind::Loop, {read(0), write(1), read(1)})};
        allocate_shared(phase);
        CHECK(phase.buffers[0].offset != phase.buffers[1].offset);
        CHECK(phase.shared_bytes == 128);
    }
}
