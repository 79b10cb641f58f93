// The order that hides latency, for whole steps: rules that hold for every plan, and single orders.
#include "workloads/program/latency_hiding.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/workloads/step_program_support.h"
#include "workloads/program/memory_peak.h"
#include "workloads/program/reorder.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::any_plan;
using samples::before_all;
using samples::find_op;
using samples::Random;

/// Returns arbitrary times, the same for the same work.
std::vector<OperationTimes> any_times(const StepPrograms& programs, std::uint64_t seed) {
    std::vector<OperationTimes> times;
    for (const StepProgram& program : programs.programs) {
        OperationTimes& of_program = times.emplace_back();
        for (const Op& op : program.ops) {
            const auto* work = std::get_if<Compute>(&op.work);
            const auto* collective = std::get_if<Collective>(&op.work);
            const double size = work != nullptr         ? work->flops.value() / 1000
                                : collective != nullptr ? collective->bytes.value()
                                                        : 100;
            of_program.push_back({.time = {static_cast<std::int64_t>(size) % 100003 + 1},
                                  .between_slices = seed % 3 == 0 && collective != nullptr &&
                                                    collective->axes.front() == "data"});
        }
    }
    return times;
}

/// Returns nothing if members of a stage have no common order: in ring attention a rank leaves out
/// blocks that it does not see.
std::optional<StepPrograms> hidden_if_alike(const StepPrograms& chain, const Overlap& overlap,
                                            std::uint64_t seed = 0) {
    try {
        return hide_latency(chain, overlap, any_times(chain, seed), sim::Bytes::infinity());
    } catch (const sim::InputError&) {
        EXPECT_TRUE(overlap.context_steps && chain.members() > 1);
        return std::nullopt;
    }
}

StepPrograms hidden(const StepPrograms& chain, const Overlap& overlap, std::uint64_t seed = 0) {
    return hide_latency(chain, overlap, any_times(chain, seed), sim::Bytes::infinity());
}

std::vector<std::string> sorted_names(const StepProgram& program) {
    std::vector<std::string> names;
    for (const Op& op : program.ops) {
        names.push_back(op.name);
    }
    std::ranges::sort(names);
    return names;
}

/// Checks for each kind of collective that at most the allowed
/// number is in flight, within a slice and between slices.
void expect_bounded(const StepProgram& program, const Overlap& overlap,
                    const std::vector<std::vector<bool>>& before, bool data_between_slices) {
    std::map<std::pair<collectives::Operation, bool>, std::vector<OpIndex>> of_kind;
    for (OpIndex i = 0; i < program.ops.size(); ++i) {
        const auto* collective = std::get_if<Collective>(&program.ops[i].work);
        if (collective != nullptr && !collective->step) {
            const bool between = data_between_slices && collective->axes.front() == "data";
            of_kind[{collective->operation, between}].push_back(i);
        }
    }
    for (std::size_t kind = 0; kind < kAsyncKinds.size(); ++kind) {
        const auto bound = static_cast<std::size_t>(std::max(overlap.async[kind], 1));
        for (const bool between : {false, true}) {
            const std::vector<OpIndex>& ops = of_kind[{kAsyncKinds[kind], between}];
            for (std::size_t i = 0; i < ops.size(); ++i) {
                std::size_t open = 0;
                for (std::size_t earlier = 0; earlier < i; ++earlier) {
                    open += before[ops[i]][ops[earlier]] ? 0 : 1;
                }
                EXPECT_LT(open, bound) << program.ops[ops[i]].name;
            }
        }
    }
}

class AnyPlan : public ::testing::TestWithParam<int> {};

