#include "collectives/algorithms/ring_bounds.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "collectives/algorithms/messages.h"
#include "collectives/algorithms/parts.h"
#include "collectives/paths/factors.h"
#include "collectives/paths/link_load.h"

namespace podsim::collectives {
namespace {

using topology::AxisFactor;
using topology::Lattice;

/// Longer axes are only cut at their start: the bound stays true, and cheap.
constexpr int kCutEverywhere = 128;

/// Returns for each coordinate its coset along `axis`, numbered from 0: coordinates of one coset
/// belong to members of one group.
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

/// Returns the smallest rotation of a wrapped axis that only renumbers its cosets: arcs that begin
/// further on repeat those that begin before.
int turn_to_itself(const std::vector<int>& coset, int cosets) {
    const std::size_t length = coset.size();
    std::vector<int> turned_to(static_cast<std::size_t>(cosets));
    for (std::size_t turn = 1; turn < length; ++turn) {
        std::ranges::fill(turned_to, -1);
        bool same = true;
        for (std::size_t c = 0; same && c < length; ++c) {
            int& image = turned_to[static_cast<std::size_t>(coset[c])];
            const int there = coset[(c + turn) % length];
            same = image == -1 || image == there;
            image = there;
        }
        if (same) {
            return static_cast<int>(turn);
        }
    }
    return static_cast<int>(length);
}

/// The fraction of V, held by one coset with `inside` and `outside` members of a cut, that must
/// enter the cut.
using EnteringShare = double (*)(int inside, int outside);

double share_gathered(int inside, int outside) {
    return static_cast<double>(outside) / (inside + outside);
}
double share_scattered(int inside, int outside) {
    return static_cast<double>(inside) / (inside + outside);
}
double share_reduced(int /*inside*/, int /*outside*/) {
    return 1;
}

/// Returns the worst cut among arcs [begin, end) of one axis: the bytes that must enter the arc
/// over the links that enter it. The unit is V, for one line of chips along the axis.
double worst_cut(const Lattice& slice, const Group& group, int axis, EnteringShare entering) {
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
    const int begins = length > kCutEverywhere ? 1 : wraps ? turn_to_itself(coset, cosets) : length;
    for (int begin = 0; begin < begins; ++begin) {
        std::fill(inside.begin(), inside.end(), 0);
        for (int width = 1; width < length; ++width) {
            const int last = begin + width - 1;
            if (!wraps && last >= length) {
                break;
            }
            ++inside[static_cast<std::size_t>(coset[static_cast<std::size_t>(last % length)])];
            double bytes = 0;
            for (std::size_t k = 0; k < inside.size(); ++k) {
                const int out = size[k] - inside[k];
                if (inside[k] != 0 && out != 0) {
                    bytes += groups_per_coset * entering(inside[k], out);
                }
            }
            const bool touches_edge = begin == 0 || last == length - 1;
            worst = std::max(worst, bytes / (!wraps && touches_edge ? 1.0 : 2.0));
        }
    }
    return worst;
}

/// Returns a chip's links by axis. An axis whose one factor is a line counts the links between its
/// members, since the others lie between neighbouring groups. Other axes count all links.
AxisWeights links_between(const Lattice& slice, const Group& group) {
    AxisWeights links = links_by_axis(slice);
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        const auto on_axis = [&](const AxisFactor& factor) { return factor.axis == axis; };
        const auto factor = std::ranges::find_if(group, on_axis);
        if (std::ranges::count_if(group, on_axis) == 1 && !factor_kind(slice, *factor).ring) {
            links.at(static_cast<std::size_t>(axis)) = 2.0 * (factor->length - 1) / factor->length;
        }
    }
    return links;
}

/// Returns the bytes on a link of trees that join the members of every group and bring `mean` bytes
/// to each member, on average, if members are adjacent.
double on_trees(const CollectiveCall& call, sim::Bytes mean) {
    LinkLoad load;
    load.add_tree(gaps_between(call.group()), mean.value() / (group_size(call.group()) - 1));
    return load.most(links_between(call.slice, call.group())).bytes;
}

sim::Bytes busiest(const CollectiveCall& call, const LeastTraffic& least, EnteringShare entering) {
    const LinkCount links = links_per_member(call.slice, call.group());
    double link_bytes =
        std::max({least.receive.value() / links.fewest, least.send.value() / links.fewest,
                  least.mean.value() / links.mean});
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        if ((axes_mask(call.group()) >> axis & 1U) != 0) {
            link_bytes =
                std::max(link_bytes,
                         call.bytes.value() * worst_cut(call.slice, call.group(), axis, entering));
        }
    }
    return sim::Bytes(call.slice.twisted() ? link_bytes
                                           : std::max(link_bytes, on_trees(call, least.mean)));
}

