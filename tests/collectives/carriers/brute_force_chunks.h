// The chunks into which a part of a collective is cut, as the brute force has them: written anew, not taken from parts.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/collectives/carriers/collective_support.h"

namespace podsim::collectives {

struct BruteForceChunks {
    std::vector<int> sizes;  ///< in units
    bool waves = false;      ///< some go before all others
};

/// As many as a member's block holds a hop's bytes, from half of the most up to that.
inline int alike_chunks(const Case& c) {
    int chunks = c.options.alike_chunks;
    const double block = c.v.value() / group_size(c.group);
    while (2 * (chunks - 1) >= c.options.alike_chunks &&
           chunks * c.options.hop_bytes.value() > block) {
        --chunks;
    }
    return chunks;
}

/// An order of the factors, with its share of the array and its members along each.
struct BruteForceOrder {
    std::vector<std::size_t> factors;
    std::vector<int> lengths;
    double share = 0;
};

/// 1, 2, 4, ..., 4.
inline std::vector<int> doubling(int count) {
    std::vector<int> sizes;
    for (int chunk = 0; chunk < count; ++chunk) {
        const bool grows = chunk > 0 && chunk + 1 < count;
        sizes.push_back(chunk == 0 ? 1 : sizes.back() * (grows ? 2 : 1));
    }
    return sizes;
}

/// How many doubling chunks there are: of a gather, in seconds.
class BruteForceCount {
public:
    BruteForceCount(const Case& c, const std::vector<BruteForceOrder>& orders,
                    std::vector<bool> rings)
        : case_(c), orders_(orders), rings_(std::move(rings)) {}

    [[nodiscard]] int count() const {
        double longest = 0;
        for (std::size_t f = 0; f < rings_.size(); ++f) {
            longest = std::max(longest, served_until(rings_.size() - 1, f, 1));
        }
        const auto waits_longer = [&](int count, double latency) {
            return longest_wait(count, latency) - longest_wait(case_.options.chunks, latency);
        };
        const double hop = case_.options.hop_bytes.value() / case_.link.rate.value();
        int count = std::min(2, case_.options.chunks);
        while (count < case_.options.chunks && (waits_longer(count, 0) > longest / 1e9 ||
                                                waits_longer(count, hop) > longest / 1000)) {
            ++count;
        }
        return count;
    }

private:
    /// On the busiest link along the factor: one order's stage.
    [[nodiscard]] double seconds(const BruteForceOrder& order, std::size_t stage) const {
        const std::size_t f = order.factors[stage];
        double held = case_.v.value() * order.share / group_size(case_.group);
        for (std::size_t i = 0; i < stage; ++i) {
            held *= order.lengths[i];
        }
        const double received = held * (order.lengths[stage] - 1);
        return received / (rings_[f] ? 2 : 1) * case_.group[f].stride / case_.link.rate.value();
    }

    /// When links along a factor have served all stages before that one, and so much of it.
    [[nodiscard]] double served_until(std::size_t stage, std::size_t factor, double share) const {
        double sum = 0;
        for (const BruteForceOrder& order : orders_) {
            for (std::size_t i = 0; i <= stage; ++i) {
                if (order.factors[i] == factor) {
                    sum += seconds(order, i) * (i < stage ? 1 : share);
                }
            }
        }
        return sum;
    }

    [[nodiscard]] double longest_wait(int count, double of_hop) const {
        const std::vector<int> sizes = doubling(count);
        const double units = std::accumulate(sizes.begin(), sizes.end(), 0);
        double longest = 0;
        for (const BruteForceOrder& order : orders_) {
            double latency = 0;
            for (std::size_t stage = 1; stage < order.factors.size(); ++stage) {
                const std::size_t from = order.factors[stage - 1];
                const int length = order.lengths[stage - 1];
                latency +=
                    (rings_[from] ? length / 2 : length - 1) * case_.group[from].stride * of_hop;
                int before = 0;
                for (const int size : sizes) {
                    longest = std::max(
                        longest, served_until(stage - 1, from, (before + size) / units) + latency -
                                     served_until(stage, order.factors[stage], before / units));
                    before += size;
                }
            }
        }
        return longest;
    }

    const Case& case_;
    const std::vector<BruteForceOrder>& orders_;
    const std::vector<bool> rings_;  ///< [factor]
};

/// In one order, and in two along lines, chunks are alike; else they double, but what many orders reduce along lines goes in waves.
template <class IsRing>
BruteForceChunks brute_force_chunks(const Case& c, const std::vector<BruteForceOrder>& orders,
                                    const IsRing& is_ring) {
    std::vector<bool> rings;
    for (const topology::AxisFactor& factor : c.group) {
        rings.push_back(is_ring(factor));
    }
    const bool in_phases = c.group.size() > 1 && c.algorithm == Algorithm::weighted;
    const bool all_rings = std::ranges::all_of(rings, [](bool ring) { return ring; });
    BruteForceChunks chunks;
    chunks.waves = orders.size() > 2 && !all_rings && c.operation != Operation::all_gather;
    if (!chunks.waves && orders.size() > 1 && (orders.size() > 2 || all_rings)) {
        chunks.sizes = doubling(orders.size() == 2 ? c.options.chunks
                                                   : BruteForceCount(c, orders, rings).count());
        return chunks;
    }
    const int count = orders.size() == 1 && !in_phases ? 1
                      : chunks.waves                   ? c.options.chunks_in_waves
                                                       : alike_chunks(c);
    chunks.sizes.assign(static_cast<std::size_t>(count), 1);
    return chunks;
}

}  // namespace podsim::collectives
