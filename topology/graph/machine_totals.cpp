#include "topology/graph/machine_totals.h"

#include <boost/graph/iteration_macros.hpp>

namespace podsim::topology {

MachineTotals totals(const MachineGraph& machine, const ChipSpec& chip, const DeadLinks& dead) {
    MachineTotals totals;
    std::int64_t hbms = 0;
    BGL_FORALL_VERTICES(vertex, machine, MachineGraph) {
        const VertexKind kind = machine[vertex].kind;
        totals.chips += kind == VertexKind::chip ? 1 : 0;
        totals.hosts += kind == VertexKind::host ? 1 : 0;
        hbms += kind == VertexKind::hbm ? 1 : 0;
    }
    // Counts links by kind, so that rates are multiplied: a sum would add a rounding error for each
    // link.
    std::array<std::int64_t, kLinkKinds> of_kind{};
    const LiveLinks lives{&machine, &dead};
    BGL_FORALL_EDGES(link, machine, MachineGraph) {
        const bool counts = kind_of(machine, link).link_class != LinkClass::ici || lives(link);
        of_kind[machine[link].kind] += counts ? 1 : 0;
    }
    for (std::size_t k = 0; k < of_kind.size(); ++k) {
        const LinkKind& kind = record(machine).kinds[k];
        ClassTotals& links = totals.links[static_cast<std::size_t>(kind.link_class)];
        const double rates = static_cast<double>(of_kind[k]) / (kind.rate_is_of_pair ? 2 : 1);
        links.links += of_kind[k];
        links.rate += kind.rate.value * rates;
    }
    const auto chips = static_cast<double>(totals.chips);
    totals.cores = totals.chips * chip.cores.value;
    totals.bf16_flops = chip.bf16_flops.value * chips;
    totals.int8_ops = chip.int8_ops.value * chips;
    totals.fp8_flops = chip.fp8_flops.value * chips;
    totals.hbm_capacity = chip.hbm_capacity.value * static_cast<double>(hbms);
    return totals;
}

}  // namespace podsim::topology
