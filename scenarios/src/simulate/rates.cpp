#include "scenarios/src/simulate/rates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <variant>

#include "scenarios/src/simulate/build_machine.h"
#include "workloads/bounds/compute_time.h"

namespace podsim::scenarios {
namespace {

workloads::MachineRates rates_of(const Hardware& hardware) {
    return {.flops = hardware.chip.bf16_flops.value,
            .hbm = hardware.chip.hbm_bandwidth.value,
            .ici_one_way = hardware.chip.ici_one_way(hardware.ici_rates),
            .mxu_dimension = hardware.chip.mxu_dimension.value,
            .between_slices = slice_links(hardware),
            .chips_per_slice = hardware.slice.size(),
            .vpu = hardware.chip.vpu_flops.value,
            .int8 = hardware.chip.int8_ops.value,
            .fp8 = hardware.chip.fp8_flops.value,
            .hbm_shared = hardware.hbm == HbmRule::shared};
}

}  // namespace

workloads::MachineRates ideal_rates(const IdealHardware& hardware) {
    return rates_of(hardware);
}

workloads::MachineRates achieved_rates(const AchievedHardware& hardware) {
    workloads::MachineRates rates = rates_of(hardware);
    rates.efficiency = hardware.efficiency;
    for (double topology::Efficiency::*share :
         {&topology::Efficiency::mxu, &topology::Efficiency::mxu_grouped,
          &topology::Efficiency::attention, &topology::Efficiency::attention_backward,
          &topology::Efficiency::vpu}) {
        rates.efficiency.*share = std::min(rates.efficiency.*share * hardware.core_clock, 1.0);
    }
    return rates;
}

std::int64_t memory_rate(const AchievedHardware& hardware) {
    const double rate = hardware.chip.hbm_bandwidth.value.value();
    return hardware.hbm == HbmRule::shared && std::isfinite(rate) ? std::llround(rate) : 0;
}

double pace_of_slowest_slice(const AchievedHardware& hardware) {
    const int doublings =
        static_cast<int>(std::bit_width(static_cast<unsigned>(hardware.slices))) - 1;
    const double rest = static_cast<double>(hardware.slices) / (1 << doublings) - 1;
    return 1 + hardware.efficiency.straggler * (doublings + rest);
}

Durations::Durations(const AchievedHardware& hardware)
    : rates_(achieved_rates(hardware)),
      pace_(pace_of_slowest_slice(hardware)),
      launch_(sim::round_up(hardware.chip.collective_launch.value)) {}

sim::Time Durations::of(const workloads::Compute& work) const {
    return sim::round_up(workloads::compute_time(work, rates_).total() * pace_);
}

Durations::Timed Durations::timed(const workloads::Compute& work) const {
    const sim::Time duration = of(work);
    return {duration, duration.ps == 0 ? 0 : std::llround(work.hbm.value() / duration.seconds())};
}

Durations::Timed Durations::timed(const workloads::Op& op) const {
    const auto* const work = std::get_if<workloads::Compute>(&op.work);
    return work != nullptr ? timed(*work) : Timed{of(op), 0};
}

sim::Time Durations::of(const workloads::Op& op) const {
    if (const auto* work = std::get_if<workloads::Compute>(&op.work)) {
        return of(*work);
    }
    return std::holds_alternative<workloads::HostTransfer>(op.work) ? host_transfer() : launch_;
}

}  // namespace podsim::scenarios
