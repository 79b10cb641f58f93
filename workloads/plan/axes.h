// The logical axes of a device mesh, one row each: a new parallelism begins with its row here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topology/mesh/mesh.h"
#include "workloads/plan/axis_names.h"
#include "workloads/plan/ways.h"

namespace podsim::workloads {

struct PlanAxis {
    std::string_view name;
    int Ways::*ways;           ///< the plan's number of members
    std::string_view example;  ///< as a scenario writes it
    std::string_view meaning;
    /// Rank in the order of choosing chips if only sizes are given: the more an axis exchanges, the
    /// nearer its members. 0: after the ranked axes, in the order of the scenario.
    int turn_for_chips = 0;
    /// Rank in the order of taking whole slices, which are far from each other; 0 as above.
    int turn_for_slices = 0;
    bool splits_batch = false;  ///< members have different sequences
    /// Members hold blocks of each matrix at work, and exchange activations.
    bool splits_matrices = false;
    /// Members hold shards of a layer's dense weights (all but routed experts), which are gathered
    /// before work.
    bool shares_weights = false;
    bool shares_experts = false;  ///< the same for the weights of a routed expert
    /// Members exchange no more than once a microbatch, not in every layer.
    bool once_a_step = false;
};

/// In the order of Ways.
inline constexpr std::array<PlanAxis, 8> kPlanAxes{{
    {.name = axis::data,
     .ways = &Ways::data,
     .example = "x",
     .meaning = "replicated data parallelism",
     .turn_for_slices = 1,
     .splits_batch = true,
     .once_a_step = true},
    {.name = axis::fsdp,
     .ways = &Ways::fsdp,
     .example = "x/4 y z/2",
     .meaning = "fully sharded data parallelism (ZeRO-3)",
     .splits_batch = true,
     .shares_weights = true,
     .shares_experts = true},
    {.name = axis::context,
     .ways = &Ways::context,
     .example = "z%2",
     .meaning = "context parallelism: sequences are split, keys and values gathered",
     .turn_for_chips = 4,
     .shares_weights = true,
     .shares_experts = true},
    {.name = axis::tensor,
     .ways = &Ways::tensor,
     .example = "x%4",
     .meaning = "tensor parallelism",
     .turn_for_chips = 1,
     .splits_matrices = true},
    {.name = axis::tensor_transpose,
     .ways = &Ways::tensor_transpose,
     .example = "y",
     .meaning = "tensor parallelism over d_model too: with tensor, 2-D weight-stationary sharding",
     .turn_for_chips = 2,
     .splits_matrices = true},
    {.name = axis::cache,
     .ways = &Ways::cache,
     .example = "y",
     .meaning = "inference: more ways of tensor than key/value heads; the cache is split over "
                "sequences or their tokens",
     .turn_for_chips = 3,
     .splits_matrices = true},
    {.name = axis::expert,
     .ways = &Ways::expert,
     .example = "y",
     .meaning = "expert parallelism: tokens travel to their experts; else one more of fsdp",
     .splits_batch = true,
     .shares_weights = true},
    {.name = axis::pipeline,
     .ways = &Ways::pipeline,
     .example = "slice",
     .meaning = "pipeline stages, each with an equal run of layers",
     .turn_for_slices = 2,
     .once_a_step = true},
}};

/// Returns the row of that name; nullptr if no axis has it.
constexpr const PlanAxis* find_axis(std::string_view name) {
    for (const PlanAxis& row : kPlanAxes) {
        if (row.name == name) {
            return &row;
        }
    }
    return nullptr;
}

/// Returns the names of the axes that have a property and, by `ways`, more than one member:
/// `axes_with(&PlanAxis::splits_batch, ways)`.
std::vector<std::string> axes_with(bool PlanAxis::*property, const Ways& ways);
/// Returns the product of the ways of all axes that have the property.
std::int64_t ways_with(bool PlanAxis::*property, const Ways& ways);

/// Returns the property of the axes whose members shard a layer's dense weights. In inference each
/// member of `expert` has them all, as in data parallelism (DeepSeek-V3, 2024, section 3.4:
/// attention is data-parallel beside expert parallelism).
constexpr bool PlanAxis::*dense_weights_of(bool inference) {
    return inference ? &PlanAxis::shares_experts : &PlanAxis::shares_weights;
}

/// Returns the size of each axis in a mesh; 1 if the mesh lacks it.
Ways ways_of(const topology::DeviceMesh& mesh);

/// Returns the order in which axes with only sizes are given chips and slices.
topology::PlacingOrder placing_order();

}  // namespace podsim::workloads
