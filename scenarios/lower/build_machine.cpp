#include "scenarios/lower/build_machine.h"

#include "scenarios/lower/perturb.h"
#include "scenarios/lower/rates.h"
#include "topology/graph/link_kinds.h"
#include "topology/lattice/hosts.h"

namespace podsim::scenarios {

sim::Machine build_machine(const AchievedHardware& hardware, const collectives::ShiftTable& shifts,
                           bool hosts) {
    sim::Machine machine;
    machine.places = static_cast<std::size_t>(shifts.places().size());
    machine.ports = hosts ? collectives::kAllPorts : collectives::kIciPorts;
    machine.rule = hardware.latency;
    machine.memory_rate = memory_rate(hardware);
    const std::vector<topology::LinkKind> kinds =
        topology::link_kinds(hardware.chip, hardware.ici_rates, hardware.oversubscription);
    std::vector<sim::LinkSpec> ports;
    for (std::size_t port = 0; port < machine.ports; ++port) {
        ports.push_back({kinds[port].rate.value, sim::round_up(kinds[port].latency.value)});
    }
    machine.links.reserve(machine.places * machine.ports);
    for (std::size_t place = 0; place < machine.places; ++place) {
        machine.links.insert(machine.links.end(), ports.begin(), ports.end());
    }
    machine.shifts = shifts.table();
    if (hosts) {
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
