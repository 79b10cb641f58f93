// Simulations that leave the range of the simulated clock, reported as errors of their input.
#pragma once

#include <string>

#include "scenarios/src/scenario/scenario.h"
#include "sim/base/error.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// Returns the error at `place`: a file or an option.
inline sim::InputError clock_error(const std::string& place, const sim::TimeOverflow& error) {
    return sim::InputError(error.what(), "check rates, latencies and sizes", {place, 0, 0});
}

/// Returns the error at the scenario's file. For a serving run it gives the amount that is served,
/// or the time for which caches are sent if that is more than half of the clock. For a step it
/// gives the cause: the largest of the closed forms at ideal rates if that is beyond the clock,
/// else the terms that the closed forms leave out.
sim::InputError clock_error_of(const Scenario& scenario, const sim::TimeOverflow& error);

/// Throws that error if no run of the scenario takes less than `least`, and that is beyond the
/// clock.
void refuse_beyond_clock(const Scenario& scenario, sim::Seconds least);

/// Returns the result of `simulate()`. If it leaves the clock's range, throws clock_error at the
/// place, or clock_error_of the scenario.
template <class Simulate>
auto within_clock(const std::string& place, Simulate simulate) {
    try {
        return simulate();
    } catch (const sim::TimeOverflow& error) {
        throw clock_error(place, error);
    }
}
template <class Simulate>
auto within_clock(const Scenario& scenario, Simulate simulate) {
    try {
        return simulate();
    } catch (const sim::TimeOverflow& error) {
        throw clock_error_of(scenario, error);
    }
}

}  // namespace podsim::scenarios
