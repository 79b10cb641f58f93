#include "sim/memory/memories.h"

#include <algorithm>
#include <utility>

#include "sim/memory/at_risk.h"

namespace podsim::sim {

Memories::Memories(const Workload& workload)
    : rate_(workload.machine.memory_rate),
      places_(places_for(workload)),
      slots_(places_.size()),
      late_(places_.size()) {
    servers_.resize(places_.size(), SharedServer(rate_));
    overdue_.resize(places_.size());
}

/// None where the demands fit everywhere.
std::vector<Memories::Place> Memories::places_for(const Workload& workload) {
    const std::vector<bool> at_risk = graphs_at_risk(workload);
    std::vector<Place> places(at_risk.empty() ? 0 : workload.machine.places);
    for (std::size_t place = 0; place < places.size(); ++place) {
        places[place].at_risk = at_risk[workload.graph_of_place[place]];
    }
    return places;
}

void Memories::settle(Time now) {
    for (const std::uint32_t place : unsettled_) {
        settle(place, now);
    }
    unsettled_.clear();
}

void Memories::settle(std::uint32_t place, Time now) {
    Place& at = places_[place];
    at.unsettled = false;
    const bool more = at.bound > rate_ && asks_too_much(place, now);
    if (more) {
        follow(place, now);
    }
    if (!std::exchange(at.ended, false) && !more) {
        return;
    }
    SharedServer& server = servers_[place];
    server.share_out(now);
    for (const SharedServer::Stream& stream : server.streams()) {
        if (more && stream.key.kind != kWork && stream.share < stream.demand) {
            hold_up(place, stream.key);
        }
    }
    set_wake(place);
}

bool Memories::asks_too_much(std::uint32_t place, Time now) {
    Place& at = places_[place];
    if (at.wake <= now && any_followed(place)) {
        at.followed = servers_[place].demand(now);
    }
    at.bound = at.followed;
    for (std::size_t slot = 0; slot < slots_.count(place); ++slot) {
        StreamSlots::Load& load = slots_.load(place, slot);
        load.demand = load.end > now ? load.demand : 0;
        at.bound += load.demand;
    }
    return at.bound > rate_;
}

void Memories::follow(std::uint32_t place, Time now) {
    for (std::size_t slot = 0; slot < slots_.count(place); ++slot) {
        StreamSlots::Load& load = slots_.load(place, slot);
        if (load.demand > 0) {
            const SharedServer::Key key = slots_.stream(place, slot).key();
            const std::uint32_t alike =
                key.kind == kWork ? 1 : slots_.message_on(key.number).copies;
            servers_[place].add(key, load.demand / alike, load.end - now, now, alike);
            places_[place].bound -= std::exchange(load.demand, 0);
        }
    }
}

/// A message's stream gets less than it asks for: its link is held until the stream ends.
void Memories::hold_up(std::uint32_t place, SharedServer::Key key) {
    const std::uint32_t server = key.number;
    const bool known = links_.contains(server);
    if (!known) {
        const HeldMessage& message = slots_.message_on(server);
        links_.add(server, message, slots_.load(place, slots_.find_slot(place, key)).end);
        held_on_.push_back(server);
        late_.find_or_add(id_of(message)).links.push_back(server);
    }
    auto& streams = links_[server].streams;
    const std::pair stream(place, key.kind);
    if (!streams.contains(stream)) {
        streams.push_back(stream);
    }
}

void Memories::set_wake(std::uint32_t place) {
    Place& at = places_[place];
    const SharedServer& server = servers_[place];
    at.bound += server.asked() - at.followed;
    at.followed = server.asked();
    const Time next = server.empty() ? kNoWake : server.next_end();
    if (next != at.wake) {
        at.wake = next;
        if (next != kNoWake) {
            to_post_.push_back({next, place});
        }
    }
}

bool Memories::ends_now(std::uint32_t place, std::uint32_t task, Time now) {
    if (!any_followed(place) || !servers_[place].unfinished({kWork, task}, now)) {
        return true;
    }
    overdue_[place].push_back(task);
    return false;
}

const std::vector<std::uint32_t>& Memories::wake(std::uint32_t place, Time now) {
    ended_tasks_.clear();
    if (places_[place].wake != now) {
        return ended_tasks_;  // posted before the shares changed
    }
    ended_streams_.clear();
    servers_[place].take_ended(now, ended_streams_);
    for (const auto& [kind, number] : ended_streams_) {
        if (kind == kWork) {
            if (std::erase(overdue_[place], number) != 0) {
                ended_tasks_.push_back(number);
            }
        } else if (links_.contains(number)) {
            auto& streams = links_[number].streams;
            if (streams.erase(std::pair(place, kind)) && streams.empty()) {
                link_ended(number, now);
            }
        }
    }
    places_[place].ended = true;
    settle_later(place);
    return ended_tasks_;
}

void Memories::link_ended(std::uint32_t server, Time now) {
    const auto [message, due, streams] = links_[server];
    links_.erase(server);
    freed_.push_back({server, due, message});
    LateMessage& late = *late_.find(id_of(message));
    late.links.erase(server);
    late.by = std::max(late.by, now - due);
    if (!late.links.empty()) {
        return;
    }
    if (late.arrival.has_value()) {
        arriving_.push_back({late.id, *late.arrival + late.by});
    }
    if (late.arrival.has_value() || late.arrived || late.by.ps == 0) {
        late_.erase(&late);
    }
}

bool Memories::has_ended(std::uint32_t server, Time now) {
    return std::ranges::none_of(links_[server].streams, [&](const auto& stream) {
        return servers_[stream.first].unfinished({stream.second, server}, now);
    });
}

bool Memories::arrives(const MessageId& message, Time now) {
    LateMessage* const late = late_.find(message);
    if (late == nullptr) {
        return true;
    }
    if (late->links.empty()) {
        arriving_.push_back({message, now + late->by});
        late_.erase(late);
        return false;
    }
    // Links that free at this very instant, in time, hold nothing up, whichever event comes first.
    if (late->by.ps == 0 && std::ranges::all_of(late->links, [&](std::uint32_t server) {
            return links_[server].due == now && has_ended(server, now);
        })) {
        late->arrived = true;
        return true;
    }
    late->arrival = now;
    return false;
}

bool Memories::settled_up() const {
    return links_.empty() && late_.empty() && std::ranges::all_of(servers_, &SharedServer::empty) &&
           std::ranges::all_of(overdue_, &std::vector<std::uint32_t>::empty);
}

std::vector<Memories::StreamState> Memories::streams(std::uint32_t place, Time now) const {
    std::vector<StreamState> all;
    for (std::size_t slot = 0; slot < slots_.count(place); ++slot) {
        const auto& [demand, end] = slots_.load(place, slot);
        if (demand > 0 && end > now) {
            all.push_back({.key = slots_.stream(place, slot).key(),
                           .demand = demand,
                           .left = Work{demand} * (end.ps - now.ps)});
        }
    }
    for (const SharedServer::Stream& stream : servers_[place].streams()) {
        const bool overdue =
            stream.key.kind == kWork &&
            std::ranges::find(overdue_[place], stream.key.number) != overdue_[place].end();
        all.push_back({.key = stream.key,
                       .demand = stream.demand,
                       .followed = true,
                       .overdue = overdue,
                       .share = stream.share,
                       .left = stream.left_at(now)});
    }
    return all;
}

std::optional<Time> Memories::wake_of(std::uint32_t place) const {
    return any_followed(place) ? std::optional(places_[place].wake) : std::nullopt;
}

void Memories::skip(const std::vector<std::uint32_t>& places, Time later_by, std::uint32_t tasks,
                    const ImageOf& image_of) {
    for (const std::uint32_t place : places) {
        skip_streams(place, later_by, tasks);
        places_[place].wake += any_followed(place) ? later_by : Time{};
        for (std::uint32_t& task : overdue_[place]) {
            task += tasks;
        }
    }
    slots_.for_each_message([&](HeldMessage& message) {
        message.operation = image_of(message.operation).value_or(message.operation);
    });
    for (const std::uint32_t server : links_.servers()) {
        FollowedLink& link = links_[server];
        if (const auto image = image_of(link.message.operation)) {
            link.message.operation = *image;
            link.due += later_by;
        }
    }
    late_.for_each([&](LateMessage& late) {
        if (const auto image = image_of(late.id.operation)) {
            late.id.operation = *image;
            if (late.arrival.has_value()) {
                *late.arrival += later_by;
            }
        }
    });
}

void Memories::skip_streams(std::uint32_t place, Time later_by, std::uint32_t tasks) {
    for (std::size_t slot = 0; slot < slots_.count(place); ++slot) {
        slots_.load(place, slot).end += later_by;
        slots_.stream(place, slot).task += tasks;
    }
    servers_[place].skip(
        later_by, [&](SharedServer::Key& key) { key.number += key.kind == kWork ? tasks : 0; });
}

}  // namespace podsim::sim
