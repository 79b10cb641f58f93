// The orders in which pipeline stages work, as the papers draw them, and programs of stages.
#include "workloads/plan/pipeline_order.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <string>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using Kind = PipelineUnit::Kind;

TrainingPlan plan_of(PipelineSchedule schedule, int stages, int microbatches, int chunks = 1) {
    TrainingPlan plan;
    plan.pipeline.schedule = schedule;
    plan.ways.pipeline = stages;
    plan.batch.microbatches = microbatches;
    plan.pipeline.chunks = chunks;
    return plan;
}

/// Returns `F0 F1 B0 W0`; with chunks `F0.1` for microbatch 0 of chunk 1.
std::string text_of(const TrainingPlan& plan, int stage) {
    std::string text;
    for (const PipelineUnit& unit : stage_order(plan, stage)) {
        text += text.empty() ? "" : " ";
        text += unit.kind == Kind::forward ? "F" : unit.kind == Kind::backward ? "B" : "W";
        text += std::to_string(unit.microbatch);
        text += plan.pipeline.chunks > 1 ? "." + std::to_string(unit.chunk) : "";
    }
    return text;
}

TEST(StageOrder, IsThatOfThePapers) {
    EXPECT_EQ(text_of(plan_of(PipelineSchedule::gpipe, 4, 3), 1), "F0 F1 F2 B0 B1 B2");
    const TrainingPlan one = plan_of(PipelineSchedule::one_f_one_b, 4, 5);
    EXPECT_EQ(text_of(one, 0), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
    EXPECT_EQ(text_of(one, 3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
    const TrainingPlan split = plan_of(PipelineSchedule::zero_bubble, 3, 4);
    EXPECT_EQ(text_of(split, 0), "F0 F1 F2 B0 W0 F3 B1 W1 B2 W2 B3 W3");
    EXPECT_EQ(text_of(split, 2), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
    const TrainingPlan chunks = plan_of(PipelineSchedule::interleaved, 2, 4, 2);
    EXPECT_EQ(text_of(chunks, 0),
              "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0");
    EXPECT_EQ(text_of(chunks, 1),
              "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0");
    EXPECT_EQ(text_of(plan_of(PipelineSchedule::one_f_one_b, 1, 2), 0), "F0 B0 F1 B1");
}

TEST(StageOrder, BubbleFractions) {
    const auto fraction = [](const TrainingPlan& plan, double f, double b, double w) {
        return bubble_fraction(plan, {sim::Seconds(f), sim::Seconds(b), sim::Seconds(w)});
    };
    EXPECT_DOUBLE_EQ(fraction(plan_of(PipelineSchedule::gpipe, 4, 8), 1, 2, 0), 3.0 / 11);
    EXPECT_DOUBLE_EQ(fraction(plan_of(PipelineSchedule::interleaved, 4, 8, 2), 1, 2, 0), 3.0 / 19);
    const TrainingPlan zero_bubble = plan_of(PipelineSchedule::zero_bubble, 4, 8);
    EXPECT_DOUBLE_EQ(fraction(zero_bubble, 1, 1, 1), 3.0 / 27);
    EXPECT_DOUBLE_EQ(fraction(zero_bubble, 2, 5, 1), 3.0 * 6 / (8 * 8 + 3 * 6));
    EXPECT_DOUBLE_EQ(fraction(zero_bubble, 1, 1, 3), 0);
}

// In random models and plans every message has one sender and one receiver of the same bytes, in
// programs that name each other. The stages together do the work of the step without a pipeline,
// and hold its parameters.
TEST(Stages, TogetherDoTheWholeStep) {
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        SCOPED_TRACE(seed);
        samples::Random random(seed);
        ModelSpec model = samples::random_any_model(random);
        TrainingPlan plan = samples::random_any_plan(random, false, model);
        plan.pipeline.schedule = static_cast<PipelineSchedule>(random.from(0, 3));
        plan.ways.pipeline = random.from(2, 4);
        plan.pipeline.chunks =
            plan.pipeline.schedule == PipelineSchedule::interleaved ? random.from(2, 3) : 1;
        plan.batch.microbatches = plan.ways.pipeline * random.from(1, 3);
        plan.batch.tokens *= plan.batch.microbatches;
        model.layers = std::int64_t{plan.ways.pipeline} * plan.pipeline.chunks * random.from(1, 2);
        model.experts.first_dense = std::min(model.experts.first_dense, model.layers);
        model.experts.every = std::min(model.experts.every, model.layers);
        model.global_every = std::min(model.global_every, model.layers);
        validate(plan, model);
        TrainingPlan whole = plan;
        whole.ways.pipeline = whole.pipeline.chunks = 1;
        whole.pipeline.schedule = PipelineSchedule::one_f_one_b;

        const StepPrograms stages = build_stages(model, plan);
        ASSERT_EQ(stages.programs.size(), static_cast<std::size_t>(plan.ways.pipeline));
        std::map<std::uint32_t, std::pair<std::uint32_t, double>> sent;
        std::set<std::uint32_t> received;
        double flops = 0;
        for (std::uint32_t stage = 0; stage < stages.programs.size(); ++stage) {
            for (const Op& op : stages.programs[stage].ops) {
                if (const auto* one = std::get_if<Handover>(&op.work);
                    one != nullptr && one->sends) {
                    ASSERT_TRUE(sent.try_emplace(one->message, std::pair{stage, one->bytes.value()})
                                    .second);
                } else if (const auto* work = std::get_if<Compute>(&op.work)) {
                    flops += work->flops.value();
                }
            }
        }
        for (std::uint32_t stage = 0; stage < stages.programs.size(); ++stage) {
            for (const Op& op : stages.programs[stage].ops) {
                if (const auto* one = std::get_if<Handover>(&op.work);
                    one != nullptr && !one->sends) {
                    ASSERT_TRUE(received.insert(one->message).second);
                    ASSERT_EQ(sent.at(one->message).first, one->peer);
                    ASSERT_EQ(sent.at(one->message).second, one->bytes.value());
                }
            }
            for (const Buffer& buffer : stages.programs[stage].buffers) {
                for (const OpIndex after : buffer.freed_after) {
                    ASSERT_TRUE(buffer.allocated_at == kWholeStep || after >= buffer.allocated_at);
                }
                ASSERT_TRUE(!buffer.freed_after.empty() ||
                            buffer.memory_class == MemoryClass::parameters ||
                            buffer.memory_class == MemoryClass::optimizer ||
                            buffer.memory_class == MemoryClass::gradients);
            }
        }
        EXPECT_EQ(received.size(), sent.size());
        const std::size_t boundaries =
            static_cast<std::size_t>(plan.ways.pipeline * plan.pipeline.chunks - 1);
        EXPECT_EQ(sent.size(), 2 * boundaries * static_cast<std::size_t>(plan.batch.microbatches) +
                                   (model.tied_embeddings ? 2 : 0));
        double alone = 0;
        for (const Op& op : build_step(model, whole).ops) {
            const auto* work = std::get_if<Compute>(&op.work);
            alone += work == nullptr ? 0 : work->flops.value();
        }
        EXPECT_NEAR(flops, alone, 1e-9 * alone);
    }
}

}  // namespace
}  // namespace podsim::workloads
