// Runs that skip repeats equal runs that play all events, to the picosecond, for random layers.
#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/folding/skipped_runs.h"

namespace podsim::sim {
namespace {

std::vector<Send> few_sends(std::mt19937_64& random) {
    std::vector<Send> sends;
    const std::uint32_t count = 2 + static_cast<std::uint32_t>(random() % 5);
    for (std::uint32_t i = 0; i < count; ++i) {
        Send send;
        send.distance = static_cast<int>(random() % 7) - 3;
        send.bytes = static_cast<double>(random() % 4) * 50;
        send.phase = static_cast<std::uint32_t>(random() % 3);
        for (std::uint32_t before = 0; before < i; ++before) {
            if (random() % 3 == 0) {
                send.after.push_back(before);
            }
        }
        sends.push_back(send);
    }
    return sends;
}

/// Kinds of difference in the layer that `kUnlikeAtEnd` layers follow.
enum class Ending { alike, without_operation, work_in_its_place, leads_elsewhere };
constexpr std::uint32_t kUnlikeAtEnd = 2;

/// Layers have two tasks of work and two operations, with needs in the layer and the one before.
/// One layer in the middle may differ, and one before the end. Work at one place may be slower.
Workload random_layers(std::uint64_t seed, bool memory = false, int more_places = 0) {
    std::mt19937_64 random(seed);
    const auto places = static_cast<int>(1 + random() % 5) + more_places;
    Machine machine = row_of(places, true, {static_cast<std::int64_t>(random() % 3) * 25});
    machine.rule = random() % 2 == 0 ? LatencyRule::additive : LatencyRule::floor;
    machine.isolated_operations = random() % 3 == 0;
    if (random() % 3 == 0) {
        machine.slowdown.assign(machine.places, 1);
        machine.slowdown.back() = 1.5;
    }
    const std::vector<std::uint32_t> one_role(machine.places);
    Workload workload = workload_of(
        machine,
        {schedule_of(few_sends(random), 1, one_role), schedule_of(few_sends(random), 1, one_role)},
        {});
    workload.operations.clear();
    constexpr std::uint32_t kLayers = 60;
    const std::int64_t first = 50 + static_cast<std::int64_t>(random() % 300);
    const std::int64_t second = 50 + static_cast<std::int64_t>(random() % 300);
    const bool alternate = random() % 3 == 0;
    const std::uint32_t odd = random() % 2 == 0 ? 31 : kLayers;
    const auto classes = static_cast<std::uint32_t>(1 + random() % 2);
    const std::uint64_t needs = random();
    // The operations of a layer may be needed several layers later; from one layer on, all at once,
    // in the order of their numbers.
    const bool by_need = random() % 2 == 0;
    const auto ahead = static_cast<std::uint32_t>(random() % 4);
    const auto behind = static_cast<std::uint32_t>(random() % 4);
    const auto at_once = 20 + static_cast<std::uint32_t>(random() % kLayers);
    const auto ending = static_cast<Ending>(random() % 4);
    const bool early = random() % 2 == 0;
    TaskGraph& graph = workload.graphs[0];
    const auto add = [&](Task task, std::vector<std::uint32_t> after) {
        task.after = std::move(after);
        graph.tasks.push_back(std::move(task));
        return static_cast<std::uint32_t>(graph.tasks.size() - 1);
    };
    const auto add_operation = [&](std::uint32_t schedule, std::uint32_t priority_class,
                                   std::int64_t launch, std::vector<std::uint32_t> after,
                                   std::uint32_t needed_by) {
        workload.operations.push_back(
            {.schedule = schedule,
             .priority_class = priority_class,
             .needed_by = by_need ? std::min(needed_by, 2 * at_once) : 0});
        const auto number = static_cast<std::uint32_t>(workload.operations.size() - 1);
        return add(operation(number, {launch}), std::move(after));
    };
    std::vector<std::array<std::uint32_t, 4>> layers;
    for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
        const bool unlike = layer == kLayers - 1 - kUnlikeAtEnd;
        std::array<std::uint32_t, 4> tasks{};
        std::vector<std::uint32_t> before;
        if (layer > 0) {
            before = {layers.back()[(needs & 4U) != 0 ? 3 : 1]};
        }
        tasks[0] = add(work(first + (layer == odd ? 13 : 0)), before);
        graph.marks.push_back(tasks[0]);
        before = {tasks[0]};
        if ((needs & 8U) != 0 && layer > 0) {
            before.push_back(layers.back()[3]);
        }
        tasks[1] = unlike && ending == Ending::without_operation ? tasks[0]
                   : unlike && ending == Ending::work_in_its_place
                       ? add(work(5, static_cast<std::uint32_t>(needs >> 5U) % 3), before)
                       : add_operation(0, 0, 5, before, 2 * (layer + ahead));
        tasks[2] =
            add(work(second + (alternate && layer % 2 == 0 ? 20 : 0), needs % 2 == 0 ? 1 : 0),
                {(needs & 2U) != 0 ? tasks[0] : tasks[1]});
        if (early) {
            graph.early_marks.push_back(tasks[2]);
        }
        tasks[3] = add_operation(1, classes - 1, 0, {tasks[2]}, 2 * (layer + behind) + 1);
        if (unlike && ending == Ending::leads_elsewhere) {
            add(work(40, 3), {tasks[(needs & 16U) != 0 ? 1 : 0], layers.back()[3]});
        }
        layers.push_back(tasks);
    }
    if ((needs & 128U) != 0) {
        // The last task follows one far ahead that ended long ago, and one of the last layers.
        const std::uint32_t far = add(work(1, 4), {});
        add(work(10, 5), {far, layers[kLayers - 4][(needs & 256U) != 0 ? 3 : 2]});
    }
    if (memory) {
        share_memory(workload, random);
    }
    return workload;
}

/// Returns how many of the 120 runs from the seed on have skipped events.
int expect_equal_runs(std::uint64_t first_seed, bool memory) {
    int skipped = 0;
    for (std::uint64_t seed = first_seed; seed < first_seed + 120; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const Workload workload = random_layers(seed, memory);
        const std::uint64_t all = execute(workload, nullptr, false).events;
        skipped += played_of_the_same(workload) < all ? 1 : 0;
        if (::testing::Test::HasFailure()) {
            break;
        }
    }
    return skipped;
}

// Backlogs that grow from layer to layer never repeat; most layers do.
TEST(RandomLayersTest, SkippedRunsAreThoseThatPlayAll) {
    EXPECT_GT(expect_equal_runs(1, false), 75);
}

TEST(RandomLayersTest, SkippedRunsWithSharedMemoriesAreThoseThatPlayAll) {
    EXPECT_GT(expect_equal_runs(121, true), 75);
}

/// Adds an unused shift that leads from all places to
/// the first, so that each place has its own memory.
Workload with_memories_apart(Workload workload) {
    workload.machine.shifts.resize(workload.machine.shifts.size() + workload.machine.places);
    return workload;
}

/// Gives three places their own program, in which a task of work takes longer: the delay spreads.
Workload with_unlike_places(Workload workload, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    workload.graphs.push_back(workload.graphs[0]);
    for (Task& task : workload.graphs[1].tasks) {
        if (task.operation == kNoOperation) {
            task.duration += Time{7};
            break;
        }
    }
    for (int i = 0; i < 3; ++i) {
        workload.graph_of_place[random() % workload.machine.places] = 1;
    }
    return workload;
}

// On 64 places and more, places that do the same share one memory until they differ: in half of the
// runs three places are later.
TEST(RandomLayersTest, MemoriesTakenTogetherAreThoseApart) {
    int skipped = 0;
    for (std::uint64_t seed = 241; seed < 241 + 60; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const Workload layers = random_layers(seed, true, 63);
        const Workload together = seed % 2 == 0 ? layers : with_unlike_places(layers, seed);
        const Workload apart = with_memories_apart(together);
        Recorder one;
        Recorder other;
        const ExecutionResult result = execute(together, &one, false);
        ASSERT_EQ(result, execute(apart, &other, false));
        for (auto of : {&Recorder::ended, &Recorder::began, &Recorder::arrived}) {
            std::ranges::sort(one.*of);
            std::ranges::sort(other.*of);
            ASSERT_EQ(one.*of, other.*of);
        }
        std::ranges::sort(one.held);
        std::ranges::sort(other.held);
        ASSERT_EQ(one.held, other.held);
        const std::uint64_t played = played_of_the_same(together);
        ASSERT_EQ(played, played_of_the_same(apart));
        skipped += played < result.events ? 1 : 0;
    }
    EXPECT_GT(skipped, 15);
}

}  // namespace
}  // namespace podsim::sim
