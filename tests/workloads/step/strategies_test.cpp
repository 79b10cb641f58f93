// Bytes of a layer under every strategy, as in the reference text's table `strategies`: In[B, D] x
// W_in[D, F] x W_out[F, D] in bf16, the sum of V over collectives, an AllReduce twice. Forms that
// the table lacks have their own closed form.
//
// The layer is a parallel block with a plain MLP. Its attention shares the row collectives. Its
// projections and the norm are A further parameters, which a strategy moves as it moves the 2 D F
// of the two matmuls: 8 D F reads 4 (2 D F + A) here.
#include <gtest/gtest.h>
#include <utility>

#include "collectives/algorithms/ring_step_schedule.h"
#include "tests/workloads/step_program_support.h"
#include "workloads/bounds/step_flops.h"
#include "workloads/plan/plan.h"
#include "workloads/plan/validate_plan.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::Random;

struct Layer {
    ModelSpec model;
    TrainingPlan plan;
    double b = 0;  ///< B: tokens of the batch
    double d = 0;  ///< D
    double p = 0;  ///< 2 D F + A
    [[nodiscard]] double bd() const { return b * d; }
};

/// Returns a layer with random D, F, B, and heads that divide by every parallelism used here, for a
/// plan of the given token shards.
Layer random_layer(Random& random, const TrainingPlan& plan) {
    Layer layer;
    ModelSpec& model = layer.model;
    model.name = "two matmuls";
    model.layers = random.from(1, 3);
    model.d_model = 8 * random.from(1, 60);
    model.d_ff = 8 * random.from(1, 200);
    model.heads = model.kv_heads = 8;
    model.head_dim = random.from(1, 4);
    model.vocabulary = 64;
    model.gated_mlp = false;
    model.parallel_block = true;
    model.norms = 1;
    layer.plan = plan;
    layer.plan.batch.sequence = 16LL * plan.ways.context * random.from(1, 4);
    const int shards = plan.ways.data * plan.ways.fsdp * plan.ways.expert * plan.batch.microbatches;
    layer.plan.batch.tokens = layer.plan.batch.sequence * shards * random.from(1, 3);
    layer.b = static_cast<double>(layer.plan.batch.tokens);
    layer.d = static_cast<double>(model.d_model);
    const double attention = 4.0 * layer.d * 8 * static_cast<double>(model.head_dim);
    layer.p = 2 * layer.d * static_cast<double>(model.d_ff) + attention + layer.d;
    validate(layer.plan, model);
    return layer;
}

struct LayerBytes {
    double forward = 0;
    double backward = 0;  ///< including recomputation
    double optimizer = 0;
};

LayerBytes bytes_of(const Layer& layer) {
    LayerBytes bytes;
    for (const CollectiveBytes& row : collective_bytes(build_step(layer.model, layer.plan))) {
        if (row.layer == 0) {
            (row.pass == Pass::forward     ? bytes.forward
             : row.pass == Pass::optimizer ? bytes.optimizer
                                           : bytes.backward) += row.bytes.value();
        }
    }
    return bytes;
}

/// Checks `expected(layer, X, Y)` on random layers of plans
/// that `shape` makes of X = 2 to 6 and Y = 2, 4 or 8.
template <class Shape, class Expected>
void expect_bytes(Shape shape, Expected expected) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        const int x = random.from(2, 6);
        const int y = 1 << random.from(1, 3);
        TrainingPlan plan;
        plan.remat.policy = RematPolicy::none;
        shape(plan, x, y);
        const Layer layer = random_layer(random, plan);
        const LayerBytes found = bytes_of(layer);
        const LayerBytes wanted = expected(layer, x, y);
        EXPECT_DOUBLE_EQ(found.forward, wanted.forward);
        EXPECT_DOUBLE_EQ(found.backward, wanted.backward);
        EXPECT_DOUBLE_EQ(found.optimizer, wanted.optimizer);
    }
}

TEST(Strategies, Data) {
    expect_bytes([](TrainingPlan& plan, int x, int) { plan.ways.data = x; },
                 [](const Layer& layer, int, int) {
                     return LayerBytes{0, 4 * layer.p};
                 });
}

