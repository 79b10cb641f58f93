// Errors that name the setting at fault, for callers that know its position.
#include "workloads/models/setting_error.h"

#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "workloads/models/model.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_plan.h"

namespace podsim::workloads {
namespace {

struct Broken {
    std::string setting;
    std::function<void(TrainingPlan&)> change;
};

/// Returns a plan of 64 sequences of 4096 on fsdp parallelism of 8.
TrainingPlan sound_plan() {
    TrainingPlan plan;
    plan.batch.tokens = 64 * 4096;
    plan.batch.sequence = 4096;
    plan.ways.fsdp = 8;
    return plan;
}

std::string setting_of(const TrainingPlan& plan, const ModelSpec& model) {
    try {
        validate(plan, model);
    } catch (const SettingError& error) {
        return error.setting();
    }
    return "none";
}

TEST(SettingError, NamesTheSettingOfThePlan) {
    const std::vector<Broken> broken{
        {"none", [](TrainingPlan&) {}},
        {"batch.tokens", [](TrainingPlan& p) { p.batch.tokens = 0; }},
        {"batch.tokens", [](TrainingPlan& p) { p.batch.tokens += 1; }},
        {"batch.sequence", [](TrainingPlan& p) { p.batch.sequence = 0; }},
        {"batch.sequence", [](TrainingPlan& p) { p.ways.context = 3; }},
        {"batch.sequence",
         [](TrainingPlan& p) {
             p.ways.context = 2;
             p.ways.tensor = 8;
             p.batch.tokens = p.batch.sequence = 4;
         }},
        {"mesh.data", [](TrainingPlan& p) { p.ways.data = 0; }},
        {"mesh.fsdp", [](TrainingPlan& p) { p.ways.fsdp = 0; }},
        {"mesh.context", [](TrainingPlan& p) { p.ways.context = 0; }},
        {"mesh.tensor", [](TrainingPlan& p) { p.ways.tensor = 0; }},
        {"mesh.tensor", [](TrainingPlan& p) { p.ways.tensor = 3; }},
        {"mesh.tensor_transpose", [](TrainingPlan& p) { p.ways.tensor_transpose = 0; }},
        {"mesh.tensor_transpose", [](TrainingPlan& p) { p.ways.tensor_transpose = 2; }},
        {"mesh.expert", [](TrainingPlan& p) { p.ways.expert = 0; }},
        {"mesh.expert", [](TrainingPlan& p) { p.ways.expert = 2; }},
        {"mesh.pipeline", [](TrainingPlan& p) { p.ways.pipeline = 0; }},
        {"mesh.pipeline", [](TrainingPlan& p) { p.ways.pipeline = 5; }},
        {"training.microbatches", [](TrainingPlan& p) { p.batch.microbatches = 0; }},
        {"training.microbatches", [](TrainingPlan& p) { p.batch.microbatches = 64; }},
        {"training.chunks", [](TrainingPlan& p) { p.pipeline.chunks = 0; }},
        {"training.chunks", [](TrainingPlan& p) { p.pipeline.chunks = 2; }},
        {"training.schedule",
         [](TrainingPlan& p) { p.pipeline.schedule = PipelineSchedule::gpipe; }},
        {"training.zero", [](TrainingPlan& p) { p.zero = 3; }},
        {"training.zero", [](TrainingPlan& p) { p.zero = 1; }},
        {"training.capacity_factor", [](TrainingPlan& p) { p.experts.capacity_factor = 0.5; }},
        {"training.capacity_factor", [](TrainingPlan& p) { p.experts.capacity_factor = 2; }},
        {"training.expert_imbalance", [](TrainingPlan& p) { p.experts.imbalance = 2; }},
        {"training.expert_imbalance",
         [](TrainingPlan& p) {
             p.experts.loads = {2, 0};
         }},
        {"training.placement", [](TrainingPlan& p) { p.attention.placement = Placement::plain; }},
        {"training.remat",
         [](TrainingPlan& p) {
             p.remat.names.save.add(LayerTensor::qkv);
             p.remat.names.offload.add(LayerTensor::qkv);
         }},
        {"overlap.prefetch_layers", [](TrainingPlan& p) { p.overlap.prefetch_layers = -1; }},
        {"overlap.prefetch_layers", [](TrainingPlan& p) { p.overlap.prefetch_layers = 0.5; }},
        {"overlap.fetch_layers", [](TrainingPlan& p) { p.overlap.fetch_layers = -1; }},
        {"overlap.reductions_in_flight",
         [](TrainingPlan& p) { p.overlap.reductions_in_flight = 0; }},
        {"overlap.collectives_in_flight",
         [](TrainingPlan& p) { p.overlap.collectives_in_flight = -1; }},
    };
    const ModelSpec model = find_model("llama-3-8b");
    for (std::size_t i = 0; i < broken.size(); ++i) {
        TrainingPlan plan = sound_plan();
        broken[i].change(plan);
        EXPECT_EQ(setting_of(plan, model), broken[i].setting) << i;
    }
}

TEST(SettingError, NamesTheSettingOfTheModel) {
    const auto after = [](const std::function<void(ModelSpec&)>& change) {
        ModelSpec model = find_model("mixtral-8x7b");
        change(model);
        return setting_of(sound_plan(), model);
    };
    EXPECT_EQ(after([](ModelSpec&) {}), "none");
    EXPECT_EQ(after([](ModelSpec& m) { m.heads = 0; }), "model.heads");
    EXPECT_EQ(after([](ModelSpec& m) { m.kv_heads = 5; }), "model.kv_heads");
    EXPECT_EQ(after([](ModelSpec& m) {
                  m.global_every = 2;
                  m.window = 0;
              }),
              "model.global_every");
    EXPECT_EQ(after([](ModelSpec& m) { m.experts.count = 0; }), "model.experts.count");
    EXPECT_EQ(after([](ModelSpec& m) { m.experts.d_ff = 1LL << 40; }), "model.experts.d_ff");
    EXPECT_EQ(after([](ModelSpec& m) { m.experts.shared_d_ff = -1; }), "model.experts.shared_d_ff");
    EXPECT_EQ(after([](ModelSpec& m) { m.chunk = -1; }), "model.chunk");
    EXPECT_EQ(after([](ModelSpec& m) { m.parallel_block = true; }), "model.parallel_block");
    EXPECT_EQ(after([](ModelSpec& m) { m.latent.kv_rank = 512; }), "model.latent.value_dim");
}

// The message is the same as without a setting; the position of an error is added as to any other.
TEST(SettingError, IsBadInputLikeAnyOther) {
    const SettingError error("mesh.tensor", "tensor = 3 does not divide", "take 4");
    EXPECT_STREQ(error.what(), "tensor = 3 does not divide; take 4");
    EXPECT_STREQ(error.at({"s.yaml", 3, 4}).what(),
                 "s.yaml:3:4: tensor = 3 does not divide; take 4");
}

}  // namespace
}  // namespace podsim::workloads
