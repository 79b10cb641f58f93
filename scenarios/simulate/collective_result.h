// What a simulated collective took, and why.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/vocabulary/algorithm.h"
#include "scenarios/explain/limiting_links.h"
#include "scenarios/explain/link_use.h"
#include "scenarios/explain/shares.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// What decides the time of a collective: terms that do not shrink with the array, or the links' rates.
enum class Regime { latency_bound, between, bandwidth_bound };

/// `latency-bound`, `in between`, `bandwidth-bound`.
std::string_view to_string(Regime regime);

/// The time of a collective by what it would be without: parts that add up to `simulated`.
struct TimeParts {
    sim::Time launch;     ///< the launch cost
    sim::Time latency;    ///< what zero latency would save; negative where it would cost
    sim::Time bandwidth;  ///< the time at zero latency and launch cost
};

struct CollectiveResult {
    sim::Time simulated;
    std::optional<sim::Seconds> analytic;  ///< the algorithm's exact closed form, where it has one
    sim::Seconds book;
    sim::Seconds physical_bound;
    collectives::Algorithm algorithm{};  ///< the one that ran
    int hops = 0;                        ///< links on the longest chain of dependent hops
    std::string served;  ///< what carries the bytes, where the algorithm has a choice
    std::uint64_t events = 0;
    int simulated_chips = 0;
    std::vector<LinkUse> links;
    std::vector<LimitingLinks> limiting;
    TimeParts parts;
    /// Adds up to simulated - physical_bound (rounded down to ps):
    ///   `launch`, `latency`  as in `parts`,
    ///   `uneven load`        at zero latency and ideal rates, the busiest link's busy time - physical_bound,
    ///   `idle`               at zero latency, the end - the busiest link's busy time: it waits for
    ///                        earlier steps, while a pipeline fills and drains.
    ///   `links below their rate`  what the busiest link is held longer than at its ideal rate,
    /// the last only where the profile has links below their rate, the others always; a term may be negative.
    std::vector<Share> gap;

    /// Latency-bound where launch and latency make up half of the time or more, bandwidth-bound
    /// below a tenth.
    [[nodiscard]] Regime regime() const;
};

}  // namespace podsim::scenarios
