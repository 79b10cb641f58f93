// custom_mesh: the boxes of MaxText's reshape_mesh_to_rings, chip by chip.
#include <gmock/gmock.h>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/src/import/maxtext_import.h"
#include "scenarios/src/import/maxtext_keys.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/import/maxtext_fixture.h"
#include "topology/mesh/mesh.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Keys = std::vector<std::string>;

const std::string kSplit = "allow_split_physical_axes=True";
const std::string kFour = "custom_mesh=hybrid_ring_64x4";
const std::string kEight = "custom_mesh=hybrid_ring_32x8";

class MaxTextRings : public MaxText {
protected:
    std::string mesh(Keys keys, const std::string& topology = "v6e-256") {
        keys.emplace_back("model_name=mixtral-8x7b");
        return line(keys, "mesh", topology);
    }
    std::string report(Keys keys, const std::string& topology = "v6e-256") {
        keys.emplace_back("model_name=mixtral-8x7b");
        keys.insert(keys.end(), {"--write", path("a.yaml")});
        const Outcome outcome = import(keys, topology);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome.out;
    }
};

TEST_F(MaxTextRings, AreBoxesOfNeighbours) {
    EXPECT_EQ(mesh({kSplit, kFour, "ici_fsdp_parallelism=64", "ici_expert_parallelism=4"}),
              "mesh: {fsdp: y/2 x/2, expert: y%2 x%2}");
    EXPECT_EQ(mesh({kSplit, kEight, "ici_expert_parallelism=8"}),
              "mesh: {fsdp: y/2 x/4, expert: y%2 x%4}");
    EXPECT_EQ(mesh({kSplit, kFour, "ici_tensor_parallelism=4", "dcn_fsdp_parallelism=-1",
                    "dcn_data_parallelism=1", "compile_topology_num_slices=2"}),
              "mesh: {fsdp: slice y/2 x/2, tensor: y%2 x%2}");
    // The axis of 4 comes before that of 64: its members are rows of boxes.
    EXPECT_EQ(mesh({kSplit, kFour, "ici_data_parallelism=4"}),
              "mesh: {data: y/4, fsdp: y/2%2 x/2 y%2 x%2}");
    EXPECT_EQ(mesh({kSplit, kEight, "ici_data_parallelism=8"}),
              "mesh: {data: y/2, fsdp: x/4 y%2 x%4}");
}

// With several slices MaxText also makes it without allow_split_physical_axes; between slices the
// last axis is the fastest.
TEST_F(MaxTextRings, OfSeveralSlices) {
    const Keys four{kFour,
                    "ici_tensor_parallelism=4",
                    "compile_topology_num_slices=4",
                    "dcn_fsdp_parallelism=2",
                    "model_name=llama3.1-405b",
                    "--write",
                    path("a.yaml")};
    EXPECT_EQ(import(four).err, "");
    const Scenario scenario = load_scenario(path("a.yaml"));
    EXPECT_EQ(scenario.step().mesh_axes, (Keys{"slice/2", "slice%2 y/2 x/2", "y%2 x%2"}));
}

/// Returns the position of a[i, j] of 16 x 16 devices in MaxText's list. Boxes of 2 rows and
/// `width` columns follow one after the other along j, then i. In a box the upper row goes from
/// left to right, then the lower one from right to left.
int place_in_list(int i, int j, int width) {
    const int box = i / 2 * (16 / width) + j / width;
    const int column = j % width;
    return box * 2 * width + (i % 2 == 0 ? column : 2 * width - 1 - column);
}

/// Returns the mesh that the importer writes.
topology::DeviceMesh mesh_of(const Keys& keys, const topology::Lattice& slice) {
    const std::string base = source_folder() + "/tests/scenarios/import/maxtext/base-2025.yml";
    MaxTextSettings settings(maxtext_tree(read_text_file(base), base), keys);
    MaxTextModel model;
    model.expert_axis_is_fsdp = false;
    Keys notes;
    const MaxTextMachine machine = maxtext_machine(settings);
    const std::string text = maxtext_mesh(settings, machine, model, notes).text;
    std::vector<topology::LogicalAxis> axes;
    const YamlNode tree = parse_yaml(text, "text");
    for (const YamlNode::Entry& entry : tree.entries.front().value.entries) {
        axes.push_back({entry.key, topology::parse_factors(entry.value.text, slice)});
    }
    return {slice, axes};
}

