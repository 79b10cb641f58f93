// Steps under ZeRO, precisions, buckets, limits of collectives in flight and priorities; time of
// the vector unit.
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <string_view>

#include "scenarios/src/scenario/training_step.h"
#include "scenarios/src/simulate/lower_step.h"
#include "scenarios/src/simulate/rates.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"
#include "topology/chips/efficiency.h"
#include "workloads/bounds/compute_time.h"
#include "workloads/bounds/step_flops.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using samples::random_scenario;
using samples::small_model;
using samples::sum;
using workloads::MatmulDtype;

/// Returns a random scenario with random policies.
Scenario random_policies(std::mt19937_64& random) {
    const auto from = [&](int least, int most) {
        return std::uniform_int_distribution<int>(least, most)(random);
    };
    Scenario scenario = random_scenario(random);
    workloads::TrainingPlan& plan = scenario.step().plan;
    const topology::ChipSpec& chip = scenario.hardware.chip;
    plan.attention.vmem = chip.vmem.value / (chip.cores.value * std::pow(2.0, from(0, 6)));
    plan.zero = plan.ways.data > 1 ? from(0, 2) : 0;
    plan.precision.matmul = from(0, 1) == 1 ? MatmulDtype::int8 : MatmulDtype::bf16;
    plan.precision.parameters = from(1, 2) * 2;
    plan.precision.gradients = from(1, 2) * 2;
    plan.precision.optimizer_moment = from(1, 2) * 2;
    plan.overlap.bucket =
        from(0, 1) == 1 ? sim::Bytes(std::pow(10, from(6, 7))) : plan.overlap.bucket;
    plan.overlap.collectives_in_flight = from(0, 3);
    plan.overlap.priority = {0, 1, 2};
    std::ranges::shuffle(plan.overlap.priority, random);
    if (from(0, 3) == 0) {  // a vector unit that is the bound
        scenario.hardware.chip.vpu_flops.value = scenario.hardware.chip.vpu_flops.value / 100;
    }
    return scenario;
}

TEST(Policies, AccountsAddUpAndNothingBeatsTheRoofline) {
    bool bound_by_vpu = false;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937_64 random(seed);
        const StepResult result = simulate_step(random_policies(random), Fold::automatic);
        const auto lower = sim::round_down(result.lower.time).ps;
        EXPECT_GE(result.step_time.ps, lower);
        EXPECT_EQ(sum(result.gap).ps, result.step_time.ps - lower);
        EXPECT_EQ(result.compute + result.exposed_total, result.step_time);
        bound_by_vpu = bound_by_vpu || result.lower.bound == "vpu";
    }
    EXPECT_TRUE(bound_by_vpu);
}

TEST(Policies, FoldedEqualsUnfoldedToThePicosecond) {
    for (const auto& [zero, precision] :
         {std::pair{0, MatmulDtype::bf16}, {1, MatmulDtype::int8}, {2, MatmulDtype::bf16}}) {
        for (const char* const rest : {"fsdp", "tensor"}) {
            Scenario scenario = make_scenario("v5p", {4, 4, 4}, small_model(2),
                                              {{"data", "x y"}, {rest, "z"}}, 64, 512);
            scenario.step().plan.zero = zero;
            scenario.step().plan.precision.matmul = precision;
            scenario.step().plan.overlap.bucket = sim::Bytes(3e6);
            scenario.step().plan.overlap.collectives_in_flight = 1 + zero;
            scenario.step().plan.overlap.priority = {1, 2, 0};
            const StepResult folded = simulate_step(scenario, Fold::automatic);
            const StepResult whole = simulate_step(scenario, Fold::off);
            EXPECT_LT(folded.simulated_chips, whole.simulated_chips);
            EXPECT_EQ(folded.step_time, whole.step_time) << rest << zero;
            EXPECT_EQ(folded.memory.peak, whole.memory.peak);
        }
    }
}

/// With one collective in flight no two of them overlap.
TEST(Policies, SerialisedCollectivesNeverOverlap) {
    Scenario scenario = make_scenario("v5p", {4, 4, 4}, small_model(4),
                                      {{"fsdp", "x y"}, {"tensor", "z"}}, 64, 512);
    const auto overlaps = [&] {
        const StepResult result = simulate_step(scenario, Fold::automatic);
        int count = 0;
        sim::Time free;
        for (const Span& span : spans_of(result.reported_chip)) {
            if (span.track != "compute") {
                count += span.start < free ? 1 : 0;
                free = std::max(free, span.end);
            }
        }
        return count;
    };
    EXPECT_GT(overlaps(), 0);
    scenario.step().plan.overlap.collectives_in_flight = 1;
    EXPECT_EQ(overlaps(), 0);
}

