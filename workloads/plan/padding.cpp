#include "workloads/plan/padding.h"

namespace podsim::workloads {
namespace {

/// Calls action(what, size) for every size of the model that the ways split.
template <class Action>
void for_each_split_size(ModelSpec& model, std::int64_t ways, KeyHeads heads, bool whole_experts,
                         Action&& action) {
    const bool one_each = model.kv_heads == model.heads;
    action("query heads", model.heads);
    // Fewer heads of keys and values than of queries are split by columns, where those divide.
    const bool columns = heads == KeyHeads::split && model.kv_heads % ways != 0;
    if (one_each || (columns && model.kv_heads * model.head_dim % ways != 0)) {
        action("key/value heads", model.kv_heads);
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
