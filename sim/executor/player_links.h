// Links that serve waiting messages.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>

#include "sim/executor/player.h"

namespace podsim::sim {

/// Lets every idle server with waiting messages pick one.
template <class Pending>
void Player<Pending>::play_picks(std::vector<std::uint32_t>& servers) {
    constexpr bool kMany = Pending::kMostMembers > 1;
    last_.order = ~std::uint64_t{0};
    Time free_at{-1};
    std::uint32_t port = 0;
    typename Pending::Group freeing{};
    for (std::size_t i = 0; i < servers.size(); ++i) {
        if (kMany && i + 2 * kAhead < servers.size()) {
            state_.servers.prefetch(servers[i + 2 * kAhead]);
            state_.servers.prefetch_near(servers[i + kAhead]);
        }
        const std::uint32_t number = servers[i];
        LinkServers::At server = state_.servers.at(number);
        server.unlist();
        if (server.can_serve(state_.now)) {
            serve(number, server);
        }
        if (server.has_waiting() && server.free_at() != Time::max()) {
            server.set_free_event_due();
            if (!kMany || server.free_at() != free_at || server.port() != port) {
                free_at = server.free_at();
                port = server.port();
                freeing = pending_.links_free(free_at, port);
            }
            pending_.add(freeing, number);
        }
    }
    servers.clear();
}

/// Lets the first waiting message cross the link.
template <class Pending>
void Player<Pending>::serve(std::uint32_t number, LinkServers::At& server) {
    const Waiting first = server.take_first();
    if constexpr (Pending::kMostMembers == 1) {
        ServedHop hop;
        look_up(first, server.link_class(), hop);
        count_hop(*hop.crossing.path);
        begin_hop(number, server, first, hop);
    } else {
        if (first.order != last_.order || first.what != last_.what ||
            server.link_class() != last_.link_class) {
            look_up_last(first, server.link_class());
        }
        count_hop(*last_.crossing.path);
        begin_hop(number, server, first, last_);
    }
}

template <class Pending>
void Player<Pending>::begin_hop(std::uint32_t server_number, LinkServers::At& server, Waiting first,
                                const ServedHop& hop) {
    server.hold(state_.now, hop.times.end, hop.carried_units);
    if (watched_) {
        if constexpr (Pending::kMostMembers == 1) {
            watch(server_number, first.source, hop);
        } else if (!lists_sources_) {
            watch_apart(server_number, first.source, hop);
        } else if (hop.sources != nullptr) {
            hop.sources->push_back(first.source);
        }
    }
    pending_.add(hop.next, first.source);
    if (hop.goes_on_as != kNobody) {
        state_.messages.join(hop.goes_on_as);
    }
    if (first.on_later_hop()) {
        state_.messages.leave(first.message());
    } else if (first.more_behind()) {
        server.add_unlisted({hop.order_behind, hop.what_behind, first.source}, goes_before_);
    }
}

/// Reports the hop to the observer and the memories, if they watch hops.
template <class Pending>
void Player<Pending>::watch(std::uint32_t server, std::uint32_t source, const ServedHop& hop) {
    if (state_.hop_observer != nullptr) {
        report(server, hop.crossing, source, hop.times.end);
    }
    if (state_.memories.active()) {
        reads_and_writes(server, source, hop);
    }
}

template <class Pending>
void Player<Pending>::look_up(Waiting waiting, std::uint32_t link_class, ServedHop& hop) {
    const Message message = state_.message_of(waiting);
    hop.crossing = crossing(message, link_class);
    const Crossing& crossing = hop.crossing;
    hop.carried_units = crossing.path->carried_units;
    hop.times =
        times_of(crossing, std::max(state_.now + crossing.path->hold, message.tail_arrival));
    if (state_.memories.active()) {
        demands_of(hop, link_class);
    }
    if (crossing.hop + 1 == crossing.path->hop_count) {
        if constexpr (Pending::kMostMembers > 1) {
            __builtin_prefetch(state_.operations[crossing.number].table->edges.data() +
                               crossing.path->first_edge);  // for its arrival
        }
        hop.goes_on_as = kNobody;
        hop.next = pending_.transfers_arrived(hop.times.event, *crossing.wave, crossing.number,
                                              crossing.transfer);
    } else {
        std::tie(hop.next, hop.goes_on_as) =
            pending_.heads_arrived(hop.times.event, *crossing.wave, state_.messages,
                                   {.tail_arrival = hop.times.tail,
                                    .operation = crossing.number,
                                    .transfer = crossing.transfer,
                                    .hop = crossing.hop + 1});
    }
    if (waiting.more_behind()) {
        const TransferTable& table = *state_.operations[crossing.number].table;
        const std::uint32_t behind = table.behind[crossing.transfer];
        hop.order_behind =
            state_.order_of(crossing.number, table.paths[behind].phase, waiting.instant());
        hop.what_behind = table.has_behind(behind) ? behind | Waiting::kMoreBehind : behind;
    }
}

template <class Pending>
auto Player<Pending>::crossing(const Message& message, std::uint32_t link_class) -> Crossing {
    const LiveOperation& operation = state_.operations[message.operation];
    const auto [transfer, hop] = std::pair(message.transfer, message.hop);
    TransferPath& path = operation.table->paths[transfer];
    const LinkSpec& link = state_.link_classes[link_class];
    if (path.link_class != link_class) {
        path.work_out_times(operation.schedule->transfers[transfer], link_class, link,
                            state_.machine.rule);
    }
    return {.number = message.operation,
            .transfer = transfer,
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
                             Time end) const {
    state_.hop_observer->link_held({LinkId(state_.link_of(server)), OperationId(crossing.number),
                                    PlaceId(source), crossing.transfer, crossing.hop, state_.now,
                                    end});
}

}  // namespace podsim::sim
