// Evaluation steps: only the forward pass and the loss.
#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

TrainingPlan evaluation(RematPolicy remat) {
    TrainingPlan plan;
    plan.batch.tokens = 16 * 512;
    plan.batch.sequence = 512;
    plan.ways.fsdp = 4;
    plan.ways.tensor = 2;
    plan.remat.policy = remat;
    plan.forward_only = true;
    return plan;
}

// An evaluation step has the operations of a training step
// up to the loss, for any remat, and none after them.
TEST(EvaluationStep, IsTheTrainingStepUpToTheLoss) {
    const ModelSpec model = find_model("llama-3-8b");
    TrainingPlan training = evaluation(RematPolicy::none);
    training.forward_only = false;
    std::vector<std::string> expected;
    for (const Op& op : build_step(model, training).ops) {
        if (op.pass == Pass::forward) {
            expected.push_back(op.name);
        }
    }
    for (const RematPolicy remat : {RematPolicy::none, RematPolicy::matmuls, RematPolicy::block}) {
        std::vector<std::string> names;
        for (const Op& op : build_step(model, evaluation(remat)).ops) {
            EXPECT_EQ(op.pass, Pass::forward) << op.name;
            names.push_back(op.name);
        }
        EXPECT_EQ(names, expected);
    }
}

// Nothing is saved: activations are those of one layer at a time, for any number of layers.
TEST(EvaluationStep, KeepsNoActivations) {
    ModelSpec model = find_model("llama-3-8b");
    const auto activations = [&](std::int64_t layers) {
        model.layers = layers;
        return peak_in_program_order(build_step(model, evaluation(RematPolicy::none)))
            .of(MemoryClass::activations)
            .value();
    };
    const double rows = 16.0 * 512 / 4 / 2 * 4096 * 2;
    EXPECT_LE(activations(4), 2 * rows);
    EXPECT_EQ(activations(4), activations(16));
}

// The step takes 2 FLOPs a parameter and token, and the
// forward dot products: a third of a training step's.
TEST(EvaluationStep, CountsAThirdOfTheFlops) {
    const ModelSpec model = find_model("llama-3-8b");
    TrainingPlan plan = evaluation(RematPolicy::block);
    const StepFlops forward =
        step_flops(model, plan, mean_recomputed(model, plan, build_stages(model, plan)));
    plan.forward_only = false;
    const StepFlops train =
        step_flops(model, plan, mean_recomputed(model, plan, build_stages(model, plan)));
    EXPECT_DOUBLE_EQ(forward.model.value() * 3, train.model.value());
    EXPECT_DOUBLE_EQ(forward.hardware.value(), forward.model.value());
}

// Other sources count 6 x all parameters, with attention halved by the
// mask or not. By default the 128256 x 4096 of the embedding's lookup
// do not count, nor 65 norms of 4096. Executed FLOPs do not change.
TEST(FlopRules, CountAsTheirSourcesDo) {
    const ModelSpec model = find_model("llama-3-8b");
    TrainingPlan plan = evaluation(RematPolicy::block);
    plan.forward_only = false;
    const StepPrograms programs = build_stages(model, plan);
    const double tokens = 16 * 512;
    const double parameters = 6 * 8030261248.0 * tokens;
    const double scores = 12.0 * 512 * 32 * 128 * 32 * tokens;  // 12 S N H L
    const auto counted = [&](FlopRule rule) {
        return step_flops(model, plan, mean_recomputed(model, plan, programs), rule);
    };
    EXPECT_DOUBLE_EQ(counted(FlopRule::parameters).model.value(), parameters);
    const double lookup = 6 * (128256.0 + 65) * 4096 * tokens;
    EXPECT_DOUBLE_EQ(counted(FlopRule::executed).model.value(), parameters - lookup + scores / 2);
    EXPECT_DOUBLE_EQ(counted(FlopRule::masked_attention).model.value(), parameters + scores / 2);
    EXPECT_DOUBLE_EQ(counted(FlopRule::full_attention).model.value(), parameters + scores);
    for (const FlopRule rule :
         {FlopRule::parameters, FlopRule::masked_attention, FlopRule::full_attention}) {
        EXPECT_EQ(counted(rule).hardware, counted(FlopRule::executed).hardware);
    }
}

// In Gemma 2 9B every other of 42 layers sees 4096 keys, with 16 heads
// of 256. All scores of 8192 tokens are 12 S N H L; the mask leaves half
// of a global layer's, and S W - W^2 / 2 = 3/8 of S^2 of a local one's.
TEST(FlopRules, CountAllScoresWhateverTheWindow) {
    const ModelSpec model = find_model("gemma-2-9b");
    TrainingPlan plan = evaluation(RematPolicy::none);
    plan.forward_only = false;
    plan.batch.sequence = 8192;
    plan.batch.tokens = 8 * 8192;
    const double scores = 12.0 * 8192 * 16 * 256 * 42 * 8 * 8192;
    const auto counted = [&](FlopRule rule) {
        return step_flops(model, plan, sim::Flops(0), rule).model.value();
    };
    const double parameters = counted(FlopRule::parameters);
    EXPECT_DOUBLE_EQ(counted(FlopRule::full_attention), parameters + scores);
    EXPECT_DOUBLE_EQ(counted(FlopRule::masked_attention), parameters + scores * 7 / 16);
}

// Without embedding and loss there are 32 layers of 218103808 in matmuls and 2 norms of 4096.
TEST(FlopRules, CountTheLayersAlone) {
    const ModelSpec model = find_model("llama-3-8b");
    TrainingPlan plan = evaluation(RematPolicy::none);
    plan.forward_only = false;
    plan.layers_only = true;
    const double tokens = 16 * 512;
    const double matmul = 6 * 32 * 218103808.0 * tokens;
    const double norms = 6 * 32 * 2 * 4096.0 * tokens;
    const double scores = 12.0 * 512 * 32 * 128 * 32 * tokens;
    const auto counted = [&](FlopRule rule) {
        return step_flops(model, plan, sim::Flops(0), rule).model.value();
    };
    EXPECT_DOUBLE_EQ(counted(FlopRule::executed), matmul + scores / 2);
    EXPECT_DOUBLE_EQ(counted(FlopRule::parameters), matmul + norms);
    EXPECT_DOUBLE_EQ(counted(FlopRule::masked_attention), matmul + norms + scores / 2);
    EXPECT_DOUBLE_EQ(counted(FlopRule::full_attention), matmul + norms + scores);
}

}  // namespace
}  // namespace podsim::workloads
