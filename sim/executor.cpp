#include "sim/executor.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "sim/event_queue.h"
#include "sim/executor_state.h"

namespace podsim::sim {
namespace {

/// Plays the events that a queue orders.
template <class Queue>
class Executor : private ExecutorState {
public:
    Executor(const Workload& workload, Observer* observer, bool reuse)
        : ExecutorState(workload, observer, reuse) {}
    ExecutionResult run();

private:
    void play_instant();
    void deliver(std::uint64_t what);
    void start_task(std::uint32_t place, std::uint32_t task);
    void end_task(std::uint32_t place, std::uint32_t task);
    void start_operation(std::uint32_t place, std::uint32_t number);
    void met(Operation& operation, std::uint32_t number, std::uint32_t place, const Edge& edge);
    void successors_met(Operation& operation, std::uint32_t number, std::uint32_t place,
                        const Route& route);
    void fire(Operation& operation, std::uint32_t number, std::uint32_t place,
              std::uint32_t transfer);
    void wait_for_link(const Operation& operation, const Waiting& waiting, const Hop& hop,
                       std::uint32_t source);
    void head_arrived(std::uint32_t message_index);
    void arrived(const EventCodec::Fields& fields);
    void play_offers();
    void play_picks(std::vector<std::uint32_t>& servers);
    void serve(std::uint32_t server);

    /// A message that comes to a link in this round.
    struct Offer {
        std::uint32_t server = 0;
        Waiting waiting;
    };
    static constexpr std::size_t kAhead = 16;  ///< cache lines are asked for this much earlier