// At twice the rate no projection takes longer in int8, and MFU counts against that rate.
TEST(Policies, Int8RunsAtItsRate) {
    Scenario scenario = make_scenario("v5p", {4, 4, 4}, workloads::find_model("llama-3-8b"),
                                      {{"fsdp", "x y z"}}, 256, 4096);
    const StepResult plain = simulate_step(scenario, Fold::automatic);
    scenario.step().plan.precision.matmul = MatmulDtype::int8;
    const StepResult quantised = simulate_step(scenario, Fold::automatic);
    EXPECT_LT(quantised.step_time, plain.step_time);
    EXPECT_GT(2 * quantised.step_time.ps, plain.step_time.ps);
    EXPECT_NEAR(quantised.mfu * quantised.step_time.seconds() * 2,
                plain.mfu * plain.step_time.seconds(), 1e-12);
}

// The array processes 8 bits like bf16 there: no matmul is faster, MFU counts against the same
// rate, and gathered weights have half the bytes. For int8 the rate doubles.
TEST(Policies, Fp8RunsAtTheRateOfBf16WithHalfTheBytes) {
    for (const char* const chip : {"v5p", "v5e", "v6e"}) {
        SCOPED_TRACE(chip);
        const bool cube = std::string_view(chip) == "v5p";
        Scenario scenario =
            make_scenario(chip, cube ? topology::Point{4, 4, 4} : topology::Point{8, 8, 1},
                          small_model(2), {{"fsdp", cube ? "x y z" : "x y"}}, 64, 512);
        scenario.hardware.efficiency = *topology::measured_efficiency(chip);
        scenario.step().plan.precision.scaling = workloads::Scaling::fixed;
        const StepOptions options{.explain = false, .keep_trail = true};
        const StepResult plain = simulate_step(scenario, Fold::automatic, options);
        scenario.step().plan.precision.matmul = MatmulDtype::fp8;
        const StepResult narrow = simulate_step(scenario, Fold::automatic, options);
        EXPECT_NEAR(narrow.mfu * narrow.step_time.seconds(), plain.mfu * plain.step_time.seconds(),
                    1e-9);
        const workloads::MachineRates rates = achieved_rates(AchievedHardware(scenario.hardware));
        workloads::Compute work;
        work.flops = sim::Flops(2.0 * 4096 * 4096 * 4096);
        work.matmuls = {{4096, 4096, 4096}};
        const sim::Seconds wide = compute_time(work, rates).mxu_reached;
        work.dtype = MatmulDtype::fp8;
        EXPECT_EQ(compute_time(work, rates).mxu_reached, wide);
        const auto gathered = [](const StepResult& result) {
            double bytes = 0;
            for (const workloads::CollectiveBytes& row :
                 collective_bytes(result.trail->programs.programs.at(0))) {
                bytes += row.layer == 0 && row.purpose == workloads::Purpose::weights
                             ? row.bytes.value()
                             : 0;
            }
            return bytes;
        };
        EXPECT_GT(gathered(narrow), 0);
        EXPECT_EQ(2 * gathered(narrow), gathered(plain));
    }
}

class PolicyInput : public CommandTest {};

TEST_F(PolicyInput, BadValues) {
    expect_refused(good_but("v5p", "v4p") + "training: {precision: fp8}\n",
                   "s.yaml:5:23: training.precision: v4p has no fp8 matmuls; allowed: bf16, int8");
    expect_refused(
        good_but("v5p", "tpu7x") + "training: {precision: int8}\n",
        "s.yaml:5:23: training.precision: tpu7x has no int8 matmuls; allowed: bf16, fp8");
    expect_refused(good_but("chip: v5p, slice: 4x4x4", "chip: v2, slice: 8x8") +
                       "training: {precision: int8}\n",
                   "s.yaml:5:23: training.precision: v2 has no int8 matmuls; allowed: bf16");
    expect_refused(std::string(kGood) + "training: {zero: 3}\n",
                   "s.yaml:5:18: training.zero: ZeRO-3 is the mesh axis fsdp; write its ways as "
                   "mesh.fsdp");
    expect_refused(std::string(kGood) + "training: {zero: 1}\n",
                   "s.yaml:5:18: zero = 1 shards over data, but data = 1; leave it out; fsdp is "
                   "ZeRO-3 already");
    expect_refused(
        std::string(kGood) + "overlap: {bucket: 1 kB}\n",
        "s.yaml:5:19: overlap.bucket: '1 kB' is below 1 MB; write a size such as 100 MB");
    expect_refused(std::string(kGood) + "overlap: {priority: [tensor, tensor, weights]}\n",
                   "s.yaml:5:30: overlap.priority: 'tensor' stands twice; write each of tensor, "
                   "weights, gradients once");
    expect_refused(std::string(kGood) + "overlap: {priority: [tensor, weights]}\n",
                   "s.yaml:5:21: overlap.priority: 2 of 3 classes; write each of tensor, weights, "
                   "gradients once");
    expect_refused(good_but("chip: v5p", "chip: {base: v5p, vmem: 1 kB}"),
                   "s.yaml:1:36: hardware.chip.vmem: '1 kB' is below 1 MiB; write a size such as "
                   "128 MiB");
}

}  // namespace
}  // namespace podsim::scenarios
