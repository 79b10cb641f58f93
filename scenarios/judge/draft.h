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
/// A slice as `v5p-16` says its `chip`, which may be empty then. The model is one of the catalogue, or the path of a Hugging Face config (.json), which
/// the text names from `folder`, that of the scenario's file. Throws sim::InputError for a chip, slice or model that there is not.
Draft draft_scenario(const std::string& given_chip, const std::string& slice,
                     const std::string& model, const std::string& folder = "");

}  // namespace podsim::scenarios
