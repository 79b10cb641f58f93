// Every setting of a plan at the ends of its range, and other refusals of validate.
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/axes.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_plan.h"

namespace podsim::workloads {
namespace {

using samples::message_of;
using samples::one_chip;
using samples::one_layer;

struct Range {
    std::string setting;
    std::function<void(TrainingPlan&, std::int64_t)> set;
    std::int64_t least = 1;
    std::int64_t most = 1 << 20;
};

std::vector<Range> ranges() {
    std::vector<Range> all{
        {"tokens", [](auto& p, auto n) { p.batch.tokens = n; }, 1, std::int64_t{1} << 40},
        {"sequence", [](auto& p, auto n) { p.batch.sequence = n; }, 1, std::int64_t{1} << 40},
        {"microbatches", [](auto& p, auto n) { p.batch.microbatches = static_cast<int>(n); }},
        {"chunks", [](auto& p, auto n) { p.pipeline.chunks = static_cast<int>(n); }},
        {"reductions_in_flight",
         [](auto& p, auto n) { p.overlap.reductions_in_flight = static_cast<int>(n); }},
        {"zero", [](auto& p, auto n) { p.zero = static_cast<int>(n); }, 0, 2},
        {"collectives_in_flight",
         [](auto& p, auto n) { p.overlap.collectives_in_flight = static_cast<int>(n); }, 0},
        {"fetch_layers", [](auto& p, auto n) { p.overlap.fetch_layers = static_cast<int>(n); }, 0},
        {"prefetch_layers",
         [](auto& p, auto n) { p.overlap.prefetch_layers = static_cast<double>(n); }, 0}};
    for (const PlanAxis& row : kPlanAxes) {
        all.push_back({std::string(row.name),
                       [&row](auto& p, auto n) { p.ways.*row.ways = static_cast<int>(n); }});
    }
    return all;
}

/// Returns the refusal of a plan with the setting at `value`; empty if it is legal.
std::string said(const Range& range, std::int64_t value) {
    TrainingPlan plan = one_chip();
    range.set(plan, value);
    try {
        validate(plan, one_layer());
    } catch (const sim::InputError& error) {
        return error.what();
    }
    return "";
}

TEST(PlanRanges, EndWhereTheyAreSaidTo) {
    for (const Range& range : ranges()) {
        SCOPED_TRACE(range.setting);
        for (const std::int64_t outside : {range.least - 1, range.most + 1}) {
            // A number of layers is printed with {:g}.
            const std::string value = range.setting == "prefetch_layers"
                                          ? fmt::format("{:g}", static_cast<double>(outside))
                                          : fmt::format("{}", outside);
            EXPECT_EQ(said(range, outside),
                      fmt::format("{} = {} is out of range; allowed are {} to {}", range.setting,
                                  value, range.least, range.most));
        }
        EXPECT_EQ(said(range, range.least).find("out of range"), std::string::npos);
        EXPECT_EQ(said(range, range.most).find("out of range"), std::string::npos);
    }
}

TEST(PlanRanges, WidthsOfElements) {
    const auto widths = {&Precision::compute, &Precision::parameters, &Precision::gradients,
                         &Precision::optimizer_moment};
    const std::vector<std::string> names{"compute", "parameters", "gradients", "optimizer_moment"};
    std::size_t i = 0;
    for (double Precision::*width : widths) {
        const std::string& name = names[i++];
        TrainingPlan plan = one_chip();
        plan.precision.*width = 16;
        EXPECT_NO_THROW(validate(plan, one_layer()));
        plan.precision.*width = 0;
        EXPECT_EQ(
            message_of([&] { validate(plan, one_layer()); }),
            "precision: 0 B for one element of " + name + "; allowed are more than 0 up to 16 B");
        plan.precision.*width = 17;
        EXPECT_EQ(
            message_of([&] { validate(plan, one_layer()); }),
            "precision: 17 B for one element of " + name + "; allowed are more than 0 up to 16 B");
    }
}

TEST(PlanRanges, LoadsOfExpertsEndAt1024) {
    ModelSpec model = one_layer();
    model.experts = {.count = 4, .per_token = 1, .d_ff = 8};
    TrainingPlan plan = one_chip();
    plan.ways.expert = 2;
    plan.experts.capacity_factor = 1024;
    EXPECT_NO_THROW(validate(plan, model));
    plan.experts.capacity_factor = 1025;
    EXPECT_EQ(message_of([&] { validate(plan, model); }),
              "capacity_factor = 1025 is out of range; allowed are 1 to 1024");
    plan.experts.capacity_factor = 1;
    plan.experts.imbalance = 0.5;
    EXPECT_EQ(message_of([&] { validate(plan, model); }),
              "expert_imbalance = 0.5 is out of range; allowed are 1 to 1024");
    plan.experts.imbalance = 1;
    plan.experts.loads = {1.5, 0.25, 0.25};
    EXPECT_EQ(message_of([&] { validate(plan, model); }),
              "expert_imbalance has 3 shares, but expert = 2; write one for each rank of the axis "
              "expert");
    plan.experts.loads = {1.5, 0.5};
    EXPECT_NO_THROW(validate(plan, model));
    plan.experts.capacity_factor = 1.5;
    EXPECT_EQ(message_of([&] { validate(plan, model); }),
              "capacity_factor beside expert_imbalance; experts are either padded to a capacity or "
              "take what comes: keep one");
}

TEST(PlanRanges, MicrobatchesNeedASequenceOnEveryShard) {
    TrainingPlan plan = one_chip();
    plan.ways.data = 2;
    plan.ways.fsdp = 3;
    plan.batch.tokens = 32 * 12;
    plan.batch.microbatches = 2;
    EXPECT_NO_THROW(validate(plan, one_layer()));
    plan.batch.microbatches = 3;
    EXPECT_EQ(message_of([&] { validate(plan, one_layer()); }),
              "microbatches = 3, but 12 sequences on data x fsdp x expert = 6 shards make at most "
              "2; use fewer microbatches or more tokens");
    // If sequences are fewer than shards they are padded, in one microbatch.
    plan.batch.tokens = 32 * 4;
    EXPECT_EQ(message_of([&] { validate(plan, one_layer()); }),
              "microbatches = 3, but 4 sequences on data x fsdp x expert = 6 shards make at most "
              "1; use fewer microbatches or more tokens");
    plan.batch.microbatches = 1;
    EXPECT_NO_THROW(validate(plan, one_layer()));
}

TEST(PlanRanges, PartsOfALayerArePrefetchedWhereWeightsComeInParts) {
    TrainingPlan plan = one_chip();
    plan.overlap.prefetch_layers = 1.5;
    EXPECT_EQ(message_of([&] { validate(plan, one_layer()); }),
              "prefetch_layers = 1.5 of weights that are gathered by whole layers; write a whole "
              "number, or gather them by block or matmul");
    plan.overlap.weights = WeightGroups::block;
    EXPECT_NO_THROW(validate(plan, one_layer()));
}

TEST(PlanRanges, Pipelines) {
    ModelSpec model = one_layer();
    model.layers = 12;
    TrainingPlan plan = one_chip();
    plan.batch.tokens = 32 * 12;
    const auto said = [&] { return message_of([&] { validate(plan, model); }); };
    plan.pipeline.schedule = PipelineSchedule::gpipe;
    EXPECT_EQ(
        said(),
        "schedule of a pipeline, but the mesh has no axis pipeline; add the axis, as in mesh: "
        "{pipeline: z, fsdp: x y}");
    plan.ways.pipeline = 5;
    EXPECT_EQ(
        said(),
        "pipeline = 5 does not divide the 12 layers of one layer into equal runs; the nearest "
        "that work are 4 and 6");
    plan.ways.pipeline = 4;
    EXPECT_NO_THROW(validate(plan, model));
    plan.pipeline.chunks = 3;
    EXPECT_EQ(said(),
              "chunks = 3 with the chosen schedule; interleaved needs two chunks or more, the "
              "others have one");
    plan.pipeline.schedule = PipelineSchedule::interleaved;
    plan.batch.microbatches = 6;
    EXPECT_EQ(said(),
              "microbatches = 6 is not a multiple of pipeline = 4, which the interleaved schedule "
              "needs; the nearest that work are 4 and 8");
    plan.batch.microbatches = 4;
    EXPECT_NO_THROW(validate(plan, model));
    plan.pipeline.chunks = 2;
    EXPECT_EQ(said(),
              "pipeline x chunks = 8 does not divide the 12 layers of one layer into equal runs; "
              "the nearest that work are 6 and 12");
    plan.pipeline.chunks = 1;
    EXPECT_EQ(said(),
              "chunks = 1 with the interleaved schedule; interleaved needs two chunks or more, the "
              "others have one");
}

TEST(PlanRanges, PlacementNeedsPartsOfCausalSequences) {
    TrainingPlan plan = one_chip();
    plan.attention.placement = Placement::plain;
    EXPECT_EQ(message_of([&] { validate(plan, one_layer()); }),
              "placement of a sequence's parts, but context = 1: it has one part; leave it out, or "
              "add the axis context");
    plan.ways.context = 2;
    EXPECT_NO_THROW(validate(plan, one_layer()));
    plan.attention.causal = false;
    EXPECT_EQ(message_of([&] { validate(plan, one_layer()); }),
              "placement of a sequence's parts with full attention, of which all parts have the "
              "same work; leave it out, or write attention: causal");
}

TEST(PlanRanges, ZeroShardsOverData) {
    TrainingPlan plan = one_chip();
    plan.zero = 1;
    EXPECT_EQ(message_of([&] { validate(plan, one_layer()); }),
              "zero = 1 shards over data, but data = 1; leave it out; fsdp is ZeRO-3 already");
    plan.ways.data = 2;
    EXPECT_NO_THROW(validate(plan, one_layer()));
}

TEST(PlanRanges, TensorTransposeStandsBesideTensor) {
    ModelSpec model = one_layer();
    TrainingPlan plan = one_chip();
    const auto said = [&] { return message_of([&] { validate(plan, model); }); };
    plan.ways.tensor_transpose = 2;
    EXPECT_EQ(said(),
              "tensor_transpose = 2 without tensor: it splits weight matrices over d_model beside "
              "tensor, which splits their other dimension; add the axis tensor, or use this one as "
              "tensor");
    plan.ways.tensor = 2;
    EXPECT_NO_THROW(validate(plan, model));
    plan.ways.tensor_transpose = 3;
    EXPECT_EQ(said(),
              "tensor_transpose = 3 does not divide the width (d_model) 16 of one layer; the "
              "nearest that work are 2 and 4");
    plan.ways.tensor_transpose = 4;
    EXPECT_NO_THROW(validate(plan, model));  // 4 heads are padded to 8
}

}  // namespace
}  // namespace podsim::workloads
