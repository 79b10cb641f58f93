// Runs a simulation on its own thread while Python goes on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <pybind11/pybind11.h>

#include "scenarios/src/cli/timed_watch.h"

namespace podsim::scenarios {

/// The Python thread that asks for a simulation waits without the interpreter's lock. Every
/// kBetweenLooks it takes the lock, runs Python's signal handlers and reports the latest progress
/// to its callback. An exception from either ends the simulation.
class BackgroundWatch final : public TimedWatch {
public:
    static constexpr std::chrono::milliseconds kBetweenLooks{20};

    /// `progress` is None, or called with phase, share, simulated_s, events and all_events.
    explicit BackgroundWatch(pybind11::object progress) : progress_(std::move(progress)) {}

    /// Runs work() and waits for its end. The caller holds the interpreter's lock. Throws any
    /// exception of the handlers, the callback and work().
    void run(const std::function<void()>& work);

private:
    void show(const PhaseProgress& progress) override;
    void wait();
    /// Handles signals and passes progress on; returns an exception that either throws.
    std::exception_ptr pass_on(const std::optional<PhaseProgress>& news);
    void tell_python(const std::optional<PhaseProgress>& news);

    pybind11::object progress_;
    /// State of the waiting thread, without the lock.
    PyThreadState* python_ = nullptr;
    std::mutex mutex_;
    std::condition_variable ended_;
    bool done_ = false;
    std::optional<PhaseProgress> latest_;  ///< not reported yet
    std::exception_ptr refusal_;           ///< an exception of a handler or the callback
};

}  // namespace podsim::scenarios
