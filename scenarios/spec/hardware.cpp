#include "scenarios/spec/hardware.h"

namespace podsim::scenarios {

AchievedHardware::AchievedHardware(const IdealHardware& ideal) : Hardware(ideal) {
    chip.hbm_bandwidth.value = efficiency.hbm * chip.hbm_bandwidth.value;
    chip.ici_one_way_book.value = efficiency.ici * chip.ici_one_way_book.value;
    chip.ici_one_way_vendor.value = efficiency.ici * chip.ici_one_way_vendor.value;
    chip.dcn_per_host.value = efficiency.dcn * chip.dcn_per_host.value;
    chip.collective_launch.value = chip.collective_launch.value + sim::Seconds(efficiency.launch_s);
}

}  // namespace podsim::scenarios
