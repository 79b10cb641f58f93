// Growth of arrays that may be large.
#include "sim/base/huge_pages.h"

#include <cstddef>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <new>
#include <utility>

namespace podsim::sim {
namespace {

constexpr std::uintptr_t kHugePage = 2 << 20;

/// An array grows from one kind of memory into the other and keeps its elements; a large array
/// begins at a huge page.
TEST(HugePagesTest, KeepsWhatIsInItWhileItGrows) {
    LargeArray<std::uint32_t> array;
    constexpr std::uint32_t kCount = 3 << 20;  // 12 MiB
    for (std::uint32_t i = 0; i < kCount; ++i) {
        array.push_back(i);
    }
    LargeArray<std::uint32_t> moved = std::move(array);
    moved.shrink_to_fit();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(moved.data()) % kHugePage, 0U);
    for (std::uint32_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(moved[i], i);
    }
    const LargeArray<std::uint32_t> copy(moved.begin(), moved.begin() + 5);
    EXPECT_EQ(copy, LargeArray<std::uint32_t>({0, 1, 2, 3, 4}));
}

TEST(HugePagesTest, SaysWhenThereIsNoMemory) {
    const std::size_t far_too_many = std::numeric_limits<std::size_t>::max() / 64;
    EXPECT_THROW(HugePages<std::uint64_t>().allocate(far_too_many), std::bad_alloc);
}

}  // namespace
}  // namespace podsim::sim
