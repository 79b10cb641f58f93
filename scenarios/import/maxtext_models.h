// The models that MaxText knows by name (`model_name`), as a scenario has them.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/models/*.yml. Not here: those that podsim cannot say (linear attention, an
// index of sparse attention, encoders), and those whose config says the sequence, too (gpt3-6b, gpt3-22b).
#pragma once

#include <span>
#include <string_view>

namespace podsim::scenarios {

struct MaxTextNamedModel {
    std::string_view name;
    std::string_view model;  ///< `model` of a scenario
};

std::span<const MaxTextNamedModel> maxtext_models();

}  // namespace podsim::scenarios
