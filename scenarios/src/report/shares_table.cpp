#include "scenarios/src/report/shares_table.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "scenarios/src/base/table.h"

namespace podsim::scenarios {

ShareColumns::ShareColumns(std::span<const Share> shares, sim::Time whole) {
    constexpr std::int64_t kAll = 1000;  // 100.0 %
    const double whole_ms = whole.seconds() * 1e3;
    const int digits = whole_ms > 0 ? static_cast<int>(std::floor(std::log10(whole_ms))) : 0;
    decimals_ = std::clamp(4 - digits, 1, 9);
    const double units = std::round(whole_ms * std::pow(10.0, decimals_));
    std::vector<double> weights;
    for (const Share& share : shares) {
        weights.push_back(static_cast<double>(share.time.ps));
    }
    times_ = apportion(weights, static_cast<std::int64_t>(units));
    percents_ = apportion(weights, kAll);
}

std::vector<std::string> ShareColumns::cells(std::string name, std::size_t first,
                                             std::size_t last) const {
    std::int64_t time = 0;
    std::int64_t percent = 0;
    for (std::size_t i = first; i < last; ++i) {
        time += times_[i];
        percent += percents_[i];
    }
    return {
        std::move(name),
        fmt::format("{:.{}f}", static_cast<double>(time) / std::pow(10.0, decimals_), decimals_),
        fmt::format("{:.1f}", static_cast<double>(percent) / 10)};
}

std::vector<Share> without_zeros(std::span<const Share> shares) {
    std::vector<Share> rest(shares.begin(), shares.end());
    std::erase_if(rest, [](const Share& share) { return share.time.ps == 0; });
    return rest;
}

sim::Time total_of(std::span<const Share> shares) {
    return std::accumulate(shares.begin(), shares.end(), sim::Time{},
                           [](sim::Time sum, const Share& share) { return sum + share.time; });
}

}  // namespace podsim::scenarios
