#include "sim/memory/shared_server.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <utility>

namespace podsim::sim {
namespace {

/// When work of which so much is left ends. Most of it fits into 64 bits, whose division is several times as fast.
Time end_of(Work left, std::int64_t share, Time now) {
    const Work whole = left + share - 1;
    const Work time = whole <= std::numeric_limits<std::int64_t>::max()
                          ? static_cast<std::int64_t>(whole) / share
                          : whole / share;
    return now + Time{static_cast<std::int64_t>(std::min(time, Work{Time::max().ps - now.ps}))};
}

}  // namespace

void SharedServer::begin(Key key, std::int64_t demand, Time alone, Time now) {
    add(key, demand, alone, now);
    share_out(now);
}

void SharedServer::add(Key key, std::int64_t demand, Time alone, Time now, std::uint32_t alike) {
    if (const auto before = std::ranges::find(streams_, key, &Stream::key);
        before != streams_.end() && before->end <= now) {
        streams_.erase(before);  // on that link
    }
    const auto rank = [](const Stream& stream) { return std::pair(stream.demand, stream.key); };
    const auto place = std::ranges::upper_bound(streams_, std::pair(demand, key), {}, rank);
    streams_.insert(place, {.demand = demand,
                            .key = key,
                            .share = demand,
                            .end = now + alone,
                            .since = now,
                            .alike = alike,
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

/// Those that ask for least have it whole as long as that is no more than an equal part of what is left.
void SharedServer::share_out(Time now) {
    std::int64_t open = 0;
    asked_ = 0;
    for (const Stream& stream : streams_) {
        open += stream.end > now ? stream.alike : 0;
        asked_ += stream.end > now ? stream.demand * stream.alike : 0;
    }
    const bool fits = asked_ <= rate_;
    std::int64_t rest = rate_;
    bool level = false;
    next_end_ = Time::max();
    for (Stream& stream : streams_) {
        if (stream.end > now) {
            std::int64_t share = stream.demand;
            if (!fits) {
                const std::int64_t equal = level ? rest : rest / open;
                level = level || stream.demand > equal;
                rest =
                    level ? std::max<std::int64_t>(equal, 1) : rest - stream.demand * stream.alike;
                open -= stream.alike;
                share = level ? rest : share;
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
    assert(shared_out(now) <= rate_ ||
           shared_out(now) == std::accumulate(streams_.begin(), streams_.end(), std::int64_t{0},
                                              [](std::int64_t sum, const Stream& stream) {
                                                  return sum + stream.alike;
                                              }));
}

std::int64_t SharedServer::shared_out(Time now) const {
    return std::accumulate(streams_.begin(), streams_.end(), std::int64_t{0},
                           [now](std::int64_t sum, const Stream& stream) {
                               return sum + (stream.end > now ? stream.share * stream.alike : 0);
                           });
}

}  // namespace podsim::sim
