// Sequences of numbers as bytes: equal bytes mean equal sequences.
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "sim/folding/snapshot.h"

namespace podsim::sim {
namespace {

Signature of(const std::vector<std::int64_t>& numbers) {
    Signature signature;
    for (const std::int64_t number : numbers) {
        signature.push_back(number);
    }
    return signature;
}

TEST(SignatureTest, SmallNumbersOfEitherSignAreShort) {
    EXPECT_EQ(of({}).size_in_bytes(), 0U);
    // A byte holds seven bits, one of them the sign:
    // one byte from -64 to 63, two from -8192 to 8191.
    for (const std::int64_t number : {0, 1, -1, 63, -64}) {
        EXPECT_EQ(of({number}).size_in_bytes(), 1U) << number;
    }
    for (const std::int64_t number : {64, -65, 8191, -8192}) {
        EXPECT_EQ(of({number}).size_in_bytes(), 2U) << number;
    }
    EXPECT_EQ(of({8192}).size_in_bytes(), 3U);
    EXPECT_EQ(of({-8193}).size_in_bytes(), 3U);
    // 64 bits need ten bytes.
    EXPECT_EQ(of({std::numeric_limits<std::int64_t>::max()}).size_in_bytes(), 10U);
    EXPECT_EQ(of({std::numeric_limits<std::int64_t>::min()}).size_in_bytes(), 10U);
}

TEST(SignatureTest, NumbersAreToldApart) {
    std::vector<std::int64_t> numbers{0, std::numeric_limits<std::int64_t>::max(),
                                      std::numeric_limits<std::int64_t>::min()};
    for (int bit = 0; bit < 63; ++bit) {
        numbers.push_back(std::int64_t{1} << bit);
        numbers.push_back(-(std::int64_t{1} << bit) - 1);
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        for (std::size_t j = 0; j < numbers.size(); ++j) {
            EXPECT_EQ(of({numbers[i]}) == of({numbers[j]}), numbers[i] == numbers[j])
                << numbers[i] << " " << numbers[j];
        }
    }
}

TEST(SignatureTest, OrderAndBordersCount) {
    EXPECT_EQ(of({1, 300, -5}), of({1, 300, -5}));
    EXPECT_NE(of({1, 2}), of({2, 1}));
    EXPECT_NE(of({1, 23}), of({12, 3}));
    EXPECT_NE(of({1}), of({1, 0}));
}

TEST(SignatureTest, BytesAreTakenAsTheyAre) {
    Signature two = of({2});
    two.append({7, 200});
    EXPECT_EQ(two.size_in_bytes(), 3U);
    Signature same = of({2});
    same.append({7, 200});
    EXPECT_EQ(two, same);
    Signature other = of({2});
    other.append({7, 201});
    EXPECT_NE(two, other);
}

}  // namespace
}  // namespace podsim::sim
