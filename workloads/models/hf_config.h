// Models from Hugging Face's `config.json`.
//
// Keys and defaults are those of the configuration classes in huggingface.co's transformers
// library. Reading is strict about everything that changes the shapes. In a multimodal model (a
// `text_config`) it reads the text model.
#pragma once

#include <string>
#include <vector>

#include "workloads/models/model.h"

namespace podsim::workloads {

/// A key of a file, with its value or a reason.
struct HfKey {
    std::string name;
    std::string text;  ///< its value, or the reason why it changes nothing
};

/// A model and the reading of its file. Every key of the file (of its `text_config` if that is
/// read) is in one of the three lists, in the file's order.
struct HfReading {
    ModelSpec model;
    std::string family;       ///< the model_type that decides how keys are read
    std::vector<HfKey> read;  ///< with their values
    /// Keys that leave a step's time as it is, with the reason.
    std::vector<HfKey> ignored;
    std::vector<std::string> unknown;  ///< neither
    std::vector<std::string> notes;    ///< simplifications of the architecture
};

/// Throws sim::InputError at file:line:column. A wrong key is reported at the key, a missing one at
/// 1:1 with the key that may be a misspelling of it. Bad JSON and an optional key misspelt by one
/// or two letters are errors, too. An architecture is refused with the feature that is not
/// modelled.
HfReading read_hf_config_fully(const std::string& path);

/// Returns every `model_type` that is read, without other names of the same family.
std::vector<std::string> hf_family_names();

/// Reads the model alone.
ModelSpec read_hf_config(const std::string& path);

}  // namespace podsim::workloads
