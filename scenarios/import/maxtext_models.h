// The models that MaxText knows by name (`model_name`), as a scenario has them.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/models/*.yml. Not here: those that podsim cannot say (linear attention, an
// index of sparse attention, encoders).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace podsim::scenarios {

struct MaxTextNamedModel {
    std::string_view name;
    std::string_view model;     ///< `model` of a scenario
    std::int64_t sequence = 0;  ///< where its config says it, too
};

std::span<const MaxTextNamedModel> maxtext_models();

}  // namespace podsim::scenarios
