// Collectives that are their own mirror images, and so are simulated on half a line.
#include <algorithm>
#include <gtest/gtest.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/checkout.h"

namespace podsim::scenarios {
namespace {

using collectives::Algorithm;
using collectives::Group;
using collectives::Operation;

struct MirroredCollective {
    Operation operation{};
    Group group;
    Algorithm algorithm{};
    int simulated = 0;
    const char* chip = "v5e";
    const char* slice = "4x4";
};

// On v5e 4x4, which does not wrap, a line along x has 4 kinds of chips and the whole slice 16; on a
// torus, neighbours along x%4 are lines of 4. Rings and lines send the same in both directions, so
// halves (for two axes, quarters) remain. Spanning trees grow from one side, and routes of an
// AllToAll that tie at a link are ordered by their displacement: with them nothing is an image.
TEST(MirrorImages, RingsAndLinesFoldTreesAndRoutesDoNot) {
    const Group x{{0, 1, 4}};
    const Group both{{0, 1, 4}, {1, 1, 4}};
    const std::vector<MirroredCollective> rows{
        {Operation::all_gather, x, Algorithm::two_way, 2},
        {Operation::reduce_scatter, x, Algorithm::two_way, 2},
        {Operation::all_reduce, x, Algorithm::two_way, 2},
        {Operation::all_reduce, x, Algorithm::one_shot, 2},
        {Operation::all_gather, both, Algorithm::equal_parts, 4},
        {Operation::reduce_scatter, both, Algorithm::equal_parts, 4},
        {Operation::all_reduce, both, Algorithm::one_shot, 4},
        {Operation::all_gather, x, Algorithm::two_way, 2, "v5p", "8x4x4"},
        {Operation::all_reduce, both, Algorithm::reduce_broadcast, 16},
        {Operation::all_to_all, both, Algorithm::shortest, 16}};
    for (const MirroredCollective& row : rows) {
        SCOPED_TRACE(std::string(to_string(row.operation)) + ' ' +
                     std::string(to_string(row.algorithm)) + ' ' + row.slice);
        const IdealHardware hardware =
            hardware_from_options({.chip = row.chip, .slice = row.slice});
        StageCollective one;
        one.operation = row.operation;
        one.members = {row.group, {}};
        one.algorithm = row.algorithm;
        one.bytes = sim::Bytes(48e6);
        Program program;
        program.stages.push_back({"only", one});
        const ProgramResult folded = simulate_program(hardware, program, Fold::automatic);
        const ProgramResult whole = simulate_program(hardware, program, Fold::off);
        EXPECT_EQ(folded.simulated_chips, row.simulated);
        EXPECT_EQ(folded.time, whole.time);
        EXPECT_EQ(folded.events * static_cast<std::uint64_t>(whole.simulated_chips),
                  whole.events * static_cast<std::uint64_t>(folded.simulated_chips));
        ASSERT_EQ(folded.links.size(), whole.links.size());
        for (std::size_t i = 0; i < whole.links.size(); ++i) {
            EXPECT_EQ(folded.links[i].busiest_fraction, whole.links[i].busiest_fraction);
            EXPECT_EQ(folded.links[i].bytes.value(), whole.links[i].bytes.value());
        }
    }
}

struct MirroredStep {
    const char* mesh;
    const char* tensor;
    int simulated = 0;
};

// Steps of a collective matmul on 8x4x4. Neighbours and pairs over half a ring (both directions at
// once, so both ends see the same) are images of themselves, over one factor or several. Pairs that
// send in one direction are not, nor are rings of four, whose two directions are separate
// operations. Pairs of x/4 beside x%4 have four kinds of chips, of which two are images. On lines
// of 4 the small AllReduces use trees.
TEST(MirrorImages, StepsOfCollectiveMatmuls) {
    const std::vector<MirroredStep> rows{{"{fsdp: x/2 y z, tensor: x%2}", "two-way", 1},
                                         {"{fsdp: x/2 y/2 z, tensor: x%2 y%2}", "two-way", 1},
                                         {"{fsdp: x/4 y z, tensor: x%4}", "two-way", 4},
                                         {"{fsdp: x%2 x/4 y z, tensor: x/2%2}", "two-way", 2},
                                         {"{fsdp: x%4 y z, tensor: x/4}", "two-way", 2},
                                         {"{fsdp: x%4 y z, tensor: x/4}", "one-way", 4},
                                         {"{fsdp: x%4 y/2 z, tensor: x/4 y%2}", "two-way", 2},
                                         {"{fsdp: x%2 y z, tensor: x/2}", "two-way", 2}};
    for (const MirroredStep& row : rows) {
        SCOPED_TRACE(std::string(row.mesh) + ' ' + row.tensor);
        const Scenario scenario = load_scenario(
            source_folder() + "/scenarios/quickstart/llama3-70b-v5p-pod.yaml",
            std::vector<std::string>{"hardware.slice=8x4x4", std::string("mesh=") + row.mesh,
                                     "model={base: llama-3-8b, layers: 2}", "batch.tokens=512Ki",
                                     std::string("overlap.tensor=") + row.tensor});
        const StepResult folded = simulate_step(scenario, Fold::automatic, {.explain = false});
        const StepResult whole = simulate_step(scenario, Fold::off, {.explain = false});
        EXPECT_EQ(folded.simulated_chips, row.simulated);
        EXPECT_EQ(folded.step_time, whole.step_time);
        EXPECT_EQ(folded.events * 128, whole.events * static_cast<std::uint64_t>(row.simulated));
    }
}

struct TurnedStep {
    const char* mesh;
    double least = 0;  ///< played events over all events of a chip
    double most = 1;
};

// Counts on 8x4x4, without reuse. For weights gathered over x y z all messages are halved, since
// one direction stands for both (along y and z orders of x differ: they are no images). For
// x/2 y z, beside pairs along x, those over y and z are images. Those of x alone are halved. Over
// y and z, which have one length, four directions are one. Tasks are no messages.
TEST(MirrorImages, OneWayRoundAWholeAxisStandsForBoth) {
    const std::vector<TurnedStep> rows{{"{fsdp: x y z}", 0.5, 0.55},
                                       {"{fsdp: x/2 y z, tensor: x%2}", 0.5, 0.75},
                                       {"{fsdp: x, tensor: y z}", 0.25, 0.35},
                                       {"{data: x, fsdp: y, context: z}", 0.5, 0.7}};
    for (const TurnedStep& row : rows) {
        SCOPED_TRACE(row.mesh);
        const Scenario scenario = load_scenario(
            source_folder() + "/scenarios/quickstart/llama3-70b-v5p-pod.yaml",
            std::vector<std::string>{"hardware.slice=8x4x4", std::string("mesh=") + row.mesh,
                                     "model={base: llama-3-8b, layers: 2}", "batch.tokens=512Ki"});
        const StepResult folded =
            simulate_step(scenario, Fold::automatic, {.reuse = false, .explain = false});
        const StepResult whole =
            simulate_step(scenario, Fold::off, {.reuse = false, .explain = false});
        EXPECT_EQ(folded.step_time, whole.step_time);
        EXPECT_EQ(folded.events * 128,
                  whole.events * static_cast<std::uint64_t>(folded.simulated_chips));
        EXPECT_EQ(whole.played_events, whole.events);
        const double played =
            static_cast<double>(folded.played_events) / static_cast<double>(folded.events);
        EXPECT_GT(played, row.least);
        EXPECT_LT(played, row.most);
    }
}

// Weights gathered over x and y of one length wait for links of both. If the report names the axis,
// the axes are not exchanged.
TEST(MirrorImages, AxesAreToldApartWhereAStepIsExplained) {
    const Scenario scenario = load_scenario(
        source_folder() + "/scenarios/quickstart/llama3-70b-v5p-pod.yaml",
        std::vector<std::string>{"hardware.slice=4x4x8", "mesh={fsdp: x y, tensor: z}",
                                 "model={base: llama-3-8b, layers: 2}", "batch.tokens=128Ki"});
    const StepResult told = simulate_step(scenario, Fold::automatic);
    const StepResult other = simulate_step(scenario, Fold::off);
    const StepResult quick = simulate_step(scenario, Fold::automatic, {.explain = false});
    EXPECT_EQ(quick.step_time, told.step_time);
    EXPECT_EQ(quick.events, told.events);
    EXPECT_LT(quick.played_events, told.played_events);
    for (const char* const axis : {"ICI x", "ICI y"}) {
        EXPECT_EQ(std::ranges::count(told.critical_path, axis, &Share::name), 1) << axis;
        EXPECT_EQ(std::ranges::count(other.critical_path, axis, &Share::name), 1) << axis;
    }
}

}  // namespace
}  // namespace podsim::scenarios
