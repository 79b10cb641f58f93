// Sizes mapped as JAX's create_device_mesh maps them; expected mappings worked out by hand.
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "tests/topology/lattice_support.h"
#include "topology/mesh/mesh.h"

namespace podsim::topology {
namespace {

using Sizes = std::vector<std::pair<std::string, int>>;

const PlacingOrder kSliceOrder{.slices = {"c"}};

/// `x%2 y | z`: the factors of each axis in the order of the sizes.
std::string mapped(const std::string& shape, const std::vector<int>& sizes, bool split,
                   int slices = 1) {
    const Lattice slice = box(shape);
    Sizes named;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        named.emplace_back(std::string(1, static_cast<char>('a' + i)), sizes[i]);
    }
    std::string text;
    bool first = true;
    const DeviceMesh mesh = map_mesh_as_jax(slice, named, kSliceOrder, split, slices);
    for (const LogicalAxis& axis : mesh.axes()) {
        text += first ? "" : " | ";
        first = false;
        for (std::size_t f = 0; f < axis.factors.size(); ++f) {
            const AxisFactor& factor = axis.factors[f];
            const int length = factor.axis == kSliceAxis ? slices : slice.length(factor.axis);
            text += (f == 0 ? "" : " ") + to_string(factor, length);
        }
    }
    return text;
}

/// The last axis chooses first: three axes before two before one, x before y before z.
TEST(MapMeshAsJax, WholeAxes) {
    EXPECT_EQ(mapped("4x4x4", {4, 16}, false), "z | x y");
    EXPECT_EQ(mapped("4x4x4", {16, 4}, false), "y z | x");
    EXPECT_EQ(mapped("4x4x4", {4, 4, 4}, false), "z | y | x");
    EXPECT_EQ(mapped("4x4x4", {1, 64}, false), " | x y z");
    EXPECT_EQ(mapped("4x4x4", {64, 1}, false), "x y z | ");
    // 16 is the plane of two axes rather than the one of 16.
    EXPECT_EQ(mapped("4x4x16", {16, 16}, false), "z | x y");
    EXPECT_EQ(mapped("4x4x8", {16, 8}, false), "x y | z");
    EXPECT_EQ(mapped("4x4x8", {8, 16}, false), "z | x y");
    EXPECT_EQ(mapped("4x4x8", {4, 32}, false), "y | x z");
    EXPECT_EQ(mapped("16x20x28", {560, 16}, false), "y z | x");
    EXPECT_EQ(mapped("8x16", {8, 16}, false), "x | y");
    EXPECT_EQ(mapped("16x16", {16, 16}, false), "y | x");
    // What needs no split is not split.
    EXPECT_EQ(mapped("4x4x4", {4, 16}, true), "z | x y");
}

TEST(MapMeshAsJax, SplitAxes) {
    // c takes x whole. b wants 8: one whole axis and half of another, more of y than of z. a: the rest.
    // Along z, b comes later and so has the neighbours.
    EXPECT_EQ(mapped("4x4x4", {2, 8, 4}, true), "z/2 | y z%2 | x");
    // c: x whole and half of y. b: the free z rather than what is left of y. a: the rest of both.
    EXPECT_EQ(mapped("4x4x4", {4, 2, 8}, true), "y/2 z/2 | z%2 | x y%2");
    // 64 of 4x4x8: 4 x 2 x 8 has 32 in whole axes, 4 x 4 x 4 has 16; of x and y, x is whole.
    EXPECT_EQ(mapped("4x4x8", {2, 64}, true), "y/2 | x y%2 z");
    // No whole axis fits 2: the first.
    EXPECT_EQ(mapped("4x4x4", {32, 2}, true), "x/2 y z | x%2");
    // 8 on 4x4x8: 8 in whole axes is z, or 4 in x.
    EXPECT_EQ(mapped("4x4x8", {2, 8, 8}, true), "y/2 | x y%2 | z");
    EXPECT_EQ(mapped("16x20x28", {2240, 4}, true), "x/4 y z | x%4");
    EXPECT_EQ(mapped("16x16", {64, 4}, true), "x/4 y | x%4");
}

/// The slices go to the first axis that asks for them, an axis named c before others; the sizes that are left are
/// mapped in each slice.
TEST(MapMeshAsJax, SeveralSlices) {
    EXPECT_EQ(mapped("4x4x4", {8, 16}, false, 2), "slice z | x y");
    EXPECT_EQ(mapped("4x4x4", {2, 64}, false, 2), "slice | x y z");
    EXPECT_EQ(mapped("4x4x4", {4, 2, 32}, true, 4), "y/2 z/2 | z%2 | slice x y%2");
}

TEST(MapMeshAsJax, Messages) {
    const auto error = [](const std::string& shape, const Sizes& sizes) {
        return error_of([&] { map_mesh_as_jax(box(shape), sizes, kSliceOrder, false); });
    };
    EXPECT_EQ(
        error("4x4x4", {{"data", 2}, {"fsdp", 8}, {"tensor", 4}}),
        "the 8 chips of 'fsdp' are not the product of whole axes of slice 4x4x4: the axes after "
        "it leave y 4, z 4; choose sizes that are, or the mapping that splits axes, jax_split");
    EXPECT_EQ(
        error("4x4x4", {{"data", 32}, {"tensor", 2}}),
        "the 2 chips of 'tensor' are not the product of whole axes of slice 4x4x4: the axes "
        "after it leave x 4, y 4, z 4; choose sizes that are, or the mapping that splits axes, "
        "jax_split");
    EXPECT_EQ(error("4x4x4", {{"data", 3}, {"tensor", 2}}),
              "the mesh data 3 x tensor 2 has 6 members, but slice 4x4x4 has 64 chips; change one "
              "size: data 32");
}

/// Whatever multiplies to the chips can be split, and tiles the slice (DeviceMesh checks that).
TEST(MapMeshAsJax, EverySplitOfTheChipsHasAMapping) {
    constexpr std::uint64_t kSeed = 11;
    Random random(kSeed);
    const std::vector<int> primes{2, 3, 5};
    for (int i = 0; i < 2000; ++i) {
        Lattice slice;
        Sizes sizes{{"data", 1}, {"fsdp", 1}, {"context", 1}, {"tensor", 1}};
        for (int n = random.between(0, 8); n > 0; --n) {
            const int prime = random.pick(primes);
            random.pick(slice.lengths) *= prime;
            random.pick(sizes).second *= prime;
        }
        const DeviceMesh mesh = map_mesh_as_jax(slice, sizes, kSliceOrder, true);
        for (std::size_t a = 0; a < sizes.size(); ++a) {
            ASSERT_EQ(mesh.axes()[a].size(), sizes[a].second)
                << "seed " << kSeed << ", round " << i;
        }
    }
}

}  // namespace
}  // namespace podsim::topology
