// Chunks into which a part of a collective is cut, for
// the brute force: written anew, not taken from parts.h.
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
    bool waves = false;      ///< chunks go in waves
};

/// Returns the number of equal chunks: a member's block over a hop's bytes, between half of the
/// maximum and the maximum.
inline int alike_chunks(const Case& c) {
    int chunks = c.options.alike_chunks;
    const double block = c.v.value() / group_size(c.group);
    while (2 * (chunks - 1) >= c.options.alike_chunks &&
           chunks * c.options.hop_bytes.value() > block) {
        --chunks;
    }
    return chunks;
}

/// An order of the factors, with its fraction of the array and its members along each factor.
struct BruteForceOrder {
    std::vector<std::size_t> factors;
    std::vector<int> lengths;
    double share = 0;
};

/// Returns the sizes 1, 2, 4, ..., with the last as large as the one before.
inline std::vector<int> doubling(int count) {
    std::vector<int> sizes;
    for (int chunk = 0; chunk < count; ++chunk) {
        const bool grows = chunk > 0 && chunk + 1 < count;
        sizes.push_back(chunk == 0 ? 1 : sizes.back() * (grows ? 2 : 1));
    }
    return sizes;
}

/// Number of doubling chunks of a gather, found from its times in seconds.
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
    /// Returns the seconds of one order's stage on the busiest link along its factor.
    [[nodiscard]] double seconds(const BruteForceOrder& order, std::size_t stage) const {
        const std::size_t f = order.factors[stage];
        double held = case_.v.value() * order.share / group_size(case_.group);
        for (std::size_t i = 0; i < stage; ++i) {
            held *= order.lengths[i];
        }
        const double received = held * (order.lengths[stage] - 1);
        return received / (rings_[f] ? 2 : 1) * case_.group[f].stride / case_.link.rate.value();
    }

    /// Returns the time at which links along a factor have served all stages before the given one,
    /// and the given fraction of that one.
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

/// Returns equal chunks for one order, and for two along lines; otherwise doubling chunks. If more
/// than two orders reduce along lines, equal chunks go in waves.
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
