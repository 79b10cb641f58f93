// The links of a machine for the kernel, and the options with which schedules are built.
#pragma once

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/catalogue/bounds.h"
#include "collectives/paths/link_model.h"
#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/simulate/layout.h"
#include "sim/workload/machine.h"

namespace podsim::scenarios {

/// Returns the ICI links of the hardware at its rates; `hosts` adds the links of chips and hosts.
/// `shifts` holds the displacements of every schedule that will run there.
sim::Machine build_machine(const AchievedHardware& hardware, const collectives::ShiftTable& shifts,
                           bool hosts);

/// The ICI link that every collective of this hardware uses.
collectives::LinkModel link_model(const AchievedHardware& hardware);

/// Options of schedules that are built for the places of this layout.
collectives::ScheduleOptions schedule_options(const AchievedHardware& hardware,
                                              const Layout& layout);

/// PCIe and DCN links of one slice.
collectives::SliceLinks slice_links(const Hardware& hardware);

}  // namespace podsim::scenarios
