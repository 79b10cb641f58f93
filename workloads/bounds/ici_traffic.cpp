#include "workloads/bounds/ici_traffic.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "collectives/catalogue/bounds.h"
#include "workloads/bounds/known_kinds.h"
#include "workloads/bounds/least_traffic.h"
#include "workloads/program/alike_work.h"

namespace podsim::workloads {
namespace {

void add_links(std::vector<double>& sum, const std::vector<double>& more) {
    sum.resize(std::max(sum.size(), more.size()));
    for (std::size_t link = 0; link < more.size(); ++link) {
        sum[link] += more[link];
    }
}

/// Sum over the operations of a program, for one program after the other.
class Traffic {
public:
    Traffic(const StepPrograms& programs, const topology::Lattice& slice,
            const topology::DeviceMesh& mesh)
        : programs_(programs), slice_(slice), mesh_(mesh), members_(mesh) {}

    IciTraffic of(std::size_t program) {
        program_ = program;
        sum_ = {};
        on_trees_.clear();
        const std::vector<Op>& ops = programs_.programs[program].ops;
        OfAlike<Share> shares(programs_.programs[program]);
        for (OpIndex op = 0; op < ops.size(); ++op) {
            if (const auto* handover = std::get_if<Handover>(&ops[op].work)) {
                add(*handover);
            } else if (const auto* collective = std::get_if<Collective>(&ops[op].work)) {
                add(shares.of(op, [&] { return share_of(*collective); }));
            }
        }
        for (std::size_t number = 0; number < on_trees_.size(); ++number) {
            if (on_trees_[number] > 0) {
                sum_.carried.add_tree(collectives::gaps_between(members_[number].group),
                                      on_trees_[number]);
            }
        }
        return std::move(sum_);
    }

private:
    void add(const Handover& handover) {
        const auto way = way_of(handover, program_, programs_, mesh_);
        if (way.slices != 0) {
            return;
        }
        const collectives::HandoverLinks links = collectives::handover_links(slice_, way.chips);
        const collectives::LeastTraffic least = handed(handover);
        count(links.axes, least, least.mean * links.links);
        for (int axis = 0; axis < topology::kAxes; ++axis) {
            const int apart = std::abs(way.chips[static_cast<std::size_t>(axis)]);
            sum_.carried.add_along(
                axis,
                least.mean.value() *
                    (slice_.wraps(axis) ? std::min(apart, slice_.length(axis) - apart) : apart));
        }
    }

    /// Traffic that one collective adds.
    struct Share {
        bool within_slices = false;
        unsigned axes = 0;
        collectives::LeastTraffic least{};
        sim::Bytes carried;
        int axis = 0;
        double along_axis = 0;
        std::optional<collectives::LeastCarried> between_ends;
        std::size_t members = 0;
        double on_trees = 0;
    };

    Share share_of(const Collective& collective) {
        Share share;
        share.members = members_.number(collective.axes);
        const auto& [group, across] = members_[share.members];
        share.within_slices = across.length == 1;
        if (!share.within_slices) {
            return share;
        }
        share.axes = collectives::axes_mask(group);
        const int members = collectives::group_size(group);
        if (collective.step && collective.step->senders) {
            share.least = shifted(collective, members);
            share.carried = share.least.mean;
            share.axis = group.front().axis;
            share.along_axis = share.least.mean.value() * group.front().stride;
            return share;
        }
        share.least =
            collective.operation == collectives::Operation::permute ? permuted(collective, members)
            : collective.loads.empty()
                ? collectives::least_traffic(collective.operation, members, collective.bytes)
                : exchanged(collective, program_ % collective.loads.size());
        share.between_ends = carried_of(collective, group);
        share.carried = share.between_ends ? share.between_ends->all : share.least.mean;
        if (!share.between_ends && members > 1) {
            share.on_trees = share.least.mean.value() / (members - 1);
        }
        return share;
    }

    void add(const Share& share) {
        if (!share.within_slices) {
            return;
        }
        count(share.axes, share.least, share.carried);
        if (share.along_axis > 0) {
            sum_.carried.add_along(share.axis, share.along_axis);
        }
        if (share.between_ends) {
            carry(*share.between_ends);
        }
        if (share.on_trees > 0) {
            on_trees_.resize(std::max(on_trees_.size(), share.members + 1));
            on_trees_[share.members] += share.on_trees;
        }
    }