/// Returns the load; `both` means that the call reduces and gathers, which counts twice for
/// algorithms that do one after the other.
AlgorithmLoad load_of(const CollectiveCall& call, bool both) {
    const topology::Lattice& slice = call.slice;
    const Group& group = call.group();
    const bool one_shot = call.algorithm == Algorithm::one_shot;
    const bool twice = both && !one_shot;
    const bool whole = spans_twisted_slice(slice, group);
    const double members = one_shot ? 1.0 : group_size(group);
    std::vector<double> bytes(group.size());
    AlgorithmLoad load;
    for (const Part& part : divide(slice, group, call.algorithm)) {
        int hops = 0;
        double held = call.bytes.value() * part.weight / members;
        for (std::size_t i = 0; i < part.order.size(); ++i) {
            const auto f = static_cast<std::size_t>(part.order[i]);
            const int length = part.lengths[i];
            const bool ring = whole || factor_kind(slice, group[f]).ring;
            const bool two_way = ring && call.algorithm != Algorithm::one_way;
            const double blocks = two_way ? (length - 1) / (twice ? 1.0 : 2.0)
                                  : ring  ? (length - 1) * (twice ? 2.0 : 1.0)
                                          : length - (twice ? 0 : 1);
            bytes[f] += held * blocks * group[f].stride;
            hops += (two_way ? length / 2 : length - 1) * group[f].stride;
            held *= one_shot ? 1 : length;
        }
        load.hops = std::max(load.hops, twice ? 2 * hops : hops);
    }
    for (const double on_factor : bytes) {
        load.bytes = std::max(load.bytes, sim::Bytes(on_factor));
    }
    return load;
}

bool on_rings_alone(const CollectiveCall& call, const ScheduleOptions& options) {
    return !call.members.span_slices() && options.dead_links.axes() == 0 &&
           !spans_twisted_slice(call.slice, call.group()) &&
           std::ranges::all_of(call.group(), [&](const AxisFactor& factor) {
               return factor_kind(call.slice, factor).ring;
           });
}

/// The load of one phase (all parts together, by its position in their orders) on a link along a
/// factor, in one direction.
struct FactorLoad {
    double bytes = 0;
    double messages = 0;
    double largest = 0;  ///< bytes of a message
    int hops = 0;        ///< one after the other
};
using PhaseLoad = std::vector<FactorLoad>;  ///< [factor]

std::vector<PhaseLoad> phase_loads(const CollectiveCall& call, const ScheduleOptions& options) {
    const Group& group = call.group();
    const bool two_way = call.algorithm != Algorithm::one_way;
    const std::vector<Part> parts = divide(call.slice, group, call.algorithm);
    const std::vector<int> chunks = chunk_sizes(call, parts, true, options);
    const double units = std::accumulate(chunks.begin(), chunks.end(), 0);
    std::vector<PhaseLoad> loads(group.size(), PhaseLoad(group.size()));
    for (const Part& part : parts) {
        double held = call.bytes.value() * part.weight / group_size(group);
        for (std::size_t i = 0; i < part.order.size(); ++i) {
            const auto f = static_cast<std::size_t>(part.order[i]);
            const int length = part.lengths[i];
            const int steps = two_way ? length / 2 : length - 1;
            FactorLoad& load = loads[i][f];
            load.bytes += held * (length - 1) / (two_way ? 2 : 1) * group[f].stride;
            load.hops = std::max(load.hops, steps * group[f].stride);
            for (const int chunk : chunks) {
                const sim::Bytes block(held * chunk / units);
                const double pieces = message_count(block, options.message_cap);
                load.largest = std::max(load.largest, block.value() / pieces);
                // Two more if a block is a whole number of messages except for the rounding of its
                // size.
                load.messages += steps * (pieces + 2) * group[f].stride;
            }
            held *= length;
        }
    }
    return loads;
}

}  // namespace

