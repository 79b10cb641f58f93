#include "sim/executor.h"

#include <algorithm>
#include <stdexcept>

#include "sim/executor_state.h"

namespace podsim::sim {
namespace {

/// Where the counters of each place start, for one schedule or graph.
std::vector<std::uint32_t> offsets(const std::vector<std::uint32_t>& kind_of_place,
                                   const std::vector<std::size_t>& size_of_kind) {
    std::vector<std::uint32_t> first(kind_of_place.size() + 1);
    for (std::size_t place = 0; place < kind_of_place.size(); ++place) {
        first[place + 1] =
            first[place] + static_cast<std::uint32_t>(size_of_kind[kind_of_place[place]]);
    }
    return first;
}

}  // namespace

Executor::Executor(const Workload& workload, Observer* observer, bool reuse)
    : workload_(workload),
      machine_(workload.machine),
      observer_(observer),
      servers_(machine_.links.size()),
      operations_(workload.operations.size()),
      reuse_(reuse) {
    result_.end_of_place.resize(machine_.places);
    first_counter_.reserve(workload.schedules.size());
    for (const Schedule& schedule : workload.schedules) {
        std::vector<std::size_t> sizes;
        for (const Role& role : schedule.roles) {
            sizes.push_back(role.transfer_count);
        }
        first_counter_.push_back(offsets(schedule.role_of_place, sizes));
    }
    prepare_graphs();
    if (reuse_) {
        prepare_reuse();
    }
}

void Executor::prepare_graphs() {
    std::vector<std::size_t> sizes;
    for (const TaskGraph& graph : workload_.graphs) {
        sizes.push_back(graph.tasks.size());
        auto& successors = successors_.emplace_back(graph.tasks.size());
        auto& needs = initial_needs_.emplace_back(graph.tasks.size());
        std::vector<std::uint32_t> last_on_resource;
        for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
            const Task& spec = graph.tasks[task];
            for (const std::uint32_t before : spec.after) {
                if (before >= task) {
                    throw std::logic_error("a task depends on a later one");
                }
                successors[before].push_back(task);
                ++needs[task];
            }
            if (spec.operation != kNoOperation) {
                continue;
            }
            if (spec.resource >= last_on_resource.size()) {
                last_on_resource.resize(spec.resource + 1, kNoOperation);
            }
            std::uint32_t& last = last_on_resource[spec.resource];
            if (last != kNoOperation) {
                successors[last].push_back(task);
                ++needs[task];
            }
            last = task;
        }
    }
    first_task_ = offsets(workload_.graph_of_place, sizes);
    task_needs_.reserve(first_task_.back());
    for (const std::uint32_t graph : workload_.graph_of_place) {
        task_needs_.insert(task_needs_.end(), initial_needs_[graph].begin(),
                           initial_needs_[graph].end());
    }
    open_tasks_ = first_task_.back();
    if (observer_ != nullptr || reuse_) {
        began_.resize(first_task_.back());
    }
}

ExecutionResult Executor::run() {
    for (std::uint32_t place = 0; place < machine_.places; ++place) {
        const auto& needs = initial_needs_[workload_.graph_of_place[place]];
        for (std::uint32_t task = 0; task < needs.size(); ++task) {
            if (needs[task] == 0) {
                start_task(place, task);
            }
        }
    }
    while (true) {
        for (const std::uint32_t server : marked_) {
            pick(server);
        }
        marked_.clear();
        if (mark_reached_ != kNoTask) {
            consider_reuse();
        }
        if (queue_.empty()) {
            break;
        }
        now_ = queue_.next_time();
        do {
            deliver(queue_.pop());
            while (!ended_.empty()) {
                const auto [place, task] = ended_.back();
                ended_.pop_back();
                end_task(place, task);
            }
        } while (!queue_.empty() && queue_.next_time() == now_);
    }
    if (open_tasks_ != 0) {
        throw std::logic_error("tasks are left that can never run");
    }
    result_.links.resize(machine_.links.size());
    for (std::size_t server = 0; server < servers_.size(); ++server) {
        LinkTotals& totals = result_.links[server % links_per_set()];
        totals.busy += servers_[server].busy();
        totals.carried_units += servers_[server].carried();
    }
    return std::move(result_);
}

