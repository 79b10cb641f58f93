// The whole step: embedding, layers, unembedding and loss, layers backward, embedding, optimizer.
//
// Weights are used in this order: embedding, layer 0 to L-1, unembedding (one use for its forward
// and backward, never rematerialised), layer L-1 to 0 backward. The embedding's backward adds rows
// and needs no weights. Tied embeddings: the table is gathered for both uses and its gradient,
// summed over both, is reduced once, after the embedding's backward.
//
// With T > 1 the tables are split over the vocabulary:
//   embedding    lookup of partial rows, ReduceScatter over tensor; backward: AllGather, scatter-add
//   unembedding  AllGather x, logits, AllReduce of each token's maximum and sum (two 4-byte values),
//                loss, input gradient, ReduceScatter, weight gradient
#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "workloads/layer.h"
#include "workloads/memory.h"
#include "workloads/plan.h"
#include "workloads/step_builder.h"

namespace podsim::workloads {
namespace {

constexpr double kSoftmaxBytes = 2 * 4;  // a token's maximum and sum, 4 bytes each

/// Parameters of the groups of weights.
struct Groups {
    explicit Groups(const ModelSpec& model) {
        const ParameterCount count = count_parameters(model);
        total = static_cast<double>(count.total);
        for (std::int64_t layer = 0; layer < model.layers; ++layer) {
            kinds.push_back(layer_kind(model, layer));
            const LayerParameters parameters = count_layer(model, kinds.back());
            layers.push_back({static_cast<double>(parameters.total() - parameters.experts),
                              static_cast<double>(parameters.experts)});
        }
        embedding = static_cast<double>(count.embedding + count.positions);
        positions = static_cast<double>(count.positions);
        unembedding = static_cast<double>(count.embedding + count.final_norm);
    }
    double total = 0;
    std::vector<LayerKind> kinds;  ///< by layer
    std::vector<Weights> layers;
    double embedding = 0;    ///< with the position table
    double positions = 0;    ///< that table alone
    double unembedding = 0;  ///< with the final norm
};

std::vector<WeightUse> weight_uses(const ModelSpec& model, const Groups& groups) {
    std::vector<WeightUse> uses;
    const auto layers = static_cast<int>(model.layers);
    uses.push_back({"embedding", -1, Pass::forward, {groups.embedding, 0}});
    for (int layer = 0; layer < layers; ++layer) {
        uses.push_back({fmt::format("layer {}", layer), layer, Pass::forward,
                        groups.layers[static_cast<std::size_t>(layer)]});
    }
    uses.push_back({"unembedding", -1, Pass::forward, {groups.unembedding, 0}});
    for (int layer = layers - 1; layer >= 0; --layer) {
        uses.push_back({fmt::format("layer {}", layer), layer, Pass::backward,
                        groups.layers[static_cast<std::size_t>(layer)]});
    }
    return uses;
}

void embedding_forward(StepBuilder& builder) {
    builder.begin_use();
    const OpIndex lookup = builder.compute("lookup", embedding_lookup(builder.shard()));
    builder.scatter_rows("rows", lookup);
    builder.end_use();
}

/// Forward, loss and backward. Returns the buffers of its gradients.
Gradients unembedding(StepBuilder& builder, double parameters) {
    const Shard& shard = builder.shard();
    builder.begin_use();
    const BufferId input = builder.hold(MemoryClass::buffers, builder.local_rows(), builder.last());
    const OpIndex rows = builder.gather_rows("input");
    const OpIndex logits = builder.compute("logits", logits_forward(shard));
    builder.all_reduce_tensor("softmax", shard.tokens * kSoftmaxBytes);
    builder.compute("loss", loss(shard));
    builder.set_pass(Pass::backward);
    const OpIndex dx = builder.compute("input gradient", logits_input_gradient(shard));
    builder.scatter_rows("input gradient", dx);
    const Gradients unreduced = builder.begin_gradients({parameters, 0});
    const OpIndex end = builder.compute("weight gradient", logits_weight_gradient(shard));
    builder.hold_between(MemoryClass::buffers, builder.full_rows(), rows, end);
    builder.hold_between(MemoryClass::buffers,
                         shard.tokens * shard.vocabulary * shard.precision.compute, logits, end);
    builder.release(input, end);
    builder.end_use();
    return unreduced;
}

}  // namespace

StepProgram build_step(const ModelSpec& model, const TrainingPlan& plan) {
    const Groups groups(model);
    StepBuilder builder(model, plan, weight_uses(model, groups));
    const auto layers = static_cast<std::size_t>(model.layers);

    embedding_forward(builder);
    std::vector<LayerBuffers> saved(layers);
    for (std::size_t layer = 0; layer < layers; ++layer) {
        builder.begin_use();
        saved[layer] = layer_forward(builder, groups.kinds[layer]);
        builder.end_use();
    }

    // A tied table's gradient is reduced with the embedding's, positions included.
    const double table_gradients =
        groups.unembedding + (model.tied_embeddings ? groups.positions : 0);
    const Gradients table = unembedding(builder, table_gradients);
    if (!model.tied_embeddings) {
        builder.reduce_gradients({table_gradients, 0}, table);
    }
    for (std::size_t layer = layers; layer-- > 0;) {
        builder.begin_use();
        layer_backward(builder, groups.kinds[layer], saved[layer], groups.layers[layer]);
        builder.end_use();
    }

    builder.set_part("embedding", Pass::backward);
    const OpIndex rows = builder.gather_rows("gradient");
    const double parameters = model.tied_embeddings ? table_gradients : groups.embedding;
    const Gradients unreduced =
        builder.begin_gradients({parameters, 0}, model.tied_embeddings ? table : Gradients{});
    const OpIndex added =
        builder.compute("scatter-add gradient", embedding_scatter_add(builder.shard()));
    builder.hold_between(MemoryClass::buffers, builder.full_rows(), rows, added);
    builder.reduce_gradients({parameters, 0}, unreduced);

    builder.set_part("optimizer", Pass::optimizer);
    builder.optimize(groups.total);
    return builder.finish();
}

int prefetch_that_fits(const ModelSpec& model, const TrainingPlan& plan, sim::Bytes capacity) {
    // Beyond the number of uses a further look ahead changes nothing.
    const std::int64_t uses = 2 * model.layers + 2;
    TrainingPlan trial = plan;
    trial.prefetch_layers = static_cast<int>(std::min<std::int64_t>(plan.prefetch_layers, uses));
    while (trial.prefetch_layers > 0 &&
           peak_in_program_order(build_step(model, trial)).total > capacity) {
        --trial.prefetch_layers;
    }
    return trial.prefetch_layers;
}

}  // namespace podsim::workloads
