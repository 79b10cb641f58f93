#include "scenarios/src/scenario/search_section.h"

namespace podsim::scenarios {

const std::vector<OverName>& over_names() {
    static const std::vector<OverName> names{
        {"remat",
         "training.remat",
         {"none", "minimal_with_context", "minimal", "save_dot_with_context_except_mlp",
          "save_dot_except_mlp", "save_qkv_proj", "full", "minimal_offloaded",
          "{offload: [decoder_layer_input, qkv_proj, out_proj]}",
          "{offload: [decoder_layer_input, qkv_proj]}", "{offload: [decoder_layer_input]}"}},
        {"prefetch", "overlap.prefetch_layers", {"1", "2"}},
        {"overlap", "overlap.tensor", {"blocking", "two-way"}},
        {"weights", "overlap.weights", {"layer", "block", "matmul"}},
        {"schedule", "training.schedule", {"gpipe", "1f1b", "zero_bubble"}},
        {"microbatches", "training.microbatches", {"1", "2", "4", "8", "16"}},
    };
    return names;
}

std::vector<std::string> names_of_over() {
    std::vector<std::string> names{"mesh", "slice"};
    for (const OverName& one : over_names()) {
        names.emplace_back(one.name);
    }
    return names;
}

std::vector<std::string> usual_over(bool inference) {
    return inference ? std::vector<std::string>{"mesh", "prefetch"}
                     : std::vector<std::string>{"mesh", "remat", "prefetch", "overlap"};
}

}  // namespace podsim::scenarios
