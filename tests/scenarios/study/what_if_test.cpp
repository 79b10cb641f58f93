// Ceilings and warnings.
#include "scenarios/src/advise/what_if.h"

#include <gmock/gmock.h>
#include <map>

#include "scenarios/src/base/json_text.h"
#include "scenarios/src/scenario/load.h"
#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/rates.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/bounds/compute_time.h"
#include "workloads/step/step.h"

namespace podsim::scenarios {
namespace {

using ::testing::HasSubstr;

std::map<std::string, std::int64_t> ceilings_of(const Scenario& scenario) {
    const StepResult result = simulate_step(scenario, Fold::automatic);
    std::map<std::string, std::int64_t> times{{"step", result.step_time.ps}};
    for (const Ceiling& ceiling : what_if(scenario, result, Fold::automatic)) {
        times[ceiling.name] = ceiling.step_time.ps;
    }
    return times;
}

std::int64_t share(const std::vector<Share>& shares, const std::string& name) {
    for (const Share& one : shares) {
        if (one.name == name) {
            return one.time.ps;
        }
    }
    return 0;
}

// One chip: an operation takes the largest of its MXU, VPU and HBM times. Without one of these the
// step is the sum of the larger of the others over all operations, and nothing overlaps better.
TEST(WhatIf, OnOneChipOneResourceIsLeft) {
    const Scenario scenario =
        samples::make_scenario("v5e", {1, 1, 1}, samples::small_model(3), {}, 2, 256);
    const auto program = workloads::build_step(scenario.step().model, scenario.step().plan);
    const workloads::MachineRates rates = ideal_rates(scenario.hardware);
    std::int64_t mxu = 0;
    std::int64_t hbm = 0;
    for (const workloads::Op& op : program.ops) {
        const auto time = workloads::compute_time(std::get<workloads::Compute>(op.work), rates);
        mxu += sim::round_up(std::max(time.mxu_padded, time.vpu)).ps;
        hbm += sim::round_up(std::max(time.hbm, time.vpu)).ps;
    }
    const auto times = ceilings_of(scenario);
    EXPECT_EQ(times.at("hbm=inf"), mxu);
    EXPECT_EQ(times.at("mxu=inf"), hbm);
    EXPECT_EQ(times.at("perfect overlap"), times.at("step"));
    EXPECT_EQ(times.at("latency=0"), times.at("step"));
    EXPECT_EQ(times.count("ici=inf"), 0U);
    EXPECT_LT(times.at("no remat"), times.at("step"));
}

// For matmuls of any dtype: if they take no time, the step is the same for all dtypes that move the
// same bytes.
TEST(WhatIf, MatmulsOfEveryDtypeTakeNoTime) {
    Scenario scenario =
        samples::make_scenario("v5e", {1, 1, 1}, samples::small_model(2), {}, 16, 1024);
    scenario.hardware.chip.fp8_flops.value = scenario.hardware.chip.int8_ops.value;
    scenario.step().plan.precision.matmul = workloads::MatmulDtype::int8;
    const auto of_int8 = ceilings_of(scenario);
    scenario.step().plan.precision.matmul = workloads::MatmulDtype::fp8;
    const auto of_fp8 = ceilings_of(scenario);
    EXPECT_EQ(of_fp8, of_int8);
    EXPECT_LT(of_fp8.at("mxu=inf"), of_fp8.at("step"));
}

class WhatIfRun : public CommandTest {};

// Arrays are large and axes unequal (on a cube equal segments tie with weighted ones), so the
// algorithms stay the same. Removing latency saves what the gap says it costs. Links that take no
// time and have no latency leave the compute, if each has the HBM for itself.
TEST_F(WhatIfRun, AgreesWithTheGap) {
    const Scenario scenario = load_scenario(
        write(kGood), std::vector<std::string>{"hardware.profile=ideal", "hardware.hbm=private",
                                               "hardware.slice=4x4x8"});
    const StepResult result = simulate_step(scenario, Fold::automatic);
    auto times = ceilings_of(scenario);
    EXPECT_EQ(times.at("step") - times.at("latency=0"), share(result.gap, "latency"));
    Scenario no_remat = scenario;
    no_remat.step().plan.remat.policy = workloads::RematPolicy::none;
    EXPECT_EQ(times.at("no remat"), simulate_step(no_remat, Fold::automatic).step_time.ps);
    Scenario free = scenario;
    free.hardware.chip.ici_latency.value = sim::Seconds(0);
    EXPECT_EQ(ceilings_of(free).at("ici=inf"), result.compute.ps);
}

// As pairs of name and picoseconds, in the order of the report.
TEST_F(WhatIfRun, IsTheSameOnAnyNumberOfThreads) {
    const Scenario scenario = load_scenario(write(kGood));
    const StepResult result = simulate_step(scenario, Fold::automatic);
    const auto on = [&](int jobs) {
        std::vector<std::pair<std::string, std::int64_t>> list;
        for (const Ceiling& one : what_if(scenario, result, Fold::automatic, {}, jobs)) {
            list.emplace_back(one.name, one.step_time.ps);
        }
        return list;
    };
    const auto alone = on(1);
    EXPECT_EQ(alone.front().first, "ici=inf");
    EXPECT_EQ(alone.back().first, "no remat");
    EXPECT_EQ(alone.size(), 6U);
    for (const auto& [name, ps] : alone) {
        EXPECT_GT(ps, 0) << name;
    }
    EXPECT_EQ(on(2), alone);
    EXPECT_EQ(on(8), alone);
}

TEST_F(WhatIfRun, IsInTheReportAndTheJson) {
    const std::string file = write(kGood);
    EXPECT_THAT(podsim({"run", file, "--what-if"}).out, HasSubstr("Without one cause"));
    EXPECT_THAT(podsim({"run", file}).out, Not(HasSubstr("Without one cause")));
    const Json json = Json::parse(podsim({"run", file, "--what-if", "--json", "-"}).out);
    EXPECT_LT(json["what_if_s"]["ici=inf"], json["step_time_s"]);
    EXPECT_FALSE(json["what_if_s"].contains("dcn=inf"));
}

// Fully sharded over two slices, a step waits for the data-centre network in every layer; data
// parallel it does not.
TEST_F(WhatIfRun, WarnsOfLayersThatExchangeBetweenSlices) {
    const std::string base =
        "hardware: {chip: v5e, slice: 4x4, slices: 2}\n"
        "model: llama-3-8b\n"
        "batch: {tokens: 16Ki, sequence: 512}\n";
    const Outcome warned = podsim({"run", write(base + "mesh: {fsdp: slice x y}\n")});
    EXPECT_EQ(warned.status, 0);
    EXPECT_THAT(warned.err,
                HasSubstr("podsim: warning: fsdp spans slices, so every layer exchanges over the "
                          "data-centre network, which the step waits for "));
    EXPECT_THAT(warned.err, HasSubstr("; keep fsdp within a slice and put data on `slice`\n"));
    EXPECT_EQ(podsim({"run", write(base + "mesh: {data: slice, fsdp: x y}\n")}).err, "");
}

// The weights gathered over two slices of 2x2 are small beside the traffic of 8 layers to the host
// and back. The step waits for PCIe most of its time, and hardly for the data-centre network. Nor
// does it wait for that network if all is kept instead.
TEST_F(WhatIfRun, OffloadsAreNoExchangeBetweenSlices) {
    const std::string file = write(
        "hardware: {chip: v5p, slice: 2x2x1, slices: 2, profile: ideal}\n"
        "model: {layers: 8, d_model: 1024, d_ff: 4096, heads: 8, kv_heads: 8, vocabulary: 4096}\n"
        "batch: {tokens: 256Ki, sequence: 4096}\n"
        "mesh: {fsdp: slice x y}\n"
        "training: {remat: minimal_offloaded}\n");
    const Outcome offloaded = podsim({"run", file, "--json", "-"});
    const Json json = Json::parse(offloaded.out);
    const double step = json["step_time_s"];
    EXPECT_GT(json["critical_path_s"]["PCIe"], step / 2);
    EXPECT_LT(json["critical_path_s"].value("DCN", 0.0), 0.02 * step);
    EXPECT_EQ(offloaded.err, "");
    EXPECT_EQ(podsim({"run", file, "--set", "training.remat=none"}).err, "");
}

// Two stages of one layer each; the second also has the unembedding: 6 V D = 384 D^2 FLOPs a token
// beside the 72 D^2 of a layer's matmuls. The first stage's chip ends last, with the gradient that
// it receives, and is the one reported. But no overlap saves the compute of the second, which
// determines the bound.
TEST_F(WhatIfRun, OverlapIsNoBetterThanTheFullestStage) {
    const Scenario scenario = load_scenario(write(
        "hardware: {chip: v5p, slice: 2x1x1, profile: ideal}\n"
        "model: {layers: 2, d_model: 1024, d_ff: 4096, heads: 8, kv_heads: 8, vocabulary: 65536, "
        "mlp: plain}\n"
        "batch: {tokens: 8192, sequence: 2048}\n"
        "mesh: {pipeline: x}\n"
        "training: {microbatches: 2}\n"));
    const StepResult result = simulate_step(scenario, Fold::automatic);
    ASSERT_EQ(result.reported.stage, 0);
    EXPECT_LT(result.compute, result.fullest_compute);
    EXPECT_EQ(ceilings_of(scenario).at("perfect overlap"), result.fullest_compute.ps);
    EXPECT_GE(result.fullest_compute.seconds(), result.lower.time.value());
}

}  // namespace
}  // namespace podsim::scenarios
