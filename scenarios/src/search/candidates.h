// The candidates of a search, each with its bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "scenarios/src/base/threads.h"
#include "scenarios/src/base/watch.h"
#include "scenarios/src/search/known_bounds.h"
#include "scenarios/src/search/mesh_space.h"
#include "scenarios/src/search/search_space.h"
#include "scenarios/src/search/setting_bounds.h"

namespace podsim::scenarios {

/// Bounds the plans of a space, piece by piece. A piece holds meshes of the same sizes under
/// settings of one machine, about as many as take a second. The machines are those of the space
/// that have the same meshes.
class Bounding {
public:
    explicit Bounding(const SearchSpace& space);

    [[nodiscard]] std::size_t machines() const { return machines_.size(); }
    /// Lists the meshes of a machine. Returns false if `stop`, which is called in between, ended
    /// the listing.
    [[nodiscard]] bool list(std::size_t machine, const std::function<bool()>& stop) const;
    /// Returns the number of pieces of a machine, whose meshes it lists if necessary.
    [[nodiscard]] std::size_t pieces(std::size_t machine) const;
    /// Return the number of plans of a machine and of one of its pieces. Plans that repeat others
    /// are left out, provided that their values are valid.
    [[nodiscard]] std::uint64_t plans(std::size_t machine) const;
    [[nodiscard]] std::uint64_t plans(std::size_t machine, std::size_t piece) const;
    /// Returns an upper bound of the plans of a machine whose meshes nobody has listed.
    [[nodiscard]] std::uint64_t most_plans(std::size_t machine) const;
    /// Bounds the plans of a piece; callable from several threads at once. Notifies `watch`, if
    /// there is one, after each plan; throws Stopped. `stop` receives whether there are plans to
    /// try; if it returns true, the rest is left unbounded.
    [[nodiscard]] BoundedPlans bound(
        std::size_t machine, std::size_t piece, Watch* watch = nullptr,
        const std::function<bool(bool)>& stop = [](bool) { return false; }) const;
    /// Bounds the plans of a rough group by their outlines, likewise from several threads.
    /// `enumerated` is 0 because these plans are already counted.
    [[nodiscard]] BoundedPlans refined(const RoughGroup& group, Watch* watch = nullptr) const;
    /// Returns this thread's cache of bounds of collectives.
    [[nodiscard]] std::shared_ptr<KnownBounds> known() const { return known_.shared(); }

private:
    struct Machine {
        std::vector<std::uint32_t> settings{};
        const MeshSpace* meshes = nullptr;  ///< null if the machine is invalid
        mutable std::once_flag is_cut{};
        /// Ends of the pieces of each class of meshes, the last class first.
        mutable std::vector<std::size_t> ends{};
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
