// The storage of weights by a file's `quantization_config`.
//
// A matrix of K rows and N columns takes K N elements of the stated bits, and beside them scales
// and zero points: of the whole matrix (tensor), of each column (channel), of each group of g rows
// in each column (N ceil(K / g) of them), or of each block. Modules that the file names as not
// converted, routers, biases, norms and embeddings stay at 2 bytes an element; so does the
// unembedding, unless a method says otherwise. Each figure that podsim keeps (StoredWeights) is the
// mean over its matrices.
// Sources: huggingface/transformers, utils/quantization_config.py and quantizers/;
// vllm-project/compressed-tensors, quantization/quant_args.py; vLLM's modelopt.py; config.json of
// the models in tests/workloads/models.
#pragma once

#include <string>
#include <vector>

#include "workloads/models/hf_json.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

/// Reads the object under `quantization_config` of the file (around `text_config` if that is read);
/// returns nothing without one. A method or keys that podsim does not understand become
/// StoredWeights::unknown: the rest of the file is read all the same.
StoredWeights read_stored_weights(HfConfig& config, const ModelSpec& model);

/// Returns the methods (`quant_method`) that are read.
std::vector<std::string> quantisation_methods();

}  // namespace podsim::workloads
