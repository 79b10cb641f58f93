// The model of a MaxText run.
#include <array>
#include <bit>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "scenarios/import/maxtext_import.h"
#include "scenarios/text/quote.h"
#include "sim/base/nearest.h"

namespace podsim::scenarios {
namespace {

struct Named {
    std::string_view maxtext;
    std::string_view scenario;
};

/// `model_name`. MaxText pads the vocabularies of GPT-3 and Mixtral 8x22B (configs/models/gpt3-175b.yml, mixtral-8x22b.yml).
constexpr std::array kModels = std::to_array<Named>({
    {"llama2-7b", "llama-2-7b"},
    {"llama2-13b", "llama-2-13b"},
    {"llama2-70b", "llama-2-70b"},
    {"llama3-8b", "llama-3-8b"},
    {"llama3-70b", "llama-3-70b"},
    {"llama3-405b", "llama-3-405b"},
    {"llama3.1-8b", "llama-3-8b"},
    {"llama3.1-70b", "llama-3-70b"},
    {"llama3.1-405b", "llama-3-405b"},
    {"llama3.3-70b", "llama-3-70b"},
    {"gemma-2b", "gemma-2b"},
    {"gemma-7b", "gemma-7b"},
    {"gemma2-9b", "gemma-2-9b"},
    {"gemma2-27b", "gemma-2-27b"},
    {"gemma3-12b", "gemma-3-12b"},
    {"gemma3-27b", "gemma-3-27b"},
    {"mistral-7b", "mistral-7b"},
    {"mixtral-8x7b", "mixtral-8x7b"},
    {"mixtral-8x22b", "{base: mixtral-8x22b, vocabulary: 32768}"},
    {"gpt3-175b", "{base: gpt-3-175b, vocabulary: 50304}"},
    {"deepseek3-671b", "deepseek-v3"},
    {"deepseek3-671b-2dfsdp", "deepseek-v3"},
    {"gpt-oss-20b",
     "{name: gpt-oss-20b, layers: 24, d_model: 2880, d_ff: 2880, heads: 64, kv_heads: 8, head_dim: "
     "64, vocabulary: 201088, window: 128, "
     "global_every: 2, biases: all, sinks: true, experts: {count: 32, per_token: 4, d_ff: 2880, "
     "router_bias: true}}"},
    {"gpt-oss-120b",
     "{name: gpt-oss-120b, layers: 36, d_model: 2880, d_ff: 2880, heads: 64, kv_heads: 8, "
     "head_dim: 64, vocabulary: 201088, window: 128, "
     "global_every: 2, biases: all, sinks: true, experts: {count: 128, per_token: 4, d_ff: 2880, "
     "router_bias: true}}"},
});

MaxTextModel model_of_dimensions(MaxTextSettings& settings, std::vector<std::string>& notes) {
    const MaxTextScales scales = maxtext_scales(settings);
    const std::string block = settings.text("decoder_block", "default");
    if (block != "default" && block != "llama2") {
        settings.refuse("decoder_block", fmt::format("{} without a model_name", in_quotes(block)),
                        "podsim takes dimensions for the blocks llama2 and default");
    }
    const bool old_heads = settings.has("base_num_heads") && !settings.has("base_num_query_heads");
    const std::int64_t heads =
        settings.whole(old_heads ? "base_num_heads" : "base_num_query_heads", 1, 16);
    const std::int64_t kv_heads = old_heads ? heads : settings.whole("base_num_kv_heads", 1, heads);
    bool qk_norm = settings.flag("use_qk_norm", false);
    if (!settings.has("use_qk_norm")) {
        qk_norm = true;
        notes.emplace_back(
            "the file is older than use_qk_norm, when queries and keys were always "
            "normed (since mid-2023): model.qk_norm=false for earlier versions");
    }
    const std::string activations = settings.text("mlp_activations", "[silu,linear]");
    const bool gated = activations.find(',') != std::string::npos;
    const std::int64_t layers = scales.layers * settings.whole("base_num_decoder_layers", 1, 16);
    std::string text = fmt::format(
        "{{name: {}, layers: {}, d_model: {}, d_ff: {}, heads: {}, kv_heads: {}, head_dim: {}, "
        "vocabulary: {}, mlp: {}, tied_embeddings: {}, parallel_block: {}, qk_norm: {}}}",
        "maxtext-default", layers, scales.width * settings.whole("base_emb_dim", 1, 2048),
        scales.heads_and_mlp * settings.whole("base_mlp_dim", 1, 7168),
        scales.heads_and_mlp * heads, scales.heads_and_mlp * kv_heads,
        settings.whole("head_dim", 1, 128), settings.whole("vocab_size", 1, 32000),
        gated ? "gated" : "plain", settings.flag("logits_via_embedding", false), block == "default",
        qk_norm);
    return {std::move(text), layers};
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
        settings.has("scale") ? settings.whole("scale", 1, 1) : 1;  // of early 2023
    return {all * times((doublings + 2) / 3), all * times((doublings + 1) / 3),
            all * times(doublings / 3)};
}

MaxTextModel maxtext_model(MaxTextSettings& settings, std::vector<std::string>& notes) {
    const std::string said = settings.text("model_name", "default");
    if (said == "default") {
        return model_of_dimensions(settings, notes);
    }
    constexpr std::string_view kInstruct = "-Instruct";  // of the same architecture
    const std::string name =
        said.ends_with(kInstruct) ? said.substr(0, said.size() - kInstruct.size()) : said;
    std::vector<std::string> names{"default"};
    for (const auto& [maxtext, scenario] : kModels) {
        if (maxtext == name) {
            return maxtext_named_model(settings, name, std::string(scenario), notes);
        }
        names.emplace_back(maxtext);
    }
    const std::string near = name.size() < 100 ? sim::nearest(name, names) : "";
    settings.refuse("model_name", fmt::format("podsim has no model {}", in_quotes(name)),
                    (near.empty() ? "" : fmt::format("did you mean '{}'? ", near)) +
                        fmt::format("known: {}", fmt::join(names, ", ")));
}

}  // namespace podsim::scenarios
