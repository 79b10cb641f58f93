// The model of a MaxText run.
#include <array>
#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "scenarios/src/base/quote.h"
#include "scenarios/src/import/maxtext_import.h"
#include "scenarios/src/import/maxtext_models.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

/// A decoder block that dimensions describe, as in its file in src/maxtext/models.
struct Block {
    std::string_view name;
    bool parallel = false;  ///< attention and MLP side by side
    bool reads_qk_norm = false;
    bool reads_biases = false;
    bool experts = false;
    /// Experts are as wide as base_moe_mlp_dim, and base_mlp_dim is not read.
    bool own_mlp_dim = false;
};

constexpr std::array kBlocks = std::to_array<Block>({
    {.name = "default", .parallel = true},
    {.name = "llama2"},
    {.name = "mistral"},
    {.name = "mixtral", .experts = true},
    {.name = "qwen2", .reads_qk_norm = true, .reads_biases = true},
    {.name = "qwen3", .reads_qk_norm = true},
    {.name = "qwen3_moe", .reads_qk_norm = true, .experts = true, .own_mlp_dim = true},
});

const Block& block_of(MaxTextSettings& settings) {
    const std::string said = settings.text("decoder_block", "default");
    std::vector<std::string_view> names;
    for (const Block& block : kBlocks) {
        if (block.name == said) {
            return block;
        }
        names.push_back(block.name);
    }
    settings.refuse(
        "decoder_block", fmt::format("{} without a model_name", in_quotes(said)),
        fmt::format("podsim takes dimensions for the blocks {}", fmt::join(names, ", ")));
}

bool norms_queries_and_keys(MaxTextSettings& settings, const Block& block,
                            std::vector<std::string>& notes) {
    if (!settings.has("use_qk_norm")) {
        if (block.name == "default" || block.name == "llama2") {
            notes.emplace_back(
                "the file is older than use_qk_norm, when queries and keys were always "
                "normed (since mid-2023): model.qk_norm=false for earlier versions");
            return true;
        }
        return false;
    }
    const bool said = settings.flag("use_qk_norm", false);
    if (said && !block.reads_qk_norm) {
        settings.pass_over("use_qk_norm", fmt::format("the block {} does not read it", block.name));
    }
    return said && block.reads_qk_norm;
}

/// Returns `, experts: {...}`, or nothing. `mlp` is base_mlp_dim.
std::string experts_of(MaxTextSettings& settings, const Block& block, std::int64_t mlp,
                       std::int64_t scale, MaxTextModel& model) {
    const std::int64_t count = settings.whole("num_experts", 1, 1);
    const std::int64_t per_token = settings.whole("num_experts_per_tok", 1, 1);
    if (!block.experts) {
        if (count > 1) {
            settings.cannot("num_experts",
                            fmt::format("the block {} has an MLP and no experts", block.name));
        }
        return {};
    }
    const std::int64_t own = settings.whole("base_moe_mlp_dim", -1, mlp);
    if (count > 1 && own < 1) {
        settings.refuse("base_moe_mlp_dim", fmt::format("{} beside {} experts", own, count),
                        "give their width");
    }
    if (count > 1 && own != mlp && !block.own_mlp_dim) {
        settings.refuse(
            "base_moe_mlp_dim",
            fmt::format("{} beside the {} of base_mlp_dim, which MaxText refuses of layers that "
                        "all have experts",
                        own, mlp),
            "give both the same");
    }
    if (per_token > count) {
        settings.refuse("num_experts_per_tok", fmt::format("{} of {} experts", per_token, count),
                        "give at most num_experts");
    }
    if (count > 1) {
        model.experts = count;
        model.expert_axis_is_fsdp = false;
        model.experts_per_token = per_token;
        model.expert_d_ff = scale * own;
    }
    return count == 1 ? ""
                      : fmt::format(", experts: {{count: {}, per_token: {}, d_ff: {}}}", count,
                                    per_token, scale * own);
}

