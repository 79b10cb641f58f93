// A mesh, and what bounds ask of it over and over, each worked out once: for all operations of a step, and for all plans on that mesh.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectives/vocabulary/group.h"
#include "scenarios/least/tree_links.h"
#include "topology/mesh/mesh.h"

namespace podsim::scenarios {

/// Of one thread at a time.
class PlacedMesh {
public:
    PlacedMesh(topology::DeviceMesh mesh)  // NOLINT(google-explicit-constructor): it is one
        : mesh_(std::move(mesh)) {}

    [[nodiscard]] const topology::DeviceMesh& mesh() const { return mesh_; }
    /// Of a collective over these axes. Throws sim::InputError (DeviceMesh::across).
    [[nodiscard]] const collectives::Members& members(const std::vector<std::string>& axes) const {
        return entry(axes).members;
    }
    /// By set of physical axes (link_sums.h); `slice` is the mesh's.
    [[nodiscard]] const LinkCounts& tree_links(const topology::Lattice& slice,
                                               const std::vector<std::string>& axes) const {
        Entry& found = entry(axes);
        if (!found.tree) {
            found.tree = scenarios::tree_links(slice, found.members.group);
        }
        return *found.tree;
    }
    [[nodiscard]] const LinkCounts& pair_links(const topology::Lattice& slice,
                                               const std::vector<std::string>& axes) const {
        Entry& found = entry(axes);
        if (!found.pair) {
            found.pair = scenarios::pair_links(slice, found.members.group);
        }
        return *found.pair;
    }

private:
    struct Entry {
        collectives::Members members{};
        std::optional<LinkCounts> tree{};
        std::optional<LinkCounts> pair{};
    };
    Entry& entry(const std::vector<std::string>& axes) const {
        const auto found = entries_.find(axes);
        if (found != entries_.end()) {
            return found->second;
        }
        return entries_.emplace(axes, Entry{.members = {mesh_.group(axes), mesh_.across(axes)}})
            .first->second;
    }

    topology::DeviceMesh mesh_;
    mutable std::map<std::vector<std::string>, Entry> entries_;
};

}  // namespace podsim::scenarios
