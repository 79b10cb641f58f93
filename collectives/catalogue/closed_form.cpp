#include "collectives/catalogue/closed_form.h"

#include <algorithm>

#include "collectives/algorithms/broadcast.h"
#include "collectives/algorithms/reduce_broadcast.h"
#include "collectives/algorithms/send.h"

namespace podsim::collectives {
namespace {

sim::Time times(std::int64_t count, sim::Time t) {
    return {count * t.ps};
}

}  // namespace

std::optional<sim::Time> closed_form(Operation operation, const topology::Lattice& slice,
                                     const Group& group, Algorithm algorithm, sim::Bytes v,
                                     const ScheduleOptions& options, const LinkModel& link,
                                     const Ends& ends) {
    if (operation == Operation::send) {
        return send_closed_form(slice, ends, v, options, link);
    }
    if (group_size(group) == 1) {
        return sim::Time{};
    }
    if (operation == Operation::broadcast) {
        return broadcast_closed_form(slice, group, ends.root, v, options, link);
    }
    if (operation == Operation::all_to_all || operation == Operation::permute ||
        is_rooted(operation)) {
        return std::nullopt;
    }
    if (group.size() != 1 || group[0].stride != 1) {
        return std::nullopt;
    }
    const int n = group[0].length;
    const bool ring = factor_kind(slice, group[0]).ring;
    const bool two_way = ring && algorithm != Algorithm::one_way;
    if (resolve(operation, algorithm, slice, group) == Algorithm::reduce_broadcast) {
        const std::int64_t m = reduce_broadcast_messages(group[0], v, options.message_cap);
        const sim::Time tau = sim::round_up(v / static_cast<double>(m) / link.rate);
        const sim::Time a = sim::round_up(link.latency);
        const bool additive = link.rule == sim::LatencyRule::additive;
        return times(m - 1, tau) +
               times(2 * std::int64_t{n / 2}, additive ? tau + a : std::max(tau, a));
    }
    const bool one_shot = algorithm == Algorithm::one_shot;
    if (operation == Operation::all_reduce && !one_shot) {
        if (!ring) {
            return std::nullopt;
        }
        const auto part = [&](Operation half) {
            return *closed_form(half, slice, group, algorithm, v, options, link);
        };
        return part(Operation::reduce_scatter) + part(Operation::all_gather);
    }

    const sim::Bytes block = one_shot ? v : v * (1.0 / n);
    const std::int64_t m = message_count(block, options.message_cap);
    const std::int64_t steps = two_way ? n / 2 : n - 1;
    const bool half_edge = two_way && n % 2 == 0;
    const std::int64_t edge_messages = half_edge && m > 1 ? m / 2 : m;
    // The shares of a block are computed as in the schedule, so that they round alike.
    const auto share = [&](double messages) {
        return sim::round_up(block * (messages / static_cast<double>(m)) / link.rate);
    };
    const sim::Time a = sim::round_up(link.latency);
    const sim::Time tau = share(1);
    const sim::Time edge = half_edge && m == 1 ? share(0.5) : times(edge_messages, tau);

    if (link.rule == sim::LatencyRule::additive) {
        return times(steps - 1, std::max(times(m, tau), tau + a)) + edge + a;
    }
    const auto before_last = static_cast<double>(edge_messages - 1);
    const sim::Time last = times(edge_messages - 1, tau) + a - share(before_last);
    return times(steps - 1, std::max(times(m, tau), a)) + std::max(edge, last);
}

}  // namespace podsim::collectives
