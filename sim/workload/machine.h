// The machine as the kernel sees it: identical places with the same ports, and nothing else.
//
// A port of a place is the start of a link; each link is numbered [place][port]. A displacement
// between places is a `shift`, an entry of a table that maps each place to another place. In a
// folded run several real points are one place, and a shift may map a place to itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/base/ids.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"

namespace podsim::sim {

/// The rule that combines a link's latency a with the b/r seconds for which b bytes hold it.
enum class LatencyRule {
    /// Arrival is b/r + a after the start.
    additive,
    /// Arrival is max(b/r, a) after the start of the step that the message belongs to.
    floor,
};

struct LinkSpec {
    BytesPerSecond rate;
    Time latency;

    friend bool operator==(const LinkSpec&, const LinkSpec&) = default;
};

inline constexpr std::uint32_t kNoPlace = 0xffffffff;

struct Machine {
    std::size_t places = 1;
    std::size_t ports = 0;
    LatencyRule rule = LatencyRule::additive;
    /// True: every operation has links of its own, a what-if that removes contention between
    /// operations.
    bool isolated_operations = false;
    /// Bytes per second that a place's memory reads and writes, shared by work and messages; 0
    /// means no limit. A message over a link of infinite rate takes no time at the memory either.
    std::int64_t memory_rate = 0;
    std::vector<LinkSpec> links;        ///< [place][port]
    std::vector<std::uint32_t> shifts;  ///< [shift][place] -> place, kNoPlace beyond an edge
    /// [place], 1 or more: factor on the duration of work. Empty: 1 everywhere.
    std::vector<double> slowdown;
    /// [place], below 256: distinguishes otherwise equal messages of places that share a link (that
    /// of a host to the network). Empty: no link is shared.
    std::vector<std::uint8_t> index_at_shared;

    [[nodiscard]] std::size_t link(std::size_t place, std::size_t port) const {
        return place * ports + port;
    }
    [[nodiscard]] std::uint32_t shifted(std::size_t shift, std::size_t place) const {
        return shifts[shift * places + place];
    }
};

}  // namespace podsim::sim
