// Skipping what repeats (reuse.cpp): the state of a component moves to its image, that many periods on.
#include <algorithm>
#include <utility>

#include "sim/state/run_state.h"

namespace podsim::sim {

Skipped ExecutorState::skip(Component& component, const Snapshot& from, const Snapshot& now,
                            std::uint32_t repeats) {
    const std::uint32_t period = now.mark - from.mark;
    const std::uint32_t touched = now.touched(period);
    const std::uint32_t graph = workload_.graph_of_place[component.places.front()];
    const Time span = now_ - from.now;
    const std::uint32_t first_operation = component.operations_before[from.mark];
    const std::uint32_t operations =
        component.operations_before[from.mark + period] - first_operation;
    const Skipped skipped{span * repeats, period * repeats, operations * repeats};

    // Open tasks: their state moves to their images.
    struct OpenTask {
        std::size_t image = 0;
        std::uint32_t needs = 0;
        Time began;
    };
    std::vector<OpenTask> open;
    for (const std::uint32_t place : component.places) {
        for (std::uint32_t task = from.lowest_open; task <= touched; ++task) {
            const std::size_t at = first_task_[place] + task;
            if (task_ended_[at] == 0) {
                open.push_back(
                    {at + skipped.tasks, task_needs_[at], began_[at] + skipped.later_by});
            }
        }
    }
    repeat_ended(component, from, span, period, repeats);
    if (observer_ != nullptr) {
        observer_->repeated(graph, now_, span, operations, repeats);
    }
    // Between two equal states lie as many hops as the operations of a period have.
    std::uint64_t events = component.ended_log.size() - from.ended_tasks;
    for (std::uint32_t i = first_operation; i < first_operation + operations; ++i) {
        events += hops_of(component.operations[i]);
    }
    result_.events += events * repeats;
    skipped_events_ += events * repeats;
    for (const OpenTask& task : open) {
        task_ended_[task.image] = 0;
        task_needs_[task.image] = task.needs;
        began_[task.image] = task.began;
    }
    component.highest_touched = std::max(component.highest_touched, touched + skipped.tasks);

    move_links(component, from, skipped, repeats);
    move_messages(component, skipped);
    for (std::size_t i = component.operations.size(); i-- > 0;) {
        Operation& operation = operations_[component.operations[i]];
        if (operation.table == nullptr) {
            continue;
        }
        for (std::uint32_t& task : operation.task) {
            task = task == kNoTask ? kNoTask : task + skipped.tasks;
        }
        operations_[component.operations[i + skipped.operations]] = std::move(operation);
        operation = Operation{};
    }
    component.ended_log.clear();
    return skipped;
}

/// What ended in the period ends again in each repeat.
void ExecutorState::repeat_ended(const Component& component, const Snapshot& from, Time span,
                                 std::uint32_t period, std::uint32_t repeats) {
    for (std::size_t i = from.ended_tasks; i < component.ended_log.size(); ++i) {
        const EndedTask& ended = component.ended_log[i];
        for (std::uint32_t repeat = 1; repeat <= repeats; ++repeat) {
            const std::uint32_t task = ended.task + period * repeat;
            const Time later_by = span * repeat;
            task_ended_[first_task_[ended.place] + task] = 1;
            if (observer_ != nullptr) {
                observer_->task_ended(PlaceId(ended.place), TaskId(task), ended.began + later_by,
                                      ended.ended + later_by);
            }
        }
    }
    open_tasks_ -= (component.ended_log.size() - from.ended_tasks) * repeats;
}

void ExecutorState::move_messages(const Component& component, const Skipped& skipped) {
    std::vector<bool> unused(messages_.size());
    for (const std::uint32_t message : free_messages_) {
        unused[message] = true;
    }
    const std::uint32_t graph = workload_.graph_of_place[component.places.front()];
    for (std::size_t i = 0; i < messages_.size(); ++i) {
        Message& message = messages_[i];
        if (!unused[i] && owner_[message.operation] == graph) {
            message.operation = image(component, message.operation, skipped.operations);
            message.tail_arrival += skipped.later_by;
        }
    }
}

void ExecutorState::move_links(const Component& component, const Snapshot& from,
                               const Skipped& skipped, std::uint32_t repeats) {
    for (std::size_t i = 0; i < component.links.size(); ++i) {
        // The same has been added to the totals of all sets together; the first set's count it again.
        const std::uint32_t link = component.links[i];
        const LinkTotals all = totals_of(link);
        servers_.skip(
            link, {}, [](Waiting&) {}, repeats,
            servers_.busy(link) - (all.busy - from.links[i].busy),
            servers_.carried(link) - (all.carried_units - from.links[i].carried_units));
    }
    const auto renumber = [&](Waiting& waiting) {
        const std::uint32_t operation = operation_of_priority_[waiting.priority()];
        waiting.order +=
            std::uint64_t{first_priority_[image(component, operation, skipped.operations)] -
                          first_priority_[operation]}
            << Waiting::kInstantBits;
    };
    for (const std::uint32_t first_server : first_servers_in_use(component)) {
        for (const std::uint32_t link : component.links) {
            const std::uint32_t server = first_server + link;
            servers_.skip(server, skipped.later_by, renumber, 0, {}, 0);
        }
    }
}

/// How many links its transfers cross.
std::uint64_t ExecutorState::hops_of(std::uint32_t operation) const {
    const OperationSpec& spec = workload_.operations[operation];
    const Schedule& schedule = workload_.schedules[spec.schedule];
    const Placement& placement = placement_of(spec);
    std::uint64_t hops = 0;
    for (std::size_t role = 0; role < placement.places_of_role.size(); ++role) {
        const Role& of_role = schedule.roles[role];
        for (std::uint32_t i = 0; i < of_role.transfer_count; ++i) {
            hops += std::uint64_t{placement.places_of_role[role]} *
                    schedule.transfers[of_role.first_transfer + i].hop_count;
        }
    }
    return hops;
}

/// What an event says, that many tasks and operations further on.
std::uint64_t ExecutorState::renumbered(std::uint64_t what, const Component& component,
                                        const Skipped& skipped) const {
    const EventKind kind = EventCodec::kind(what);
    if (kind == EventKind::link_free || kind == EventKind::head_arrived) {
        return what;
    }
    EventCodec::Fields fields = codec_.fields(what);
    fields.number = kind == EventKind::transfer_arrived
                        ? image(component, fields.number, skipped.operations)
                        : fields.number + skipped.tasks;
    return codec_.of(kind, fields);
}

}  // namespace podsim::sim