/// MaxText reshapes its list to the sizes of all parallelisms, of which two exceed 1: rank
/// place / n2 of the first, place % n2 of the second. podsim's rank of the second may differ, but
/// it is in the same box, and is the same for all its chips.
void compare(const topology::DeviceMesh& mesh, const std::pair<std::string, std::string>& axes,
             int second_ways, int width, bool three) {
    std::map<int, int> renamed;
    for (int i = 0; i < 16; ++i) {
        for (int j = 0; j < 16; ++j) {
            // JAX gives the last axis, j, the first of x y z, xy, xz, yz, x, y, z of 16 chips: x of
            // 16x16, x y of 4x4x16.
            const topology::Point chip =
                three ? topology::Point{j / 4, j % 4, i} : topology::Point{j, i, 0};
            const int place = place_in_list(i, j, width);
            EXPECT_EQ(mesh.rank(axes.first, chip, 0), place / second_ways);
            const int rank = mesh.rank(axes.second, chip, 0);
            const int theirs = place % second_ways;
            EXPECT_EQ(rank / (2 * width), theirs / (2 * width));
            EXPECT_EQ(renamed.try_emplace(rank, theirs).first->second, theirs);
        }
    }
    EXPECT_EQ(renamed.size(), static_cast<std::size_t>(second_ways));
}

// Covers every pair of podsim's parallelisms, with either the larger, on 16x16 and 4x4x16.
TEST(MaxTextRingsChips, AreThoseOfMaxText) {
    const std::vector<std::string> names{"data",   "pipeline",         "fsdp",  "context",
                                         "tensor", "tensor_transpose", "expert"};
    for (const bool three : {false, true}) {
        const topology::Lattice slice{.lengths = three ? topology::Point{4, 4, 16}
                                                       : topology::Point{16, 16, 1}};
        for (const int width : {2, 4}) {
            const int box = 2 * width;
            for (std::size_t a = 0; a < names.size(); ++a) {
                for (std::size_t b = a + 1; b < names.size(); ++b) {
                    for (const int second : {box, 256 / box}) {
                        Keys keys{kSplit, width == 2 ? kFour : kEight,
                                  std::string("compile_topology=") +
                                      (three ? "v5p-4x4x16" : "v6e-16x16")};
                        if (names[a] != "fsdp" && names[b] != "fsdp") {
                            keys.emplace_back("ici_fsdp_parallelism=1");
                        }
                        keys.push_back("ici_" + names[a] +
                                       "_parallelism=" + std::to_string(256 / second));
                        keys.push_back("ici_" + names[b] +
                                       "_parallelism=" + std::to_string(second));
                        SCOPED_TRACE(testing::PrintToString(keys));
                        compare(mesh_of(keys, slice), {names[a], names[b]}, second, width, three);
                    }
                }
            }
        }
    }
}

TEST_F(MaxTextRings, WithoutALookChangesNothing) {
    const Keys keys{kFour, "ici_fsdp_parallelism=64", "ici_expert_parallelism=4"};
    EXPECT_THAT(report(keys),
                HasSubstr("  custom_mesh = hybrid_ring_64x4: MaxText looks at it only with "
                          "allow_split_physical_axes=true, or over several slices\n"));
    EXPECT_EQ(mesh(keys), "mesh: {fsdp: 64, expert: 4}");
    // Nor is the mesh's existence checked.
    EXPECT_EQ(mesh({"custom_mesh=ring"}), "mesh: {fsdp: x y}");
    EXPECT_THAT(report({kSplit, "custom_mesh="}), HasSubstr("  custom_mesh = : its usual value\n"));
    EXPECT_THAT(
        report({kSplit, kFour, "ici_fsdp_parallelism=64", "ici_fsdp_transpose_parallelism=4"}),
        HasSubstr("  custom_mesh = hybrid_ring_64x4: both of its parallelisms are fsdp "
                  "here, which has the whole slice\n"));
}

