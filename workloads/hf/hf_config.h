// Models from Hugging Face's `config.json`.
//
// Keys and defaults are those of the configuration classes in huggingface.co's transformers library; strict about
// everything that changes the shapes. Of a multimodal model (a `text_config`) the text model is read.
#pragma once

#include <string>
#include <vector>

#include "workloads/models/model.h"

namespace podsim::workloads {

/// A key of a file and what is said about it.
struct HfKey {
    std::string name;
    std::string text;  ///< its value, or the reason why it changes nothing
};

/// A model and how its file was understood. Every key of the file (of its `text_config` where that is read) is in one
/// of the three lists, in the file's order.
struct HfReading {
    ModelSpec model;
    std::string family;                ///< the model_type that says how keys are read
    std::vector<HfKey> read;           ///< with their values
    std::vector<HfKey> ignored;        ///< known to leave a step's time as it is, with the reason
    std::vector<std::string> unknown;  ///< neither
    std::vector<std::string> notes;    ///< what of the architecture is simplified, and how
};

/// Throws sim::InputError at file:line:column: bad JSON, a wrong key at the key, a missing one at 1:1 with the key that may be a
/// slip of it, an optional one misspelt by one or two letters, an architecture by what of it is not modelled.
HfReading read_hf_config_fully(const std::string& path);

/// Every `model_type` that is read, but other names of the same.
std::vector<std::string> hf_family_names();

/// The model alone.
ModelSpec read_hf_config(const std::string& path);

}  // namespace podsim::workloads
