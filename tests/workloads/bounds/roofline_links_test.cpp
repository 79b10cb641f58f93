// Lower bounds of links outside of collectives within a slice: PCIe, the data-centre network,
// handovers, steps in which only some members send, and exchanges of unequal members; each by hand.
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "tests/workloads/bounds/by_hand.h"
#include "workloads/bounds/ici_traffic.h"
#include "workloads/bounds/roofline.h"

namespace podsim::workloads {
namespace {

using collectives::HostDirection;
using collectives::Operation;
using samples::one_ring;
using samples::program_of;
using topology::DeviceMesh;
using topology::Lattice;

/// An ICI link carries one byte a second; compute takes no time.
MachineRates link_rates(double pcie, double dcn, int hosts) {
    MachineRates machine{sim::FlopsPerSecond::infinity(), sim::BytesPerSecond::infinity(),
                         sim::BytesPerSecond(1)};
    machine.between_slices = {
        .pcie = sim::BytesPerSecond(pcie), .dcn = sim::BytesPerSecond(dcn), .hosts = hosts};
    return machine;
}

StepPrograms of_stages(std::vector<StepProgram> programs) {
    StepPrograms stages;
    stages.stages = programs.size();
    stages.programs = std::move(programs);
    stages.axes = {"pipeline"};
    return stages;
}

Handover sends(std::uint32_t to, double bytes) {
    return {.sends = true, .peer = to, .bytes = sim::Bytes(bytes)};
}

Handover receives(std::uint32_t from, double bytes) {
    return {.sends = false, .peer = from, .bytes = sim::Bytes(bytes)};
}

// 60 + 30 bytes go to the host and 100 come back at 10 a second: at least 10 s in each direction,
// and 19 s one after the other.
TEST(RooflineLinks, TransfersWithTheHostGoBothWaysAtOnce) {
    const StepProgram program = program_of({HostTransfer{HostDirection::to_host, sim::Bytes(60)},
                                            HostTransfer{HostDirection::to_chip, sim::Bytes(100)},
                                            HostTransfer{HostDirection::to_host, sim::Bytes(30)}});
    const MachineRates machine = link_rates(10, 1, 1);
    const LowerBound lower = roofline_lower(program, one_ring(1), {}, machine);
    EXPECT_EQ(lower.time.value(), 10);
    EXPECT_EQ(lower.bound, "pcie");
    EXPECT_EQ(lower.link_classes, collectives::kPcieClass);
    EXPECT_EQ(roofline_serial(program, one_ring(1), {}, machine).value(), 19);
    // More bytes to the host take 12 s.
    const StepProgram more = program_of({HostTransfer{HostDirection::to_host, sim::Bytes(120)},
                                         HostTransfer{HostDirection::to_chip, sim::Bytes(100)}});
    EXPECT_EQ(roofline_lower(more, one_ring(1), {}, machine).time.value(), 12);
}

// Two slices of two chips run an AllReduce of 80 bytes over the slices: each chip receives 80, a
// slice 160. Two hosts at 5 a second take 16 s, two PCIe links at 10 a second 8 s.
TEST(RooflineLinks, SlicesShareTheirHosts) {
    const Lattice slice = one_ring(2);
    const DeviceMesh mesh(slice, {{"data", {{topology::kSliceAxis, 1, 2}}}, {"fsdp", {{0, 1, 2}}}},
                          2);
    const StepProgram program = program_of(
        {Collective{Operation::all_reduce, Purpose::gradients, {"data"}, sim::Bytes(80)}});
    const LowerBound dcn = roofline_lower(program, slice, mesh, link_rates(10, 5, 2));
    EXPECT_EQ(dcn.time.value(), 16);
    EXPECT_EQ(dcn.bound, "dcn");
    EXPECT_EQ(dcn.link_classes, collectives::kDcnClass);
    const LowerBound pcie = roofline_lower(program, slice, mesh, link_rates(2, 5, 2));
    EXPECT_EQ(pcie.time.value(), 40);
    EXPECT_EQ(pcie.bound, "pcie");
    // Transfers of the chips with their hosts use the same PCIe links: another 30 bytes for each.
    StepProgram both = program;
    both.ops.push_back(
        {"fetch", Pass::forward, 0, HostTransfer{HostDirection::to_chip, sim::Bytes(30)}, {}});
    EXPECT_EQ(roofline_lower(both, slice, mesh, link_rates(2, 5, 2)).time.value(), 55);
    // Over data and fsdp there are 2 x 2 members: a group of
    // both chips of a slice moves half of the bytes for each.
    const StepProgram wide = program_of(
        {Collective{Operation::all_reduce, Purpose::gradients, {"data", "fsdp"}, sim::Bytes(80)}});
    EXPECT_EQ(roofline_lower(wide, slice, mesh, link_rates(1e9, 5, 2)).link_classes,
              collectives::kDcnClass);
    EXPECT_EQ(roofline_lower(wide, slice, mesh, link_rates(1e9, 5, 2)).time.value(), 8);
}

// Four stages on a ring: 40 bytes go from the first to
// the second over one route, into a chip with two links.
TEST(RooflineLinks, HandoversWithinASlice) {
    const Lattice slice = one_ring(4);
    const DeviceMesh mesh(slice, {{"pipeline", {{0, 1, 4}}}});
    const StepPrograms stages =
        of_stages({program_of({sends(1, 40)}), program_of({receives(0, 40)}), program_of({}),
                   program_of({})});
    const LowerBound lower = roofline_lower(stages, slice, mesh, link_rates(10, 10, 1));
    EXPECT_EQ(lower.time.value(), 20);
    EXPECT_EQ(lower.bound, "ici x");
    EXPECT_EQ(roofline_serial(stages, slice, mesh, link_rates(10, 10, 1)).value(), 40);
}

// Each of two chips sends 30 bytes from slice to slice: 60 over one host at 5 a second, 30 over
// each chip's PCIe link.
TEST(RooflineLinks, HandoversBetweenSlices) {
    const Lattice slice = one_ring(2);
    const DeviceMesh mesh(slice,
                          {{"pipeline", {{topology::kSliceAxis, 1, 2}}}, {"fsdp", {{0, 1, 2}}}}, 2);
    const StepPrograms stages =
        of_stages({program_of({sends(1, 30)}), program_of({receives(0, 30)})});
    EXPECT_EQ(roofline_lower(stages, slice, mesh, link_rates(10, 5, 1)).time.value(), 12);
    EXPECT_EQ(roofline_lower(stages, slice, mesh, link_rates(10, 5, 1)).bound, "dcn");
    EXPECT_EQ(roofline_lower(stages, slice, mesh, link_rates(1, 5, 1)).time.value(), 30);
    EXPECT_EQ(roofline_lower(stages, slice, mesh, link_rates(1, 5, 1)).bound, "pcie");
    EXPECT_EQ(roofline_serial(stages, slice, mesh, link_rates(10, 5, 1)).value(), 12);
    EXPECT_EQ(roofline_serial(stages, slice, mesh, link_rates(1, 5, 1)).value(), 30);
}

// On a line of four the second to the fourth send 40 bytes
// each: 30 of 40 on average, over 1.5 links on average.
TEST(RooflineLinks, StepsInWhichOnlySomeSend) {
    const Lattice line{{4, 1, 1}, {false, false, false}, {}};
    const DeviceMesh mesh(line, {{"context", {{0, 1, 4}}}});
    Collective step{Operation::all_gather, Purpose::context, {"context"}, sim::Bytes(40)};
    step.step.emplace();
    step.step->bytes = sim::Bytes(40);
    step.step->senders = {1, 3};
    const LowerBound lower = roofline_lower(program_of({step}), line, mesh, link_rates(10, 10, 1));
    EXPECT_EQ(lower.time.value(), 20);
    EXPECT_EQ(lower.bound, "ici x");
}

// Four members of 64 bytes have pairs of 4. A member that
// takes twice the mean receives 3 x 4 x 2 = 24 over two links.
TEST(RooflineLinks, UnequalMembersOfAnExchange) {
    const Lattice slice = one_ring(4);
    const DeviceMesh mesh(slice, {{"expert", {{0, 1, 4}}}});
    Collective exchange{Operation::all_to_all, Purpose::expert, {"expert"}, sim::Bytes(64)};
    exchange.loads = {2, 1, 0.5, 0.5};
    StepPrograms programs;
    programs.programs.assign(4, program_of({exchange}));
    programs.axes = {"pipeline", "expert"};
    EXPECT_EQ(roofline_lower(programs, slice, mesh, link_rates(10, 10, 1)).time.value(), 12);
    for (StepProgram& program : programs.programs) {
        std::get<Collective>(program.ops[0].work).returning = true;
    }
    EXPECT_EQ(roofline_lower(programs, slice, mesh, link_rates(10, 10, 1)).time.value(), 12);
    // Only the rank that takes half of the mean exchanges: it sends 4 x (4 - 1/2) = 14.
    programs.programs = {program_of({}), program_of({}), programs.programs[2], program_of({})};
    std::get<Collective>(programs.programs[2].ops[0].work).returning = false;
    EXPECT_EQ(roofline_lower(programs, slice, mesh, link_rates(10, 10, 1)).time.value(), 7);
}

// Collectives that differ only in their members' loads have separate bounds.
TEST(RooflineLinks, ExchangesOfUnequalLoadsOneAfterTheOther) {
    const Lattice slice = one_ring(4);
    const DeviceMesh mesh(slice, {{"expert", {{0, 1, 4}}}});
    const MachineRates rates = link_rates(10, 10, 1);
    Collective one{Operation::all_to_all, Purpose::expert, {"expert"}, sim::Bytes(64)};
    one.loads = {2, 1, 0.5, 0.5};
    Collective other = one;
    other.loads = {1, 1, 1, 1};
    const auto serial = [&](const StepProgram& program) {
        return roofline_serial(program, slice, mesh, rates).value();
    };
    EXPECT_NE(serial(program_of({one})), serial(program_of({other})));
    EXPECT_EQ(serial(program_of({one, other, one})),
              serial(program_of({one})) + serial(program_of({other})) + serial(program_of({one})));
}

// Ranks of an axis of two factors, inner one first, are not in the order of the chips.
TEST(RooflineLinks, LoadsByThePlacesOfAGroup) {
    const Lattice slice{{4, 2, 1}, {true, false, false}, {}};
    const DeviceMesh mesh(slice, {{"expert", {{0, 1, 2}, {0, 2, 2}}}, {"data", {{1, 1, 2}}}});
    Collective exchange{Operation::all_to_all, Purpose::expert, {"expert"}, sim::Bytes(64)};
    EXPECT_TRUE(ends_of(exchange, slice, mesh).loads.empty());
    exchange.loads = {2, 1, 0.75, 0.25};
    exchange.returning = true;
    const collectives::Ends ends = ends_of(exchange, slice, mesh);
    EXPECT_EQ(ends.loads, (std::vector<double>{2, 0.75, 1, 0.25}));
    EXPECT_TRUE(ends.returning);
}

// With several programs, the largest value of each kind counts.
TEST(RooflineLinks, TheProgramWithMostCounts) {
    MachineRates machine = link_rates(1, 1, 1);
    machine.flops = sim::FlopsPerSecond(1);
    machine.hbm = sim::BytesPerSecond(1);
    machine.vpu = sim::FlopsPerSecond(1);
    const auto compute = [](double flops, double bytes, double vector) {
        return Compute{sim::Flops(flops), {}, sim::Bytes(bytes), sim::Flops(vector)};
    };
    StepPrograms programs;
    programs.programs = {program_of({compute(10, 1, 2), compute(5, 1, 1)}),
                         program_of({compute(12, 7, 5)})};
    programs.axes = {"pipeline", "context"};
    const DeviceMesh mesh(one_ring(2), {{"context", {{0, 1, 2}}}});
    const LowerBound lower = roofline_lower(programs, one_ring(2), mesh, machine);
    EXPECT_EQ(lower.compute.value(), 15);
    EXPECT_EQ(lower.hbm.value(), 7);
    EXPECT_EQ(lower.vpu.value(), 5);
    EXPECT_EQ(lower.time.value(), 15);
    EXPECT_EQ(roofline_serial(programs, one_ring(2), mesh, machine).value(), 15);
}

}  // namespace
}  // namespace podsim::workloads
