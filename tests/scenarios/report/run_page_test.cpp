// The data that a page has beside the JSON, checked against the result itself.
#include "scenarios/src/report/run_page.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "scenarios/src/report/inputs_json.h"
#include "scenarios/src/report/op_text.h"
#include "scenarios/src/report/timeline_json.h"
#include "scenarios/src/scenario/load.h"

namespace podsim::scenarios {
namespace {

constexpr const char* kStep =
    "hardware: {chip: {base: v5p, ici_latency: 2 us}, slice: 4x4x4}\n"
    "model: {base: llama-3-8b, layers: 4}\n"
    "batch: {tokens: 256Ki, sequence: 4096}\n"
    "mesh: {fsdp: x y, pipeline: z%2, tensor: z/2}\n"
    "training: {microbatches: 2}\n";

struct Simulated {
    YamlNode tree = parse_yaml(kStep, "step.yaml");
    Scenario scenario = load_scenario(tree, "step.yaml");
    StepResult result = simulate_step(scenario, Fold::automatic, {.keep_trail = true});
};

const Simulated& simulated() {
    static const Simulated once;
    return once;
}

// The mean over all chips and both directions is the mean of the axis' links.
TEST(TorusJson, has_the_links_of_link_use) {
    const Json torus = torus_json(simulated().scenario, *simulated().result.trail);
    ASSERT_EQ(torus["place_of_chip"].size(), 64U);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        double busy = 0;
        double bytes = 0;
        for (const Json& place : torus["place_of_chip"]) {
            const Json& links = torus["links"][place.get<std::size_t>()];
            for (const std::size_t direction : {2 * axis, 2 * axis + 1}) {
                busy += links["busy"][direction].get<double>() / 128;
                bytes += links["bytes"][direction].get<double>() / 128;
            }
        }
        const LinkUse& use = simulated().result.links[axis];
        EXPECT_GT(use.busy_fraction, 0) << use.name;
        EXPECT_NEAR(busy, use.busy_fraction, 1e-12) << use.name;
        EXPECT_NEAR(bytes, use.bytes.value(), 1e-6 * use.bytes.value()) << use.name;
    }
}

TEST(TorusJson, has_no_link_past_an_open_end) {
    Scenario scenario = load_scenario(
        parse_yaml("hardware: {chip: v5p, slice: 2x2x2}\nmodel: {base: llama-3-8b, layers: 1}\n"
                   "batch: {tokens: 64Ki, sequence: 4096}\nmesh: {fsdp: x y z}\n",
                   "small.yaml"),
        "small.yaml");
    const StepResult result = simulate_step(scenario, Fold::off, {.keep_trail = true});
    const Json torus = torus_json(scenario, *result.trail);
    const Json& first = torus["links"][torus["place_of_chip"][0].get<std::size_t>()]["busy"];
    for (const std::size_t axis : {0U, 1U, 2U}) {
        EXPECT_TRUE(first[2 * axis].is_number());
        EXPECT_TRUE(first[2 * axis + 1].is_null());
    }
}

// All operations of the reported chip except those that only move bytes (the lookup of embeddings):
// the times of both add up to its compute time.
TEST(RooflineJson, has_all_operations_that_work) {
    const StepResult& result = simulated().result;
    const Json roofline = roofline_json(simulated().scenario, result, *result.trail);
    double seconds = 0;
    double flops = 0;
    for (const Json& operation : roofline["operations"]) {
        seconds += operation["count"].get<double>() * operation["time_s"].get<double>();
        flops += operation["count"].get<double>() * operation["flops"].get<double>();
    }
    const StepRun& run = result.trail->run;
    const workloads::StepProgram& program = result.trail->programs.programs[run.program];
    for (std::size_t i = 0; i < program.ops.size(); ++i) {
        if (short_name(program.ops[i]) == "embedding lookup") {
            seconds += (run.reported().ended[i] - run.reported().began[i]).seconds();
        }
    }
    EXPECT_NEAR(seconds, result.compute.seconds(), 1e-9);
    EXPECT_NEAR(flops, roofline["flops"].get<double>(), 1e-9 * flops);
    ASSERT_EQ(roofline["peaks"].size(), 2U);
    EXPECT_EQ(roofline["peaks"][0], (Json{{"name", "MXU bf16"}, {"flops_per_s", 459e12}}));
    // 6 links of 90 GB/s leave a chip of a torus.
    EXPECT_EQ(roofline["rates"][1], (Json{{"name", "ICI"}, {"bytes_per_s", 540e9}}));
}

Timeline timeline_of(std::size_t slices) {
    Timeline timeline;
    timeline.processes.push_back({.process = {.name = "chip", .end = sim::Time{1000}}});
    for (const auto& [kind, name] :
         {std::pair(TrackKind::layers, "Layers"), std::pair(TrackKind::ops, "XLA Ops"),
          std::pair(TrackKind::link, "ICI +x")}) {
        Timeline::FilledTrack track{.track = {kind, name}};
        for (std::size_t i = 0; i < slices; ++i) {
            const sim::Time start{static_cast<std::int64_t>(10 * i + 3)};
            track.slices.push_back(
                {.name = "qkv",
                 .category = "forward",
                 .start = start,
                 .end = start + sim::Time{5},
                 .arguments = {
                     {"layer", std::int64_t{7}}, {"bytes", 2.5}, {"dtype", std::string("bf16")}}});
        }
        timeline.processes.front().tracks.push_back(std::move(track));
    }
    return timeline;
}

// Slices of 5 ps with 5 ps between them, the first at 3 ps.
TEST(TimelineJson, tells_slices_as_columns) {
    std::vector<std::string> lost;
    const Json json = timeline_json(timeline_of(2), 0, 100, lost);
    EXPECT_EQ(json["names"], Json::array({"qkv"}));
    EXPECT_EQ(json["texts"], Json::array({"bytes: 2.5; dtype: bf16"}));
    const Json& track = json["processes"][0]["tracks"][1];
    EXPECT_EQ(track["kind"], "ops");
    EXPECT_EQ(track["gap_ps"], Json::array({3, 5}));
    EXPECT_EQ(track["duration_ps"], Json::array({5, 5}));
    EXPECT_EQ(track["layer_of"], Json::array({7, 7}));
    EXPECT_TRUE(lost.empty());
}

TEST(TimelineJson, leaves_links_out_first_and_says_so) {
    std::vector<std::string> lost;
    const Json json = timeline_json(timeline_of(10), 0, 25, lost);
    ASSERT_EQ(json["processes"][0]["tracks"].size(), 2U);
    EXPECT_EQ(json["processes"][0]["tracks"][1]["name"], "XLA Ops");
    EXPECT_EQ(lost, (std::vector<std::string>{
                        "1 tracks of the timeline are left out to fit; podsim run --trace has "
                        "them."}));
}

/// Returns the row of that name in any group.
Json row_of(const Json& inputs, const std::string& name) {
    for (const Json& group : inputs) {
        for (const Json& row : group["rows"]) {
            if (row["name"] == name) {
                return row;
            }
        }
    }
    return nullptr;
}

TEST(InputsJson, says_where_each_is_from) {
    const Json inputs = inputs_json(simulated().scenario, simulated().tree);
    EXPECT_EQ(row_of(inputs, "batch.tokens")["source"], "the scenario");
    EXPECT_EQ(row_of(inputs, "batch.tokens")["value"], "256Ki");
    const Json remat = row_of(inputs, "training.remat");
    EXPECT_EQ(remat["value"], "full");
    EXPECT_EQ(remat["assumed"], true);
    EXPECT_TRUE(row_of(inputs, "training.microbatches")["assumed"] == false);
    EXPECT_TRUE(row_of(inputs, "inference.weights").is_null());  // a training step has none
    // The scenario changes it, so the catalogue is no longer its source.
    EXPECT_EQ(row_of(inputs, "ici_latency")["source"], "the scenario");
    EXPECT_EQ(row_of(inputs, "pcie_latency")["assumed"], true);
    EXPECT_EQ(row_of(inputs, "hbm_bandwidth")["assumed"], false);
}

TEST(RunPage, begins_with_the_chip_that_is_reported) {
    const Page page = step_page(simulated().scenario, simulated().result, {{"schema", "x"}},
                                simulated().tree, kMostSlicesShown);
    EXPECT_EQ(page.kind, "run");
    EXPECT_EQ(page.result, (Json{{"schema", "x"}}));
    const Json& processes = page.extra["timeline"]["processes"];
    ASSERT_EQ(processes.size(), 2U);
    const std::string stage =
        "stage " + std::to_string(simulated().result.reported.stage) + " of 2";
    EXPECT_NE(processes[0]["name"].get<std::string>().find(stage), std::string::npos)
        << processes[0]["name"];
    EXPECT_TRUE(page.extra["thinned"].empty());
}

}  // namespace
}  // namespace podsim::scenarios
