#include "workloads/bounds/least_traffic.h"

#include <cmath>

#include "collectives/catalogue/bounds.h"
#include "workloads/bounds/known_kinds.h"
#include "workloads/program/alike_work.h"

namespace podsim::workloads {
namespace {

bool takes_time(sim::BytesPerSecond rate) {
    return std::isfinite(rate.value());
}

sim::Bytes sent_and_received(const collectives::LeastTraffic& traffic) {
    return traffic.send + traffic.receive;
}

MemoryTraffic memory_of(const Collective& collective, std::size_t program,
                        const collectives::Members& members, const MachineRates& rates) {
    const bool within = collectives::group_size(members.group) > 1;
    if ((within && !takes_time(rates.ici_one_way)) ||
        (members.span_slices() && !takes_time(rates.between_slices.pcie))) {
        return {};
    }
    if (collective.step && collective.step->senders) {
        const bool sums = collective.operation == collectives::Operation::reduce_scatter;
        return {.each = {}, .mean = shifted(collective, members.size()).mean * (sums ? 3 : 2)};
    }
    if (!collective.loads.empty()) {
        // The axis of unequal experts is the last of the programs' axes.
        const sim::Bytes own =
            sent_and_received(exchanged(collective, program % collective.loads.size()));
        return {.each = own, .mean = own};
    }
    return {
        .each = sent_and_received(
            collectives::least_traffic(collective.operation, members.size(), collective.bytes)),
        .mean = collectives::least_memory(collective.operation, members.size(), collective.bytes)};
}

}  // namespace

collectives::LeastTraffic exchanged(const Collective& exchange, std::size_t rank) {
    const auto members = static_cast<double>(exchange.loads.size());
    const sim::Bytes pair = exchange.bytes / members / members;
    const sim::Bytes own = pair * ((members - 1) * exchange.loads[rank]);
    const sim::Bytes others = pair * (members - exchange.loads[rank]);
    return {.receive = exchange.returning ? others : own,
            .send = exchange.returning ? own : others,
            .mean = exchange.returning ? others : own};
}

collectives::LeastTraffic shifted(const Collective& step, double members) {
    const auto& [first, last] = *step.step->senders;
    return {.receive = {}, .send = {}, .mean = step.step->bytes * ((last - first + 1) / members)};
}

collectives::LeastTraffic permuted(const Collective& permute, int members) {
    const sim::Bytes share =
        permute.shift % members == 0 ? sim::Bytes(0) : permute.bytes / static_cast<double>(members);
    return {.receive = share, .send = share, .mean = share};
}

collectives::LeastTraffic handed(const Handover& handover) {
    const sim::Bytes none;
    return handover.sends
               ? collectives::LeastTraffic{.receive = none, .send = handover.bytes, .mean = none}
               : collectives::LeastTraffic{
                     .receive = handover.bytes, .send = none, .mean = handover.bytes};
}

topology::DeviceMesh::Displacement way_of(const Handover& handover, std::size_t program,
                                          const StepPrograms& programs,
                                          const topology::DeviceMesh& mesh) {
    const auto here = static_cast<int>(programs.stage(program));
    const auto there = static_cast<int>(handover.peer);
    const std::string& axis = programs.axes.front();
    return handover.sends ? mesh.between(axis, here, there) : mesh.between(axis, there, here);
}

MemoryTraffic memory_traffic(const StepPrograms& programs, std::size_t program,
                             const topology::DeviceMesh& mesh, const MachineRates& rates) {
    MemoryTraffic sum;
    KnownMembers known(mesh);
    const auto add = [&](sim::Bytes each, sim::Bytes mean) {
        sum.each += each;
        sum.mean += mean;
    };
    const std::vector<Op>& ops = programs.programs[program].ops;
    OfAlike<MemoryTraffic> traffic(programs.programs[program]);
    for (OpIndex op = 0; op < ops.size(); ++op) {
        const Work& work = ops[op].work;
        if (const auto* collective = std::get_if<Collective>(&work)) {
            const MemoryTraffic& more = traffic.of(op, [&] {
                return memory_of(*collective, program, known.of(collective->axes), rates);
            });
            add(more.each, more.mean);
        } else if (const auto* handover = std::get_if<Handover>(&work)) {
            const bool leaves = way_of(*handover, program, programs, mesh).slices != 0;
            if (takes_time(leaves ? rates.between_slices.pcie : rates.ici_one_way)) {
                add(handover->bytes, handover->bytes);
            }
        } else if (const auto* transfer = std::get_if<HostTransfer>(&work)) {
            if (takes_time(rates.between_slices.pcie)) {
                add(transfer->bytes, transfer->bytes);
            }
        }
    }
    return sum;
}

}  // namespace podsim::workloads
