// Caches bounds of collectives for all plans of a machine: most collectives of a plan also occur in
// others.
#pragma once

#include <array>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "collectives/paths/link_model.h"
#include "collectives/vocabulary/algorithm.h"
#include "collectives/vocabulary/group.h"
#include "collectives/vocabulary/operation.h"
#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/search/like_chips.h"
#include "scenarios/src/simulate/known_collectives.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"
#include "topology/lattice/lattice.h"

namespace podsim::scenarios {

// Bytes that the algorithms of an AllGather or a ReduceScatter, and single ring steps, put on the
// links of a slice.
//
// Along a factor of f members and stride s, a member forwards blocks of h bytes
// (collectives/algorithms/ring_bounds.h, held_along). On a ring every link carries (f - 1) / 2
// blocks in each direction. On a line the link up from member i carries the blocks of the i + 1
// members at or below it for an AllGather, and the f - 1 - i sums for the members above it for a
// ReduceScatter. The links down mirror these. Members of s - 1 other groups lie between two members
// of a group, and their blocks pass the same links. In a run of s f chips the link up from chip i s
// + q therefore carries
//     the blocks of q + 1 groups from member i to i + 1, and those of s - 1 - q from i - 1 to i.
// All groups use the same algorithm, and all lines of chips along an axis carry the same.
//
// A step (collectives/algorithms/ring_step_schedule.h) of b bytes per member puts s b on every link
// of a ring, all in one direction or half in each. On a line, each of the s lines in a run loads
// its links once in each direction. The links up from the chips q of a run, first to last, carry
//     min(q + 1, s, s f - 1 - q)
// lines.

/// Link loads per byte of a group's complete array. Empty for other operations and on twisted tori.
struct AlgorithmLinks {
    /// Bytes of a block, by algorithm and factor.
    std::vector<std::vector<double>> held;
    /// Bytes that all groups send up from a chip to the next, by axis and chip: the minimum over
    /// the algorithms. Empty for an axis without traffic.
    std::array<std::vector<double>, topology::kAxes> up;
};

/// Link loads of all groups per byte that a member sends in a step along a factor.
struct StepLinks {
    /// Loads of every link of a ring's axis.
    double forward = 0;
    double back = 0;
    /// Load of the link up from each chip of a line's axis; the links down mirror these.
    std::vector<double> up{};
};

/// Returns the loads on a slice that is not twisted.
StepLinks step_links(const topology::Lattice& slice, const topology::AxisFactor& factor,
                     int direction);

AlgorithmLinks algorithm_links(collectives::Operation operation, const topology::Lattice& slice,
                               const collectives::Group& group);

/// Cache of bounds of collectives. It belongs to one thread at a time.
class KnownBounds {
public:
    class OfMachine {
    public:
        /// Returns the bound of a collective on its own. Calls `find` if it is not in the cache.
        template <class Find>
        sim::Time of(collectives::Operation operation, const collectives::Members& members,
                     sim::Bytes bytes, Find find) {
            const auto [entry, added] =
                times_.try_emplace(Key{operation, lie_of(members), bytes.value()});
            if (added) {
                entry->second = find();
            }
            return entry->second;
        }

        /// Returns the link loads of a group within a slice. The reference stays valid.
        const AlgorithmLinks& links(collectives::Operation operation,
                                    const topology::Lattice& slice,
                                    const collectives::Members& members) {
            const auto [entry, added] = links_.try_emplace({operation, lie_of(members)});
            if (added) {
                entry->second = algorithm_links(operation, slice, members.group);
            }
            return entry->second;
        }

        /// Returns the chips that are alike in steps folded in this manner. The reference stays
        /// valid.
        const LikeChips& like(const topology::Lattice& slice, const topology::Places& folded,
                              bool mirrored) {
            std::vector<int> key{mirrored ? 1 : 0, folded.slices};
            for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
                key.push_back(folded.chips.lengths[axis]);
                key.push_back(folded.chips.wrapped[axis] ? 1 : 0);
                const topology::Point& shift = folded.chips.wrap_shift[axis];
                key.insert(key.end(), shift.begin(), shift.end());
            }
            return like_.try_emplace(std::move(key), slice, folded, mirrored).first->second;
        }

    private:
        using Lie = std::vector<int>;
        using Key = std::tuple<collectives::Operation, Lie, double>;

        static Lie lie_of(const collectives::Members& members) {
            Lie lie{members.across.stride, members.across.length};
            lie.reserve(lie.size() + 3 * members.group.size());
            for (const topology::AxisFactor& factor : members.group) {
                lie.insert(lie.end(), {factor.axis, factor.stride, factor.length});
            }
            return lie;
        }

        std::map<Key, sim::Time> times_;
        std::map<std::vector<int>, LikeChips> like_;
        std::map<std::pair<collectives::Operation, Lie>, AlgorithmLinks> links_;
    };

    /// Returns the cache of a slice with these links. The reference stays valid.
    OfMachine& of(const Hardware& hardware, const collectives::LinkModel& link,
                  const collectives::SliceLinks& between) {
        const topology::Lattice& slice = hardware.slice;
        std::vector<double> key{link.rate.value(),
                                link.latency.value(),
                                static_cast<double>(link.rule),
                                between.pcie.value(),
                                between.dcn.value(),
                                between.pcie_latency.value(),
                                between.dcn_latency.value(),
                                static_cast<double>(between.hosts)};
        for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
            key.push_back(slice.lengths[axis]);
            key.push_back(slice.wrapped[axis] ? 1 : 0);
            key.insert(key.end(), slice.wrap_shift[axis].begin(), slice.wrap_shift[axis].end());
        }
        return machines_[std::move(key)];
    }

    /// Returns the cache of collectives of all machines.
    KnownCollectives& collectives() { return collectives_; }

private:
    std::map<std::vector<double>, OfMachine> machines_;
    KnownCollectives collectives_;
};

}  // namespace podsim::scenarios