void Executor::deliver(const Event& event) {
    switch (event.kind()) {
        case EventKind::link_free:
            servers_[event.subject].free_event_due = false;
            mark(event.subject);
            break;
        case EventKind::head_arrived:
            wait_for_link(event.subject);
            break;
        case EventKind::message_arrived:
            arrived(event.subject);
            break;
        case EventKind::task_ended:
            end_task(event.subject, event.detail);
            break;
        case EventKind::operation_launched:
            start_operation(event.subject, graph_at(event.subject).tasks[event.detail].operation);
            break;
    }
}

void Executor::start_task(std::uint32_t place, std::uint32_t task) {
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
    queue_.push({now_ + spec.duration, work ? EventKind::task_ended : EventKind::operation_launched,
                 place, task});
}

void Executor::end_task(std::uint32_t place, std::uint32_t task) {
    ++result_.events;
    ++result_.played_events;
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

void Executor::open(std::uint32_t operation) {
    Operation& state = operations_[operation];
    if (!state.pending.empty()) {
        return;
    }
    const Schedule& schedule = schedule_of(operation);
    if (machine_.isolated_operations) {
        if (free_link_sets_.empty()) {
            state.link_set = static_cast<std::uint32_t>(servers_.size()) / links_per_set();
            servers_.resize(servers_.size() + links_per_set());
        } else {
            state.link_set = free_link_sets_.back();
            free_link_sets_.pop_back();
        }
    }
    state.open_places = machine_.places;
    state.task.assign(machine_.places, kNoTask);
    state.pending.reserve(machine_.places);
    for (const std::uint32_t role_index : schedule.role_of_place) {
        const Role& role = schedule.roles[role_index];
        state.pending.push_back(role.arrivals + 1);
        for (std::uint32_t t = 0; t < role.transfer_count; ++t) {
            state.needs.push_back(schedule.transfers[role.first_transfer + t].needs);
        }
    }
}

void Executor::start_operation(std::uint32_t place, std::uint32_t operation) {
    const Schedule& schedule = schedule_of(operation);
    const Role& role = schedule.roles[schedule.role_of_place[place]];
    for (std::uint32_t t = 0; t < role.transfer_count; ++t) {
        need_met(operation, place, role.first_transfer + t);
    }
    place_progress(operation, place);
}

void Executor::need_met(std::uint32_t operation, std::uint32_t place, std::uint32_t transfer) {
    const Schedule& schedule = schedule_of(operation);
    const Role& role = schedule.roles[schedule.role_of_place[place]];
    const std::size_t counter = first_counter_[workload_.operations[operation].schedule][place] +
                                transfer - role.first_transfer;
    if (--operations_[operation].needs[counter] != 0) {
        return;
    }
    const Transfer& spec = schedule.transfers[transfer];
    if (spec.hop_count == 0) {
        successors_met(operation, place, spec);
        return;
    }
    std::uint32_t message = 0;
    if (free_messages_.empty()) {
        message = static_cast<std::uint32_t>(messages_.size());
        messages_.emplace_back();
    } else {
        message = free_messages_.back();
        free_messages_.pop_back();
    }
    messages_[message] = {.previous_end = {},
                          .operation = operation,
                          .transfer = transfer,
                          .source = place,
                          .hop = 0};
    if (observer_ != nullptr) {
        observer_->transfer_fired(OperationId(operation), PlaceId(place), transfer, now_);
    }
    wait_for_link(message);
}

void Executor::successors_met(std::uint32_t operation, std::uint32_t place,
                              const Transfer& transfer) {
    const Schedule& schedule = schedule_of(operation);
    for (std::uint32_t s = 0; s < transfer.successor_count; ++s) {
        need_met(operation, place, schedule.successors[transfer.first_successor + s]);
    }
}

void Executor::place_progress(std::uint32_t operation, std::uint32_t place) {
    Operation& state = operations_[operation];
    if (--state.pending[place] != 0) {
        return;
    }
    ended_.emplace_back(place, state.task[place]);
    if (--state.open_places == 0) {
        if (machine_.isolated_operations) {
            free_link_sets_.push_back(state.link_set);
        }
        state = Operation{};
    }
}

void Executor::wait_for_link(std::uint32_t message_index) {
    const Message& message = messages_[message_index];
    const Schedule& schedule = schedule_of(message.operation);
    const Transfer& transfer = schedule.transfers[message.transfer];
    const Hop& hop = schedule.hops[transfer.first_hop + message.hop];
    const std::uint32_t place = machine_.shifted(hop.shift, message.source);
    const auto server = static_cast<std::uint32_t>(machine_.server(place, hop.port)) +
                        operations_[message.operation].link_set * links_per_set();
    const std::uint64_t priority_class = workload_.operations[message.operation].priority_class;
    servers_[server].add({.priority = priority_class << kClassShift |
                                      std::uint64_t{message.operation} << kOperationShift |
                                      (transfer.phase + message.hop * transfer.phase_per_hop),
                          .arrival = now_,
                          .key = std::uint64_t{message.operation} << kRankBits | transfer.rank,
                          .hop = message.hop << kHopShift | index_at_shared(message.source),
                          .message = message_index});
    mark(server);
}

void Executor::mark(std::uint32_t server) {
    if (!servers_[server].marked) {
        servers_[server].marked = true;
        marked_.push_back(server);
    }
}

void Executor::pick(std::uint32_t server_index) {
    LinkServer& server = servers_[server_index];
    server.marked = false;
    if (server.idle(now_) && server.has_waiting()) {
        const std::uint32_t message_index = server.take_first().message;
        Message& message = messages_[message_index];
        const Transfer& transfer = schedule_of(message.operation).transfers[message.transfer];
        const std::uint32_t link_index = server_index % links_per_set();
        const LinkSpec& link = machine_.links[link_index];
        const bool additive = machine_.rule == LatencyRule::additive;

        Time end = now_ + round_up(transfer.bytes / link.rate);
        if (message.hop > 0) {
            end = std::max(end,
                           additive ? message.previous_end + link.latency : message.previous_end);
        }
        server.hold(now_, end, transfer.bytes);
        ++result_.events;
        ++result_.played_events;
        if (observer_ != nullptr) {
            observer_->link_held(ServerId(link_index), OperationId(message.operation), now_, end);
        }
        message.previous_end = end;
        if (++message.hop < transfer.hop_count) {
            queue_.push({now_ + link.latency, EventKind::head_arrived, message_index});
        } else {
            const Time arrival =
                additive ? end + link.latency
                         : std::max(end, now_ + link.latency -
                                             round_up(transfer.bytes_before / link.rate));
            queue_.push({arrival, EventKind::message_arrived, message_index});
        }
    }
    if (server.has_waiting() && !server.free_event_due) {
        server.free_event_due = true;
        queue_.push({server.free_at(), EventKind::link_free, server_index});
    }
}

void Executor::arrived(std::uint32_t message_index) {
    const Message message = messages_[message_index];
    free_messages_.push_back(message_index);
    const Transfer& transfer = schedule_of(message.operation).transfers[message.transfer];
    const std::uint32_t destination = machine_.shifted(transfer.destination_shift, message.source);
    if (observer_ != nullptr) {
        observer_->transfer_arrived(OperationId(message.operation), PlaceId(message.source),
                                    PlaceId(destination), message.transfer, now_);
    }
    open(message.operation);
    successors_met(message.operation, destination, transfer);
    place_progress(message.operation, destination);
}

ExecutionResult execute(const Workload& workload, Observer* observer, bool reuse) {
    return Executor(workload, observer, reuse).run();
}

}  // namespace podsim::sim
