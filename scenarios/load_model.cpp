// The model of a scenario: from the catalogue, inline, or from a Hugging Face config.
#include "scenarios/load_parts.h"
#include "scenarios/quantity_text.h"

namespace podsim::scenarios {
namespace {

using workloads::ModelSpec;

constexpr std::pair<std::string_view, bool> kMlps[] = {{"gated", true}, {"plain", false}};

ModelSpec catalogue_model(const std::string& name) {
    return workloads::find_model(name);
}

/// A hyperparameter: the file's value, or the base's; required where there is no base.
std::int64_t hyperparameter(const Reader& model, std::string_view key, std::int64_t of_base) {
    const Reader place = model[key];
    if (of_base == 0) {
        place.require();
    }
    return place.get<std::int64_t>(parse_count, of_base);
}

void refuse_both(const Reader& model) {
    for (const YamlNode::Entry& entry : model.node().entries) {
        if (entry.key != "hf_config") {
            throw sim::InputError(
                "model: hf_config says everything, '" + entry.key + "' is not allowed beside it",
                "keep one of the two", entry.mark);
        }
    }
}

ModelSpec inline_model(const Reader& model) {
    ModelSpec spec;
    spec.name = "custom";
    if (const Reader base = model["base"]; base.present()) {
        spec = base.read(catalogue_model);
        spec.name += " (modified)";
        spec.published_parameters = 0;
    }
    spec.source = "the scenario";
    spec.name =
        model["name"].get<std::string>([](const std::string& text) { return text; }, spec.name);
    spec.layers = hyperparameter(model, "layers", spec.layers);
    spec.d_model = hyperparameter(model, "d_model", spec.d_model);
    spec.d_ff = hyperparameter(model, "d_ff", spec.d_ff);
    const bool has_base = spec.heads != 0;
    spec.heads = hyperparameter(model, "heads", spec.heads);
    spec.kv_heads =
        model["kv_heads"].get<std::int64_t>(parse_count, has_base ? spec.kv_heads : spec.heads);
    if (has_base || model["head_dim"].present()) {
        spec.head_dim = hyperparameter(model, "head_dim", spec.head_dim);
    } else if (spec.heads > 0 && spec.d_model % spec.heads == 0) {
        spec.head_dim = spec.d_model / spec.heads;
    } else {
        throw model["heads"].error("heads does not divide d_model", "give head_dim too");
    }
    spec.vocabulary = hyperparameter(model, "vocabulary", spec.vocabulary);
    spec.gated_mlp = model["mlp"].choose<bool>(kMlps, spec.gated_mlp);
    spec.tied_embeddings = model["tied_embeddings"].flag(spec.tied_embeddings);
    return spec;
}

/// Where an error about a field (its first word) belongs.
Reader place_of(const Reader& model, const sim::InputError& error) {
    const std::string field = error.problem().substr(0, error.problem().find(' '));
    if (model.is_map() && model.node().find(field) != nullptr) {
        return model[field];
    }
    return model;
}

}  // namespace

ModelSpec read_model(const Reader& model, const std::filesystem::path& base) {
    if (!model.is_map()) {
        return model.read(catalogue_model);
    }
    if (const Reader config = model["hf_config"]; config.present()) {
        refuse_both(model);
        return config.read([&](const std::string& path) {
            return workloads::read_hf_config((base / path).string());
        });
    }
    ModelSpec spec = inline_model(model);
    try {
        workloads::validate(spec);
    } catch (const sim::InputError& error) {
        throw error.at(place_of(model, error).mark());
    }
    return spec;
}

}  // namespace podsim::scenarios
