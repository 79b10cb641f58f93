// Arrivals of transfers, the successors that they fire, and departures to links.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "sim/executor/player.h"

namespace podsim::sim {

/// Counts one predecessor of a transfer at each of the places, and calls comes(place) where it was
/// the last. `row` is the transfer's row of one-byte counters.
template <class Pending>
template <class Comes>
void Player<Pending>::count_down(const LiveOperation& operation, Members places, std::uint8_t* row,
                                 const Comes& comes) {
    const std::uint32_t* const index_in_role = operation.roles->index_in_role.data();
    for (const std::uint32_t place : places) {
        if (--row[index_in_role[place]] == 0) {
            comes(place);
        }
    }
}

/// Like count_down, for four-byte counters.
template <class Pending>
template <class Comes>
void Player<Pending>::count_down_wide(const LiveOperation& operation, Members places,
                                      std::uint8_t* row, const Comes& comes) {
    for (const std::uint32_t place : places) {
        std::uint8_t* const at = row + 4 * std::size_t{operation.roles->index_in_role[place]};
        std::uint32_t wide = 0;
        std::memcpy(&wide, at, 4);
        --wide;
        std::memcpy(at, &wide, 4);
        if (wide == 0) {
            comes(place);
        }
    }
}

/// Records a transfer at a place where its operation has not started; it fires when it does.
template <class Pending>
void Player<Pending>::comes_early(LiveOperation& operation, std::uint32_t place,
                                  const FirstHop& transfer) {
    PlaceState& state = operation.places[place];
    operation.early.push_back({transfer, state.early});
    state.early = static_cast<std::uint32_t>(operation.early.size() - 1);
}

/// Counts one predecessor of the edge's transfer at each of the places.
template <class Pending>
void Player<Pending>::met(LiveOperation& operation, std::uint32_t number, Members places,
                          const Edge& edge) {
    Some firing;
    std::size_t count = 0;
    const PlaceState* const state = operation.places.data();
    const auto comes = [&](std::uint32_t place) {
        if (state[place].early == PlaceState::kStarted) {
            firing[count++] = place;
        } else {
            comes_early(operation, place, edge.next);
        }
    };
    if (edge.counter == Edge::kFires) {
        std::ranges::for_each(places, comes);
    } else if (edge.counter % 2 == 0) {
        count_down(operation, places, &operation.counters[edge.counter / 2], comes);
    } else {
        count_down_wide(operation, places, &operation.counters[edge.counter / 2], comes);
    }
    if (count > 0) {
        fire(operation, number, Members(firing.data(), count), edge.next);
    }
}

template <class Pending>
void Player<Pending>::successors_met(LiveOperation& operation, std::uint32_t number, Members places,
                                     const TransferPath& path) {
    const Edge* const edges = operation.table->edges.data() + path.first_edge;
    for (std::uint32_t i = 0; i < path.edge_count; ++i) {
        met(operation, number, places, edges[i]);
    }
}

template <class Pending>
void Player<Pending>::fire(LiveOperation& operation, std::uint32_t number, Members places,
                           const FirstHop& first) {
    const TransferPath& path = operation.table->paths[first.transfer];
    if (first.port == FirstHop::kJoin) {
        join(operation, number, places, path);
        return;
    }
    __builtin_prefetch(&path, 1);  // for the link that serves it
    if (state_.hop_observer != nullptr) {
        for (const std::uint32_t place : places) {
            state_.hop_observer->transfer_fired(OperationId(number), PlaceId(place), first.transfer,
                                                state_.now);
        }
    }
    depart(departure(operation, number, first), places);
}

/// Sends the first of a row of roots to its link; for an observer, the whole row fires.
template <class Pending>
void Player<Pending>::fire_row(LiveOperation& operation, std::uint32_t number, std::uint32_t place,
                               const FirstHop& root) {
    const TransferTable& table = *operation.table;
    if (!table.has_behind(root.transfer)) {
        fire(operation, number, Members(&place, 1), root);
        return;
    }
    __builtin_prefetch(&table.paths[root.transfer], 1);
    if (state_.hop_observer != nullptr) {
        for (std::uint32_t each = root.transfer; each != TransferTable::kNone;
             each = table.behind[each]) {
            state_.hop_observer->transfer_fired(OperationId(number), PlaceId(place), each,
                                                state_.now);
        }
    }
    Departure departure = this->departure(operation, number, root);
    departure.what |= Waiting::kMoreBehind;
    depart(departure, Members(&place, 1));
}

template <class Pending>
auto Player<Pending>::departure(const LiveOperation& operation, std::uint32_t number,
                                const FirstHop& first) const -> Departure {
    return {.order = state_.order_of(number, first.phase, state_.instant_number),
            .what = first.transfer,
            .first_server = operation.first_server + state_.server_of(0, first.port),
            .at = state_.machine.shifts.data() + first.shift * state_.machine.places};
}

/// Adds the transfer to its links, from all these sources.
template <class Pending>
void Player<Pending>::depart(const Departure& departure, Members sources) {
    Some servers;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        servers[i] = departure.first_server + departure.at[sources[i]];
    }
    if constexpr (Pending::kMostMembers > 1) {
        state_.servers.prefetch_states(
            std::span(servers).first(sources.size()),
            static_cast<std::uint32_t>(departure.order >> Waiting::kInstantBits));
    }
    const std::uint64_t order = departure.order;
    const std::uint32_t what = departure.what;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        if (state_.servers.at(servers[i]).add({order, what, sources[i]}, goes_before_)) {
            listed_.push_back(servers[i]);
        }
    }
}

template <class Pending>
void Player<Pending>::heads_arrived(const Batch<Members>& batch) {
    const Message& message = state_.messages[batch.number];
    const LiveOperation& operation = state_.operations[message.operation];
    const TransferPath& path = operation.table->paths[message.transfer];
    const Hop& link = operation.schedule->hops[path.first_hop + message.hop];
    depart(departure(operation, message.operation,
                     {.transfer = batch.number | Waiting::kLaterHop,
                      .phase = path.phase + message.hop * path.phase_per_hop,
                      .shift = link.shift,
                      .port = link.port}),
           batch.members);
}

template <class Pending>
void Player<Pending>::arrived(const Batch<Members>& batch) {
    LiveOperation& operation = state_.operations[batch.number];
    const TransferPath& path = operation.table->paths[batch.transfer];
    const std::uint32_t* const destination_of =
        state_.machine.shifts.data() + path.destination_shift * state_.machine.places;
    Some destinations;
    for (std::size_t i = 0; i < batch.members.size(); ++i) {
        destinations[i] = destination_of[batch.members[i]];
    }
    if (state_.hop_observer != nullptr) {
        for (std::size_t i = 0; i < batch.members.size(); ++i) {
            state_.hop_observer->transfer_arrived(
                OperationId(batch.number), PlaceId(batch.members[i]), PlaceId(destinations[i]),
                batch.transfer, state_.now);
        }
    }
    const Members places(destinations.data(), batch.members.size());
    successors_met(operation, batch.number, places, path);
    for (const std::uint32_t place : places) {
        state_.place_progress(operation, place);
    }
}

}  // namespace podsim::sim
