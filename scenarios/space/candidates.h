// The candidates of a search, each with what bounds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "scenarios/least/known_bounds.h"
#include "scenarios/ranks/threads.h"
#include "scenarios/space/mesh_space.h"
#include "scenarios/space/search_space.h"
#include "scenarios/space/setting_bounds.h"
#include "scenarios/watch/watch.h"

namespace podsim::scenarios {

/// Bounds the plans of a space, piece by piece: meshes of the same sizes, under settings of one machine, as many of them as a second is
/// enough for. Machines are those of the space that have the same meshes.
class Bounding {
public:
    explicit Bounding(const SearchSpace& space);

    [[nodiscard]] std::size_t machines() const { return machines_.size(); }
    /// Lists the meshes of a machine. False where `stop`, which is asked in between, ended that.
    [[nodiscard]] bool list(std::size_t machine, const std::function<bool()>& stop) const;
    /// Of a machine; lists its meshes unless they are.
    [[nodiscard]] std::size_t pieces(std::size_t machine) const;
    /// The plans of a machine, and of one of its pieces, without those that repeat others if their values can be.
    [[nodiscard]] std::uint64_t plans(std::size_t machine) const;
    [[nodiscard]] std::uint64_t plans(std::size_t machine, std::size_t piece) const;
    /// At most, of a machine whose meshes nobody has listed.
    [[nodiscard]] std::uint64_t most_plans(std::size_t machine) const;
    /// Of several threads at once. Tells `watch`, where there is one, after each plan; throws Stopped. Where `stop`, which hears whether
    /// there are plans to try, holds, the rest is left.
    [[nodiscard]] BoundedPlans bound(
        std::size_t machine, std::size_t piece, Watch* watch = nullptr,
        const std::function<bool(bool)>& stop = [](bool) { return false; }) const;
    /// Those of a rough group, outlined, alike. `enumerated` is 0: they have been counted.
    [[nodiscard]] BoundedPlans refined(const RoughGroup& group, Watch* watch = nullptr) const;
    /// What this thread knows of collectives.
    [[nodiscard]] std::shared_ptr<KnownBounds> known() const { return known_.shared(); }

private:
    struct Machine {
        std::vector<std::uint32_t> settings{};
        const MeshSpace* meshes = nullptr;  ///< none: the machine cannot be
        mutable std::once_flag is_cut{};
        mutable std::vector<std::size_t>
            ends{};  ///< of the pieces of each class of meshes, the last class first
    };
    struct Piece {
        std::span<const std::uint32_t> settings{};
        const MeshSpace::Class* sizes = nullptr;
    };

    [[nodiscard]] std::size_t settings_at_once(const MeshSpace::Class& sizes) const;
    [[nodiscard]] const std::vector<std::size_t>& ends(const Machine& machine) const;
    [[nodiscard]] Piece piece_of(const Machine& machine, std::size_t number) const;
    [[nodiscard]] PlacedMesh placed_mesh(const MeshSpace& meshes, std::uint32_t number) const;

    const SearchSpace& space_;
    std::deque<Machine> machines_;
    mutable PerThread<KnownBounds> known_;
};

}  // namespace podsim::scenarios
