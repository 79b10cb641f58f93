// The models that podsim knows by name. A test derives every published parameter count from the
// shapes.
#include <array>
#include <string>
#include <vector>

#include "sim/nearest.h"
#include "workloads/model.h"

namespace podsim::workloads {
namespace {

constexpr std::size_t kLongestQuote = 80;  // of a name in a message

const std::array<ModelSpec, 3>& models() {
    static const std::array<ModelSpec, 3> catalogue{{
        {.name = "llama-2-13b",
         .source = "Touvron et al., Llama 2: Open Foundation and Fine-Tuned Chat Models, 2023; "
                   "config.json and parameter count of huggingface.co/meta-llama/Llama-2-13b-hf",
         .layers = 40,
         .d_model = 5120,
         .d_ff = 13824,
         .heads = 40,
         .kv_heads = 40,
         .head_dim = 128,
         .vocabulary = 32000,
         .published_parameters = 13'015'864'320},
        {.name = "llama-3-8b",
         .source = "The Llama 3 Herd of Models, 2024, table 3; config.json and parameter count of "
                   "huggingface.co/meta-llama/Meta-Llama-3-8B",
         .layers = 32,
         .d_model = 4096,
         .d_ff = 14336,
         .heads = 32,
         .kv_heads = 8,
         .head_dim = 128,
         .vocabulary = 128256,
         .published_parameters = 8'030'261'248},
        {.name = "llama-3-70b",
         .source = "The Llama 3 Herd of Models, 2024, table 3; config.json and parameter count of "
                   "huggingface.co/meta-llama/Meta-Llama-3-70B; "
                   "How to Scale Your Model, 2025, section 6",
         .layers = 80,
         .d_model = 8192,
         .d_ff = 28672,
         .heads = 64,
         .kv_heads = 8,
         .head_dim = 128,
         .vocabulary = 128256,
         .published_parameters = 70'553'706'496},
    }};
    return catalogue;
}

}  // namespace

std::span<const ModelSpec> model_catalogue() {
    return models();
}

const ModelSpec& find_model(std::string_view name) {
    std::vector<std::string> names;
    for (const ModelSpec& model : models()) {
        if (model.name == name) {
            return model;
        }
        names.push_back(model.name);
    }
    throw sim::unknown_name("model", name.substr(0, kLongestQuote), names);
}

}  // namespace podsim::workloads
