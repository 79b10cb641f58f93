// The state of a run: all but what is pending. Private to the kernel: the player (executor/) plays events on it, and
// what repeats is skipped by moving it (reuse/).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "sim/base/huge_pages.h"
#include "sim/memory/memories.h"
#include "sim/state/event_codec.h"
#include "sim/state/link_servers.h"
#include "sim/state/live_operation.h"
#include "sim/state/message_pool.h"
#include "sim/state/priorities.h"
#include "sim/state/task_order.h"
#include "sim/tables/transfer_table.h"
#include "sim/workload/observer.h"
#include "sim/workload/result.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

struct RunState {
    /// Nothing has begun. `watcher` may be nullptr. Throws std::logic_error where the workload contradicts itself or is
    /// too large.
    RunState(const Workload& played, Observer* watcher);
    RunState(const RunState&) = delete;
    RunState& operator=(const RunState&) = delete;

    // What the workload says, in the form in which it is read.
    const Workload& workload;
    const Machine& machine;
    Observer* const observer;
    Observer* const hop_observer;  ///< nullptr: nobody wants to hear of hops
    const EventCodec codec;
    std::vector<RolesOfPlaces> roles_of_places;  ///< [schedule], then the workload's placements
    std::vector<TransferTable> tables;           ///< [schedule]
    const TaskOrder order;
    const Priorities priorities;
    std::vector<LinkSpec> link_classes;     ///< the distinct kinds of links
    std::vector<std::int64_t> whole_rates;  ///< [class]: its rate if that is a whole number, or 0

    // What changes.
    Time now;
    std::uint64_t instant_number = 0;  ///< of instants so far: orders arrivals
    LinkServers servers;
    std::vector<std::uint32_t> operation_of_set;  ///< [set of links]: that used it last
    std::vector<std::uint32_t> free_link_sets;    ///< first servers, of isolated operations
    Memories memories;
    Messages messages;
    std::vector<LiveOperation> operations;
    std::set<std::uint32_t> open_operations;  ///< those of them that have begun and not ended
    LargeArray<std::uint32_t> task_needs;  ///< [place][task]: to come before it starts; kTaskEnded
    LargeArray<Time> began;                ///< [place][task]; empty: nobody wants to know
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        ended;  ///< (place, task): operations that ended at this instant
    std::size_t open_tasks = 0;
    ExecutionResult result;

    static constexpr std::uint32_t kTaskEnded = 0xffffffff;

    // Operations.
    [[nodiscard]] const RolesOfPlaces& roles_of(const OperationSpec& spec) const;
    /// Begins the operation, unless it is alive.
    void open(std::uint32_t operation);
    void close(LiveOperation& operation);
    /// Throws std::logic_error where the place is absent.
    static std::uint32_t role_at(const LiveOperation& operation, std::uint32_t place);
    /// A start or an arrival at the place.
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
    /// Where a task's entry lies in what is kept for each task of each place.
    [[nodiscard]] std::size_t index_of(std::uint32_t place, std::uint32_t task) const {
        return std::size_t{order.first_task[place]} + task;
    }
    /// From now on `began` is kept.
    void keep_when_tasks_begin() { began.resize(task_needs.size()); }

    // Links. Servers are numbered port by port within a set: places that do the same at once lie side by side.
    [[nodiscard]] std::uint32_t links_per_set() const {
        return static_cast<std::uint32_t>(machine.links.size());
    }
    [[nodiscard]] std::uint32_t server_of(std::uint32_t place, std::uint32_t port) const {
        return port * static_cast<std::uint32_t>(machine.places) + place;
    }
    /// Of the machine: [place][port].
    [[nodiscard]] std::size_t link_of(std::size_t server) const {
        const std::size_t in_set = server % links_per_set();
        return machine.link(in_set % machine.places, in_set / machine.places);
    }
    /// Of the servers of that number in all sets.
    [[nodiscard]] LinkTotals totals_of(std::uint32_t server_in_set) const;
    /// Of every link of the machine: [place][port].
    [[nodiscard]] std::vector<LinkTotals> link_totals() const;

    // What waits at links.
    /// Whether `a` goes before `b` at a link where both wait.
    [[nodiscard]] bool goes_before(Waiting a, Waiting b) const {
        return a.order != b.order ? a.order < b.order : key_of(a) < key_of(b);
    }
    /// Unique among those of one priority and instant at one server.
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

    /// Of the whole run: hops to be served and tasks to end.
    [[nodiscard]] std::uint64_t all_events() const;
    /// How many links an operation's transfers cross.
    [[nodiscard]] std::uint64_t hops_of(std::uint32_t operation) const;

private:
    void prepare_links();
    void prepare_set(std::uint32_t operation, LiveOperation& state);
};

}  // namespace podsim::sim
