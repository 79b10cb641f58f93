// Steps with tensor sharding over both dimensions of weight matrices (2-D weight-stationary):
// folding, accounts, the time of a layer's collectives, scenario files.
#include <gtest/gtest.h>

#include "scenarios/src/scenario/training_step.h"
#include "tests/scenarios/cli/command_fixture.h"
#include "tests/scenarios/simulate/step_support.h"
#include "workloads/plan/validate_plan.h"

namespace podsim::scenarios {
namespace {

using samples::make_scenario;
using samples::small_model;
using TensorTransposeFile = CommandTest;

struct WeightStationary {
    std::vector<std::pair<std::string, std::string>> mesh;
    workloads::RematPolicy remat = workloads::RematPolicy::block;
    bool parallel = false;
    int zero = 0;
    workloads::PipelineSchedule schedule = workloads::PipelineSchedule::one_f_one_b;
};

// With 16 tensor shards the four heads of keys and values are split by columns, which both
// axes gather.
TEST(TensorTransposeStep, FoldedEqualsUnfoldedAndAccountsAddUp) {
    using workloads::RematPolicy;
    const std::vector<WeightStationary> cases{
        {{{"tensor", "x"}, {"tensor_transpose", "y"}, {"fsdp", "z"}}},
        {{{"tensor", "x%2"}, {"tensor_transpose", "y"}, {"fsdp", "x/2"}, {"context", "z"}},
         RematPolicy::none},
        {{{"tensor", "x"}, {"tensor_transpose", "y/2"}, {"fsdp", "y%2"}, {"data", "z"}},
         RematPolicy::matmuls,
         true,
         2},
        {{{"tensor", "x%2"}, {"tensor_transpose", "x/2 y"}, {"fsdp", "z"}}, RematPolicy::none},
        {{{"tensor", "x"}, {"tensor_transpose", "y%2"}, {"data", "y/2"}, {"pipeline", "z"}},
         RematPolicy::matmuls,
         false,
         1,
         workloads::PipelineSchedule::zero_bubble}};
    for (std::size_t i = 0; i < cases.size(); ++i) {
        SCOPED_TRACE(i);
        workloads::ModelSpec model = small_model(4);
        model.heads = 16;
        model.parallel_block = cases[i].parallel;
        Scenario scenario = make_scenario("v5p", {4, 4, 4}, model, cases[i].mesh, 16, 512);
        workloads::TrainingPlan& plan = scenario.step().plan;
        plan.remat.policy = cases[i].remat;
        plan.zero = cases[i].zero;
        plan.ways.pipeline = scenario.step().mesh.size("pipeline");
        plan.pipeline.schedule = cases[i].schedule;
        plan.batch.microbatches = plan.ways.pipeline;
        workloads::validate(plan, model);
        EXPECT_LT(samples::expect_folded_equals_unfolded(scenario).simulated_chips, 64);
    }
}

// Two matmuls (D = 4096, F = 16384) of 8192 tokens over X = 4 and Y = 4, without math and latency.
// Every collective takes V (n - 1) / n / W on its ring; their sum is
//   (4 B D / X + (4 B F + 2 B (Q + O)) / Y) (3 / 4) / 180e9,  Q = 48, O = 16
// The sums of a norm, an AllReduce of 4 B / Y bytes, add 1e-4 of that.
TEST(TensorTransposeStep, TimeOfALayerIsThatOfItsBytes) {
    workloads::ModelSpec model = samples::two_matmuls(8, 16384);
    model.d_model = 4096;
    model.norms = 1;
    Scenario scenario =
        make_scenario("v5p", {4, 4, 4}, model,
                      {{"tensor", "x"}, {"tensor_transpose", "y"}, {"data", "z"}}, 4 * 512, 16);
    topology::ChipSpec& chip = scenario.hardware.chip;
    chip.bf16_flops.value = sim::FlopsPerSecond::infinity();
    samples::leave_math_alone(chip);
    chip.ici_latency.value = sim::Seconds(0);
    const StepResult result = simulate_step(scenario, Fold::automatic, {.explain = false});
    const double two_layers = samples::start_of(result, "layer 5 forward qkv") -
                              samples::start_of(result, "layer 3 forward qkv");
    const double tokens = 8192;
    const double bytes = 4 * tokens * 4096 / 4 + (4 * tokens * 16384 + 2 * tokens * (48 + 16)) / 4;
    EXPECT_NEAR(two_layers / 2 / (bytes * 0.75 / 180e9), 1, 2e-3);
}

TEST_F(TensorTransposeFile, RunsAndSaysWhatIsWrong) {
    const std::string mesh = "mesh: {fsdp: x y z}";
    const Outcome run = podsim(
        {"run",
         write(good_but(mesh, "mesh: {fsdp: z, tensor: x, tensor_transpose: y%2, data: y/2}")),
         "--show", "breakdown"});
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_NE(run.out.find("tensor_transpose y%2 (2)"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("ReduceScatter over tensor_transpose (tensor)"), std::string::npos);
    expect_refused(
        good_but(mesh,
                 "mesh: {fsdp: z, tensor: x, tensor_transpose: y}\noverlap: {tensor: two-way}"),
        "s.yaml:4:46: tensor_transpose = 4 with overlapped tensor collectives: ring steps between "
        "parts of a matmul are there for matrices split over one axis alone; write "
        "overlap.tensor: blocking, or use the axis as tensor");
    expect_refused(good_but(mesh, "mesh: {fsdp: x y, tensor_transpose: z}"),
                   "s.yaml:4:37: tensor_transpose = 4 without tensor: it splits weight matrices "
                   "over d_model beside tensor, which splits their other dimension; add the axis "
                   "tensor, or use this one as tensor");
    expect_refused(good_but(mesh,
                            "mesh: {fsdp: z, tensor: x, tensor_transpose: y}\n"
                            "expect: {most_tensor_ways: {within: 1 %, of: 5}}"),
                   "s.yaml:5:28: expect.most_tensor_ways: the text has no such formula for tensor "
                   "parallelism over "
                   "d_model too; leave out mesh.tensor_transpose");
}

}  // namespace
}  // namespace podsim::scenarios
