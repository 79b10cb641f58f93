// How much the order of the best plans depends on quantities that are not known exactly.
//
// Every plan near the best, and every other of the ten best, is simulated again under each of these
// machines, with everything else unchanged:
//   mxu, attention, hbm, ici, dcn   that factor of the profile lower and higher by the profile's
//                                   band for steps of this kind (scenario/error_band.h), or by
//                                   kUnknownBand if the profile has none; never above 1
//   latency                         of all links, half and twice
//   launch                          of collectives, half and twice
// A plan near the best stays if, under every machine, it is within kNear of the best of all these
// and meets deadline and budget. A plan that is not among them might still be better there: it is
// not examined.
#pragma once

#include <string>
#include <vector>

#include "scenarios/src/search/search.h"

namespace podsim::scenarios {

inline constexpr double kUnknownBand = 0.1;

struct ChangedRate {
    std::string name;  ///< `ici - 6 %`, `latency x 2`
    /// Step times by plan: SearchResult::near, then the others of SearchResult::best.
    std::vector<sim::Time> step_times;
};

struct Sensitivity {
    std::vector<ChangedRate> rates;
    std::vector<bool> stays;  ///< by plan of SearchResult::near
    double band = 0;          ///< fraction by which factors were changed
};

/// Simulates the plans in folded runs, on `jobs` threads. Throws Stopped and whatever the watch
/// throws.
Sensitivity sensitivity(const SearchSpace& space, const SearchResult& result, int jobs,
                        Watch* watch);

}  // namespace podsim::scenarios
