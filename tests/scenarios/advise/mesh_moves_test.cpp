// The neighbours of a mesh, listed by hand.
#include "scenarios/src/advise/mesh_moves.h"

#include <gmock/gmock.h>

#include "scenarios/src/scenario/load.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::StartsWith;

class MeshMoves : public CommandTest {
protected:
    std::vector<std::string> moves(const std::string& hardware, const std::string& mesh,
                                   const std::string& model = "llama-3-8b") {
        std::vector<std::string> texts;
        for (const PlanChange& move :
             mesh_moves(load_scenario(write("hardware: " + hardware + "\nmodel: " + model +
                                            "\n"
                                            "batch: {tokens: 256Ki, sequence: 4096}\n"
                                            "mesh: " +
                                            mesh + "\n")))) {
            EXPECT_EQ(move.kind, "mesh");
            EXPECT_EQ(move.set.size(), 1U);
            texts.push_back(move.set.front() + " | " + move.meaning);
        }
        return texts;
    }
};

// x is tensor (inner 2) and fsdp (outer 2), y is one chip, z is 2 of fsdp. On x tensor gives its 2
// to fsdp, which then has all of x, or fsdp gives to tensor. Context or data takes the 2 of either,
// within or beyond the other; these are one position if the giver has nothing left. On z context,
// tensor or data takes the 2.
TEST_F(MeshMoves, OfASmallSlice) {
    EXPECT_THAT(
        moves("{chip: v5p, slice: 4x1x2}", "{fsdp: x/2 z, tensor: x%2}"),
        ElementsAre(
            "mesh={fsdp: x z} | fsdp 8 instead of 4, tensor 1 instead of 2",
            "mesh={fsdp: x/2 z, context: x%2} | context 2 instead of 1, tensor 1 instead of 2",
            "mesh={fsdp: x/2 z, data: x%2} | tensor 1 instead of 2, data 2 instead of 1",
            "mesh={fsdp: z, tensor: x} | fsdp 2 instead of 4, tensor 4 instead of 2",
            "mesh={fsdp: z, tensor: x%2, context: x/2} | fsdp 2 instead of 4, context 2 instead of "
            "1",
            "mesh={fsdp: z, tensor: x%2, data: x/2} | fsdp 2 instead of 4, data 2 instead of 1",
            "mesh={fsdp: x/2, tensor: x%2, context: z} | fsdp 2 instead of 4, context 2 instead of "
            "1",
            "mesh={fsdp: x/2, tensor: x%2 z} | fsdp 2 instead of 4, tensor 4 instead of 2",
            "mesh={fsdp: x/2, tensor: x%2, data: z} | fsdp 2 instead of 4, data 2 instead of 1"));
}

// 4 = 2 x 2 of y: context takes 2 of the innermost or of the outermost strides, as do tensor and
// data; x and z are single chips.
TEST_F(MeshMoves, ATakerSitsWithinOrBeyond) {
    EXPECT_THAT(
        moves("{chip: v5p, slice: 1x4x1}", "{fsdp: y}"),
        ElementsAre("mesh={fsdp: y/2, context: y%2} | fsdp 2 instead of 4, context 2 instead of 1",
                    "mesh={fsdp: y%2, context: y/2} | fsdp 2 instead of 4, context 2 instead of 1",
                    "mesh={fsdp: y/2, tensor: y%2} | fsdp 2 instead of 4, tensor 2 instead of 1",
                    "mesh={fsdp: y%2, tensor: y/2} | fsdp 2 instead of 4, tensor 2 instead of 1",
                    "mesh={fsdp: y/2, data: y%2} | fsdp 2 instead of 4, data 2 instead of 1",
                    "mesh={fsdp: y%2, data: y/2} | fsdp 2 instead of 4, data 2 instead of 1"));
}

// Experts have an axis: it takes 2 like the others, or all 4.
TEST_F(MeshMoves, ExpertsTakeAll) {
    EXPECT_THAT(
        moves("{chip: v5p, slice: 1x4x1}", "{fsdp: y}", "mixtral-8x7b"),
        ElementsAre("mesh={fsdp: y/2, context: y%2} | fsdp 2 instead of 4, context 2 instead of 1",
                    "mesh={fsdp: y%2, context: y/2} | fsdp 2 instead of 4, context 2 instead of 1",
                    "mesh={fsdp: y/2, tensor: y%2} | fsdp 2 instead of 4, tensor 2 instead of 1",
                    "mesh={fsdp: y%2, tensor: y/2} | fsdp 2 instead of 4, tensor 2 instead of 1",
                    "mesh={fsdp: y/2, expert: y%2} | fsdp 2 instead of 4, expert 2 instead of 1",
                    "mesh={fsdp: y%2, expert: y/2} | fsdp 2 instead of 4, expert 2 instead of 1",
                    "mesh={expert: y} | fsdp 1 instead of 4, expert 4 instead of 1",
                    "mesh={fsdp: y/2, data: y%2} | fsdp 2 instead of 4, data 2 instead of 1",
                    "mesh={fsdp: y%2, data: y/2} | fsdp 2 instead of 4, data 2 instead of 1"));
    EXPECT_THAT(moves("{chip: v5p, slice: 1x2x1}", "{expert: y}", "mixtral-8x7b"),
                ElementsAre("mesh={fsdp: y} | fsdp 2 instead of 1, expert 1 instead of 2",
                            "mesh={context: y} | context 2 instead of 1, expert 1 instead of 2",
                            "mesh={tensor: y} | tensor 2 instead of 1, expert 1 instead of 2",
                            "mesh={data: y} | expert 1 instead of 2, data 2 instead of 1"));
}

// The moves of a mesh are those of its image with renamed axes; every axis keeps the order of
// its factors.
TEST_F(MeshMoves, DoNotDependOnNames) {
    std::vector<std::string> renamed =
        moves("{chip: v5p, slice: 4x4x1}", "{pipeline: x y%2, tensor: y/2}");
    for (std::string& move : renamed) {
        for (std::size_t i = 1; i < move.find('|'); ++i) {
            if (move[i - 1] == ' ' && (move[i] == 'x' || move[i] == 'y')) {
                move[i] = move[i] == 'x' ? 'y' : 'x';
            }
        }
    }
    const std::vector<std::string> of_image =
        moves("{chip: v5p, slice: 4x4x1}", "{pipeline: y x%2, tensor: x/2}");
    EXPECT_EQ(of_image, renamed);
    EXPECT_THAT(of_image, Contains(StartsWith("mesh={pipeline: y x%2, data: x/2}")));
}

// Stages and slices do not move.
TEST_F(MeshMoves, PipelineAndSlicesStay) {
    EXPECT_THAT(moves("{chip: v5p, slice: 1x1x2, slices: 2}", "{pipeline: z, data: slice}"),
                ElementsAre());
}

}  // namespace
}  // namespace podsim::scenarios
