// Chips that do the same: by hand, and compared with the messages of random steps.
#include "scenarios/src/search/like_chips.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <string>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/search/mirrored_step.h"
#include "scenarios/src/search/step_outline.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/simulate.h"
#include "scenarios/src/simulate/step_programs.h"
#include "tests/checkout.h"

namespace podsim::scenarios {
namespace {

/// Returns a ring of 16 chips, folded to `period`.
LikeChips ring_of_16(int period, bool mirrored) {
    topology::Lattice slice{.lengths = {16, 1, 1}, .wrapped = {true, false, false}};
    topology::Lattice folded{.lengths = {period, 1, 1}, .wrapped = {true, false, false}};
    return {slice, topology::Places(folded, 1), mirrored};
}

using Factors = std::vector<topology::AxisFactor>;

// Period 2, mirrored: 0 and 1 are alike. Both groups of x/2 begin together, and so do both members
// of each x%2. Period 4: 0 is like 3 and 1 like 2. Two of the four groups of x/4 are alike; members
// of x%2 are not.
TEST(LikeChips, AreThoseOfPeriodsAndMirrors) {
    const Factors pairs{{0, 1, 2}};
    const Factors twos{{0, 2, 8}};
    const Factors fours{{0, 4, 4}};
    const Factors both{{0, 1, 2}, {0, 4, 4}};
    const LikeChips of_two = ring_of_16(2, true);
    EXPECT_TRUE(of_two.alike({pairs}));
    EXPECT_DOUBLE_EQ(of_two.beside(twos).covered, 1);
    EXPECT_EQ(of_two.beside(twos).in_run, 2);
    EXPECT_FALSE(of_two.crowded({twos}));
    EXPECT_DOUBLE_EQ(of_two.beside(fours).covered, 1);

    const LikeChips of_four = ring_of_16(4, true);
    EXPECT_FALSE(of_four.alike({pairs}));
    EXPECT_TRUE(of_four.alike({fours}));
    EXPECT_DOUBLE_EQ(of_four.beside(fours).covered, 0.5);
    EXPECT_EQ(of_four.beside(fours).in_run, 2);
    EXPECT_EQ(of_four.beside(fours).lines, std::vector{2});
    EXPECT_TRUE(of_four.crowded({fours}));
    // x%2 and x/4 in one group: {0, 1, 4, 5 ...} and {2, 3, 6, 7 ...} are images of each other.
    EXPECT_FALSE(of_four.crowded({both}));
    // There are four lines along x/4, two of each kind, and one in a run of two along x%2.
    EXPECT_EQ(of_four.beside(both).lines, (std::vector{1, 4}));

    const LikeChips unmirrored = ring_of_16(4, false);
    EXPECT_DOUBLE_EQ(unmirrored.beside(fours).covered, 0.25);
    EXPECT_EQ(unmirrored.beside(fours).in_run, 1);
    EXPECT_EQ(unmirrored.beside(fours).lines, std::vector{1});
    // A group of x%2 and x/4 has two of the four lines itself.
    EXPECT_EQ(unmirrored.beside(both).lines, (std::vector{1, 2}));
    EXPECT_FALSE(ring_of_16(2, false).alike({pairs}));
}

// 20 chips of period 10 (y%5 and y/5%2 are in use): the groups of y/5%2 are {r, r + 5}, r below 5,
// their images {4 - r, 9 - r}. That of r = 2 is its own image, and has no other beside it.
TEST(LikeChips, CountTheLeastOfAnyGroup) {
    topology::Lattice slice{.lengths = {20, 1, 1}, .wrapped = {true, false, false}};
    topology::Lattice folded{.lengths = {10, 1, 1}, .wrapped = {true, false, false}};
    const LikeChips like(slice, topology::Places(folded, 1), true);
    const Factors pairs{{0, 5, 2}};
    EXPECT_DOUBLE_EQ(like.beside(pairs).covered, 0.2);
    EXPECT_EQ(like.beside(pairs).in_run, 1);
}

/// Returns a factor of an axis as a mesh writes it.
std::string text_of(char axis, int stride, int ways, int length) {
    std::string text(1, axis);
    if (stride > 1) {
        text += "/" + std::to_string(stride);
    }
    if (stride * ways < length) {
        text += "%" + std::to_string(ways);
    }
    return text;
}

/// Returns every axis in random factors, each given to a random logical axis.
std::string random_mesh(const topology::Point& shape, bool experts, std::mt19937_64& random) {
    const std::vector<std::string> names{"fsdp", experts ? "expert" : "fsdp", "context", "tensor"};
    std::map<std::string, std::string> factors;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        const int length = shape[static_cast<std::size_t>(axis)];
        std::string last;
        for (int stride = 1; stride < length;) {
            std::vector<int> ways;
            for (int w = 2; w <= length / stride; ++w) {
                if (length / stride % w == 0) {
                    ways.push_back(w);
                }
            }
            const int taken = ways[random() % ways.size()];
            std::string name = names[random() % names.size()];
            while (name == last) {
                name = names[random() % names.size()];
            }
            factors[name] += " " + text_of("xyz"[axis], stride, taken, length);
            last = name;
            stride *= taken;
        }
    }
    std::string mesh;
    for (const auto& [name, text] : factors) {
        mesh += (mesh.empty() ? "{" : ", ") + name + ":" + text;
    }
    return mesh + "}";
}

struct SliceShape {
    const char* chip;
    const char* text;
    topology::Point shape;
};

/// Returns a step on a random mesh, with few layers or many; nothing if it is refused.
std::optional<Scenario> random_step(std::mt19937_64& random, const std::string& tensor,
                                    std::string& text) {
    static const std::vector<SliceShape> slices{
        {"v5p", "4x4x4", {4, 4, 4}},   {"v5p", "4x8x8", {4, 8, 8}}, {"v5p", "8x12x12", {8, 12, 12}},
        {"v5p", "4x8x20", {4, 8, 20}}, {"v5p", "2x2x4", {2, 2, 4}}, {"v5e", "8x16", {8, 16, 1}},
        {"v5e", "16x16", {16, 16, 1}}};
    const SliceShape& slice = slices[random() % slices.size()];
    const bool experts = random() % 4 == 0;
    const std::string mesh = random_mesh(slice.shape, experts, random);
    const auto any = [&](const std::vector<std::string>& values) {
        return values[random() % values.size()];
    };
    const std::vector<std::string> settings{
        std::string("hardware={chip: ") + slice.chip + ", slice: " + slice.text + "}",
        "mesh=" + mesh,
        "model={base: " +
            (experts ? "mixtral-8x7b" : any({"llama-3-70b", "gemma-2b", "gemma-3-27b"})) +
            ", layers: " + any({"4", "20"}) + "}",
        "batch={tokens: " + any({"64Ki", "256Ki"}) + ", sequence: " + any({"512", "4096"}) + "}",
        "training.remat=" + any({"none", "full"}),
        "training.clip_gradients=" + any({"true", "false"}),
        "training.parts=" + any({"all", "layers"}),
        "overlap={context: " + any({"gathered", "ring"}) + ", tensor: " + tensor + "}"};
    text = slice.text + (" " + mesh) + " " + tensor;
    try {
        return load_scenario(source_folder() + "/scenarios/quickstart/llama3-70b-v5p-pod.yaml",
                             settings);
    } catch (const sim::InputError&) {
        return std::nullopt;
    }
}

std::string random_overlap(std::mt19937_64& random) {
    const std::vector<std::string> all{"blocking", "blocking", "one-way", "two-way"};
    return all[random() % all.size()];
}

// A step with this property is folded by its mirrors along every axis of an even period:
// sim/folding compares all its messages.
TEST(MirroredStep, IsFoldedByItsMirrors) {
    std::mt19937_64 random(20261125);
    int mirrored = 0;
    KnownCollectives known;
    for (int i = 0; i < 900; ++i) {
        std::string text;
        const std::optional<Scenario> scenario = random_step(random, random_overlap(random), text);
        if (!scenario) {
            continue;
        }
        SCOPED_TRACE(text);
        const AchievedHardware hardware(scenario->hardware);
        const BuiltStep built = build_step_of(*scenario);
        OperationKinds kinds;
        for (const workloads::Op& op : built.programs.programs.front().ops) {
            kinds.of(built.programs, 0, op);
        }
        const PlacedMesh mesh(scenario->step().mesh);
        if (!is_mirrored(kinds, built.programs, mesh, hardware, TensorCollectives::as_built,
                         known)) {
            continue;
        }
        const Layout layout =
            lower_step(built.programs, hardware, scenario->step().mesh, Fold::automatic).layout;
        int expected = layout.folded.slices;
        for (int axis = 0; axis < topology::kAxes; ++axis) {
            const int period = layout.folded.chips.length(axis);
            expected *= period % 2 == 0 ? period / 2 : period;
        }
        EXPECT_EQ(layout.simulated(), static_cast<std::size_t>(expected));
        mirrored += layout.mirrored ? 1 : 0;
    }
    EXPECT_GE(mirrored, 120);
}

// Strided factors share links with their images and with others. The bound of their step is below
// it, both that of its own program and that of the plan with blocking collectives.
TEST(LeastTimes, OfStridedGroupsAreBelowTheirSteps) {
    std::mt19937_64 random(20261126);
    int compared = 0;
    for (int i = 0; i < 200; ++i) {
        std::string text;
        const std::string overlap = random_overlap(random);
        std::mt19937_64 again = random;
        const std::optional<Scenario> scenario = random_step(random, overlap, text);
        if (!scenario) {
            continue;
        }
        SCOPED_TRACE(text);
        const StepResult result = simulate_step(*scenario, Fold::automatic, {.explain = false});
        StepOutline outline(*scenario);
        if (outline.least_peak() > result.memory.capacity) {
            continue;
        }
        EXPECT_LE(outline.bound(scenario->step().mesh), result.step_time);
        if (overlap != "blocking") {
            const std::optional<Scenario> blocking = random_step(again, "blocking", text);
            ASSERT_TRUE(blocking.has_value());
            StepOutline rough(*blocking, TensorCollectives::in_steps);
            ASSERT_LE(rough.least_kept(), result.memory.capacity);
            EXPECT_LE(rough.bound(scenario->step().mesh), result.step_time);
        }
        ++compared;
    }
    EXPECT_GE(compared, 60);
}

}  // namespace
}  // namespace podsim::scenarios
