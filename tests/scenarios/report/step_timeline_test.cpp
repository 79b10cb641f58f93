// Invariants of the timeline of every step.
#include "scenarios/src/report/step_timeline.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <map>
#include <random>
#include <set>
#include <sstream>

#include "scenarios/src/report/event_file.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/report/timeline_support.h"
#include "tests/scenarios/simulate/pipeline_support.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::find_track;
using samples::simulate_with_trail;
using samples::timeline_of;

void expect_whole_tracks(const Timeline& timeline) {
    for (const Timeline::FilledProcess& process : timeline.processes) {
        std::set<std::string> names;
        for (const Timeline::FilledTrack& track : process.tracks) {
            EXPECT_NE(track.track.name, "");
            EXPECT_TRUE(names.insert(track.track.name).second) << track.track.name;
            sim::Time before;
            for (const Slice& slice : track.slices) {
                EXPECT_NE(slice.name, "");
                EXPECT_GE(slice.start, before) << track.track.name << ' ' << slice.name;
                EXPECT_GT(slice.end, slice.start) << track.track.name << ' ' << slice.name;
                before = slice.end;
            }
            EXPECT_LE(before, process.process.end) << track.track.name;
        }
    }
}

/// Expects that the compute stream's slices follow each other without gaps, and add up to the step.
void expect_gapless_streams(const Timeline& timeline, sim::Time step) {
    for (const Timeline::FilledProcess& process : timeline.processes) {
        sim::Time until;
        for (const Slice& slice : find_track(process, "XLA Ops")->slices) {
            EXPECT_EQ(slice.start, until) << slice.name;
            until = slice.end;
        }
        EXPECT_EQ(until, step);
        EXPECT_EQ(find_track(process, "Steps")->slices.at(0).end, step);
    }
}

void expect_counters(const Timeline& timeline) {
    for (const Timeline::FilledProcess& process : timeline.processes) {
        for (const Timeline::FilledCounter& counter : process.counters) {
            sim::Time before{-1};
            for (const Sample& sample : counter.samples) {
                EXPECT_GT(sample.at, before) << counter.counter.name;
                EXPECT_EQ(sample.values.size(), counter.counter.series.size());
                EXPECT_GE(*std::ranges::min_element(sample.values), 0) << counter.counter.name;
                before = sample.at;
            }
        }
    }
}

void expect_bound_flows(const Timeline& timeline) {
    const auto bound = [&](const Flow::End& end) {
        const std::vector<Slice>& slices =
            timeline.processes.at(end.process).tracks.at(end.track).slices;
        return std::ranges::any_of(slices, [&](const Slice& slice) {
            return slice.start == end.start && slice.end == end.end;
        });
    };
    for (const Flow& flow : timeline.flows) {
        EXPECT_TRUE(bound(flow.from));
        EXPECT_TRUE(bound(flow.to));
        EXPECT_LE(flow.from.start, flow.to.start);
    }
}

/// Expects that work and waits of the reported chip's compute stream agree with the result.
void expect_shares(const Timeline& timeline, const StepResult& result) {
    std::map<std::string, std::int64_t> waited;
    std::map<std::string, std::int64_t> worked;
    for (const Slice& slice :
         find_track(timeline.processes.at(result.trail->run.program), "XLA Ops")->slices) {
        if (slice.category == "wait") {
            const auto cause = std::ranges::find(slice.arguments, "cause", &Argument::name);
            waited[std::get<std::string>(cause->value)] += (slice.end - slice.start).ps;
        } else {
            worked[slice.category] += (slice.end - slice.start).ps;
        }
    }
    const auto map_of = [](const std::vector<Share>& shares) {
        std::map<std::string, std::int64_t> map;
        for (const Share& share : shares) {
            if (share.time.ps != 0) {
                map[share.name] = share.time.ps;
            }
        }
        return map;
    };
    EXPECT_EQ(waited, map_of(result.exposed));
    EXPECT_EQ(worked, map_of(result.breakdown));
}

/// Returns the maximum of the memory counters, all classes together.
double peak_of(const Timeline& timeline) {
    double peak = 0;
    for (const Timeline::FilledProcess& process : timeline.processes) {
        for (const Sample& sample : process.counters.at(0).samples) {
            peak = std::max(peak, std::accumulate(sample.values.begin(), sample.values.end(), 0.0));
        }
    }
    return peak;
}

