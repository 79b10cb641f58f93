#include <fmt/format.h>

#include "scenarios/src/base/format.h"
#include "scenarios/src/cli/catalogue_entry.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {
namespace {

class ModelValues {
public:
    explicit ModelValues(const workloads::ModelSpec& model) : model_(model) {}

    void parameters(const char* key, const char* name, std::int64_t count) {
        values.push_back({.key = key,
                          .name = name,
                          .text = format_count(static_cast<double>(count)),
                          .value = count,
                          .source = {}});
    }
    void count(const char* key, const char* name, std::int64_t count) {
        values.push_back({.key = key,
                          .name = name,
                          .text = std::to_string(count),
                          .value = count,
                          .source = model_.source});
    }
    /// Adds a count, unless the model has none.
    void present(const char* key, const char* name, std::int64_t of) {
        if (of > 0) {
            count(key, name, of);
        }
    }
    void flag(const char* key, const char* name, bool has) {
        values.push_back({.key = key,
                          .name = name,
                          .text = has ? "yes" : "no",
                          .value = has,
                          .source = model_.source});
    }

    std::vector<CatalogueValue> values;

private:
    const workloads::ModelSpec& model_;
};

CatalogueEntry entry_of(const workloads::ModelSpec& model) {
    ModelValues all(model);
    const workloads::ParameterCount count = workloads::count_parameters(model);
    all.parameters("parameters", "parameters", count.total);
    all.parameters("active_parameters", "of a token", count.active);
    all.count("layers", "layers", model.layers);
    all.count("d_model", "d_model", model.d_model);
    all.count("d_ff", "d_ff", model.d_ff);
    all.count("heads", "heads", model.heads);
    all.count("kv_heads", "kv_heads", model.kv_heads);
    all.count("head_dim", "head_dim", model.head_dim);
    all.count("vocabulary", "vocabulary", model.vocabulary);
    all.flag("gated_mlp", "gated MLP", model.gated_mlp);
    all.flag("tied_embeddings", "tied embeddings", model.tied_embeddings);
    all.present("window_tokens", "window, tokens", model.window);
    all.present("experts_count", "experts", model.experts.count);
    all.present("active_experts_count", "experts of a token", model.experts.per_token);
    all.present("shared_experts_count", "shared experts", model.experts.shared);
    all.present("expert_d_ff", "d_ff of an expert", model.experts.d_ff);
    return {.name = model.name, .values = std::move(all.values)};
}

}  // namespace

std::vector<CatalogueEntry> model_entries() {
    std::vector<CatalogueEntry> entries;
    for (const workloads::ModelSpec& model : workloads::model_catalogue()) {
        entries.push_back(entry_of(model));
    }
    return entries;
}

}  // namespace podsim::scenarios
