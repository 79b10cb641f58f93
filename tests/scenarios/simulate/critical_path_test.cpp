// The critical path: by hand on small machines, and as an exact account of whole steps.
#include "scenarios/src/simulate/critical_path.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/rates.h"
#include "sim/executor/executor.h"
#include "tests/scenarios/simulate/step_support.h"
#include "tests/sim/kernel_support.h"
#include "workloads/bounds/compute_time.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using samples::random_scenario;
using samples::sum;
using sim::operation;
using sim::row_of;
using sim::schedule_of;
using sim::work;
using sim::workload_of;

using Times = std::map<std::string, std::int64_t>;

Times times(const std::vector<Share>& shares) {
    Times times;
    for (const Share& share : shares) {
        EXPECT_GT(share.time.ps, 0) << share.name;
        EXPECT_TRUE(times.emplace(share.name, share.time.ps).second) << share.name;
    }
    return times;
}

std::vector<Share> path_of(const sim::Workload& workload,
                           const std::vector<std::vector<std::string>>& resources) {
    RunRecord record(workload);
    const sim::ExecutionResult result = sim::execute(workload, &record);
    return trace_critical_path(workload, resources, record, result.end);
}

// Position 0 sends 1000 B, 1 B a picosecond, over three links of latency 70, after 50 of work and a
// launch of 5; position 3 works 200 on the data. Cut through: each link adds its latency, the bytes
// count once.
TEST(CriticalPath, OfASendIsItsBytesOnceAndALatencyALink) {
    const auto schedule =
        schedule_of({{.role = 0, .distance = 3, .bytes = 1000, .to_role = 1}}, 3, {0, 2, 2, 1});
    auto send = operation(0, {5});
    send.after = {0};
    const sim::Workload workload =
        workload_of(row_of(4, false, {70}), {schedule}, {work(50), send, work(200, 0, {1})});
    const Times path = times(path_of(workload, {{"MXU", "", "HBM"}}));
    EXPECT_EQ(path,
              (Times{{"MXU", 50}, {"launch", 5}, {"ICI x", 1000}, {"latency", 210}, {"HBM", 200}}));
}

// The second link is four times as slow as its neighbours. The message leaves the third link when
// its last byte has crossed the second, and the end waits for that.
TEST(CriticalPath, GoesByTheSlowestOfTheLinksThatAMessageCrosses) {
    sim::Machine machine = row_of(4, false, {70});
    machine.links[machine.link(1, 0)].rate = sim::BytesPerSecond(0.25e12);
    const auto schedule =
        schedule_of({{.role = 0, .distance = 3, .bytes = 1000, .to_role = 1}}, 3, {0, 2, 2, 1});
    const sim::Workload workload = workload_of(machine, {schedule}, {operation(0)});
    EXPECT_EQ(times(path_of(workload, {{""}})), (Times{{"ICI x", 4000}, {"latency", 210}}));
}

// Two collectives send 1000 and 300 B over the same link at once. The second ends the run and has
// waited for the first: the link is on the path for both messages, its latency once.
TEST(CriticalPath, StaysOnALinkThatIsNeverIdle) {
    const std::vector<sim::Schedule> schedules{
        schedule_of({{.role = 0, .distance = 1, .bytes = 1000, .to_role = 1}}, 2, {0, 1}),
        schedule_of({{.role = 0, .distance = 1, .bytes = 300, .to_role = 1}}, 2, {0, 1})};
    const sim::Workload workload =
        workload_of(row_of(2, false, {70}), schedules, {operation(0), operation(1)});
    EXPECT_EQ(times(path_of(workload, {{"", ""}})), (Times{{"ICI x", 1300}, {"latency", 70}}));
}

// A message that another chip forwards after a join, to a chip that works half as fast: its second
// half is `slow chips`.
TEST(CriticalPath, GoesThroughJoinsAndNamesSlowChips) {
    sim::Machine machine = row_of(3, false, {70});
    machine.slowdown = {1, 1, 2};
    // Position 0 sends to position 1, where a join lets position 1 send on to position 2.
    const auto schedule =
        schedule_of({{.role = 0, .distance = 1, .bytes = 1000, .to_role = 1},
                     {.role = 1, .distance = 0, .after = {0}, .to_role = 1},
                     {.role = 1, .distance = 1, .bytes = 500, .after = {1}, .to_role = 2}},
                    3, {0, 1, 2});
    const sim::Workload workload =
        workload_of(machine, {schedule}, {operation(0), work(400, 0, {0})});
    EXPECT_EQ(times(path_of(workload, {{"", "MXU"}})),
              (Times{{"ICI x", 1500}, {"latency", 140}, {"MXU", 400}, {"slow chips", 400}}));
}

