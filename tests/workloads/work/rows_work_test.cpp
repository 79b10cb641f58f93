// Costs of parts of a matmul's rows, also for experts, by hand.
#include "workloads/work/rows_work.h"

#include <gtest/gtest.h>

#include "workloads/models/model.h"
#include "workloads/plan/plan.h"
#include "workloads/work/experts_work.h"

namespace podsim::workloads {
namespace {

// Copies of 6 sequences for 8 experts each.
constexpr double kCopiesMade = 6 * 8192 * 8;
constexpr double kModelColumns = 7168;
constexpr double kExpertColumns = 2048;

TrainingPlan plan_with(ExpertMatmul matmul) {
    TrainingPlan plan;
    plan.batch = {.tokens = 6 * 8192, .sequence = 8192};
    plan.moe.matmul = matmul;
    return plan;
}

double grid_steps_of(const Compute& work) {
    double sum = 0;
    for (const KernelStep& step : work.steps) {
        sum += step.count;
    }
    return sum;
}

// DeepSeek-V3 has 768 tiles of 512 rows and 255 ends of groups inside of them. A quarter of the
// rows has 192 tiles, and as many ends: four parts visit 4 x 447 tiles, the whole 1023.
TEST(RowsWork, APartOfExpertsIsAKernelOfItsOwn) {
    const Shard s = make_shard(find_model("deepseek-v3"), plan_with(ExpertMatmul::sparse));
    const RowsWork up(s, experts_gate_up_forward);
    const Compute part = up.part(0.25);
    EXPECT_EQ(part.flops.value() * 4, up.whole().flops.value());
    EXPECT_DOUBLE_EQ(up.whole().tiled, 1023.0 / 768);
    EXPECT_DOUBLE_EQ(part.tiled, 447.0 / 192);
    EXPECT_DOUBLE_EQ(grid_steps_of(part) / grid_steps_of(up.whole()), 447.0 / 1023);
    // Two products have two tiles of n each; rows and matrices move by visit, results once.
    EXPECT_EQ(part.hbm.value(), 2 * (2 * 447.0 * 512 * kModelColumns * 2 +
                                     2 * 447.0 * kModelColumns * kExpertColumns +
                                     2 * kCopiesMade / 4 * kExpertColumns));
    EXPECT_EQ(up.part(1).hbm, up.whole().hbm);
    EXPECT_EQ(grid_steps_of(up.part(1)), grid_steps_of(up.whole()));
}

// Weights that the matmul quantises are read and quantised once, not in every part; so are rows.
TEST(RowsWork, PartsOfExpertsQuantiseOnce) {
    TrainingPlan plan = plan_with(ExpertMatmul::sparse);
    plan.precision.matmul = MatmulDtype::int8;
    const Shard s = make_shard(find_model("deepseek-v3"), plan);
    ASSERT_FALSE(s.experts.quantised);
    const RowsWork down(s, experts_down_forward);
    EXPECT_DOUBLE_EQ(down.part(0.25).elementwise.value() * 4, down.whole().elementwise.value());
    EXPECT_DOUBLE_EQ(down.part(0.25).vector.value() * 4, down.whole().vector.value());
}

// Experts that no collective gathers are read as stored, in
// 4 bytes: every part reads 256 x 7168 x 2 x 2048 of them.
TEST(RowsWork, PartsReadExpertsAsTheyAreStored) {
    TrainingPlan plan = plan_with(ExpertMatmul::ideal);
    plan.precision.parameters = 4;
    const Shard s = make_shard(find_model("deepseek-v3"), plan);
    const RowsWork up(s, experts_gate_up_forward);
    const double weights = 4 * 256 * kModelColumns * 2 * kExpertColumns;
    EXPECT_EQ(up.whole().hbm.value(),
              weights + 2 * kCopiesMade * (kModelColumns + 2 * kExpertColumns));
    EXPECT_EQ(up.part(0.25).hbm.value(),
              weights + 2 * kCopiesMade / 4 * (kModelColumns + 2 * kExpertColumns));
}

}  // namespace
}  // namespace podsim::workloads