TEST_P(AnyPlan, KeepsItsOperationsAndWhatTheyWaitFor) {
    for (auto seed = static_cast<std::uint64_t>(GetParam()); seed < 160; seed += 4) {
        SCOPED_TRACE(seed);
        Random random(seed);
        ModelSpec model;
        TrainingPlan plan = any_plan(random, model);
        plan.overlap.async = {random.from(0, 2), random.from(0, 2), random.from(0, 2),
                              random.from(0, 1)};
        const StepPrograms chain = build_stages(model, plan);
        const auto order = hidden_if_alike(chain, plan.overlap, seed);
        if (!order) {
            continue;
        }
        ASSERT_EQ(order->programs.size(), chain.programs.size());
        for (std::size_t p = 0; p < chain.programs.size(); ++p) {
            const StepProgram& was = chain.programs[p];
            const StepProgram& is = order->programs[p];
            EXPECT_EQ(sorted_names(is), sorted_names(was));
            EXPECT_EQ(is.buffers.size(), was.buffers.size());
            const auto before = before_all(is, &Op::after);
            const std::vector<std::uint32_t> turns = turns_of(is);
            std::uint32_t turn = 0;
            for (OpIndex i = 0; i < is.ops.size(); ++i) {
                const Op& op = is.ops[i];
                for (const auto* waits : {&op.needs, &op.limits}) {
                    for (const OpIndex other : *waits) {
                        ASSERT_TRUE(before[i][other]) << op.name << ", " << is.ops[other].name;
                    }
                }
                if (std::holds_alternative<Compute>(op.work)) {
                    EXPECT_GE(turns[i], turn) << op.name;
                    turn = turns[i];
                }
            }
            expect_bounded(is, plan.overlap, before, seed % 3 == 0);
            for (const Buffer& buffer : is.buffers) {
                for (const OpIndex end : buffer.freed_after) {
                    EXPECT_TRUE(buffer.allocated_at == kWholeStep || buffer.allocated_at <= end);
                }
            }
        }
    }
}