// Gradients are scattered, not all-reduced, 2 P, and the updated parameters are gathered, 2 P.
TEST(Strategies, DataWithZero) {
    for (const int zero : {1, 2}) {
        expect_bytes(
            [&](TrainingPlan& plan, int x, int) {
                plan.ways.data = x;
                plan.zero = zero;
            },
            [&](const Layer& layer, int, int) {
                return LayerBytes{0, 2 * layer.p, 2 * layer.p};
            });
    }
}

TEST(Strategies, FullySharded) {
    expect_bytes([](TrainingPlan& plan, int x, int) { plan.ways.fsdp = x; },
                 [](const Layer& layer, int, int) {
                     return LayerBytes{2 * layer.p, 4 * layer.p};
                 });
}

// Tensor moves 4 B D + 4 B D, and a third gather if the forward one is not kept.
TEST(Strategies, Tensor) {
    expect_bytes([](TrainingPlan& plan, int, int y) { plan.ways.tensor = y; },
                 [](const Layer& layer, int, int) {
                     return LayerBytes{4 * layer.bd(), 4 * layer.bd() + 2 * layer.bd()};
                 });
}

// The bytes are (4 B D / X + 4 D F / Y) + (8 B D / X + 8 D F
// / Y): the forward pass runs again, and keeps its gather.
TEST(Strategies, FullyShardedAndTensor) {
    expect_bytes(
        [](TrainingPlan& plan, int x, int y) {
            plan.ways.fsdp = x;
            plan.ways.tensor = y;
            plan.remat.policy = RematPolicy::block;
        },
        [](const Layer& layer, int x, int y) {
            return LayerBytes{4 * layer.bd() / x + 2 * layer.p / y,
                              8 * layer.bd() / x + 4 * layer.p / y};
        });
}

// Ring steps between parts of the matmuls move as many bytes as the blocking form. Every step of a
// gather brings 1/Y of the rows, so that all bring (Y - 1) / Y of V.
TEST(Strategies, OverlappedTensor) {
    for (const bool two_way : {false, true}) {
        const auto shape = [&](TrainingPlan& plan, int, int y) {
            plan.ways.tensor = y;
            topology::Lattice slice;
            slice.lengths = {y, 1, 1};
            slice.wrapped = {true, false, false};
            plan.overlap.tensor_steps = collectives::step_gather(slice, {{0, 1, y}}, two_way);
        };
        expect_bytes(shape, [](const Layer& layer, int, int) {
            return LayerBytes{4 * layer.bd(), 4 * layer.bd() + 2 * layer.bd()};
        });
        Random random(1);
        TrainingPlan plan;
        shape(plan, 1, 4);
        const Layer layer = random_layer(random, plan);
        double received = 0;
        for (const Op& op : build_step(layer.model, layer.plan).ops) {
            const auto* collective = std::get_if<Collective>(&op.work);
            const bool forward = op.layer == 0 && op.pass == Pass::forward;
            if (forward && collective != nullptr && collective->step) {
                received += collective->step->bytes.value();
            }
        }
        EXPECT_DOUBLE_EQ(received, 4 * layer.bd() * 3 / 4);
    }
}

// Keys and values, 2 B (2 K H) a layer, move once forward; backward once more, and so do their
// gradients. Weights are sharded over the ring too.
TEST(Strategies, RingAttention) {
    for (const bool ring : {false, true}) {
        expect_bytes(
            [&](TrainingPlan& plan, int x, int) {
                plan.ways.context = x;
                if (ring) {
                    topology::Lattice slice;
                    slice.lengths = {x, 1, 1};
                    slice.wrapped = {true, false, false};
                    plan.overlap.context_steps =
                        collectives::step_gather(slice, {{0, 1, x}}, false);
                }
            },
            [](const Layer& layer, int, int) {
                const double kv = 2 * layer.b * 2 * 8 * static_cast<double>(layer.model.head_dim);
                return LayerBytes{2 * layer.p + kv, 4 * layer.p + 2 * kv};
            });
    }
}

