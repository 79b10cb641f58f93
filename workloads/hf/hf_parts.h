// What the readers of families share.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/hf_file/hf_json.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

/// Layers, widths and heads, under the keys that most families use.
void read_shape(HfConfig& config, ModelSpec& model, bool with_kv_heads = true);
/// `head_dim`, or hidden_size / num_attention_heads.
void read_head_dim(HfConfig& config, ModelSpec& model);
/// `head_dim`, or what the class takes, whatever the width, which is noted.
void read_head_dim_of_class(HfConfig& config, ModelSpec& model, std::int64_t taken);
/// `tie_word_embeddings`, of the text model or of the whole.
void read_tied(HfConfig& config, ModelSpec& model, bool fallback = false);
/// These three.
void read_body(HfConfig& config, ModelSpec& model, bool tied = false);
/// One flag for the biases of all four projections.
void read_attention_bias(HfConfig& config, ModelSpec& model, bool fallback = false);
void read_window(HfConfig& config, ModelSpec& model);
/// A window in all but the last of every so many layers; `layer_types`, where it is given, must say the same.
void read_windows(HfConfig& config, ModelSpec& model, std::int64_t window,
                  std::int64_t global_every);
/// Every so many layers one sees all: `sliding_window_pattern`, which transformers writes with an underscore before it.
std::int64_t window_pattern(HfConfig& config, std::int64_t fallback);
/// `layer_types` may say that the first of every so many layers sees all; then the last does here, of as many.
void read_first_full(HfConfig& config, ModelSpec& model);
/// `layer_types` alone says which layers have the window, if any; without it, where the class makes a pattern, all but the
/// last of every `period` (0: none).
void read_layer_types(HfConfig& config, ModelSpec& model, std::int64_t period = 0);
/// use_sliding_window: false (the default) makes sliding_window void.
void refuse_partial_window(HfConfig& config);
/// Refuses a flag that is set.
void refuse_set(HfConfig& config, const char* flag, std::string_view what);
/// A whole number, or a list of as many as there are layers, all of which must be the same.
std::optional<std::int64_t> same_in_layers(HfConfig& config, const char* key, std::int64_t limit);
/// Routed experts and how many of them a token takes.
void read_routing(HfConfig& config, ModelSpec& model, const char* count,
                  const char* per_token = "num_experts_per_tok");
/// `mlp_only_layers` must be empty; `decoder_sparse_step` says which layers have experts.
void read_sparse_step(HfConfig& config, ModelSpec& model);
/// The whole of a llama, from which families differ.
void read_llama(HfConfig& config, ModelSpec& model);

}  // namespace podsim::workloads
