#include "workloads/models/hf_parts.h"

#include <algorithm>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace podsim::workloads {
namespace {

constexpr std::int64_t kLongestWindow = 1LL << 40;

}  // namespace

void read_shape(HfConfig& config, ModelSpec& model, bool with_kv_heads) {
    model.layers = config.required("num_hidden_layers", ModelLimits::layers);
    model.d_model = config.required("hidden_size", ModelLimits::d_model);
    model.d_ff = config.required("intermediate_size", ModelLimits::d_ff);
    model.heads = config.required("num_attention_heads", ModelLimits::heads);
    model.kv_heads = with_kv_heads
                         ? config.whole("num_key_value_heads", model.heads).value_or(model.heads)
                         : model.heads;
    model.vocabulary = config.required("vocab_size", ModelLimits::vocabulary);
    if (model.heads % model.kv_heads != 0) {
        config.refuse(
            "num_key_value_heads",
            fmt::format("'num_key_value_heads' = {}{} does not divide 'num_attention_heads' = {}",
                        model.kv_heads,
                        config.has("num_key_value_heads") ? "" : ", which its class takes,",
                        model.heads),
            "every key/value head serves the same number of query heads");
    }
}

void read_head_dim(HfConfig& config, ModelSpec& model) {
    if (const auto head_dim = config.whole("head_dim", ModelLimits::head_dim)) {
        model.head_dim = *head_dim;
    } else if (model.d_model % model.heads == 0) {
        model.head_dim = model.d_model / model.heads;
    } else {
        config.refuse(
            "hidden_size",
            fmt::format("'hidden_size' = {} is not a multiple of 'num_attention_heads' = {}",
                        model.d_model, model.heads),
            "give the key 'head_dim'");
    }
}

void read_head_dim_of_class(HfConfig& config, ModelSpec& model, std::int64_t taken) {
    config.assume_default("head_dim", taken);
    model.head_dim = config.whole("head_dim", ModelLimits::head_dim).value_or(taken);
}

/// Embeddings are untied if the text model or its wrapper says so: files of transformers 5 write
/// defaults, mostly true, beside the other's false.
void read_tied(HfConfig& config, ModelSpec& model, bool fallback) {
    const bool of_wrapper = config.flag_of_wrapper("tie_word_embeddings", true);
    model.tied_embeddings = config.flag("tie_word_embeddings",
                                        config.flag_of_wrapper("tie_word_embeddings", fallback)) &&
                            of_wrapper;
}

void read_body(HfConfig& config, ModelSpec& model, bool tied) {
    read_shape(config, model);
    read_head_dim(config, model);
    read_tied(config, model, tied);
}

void read_attention_bias(HfConfig& config, ModelSpec& model, bool fallback) {
    model.qkv_bias = model.out_bias = config.flag("attention_bias", fallback);
}

void read_window(HfConfig& config, ModelSpec& model) {
    model.window = config.whole("sliding_window", kLongestWindow).value_or(0);
}

namespace {

bool layer_types_agree(const nlohmann::json& types, const ModelSpec& model) {
    if (!types.is_array() || types.size() != static_cast<std::size_t>(model.layers)) {
        return false;
    }
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
        if (types[static_cast<std::size_t>(layer)] !=
            (layer_kind(model, layer).local ? "sliding_attention" : "full_attention")) {
            return false;
        }
    }
    return true;
}

}  // namespace

void read_windows(HfConfig& config, ModelSpec& model, std::int64_t window,
                  std::int64_t global_every) {
    model.window = config.whole("sliding_window", kLongestWindow).value_or(window);
    model.global_every = global_every;
    const auto* types = config.find("layer_types");
    if (types != nullptr && !layer_types_agree(*types, model)) {
        config.refuse(
            "layer_types",
            fmt::format("'layer_types' is not the pattern in which every {}th of {} layers "
                        "has full attention",
                        model.global_every, model.layers),
            "other patterns are not modelled");
    }
}

std::int64_t window_pattern(HfConfig& config, std::int64_t fallback) {
    for (const char* const key : {"sliding_window_pattern", "_sliding_window_pattern"}) {
        if (const auto said = config.whole(key, ModelLimits::layers)) {
            return *said;
        }
    }
    return fallback;
}

