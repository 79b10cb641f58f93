// Bounds of collectives that are known, of all plans of a machine: most collectives of a plan are those of others, too.
#pragma once

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "collectives/catalogue/bounds.h"
#include "collectives/paths/link_model.h"
#include "collectives/vocabulary/algorithm.h"
#include "collectives/vocabulary/group.h"
#include "scenarios/least/algorithm_links.h"
#include "scenarios/least/like_chips.h"
#include "scenarios/lower/known_collectives.h"
#include "scenarios/spec/hardware.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// Of one thread at a time.
class KnownBounds {
public:
    class OfMachine {
    public:
        /// Of a collective on its own; `find` is asked where it is not known.
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

        /// Of a group within a slice. What is returned stays where it is.
        const AlgorithmLinks& links(collectives::Operation operation,
                                    const topology::Lattice& slice,
                                    const collectives::Members& members) {
            const auto [entry, added] = links_.try_emplace({operation, lie_of(members)});
            if (added) {
                entry->second = algorithm_links(operation, slice, members.group);
            }
            return entry->second;
        }

        /// Which chips are alike in steps that are folded so. What is returned stays where it is.
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

    /// Those of a slice with these links. What is returned stays where it is.
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

    /// Of all machines.
    KnownCollectives& collectives() { return collectives_; }

private:
    std::map<std::vector<double>, OfMachine> machines_;
    KnownCollectives collectives_;
};

}  // namespace podsim::scenarios
