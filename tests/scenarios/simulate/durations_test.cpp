// Durations of tasks: one rule for the operations of steps and the stages of programs.
#include <gtest/gtest.h>
#include <map>
#include <string>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/lower_program.h"
#include "scenarios/src/simulate/rates.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

/// A chip of round numbers: 1 TFLOP/s of bf16, 2 of int8, 4 of fp8, 1 GB/s of HBM, 1 GB/s of PCIe
/// without latency, 5 us for a collective's launch.
IdealHardware round_machine(int slices = 1) {
    IdealHardware hardware;
    hardware.chip = topology::find_chip("v5e");
    hardware.chip.bf16_flops.value = sim::FlopsPerSecond(1e12);
    hardware.chip.int8_ops.value = sim::FlopsPerSecond(2e12);
    hardware.chip.fp8_flops.value = sim::FlopsPerSecond(4e12);
    hardware.chip.mxu_dimension.value = 1;
    hardware.chip.hbm_bandwidth.value = sim::BytesPerSecond(1e9);
    hardware.chip.pcie_one_way.value = sim::BytesPerSecond(1e9);
    hardware.chip.pcie_latency.value = sim::Seconds(0);
    hardware.chip.collective_launch.value = sim::Seconds(5e-6);
    hardware.shape = {4, 4, 1};
    hardware.slice = topology::make_slice(hardware.chip, hardware.shape, false);
    hardware.slices = slices;
    return hardware;
}

workloads::Compute matmul(workloads::MatmulDtype dtype) {
    workloads::Compute work;
    work.flops = sim::Flops(8e6);
    work.matmuls = {{100, 200, 200, 1}};
    work.dtype = dtype;
    return work;
}

Program one_stage(decltype(Stage::work) work) {
    Program program;
    program.stages.push_back({"stage", std::move(work)});
    return program;
}

std::int64_t time_of(const IdealHardware& hardware, decltype(Stage::work) work) {
    return simulate_program(hardware, one_stage(std::move(work)), Fold::automatic).time.ps;
}

