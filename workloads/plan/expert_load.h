// How many tokens the experts of a layer take.
#pragma once

#include <vector>

namespace podsim::workloads {

struct ExpertLoad {
    double capacity_factor = 1;  ///< tokens that every expert is padded to, over the mean
    double imbalance = 1;        ///< tokens of the chip with the most loaded experts, over the mean
    /// For every rank of the axis `expert` the tokens of its experts, over the mean; they add up to the number of
    /// ranks. Empty: all alike, as `imbalance` says.
    std::vector<double> loads{};

    /// Whether ranks do unequal work: their experts take unequal numbers of tokens.
    [[nodiscard]] bool uneven() const;
    friend bool operator==(const ExpertLoad&, const ExpertLoad&) = default;
};

}  // namespace podsim::workloads