std::string text_of(const Scenario& scenario, const StepTrail& trail, Detail detail) {
    std::ostringstream out;
    TraceEvents events(out, scenario.name);
    tell_step(scenario, trail, detail, events);
    events.finish();
    return out.str();
}

void expect_sound(const Scenario& scenario) {
    const StepResult result = simulate_with_trail(scenario);
    for (const Detail detail : {Detail::steady, Detail::all}) {
        const Timeline timeline = timeline_of(scenario, *result.trail, detail);
        EXPECT_EQ(timeline.processes.size(), result.trail->programs.programs.size());
        expect_whole_tracks(timeline);
        expect_gapless_streams(timeline, result.step_time);
        expect_counters(timeline);
        expect_bound_flows(timeline);
        expect_shares(timeline, result);
        EXPECT_NEAR(peak_of(timeline), result.memory.peak.value(), 8);
    }
}

TEST(StepTimeline, AddsUpAndNeverOverlapsWhateverTheStep) {
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        Scenario scenario = samples::random_scenario(random);
        scenario.hardware.hbm = seed % 2 == 0 ? HbmRule::shared : HbmRule::separate;
        expect_sound(scenario);
    }
}

TEST(StepTimeline, OfAPipelineHasAProcessForEveryStage) {
    const Scenario scenario = samples::pipeline_on({4, 4, 4}, {{"pipeline", "z"}, {"fsdp", "x y"}},
                                                   64, workloads::PipelineSchedule::one_f_one_b, 4);
    expect_sound(scenario);
    const StepResult result = simulate_with_trail(scenario);
    const Timeline timeline = timeline_of(scenario, *result.trail, Detail::steady);
    ASSERT_EQ(timeline.processes.size(), 4U);
    EXPECT_THAT(timeline.processes[1].process.name, ::testing::EndsWith(" stage 1 of 4"));
    // Every message has a slice at both ends and a flow between them: 4 microbatches forward and
    // back over 3 borders.
    std::size_t sent = 0;
    for (const Timeline::FilledProcess& process : timeline.processes) {
        const Timeline::FilledTrack* const track = find_track(process, "Send");
        sent += track == nullptr ? 0 : track->slices.size();
    }
    EXPECT_EQ(sent, 24U);
    EXPECT_EQ(
        std::ranges::count_if(
            timeline.flows, [](const Flow& flow) { return flow.from.process != flow.to.process; }),
        24);
}

class PipelineTimeline : public CommandTest {};

// Chips of a stage end at different times; the last one of another stage is not the partner of the
// one shown (3 and 4 of 8 arrows once led back in time). 4 microbatches forward and back between
// two stages are 8 messages.
TEST_F(PipelineTimeline, StagesShowChipsThatExchangeTheirMessages) {
    for (const char* const machine : {"slice: 2x2x2, slices: 2}\nmesh: {pipeline: slice, fsdp: x z",
                                      "slice: 2x4x2}\nmesh: {pipeline: z, fsdp: x"}) {
        SCOPED_TRACE(machine);
        const Scenario scenario = load_scenario(
            write("hardware: {chip: v5p, profile: ideal, " + std::string(machine) +
                  ", tensor: y}\n"
                  "model: {layers: 4, d_model: 1024, d_ff: 4096, heads: 8, kv_heads: 8, "
                  "vocabulary: 4096}\n"
                  "batch: {tokens: 256Ki, sequence: 1024}\n"
                  "training: {microbatches: 4, schedule: 1f1b}\n"));
        const StepResult result = simulate_with_trail(scenario);
        const StepTrail& trail = *result.trail;
        ASSERT_EQ(trail.run.partners.size(), 2U);
        const auto rank = [&](std::size_t program, const char* axis) {
            const topology::Places& folded = trail.step.layout.folded;
            const int chip = trail.run.partners[program].representative;
            return scenario.step().mesh.rank(axis, folded.point(chip), folded.slice_of(chip));
        };
        EXPECT_EQ(trail.run.partners[trail.run.program].representative,
                  trail.run.reported().representative);
        for (const char* const axis : {"fsdp", "tensor"}) {
            EXPECT_EQ(rank(0, axis), rank(1, axis)) << axis;
        }
        std::size_t between = 0;
        for (const Flow& flow : timeline_of(scenario, trail, Detail::steady).flows) {
            between += flow.from.process != flow.to.process ? 1 : 0;
            EXPECT_LE(flow.from.start, flow.to.start);
            EXPECT_LE(flow.from.end, flow.to.end);
        }
        EXPECT_EQ(between, 8U);
    }
}