TEST_F(MaxTextRings, SayWhatIsNotTheRing) {
    const std::string along =
        "hybrid_ring_32x8 makes rings round boxes of 2x4; here AllGathers and ReduceScatters over "
        "tensor go along the axes of a box and take up to 13 % longer than round its edge";
    EXPECT_THAT(report({kSplit, kEight, "ici_tensor_parallelism=8"}), HasSubstr(along));
    // An AllToAll reaches its bound on both layouts.
    EXPECT_THAT(report({kSplit, kEight, "ici_expert_parallelism=8"}), Not(HasSubstr("round")));
    EXPECT_THAT(report({kSplit, kEight, "ici_data_parallelism=8"}), Not(HasSubstr("round")));
    EXPECT_THAT(report({kSplit, kFour, "ici_expert_parallelism=4"}), Not(HasSubstr("round")));
    EXPECT_THAT(
        report({kSplit, kFour, "ici_data_parallelism=64", "ici_fsdp_parallelism=1",
                "ici_pipeline_parallelism=4"}),
        HasSubstr("hybrid_ring_64x4 numbers the 4 devices of a box round its edge; here the stages "
                  "in a box go along its axes, and some handovers pass more links"));
    EXPECT_THAT(report({kSplit, kFour, "ici_pipeline_parallelism=4"}), Not(HasSubstr("round")));
}

TEST_F(MaxTextRings, RefusesWhatMaxTextRefuses) {
    const std::string said = "custom_mesh=hybrid_ring_64x4: custom_mesh: ";
    const std::string model = "model_name=mixtral-8x7b";
    const std::string remedy = "let one be 64 and one 4, or leave custom_mesh out";
    refused({model, kSplit, kFour},
            said +
                "hybrid_ring_64x4 is for two ici_*_parallelism, 64 and 4 ways, but there is "
                "fsdp 256; " +
                remedy);
    refused({model, kSplit, kFour, "ici_tensor_parallelism=16"},
            said +
                "hybrid_ring_64x4 is for two ici_*_parallelism, 64 and 4 ways, but there are "
                "fsdp 16, tensor 16; " +
                remedy);
    refused({model, kSplit, kFour, "ici_tensor_parallelism=4", "ici_expert_parallelism=4"},
            said +
                "hybrid_ring_64x4 is for two ici_*_parallelism, 64 and 4 ways, but there are "
                "fsdp 16, tensor 4, expert 4; " +
                remedy);
    refused({model, kSplit, "custom_mesh=hybrid_ring_16x16"},
            "custom_mesh=hybrid_ring_16x16: custom_mesh: unknown mesh 'hybrid_ring_16x16'; "
            "allowed: hybrid_ring_64x4, hybrid_ring_32x8, or nothing");
    refused({model, kSplit, kFour, "ici_tensor_parallelism=4", "ici_expert_parallelism=4"},
            said +
                "MaxText lays out 16x16 devices of a slice, but there are 1024; take a slice of "
                "256, or leave custom_mesh out",
            "v5p-2048");
    refused({model, kSplit, kFour, "ici_tensor_parallelism=4"},
            said +
                "JAX finds no mesh of 16x16 on 4x8x8, so that MaxText does not run there; take "
                "a slice whose axes multiply to 16 and 16, or leave custom_mesh out",
            "v5p-512");
}

TEST_F(MaxTextRings, ChipsOfTwoDevicesAreNotLaidOut) {
    EXPECT_THAT(
        import({"model_name=mixtral-8x7b", kSplit, kFour, "ici_tensor_parallelism=4"}, "tpu7x-256")
            .err,
        HasSubstr("warning: custom_mesh=hybrid_ring_64x4 is not expressed: it lays out "
                  "devices, of which a chip of tpu7x is 2; podsim's own mapping is "
                  "taken\n"));
}

}  // namespace
}  // namespace podsim::scenarios
