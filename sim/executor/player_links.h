// Links that serve what waits.
#pragma once

#include <algorithm>

#include "sim/executor/player.h"

namespace podsim::sim {

/// Every idle server that has messages waiting picks one.
template <class Pending>
void Player<Pending>::play_picks(std::vector<std::uint32_t>& servers) {
    last_.order = ~std::uint64_t{0};
    Time free_at{-1};
    std::uint32_t port = 0;
    typename Pending::Group freeing{};
    for (std::size_t i = 0; i < servers.size(); ++i) {
        if (i + 2 * kAhead < servers.size()) {
            state_.servers.prefetch(servers[i + 2 * kAhead]);
            state_.servers.prefetch_near(servers[i + kAhead]);
        }
        const std::uint32_t server = servers[i];
        state_.servers.unlist(server);
        if (state_.servers.can_serve(server, state_.now)) {
            serve(server);
        }
        if (state_.servers.has_waiting(server) && !state_.servers.held_on(server)) {
            state_.servers.set_free_event_due(server);
            if (state_.servers.free_at(server) != free_at || state_.servers.port(server) != port) {
                free_at = state_.servers.free_at(server);
                port = state_.servers.port(server);
                freeing = pending_.links_free(free_at, port);
            }
            pending_.add(freeing, server);
        }
    }
    servers.clear();
}

/// The first of those that wait crosses the link.
template <class Pending>
void Player<Pending>::serve(std::uint32_t server) {
    const Waiting first = state_.servers.take_first(
        server, [this](const Waiting& a, const Waiting& b) { return state_.goes_before(a, b); });
    ++state_.result.events;
    if ((first.transfer & Waiting::kLaterHop) != 0) {
        serve_later_hop(server, first);
        return;
    }
    const std::uint32_t link_class = state_.servers.link_class(server);
    if (first.order != last_.order || first.transfer != last_.transfer ||
        link_class != last_.link_class) {
        look_up(first, link_class);
    }
    const Crossing& crossing = last_.crossing;
    state_.servers.hold(server, state_.now, last_.times.end, crossing.path->carried_units);
    if (state_.hop_observer != nullptr) {
        report(server, crossing, first.from, first.transfer, last_.times.end);
    }
    if (state_.memories.active()) {
        reads_and_writes(server, {crossing.number, first.transfer, first.from, 0}, last_.times.end);
    }
    if (last_.is_last) {
        pending_.add(last_.next, first.from);
        return;
    }
    pending_.add(last_.next, state_.messages.add({.tail_arrival = last_.times.tail,
                                                  .operation = crossing.number,
                                                  .transfer = first.transfer,
                                                  .source = first.from,
                                                  .hop = 1}));
}

/// What is alike for all that waits so at links of a class, in this round.
template <class Pending>
void Player<Pending>::look_up(const Waiting& waiting, std::uint32_t link_class) {
    last_.order = waiting.order;
    last_.transfer = waiting.transfer;
    last_.link_class = link_class;
    last_.crossing = crossing(state_.priorities.operation_of[waiting.priority()], waiting.transfer,
                              0, link_class);
    last_.times = times_of(last_.crossing, state_.now + last_.crossing.path->hold);
    last_.is_last = last_.crossing.path->hop_count == 1;
    last_.next = group_of(last_.crossing, waiting.transfer, last_.times.event);
}

template <class Pending>
auto Player<Pending>::group_of(const Crossing& crossing, std::uint32_t transfer, Time event) ->
    typename Pending::Group {
    return crossing.hop + 1 == crossing.path->hop_count
               ? pending_.transfers_arrived(event, *crossing.wave, crossing.number, transfer)
               : pending_.heads_arrived(event, *crossing.wave);
}

template <class Pending>
void Player<Pending>::serve_later_hop(std::uint32_t server, const Waiting& waiting) {
    Message& message = state_.messages[waiting.from];
    const Crossing crossing = this->crossing(message.operation, message.transfer, message.hop,
                                             state_.servers.link_class(server));
    const Times times =
        times_of(crossing, std::max(state_.now + crossing.path->hold, message.tail_arrival));
    state_.servers.hold(server, state_.now, times.end, crossing.path->carried_units);
    if (state_.hop_observer != nullptr) {
        report(server, crossing, message.source, message.transfer, times.end);
    }
    if (state_.memories.active()) {
        reads_and_writes(server, {message.operation, message.transfer, message.source, message.hop},
                         times.end);
    }
    const auto next = group_of(crossing, message.transfer, times.event);
    if (++message.hop < crossing.path->hop_count) {
        message.tail_arrival = times.tail;
        pending_.add(next, waiting.from);
        return;
    }
    pending_.add(next, message.source);
    state_.messages.release(waiting.from);
}

template <class Pending>
auto Player<Pending>::crossing(std::uint32_t number, std::uint32_t transfer, std::uint32_t hop,
                               std::uint32_t link_class) -> Crossing {
    const LiveOperation& operation = state_.operations[number];
    TransferPath& path = operation.table->paths[transfer];
    const LinkSpec& link = state_.link_classes[link_class];
    if (path.link_class != link_class) {
        const Transfer& spec = operation.schedule->transfers[transfer];
        path.link_class = link_class;
        path.hold = round_up(spec.bytes / link.rate);
        path.before = state_.machine.rule == LatencyRule::additive
                          ? Time{}
                          : round_up(spec.bytes_before / link.rate);
    }
    return {.number = number,
            .hop = hop,
            .path = &path,
            .link = &link,
            .wave = &operation.table->waves[path.first_hop + hop]};
}

template <class Pending>
auto Player<Pending>::times_of(const Crossing& crossing, Time end) const -> Times {
    const bool additive = state_.machine.rule == LatencyRule::additive;
    const Time head = state_.now + crossing.link->latency;
    const Time tail = additive ? end + crossing.link->latency : end;
    const bool last = crossing.hop + 1 == crossing.path->hop_count;
    return {.end = end,
            .event = !last      ? head
                     : additive ? tail
                                : std::max(end, head - crossing.path->before),
            .tail = tail};
}

template <class Pending>
void Player<Pending>::report(std::uint32_t server, const Crossing& crossing, std::uint32_t source,
                             std::uint32_t transfer, Time end) const {
    state_.hop_observer->link_held({LinkId(state_.link_of(server)), OperationId(crossing.number),
                                    PlaceId(source), transfer, crossing.hop, state_.now, end});
}

}  // namespace podsim::sim
