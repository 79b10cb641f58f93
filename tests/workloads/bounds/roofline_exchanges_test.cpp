// Lower bounds of links when bytes go between given chips
// and count on every link of their route, each by hand.
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "tests/workloads/bounds/by_hand.h"
#include "workloads/bounds/roofline.h"

namespace podsim::workloads {
namespace {

using collectives::Operation;
using samples::program_of;
using samples::torus;
using topology::DeviceMesh;
using topology::Lattice;

/// An ICI link carries one byte a second; compute takes no time.
MachineRates unit_links() {
    return {sim::FlopsPerSecond::infinity(), sim::BytesPerSecond::infinity(),
            sim::BytesPerSecond(1)};
}

Collective exchange(std::vector<std::string> axes, double bytes) {
    return {Operation::all_to_all, Purpose::expert, std::move(axes), sim::Bytes(bytes)};
}

Collective gather(std::vector<std::string> axes, double bytes) {
    return {Operation::all_gather, Purpose::weights, std::move(axes), sim::Bytes(bytes)};
}

LowerBound lower_of(const StepPrograms& step, const Lattice& slice, const DeviceMesh& mesh) {
    return roofline_lower(step, slice, mesh, unit_links());
}

// 320 bytes over 4x4: each chip's 20 bytes go on average one link along each axis, (0 + 1 + 2 + 1)
// / 4: 20 bytes on two links, 10 s. (A chip receives 15/16 of 20 over four links in 4.7 s.) Beside
// it a gather brings 3/4 of 80 over x: 80 on two links.
TEST(RooflineExchanges, BytesCountOnEveryLinkOfTheirWay) {
    const Lattice slice = torus(4, 4);
    const DeviceMesh mesh(slice, {{"a", {{0, 1, 4}}}, {"b", {{1, 1, 4}}}});
    const LowerBound alone = lower_of(program_of({exchange({"a", "b"}, 320)}), slice, mesh);
    EXPECT_EQ(alone.time.value(), 10);
    EXPECT_EQ(alone.bound, "ici x");
    const LowerBound beside =
        lower_of(program_of({exchange({"a", "b"}, 320), gather({"a"}, 80)}), slice, mesh);
    EXPECT_EQ(beside.time.value(), 40);
    EXPECT_EQ(beside.bound, "ici x");
}

// One ring has 16 chips (4 links on average) and one 4 (1
// link): the long axis takes 64 bytes each x 4 / 2 links.
TEST(RooflineExchanges, TheLongestAxisIsTheTightest) {
    const Lattice slice = torus(4, 16);
    const DeviceMesh mesh(slice, {{"a", {{0, 1, 4}, {1, 1, 16}}}});
    const LowerBound lower = lower_of(program_of({exchange({"a"}, 64 * 64)}), slice, mesh);
    EXPECT_EQ(lower.time.value(), 128);
    EXPECT_EQ(lower.bound, "ici y");
}

// On a line of four with 160 bytes, 2 x 2 pairs of 10 cross the middle in each direction. Two such
// exchanges take twice as long.
TEST(RooflineExchanges, TheMiddleOfALine) {
    const Lattice slice{{4, 1, 1}, {}, {}};
    const DeviceMesh mesh(slice, {{"a", {{0, 1, 4}}}});
    const LowerBound lower = lower_of(program_of({exchange({"a"}, 160)}), slice, mesh);
    EXPECT_EQ(lower.time.value(), 40);
    EXPECT_EQ(lower.bound, "ici x");
    EXPECT_EQ(lower_of(program_of({exchange({"a"}, 160), exchange({"a"}, 160)}), slice, mesh)
                  .time.value(),
              80);
}

// Pairs of neighbours, x%2 and x/2, exchange 40 bytes each, 10 a pair, on a line of four. The
// former load the first and the last link, 10 in each direction. The latter, two links apart on two
// such lines, load the first with 10, the middle with 20, the last with 10.
TEST(RooflineExchanges, LinksAreAddedUpOneByOne) {
    const Lattice slice{{4, 1, 1}, {}, {}};
    const DeviceMesh mesh(slice, {{"near", {{0, 1, 2}}}, {"far", {{0, 2, 2}}}});
    EXPECT_EQ(lower_of(program_of({exchange({"near"}, 40)}), slice, mesh).time.value(), 10);
    EXPECT_EQ(lower_of(program_of({exchange({"far"}, 40)}), slice, mesh).time.value(), 20);
    EXPECT_EQ(lower_of(program_of({exchange({"near"}, 40), exchange({"far"}, 40)}), slice, mesh)
                  .time.value(),
              20);
}

// The last two of a line take twice the mean, 16 bytes
// in pairs of 1: 2 x 2 pairs of 2 cross the middle.
TEST(RooflineExchanges, UnequalMembers) {
    const Lattice slice{{4, 1, 1}, {}, {}};
    const DeviceMesh mesh(slice, {{"expert", {{0, 1, 4}}}});
    Collective uneven = exchange({"expert"}, 16);
    uneven.loads = {0, 0, 2, 2};
    StepPrograms members;
    members.axes = {"expert"};
    members.programs.assign(4, program_of({uneven}));
    EXPECT_EQ(lower_of(members, slice, mesh).time.value(), 8);
    EXPECT_EQ(lower_of(members, slice, mesh).bound, "ici x");
}

// One of two stages along y exchanges along a line of four: half of the chips,
// so half of the mean on x, and no cut that all would share. The chips of that
// stage receive 3/16 of 160 over one link at the ends, 30 s; on average 1.25
// links x 40 bytes of every other chip over 1.5 links take 16.7 s.
TEST(RooflineExchanges, StagesThatDoNotExchange) {
    const Lattice slice{{4, 2, 1}, {}, {}};
    const DeviceMesh mesh(slice, {{"a", {{0, 1, 4}}}, {"pipeline", {{1, 1, 2}}}});
    StepPrograms stages;
    stages.axes = {"pipeline"};
    stages.stages = 2;
    stages.programs = {program_of({exchange({"a"}, 160)}), program_of({})};
    EXPECT_EQ(lower_of(stages, slice, mesh).time.value(), 30);
    stages.programs[1] = stages.programs[0];
    EXPECT_EQ(lower_of(stages, slice, mesh).time.value(), 40);
}

// Over a whole twisted torus all links carry the same
// (all_to_all_test), so that their mean is the busiest.
TEST(RooflineExchanges, TwistedSlices) {
    const Lattice slice{{2, 2, 4},
                        {true, true, true},
                        {topology::Point{0, 0, 2}, topology::Point{0, 0, 2}, topology::Point{}}};
    const DeviceMesh mesh(slice, {{"a", {{0, 1, 2}, {1, 1, 2}, {2, 1, 4}}}});
    const StepProgram program = program_of({exchange({"a"}, 256)});
    const LowerBound lower = lower_of(program, slice, mesh);
    EXPECT_DOUBLE_EQ(lower.time.value(),
                     roofline_serial(program, slice, mesh, unit_links()).value());
    EXPECT_EQ(lower.bound, "ici x+y+z");
}

// On a torus an exchange over all axes takes as long
// as the busiest link of its evenly spread routes.
TEST(RooflineExchanges, AreThePhysicalBoundOfATorus) {
    for (const Lattice& slice : {torus(8), torus(4, 4), torus(4, 8, 12), torus(16, 20, 28)}) {
        const DeviceMesh mesh(
            slice,
            {{"a", {{0, 1, slice.length(0)}, {1, 1, slice.length(1)}, {2, 1, slice.length(2)}}}});
        const StepProgram program = program_of({exchange({"a"}, 1e9)});
        EXPECT_NEAR(lower_of(program, slice, mesh).time.value(),
                    roofline_serial(program, slice, mesh, unit_links()).value(), 1e-3);
    }
}

// V bytes over x%2 x/8 of a ring of 16, which four groups share, take V / 4 x 9 links for each
// chip, which has two; twice that for an AllReduce. An AllToAll takes V / 4 x (0 + 1 + 8 + 7) / 4
// links. A permute by one, from 0 to 1, 8, 9 and back to 0, takes V / 4 x (1 + 7 + 1 + 7) / 4. A
// collective over x and y counts on x with its part there: with rows of 4 on a line, V / 8 x T(x) =
// 9 on x, beside the V / 4 x 9 over x alone.
TEST(RooflineExchanges, MembersApartFromEachOther) {
    const Lattice slice{{16, 2, 1}, {true, false, false}, {}};
    const DeviceMesh mesh(
        slice, {{"near", {{0, 1, 2}, {0, 8, 2}}}, {"far", {{0, 2, 4}}}, {"across", {{1, 1, 2}}}});
    const auto of = [&](std::vector<Work> ops) {
        return lower_of(program_of(std::move(ops)), slice, mesh);
    };
    const auto near = [](Operation operation) {
        return Collective{operation, Purpose::weights, {"near"}, sim::Bytes(4e6)};
    };
    EXPECT_DOUBLE_EQ(of({near(Operation::all_gather)}).time.value(), 1e6 * 9 / 2);
    EXPECT_DOUBLE_EQ(of({near(Operation::all_reduce)}).time.value(), 1e6 * 9);
    EXPECT_DOUBLE_EQ(of({near(Operation::all_to_all)}).time.value(), 1e6 * 4 / 2);
    EXPECT_DOUBLE_EQ(of({near(Operation::permute)}).time.value(), 1e6 * 4 / 2);
    const LowerBound both = of({near(Operation::all_gather), gather({"near", "across"}, 4e6)});
    EXPECT_DOUBLE_EQ(both.time.value(), (1e6 * 9 + 0.5e6 * 9) / 2);
    EXPECT_EQ(both.bound, "ici x");
}

// x/4 and y of 8x8 are rings of 2 and of 8: 15 / 16 of V over 2 / 4 + 2 links. A single order of
// the axes would need more of one of them.
TEST(RooflineExchanges, AxesOfDifferentStridesShareAGather) {
    const Lattice slice = torus(8, 8);
    const DeviceMesh mesh(slice, {{"fsdp", {{0, 4, 2}, {1, 1, 8}}}, {"tensor", {{0, 1, 4}}}});
    const LowerBound lower = lower_of(program_of({gather({"fsdp"}, 16)}), slice, mesh);
    EXPECT_DOUBLE_EQ(lower.time.value(), 15 / 2.5);
    EXPECT_EQ(lower.bound, "ici x+y");
    EXPECT_DOUBLE_EQ(
        roofline_serial(program_of({gather({"fsdp"}, 16)}), slice, mesh, unit_links()).value(),
        15 / 2.5);
}

// Stages are every fourth chip of a ring of 8: 40 bytes from
// half of the chips go four links, 80 on two links of a chip.
TEST(RooflineExchanges, HandoversCountOnEveryLink) {
    const Lattice slice = torus(8);
    const DeviceMesh mesh(slice, {{"fsdp", {{0, 1, 4}}}, {"pipeline", {{0, 4, 2}}}});
    StepPrograms stages;
    stages.axes = {"pipeline"};
    stages.stages = 2;
    stages.programs = {program_of({Handover{.sends = true, .peer = 1, .bytes = sim::Bytes(40)}}),
                       program_of({Handover{.sends = false, .peer = 0, .bytes = sim::Bytes(40)}})};
    EXPECT_DOUBLE_EQ(lower_of(stages, slice, mesh).time.value(), 20 * 4 / 2.0);
}

}  // namespace
}  // namespace podsim::workloads
