#include "collectives/algorithms/parts.h"

#include <algorithm>
#include <numeric>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/algorithms/order_weights.h"
#include "collectives/paths/factors.h"

namespace podsim::collectives {
namespace {

/// Fractions of a collective's time: the longer wait for hops that one chunk less may cost, and the
/// rounding difference of sums of its phases.
constexpr double kWorthAChunk = 1e-3;
constexpr double kRounding = 1e-9;
/// Groups of at most this many factors take every order as a part.
constexpr std::size_t kAllOrders = 3;

/// Returns the time that a part puts on the busiest link along each factor, by position in the
/// part's order and for each byte that a member has. On a line, a gather fills the link into its
/// end; a tree (reduce_broadcast.h) fills every link equally: length / 2, in units in which a
/// two-way ring has (length - 1) / 2.
std::vector<double> link_times(const topology::Lattice& slice, const Group& group, const Part& part,
                               bool trees) {
    std::vector<double> times;
    double gathered = 1;
    for (std::size_t i = 0; i < part.order.size(); ++i) {
        const topology::AxisFactor& factor = group[static_cast<std::size_t>(part.order[i])];
        const int length = part.lengths[i];
        const bool ring = walked_as_ring(slice, group, factor);
        const double blocks = ring ? (length - 1) / 2.0 : trees ? length / 2.0 : length - 1;
        times.push_back(blocks * gathered * factor_kind(slice, factor).links_per_hop);
        gathered *= length;
    }
    return times;
}

/// Returns load[a][o], scaled so that its largest entry is 1.
LoadTable loads(const topology::Lattice& slice, const Group& group, const std::vector<Part>& parts,
                bool trees) {
    LoadTable load(group.size(), std::vector<double>(parts.size()));
    double largest = 0;
    for (std::size_t o = 0; o < parts.size(); ++o) {
        const std::vector<double> times = link_times(slice, group, parts[o], trees);
        for (std::size_t i = 0; i < times.size(); ++i) {
            load[static_cast<std::size_t>(parts[o].order[i])][o] = times[i];
            largest = std::max(largest, times[i]);
        }
    }
    for (std::vector<double>& row : load) {
        for (double& value : row) {
            value /= largest;
        }
    }
    return load;
}

std::vector<Part> all_orders(std::size_t factors) {
    std::vector<int> order(factors);
    std::iota(order.begin(), order.end(), 0);
    std::vector<Part> parts;
    do {
        parts.push_back({order, {}, 0});
    } while (std::next_permutation(order.begin(), order.end()));
    return parts;
}

std::vector<Part> rotations(std::size_t factors) {
    std::vector<int> order(factors);
    std::iota(order.begin(), order.end(), 0);
    std::vector<Part> parts;
    for (std::size_t turn = 0; turn < factors; ++turn) {
        parts.push_back({order, {}, 1.0 / static_cast<double>(factors)});
        std::rotate(order.begin(), order.begin() + 1, order.end());
    }
    return parts;
}

/// Fills in the members along each factor, in the part's order.
void set_lengths(const topology::Lattice& slice, const Group& group, std::vector<Part>& parts) {
    for (Part& part : parts) {
        if (spans_twisted_slice(slice, group)) {
            part.lengths = ring_lengths(slice, group, part.order);
            continue;
        }
        for (const int index : part.order) {
            part.lengths.push_back(group[static_cast<std::size_t>(index)].length);
        }
    }
}

/// Returns 1, 2, 4, ..., the last as large as the one before it.
std::vector<int> growing(int count) {
    std::vector<int> sizes(static_cast<std::size_t>(count), 1);
    for (std::size_t c = 1; c < sizes.size(); ++c) {
        sizes[c] = sizes[c - 1] * (c + 1 < sizes.size() ? 2 : 1);
    }
    return sizes;
}

/// The phases of an AllGather, the i-th of all parts together. Earlier phases go first at every
/// link, and within one phase the chunks in their order. A ReduceScatter goes through them
/// backwards in time. The unit is the time that a link takes for a member's block.
class PhaseTimes {
public:
    PhaseTimes(const CollectiveCall& call, const std::vector<Part>& parts)
        : parts_(parts),
          until_(parts[0].order.size() + 1, std::vector<double>(call.group().size())) {
        for (const Part& part : parts) {
            const std::vector<double> times = link_times(call.slice, call.group(), part, false);
            double hops = 0;
            for (std::size_t i = 0; i < times.size(); ++i) {
                const auto f = static_cast<std::size_t>(part.order[i]);
                const topology::AxisFactor& factor = call.group()[f];
                const bool ring = walked_as_ring(call.slice, call.group(), factor);
                hops += factor_kind(call.slice, factor).links_per_hop *
                        (ring ? part.lengths[i] / 2 : part.lengths[i] - 1);
                hops_.push_back(hops);
                until_[i + 1][f] += part.weight * times[i];
            }
        }
        for (std::size_t i = 1; i < until_.size(); ++i) {
            for (std::size_t f = 0; f < until_[i].size(); ++f) {
                until_[i][f] += until_[i - 1][f];
            }
        }
    }

