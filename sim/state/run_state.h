// The state of a run, except for pending events. Private to the kernel: the player (executor/)
// plays events on it, and folding/ skips repeats by moving it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "sim/base/huge_pages.h"
#include "sim/memory/memories.h"
#include "sim/state/event_codec.h"
#include "sim/state/link_servers.h"
#include "sim/state/message_pool.h"
#include "sim/state/transfer_table.h"
#include "sim/workload/observer.h"
#include "sim/workload/result.h"
#include "sim/workload/schedule.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

// The order of a workload's tasks: the successors of each task, and the number of needs to count
// down.

/// The successors and needs of all tasks. A work task also follows the one before it on its serial
/// resource.
struct TaskOrder {
    /// Throws std::logic_error if a task depends on itself or on a later one.
    explicit TaskOrder(const Workload& workload);

    /// Returns a task's successors, in the order of tasks.
    [[nodiscard]] std::span<const std::uint32_t> successors(std::uint32_t graph,
                                                            std::uint32_t task) const {
        const Successors& of_graph = successors_[graph];
        return std::span(of_graph.tasks)
            .subspan(of_graph.first[task], of_graph.first[task + 1] - of_graph.first[task]);
    }

    std::vector<std::vector<std::uint32_t>> initial_needs;  ///< [graph][task]
    /// [place], and the end: index of its first entry in tables of each task of each place.
    std::vector<std::uint32_t> first_task;

private:
    struct Successors {
        /// Successors of one task after the other.
        std::vector<std::uint32_t> tasks;
        std::vector<std::uint32_t> first;  ///< [task], and the end
    };
    std::vector<Successors> successors_;  ///< [graph]
};

// The priorities at a link: quadruples (class, needed by, operation, phase), numbered in their
// order.

/// The priorities of messages as single numbers: the message with the lower number goes first.
struct Priorities {
    /// `tables` belong to the schedules. Throws std::logic_error if a waiting message has no room
    /// for the numbers.
    Priorities(const std::vector<OperationSpec>& operations,
               const std::vector<TransferTable>& tables);

    std::vector<std::uint32_t> first;         ///< [operation]: number of its first phase
    std::vector<std::uint32_t> operation_of;  ///< [number]
};

inline constexpr std::uint32_t kNoTask = 0xffffffff;

/// A transfer whose predecessors have arrived at a place that has not started yet.
struct Early {
    FirstHop first;
    /// The place's next one in the operation's list.
    std::uint32_t next = 0;
};

/// The start and arrivals that a place still expects from an operation.
struct PlaceState {
    static constexpr std::uint32_t kStarted = 0xffffffff;
    static constexpr std::uint32_t kNone = 0xfffffffe;

    /// Number of starts and arrivals to come.
    std::uint32_t pending = 0;
    /// kStarted, or the first of the transfers that wait for the start.
    std::uint32_t early = kNone;
};

struct LiveOperation {
    TransferTable* table = nullptr;  ///< nullptr: not alive
    const Schedule* schedule = nullptr;
    const RolesOfPlaces* roles = nullptr;
    /// First server of its set of links.
    std::uint32_t first_server = 0;
    /// Predecessors to come, in the layout of the table.
    std::vector<std::uint8_t> counters;
    std::vector<PlaceState> places;
    std::vector<Early> early;
    /// [place]: the task of the operation, or kNoTask before it starts.
    std::vector<std::uint32_t> task;
    std::size_t open_places = 0;
};

struct RunState {
    /// Sets up the state before the first event. `watcher` may be nullptr. Throws std::logic_error
    /// if the workload contradicts itself or is too large.
    RunState(const Workload& played, Observer* watcher);
    RunState(const RunState&) = delete;
    RunState& operator=(const RunState&) = delete;

    // The workload, in the form in which it is read.
    const Workload& workload;
    const Machine& machine;
    Observer* const observer;
    Observer* const hop_observer;  ///< nullptr: nobody watches hops
    const EventCodec codec;
    std::vector<RolesOfPlaces> roles_of_places;  ///< [schedule], then placements
    std::vector<TransferTable> tables;           ///< [schedule]
    const TaskOrder order;
    const Priorities priorities;
    std::vector<LinkSpec> link_classes;  ///< the distinct kinds of links
    /// [class]: its rate if that is a whole number, or 0.
    std::vector<std::int64_t> whole_rates;

