// Records the events of a serving run, and makes its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scenarios/src/scenario/client_request.h"
#include "scenarios/src/serve/serving_result.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// A whole number that changes at instants, with its exact integral over time. The integral has 128
/// bits, since times of a run may be 2^63 ps and the products are larger. It begins when it is
/// first set, and is 0 before.
class Level {
public:
    __extension__ using Integral = __int128;

    /// Sets the level from now on. `now` never decreases.
    void set(sim::Time now, std::int64_t level) {
        begin_ = begin_.value_or(now);
        integral_ += static_cast<Integral>(now.ps - since_.ps) * level_;
        since_ = now;
        level_ = level;
        most_ = level > most_ ? level : most_;
    }
    void add(sim::Time now, std::int64_t change) { set(now, level_ + change); }

    [[nodiscard]] std::int64_t level() const { return level_; }
    [[nodiscard]] std::int64_t most() const { return most_; }
    /// Integral up to the last change, in picoseconds.
    [[nodiscard]] Integral integral() const { return integral_; }
    /// Mean from the beginning to the last change.
    [[nodiscard]] double mean() const {
        const std::int64_t ps = (since_ - begin_.value_or(since_)).ps;
        return ps == 0 ? 0 : static_cast<double>(integral_) / static_cast<double>(ps);
    }

private:
    std::optional<sim::Time> begin_;
    sim::Time since_;
    std::int64_t level_ = 0;
    std::int64_t most_ = 0;
    Integral integral_ = 0;
};

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
    /// Records how many requests wait after a round of events and admissions.
    void waiting(std::size_t requests, sim::Time now);

    /// Ends the run and returns its result.
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
