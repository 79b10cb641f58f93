#include <optional>
#include <utility>

#include "collectives/algorithms/ring_builder.h"

namespace podsim::collectives {

void ScheduleBuilder::connect_role(std::uint32_t role) {
    for (std::size_t part = 0; part < phases_.size(); ++part) {
        for (std::size_t phase = 0; phase < phases_[part].size(); ++phase) {
            for (int chunk = 0; chunk < result_.chunks; ++chunk) {
                if (phases_[part][phase].factor == kBetweenSlices) {
                    connect_between_slices(role, part, chunk, phase);
                } else {
                    connect_phase(role, part, chunk, phase);
                }
                join_phases(role, part, chunk, phase);
            }
        }
    }
}

/// Adds the edges into this role's transfers of one phase, and into the join after it.
void ScheduleBuilder::connect_phase(std::uint32_t role, std::size_t part, int chunk,
                                    std::size_t phase) {
    const Phase& spec = phases_[part][phase];
    const bool last = phase + 1 == phases_[part].size();
    for (const int direction : directions(role, spec)) {
        const std::optional<std::uint32_t> behind = roles_.neighbour(role, spec.factor, -direction);
        const int most = most_distance(role, spec, direction);
        const int arriving = behind ? most_distance(*behind, spec, direction) : 0;
        const Slot* const slots_here = slots(role, part, chunk, phase, direction);
        const Slot* const slots_behind =
            behind ? slots(*behind, part, chunk, phase, direction) : nullptr;
        for (int distance = 1; distance <= most; ++distance) {
            const Slot& own = slots_here[distance];
            const int relayed = spec.motion == Motion::gather ? distance - 1 : distance + 1;
            for (std::uint32_t i = 0; i < own.count; ++i) {
                const std::uint32_t transfer = own.first_transfer + i;
                if (phase > 0 && (spec.motion == Motion::reduce || relayed == 0)) {
                    edges_.push_back({gates_[role][gate_index(part, chunk, phase - 1)], transfer});
                }
                if (relayed == 0 || relayed > arriving) {
                    continue;
                }
                const Slot& from = slots_behind[relayed];
                const std::uint32_t piece = own.first_piece + i;
                if (piece >= from.first_piece && piece < from.first_piece + from.count) {
                    edges_.push_back({from.first_transfer + piece - from.first_piece, transfer});
                }
            }
        }
        if (last || !behind) {
            continue;
        }
        // The phase completes here with everything that arrives, or with the last sums.
        for (int distance = 1; distance <= arriving; ++distance) {
            if (spec.motion == Motion::reduce && distance != 1) {
                continue;
            }
            const Slot& from = slots_behind[distance];
            for (std::uint32_t i = 0; i < from.count; ++i) {
                edges_.push_back(
                    {from.first_transfer + i, gates_[role][gate_index(part, chunk, phase)]});
            }
        }
    }
}

/// Between slices nothing is passed on: every message goes directly to its destination. The phase
/// ends when those of all other slices have arrived.
void ScheduleBuilder::connect_between_slices(std::uint32_t role, std::size_t part, int chunk,
                                             std::size_t phase) {
    for (int distance = 1; distance < phases_[part][phase].length; ++distance) {
        const Slot& own = slots(role, part, chunk, phase, 1)[distance];
        for (std::uint32_t i = 0; phase > 0 && i < own.count; ++i) {
            edges_.push_back(
                {gates_[role][gate_index(part, chunk, phase - 1)], own.first_transfer + i});
        }
        const std::uint32_t sender = roles_.in_slice(role, across_, -distance);
        const Slot& from = slots(sender, part, chunk, phase, 1)[distance];
        for (std::uint32_t i = 0; phase + 1 < phases_[part].size() && i < from.count; ++i) {
            edges_.push_back(
                {from.first_transfer + i, gates_[role][gate_index(part, chunk, phase)]});
        }
    }
}

/// A phase may end at a member before the phase that it follows: its join waits for the join before
/// it.
void ScheduleBuilder::join_phases(std::uint32_t role, std::size_t part, int chunk,
                                  std::size_t phase) {
    if (phase > 0 && phase + 1 < phases_[part].size()) {
        edges_.push_back({gates_[role][gate_index(part, chunk, phase - 1)],
                          gates_[role][gate_index(part, chunk, phase)]});
    }
}

/// Sorts the edges into the transfers' successor lists, each in the order of the edges, and counts
/// needs and arrivals.
void ScheduleBuilder::link_edges() {
    sim::Schedule& schedule = result_.schedule;
    for (const Edge& edge : edges_) {
        ++schedule.transfers[edge.from].successor_count;
        ++schedule.transfers[edge.to].needs;
    }
    std::uint32_t first = 0;
    for (sim::Transfer& transfer : schedule.transfers) {
        transfer.first_successor = first;
        first += std::exchange(transfer.successor_count, 0U);
    }
    schedule.successors.resize(edges_.size());
    for (const Edge& edge : edges_) {
        sim::Transfer& from = schedule.transfers[edge.from];
        schedule.successors[from.first_successor + from.successor_count++] = edge.to;
    }
    for (std::uint32_t role = 0; role < roles_.count(); ++role) {
        schedule.roles[role].arrivals = arrivals_[role];
    }
    edges_.clear();
}

void ScheduleBuilder::assign_roles_to_places() {
    const topology::Places& places = shifts_.places();
    for (int place = 0; place < places.size(); ++place) {
        result_.schedule.role_of_place.push_back(roles_.of(places, place));
    }
}

}  // namespace podsim::collectives
