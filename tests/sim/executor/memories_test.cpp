// Memories that work and messages share: by hand, and against
// a reference that advances picosecond by picosecond.
#include <algorithm>
#include <array>
#include <deque>
#include <gtest/gtest.h>
#include <random>
#include <string>

#include "sim/memory/shared_server.h"
#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

constexpr std::int64_t kPerPs = 1'000'000'000'000;  ///< one byte a picosecond

Task reading(std::int64_t ps, std::int64_t bytes_per_ps, std::uint32_t resource = 0,
             std::vector<std::uint32_t> after = {}) {
    Task task = work(ps, resource, std::move(after));
    task.demand = bytes_per_ps * kPerPs;
    return task;
}

/// Two places in a row. The first works and sends to the second over a link of 4 bytes a
/// picosecond, 5 ps late.
Workload beside_work(std::int64_t memory, std::vector<double> messages, Task task) {
    std::vector<Send> sends;
    for (const double bytes : messages) {
        sends.push_back({.role = 0, .distance = 1, .bytes = bytes, .to_role = 1});
    }
    Workload workload = workload_of(row_of(2, false, {5}, BytesPerSecond(4e12)),
                                    {schedule_of(sends, 2, {0, 1})}, {});
    workload.machine.memory_rate = memory * kPerPs;
    workload.graphs = {{.tasks = {operation(0), std::move(task)}}, {.tasks = {operation(0)}}};
    workload.graph_of_place = {0, 1};
    return workload;
}

std::int64_t end_of(const Recorder& run, std::uint32_t place, std::uint32_t task) {
    const auto ended = std::ranges::find_if(
        run.ended, [&](const auto& one) { return one.place == place && one.what == task; });
    return ended == run.ended.end() ? -1 : ended->time;
}

// The demands 4 + 8 fit in 12: each gets its demand, as alone.
TEST(MemoriesTest, WhatFitsTakesWhatItTakesAlone) {
    const Workload shared = beside_work(12, {40}, reading(100, 8));
    Workload alone = shared;
    alone.machine.memory_rate = 0;
    Recorder seen;
    EXPECT_EQ(execute(shared, &seen), execute(alone));
    EXPECT_EQ(end_of(seen, 0, 1), 100);
    EXPECT_EQ(end_of(seen, 1, 0), 15);
}

// R = 10, demands 4 and 8. Half of 10 is more than 4, so the message keeps its 4 and the work has 6
// for 10 ps. 800 - 60 = 740 are left, 93 ps at 8.
TEST(MemoriesTest, TheGreaterDemandGivesWay) {
    Recorder seen;
    execute(beside_work(10, {40}, reading(100, 8)), &seen);
    EXPECT_EQ(end_of(seen, 1, 0), 15);
    EXPECT_EQ(end_of(seen, 0, 1), 103);
}

// R = 6: 3 each. The message's 40 bytes end after 14 ps, so that its link is held 4 ps longer and
// it arrives at 14 + 5. The work has read 3 x 14 = 42 by then; the rest of 800 goes at the full
// rate of 6: 758 / 6 = 126.3.
TEST(MemoriesTest, AMessageThatIsReadSlowlyHoldsItsLink) {
    Recorder seen;
    const ExecutionResult result = execute(beside_work(6, {40}, reading(100, 8)), &seen);
    EXPECT_EQ(end_of(seen, 1, 0), 19);
    EXPECT_EQ(end_of(seen, 0, 1), 141);
    EXPECT_EQ(seen.held, (std::vector<Recorder::Held>{{0, 0, 0, 14}}));
    EXPECT_EQ(result.links[0].busy.ps, 14);
}

// With the same message twice, the second waits for the link until 14 and is also read in 14 ps.
// 758 - 42 = 716 are left at 28, and take 119.3 at 6.
TEST(MemoriesTest, TheNextMessageWaitsForTheLink) {
    Recorder seen;
    execute(beside_work(6, {40, 40}, reading(100, 8)), &seen);
    EXPECT_EQ(seen.held, (std::vector<Recorder::Held>{{0, 0, 0, 14}, {0, 0, 14, 28}}));
    EXPECT_EQ(end_of(seen, 1, 0), 33);
    EXPECT_EQ(end_of(seen, 0, 1), 148);
}

// A sum takes 4 passes at its destination, 16 a picosecond of 8: the message's 40 bytes, 160 in
// all, take 20 ps instead of 10. Its source does not slow down.
TEST(MemoriesTest, SumsTakeMorePasses) {
    Workload workload = beside_work(8, {40}, reading(100, 1));
    Schedule schedule = workload.schedules[0];
    schedule.transfers[0].writes = 4;
    workload.schedules = {schedule};
    Recorder seen;
    execute(workload, &seen);
    EXPECT_EQ(end_of(seen, 1, 0), 25);
    EXPECT_EQ(end_of(seen, 0, 1), 100);
}

