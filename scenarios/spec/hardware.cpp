#include "scenarios/spec/hardware.h"

namespace podsim::scenarios {

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
