// A step of two chips with all times computed by hand.
#include <gmock/gmock.h>
#include <map>

#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/report/timeline_support.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::brief;
using samples::find_track;
using samples::timeline_of;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using workloads::OpIndex;
using workloads::Pass;

constexpr std::int64_t kUs = 1'000'000;

/// Two chips in a row: 1 TFLOP/s, 1 GB/s links of 1 us.
Scenario two_chips() {
    Scenario scenario =
        samples::make_scenario("v5e", {2, 1, 1}, samples::small_model(2), {{"fsdp", "x"}}, 2, 512);
    samples::leave_math_alone(scenario.hardware.chip);
    scenario.hardware.hbm = HbmRule::separate;
    scenario.hardware.chip.bf16_flops.value = sim::FlopsPerSecond(1e12);
    scenario.hardware.chip.ici_one_way_book.value = sim::BytesPerSecond(1e9);
    scenario.hardware.chip.ici_latency.value = sim::Seconds(1e-6);
    scenario.hardware.chip.collective_launch.value = sim::Seconds(0);
    return scenario;
}

workloads::Op matmul(const std::string& name, Pass pass, int layer, double microseconds,
                     std::vector<OpIndex> after) {
    workloads::Compute work;
    work.matmuls = {{.m = 10, .k = 5, .n = microseconds * 1e4}};
    work.flops = sim::Flops(microseconds * 1e6);
    return {.name = name, .pass = pass, .layer = layer, .work = work, .after = std::move(after)};
}

workloads::Op gather(const std::string& name, int layer, double bytes, std::vector<OpIndex> after) {
    return {.name = name,
            .pass = Pass::forward,
            .layer = layer,
            .work = workloads::Collective{.operation = collectives::Operation::all_gather,
                                          .purpose = workloads::Purpose::weights,
                                          .axes = {"fsdp"},
                                          .bytes = sim::Bytes(bytes)},
            .after = std::move(after)};
}

/// An AllGather of V bytes sends V/2 over the link: V / 2 us and a hop of 1 us for V in kB.
///   0  gather 4 kB   [0, 3): the link until 2
///   1  qkv 5 us      [3, 8), behind 0
///   2  gather 4 kB   [3, 6), behind 0: the link until 5
///   3  gather 8 kB   [3, 10), behind 0: the link after 2's message, from 5 to 9
///   4  out 2 us      [10, 12), behind 1 and 3: it has waited for 3 since 8
///   5  gather 4 kB   [12, 15), behind 4: the link until 14
///   6  update 1 us   [15, 16), behind 5
/// Collectives of a kind go in the program's order, though nothing waits for 2.
workloads::StepProgram hand_made_ops() {
    workloads::StepProgram program;
    program.priority = {0, 1, 2};
    program.ops = {gather("layer 0 forward gather weights", 0, 4000, {}),
                   matmul("layer 0 forward qkv", Pass::forward, 0, 5, {0}),
                   gather("layer 1 forward gather weights", 1, 4000, {0}),
                   gather("layer 2 forward gather weights", 2, 8000, {0}),
                   matmul("layer 1 backward out", Pass::backward, 1, 2, {1, 3}),
                   gather("optimizer gather weights", -1, 4000, {4}),
                   matmul("optimizer update", Pass::optimizer, -1, 1, {5})};
    program.buffers = {{.memory_class = workloads::MemoryClass::parameters,
                        .bytes = sim::Bytes(100),
                        .freed_after = {}},
                       {.memory_class = workloads::MemoryClass::gathered_weights,
                        .bytes = sim::Bytes(50),
                        .allocated_at = 0,
                        .freed_after = {1}}};
    return program;
}

class HandMadeStep : public ::testing::Test {
protected:
    HandMadeStep() {
        trail_.programs = hand_made_ops();
        const AchievedHardware hardware(scenario_.hardware);
        trail_.step = lower_step(trail_.programs, hardware, scenario_.step().mesh, Fold::automatic);
        trail_.run = run_step(trail_.step);
        const auto record = std::make_shared<RunRecord>(trail_.step.workload);
        sim::execute(trail_.step.workload, record.get());
        trail_.record = record;
    }

