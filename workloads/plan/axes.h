// The logical axes of a device mesh, one row each: what a new way of sharding adds first.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topology/mesh/mesh.h"
#include "workloads/plan/ways.h"
#include "workloads/program/axis_names.h"

namespace podsim::workloads {

struct PlanAxis {
    std::string_view name;
    int Ways::*ways;           ///< where a plan keeps how many members it has
    std::string_view example;  ///< how a scenario writes it
    std::string_view meaning;
    /// Its turn to choose chips where sizes alone are given: the more an axis exchanges, the nearer its members; 0: after
    /// those that have a turn, in the order of the scenario.
    int turn_for_chips = 0;
    /// Its turn to take whole slices, which are far from each other; 0 as above.
    int turn_for_slices = 0;
    bool splits_batch = false;  ///< members have different sequences
    bool splits_matrices =
        false;  ///< members hold blocks of each matrix at work, and exchange activations
    /// Members hold parts of a layer's dense weights (all but routed experts), which are gathered before work.
    bool shares_weights = false;
    bool shares_experts = false;  ///< the same of the weights of a routed expert
    bool once_a_step =
        false;  ///< members exchange no more than once a microbatch, not in every layer
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

/// The row of that name; nullptr when no axis has it.
constexpr const PlanAxis* find_axis(std::string_view name) {
    for (const PlanAxis& row : kPlanAxes) {
        if (row.name == name) {
            return &row;
        }
    }
    return nullptr;
}

/// The names of the axes that have a property and, by `ways`, more than one member: `axes_with(&PlanAxis::splits_batch, ways)`.
std::vector<std::string> axes_with(bool PlanAxis::*property, const Ways& ways);
/// The product of the ways of all axes that have it.
std::int64_t ways_with(bool PlanAxis::*property, const Ways& ways);

/// What the axes have whose members share out a layer's dense weights: in inference members of `expert` have them all, as data
/// parallelism has (DeepSeek-V3, 2024, section 3.4: attention is data-parallel beside expert parallelism).
constexpr bool PlanAxis::*dense_weights_of(bool inference) {
    return inference ? &PlanAxis::shares_experts : &PlanAxis::shares_weights;
}

/// The size of each axis in a mesh; 1 where the mesh lacks it.
Ways ways_of(const topology::DeviceMesh& mesh);

/// The axes in whose turns sizes alone are given chips and slices.
topology::PlacingOrder placing_order();

}  // namespace podsim::workloads
