// Simulations that leave the range of the simulated clock, as errors of the input that made them.
#pragma once

#include <string>

#include "scenarios/spec/scenario.h"
#include "sim/base/error.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// The error at `place`: a file or an option.
inline sim::InputError clock_error(const std::string& place, const sim::TimeOverflow& error) {
    return sim::InputError(error.what(), "check rates, latencies and sizes", {place, 0, 0});
}

/// The error at the scenario's file. Of a serving run it says how much is served, or how long its
/// caches are on their way where that is more than half of the clock; of a step what takes so long: the largest of the closed forms at ideal rates where that is
/// beyond the clock, else what the closed forms leave out.
sim::InputError clock_error_of(const Scenario& scenario, const sim::TimeOverflow& error);

/// Throws that where no run of the scenario takes less than `least`, and that is beyond the clock.
void refuse_beyond_clock(const Scenario& scenario, sim::Seconds least);

/// The result of `simulate()`. Throws clock_error at the place, or clock_error_of the scenario, when it leaves the clock's range.
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
