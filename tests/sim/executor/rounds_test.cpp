// Rounds within an instant, tasks, and independence of the numbering and the number of places.
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/sim/kernel_support.h"

namespace podsim::sim {
namespace {

using Held = Recorder::Held;

/// At 1000 the link of place 1 becomes free and a message of an earlier phase arrives. It competes
/// with the one that has waited since 0, and the earlier phase wins.
TEST(RoundsTest, AllThatHappensAtAnInstantCompetes) {
    const std::vector<Send> sends{{.role = 0, .bytes = 900, .to_role = 1},
                                  {.role = 1, .bytes = 1000, .phase = 0, .to_role = 2},
                                  {.role = 1, .bytes = 50, .phase = 2, .to_role = 2},
                                  {.role = 1, .bytes = 70, .after = {0}, .phase = 1, .to_role = 2}};
    Recorder seen;
    execute(
        workload_of(row_of(3, false, {100}), {schedule_of(sends, 3, {0, 1, 2})}, {operation(0)}),
        &seen);
    EXPECT_EQ(seen.held,
              (std::vector<Held>{
                  {0, 0, 0, 900}, {2, 0, 0, 1000}, {2, 0, 1000, 1070}, {2, 0, 1070, 1120}}));
}

/// Without bytes and latency the message arrives at once. Its successor still belongs to the next
/// round, after a message of a later phase has taken the link.
TEST(RoundsTest, WhatPicksCauseBelongsToTheNextRound) {
    const std::vector<Send> sends{{.role = 0, .bytes = 0, .to_role = 1},
                                  {.role = 1, .bytes = 50, .phase = 2, .to_role = 2},
                                  {.role = 1, .bytes = 70, .after = {0}, .phase = 0, .to_role = 2}};
    Recorder seen;
    execute(workload_of(row_of(3, false, {0}), {schedule_of(sends, 3, {0, 1, 2})}, {operation(0)}),
            &seen);
    EXPECT_EQ(seen.held, (std::vector<Held>{{0, 0, 0, 0}, {2, 0, 0, 50}, {2, 0, 50, 120}}));
}

/// A link serves any number of messages that take no time, one a round.
TEST(RoundsTest, InfiniteRatesTakeNoTime) {
    const std::vector<Send> sends{
        {.bytes = 1e6, .to_role = 1}, {.bytes = 1e6, .to_role = 1}, {.bytes = 1e6, .to_role = 1}};
    const Machine machine = row_of(2, false, {30}, BytesPerSecond::infinity());
    const ExecutionResult result =
        execute(workload_of(machine, {schedule_of(sends, 2, {0, 1})}, {operation(0)}));
    EXPECT_EQ(result.end, Time{30});
    EXPECT_EQ(result.links[0].busy, Time{0});
    EXPECT_EQ(result.links[0].carried().value(), 3e6);
}

/// A resource runs its tasks in program order, even if a later one could go: 0 ends at 10, 1
/// (another resource) at 100, 2 waits for it and ends at 105, 3 comes after 2 and ends at 106.
TEST(TasksTest, SerialResourcesKeepProgramOrder) {
    Recorder seen;
    const ExecutionResult result = execute(
        workload_of(row_of(1, false, {0}), {}, {work(10), work(100, 1), work(5, 0, {1}), work(1)}),
        &seen);
    EXPECT_EQ(result.end, Time{106});
    EXPECT_EQ(result.events, 4U);
    EXPECT_EQ(seen.began,
              (std::vector<Recorder::Seen>{{0, 0, 0}, {0, 1, 0}, {0, 2, 100}, {0, 3, 105}}));
    EXPECT_EQ(seen.ended,
              (std::vector<Recorder::Seen>{{0, 0, 10}, {0, 1, 100}, {0, 2, 105}, {0, 3, 106}}));
}

/// Operations run beside work. A launch cost delays the start, and dependent tasks wait.
TEST(TasksTest, OperationsRunBesideWork) {
    Task gather = operation(0, {40});
    gather.after = {0};
    const std::vector<Send> sends{{.bytes = 100}};
    Recorder seen;
    const ExecutionResult result =
        execute(workload_of(row_of(2, true, {5}), {schedule_of(sends, 1, {0, 0})},
                            {work(10), gather, work(20), work(7, 0, {1})}),
                &seen);
    EXPECT_EQ(seen.held.front(), (Held{0, 0, 50, 150}));
    EXPECT_EQ(result.end_of_place, (std::vector<Time>{{162}, {162}}));  // 10 + 40 + 100 + 5 + 7
}

TEST(TasksTest, ThatCanNeverRunAreADefect) {
    // The transfer waits for an arrival that is never sent.
    Schedule schedule = schedule_of({{.bytes = 1}}, 1, {0, 0});
    schedule.transfers[0].needs = 2;
    EXPECT_THROW(execute(workload_of(row_of(2, true, {0}), {schedule}, {operation(0)})),
                 std::logic_error);
    // The task depends on a later task, or on itself.
    EXPECT_THROW(execute(workload_of(row_of(1, false, {0}), {}, {work(1, 0, {1}), work(1)})),
                 std::logic_error);
    EXPECT_THROW(execute(workload_of(row_of(1, false, {0}), {}, {work(1, 0, {0})})),
                 std::logic_error);
}

TEST(TasksTest, TheClockDoesNotWrapAround) {
    const std::int64_t most = Time::max().ps;
    EXPECT_EQ(execute(workload_of(row_of(1, false, {0}), {}, {work(most)})).end, Time::max());
    EXPECT_THROW(execute(workload_of(row_of(1, false, {0}), {}, {work(most), work(1)})),
                 TimeOverflow);
    const std::vector<Send> sends{{.bytes = 1, .to_role = 1}};
    EXPECT_THROW(execute(workload_of(row_of(2, false, Time::max()), {schedule_of(sends, 2, {0, 1})},
                                     {operation(0)})),
                 TimeOverflow);
}

/// Returns random sends on a ring, the same at every
/// place: any later send may wait for any earlier one.
std::vector<Send> random_sends(std::mt19937_64& random) {
    std::vector<Send> sends;
    const std::uint32_t count = 3 + static_cast<std::uint32_t>(random() % 8);
    for (std::uint32_t i = 0; i < count; ++i) {
        Send send;
        send.distance = static_cast<int>(random() % 7) - 3;
        send.bytes = static_cast<double>(random() % 4) * 250;
        send.phase = static_cast<std::uint32_t>(random() % 3);
        for (std::uint32_t before = 0; before < i; ++before) {
            if (random() % 4 == 0) {
                send.after.push_back(before);
            }
        }
        sends.push_back(send);
    }
    return sends;
}

Machine random_ring(std::mt19937_64& random, int places) {
    const auto latency = static_cast<std::int64_t>(random() % 3) * 250;
    Machine machine = row_of(places, true, {latency},
                             random() % 4 == 0 ? BytesPerSecond::infinity() : kBytePerPs);
    machine.rule = random() % 2 == 0 ? LatencyRule::additive : LatencyRule::floor;
    return machine;
}

/// A ring of identical places has the same times for
/// any number of places: one place stands for all.
TEST(InvarianceTest, NumberOfIdenticalPlaces) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::vector<ExecutionResult> results;
        for (const int places : {12, 6, 4, 3, 2, 1}) {
            std::mt19937_64 random(seed);
            const Machine machine = random_ring(random, places);
            const Schedule schedule =
                schedule_of(random_sends(random), 1, std::vector<std::uint32_t>(machine.places));
            results.push_back(execute(workload_of(machine, {schedule, schedule},
                                                  {operation(0), work(100), operation(1, {50})})));
            const ExecutionResult& few = results.back();
            const ExecutionResult& many = results.front();
            ASSERT_EQ(few.end, many.end);
            ASSERT_EQ(few.events * 12 / static_cast<std::uint64_t>(places), many.events);
            for (std::size_t link = 0; link < many.links.size(); ++link) {
                ASSERT_EQ(few.links[link % few.links.size()].busy, many.links[link].busy);
            }
        }
    }
}

