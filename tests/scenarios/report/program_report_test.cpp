// Reports of a program with a result written by hand: values, JSON, text.
#include "scenarios/src/report/program_report.h"

#include <gtest/gtest.h>

#include "scenarios/src/report/quantities.h"
#include "scenarios/src/scenario/load.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/report/hand_made.h"

namespace podsim::scenarios {
namespace {

using samples::kMs;
using ProgramReport = CommandTest;

ProgramResult hand_made_program() {
    ProgramResult result;
    result.time = {9 * kMs};
    result.stages = {{"load", "pcie", {0}, {4 * kMs}, sim::Seconds(0.003)},
                     {"multiply", "mxu", {2 * kMs}, {9 * kMs}, sim::Seconds(0.006)}};
    result.limiting = 1;
    result.lower = sim::Seconds(0.006);
    result.serial = sim::Seconds(0.0095);
    result.gap = {{"before multiply", {2 * kMs}}, {"after multiply", {kMs}}};
    result.links = {{"pcie", 0.25, sim::Bytes(7), 0.5, sim::Bytes(8)}};
    result.events = 77;
    result.simulated_chips = 2;
    return result;
}

TEST_F(ProgramReport, ValuesAreReadOffTheirFields) {
    const Scenario scenario =
        load_scenario(write("hardware: {chip: v5p, slice: 4x4x4}\n"
                            "program: {stages: [{do: host-to-chip, bytes: 1 GB}]}\n"));
    ProgramResult result = hand_made_program();
    const auto value = [&](std::string_view name) { return value_of(name, scenario, result); };
    EXPECT_EQ(value("step_time"), Value(0.009));
    EXPECT_EQ(value("bound"), Value(std::string("multiply")));
    EXPECT_EQ(value("book"), Value());
    EXPECT_EQ(value("roofline_lower"), Value(0.006));
    EXPECT_EQ(value("roofline_serial"), Value(0.0095));
    EXPECT_EQ(value("chips"), Value(std::int64_t{64}));
    EXPECT_EQ(value("simulated_chips"), Value(std::int64_t{2}));
    EXPECT_EQ(value("events"), Value(std::int64_t{77}));
    EXPECT_EQ(value("mfu"), Value());
    const Json json = program_json(scenario, result, {}, WallTime{0.5, 0});
    EXPECT_EQ(json["step_time_s"], 0.009);
    EXPECT_EQ(json["bound"], "multiply");
    EXPECT_TRUE(json["analytic"]["book_s"].is_null());
    EXPECT_EQ(json["analytic"]["roofline_lower_s"], 0.006);
    EXPECT_EQ(json["gap_s"]["before multiply"], 0.002);
    EXPECT_EQ(json["stages"][0]["ended_s"], 0.004);
    EXPECT_EQ(json["stages"][1]["began_s"], 0.002);
    EXPECT_EQ(json["stages"][1]["bound_s"], 0.006);
    EXPECT_FALSE(json["stages"][1].contains("gather_bound_s"));
    EXPECT_EQ(json["links"]["pcie"]["busy_fraction"], 0.25);
    EXPECT_EQ(json["links"]["pcie"]["bytes"], 7);
    EXPECT_EQ(json["links"]["pcie"]["busiest_busy_fraction"], 0.5);
    EXPECT_EQ(json["links"]["pcie"]["busiest_bytes"], 8);
    EXPECT_EQ(json["events"], 77);
    EXPECT_EQ(json["wall_time_s"], 0.5);
    EXPECT_FALSE(program_json(scenario, result, {}).contains("wall_time_s"));
    result.book = sim::Seconds(0.007);
    EXPECT_EQ(value("book"), Value(0.007));
    EXPECT_EQ(program_json(scenario, result, {})["analytic"]["book_s"], 0.007);
}

TEST_F(ProgramReport, AddsUp) {
    const Scenario scenario =
        load_scenario(write("name: p\nhardware: {\n    chip:\n        v5p, slice : 4x4x4}\n"
                            "program: {pieces: 2, stages: [{do: host-to-chip, bytes: 1 GB}]}\n"));
    ProgramResult result = hand_made_program();
    result.stages[1].gather_bound = sim::Seconds(0.006);
    result.stages[1].matmul_bound = sim::Seconds(0.002);
    EXPECT_EQ(
        program_report(scenario, result, {}, {.simulated_s = 0.25}),
        "p\n"
        "  slice    v5p 4x4x4, 64 chips, x y z wrapped\n"
        "  program                 1 stage in 2 pieces\n"
        "\n"
        "Time 9.000 ms\n"
        "  bound by multiply: its bytes and FLOPs alone take 6.000 ms\n"
        "\n"
        "Stage       on     from ms     to ms     bound\n"
        "  load      pcie  0.000000  4.000000  3.000 ms\n"
        "  multiply  mxu   2.000000  9.000000  6.000 ms\n"
        "\n"
        "multiply is communication-bound: its gather takes 6.000 ms alone, its matmul 2.000 ms\n"
        "\n"
        "Gap: time - largest bound        ms\n"
        "  before multiply          2.000000\n"
        "  after multiply           1.000000\n"
        "  gap                      3.000000\n"
        "\n"
        "Links     busy  bytes a link\n"
        "  pcie  25.0 %       7.000 B\n"
        "\n"
        "simulated 2 of 64 chips (folded), 77 events, 0.250 s wall time\n");
}

}  // namespace
}  // namespace podsim::scenarios
