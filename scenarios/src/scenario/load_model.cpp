// Reads the model of a scenario: from the catalogue, inline, or from a Hugging Face config.
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "scenarios/src/base/file_error.h"
#include "scenarios/src/base/quantity_text.h"
#include "scenarios/src/base/quote.h"
#include "scenarios/src/scenario/load_parts.h"
#include "scenarios/src/scenario/training_step.h"
#include "workloads/models/hf_config.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {
namespace {

using workloads::ModelSpec;
using workloads::Norm;

constexpr std::pair<std::string_view, bool> kMlps[] = {{"gated", true}, {"plain", false}};
constexpr std::pair<std::string_view, Norm> kNorms[] = {
    {"rms", Norm::rms}, {"layer", Norm::layer}, {"bare", Norm::bare}};

/// The projections that have biases; each choice includes the one before it.
enum class Biases { none, qkv, attention, all };
constexpr std::pair<std::string_view, Biases> kBiases[] = {{"none", Biases::none},
                                                           {"qkv", Biases::qkv},
                                                           {"attention", Biases::attention},
                                                           {"all", Biases::all}};

ModelSpec catalogue_model(const std::string& name) {
    return workloads::find_model(name);
}

/// Reads a hyperparameter: the file's value, or the base's; required if there is no base.
std::int64_t hyperparameter(const Reader& model, std::string_view key, std::int64_t of_base) {
    const Reader place = model[key];
    if (of_base == 0) {
        place.require();
    }
    return place.get<std::int64_t>(parse_count, of_base);
}

/// Returns the model that the other keys change: one of the catalogue, one of a Hugging Face
/// config, or nothing.
std::optional<ModelSpec> base_model(const Reader& model, const std::filesystem::path& folder) {
    const Reader base = model["base"];
    const Reader config = model["hf_config"];
    if (base.present() && config.present()) {
        config.refuse("beside base", "keep one of the two");
    }
    if (config.present()) {
        return config.read([&](const std::string& path) {
            check_readable(folder / path,
                           "hf_config names a model's config.json, from this scenario's folder");
            return workloads::read_hf_config((folder / path).string());
        });
    }
    if (base.present()) {
        return base.read(catalogue_model);
    }
    return std::nullopt;
}

/// Reads a count that defaults to its present value.
void read_count(const Reader& map, std::string_view key, std::int64_t& count) {
    count = map[key].get<std::int64_t>(parse_count, count);
}

void read_global(const Reader& global, workloads::GlobalAttention& read) {
    if (global.present() || read != workloads::GlobalAttention{}) {
        read_count(global, "kv_heads", read.kv_heads);
        read_count(global, "head_dim", read.head_dim);
        read.shared_kv = global["shared_kv"].flag(read.shared_kv);
    }
}

void read_latent(const Reader& latent, ModelSpec& spec) {
    if (!latent.present() && spec.latent.kv_rank == 0) {
        return;
    }
    read_count(latent, "q_rank", spec.latent.q_rank);
    spec.latent.kv_rank = hyperparameter(latent, "kv_rank", spec.latent.kv_rank);
    read_count(latent, "rope_dim", spec.latent.rope_dim);
    const std::int64_t value_dim =
        spec.latent.value_dim > 0 ? spec.latent.value_dim : spec.head_dim;
    spec.latent.value_dim = latent["value_dim"].get<std::int64_t>(parse_count, value_dim);
}

void read_experts(const Reader& experts, ModelSpec& spec) {
    if (!experts.present() && spec.experts.count == 0) {
        return;
    }
    workloads::Experts& read = spec.experts;
    const std::int64_t d_ff = read.d_ff > 0 ? read.d_ff : spec.d_ff;
    read.count = hyperparameter(experts, "count", read.count);
    read.per_token = hyperparameter(experts, "per_token", read.per_token);
    read_count(experts, "shared", read.shared);
    read.d_ff = experts["d_ff"].get<std::int64_t>(parse_count, d_ff);
    read_count(experts, "first_dense", read.first_dense);
    read_count(experts, "every", read.every);
    read.router_bias = experts["router_bias"].flag(read.router_bias);
    read_count(experts, "shared_d_ff", read.shared_d_ff);
    read.shared_gate = experts["shared_gate"].flag(read.shared_gate);
}

/// Returns the projections that have biases; none if the scenario has no name for them.
Biases biases_of(const ModelSpec& spec) {
    return spec.mlp_bias   ? Biases::all
           : spec.out_bias ? Biases::attention
           : spec.qkv_bias ? Biases::qkv
                           : Biases::none;
}

/// Reads the structure of a layer beyond its widths.
void read_structure(const Reader& model, ModelSpec& spec, bool has_base) {
    spec.gated_mlp = model["mlp"].choose<bool>(kMlps, spec.gated_mlp);
    spec.tied_embeddings = model["tied_embeddings"].flag(spec.tied_embeddings);
    spec.parallel_block = model["parallel_block"].flag(spec.parallel_block);
    spec.norm = model["norm"].choose<Norm>(kNorms, spec.norm);
    const std::int64_t norms = has_base ? spec.norms : spec.parallel_block ? 1 : 2;
    spec.norms = model["norms"].get<std::int64_t>(parse_count, norms);
    spec.qk_norm = model["qk_norm"].flag(spec.qk_norm);
    spec.qk_norm_of_heads = model["qk_norm_of_heads"].flag(spec.qk_norm_of_heads);
    spec.v_norm = model["v_norm"].flag(spec.v_norm);
    spec.shared_kv = model["shared_kv"].flag(spec.shared_kv);
    spec.sinks = model["sinks"].flag(spec.sinks);
    spec.unembedding_bias = model["unembedding_bias"].flag(spec.unembedding_bias);
    read_count(model, "chunk", spec.chunk);
    const Reader biases = model["biases"];
    const auto which = biases.choose<Biases>(kBiases, biases_of(spec));
    if (biases.present()) {
        spec.qkv_bias = which >= Biases::qkv;
        spec.out_bias = which >= Biases::attention;
        spec.mlp_bias = which == Biases::all;
    }
    read_count(model, "positions", spec.positions);
    read_count(model, "window", spec.window);
    read_count(model, "global_every", spec.global_every);
    read_count(model, "mtp_layers", spec.mtp_layers);
    read_global(model["global"], spec.global);
    read_latent(model["latent"], spec);
    read_experts(model["experts"], spec);
}

/// Notes in the log the values of a model that is named as a whole.
void tell_spec(const Reader& model, ModelSpec spec) {
    model.below_falls_back_on(spec.source);
    const std::pair<std::string_view, std::int64_t> widths[] = {
        {"layers", spec.layers},        {"d_model", spec.d_model},   {"d_ff", spec.d_ff},
        {"heads", spec.heads},          {"kv_heads", spec.kv_heads}, {"head_dim", spec.head_dim},
        {"vocabulary", spec.vocabulary}};
    for (const auto& [name, value] : widths) {
        static_cast<void>(model[name].get<std::int64_t>(parse_count, value));
    }
    read_structure(model, spec, true);
}

ModelSpec inline_model(const Reader& model, std::optional<ModelSpec> base) {
    ModelSpec spec;
    spec.name = "custom";
    if (base) {
        spec = *std::move(base);
        spec.name += " (modified)";
        model.below_falls_back_on(spec.source);
        spec.published_parameters = 0;
        spec.published_rounding = 0;
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
        model["heads"].check({"model.heads", "model.d_model"}, [&] {
            throw model["heads"].error("heads does not divide d_model", "give head_dim too");
        });
    }
    spec.vocabulary = hyperparameter(model, "vocabulary", spec.vocabulary);
    read_structure(model, spec, has_base);
    return spec;
}

}  // namespace

ModelSpec read_model(const Reader& model, const std::filesystem::path& base) {
    for (const ModelSpec& each : workloads::model_catalogue()) {
        model.may_be(each.name);
        model["base"].may_be(each.name);
    }
    if (!model.is_map()) {
        ModelSpec spec = model.read(catalogue_model);
        tell_spec(model, spec);
        return spec;
    }
    std::optional<ModelSpec> changed = base_model(model, base);
    const Reader config = model["hf_config"];
    if (config.present()) {
        config.names_file((base / config.node().text).string());
    }
    if (config.present() && (!config.sound() || model.node().entries.size() == 1)) {
        ModelSpec spec = changed.value_or(ModelSpec{});
        tell_spec(model, spec);
        return spec;
    }
    ModelSpec spec = inline_model(model, std::move(changed));
    workloads::validate(spec, model.faults());
    return spec;
}

}  // namespace podsim::scenarios
