// Reports the progress of a simulation, and stops it before its end.
//
// The caller of a simulation passes a Watch, or none. The simulation reports its progress to it;
// between two reports it checks if it has been asked to stop. The watch alone decides what happens
// to the reports (a line on a terminal, a callback of another language) and who asks to stop (a
// signal, a button, a time limit).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "sim/base/time.h"
#include "sim/workload/observer.h"

namespace podsim::scenarios {

/// The phases of a simulation.
enum class Phase {
    building,  ///< the program of the step, its schedules, the machine
    /// Short runs of one collective each, to find the fastest algorithm.
    choosing_algorithms,
    simulating,
    /// More runs, for the critical path, the terms of the gap and the ceilings.
    explaining,
    calibrating,  ///< many runs, to which factors are fitted
    /// Requests, in steps that are simulated when they are first needed.
    serving,
    sweeping,   ///< the settings of a sweep
    comparing,  ///< scenarios side by side
    bounding,   ///< the candidates of a search
    searching,  ///< the candidates that may be the best
};

/// Returns `building`, `choosing algorithms`, `simulating`, `explaining`, `calibrating`, `serving`,
/// `sweeping`, `comparing`, `bounding` or `searching`.
std::string_view to_string(Phase phase);

struct PhaseProgress {
    Phase phase{};
    double share = 0;          ///< finished fraction of the phase, from 0 to 1
    sim::Time simulated{};     ///< simulated time that has been reached
    std::uint64_t events = 0;  ///< played or skipped so far
    std::uint64_t all_events = 0;
    std::uint64_t played_events = 0;  ///< those of `events` that were not skipped
    /// Bound of the memory of the whole run; reported once, before it begins.
    double most_memory_bytes = 0;
};

/// Thrown by a simulation that was asked to stop and has no result.
class Stopped : public std::runtime_error {
public:
    explicit Stopped(const PhaseProgress& reached);
    /// Progress at the stop.
    [[nodiscard]] const PhaseProgress& reached() const { return reached_; }

protected:
    Stopped(const PhaseProgress& reached, const std::string& said)
        : std::runtime_error(said), reached_(reached) {}

private:
    PhaseProgress reached_;
};

class Watch {
public:
    Watch() = default;
    virtual ~Watch() = default;
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    /// Passes progress on, then throws Stopped if a stop has been requested. Callable from any
    /// thread.
    void tell(const PhaseProgress& progress);

    /// Stops the simulation at its next report. Callable from any thread.
    void request_stop() { stop_.request_stop(); }
    [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
    /// Called where pieces report progress that is not passed on: a watch that must poll for
    /// requests to stop does so now. Callable from any thread.
    virtual void look() {}

protected:
    /// A watch that shares the requests to stop of another.
    explicit Watch(std::stop_source stop) : stop_(std::move(stop)) {}
    /// Returns the stop source of `watch`; a new one without a watch.
    [[nodiscard]] static std::stop_source stop_source_of(const Watch* watch) {
        return watch != nullptr ? watch->stop_ : std::stop_source();
    }

private:
    /// May be called from several threads at once. May throw, which also ends the simulation.
    virtual void hear(const PhaseProgress& progress) = 0;

    std::stop_source stop_;
};

/// Reports to `watch`, if there is one, the finished fraction of a phase.
void tell(Watch* watch, Phase phase, double share = 0);

/// Reports to `watch`, if there is one, a run that is about to begin and its bound of memory.
void tell_begins(Watch* watch, double most_memory_bytes);

/// Watches runs that serve another phase: passes all progress on to `outer`, if there is one, as
/// that phase.
class PhaseWatch final : public Watch {
public:
    PhaseWatch(Watch* outer, Phase phase);
    void look() override;

private:
    void hear(const PhaseProgress& progress) override;

    Watch* outer_;
    Phase phase_;
};

/// Watches runs that are pieces of a larger task of `outer`, if there is one: drops their progress,
/// and stops them when `outer` is stopped.
class QuietWatch final : public Watch {
public:
    explicit QuietWatch(Watch* outer);
    void look() override;

private:
    void hear(const PhaseProgress& progress) override;

    Watch* outer_;
};

/// An observer of a run that only reports progress; `watch` may be nullptr. It costs as little as
/// no observer.
class WatchedRun : public sim::Observer {
public:
    explicit WatchedRun(Watch* watch) : watch_(watch) {}
    [[nodiscard]] bool watches_hops() const override { return false; }
    void reached(const sim::Reached& reached) override;

private:
    Watch* watch_;
};

/// Reports to `watch`, if there is one, the progress of a run.
void tell_reached(Watch* watch, const sim::Reached& reached);

}  // namespace podsim::scenarios
