#include "scenarios/timeline/exchange_tracks.h"

#include <algorithm>
#include <fmt/format.h>
#include <string>

#include "scenarios/timeline/lanes.h"

namespace podsim::scenarios {
namespace {

struct Exchanges {
    std::string name;
    TrackKind kind{};
    std::vector<workloads::OpIndex> ops{};
    std::vector<Interval> times{};
};

/// Collectives first, each kind as it comes.
std::vector<Exchanges> exchanges_of(const ChipView& view) {
    std::vector<Exchanges> all;
    for (std::size_t i = 0; i < view.program.ops.size(); ++i) {
        const workloads::Op& op = view.program.ops[i];
        const auto index = static_cast<workloads::OpIndex>(i);
        const Interval time = view.time_of(index);
        const bool told = view.shows(time) || std::holds_alternative<workloads::Handover>(op.work);
        if (std::holds_alternative<workloads::Compute>(op.work) || time.from == time.until ||
            !told) {
            continue;
        }
        const std::string name = track_of(op);
        auto found = std::ranges::find(all, name, &Exchanges::name);
        if (found == all.end()) {
            const bool collective = std::holds_alternative<workloads::Collective>(op.work);
            all.push_back(
                {.name = name, .kind = collective ? TrackKind::collective : TrackKind::transfer});
            found = all.end() - 1;
        }
        found->ops.push_back(index);
        found->times.push_back(time);
    }
    std::ranges::stable_sort(all, {}, &Exchanges::kind);
    return all;
}

void tell(const ChipView& view, const Exchanges& track, TrackLog& log) {
    const std::vector<int> lanes = lanes_of(track.times);
    const int count = 1 + *std::ranges::max_element(lanes);
    for (int lane = 0; lane < count; ++lane) {
        log.track(track.kind, lane == 0 ? track.name : fmt::format("{} #{}", track.name, lane + 1));
        std::vector<std::size_t> on_lane;
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            if (lanes[i] == lane) {
                on_lane.push_back(i);
            }
        }
        std::ranges::sort(on_lane, {}, [&](std::size_t i) { return track.times[i].from; });
        for (const std::size_t i : on_lane) {
            log.slice(track.ops[i], view.slice_of(track.ops[i]));
        }
    }
}

}  // namespace

void tell_exchanges(const ChipView& view, TrackLog& log) {
    for (const Exchanges& track : exchanges_of(view)) {
        tell(view, track, log);
    }
}

}  // namespace podsim::scenarios
