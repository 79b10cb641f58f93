#include "scenarios/least/link_sums.h"

#include <algorithm>

namespace podsim::scenarios {
namespace {

/// How many links the bytes of a member pass, by set of axes; none of what says nothing.
const LinkCounts* passed(const workloads::Collective& collective, const topology::Lattice& slice,
                         const PlacedMesh& mesh) {
    using collectives::Operation;
    switch (collective.operation) {
        case Operation::all_gather:
        case Operation::reduce_scatter:
        case Operation::all_reduce:
            return &mesh.tree_links(slice, collective.axes);
        case Operation::all_to_all:
            return &mesh.pair_links(slice, collective.axes);
        default:
            return nullptr;
    }
}

}  // namespace

sim::Seconds least_link_time(const workloads::StepProgram& program, const topology::Lattice& slice,
                             const PlacedMesh& mesh, sim::BytesPerSecond link) {
    std::array<sim::Bytes, std::tuple_size_v<LinkCounts>> sums{};
    for (const workloads::Op& op : program.ops) {
        const auto* collective = std::get_if<workloads::Collective>(&op.work);
        if (collective == nullptr || !collective->loads.empty() ||
            (collective->step && collective->step->senders)) {
            continue;
        }
        const collectives::Members& members = mesh.members(collective->axes);
        const LinkCounts* const links = passed(*collective, slice, mesh);
        if (members.across.length > 1 || links == nullptr) {
            continue;
        }
        const sim::Bytes of_member = collective->bytes / collectives::group_size(members.group);
        const double times = collective->operation == collectives::Operation::all_reduce ? 2 : 1;
        for (unsigned set = 1; set < sums.size(); ++set) {
            sums[set] += of_member * (times * (*links)[set]);
        }
    }
    sim::Seconds longest{};
    for (unsigned set = 1; set < sums.size(); ++set) {
        const double links = collectives::links_per_chip(slice, set).mean;
        if (links > 0) {
            longest = std::max(longest, sums[set] / (link * links));
        }
    }
    return longest;
}

sim::Seconds busiest_link_time(const workloads::StepProgram& program,
                               const topology::Lattice& slice, const PlacedMesh& mesh,
                               sim::BytesPerSecond link, TensorCollectives tensor,
                               KnownBounds::OfMachine& known) {
    std::array<std::vector<double>, topology::kAxes> sums;
    for (const workloads::Op& op : program.ops) {
        const auto* collective = std::get_if<workloads::Collective>(&op.work);
        if (collective == nullptr || collective->step ||
            (tensor == TensorCollectives::in_steps && may_go_in_steps(*collective))) {
            continue;
        }
        const collectives::Members& members = mesh.members(collective->axes);
        if (members.span_slices()) {
            continue;
        }
        const AlgorithmLinks& links = known.links(collective->operation, slice, members);
        for (std::size_t axis = 0; axis < sums.size(); ++axis) {
            sums[axis].resize(std::max(sums[axis].size(), links.up[axis].size()));
            for (std::size_t chip = 0; chip < links.up[axis].size(); ++chip) {
                sums[axis][chip] += collective->bytes.value() * links.up[axis][chip];
            }
        }
    }
    double most = 0;
    for (const std::vector<double>& links : sums) {
        most = links.empty() ? most : std::max(most, *std::ranges::max_element(links));
    }
    return sim::Bytes(most) / link;
}

}  // namespace podsim::scenarios