MaxTextModel model_of_dimensions(MaxTextSettings& settings, std::vector<std::string>& notes) {
    const MaxTextScales scales = maxtext_scales(settings);
    const Block& block = block_of(settings);
    const bool old_heads = settings.has("base_num_heads") && !settings.has("base_num_query_heads");
    const std::int64_t heads =
        settings.whole(old_heads ? "base_num_heads" : "base_num_query_heads", 1, 16);
    const std::int64_t kv_heads = old_heads ? heads : settings.whole("base_num_kv_heads", 1, heads);
    const bool qk_norm = norms_queries_and_keys(settings, block, notes);
    const std::string activations = settings.text("mlp_activations", "[silu,linear]");
    const bool gated = activations.find(',') != std::string::npos;
    const std::int64_t layers = scales.layers * settings.whole("base_num_decoder_layers", 1, 16);
    const std::int64_t mlp = settings.whole("base_mlp_dim", 1, 7168);
    MaxTextModel model;
    model.layers = layers;
    model.gated = gated;
    model.d_model = scales.width * settings.whole("base_emb_dim", 1, 2048);
    const std::string experts = experts_of(settings, block, mlp, scales.heads_and_mlp, model);
    model.text = fmt::format(
        "{{name: {}, layers: {}, d_model: {}, d_ff: {}, heads: {}, kv_heads: {}, head_dim: {}, "
        "vocabulary: {}, mlp: {}, tied_embeddings: {}, parallel_block: {}, qk_norm: {}{}{}}}",
        "maxtext-default", layers, model.d_model, scales.heads_and_mlp * mlp,
        scales.heads_and_mlp * heads, scales.heads_and_mlp * kv_heads,
        settings.whole("head_dim", 1, 128), settings.whole("vocab_size", 1, 32000),
        gated ? "gated" : "plain", settings.flag("logits_via_embedding", false), block.parallel,
        qk_norm,
        block.reads_biases && settings.flag("attention_bias", false) ? ", biases: qkv" : "",
        experts);
    return model;
}

/// Adds the model's layers of further tokens; MaxText's loss of them costs nothing.
MaxTextModel with_further_tokens(MaxTextSettings& settings, MaxTextModel model) {
    const char* const number = "mtp_num_layers";
    const std::int64_t layers = settings.has(number) ? settings.whole(number, 0, 0) : 0;
    for (const char* key : {"mtp_loss_scaling_factor", "mtp_eval_target_module"}) {
        if (settings.has(key)) {
            settings.pass_over(key, "a factor of the loss, or of evaluation");
        }
    }
    if (layers > 0) {
        const std::string further = fmt::format(", mtp_layers: {}}}", layers);
        model.text = model.text.ends_with('}')
                         ? model.text.substr(0, model.text.size() - 1) + further
                         : fmt::format("{{base: {}{}", model.text, further);
    }
    return model;
}

}  // namespace

MaxTextScales maxtext_scales(MaxTextSettings& settings) {
    const std::int64_t scale = settings.whole("global_parameter_scale", 1, 1);
    if (!std::has_single_bit(static_cast<std::uint64_t>(scale))) {
        settings.refuse("global_parameter_scale", fmt::format("{} is no power of two", scale),
                        "write 1, 2, 4, ...");
    }
    const int doublings = std::countr_zero(static_cast<std::uint64_t>(scale));
    const auto times = [](int n) { return std::int64_t{1} << n; };
    const std::int64_t all =
        settings.has("scale") ? settings.whole("scale", 1, 1) : 1;  // a key of early 2023
    return {all * times((doublings + 2) / 3), all * times((doublings + 1) / 3),
            all * times(doublings / 3)};
}

MaxTextModel maxtext_model(MaxTextSettings& settings, std::vector<std::string>& notes) {
    const std::string said = settings.text("model_name", "default");
    if (said == "default") {
        return with_further_tokens(settings, model_of_dimensions(settings, notes));
    }
    if (const MaxTextNamedModel* const known = find_maxtext_model(said)) {
        return with_further_tokens(
            settings, maxtext_named_model(settings, std::string(known->name), *known, notes));
    }
    if (const std::string_view lacks = maxtext_model_lacks(said); !lacks.empty()) {
        settings.refuse("model_name",
                        fmt::format("{} has {}, which podsim cannot say", in_quotes(said), lacks),
                        "write a scenario of a model that is near it");
    }
    std::vector<std::string> names{"default"};
    for (const MaxTextNamedModel& known : maxtext_models()) {
        names.emplace_back(known.name);
    }
    const std::string near = said.size() < 100 ? sim::nearest(said, names) : "";
    settings.refuse("model_name", fmt::format("podsim has no model {}", in_quotes(said)),
                    near.empty() ? fmt::format("known: {}", fmt::join(names, ", "))
                                 : fmt::format("did you mean '{}'?", near));
}

}  // namespace podsim::scenarios
