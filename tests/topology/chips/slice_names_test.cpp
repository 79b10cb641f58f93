#include "topology/chips/slice_names.h"

#include <gtest/gtest.h>
#include <string>
#include <utility>

#include "sim/base/error.h"
#include "topology/chips/chip.h"
#include "topology/lattice/shape.h"

namespace podsim::topology {
namespace {

std::string refusal(const char* name) {
    try {
        named_slice(name);
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(SliceNames, ChipsHaveTheNamesThatPeopleUse) {
    const std::pair<const char*, const char*> names[] = {
        {"v4", "v4p"},       {"v5litepod", "v5e"},  {"v5lite", "v5e"},
        {"trillium", "v6e"}, {"ironwood", "tpu7x"}, {"v7x", "tpu7x"}};
    for (const auto& [name, chip] : names) {
        EXPECT_EQ(find_chip(name).name, chip);
    }
}

/// Rows of xpk's table (slice_names.h names the source): a name, chips, the shape.
TEST(SliceNames, AreTheCloudsShapes) {
    struct Row {
        const char* name;
        int chips;
        const char* shape;
    };
    const Row rows[] = {{"v4-8", 4, "2x2x1"},
                        {"v4-64", 32, "2x4x4"},
                        {"v4-128", 64, "4x4x4"},
                        {"v4-1536", 768, "8x8x12"},
                        {"v4-4096", 2048, "8x16x16"},
                        {"v5p-8", 4, "2x2x1"},
                        {"v5p-16", 8, "2x2x2"},
                        {"v5p-32", 16, "2x2x4"},
                        {"v5p-256", 128, "4x4x8"},
                        {"v5p-512", 256, "4x8x8"},
                        {"v5p-1024", 512, "8x8x8"},
                        {"v5p-640", 320, "4x4x20"},
                        {"v5p-3072", 1536, "8x12x16"},
                        {"v5p-6912", 3456, "12x12x24"},
                        {"v5p-17920", 8960, "16x20x28"},
                        {"tpu7x-2", 1, "1x1x1"},
                        {"tpu7x-128", 64, "4x4x4"},
                        {"tpu7x-512", 256, "4x8x8"},
                        {"tpu7x-6272", 3136, "4x28x28"},
                        {"tpu7x-18432", 9216, "16x24x24"},
                        {"v5e-1", 1, "1x1x1"},
                        {"v5e-8", 8, "2x4x1"},
                        {"v5litepod-128", 128, "8x16x1"},
                        {"v5e-256", 256, "16x16x1"},
                        {"v6e-64", 64, "8x8x1"},
                        {"trillium-32", 32, "4x8x1"},
                        {"v2-8", 4, "2x2x1"},
                        {"v2-512", 256, "16x16x1"},
                        {"v3-2048", 1024, "32x32x1"}};
    for (const Row& row : rows) {
        const NamedSlice slice = named_slice(row.name);
        EXPECT_EQ(slice.chips, row.chips) << row.name;
        EXPECT_EQ(to_string(slice.shape), row.shape) << row.name;
    }
}

// Every name denotes a shape that its generation offers.
TEST(SliceNames, AreOffered) {
    int named = 0;
    for (const ChipSpec& chip : chip_catalogue()) {
        for (int number = 1; number <= 20480; ++number) {
            const std::string name = chip.name + '-' + std::to_string(number);
            if (number < 257 || number % 128 == 0) {
                if (refusal(name.c_str()) == "accepted") {
                    ++named;
                    EXPECT_NO_THROW(make_slice(chip, named_slice(name).shape, false)) << name;
                }
            }
        }
    }
    EXPECT_GT(named, 200);
}

TEST(SliceNames, Errors) {
    EXPECT_EQ(refusal("v5-256"),
              "'v5-256' may be of v5e or of v5p; write v5e-256 (chips) or v5p-256 (cores)");
    EXPECT_EQ(refusal("v5p-100"),
              "no slice is called v5p-100: 100 is no number of cores (two a chip) that v5p offers; "
              "nearest: v5p-128 (4x4x4), or write a shape such as 16x20x28");
    // The message names the shape of the nearest name.
    EXPECT_EQ(refusal("v5p-513"),
              "no slice is called v5p-513: 513 is no number of cores (two a chip) that v5p offers; "
              "nearest: v5p-512 (4x8x8), or write a shape such as 16x20x28");
    EXPECT_EQ(refusal("v5litepod-512"),
              "no slice is called v5litepod-512: 512 is no number of chips that v5e offers; "
              "nearest: v5litepod-256 (16x16), or write a shape such as 16x16");
    EXPECT_EQ(refusal("h100-8"), "unknown chip 'h100'; allowed: v2, v3, v4p, v5p, v5e, v6e, tpu7x");
    EXPECT_NE(refusal("v5p-99999999999999999999"), "accepted");
    EXPECT_FALSE(is_slice_name("4x4x4"));
    EXPECT_FALSE(is_slice_name("v5p-"));
    EXPECT_FALSE(is_slice_name("-8"));
    EXPECT_FALSE(is_slice_name("4x-4"));
    EXPECT_EQ(
        describe_named("v5p-512"),
        "v5p-512: 512 cores, 256 chips, 4x8x8 where the cloud is not asked for another topology");
    EXPECT_EQ(describe_named("v6e-64"),
              "v6e-64: 64 chips, 8x8 where the cloud is not asked for another topology");
}

// A name may be a chip with its shape, as in MaxText's compile_topology.
TEST(SliceNames, MayHaveAShape) {
    EXPECT_TRUE(is_slice_name("v6e-4x8"));
    const NamedSlice slice = named_slice("trillium-4x8");
    EXPECT_EQ(slice.chip, "v6e");
    EXPECT_EQ(slice.shape, (Point{4, 8, 1}));
    EXPECT_EQ(slice.chips, 32);
    EXPECT_EQ(describe_named("tpu7x-4x4x8"), "tpu7x-4x4x8: 128 chips");
    EXPECT_EQ(refusal("v5-4x4"), "'v5-4x4' may be of v5e or of v5p; write v5e-4x4 or v5p-4x4");
    EXPECT_EQ(refusal("v5p-4xx4"),
              "shape '4xx4': '' is not a positive whole number; write lengths joined by 'x', such "
              "as 8x4 or 16x20x28");
    EXPECT_FALSE(is_slice_name("v5p-4x"));
    EXPECT_FALSE(is_slice_name("v5p-x4"));
}

TEST(SliceNames, ATwistIsASettingOfItsOwn) {
    EXPECT_TRUE(is_slice_name("v4-4x4x8_twisted"));
    EXPECT_FALSE(is_slice_name("v4-_twisted"));
    EXPECT_EQ(refusal("v4-4x4x8_twisted"),
              "'v4-4x4x8_twisted' says its twist, which is a setting of its own; write v4-4x4x8 "
              "with --twisted, in a scenario with hardware.twisted: true");
    EXPECT_EQ(refusal("v5p-256_untwisted"),
              "'v5p-256_untwisted' says its twist, which is a setting of its own; write v5p-256: "
              "it is twisted with --twisted alone, in a scenario with hardware.twisted: true");
}

}  // namespace
}  // namespace podsim::topology
