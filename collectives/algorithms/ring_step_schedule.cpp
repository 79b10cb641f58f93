#include "collectives/algorithms/ring_step_schedule.h"

#include <algorithm>
#include <cstdlib>

#include "collectives/algorithms/parts.h"
#include "collectives/algorithms/shipments.h"
#include "collectives/paths/factors.h"
#include "collectives/paths/roles.h"
#include "collectives/vocabulary/memory_passes.h"
#include "sim/base/error.h"

namespace podsim::collectives {
namespace {

/// A piece with its arrival time, in shares of V over one link.
struct Timed {
    double at = 0;
    SteppedGather::Piece piece;
};

class Stepping {
public:
    Stepping(const topology::Lattice& slice, const Group& group, bool two_way)
        : slice_(slice), group_(group), two_way_(two_way) {}

    SteppedGather run() {
        const double block = 1.0 / group_size(group_);
        for (const Part& part : divide(slice_, group_, Algorithm::automatic)) {
            if (part.weight <= 0) {
                continue;
            }
            std::vector<std::uint32_t> before;
            double held = part.weight * block;
            for (std::size_t i = 0; i < part.order.size(); ++i) {
                const std::vector<std::uint32_t> steps =
                    gather_along(part.order[i], part.lengths[i], held, before);
                before.insert(before.end(), steps.begin(), steps.end());
                held *= part.lengths[i];
            }
        }
        std::ranges::stable_sort(timed_, {}, &Timed::at);
        result_.pieces.push_back({block, {}});
        for (Timed& timed : timed_) {
            result_.pieces.push_back(std::move(timed.piece));
        }
        if (group_.size() == 1) {
            order_members(group_.front());
        }
        return std::move(result_);
    }

private:
    void order_members(const topology::AxisFactor& factor) {
        const bool ring = factor_kind(slice_, factor).ring;
        for (int member = 0; static_cast<int>(result_.ring.size()) < factor.length;) {
            result_.ring.push_back(member);
            member = ring ? member + 1 : next_by_twos(member, factor.length);
        }
    }

    std::vector<std::uint32_t> gather_along(int factor, int length, double block,
                                            const std::vector<std::uint32_t>& before) {
        const FactorKind kind = factor_kind(slice_, group_[static_cast<std::size_t>(factor)]);
        const bool both = two_way_ && kind.ring;
        if (both && length == 2) {
            const std::uint32_t step = add({factor, 0, block, before, true}, block / 2, kind);
            timed_.push_back({times_[step], {block, {step}}});
            return {step};
        }
        std::vector<std::uint32_t> steps;
        std::vector<std::uint32_t> last[2] = {before, before};
        for (int distance = 1; distance <= (both ? length / 2 : length - 1); ++distance) {
            const bool half = both && 2 * distance == length;
            Timed opposite;
            for (const int direction : both ? std::vector{1, -1} : std::vector{1}) {
                auto& behind = last[direction < 0 ? 1 : 0];
                const double share = half ? block / 2 : block;
                const std::uint32_t step =
                    add({factor, direction, share, behind, distance == 1}, share, kind);
                behind = {step};
                steps.push_back(step);
                if (half) {
                    opposite.at = times_[step];
                    opposite.piece.share += share;
                    opposite.piece.steps.push_back(step);
                } else {
                    timed_.push_back({times_[step], {share, {step}}});
                }
            }
            if (half) {
                timed_.push_back(std::move(opposite));
            }
        }
        return steps;
    }

    /// Adds a step and returns its index. `one_way` is the fraction of V that it sends over one
    /// link.
    std::uint32_t add(SteppedGather::Step step, double one_way, const FactorKind& kind) {
        double begins = 0;
        for (const std::uint32_t before : step.after) {
            begins = std::max(begins, times_[before]);
        }
        times_.push_back(begins + one_way * kind.links_per_hop);
        result_.steps.push_back(std::move(step));
        return static_cast<std::uint32_t>(result_.steps.size() - 1);
    }

