#include "collectives/algorithms/ring_times.h"

#include <algorithm>

#include "collectives/algorithms/messages.h"
#include "collectives/algorithms/reduce_broadcast.h"
#include "collectives/paths/factors.h"

namespace podsim::collectives {
namespace {

bool one_factor_of_neighbours(const Group& group) {
    return group.size() == 1 && group[0].stride == 1;
}

bool on_ring(const CollectiveCall& call) {
    return factor_kind(call.slice, call.group()[0]).ring;
}

/// Returns the time of blocks of the given bytes from every member to all others.
sim::Time blocks_to_all(const CollectiveCall& call, sim::Bytes block,
                        const ScheduleOptions& options, const LinkModel& link) {
    const int n = call.group()[0].length;
    const bool two_way = on_ring(call) && call.algorithm != Algorithm::one_way;
    const std::int64_t m = message_count(block, options.message_cap);
    const std::int64_t steps = two_way ? n / 2 : n - 1;
    const bool half_edge = two_way && n % 2 == 0;
    const std::int64_t edge_messages = half_edge && m > 1 ? m / 2 : m;
    // The fractions of a block are computed as in the schedule, so that they round alike.
    const auto share = [&](double messages) {
        return sim::round_up(block * (messages / static_cast<double>(m)) / link.rate);
    };
    const sim::Time a = sim::round_up(link.latency);
    const sim::Time tau = share(1);
    const sim::Time edge = half_edge && m == 1 ? share(0.5) : tau * edge_messages;

    if (link.rule == sim::LatencyRule::additive) {
        return std::max(tau * m, tau + a) * (steps - 1) + edge + a;
    }
    const auto before_last = static_cast<double>(edge_messages - 1);
    const sim::Time last = tau * (edge_messages - 1) + a - share(before_last);
    return std::max(tau * m, a) * (steps - 1) + std::max(edge, last);
}

}  // namespace

std::optional<sim::Time> time_once(const CollectiveCall& call, const ScheduleOptions& options,
                                   const LinkModel& link) {
    if (!one_factor_of_neighbours(call.group())) {
        return std::nullopt;
    }
    return blocks_to_all(call, call.bytes * (1.0 / call.group()[0].length), options, link);
}

std::optional<sim::Time> time_twice(const CollectiveCall& call, const ScheduleOptions& options,
                                    const LinkModel& link) {
    if (!one_factor_of_neighbours(call.group())) {
        return std::nullopt;
    }
    if (call.algorithm == Algorithm::reduce_broadcast) {
        return reduce_broadcast_on_line(call, options, link);
    }
    if (call.algorithm == Algorithm::one_shot) {
        return blocks_to_all(call, call.bytes, options, link);
    }
    if (!on_ring(call)) {
        return std::nullopt;
    }
    return *time_once(call, options, link) * 2;
}

}  // namespace podsim::collectives
