// Writes down what happens in a serving run, and makes the result of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/requests/client_request.h"
#include "scenarios/serve/load_meter.h"
#include "scenarios/serve/serving_result.h"

namespace podsim::scenarios {

class RunLog {
public:
    /// `page`: a prefix cache holds whole pages.
    RunLog(std::span<const Request> requests, std::int64_t page);

    void arrived(std::size_t request, sim::Time now);
    void started(std::size_t request, sim::Time now) { result_.requests[request].started = now; }
    void preempted(std::size_t request) { ++result_.requests[request].preemptions; }
    /// A step ended that made tokens of its answer.
    void made(std::size_t request, sim::Time now);
    void finished(std::size_t request, sim::Time now);
    void decoded(std::int64_t drafted, std::int64_t accepted, std::int64_t made);
    void transfer(sim::Time takes) {
        result_.transfers += takes;
        ++result_.caches_sent;
    }
    void events(std::size_t count) { result_.events += static_cast<std::int64_t>(count); }
    /// So many requests wait, after a round of events and what servers took.
    void waiting(std::size_t requests, sim::Time now);

    /// The run has ended.
    [[nodiscard]] ServingResult result(sim::Time now) &&;

private:
    ServingResult result_;
    std::vector<sim::Time> last_token_;
    std::vector<bool> answering_;
    bool began_ = false;
    bool arrived_now_ = false;
    Level in_system_;
    Level waiting_;
};

}  // namespace podsim::scenarios
