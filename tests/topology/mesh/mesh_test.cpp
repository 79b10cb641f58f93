#include "topology/mesh/mesh.h"

#include <gtest/gtest.h>
#include <set>

#include "tests/topology/lattice_support.h"

namespace podsim::topology {
namespace {

/// Returns a mesh from `{name, factors as text}`.
DeviceMesh mesh_of(const Lattice& slice,
                   const std::vector<std::pair<std::string, std::string>>& axes) {
    std::vector<LogicalAxis> parsed;
    for (const auto& [name, text] : axes) {
        parsed.push_back({name, parse_factors(text, slice)});
    }
    return DeviceMesh(slice, parsed);
}

TEST(Factor, ReadsItsFourForms) {
    const Lattice slice = box("24x20x28");
    EXPECT_EQ(parse_factor("x", slice), (AxisFactor{0, 1, 24}));
    EXPECT_EQ(parse_factor("y%4", slice), (AxisFactor{1, 1, 4}));
    EXPECT_EQ(parse_factor("z/4", slice), (AxisFactor{2, 4, 7}));
    EXPECT_EQ(parse_factor("x/2%3", slice), (AxisFactor{0, 2, 3}));
    EXPECT_EQ(parse_factor("x%1", slice), (AxisFactor{0, 1, 1}));
    EXPECT_EQ(parse_factor("x/24", slice), (AxisFactor{0, 24, 1}));
    EXPECT_EQ(parse_factors("  x/4 y\tz/2 ", slice),
              (std::vector<AxisFactor>{{0, 4, 6}, {1, 1, 20}, {2, 2, 14}}));
    EXPECT_TRUE(parse_factors("", slice).empty());
}

TEST(Factor, TextAndFactorAreInverse) {
    for (const int n : {1, 2, 12, 16, 28}) {
        Lattice slice;
        slice.lengths[1] = n;
        for (int stride = 1; stride <= n; ++stride) {
            for (int length = 1; stride * length <= n; ++length) {
                if (n % (stride * length) == 0) {
                    const AxisFactor factor{1, stride, length};
                    EXPECT_EQ(parse_factor(to_string(factor, n), slice), factor)
                        << to_string(factor, n);
                }
            }
        }
    }
    EXPECT_EQ(to_string(AxisFactor{0, 1, 16}, 16), "x");
    EXPECT_EQ(to_string(AxisFactor{0, 1, 4}, 16), "x%4");
    EXPECT_EQ(to_string(AxisFactor{0, 4, 4}, 16), "x/4");
    EXPECT_EQ(to_string(AxisFactor{2, 2, 3}, 12), "z/2%3");
}

TEST(Factor, Messages) {
    const Lattice slice = box("16x20x28");
    const auto error = [&](const char* text) {
        return error_of([&] { parse_factor(text, slice); });
    };
    const std::string grammar =
        "; write an axis x, y, z or slice, then optionally /stride, then optionally %length: x, "
        "x%4, x/4, "
        "x/2%3";
    EXPECT_EQ(error("w%4"), "factor 'w%4' does not start with an axis" + grammar);
    EXPECT_EQ(error(""), "factor '' does not start with an axis" + grammar);
    EXPECT_EQ(error("x%4/2"), "factor 'x%4/2' goes on with '/2'" + grammar);
    EXPECT_EQ(error("x,"), "factor 'x,' goes on with ','" + grammar);
    EXPECT_EQ(error("x%"), "factor 'x%' has no positive whole number after '%'" + grammar);
    EXPECT_EQ(error("x/0"), "factor 'x/0' has no positive whole number after '/'" + grammar);
    EXPECT_EQ(error("x%-4"), "factor 'x%-4' has no positive whole number after '%'" + grammar);
    EXPECT_EQ(
        error("x%3"),
        "factor 'x%3': length 3 does not divide axis x of length 16; allowed: 1, 2, 4, 8, 16; "
        "nearest: 2");
    EXPECT_EQ(
        error("y/8"),
        "factor 'y/8': stride 8 does not divide axis y of length 20; allowed: 1, 2, 4, 5, 10, 20; "
        "nearest: 10");
    EXPECT_EQ(
        error("z/4%2"),
        "factor 'z/4%2': length 2 does not divide what a stride of 4 leaves of axis z, length 28 / "
        "4 = 7; allowed: 1, 7; nearest: 1");
}

TEST(DeviceMesh, SizesAndGroups) {
    // The quick-start mesh has fsdp 4 * 20 * 14 = 1120, context 2, tensor 4; 8960 in all.
    const DeviceMesh mesh =
        mesh_of(box("16x20x28"), {{"fsdp", "x/4 y z/2"}, {"context", "z%2"}, {"tensor", "x%4"}});
    EXPECT_EQ(mesh.size("fsdp"), 1120);
    EXPECT_EQ(mesh.size("context"), 2);
    EXPECT_EQ(mesh.size("tensor"), 4);
    EXPECT_EQ(mesh.size("expert"), 1);
    EXPECT_EQ(mesh.group({"tensor"}), (std::vector<AxisFactor>{{0, 1, 4}}));
    // x%4 and x/4 merge into x, z%2 and z/2 into z, in whatever order they are named.
    const std::vector<AxisFactor> whole{{0, 1, 16}, {1, 1, 20}, {2, 1, 28}};
    EXPECT_EQ(mesh.group({"fsdp", "context", "tensor"}), whole);
    EXPECT_EQ(mesh.group({"tensor", "context", "fsdp", "fsdp", "nobody"}), whole);
    EXPECT_EQ(mesh.group({"tensor", "fsdp"}),
              (std::vector<AxisFactor>{{0, 1, 16}, {1, 1, 20}, {2, 2, 14}}));
    EXPECT_TRUE(mesh.group({"expert"}).empty());
}

TEST(DeviceMesh, NeighbouringFactorsMergeDistantOnesDoNot) {
    const DeviceMesh mesh =
        mesh_of(box("24x1x1"),
                {{"a", "x%2"}, {"b", "x/2%3"}, {"c", "x/6%2"}, {"d", "x/12"}, {"e", "x%1 y z"}});
    EXPECT_EQ(mesh.group({"a", "b"}), (std::vector<AxisFactor>{{0, 1, 6}}));
    EXPECT_EQ(mesh.group({"a", "c"}), (std::vector<AxisFactor>{{0, 1, 2}, {0, 6, 2}}));
    EXPECT_EQ(mesh.group({"d", "b", "c"}), (std::vector<AxisFactor>{{0, 2, 12}}));
    EXPECT_EQ(mesh.group({"e"}), std::vector<AxisFactor>{});
    EXPECT_EQ(mesh.size("e"), 1);
}

TEST(DeviceMesh, MessagesSayWhichFactorIsUnusedOrUsedTwice) {
    const Lattice slice = box("16x4x1");
    const auto error = [&](const std::vector<std::pair<std::string, std::string>>& axes) {
        return error_of([&] { mesh_of(slice, axes); });
    };
    EXPECT_EQ(
        error({{"data", "x"}}),
        "factor 'y' of axis y (length 4) is unused: the mesh spans 16 of the 64 chips of slice "
        "16x4x1; add 'y' to a logical axis");
    EXPECT_EQ(
        error({{"data", "x/4 y"}}),
        "factor 'x%4' of axis x (length 16) is unused: the mesh spans 16 of the 64 chips of slice "
        "16x4x1; add 'x%4' to a logical axis");
    EXPECT_EQ(error({{"data", "x/8 y"}, {"tensor", "x%2"}}),
              "factor 'x/2%4' of axis x (length 16) is unused: the mesh spans 16 of the 64 chips "
              "of slice "
              "16x4x1; add 'x/2%4' to a logical axis");
    EXPECT_EQ(
        error({{"data", "y"}, {"tensor", "x%4"}}),
        "factor 'x/4' of axis x (length 16) is unused: the mesh spans 16 of the 64 chips of slice "
        "16x4x1; add 'x/4' to a logical axis");
    // y twice and no x/4 still multiply to 64; the error is the overlap.
    EXPECT_EQ(
        error({{"data", "x%4 y"}, {"tensor", "y"}}),
        "axis y (length 4) is used twice: 'y' of 'data' and 'y' of 'tensor' overlap; each factor "
        "belongs to one logical axis; after 'y' nothing is left of the axis");
    EXPECT_EQ(
        error({{"data", "x/2 y"}, {"tensor", "x%4"}}),
        "axis x (length 16) is used twice: 'x%4' of 'tensor' and 'x/2' of 'data' overlap; each "
        "factor belongs to one logical axis; after 'x%4' the rest of the axis is 'x/4'");
    // With stride 6 after blocks of 4, no member has chips 4 and 5.
    EXPECT_EQ(
        error_of([&] {
            mesh_of(box("24x1x1"), {{"data", "x/6"}, {"tensor", "x%4"}});
        }),
        "axis x (length 24) is not covered: 'x%4' of 'tensor' and 'x/6' of 'data' do not line up; "
        "each factor belongs to one logical axis; after 'x%4' the rest of the axis is 'x/4'");
    EXPECT_EQ(error({{"data", "x y"}, {"data", ""}}),
              "logical axis 'data' comes twice; write its factors in one entry");
    EXPECT_EQ(
        error_of([&] {
            DeviceMesh(slice, {{"data", {{0, 1, 5}}}});
        }),
        "a factor of 'data' (stride 1, length 5) does not divide axis x of length 16; stride x "
        "length must divide the length of the axis");
    EXPECT_EQ(error_of([&] {
                  DeviceMesh(slice, {{"data", {{4, 1, 5}}}});
              }),
              "logical axis 'data' names physical axis 4; physical axes are 0, 1, 2 for x, y, z, "
              "and 3 for the "
              "slices");
}

/// True if counting through all factors reaches every chip exactly once.
bool tiles(const Lattice& slice, const std::vector<AxisFactor>& factors) {
    std::vector<Point> reached{{0, 0, 0}};
    for (const AxisFactor& factor : factors) {
        std::vector<Point> next;
        for (const Point& p : reached) {
            for (int i = 0; i < factor.length; ++i) {
                next.push_back(p + along(factor.axis, i * factor.stride));
            }
        }
        reached = std::move(next);
        if (static_cast<int>(reached.size()) > slice.size()) {
            return false;
        }
    }
    const std::set<Point> distinct(reached.begin(), reached.end());
    const bool inside = std::all_of(distinct.begin(), distinct.end(), [&](const Point& p) {
        return p[0] < slice.lengths[0] && p[1] < slice.lengths[1] && p[2] < slice.lengths[2];
    });
    return inside && static_cast<int>(distinct.size()) == slice.size() &&
           distinct.size() == reached.size();
}

// The constructor's rule about strides agrees with plain counting, on random lists of factors.
TEST(DeviceMesh, AcceptsExactlyTheFactorsThatReachEveryChipOnce) {
    constexpr std::uint64_t kSeed = 77;
    Random random(kSeed);
    const std::vector<Point> shapes{{8, 1, 1}, {12, 1, 1}, {4, 6, 1}, {2, 4, 2}};
    int accepted = 0;
    int refused = 0;
    for (int i = 0; i < 20000; ++i) {
        Lattice slice;
        slice.lengths = random.pick(shapes);
        std::vector<AxisFactor> factors;
        const int count = random.between(1, 5);
        while (static_cast<int>(factors.size()) < count) {
            const int axis = random.below(kAxes);
            const int n = slice.length(axis);
            const AxisFactor factor{axis, random.between(1, n), random.between(1, n)};
            if (n % factor.stride == 0 && n / factor.stride % factor.length == 0) {
                factors.push_back(factor);
            }
        }
        const bool ok = error_of([&] { DeviceMesh(slice, {{"all", factors}}); }) == "(no error)";
        ASSERT_EQ(ok, tiles(slice, factors)) << "seed " << kSeed << ", round " << i;
        ++(ok ? accepted : refused);
    }
    EXPECT_GT(accepted, 100);  // both outcomes occur
    EXPECT_GT(refused, 500);
}

/// The order of the names that the tests use.
const PlacingOrder kOrder{.chips = {"tensor", "context"}};

TEST(ChooseMesh, WholeAxesFirstThenBlocks) {
    const Lattice pod = box("16x20x28");
    // tensor 4 takes a block of x. context 2 takes y, which still has stride 1. fsdp takes the
    // rest, 4 * 10 * 28 = 1120.
    const DeviceMesh mesh =
        choose_mesh(pod, {{"fsdp", 1120}, {"context", 2}, {"tensor", 4}}, kOrder);
    ASSERT_EQ(mesh.axes().size(), 3u);
    EXPECT_EQ(mesh.axes()[0].name, "fsdp");
    EXPECT_EQ(mesh.group({"tensor"}), parse_factors("x%4", pod));
    EXPECT_EQ(mesh.group({"context"}), parse_factors("y%2", pod));
    EXPECT_EQ(mesh.group({"fsdp"}), parse_factors("x/4 y/2 z", pod));
    // A whole axis that fits beats a block of an earlier one; one axis beats two.
    EXPECT_EQ(choose_mesh(pod, {{"data", 448}, {"tensor", 20}}, kOrder).group({"tensor"}),
              parse_factors("y", pod));
    EXPECT_EQ(choose_mesh(box("4x4x16"), {{"data", 16}, {"tensor", 16}}, kOrder).group({"tensor"}),
              parse_factors("z", box("4x4x16")));
    EXPECT_EQ(choose_mesh(box("4x4x8"), {{"data", 8}, {"tensor", 16}}, kOrder).group({"tensor"}),
              parse_factors("x y", box("4x4x8")));
    // After tensor x%4, context finds 4 on one axis at stride 4, or 2 x 2 on two axes at stride 1.
    EXPECT_EQ(choose_mesh(box("16x6x6"), {{"data", 36}, {"context", 4}, {"tensor", 4}}, kOrder)
                  .group({"context"}),
              parse_factors("x/4", box("16x6x6")));
    // Two whole axes beat a block of one.
    EXPECT_EQ(choose_mesh(box("2x3x12"), {{"data", 12}, {"tensor", 6}}, kOrder).group({"tensor"}),
              parse_factors("x y", box("2x3x12")));
    EXPECT_EQ(choose_mesh(pod, {{"data", 1}, {"fsdp", 8960}}, kOrder).size("data"), 1);
}

/// The names have no meaning here: named axes are placed
/// first, in that order, then the others as given.
TEST(ChooseMesh, PlacesInTheOrderOfTheNames) {
    const Lattice slice = box("2x4x8");
    const std::vector<std::pair<std::string, int>> sizes{{"a", 4}, {"b", 4}, {"c", 4}};
    const auto factors = [&](const std::vector<std::string>& chips) {
        const DeviceMesh mesh = choose_mesh(slice, sizes, {.chips = chips});
        std::vector<std::vector<AxisFactor>> all;
        for (const LogicalAxis& axis : mesh.axes()) {
            all.push_back(mesh.group({axis.name}));
        }
        return all;
    };
    // The first takes all of y, the next a block of z, the last the rest.
    const auto whole = parse_factors("y", slice);
    const auto block = parse_factors("z%4", slice);
    const auto rest = parse_factors("x z/4", slice);
    using Factors = std::vector<std::vector<AxisFactor>>;
    EXPECT_EQ(factors({}), (Factors{whole, block, rest}));
    EXPECT_EQ(factors({"b"}), (Factors{block, whole, rest}));
    EXPECT_EQ(factors({"c", "b"}), (Factors{rest, block, whole}));
    EXPECT_EQ(factors({"missing", "c"}), (Factors{block, rest, whole}));
}

/// With 4 slices, the first named axis takes the common divisor of its size and the slices, 2 of 6,
/// the next the other 2.
TEST(ChooseMesh, GivesOutSlicesInTheOrderOfTheNames) {
    const Lattice slice = box("6x2");
    const std::vector<std::pair<std::string, int>> sizes{{"a", 2}, {"b", 6}, {"c", 4}};
    const auto spans = [&](const std::vector<std::string>& first) {
        const DeviceMesh mesh = choose_mesh(slice, sizes, {.slices = first}, 4);
        std::vector<int> lengths;
        for (const LogicalAxis& axis : mesh.axes()) {
            lengths.push_back(mesh.across({axis.name}).length);
        }
        return lengths;
    };
    EXPECT_EQ(spans({}), (std::vector<int>{2, 2, 1}));
    EXPECT_EQ(spans({"b"}), (std::vector<int>{2, 2, 1}));
    EXPECT_EQ(spans({"c"}), (std::vector<int>{1, 1, 4}));
    EXPECT_EQ(spans({"b", "c"}), (std::vector<int>{1, 2, 2}));
    // The first axis that gets slices has neighbouring ones.
    const DeviceMesh mesh = choose_mesh(slice, sizes, {.slices = {"b", "c"}}, 4);
    EXPECT_EQ(mesh.across({"b"}).stride, 1);
    EXPECT_EQ(mesh.across({"c"}).stride, 2);
}

TEST(ChooseMesh, EverySplitOfTheChipsHasAPlacement) {
    constexpr std::uint64_t kSeed = 4242;
    Random random(kSeed);
    const std::vector<int> primes{2, 3, 5, 7};
    for (int i = 0; i < 2000; ++i) {
        // Random primes are dealt to three physical and four logical axes, with equal products.
        Lattice slice;
        std::vector<std::pair<std::string, int>> sizes{
            {"data", 1}, {"fsdp", 1}, {"context", 1}, {"tensor", 1}};
        for (int n = random.between(0, 8); n > 0; --n) {
            const int prime = random.pick(primes);
            random.pick(slice.lengths) *= prime;
            random.pick(sizes).second *= prime;
        }
        const DeviceMesh mesh = choose_mesh(slice, sizes, kOrder);
        std::vector<AxisFactor> all;
        for (std::size_t a = 0; a < sizes.size(); ++a) {
            EXPECT_EQ(mesh.axes()[a].name, sizes[a].first);
            ASSERT_EQ(mesh.axes()[a].size(), sizes[a].second)
                << "seed " << kSeed << ", round " << i;
            all.insert(all.end(), mesh.axes()[a].factors.begin(), mesh.axes()[a].factors.end());
        }
        if (slice.size() <= 5000) {
            ASSERT_TRUE(tiles(slice, all)) << "seed " << kSeed << ", round " << i;
        }
    }
}

TEST(ChooseMesh, Messages) {
    const Lattice pod = box("16x20x28");
    EXPECT_EQ(
        error_of([&] {
            choose_mesh(pod, {{"fsdp", 1120}, {"tensor", 4}}, kOrder);
        }),
        "the mesh fsdp 1120 x tensor 4 has 4480 members, but slice 16x20x28 has 8960 chips; change "
        "one size: fsdp 2240 or tensor 8");
    EXPECT_EQ(error_of([&] {
                  choose_mesh(pod, {{"fsdp", 9000}, {"tensor", 3}}, kOrder);
              }),
              "the mesh fsdp 9000 x tensor 3 has 27000 members, but slice 16x20x28 has 8960 chips; "
              "choose "
              "sizes that multiply to 8960");
    EXPECT_EQ(error_of([&] {
                  choose_mesh(pod, {{"fsdp", 8960}, {"tensor", 0}}, kOrder);
              }),
              "logical axis 'tensor' has size 0; sizes are positive whole numbers");
    EXPECT_EQ(error_of([&] {
                  choose_mesh(pod, {{"fsdp", 8960}, {"fsdp", 1}}, kOrder);
              }),
              "logical axis 'fsdp' comes twice; write its factors in one entry");
}

}  // namespace
}  // namespace podsim::topology
