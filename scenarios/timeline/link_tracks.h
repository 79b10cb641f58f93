// The tracks of the links that lead away from a chip, and how much they are used.
#pragma once

#include <string>
#include <vector>

#include "scenarios/timeline/chip_view.h"

namespace podsim::scenarios {

/// A link of the chip, or of its host, and its number among those that were simulated.
struct ChipLink {
    std::string name;  ///< `ICI +x`, `PCIe to host`, `DCN out`
    std::size_t server = 0;
};

/// Those that carried something in the run.
std::vector<ChipLink> links_of(const ChipView& view);

/// A track for each: the messages that begin in the steady windows, or (`whole`) all.
void tell_links(const ChipView& view, bool whole, TrackLog& log);

/// The counter `link use (%)`: of kLinkBins equal parts of the run, how much of each a link is held.
inline constexpr std::int64_t kLinkBins = 1000;
void tell_link_use(const ChipView& view, TimelineSink& sink);

}  // namespace podsim::scenarios
