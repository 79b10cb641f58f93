#include "collectives/algorithms/parts.h"

#include <algorithm>
#include <numeric>

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/algorithms/order_weights.h"
#include "collectives/paths/factors.h"

namespace podsim::collectives {
namespace {

constexpr std::size_t kAllOrders = 3;  ///< factors up to which every order is a part

/// load[a][o], scaled so that its largest entry is 1. Of a line, gathering fills the link into its end,
/// a tree (reduce_broadcast.h) every link alike: length / 2 in the units of a two-way ring's length - 1.
LoadTable loads(const topology::Lattice& slice, const Group& group, const std::vector<Part>& parts,
                bool trees) {
    LoadTable load(group.size(), std::vector<double>(parts.size()));
    double largest = 0;
    for (std::size_t o = 0; o < parts.size(); ++o) {
        double gathered = 1;
        for (std::size_t i = 0; i < parts[o].order.size(); ++i) {
            const auto a = static_cast<std::size_t>(parts[o].order[i]);
            const int length = parts[o].lengths[i];
            const FactorKind kind = factor_kind(slice, group[a]);
            const bool ring = walked_as_ring(slice, group, group[a]);
            const double blocks = ring ? (length - 1) / 2.0 : trees ? length / 2.0 : length - 1;
            load[a][o] = blocks * gathered * kind.links_per_hop;
            largest = std::max(largest, load[a][o]);
            gathered *= length;
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
    if (parts.size() > kFewOrders || (several && rings)) {
        std::vector<int> sizes(static_cast<std::size_t>(options.chunks), 1);
        for (std::size_t c = 1; c < sizes.size(); ++c) {
            sizes[c] = sizes[c - 1] * (c + 1 < sizes.size() ? 2 : 1);
        }
        return sizes;
    }
    const double block = call.bytes.value() / group_size(call.group());
    const double hop = options.hop_bytes.value();
    const int most = options.alike_chunks;
    const int half = (most + 1) / 2;
    return std::vector<int>(
        static_cast<std::size_t>(hop * most > block ? std::max(half, int(block / hop)) : most), 1);
}

}  // namespace podsim::collectives
