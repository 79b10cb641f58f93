// Hearing how far a simulation is, and ending it before its end.
//
// Whoever starts a simulation hands it a Watch, or none. The simulation tells of its progress; between two
// tellings it looks whether it has been asked to stop. What is done with the news (a line on a terminal, a
// callback of another language) and where the wish to stop comes from (a signal, a button, a time limit) is the
// watch's own business.
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

/// What a simulation is at.
enum class Phase {
    building,             ///< the program of the step, its schedules, the machine
    choosing_algorithms,  ///< short runs of one collective each, by which the fastest is found
    simulating,
    explaining,   ///< more runs, for the critical path, the terms of the gap and the ceilings
    calibrating,  ///< many runs, between which factors are fitted
    serving,      ///< requests, by steps each of which is simulated when it is first needed
    sweeping,     ///< the settings of a sweep
    comparing,    ///< scenarios beside each other
    bounding,     ///< the candidates of a search
    searching,    ///< those that may be the best
};

/// `building`, `choosing algorithms`, `simulating`, `explaining`, `calibrating`, `serving`, `sweeping`, `comparing`, `bounding`, `searching`.
std::string_view to_string(Phase phase);

struct PhaseProgress {
    Phase phase{};
    double share = 0;          ///< done of what is under way, from 0 to 1
    sim::Time simulated{};     ///< the simulated time that has been reached
    std::uint64_t events = 0;  ///< played or skipped until then
    std::uint64_t all_events = 0;
    std::uint64_t played_events = 0;  ///< of `events`: those that were not skipped
    double most_memory_bytes = 0;     ///< of the whole run, told once, before it begins
};

/// A simulation was asked to stop, and has no result.
class Stopped : public std::runtime_error {
public:
    explicit Stopped(const PhaseProgress& reached);
    /// Where it was then.
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

    /// Passes the news on, then throws Stopped if somebody has asked to stop. Callable from any thread.
    void tell(const PhaseProgress& progress);

    /// Ends what is watched, the next time that it tells of progress. Callable from any thread.
    void request_stop() { stop_.request_stop(); }
    [[nodiscard]] std::stop_token stop_token() const { return stop_.get_token(); }
    /// Called where pieces tell of progress that is not passed on: a watch that has to look whether somebody has asked
    /// to stop looks now. Callable from any thread.
    virtual void look() {}

protected:
    /// A watch whose requests to stop are those of another.
    explicit Watch(std::stop_source stop) : stop_(std::move(stop)) {}
    /// Of `watch`; without one, of nobody.
    [[nodiscard]] static std::stop_source stop_source_of(const Watch* watch) {
        return watch != nullptr ? watch->stop_ : std::stop_source();
    }

private:
    /// May come from several threads at once. May throw, which ends the simulation too.
    virtual void hear(const PhaseProgress& progress) = 0;

    std::stop_source stop_;
};

/// Tells `watch`, where there is one, that a share of a phase is done.
void tell(Watch* watch, Phase phase, double share = 0);

/// The same of a run that is about to begin and takes up to so much memory.
void tell_begins(Watch* watch, double most_memory_bytes);

/// Runs that serve another phase: passes everything on to `outer`, where there is one, as that phase.
class PhaseWatch final : public Watch {
public:
    PhaseWatch(Watch* outer, Phase phase);
    void look() override;

private:
    void hear(const PhaseProgress& progress) override;

    Watch* outer_;
    Phase phase_;
};

/// Runs that are pieces of what `outer`, where there is one, hears of as a whole: keeps their news to itself, and
/// ends them with it.
class QuietWatch final : public Watch {
public:
    explicit QuietWatch(Watch* outer);
    void look() override;

private:
    void hear(const PhaseProgress& progress) override;

    Watch* outer_;
};

/// An observer of a run that only tells how far it is; `watch` may be nullptr. As fast as no observer.
class WatchedRun : public sim::Observer {
public:
    explicit WatchedRun(Watch* watch) : watch_(watch) {}
    [[nodiscard]] bool watches_hops() const override { return false; }
    void reached(const sim::Reached& reached) override;

private:
    Watch* watch_;
};

/// Tells `watch`, where there is one, how far a run is.
void tell_reached(Watch* watch, const sim::Reached& reached);

}  // namespace podsim::scenarios
