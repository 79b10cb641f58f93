// Memories with more demand than bandwidth, and the events that they delay.
#pragma once

#include <cmath>
#include <cstdint>

#include "sim/executor/player.h"

namespace podsim::sim {

/// Sets the demands of a message that crosses a link. On its first link it reads its source's
/// memory, on its last it writes its destination's. It demands nothing on a link of infinite rate,
/// and nothing of chips in between. After a slower link, its bytes arrive at that link's rate, over
/// the whole time for which it holds this one.
template <class Pending>
void Player<Pending>::demands_of(ServedHop& hop, std::uint32_t link_class) {
    const TransferPath& path = *hop.crossing.path;
    const Time held = hop.times.end - state_.now;
    const bool reads = held.ps > 0 && hop.crossing.hop == 0;
    const bool writes = held.ps > 0 && hop.crossing.hop + 1 == path.hop_count;
    const std::int64_t whole = state_.whole_rates[link_class];
    if (held == path.hold && whole > 0) {
        hop.reads = reads ? whole * path.reads : 0;
        hop.writes = writes ? whole * path.writes : 0;
    } else {
        const double rate = held == path.hold ? hop.crossing.link->rate.value()
                                              : static_cast<double>(path.carried_units) /
                                                    kCarriedUnit / held.seconds();
        hop.reads = reads ? std::llround(rate * path.reads) : 0;
        hop.writes = writes ? std::llround(rate * path.writes) : 0;
    }
    if constexpr (Pending::kMostMembers > 1) {
        hop.sources = state_.memories.together() && (hop.reads > 0 || hop.writes > 0)
                          ? &sources_of(hold_of(hop, 0), *hop.crossing.path)
                          : nullptr;
    }
}

template <class Pending>
Memories::Hold Player<Pending>::hold_of(const ServedHop& hop, std::uint32_t source) {
    const Crossing& crossing = hop.crossing;
    return {.message = {crossing.number, crossing.transfer, source,
                        static_cast<std::uint16_t>(crossing.hop), crossing.path->copies},
            .reads = hop.reads,
            .writes = hop.writes,
            .end = hop.times.end};
}

template <class Pending>
std::vector<std::uint32_t>& Player<Pending>::sources_of(Memories::Hold hold,
                                                        const TransferPath& path) {
    const LiveOperation& operation = state_.operations[hold.message.operation];
    const Hop& link = operation.schedule->hops[path.first_hop + hold.message.hop];
    return state_.memories.sources_of(hold, operation.first_server + state_.server_of(0, link.port),
                                      link.shift, path.destination_shift);
}

/// Begins the reads and writes of a message that crosses a link.
template <class Pending>
void Player<Pending>::reads_and_writes(std::uint32_t server, std::uint32_t source,
                                       const ServedHop& hop) {
    if (hop.reads == 0 && hop.writes == 0) {
        return;
    }
    if (state_.memories.together()) {
        if constexpr (Pending::kMostMembers > 1) {
            hop.sources->push_back(source);
        } else {
            sources_of(hold_of(hop, 0), *hop.crossing.path).push_back(source);
        }
        return;
    }
    state_.memories.begin_hold(
        server, hold_of(hop, source),
        state_.machine.shifted(hop.crossing.path->destination_shift, source));
}

/// Begins the work's stream, with its demand over the time that it takes at this place.
template <class Pending>
void Player<Pending>::begin_work(std::uint32_t place, std::uint32_t task, const Task& spec,
                                 Time duration) {
    const double slower = static_cast<double>(spec.duration.ps) / static_cast<double>(duration.ps);
    const std::int64_t demand = duration == spec.duration
                                    ? spec.demand
                                    : std::llround(static_cast<double>(spec.demand) * slower);
    state_.memories.begin_work(place, spec.resource, task, demand, duration, state_.now);
}

template <class Pending>
void Player<Pending>::wake_memory(std::uint32_t place) {
    for (const std::uint32_t task : state_.memories.wake(place, state_.now)) {
        for (const std::uint32_t member : state_.memories.wakes_with(place)) {
            end_task(member, task);
        }
    }
}

/// Settles the memories at the end of the instant: holds the links that they hold on, and posts
/// their wakes.
template <class Pending>
void Player<Pending>::settle_memories() {
    state_.memories.settle(state_.now);
    state_.memories.take_held_on([this](std::uint32_t server) { state_.servers.hold_on(server); });
    state_.memories.take_to_post([this](const Memories::Wake& wake) {
        pending_.task(EventKind::memory_wake, wake.time, 0, wake.place);
    });
}

/// Releases the links that a memory held up, and sends their messages on.
template <class Pending>
void Player<Pending>::release_links() {
    state_.memories.take_freed([this](const Memories::FreedLink& link) {
        if (state_.servers.release(link.server, link.due, state_.now)) {
            freed_.push_back(link.server);
        }
        if (state_.hop_observer != nullptr && link.due < state_.now) {
            state_.hop_observer->link_held_longer({.link = LinkId(state_.link_of(link.server)),
                                                   .operation = OperationId(link.message.operation),
                                                   .source = PlaceId(link.message.source),
                                                   .transfer = link.message.transfer,
                                                   .hop = link.message.hop,
                                                   .start = {},
                                                   .end = state_.now},
                                                  state_.now - link.due);
        }
    });
    state_.memories.take_arriving([this](const Memories::Arriving& arriving) {
        const MessageId& message = arriving.message;
        TransferTable& table = *state_.operations[message.operation].table;
        const TransferPath& path = table.paths[message.transfer];
        pending_.add(pending_.transfers_arrived(arriving.time,
                                                table.waves[path.first_hop + path.hop_count - 1],
                                                message.operation, message.transfer),
                     message.source);
    });
}

/// Delivers the messages that arrive now; the memories report the others later.
template <class Pending>
void Player<Pending>::arrive_if_written(const Batch<Members>& batch) {
    Some on_time;
    std::size_t count = 0;
    for (const std::uint32_t source : batch.members) {
        if (state_.memories.arrives({batch.number, batch.transfer, source}, state_.now)) {
            on_time[count++] = source;
        }
    }
    if (count > 0) {
        arrived({.kind = batch.kind,
                 .number = batch.number,
                 .transfer = batch.transfer,
                 .members = Members(on_time.data(), count)});
    }
}

}  // namespace podsim::sim