    [[nodiscard]] Timeline::FilledProcess process(Detail detail = Detail::steady) const {
        return timeline_of(scenario_, trail_, detail).processes.at(0);
    }

    const Scenario scenario_ = two_chips();
    StepTrail trail_;
};

TEST_F(HandMadeStep, HasItsTracksInOrder) {
    std::vector<std::string> names;
    for (const Timeline::FilledTrack& track : process().tracks) {
        names.push_back(track.track.name);
    }
    EXPECT_THAT(names, ElementsAre("Steps", "Layers", "XLA Ops", "MXU", "VPU", "HBM",
                                   "AllGather over fsdp", "AllGather over fsdp #2", "ICI +x"));
}

TEST_F(HandMadeStep, ComputesAndWaits) {
    const Timeline::FilledProcess one = process();
    EXPECT_EQ(one.process.name, "/device:TPU:0");
    EXPECT_EQ(one.process.end, sim::Time{16 * kUs});
    EXPECT_THAT(brief(one, "Steps"), ElementsAre("step 0-16000000"));
    EXPECT_THAT(brief(one, "Layers"),
                ElementsAre("forward 3000000-8000000", "backward 10000000-12000000",
                            "optimizer 15000000-16000000"));
    EXPECT_THAT(brief(one, "XLA Ops"),
                ElementsAre("wait for AllGather weights 0-3000000", "qkv 3000000-8000000",
                            "wait for AllGather weights 8000000-10000000", "out 10000000-12000000",
                            "wait for AllGather weights 12000000-15000000",
                            "optimizer update 15000000-16000000"));
    EXPECT_THAT(brief(one, "MXU"), ElementsAre("qkv 3000000-8000000", "out 10000000-12000000",
                                               "optimizer update 15000000-16000000"));
    EXPECT_THAT(brief(one, "VPU"), IsEmpty());
    EXPECT_THAT(brief(one, "HBM"), IsEmpty());
}

// Both begin at 3: the longer one takes the first lane, which is free again.
TEST_F(HandMadeStep, GathersOnAsManyLanesAsOverlap) {
    EXPECT_THAT(brief(process(), "AllGather over fsdp"),
                ElementsAre("AllGather weights 0-3000000", "AllGather weights 3000000-10000000",
                            "AllGather weights 12000000-15000000"));
    EXPECT_THAT(brief(process(), "AllGather over fsdp #2"),
                ElementsAre("AllGather weights 3000000-6000000"));
}

TEST_F(HandMadeStep, SaysWhatOperationsAre) {
    const Timeline::FilledProcess one = process();
    EXPECT_THAT(find_track(one, "XLA Ops")->slices.at(1).arguments,
                ElementsAre(Argument{"op", "layer 0 forward qkv"}, Argument{"pass", "forward"},
                            Argument{"layer", std::int64_t{0}}, Argument{"flops", 5e6},
                            Argument{"bytes", 0.0}, Argument{"shapes", "10x5x50000"},
                            Argument{"dtype", "bf16"}, Argument{"bound", "MXU"},
                            Argument{"bound_us", 5.0}));
    EXPECT_THAT(find_track(one, "XLA Ops")->slices.at(2).arguments,
                ElementsAre(Argument{"cause", "AllGather over fsdp (weights)"},
                            Argument{"op", "layer 2 forward gather weights"}));
    EXPECT_THAT(
        find_track(one, "AllGather over fsdp #2")->slices.at(0).arguments,
        ElementsAre(Argument{"op", "layer 1 forward gather weights"}, Argument{"pass", "forward"},
                    Argument{"layer", std::int64_t{1}}, Argument{"bytes", 4000.0},
                    Argument{"group", "fsdp"}, Argument{"members", std::int64_t{2}},
                    Argument{"algorithm", "two-way"}, Argument{"group_bound_us", 2.0}));
}

