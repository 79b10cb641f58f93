#include "scenarios/lower/lowering.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "topology/lattice/hosts.h"
#include "topology/mesh/fold.h"

namespace podsim::scenarios {
namespace {

/// Sums over the links of one class.
class ClassUse {
public:
    explicit ClassUse(std::string name) { use_.name = std::move(name); }

    void add(const sim::LinkTotals& link) {
        busy_ += link.busy;
        carried_ += link.carried_units;
        most_.busy = std::max(most_.busy, link.busy);
        most_.carried_units = std::max(most_.carried_units, link.carried_units);
    }

    /// `links`: how many there are.
    LinkUse over(double links, sim::Time end) {
        if (end.ps > 0) {
            use_.busy_fraction = busy_.seconds() / links / end.seconds();
            use_.busiest_fraction = most_.busy.seconds() / end.seconds();
        }
        use_.bytes = sim::LinkTotals{.busy = {}, .carried_units = carried_}.carried() / links;
        use_.busiest_bytes = most_.carried();
        return use_;
    }

private:
    LinkUse use_;
    sim::Time busy_;
    std::int64_t carried_ = 0;
    sim::LinkTotals most_;
};

bool stands_for_host(const topology::Point& chip, const topology::Point& host_box) {
    for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
        if (chip[axis] % host_box[axis] != 0) {
            return false;
        }
    }
    return true;
}

}  // namespace

Layout lay_out(const Hardware& hardware, Fold fold,
               const std::vector<collectives::Members>& members,
               const collectives::Members& unlike) {
    Layout layout;
    std::vector<collectives::Group> groups;
    bool hosts = false;
    for (const collectives::Members& one : members) {
        groups.push_back(one.group);
        hosts = hosts || one.across.length > 1;
    }
    if (hosts) {
        layout.host_box = topology::Hosts(hardware.slice, hardware.chip.host_shape.value).box();
    }
    const unsigned kept = perturbed_axes(hardware.perturbations);
    const bool slices_differ = (kept & kSlicesDiffer) != 0 || unlike.across.length > 1;
    layout.folded = topology::Places(
        topology::fold(hardware.slice, groups, layout.host_box, kept, unlike.group),
        slices_differ ? hardware.slices : 1);
    // Slices that have nothing to do with each other are alike.
    layout.places =
        fold == Fold::off ? topology::Places(hardware.slice, hardware.slices) : layout.folded;
    return layout;
}

Hardware achievable(const Hardware& hardware) {
    Hardware real = hardware;
    topology::ChipSpec& chip = real.chip;
    const topology::Efficiency& reached = hardware.efficiency;
    chip.hbm_bandwidth.value = reached.hbm * chip.hbm_bandwidth.value;
    chip.ici_one_way_book.value = reached.ici * chip.ici_one_way_book.value;
    chip.ici_one_way_vendor.value = reached.ici * chip.ici_one_way_vendor.value;
    chip.dcn_per_host.value = reached.dcn * chip.dcn_per_host.value;
    chip.collective_launch.value = chip.collective_launch.value + sim::Seconds(reached.launch_s);
    return real;
}

double pace_of_slowest_slice(const Hardware& hardware) {
    const int doublings = std::bit_width(static_cast<unsigned>(hardware.slices)) - 1;
    const double rest = static_cast<double>(hardware.slices) / (1 << doublings) - 1;
    return 1 + hardware.efficiency.straggler * (doublings + rest);
}

sim::Machine build_machine(const Hardware& hardware, const collectives::ShiftTable& shifts) {
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

collectives::LinkModel link_model(const Hardware& hardware) {
    return {.rate = hardware.chip.ici_one_way(hardware.ici_rates),
            .latency = hardware.chip.ici_latency.value,
            .rule = hardware.latency};
}

collectives::ScheduleOptions schedule_options(const Hardware& hardware, const Layout& layout) {
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

std::vector<LinkUse> link_use(const Hardware& hardware, const Layout& layout,
                              const sim::ExecutionResult& result) {
    const std::size_t ports = result.links.size() / static_cast<std::size_t>(layout.places.size());
    const auto link = [&](int representative, std::size_t port) -> const sim::LinkTotals& {
        return result.links[layout.place_of(representative) * ports + port];
    };
    std::vector<LinkUse> uses;
    for (int axis = 0; axis < topology::kAxes; ++axis) {
        const int length = hardware.slice.length(axis);
        if (length == 1) {
            continue;
        }
        ClassUse use(fmt::format("ici_{}", topology::axis_name(axis)));
        for (int place = 0; place < layout.folded.size(); ++place) {
            use.add(link(place, collectives::port_of(axis, 1)));
            use.add(link(place, collectives::port_of(axis, -1)));
        }
        // An unwrapped axis lacks the two links at its ends.
        const double per_line = hardware.slice.wraps(axis) ? 2.0 : 2.0 * (length - 1) / length;
        uses.push_back(use.over(per_line * layout.folded.size(), result.end));
    }
    if (ports == collectives::kAllPorts) {
        ClassUse pcie("pcie");
        ClassUse dcn("dcn");
        int hosts = 0;
        for (int place = 0; place < layout.folded.size(); ++place) {
            pcie.add(link(place, collectives::kPcieToHost));
            pcie.add(link(place, collectives::kPcieToChip));
            if (stands_for_host(layout.folded.point(place), layout.host_box)) {
                dcn.add(link(place, collectives::kDcnOut));
                dcn.add(link(place, collectives::kDcnIn));
                ++hosts;
            }
        }
        uses.push_back(pcie.over(2.0 * layout.folded.size(), result.end));
        if (hardware.slices > 1) {
            uses.push_back(dcn.over(2.0 * hosts, result.end));
        }
    }
    return uses;
}

}  // namespace podsim::scenarios
