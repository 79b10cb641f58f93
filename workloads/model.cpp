#include "workloads/model.h"

#include <fmt/format.h>

#include "sim/error.h"

namespace podsim::workloads {
namespace {

void check_range(std::string_view field, std::int64_t value, std::int64_t limit) {
    if (value < 1 || value > limit) {
        throw sim::InputError(fmt::format("{} = {} is out of range", field, value),
                              fmt::format("allowed are 1 to {}", limit));
    }
}

}  // namespace

ParameterCount count_parameters(const ModelSpec& model) {
    ParameterCount count;
    count.attention_per_layer =
        model.d_model * model.head_dim * (2 * model.heads + 2 * model.kv_heads);
    count.mlp_per_layer = (model.gated_mlp ? 3 : 2) * model.d_model * model.d_ff;
    count.norms_per_layer = 2 * model.d_model;
    count.embedding = model.vocabulary * model.d_model;
    count.unembedding = model.tied_embeddings ? 0 : count.embedding;
    count.final_norm = model.d_model;
    count.total =
        model.layers * count.per_layer() + count.embedding + count.unembedding + count.final_norm;
    return count;
}

FlopsPerToken training_flops_per_token(const ModelSpec& model, std::int64_t sequence, bool causal) {
    FlopsPerToken flops;
    flops.parameters = 6.0 * static_cast<double>(count_parameters(model).total);
    flops.attention = 12.0 * static_cast<double>(sequence) *
                      static_cast<double>(model.heads * model.head_dim) *
                      static_cast<double>(model.layers) * (causal ? 0.5 : 1.0);
    return flops;
}

void validate(const ModelSpec& model) {
    check_range("layers", model.layers, ModelLimits::layers);
    check_range("d_model", model.d_model, ModelLimits::d_model);
    check_range("d_ff", model.d_ff, ModelLimits::d_ff);
    check_range("heads", model.heads, ModelLimits::heads);
    check_range("kv_heads", model.kv_heads, model.heads);
    check_range("head_dim", model.head_dim, ModelLimits::head_dim);
    check_range("vocabulary", model.vocabulary, ModelLimits::vocabulary);
    if (model.heads % model.kv_heads != 0) {
        throw sim::InputError(
            fmt::format("kv_heads = {} does not divide heads = {}", model.kv_heads, model.heads),
            "every key/value head serves the same number of query heads");
    }
}

}  // namespace podsim::workloads
