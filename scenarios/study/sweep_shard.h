// A part of a sweep's settings, for as many machines as there are.
#pragma once

#include <cstddef>
#include <string>

namespace podsim::scenarios {

inline constexpr std::size_t kMostShards = 100000;

/// Every `of`-th setting, from setting `number` on: dealt out so that neighbours, which take alike long, go to different machines.
struct SweepShard {
    std::size_t number = 0;  ///< below `of`
    std::size_t of = 1;

    /// How many of so many settings it has.
    [[nodiscard]] std::size_t count(std::size_t settings) const {
        return settings > number ? (settings - number - 1) / of + 1 : 0;
    }
    /// The setting that is its k-th.
    [[nodiscard]] std::size_t setting(std::size_t k) const { return number + k * of; }
};

/// `3/16`: shard 3 of 16, which are 0 to 15. Throws sim::InputError.
SweepShard parse_shard(const std::string& text);

}  // namespace podsim::scenarios
