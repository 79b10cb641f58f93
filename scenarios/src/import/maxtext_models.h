// The models that MaxText knows by name (`model_name`), as models of a scenario. Models that podsim
// cannot express (linear or sparse attention, encoders) are listed with the reason instead.
//
// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/configs/models/*.yml.
#pragma once

#include <span>
#include <string_view>

namespace podsim::scenarios {

struct MaxTextNamedModel {
    std::string_view name;
    std::string_view model;  ///< `model` of a scenario
    /// Other keys of its config that podsim reads, as `key=value`, separated by blanks.
    std::string_view besides{};
    /// True if its own `logical_axis_rules` split batch and weights over the axis `expert`, which
    /// then acts as one more fsdp.
    bool expert_axis_is_fsdp = false;
};

std::span<const MaxTextNamedModel> maxtext_models();

/// Returns the model by its name, or by that of another file of the same architecture (`-Instruct`,
/// `-base`); nullptr if there is none.
const MaxTextNamedModel* find_maxtext_model(std::string_view name);
/// Returns the feature of a MaxText model that podsim cannot express; empty if MaxText has no model
/// of that name.
std::string_view maxtext_model_lacks(std::string_view name);

}  // namespace podsim::scenarios