// The windows are [0, 8) and [8, 12), with the waits before their first operations. Messages belong
// to the window in which they begin.
TEST_F(HandMadeStep, ShowsLinksInTheSteadyWindowsOrWholly) {
    const std::vector<SteadyWindow> windows = process().process.steady;
    ASSERT_EQ(windows.size(), 2U);
    EXPECT_EQ(windows[0].from, sim::Time{});
    EXPECT_EQ(windows[0].until, sim::Time{8 * kUs});
    EXPECT_EQ(windows[0].pass, "forward");
    EXPECT_EQ(windows[1].from, sim::Time{8 * kUs});
    EXPECT_EQ(windows[1].until, sim::Time{12 * kUs});
    EXPECT_EQ(windows[1].layer, 1);
    EXPECT_THAT(brief(process(), "ICI +x"),
                ElementsAre("AllGather weights 0-2000000", "AllGather weights 3000000-5000000",
                            "AllGather weights 5000000-9000000"));
    EXPECT_THAT(
        brief(process(Detail::all), "ICI +x"),
        ElementsAre("AllGather weights 0-2000000", "AllGather weights 3000000-5000000",
                    "AllGather weights 5000000-9000000", "AllGather weights 12000000-14000000"));
    EXPECT_THAT(find_track(process(), "ICI +x")->slices.at(2).arguments,
                ElementsAre(Argument{"op", "layer 2 forward gather weights"},
                            Argument{"bytes", 4000.0}, Argument{"hop", std::int64_t{0}}));
}

TEST_F(HandMadeStep, CountsMemoryAndLinkUse) {
    const std::vector<Timeline::FilledCounter> counters = process().counters;
    ASSERT_EQ(counters.size(), 2U);
    EXPECT_EQ(counters[0].counter.name, "HBM memory (bytes)");
    EXPECT_THAT(counters[0].counter.series, ElementsAre("parameters", "gathered_weights"));
    ASSERT_EQ(counters[0].samples.size(), 2U);
    EXPECT_EQ(counters[0].samples[0].at, sim::Time{});
    EXPECT_THAT(counters[0].samples[0].values, ElementsAre(100, 50));
    EXPECT_EQ(counters[0].samples[1].at, sim::Time{8 * kUs});
    EXPECT_THAT(counters[0].samples[1].values, ElementsAre(100, 0));

    // 1000 intervals of 16 ns, for a link that is held in [0, 2), [3, 9) and [12, 14) us: 3 us and
    // 9 us are the middles of intervals.
    EXPECT_EQ(counters[1].counter.name, "link use (%)");
    EXPECT_THAT(counters[1].counter.series, ElementsAre("ICI +x"));
    const std::vector<Sample>& use = counters[1].samples;
    ASSERT_EQ(use.size(), 1001U);
    EXPECT_EQ(use[187].at, sim::Time{2'992'000});
    const std::map<std::size_t, double> expected{
        {0, 100},  {124, 100}, {125, 0}, {186, 0},   {187, 50},  {188, 100}, {561, 100},
        {562, 50}, {563, 0},   {749, 0}, {750, 100}, {874, 100}, {875, 0},   {1000, 0}};
    for (const auto& [part, percent] : expected) {
        EXPECT_EQ(use[part].values.at(0), percent) << part;
    }
    EXPECT_EQ(use[1000].at, sim::Time{16 * kUs});
}

// From the gathers 0, 3 and 5 (the first lane, track 6) to the operations that waited for them
// (track 2).
TEST_F(HandMadeStep, FlowsFromWhatHeldTheStreamUp) {
    const std::vector<Flow> flows = timeline_of(scenario_, trail_, Detail::steady).flows;
    ASSERT_EQ(flows.size(), 3U);
    for (const Flow& flow : flows) {
        EXPECT_EQ(flow.from.track, 6U);
        EXPECT_EQ(flow.to.track, 2U);
    }
    EXPECT_EQ(flows[0].from.start, sim::Time{0});
    EXPECT_EQ(flows[0].to.start, sim::Time{3 * kUs});
    EXPECT_EQ(flows[1].from.start, sim::Time{3 * kUs});
    EXPECT_EQ(flows[1].to.start, sim::Time{10 * kUs});
    EXPECT_EQ(flows[2].from.start, sim::Time{12 * kUs});
    EXPECT_EQ(flows[2].to.start, sim::Time{15 * kUs});
}

}  // namespace
}  // namespace podsim::scenarios