    /// Adds traffic on a set of axes. `carried`: the bytes that links carry in a twisted slice,
    /// also on other axes, which can be more than the bytes that chips receive.
    void count(unsigned axes, collectives::LeastTraffic least, sim::Bytes carried) {
        if (slice_.twisted()) {
            sum_.by_axes.back().mean += carried - least.mean;
        } else {
            least.mean = {};
        }
        sum_.by_axes.at(axes) += least;
    }

    const std::optional<collectives::LeastCarried>& carried_of(const Collective& collective,
                                                               const collectives::Group& group) {
        return carried_.of(collective, [&] {
            collectives::CollectiveCall call;
            call.operation = collective.operation;
            call.slice = slice_;
            call.members.group = group;
            call.bytes = collective.bytes;
            call.ends = ends_of(collective, slice_, mesh_);
            return collectives::least_carried(call);
        });
    }

    void carry(const collectives::LeastCarried& carried) {
        for (int axis = 0; axis < topology::kAxes; ++axis) {
            const auto at = static_cast<std::size_t>(axis);
            sum_.carried.add_along(axis, carried.on_axis.at(at).value());
            add_links(sum_.up.at(at), carried.up.at(at));
            add_links(sum_.down.at(at), carried.down.at(at));
        }
    }

    const StepPrograms& programs_;
    const topology::Lattice& slice_;
    const topology::DeviceMesh& mesh_;
    KnownMembers members_;
    KnownKinds<std::optional<collectives::LeastCarried>> carried_;  ///< the same for all programs
    /// Program under way. The axis of unequal experts is the last of the programs' axes.
    std::size_t program_ = 0;
    /// [number of members]: bytes along each tree that joins a group.
    std::vector<double> on_trees_;
    IciTraffic sum_;
};

}  // namespace

collectives::LeastTraffic IciTraffic::within(unsigned set) const {
    collectives::LeastTraffic sum{};
    for (unsigned axes = 1; axes < kSets; ++axes) {
        if ((axes & ~set) == 0) {
            sum += by_axes.at(axes);
        }
    }
    return sum;
}

std::vector<IciTraffic> ici_traffic(const StepPrograms& programs, const topology::Lattice& slice,
                                    const topology::DeviceMesh& mesh) {
    Traffic traffic(programs, slice, mesh);
    std::vector<IciTraffic> all;
    for (std::size_t p = 0; p < programs.programs.size(); ++p) {
        all.push_back(traffic.of(p));
    }
    return all;
}

double busiest_cut(const std::vector<IciTraffic>& programs, int axis) {
    double busiest = 0;
    for (const auto links : {&IciTraffic::up, &IciTraffic::down}) {
        std::vector<double> least = (programs.front().*links).at(static_cast<std::size_t>(axis));
        for (const IciTraffic& one : programs) {
            const std::vector<double>& other = (one.*links).at(static_cast<std::size_t>(axis));
            least.resize(std::min(least.size(), other.size()));
            for (std::size_t link = 0; link < least.size(); ++link) {
                least[link] = std::min(least[link], other[link]);
            }
        }
        for (const double bytes : least) {
            busiest = std::max(busiest, bytes);
        }
    }
    return busiest;
}

collectives::Ends ends_of(const Collective& collective, const topology::Lattice& slice,
                          const topology::DeviceMesh& mesh) {
    collectives::Ends ends;
    ends.shift = collective.shift;
    if (collective.loads.empty()) {
        return ends;
    }
    ends.returning = collective.returning;
    std::vector<std::string> others;
    for (const topology::LogicalAxis& axis : mesh.axes()) {
        if (std::ranges::count(collective.axes, axis.name) == 0) {
            others.push_back(axis.name);
        }
    }
    // The loads are those of the first chip's group, in the order in which the slice numbers chips.
    for (int chip = 0; chip < slice.size(); ++chip) {
        const topology::Point point = slice.point(chip);
        if (mesh.rank(others, point, 0) == 0) {
            ends.loads.push_back(
                collective.loads[static_cast<std::size_t>(mesh.rank(collective.axes, point, 0))]);
        }
    }
    return ends;
}

}  // namespace podsim::workloads
