// Evaluation steps: the forward pass and the loss alone.
#include <gtest/gtest.h>

#include "tests/workloads/step_program_support.h"
#include "workloads/analytic/step_flops.h"
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

// The operations of a training step up to the loss, whatever the remat, and nothing after them.
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

// Nothing is saved: the activations of one layer at a time, whatever their number.
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

// 2 FLOPs a parameter and token, and the forward dot products: a third of a training step's.
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

// What other sources count: 6 x parameters; attention halved by the mask or not. Executed FLOPs stay what they are.
TEST(FlopRules, CountAttentionAsTheirSourcesDo) {
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
    EXPECT_DOUBLE_EQ(counted(FlopRule::executed).model.value(), parameters + scores / 2);
    EXPECT_DOUBLE_EQ(counted(FlopRule::full_attention).model.value(), parameters + scores);
    EXPECT_EQ(counted(FlopRule::parameters).hardware, counted(FlopRule::executed).hardware);
}

}  // namespace
}  // namespace podsim::workloads
