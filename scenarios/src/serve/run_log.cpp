#include "scenarios/src/serve/run_log.h"

#include <utility>

namespace podsim::scenarios {

RunLog::RunLog(std::span<const Request> requests, std::int64_t page)
    : last_token_(requests.size()), answering_(requests.size()) {
    for (const Request& request : requests) {
        result_.requests.push_back({.prompt = request.prompt,
                                    .output = request.output,
                                    .prefix = request.prefix / page * page,
                                    .arrived = {},
                                    .started = {},
                                    .first = {},
                                    .finished = {}});
    }
}

void RunLog::arrived(std::size_t request, sim::Time now) {
    result_.requests[request].arrived = now;
    result_.begin = std::exchange(began_, true) ? result_.begin : now;
    result_.last_arrival = now;
    in_system_.add(now, 1);
    arrived_now_ = true;
}

void RunLog::made(std::size_t request, sim::Time now) {
    if (answering_[request]) {
        result_.gaps.push_back(now - last_token_[request]);
    } else {
        answering_[request] = true;
        result_.requests[request].first = now;
    }
    last_token_[request] = now;
}

void RunLog::finished(std::size_t request, sim::Time now) {
    result_.requests[request].finished = now;
    in_system_.add(now, -1);
}

void RunLog::decoded(std::int64_t drafted, std::int64_t accepted, std::int64_t made) {
    result_.drafted += drafted;
    result_.accepted += accepted;
    ++result_.decodes;
    result_.decoded += made;
}

void RunLog::waiting(std::size_t requests, sim::Time now) {
    waiting_.set(now, static_cast<std::int64_t>(requests));
    if (std::exchange(arrived_now_, false)) {
        result_.queue.at_last_arrival = static_cast<std::int64_t>(requests);
    }
}

ServingResult RunLog::result(sim::Time now) && {
    result_.end = now;
    Level::Integral sojourns = 0;
    for (const ServedRequest& served : result_.requests) {
        sojourns += (served.finished - served.arrived).ps;
    }
    result_.little = {static_cast<double>(in_system_.integral()) / 1e12,
                      static_cast<double>(sojourns) / 1e12, in_system_.integral() == sojourns};
    result_.most_in_system = in_system_.most();
    result_.mean_in_system = in_system_.mean();
    QueueUse& queue = result_.queue;
    queue.mean = waiting_.mean();
    queue.most = waiting_.most();
    return std::move(result_);
}

}  // namespace podsim::scenarios
