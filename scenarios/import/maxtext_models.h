// The models that MaxText knows by name (`model_name`), as a scenario has them.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/models/*.yml. Not here: those that podsim cannot say (linear or
// sparse attention, encoders).
#pragma once

#include <span>
#include <string_view>

namespace podsim::scenarios {

struct MaxTextNamedModel {
    std::string_view name;
    std::string_view model;  ///< `model` of a scenario
    /// Other keys of its config that podsim reads, `key=value` with blanks between.
    std::string_view besides{};
};

std::span<const MaxTextNamedModel> maxtext_models();

}  // namespace podsim::scenarios
