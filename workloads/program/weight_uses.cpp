#include "workloads/program/weight_uses.h"

#include <algorithm>

namespace podsim::workloads {
namespace {

constexpr double kSame = 1e-9;  // of positions in uses, which are sums of fractions

}  // namespace

Stretches::Stretches(const std::vector<WeightUse>& uses, WeightGroups groups) {
    for (std::size_t use = 0; use < uses.size(); ++use) {
        std::vector<std::size_t> order;
        for (const Matrix matrix : uses[use].reads) {
            if (order.empty() || order.back() != group_of(groups, matrix)) {
                order.push_back(group_of(groups, matrix));
            }
        }
        const std::size_t begun = all_.size();
        if (order.empty()) {
            all_.push_back({.use = use,
                            .begins = static_cast<double>(use),
                            .reads_all = true,
                            .last = true,
                            .first = begun});
        }
        for (std::size_t i = 0; i < order.size(); ++i) {
            const auto same = std::ranges::find(order, order[i]);
            all_.push_back({.use = use,
                            .group = order[i],
                            .begins = static_cast<double>(use) +
                                      static_cast<double>(i) / static_cast<double>(order.size()),
                            .last = std::find(order.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                              order.end(), order[i]) == order.end(),
                            .first = begun + static_cast<std::size_t>(same - order.begin())});
        }
    }
}

std::size_t Stretches::first_at(double position) const {
    const auto found = std::ranges::lower_bound(all_, position - kSame, {}, &Stretch::begins);
    return static_cast<std::size_t>(found - all_.begin());
}

}  // namespace podsim::workloads
