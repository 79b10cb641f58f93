// Reduction of the gradients of several microbatches: bytes, memory, and sums that are read again.
#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <vector>

#include "tests/workloads/step_program_support.h"
#include "workloads/plan/plan.h"
#include "workloads/program/memory_peak.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::find_op;
using samples::Random;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr GradientReduction kReductionForms[] = {
    GradientReduction::each, GradientReduction::data_once, GradientReduction::once};

// The model has 404 parameters (zero_test.cpp).
ModelSpec summed_model() {
    return {.name = "tiny",
            .source = "this test",
            .layers = 2,
            .d_model = 4,
            .d_ff = 8,
            .heads = 1,
            .kv_heads = 1,
            .head_dim = 4,
            .vocabulary = 16,
            .gated_mlp = false};
}
constexpr double kGradients = 404 * 2;  // bytes

TrainingPlan summed_plan(int microbatches, int data, int fsdp, GradientReduction when) {
    TrainingPlan plan;
    plan.batch.sequence = 8;
    plan.batch.microbatches = microbatches;
    plan.batch.tokens = std::int64_t{8} * data * fsdp * microbatches;
    plan.ways.data = data;
    plan.ways.fsdp = fsdp;
    plan.reduction = when;
    return plan;
}

double reduced_bytes(const StepProgram& program, collectives::Operation operation) {
    double sum = 0;
    for (const Op& op : program.ops) {
        const auto* one = std::get_if<Collective>(&op.work);
        sum += one != nullptr && one->purpose == Purpose::gradients && one->operation == operation
                   ? one->bytes.value()
                   : 0;
    }
    return sum;
}

struct Reduced {
    double scattered;  ///< V of ReduceScatters
    double reduced;    ///< V of AllReduces
    bool operator==(const Reduced&) const = default;
};
Reduced reduced_in(const TrainingPlan& plan) {
    const StepProgram program = build_step(summed_model(), plan);
    return {reduced_bytes(program, collectives::Operation::reduce_scatter),
            reduced_bytes(program, collectives::Operation::all_reduce)};
}

// With P bytes of gradients and m microbatches, data alone moves m P or P. Beside fsdp parallelism
// X it moves m P and m P / X (each), m P and P / X (data_once), P and P / X (once).
TEST(GradientReduction, BytesOfEveryForm) {
    constexpr double kP = kGradients;
    for (const int m : {2, 3, 8}) {
        EXPECT_EQ(reduced_in(summed_plan(m, 4, 1, kReductionForms[0])), (Reduced{0, m * kP}));
        EXPECT_EQ(reduced_in(summed_plan(m, 4, 1, kReductionForms[1])), (Reduced{0, kP}));
        EXPECT_EQ(reduced_in(summed_plan(m, 4, 1, kReductionForms[2])), (Reduced{0, kP}));
        EXPECT_EQ(reduced_in(summed_plan(m, 4, 2, kReductionForms[0])),
                  (Reduced{m * kP, m * kP / 2}));
        EXPECT_EQ(reduced_in(summed_plan(m, 4, 2, kReductionForms[1])), (Reduced{m * kP, kP / 2}));
        EXPECT_EQ(reduced_in(summed_plan(m, 4, 2, kReductionForms[2])), (Reduced{kP, kP / 2}));
        EXPECT_EQ(reduced_in(summed_plan(m, 1, 4, kReductionForms[0])), (Reduced{m * kP, 0}));
        EXPECT_EQ(reduced_in(summed_plan(m, 1, 4, kReductionForms[2])), (Reduced{kP, 0}));
    }
}

// The sum of ZeRO-1 stays whole if every microbatch is reduced;
// ZeRO-2 scatters every one, for any value of the key.
TEST(GradientReduction, BytesOfZero) {
    constexpr double kP = kGradients;
    for (const GradientReduction when : kReductionForms) {
        TrainingPlan plan = summed_plan(4, 4, 1, when);
        plan.zero = 1;
        EXPECT_EQ(reduced_in(plan),
                  when == GradientReduction::each ? (Reduced{0, 4 * kP}) : (Reduced{kP, 0}));
        plan.zero = 2;
        EXPECT_EQ(reduced_in(plan), (Reduced{4 * kP, 0}));
    }
}

// One microbatch is the same for any value of the key, operation by operation.
TEST(GradientReduction, OneMicrobatchIsReducedOnce) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        ModelSpec model;
        TrainingPlan plan = samples::any_plan(random, model);
        plan.batch.tokens /= plan.batch.microbatches;
        plan.batch.microbatches = 1;
        plan.reduction = kReductionForms[0];
        const StepProgram first = build_step(model, plan);
        for (const GradientReduction when : kReductionForms) {
            plan.reduction = when;
            const StepProgram other = build_step(model, plan);
            ASSERT_EQ(samples::names(other), samples::names(first));
            EXPECT_EQ(peak_in_program_order(other).total, peak_in_program_order(first).total);
        }
    }
}

