#include "sim/memory/memories.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/memory/at_risk.h"

namespace podsim::sim {
namespace {

/// With fewer places, sharing out for each place costs less than grouping.
constexpr std::size_t kManyPlaces = 64;
/// With more destinations, as in an all-to-all, there are too many routes.
constexpr std::size_t kFewShifts = 64;

/// True if places of one graph can be expected to do the same: none has slower work or links than
/// others.
bool places_are_alike(const Machine& machine) {
    for (std::size_t i = 0; i < machine.links.size(); ++i) {
        if (machine.links[i] != machine.links[i % machine.ports]) {
            return false;
        }
    }
    return machine.slowdown.empty();
}

/// True if messages use few destination shifts.
bool few_shifts(const Schedules& schedules) {
    std::set<std::uint32_t> shifts;
    for (const Schedule& schedule : schedules) {
        for (const Transfer& transfer : schedule.transfers) {
            shifts.insert(transfer.destination_shift);
            if (shifts.size() > kFewShifts) {
                return false;
            }
        }
    }
    return true;
}

bool may_be_together(const Workload& workload) {
    return workload.machine.places >= kManyPlaces && places_are_alike(workload.machine) &&
           few_shifts(workload.schedules) && StreamWays::lead_back(workload.machine);
}

}  // namespace

Memories::Memories(const Workload& workload) : Memories(workload, graphs_at_risk(workload)) {}

Memories::Memories(const Workload& workload, const std::vector<bool>& at_risk)
    : operations_(workload.operations),
      rate_(workload.machine.memory_rate),
      together_(!at_risk.empty() && may_be_together(workload)),
      groups_(workload, at_risk, together_),
      ways_(workload.machine),
      late_(at_risk.empty() ? 0 : workload.machine.places) {}

void Memories::begin_work(std::uint32_t place, std::uint32_t resource, std::uint32_t task,
                          std::int64_t demand, Time alone, Time now) {
    const std::uint32_t number = groups_.number_of(place);
    MemoryGroup& group = groups_[number];
    if (!group.at_risk || demand == 0 || alone.ps == 0) {
        return;
    }
    const StreamBegun begun{
        .owner = {kWork, resource}, .task = task, .demand = demand, .end = now + alone};
    if (together_) {
        groups_.places_of(groups_.number_of(begun)).push_back(place);
        return;
    }
    group.begin(group.find_slot(begun.owner), begun);
    settle_if_many(number);
}

std::vector<std::uint32_t>& Memories::sources_of(const Hold& hold, std::uint32_t row,
                                                 std::uint32_t hop_shift, std::uint32_t to_shift) {
    const auto begun = [&](std::uint32_t kind, std::int64_t demand) {
        const bool writes = kind == MemoryGroup::kWrite;
        return StreamBegun{.owner = {kind, ways_.number({.writes = writes,
                                                         .row = row,
                                                         .hop_shift = hop_shift,
                                                         .to_shift = writes ? to_shift : 0})},
                           .message = hold.message,
                           .demand = demand * hold.message.copies,
                           .beside = writes ? hold.reads : hold.writes,
                           .end = hold.end};
    };
    std::uint32_t first = MemoryGroups::kNone;
    if (hold.reads > 0) {
        first = groups_.number_of(begun(MemoryGroup::kRead, hold.reads));
    }
    if (hold.writes > 0) {
        const std::uint32_t written = groups_.number_of(begun(MemoryGroup::kWrite, hold.writes),
                                                        ways_.destinations(to_shift), first);
        first = hold.reads > 0 ? first : written;
    }
    return groups_.places_of(first);
}

void Memories::settle(Time now) {
    groups_.take_begun(
        [&](std::uint32_t made) {
            const MemoryGroup& group = groups_[made];
            if (group.unsettled) {
                unsettled_.push_back(made);
            }
            if (group.any_followed()) {
                to_post_.push_back({group.wake, group.places.front()});
            }
        },
        [&](std::uint32_t number, const StreamBegun& begun) {
            MemoryGroup& group = groups_[number];
            if (begun.owner.kind == MemoryGroup::kOverdue) {
                group.overdue.push_back(begun.task);
                return;
            }
            group.begin(group.find_slot(begun.owner), begun);
            settle_if_many(number);
        });
    for (const std::uint32_t group : unsettled_) {
        settle_group(group, now);
    }
    unsettled_.clear();
}

void Memories::settle_group(std::uint32_t number, Time now) {
    MemoryGroup& group = groups_[number];
    group.unsettled = false;
    const bool more = group.bound > rate_ && group.asks_too_much(now, rate_);
    if (more) {
        group.follow(now, operations_);
    }
    if (!std::exchange(group.ended, false) && !more) {
        return;
    }
    group.server.share_out(now);
    for (const SharedServer::Stream& stream : group.server.streams()) {
        if (more && stream.key.kind != kWork && stream.share < stream.demand) {
            hold_up(group, stream.key);
        }
    }
    set_wake(group);
}

/// Holds the links of a stream that gets less than it asks for until the stream ends.
void Memories::hold_up(MemoryGroup& group, SharedServer::Key key) {
    if (std::ranges::find(group.held, key) != group.held.end()) {
        return;
    }
    group.held.push_back(key);
    const std::size_t slot = group.find_slot(key);
    for (const std::uint32_t place : group.places) {
        hold_up(group, slot, place);
    }
}

void Memories::hold_up(const MemoryGroup& group, std::size_t slot, std::uint32_t place) {
    const SharedServer::Key key = group.streams[slot].owner;
    const std::uint32_t server = link(key, place);
    if (!links_.contains(server)) {
        HeldMessage message = group.streams[slot].message;
        message.source = together_ ? ways_.source(key.number, place) : message.source;
        links_.add(server, message, group.loads[slot].end);
        held_on_.push_back(server);
        late_.find_or_add(id_of(message)).links.push_back(server);
    }
    links_[server].streams.push_back({place, key});
}

void Memories::set_wake(MemoryGroup& group) {
    group.bound += group.server.asked() - group.followed;
    group.followed = group.server.asked();
    const Time next = group.server.empty() ? MemoryGroup::kNoWake : group.server.next_end();
    if (next != group.wake) {
        group.wake = next;
        if (next != MemoryGroup::kNoWake) {
            to_post_.push_back({next, group.places.front()});
        }
    }
}

bool Memories::ends_now(std::uint32_t place, std::uint32_t task, Time now) {
    MemoryGroup& group = groups_.of(place);
    if (!group.any_followed() || !group.server.unfinished({kWork, task}, now)) {
        return true;
    }
    if (together_) {
        const StreamBegun overdue{
            .owner = {MemoryGroup::kOverdue, 0}, .task = task, .demand = 0, .end = {}};
        groups_.places_of(groups_.number_of(overdue)).push_back(place);
    } else {
        group.overdue.push_back(task);
    }
    return false;
}

const std::vector<std::uint32_t>& Memories::wake(std::uint32_t place, Time now) {
    ended_tasks_.clear();
    const std::uint32_t number = groups_.number_of(place);
    MemoryGroup& group = groups_[number];
    if (group.wake != now) {
        // This wake was posted before the shares changed.
        return ended_tasks_;
    }
    ended_streams_.clear();
    group.server.take_ended(now, ended_streams_);
    for (const SharedServer::Key& key : ended_streams_) {
        if (key.kind == kWork) {
            if (std::erase(group.overdue, key.number) != 0) {
                ended_tasks_.push_back(key.number);
            }
        } else if (std::erase(group.held, key) != 0) {
            for (const std::uint32_t member : group.places) {
                const std::uint32_t server = link(key, member);
                auto& streams = links_[server].streams;
                streams.erase({member, key});
                if (streams.empty()) {
                    link_ended(server, now);
                }
            }
        }
    }
    group.ended = true;
    settle_later(number);
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
    return std::ranges::none_of(links_[server].streams, [&](const FollowedLink::Late& late) {
        return groups_.of(late.place).server.unfinished(late.key, now);
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
    // Links that free in time at this very instant delay nothing, regardless of the order of
    // events.
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
    return links_.empty() && late_.empty() &&
           std::ranges::all_of(groups_, [](const MemoryGroup& group) {
               return group.server.empty() && group.overdue.empty();
           });
}

std::vector<Memories::StreamState> Memories::streams(std::uint32_t place, Time now) const {
    std::vector<StreamState> all;
    const MemoryGroup& group = groups_.of(place);
    const auto key_at = [&](SharedServer::Key key) {
        key.number = key.kind == kWork ? key.number : link(key, place);
        return key;
    };
    for (std::size_t slot = 0; slot < group.loads.size(); ++slot) {
        const auto& [demand, end] = group.loads[slot];
        if (demand > 0 && end > now) {
            all.push_back({.key = key_at(group.streams[slot].key()),
                           .demand = demand,
                           .left = Work{demand} * (end.ps - now.ps)});
        }
    }
    for (const SharedServer::Stream& stream : group.server.streams()) {
        const bool overdue =
            stream.key.kind == kWork &&
            std::ranges::find(group.overdue, stream.key.number) != group.overdue.end();
        all.push_back({.key = key_at(stream.key),
                       .demand = stream.demand,
                       .followed = true,
                       .overdue = overdue,
                       .share = stream.share,
                       .left = stream.left_at(now)});
    }
    return all;
}

std::optional<Time> Memories::wake_of(std::uint32_t place) const {
    const MemoryGroup& group = groups_.of(place);
    return group.any_followed() ? std::optional(group.wake) : std::nullopt;
}

void Memories::skip(const std::vector<std::uint32_t>& places, Time later_by, std::uint32_t tasks,
                    const ImageOf& image_of) {
    for (const std::uint32_t place : places) {
        MemoryGroup& group = groups_.of(place);
        if (group.places.front() != place) {
            continue;
        }
        group.skip(later_by, tasks);
    }
    for (MemoryGroup& group : groups_) {
        for (MemoryGroup::Stream& stream : group.streams) {
            const std::uint32_t operation = stream.message.operation;
            stream.message.operation = image_of(operation).value_or(operation);
        }
    }
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

}  // namespace podsim::sim
