// The members of a step's collectives, found once for all that are over the same axes: a step has thousands over a few.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "collectives/vocabulary/group.h"
#include "topology/mesh/mesh.h"

namespace podsim::workloads {

/// Of one thread at a time, and of a mesh that outlives it.
class KnownMembers {
public:
    explicit KnownMembers(const topology::DeviceMesh& mesh) : mesh_(mesh) {}

    /// Valid until the next call. Throws sim::InputError (DeviceMesh::across).
    const collectives::Members& of(const std::vector<std::string>& axes) {
        const auto found = std::ranges::find(
            known_, axes, [](const auto& one) -> const auto& { return one.first; });
        if (found != known_.end()) {
            return found->second;
        }
        known_.emplace_back(axes, collectives::Members{mesh_.group(axes), mesh_.across(axes)});
        return known_.back().second;
    }

private:
    const topology::DeviceMesh& mesh_;
    std::vector<std::pair<std::vector<std::string>, collectives::Members>> known_;
};

}  // namespace podsim::workloads
