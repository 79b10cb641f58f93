// Groups of devices in every spelling, against lists
// written out by hand, and round trips of random digits.
#include "workloads/hlo/device_groups.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "sim/base/error.h"

namespace podsim::workloads::hlo {
namespace {

using Groups = std::vector<std::vector<std::int64_t>>;

Groups read(const std::string& text) {
    return read_groups(text).lists();
}

std::string canonical(const std::string& text, std::int64_t devices) {
    const auto digits = digits_of(read_groups(text), devices);
    return digits ? iota_text(*digits, devices) : "irregular";
}

std::string group_error(const std::string& text) {
    try {
        read_groups(text);
    } catch (const sim::InputError& error) {
        return error.problem();
    }
    return "none";
}

TEST(HloDeviceGroups, Lists) {
    EXPECT_EQ(read("{{0,1},{2,3}}"), (Groups{{0, 1}, {2, 3}}));
    EXPECT_TRUE(read("{}").empty());
    EXPECT_EQ(read_groups("{{0,5},{2,3}}").devices(), 6);
}

// arange(2 x 3) is 0 1 2 / 3 4 5, transposed 0 3 / 1 4 / 2 5.
TEST(HloDeviceGroups, Iotas) {
    EXPECT_EQ(read("[2,3]<=[6]"), (Groups{{0, 1, 2}, {3, 4, 5}}));
    EXPECT_EQ(read("[3,2]<=[2,3]T(1,0)"), (Groups{{0, 3}, {1, 4}, {2, 5}}));
    EXPECT_EQ(read("[2,4]<=[2,2,2]T(1,0,2)"), (Groups{{0, 1, 4, 5}, {2, 3, 6, 7}}));
}

TEST(HloDeviceGroups, MeshesWithNamedAxes) {
    EXPECT_EQ(read("mesh['x'=2,'y'=2] {'x'}"), (Groups{{0, 2}, {1, 3}}));
    EXPECT_EQ(read("mesh['x'=2,'y'=2] {'y'}"), (Groups{{0, 1}, {2, 3}}));
    EXPECT_EQ(read("mesh['x'=2,'y'=2] {'y','x'}"), (Groups{{0, 2, 1, 3}}));
    EXPECT_EQ(read("mesh['a'=1,'b'=4] {'b'}"), (Groups{{0, 1, 2, 3}}));
    EXPECT_EQ(read("mesh['a'=1,'b'=4] {'a'}"), (Groups{{0}, {1}, {2}, {3}}));
    // The group is the middle factor of 8 = 2 x 2 x 2: stride 2.
    EXPECT_EQ(read("mesh['x'=8] {'x':(2)2}"), (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
    EXPECT_EQ(read("mesh['x'=8] {'x':(1)2}"), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
    EXPECT_EQ(read("mesh['o'=10], device_ids=(8,3,7,5,4,2,6,0,1,9) {'o':(5)2}"),
              (Groups{{8, 3}, {7, 5}, {4, 2}, {6, 0}, {1, 9}}));
    EXPECT_EQ(read("mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'y'}"), (Groups{{0, 2}, {1, 3}}));
    EXPECT_EQ(read("maximal_mesh[device_id=3]"), (Groups{{3}}));
}

TEST(HloDeviceGroups, OneSpellingForAll) {
    EXPECT_EQ(canonical("{{0,1,2,3}}", 4), "[1,4]<=[4]");
    EXPECT_EQ(canonical("{}", 4), "[1,4]<=[4]");
    EXPECT_EQ(canonical("{{3,1},{0,2}}", 4), "[2,2]<=[2,2]T(1,0)");
    EXPECT_EQ(canonical("mesh['x'=2,'y'=4,'z'=2] {'x','z'}", 16), "[4,4]<=[2,4,2]T(1,0,2)");
    EXPECT_EQ(canonical("{{0},{1},{2}}", 3), "[3,1]<=[3]");
    EXPECT_EQ(canonical("{{0,1,2},{3}}", 4), "irregular");
    EXPECT_EQ(canonical("{{0,3},{1,2}}", 4), "irregular");
    EXPECT_EQ(canonical("{{0,1},{2,3}}", 8), "irregular");  // four devices are in none
    EXPECT_EQ(canonical("{{0,1,3},{2,4,5}}", 6), "irregular");
}

// Any digits, as groups in any order, come back as those
// digits joined, and as a text that reads to the same groups.
TEST(HloDeviceGroups, DigitsThereAndBack) {
    std::mt19937 random(7);
    const auto pick = [&](int most) {
        return static_cast<std::int64_t>(random() % static_cast<unsigned>(most)) + 1;
    };
    for (int round = 0; round < 500; ++round) {
        std::int64_t devices = 1;
        std::vector<Digit> digits;
        Groups groups;
        std::vector<std::int64_t> inside{0};
        std::vector<std::int64_t> bases{0};
        for (std::int64_t dims = pick(4); dims > 0; --dims) {
            const std::int64_t length = pick(4);
            const bool of_group = random() % 2 == 0;
            std::vector<std::int64_t>& grown = of_group ? inside : bases;
            const std::vector<std::int64_t> before = grown;
            for (std::int64_t i = 1; i < length; ++i) {
                for (const std::int64_t id : before) {
                    grown.push_back(id + i * devices);
                }
            }
            if (of_group && length > 1) {
                if (!digits.empty() && digits.back().stride * digits.back().length == devices) {
                    digits.back().length *= length;
                } else {
                    digits.push_back({devices, length});
                }
            }
            devices *= length;
        }
        for (const std::int64_t base : bases) {
            std::vector<std::int64_t>& group = groups.emplace_back();
            for (const std::int64_t id : inside) {
                group.push_back(base + id);
            }
            std::ranges::shuffle(group, random);
        }
        std::ranges::shuffle(groups, random);
        const auto found = digits_of({groups}, devices);
        ASSERT_TRUE(found.has_value());
        EXPECT_EQ(*found, digits);
        const auto as_sets = [](const Groups& all) {
            std::set<std::set<std::int64_t>> sets;
            for (const auto& group : all) {
                sets.emplace(group.begin(), group.end());
            }
            return sets;
        };
        EXPECT_EQ(as_sets(read(iota_text(digits, devices))), as_sets(groups));
    }
}

/// Returns the digits of `text` with its groups listed one by one.
std::optional<std::vector<Digit>> digits_of_lists(const std::string& text, std::int64_t devices) {
    return digits_of({read(text)}, devices);
}

// Groups as digits agree with the same groups one by one: every arange of up to three axes of 1 to
// 4, transposed in every order, cut at every size.
TEST(HloDeviceGroups, WhatIsNotListedHasTheSameDigits) {
    int regular = 0;
    for (int code = 0; code < 64; ++code) {
        const std::vector<std::int64_t> dims{code % 4 + 1, code / 4 % 4 + 1, code / 16 + 1};
        const std::int64_t devices = dims[0] * dims[1] * dims[2];
        std::vector<int> order{0, 1, 2};
        do {
            for (std::int64_t size = 1; size <= devices; ++size) {
                if (devices % size != 0) {
                    continue;
                }
                const std::string text = fmt::format("[{},{}]<=[{}]T({})", devices / size, size,
                                                     fmt::join(dims, ","), fmt::join(order, ","));
                EXPECT_TRUE(read_groups(text).groups.empty());
                const auto digits = digits_of(read_groups(text), devices);
                EXPECT_EQ(digits, digits_of_lists(text, devices)) << text;
                regular += digits ? 1 : 0;
            }
        } while (std::ranges::next_permutation(order).found);
    }
    EXPECT_GT(regular, 1000);
}

// Meshes whose devices are an arange agree with the same devices as a list, also if parts of the
// arange and axes do not divide each other.
TEST(HloDeviceGroups, MeshesOfArrangedDevices) {
    int listed = 0;
    for (const char* const arange : {"[12]", "[3,4]T(1,0)", "[4,3]T(1,0)", "[2,6]T(1,0)",
                                     "[6,2]T(1,0)", "[2,3,2]T(2,0,1)", "[2,3,2]T(1,2,0)"}) {
        std::string ids;
        for (const auto& group : read(fmt::format("[12,1]<={}", arange))) {
            ids += fmt::format("{}{}", ids.empty() ? "" : ",", group.front());
        }
        for (const char* const mesh :
             {"'a'=3,'b'=4", "'a'=4,'b'=3", "'a'=2,'b'=6", "'a'=12,'b'=1"}) {
            for (const char* const named : {"'a'", "'b'", "'b','a'", "'a':(1)2", "'a':(2)2", ""}) {
                const auto text = [&](const std::string& devices) {
                    return fmt::format("mesh[{}], device_ids=({}) {{{}}}", mesh, devices, named);
                };
                const std::string error = group_error(text(ids));
                EXPECT_EQ(group_error(text(arange)), error);
                if (error == "none") {
                    EXPECT_EQ(read(text(arange)), read(text(ids))) << text(arange);
                    EXPECT_EQ(digits_of(read_groups(text(arange)), 12),
                              digits_of_lists(text(ids), 12))
                        << text(arange);
                    listed += read_groups(text(arange)).groups.empty() ? 0 : 1;
                }
            }
        }
    }
    EXPECT_GT(listed, 5);
}

// None of the groups is listed.
TEST(HloDeviceGroups, MillionsOfGroups) {
    const DeviceGroups pairs = read_groups("[8388608,2]<=[2,8388608]T(1,0)");
    EXPECT_TRUE(pairs.groups.empty());
    EXPECT_EQ(pairs.devices(), 16777216);
    EXPECT_EQ(*digits_of(pairs, 16777216), (std::vector<Digit>{{8388608, 2}}));
    const DeviceGroups alone =
        read_groups("mesh['x'=4096,'y'=4096], device_ids=([4096,4096]T(1,0)) {'x'}");
    EXPECT_TRUE(alone.groups.empty());
    EXPECT_EQ(*digits_of(alone, 16777216), (std::vector<Digit>{{1, 4096}}));
    EXPECT_EQ(group_error("mesh['x'=1398100,'y'=12], device_ids=([8,2097150]T(1,0)) {'x'}"),
              "groups of no regular form of more than 1048576 devices");
}

// A regression: products and sums of sizes beyond 64 bits
// wrapped, so that a part of 2^62 behind 4 had 0 devices.
TEST(HloDeviceGroups, NoSizeWraps) {
    const std::string large = "groups of less than 1 or more than 16 million devices";
    const std::string part = "a part of an axis that does not divide it";
    EXPECT_EQ(group_error("mesh['a'=8] {'a':(4)4611686018427387904}"), part);
    EXPECT_EQ(group_error("mesh['a'=8] {'a':(9223372036854775807)2}"), part);
    EXPECT_EQ(group_error("mesh['a'=8] {'a':(2)9223372036854775807}"), part);
    EXPECT_EQ(group_error("mesh['a'=4294967296,'b'=4294967296] {'a'}"), large);
    EXPECT_EQ(group_error("[4294967296,4294967296]<=[4]"), large);
    EXPECT_EQ(group_error("[2,2]<=[4294967296,4294967296]"), large);
    EXPECT_EQ(group_error("mesh['a'=2], device_ids=([4294967296,4294967296]) {'a'}"), large);
    EXPECT_EQ(group_error("{{9223372036854775807}}"),
              "a group of devices below 0 or beyond 16 million");
    EXPECT_EQ(group_error("{{9223372036854775808}}"), "expected a whole number");
}

// A regression: each of these was read, with another meaning.
TEST(HloDeviceGroups, WhatNoProgramMeans) {
    const std::string small = "a part of an axis of a size below 1";
    EXPECT_EQ(group_error("mesh['a'=8] {'a':(1)0}"), small);
    EXPECT_EQ(group_error("mesh['a'=8] {'a':(2)-2}"), small);
    EXPECT_EQ(group_error("mesh['a'=8] {'a':(0)2}"), small);
    EXPECT_EQ(group_error("mesh['a'=8] {'a':(-2)2}"), small);
    EXPECT_EQ(group_error("mesh['a'=2,'a'=4] {'a'}"), "a mesh with the axis 'a' twice");
    const std::string common = "parts of the axis 'a' that have devices in common";
    EXPECT_EQ(group_error("mesh['a'=8] {'a','a'}"), common);
    EXPECT_EQ(group_error("mesh['a'=1] {'a','a'}"), common);
    EXPECT_EQ(group_error("mesh['a'=8] {'a':(1)2,'a':(1)2}"), common);
    EXPECT_EQ(group_error("mesh['a'=8] {'a':(1)4,'a':(2)2}"), common);
    EXPECT_EQ(group_error("{{}}"), "a group of no device");
    EXPECT_EQ(group_error("{{0},{}}"), "a group of no device");
    EXPECT_EQ(group_error("[-1,-8]<=[8]"), "groups of less than 1 or more than 16 million devices");
    EXPECT_EQ(group_error("{{0,1}} 2"), "devices, and something behind them");
    EXPECT_EQ(group_error("[1,2]<=[2]x"), "devices, and something behind them");
    EXPECT_EQ(group_error("mesh['a'=2] {'a'} {'a'}"), "devices, and something behind them");
    EXPECT_THROW(read_pairs("{{0,1}} {{1,0}}"), sim::InputError);
}

TEST(HloDeviceGroups, PairsAndErrors) {
    EXPECT_EQ(read_pairs("{{0,1},{1,0}}"),
              (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 1}, {1, 0}}));
    EXPECT_THROW(read_pairs("{{0,1,2}}"), sim::InputError);
    EXPECT_EQ(group_error("[2,3]<=[8]"), "groups [G,S] of another number of devices than follows");
    EXPECT_EQ(group_error("[2,3]<=[2,3]T(0,0)"), "a transposition that is none");
    EXPECT_EQ(group_error("[2,0]<=[0]"), "groups of less than 1 or more than 16 million devices");
    EXPECT_EQ(group_error("[99999999,99999999]<=[9]"),
              "groups of less than 1 or more than 16 million devices");
    EXPECT_EQ(group_error("mesh['x'=2] {'y'}"), "groups along an axis that the mesh does not have");
    EXPECT_EQ(group_error("mesh['x'=6] {'x':(1)4}"), "a part of an axis that does not divide it");
    EXPECT_EQ(group_error("{{0,1}"), "expected '{' but the text ends");
}

TEST(HloDeviceGroups, EachDeviceOnce) {
    EXPECT_EQ(group_error("{{0,1},{2,3}}"), "none");
    EXPECT_EQ(group_error("{{0,1,0}}"), "the device 0 twice");
    EXPECT_EQ(group_error("{{0,1},{2,1}}"), "the device 1 twice");
    EXPECT_EQ(group_error("mesh['x'=4], device_ids=(0,3,2,3) {'x'}"), "the device 3 twice");
    EXPECT_EQ(end_twice(read_pairs("{{0,1},{0,2}}")), "the source 0 twice");
    EXPECT_EQ(end_twice(read_pairs("{{0,1},{2,1}}")), "the target 1 twice");
    EXPECT_EQ(end_twice(read_pairs("{{0,1},{1,0},{2,2}}")), "");
}

}  // namespace
}  // namespace podsim::workloads::hlo
