// HBM bytes of a run by their movers: exactly the sums over operations.
#include "scenarios/src/simulate/hbm_use.h"

#include <gtest/gtest.h>
#include <map>

#include "collectives/algorithms/host_transfer.h"
#include "scenarios/src/simulate/lower_collective.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

IdealHardware shared_v5p() {
    IdealHardware hardware;
    hardware.chip = topology::find_chip("v5p");
    hardware.shape = {4, 4, 4};
    hardware.slice = topology::make_slice(hardware.chip, hardware.shape, false);
    hardware.hbm = HbmRule::shared;
    return hardware;
}

/// Returns the bytes of one operation, and of kernels of 5 GB, in a second.
std::map<std::string, double> bytes_of(collectives::Operation operation, double bytes) {
    const AchievedHardware hardware(shared_v5p());
    StageCollective collective;
    collective.operation = operation;
    collective.members = {{{0, 1, 4}}, {}};
    collective.bytes = sim::Bytes(bytes);
    collective.algorithm = collectives::Algorithm::two_way;
    const Layout layout = layout_of(hardware, collective, Fold::off);
    const Lone lone = lower_lone(hardware, collective, collectives::Algorithm::two_way, layout);
    const std::vector<sim::Bytes> kernels{sim::Bytes(5e9)};
    const LinkUse use = hbm_use(lone.workload, kernels, layout, sim::Time{1'000'000'000'000});
    std::map<std::string, double> by;
    for (const auto& [user, share] : use.by_user) {
        by[user] = share * 2.8e12;
    }
    EXPECT_NEAR(use.bytes.value(), by["kernels"] + by["collectives"] + by["host transfers"], 1);
    EXPECT_NEAR(use.busy_fraction * 2.8e12, use.bytes.value(), 1);
    EXPECT_NEAR(by["kernels"], 5e9, 1);
    return by;
}

// A member of four sends and receives 3/4 V of V bytes. An AllGather reads and writes these once; a
// ReduceScatter's sums take 1 + 4 passes; an AllReduce is both.
TEST(HbmUse, CollectivesReadAndWriteWhatTheyMove) {
    constexpr double kV = 1ULL << 32;  // messages of whole bytes
    EXPECT_NEAR(bytes_of(collectives::Operation::all_gather, kV)["collectives"], 1.5 * kV, 1e-3);
    EXPECT_NEAR(bytes_of(collectives::Operation::reduce_scatter, kV)["collectives"], 3.75 * kV,
                1e-3);
    EXPECT_NEAR(bytes_of(collectives::Operation::all_reduce, kV)["collectives"], 5.25 * kV, 1e-3);
    EXPECT_EQ(bytes_of(collectives::Operation::all_gather, kV)["host transfers"], 0);
}

// Bytes sent to the host are read, bytes received are written, once each.
TEST(HbmUse, HostTransfersMoveTheirBytesOnce) {
    const AchievedHardware hardware(shared_v5p());
    const Layout layout = lay_out(hardware, Fold::automatic, {{{{0, 1, 4}}, {}}});
    collectives::ShiftTable shifts = layout.shifts();
    sim::Workload workload;
    for (const auto direction :
         {collectives::HostDirection::to_chip, collectives::HostDirection::to_host}) {
        workload.schedules.push_back(
            collectives::build_host_transfer(direction, sim::Bytes(3e9), sim::Bytes(4e6), shifts));
        workload.operations.push_back(
            {.schedule = static_cast<std::uint32_t>(workload.operations.size())});
    }
    workload.operations.push_back({.schedule = 1});
    workload.machine = build_machine(hardware, shifts, shifts.uses_hosts());
    workload.graph_of_place.assign(workload.machine.places, 0);
    const std::vector<sim::Bytes> kernels{sim::Bytes(0)};
    const LinkUse use = hbm_use(workload, kernels, layout, sim::Time{1'000'000'000'000});
    EXPECT_NEAR(use.by_user[2].second * 2.8e12, 9e9, 1);
    EXPECT_EQ(use.by_user[1].second, 0);
}

// No HBM exceeds its rate, in steps of every kind.
TEST(HbmUse, IsNeverAboveOne) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        Scenario scenario = samples::random_scenario(random);
        scenario.hardware.hbm = HbmRule::shared;
        const StepResult result =
            simulate_step(scenario, Fold::automatic, {.reuse = true, .explain = false});
        ASSERT_EQ(result.links.back().name, "hbm");
        EXPECT_LE(result.links.back().busiest_fraction, 1 + 1e-9);
        EXPECT_GT(result.links.back().busy_fraction, 0);
    }
}

}  // namespace
}  // namespace podsim::scenarios