void read_first_full(HfConfig& config, ModelSpec& model) {
    const auto* types = config.find("layer_types");
    if (types == nullptr || !types->is_array() ||
        types->size() != static_cast<std::size_t>(model.layers)) {
        return;
    }
    const auto sees_all = [&](std::int64_t layer) {
        return (*types)[static_cast<std::size_t>(layer)] == "full_attention";
    };
    const auto has_window = [&](std::int64_t layer) {
        return (*types)[static_cast<std::size_t>(layer)] == "sliding_attention";
    };
    std::int64_t period = 1;
    while (period < model.layers && !sees_all(period)) {
        ++period;
    }
    bool agrees = sees_all(0) && period > 1 && model.layers % period == 0;
    for (std::int64_t layer = 0; layer < model.layers && agrees; ++layer) {
        agrees = layer % period == 0 ? sees_all(layer) : has_window(layer);
    }
    if (!agrees) {
        model.window = 0;  // the file's window is void if no layer has it
        read_layer_types(config, model);
        return;
    }
    model.window = config.required("sliding_window", kLongestWindow);
    model.global_every = period;
    config.note(fmt::format(
        "of every {} layers the last sees the whole sequence here, not the first", period));
}

void read_layer_types(HfConfig& config, ModelSpec& model, std::int64_t period) {
    const auto* types = config.find("layer_types");
    if (types == nullptr && period > 0) {
        if (config.whole("sliding_window", kLongestWindow)) {
            read_windows(config, model, 0, period);
        }
        return;
    }
    if (types == nullptr || !types->is_array() ||
        types->size() != static_cast<std::size_t>(model.layers)) {
        return;
    }
    std::int64_t first_full = 0;
    while (first_full < model.layers &&
           (*types)[static_cast<std::size_t>(first_full)] == "sliding_attention") {
        ++first_full;
    }
    if (first_full == 0) {  // no window, or a pattern that is refused
        if (!layer_types_agree(*types, model)) {
            config.refuse("layer_types",
                          "'layer_types' begins with full attention and goes on with windows",
                          "podsim knows windows in all but the last of every so many layers");
        }
        return;
    }
    read_windows(config, model, config.required("sliding_window", kLongestWindow),
                 first_full < model.layers ? first_full + 1 : 0);
}

void refuse_partial_window(HfConfig& config) {
    if (config.flag("use_sliding_window")) {
        config.refuse("use_sliding_window",
                      "a window in some layers only ('use_sliding_window': true) is not modelled",
                      "set it to false if all layers attend to the whole sequence");
    }
}

void refuse_set(HfConfig& config, const char* flag, std::string_view what) {
    if (config.flag(flag)) {
        config.refuse(flag, fmt::format("{} ('{}': true) is not modelled", what, flag));
    }
}

std::optional<std::int64_t> same_in_layers(HfConfig& config, const char* key, std::int64_t limit) {
    const nlohmann::json* const value = config.find(key);
    if (value == nullptr || !value->is_array()) {
        return config.whole(key, limit);
    }
    const nlohmann::json first = value->empty() ? nlohmann::json() : value->front();
    const bool alike = std::ranges::all_of(*value, [&](const auto& one) { return one == first; });
    if (!alike || !first.is_number_integer() || first < 1 || first > limit) {
        config.refuse(key,
                      fmt::format("'{}' is not the same whole number from 1 to {} in every layer",
                                  key, limit),
                      "layers of different sizes are not modelled");
    }
    return first.get<std::int64_t>();
}

void read_routing(HfConfig& config, ModelSpec& model, const char* count, const char* per_token) {
    model.experts.count = config.required(count, ModelLimits::experts);
    model.experts.per_token = config.required(per_token, model.experts.count);
}

void read_sparse_step(HfConfig& config, ModelSpec& model) {
    if (const auto* dense = config.find("mlp_only_layers"); dense != nullptr && !dense->empty()) {
        config.refuse(
            "mlp_only_layers", "dense layers by number ('mlp_only_layers') are not modelled",
            "podsim knows first_dense layers at the start and experts in every n-th layer");
    }
    model.experts.every = config.whole("decoder_sparse_step", model.layers).value_or(1);
}

void read_llama(HfConfig& config, ModelSpec& model) {
    read_body(config, model);
    read_attention_bias(config, model);
    model.mlp_bias = config.flag("mlp_bias");
}

}  // namespace podsim::workloads
