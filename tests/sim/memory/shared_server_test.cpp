// Max-min fair sharing by hand algebra.
#include "sim/memory/shared_server.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace podsim::sim {
namespace {

using Key = SharedServer::Key;

std::int64_t share_of(const SharedServer& server, Key key) {
    const auto found = std::ranges::find(server.streams(), key, &SharedServer::Stream::key);
    return found == server.streams().end() ? -1 : found->share;
}

std::vector<Key> ended(SharedServer& server, Time now) {
    std::vector<Key> keys;
    server.take_ended(now, keys);
    server.share_out(now);
    return keys;
}

TEST(SharedServerTest, EachHasItsDemandWhileTheyFit) {
    SharedServer server(100);
    server.begin({0, 1}, 60, Time{10}, Time{0});
    server.begin({0, 2}, 40, Time{20}, Time{0});
    EXPECT_EQ(server.demand(Time{0}), 100);
    EXPECT_EQ(share_of(server, {0, 1}), 60);
    EXPECT_EQ(share_of(server, {0, 2}), 40);
    EXPECT_EQ(server.next_end(), Time{10});
    EXPECT_TRUE(server.unfinished({0, 1}, Time{9}));
    EXPECT_FALSE(server.unfinished({0, 1}, Time{10}));
    EXPECT_EQ(server.demand(Time{10}), 40);
    EXPECT_EQ(ended(server, Time{10}), (std::vector<Key>{{0, 1}}));
    EXPECT_EQ(server.next_end(), Time{20});
    EXPECT_FALSE(server.unfinished({0, 7}, Time{10}));
}

/// R = 100, demands 10, 50, 70: the level L solves 10 + 2 L = 100, so L = 45.
TEST(SharedServerTest, LevelsWhatDoesNotFit) {
    SharedServer server(100);
    server.begin({0, 1}, 50, Time{10}, Time{0});
    server.begin({0, 2}, 10, Time{10}, Time{0});
    server.begin({0, 3}, 70, Time{10}, Time{0});
    EXPECT_EQ(share_of(server, {0, 1}), 45);
    EXPECT_EQ(share_of(server, {0, 2}), 10);
    EXPECT_EQ(share_of(server, {0, 3}), 45);
}

/// R = 100, work 90, three messages of 30: both kinds get half, each message 16 of 50. A fourth,
/// urgent message gets its 30 first and leaves 6 each. Work of 40, less than half, gets its demand
/// and leaves them 10 each.
TEST(SharedServerTest, WorkHasHalfAndUrgentMessagesGoFirst) {
    using Kind = SharedServer::Kind;
    for (const std::int64_t work : {90, 40}) {
        SharedServer server(100);
        server.begin({0, 1}, work, Time{10}, Time{0}, Kind::work);
        for (std::uint32_t i = 0; i < 3; ++i) {
            server.begin({1, i}, 30, Time{10}, Time{0}, Kind::other);
        }
        EXPECT_EQ(share_of(server, {0, 1}), work == 90 ? 50 : 40);
        EXPECT_EQ(share_of(server, {1, 2}), work == 90 ? 16 : 20);
        server.begin({2, 0}, 30, Time{10}, Time{0}, Kind::urgent);
        EXPECT_EQ(share_of(server, {0, 1}), work == 90 ? 50 : 40);
        EXPECT_EQ(share_of(server, {1, 2}), work == 90 ? 6 : 10);
        EXPECT_EQ(share_of(server, {2, 0}), 30);
    }
}

/// Messages with demands below half leave the rest to work.
TEST(SharedServerTest, WorkHasWhatMessagesLeave) {
    SharedServer server(100);
    server.begin({0, 1}, 90, Time{10}, Time{0}, SharedServer::Kind::work);
    server.begin({1, 1}, 20, Time{10}, Time{0}, SharedServer::Kind::other);
    server.begin({2, 1}, 10, Time{10}, Time{0}, SharedServer::Kind::urgent);
    EXPECT_EQ(share_of(server, {0, 1}), 70);
    EXPECT_EQ(share_of(server, {1, 1}), 20);
    EXPECT_EQ(share_of(server, {2, 1}), 10);
}

/// A: 80 for 10 ps, B: 40 for 30 ps, R = 100, so L = 60: A
/// has 60, B its 40. A's 800 end at ceil(800 / 60) = 14.
TEST(SharedServerTest, EndsLateByWhatItWasShortOf) {
    SharedServer server(100);
    server.begin({0, 1}, 80, Time{10}, Time{0});
    server.begin({0, 2}, 40, Time{30}, Time{0});
    EXPECT_EQ(share_of(server, {0, 1}), 60);
    EXPECT_EQ(share_of(server, {0, 2}), 40);
    EXPECT_TRUE(server.unfinished({0, 1}, Time{13}));
    EXPECT_EQ(server.next_end(), Time{14});
    EXPECT_FALSE(server.unfinished({0, 1}, Time{14}));
}

/// Both demand the full rate and get 50 each until B ends.
/// A has 1000 - 50 x 8 = 600 left at 8 and ends at 8 + 6.
TEST(SharedServerTest, SpeedsUpWhenAnotherEnds) {
    SharedServer server(100);
    server.begin({0, 1}, 100, Time{10}, Time{0});
    server.begin({1, 1}, 100, Time{4}, Time{0});
    EXPECT_EQ(server.next_end(), Time{8});
    EXPECT_EQ(ended(server, Time{8}), (std::vector<Key>{{1, 1}}));
    EXPECT_EQ(share_of(server, {0, 1}), 100);
    EXPECT_EQ(server.next_end(), Time{14});
    EXPECT_EQ(ended(server, Time{14}), (std::vector<Key>{{0, 1}}));
    EXPECT_TRUE(server.empty());
}

/// The total demand is cached until a stream ends.
TEST(SharedServerTest, KnowsWhatIsAskedOfIt) {
    SharedServer server(100);
    EXPECT_EQ(server.asked(), 0);
    server.add({0, 1}, 80, Time{10}, Time{0});
    server.add({0, 2}, 40, Time{30}, Time{0});
    server.share_out(Time{0});
    EXPECT_EQ(server.asked(), 120);
    EXPECT_EQ(server.demand(Time{13}), 120);
    EXPECT_EQ(server.demand(Time{14}), 40);
    EXPECT_EQ(server.asked(), 120);
    EXPECT_EQ(ended(server, Time{14}), (std::vector<Key>{{0, 1}}));
    EXPECT_EQ(server.asked(), 40);
}

/// Alike streams taken together have the shares, ends and total demand of as many single ones.
TEST(SharedServerTest, TakesStreamsThatAreAlikeTogether) {
    std::mt19937_64 random(3);
    for (int round = 0; round < 300; ++round) {
        SharedServer together(1000);
        SharedServer apart(1000);
        for (std::uint32_t i = 0; i < 1 + random() % 6; ++i) {
            const auto alike = static_cast<std::uint32_t>(1 + random() % 3);
            const auto demand = 1 + static_cast<std::int64_t>(random() % 400);
            const Time alone{1 + static_cast<std::int64_t>(random() % 50)};
            const auto kind = static_cast<SharedServer::Kind>(random() % 3);
            together.add({0, i}, demand, alone, Time{0}, kind, alike);
            for (std::uint32_t one = 0; one < alike; ++one) {
                apart.add({one, i}, demand, alone, Time{0}, kind);
            }
        }
        together.share_out(Time{0});
        apart.share_out(Time{0});
        while (!together.empty()) {
            const Time now = together.next_end();
            ASSERT_EQ(apart.next_end(), now);
            ASSERT_EQ(apart.asked(), together.asked());
            ASSERT_EQ(apart.demand(now), together.demand(now));
            for (const SharedServer::Stream& stream : apart.streams()) {
                ASSERT_EQ(share_of(together, {0, stream.key.number}), stream.share);
            }
            ended(together, now);
            ended(apart, now);
        }
        ASSERT_TRUE(apart.empty());
    }
}

/// Skipping repeats moves a stream: it ends later, under another number.
TEST(SharedServerTest, IsMoved) {
    SharedServer server(100);
    server.begin({0, 1}, 100, Time{10}, Time{5});
    server.skip(Time{100}, [](Key& key) { key.number += 4; });
    EXPECT_EQ(server.next_end(), Time{115});
    EXPECT_EQ(ended(server, Time{115}), (std::vector<Key>{{0, 5}}));
}

/// Equal demands have equal shares, all shares fit, and none exceeds its demand. Less than a unit a
/// stream is left unused, and the order in which streams begin does not matter.
TEST(SharedServerTest, IsFairWhateverTheOrder) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 300; ++round) {
        const std::int64_t rate = 1000 + static_cast<std::int64_t>(random() % 1000);
        std::vector<std::pair<Key, std::int64_t>> streams;
        for (std::uint32_t i = 0; i < 1 + random() % 13; ++i) {
            streams.push_back({{0, i}, 1 + static_cast<std::int64_t>(random() % 8) * 100});
        }
        SharedServer forward(rate);
        SharedServer backward(rate);
        for (std::size_t i = 0; i < streams.size(); ++i) {
            forward.begin(streams[i].first, streams[i].second, Time{5}, Time{3});
            const auto& last = streams[streams.size() - 1 - i];
            backward.begin(last.first, last.second, Time{5}, Time{3});
        }
        std::int64_t sum = 0;
        std::int64_t level = 0;
        for (const auto& stream : forward.streams()) {
            EXPECT_EQ(stream.share, share_of(backward, stream.key));
            EXPECT_LE(stream.share, stream.demand);
            sum += stream.share;
            level = std::max(level, stream.share);
        }
        EXPECT_LE(sum, rate);
        if (forward.demand(Time{3}) > rate) {
            EXPECT_GT(sum + static_cast<std::int64_t>(streams.size()), rate);
            for (const auto& stream : forward.streams()) {
                EXPECT_TRUE(stream.share == stream.demand || stream.share == level);
            }
        }
    }
}

}  // namespace
}  // namespace podsim::sim
