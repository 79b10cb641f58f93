#include "sim/memory/shared_server.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <tuple>

namespace podsim::sim {
namespace {

/// Picoseconds, rounded up. Most work fits into 64 bits, whose division is several times as fast.
std::int64_t time_of(Work left, std::int64_t share) {
    const Work whole = left + share - 1;
    if (whole <= std::numeric_limits<std::int64_t>::max()) {
        return static_cast<std::int64_t>(whole) / share;
    }
    return static_cast<std::int64_t>(whole / share);
}

auto rank_of(const SharedServer::Stream& stream) {
    return std::tuple(stream.demand, stream.key);
}

}  // namespace

void SharedServer::begin(Key key, std::int64_t demand, Time alone, Time now) {
    add(key, demand, alone, now);
    share_out();
}

void SharedServer::add(Key key, std::int64_t demand, Time alone, Time now) {
    settle(now);
    std::erase_if(streams_, [&](const Stream& stream) {
        return stream.key == key && stream.left == 0;  // the one before on that link
    });
    const Stream stream{
        .demand = demand, .key = key, .left = Work{demand} * alone.ps, .share = demand};
    streams_.insert(std::ranges::upper_bound(streams_, rank_of(stream), {}, rank_of), stream);
    owed_ += stream.left;
}

void SharedServer::take_ended(Time now, std::vector<Key>& ended) {
    settle(now);
    std::erase_if(streams_, [&](const Stream& stream) {
        if (stream.left == 0) {
            ended.push_back(stream.key);
        }
        return stream.left == 0;
    });
    share_out();
}

bool SharedServer::holds(Key key) const {
    return std::ranges::find(streams_, key, &Stream::key) != streams_.end();
}

bool SharedServer::unfinished(Key key, Time now) {
    settle(now);
    const auto found = std::ranges::find(streams_, key, &Stream::key);
    return found != streams_.end() && found->left > 0;
}

std::int64_t SharedServer::demand(Time now) {
    settle(now);
    std::int64_t sum = 0;
    for (const Stream& stream : streams_) {
        sum += stream.left > 0 ? stream.demand : 0;
    }
    return sum;
}

Time SharedServer::next_end() const {
    std::int64_t first = Time::max().ps - settled_.ps;
    for (const Stream& stream : streams_) {
        first = std::min(first, time_of(stream.left, stream.share));
    }
    return settled_ + Time{first};
}

void SharedServer::settle(Time now) {
    const std::int64_t elapsed = now.ps - settled_.ps;
    settled_ = now;
    if (elapsed == 0) {
        return;
    }
    for (Stream& stream : streams_) {
        const Work done = std::min(Work{stream.share} * elapsed, stream.left);
        stream.left -= done;
        owed_ -= done;
    }
}

/// Those that ask for least have it whole as long as that is no more than an equal part of what is left.
void SharedServer::share_out() {
    std::int64_t open = 0;
    asked_ = 0;
    for (const Stream& stream : streams_) {
        open += stream.left > 0 ? 1 : 0;
        asked_ += stream.left > 0 ? stream.demand : 0;
    }
    std::int64_t rest = rate_;
    bool level = false;
    for (Stream& stream : streams_) {
        if (stream.left == 0) {
            stream.share = stream.demand;
            continue;
        }
        const std::int64_t equal = level ? rest : rest / open;
        level = level || stream.demand > equal;
        if (level) {
            rest = std::max<std::int64_t>(equal, 1);
            stream.share = rest;
        } else {
            stream.share = stream.demand;
            rest -= stream.demand;
            --open;
        }
    }
    assert(shared_out() <= rate_ || shared_out() == static_cast<std::int64_t>(streams_.size()));
}

std::int64_t SharedServer::shared_out() const {
    return std::accumulate(streams_.begin(), streams_.end(), std::int64_t{0},
                           [](std::int64_t sum, const Stream& stream) {
                               return sum + (stream.left > 0 ? stream.share : 0);
                           });
}

}  // namespace podsim::sim
