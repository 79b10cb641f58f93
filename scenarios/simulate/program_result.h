// What a simulated program took, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/explain/link_use.h"
#include "scenarios/explain/shares.h"
#include "sim/base/quantity.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

struct StageResult {
    std::string name;
    std::string resource;  ///< `pcie`, `ici`, `mxu`, `hbm`: what its bound comes from
    sim::Time began;       ///< the first piece, anywhere
    sim::Time ended;       ///< the last piece, everywhere
    sim::Seconds bound;    ///< no schedule of this stage alone is faster
    /// Of a matmul with a gathered operand: the bounds of the gather and of the matmul.
    std::optional<sim::Seconds> gather_bound{};
    std::optional<sim::Seconds> matmul_bound{};
};

struct ProgramResult {
    sim::Time time;
    std::vector<StageResult> stages;
    std::size_t limiting = 0;  ///< the stage whose bound is the largest (compute stages together)
    sim::Seconds lower;        ///< that bound
    sim::Seconds serial;       ///< the stages' bounds, one after the other
    /// Adds up to time - lower (rounded down to ps): `before` and `after` the limiting stage, and what it
    /// takes beyond its bound from its first piece to its last.
    /// Of one collective in one piece instead: `launch`, `latency`, `uneven load`, `idle` (CollectiveResult).
    std::vector<Share> gap;
    /// The reference text's time of that collective, and time - book in terms that add up exactly (rounded
    /// down to ps): `text's latency` where the text's time is latency alone, `(n-1)/n` what a chip need not
    /// receive and the text counts, and those of the gap.
    std::optional<sim::Seconds> book;
    std::vector<Share> gap_to_book;
    std::vector<LinkUse> links;
    std::uint64_t events = 0;
    int simulated_chips = 0;
};

}  // namespace podsim::scenarios