// Over data alone sums take 808 bytes in each form. While the second microbatch's layer is reduced,
// `each` also holds its 136 x 2; the others write into the sums. Beside fsdp of 2 sums take 404
// bytes, or 808 until the last ReduceScatter (once).
TEST(GradientReduction, Memory) {
    const auto held_at = [](const TrainingPlan& plan, const std::string& name) {
        const StepProgram program = build_step(summed_model(), plan);
        const OpIndex at = find_op(program, name);
        double bytes = 0;
        for (const Buffer& buffer : program.buffers) {
            const bool begun = buffer.allocated_at == kWholeStep || buffer.allocated_at <= at;
            const bool ended =
                !buffer.freed_after.empty() && *std::ranges::max_element(buffer.freed_after) < at;
            bytes += buffer.memory_class == MemoryClass::gradients && begun && !ended
                         ? buffer.bytes.value()
                         : 0;
        }
        return bytes;
    };
    const auto all = [&](int fsdp, const std::string& name) {
        std::vector<double> bytes;
        for (const GradientReduction when : kReductionForms) {
            TrainingPlan plan = summed_plan(3, 4, fsdp, when);
            // No other reduction is in flight.
            plan.overlap.layer_loop = true;
            bytes.push_back(held_at(plan, name));
        }
        return bytes;
    };
    const std::string layer = "microbatch 1 layer 0 backward qkv weight gradient";
    EXPECT_THAT(all(1, layer), ElementsAre(808 + 272, 808, 808));
    EXPECT_THAT(all(2, layer), ElementsAre(404 + 272, 404 + 272, 808));
    EXPECT_THAT(all(1, "optimizer update"), ElementsAre(808, 808, 808));
    EXPECT_THAT(all(2, "optimizer update"), ElementsAre(404, 404, 404));
}

// If gradients add up whole, later microbatches read the sums: 2 bytes for each of the 136
// parameters of a layer.
TEST(GradientReduction, WholeSumsAreReadAgain) {
    const auto more = [](const TrainingPlan& plan) {
        const StepProgram program = build_step(summed_model(), plan);
        const auto hbm = [&](const std::string& microbatch) {
            return samples::compute_of(program,
                                       microbatch + " layer 0 backward down weight gradient")
                .hbm.value();
        };
        return hbm("microbatch 1") - hbm("microbatch 0");
    };
    EXPECT_EQ(more(summed_plan(2, 4, 1, kReductionForms[0])), 0);
    EXPECT_EQ(more(summed_plan(2, 4, 1, kReductionForms[1])), 272);
    EXPECT_EQ(more(summed_plan(2, 4, 1, kReductionForms[2])), 272);
    EXPECT_EQ(more(summed_plan(2, 4, 2, kReductionForms[1])), 0);
    EXPECT_EQ(more(summed_plan(2, 4, 2, kReductionForms[2])), 272);
}

// The optimizer waits for the reductions of every microbatch, and a late ReduceScatter for the
// gradients of every microbatch.
TEST(GradientReduction, NothingIsLeftOut) {
    for (const GradientReduction when : kReductionForms) {
        for (const double bucket : {0.0, 100.0, 1000.0}) {
            TrainingPlan plan = summed_plan(3, 2, 2, when);
            if (bucket > 0) {
                plan.overlap.bucket = sim::Bytes(bucket);
            }
            const StepProgram program = build_step(summed_model(), plan);
            const auto before = samples::before_all(program, &Op::after);
            const OpIndex update = find_op(program, "optimizer update");
            std::vector<OpIndex> scatters;
            for (OpIndex op = 0; op < update; ++op) {
                const auto* one = std::get_if<Collective>(&program.ops[op].work);
                if (one == nullptr || one->purpose != Purpose::gradients) {
                    continue;
                }
                EXPECT_TRUE(before[update][op]) << program.ops[op].name;
                if (one->operation == collectives::Operation::reduce_scatter) {
                    scatters.push_back(op);
                }
            }
            if (when != GradientReduction::once || bucket > 0) {
                continue;
            }
            for (const char* const microbatch : {"microbatch 0", "microbatch 1", "microbatch 2"}) {
                const OpIndex written = find_op(
                    program, std::string(microbatch) + " layer 1 backward down weight gradient");
                const OpIndex scatter =
                    find_op(program, "microbatch 2 layer 1 backward reduce-scatter gradients");
                EXPECT_TRUE(before[scatter][written]);
            }
            EXPECT_THAT(samples::names_with(program, "microbatch 1 layer 0 backward reduce"),
                        IsEmpty());
            EXPECT_EQ(scatters.size(), 4U);
        }
    }
}

}  // namespace
}  // namespace podsim::workloads