    // The changing state.
    Time now;
    /// Number of instants so far; orders arrivals.
    std::uint64_t instant_number = 0;
    LinkServers servers;
    std::vector<std::uint32_t> operation_of_set;  ///< [set of links]: its last user
    /// First servers of free sets, for isolated operations.
    std::vector<std::uint32_t> free_link_sets;
    Memories memories;
    Messages messages;
    std::vector<LiveOperation> operations;
    /// Operations that have begun and not ended.
    std::set<std::uint32_t> open_operations;
    /// [place][task]: needs to be met before it starts; kTaskEnded.
    LargeArray<std::uint32_t> task_needs;
    /// [place][task]; empty if nobody asks for it.
    LargeArray<Time> began;
    /// (place, task): operations that ended at this instant.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ended;
    std::size_t open_tasks = 0;
    ExecutionResult result;

    static constexpr std::uint32_t kTaskEnded = 0xffffffff;

    // Operations.
    [[nodiscard]] const RolesOfPlaces& roles_of(const OperationSpec& spec) const;
    /// Begins the operation, unless it is live already.
    void open(std::uint32_t operation);
    void close(LiveOperation& operation);
    /// Throws std::logic_error if the place is absent.
    static std::uint32_t role_at(const LiveOperation& operation, std::uint32_t place);
    /// Records a start or an arrival at the place.
    void place_progress(LiveOperation& operation, std::uint32_t place) {
        if (--operation.places[place].pending != 0) {
            return;
        }
        ended.emplace_back(place, operation.task[place]);
        if (--operation.open_places == 0) {
            close(operation);
        }
    }

    // Tasks.
    [[nodiscard]] const TaskGraph& graph_at(std::uint32_t place) const {
        return workload.graphs[workload.graph_of_place[place]];
    }
    /// Returns the index of a task's entry in tables of each task of each place.
    [[nodiscard]] std::size_t index_of(std::uint32_t place, std::uint32_t task) const {
        return std::size_t{order.first_task[place]} + task;
    }
    /// Records `began` from now on.
    void keep_when_tasks_begin() { began.resize(task_needs.size()); }

    // Links. Servers are numbered port by port within a set, so that places that do the same at
    // once are neighbours.
    [[nodiscard]] std::uint32_t links_per_set() const {
        return static_cast<std::uint32_t>(machine.links.size());
    }
    [[nodiscard]] std::uint32_t server_of(std::uint32_t place, std::uint32_t port) const {
        return port * static_cast<std::uint32_t>(machine.places) + place;
    }
    /// Returns the index of the machine's link: [place][port].
    [[nodiscard]] std::size_t link_of(std::size_t server) const {
        const std::size_t in_set = server % links_per_set();
        return machine.link(in_set % machine.places, in_set / machine.places);
    }
    /// Returns the sum over the servers of that number in all sets.
    [[nodiscard]] LinkTotals totals_of(std::uint32_t server_in_set) const;
    /// Returns the totals of every link of the machine: [place][port].
    [[nodiscard]] std::vector<LinkTotals> link_totals() const;

    // Messages that wait at links.
    /// True if `a` goes before `b` at a link where both wait.
    [[nodiscard]] bool goes_before(Waiting a, Waiting b) const {
        return a.order != b.order ? a.order < b.order : key_of(a) < key_of(b);
    }
    /// Returns a key that is unique at one server among messages of one priority and instant.
    [[nodiscard]] std::array<std::uint64_t, 2> key_of(Waiting waiting) const;
    [[nodiscard]] std::uint64_t order_of(std::uint32_t operation, std::uint32_t phase,
                                         std::uint64_t instant) const {
        return std::uint64_t{priorities.first[operation] + phase} << Waiting::kInstantBits |
               instant;
    }
    [[nodiscard]] Message message_of(const Waiting& waiting) const {
        if (waiting.on_later_hop()) {
            return messages[waiting.message()];
        }
        return {.tail_arrival = {},
                .operation = priorities.operation_of[waiting.priority()],
                .transfer = waiting.transfer(),
                .hop = 0,
                .sources = 1};
    }

    /// Returns the events of the whole run: hops to serve and tasks to end.
    [[nodiscard]] std::uint64_t all_events() const;
    /// Returns the number of links that an operation's transfers cross.
    [[nodiscard]] std::uint64_t hops_of(std::uint32_t operation) const;

private:
    void prepare_links();
    void prepare_set(std::uint32_t operation, LiveOperation& state);
};

}  // namespace podsim::sim
