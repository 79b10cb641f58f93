// How much the best plans' order depends on what is not known exactly.
//
// Every plan near the best, and every other of the ten best, is simulated again under each of these machines, everything else as it is:
//   mxu, attention, hbm, ici, dcn   that factor of the profile lower and higher by the profile's band for steps of this kind
//                                   (spec/error_band.h), by kUnknownBand where the profile has none; never above 1
//   latency                         of all links half and twice
//   launch                          of collectives half and twice
// A plan near the best stays if it is within kNear of the best of all these under every machine, and meets deadline and budget. A plan that is none of them
// might still be better there: it has not been looked at.
#pragma once

#include <string>
#include <vector>

#include "scenarios/search/search.h"

namespace podsim::scenarios {

inline constexpr double kUnknownBand = 0.1;

struct ChangedRate {
    std::string name;  ///< `ici - 6 %`, `latency x 2`
    /// By plan: SearchResult::near, then the others of SearchResult::best.
    std::vector<sim::Time> step_times;
};

struct Sensitivity {
    std::vector<ChangedRate> rates;
    std::vector<bool> stays;  ///< by plan of SearchResult::near
    double band = 0;          ///< by which factors were changed
};

/// Runs are folded, on `jobs` threads. Throws Stopped and what the watch throws.
Sensitivity sensitivity(const SearchSpace& space, const SearchResult& result, int jobs,
                        Watch* watch);

}  // namespace podsim::scenarios
