// Measurements simulated at settings of the factors, each pair once: fits ask for the same times more than once.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "scenarios/calibrate/measurement.h"
#include "scenarios/watch/watch.h"
#include "topology/chips/efficiency.h"

namespace podsim::scenarios {

/// The time that a scenario's reference is about, simulated: a step, a block of steps, a program, or what a serving run is
/// held to, of tokens a second that of one.
double simulated_reference(const Scenario& scenario, Watch* watch = nullptr);

struct FitTrial {
    const Measurement* measurement = nullptr;
    topology::Efficiency efficiency;
};

class SimulatedTimes {
public:
    SimulatedTimes(int jobs, Watch* watch);
    ~SimulatedTimes();

    /// Seconds of each trial, in their order.
    std::vector<double> of(std::span<const FitTrial> trials);
    double of(const FitTrial& trial) { return of(std::span(&trial, 1)).front(); }

private:
    using Key = std::pair<std::size_t, std::vector<double>>;
    class Steps;

    static Key key_of(const FitTrial& trial);
    Steps& steps_of(const FitTrial& trial, const Scenario& scenario);

    int jobs_;
    Watch* watch_;
    std::map<Key, double> times_;
    std::mutex mutex_;  ///< of `steps_`
    std::map<Key, std::unique_ptr<Steps>> steps_;
    std::map<std::size_t, double>
        effort_;  ///< of a measurement, in seconds of this machine: long ones begin first
};

}  // namespace podsim::scenarios