// Work skipped as a repeat is on the path as if it had been played.
TEST(CriticalPath, AddsUpToTheStepAndIsTheSameWithoutReuseOrFolding) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        Scenario scenario = random_scenario(random);
        scenario.hardware.hbm = seed % 2 == 0 ? HbmRule::shared : HbmRule::separate;
        const StepResult result = simulate_step(scenario, Fold::automatic);
        EXPECT_EQ(sum(result.critical_path), result.step_time);
        const Times path = times(result.critical_path);
        EXPECT_EQ(times(simulate_step(scenario, Fold::automatic, {.reuse = false}).critical_path),
                  path);
        EXPECT_EQ(times(simulate_step(scenario, Fold::off).critical_path), path);
    }
}

// Arrivals of one instant are recorded in another order if repeats are skipped; the path is
// the same.
TEST(CriticalPath, DoesNotDependOnTheOrderOfArrivalsAtAnInstant) {
    Scenario scenario = samples::make_scenario(
        "v5p", {2, 4, 4}, samples::small_model(12),
        {{"context", "x"}, {"tensor", "y%2 z%2"}, {"data", "y/2"}, {"fsdp", "z/2"}}, 16, 512);
    scenario.hardware.latency = LatencyRule::floor;
    EXPECT_EQ(times(simulate_step(scenario, Fold::automatic).critical_path),
              times(simulate_step(scenario, Fold::automatic, {.reuse = false}).critical_path));
}

// 8 MFLOP at 1 TFLOP/s, bytes at 1 GB/s, elementwise operations at 1 GFLOP/s: the longest time
// decides. Among equals the MXU precedes HBM, and both precede the VPU.
TEST(CriticalPath, NamesTheResourceThatAnOperationTakesLongestOn) {
    workloads::MachineRates rates;
    rates.flops = sim::FlopsPerSecond(1e12);
    rates.hbm = sim::BytesPerSecond(1e9);
    rates.vpu = sim::FlopsPerSecond(1e9);
    rates.mxu_dimension = 1;
    const auto resource = [&](double flops, double bytes, double vector) {
        workloads::Compute work;
        work.flops = sim::Flops(flops);
        work.hbm = sim::Bytes(bytes);
        work.vector = sim::Flops(vector);
        return resource_of(work, rates);
    };
    EXPECT_EQ(resource(8e6, 7e3, 6e3), "MXU");
    EXPECT_EQ(resource(7e6, 8e3, 6e3), "HBM");
    EXPECT_EQ(resource(6e6, 7e3, 8e3), "VPU");
    EXPECT_EQ(resource(8e6, 8e3, 0), "MXU");
    EXPECT_EQ(resource(8e6, 0, 8e3), "MXU");
    EXPECT_EQ(resource(0, 8e3, 8e3), "HBM");
    // A wait for the host alone is on no resource of the chip: 8 us.
    workloads::Compute host;
    host.host_turns = 1;
    rates.efficiency.host_s = 8e-6;
    EXPECT_EQ(resource_of(host, rates), "host");
}

// On one chip the path has every operation, each on its resource.
TEST(CriticalPath, OfOneChipHasEveryOperationOnItsResource) {
    const Scenario scenario =
        samples::make_scenario("v5e", {1, 1, 1}, samples::small_model(2), {}, 2, 300);
    const workloads::MachineRates rates = achieved_rates(AchievedHardware(scenario.hardware));
    Times expected;
    for (const workloads::Op& op :
         workloads::build_step(scenario.step().model, scenario.step().plan).ops) {
        const auto time = workloads::compute_time(std::get<workloads::Compute>(op.work), rates);
        const std::int64_t ps = sim::round_up(time.total()).ps;
        expected[time.vpu > std::max(time.mxu_reached, time.hbm) ? "VPU"
                 : time.hbm > time.mxu_reached                   ? "HBM"
                                                                 : "MXU"] += ps;
    }
    EXPECT_EQ(times(simulate_step(scenario, Fold::automatic).critical_path), expected);
}

// The critical path of a step that never waits consists of its compute only.
TEST(CriticalPath, OfOneChipIsItsCompute) {
    const Scenario scenario =
        samples::make_scenario("v5e", {1, 1, 1}, samples::small_model(12), {}, 2, 256);
    const StepResult result = simulate_step(scenario, Fold::automatic);
    sim::Time compute;
    for (const Share& share : result.critical_path) {
        EXPECT_TRUE(share.name == "MXU" || share.name == "HBM") << share.name;
        compute += share.time;
    }
    EXPECT_EQ(compute, result.compute);
}

}  // namespace
}  // namespace podsim::scenarios
