// No step ends before its first chip has begun an operation and the remaining time from there
// has passed.
#include <algorithm>
#include <gtest/gtest.h>
#include <random>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/search/longest_path.h"
#include "scenarios/src/search/plan_work.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/step_programs.h"
#include "tests/checkout.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

workloads::StepProgram chain_of(std::size_t count) {
    workloads::StepProgram program;
    for (std::size_t i = 0; i < count; ++i) {
        workloads::Op op{.name = {}, .work = workloads::Compute{}, .after = {}};
        if (i > 0) {
            op.after = {static_cast<workloads::OpIndex>(i - 1)};
        }
        program.ops.push_back(std::move(op));
    }
    return program;
}

// The line of four of TimeFront's test: AllGather, ReduceScatter, AllGather, from their end:
//   behind the last  (0, 0)
//   before it        (max(0 + 6, 0 + 12), max(0, 0 + 0)) = (12, 0)
//   before the second (max(12 + 4, 0 + 12), max(12, 0 + 12)) = (16, 12)
//   before the first (max(16 + 6, 12 + 12), max(16, 12 + 0)) = (24, 16)
// An operation of all chips together adds its time to both.
TEST(TimesLeft, OfALineByHand) {
    const std::vector<LeastTime> times{
        {{12}, {6}, {0}, 0}, {{12}, {4}, {12}, 0}, {{12}, {6}, {0}, 0}};
    EXPECT_EQ(times_left(chain_of(3), times), (std::vector<sim::Time>{{24}, {16}, {12}}));
    std::vector<LeastTime> longer = times;
    longer.push_back({{5}});
    EXPECT_EQ(times_left(chain_of(4), longer), (std::vector<sim::Time>{{29}, {21}, {17}, {5}}));
}

// A path has the same length from either end.
TEST(TimesLeft, AtTheBeginningIsTheLongestPath) {
    std::mt19937_64 random(20261125);
    const auto below = [&](std::uint64_t end) { return random() % end; };
    for (int round = 0; round < 300; ++round) {
        workloads::StepProgram program = chain_of(1 + below(30));
        std::vector<LeastTime> times;
        for (std::size_t i = 0; i < program.ops.size(); ++i) {
            program.ops[i].after.clear();
            for (std::size_t n = below(3); i > 0 && n > 0; --n) {
                program.ops[i].after.push_back(static_cast<workloads::OpIndex>(below(i)));
            }
            const auto time = [&] { return sim::Time{static_cast<std::int64_t>(below(50))}; };
            const std::uint8_t families[] = {0, 1, 2, LeastTime::kNobody, LeastTime::kAlike};
            times.push_back({time(), time(), time(), families[below(5)]});
        }
        const std::vector<sim::Time> left = times_left(program, times);
        EXPECT_EQ(*std::ranges::max_element(left), longest_path(program, times, Edges::scheduled));
    }
}

// A run checks at its end the bounds that it used before (run_step). Lines, rings, strided groups
// that fall out of step, ring steps, a list scheduler, unlike layers, inference; random ones.
TEST(TimesLeft, NeverIsMoreThanIsLeft) {
    const char* const quick = "quickstart/llama3-70b-v5p-pod.yaml";
    const std::vector<std::pair<const char*, std::string>> steps{
        {quick, "mesh={fsdp: x/4 y z, tensor: x%4}"},
        {quick, "mesh={fsdp: x%4 y, tensor: x/4 z}"},
        {quick, "mesh={fsdp: x%2 x/4 y%2 y/4 z%2 z/4, tensor: x/2%2 y/2%2 z/2%2}"},
        {quick, "mesh={fsdp: x/2 y z, tensor: x%2}, overlap.tensor=two-way"},
        {quick, "mesh={fsdp: x y, tensor: z}, overlap.schedule=latency_hiding"},
        {quick, "mesh={fsdp: x y, context: z}"},
        {"examples/mixtral-8x7b-v5p.yaml", ""},
        {"examples/llama3-70b-decode-v5e.yaml", ""}};
    std::vector<Scenario> scenarios;
    for (const auto& [file, set] : steps) {
        std::vector<std::string> settings;
        if (file == quick) {
            settings = {"hardware.slice=8x8x8", "batch.tokens=2Mi"};
        }
        const std::size_t more = set.find("}, ");
        if (!set.empty()) {
            settings.push_back(set.substr(0, more == std::string::npos ? more : more + 1));
        }
        if (more != std::string::npos) {
            settings.push_back(set.substr(more + 3));
        }
        scenarios.push_back(
            load_scenario(source_folder() + "/scenarios/" + std::string(file), settings));
    }
    std::mt19937_64 random(20261126);
    for (int i = 0; i < 80; ++i) {
        scenarios.push_back(samples::random_scenario(random));
    }
    int known = 0;
    KnownBounds bounds;
    for (const Scenario& scenario : scenarios) {
        SCOPED_TRACE(scenario.name);
        const StepResult plain = simulate_step(scenario, Fold::automatic, {.explain = false});
        const auto left = [&](const workloads::StepPrograms& programs) {
            std::vector<sim::Time> times = times_left(scenario, programs, bounds);
            known += times.empty() ? 0 : 1;
            return times;
        };
        const StepResult step =
            simulate_step(scenario, Fold::automatic,
                          {.explain = false, .longest = plain.step_time, .times_left = left});
        EXPECT_EQ(step.step_time, plain.step_time);
    }
    EXPECT_GE(known, 50);
}

}  // namespace
}  // namespace podsim::scenarios
