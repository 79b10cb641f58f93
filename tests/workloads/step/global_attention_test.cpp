// Global layers with their own sizes of attention equal
// those of a model that has these sizes everywhere.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <tuple>

#include "tests/workloads/step_program_support.h"
#include "workloads/models/kv_cache.h"
#include "workloads/step/step.h"

namespace podsim::workloads {
namespace {

using samples::Random;

/// Returns compute, and collectives over tensor and context, by layer and name.
std::map<std::tuple<int, std::string>, std::string> work_of(const StepProgram& program) {
    std::map<std::tuple<int, std::string>, std::string> all;
    for (const Op& op : program.ops) {
        const auto* moved = std::get_if<Collective>(&op.work);
        if (moved != nullptr &&
            (moved->purpose == Purpose::weights || moved->purpose == Purpose::gradients)) {
            continue;
        }
        std::string& text = all[{op.layer, op.name}];
        if (const auto* work = std::get_if<Compute>(&op.work)) {
            text += fmt::format("{} flops {} bytes {} vector {} steps", work->flops.value(),
                                work->hbm.value(), work->vector.value(), work->grid_steps);
            for (const MatmulShape& shape : work->matmuls) {
                text += fmt::format(", {} x {} x {} x {}", shape.m, shape.k, shape.n, shape.count);
            }
        } else if (moved != nullptr) {
            text += fmt::format("{} bytes", moved->bytes.value());
        }
    }
    return all;
}

ModelSpec sized(ModelSpec model, LayerKind kind) {
    const AttentionSizes sizes = attention_sizes(model, kind);
    model.kv_heads = sizes.kv_heads;
    model.head_dim = sizes.head_dim;
    model.shared_kv = sizes.shared_kv;
    model.global = {};
    return model;
}

TEST(GlobalAttention, LayersAreThoseOfAModelOfTheirSizes) {
    int compared = 0;
    int of_other_sizes = 0;
    for (std::uint64_t seed = 0; of_other_sizes < 60; ++seed) {
        SCOPED_TRACE(seed);
        Random random(seed);
        ModelSpec model;
        const TrainingPlan plan = samples::any_plan(random, model);
        if (model.global == GlobalAttention{}) {
            continue;
        }
        ++of_other_sizes;
        const auto mixed = work_of(build_step(model, plan));
        for (const bool local : {true, false}) {
            const ModelSpec alike = sized(model, {.local = local});
            const auto same = work_of(build_step(alike, plan));
            for (const auto& [key, text] : mixed) {
                const int layer = std::get<0>(key);
                if (layer < 0 || layer_kind(model, layer).local != local) {
                    continue;
                }
                const auto found = same.find(key);
                ASSERT_NE(found, same.end()) << std::get<1>(key);
                EXPECT_EQ(text, found->second) << std::get<1>(key);
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 2000);
}

// Gemma 4 31B (huggingface.co/google/gemma-4-31B) has 50 local layers with D (2 x 32 x 256 + 2 x 16
// x 256) of attention, and 10 global ones with D (2 x 32 x 512 + 4 x 512), keys and values one
// projection. All have 3 D F, 4 D of norms and norms of a query's and a key's columns. Then come
// the table and the last norm.
ModelSpec gemma() {
    return {.name = "gemma-4-31b",
            .source = "this test",
            .layers = 60,
            .d_model = 5376,
            .d_ff = 21504,
            .heads = 32,
            .kv_heads = 16,
            .head_dim = 256,
            .vocabulary = 262144,
            .tied_embeddings = true,
            .norms = 4,
            .qk_norm = true,
            .v_norm = true,
            .window = 1024,
            .global_every = 6,
            .global = {.kv_heads = 4, .head_dim = 512, .shared_kv = true}};
}

TEST(GlobalAttention, ParametersByHand) {
    const std::int64_t d = 5376;
    const std::int64_t local = d * (2 * 32 * 256 + 2 * 16 * 256) + 2 * 256;
    const std::int64_t global = d * (2 * 32 * 512 + 4 * 512) + 2 * 512;
    const std::int64_t each = 3 * d * 21504 + 4 * d;
    EXPECT_EQ(count_parameters(gemma()).total,
              50 * local + 10 * global + 60 * each + 262144 * d + d);
    for (const bool is_local : {true, false}) {
        EXPECT_EQ(layer_weights(gemma(), {.local = is_local}).total().total(),
                  static_cast<double>((is_local ? local : global) + each));
    }
}

// There are 6 (layers' matrices + table) and 6 N 2 H pairs of S = 8192: 8192^2 / 2 in global
// layers, 8192 x 1024 - 1024^2 / 2 in local ones.
TEST(GlobalAttention, FlopsByHand) {
    const double d = 5376;
    const double matrices = 50 * d * (2 * 32 * 256 + 2 * 16 * 256) +
                            10 * d * (2 * 32 * 512 + 4 * 512) + 60 * 3 * d * 21504 + 262144 * d;
    const double local = 50 * 6 * 32 * 2 * 256.0 * (8192.0 * 1024 - 512 * 1024) / 8192;
    const double global = 10 * 6 * 32 * 2 * 512.0 * 8192 / 2;
    const FlopsPerToken flops = training_flops_per_token(gemma(), 8192, true);
    EXPECT_EQ(flops.matmul, 6 * matrices);
    EXPECT_EQ(flops.attention, local + global);
}

// Both keys and values are kept, and the shared projection makes two arrays: 2 x 16 x 256 elements
// of the last 1024 tokens in local layers, 2 x 4 x 512 of all tokens in global ones.
TEST(GlobalAttention, CacheByHand) {
    EXPECT_EQ(cache_bytes(gemma(), 8192, 2).value(),
              2.0 * (50 * 1024 * 2 * 16 * 256 + 10 * 8192.0 * 2 * 4 * 512));
}

// Tensor parallelism beyond the heads of global layers repeats them: a parallelism of 8 holds 2 of
// 16 local heads and 1 of 4 global ones.
TEST(GlobalAttention, HeldInInference) {
    TrainingPlan plan;
    plan.ways.tensor = 8;
    plan.inference.emplace().runs = {{1, 1, 8191, 1}};
    plan.forward_only = true;
    plan.batch.tokens = plan.batch.sequence = 1;
    plan.precision.parameters = 2;
    const ModelSpec model = gemma();
    validate(plan, model);
    std::map<MemoryClass, double> held;
    const StepProgram program = build_step(model, plan);
    for (const Buffer& buffer : program.buffers) {
        if (buffer.allocated_at == kWholeStep) {
            held[buffer.memory_class] += buffer.bytes.value();
        }
    }
    EXPECT_EQ(held[MemoryClass::kv_cache],
              2.0 * (50 * 1024 * 2 * 2 * 256 + 10 * 8192.0 * 2 * 1 * 512));
    const auto total = static_cast<double>(count_parameters(model).total);
    EXPECT_EQ(held[MemoryClass::parameters], 2 * (total / 8 + 10 * (1 - 0.5) * 5376 * 512));
}

}  // namespace
}  // namespace podsim::workloads
