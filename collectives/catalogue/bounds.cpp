#include "collectives/catalogue/bounds.h"

#include <algorithm>
#include <vector>

#include "collectives/algorithms/all_to_all.h"
#include "collectives/algorithms/broadcast.h"
#include "collectives/algorithms/gather_scatter.h"
#include "collectives/algorithms/permute.h"
#include "collectives/algorithms/send.h"
#include "collectives/catalogue/end_traffic.h"
#include "collectives/paths/routes.h"
#include "collectives/vocabulary/algorithm.h"

namespace podsim::collectives {
namespace {

using topology::AxisFactor;
using topology::Lattice;

/// Axes longer than this are only cut at their start: the bound stays true, and cheap.
constexpr int kCutEverywhere = 128;

/// Links of one direction between a member and other members: fewest and mean.
LinkCount links_per_member(const Lattice& slice, const Group& group) {
    LinkCount count;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        LinkCount on_axis;
        for (const AxisFactor& factor : group) {
            if (factor.axis != axis || factor.length == 1) {
                continue;
            }
            const bool ring = factor_kind(slice, factor).ring || spans_twisted_slice(slice, group);
            on_axis.fewest += ring ? 2 : 1;
            on_axis.mean += ring ? 2.0 : 2.0 * (factor.length - 1) / factor.length;
        }
        count.fewest += std::min(on_axis.fewest, 2.0);
        count.mean += std::min(on_axis.mean, 2.0);
    }
    return count;
}

/// Which of the group's cosets along `axis`, numbered from 0, each coordinate belongs to: coordinates of
/// one coset belong to members of one group.
std::vector<int> cosets_of(const Lattice& slice, const Group& group, int axis) {
    std::vector<int> coset(static_cast<std::size_t>(slice.length(axis)));
    int cosets = 0;
    for (int c = 0; c < slice.length(axis); ++c) {
        int base = c;
        for (const AxisFactor& factor : group) {
            if (factor.axis == axis) {
                base -= (base / factor.stride) % factor.length * factor.stride;
            }
        }
        // The base is the coset's first coordinate.
        coset[static_cast<std::size_t>(c)] =
            base == c ? cosets++ : coset[static_cast<std::size_t>(base)];
    }
    return coset;
}

/// Largest over arcs [begin, end) of one axis of the bytes that must enter the arc, divided by the
/// links that enter it, per unit of V and for one line of chips along the axis.
double worst_cut(Operation operation, const Lattice& slice, const Group& group, int axis) {
    const int length = slice.length(axis);
    const std::vector<int> coset = cosets_of(slice, group, axis);
    const int cosets = 1 + *std::max_element(coset.begin(), coset.end());
    std::vector<int> size(static_cast<std::size_t>(cosets));
    for (const int c : coset) {
        ++size[static_cast<std::size_t>(c)];
    }
    // One line along the axis stands for length / n groups' worth of members; the groups divide
    // evenly among the cosets.
    const double groups_per_coset = static_cast<double>(length) / group_size(group) / cosets;

    double worst = 0;
    std::vector<int> inside(static_cast<std::size_t>(cosets));
    const bool wraps = slice.wraps(axis);
    for (int begin = 0; begin < length; ++begin) {
        if (begin > 0 && length > kCutEverywhere) {
            break;
        }
        std::fill(inside.begin(), inside.end(), 0);
        for (int width = 1; width < length; ++width) {
            const int last = begin + width - 1;
            if (!wraps && last >= length) {
                break;
            }
            ++inside[static_cast<std::size_t>(coset[static_cast<std::size_t>(last % length)])];
            double bytes = 0;
            for (std::size_t k = 0; k < inside.size(); ++k) {
                const int in = inside[k];
                const int out = size[k] - in;
                if (in == 0 || out == 0) {
                    continue;
                }
                const double share =
                    operation == Operation::all_gather       ? static_cast<double>(out) / size[k]
                    : operation == Operation::reduce_scatter ? static_cast<double>(in) / size[k]
                                                             : 1.0;
                bytes += groups_per_coset * share;
            }
            const bool touches_edge = begin == 0 || last == length - 1;
            worst = std::max(worst, bytes / (!wraps && touches_edge ? 1.0 : 2.0));
        }
    }
    return worst;
}

}  // namespace

HandoverLinks handover_links(const topology::Lattice& slice, const topology::Point& displacement) {
    HandoverLinks links;
    for (const Route& route : minimal_routes(slice, displacement)) {
        ++links.routes;
        for (const Leg& leg : route.legs) {
            links.axes |= 1U << leg.axis;
        }
    }
    return links;
}

LinkCount links_per_chip(const topology::Lattice& slice, unsigned axes_mask) {
    LinkCount count;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        const int length = slice.length(axis);
        if (length == 1 || (axes_mask >> axis & 1U) == 0) {
            continue;
        }
        count.fewest += slice.wraps(axis) ? 2 : 1;
        count.mean += slice.wraps(axis) ? 2.0 : 2.0 * (length - 1) / length;
    }
    return count;
}

unsigned axes_mask(const Group& group) {
    unsigned mask = 0;
    for (const AxisFactor& factor : group) {
        mask |= 1U << factor.axis;
    }
    return mask;
}

LeastTraffic least_traffic(Operation operation, int members, sim::Bytes v) {
    if (members <= 1) {
        return {};
    }
    const double n = members;
    const sim::Bytes others = v * ((n - 1) / n);
    switch (operation) {
        case Operation::all_gather:
            return {others, v / n, others};
        case Operation::reduce_scatter:
            return {v / n, others, others};
        case Operation::all_reduce:
            return {v, v, 2.0 * others};
        case Operation::all_to_all:
            return {others / n, others / n, others / n};
        case Operation::permute:
        case Operation::send:
        case Operation::broadcast:
        case Operation::gather:
        case Operation::scatter:
            break;  // members are not alike
    }
    return {};
}

