// The candidates of a search, each with what bounds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "scenarios/least/known_bounds.h"
#include "scenarios/ranks/threads.h"
#include "scenarios/space/mesh_space.h"
#include "scenarios/space/search_space.h"
#include "scenarios/space/setting_bounds.h"
#include "scenarios/watch/watch.h"

namespace podsim::scenarios {

/// Bounds the plans of a space, class by class: meshes of the same sizes, under all settings of one machine.
class Bounding {
public:
    explicit Bounding(const SearchSpace& space);

    [[nodiscard]] std::size_t classes() const { return tasks_.size(); }
    /// Of several threads at once. Tells `watch`, where there is one, after each mesh; throws Stopped.
    [[nodiscard]] BoundedPlans bound(std::size_t number, Watch* watch = nullptr) const;
    /// Those of a rough group, outlined, alike. `enumerated` is 0: they have been counted.
    [[nodiscard]] BoundedPlans refined(const RoughGroup& group, Watch* watch = nullptr) const;
    /// What this thread knows of collectives.
    [[nodiscard]] std::shared_ptr<KnownBounds> known() const { return known_.shared(); }

private:
    struct Task {
        std::vector<std::uint32_t> settings{};
        const MeshSpace* meshes = nullptr;  ///< none: the machine cannot be
        std::size_t sizes = 0;
    };

    [[nodiscard]] PlacedMesh placed_mesh(const MeshSpace& meshes, std::uint32_t number) const;

    const SearchSpace& space_;
    std::vector<Task> tasks_;
    mutable PerThread<KnownBounds> known_;
};

}  // namespace podsim::scenarios
