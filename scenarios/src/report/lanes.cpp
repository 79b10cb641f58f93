#include "scenarios/src/report/lanes.h"

#include <algorithm>
#include <numeric>

namespace podsim::scenarios {

std::vector<int> lanes_of(const std::vector<Interval>& intervals) {
    std::vector<std::size_t> order(intervals.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return intervals[a].from != intervals[b].from ? intervals[a].from < intervals[b].from
                                                      : intervals[a].until > intervals[b].until;
    });
    std::vector<int> lanes(intervals.size(), -1);
    std::vector<sim::Time> free;  // by lane
    for (const std::size_t one : order) {
        if (intervals[one].from == intervals[one].until) {
            continue;
        }
        const auto lane = std::ranges::find_if(
            free, [&](sim::Time until) { return until <= intervals[one].from; });
        lanes[one] = static_cast<int>(lane - free.begin());
        if (lane == free.end()) {
            free.push_back(intervals[one].until);
        } else {
            *lane = intervals[one].until;
        }
    }
    return lanes;
}

}  // namespace podsim::scenarios