sim::Seconds physical_bound(Operation operation, const topology::Lattice& slice, const Group& group,
                            sim::Bytes v, sim::BytesPerSecond link_one_way, const Ends& ends) {
    if (operation == Operation::send) {
        return send_bound(slice, ends, v) / link_one_way;
    }
    if (group_size(group) <= 1) {
        return {};
    }
    if (operation == Operation::all_to_all) {
        return busiest_link(slice, group, v, ends) / link_one_way;
    }
    if (operation == Operation::permute) {
        return permute_bound(slice, group, ends.shift, v) / link_one_way;
    }
    if (operation == Operation::broadcast) {
        return broadcast_bound(slice, group, ends.root, v) / link_one_way;
    }
    if (is_rooted(operation)) {
        return spread_bound(slice, group, ends.root, v) / link_one_way;
    }
    const LeastTraffic least = least_traffic(operation, group_size(group), v);
    const LinkCount links = links_per_member(slice, group);
    double link_bytes =
        std::max({least.receive.value() / links.fewest, least.send.value() / links.fewest,
                  least.mean.value() / links.mean});
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        if ((axes_mask(group) >> axis & 1U) != 0) {
            link_bytes = std::max(link_bytes, v.value() * worst_cut(operation, slice, group, axis));
        }
    }
    return sim::Bytes(link_bytes) / link_one_way;
}

sim::Seconds physical_bound(Operation operation, const topology::Lattice& slice,
                            const Members& members, sim::Bytes v, sim::BytesPerSecond link_one_way,
                            const SliceLinks& links, const Ends& ends) {
    if (members.across.length == 1) {
        return physical_bound(operation, slice, members.group, v, link_one_way, ends);
    }
    const LeastTraffic chip = least_traffic(operation, members.size(), v);
    const LinkCount ici = links_per_member(slice, members.group);
    const sim::BytesPerSecond fewest = link_one_way * ici.fewest + links.pcie;
    const sim::BytesPerSecond mean = link_one_way * ici.mean + links.pcie;
    const sim::Seconds at_chip =
        std::max({chip.receive / fewest, chip.send / fewest, chip.mean / mean});

    const LeastTraffic between = least_traffic(operation, members.across.length, v);
    const double groups = static_cast<double>(slice.size()) / group_size(members.group);
    const sim::Bytes out = std::max({between.receive, between.send, between.mean}) * groups;
    const sim::BytesPerSecond all_pcie = links.pcie * static_cast<double>(slice.size());
    const sim::BytesPerSecond all_dcn = links.dcn * static_cast<double>(links.hosts);
    const double slices = members.across.length;
    const sim::Seconds within =
        operation == Operation::all_to_all
            ? physical_bound(operation, slice, members.group, v / slices / slices, link_one_way)
            : sim::Seconds{};
    return std::max({at_chip, out / all_dcn, out / all_pcie, within});
}

sim::Seconds book_time(Operation operation, const topology::Lattice& slice, const Group& group,
                       sim::Bytes v, sim::BytesPerSecond link_one_way, sim::Seconds hop_latency,
                       const Ends& ends) {
    if (operation == Operation::permute || operation == Operation::send || is_rooted(operation)) {
        const EndTraffic least = end_traffic(operation, slice, group, v, ends);
        return std::max(least.bytes / (link_one_way * least.links),
                        hop_latency * least.longest_way);
    }
    if (group_size(group) <= 1) {
        return {};
    }
    double hops = 0;
    double links = 0;
    unsigned counted = 0;
    bool all_rings = true;
    for (const AxisFactor& factor : group) {
        const bool ring = factor_kind(slice, factor).ring || spans_twisted_slice(slice, group);
        hops += ring ? factor.length / 2.0 : factor.length - 1;
        all_rings = all_rings && ring;
        if ((counted >> factor.axis & 1U) == 0) {
            links += ring ? 2 : 1;
            counted |= 1U << factor.axis;
        }
    }
    const double n = group_size(group);
    const sim::Bytes carried = all_rings ? v : v * ((n - 1) / n);
    const sim::Seconds gather = std::max(carried / (link_one_way * links), hop_latency * hops);
    switch (operation) {
        case Operation::all_reduce:
            return gather * 2.0;
        case Operation::all_to_all:
            return gather / 4.0;
        default:
            return gather;
    }
}

sim::Seconds book_time(Operation operation, const topology::Lattice& slice, const Members& members,
                       sim::Bytes v, sim::BytesPerSecond link_one_way, sim::Seconds hop_latency,
                       const SliceLinks& links, const Ends& ends) {
    const double slices = members.across.length;
    const bool all_to_all = operation == Operation::all_to_all;
    const sim::Seconds within =
        book_time(operation, slice, members.group, all_to_all ? v / slices / slices : v,
                  link_one_way, hop_latency, ends);
    if (members.across.length == 1) {
        return within;
    }
    const double groups = static_cast<double>(slice.size()) / group_size(members.group);
    const double times = all_to_all                           ? (slices - 1) / slices / slices
                         : operation == Operation::all_reduce ? 2
                                                              : 1;
    return std::max(within, v * (groups * times) / (links.dcn * static_cast<double>(links.hosts)));
}

}  // namespace podsim::collectives
