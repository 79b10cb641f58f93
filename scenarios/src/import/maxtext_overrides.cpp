// Keys of the command line beside `model_name`, as MaxText applies them.
//
// The model's own config (configs/models/NAME.yml) replaces the file's values. A key=value of one
// of its keys must agree with it; with override_model_config it takes precedence. Then
// `global_parameter_scale` multiplies, as it does without a model_name.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/pyconfig.py
// (_initialize_pydantic) and types.py (D. Calculate model dimensions).
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>
#include <utility>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/import/maxtext_import.h"
#include "scenarios/src/scenario/yaml_tree.h"
#include "workloads/models/model.h"

namespace podsim::scenarios {
namespace {

using workloads::ModelSpec;

/// A dimension of MaxText, its key in a scenario's model, and its scale.
struct Dimension {
    const char* key;
    const char* place;
    std::int64_t (*of)(const ModelSpec&);
    std::int64_t MaxTextScales::*scale;
};

/// Layers first.
constexpr std::array kDimensions = std::to_array<Dimension>({
    {"base_num_decoder_layers", "layers", [](const ModelSpec& m) { return m.layers; },
     &MaxTextScales::layers},
    {"base_emb_dim", "d_model", [](const ModelSpec& m) { return m.d_model; },
     &MaxTextScales::width},
    {"base_mlp_dim", "d_ff", [](const ModelSpec& m) { return m.d_ff; },
     &MaxTextScales::heads_and_mlp},
    {"base_num_query_heads", "heads", [](const ModelSpec& m) { return m.heads; },
     &MaxTextScales::heads_and_mlp},
    {"base_num_kv_heads", "kv_heads", [](const ModelSpec& m) { return m.kv_heads; },
     &MaxTextScales::heads_and_mlp},
    {"head_dim", "head_dim", [](const ModelSpec& m) { return m.head_dim; }, nullptr},
    {"global_num_kv_heads", "global.kv_heads", [](const ModelSpec& m) { return m.global.kv_heads; },
     nullptr},
    {"global_head_dim", "global.head_dim", [](const ModelSpec& m) { return m.global.head_dim; },
     nullptr},
    {"vocab_size", "vocabulary", [](const ModelSpec& m) { return m.vocabulary; }, nullptr},
    {"num_experts", "experts.count", [](const ModelSpec& m) { return m.experts.count; }, nullptr},
    {"num_experts_per_tok", "experts.per_token",
     [](const ModelSpec& m) { return m.experts.per_token; }, nullptr},
    {"base_moe_mlp_dim", "experts.d_ff", [](const ModelSpec& m) { return m.experts.d_ff; },
     &MaxTextScales::heads_and_mlp},
});

const Dimension& dimension_of(std::string_view key) {
    return *std::ranges::find(kDimensions, key, &Dimension::key);
}

/// Returns the feature that a model lacks if this dimension is 0.
std::string lacking(const Dimension& dimension, const std::string& model) {
    const std::string_view place = dimension.place;
    return place.starts_with("experts.")  ? model + " has no experts"
           : place.starts_with("global.") ? model + " has no global layers with sizes of their own"
                                          : fmt::format("podsim has no {} of {}", place, model);
}

/// A scenario's model as text, with keys that can be changed.
class ModelText {
public:
    explicit ModelText(const std::string& text) : tree_(parse_yaml(text, "model")) {
        if (tree_.kind == YamlNode::Kind::scalar) {
            base_ = &workloads::find_model(tree_.text);
        } else if (const YamlNode* const base = tree_.find("base")) {
            base_ = &workloads::find_model(base->text);
        }
    }

