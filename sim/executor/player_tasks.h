// Rounds, tasks and operations.
#pragma once

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <utility>

#include "sim/executor/player.h"

namespace podsim::sim {

template <class Pending>
Player<Pending>::Player(const Workload& workload, Observer* observer, bool reuse)
    : state_(workload, observer), pending_(state_.codec) {
    if (reuse && (Pending::kReplaces || workload.graphs.size() == 1)) {
        reuse_.emplace(state_);
        if (!reuse_->possible()) {
            reuse_.reset();
        }
    }
    if (observer != nullptr) {
        all_events_ = state_.all_events();
        next_report_ = kFirstReport;
    }
}

template <class Pending>
ExecutionResult Player<Pending>::run() {
    start_first_tasks();
    if constexpr (Pending::kInlined) {
        play_rounds_inlined();
    } else {
        play_rounds();
    }
    if (state_.open_tasks != 0) {
        throw std::logic_error("tasks are left that can never run");
    }
    assert(state_.memories.settled_up() && "what is asked of a memory is read and written");
    state_.result.played_events = played_events();
    state_.result.links = state_.link_totals();
    return std::move(state_.result);
}

template <class Pending>
void Player<Pending>::play_rounds() {
    while (true) {
        if (state_.result.events >= next_report_) {
            report_progress();
        }
        play_round();
        if (reuse_ && reuse_->mark_reached()) {
            skip_repeats();
        }
        if (pending_.empty()) {
            return;
        }
        do {
            play_instant();
        } while (pending_.more_of_instant());
    }
}

template <class Pending>
void Player<Pending>::start_first_tasks() {
    for (std::uint32_t place = 0; place < state_.machine.places; ++place) {
        const auto& needs = state_.order.initial_needs[state_.workload.graph_of_place[place]];
        for (std::uint32_t task = 0; task < needs.size(); ++task) {
            if (needs[task] == 0) {
                start_task(place, task);
            }
        }
    }
}

template <class Pending>
std::uint64_t Player<Pending>::played_events() const {
    return state_.result.events - copied_events_ - (reuse_ ? reuse_->skipped_events() : 0);
}

template <class Pending>
void Player<Pending>::report_progress() {
    const std::uint64_t played = played_events();
    next_report_ =
        state_.result.events + std::min(played / kShareBetweenReports, kMostBetweenReports);
    const std::vector<LinkTotals> links =
        counts_links_ ? state_.link_totals() : std::vector<LinkTotals>{};
    state_.observer->reached({state_.now, state_.result.events, all_events_, played, links});
}

template <class Pending>
void Player<Pending>::play_round() {
    if (state_.memories.any_freed()) {
        release_links();
    }
    play_picks(freed_);
    play_picks(listed_);
    if (state_.memories.any_unsettled()) {
        settle_memories();
    }
}

template <class Pending>
void Player<Pending>::skip_repeats() {
    std::vector<Event> pending = pending_.pending();
    const std::uint64_t skipped = reuse_->skipped_events();
    if (!reuse_->skip_repeats(pending)) {
        return;
    }
    if (state_.observer != nullptr) {
        next_report_ += reuse_->skipped_events() - skipped;
    }
    if constexpr (Pending::kReplaces) {
        pending_.replace(pending);
    } else {
        pending_.skip(reuse_->last_skip(),
                      [this](std::uint64_t what) { return reuse_->renumbered_by_last_skip(what); });
    }
}

template <class Pending>
void Player<Pending>::play_instant() {
    pending_.play_earliest([this](Time now, const Batch<Members>& batch) {
        if (now != state_.now && ++state_.instant_number >> Waiting::kInstantBits != 0) {
            throw std::logic_error("too many instants for one run");
        }
        state_.now = now;
        deliver(batch);
        while (!state_.ended.empty()) {
            const auto [place, task] = state_.ended.back();
            state_.ended.pop_back();
            end_task(place, task);
        }
    });
}

template <class Pending>
void Player<Pending>::deliver(const Batch<Members>& batch) {
    switch (batch.kind) {
        case EventKind::link_free:
            if constexpr (Pending::kMostMembers == 1) {
                freed_.push_back(batch.members[0]);
            } else {
                freed_.insert(freed_.end(), batch.members.begin(), batch.members.end());
            }
            break;
        case EventKind::head_arrived:
            heads_arrived(batch);
            break;
        case EventKind::transfer_arrived:
            if (state_.memories.any_late()) {
                arrive_if_written(batch);
            } else {
                arrived(batch);
            }
            break;
        case EventKind::task_ended:
            for (const std::uint32_t place : batch.members) {
                if (!state_.memories.active() ||
                    state_.memories.ends_now(place, batch.number, state_.now)) {
                    end_task(place, batch.number);
                }
            }
            break;
        case EventKind::memory_wake:
            for (const std::uint32_t place : batch.members) {
                wake_memory(place);
            }
            break;
        case EventKind::mark_reached:
            reuse_->reach_mark(batch.members[0], batch.number);
            break;
        case EventKind::operation_launched:
            for (const std::uint32_t place : batch.members) {
                start_operation(place, state_.graph_at(place).tasks[batch.number].operation);
            }
            break;
    }
}

template <class Pending>
void Player<Pending>::start_task(std::uint32_t place, std::uint32_t task) {
    const Task& spec = state_.graph_at(place).tasks[task];
    if (reuse_) {
        reuse_->touch(place, task);
    }
    if (!state_.began.empty()) {
        state_.began[state_.index_of(place, task)] = state_.now;
    }
    const bool work = spec.operation == kNoOperation;
    if (!work) {
        state_.open(spec.operation);
        state_.operations[spec.operation].task[place] = task;
    }
    const EventKind kind = work ? EventKind::task_ended : EventKind::operation_launched;
    const Time duration = work && !state_.machine.slowdown.empty()
                              ? slowed(spec.duration, state_.machine.slowdown[place])
                              : spec.duration;
    if (work && state_.memories.active()) {
        begin_work(place, task, spec, duration);
    }
    pending_.task(kind, state_.now + duration, task, place);
    if (reuse_ && duration.ps > 0 && reuse_->is_early_mark(place, task)) {
        pending_.task(EventKind::mark_reached, state_.now + duration - Time{1}, task, place);
    }
}

template <class Pending>
void Player<Pending>::end_task(std::uint32_t place, std::uint32_t task) {
    ++state_.result.events;
    --state_.open_tasks;
    state_.result.end = state_.now;
    state_.result.end_of_place[place] = state_.now;
    if (state_.observer != nullptr) {
        state_.observer->task_ended(PlaceId(place), TaskId(task),
                                    state_.began[state_.index_of(place, task)], state_.now);
    }
    state_.task_needs[state_.index_of(place, task)] = RunState::kTaskEnded;
    const bool touches = reuse_ && reuse_->is_own(place, task);
    if (reuse_) {
        reuse_->task_ended(place, task);
    }
    for (const std::uint32_t next :
         state_.order.successors(state_.workload.graph_of_place[place], task)) {
        if (touches) {
            reuse_->touch(place, next);
        }
        if (--state_.task_needs[state_.index_of(place, next)] == 0) {
            start_task(place, next);
        }
    }
}

template <class Pending>
void Player<Pending>::start_operation(std::uint32_t place, std::uint32_t number) {
    LiveOperation& operation = state_.operations[number];
    std::uint32_t early = std::exchange(operation.places[place].early, PlaceState::kStarted);
    for (const FirstHop& root : operation.table->roots_of(state_.role_at(operation, place))) {
        fire_row(operation, number, place, root);
    }
    while (early != PlaceState::kNone) {
        const Early waited = operation.early[early];
        fire(operation, number, Members(&place, 1), waited.first);
        early = waited.next;
    }
    state_.place_progress(operation, place);
}

}  // namespace podsim::sim
