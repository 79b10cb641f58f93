#include "topology/lattice/hosts.h"

#include <gtest/gtest.h>
#include <map>

#include "tests/topology/lattice_support.h"

namespace podsim::topology {
namespace {

Hosts hosts_of(const char* chip, const char* shape) {
    const ChipSpec& spec = find_chip(chip);
    return Hosts(make_slice(spec, parse_shape(shape), false), spec.host_shape.value);
}

TEST(Hosts, BoxesOfTheCatalogue) {
    EXPECT_EQ(hosts_of("v5p", "16x20x28").count(), 8960 / 4);
    EXPECT_EQ(hosts_of("v5p", "16x20x28").grid(), (Point{8, 10, 28}));
    EXPECT_EQ(hosts_of("v4p", "4x4x4").count(), 16);
    EXPECT_EQ(hosts_of("v5e", "16x16").count(), 32);
    EXPECT_EQ(hosts_of("v5e", "16x16").box(), (Point{4, 2, 1}));
    EXPECT_EQ(hosts_of("v5e", "8x4").count(), 4);
}

TEST(Hosts, ASmallSliceClipsTheBoxAndMayTurnIt) {
    EXPECT_EQ(hosts_of("v5e", "1x1").count(), 1);
    EXPECT_EQ(hosts_of("v5e", "2x2").count(), 1);
    EXPECT_EQ(hosts_of("v5e", "4x2").count(), 1);
    // As written, the box 4x2 would be clipped to 2x2 and need two hosts; rotated, it is the slice.
    EXPECT_EQ(hosts_of("v5e", "2x4").count(), 1);
    EXPECT_EQ(hosts_of("v5e", "2x4").box(), (Point{2, 4, 1}));
    EXPECT_EQ(hosts_of("v4p", "1x1x1").count(), 1);
    EXPECT_EQ(hosts_of("v4p", "2x2x1").count(), 1);
    EXPECT_EQ(hosts_of("v4p", "2x2x4").count(), 4);
    // 2x2x1 would be clipped to 1x2x1: 8 hosts. Rotated to 1x2x2 it needs 4.
    EXPECT_EQ(hosts_of("v4p", "1x4x4").count(), 4);
}

TEST(Hosts, ARaggedEdgeHasSmallerHosts) {
    const Lattice slice{.lengths = {5, 3, 1}, .wrapped = {}, .wrap_shift = {}};
    const Hosts hosts(slice, {4, 2, 1});
    // 4x2 needs 2 x 2 hosts; rotated to 2x4 (clipped to 2x3) it needs 3 x 1.
    EXPECT_EQ(hosts.box(), (Point{2, 3, 1}));
    EXPECT_EQ(hosts.count(), 3);
}

TEST(Hosts, EveryHostHasItsShareOfChips) {
    for (const ChipSpec& chip : chip_catalogue()) {
        const Lattice slice = make_slice(chip, chip.pod_shape.value, false);
        const Hosts hosts(slice, chip.host_shape.value);
        std::map<int, int> chips;
        for (int i = 0; i < slice.size(); ++i) {
            ++chips[hosts.host_of(slice.point(i))];
        }
        EXPECT_EQ(static_cast<int>(chips.size()), hosts.count()) << chip.name;
        EXPECT_EQ(chips.begin()->first, 0);
        EXPECT_EQ(chips.rbegin()->first, hosts.count() - 1);
        for (const auto& [host, members] : chips) {
            ASSERT_EQ(members, slice.size() / hosts.count()) << chip.name << " host " << host;
        }
    }
}

TEST(Hosts, DivideThePodOnSomeOrderOfAxes) {
    const auto error = [](const Point& host, const Point& pod, int dimensions) {
        return error_of([&] { check_host(host, pod, dimensions); });
    };
    for (const ChipSpec& chip : chip_catalogue()) {
        EXPECT_NO_THROW(
            check_host(chip.host_shape.value, chip.pod_shape.value, chip.torus_dimensions.value));
    }
    EXPECT_NO_THROW(check_host({1, 7, 4}, {16, 20, 28}, 3));
    EXPECT_EQ(error({4, 4, 4}, {16, 20, 28}, 3),
              "a host of 4x4x4 has 64 chips; at most 32 are allowed");
    EXPECT_EQ(error({3, 1, 1}, {16, 20, 28}, 3),
              "a host of 3x1x1 chips does not divide the pod 16x20x28; every length divides one of "
              "the pod's; nearest: 4x1x1");
    // 5 divides only 20.
    EXPECT_EQ(error({5, 5, 1}, {16, 20, 28}, 3),
              "a host of 5x5x1 chips does not divide the pod 16x20x28; every length divides one of "
              "the pod's; nearest: 4x5x1");
    EXPECT_EQ(error({3, 2, 1}, {16, 16, 1}, 2),
              "a host of 3x2 chips does not divide the pod 16x16; every length divides one of the "
              "pod's; nearest: 4x2");
}

TEST(Hosts, NumbersHostsWithZFastest) {
    const Hosts hosts = hosts_of("v5p", "4x4x4");
    EXPECT_EQ(hosts.host_of({0, 0, 0}), 0);
    EXPECT_EQ(hosts.host_of({1, 1, 0}), 0);
    EXPECT_EQ(hosts.host_of({1, 1, 1}), 1);
    EXPECT_EQ(hosts.host_of({0, 2, 0}), 4);
    EXPECT_EQ(hosts.host_of({3, 3, 3}), 15);
}

}  // namespace
}  // namespace podsim::topology