// The matmul asks for 20 kB evenly over its 8 us, 2.5 GB/s. The HBM has 1 GB/s and alone takes
// 20 us; the longer of the two counts.
TEST(Durations, WorkAsksForItsBytesEvenly) {
    IdealHardware ideal = round_machine();
    workloads::Compute work = matmul(workloads::MatmulDtype::bf16);
    work.hbm = sim::Bytes(20e3);
    const auto timed = [&] { return Durations(AchievedHardware(ideal)).timed(work); };
    EXPECT_EQ(timed().duration.ps, 20'000'000);
    EXPECT_EQ(timed().demand, 1'000'000'000);
    work.hbm = sim::Bytes(4e3);
    EXPECT_EQ(timed().duration.ps, 8'000'000);
    EXPECT_EQ(timed().demand, 500'000'000);
    // At a pace of 2 over four slices it asks for half of that rate.
    ideal.slices = 4;
    ideal.efficiency.straggler = 0.5;
    EXPECT_EQ(timed().duration.ps, 16'000'000);
    EXPECT_EQ(timed().demand, 250'000'000);
}

TEST(MemoryRate, IsWhatTheHbmReachesWhereItIsShared) {
    IdealHardware ideal = round_machine();
    ideal.efficiency.hbm = 0.75;
    EXPECT_EQ(memory_rate(AchievedHardware(ideal)), 750'000'000);
    ideal.hbm = HbmRule::separate;
    EXPECT_EQ(memory_rate(AchievedHardware(ideal)), 0);
    ideal.hbm = HbmRule::shared;
    ideal.chip.hbm_bandwidth.value = sim::BytesPerSecond::infinity();
    EXPECT_EQ(memory_rate(AchievedHardware(ideal)), 0);
}

// The pace grows with log2 of the number of slices, linearly between powers of two.
TEST(Pace, IsTheSlowestOfTheSlices) {
    IdealHardware hardware = round_machine();
    hardware.efficiency.straggler = 0.25;
    const auto pace = [&](int slices) {
        hardware.slices = slices;
        return pace_of_slowest_slice(AchievedHardware(hardware));
    };
    EXPECT_EQ(pace(1), 1);
    EXPECT_EQ(pace(2), 1.25);
    EXPECT_EQ(pace(3), 1.375);
    EXPECT_EQ(pace(4), 1.5);
    EXPECT_EQ(pace(5), 1.5625);
    EXPECT_EQ(pace(6), 1.625);
    EXPECT_EQ(pace(7), 1.6875);
    EXPECT_EQ(pace(8), 1.75);
    EXPECT_EQ(pace(48), 1 + 0.25 * 5.5);
}

TEST(Durations, AreThoseOfTheKindOfOperation) {
    IdealHardware hardware = round_machine(2);
    hardware.efficiency.straggler = 0.25;
    hardware.efficiency.launch_s = 1e-6;
    const Durations durations{AchievedHardware(hardware)};
    const auto of = [&](workloads::Work work) {
        workloads::Op op;
        op.work = std::move(work);
        return durations.of(op).ps;
    };
    EXPECT_EQ(of(matmul(workloads::MatmulDtype::bf16)), 10'000'000);  // 8 us, and a quarter
    EXPECT_EQ(of(workloads::Collective{}), 6'000'000);
    EXPECT_EQ(of(workloads::Handover{}), 6'000'000);
    EXPECT_EQ(of(workloads::HostTransfer{}), 0);
    EXPECT_EQ(durations.launch().ps, 6'000'000);
}

// 8 us of matmul, 1 us of start, 3 sequences of 0.5 us; without work nothing starts.
TEST(Durations, KernelsHaveAStartAndGoThroughSequences) {
    IdealHardware hardware = round_machine();
    hardware.efficiency.kernel_s = 1e-6;
    hardware.efficiency.sequence_s = 5e-7;
    const Durations durations{AchievedHardware(hardware)};
    workloads::Compute work = matmul(workloads::MatmulDtype::bf16);
    EXPECT_EQ(durations.of(work).ps, 9'000'000);
    work.sequences = 3;
    EXPECT_EQ(durations.of(work).ps, 10'500'000);
    workloads::Compute nothing;
    nothing.sequences = 3;
    EXPECT_EQ(durations.of(nothing).ps, 0);
}

// 16 kB over 16 chips are 1 us each: no other chip has to be ready, so nothing is launched.
TEST(Programs, HostTransfersHaveNoLaunchCost) {
    const IdealHardware hardware = round_machine();
    for (const auto direction :
         {collectives::HostDirection::to_chip, collectives::HostDirection::to_host}) {
        EXPECT_EQ(time_of(hardware, HostTransfer{direction, sim::Bytes(16e3)}), 1'000'000);
    }
}

TEST(Programs, CollectivesHaveALaunchCost) {
    IdealHardware hardware = round_machine();
    const StageCollective gather{.operation = collectives::Operation::all_gather,
                                 .members = {{{0, 1, 4}}, {}},
                                 .bytes = sim::Bytes(4e6)};
    const std::int64_t with = time_of(hardware, gather);
    hardware.chip.collective_launch.value = sim::Seconds(0);
    EXPECT_EQ(with - time_of(hardware, gather), 5'000'000);
    hardware.efficiency.launch_s = 2e-6;
    EXPECT_EQ(with - time_of(hardware, gather), 3'000'000);
}

// 16 kB of HBM per chip at 1 GB/s are 16 us; 3 slices keep the pace of the slowest.
TEST(Programs, KeepThePaceOfTheSlowestSlice) {
    IdealHardware hardware = round_machine(3);
    hardware.efficiency.straggler = 0.25;
    StageCompute read;
    read.work.hbm = sim::Bytes(16e3);
    EXPECT_EQ(time_of(hardware, read), 22'000'000);
    hardware.slices = 1;
    EXPECT_EQ(time_of(hardware, read), 16'000'000);
}

// 8 MFLOP at 1, 2 and 4 TFLOP/s.
TEST(Programs, MultiplyAtTheRateOfTheirDtype) {
    const IdealHardware hardware = round_machine();
    const auto of = [&](workloads::MatmulDtype dtype) {
        StageCompute stage;
        stage.work = matmul(dtype);
        const ProgramResult result = simulate_program(hardware, one_stage(stage), Fold::automatic);
        EXPECT_EQ(sim::round_up(result.lower), result.time);
        EXPECT_EQ(result.stages[0].resource, "mxu");
        return result.time.ps;
    };
    EXPECT_EQ(of(workloads::MatmulDtype::bf16), 8'000'000);
    EXPECT_EQ(of(workloads::MatmulDtype::int8), 4'000'000);
    EXPECT_EQ(of(workloads::MatmulDtype::fp8), 2'000'000);
}

// Pairs of neighbours send each other 1 MB over a link of 1 GB/s that reaches half of it, with 1 us
// of latency and launches of 5 and 1 us: 2 ms + 7 us. The bound, on the ideal machine, is 1 ms.
TEST(Programs, OfOneCollectiveHaveAGapThatAddsUpUnderAnyProfile) {
    IdealHardware hardware = round_machine();
    hardware.chip.ici_one_way_book.value = sim::BytesPerSecond(1e9);
    hardware.chip.ici_latency.value = sim::Seconds(1e-6);
    hardware.efficiency.ici = 0.5;
    hardware.efficiency.launch_s = 1e-6;
    const StageCollective gather{.operation = collectives::Operation::all_gather,
                                 .members = {{{0, 1, 2}}, {}},
                                 .bytes = sim::Bytes(2e6)};
    const ProgramResult result = simulate_program(hardware, one_stage(gather), Fold::automatic);
    EXPECT_EQ(result.time.ps, 2'007'000'000);
    EXPECT_EQ(sim::round_down(result.lower).ps, 1'000'000'000);
    std::map<std::string, std::int64_t> terms;
    for (const Share& term : result.gap) {
        terms[term.name] = term.time.ps;
    }
    EXPECT_EQ(terms,
              (std::map<std::string, std::int64_t>{{"launch", 6'000'000},
                                                   {"latency", 1'000'000},
                                                   {"uneven load", 0},
                                                   {"idle", 0},
                                                   {"links below their rate", 1'000'000'000}}));
    ASSERT_TRUE(result.book.has_value());
    EXPECT_EQ(samples::sum(result.gap_to_book).ps,
              result.time.ps - sim::round_down(*result.book).ps);
}

/// Each stage has two segments, of which the second follows the first at each stage: HBM at half
/// the bytes, matmuls at half their inner dimension, transfers at half their bytes, in the
/// pipeline's order.
TEST(Programs, CutEveryStageInPieces) {
    const IdealHardware hardware = round_machine();
    Program program;
    program.pieces = 2;
    program.stages.push_back(
        {"load", HostTransfer{collectives::HostDirection::to_chip, sim::Bytes(16 * 8e3)}});
    StageCompute multiply;
    multiply.work = matmul(workloads::MatmulDtype::bf16);
    program.stages.push_back({"multiply", multiply});
    const ProgramResult result = simulate_program(hardware, program, Fold::automatic);
    // Loads of 4 us each, from 0 and from 4; products of 4 us each, from 4 and from 8.
    EXPECT_EQ(result.time.ps, 12'000'000);
    EXPECT_EQ(result.stages[0].began.ps, 0);
    EXPECT_EQ(result.stages[0].ended.ps, 8'000'000);
    EXPECT_EQ(result.stages[1].began.ps, 4'000'000);
    EXPECT_EQ(result.stages[1].ended.ps, 12'000'000);
    EXPECT_EQ(result.limiting, 0U);
    EXPECT_EQ(result.lower, sim::Seconds(8e-6));
    EXPECT_EQ(result.serial.value(), 16e-6);
    ASSERT_EQ(result.gap.size(), 3U);
    EXPECT_EQ(result.gap[0].name, "before load");
    EXPECT_EQ(result.gap[0].time.ps, 0);
    EXPECT_EQ(result.gap[1].name, "load beyond its bound");
    EXPECT_EQ(result.gap[1].time.ps, 8'000'000 - sim::round_down(result.lower).ps);
    EXPECT_EQ(result.gap[2].name, "after load");
    EXPECT_EQ(result.gap[2].time.ps, 4'000'000);
    EXPECT_FALSE(result.book.has_value());
}

/// Blocking tensor collectives are on the chain, so each adds a launch to the step.
TEST(Steps, PayALaunchForEveryCollectiveOnTheChain) {
    Scenario scenario = samples::make_scenario("v5p", {4, 1, 1}, samples::small_model(3),
                                               {{"tensor", "x"}}, 4, 512);
    scenario.step().plan.forward_only = true;
    scenario.step().plan.layers_only = true;
    const auto step = [&](double launch) {
        scenario.hardware.chip.collective_launch.value = sim::Seconds(launch);
        return simulate_step(scenario, Fold::automatic, {.explain = false});
    };
    const StepResult without = step(0);
    std::int64_t collectives = 0;
    for (const Span& span : spans_of(without.reported_chip)) {
        collectives += span.track == "tensor" ? 1 : 0;
    }
    EXPECT_EQ(collectives, 3 * 4);  // a gather and a scatter around attention, and around the MLP
    EXPECT_EQ((step(7e-6).step_time - without.step_time).ps, collectives * 7'000'000);
}

}  // namespace
}  // namespace podsim::scenarios
