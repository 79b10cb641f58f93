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
            servers_.prefetch(servers[i + 2 * kAhead]);
            servers_.prefetch_near(servers[i + kAhead]);
        }
        const std::uint32_t server = servers[i];
        servers_.unmark(server);
        if (servers_.can_serve(server, now_)) {
            serve(server);
        }
        if (servers_.has_waiting(server)) {
            servers_.set_free_event_due(server);
            if (servers_.free_at(server) != free_at || servers_.port(server) != port) {
                free_at = servers_.free_at(server);
                port = servers_.port(server);
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
    const Waiting first = servers_.take_first(
        server, [this](const Waiting& a, const Waiting& b) { return goes_before(a, b); });
    ++result_.events;
    if ((first.transfer & Waiting::kLaterHop) != 0) {
        serve_later_hop(server, first);
        return;
    }
    const std::uint32_t link_class = servers_.link_class(server);
    if (first.order != last_.order || first.transfer != last_.transfer ||
        link_class != last_.link_class) {
        look_up(first, link_class);
    }
    const Crossing& crossing = last_.crossing;
    servers_.hold(server, now_, last_.times.end, crossing.route->carried_units);
    if (hop_observer_ != nullptr) {
        report(server, crossing, first.from, first.transfer, last_.times.end);
    }
    if (last_.is_last) {
        pending_.add(last_.next, first.from);
        return;
    }
    pending_.add(last_.next, new_message({.tail_arrival = last_.times.tail,
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
    last_.crossing =
        crossing(operation_of_priority_[waiting.priority()], waiting.transfer, 0, link_class);
    last_.times = times_of(last_.crossing, now_ + last_.crossing.route->hold);
    last_.is_last = last_.crossing.route->hop_count == 1;
    last_.next = group_of(last_.crossing, waiting.transfer, last_.times.event);
}

template <class Pending>
auto Player<Pending>::group_of(const Crossing& crossing, std::uint32_t transfer, Time event) ->
    typename Pending::Group {
    return crossing.hop + 1 == crossing.route->hop_count
               ? pending_.transfers_arrived(event, *crossing.wave, crossing.number, transfer)
               : pending_.heads_arrived(event, *crossing.wave);
}

template <class Pending>
void Player<Pending>::serve_later_hop(std::uint32_t server, const Waiting& waiting) {
    Message& message = messages_[waiting.from];
    const Crossing crossing = this->crossing(message.operation, message.transfer, message.hop,
                                             servers_.link_class(server));
    const Times times =
        times_of(crossing, std::max(now_ + crossing.route->hold, message.tail_arrival));
    servers_.hold(server, now_, times.end, crossing.route->carried_units);
    if (hop_observer_ != nullptr) {
        report(server, crossing, message.source, message.transfer, times.end);
    }
    const auto next = group_of(crossing, message.transfer, times.event);
    if (++message.hop < crossing.route->hop_count) {
        message.tail_arrival = times.tail;
        pending_.add(next, waiting.from);
        return;
    }
    pending_.add(next, message.source);
    free_messages_.push_back(waiting.from);
}

template <class Pending>
auto Player<Pending>::crossing(std::uint32_t number, std::uint32_t transfer, std::uint32_t hop,
                               std::uint32_t link_class) -> Crossing {
    const Operation& operation = operations_[number];
    Route& route = operation.table->routes[transfer];
    const LinkSpec& link = link_classes_[link_class];
    if (route.link_class != link_class) {
        const Transfer& spec = operation.schedule->transfers[transfer];
        route.link_class = link_class;
        route.hold = round_up(spec.bytes / link.rate);
        route.before = machine_.rule == LatencyRule::additive
                           ? Time{}
                           : round_up(spec.bytes_before / link.rate);
    }
    return {.number = number,
            .hop = hop,
            .route = &route,
            .link = &link,
            .wave = &operation.table->waves[route.first_hop + hop]};
}

template <class Pending>
auto Player<Pending>::times_of(const Crossing& crossing, Time end) const -> Times {
    const bool additive = machine_.rule == LatencyRule::additive;
    const Time head = now_ + crossing.link->latency;
    const Time tail = additive ? end + crossing.link->latency : end;
    const bool last = crossing.hop + 1 == crossing.route->hop_count;
    return {.end = end,
            .event = !last      ? head
                     : additive ? tail
                                : std::max(end, head - crossing.route->before),
            .tail = tail};
}

template <class Pending>
void Player<Pending>::report(std::uint32_t server, const Crossing& crossing, std::uint32_t source,
                             std::uint32_t transfer, Time end) const {
    hop_observer_->link_held({ServerId(link_of(server)), OperationId(crossing.number),
                              PlaceId(source), transfer, crossing.hop, now_, end});
}

}  // namespace podsim::sim
