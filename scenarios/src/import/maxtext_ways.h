// The ways of MaxText's parallelisms, and their axes in a scenario. Private to the folder.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/src/import/maxtext_import.h"
#include "scenarios/src/import/maxtext_keys.h"

namespace podsim::scenarios {

/// The ways in the order of kMaxTextParallelisms.
using MaxTextWays = std::array<std::int64_t, kMaxTextParallelisms.size()>;

/// The axes in a scenario's order.
inline constexpr std::array kMaxTextAxes = std::to_array<std::string_view>(
    {"data", "pipeline", "fsdp", "context", "tensor", "tensor_transpose", "expert"});

/// Returns the axis of a parallelism; `expert` may be fsdp.
inline std::string_view maxtext_axis(std::size_t parallelism, const MaxTextModel& model) {
    const std::string_view axis = kMaxTextParallelisms[parallelism].axis;
    return axis == "expert" && model.expert_axis_is_fsdp ? "fsdp" : axis;
}

/// Returns the axes that `custom_mesh` makes, as in `fsdp: y/2 x/2`, `tensor: y%2 x%2`; none if
/// MaxText does not read it, or if a chip is several devices.
///
/// MaxText asks JAX for a mesh of 16 x 16 devices a[i, j] of each slice and cuts it into boxes of 2
/// x 2 (hybrid_ring_64x4) or 2 x 4 (hybrid_ring_32x8). Boxes follow each other in rows (j the
/// faster), and within a box the devices follow its edge. The 256 devices in this order are the
/// mesh of ici_*_parallelism, the last of them the fastest. So the last of the two parallelisms is
/// a box if it is 4 (8), and otherwise (4 before 64) rows of boxes. dcn_*_parallelism split the
/// slices, the last the fastest. Groups are MaxText's, and so is the order of their members, except
/// within a box, where it is that of the axes: a note describes the consequence. Throws
/// sim::InputError for what MaxText refuses: other names, other ways than 64 and 4 (32 and 8),
/// slices without 16 x 16 devices.
/// Source: AI-Hypercomputer/maxtext @e591f30, src/maxtext/utils/max_utils.py (is_valid_custom_mesh,
/// create_custom_device_mesh, reshape_mesh_to_rings) and maxtext_utils.py (create_device_mesh).
/// a[i, j] lies on the chips x = j, y = i of 16x16: jax/_src/mesh_utils.py @01a64421.
std::vector<std::string> maxtext_rings(MaxTextSettings& settings, const MaxTextMachine& machine,
                                       const MaxTextModel& model, const MaxTextWays& ici,
                                       const MaxTextWays& dcn, std::vector<std::string>& notes);

}  // namespace podsim::scenarios
