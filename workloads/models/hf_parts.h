// Readers of keys that families share.
#pragma once

#include <cstdint>
#include <optional>

#include "workloads/models/hf_json.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

/// Reads layers, widths and heads, under the keys that most families use.
void read_shape(HfConfig& config, ModelSpec& model, bool with_kv_heads = true);
/// Reads `head_dim`, or takes hidden_size / num_attention_heads.
void read_head_dim(HfConfig& config, ModelSpec& model);
/// Reads `head_dim`, or takes the default of the class, whatever the width, and notes it.
void read_head_dim_of_class(HfConfig& config, ModelSpec& model, std::int64_t taken);
/// Reads `tie_word_embeddings`, of the text model or of the whole.
void read_tied(HfConfig& config, ModelSpec& model, bool fallback = false);
/// Reads the shape, head_dim and tied embeddings.
void read_body(HfConfig& config, ModelSpec& model, bool tied = false);
/// Reads one flag for the biases of all four projections.
void read_attention_bias(HfConfig& config, ModelSpec& model, bool fallback = false);
void read_window(HfConfig& config, ModelSpec& model);
/// Reads a window in all but the last layer of every period; `layer_types`, if given, must agree.
void read_windows(HfConfig& config, ModelSpec& model, std::int64_t window,
                  std::int64_t global_every);
/// Returns the period at which one layer sees all: `sliding_window_pattern`, also with the leading
/// underscore that transformers writes.
std::int64_t window_pattern(HfConfig& config, std::int64_t fallback);
/// Reads a `layer_types` in which the first layer of every period sees all; here the last one of
/// each period does.
void read_first_full(HfConfig& config, ModelSpec& model);
/// Takes the layers with the window, if any, from `layer_types` alone. Without it, if the class
/// makes a pattern, all but the last of every `period` have the window (0: none).
void read_layer_types(HfConfig& config, ModelSpec& model, std::int64_t period = 0);
/// Refuses use_sliding_window: true; false (the default) makes sliding_window void.
void refuse_partial_window(HfConfig& config);
/// Refuses a flag that is set.
void refuse_set(HfConfig& config, const char* flag, std::string_view what);
/// Reads a whole number, or a list with one entry per layer, all of which must be the same.
std::optional<std::int64_t> same_in_layers(HfConfig& config, const char* key, std::int64_t limit);
/// Reads the routed experts and the number of them that a token takes.
void read_routing(HfConfig& config, ModelSpec& model, const char* count,
                  const char* per_token = "num_experts_per_tok");
/// Requires an empty `mlp_only_layers`; `decoder_sparse_step` selects the layers with experts.
void read_sparse_step(HfConfig& config, ModelSpec& model);
/// Reads a whole llama, from which families differ.
void read_llama(HfConfig& config, ModelSpec& model);

}  // namespace podsim::workloads
