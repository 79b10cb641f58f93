// The order in which links take waiting messages.
#include "sim/state/link_servers.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace podsim::sim {
namespace {

/// Ties go by the number of the transfer.
bool goes_before(const Waiting& a, const Waiting& b) {
    return a.order != b.order ? a.order < b.order : a.what < b.what;
}

TEST(LinkServersTest, PriorityThenArrivalThenKey) {
    LinkServers servers;
    servers.append(0);
    EXPECT_FALSE(servers.has_waiting(0));
    const auto order = [](std::uint64_t priority, std::uint64_t instant) {
        return priority << Waiting::kInstantBits | instant;
    };
    servers.at(0).add({.order = order(1, 0), .what = 0, .source = 5}, goes_before);
    servers.at(0).add({.order = order(0, 9), .what = 0, .source = 4}, goes_before);
    servers.at(0).add({.order = order(0, 8), .what = 7, .source = 3}, goes_before);
    servers.at(0).add({.order = order(0, 8), .what = 6, .source = 2}, goes_before);
    for (std::uint32_t message = 2; message <= 5; ++message) {
        ASSERT_TRUE(servers.has_waiting(0));
        EXPECT_EQ(servers.at(0).take_first().source, message);
    }
    EXPECT_FALSE(servers.has_waiting(0));
}

/// Hundreds wait, more than are kept near: the message taken is always the smallest.
TEST(LinkServersTest, RandomTurnsAgainstASort) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        LinkServers servers;
        servers.append(0);
        servers.append(1);
        std::vector<std::vector<Waiting>> waiting(2);
        std::uint32_t next = 0;
        for (int turn = 0; turn < 1200; ++turn) {
            const std::size_t server = random() % 2;
            const std::uint64_t growing = turn < 600 ? 4 : 1;
            if (random() % 6 < growing) {
                // There are five priorities; instants come in any order, or ascending.
                const std::uint64_t instant = seed % 2 == 0 ? random() % 40 : next / 3;
                const Waiting added{.order = random() % 5 << Waiting::kInstantBits | instant,
                                    .what = next ^ static_cast<std::uint32_t>(seed % 4),
                                    .source = next};
                ++next;
                servers.at(server).add(added, goes_before);
                waiting[server].push_back(added);
            } else if (!waiting[server].empty()) {
                const auto least = std::ranges::min_element(waiting[server], goes_before);
                ASSERT_EQ(servers.at(server).take_first().source, least->source);
                waiting[server].erase(least);
            }
            ASSERT_EQ(servers.has_waiting(server), !waiting[server].empty());
            ASSERT_EQ(servers.waiting(server).size(), waiting[server].size());
        }
    }
}

/// There are hundreds of priorities, which move on meanwhile as repeats do.
TEST(LinkServersTest, ManyPrioritiesAgainstASort) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937_64 random(seed);
        LinkServers servers;
        servers.append(0);
        std::vector<Waiting> waiting;
        const auto move = [](Waiting& one) {
            one.order += std::uint64_t{3} << Waiting::kInstantBits;
        };
        for (std::uint32_t turn = 0; turn < 3000; ++turn) {
            if (turn % 700 == 699) {
                servers.skip(0, Time{}, move, 0, Time{}, 0);
                std::ranges::for_each(waiting, move);
            }
            const std::uint64_t growing = turn < 1500 ? 5 : 1;
            if (random() % 6 < growing) {
                // They come in the order of their priorities, against it, or in any.
                const std::uint64_t priority = seed % 3 == 0   ? 10'000 + turn
                                               : seed % 3 == 1 ? 10'000 - turn
                                                               : random() % 800;
                const Waiting added{.order = priority << Waiting::kInstantBits | turn,
                                    .what = turn,
                                    .source = turn};
                servers.at(0).add(added, goes_before);
                waiting.push_back(added);
            } else if (!waiting.empty()) {
                const auto least = std::ranges::min_element(waiting, goes_before);
                ASSERT_EQ(servers.at(0).take_first().source, least->source);
                waiting.erase(least);
            }
            ASSERT_EQ(servers.has_waiting(0), !waiting.empty());
            ASSERT_EQ(servers.waiting(0).size(), waiting.size());
        }
    }
}

/// A million operations are in flight, each with a priority of its own. In one row this would take
/// an hour.
TEST(LinkServersTest, AMillionPriorities) {
    constexpr std::uint32_t kMany = 1'000'000;
    LinkServers servers;
    servers.append(0);
    for (std::uint32_t i = 0; i < kMany; ++i) {
        const std::uint64_t priority = i % 2 == 0 ? i : kMany + i;
        servers.at(0).add({.order = priority << Waiting::kInstantBits, .what = 0, .source = i},
                          goes_before);
    }
    for (std::uint32_t i = 0; i < kMany; ++i) {
        ASSERT_EQ(servers.at(0).take_first().source, 2 * i < kMany ? 2 * i : 2 * i + 1 - kMany);
    }
    EXPECT_FALSE(servers.has_waiting(0));
}

TEST(LinkServersTest, HoldsAndCounts) {
    LinkServers servers;
    servers.append(3);
    EXPECT_EQ(servers.link_class(0), 3U);
    EXPECT_FALSE(servers.at(0).can_serve(Time{0}));  // nothing waits
    EXPECT_TRUE(servers.at(0).add({.order = 1, .what = 0, .source = 0}, goes_before));
    EXPECT_TRUE(servers.at(0).can_serve(Time{0}));
    servers.at(0).hold(Time{10}, Time{30}, carried_units(Bytes(5)));
    EXPECT_FALSE(servers.at(0).can_serve(Time{29}));
    EXPECT_TRUE(servers.at(0).can_serve(Time{30}));  // free at its end
    servers.at(0).hold(Time{40}, Time{41}, carried_units(Bytes(2.5)));
    EXPECT_EQ(servers.busy(0), Time{21});
    EXPECT_EQ(servers.free_at(0), Time{41});
    EXPECT_EQ(static_cast<double>(servers.carried(0)) / kCarriedUnit, 7.5);
}

}  // namespace
}  // namespace podsim::sim