    Queue queue_;
    std::vector<Event> instant_;
    std::vector<Offer> offers_;
    std::vector<std::uint32_t> freed_;  ///< servers whose link frees in this round
};

template <class Queue>
ExecutionResult Executor<Queue>::run() {
    for (std::uint32_t place = 0; place < machine_.places; ++place) {
        const auto& needs = initial_needs_[workload_.graph_of_place[place]];
        for (std::uint32_t task = 0; task < needs.size(); ++task) {
            if (needs[task] == 0) {
                start_task(place, task);
            }
        }
    }
    while (true) {
        play_offers();
        play_picks(freed_);
        play_picks(marked_);
        if (mark_reached_ != kNoTask) {
            if (const auto skipped = consider_reuse(queue_.pending())) {
                queue_.skip(skipped->later_by,
                            [&](std::uint64_t what) { return renumbered(what, *skipped); });
            }
        }
        if (queue_.empty()) {
            break;
        }
        do {
            play_instant();
        } while (queue_.more_of_instant());
    }
    if (open_tasks_ != 0) {
        throw std::logic_error("tasks are left that can never run");
    }
    result_.played_events = result_.events - skipped_events_;
    result_.links.resize(machine_.links.size());
    for (std::size_t server = 0; server < servers_.size(); ++server) {
        LinkTotals& totals = result_.links[server % links_per_set()];
        totals.busy += servers_.busy(server);
        totals.carried_units += servers_.carried(server);
    }
    return std::move(result_);
}

template <class Queue>
void Executor<Queue>::play_instant() {
    queue_.pop_instant(instant_);
    if (now_ != instant_.front().time && ++instant_number_ >> Waiting::kInstantBits != 0) {
        throw std::logic_error("too many instants for one run");
    }
    now_ = instant_.front().time;
    for (const Event& event : instant_) {
        deliver(event.what);
        while (!ended_.empty()) {
            const auto [place, task] = ended_.back();
            ended_.pop_back();
            end_task(place, task);
        }
    }
}

template <class Queue>
void Executor<Queue>::deliver(std::uint64_t what) {
    switch (EventCodec::kind(what)) {
        case EventKind::link_free:
            freed_.push_back(EventCodec::number(what));
            break;
        case EventKind::head_arrived:
            head_arrived(EventCodec::number(what));
            break;
        case EventKind::transfer_arrived:
            arrived(codec_.fields(what));
            break;
        case EventKind::task_ended: {
            const EventCodec::Fields fields = codec_.fields(what);
            end_task(fields.place, fields.number);
            break;
        }
        case EventKind::operation_launched: {
            const EventCodec::Fields fields = codec_.fields(what);
            start_operation(fields.place, graph_at(fields.place).tasks[fields.number].operation);
            break;
        }
    }
}

template <class Queue>
void Executor<Queue>::start_task(std::uint32_t place, std::uint32_t task) {
    const Task& spec = graph_at(place).tasks[task];
    highest_touched_ = std::max(highest_touched_, task);
    if (!began_.empty()) {
        began_[first_task_[place] + task] = now_;
    }
    const bool work = spec.operation == kNoOperation;
    if (!work) {
        open(spec.operation);
        operations_[spec.operation].task[place] = task;
    }
    const EventKind kind = work ? EventKind::task_ended : EventKind::operation_launched;
    const Time duration = work && !machine_.slowdown.empty()
                              ? slowed(spec.duration, machine_.slowdown[place])
                              : spec.duration;
    queue_.push(
        {now_ + duration, codec_.of(kind, {.number = task, .place = place, .transfer = 0})});
}

template <class Queue>
void Executor<Queue>::end_task(std::uint32_t place, std::uint32_t task) {
    ++result_.events;
    --open_tasks_;
    result_.end = now_;
    result_.end_of_place[place] = now_;
    if (observer_ != nullptr) {
        observer_->task_ended(PlaceId(place), TaskId(task), began_[first_task_[place] + task],
                              now_);
    }
    if (reuse_) {
        task_ended_[first_task_[place] + task] = 1;
        ended_log_.push_back({place, task, began_[first_task_[place] + task], now_});
        if (place == 0 && is_mark_[task]) {
            mark_reached_ = task;
        }
    }
    for (const std::uint32_t next : successors_[workload_.graph_of_place[place]][task]) {
        highest_touched_ = std::max(highest_touched_, next);
        if (--task_needs_[first_task_[place] + next] == 0) {
            start_task(place, next);
        }
    }
}

template <class Queue>
void Executor<Queue>::start_operation(std::uint32_t place, std::uint32_t number) {
    Operation& operation = operations_[number];
    std::uint32_t early = std::exchange(operation.places[place].early, PlaceState::kStarted);
    for (const std::uint32_t transfer : operation.table->roots_of(role_at(operation, place))) {
        fire(operation, number, place, transfer);
    }
    while (early != PlaceState::kNone) {
        const Early waited = operation.early[early];
        fire(operation, number, place, waited.transfer);
        early = waited.next;
    }
    place_progress(operation, place);
}

/// One predecessor of the edge's transfer has come to the place.
template <class Queue>
void Executor<Queue>::met(Operation& operation, std::uint32_t number, std::uint32_t place,
                          const Edge& edge) {
    if (edge.counter != Edge::kFires) {
        std::uint8_t* const row = &operation.counters[edge.counter / 2];
        const std::uint32_t index = operation.placement->index_in_role[place];
        if (edge.counter % 2 == 0) {
            if (--row[index] != 0) {
                return;
            }
        } else {
            std::uint32_t wide = 0;
            std::memcpy(&wide, row + 4 * std::size_t{index}, 4);
            --wide;
            std::memcpy(row + 4 * std::size_t{index}, &wide, 4);
            if (wide != 0) {
                return;
            }
        }
    }
    PlaceState& state = operation.places[place];
    if (state.early != PlaceState::kStarted) {
        operation.early.push_back({edge.transfer, state.early});
        state.early = static_cast<std::uint32_t>(operation.early.size() - 1);
        return;
    }
    fire(operation, number, place, edge.transfer);
}

template <class Queue>
void Executor<Queue>::successors_met(Operation& operation, std::uint32_t number,
                                     std::uint32_t place, const Route& route) {
    const Edge* const edges = operation.table->edges.data() + route.first_edge;
    for (std::uint32_t i = 0; i < route.edge_count; ++i) {
        met(operation, number, place, edges[i]);
    }
}

template <class Queue>
void Executor<Queue>::fire(Operation& operation, std::uint32_t number, std::uint32_t place,
                           std::uint32_t transfer) {
    const Route& route = operation.table->routes[transfer];
    if (route.hop_count == 0) {
        successors_met(operation, number, place, route);
        return;
    }
    if (observer_ != nullptr) {
        observer_->transfer_fired(OperationId(number), PlaceId(place), transfer, now_);
    }
    wait_for_link(operation,
                  {.order = order_of(number, route, 0), .transfer = transfer, .from = place},
                  operation.schedule->hops[route.first_hop], place);
}

template <class Queue>
void Executor<Queue>::wait_for_link(const Operation& operation, const Waiting& waiting,
                                    const Hop& hop, std::uint32_t source) {
    const std::uint32_t place = machine_.shifted(hop.shift, source);
    const std::uint32_t server =
        static_cast<std::uint32_t>(machine_.server(place, hop.port)) + operation.first_server;
    offers_.push_back({server, waiting});
}

template <class Queue>
void Executor<Queue>::head_arrived(std::uint32_t message_index) {
    const Message& message = messages_[message_index];
    const Operation& operation = operations_[message.operation];
    const Route& route = operation.table->routes[message.transfer];
    wait_for_link(operation,
                  {.order = order_of(message.operation, route, message.hop),
                   .transfer = message.transfer | Waiting::kLaterHop,
                   .from = message_index},
                  operation.schedule->hops[route.first_hop + message.hop], message.source);
}

template <class Queue>
void Executor<Queue>::arrived(const EventCodec::Fields& fields) {
    Operation& operation = operations_[fields.number];
    const Route& route = operation.table->routes[fields.transfer];
    const std::uint32_t destination = machine_.shifted(route.destination_shift, fields.place);
    if (observer_ != nullptr) {
        observer_->transfer_arrived(OperationId(fields.number), PlaceId(fields.place),
                                    PlaceId(destination), fields.transfer, now_);
    }
    successors_met(operation, fields.number, destination, route);
    place_progress(operation, destination);
}

template <class Queue>
void Executor<Queue>::play_offers() {
    const auto before = [this](const Waiting& a, const Waiting& b) { return goes_before(a, b); };
    for (std::size_t i = 0; i < offers_.size(); ++i) {
        if (i + 2 * kAhead < offers_.size()) {
            servers_.prefetch_state(offers_[i + 2 * kAhead].server);
            servers_.prefetch_waiting(offers_[i + kAhead].server);
        }
        const Offer& offer = offers_[i];
        servers_.add(offer.server, offer.waiting, before);
        if (!servers_.free_event_due(offer.server) && !servers_.marked(offer.server)) {
            servers_.marked(offer.server) = true;
            marked_.push_back(offer.server);
        }
    }
    offers_.clear();
}

/// Every idle server that has messages waiting picks one.
template <class Queue>
void Executor<Queue>::play_picks(std::vector<std::uint32_t>& servers) {
    for (std::size_t i = 0; i < servers.size(); ++i) {
        if (i + 2 * kAhead < servers.size()) {
            servers_.prefetch_state(servers[i + 2 * kAhead]);
            servers_.prefetch_waiting(servers[i + kAhead]);
            servers_.prefetch_totals(servers[i + kAhead]);
        }
        const std::uint32_t server = servers[i];
        servers_.marked(server) = false;
        servers_.free_event_due(server) = false;
        if (servers_.idle(server, now_) && servers_.has_waiting(server)) {
            serve(server);
        }
        if (servers_.has_waiting(server)) {
            servers_.free_event_due(server) = true;
            queue_.push({servers_.free_at(server), EventCodec::of(EventKind::link_free, server)});
        }
    }
    servers.clear();
}

/// The first of those that wait crosses the link.
template <class Queue>
void Executor<Queue>::serve(std::uint32_t server) {
    const Waiting first = servers_.take_first(
        server, [this](const Waiting& a, const Waiting& b) { return goes_before(a, b); });
    const std::uint32_t number = operation_of_priority_[first.priority()];
    const std::uint32_t transfer = first.transfer & ~Waiting::kLaterHop;
    const std::uint32_t hop = transfer == first.transfer ? 0 : messages_[first.from].hop;
    const Operation& operation = operations_[number];
    Route& route = operation.table->routes[transfer];
    const LinkSpec& link = link_classes_[servers_.link_class(server)];
    const bool additive = machine_.rule == LatencyRule::additive;
    if (route.link_class != servers_.link_class(server)) {
        const Transfer& spec = operation.schedule->transfers[transfer];
        route.link_class = servers_.link_class(server);
        route.hold = round_up(spec.bytes / link.rate);
        route.before = additive ? Time{} : round_up(spec.bytes_before / link.rate);
    }

    Time end = now_ + route.hold;
    if (hop > 0) {
        end = std::max(end, messages_[first.from].tail_arrival);
    }
    servers_.hold(server, now_, end, route.carried_units);
    ++result_.events;
    if (observer_ != nullptr) {
        const std::uint32_t source = hop > 0 ? messages_[first.from].source : first.from;
        observer_->link_held({ServerId(server % links_per_set()), OperationId(number),
                              PlaceId(source), transfer, hop, now_, end});
    }

    if (hop + 1 < route.hop_count) {
        const std::uint32_t message = hop > 0 ? first.from
                                              : new_message({.tail_arrival = {},
                                                             .operation = number,
                                                             .transfer = transfer,
                                                             .source = first.from,
                                                             .hop = 0});
        messages_[message].tail_arrival = additive ? end + link.latency : end;
        messages_[message].hop = hop + 1;
        queue_.push({now_ + link.latency, EventCodec::of(EventKind::head_arrived, message)});
        return;
    }
    std::uint32_t source = first.from;
    if (hop > 0) {
        source = messages_[first.from].source;
        free_messages_.push_back(first.from);
    }
    const Time arrival =
        additive ? end + link.latency : std::max(end, now_ + link.latency - route.before);
    queue_.push({arrival, codec_.of(EventKind::transfer_arrived,
                                    {.number = number, .place = source, .transfer = transfer})});
}

}  // namespace

ExecutionResult execute(const Workload& workload, Observer* observer, bool reuse, QueueKind queue) {
    switch (queue) {
        case QueueKind::lanes:
            return Executor<LaneQueue>(workload, observer, reuse).run();
        case QueueKind::quaternary_heap:
            return Executor<QuaternaryQueue>(workload, observer, reuse).run();
        case QueueKind::binary_heap:
            return Executor<BinaryQueue>(workload, observer, reuse).run();
        case QueueKind::radix:
            break;
    }
    return Executor<EventQueue>(workload, observer, reuse).run();
}

}  // namespace podsim::sim