    /// Returns the longest time that links wait for a chunk that is still in the phase before.
    /// `hop` is a link's latency.
    [[nodiscard]] double longest_wait(const std::vector<int>& sizes, double hop) const {
        const double units = std::accumulate(sizes.begin(), sizes.end(), 0);
        double longest = 0;
        auto hops = hops_.begin();
        for (const Part& part : parts_) {
            for (std::size_t i = 0; i + 1 < part.order.size(); ++i, ++hops) {
                const auto before = static_cast<std::size_t>(part.order[i]);
                const auto then = static_cast<std::size_t>(part.order[i + 1]);
                double share = 0;  // of the chunks before
                for (const int size : sizes) {
                    const double free = at(i + 1, then, share);
                    share += size / units;
                    longest = std::max(longest, at(i, before, share) + *hops * hop - free);
                }
            }
            ++hops;  // no phase follows the last
        }
        return longest;
    }
    /// Returns the time of the links along the slowest factor, if none waits.
    [[nodiscard]] double total() const { return std::ranges::max(until_.back()); }

private:
    /// Returns the time at which links along a factor have done the given share of a phase, if none
    /// has waited.
    [[nodiscard]] double at(std::size_t phase, std::size_t factor, double share) const {
        return until_[phase][factor] * (1 - share) + until_[phase + 1][factor] * share;
    }

    const std::vector<Part>& parts_;
    std::vector<std::vector<double>> until_;  ///< [phase][factor]: time of the phases before it
    /// For each part, [phase]: hops one after the other, to the end of the phase.
    std::vector<double> hops_;
};

/// Returns the fewest growing chunks that do as well as `most`. `hop` is a link's latency.
std::vector<int> as_few_as_do(const PhaseTimes& phases, int most, double hop) {
    const auto loses = [&](int count, double of_hop) {
        return (phases.longest_wait(growing(count), of_hop) -
                phases.longest_wait(growing(most), of_hop)) /
               phases.total();
    };
    int count = std::min(2, most);
    while (count < most && (loses(count, 0) > kRounding || loses(count, hop) > kWorthAChunk)) {
        ++count;
    }
    return growing(count);
}

}  // namespace

Algorithm fastest_for_large(const Group& group) {
    return group.size() > 1 ? Algorithm::weighted : Algorithm::two_way;
}

std::vector<Part> divide(const topology::Lattice& slice, const Group& group, Algorithm algorithm) {
    if (group.empty()) {
        return {};
    }
    if (algorithm == Algorithm::automatic) {
        algorithm = fastest_for_large(group);
    }
    if (algorithm == Algorithm::equal_parts || algorithm == Algorithm::one_shot) {
        std::vector<Part> parts = rotations(group.size());
        set_lengths(slice, group, parts);
        return parts;
    }
    const bool trees = algorithm == Algorithm::reduce_broadcast;
    if ((algorithm != Algorithm::weighted && !trees) || group.size() == 1) {
        std::vector<Part> whole{{std::vector<int>(group.size()), {}, 1.0}};
        std::iota(whole[0].order.begin(), whole[0].order.end(), 0);
        set_lengths(slice, group, whole);
        return whole;
    }
    std::vector<Part> parts =
        group.size() <= kAllOrders ? all_orders(group.size()) : rotations(group.size());
    set_lengths(slice, group, parts);
    const std::vector<double> weights = order_weights(loads(slice, group, parts, trees));
    double sum = 0;
    for (std::size_t o = 0; o < parts.size(); ++o) {
        parts[o].weight = weights[o] > 1e-6 ? weights[o] : 0;
        sum += parts[o].weight;
    }
    std::erase_if(parts, [](const Part& part) { return part.weight == 0; });
    for (Part& part : parts) {
        part.weight /= sum;
    }
    return parts;
}

std::vector<int> chunk_sizes(const CollectiveCall& call, const std::vector<Part>& parts, bool rings,
                             const ScheduleOptions& options) {
    const bool several = parts.size() > 1;
    if (!several && (call.group().size() < 2 || call.algorithm != Algorithm::weighted)) {
        return {1};
    }
    const double block = call.bytes.value() / group_size(call.group());
    const double hop = options.hop_bytes.value();
    if (parts.size() > kFewOrders) {
        return as_few_as_do(PhaseTimes(call, parts), options.chunks, hop / block);
    }
    if (several && rings) {
        return growing(options.chunks);
    }
    const int most = options.alike_chunks;
    const int half = (most + 1) / 2;
    return std::vector<int>(
        static_cast<std::size_t>(hop * most > block ? std::max(half, int(block / hop)) : most), 1);
}

}  // namespace podsim::collectives
