#include "sim/memory/memories.h"

#include <functional>

namespace podsim::sim {
namespace {

/// What the messages on links ask of a place's memory at most, bytes a second: all its links in use, both ways.
double most_of_links(const Workload& workload) {
    const Machine& machine = workload.machine;
    std::vector<int> reads(machine.ports);
    std::vector<int> writes(machine.ports);
    for (const Schedule& schedule : workload.schedules) {
        for (const Transfer& transfer : schedule.transfers) {
            if (transfer.hop_count > 0) {
                int& read = reads[schedule.hops[transfer.first_hop].port];
                read = std::max<int>(read, transfer.reads);
                int& write =
                    writes[schedule.hops[transfer.first_hop + transfer.hop_count - 1].port];
                write = std::max<int>(write, transfer.writes);
            }
        }
    }
    double sum = 0;
    for (std::size_t port = 0; port < machine.ports; ++port) {
        const int passes = reads[port] + writes[port];
        double fastest = 0;
        for (std::size_t place = 0; passes > 0 && place < machine.places; ++place) {
            fastest = std::max(fastest, machine.links[machine.link(place, port)].rate.value());
        }
        sum += passes > 0 ? fastest * passes : 0;
    }
    return sum;
}

/// What the work of a place asks for at most: the largest demand on each of its resources.
std::int64_t most_of_work(const TaskGraph& graph) {
    std::map<std::uint32_t, std::int64_t> largest;
    for (const Task& task : graph.tasks) {
        if (task.operation == kNoOperation) {
            std::int64_t& demand = largest[task.resource];
            demand = std::max(demand, task.demand);
        }
    }
    std::int64_t sum = 0;
    for (const auto& [resource, demand] : largest) {
        sum += demand;
    }
    return sum;
}

}  // namespace

Memories::Memories(const Workload& workload) : rate_(workload.machine.memory_rate) {
    if (rate_ == 0) {
        return;
    }
    const double links = most_of_links(workload);
    std::vector<bool> at_risk;
    for (const TaskGraph& graph : workload.graphs) {
        // Operations with links of their own are any number at a time.
        at_risk.push_back(links + static_cast<double>(most_of_work(graph)) >
                              static_cast<double>(rate_) ||
                          workload.machine.isolated_operations);
    }
    if (std::ranges::none_of(at_risk, std::identity())) {
        return;
    }
    places_.resize(workload.machine.places);
    for (std::size_t place = 0; place < places_.size(); ++place) {
        places_[place].at_risk = at_risk[workload.graph_of_place[place]];
        places_[place].server = SharedServer(rate_);
    }
}

Memories::Slot& Memories::find_slot(Place& at, SharedServer::Key owner) {
    auto slot = std::ranges::find(at.slots, owner, &Slot::owner);
    if (slot == at.slots.end()) {
        slot = at.slots.insert(slot, {.owner = owner, .stream = {}});
    }
    const std::size_t known = owner.number * std::size_t{3} + owner.kind;
    if (known >= known_slots_.size()) {
        known_slots_.resize(known + 1);
    }
    known_slots_[known] = static_cast<std::uint32_t>(slot - at.slots.begin());
    return *slot;
}

void Memories::check(std::uint32_t place, Time now) {
    Place& at = places_[place];
    std::int64_t sum = at.server.demand(now);
    for (Slot& slot : at.slots) {
        if (slot.stream.end <= now) {
            at.bound -= slot.stream.demand;
            slot.stream.demand = 0;
        }
        sum += slot.stream.demand;
    }
    if (sum <= rate_) {
        return;
    }
    for (Slot& slot : at.slots) {
        if (slot.stream.demand > 0) {
            at.server.begin(slot.key(), slot.stream.demand, slot.stream.end - now, now);
            at.bound -= std::exchange(slot.stream.demand, 0);
        }
    }
    for (const SharedServer::Stream& stream : at.server.streams()) {
        if (stream.key.kind != kWork && stream.share < stream.demand) {
            hold_up(place, stream.key);
        }
    }
    set_wake(place);
}

/// A message's stream gets less than it asks for: its link is held until the stream ends.
void Memories::hold_up(std::uint32_t place, SharedServer::Key key) {
    const Stream& stream = std::ranges::find(places_[place].slots, key, &Slot::owner)->stream;
    const auto [entry, added] =
        links_.try_emplace(stream.number, Followed{stream.message, stream.end, {}});
    auto& streams = entry->second.streams;
    if (std::ranges::find(streams, std::pair(place, key.kind)) != streams.end()) {
        return;
    }
    streams.emplace_back(place, key.kind);
    if (added) {
        held_on_.push_back(stream.number);
        const Held& message = stream.message;
        late_[{message.operation, message.transfer, message.source}].links.push_back(stream.number);
    }
}

void Memories::set_wake(std::uint32_t place) {
    Place& at = places_[place];
    const Time next = at.server.empty() ? kNoWake : at.server.next_end();
    if (next != at.wake) {
        at.wake = next;
        if (next != kNoWake) {
            to_post_.push_back({next, place});
        }
    }
}

bool Memories::ends_now(std::uint32_t place, std::uint32_t task, Time now) {
    Place& at = places_[place];
    if (at.server.empty() || !at.server.unfinished({kWork, task}, now)) {
        return true;
    }
    at.overdue.push_back(task);
    return false;
}

std::vector<std::uint32_t> Memories::wake(std::uint32_t place, Time now) {
    Place& at = places_[place];
    std::vector<std::uint32_t> tasks;
    if (at.wake != now) {
        return tasks;  // posted before the shares changed
    }
    for (const auto& [kind, number] : at.server.take_ended(now)) {
        if (kind == kWork) {
            if (std::erase(at.overdue, number) != 0) {
                tasks.push_back(number);
            }
        } else {
            const auto link = links_.find(number);
            if (link != links_.end() &&
                std::erase(link->second.streams, std::pair(place, kind)) != 0 &&
                link->second.streams.empty()) {
                link_ended(number, now);
            }
        }
    }
    set_wake(place);
    return tasks;
}

void Memories::link_ended(std::uint32_t server, Time now) {
    const auto link = links_.find(server);
    const Followed& followed = link->second;
    const Held message = followed.message;
    freed_.push_back({server, followed.due, message});
    const auto entry = late_.find({message.operation, message.transfer, message.source});
    Late& late = entry->second;
    std::erase(late.links, server);
    late.by = std::max(late.by, now - followed.due);
    links_.erase(link);
    if (!late.links.empty()) {
        return;
    }
    if (late.arrival.has_value()) {
        arriving_.push_back(
            {message.operation, message.transfer, message.source, *late.arrival + late.by});
    }
    if (late.arrival.has_value() || late.arrived || late.by.ps == 0) {
        late_.erase(entry);
    }
}

bool Memories::has_ended(std::uint32_t server, Time now) {
    return std::ranges::none_of(links_.at(server).streams, [&](const auto& stream) {
        return places_[stream.first].server.unfinished({stream.second, server}, now);
    });
}

bool Memories::arrives(const MessageId& message, Time now) {
    const auto entry = late_.find(message);
    if (entry == late_.end()) {
        return true;
    }
    Late& late = entry->second;
    if (late.links.empty()) {
        arriving_.push_back({message.operation, message.transfer, message.source, now + late.by});
        late_.erase(entry);
        return false;
    }
    // Links that free at this very instant, in time, hold nothing up, whichever event comes first.
    if (late.by.ps == 0 && std::ranges::all_of(late.links, [&](std::uint32_t server) {
            return links_.at(server).due == now && has_ended(server, now);
        })) {
        late.arrived = true;
        return true;
    }
    late.arrival = now;
    return false;
}

bool Memories::settled_up() const {
    return links_.empty() && late_.empty() && std::ranges::all_of(places_, [](const Place& place) {
               return place.server.settled_up() && place.overdue.empty();
           });
}

std::vector<Memories::StreamState> Memories::streams(std::uint32_t place, Time now) const {
    const Place& at = places_[place];
    std::vector<StreamState> all;
    for (const Slot& slot : at.slots) {
        if (slot.stream.demand > 0 && slot.stream.end > now) {
            all.push_back({.key = slot.key(),
                           .demand = slot.stream.demand,
                           .left = Work{slot.stream.demand} * (slot.stream.end.ps - now.ps)});
        }
    }
    SharedServer server = at.server;
    server.settle(now);
    for (const SharedServer::Stream& stream : server.streams()) {
        const bool overdue = stream.key.kind == kWork &&
                             std::ranges::find(at.overdue, stream.key.number) != at.overdue.end();
        all.push_back({.key = stream.key,
                       .demand = stream.demand,
                       .followed = true,
                       .overdue = overdue,
                       .share = stream.share,
                       .left = stream.left});
    }
    return all;
}

std::optional<Time> Memories::wake_of(std::uint32_t place) const {
    const Time wake = places_[place].wake;
    return wake == kNoWake ? std::nullopt : std::optional(wake);
}

void Memories::skip(const std::vector<std::uint32_t>& places, Time later_by, std::uint32_t tasks,
                    const std::function<std::optional<std::uint32_t>(std::uint32_t)>& image_of) {
    for (const std::uint32_t place : places) {
        Place& at = places_[place];
        for (Slot& slot : at.slots) {
            slot.stream.end += later_by;
            slot.stream.number += slot.owner.kind == kWork ? tasks : 0;
            if (slot.owner.kind != kWork &&
                (slot.stream.demand > 0 || at.server.holds(slot.key()))) {
                std::uint32_t& operation = slot.stream.message.operation;
                operation = image_of(operation).value_or(operation);
            }
        }
        at.server.skip(
            later_by, [&](SharedServer::Key& key) { key.number += key.kind == kWork ? tasks : 0; });
        for (std::uint32_t& task : at.overdue) {
            task += tasks;
        }
        at.wake += at.wake == kNoWake ? Time{} : later_by;
    }
    for (auto& [server, link] : links_) {
        if (const auto image = image_of(link.message.operation)) {
            link.message.operation = *image;
            link.due += later_by;
        }
    }
    std::map<MessageId, Late> moved;
    for (auto& [message, late] : late_) {
        const auto image = image_of(message.operation);
        if (image.has_value() && late.arrival.has_value()) {
            *late.arrival += later_by;
        }
        moved[{image.value_or(message.operation), message.transfer, message.source}] =
            std::move(late);
    }
    late_ = std::move(moved);
}

}  // namespace podsim::sim
