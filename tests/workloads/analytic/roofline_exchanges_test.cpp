// The bounds of links where bytes go between given chips, and count on every link of the way; each by hand.
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "tests/workloads/analytic/by_hand.h"
#include "workloads/analytic/roofline.h"

namespace podsim::workloads {
namespace {

using collectives::Operation;
using samples::program_of;
using samples::torus;
using topology::DeviceMesh;
using topology::Lattice;

/// One byte a second over an ICI link; what computes takes no time.
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

// 320 bytes over 4x4: each chip's 20 go on average one link along each axis, (0 + 1 + 2 + 1) / 4: 20 bytes on two links,
// 10 s. (What a chip receives, 15/16 of 20 over four links, takes 4.7 s.) Gathering 3/4 of 80 over x beside it: 80 on two.
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

// On one ring of 16 (4 links on average) and one of 4 (1 link): the long axis, 64 bytes each x 4 / 2 links.
TEST(RooflineExchanges, TheLongestAxisIsTheTightest) {
    const Lattice slice = torus(4, 16);
    const DeviceMesh mesh(slice, {{"a", {{0, 1, 4}, {1, 1, 16}}}});
    const LowerBound lower = lower_of(program_of({exchange({"a"}, 64 * 64)}), slice, mesh);
    EXPECT_EQ(lower.time.value(), 128);
    EXPECT_EQ(lower.bound, "ici y");
}

// A line of four, 160 bytes: 2 x 2 pairs of 10 over the middle each way. Twice that, and all is twice as long.
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

// Pairs of neighbours, x%2 and x/2, exchange 40 bytes each, 10 a pair, on a line of four: the former over the first and the last
// link, 10 each way; the latter, two links away and two such lines, 10 over the first, 20 over the middle, 10 over the last.
TEST(RooflineExchanges, LinksAreAddedUpOneByOne) {
    const Lattice slice{{4, 1, 1}, {}, {}};
    const DeviceMesh mesh(slice, {{"near", {{0, 1, 2}}}, {"far", {{0, 2, 2}}}});
    EXPECT_EQ(lower_of(program_of({exchange({"near"}, 40)}), slice, mesh).time.value(), 10);
    EXPECT_EQ(lower_of(program_of({exchange({"far"}, 40)}), slice, mesh).time.value(), 20);
    EXPECT_EQ(lower_of(program_of({exchange({"near"}, 40), exchange({"far"}, 40)}), slice, mesh)
                  .time.value(),
              20);
}

// To the last two of a line, of twice the mean, 16 bytes in pairs of 1: 2 x 2 pairs of 2 over the middle.
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

// Of two stages along y one exchanges along a line of four: half of the chips, so half of the mean on x, and no cut that all of them
// would share. The chips of that stage receive 3/16 of 160 over one link at the ends, 30 s; on average 1.25 links x 40 bytes of every
// other chip over 1.5 links, 16.7 s.
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

// Over all of a twisted torus its links carry alike (all_to_all_test), so that their mean is the busiest.
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

// On a torus an exchange over all axes is as long as the busiest link of its evenly spread routes.
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

}  // namespace
}  // namespace podsim::workloads
