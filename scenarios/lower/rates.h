// How fast a machine computes: ideally, for estimates, and as reached, for what is simulated.
#pragma once

#include <cstdint>

#include "scenarios/spec/hardware.h"
#include "sim/base/time.h"
#include "workloads/analytic/machine_rates.h"
#include "workloads/program/step_program.h"

namespace podsim::scenarios {

/// The rates that estimates use whatever the profile.
workloads::MachineRates ideal_rates(const IdealHardware& hardware);
/// Those that the simulation uses.
workloads::MachineRates achieved_rates(const AchievedHardware& hardware);

/// Bytes a second that the kernels and links of a chip share, or 0: each has what it asks for (sim::Machine).
std::int64_t memory_rate(const AchievedHardware& hardware);

/// How many times as long as on one slice compute takes when several must keep in step: the slowest sets the pace.
/// 1 + straggler x log2(hosts / hosts of a slice), the logarithm linear between powers of two.
double pace_of_slowest_slice(const AchievedHardware& hardware);

/// How long tasks take on some hardware, each rounded up to a picosecond.
class Durations {
public:
    explicit Durations(const AchievedHardware& hardware);

    [[nodiscard]] sim::Time of(const workloads::Compute& work) const;
    /// A duration, and what is asked of the memory meanwhile: the bytes of the work, evenly, in bytes a second.
    struct Timed {
        sim::Time duration{};
        std::int64_t demand = 0;
    };
    [[nodiscard]] Timed timed(const workloads::Compute& work) const;
    /// From when a collective, or one end of a handover, is begun until its first message is ready.
    [[nodiscard]] sim::Time launch() const { return launch_; }
    /// The same of a host transfer: nothing, since no other chip has to be ready for it.
    [[nodiscard]] static sim::Time host_transfer() { return {}; }
    /// Of an operation of a step, which is one of these.
    [[nodiscard]] sim::Time of(const workloads::Op& op) const;
    [[nodiscard]] Timed timed(const workloads::Op& op) const;

private:
    workloads::MachineRates rates_;
    double pace_;
    sim::Time launch_;
};

}  // namespace podsim::scenarios
