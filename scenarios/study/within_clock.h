// Simulations that leave the range of the simulated clock, as errors of the input that made them.
#pragma once

#include <string>

#include "sim/base/error.h"
#include "sim/base/time.h"

namespace podsim::scenarios {

/// The error at `place`: a file or an option.
inline sim::InputError clock_error(const std::string& place, const sim::TimeOverflow& error) {
    return sim::InputError(error.what(), "check rates, latencies and sizes", {place, 0, 0});
}

/// The result of `simulate()`. Throws clock_error at the scenario's file when it leaves the clock's range.
template <class Simulate>
auto within_clock(const std::string& file, Simulate simulate) {
    try {
        return simulate();
    } catch (const sim::TimeOverflow& error) {
        throw clock_error(file, error);
    }
}

}  // namespace podsim::scenarios