    const topology::Lattice& slice_;
    const Group& group_;
    const bool two_way_;
    std::vector<double> times_;  ///< arrival of each step
    std::vector<Timed> timed_;
    SteppedGather result_;
};

/// Returns the member before this position: the one whose next it is.
int before_by_twos(int position, int length) {
    int member = 0;
    while (next_by_twos(member, length) != position) {
        ++member;
    }
    return member;
}

/// Returns by how many members forward along the factor the step moves a block.
int move(const Roles& roles, std::uint32_t role, const RingStep& step, int length) {
    if (roles.ring(step.factor)) {
        return step.direction;
    }
    const int position = roles.position(role, step.factor);
    return (step.direction > 0 ? next_by_twos(position, length)
                               : before_by_twos(position, length)) -
           position;
}

std::vector<Shipment> round_the_ring(const Roles& roles, const RingStep& step,
                                     const topology::AxisFactor& factor) {
    std::vector<Shipment> shipments;
    const auto send = [&](std::uint32_t role, int members, sim::Bytes bytes) {
        const int direction = members > 0 ? 1 : -1;
        std::uint32_t destination = role;
        for (int i = 0; i != members; i += direction) {
            destination = *roles.neighbour(destination, step.factor, direction);
        }
        shipments.push_back({.source = role,
                             .destination = destination,
                             .legs = {{factor.axis, direction, std::abs(members) * factor.stride}},
                             .bytes = bytes});
    };
    for (std::uint32_t role = 0; role < roles.count(); ++role) {
        if (step.direction == 0) {
            send(role, 1, step.bytes / 2);
            send(role, -1, step.bytes / 2);
        } else {
            send(role, move(roles, role, step, factor.length), step.bytes);
        }
    }
    return shipments;
}

/// Roles are the members along the factor.
std::vector<Shipment> along_the_factor(const RingStep& step, const topology::AxisFactor& factor) {
    std::vector<Shipment> shipments;
    for (int member = step.senders->first; member <= step.senders->second; ++member) {
        shipments.push_back({.source = static_cast<std::uint32_t>(member),
                             .destination = static_cast<std::uint32_t>(member + step.direction),
                             .legs = {{factor.axis, step.direction, factor.stride}},
                             .bytes = step.bytes});
    }
    return shipments;
}

}  // namespace

int next_by_twos(int position, int length) {
    if (position % 2 == 1) {
        return position == 1 ? 0 : position - 2;
    }
    if (position + 2 < length) {
        return position + 2;
    }
    return position + 1 < length ? position + 1 : position - 1;
}

SteppedGather step_gather(const topology::Lattice& slice, const Group& group, bool two_way) {
    if (spans_twisted_slice(slice, group)) {
        throw sim::InputError(
            "single ring steps over the whole of a twisted slice are not available",
            "write blocking, or use part of the slice's axes");
    }
    return Stepping(slice, group, two_way).run();
}

CollectiveSchedule build_ring_step(const topology::Lattice& slice, const Group& group,
                                   const RingStep& step, Motion motion,
                                   const ScheduleOptions& options, ShiftTable& shifts) {
    const topology::AxisFactor& factor = group[static_cast<std::size_t>(step.factor)];
    if ((options.dead_links.axes() >> factor.axis & 1U) != 0) {
        throw sim::InputError(
            "a single ring step cannot run: it does not go round the dead links "
            "of its axis",
            "use blocking collectives, or leave the links of that axis alive");
    }
    const Roles roles(slice, group, {}, step.senders.has_value());
    const std::vector<Shipment> shipments =
        step.senders ? along_the_factor(step, factor) : round_the_ring(roles, step, factor);
    std::vector<std::uint32_t> role_of_place;
    role_of_place.reserve(static_cast<std::size_t>(shifts.places().size()));
    for (int place = 0; place < shifts.places().size(); ++place) {
        role_of_place.push_back(roles.of(shifts.places(), place));
    }
    CollectiveSchedule built = ship(shipments, roles.count(), std::move(role_of_place), slice,
                                    options.message_cap, shifts);
    for (sim::Transfer& transfer : built.schedule.transfers) {
        transfer.writes = motion == Motion::reduce ? kPassesOfSum : kWritesOfCopy;
    }
    return built;
}

}  // namespace podsim::collectives
