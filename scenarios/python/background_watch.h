// A simulation on a thread of its own, while Python goes on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <pybind11/pybind11.h>

#include "scenarios/console/timed_watch.h"

namespace podsim::scenarios {

/// The thread of Python that asks for a simulation waits without the interpreter's lock, and takes it every
/// kBetweenLooks to run Python's handlers of signals and to tell its callback the latest news. An exception from either
/// ends the simulation.
class BackgroundWatch final : public TimedWatch {
public:
    static constexpr std::chrono::milliseconds kBetweenLooks{20};

    /// `progress` is None, or called with phase, share, simulated_s, events and all_events.
    explicit BackgroundWatch(pybind11::object progress) : progress_(std::move(progress)) {}

    /// Runs work() and waits for its end. With the interpreter's lock held. Throws what the handlers, the callback or
    /// work() throw.
    void run(const std::function<void()>& work);

private:
    void show(const PhaseProgress& progress) override;
    void wait();
    /// Passes the news on, and hears signals; what that throws.
    std::exception_ptr pass_on(const std::optional<PhaseProgress>& news);
    void tell_python(const std::optional<PhaseProgress>& news);

    pybind11::object progress_;
    PyThreadState* python_ = nullptr;  ///< of the thread that waits, without the lock
    std::mutex mutex_;
    std::condition_variable ended_;
    bool done_ = false;
    std::optional<PhaseProgress> latest_;  ///< not yet told
    std::exception_ptr refusal_;           ///< of a handler or the callback
};

}  // namespace podsim::scenarios