/// Unequal places (programs, rates, roles) keep their times when they are renumbered.
TEST(InvarianceTest, NumberingOfPlaces) {
    constexpr int kPlaces = 7;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        Machine machine = random_ring(random, kPlaces);
        for (LinkSpec& link : machine.links) {
            link.rate = BytesPerSecond(1e12 / static_cast<double>(1 + random() % 3));
        }
        const Schedule schedule =
            schedule_of(random_sends(random), 1, std::vector<std::uint32_t>(kPlaces));
        Workload workload =
            workload_of(machine, {schedule, schedule}, {operation(0), operation(1)});
        workload.graphs.emplace_back().tasks = {operation(0, {125}), work(250), operation(1)};
        for (std::uint32_t& graph : workload.graph_of_place) {
            graph = static_cast<std::uint32_t>(random() % 2);
        }

        std::vector<std::uint32_t> renamed(kPlaces);
        std::iota(renamed.begin(), renamed.end(), 0U);
        for (std::size_t i = kPlaces; i-- > 1;) {
            std::swap(renamed[i], renamed[random() % (i + 1)]);
        }
        Workload other = workload;
        for (std::size_t place = 0; place < kPlaces; ++place) {
            other.graph_of_place[renamed[place]] = workload.graph_of_place[place];
            for (std::size_t port = 0; port < machine.ports; ++port) {
                other.machine.links[machine.link(renamed[place], port)] =
                    machine.links[machine.link(place, port)];
            }
            for (std::size_t s = 0; s * kPlaces < machine.shifts.size(); ++s) {
                other.machine.shifts[s * kPlaces + renamed[place]] =
                    renamed[machine.shifted(s, place)];
            }
        }
        const ExecutionResult before = execute(workload);
        const ExecutionResult after = execute(other);
        ASSERT_EQ(before.end, after.end);
        ASSERT_EQ(before.events, after.events);
        for (std::size_t place = 0; place < kPlaces; ++place) {
            ASSERT_EQ(before.end_of_place[place], after.end_of_place[renamed[place]]);
            for (std::size_t port = 0; port < machine.ports; ++port) {
                ASSERT_EQ(before.links[machine.link(place, port)].busy,
                          after.links[machine.link(renamed[place], port)].busy);
            }
        }
    }
}

}  // namespace
}  // namespace podsim::sim
