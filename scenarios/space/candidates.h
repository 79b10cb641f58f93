// The candidates of a search, each with what bounds it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/space/mesh_space.h"
#include "scenarios/space/search_space.h"
#include "scenarios/space/setting_bounds.h"
#include "scenarios/watch/watch.h"

namespace podsim::scenarios {

/// Bounds the plans of a space on `jobs` threads; what it gives does not depend on their number.
class Bounding {
public:
    Bounding(const SearchSpace& space, int jobs, Watch* watch)
        : space_(space), jobs_(jobs), watch_(watch) {}

    /// All; the rough groups ascending by bound.
    [[nodiscard]] BoundedPlans all() const;
    /// Those of some groups, outlined. `enumerated` is 0: they have been counted.
    [[nodiscard]] BoundedPlans refined(std::span<const RoughGroup> groups) const;

private:
    /// A class of meshes, under all settings that have it.
    struct Task {
        std::vector<std::uint32_t> settings{};
        const MeshSpace* meshes = nullptr;  ///< none: the machine cannot be
        std::size_t sizes = 0;
    };
    template <class Work>
    BoundedPlans collect(std::size_t count, Work work) const;
    [[nodiscard]] std::vector<Task> tasks() const;
    [[nodiscard]] BoundedPlans bound(const Task& task) const;

    const SearchSpace& space_;
    const int jobs_;
    Watch* const watch_;
};

}  // namespace podsim::scenarios
