// Every assignment of axis factors, but only one of those that an exchange of equal axes maps onto
// each other.
#include "scenarios/src/search/mesh_space.h"

#include <gtest/gtest.h>
#include <set>

#include "sim/base/error.h"
#include "topology/chips/chip.h"

namespace podsim::scenarios {
namespace {

IdealHardware slice_of(const std::string& chip, topology::Point shape, bool twisted = false,
                       int slices = 1) {
    IdealHardware hardware;
    hardware.chip = topology::find_chip(chip);
    hardware.shape = shape;
    hardware.slice = topology::make_slice(hardware.chip, shape, twisted);
    hardware.slices = slices;
    return hardware;
}

const std::vector<MeshAxis> kThree{{"fsdp"}, {"context"}, {"tensor"}};

// Expects no two meshes of one kind: each is the first of its kind.
void expect_meshes(const IdealHardware& hardware, std::size_t meshes) {
    const MeshSpace space(hardware, kThree);
    EXPECT_EQ(space.size(), meshes);
    const std::vector<topology::AxisExchange> exchanges = axis_exchanges(hardware);
    for (std::uint32_t mesh = 0; mesh < space.size(); ++mesh) {
        EXPECT_EQ(space.mesh(mesh).first_of_kind(exchanges).written(), topology::AxisExchange{})
            << space.text(mesh);
    }
}

// A row of 2^k chips is a choice of one of n axes for each factor of 2 (neighbours of one axis are
// one factor), so there are n^k. For 4x4x4 these are 9 per axis. With three exchangeable axes there
// is one kind for each multiset of 3 out of 9, 11 x 10 x 9 / 6 = 165. For 4x4x8 there are
// 9 x 10 / 2 x 27.
TEST(MeshSpace, HasOneMeshOfEachKind) {
    expect_meshes(slice_of("v5p", {4, 4, 4}), 165);
    expect_meshes(slice_of("v5p", {4, 4, 8}), 1215);
    expect_meshes(slice_of("v5p", {4, 4, 8}, true), 1215);
    // A line of 16 differs from a ring of 8.
    expect_meshes(slice_of("v5e", {8, 16, 1}), 27U * 81);
    // Four slices are one more row. Axes with hosts of 2x2x1, through which slices are joined, are
    // not exchanged with others.
    expect_meshes(slice_of("v5p", {4, 4, 4}, false, 4), 45U * 9 * 9);
}

// 20 = 2 x 2 x 5 in any order: rows are sequences of factors, no two neighbours of one axis. One
// axis has 1. n axes and f factors have n (n - 1)^(f-1); ordered factorisations of 20 into 1, 2, 3
// factors: 1, 4 (2x10, 10x2, 4x5, 5x4), 3. So 3 + 4 x 6 + 3 x 12 = 63.
TEST(MeshSpace, SplitsAxesInEveryOrder) {
    EXPECT_EQ(MeshSpace(slice_of("v5p", {4, 4, 20}), kThree).size(), 45U * 63);
}

// For 4x4 the rows of an axis are f, p, fp and pf. Stages along both axes are numbered x first, in
// the image y first. None of the 3 x 3 meshes with p on both is left out; 3 of the 7 others are
// images (f beside each of the others).
TEST(MeshSpace, LeavesOutNoOtherRanks) {
    const IdealHardware hardware = slice_of("v5e", {4, 4, 1});
    EXPECT_EQ(MeshSpace(hardware, {{"fsdp"}, {"pipeline"}}).size(), 10U);
    EXPECT_EQ(MeshSpace(hardware, {{"fsdp"}, {"pipeline", {}, true}}).size(), 9U + 4);
}

TEST(MeshSpace, GivesMeshesThatTileAndReadAgain) {
    const IdealHardware hardware = slice_of("v5p", {4, 4, 8}, false, 2);
    const MeshSpace space(hardware, {{"fsdp"}, {"data", {2}}, {"tensor", {1, 2, 4}}});
    std::set<std::string> texts;
    for (const MeshSpace::Class& one : space.classes()) {
        EXPECT_EQ(one.sizes[0] * one.sizes[1] * one.sizes[2], 256);
        EXPECT_EQ(one.sizes[1], 2);
        EXPECT_LE(one.sizes[2], 4);
        for (const std::uint32_t mesh : one.meshes) {
            const topology::DeviceMesh made = space.mesh(mesh);  // which tiles, or throws
            EXPECT_EQ(made.size("fsdp"), one.sizes[0]);
            EXPECT_EQ(made.size("data"), 2);
            EXPECT_EQ(made.size("tensor"), one.sizes[2]);
            EXPECT_TRUE(texts.insert(space.text(mesh)).second) << space.text(mesh);
        }
    }
    EXPECT_EQ(texts.size(), space.size());
}

TEST(MeshSpace, ExchangesNothingOnAMachineWithAFault) {
    IdealHardware hardware = slice_of("v5p", {4, 4, 4});
    hardware.perturbations.emplace_back();
    expect_meshes(hardware, 729);
}

// A list is abandoned on request, after at most about a thousand more rows of axes, and is made
// when requested again.
TEST(MeshSpace, ListsWhenItIsAsked) {
    const MeshSpace space(slice_of("v5p", {16, 20, 28}), kThree);
    EXPECT_FALSE(space.is_listed());
    EXPECT_EQ(space.most(), 321'489U);
    int asked = 0;
    EXPECT_FALSE(space.list([&] { return ++asked > 10; }));
    EXPECT_EQ(asked, 11);
    EXPECT_FALSE(space.is_listed());
    EXPECT_TRUE(space.list([] { return false; }));
    EXPECT_TRUE(space.list([] { return true; }));  // nothing is left to abandon
    EXPECT_EQ(space.size(), 321'489U);
}

TEST(MeshSpace, RefusesWhatIsTooMany) {
    std::vector<MeshAxis> many;
    for (int axis = 0; axis < 8; ++axis) {
        many.push_back({"axis " + std::to_string(axis)});
    }
    try {
        (void)MeshSpace(slice_of("v5p", {16, 20, 28}), many);
        FAIL();
    } catch (const sim::InputError& error) {
        EXPECT_STREQ(
            error.what(),
            "more than 20000000 meshes over 8 axes on slice 16x20x28; name fewer axes, as in "
            "search.mesh: {fsdp: any, tensor: [1, 2, 4, 8]}");
    }
}

}  // namespace
}  // namespace podsim::scenarios
