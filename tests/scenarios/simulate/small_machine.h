// A machine of small slices, for the tests of links.
#pragma once

#include "scenarios/src/scenario/hardware.h"
#include "topology/chips/chip.h"

namespace podsim::scenarios::samples {

inline IdealHardware machine_of(topology::Point shape, topology::Wraparound wraparound,
                                int slices = 1) {
    IdealHardware hardware;
    hardware.chip = topology::find_chip("v5e");
    hardware.chip.wraparound.value = wraparound;
    hardware.shape = shape;
    hardware.slice = topology::make_slice(hardware.chip, shape, false);
    hardware.slices = slices;
    return hardware;
}

}  // namespace podsim::scenarios::samples
