// `do: grouped-matmul` in a program: a kernel alone, against hand calculation, and its refusals.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/cli/command_fixture.h"

namespace podsim::scenarios {
namespace {

class GroupedStage : public CommandTest {
protected:
    [[nodiscard]] Scenario load(const std::string& chip, const std::string& profile,
                                const std::string& keys) const {
        return load_scenario(
            write("hardware: {chip: " + chip + ", slice: 1x1x1, profile: " + profile +
                  "}\nprogram:\n  stages:\n    - {do: grouped-matmul, " + keys + "}\n"));
    }
    [[nodiscard]] double seconds(const std::string& chip, const std::string& profile,
                                 const std::string& keys) const {
        const Scenario scenario = load(chip, profile, keys);
        return simulate_program(scenario.hardware, scenario.program(), Fold::automatic)
            .time.seconds();
    }
    std::string error_of(const std::string& keys, const std::string& before = "") {
        return plain(podsim({"run", write("hardware: {chip: v5e, slice: 1x1}\nprogram:\n" + before +
                                          "  stages:\n    - {do: grouped-matmul, " + keys + "}\n")})
                         .err);
    }
};

constexpr double kPeak = 197e12;  // of v5e, a chip of one core
constexpr double kHbm = 810e9;

const workloads::Compute& grouped_work_of(const Scenario& scenario) {
    return std::get<StageCompute>(scenario.program().stages.front().work).work;
}

// 4096 rows of 8 groups in tiles of 512: 8 + 7 visits. There is one tile of k and two of n of 1024.
// For each of these the first step fetches 512 x 1024 of rows and 1024 x 1024 of a matrix. Seven
// more steps fetch new rows and write the last 512 x 1024; seven fetch another matrix.
TEST_F(GroupedStage, GoesThroughItsGridStepByStep) {
    const std::string keys = "m: 4096, k: 1024, n: 2048, groups: 8, tile: [512, 1024, 1024]";
    const double tile = 2.0 * 512 * 1024 * 1024 / kPeak / 0.5;
    const auto bytes = [](double elements) { return 2 * elements / kHbm; };
    const double rows = bytes(2.0 * 512 * 1024);
    const double matrix = bytes(1024.0 * 1024);
    const double expected = 2 * (std::max(tile, rows + matrix) + 7 * std::max(tile, rows) +
                                 7 * std::max(tile, matrix) + 15 * 1e-6);
    EXPECT_NEAR(seconds("v5e", "{base: ideal, mxu_grouped: 0.5, grid_step_s: 1e-6}", keys),
                expected, 2e-12);
    // Ideally all data arrive in time: 15 of 8 tiles' FLOPs.
    EXPECT_NEAR(seconds("v5e", "ideal", keys), 15 * 2 * tile * 0.5, 2e-12);
    const workloads::Compute& work = grouped_work_of(load("v5e", "ideal", keys));
    EXPECT_DOUBLE_EQ(work.flops.value(), 2.0 * 4096 * 1024 * 2048);
    EXPECT_DOUBLE_EQ(work.tiled, 15.0 / 8);
}

// With two tiles of k every step fetches rows and matrix, and the end of every second visit writes.
// tgmm: each of 2 x 2 blocks of the matrices sees all visits; new rows bring blocks of both
// operands, and another group writes its sum.
TEST_F(GroupedStage, WithSeveralTilesOfKAndForGradients) {
    const std::string profile = "{base: ideal, mxu_grouped: 0.5, grid_step_s: 1e-6}";
    const auto bytes = [](double elements) { return 2 * elements / kHbm; };
    const double tile = 2.0 * 512 * 512 * 1024 / kPeak / 0.5;
    const double fetched = bytes(512.0 * 512 + 512 * 1024);
    const double written = bytes(512.0 * 1024);
    EXPECT_NEAR(
        seconds("v5e", profile, "m: 4096, k: 1024, n: 2048, groups: 8, tile: [512, 512, 1024]"),
        2 * (8 * std::max(tile, fetched + written) + 22 * std::max(tile, fetched) + 30 * 1e-6),
        2e-12);
    const double rows = bytes(512.0 * (512 + 1024));
    const double sum = bytes(512.0 * 1024);
    EXPECT_NEAR(
        seconds("v5e", profile,
                "m: 4096, k: 1024, n: 2048, groups: 8, kernel: tgmm, tile: [512, 512, 1024]"),
        4 * (std::max(tile, rows + sum) + 7 * std::max(tile, rows) + 7 * std::max(tile, sum) +
             15 * 1e-6),
        2e-12);
}

// Two devices of tpu7x have half of the rows each, all groups, half of the chip's rates, and
// perform their steps side by side. The two cores of v5p are one device and share its tiles of n:
// one core has two of three.
TEST_F(GroupedStage, OnChipsOfTwoCores) {
    const std::string profile = "{base: ideal, mxu_grouped: 0.5, grid_step_s: 1e-6}";
    const double tpu7x =
        seconds("tpu7x", profile, "m: 8192, k: 1024, n: 1024, groups: 8, tile: [512, 1024, 1024]");
    const double tile = 2.0 * 512 * 1024 * 1024 / 1153.5e12 / 0.5;
    const auto bytes = [](double elements) { return 2 * elements / 3.69e12; };
    EXPECT_NEAR(tpu7x,
                std::max(tile, bytes(2 * 512.0 * 1024 + 1024 * 1024)) +
                    7 * std::max(tile, bytes(2 * 512.0 * 1024)) +
                    7 * std::max(tile, bytes(1024.0 * 1024)) + 15 * 1e-6,
                2e-9);
    const auto v5p = [&](int n) {
        return seconds(
            "v5p", "{base: ideal, mxu_grouped: 0.5, grid_step_s: 1e-6}",
            fmt::format("m: 4096, k: 1024, n: {}, groups: 8, tile: [512, 1024, 512]", n));
    };
    EXPECT_NEAR(v5p(1536), v5p(2048), 2e-12);
    EXPECT_NEAR(v5p(1024) * 2, v5p(2048), 2e-12);
}

// 2880 = 22.5 x 128 in one tile of 2944: 5 operations for each element of (512 + 1536) x 2944
// before every tile. A tile of 3072 is cut to 2880.
TEST_F(GroupedStage, MasksWhatLiesBeyondK) {
    const auto time = [&](int k) {
        return seconds(
            "v5e", "{base: ideal, grid_step_s: 1e-9}",
            fmt::format("m: 1024, k: 2880, n: 1536, groups: 1, tile: [512, {}, 1536]", k));
    };
    EXPECT_NEAR(time(2944) - time(3072), 2 * 5.0 * (512 + 1536) * 2944 / (4096 * 1.5e9), 2e-9);
}

TEST_F(GroupedStage, IsRefusedAtItsPlace) {
    EXPECT_EQ(error_of("m: 8, k: 8, n: 8"),
              "s.yaml:4:7: missing key 'program.stages.groups'; write groups: 256 (of "
              "grouped-matmul: matrices, each for its run of the rows)\n");
    EXPECT_EQ(error_of("m: 8, k: 8, n: 8, groups: 2, weights: int8"),
              "s.yaml:4:66: program.stages.weights: grouped-matmul has no such key; it has m, k, "
              "n, groups, kernel, tile\n");
    EXPECT_EQ(error_of("m: 8, k: 8, n: 8, groups: 2, kernel: gnn"),
              "s.yaml:4:65: unknown program.stages.kernel 'gnn'; allowed: gmm, tgmm\n");
    EXPECT_EQ(error_of("m: 8, k: 8, n: 8, groups: 2, tile: [512, 1024]"),
              "s.yaml:4:63: program.stages.tile: the list has 2 entries; write rows, inner "
              "dimension and columns, as in [512, 1024, 1024]\n");
    EXPECT_EQ(error_of("m: 8, k: 8, n: 8, groups: 2", "  pieces: 4\n"),
              "s.yaml:5:12: program.stages.do: a kernel does not go with pieces; write pieces: "
              "1\n");
}

}  // namespace
}  // namespace podsim::scenarios
