#include "collectives/closed_form.h"

#include <algorithm>

namespace podsim::collectives {
namespace {

sim::Time times(std::int64_t count, sim::Time t) {
    return {count * t.ps};
}

}  // namespace

std::optional<sim::Time> closed_form(Operation operation, const topology::Lattice& slice,
                                     const Group& group, Algorithm algorithm, sim::Bytes v,
                                     const ScheduleOptions& options, const LinkModel& link) {
    if (group_size(group) == 1) {
        return sim::Time{};
    }
    if (group.size() != 1 || group[0].stride != 1) {
        return std::nullopt;
    }
    const int n = group[0].length;
    const bool ring = factor_kind(slice, group[0]).ring;
    const bool two_way = ring && algorithm != Algorithm::one_way;
    if (operation == Operation::all_reduce) {
        if (!ring) {
            return std::nullopt;
        }
        const auto part = [&](Operation half) {
            return *closed_form(half, slice, group, algorithm, v, options, link);
        };
        return part(Operation::reduce_scatter) + part(Operation::all_gather);
    }

    const sim::Bytes block = v / n;
    const std::int64_t m = message_count(block, options.message_cap);
    const std::int64_t steps = two_way ? n / 2 : n - 1;
    const bool half_edge = two_way && n % 2 == 0;
    const sim::Time a = sim::round_up(link.latency);
    const sim::Time tau = sim::round_up(block / static_cast<double>(m) / link.rate);
    const sim::Time edge = !half_edge ? times(m, tau)
                           : m == 1   ? sim::round_up(block / 2.0 / link.rate)
                                      : times(m / 2, tau);
    const sim::Time busy = times((steps - 1) * m, tau) + edge;

    if (link.rule == sim::LatencyRule::additive) {
        return std::max(busy, times(steps - 1, tau + a) + edge) + a;
    }
    if (operation == Operation::all_gather || m == 1) {
        return times(steps - 1, std::max(times(m, tau), a)) + std::max(edge, a);
    }
    return a <= times(m, tau) ? busy : times(steps, a);
}

}  // namespace podsim::collectives
