#include "tests/collectives/slices/slices_support.h"

#include <array>
#include <sstream>
#include <utility>

#include "topology/lattice/hosts.h"
#include "topology/mesh/fold.h"

namespace podsim::collectives {

topology::Places SlicesCase::folded() const {
    return topology::fold(within.slice, std::array{within.group}, host_box);
}

SliceLinks SlicesCase::links() const {
    int hosts = 1;
    for (std::size_t axis = 0; axis < topology::kAxes; ++axis) {
        hosts *= (within.slice.lengths[axis] + host_box[axis] - 1) / host_box[axis];
    }
    return {.pcie = pcie.rate, .dcn = dcn.rate, .hosts = hosts};
}

std::string describe(const SlicesCase& c) {
    std::ostringstream text;
    text << describe(c.within) << "; slice/" << c.across.stride << "%" << c.across.length << " of "
         << c.slices << ", host " << c.host_box[0] << "x" << c.host_box[1] << "x" << c.host_box[2]
         << ", " << c.within.options.chunks_between_slices << " chunks, PCIe "
         << c.pcie.rate.value() << " B/s " << c.pcie.latency.ps << " ps, DCN " << c.dcn.rate.value()
         << " B/s " << c.dcn.latency.ps << " ps";
    return text.str();
}

Outcome run_on(const topology::Places& places, const SlicesCase& c, const Attach& attach) {
    const Case& w = c.within;
    Outcome run;
    ShiftTable shifts(places, c.host_box);
    run.built = build_schedule(c.call(), w.options, shifts);
    run.workload.schedules.push_back(run.built.schedule);
    run.workload.operations.push_back({});
    sim::Task task;
    task.operation = 0;
    run.workload.graphs.emplace_back().tasks.push_back(task);

    sim::Machine& machine = run.workload.machine;
    machine.places = static_cast<std::size_t>(places.size());
    machine.ports = kAllPorts;
    machine.rule = w.link.rule;
    machine.links.assign(machine.places * machine.ports,
                         {.rate = w.link.rate, .latency = sim::round_up(w.link.latency)});
    for (std::size_t place = 0; place < machine.places; ++place) {
        machine.links[machine.link(place, kPcieToHost)] = c.pcie;
        machine.links[machine.link(place, kPcieToChip)] = c.pcie;
        machine.links[machine.link(place, kDcnOut)] = c.dcn;
        machine.links[machine.link(place, kDcnIn)] = {.rate = c.dcn.rate, .latency = {}};
    }
    machine.shifts = shifts.table();
    machine.index_at_shared = shifts.index_in_host();
    run.workload.graph_of_place.assign(machine.places, 0);

    sim::Observer* observer = attach ? attach(run.built, run.workload) : nullptr;
    run.result = sim::execute(run.workload, observer);
    return run;
}

SlicesCase random_slices_case(Random& random, int longest, int most_chips, int most_slices) {
    constexpr std::array kPcieRates{1.5e10, 1.6e10, 3.2e10, 1e9};
    constexpr std::array kDcnRates{2.5e10, 1.25e10, 6.25e9};
    constexpr std::array kLatencies{0, 1'000, 1'000'000, 10'000'000, 70'000'000};
    constexpr std::array kHosts{topology::Point{1, 1, 1}, topology::Point{2, 2, 1},
                                topology::Point{4, 2, 1}};
    SlicesCase c;
    c.within = random_case(random, longest, most_chips);
    if (random.below(5) == 0) {
        c.within.group.clear();
    } else if (random.below(8) == 0) {
        c.within.slice =
            twisted(random.coin() ? topology::Point{2, 2, 4} : topology::Point{2, 4, 4});
        c.within.group = whole_axes(
            c.within.slice, random.coin() ? 7U : static_cast<unsigned>(random.between(1, 6)));
    }
    // The factor of the slices is all of them, a block, or a stride.
    c.slices = random.between(2, most_slices);
    c.across = {1, c.slices};
    if (c.slices % 2 == 0 && c.slices > 2 && random.coin()) {
        c.across =
            random.coin() ? topology::SliceFactor{1, 2} : topology::SliceFactor{2, c.slices / 2};
    }
    if (random.below(4) == 0) {
        c.within.operation = Operation::all_to_all;
        c.within.algorithm = random.coin() ? Algorithm::automatic : Algorithm::one_way;
        const double pair = c.within.v.value() / c.members().size() / c.members().size();
        c.within.options.message_cap = sim::Bytes(random.coin() ? c.within.v.value() : pair / 2.5);
    } else if (random.below(4) == 0) {
        c.within.algorithm = Algorithm::flat;
    }
    c.within.options.chunks_between_slices = random.between(1, 4);
    c.host_box = topology::Hosts(c.within.slice, random.pick(kHosts)).box();
    c.pcie = {.rate = sim::BytesPerSecond(random.pick(kPcieRates)),
              .latency = {random.pick(kLatencies)}};
    c.dcn = {.rate = sim::BytesPerSecond(random.pick(kDcnRates)),
             .latency = {random.pick(kLatencies)}};
    return c;
}

}  // namespace podsim::collectives
