#include "scenarios/src/scenario/hardware.h"

#include <cmath>

#include "sim/base/random.h"

namespace podsim::scenarios {

bool Where::holds(const topology::Point& at, int in_slice) const {
    for (std::size_t axis = 0; axis < chip.size(); ++axis) {
        if (chip[axis].has_value() && *chip[axis] != at[axis]) {
            return false;
        }
    }
    return !slice.has_value() || *slice == in_slice;
}

bool changes_nothing(const Perturbation& perturbation) {
    using Kind = Perturbation::Kind;
    switch (perturbation.kind) {
        case Kind::slow_chips:
            return perturbation.factor == 1;
        case Kind::random_chips:
            return perturbation.spread == 0;
        case Kind::dead_link:
            return false;
        case Kind::slow_link:
        case Kind::slow_host:
        case Kind::slow_dcn:
            return perturbation.share == 1;
    }
    return false;
}

unsigned perturbed_axes(const std::vector<Perturbation>& perturbations) {
    unsigned axes = 0;
    for (const Perturbation& one : perturbations) {
        if (one.kind == Perturbation::Kind::random_chips) {
            return ((1U << topology::kAxes) - 1) | kSlicesDiffer;
        }
        for (unsigned axis = 0; axis < topology::kAxes; ++axis) {
            axes |= one.where.chip[axis].has_value() ? 1U << axis : 0U;
        }
        axes |= one.where.slice.has_value() ? kSlicesDiffer : 0U;
    }
    return axes;
}

double random_factor(const Perturbation& perturbation, const topology::Point& chip, int slice) {
    std::uint64_t state = perturbation.seed;
    for (const int coordinate : {chip[0], chip[1], chip[2], slice}) {
        state = sim::next_random(state) + static_cast<std::uint64_t>(coordinate);
    }
    return 1 + perturbation.spread * std::abs(sim::near_normal(state));
}

std::vector<topology::AxisExchange> axis_exchanges(const Hardware& hardware) {
    if (!hardware.perturbations.empty()) {
        return {};
    }
    return topology::exchanges_of(hardware.slice, hardware.slices > 1
                                                      ? hardware.chip.host_shape.value
                                                      : topology::Point{1, 1, 1});
}

AchievedHardware::AchievedHardware(const IdealHardware& ideal) : Hardware(ideal) {
    chip.hbm_bandwidth.value = efficiency.hbm * chip.hbm_bandwidth.value;
    chip.ici_one_way_book.value = efficiency.ici * chip.ici_one_way_book.value;
    chip.ici_one_way_vendor.value = efficiency.ici * chip.ici_one_way_vendor.value;
    chip.dcn_per_host.value = efficiency.dcn * chip.dcn_per_host.value;
    chip.collective_launch.value = chip.collective_launch.value + sim::Seconds(efficiency.launch_s);
}

}  // namespace podsim::scenarios
