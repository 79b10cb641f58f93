#include "sim/folding/take_snapshot.h"

#include <algorithm>
#include <array>

namespace podsim::sim {
namespace {

/// Stands for a time if a memory holds the link on, or if the message need not have arrived yet.
constexpr std::int64_t kHeldOn = -1;
constexpr std::int64_t kLow62 = (std::int64_t{1} << 62) - 1;

class Taker {
public:
    Taker(const RunState& state, const Components& components, std::uint32_t graph,
          std::uint32_t mark)
        : state_(state), components_(components), component_(components[graph]), graph_(graph) {
        snapshot_.mark = mark;
        snapshot_.early = state.task_needs[state.index_of(component_.places.front(), mark)] !=
                          RunState::kTaskEnded;
        snapshot_.now = state.now;
    }

    Snapshot take(const History& history, const std::vector<Event>& pending) {
        snapshot_.ended_tasks = history.ended_log.size();
        snapshot_.lowest_open = *std::ranges::min_element(history.lowest_open);
        append_tasks(history.highest_touched);
        append_operations();
        append_links();
        append_memories();
        append_events(pending);
        for (const std::uint32_t link : component_.links) {
            snapshot_.links.push_back(state_.totals_of(link));
        }
        return std::move(snapshot_);
    }

private:
    [[nodiscard]] std::int64_t relative(Time time) const { return time.ps - state_.now.ps; }
    [[nodiscard]] std::int64_t relative_operation(std::uint32_t operation) const {
        return components_.relative_number(operation, snapshot_.mark);
    }
    [[nodiscard]] std::int64_t relative_task(std::uint32_t task) const {
        return std::int64_t{task} - snapshot_.mark;
    }
    /// Returns the numbers that determine a message's future: operation, transfer, source, hop and
    /// arrival of its tail.
    [[nodiscard]] std::array<std::int64_t, 5> numbers_of(const Message& message,
                                                         std::uint32_t source) const {
        return {relative_operation(message.operation), message.transfer, source, message.hop,
                message.hop == 0 ? 0 : relative(message.tail_arrival)};
    }
    template <class Numbers>
    void push_all(const Numbers& numbers) {
        for (const std::int64_t number : numbers) {
            snapshot_.state.push_back(number);
        }
    }

    void append_tasks(std::uint32_t highest_touched);
    void append_operations();
    void append_places(const LiveOperation& operation);
    void append_links();
    void append_instants(const Waiting& head, const std::vector<Waiting>& waiting);
    void append_memories();
    [[nodiscard]] std::int64_t canonical_link(std::uint32_t server) const;
    void append_events(const std::vector<Event>& pending);
    [[nodiscard]] std::array<std::int64_t, 7> row_of(const Event& event) const;

