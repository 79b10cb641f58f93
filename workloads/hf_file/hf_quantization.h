// How a file's `quantization_config` stores the weights.
//
// A matrix of K rows and N columns takes K N elements of the stated bits, and beside them scales and zero points: of the whole matrix (tensor), of
// each column (channel), of each group of g rows in each column (N ceil(K / g) of them), or of each block. Modules that the file names as not
// converted, routers, biases, norms and embeddings stay 2 bytes an element, and so does the unembedding but where a method says
// otherwise. What podsim keeps apart (StoredWeights) gets the mean of its matrices.
// Source: huggingface/transformers, utils/quantization_config.py and quantizers/; vllm-project/compressed-tensors, quantization/quant_args.py;
// vLLM's modelopt.py; config.json of the models in tests/workloads/hf_file.
#pragma once

#include <string>
#include <vector>

#include "workloads/hf_file/hf_json.h"
#include "workloads/models/model.h"

namespace podsim::workloads {

/// Of the object under `quantization_config` of the file (around `text_config` where that is read). Nothing without one. A method that podsim
/// cannot say, and keys that it does not understand, are StoredWeights::unknown: the rest of the file is read all the same.
StoredWeights read_stored_weights(HfConfig& config, const ModelSpec& model);

/// The methods (`quant_method`) that are read.
std::vector<std::string> quantisation_methods();

}  // namespace podsim::workloads
