// Rounds, tasks and operations.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/executor/player.h"

namespace podsim::sim {

template <class Pending>
ExecutionResult Player<Pending>::run() {
    for (std::uint32_t place = 0; place < machine_.places; ++place) {
        const auto& needs = initial_needs_[workload_.graph_of_place[place]];
        for (std::uint32_t task = 0; task < needs.size(); ++task) {
            if (needs[task] == 0) {
                start_task(place, task);
            }
        }
    }
    const std::uint64_t all = observer_ != nullptr ? all_events() : 0;
    std::uint64_t next_report = kBetweenReports;
    while (true) {
        if (observer_ != nullptr && result_.events - skipped_events_ >= next_report) {
            next_report += kBetweenReports;
            observer_->reached({now_, result_.events, all});
        }
        if constexpr (Pending::kInlined) {
            play_picks_inlined();
        } else {
            play_picks(freed_);
            play_picks(marked_);
        }
        if (!marks_reached_.empty()) {
            std::vector<Event> pending = pending_.pending();
            if (consider_reuse(pending)) {
                if constexpr (Pending::kReplaces) {
                    pending_.replace(pending);
                } else {
                    pending_.skip(last_skip_, [&](std::uint64_t what) {
                        return renumbered(what, components_[0], last_skip_);
                    });
                }
            }
        }
        if (pending_.empty()) {
            break;
        }
        do {
            if constexpr (Pending::kInlined) {
                play_instant_inlined();
            } else {
                play_instant();
            }
        } while (pending_.more_of_instant());
    }
    if (open_tasks_ != 0) {
        throw std::logic_error("tasks are left that can never run");
    }
    result_.played_events = result_.events - skipped_events_;
    result_.links.resize(machine_.links.size());
    for (std::size_t server = 0; server < servers_.size(); ++server) {
        LinkTotals& totals = result_.links[link_of(server)];
        totals.busy += servers_.busy(server);
        totals.carried_units += servers_.carried(server);
    }
    return std::move(result_);
}

template <class Pending>
void Player<Pending>::play_instant() {
    pending_.play_earliest([this](Time now, const Batch<Members>& batch) {
        if (now != now_ && ++instant_number_ >> Waiting::kInstantBits != 0) {
            throw std::logic_error("too many instants for one run");
        }
        now_ = now;
        deliver(batch);
        while (!ended_.empty()) {
            const auto [place, task] = ended_.back();
            ended_.pop_back();
            end_task(place, task);
        }
    });
}

template <class Pending>
void Player<Pending>::deliver(const Batch<Members>& batch) {
    switch (batch.kind) {
        case EventKind::link_free:
            freed_.insert(freed_.end(), batch.members.begin(), batch.members.end());
            break;
        case EventKind::head_arrived:
            for (const std::uint32_t message : batch.members) {
                head_arrived(message);
            }
            break;
        case EventKind::transfer_arrived:
            arrived(batch);
            break;
        case EventKind::task_ended:
            for (const std::uint32_t place : batch.members) {
                end_task(place, batch.number);
            }
            break;
        case EventKind::operation_launched:
            for (const std::uint32_t place : batch.members) {
                start_operation(place, graph_at(place).tasks[batch.number].operation);
            }
            break;
    }
}

template <class Pending>
void Player<Pending>::start_task(std::uint32_t place, std::uint32_t task) {
    const Task& spec = graph_at(place).tasks[task];
    if (reuse_) {
        touch(place, task);
    }
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
    pending_.task(kind, now_ + duration, task, place);
}

template <class Pending>
void Player<Pending>::end_task(std::uint32_t place, std::uint32_t task) {
    ++result_.events;
    --open_tasks_;
    result_.end = now_;
    result_.end_of_place[place] = now_;
    if (observer_ != nullptr) {
        observer_->task_ended(PlaceId(place), TaskId(task), began_[first_task_[place] + task],
                              now_);
    }
    const bool touches = reuse_ && !shared(graph_at(place).tasks[task]);
    if (reuse_) {
        log_end(place, task);
    }
    for (const std::uint32_t next : successors_[workload_.graph_of_place[place]][task]) {
        if (touches) {
            touch(place, next);
        }
        if (--task_needs_[first_task_[place] + next] == 0) {
            start_task(place, next);
        }
    }
}

template <class Pending>
void Player<Pending>::start_operation(std::uint32_t place, std::uint32_t number) {
    Operation& operation = operations_[number];
    std::uint32_t early = std::exchange(operation.places[place].early, PlaceState::kStarted);
    for (const std::uint32_t transfer : operation.table->roots_of(role_at(operation, place))) {
        fire(operation, number, Members(&place, 1), transfer);
    }
    while (early != PlaceState::kNone) {
        const Early waited = operation.early[early];
        fire(operation, number, Members(&place, 1), waited.transfer);
        early = waited.next;
    }
    place_progress(operation, place);
}

}  // namespace podsim::sim
