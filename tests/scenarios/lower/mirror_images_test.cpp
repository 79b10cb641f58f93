// Which collectives are their own mirror images, and so are simulated on half a line.
#include <gtest/gtest.h>

#include "scenarios/load/load.h"
#include "scenarios/simulate/simulate.h"

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

// On v5e 4x4, which does not wrap, a line along x has 4 kinds of chips and the whole slice 16; on a torus, neighbours along
// x%4 are lines of 4. Rings and lines send the same both ways, so that halves (of two axes, quarters) are left. Spanning trees
// grow from one side, and routes of an AllToAll that tie at a link go by their displacement: with them nothing is an image.
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

}  // namespace
}  // namespace podsim::scenarios
