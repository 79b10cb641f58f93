#include "sim/memory/shared_server.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <limits>
#include <numeric>
#include <tuple>

namespace podsim::sim {
namespace {

/// Returns the time at which `left` units of work end. Most values fit into 64 bits, whose division
/// is several times faster.
Time end_of(Work left, std::int64_t share, Time now) {
    const Work whole = left + share - 1;
    const Work time = whole <= std::numeric_limits<std::int64_t>::max()
                          ? static_cast<std::int64_t>(whole) / share
                          : whole / share;
    return now + Time{static_cast<std::int64_t>(std::min(time, Work{Time::max().ps - now.ps}))};
}

}  // namespace

void SharedServer::begin(Key key, std::int64_t demand, Time alone, Time now, Kind kind) {
    add(key, demand, alone, now, kind);
    share_out(now);
}

void SharedServer::add(Key key, std::int64_t demand, Time alone, Time now, Kind kind,
                       std::uint32_t alike) {
    if (const auto before = std::ranges::find(streams_, key, &Stream::key);
        before != streams_.end() && before->end <= now) {
        streams_.erase(before);  // the previous stream of that link
    }
    const auto rank = [](const Stream& stream) {
        return std::tuple(stream.kind, stream.demand, stream.key);
    };
    const auto place = std::ranges::upper_bound(streams_, std::tuple(kind, demand, key), {}, rank);
    streams_.insert(place, {.demand = demand,
                            .key = key,
                            .share = demand,
                            .end = now + alone,
                            .since = now,
                            .alike = alike,
                            .kind = kind,
                            .left = Work{demand} * alone.ps});
}

void SharedServer::take_ended(Time now, std::vector<Key>& ended) {
    std::erase_if(streams_, [&](const Stream& stream) {
        if (stream.end <= now) {
            ended.push_back(stream.key);
        }
        return stream.end <= now;
    });
}

bool SharedServer::unfinished(Key key, Time now) const {
    const auto found = std::ranges::find(streams_, key, &Stream::key);
    return found != streams_.end() && found->end > now;
}

std::int64_t SharedServer::demand(Time now) const {
    std::int64_t sum = 0;
    for (const Stream& stream : streams_) {
        sum += stream.end > now ? stream.demand * stream.alike : 0;
    }
    return sum;
}

std::array<std::int64_t, 3> SharedServer::rates_of_kinds(
    const std::array<std::int64_t, 3>& asked) const {
    const auto [work, urgent, other] = asked;
    const std::int64_t of_work = std::min(work, std::max(rate_ / 2, rate_ - urgent - other));
    const std::int64_t of_urgent = std::min(urgent, rate_ - of_work);
    return {of_work, of_urgent, rate_ - of_work - of_urgent};
}

/// Within each kind, the smallest demands are met in full as long as they do not exceed an equal
/// fraction of the rest.
void SharedServer::share_out(Time now) {
    std::array<std::int64_t, 3> asked{};
    std::array<std::int64_t, 3> open{};
    asked_ = 0;
    for (const Stream& stream : streams_) {
        if (stream.end > now) {
            asked[static_cast<std::size_t>(stream.kind)] += stream.demand * stream.alike;
            open[static_cast<std::size_t>(stream.kind)] += stream.alike;
            asked_ += stream.demand * stream.alike;
        }
    }
    const bool fits = asked_ <= rate_;
    std::array<std::int64_t, 3> left = fits ? asked : rates_of_kinds(asked);
    std::array<bool, 3> level{};
    next_end_ = Time::max();
    for (Stream& stream : streams_) {
        if (stream.end > now) {
            std::int64_t share = stream.demand;
            if (!fits) {
                const auto kind = static_cast<std::size_t>(stream.kind);
                std::int64_t& rest = left[kind];
                const std::int64_t equal = level[kind] ? rest : rest / open[kind];
                level[kind] = level[kind] || stream.demand > equal;
                rest = level[kind] ? std::max<std::int64_t>(equal, 1)
                                   : rest - stream.demand * stream.alike;
                open[kind] -= stream.alike;
                share = level[kind] ? rest : share;
            }
            if (share != stream.share) {
                stream.left = stream.left_at(now);
                stream.since = now;
                stream.share = share;
                stream.end = end_of(stream.left, share, now);
            }
        }
        next_end_ = std::min(next_end_, stream.end);
    }
    assert(shared_out(now) <=
           rate_ + std::accumulate(
                       streams_.begin(), streams_.end(), std::int64_t{0},
                       [](std::int64_t sum, const Stream& stream) { return sum + stream.alike; }));
}

std::int64_t SharedServer::shared_out(Time now) const {
    return std::accumulate(streams_.begin(), streams_.end(), std::int64_t{0},
                           [now](std::int64_t sum, const Stream& stream) {
                               return sum + (stream.end > now ? stream.share * stream.alike : 0);
                           });
}

}  // namespace podsim::sim
