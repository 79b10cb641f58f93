// The links of a machine for the kernel, and what schedules are built with.
#pragma once

#include "collectives/algorithms/collective_schedule.h"
#include "collectives/catalogue/bounds.h"
#include "collectives/paths/link_model.h"
#include "scenarios/lower/layout.h"
#include "scenarios/spec/hardware.h"
#include "sim/workload/machine.h"

namespace podsim::scenarios {

/// The ICI links of one hardware, and with `hosts` those of chips and hosts, at its rates. `shifts` holds the displacements of
/// every schedule that will run there.
sim::Machine build_machine(const AchievedHardware& hardware, const collectives::ShiftTable& shifts,
                           bool hosts);

/// The link that every collective of this hardware runs on.
collectives::LinkModel link_model(const AchievedHardware& hardware);

/// How schedules are built on those places.
collectives::ScheduleOptions schedule_options(const AchievedHardware& hardware,
                                              const Layout& layout);

/// PCIe and DCN of one slice.
collectives::SliceLinks slice_links(const Hardware& hardware);

}  // namespace podsim::scenarios