// In a loop of layers only transfers with the host and messages between stages begin before the
// previous iteration has ended.
TEST_P(AnyPlan, LetsNothingCrossTheBoundaryOfATurnOfALoop) {
    for (auto seed = static_cast<std::uint64_t>(GetParam()); seed < 60; seed += 4) {
        SCOPED_TRACE(seed);
        Random random(seed);
        ModelSpec model;
        TrainingPlan plan = any_plan(random, model);
        plan.overlap.layer_loop = true;
        const auto order = hidden_if_alike(build_stages(model, plan), plan.overlap);
        if (!order) {
            continue;
        }
        const auto stays = [](const Op& op) {
            return std::holds_alternative<Compute>(op.work) ||
                   std::holds_alternative<Collective>(op.work);
        };
        for (const StepProgram& program : order->programs) {
            const auto before = before_all(program, &Op::after);
            const std::vector<std::uint32_t> turns = turns_of(program);
            for (OpIndex i = 0; i < program.ops.size(); ++i) {
                for (OpIndex earlier = 0; earlier < i; ++earlier) {
                    if (turns[earlier] < turns[i] && stays(program.ops[i]) &&
                        stays(program.ops[earlier])) {
                        EXPECT_TRUE(before[i][earlier])
                            << program.ops[i].name << ", " << program.ops[earlier].name;
                    }
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Quarters, AnyPlan, ::testing::Range(0, 4));

/// One layer on tensor 2, in a loop.
struct OneLayer {
    ModelSpec model = samples::one_layer();
    TrainingPlan plan = samples::one_chip();
    OneLayer() {
        plan.ways.tensor = 2;
        plan.overlap.layer_loop = true;
        plan.overlap.schedule = SchedulePolicy::latency_hiding;
    }
    [[nodiscard]] StepProgram ordered(std::int64_t compute, std::int64_t collective) const {
        const StepPrograms chain = build_stages(model, plan);
        OperationTimes times;
        for (const Op& op : chain.programs.front().ops) {
            times.push_back(
                {.time = {std::holds_alternative<Compute>(op.work) ? compute : collective}});
        }
        return hide_latency(chain, plan.overlap, {times}, sim::Bytes::infinity()).programs.front();
    }
};

std::vector<std::string> backward_of(const StepProgram& program) {
    return samples::of_layer(program, Pass::backward);
}

// Compute and collectives take 10 each. From the end, by the rules of latency_hiding.h: the last
// scatter's end (1); qkv's weight gradient, the later of two that read a gather (4, 5), now = 10,
// which opens that gather's window (1); out's and gate_up's weight gradients (4), now = 30; the
// gather's start, as gate_up's own gather waits for room (3), and that one's end (1); down's weight
// gradient (4), now = 40; the scatter's start (5), covered twice over; then the chain of input
// gradients (5), until the gather before it needs the room.
TEST(LatencyHiding, WeightGradientsStandBesideCollectivesOfActivations) {
    const StepProgram program = OneLayer().ordered(10, 10);
    EXPECT_THAT(
        backward_of(program),
        ::testing::ElementsAre(
            "gather mlp output gradient", "down input gradient", "gate_up input gradient",
            "scatter mlp input gradient", "gather attention output gradient", "gather mlp input",
            "out input gradient", "attention gradient", "qkv input gradient",
            "scatter attention input gradient", "down weight gradient", "gather attention input",
            "gate_up weight gradient", "out weight gradient", "qkv weight gradient"));
    const std::string b = "layer 0 backward ";
    const auto before = before_all(program, &Op::after);
    const auto beside = [&](const std::string& one, const std::string& other) {
        const OpIndex a = find_op(program, b + one);
        const OpIndex c = find_op(program, b + other);
        return !before[a][c] && !before[c][a];
    };
    EXPECT_TRUE(beside("down weight gradient", "scatter attention input gradient"));
    EXPECT_TRUE(beside("down weight gradient", "gather mlp input"));
    EXPECT_TRUE(beside("gate_up weight gradient", "gather attention input"));
}

// A kind without room blocks the stream: the next operation waits for its end.
TEST(LatencyHiding, KindsWithoutRoomBlock) {
    OneLayer one;
    one.plan.overlap.async = {0, 0, 0, 0};
    const StepProgram program = one.ordered(10, 10);
    const auto before = before_all(program, &Op::after);
    for (OpIndex i = 1; i < program.ops.size(); ++i) {
        EXPECT_TRUE(before[i][i - 1]) << program.ops[i].name;
    }
}

// If a plan fits only in the chain's order, it keeps that order.
TEST(LatencyHiding, KeepsTheChainWhereTheNewOrderDoesNotFit) {
    const OneLayer one;
    const StepPrograms chain = build_stages(one.model, one.plan);
    const std::vector<OperationTimes> times = any_times(chain, 0);
    const auto peak = [](const StepPrograms& programs) {
        return peak_in_program_order(programs.programs.front()).total;
    };
    const sim::Bytes most =
        peak(hide_latency(chain, one.plan.overlap, times, sim::Bytes::infinity()));
    ASSERT_GT(most, peak(chain));
    const auto names = [](const StepPrograms& programs) {
        return backward_of(programs.programs.front());
    };
    const StepPrograms kept = hide_latency(chain, one.plan.overlap, times, most - sim::Bytes(1));
    EXPECT_EQ(names(kept), names(chain));
    EXPECT_NE(names(hide_latency(chain, one.plan.overlap, times, most)), names(chain));
}

// Members of unequal work take one order, made with the longest of their times.
TEST(LatencyHiding, MembersOfAStageHaveOneOrder) {
    OneLayer one;
    one.plan.ways.context = 2;
    one.plan.attention.placement = Placement::plain;
    const StepPrograms chain = build_stages(one.model, one.plan);
    ASSERT_EQ(chain.programs.size(), 2U);
    std::vector<OperationTimes> times = any_times(chain, 0);
    const StepPrograms order = hidden(chain, one.plan.overlap);
    EXPECT_EQ(backward_of(order.programs[0]), backward_of(order.programs[1]));
    // In ring attention a rank leaves out blocks that it does not see.
    one.plan.overlap.context_steps = samples::ring(2, false);
    const StepPrograms ring = build_stages(one.model, one.plan);
    EXPECT_EQ(
        samples::message_of([&] { hidden(ring, one.plan.overlap); }),
        "overlap.schedule = latency_hiding needs one order for all members of a group, and some of "
        "them have operations that others have not; use overlap.schedule: chain, or a "
        "placement that gives all the same blocks");
}

}  // namespace
}  // namespace podsim::workloads
