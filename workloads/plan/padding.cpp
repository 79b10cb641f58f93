#include "workloads/plan/padding.h"

namespace podsim::workloads {
namespace {

/// Calls action(what, size) for every size of the model that the ways split.
template <class Action>
void for_each_split_size(ModelSpec& model, std::int64_t ways, KeyHeads heads, bool whole_experts,
                         Action&& action) {
    // Heads of keys and values that are fewer than those of queries are split by columns, if these
    // divide.
    const auto pads = [&, queries = model.heads](LayerKind kind) {
        const AttentionSizes sizes = attention_sizes(model, kind);
        const bool columns = heads == KeyHeads::split && sizes.kv_heads % ways != 0;
        return sizes.kv_heads == queries ||
               (columns && sizes.kv_heads * sizes.head_dim % ways != 0);
    };
    const bool local = has_layers(model, true) && pads({.local = true});
    const bool global = has_layers(model, false) && pads({.local = false});
    const bool apart = model.global.kv_heads > 0;
    action("query heads", model.heads);
    if (local || (global && !apart)) {
        action("key/value heads", model.kv_heads);
    }
    if (global && apart) {
        action("key/value heads of global layers", model.global.kv_heads);
    }
    action("feed-forward columns (d_ff)", model.d_ff);
    action("vocabulary entries", model.vocabulary);
    if (model.experts.count > 0 && (!whole_experts || model.experts.shared > 0)) {
        action("feed-forward columns of an expert", model.experts.d_ff);
    }
    if (model.latent.kv_rank > 0 && model.latent.q_rank > 0) {
        action("latent columns of queries", model.latent.q_rank);
    }
}

std::int64_t rounded_up(std::int64_t size, std::int64_t ways) {
    return (size + ways - 1) / ways * ways;
}

}  // namespace

std::vector<Padding> paddings(const ModelSpec& model, const Ways& ways, KeyHeads heads,
                              bool whole_experts) {
    std::vector<Padding> found;
    ModelSpec copy = model;
    for_each_split_size(
        copy, ways.of_matrix(), heads, whole_experts, [&](const char* what, std::int64_t size) {
            if (const std::int64_t padded = rounded_up(size, ways.of_matrix()); padded != size) {
                found.push_back({what, size, padded});
            }
        });
    return found;
}

ModelSpec padded(const ModelSpec& model, const Ways& ways, KeyHeads heads, bool whole_experts) {
    ModelSpec result = model;
    for_each_split_size(
        result, ways.of_matrix(), heads, whole_experts,
        [&](const char*, std::int64_t& size) { size = rounded_up(size, ways.of_matrix()); });
    return result;
}

}  // namespace podsim::workloads
