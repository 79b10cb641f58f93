// Caches of results for a step's collectives: it has thousands, of a few kinds over a few axes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "collectives/vocabulary/group.h"
#include "topology/mesh/mesh.h"
#include "workloads/program/step_program.h"

namespace podsim::workloads {

/// Cache of members by axes. It serves one thread at a time, and the mesh outlives it.
class KnownMembers {
public:
    explicit KnownMembers(const topology::DeviceMesh& mesh) : mesh_(mesh) {}

    /// Returns the number of these axes' members. Throws sim::InputError (DeviceMesh::across).
    std::size_t number(const std::vector<std::string>& axes) {
        const auto found = std::ranges::find(
            known_, axes, [](const auto& one) -> const auto& { return one.first; });
        if (found != known_.end()) {
            return static_cast<std::size_t>(found - known_.begin());
        }
        known_.emplace_back(axes, collectives::Members{mesh_.group(axes), mesh_.across(axes)});
        return known_.size() - 1;
    }
    /// Returns the members by number. The reference is valid until others are numbered.
    const collectives::Members& operator[](std::size_t number) const {
        return known_[number].second;
    }
    const collectives::Members& of(const std::vector<std::string>& axes) {
        return (*this)[number(axes)];
    }

private:
    const topology::DeviceMesh& mesh_;
    std::vector<std::pair<std::vector<std::string>, collectives::Members>> known_;
};

/// Cache of values by kind of collective. It serves one thread at a time, and the collectives
/// outlive it. Beyond the first kMost kinds a value is computed anew each time.
template <class Value>
class KnownKinds {
public:
    /// Returns the value of a collective, which `find` computes if it is not cached. The reference
    /// is valid until the next call.
    template <class Find>
    const Value& of(const Collective& collective, Find find) {
        const auto known =
            std::ranges::find_if(known_, [&](const auto& one) { return *one.first == collective; });
        if (known != known_.end()) {
            return known->second;
        }
        if (known_.size() < kMost) {
            return known_.emplace_back(&collective, find()).second;
        }
        beyond_ = find();
        return beyond_;
    }

private:
    static constexpr std::size_t kMost = 64;

    std::vector<std::pair<const Collective*, Value>> known_;
    Value beyond_{};
};

}  // namespace podsim::workloads
