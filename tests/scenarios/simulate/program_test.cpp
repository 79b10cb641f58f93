// Program scenarios: segmented stages, their exact times, and refusals.
#include <gtest/gtest.h>

#include "scenarios/src/scenario/load.h"
#include "scenarios/src/simulate/simulate.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"

namespace podsim::scenarios {
namespace {

using samples::ceil_ps;
using ProgramFile = CommandTest;

Program offload(int pieces) {
    constexpr double kSide = 131072;
    Program program;
    program.pieces = pieces;
    program.stages.push_back(
        {"load", HostTransfer{collectives::HostDirection::to_chip, sim::Bytes(kSide * kSide)}});
    StageCollective gather;
    gather.operation = collectives::Operation::gather;
    gather.members = {{{0, 1, 4}, {1, 1, 4}}, {}};
    gather.bytes = sim::Bytes(kSide * kSide);
    program.stages.push_back({"gather", gather});
    StageCompute matmul;
    matmul.work.flops = sim::Flops(2 * 8 * kSide * kSide);
    matmul.work.matmuls = {{8, kSide, kSide, 1}};
    matmul.work.hbm = sim::Bytes(kSide * kSide + 2 * (8 * kSide + 8 * kSide));
    matmul.at = topology::Point{0, 0, 0};
    program.stages.push_back({"matmul", matmul});
    return program;
}

IdealHardware v5e() {
    return hardware_from_options({.chip = "v5e", .slice = "4x4"});
}

// The reference text's question 6 of section 2: 66 ms over PCIe, 167 ms over ICI, 21 ms of HBM, in
// total 150 to 200 ms. In 64 segments of 16 MiB a chip:
//   the first segment crosses PCIe in 4 messages of 4 MiB at 15 GB/s and 1 us,
//   the gather brings 15/16 of 16 GiB over the two links of the corner at 45 GB/s: 178.96 ms,
//   the last segment is multiplied: 8 rows take as long as the array's 128, 2 x 128 x 2048 x 131072
//   FLOPs at 197 TFLOP/s, longer than its bytes at 810 GB/s.
TEST(Program, LoadGatherMultiply) {
    const ProgramResult result = simulate_program(v5e(), offload(64), Fold::automatic);
    const std::int64_t first = 4 * ceil_ps(4194304 / 15e9) + 1'000'000;
    const double gather = 15.0 / 16 * 17179869184.0 / 90e9;
    const std::int64_t last = ceil_ps(2.0 * 128 * 2048 * 131072 / 197e12);
    EXPECT_EQ(result.stages[1].began.ps, first);
    EXPECT_EQ(result.time.ps - result.stages[1].ended.ps, last);
    EXPECT_NEAR(result.lower.value(), gather, 1e-12);
    EXPECT_EQ(result.limiting, 1U);
    EXPECT_EQ(result.stages[0].resource, "pcie");
    EXPECT_EQ(result.stages[1].resource, "ici");
    EXPECT_EQ(result.stages[2].resource, "hbm");
    // The gather never waits: its links are busy from its first byte to its last, and one hop
    // is left.
    EXPECT_NEAR((result.stages[1].ended - result.stages[1].began).seconds(), gather + 1e-6, 2e-8);
    EXPECT_GE(result.time.seconds(), 0.150);
    EXPECT_LE(result.time.seconds(), 0.200);
    std::int64_t terms = 0;
    for (const Share& term : result.gap) {
        terms += term.time.ps;
    }
    EXPECT_EQ(result.time.ps - terms, sim::round_down(result.lower).ps);
}

// In one segment the stages follow one another: each takes its time alone.
TEST(Program, OnePieceIsOneStageAfterTheOther) {
    const IdealHardware hardware = v5e();
    const ProgramResult whole = simulate_program(hardware, offload(1), Fold::automatic);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        Program alone;
        alone.stages = {offload(1).stages[i]};
        sum += simulate_program(hardware, alone, Fold::automatic).time.ps;
    }
    EXPECT_EQ(whole.time.ps, sum);
    // 256 messages of 4 MiB over PCIe, one after the other.
    EXPECT_EQ(whole.stages[0].ended.ps, 256 * ceil_ps(4194304 / 15e9) + 1'000'000);
}

// Without a root all chips are alike.
TEST(Program, FoldsWhereAllChipsAreAlike) {
    const IdealHardware hardware = hardware_from_options({.chip = "v5p", .slice = "4x4x4"});
    Program program;
    program.pieces = 3;
    program.stages.push_back(
        {"load", HostTransfer{collectives::HostDirection::to_chip, sim::Bytes(64e6)}});
    StageCollective gather;
    gather.operation = collectives::Operation::all_gather;
    gather.members = {{{0, 1, 4}, {2, 1, 4}}, {}};
    gather.bytes = sim::Bytes(32e6);
    program.stages.push_back({"gather", gather});
    program.stages.push_back(
        {"store", HostTransfer{collectives::HostDirection::to_host, sim::Bytes(128e6)}});
    const ProgramResult folded = simulate_program(hardware, program, Fold::automatic);
    const ProgramResult whole = simulate_program(hardware, program, Fold::off);
    EXPECT_EQ(folded.simulated_chips, 1);
    EXPECT_EQ(whole.simulated_chips, 64);
    EXPECT_EQ(folded.time, whole.time);
    EXPECT_EQ(folded.events * 64, whole.events);
}

// A permute over several axes carries from one to the next, so chips differ: all are simulated,
// also for a slice whose axes wrap.
TEST(Program, PermutesOverSeveralAxesAreNotFolded) {
    const IdealHardware hardware = hardware_from_options({.chip = "v5p", .slice = "4x4x4"});
    for (const int shift : {1, 5, -3}) {
        StageCollective permute;
        permute.operation = collectives::Operation::permute;
        permute.members = {{{0, 1, 4}, {1, 1, 4}, {2, 1, 4}}, {}};
        permute.bytes = sim::Bytes(64e6);
        permute.ends.shift = shift;
        Program program;
        program.stages.push_back({"permute", permute});
        const ProgramResult folded = simulate_program(hardware, program, Fold::automatic);
        const ProgramResult whole = simulate_program(hardware, program, Fold::off);
        EXPECT_EQ(folded.time, whole.time);
        EXPECT_EQ(folded.events, whole.events);
        CollectiveRequest request;
        request.hardware = hardware;
        request.operation = permute.operation;
        request.members = permute.members;
        request.ends = permute.ends;
        request.bytes = permute.bytes;
        EXPECT_EQ(simulate_collective(request, Fold::off).simulated, whole.time);
    }
}

TEST_F(ProgramFile, RunsAndIsHeldToItsExpectation) {
    const std::string text =
        "hardware: {chip: v5e, slice: 4x4, profile: ideal}\n"
        "program:\n"
        "  pieces: 2\n"
        "  stages:\n"
        "    - {do: host-to-chip, bytes: 16 MiB}\n"
        "    - {do: matmul, m: 128, k: 256, n: 128, at: \"0,0\"}\n"
        "expect: {step_time: {of: 1 s, within: 1 %}}\n";
    const Outcome outcome = podsim({"run", write(text), "--json", "-"});
    EXPECT_EQ(outcome.status, 1);
    const auto json = nlohmann::json::parse(outcome.out);
    // Half of 1 MiB per chip crosses in one message, twice; then half of the product follows. Its
    // 2 x 128 x 128 x 128 FLOPs take less than reading 128 x 128 weights and reading and writing
    // half of the rest.
    const double half = 128.0 * 128 * 2 + (128 * 128 + 64 * 128) * 2.0;
    EXPECT_NEAR(json["step_time_s"], 2 * 524288 / 15e9 + 1e-6 + half / 8.1e11, 5e-12);
    EXPECT_EQ(json["bound"], "host-to-chip");
}

TEST_F(ProgramFile, SaysWhatIsWrong) {
    const auto with = [](const std::string& stage) {
        return "hardware: {chip: v5e, slice: 4x4}\nprogram: {stages: [" + stage + "]}\n";
    };
    expect_refused(
        with("{do: gathr, axes: xy}"),
        "s.yaml:2:25: unknown program.stages.do 'gathr'; did you mean 'gather'? allowed: "
        "host-to-chip, chip-to-host, matmul, grouped-matmul, attention, read-hbm, all-gather, "
        "reduce-scatter, "
        "all-reduce, all-to-all, permute, send, broadcast, gather, scatter");
    expect_refused(with("{do: gather, axes: xy, bytes: 1 GB}"),
                   "s.yaml:2:20: missing key 'program.stages.root'; write root: 0,0,0 (of "
                   "broadcast, gather, scatter: the chip)");
    expect_refused(with("{do: all-gather, axes: xy, bytes: 1 GB, m: 3}"),
                   "s.yaml:2:63: program.stages.m: all-gather has no such key; it has axes, bytes, "
                   "algorithm");
    expect_refused(with("{do: gather, axes: z, root: \"0,0\", bytes: 1 GB}"),
                   "s.yaml:2:39: program.stages.axes: the group has a single member; name axes "
                   "longer than 1");
    expect_refused(with("{do: permute, axes: x, shift: 4, bytes: 1 GB}"),
                   "s.yaml:2:50: program.stages.shift: '4' moves nothing in a group of 4; write a "
                   "whole number that is not a multiple of 4");
    expect_refused(with(""),
                   "s.yaml:2:19: program.stages: there is no stage; write at least one, such as - "
                   "{do: host-to-chip, bytes: 1 GB}");
    expect_refused(with("{do: read-hbm, bytes: 1 GB}") + "model: llama-3-8b\n",
                   "s.yaml:3:8: model: a program has no training step; leave it out, or leave out "
                   "program");
    expect_refused(with("{do: read-hbm, bytes: 1 GB}") + "expect: {mfu: {of: 40 %, within: 1 %}}\n",
                   "s.yaml:3:15: expect.mfu: a program has no such quantity; allowed: step_time, "
                   "book, roofline_lower, hosts, cores, peak_flops, memory_of_all, "
                   "arithmetic_intensity, critical_intensity");
}

// Applies to chips that have fp8; the rates are those of durations_test.cpp.
TEST_F(ProgramFile, MultipliesInFp8WhereTheChipDoes) {
    const std::string stage =
        "program: {stages: [{do: matmul, m: 8, k: 256, n: 128, dtype: fp8}]}\n";
    expect_refused("hardware: {chip: v3, slice: 4x4}\n" + stage,
                   "s.yaml:2:62: program.stages.dtype: v3 has no fp8 matmuls; allowed: bf16, int8");
    const std::string file =
        write("hardware: {chip: {base: v3, fp8_flops: 1 PFLOP/s}, slice: 4x4}\n" + stage);
    const Scenario scenario = load_scenario(file);
    const auto& compute = std::get<StageCompute>(scenario.program().stages.front().work);
    EXPECT_EQ(compute.work.dtype, workloads::MatmulDtype::fp8);
}

TEST_F(ProgramFile, TooManyMessagesOfABroadcastAreRefused) {
    const Outcome outcome =
        podsim({"collective", "--chip", "v5e", "--slice", "4x4", "--op", "broadcast", "--axes",
                "xy", "--root", "2,0", "--bytes", "1e15"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(
        outcome.err,
        "--bytes 1e15: 1.000 PB are more than 20 million messages of up to 4.194 MB; 2e+12 are "
        "fewer\n");
}

// An error that only lowering finds in a stage has the stage's position.
TEST_F(ProgramFile, StagesThatCannotBeNameTheirPlace) {
    const std::string start =
        "hardware: {chip: v5p, slice: 4x4x4}\n"
        "program:\n"
        "  stages:\n"
        "    - {do: all-gather, axes: x, bytes: 1 GB}\n";
    const std::string end = "    - {do: all-gather, axes: y, bytes: 1 GB}\n";
    expect_refused(
        start + "    - {do: all-reduce, axes: x, bytes: 1 GB, algorithm: shortest-routes}\n" + end,
        "s.yaml:5:7: algorithm 'shortest-routes' does not carry out all-reduce on this "
        "group; allowed: auto, one-way, two-way, equal-parts, weighted, one-shot");
    expect_refused(start + "    - {do: all-gather, axes: x, bytes: 100000000 PB}\n" + end,
                   "s.yaml:5:7: the array would be cut into more than 20 million messages; use a "
                   "smaller array or a larger message cap");
    // 1e23 bytes, over 64 chips, at 2.8 TB/s: 1e23 / 64 / 2.8e12 = 5.580e8 s.
    expect_refused(start + "    - {do: read-hbm, bytes: 100000000 PB}\n" + end,
                   "s.yaml:5:7: the simulated time exceeds 106 days (2^63 ps); of the stages this "
                   "takes longest: 5.58e+08 s at ideal rates; check its size and the rates");
}

}  // namespace
}  // namespace podsim::scenarios