/// Three places in a row. A message of 40 bytes goes
/// from the first to the last, and the place `at` works.
Workload over_two_links(std::int64_t memory, std::uint32_t at, Task task) {
    Workload workload = workload_of(
        row_of(3, false, {5}, BytesPerSecond(4e12)),
        {schedule_of({{.role = 0, .distance = 2, .bytes = 40, .to_role = 2}}, 3, {0, 1, 2})}, {});
    workload.machine.memory_rate = memory * kPerPs;
    workload.graphs = {{.tasks = {operation(0)}}, {.tasks = {operation(0), std::move(task)}}};
    workload.graph_of_place = {0, 0, 0};
    workload.graph_of_place[at] = 1;
    return workload;
}

// A message does not touch the memory of a place that it passes, which may be busy to the last
// byte. 40 bytes reach the second link at 5 and take 10 ps more for the tail at 15 + 5.
TEST(MemoriesTest, ChipsOnTheWayStoreNothing) {
    Recorder seen;
    execute(over_two_links(5, 1, reading(100, 5)), &seen);
    EXPECT_EQ(end_of(seen, 2, 0), 20);
    EXPECT_EQ(end_of(seen, 1, 1), 100);
}

// A message of two hops that is late on its first link
// by 4 (as above) arrives 4 later than alone, at 24.
TEST(MemoriesTest, ALateFirstLinkDelaysTheArrival) {
    Recorder seen;
    execute(over_two_links(6, 0, reading(100, 8)), &seen);
    EXPECT_EQ(end_of(seen, 2, 0), 24);
}

// The work begins when the message, alone at first, is
// half read: 20 bytes in 5 ps. Then both get 3: 7 ps more.
TEST(MemoriesTest, WhatHasBegunIsFollowedFromThenOn) {
    Workload workload = beside_work(6, {40}, reading(100, 8, 0, {2}));
    workload.graphs[0].tasks.insert(workload.graphs[0].tasks.begin() + 1, work(5, 1));
    workload.graphs[0].tasks[2].after = {1};
    Recorder seen;
    execute(workload, &seen);
    EXPECT_EQ(end_of(seen, 1, 0), 12 + 5);
    EXPECT_EQ(end_of(seen, 0, 2), 5 + 7 + 130);  // 800 - 21 = 779 at 6: 129.8
}

// R = 20. Work asks for 8, below half, and six messages of 4 on separate links for 24. The work
// goes on as alone; the messages have 12, 2 each, and take 20 ps for 40 bytes. As one of seven
// streams the work would have 2.86.
TEST(MemoriesTest, ManyMessagesAreOneThatAsks) {
    Machine machine = row_of(1, true, {5}, BytesPerSecond(4e12));
    machine.links.assign(6, machine.links[0]);
    machine.ports = 6;
    machine.memory_rate = 20 * kPerPs;
    std::vector<Schedule> schedules;
    for (std::uint32_t port = 0; port < 6; ++port) {
        Schedule schedule = schedule_of({{.distance = 1, .bytes = 40}}, 1, {0});
        schedule.hops[0].port = port;
        schedule.transfers[0].writes = 0;
        schedules.push_back(schedule);
    }
    std::vector<Task> tasks{reading(100, 8)};
    for (std::uint32_t i = 0; i < 6; ++i) {
        tasks.push_back(operation(i));
    }
    Recorder seen;
    execute(workload_of(machine, schedules, tasks), &seen);
    EXPECT_EQ(end_of(seen, 0, 0), 100);
    for (std::uint32_t i = 1; i <= 6; ++i) {
        EXPECT_EQ(end_of(seen, 0, i), 20 + 5) << i;
    }
}

/// The reference: every picosecond, all streams with work left share the memory; the level of each
/// kind is found by bisection.
class ReferenceMemories {
public:
    enum Kind { work, urgent, other };
    struct Job {
        std::vector<std::int64_t> demands;  ///< of its streams, bytes/ps
        std::int64_t alone = 0;
        Kind kind = work;
    };
    std::vector<std::deque<Job>> queues;
    std::int64_t rate = 0;

    /// Returns when each job ended, indexed [queue].
    std::vector<std::vector<std::int64_t>> run() {
        struct Open {
            std::vector<Stream> left;
        };
        std::vector<std::vector<std::int64_t>> ends(queues.size());
        std::vector<Open> open(queues.size());
        for (std::int64_t now = 0;; ++now) {
            bool any = false;
            std::vector<Stream*> streams;
            for (std::size_t queue = 0; queue < queues.size(); ++queue) {
                auto& left = open[queue].left;
                if (!left.empty() &&
                    std::ranges::all_of(left, [](const auto& one) { return one.left <= 0; })) {
                    ends[queue].push_back(now);
                    left.clear();
                }
                if (left.empty() && !queues[queue].empty()) {
                    const Job job = queues[queue].front();
                    queues[queue].pop_front();
                    for (const std::int64_t demand : job.demands) {
                        left.push_back(
                            {demand * kPerPs, Work{demand} * kPerPs * job.alone, job.kind});
                    }
                }
                for (auto& one : left) {
                    any = true;
                    if (one.left > 0) {
                        streams.push_back(&one);
                    }
                }
            }
            if (!any) {
                return ends;
            }
            const std::array<std::int64_t, 3> levels = levels_of(streams);
            for (auto* const one : streams) {
                one->left -= std::min(one->demand, levels.at(one->kind));
            }
        }
    }

private:
    struct Stream {
        std::int64_t demand = 0;  ///< bytes/s
        Work left = 0;
        Kind kind = work;
    };