// With two dimensions of the weights each pass moves 4 B D / X + 4 B F / Y. Attention's columns
// move likewise in place of F. Added are the gathers of arrays that are not kept, and a norm's
// sums: 4 B / Y bytes, twice as an AllReduce.
TEST(Strategies, WeightStationary) {
    expect_bytes(
        [](TrainingPlan& plan, int, int y) {
            plan.ways.tensor = 2;
            plan.ways.tensor_transpose = y / 2 == 1 ? 2 : y / 2;
        },
        [](const Layer& layer, int, int) {
            const double x = layer.plan.ways.tensor_transpose;
            const double y = layer.plan.ways.tensor;
            const double o = 8 * static_cast<double>(layer.model.head_dim);
            const auto f = static_cast<double>(layer.model.d_ff);
            const double forward =
                4 * layer.bd() / x + 2 * layer.b * (2 * f + 3 * o + o) / y + 8 * layer.b / y;
            return LayerBytes{forward, forward + 2 * layer.bd() / x + 2 * layer.b * (f + o) / y};
        });
}

// Experts over E exchange tokens both to the experts and back, 2 t k
// D E bytes a group each, forward and backward. The experts' 2 D F
// each stay, and all other weights are fully sharded over the axis.
TEST(Strategies, Experts) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        TrainingPlan plan;
        plan.ways.fsdp = 1 << random.from(1, 3);
        plan.remat.policy = RematPolicy::none;
        Layer layer = random_layer(random, plan);
        layer.plan.ways.expert = std::exchange(layer.plan.ways.fsdp, 1);
        ModelSpec& model = layer.model;
        model.parallel_block = false;
        model.norms = 2;
        const double k = random.from(1, 3);
        model.experts = {.count = 8, .per_token = static_cast<int>(k), .d_ff = model.d_ff};
        validate(layer.plan, model);
        const LayerParameters parameters = count_layer(model, {.experts = true});
        const auto dense = static_cast<double>(parameters.total() - parameters.experts);
        const double exchange = 2 * layer.b * k * layer.d;
        const LayerBytes found = bytes_of(layer);
        EXPECT_DOUBLE_EQ(found.forward, 2 * dense + 2 * exchange);
        EXPECT_DOUBLE_EQ(found.backward, 4 * dense + 2 * exchange);
    }
}

// Each of p - 1 boundaries passes every chip's rows once forward and their gradients once back: 2 B
// D bytes each over all chips of a stage and all microbatches.
TEST(Strategies, PipelineHandovers) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        TrainingPlan plan;
        plan.ways.pipeline = random.from(2, 4);
        plan.batch.microbatches = plan.ways.pipeline * random.from(1, 2);
        plan.ways.fsdp = random.from(1, 3);
        plan.ways.tensor = 1 << random.from(0, 2);
        plan.pipeline.schedule = static_cast<PipelineSchedule>(random.from(0, 3));
        plan.pipeline.chunks = plan.pipeline.schedule == PipelineSchedule::interleaved ? 2 : 1;
        plan.layers_only = true;
        Layer layer = random_layer(random, [&] {
            TrainingPlan flat = plan;
            flat.ways.pipeline = flat.pipeline.chunks = 1;
            flat.pipeline.schedule = PipelineSchedule::one_f_one_b;
            return flat;
        }());
        layer.model.layers = 2LL * plan.ways.pipeline * plan.pipeline.chunks;
        plan.batch.tokens = layer.plan.batch.tokens;
        plan.batch.sequence = layer.plan.batch.sequence;
        validate(plan, layer.model);
        double forward = 0;
        double backward = 0;
        for (const StepProgram& program : build_stages(layer.model, plan).programs) {
            for (const Op& op : program.ops) {
                const auto* handover = std::get_if<Handover>(&op.work);
                if (handover != nullptr && handover->sends) {
                    (op.pass == Pass::forward ? forward : backward) += handover->bytes.value();
                }
            }
        }
        const double chips = plan.ways.fsdp * plan.ways.tensor;
        const double boundaries = plan.ways.pipeline * plan.pipeline.chunks - 1;
        EXPECT_DOUBLE_EQ(forward * chips, boundaries * 2 * layer.bd());
        EXPECT_DOUBLE_EQ(backward * chips, boundaries * 2 * layer.bd());
    }
}

}  // namespace
}  // namespace podsim::workloads
