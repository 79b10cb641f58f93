#include "sim/state/far_waiting.h"

#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <vector>

namespace podsim::sim {
namespace {

constexpr std::uint64_t kPriority = 3;

/// Returns a waiting message of one fixed priority; `what` orders those of one instant.
Waiting waiting(std::uint64_t instant, std::uint32_t what) {
    return {.order = kPriority << Waiting::kInstantBits | instant, .what = what, .source = 0};
}

struct Line {
    WaitingChunks chunks{};
    FarWaiting far{};
    std::size_t compared = 0;

    void add(Waiting added) {
        far.add(added, chunks, [this](Waiting a, Waiting b) {
            ++compared;
            return a.order != b.order ? a.order < b.order : a.what < b.what;
        });
    }
    std::vector<std::uint32_t> take_all() {
        std::vector<std::uint32_t> taken;
        while (!far.empty()) {
            taken.push_back(far.take_first(chunks).what);
        }
        return taken;
    }
};

std::vector<std::uint32_t> first(std::uint32_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
}

// A message at either end is added without a search: two comparisons each, at most.
TEST(FarWaiting, TakesWhatComesInOrderAndInReverse) {
    constexpr std::uint32_t kMany = 10'000;
    Line up;
    Line down;
    for (std::uint32_t i = 0; i < kMany; ++i) {
        up.add(waiting(0, i));
        down.add(waiting(0, kMany - 1 - i));
    }
    EXPECT_LE(up.compared, 2 * kMany);
    EXPECT_LE(down.compared, 2 * kMany);
    EXPECT_EQ(up.take_all(), first(kMany));
    EXPECT_EQ(down.take_all(), first(kMany));
}

TEST(FarWaiting, SortsWhatComesInAnyOrder) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        std::vector<std::uint32_t> numbers = first(1 + static_cast<std::uint32_t>(random() % 60));
        std::ranges::shuffle(numbers, random);
        Line line;
        for (const std::uint32_t number : numbers) {
            line.add(waiting(0, number));
        }
        ASSERT_EQ(line.take_all(), first(static_cast<std::uint32_t>(numbers.size())));
    }
}

// Messages are taken and added alternately, before the first and behind the last.
TEST(FarWaiting, GrowsAtBothEndsWhileItIsTaken) {
    Line line;
    for (std::uint32_t i = 0; i < 40; ++i) {
        line.add(waiting(5, 1000 - i));
    }
    for (std::uint32_t i = 0; i < 20; ++i) {
        EXPECT_EQ(line.far.take_first(line.chunks).what, 961 + i);
    }
    for (std::uint32_t i = 0; i < 30; ++i) {
        line.add(waiting(5, 500 - i));
        line.add(waiting(6, i));
    }
    std::vector<Waiting> all;
    line.far.append_to(all, line.chunks);
    EXPECT_EQ(all.size(), 80U);
    const std::vector<std::uint32_t> taken = line.take_all();
    ASSERT_EQ(taken.size(), 80U);
    for (std::uint32_t i = 0; i < 30; ++i) {
        EXPECT_EQ(taken[i], 471 + i);
        EXPECT_EQ(taken[50 + i], i);
    }
    for (std::uint32_t i = 0; i < 20; ++i) {
        EXPECT_EQ(taken[30 + i], 981 + i);
    }
}

// The widest value of each field, at every position of a
// chunk, is kept and renumbered, as when repeats are skipped.
TEST(FarWaiting, KeepsAndRenumbersEveryField) {
    constexpr std::uint64_t kLastInstant = (std::uint64_t{1} << Waiting::kInstantBits) - 1;
    constexpr std::uint32_t kLastSource = (std::uint32_t{1} << Waiting::kSourceBits) - 1;
    constexpr std::uint32_t kCount = 2 * WaitingChunk::kMost + 1;
    Line line;
    for (std::uint32_t i = 0; i < kCount; ++i) {
        line.add({.order = kPriority << Waiting::kInstantBits | (kLastInstant - kCount + i),
                  .what = 0xffffffff - i,
                  .source = kLastSource - i});
    }
    line.far.for_each(line.chunks, [](Waiting& moved) {
        moved.order += (std::uint64_t{1} << Waiting::kInstantBits) + 1;
        moved.what -= kCount;
    });
    line.add({.order = (kPriority + 1) << Waiting::kInstantBits, .what = 0, .source = 0});
    // The earliest message of the renumbered priority.
    EXPECT_EQ(line.far.take_first(line.chunks).what, 0U);
    for (std::uint32_t i = 0; i < kCount; ++i) {
        const Waiting taken = line.far.take_first(line.chunks);
        EXPECT_EQ(taken.priority(), kPriority + 1);
        EXPECT_EQ(taken.instant(), kLastInstant - kCount + i + 1);
        EXPECT_EQ(taken.what, 0xffffffff - kCount - i);
        EXPECT_EQ(taken.source, kLastSource - i);
    }
    EXPECT_TRUE(line.far.empty());
}

}  // namespace
}  // namespace podsim::sim