    [[nodiscard]] std::int64_t number(const Dimension& dimension) const {
        const std::string_view place = dimension.place;
        const std::size_t dot = place.find('.');
        const YamlNode* node = tree_.find(place.substr(0, dot));
        if (node != nullptr && dot != std::string_view::npos) {
            node = node->find(place.substr(dot + 1));
        }
        return node != nullptr ? std::stoll(node->text)
                               : (base_ != nullptr ? dimension.of(*base_) : 0);
    }
    [[nodiscard]] bool latent() const {
        return tree_.find("latent") != nullptr || (base_ != nullptr && base_->latent.kv_rank > 0);
    }
    [[nodiscard]] std::int64_t first_dense() const {
        const YamlNode* const experts = tree_.find("experts");
        const YamlNode* const node = experts != nullptr ? experts->find("first_dense") : nullptr;
        return node != nullptr ? std::stoll(node->text)
                               : (base_ != nullptr ? base_->experts.first_dense : 0);
    }
    /// Returns the value of a key that is true, false, gated or plain.
    [[nodiscard]] bool flag(std::string_view key, bool (*of)(const ModelSpec&), bool usual) const {
        const YamlNode* const node = tree_.find(key);
        return node != nullptr ? node->text == "true" || node->text == "gated"
                               : (base_ != nullptr ? of(*base_) : usual);
    }
    [[nodiscard]] bool says(std::string_view key) const { return tree_.find(key) != nullptr; }
    [[nodiscard]] std::string said(std::string_view key) const { return tree_.find(key)->text; }
    void set(const std::string& place, const std::string& value) {
        apply_setting(tree_, fmt::format("{}={}", place, value));
    }
    [[nodiscard]] std::string text() const { return flow(tree_); }

private:
    static std::string flow(const YamlNode& node) {
        if (node.kind != YamlNode::Kind::map) {
            return node.text;
        }
        std::vector<std::string> entries;
        for (const YamlNode::Entry& entry : node.entries) {
            entries.push_back(fmt::format("{}: {}", entry.key, flow(entry.value)));
        }
        return fmt::format("{{{}}}", fmt::join(entries, ", "));
    }

    YamlNode tree_;
    const ModelSpec* base_ = nullptr;
};

class Overriding {
public:
    Overriding(MaxTextSettings& settings, std::string name, std::vector<std::string>& notes)
        : settings_(settings),
          name_(std::move(name)),
          notes_(notes),
          allowed_(settings.has("override_model_config") &&
                   settings.flag("override_model_config", false)) {}

    /// Returns the number in force: the config's, or the command line's if it may differ.
    std::int64_t number(const std::string& key, std::int64_t of_config) {
        if (!of_command_line(key)) {
            return of_config;
        }
        const std::int64_t said = settings_.whole(key, 1, of_config);
        if (said != of_config) {
            replace(key, std::to_string(said), std::to_string(of_config));
        }
        return said;
    }
    bool flag(const std::string& key, bool of_config) {
        if (!of_command_line(key)) {
            return of_config;
        }
        const bool said = settings_.flag(key, of_config);
        if (said != of_config) {
            replace(key, said ? "true" : "false", of_config ? "true" : "false");
        }
        return said;
    }
    /// True if the MLP has a gate, by its activations.
    bool gated(bool of_config) {
        const std::string key = "mlp_activations";
        if (!of_command_line(key)) {
            return of_config;
        }
        const std::string said = settings_.text(key, "");
        const bool gated = said.find(',') != std::string::npos;
        if (gated != of_config) {
            replace(key, said, of_config ? "gated MLP" : "plain MLP");
        }
        return gated;
    }
    /// Applies another key of the config: its value holds unless the command line may differ.
    void besides(const std::string& key, const std::string& of_config) {
        if (!of_command_line(key)) {
            settings_.put(key, of_config);
        } else if (const std::string said = settings_.said(key); !is_same(said, of_config)) {
            replace(key, said, of_config);
        }
    }
    /// True if the command line sets the key. If only the file sets it, the config replaces it.
    bool of_command_line(const std::string& key) {
        if (settings_.has(key) && !settings_.overridden(key)) {
            settings_.pass_over(key, fmt::format("the config of {} has its own", name_));
        }
        return settings_.overridden(key);
    }

private:
    /// True if they are equal as texts, or as numbers other than 0.
    static bool is_same(const std::string& one, const std::string& other) {
        const double number = std::strtod(one.c_str(), nullptr);
        return lower_case(one) == other ||
               (number != 0 && number == std::strtod(other.c_str(), nullptr));
    }
    void replace(const std::string& key, const std::string& said, const std::string& of_config) {
        if (!allowed_) {
            settings_.refuse(
                key,
                fmt::format("{} beside the {} of {}'s own config, which MaxText refuses",
                            printable(said), of_config, name_),
                "leave it out, or add override_model_config=true");
        }
        notes_.push_back(
            fmt::format("{} is {}, not the {} of {}'s own config: override_model_config", key,
                        printable(said), of_config, name_));
    }

