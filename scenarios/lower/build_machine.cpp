#include "scenarios/lower/build_machine.h"

#include "scenarios/lower/perturb.h"
#include "topology/lattice/hosts.h"

namespace podsim::scenarios {

sim::Machine build_machine(const AchievedHardware& hardware,
                           const collectives::ShiftTable& shifts) {
    sim::Machine machine;
    machine.places = static_cast<std::size_t>(shifts.places().size());
    machine.ports = shifts.uses_hosts() ? collectives::kAllPorts : collectives::kIciPorts;
    machine.rule = hardware.latency;
    machine.links.assign(machine.places * machine.ports,
                         {.rate = hardware.chip.ici_one_way(hardware.ici_rates),
                          .latency = sim::round_up(hardware.chip.ici_latency.value)});
    machine.shifts = shifts.table();
    if (shifts.uses_hosts()) {
        const collectives::SliceLinks links = slice_links(hardware);
        const sim::LinkSpec pcie{.rate = links.pcie, .latency = sim::round_up(links.pcie_latency)};
        const sim::LinkSpec out{.rate = links.dcn, .latency = sim::round_up(links.dcn_latency)};
        for (std::size_t place = 0; place < machine.places; ++place) {
            machine.links[machine.link(place, collectives::kPcieToHost)] = pcie;
            machine.links[machine.link(place, collectives::kPcieToChip)] = pcie;
            machine.links[machine.link(place, collectives::kDcnOut)] = out;
            // The network's latency is counted once, on the way in to it.
            machine.links[machine.link(place, collectives::kDcnIn)] = {.rate = links.dcn,
                                                                       .latency = {}};
        }
        machine.index_at_shared = shifts.index_in_host();
    }
    perturb(hardware, shifts.places(), machine);
    return machine;
}

collectives::LinkModel link_model(const AchievedHardware& hardware) {
    return {.rate = hardware.chip.ici_one_way(hardware.ici_rates),
            .latency = hardware.chip.ici_latency.value,
            .rule = hardware.latency};
}

collectives::ScheduleOptions schedule_options(const AchievedHardware& hardware,
                                              const Layout& layout) {
    const collectives::LinkModel link = link_model(hardware);
    return {.message_cap = hardware.message_cap,
            .dead_links = dead_links(hardware, layout.places),
            .hop_bytes = sim::Bytes(link.rate.value() * link.latency.value()),
            .payloads = false};
}

collectives::SliceLinks slice_links(const Hardware& hardware) {
    return {.pcie = hardware.chip.pcie_one_way.value,
            .dcn = hardware.chip.dcn_per_host.value / hardware.oversubscription,
            .pcie_latency = hardware.chip.pcie_latency.value,
            .dcn_latency = hardware.chip.dcn_latency.value,
            .hosts = topology::Hosts(hardware.slice, hardware.chip.host_shape.value).count()};
}

}  // namespace podsim::scenarios
