// A first scenario for a chip, a slice and a model: `podsim init`.
#pragma once

#include <string>

namespace podsim::scenarios {

struct Draft {
    std::string text;   ///< YAML with comments, which loads and runs
    bool fits = false;  ///< in program order
};

/// A training step of one sequence a chip, in the first mesh of `fsdp` over all chips, then with `tensor` of 2, 4 and 8 neighbours
/// beside it, that the model allows and that fits; where none fits, the one that holds least. Sizes of an empty `slice`: one host.
/// Without a `chip` the slice is one that names it, `v5p-16`. The model is one of the catalogue, or the path of a Hugging Face config (.json), which
/// the text names from `folder`, that of the scenario's file. Throws sim::InputError for a chip, slice or model that there is not.
Draft draft_scenario(const std::string& chip, const std::string& slice, const std::string& model,
                     const std::string& folder = "");

}  // namespace podsim::scenarios