std::optional<sim::Time> latest_end(const CollectiveCall& call, const ScheduleOptions& options,
                                    const LinkModel& link) {
    if (call.algorithm == Algorithm::one_shot || call.algorithm == Algorithm::flat ||
        !on_rings_alone(call, options)) {
        return std::nullopt;
    }
    std::vector<PhaseLoad> phases = phase_loads(call, options);
    // The recursion starts at the last phase; a ReduceScatter begins with the last of an AllGather.
    if (call.operation != Operation::reduce_scatter) {
        std::ranges::reverse(phases);
    }
    const double latency = static_cast<double>(sim::round_up(link.latency).ps);
    const auto ps_of = [&](double bytes) { return bytes / link.rate.value() * 1e12; };
    std::vector<double> largest_later(call.group().size());
    double messages = 0;
    double latest = 0;
    for (const PhaseLoad& phase : phases) {
        double of_phase = 0;
        for (std::size_t f = 0; f < phase.size(); ++f) {
            // A picosecond for the rounding of each message, and of each that may have been begun.
            const FactorLoad& load = phase[f];
            of_phase = std::max(of_phase, ps_of(load.bytes) + load.messages +
                                              load.hops * (latency + ps_of(largest_later[f]) + 1));
            largest_later[f] = std::max(largest_later[f], load.largest);
            messages += load.messages;
        }
        latest += of_phase;
    }
    if (2 * messages > kMostMessages) {
        return std::nullopt;  // it may be too large to be built
    }
    return sim::whole_picoseconds(latest * (1 + 1e-9));
}

LeastTraffic all_gather_traffic(double n, sim::Bytes v) {
    const sim::Bytes others = v * ((n - 1) / n);
    return {.receive = others, .send = v / n, .mean = others};
}

LeastTraffic reduce_scatter_traffic(double n, sim::Bytes v) {
    const sim::Bytes others = v * ((n - 1) / n);
    return {.receive = v / n, .send = others, .mean = others};
}

LeastTraffic all_reduce_traffic(double n, sim::Bytes v) {
    const sim::Bytes others = v * ((n - 1) / n);
    return {.receive = v, .send = v, .mean = 2.0 * others};
}

sim::Bytes all_gather_bound(const CollectiveCall& call) {
    return busiest(call, all_gather_traffic(group_size(call.group()), call.bytes), share_gathered);
}

sim::Bytes reduce_scatter_bound(const CollectiveCall& call) {
    return busiest(call, reduce_scatter_traffic(group_size(call.group()), call.bytes),
                   share_scattered);
}

sim::Bytes all_reduce_bound(const CollectiveCall& call) {
    return busiest(call, all_reduce_traffic(group_size(call.group()), call.bytes), share_reduced);
}

AlgorithmLoad load_once(const CollectiveCall& call) {
    return load_of(call, false);
}

AlgorithmLoad load_twice(const CollectiveCall& call) {
    return load_of(call, true);
}

std::vector<double> held_along(const Lattice& slice, const Group& group, Algorithm algorithm) {
    std::vector<double> held(group.size());
    for (const Part& part : divide(slice, group, algorithm)) {
        double share = part.weight / group_size(group);
        for (std::size_t i = 0; i < part.order.size(); ++i) {
            held[static_cast<std::size_t>(part.order[i])] += share;
            share *= part.lengths[i];
        }
    }
    return held;
}

}  // namespace podsim::collectives