    MaxTextSettings& settings_;
    const std::string name_;
    std::vector<std::string>& notes_;
    const bool allowed_;
};

/// Records keys of the command line as not expressed if podsim lacks their feature, or has it only
/// as part of that model.
void refuse_parts(MaxTextSettings& settings, Overriding& overriding, bool latent) {
    if (overriding.of_command_line("decoder_block")) {
        settings.cannot("decoder_block", "the block is that of model_name");
    }
    if (latent && overriding.of_command_line("head_dim")) {
        settings.cannot("head_dim", "latent attention has dimensions of its own");
    }
}

/// Sets qk_norm. Configs of blocks that read use_qk_norm contain the key; the blocks of the others
/// norm queries and keys, or do not, regardless of it.
void add_qk_norm(MaxTextSettings& settings, Overriding& overriding, ModelText& model) {
    const std::string key = "use_qk_norm";
    if (model.says("qk_norm")) {
        if (!overriding.flag(key, true)) {
            model.set("qk_norm", "false");
        }
    } else if (overriding.of_command_line(key) && settings.flag(key, false)) {
        settings.pass_over(key, "the model's block does not read it");
    }
}

/// Drops biases; only those of queries, keys and values can be left out.
void drop_biases(MaxTextSettings& settings, Overriding& overriding, ModelText& model) {
    if (!model.says("biases") || overriding.flag("attention_bias", true)) {
        return;
    }
    if (model.said("biases") == "qkv") {
        model.set("biases", "none");
    } else {
        settings.cannot("attention_bias", "podsim has all biases of that model, or none");
    }
}

}  // namespace

MaxTextModel maxtext_named_model(MaxTextSettings& settings, const std::string& name,
                                 const MaxTextNamedModel& known, std::vector<std::string>& notes) {
    const MaxTextScales scales = maxtext_scales(settings);
    ModelText model(std::string(known.model));
    Overriding overriding(settings, name, notes);
    const bool latent = model.latent();
    refuse_parts(settings, overriding, latent);
    std::istringstream besides{std::string(known.besides)};
    for (std::string each; besides >> each;) {
        const std::size_t sign = each.find('=');
        overriding.besides(each.substr(0, sign), each.substr(sign + 1));
    }
    std::int64_t layers = 0;
    for (const Dimension& dimension : kDimensions) {
        const std::string_view key = dimension.key;
        const std::int64_t own = model.number(dimension);
        if (own == 0 && overriding.of_command_line(dimension.key)) {
            settings.cannot(dimension.key, lacking(dimension, name));
        }
        if (own == 0 || (latent && key == "head_dim")) {
            continue;
        }
        // For Gemma 2 a layer of MaxText is two layers, one local and one global.
        const std::int64_t parts =
            key == "base_num_decoder_layers" && name.starts_with("gemma2") ? 2 : 1;
        std::int64_t used = overriding.number(dimension.key, own / parts);
        used *= dimension.scale != nullptr ? scales.*dimension.scale : 1;
        layers = layers == 0 ? used : layers;
        if (used * parts != own) {
            model.set(dimension.place, std::to_string(used * parts));
        }
    }
    const bool gated = model.flag(
        "mlp", [](const ModelSpec& m) { return m.gated_mlp; }, true);
    if (overriding.gated(gated) != gated) {
        model.set("mlp", gated ? "plain" : "gated");
    }
    const bool tied = model.flag(
        "tied_embeddings", [](const ModelSpec& m) { return m.tied_embeddings; }, false);
    if (overriding.flag("logits_via_embedding", tied) != tied) {
        model.set("tied_embeddings", tied ? "false" : "true");
    }
    add_qk_norm(settings, overriding, model);
    drop_biases(settings, overriding, model);
    const std::int64_t experts = model.number(dimension_of("num_experts"));
    return {.text = model.text(),
            .layers = layers,
            .experts = experts,
            .experts_per_token = model.number(dimension_of("num_experts_per_tok")),
            .d_model = model.number(dimension_of("base_emb_dim")),
            .expert_d_ff = model.number(dimension_of("base_moe_mlp_dim")),
            .gated = model.flag(
                "mlp", [](const ModelSpec& m) { return m.gated_mlp; }, true),
            .latent = latent,
            .expert_axis_is_fsdp = experts == 0 || known.expert_axis_is_fsdp,
            .first_dense = model.first_dense()};
}

}  // namespace podsim::scenarios