    /// Work has half of the rate, and more if messages ask for less; urgent messages come next.
    [[nodiscard]] std::array<std::int64_t, 3> levels_of(const std::vector<Stream*>& streams) const {
        std::array<std::int64_t, 3> asked{};
        for (const auto* const one : streams) {
            asked.at(one->kind) += one->demand;
        }
        const std::int64_t all = rate * kPerPs;
        const std::int64_t of_work =
            std::max(std::min(asked[work], all / 2), all - asked[urgent] - asked[other]);
        const std::int64_t of_urgent =
            std::min(asked[urgent], all - std::min(of_work, asked[work]));
        const std::int64_t of_other = all - std::min(of_work, asked[work]) - of_urgent;
        return {level_of(streams, work, of_work), level_of(streams, urgent, of_urgent),
                level_of(streams, other, of_other)};
    }
    [[nodiscard]] static std::int64_t level_of(const std::vector<Stream*>& streams, Kind kind,
                                               std::int64_t rate) {
        std::int64_t low = 1;
        std::int64_t high = std::max<std::int64_t>(rate, 1) + 1;
        while (high - low > 1) {
            const std::int64_t level = (low + high) / 2;
            std::int64_t sum = 0;
            for (const auto* const one : streams) {
                sum += one->kind == kind ? std::min(one->demand, level) : 0;
            }
            (sum <= rate ? low : high) = level;
        }
        return low;
    }
};

// One chip sends to itself. Three resources work and two links carry messages, one after the other;
// each message is read and written.
TEST(MemoriesTest, RunsAreThoseOfEveryPicosecond) {
    int slowed = 0;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        const auto from = [&](int least, int most) {
            return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
        };
        ReferenceMemories reference;
        reference.rate = from(4, 30);
        Machine machine = row_of(1, true, {7}, BytesPerSecond(4e12));
        machine.memory_rate = reference.rate * kPerPs;
        std::vector<Task> tasks;
        for (std::uint32_t resource = 0; resource < 3; ++resource) {
            auto& queue = reference.queues.emplace_back();
            for (int i = from(0, 5); i > 0; --i) {
                const std::int64_t demand = from(0, 12);
                const std::int64_t ps = from(1, 60);
                tasks.push_back(reading(ps, demand, resource));
                // A task without demand would never end in the
                // reference, so it is removed from both sides below.
                queue.push_back({.demands = {demand}, .alone = ps});
            }
        }
        std::erase_if(tasks, [](const Task& task) { return task.demand == 0; });
        for (auto& queue : reference.queues) {
            std::erase_if(queue, [](const auto& job) { return job.demands[0] == 0; });
        }
        const auto passes = static_cast<std::uint8_t>(from(0, 1) == 0 ? 1 : 4);
        std::vector<Schedule> schedules;
        std::array<std::uint32_t, 2> classes{};
        for (std::uint32_t link = 0; link < 2; ++link) {
            classes.at(link) = static_cast<std::uint32_t>(from(0, 1));
            auto& queue = reference.queues.emplace_back();
            std::vector<Send> sends;
            for (int i = from(1, 4); i > 0; --i) {
                const std::int64_t ps = from(1, 20);
                sends.push_back(
                    {.distance = link == 0 ? 1 : -1, .bytes = static_cast<double>(4 * ps)});
                queue.push_back({.demands = {4, 4 * passes},
                                 .alone = ps,
                                 .kind = classes.at(link) == 0 ? ReferenceMemories::urgent
                                                               : ReferenceMemories::other});
            }
            Schedule& schedule = schedules.emplace_back(schedule_of(sends, 1, {0}));
            for (Transfer& transfer : schedule.transfers) {
                transfer.writes = passes;
            }
            tasks.push_back(operation(link));
        }
        Workload workload = workload_of(machine, schedules, tasks);
        workload.operations[0].priority_class = classes[0];
        workload.operations[1].priority_class = classes[1];
        Recorder seen;
        execute(workload, &seen);

        std::vector<std::vector<std::int64_t>> ends(5);
        for (const auto& ended : seen.ended) {
            if (tasks[ended.what].operation == kNoOperation) {
                ends[tasks[ended.what].resource].push_back(ended.time);
            }
        }
        for (const auto& held : seen.held) {
            ends[3 + held.server].push_back(held.end);
        }
        for (auto& of_queue : ends) {
            std::ranges::sort(of_queue);
        }
        ASSERT_EQ(ends, reference.run());
        for (const auto& held : seen.held) {
            slowed += (held.end - held.start) % 4 != 0 ? 1 : 0;
        }
    }
    EXPECT_GT(slowed, 100);
}

}  // namespace
}  // namespace podsim::sim