// Work that is skipped as a repeat, or folded away, appears as if it had been played.
TEST(StepTimeline, IsTheSameWithoutReuseOrFolding) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const Scenario scenario = samples::random_scenario(random);
        const auto text = [&](Fold fold, bool reuse) {
            return text_of(scenario, *simulate_with_trail(scenario, fold, reuse).trail,
                           Detail::all);
        };
        const std::string played = text(Fold::automatic, false);
        EXPECT_EQ(text(Fold::automatic, true), played);
        EXPECT_EQ(text(Fold::off, true), played);
    }
}

// A link is held as long as its messages together, and as its use says.
TEST(StepTimeline, LinksAreHeldAsLongAsTheirMessages) {
    const Scenario scenario = samples::make_scenario("v5p", {4, 4, 4}, samples::small_model(8),
                                                     {{"fsdp", "x y z"}}, 64, 512);
    const StepResult result = simulate_with_trail(scenario);
    const StepTrail& trail = *result.trail;
    const Timeline timeline = timeline_of(scenario, trail, Detail::all);
    const Timeline::FilledProcess& process = timeline.processes.at(0);
    const Timeline::FilledTrack* const link = find_track(process, "ICI +x");
    ASSERT_NE(link, nullptr);
    sim::Time held;
    for (const Slice& slice : link->slices) {
        held += slice.end - slice.start;
    }
    const std::size_t server = trail.step.layout.link_of(trail.run.chips[0].representative, 0,
                                                         trail.step.workload.machine.ports);
    EXPECT_EQ(held, trail.run.result.links[server].busy);
    const Timeline::FilledCounter& use = process.counters.at(1);
    ASSERT_EQ(use.counter.series.at(0), "ICI +x");
    double mean = 0;
    for (std::size_t i = 0; i + 1 < use.samples.size(); ++i) {
        mean += use.samples[i].values.at(0) / 100 *
                static_cast<double>((use.samples[i + 1].at - use.samples[i].at).ps);
    }
    EXPECT_NEAR(mean, static_cast<double>(held.ps), 1);
}

// Two stages of 8 layers with 128 microbatches are more than 20,000 operations. Passes over layers
// have one slice each, except in the two steady windows, and still add up.
TEST(StepTimeline, OfALongStepIsToldByLayer) {
    const Scenario scenario =
        samples::pipeline_on({4, 4, 2}, {{"pipeline", "z"}, {"fsdp", "x y"}}, 2048,
                             workloads::PipelineSchedule::one_f_one_b, 128);
    const StepResult result = simulate_with_trail(scenario);
    std::size_t operations = 0;
    for (const workloads::StepProgram& program : result.trail->programs.programs) {
        operations += program.ops.size();
    }
    ASSERT_GT(operations, kOpsInFull);
    const Timeline brief = timeline_of(scenario, *result.trail, Detail::steady);
    const Timeline full = timeline_of(scenario, *result.trail, Detail::all);
    for (const Timeline* const timeline : {&brief, &full}) {
        expect_whole_tracks(*timeline);
        expect_gapless_streams(*timeline, result.step_time);
        expect_counters(*timeline);
        expect_bound_flows(*timeline);
    }
    for (std::size_t stage = 0; stage < 2; ++stage) {
        const Timeline::FilledProcess& process = brief.processes[stage];
        const std::vector<Slice>& ops = find_track(process, "XLA Ops")->slices;
        EXPECT_LT(3 * ops.size(), find_track(full.processes[stage], "XLA Ops")->slices.size());
        for (const SteadyWindow& window : process.process.steady) {
            EXPECT_GT(std::ranges::count_if(ops,
                                            [&](const Slice& slice) {
                                                return slice.start >= window.from &&
                                                       slice.end <= window.until;
                                            }),
                      4);
        }
        EXPECT_EQ(find_track(process, "Layers")->slices.size(),
                  find_track(full.processes[stage], "Layers")->slices.size());
        EXPECT_LE(process.counters.at(0).samples.size(), 4100U);
    }
    EXPECT_NEAR(peak_of(full), result.memory.peak.value(), 8);
}

TEST(StepTimeline, NothingIsKeptUnlessItIsAskedFor) {
    const Scenario scenario = samples::make_scenario("v5e", {2, 2, 1}, samples::small_model(2),
                                                     {{"fsdp", "x y"}}, 4, 256);
    EXPECT_EQ(simulate_step(scenario, Fold::automatic).trail, nullptr);
}

}  // namespace
}  // namespace podsim::scenarios
