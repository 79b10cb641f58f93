// The rates at which a machine computes: ideal ones for estimates, achieved ones for simulation.
#pragma once

#include <cstdint>

#include "scenarios/src/scenario/hardware.h"
#include "sim/base/time.h"
#include "workloads/bounds/machine_rates.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// The rates that estimates use, whatever the profile.
workloads::MachineRates ideal_rates(const IdealHardware& hardware);
/// The rates that the simulation uses.
workloads::MachineRates achieved_rates(const AchievedHardware& hardware);

/// Bytes a second that the kernels and links of a chip share. 0 means no sharing: each has its full
/// rate (sim::Machine).
std::int64_t memory_rate(const AchievedHardware& hardware);

/// Factor by which compute takes longer than on one slice if several must keep in step: the slowest
/// sets the pace. It is 1 + straggler x log2(hosts / hosts of a slice). The logarithm is linear
/// between powers of two.
double pace_of_slowest_slice(const AchievedHardware& hardware);

/// Durations of tasks on one hardware, each rounded up to a picosecond.
class Durations {
public:
    explicit Durations(const AchievedHardware& hardware);

    [[nodiscard]] sim::Time of(const workloads::Compute& work) const;
    /// A duration, and the demand on the memory meanwhile: the work's bytes, spread evenly, in
    /// bytes a second.
    struct Timed {
        sim::Time duration{};
        std::int64_t demand = 0;
    };
    [[nodiscard]] Timed timed(const workloads::Compute& work) const;
    /// Time from the beginning of a collective, or of one end of a handover, until its first
    /// message is ready.
    [[nodiscard]] sim::Time launch() const { return launch_; }
    /// The same for a host transfer: zero, since no other chip has to be ready for it.
    [[nodiscard]] static sim::Time host_transfer() { return {}; }
    /// The duration of a step's operation, of any of these kinds.
    [[nodiscard]] sim::Time of(const workloads::Op& op) const;
    [[nodiscard]] Timed timed(const workloads::Op& op) const;

private:
    workloads::MachineRates rates_;
    double pace_;
    sim::Time launch_;
};

}  // namespace podsim::scenarios
