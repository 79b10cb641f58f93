// The models that MaxText knows by name (`model_name`), as a scenario has them.
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/models/*.yml. Not here: those that podsim cannot say (linear or
// sparse attention, encoders): of those it is known why.
#pragma once

#include <span>
#include <string_view>

namespace podsim::scenarios {

struct MaxTextNamedModel {
    std::string_view name;
    std::string_view model;  ///< `model` of a scenario
    /// Other keys of its config that podsim reads, `key=value` with blanks between.
    std::string_view besides{};
    /// Its own `logical_axis_rules` split batch and weights over the axis `expert`, which is one more of fsdp.
    bool expert_axis_is_fsdp = false;
};

std::span<const MaxTextNamedModel> maxtext_models();

/// By its name, or that of another file of the same architecture (`-Instruct`, `-base`); nullptr without one.
const MaxTextNamedModel* find_maxtext_model(std::string_view name);
/// What podsim cannot say of a model that MaxText has; empty where MaxText has none of that name.
std::string_view maxtext_model_lacks(std::string_view name);

}  // namespace podsim::scenarios
