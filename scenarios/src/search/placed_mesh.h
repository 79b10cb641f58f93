// A mesh that caches the lookups which bounds repeat. Each is computed once for all operations of a
// step, and for all plans on that mesh.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "collectives/vocabulary/group.h"
#include "topology/mesh/mesh.h"

namespace podsim::scenarios {

/// A mesh and the cache of its groups. It belongs to one thread at a time.
class PlacedMesh {
public:
    PlacedMesh(topology::DeviceMesh mesh)  // NOLINT(google-explicit-constructor): it is one
        : mesh_(std::move(mesh)) {}

    [[nodiscard]] const topology::DeviceMesh& mesh() const { return mesh_; }
    /// Returns the members of a collective over these axes. Throws sim::InputError
    /// (DeviceMesh::across).
    [[nodiscard]] const collectives::Members& members(const std::vector<std::string>& axes) const {
        const auto found = members_.find(axes);
        if (found != members_.end()) {
            return found->second;
        }
        return members_.emplace(axes, collectives::Members{mesh_.group(axes), mesh_.across(axes)})
            .first->second;
    }

private:
    topology::DeviceMesh mesh_;
    mutable std::map<std::vector<std::string>, collectives::Members> members_;
};

}  // namespace podsim::scenarios
