// The lower bound of an HBM that kernels and messages share, by hand.
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "tests/workloads/bounds/by_hand.h"
#include "workloads/bounds/least_traffic.h"
#include "workloads/bounds/roofline.h"

namespace podsim::workloads {
namespace {

using collectives::HostDirection;
using collectives::Operation;
using samples::kNever;
using samples::one_ring;
using samples::program_of;
using topology::DeviceMesh;
using topology::Lattice;

/// An HBM of 4 bytes a second behind links that never bound the time.
MachineRates shared(double ici = 1e9, double pcie = 1e9) {
    MachineRates machine{sim::FlopsPerSecond(1), sim::BytesPerSecond(4), sim::BytesPerSecond(ici)};
    machine.between_slices = {
        .pcie = sim::BytesPerSecond(pcie), .dcn = sim::BytesPerSecond(1e9), .hosts = 1};
    machine.hbm_shared = true;
    return machine;
}

Collective over(const char* axis, Operation operation, double bytes) {
    return {operation, Purpose::weights, {axis}, sim::Bytes(bytes)};
}

Compute reads(double bytes) {
    return {.flops = {}, .matmuls = {}, .hbm = sim::Bytes(bytes)};
}

double hbm_of(const StepPrograms& programs, const Lattice& slice, const DeviceMesh& mesh,
              const MachineRates& machine = shared()) {
    return roofline_lower(programs, slice, mesh, machine).hbm.value();
}

// Four members have 64 bytes. An AllGather reads 16 and writes 48: 16 s at 4 a second, the only
// traffic of the step. With a private HBM the links bound it: 48 bytes over two at 1e9 a second.
TEST(RooflineMemory, AnAllGatherAloneReadsItsShardAndWritesTheRest) {
    const DeviceMesh mesh(one_ring(4), {{"fsdp", {{0, 1, 4}}}});
    const StepProgram program = program_of({over("fsdp", Operation::all_gather, 64)});
    const LowerBound lower = roofline_lower(program, one_ring(4), mesh, shared());
    EXPECT_EQ(lower.time.value(), 16);
    EXPECT_EQ(lower.bound, "hbm");
    EXPECT_EQ(lower.hbm_kernels.value(), 0);
    MachineRates machine = shared();
    machine.hbm_shared = false;
    const LowerBound apart = roofline_lower(program, one_ring(4), mesh, machine);
    EXPECT_EQ(apart.time.value(), 48 / 2e9);
    EXPECT_EQ(apart.hbm.value(), 0);
    EXPECT_EQ(apart.bound, "ici x");
    EXPECT_EQ(roofline_serial(program, one_ring(4), mesh, shared()),
              roofline_serial(program, one_ring(4), mesh, machine));
}

// Kernels move 20 bytes. Collectives of 64 bytes among four move: AllGather 64, ReduceScatter 64 +
// 16 + 2 x 48, AllReduce 64 + 64 + 2 x 48, AllToAll 12 in each direction. One member moves nothing.
TEST(RooflineMemory, KernelsAndEveryCollectiveAddUp) {
    const DeviceMesh mesh(one_ring(4), {{"fsdp", {{0, 1, 4}}}});
    const auto total = [&](Operation operation) {
        return 4 * hbm_of(program_of({reads(12), over("fsdp", operation, 64), reads(8)}),
                          one_ring(4), mesh);
    };
    EXPECT_EQ(total(Operation::all_gather), 20 + 64);
    EXPECT_EQ(total(Operation::reduce_scatter), 20 + 176);
    EXPECT_EQ(total(Operation::all_reduce), 20 + 224);
    EXPECT_EQ(total(Operation::all_to_all), 20 + 24);
    EXPECT_EQ(4 * hbm_of(program_of({reads(20), over("data", Operation::all_reduce, 64)}),
                         one_ring(4), mesh),
              20);
    const LowerBound lower =
        roofline_lower(program_of({reads(12), over("fsdp", Operation::all_gather, 64)}),
                       one_ring(4), mesh, shared());
    EXPECT_EQ(lower.hbm_kernels.value(), 3);
}

// Bytes to the host are read, bytes from it are written: 60 + 100. With two slices of two the
// members are all four, not the two of a slice.
TEST(RooflineMemory, HostsAndOtherSlices) {
    EXPECT_EQ(4 * hbm_of(program_of({HostTransfer{HostDirection::to_host, sim::Bytes(60)},
                                     HostTransfer{HostDirection::to_chip, sim::Bytes(100)}}),
                         one_ring(1), {}),
              160);
    const DeviceMesh mesh(one_ring(2),
                          {{"data", {{topology::kSliceAxis, 1, 2}}}, {"fsdp", {{0, 1, 2}}}}, 2);
    Collective both = over("data", Operation::reduce_scatter, 64);
    EXPECT_EQ(4 * hbm_of(program_of({both}), one_ring(2), mesh), 3 * 64 - 32);
    both.axes = {"data", "fsdp"};
    EXPECT_EQ(4 * hbm_of(program_of({both}), one_ring(2), mesh), 3 * 64 - 16);
    // Each member exchanges blocks of 4 with three others; within one slice it would be one of 16.
    both.operation = Operation::all_to_all;
    EXPECT_EQ(memory_traffic(program_of({both}), 0, mesh, shared()).each.value(), 24);
}

// The first of two stages reads the 30 bytes that it hands
// over, the second writes them, beside its own kernels.
TEST(RooflineMemory, HandoversAreReadAndWritten) {
    const DeviceMesh mesh(one_ring(2), {{"pipeline", {{0, 1, 2}}}});
    const auto stages = [&](double first, double second) {
        StepPrograms programs;
        programs.programs = {
            program_of({reads(first), Handover{.sends = true, .peer = 1, .bytes = sim::Bytes(30)}}),
            program_of(
                {Handover{.sends = false, .peer = 0, .bytes = sim::Bytes(30)}, reads(second)})};
        programs.stages = 2;
        programs.axes = {"pipeline"};
        return 4 * hbm_of(programs, one_ring(2), mesh);
    };
    EXPECT_EQ(stages(10, 20), 50);
    EXPECT_EQ(stages(20, 10), 50);
}

// Two members of a stage reduce 64 bytes: 3 x 64 - 32 on the mean of the two, and at least 64 (32
// sent, 32 received) at each. With kernels of 10 and 20 bytes the mean is (10 + 20) / 2 + 160,
// above 20 + 64. With 300 and 20 it is at most 320, and the first has 364.
TEST(RooflineMemory, UnequalMembersHaveTheMeanTogetherAndTheLeastEach) {
    const DeviceMesh mesh(one_ring(2), {{"context", {{0, 1, 2}}}});
    const auto members = [&](double first, double second) {
        StepPrograms programs;
        const Collective sum = over("context", Operation::reduce_scatter, 64);
        programs.programs = {program_of({reads(first), sum}), program_of({reads(second), sum})};
        programs.axes = {"pipeline", "context"};
        return roofline_lower(programs, one_ring(2), mesh, shared());
    };
    EXPECT_EQ(4 * members(10, 20).hbm.value(), 175);
    EXPECT_EQ(4 * members(10, 20).hbm_kernels.value(), 15);
    EXPECT_EQ(4 * members(300, 20).hbm.value(), 364);
    EXPECT_EQ(4 * members(20, 300).hbm_kernels.value(), 300);
}

// An exchange of 64 among four has pairs of 4: a member
// that takes twice the mean receives 24 and sends 8.
TEST(RooflineMemory, OfUnequalExchangesEachChipsOwn) {
    const DeviceMesh mesh(one_ring(4), {{"expert", {{0, 1, 4}}}});
    Collective exchange = over("expert", Operation::all_to_all, 64);
    exchange.loads = {2, 1, 0.5, 0.5};
    StepPrograms programs;
    programs.programs.assign(4, program_of({exchange}));
    programs.axes = {"pipeline", "expert"};
    EXPECT_EQ(memory_traffic(programs, 0, mesh, shared()).each.value(), 24 + 8);
    EXPECT_EQ(memory_traffic(programs, 2, mesh, shared()).mean.value(), 6 + 14);
    EXPECT_EQ(4 * hbm_of(programs, one_ring(4), mesh), 32);
}

// The last three of four members send 40 bytes: 30 read and 30 written on the mean, and with sums
// 30 read again. All steps of a gather together count as one collective.
TEST(RooflineMemory, RingSteps) {
    const DeviceMesh mesh(one_ring(4), {{"context", {{0, 1, 4}}}});
    Collective step = over("context", Operation::all_gather, 40);
    step.step.emplace();
    step.step->bytes = sim::Bytes(40);
    EXPECT_EQ(4 * hbm_of(program_of({step}), one_ring(4), mesh), 40);
    step.step->senders = {1, 3};
    EXPECT_EQ(4 * hbm_of(program_of({step}), one_ring(4), mesh), 60);
    EXPECT_EQ(memory_traffic(program_of({step}), 0, mesh, shared()).each.value(), 0);
    step.operation = Operation::reduce_scatter;
    EXPECT_EQ(4 * hbm_of(program_of({step}), one_ring(4), mesh), 90);
}

// A link of infinite rate is held for no time, in which nothing is read or written.
TEST(RooflineMemory, NothingGoesOverLinksThatTakeNoTime) {
    const DeviceMesh mesh(one_ring(2),
                          {{"data", {{topology::kSliceAxis, 1, 2}}}, {"fsdp", {{0, 1, 2}}}}, 2);
    const StepProgram within = program_of({over("fsdp", Operation::all_gather, 64)});
    const StepProgram between = program_of({over("data", Operation::all_gather, 64)});
    const StepProgram host = program_of({HostTransfer{HostDirection::to_host, sim::Bytes(60)}});
    EXPECT_EQ(hbm_of(within, one_ring(2), mesh, shared(kNever)), 0);
    EXPECT_EQ(hbm_of(within, one_ring(2), mesh, shared(1e9, kNever)), 16);
    EXPECT_EQ(hbm_of(between, one_ring(2), mesh, shared(kNever)), 16);
    EXPECT_EQ(hbm_of(between, one_ring(2), mesh, shared(1e9, kNever)), 0);
    EXPECT_EQ(hbm_of(host, one_ring(2), mesh, shared(kNever)), 15);
    EXPECT_EQ(hbm_of(host, one_ring(2), mesh, shared(1e9, kNever)), 0);
    StepPrograms stages;
    stages.programs = {program_of({Handover{.sends = true, .peer = 1, .bytes = sim::Bytes(32)}}),
                       program_of({Handover{.sends = false, .peer = 0, .bytes = sim::Bytes(32)}})};
    stages.stages = 2;
    stages.axes = {"pipeline"};
    const DeviceMesh near(one_ring(2), {{"pipeline", {{0, 1, 2}}}});
    EXPECT_EQ(hbm_of(stages, one_ring(2), near, shared(kNever)), 0);
    EXPECT_EQ(hbm_of(stages, one_ring(2), near, shared(1e9, kNever)), 8);
    const DeviceMesh far(one_ring(2),
                         {{"pipeline", {{topology::kSliceAxis, 1, 2}}}, {"fsdp", {{0, 1, 2}}}}, 2);
    EXPECT_EQ(hbm_of(stages, one_ring(2), far, shared(kNever)), 8);
    EXPECT_EQ(hbm_of(stages, one_ring(2), far, shared(1e9, kNever)), 0);
}

}  // namespace
}  // namespace podsim::workloads
