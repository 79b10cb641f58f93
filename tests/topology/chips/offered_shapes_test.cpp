#include <gtest/gtest.h>

#include "tests/topology/lattice_support.h"
#include "topology/chips/chip.h"

namespace podsim::topology {
namespace {

using Wrapped = std::array<bool, kAxes>;

Lattice slice_of(const char* chip, const char* shape) {
    return make_slice(find_chip(chip), parse_shape(shape), false);
}

std::string slice_error(const char* chip, const char* shape, bool twist = false) {
    return error_of([&] { make_slice(find_chip(chip), parse_shape(shape), twist); });
}

TEST(Shape, ReadsLengthsAndFillsMissingAxes) {
    EXPECT_EQ(parse_shape("16x20x28"), (Point{16, 20, 28}));
    EXPECT_EQ(parse_shape("8x4"), (Point{8, 4, 1}));
    EXPECT_EQ(parse_shape("7"), (Point{7, 1, 1}));
    EXPECT_EQ(to_string(Point{16, 20, 28}), "16x20x28");
    EXPECT_EQ(to_string(Point{8, 4, 1}, 2), "8x4");
}

TEST(Shape, RejectsEverythingElse) {
    const std::string remedy = "; write lengths joined by 'x', such as 8x4 or 16x20x28";
    const auto error = [](const char* text) { return error_of([&] { parse_shape(text); }); };
    EXPECT_EQ(error(""), "shape '': '' is not a positive whole number" + remedy);
    EXPECT_EQ(error("4x"), "shape '4x': '' is not a positive whole number" + remedy);
    EXPECT_EQ(error("4x0"), "shape '4x0': '0' is not a positive whole number" + remedy);
    EXPECT_EQ(error("-4x4"), "shape '-4x4': '-4' is not a positive whole number" + remedy);
    EXPECT_EQ(error("4 x4"), "shape '4 x4': '4 ' is not a positive whole number" + remedy);
    EXPECT_EQ(error("4x4.5"), "shape '4x4.5': '4.5' is not a positive whole number" + remedy);
    EXPECT_EQ(error("99999999999"),
              "shape '99999999999': '99999999999' is not a positive whole number" + remedy);
    EXPECT_EQ(error("1x2x3x4"), "shape '1x2x3x4' has more than 3 axes" + remedy);
    EXPECT_EQ(error("1024x1025"), "shape '1024x1025' has more than 2^20 chips" + remedy);
}

// The Cloud writes so the shapes of which there are two kinds.
TEST(Shape, ATwistIsASettingOfItsOwn) {
    const auto error = [](const char* text) { return error_of([&] { parse_shape(text); }); };
    EXPECT_EQ(error("4x4x8_twisted"),
              "'4x4x8_twisted' says its twist, which is a setting of its own; write 4x4x8 with "
              "--twisted, in a scenario with hardware.twisted: true");
    EXPECT_EQ(error("4x4x8_untwisted"),
              "'4x4x8_untwisted' says its twist, which is a setting of its own; write 4x4x8: it is "
              "twisted with --twisted alone, in a scenario with hardware.twisted: true");
    EXPECT_EQ(without_twist("4x4x8_twisted"), "4x4x8");
    EXPECT_EQ(without_twist("4x4x8_untwisted"), "4x4x8");
    EXPECT_EQ(without_twist("4x4x8_twiste"), "4x4x8_twiste");
}

TEST(Slice, CubesOfFourWrapOnEveryAxis) {
    for (const char* chip : {"v4p", "v5p"}) {
        for (const char* shape : {"4x4x4", "4x4x8", "4x8x12", "16x16x16", "4x4x256"}) {
            EXPECT_EQ(slice_of(chip, shape).wrapped, (Wrapped{true, true, true})) << chip << shape;
        }
    }
    EXPECT_EQ(slice_of("v5p", "16x20x28").size(), 8960);
}

TEST(Slice, PartsOfACubeAreMeshes) {
    for (int x : {1, 2, 4}) {
        for (int y : {1, 2, 4}) {
            for (int z : {1, 2, 4}) {
                if (x * y * z < 64) {
                    const Lattice slice = make_slice(find_chip("v4p"), {x, y, z}, false);
                    EXPECT_EQ(slice.wrapped, Wrapped{}) << x << y << z;
                    EXPECT_EQ(slice.lengths, (Point{x, y, z}));
                }
            }
        }
    }
}

TEST(Slice, TwoDimensionalGenerationsWrapAtSixteen) {
    for (const char* chip : {"v5e", "v6e"}) {
        EXPECT_EQ(slice_of(chip, "16x16").wrapped, (Wrapped{true, true, false}));
        EXPECT_EQ(slice_of(chip, "8x16").wrapped, (Wrapped{false, true, false}));
        EXPECT_EQ(slice_of(chip, "16x8").wrapped, (Wrapped{true, false, false}));
        for (const char* shape : {"1x1", "2x2", "2x4", "4x2", "4x4", "4x8", "8x4", "8x8"}) {
            EXPECT_EQ(slice_of(chip, shape).wrapped, Wrapped{}) << shape;
        }
    }
}

TEST(Slice, TheOldestGenerationWrapsInTheFullPodOnly) {
    EXPECT_EQ(slice_of("v3", "32x32").wrapped, (Wrapped{true, true, false}));
    EXPECT_EQ(slice_of("v3", "32x16").wrapped, Wrapped{});
    EXPECT_EQ(slice_of("v3", "4x4").wrapped, Wrapped{});
}

TEST(Slice, UserDefinedChipsTakeAnyLengths) {
    ChipSpec chip = find_chip("v5e");
    chip.wraparound.value = Wraparound::every_axis;
    EXPECT_EQ(make_slice(chip, {3, 5, 1}, false).wrapped, (Wrapped{true, true, false}));
    EXPECT_EQ(make_slice(chip, {1, 5, 1}, false).wrapped, (Wrapped{false, true, false}));
    chip.wraparound.value = Wraparound::never;
    EXPECT_EQ(make_slice(chip, {16, 16, 1}, false).wrapped, Wrapped{});
    chip.name = "mine";
    EXPECT_EQ(error_of([&] {
                  make_slice(chip, {3, 5, 7}, false);
              }),
              "mine does not offer a slice 3x5x7; mine offers any lengths on 2 axes, up to 16x16; "
              "nearest: "
              "3x5");
}

ChipSpec with_pod(const char* chip, Wraparound wraparound, const Point& pod) {
    ChipSpec spec = find_chip(chip);
    spec.name = "mine";
    spec.wraparound.value = wraparound;
    spec.pod_shape.value = pod;
    return spec;
}

// The pod bounds the lengths with its axes in any order;
// for cubes of 4 it bounds only the number of chips.
TEST(Slice, FitsThePod) {
    const auto error = [](const ChipSpec& chip, const Point& shape) {
        return error_of([&] { make_slice(chip, shape, false); });
    };
    const ChipSpec full = with_pod("v3", Wraparound::full_pod, {8, 4, 1});
    EXPECT_EQ(make_slice(full, {8, 4, 1}, false).wrapped, (Wrapped{true, true, false}));
    EXPECT_EQ(make_slice(full, {4, 8, 1}, false).wrapped, (Wrapped{true, true, false}));
    EXPECT_EQ(make_slice(full, {2, 8, 1}, false).wrapped, Wrapped{});
    EXPECT_EQ(error(full, {8, 8, 1}),
              "mine does not offer a slice 8x8; mine offers lengths that are powers of two, up to "
              "8x4; nearest: 4x8");

    const ChipSpec sixteen = with_pod("v5e", Wraparound::length_of_16, {32, 8, 1});
    EXPECT_EQ(make_slice(sixteen, {8, 16, 1}, false).wrapped, (Wrapped{false, true, false}));
    EXPECT_EQ(
        error(sixteen, {16, 16, 1}),
        "mine does not offer a slice 16x16; mine offers lengths that are powers of two, up to "
        "16x8; nearest: 8x16");

    const ChipSpec cubes = with_pod("v5p", Wraparound::cubes_of_4, {4, 4, 8});
    EXPECT_EQ(make_slice(cubes, {8, 4, 4}, false).size(), 128);
    EXPECT_EQ(error(cubes, {4, 8, 8}),
              "mine does not offer a slice 4x8x8; mine offers lengths that are all multiples of 4, "
              "up to 128 chips, or boxes of lengths 1, 2, 4 inside one 4x4x4 cube; nearest: 4x4x8");
    EXPECT_EQ(error(with_pod("v5p", Wraparound::cubes_of_4, {2, 2, 2}), {2, 2, 4}),
              "mine does not offer a slice 2x2x4; mine offers boxes of lengths 1, 2, 4, up to 8 "
              "chips; nearest: 1x2x4");

    for (const Wraparound any : {Wraparound::every_axis, Wraparound::never}) {
        const ChipSpec chip = with_pod("v5p", any, {3, 5, 7});
        for (const Point& shape : {Point{7, 5, 3}, Point{5, 7, 3}, Point{1, 1, 7}}) {
            EXPECT_EQ(make_slice(chip, shape, false).lengths, shape);
        }
        EXPECT_EQ(error(chip, {8, 1, 4}),
                  "mine does not offer a slice 8x1x4; mine offers any lengths on 3 axes, up to "
                  "3x5x7; nearest: 7x1x4");
        EXPECT_EQ(error(chip, {4, 4, 4}),
                  "mine does not offer a slice 4x4x4; mine offers any lengths on 3 axes, up to "
                  "3x5x7; nearest: 3x4x4");
    }
}

TEST(Slice, TwistedShiftsAsPublished) {
    const Lattice kk2k = offered_twisted({4, 4, 8});
    EXPECT_EQ(kk2k.wrapped, (Wrapped{true, true, true}));
    EXPECT_EQ(kk2k.wrap_shift, (std::array{Point{0, 0, 4}, Point{0, 0, 4}, Point{}}));
    const Lattice k2k2k = offered_twisted({8, 16, 16});
    EXPECT_EQ(k2k2k.wrap_shift, (std::array{Point{0, 8, 8}, Point{}, Point{}}));
}

// The nearest shape by lengths has the smallest product of length ratios, the other one the
// smallest difference in chips.
TEST(Slice, MessagesNameTheRuleAndTheNearestShape) {
    const std::string v5p_rule =
        "; v5p offers lengths that are all multiples of 4, up to 8960 chips, or boxes of lengths "
        "1, 2, "
        "4 inside one 4x4x4 cube; nearest: ";
    // 12 is nearer to 10 than 8 (12/10 < 10/8); 8 * 8 * 16 = 1024 is nearest to 1000 chips.
    EXPECT_EQ(slice_error("v5p", "10x10x10"), "v5p does not offer a slice 10x10x10" + v5p_rule +
                                                  "12x12x12 by lengths, 8x8x16 by number of chips");
    // For a shape that is too large the pod is nearest in both measures.
    EXPECT_EQ(slice_error("v5p", "32x32x32"),
              "v5p does not offer a slice 32x32x32" + v5p_rule + "16x20x28");
    const std::string v4p_rule =
        "; v4p offers lengths that are all multiples of 4, up to 4096 chips, or boxes of lengths "
        "1, 2, "
        "4 inside one 4x4x4 cube; nearest: ";
    EXPECT_EQ(slice_error("v4p", "16x20x28"),
              "v4p does not offer a slice 16x20x28" + v4p_rule + "16x16x16");
    EXPECT_EQ(slice_error("v4p", "3x4x4"), "v4p does not offer a slice 3x4x4" + v4p_rule + "4x4x4");
    // 2x2x8 is neither whole cubes nor inside one.
    EXPECT_EQ(slice_error("v4p", "2x2x8"), "v4p does not offer a slice 2x2x8" + v4p_rule +
                                               "2x2x4 by lengths, 2x4x4 by number of chips");
    EXPECT_EQ(
        slice_error("v5e", "3x5"),
        "v5e does not offer a slice 3x5; v5e offers lengths that are powers of two, up to 16x16; "
        "nearest: 4x4");
    EXPECT_EQ(
        slice_error("v5e", "4x4x4"),
        "v5e does not offer a slice 4x4x4; v5e offers lengths that are powers of two, up to 16x16; "
        "nearest: 4x4 by lengths, 4x16 by number of chips");
    EXPECT_EQ(
        slice_error("v6e", "32x32"),
        "v6e does not offer a slice 32x32; v6e offers lengths that are powers of two, up to 16x16; "
        "nearest: 16x16");
    // 576 chips: 16 * 32 = 512 is off by 64. By lengths 32x32 (16/9) beats 16x16 (9/4).
    EXPECT_EQ(
        slice_error("v3", "24x24"),
        "v3 does not offer a slice 24x24; v3 offers lengths that are powers of two, up to 32x32; "
        "nearest: 32x32 by lengths, 16x32 by number of chips");
    EXPECT_EQ(error_of([] {
                  make_slice(find_chip("v5p"), {4, 0, 4}, false);
              }),
              "slice 4x0x4 has an axis without chips; every length is at least 1");
}

TEST(Slice, MessagesForTwistedSlices) {
    EXPECT_EQ(slice_error("v5e", "16x16", true),
              "v5e slices cannot be twisted; leave 16x16 untwisted, or take a chip that twists: "
              "v4p, v5p, tpu7x");
    EXPECT_EQ(
        slice_error("v5p", "8x4x4", true),
        "twisted slice 8x4x4 has its axes in the wrong order; put the short axes first: 4x4x8");
    EXPECT_EQ(
        slice_error("v5p", "8x4x8", true),
        "twisted slice 8x4x8 has its axes in the wrong order; put the short axes first: 4x8x8");
    const std::string rule = " twists k x k x 2k and k x 2k x 2k, k a multiple of 4, up to ";
    EXPECT_EQ(slice_error("v5p", "4x4x4", true), "v5p does not offer a twisted slice 4x4x4; v5p" +
                                                     rule + "8960 chips; nearest: 4x4x8");
    // k = 2 is too small; 16x16x32 has 8192 chips, twice a v4p pod; 4x8x64 is a plain torus.
    EXPECT_EQ(slice_error("v5p", "2x2x4", true), "v5p does not offer a twisted slice 2x2x4; v5p" +
                                                     rule + "8960 chips; nearest: 4x4x8");
    EXPECT_EQ(slice_error("v4p", "16x16x32", true),
              "v4p does not offer a twisted slice 16x16x32; v4p" + rule +
                  "4096 chips; nearest: 12x12x24");
    EXPECT_EQ(offered_twisted({16, 16, 32}).size(), 8192);
    EXPECT_EQ(slice_error("v5p", "4x8x64", true),
              "v5p does not offer a twisted slice 4x8x64; v5p" + rule +
                  "8960 chips; nearest: 8x8x16 by lengths, 8x16x16 by number of chips");
}

// A suggested shape is offered: no message sends the user from one error to the next.
TEST(Slice, SuggestedShapesAreOffered) {
    constexpr std::uint64_t kSeed = 99;
    Random random(kSeed);
    for (int i = 0; i < 100; ++i) {
        ChipSpec chip = random.pick(chip_catalogue());
        if (random.coin()) {
            chip.pod_shape.value = {random.between(1, 20), random.between(1, 20),
                                    chip.torus_dimensions.value > 2 ? random.between(1, 20) : 1};
        }
        if (random.coin()) {
            chip.wraparound.value = Wraparound::every_axis;
        }
        const bool twist = chip.twistable.value && random.coin();
        const Point shape{random.between(1, 40), random.between(1, 40), random.between(1, 3)};
        const std::string message = error_of([&] { make_slice(chip, shape, twist); });
        const std::string marker = "nearest: ";
        const std::size_t at = message.find(marker);
        if (at == std::string::npos) {
            continue;
        }
        const std::size_t begin = at + marker.size();
        const Point suggested =
            parse_shape(message.substr(begin, message.find(' ', begin) - begin));
        EXPECT_NO_THROW(make_slice(chip, suggested, twist)) << "seed " << kSeed << ": " << message;
    }
}

}  // namespace
}  // namespace podsim::topology