    const RunState& state_;
    const Components& components_;
    const Component& component_;
    std::uint32_t graph_;
    Snapshot snapshot_;
};

/// Records the touched tasks: a task is touched when it, or one of its needs, has ended. All others
/// are in their initial state.
void Taker::append_tasks(std::uint32_t highest_touched) {
    const std::vector<std::uint32_t>& initial = state_.order.initial_needs[graph_];
    for (std::uint32_t task = snapshot_.lowest_open; task <= highest_touched; ++task) {
        const auto untouched = [&](std::uint32_t place) {
            return state_.task_needs[state_.index_of(place, task)] == initial[task] &&
                   initial[task] > 0;
        };
        if (components_.shared(state_.workload.graphs[graph_].tasks[task]) ||
            std::ranges::all_of(component_.places, untouched)) {
            continue;
        }
        snapshot_.tasks.push_back(task);
        for (const std::uint32_t place : component_.places) {
            const std::uint32_t needs = state_.task_needs[state_.index_of(place, task)];
            snapshot_.needs.push_back(needs == RunState::kTaskEnded ? Snapshot::kEnded
                                                                    : std::int64_t{needs});
        }
    }
}

/// Records the progress of the open operations at every place, in their order.
void Taker::append_operations() {
    for (const std::uint32_t index : components_.open_operations(graph_)) {
        const LiveOperation& operation = state_.operations[index];
        snapshot_.state.push_back(relative_operation(index));
        snapshot_.state.push_back(state_.workload.operations[index].schedule);
        snapshot_.state.append(operation.counters);
        append_places(operation);
        for (const std::uint32_t task : operation.task) {
            snapshot_.state.push_back(task == kNoTask ? kNoTask : relative_task(task));
        }
    }
}

void Taker::append_places(const LiveOperation& operation) {
    std::vector<std::uint32_t> early;
    for (const PlaceState& place : operation.places) {
        snapshot_.state.push_back(place.pending);
        snapshot_.state.push_back(place.early == PlaceState::kStarted ? 1 : 0);
        if (place.early == PlaceState::kStarted) {
            continue;
        }
        early.clear();
        for (std::uint32_t at = place.early; at != PlaceState::kNone;
             at = operation.early[at].next) {
            early.push_back(operation.early[at].first.transfer);
        }
        // They will fire in one instant, in which their order has no effect.
        std::ranges::sort(early);
        snapshot_.state.push_back(static_cast<std::int64_t>(early.size()));
        push_all(early);
    }
}

void Taker::append_links() {
    for (const std::uint32_t first_server : components_.first_servers_in_use(graph_)) {
        for (const std::uint32_t link : component_.links) {
            const std::uint32_t server = first_server + link;
            snapshot_.state.push_back(
                state_.servers.held_on(server)
                    ? kHeldOn
                    : std::max<std::int64_t>(relative(state_.servers.free_at(server)), 0));
            snapshot_.state.push_back(state_.servers.free_event_due(server) ? 1 : 0);
            std::vector<Waiting> waiting = state_.servers.waiting(server);
            std::ranges::sort(waiting, [this](const Waiting& a, const Waiting& b) {
                return state_.goes_before(a, b);
            });
            snapshot_.state.push_back(static_cast<std::int64_t>(waiting.size()));
            for (const Waiting& next : waiting) {
                // Class and phase follow from operation and transfer. Among arrivals only their
                // order matters, since nothing more arrives in this instant.
                push_all(numbers_of(state_.message_of(next), next.source));
                if (next.more_behind()) {
                    append_instants(next, waiting);
                }
            }
        }
    }
}

/// Records the order of arrival relative to `head`. Transfers behind it join the queue as if they
/// had arrived with it (transfer_table.h), each with its own phase. Their order among messages of
/// their operation depends on which of these came before, with and after `head`. Messages of other
/// operations have other priorities, and are never compared by arrival.
void Taker::append_instants(const Waiting& head, const std::vector<Waiting>& waiting) {
    const std::uint32_t operation = state_.message_of(head).operation;
    for (const Waiting& other : waiting) {
        if (state_.message_of(other).operation == operation) {
            snapshot_.state.push_back(int{other.instant() > head.instant()} -
                                      int{other.instant() < head.instant()});
        }
    }
}

/// Records the memories' streams, and the events that they have delayed.
void Taker::append_memories() {
    const Memories& memories = state_.memories;
    if (!memories.active()) {
        return;
    }
    for (const std::uint32_t place : component_.places) {
        std::vector<std::array<std::int64_t, 8>> rows;
        for (const Memories::StreamState& stream : memories.streams(place, state_.now)) {
            const bool work = stream.key.kind == Memories::kWork;
            rows.push_back(
                {stream.key.kind,
                 work ? relative_task(stream.key.number) : canonical_link(stream.key.number),
                 stream.demand, stream.followed ? 1 : 0, stream.overdue ? 1 : 0, stream.share,
                 static_cast<std::int64_t>(stream.left >> 62),
                 static_cast<std::int64_t>(stream.left & kLow62)});
        }
        std::ranges::sort(rows);
        snapshot_.state.push_back(static_cast<std::int64_t>(rows.size()));
        for (const auto& row : rows) {
            push_all(row);
        }
        const auto wake = memories.wake_of(place);
        snapshot_.state.push_back(wake.has_value() ? relative(*wake) : -1);
    }
    for (const std::uint32_t server : memories.followed_links().servers()) {
        const FollowedLink& link = memories.followed_links()[server];
        const HeldMessage& message = link.message;
        if (components_.owner_of_operation(message.operation) == graph_) {
            push_all(std::array<std::int64_t, 7>{
                canonical_link(server), relative_operation(message.operation), message.transfer,
                message.source, message.hop, relative(link.due),
                static_cast<std::int64_t>(link.streams.size())});
        }
    }
    for (const LateMessage& late : memories.late_messages().sorted()) {
        if (components_.owner_of_operation(late.id.operation) == graph_) {
            push_all(std::array<std::int64_t, 7>{
                relative_operation(late.id.operation), late.id.transfer, late.id.source,
                static_cast<std::int64_t>(late.links.size()), late.by.ps,
                late.arrival.has_value() ? relative(*late.arrival) : kHeldOn,
                late.arrived ? 1 : 0});
        }
    }
}

/// Returns a server's number that does not depend on the set of links that its operation happens to
/// have.
std::int64_t Taker::canonical_link(std::uint32_t server) const {
    if (!state_.machine.isolated_operations) {
        return server;
    }
    const std::vector<std::uint32_t> sets = components_.first_servers_in_use(graph_);
    const std::uint32_t link = server % state_.links_per_set();
    const auto set = std::ranges::find(sets, server - link);
    return (set - sets.begin()) * std::int64_t{state_.links_per_set()} + link;
}

/// Records the events by time; within one time by content, since their order there has no effect.
void Taker::append_events(const std::vector<Event>& pending) {
    std::vector<std::array<std::int64_t, 7>> rows;
    rows.reserve(pending.size());
    for (const Event& event : pending) {
        // The link records the time at which it frees, and the memory its wake.
        const EventKind kind = EventCodec::kind(event.what);
        if (kind != EventKind::link_free && kind != EventKind::memory_wake &&
            components_.owner_of(event) == graph_) {
            rows.push_back(row_of(event));
        }
    }
    std::ranges::sort(rows);
    snapshot_.state.push_back(static_cast<std::int64_t>(rows.size()));
    for (const auto& row : rows) {
        push_all(row);
    }
}

std::array<std::int64_t, 7> Taker::row_of(const Event& event) const {
    const EventKind kind = EventCodec::kind(event.what);
    std::array<std::int64_t, 7> row{relative(event.time), static_cast<std::int64_t>(kind)};
    if (kind == EventKind::head_arrived) {
        std::ranges::copy(numbers_of(state_.messages[EventCodec::number(event.what)],
                                     EventCodec::source(event.what)),
                          &row[2]);
    } else {
        const EventCodec::Fields fields = state_.codec.fields(event.what);
        row[2] = kind == EventKind::transfer_arrived ? relative_operation(fields.number)
                                                     : relative_task(fields.number);
        row[3] = fields.place;
        row[4] = fields.transfer;
    }
    return row;
}

}  // namespace

Snapshot take_snapshot(const RunState& state, const Components& components, std::uint32_t graph,
                       const History& history, std::uint32_t mark,
                       const std::vector<Event>& pending) {
    return Taker(state, components, graph, mark).take(history, pending);
}

}  // namespace podsim::sim
