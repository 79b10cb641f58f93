// The executor's state. Private to the kernel: player.h plays events, reuse.cpp skips what repeats.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "sim/queue/event.h"
#include "sim/state/event_codec.h"
#include "sim/state/link_servers.h"
#include "sim/state/pending_events.h"
#include "sim/state/transfer_table.h"
#include "sim/workload/observer.h"
#include "sim/workload/result.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// A transfer over several links, between its first and its last.
struct Message {
    Time tail_arrival;  ///< when its last byte can leave the next link, at the earliest
    std::uint32_t operation = 0;
    std::uint32_t transfer = 0;
    std::uint32_t source = 0;
    std::uint32_t hop = 0;
};

/// A transfer whose predecessors have come to a place that has not started yet.
struct Early {
    std::uint32_t transfer = 0;
    std::uint32_t next = 0;  ///< of the same place, in the operation's list
};

/// What an operation still owes a place.
struct PlaceState {
    static constexpr std::uint32_t kStarted = 0xffffffff;
    static constexpr std::uint32_t kNone = 0xfffffffe;

    std::uint32_t pending = 0;  ///< its start and its arrivals
    std::uint32_t early =
        kNone;  ///< kStarted, or the first of the transfers that wait for the start
};

/// The state of one operation, alive from its first start to its last arrival.
struct Operation {
    TransferTable* table = nullptr;  ///< nullptr: not alive
    const Schedule* schedule = nullptr;
    const Placement* placement = nullptr;
    std::uint32_t first_server = 0;      ///< of its set of links
    std::vector<std::uint8_t> counters;  ///< predecessors to come, as the table lays them out
    std::vector<PlaceState> places;
    std::vector<Early> early;
    std::vector<std::uint32_t> task;  ///< of every place: the task that takes part, kNoTask before
    std::size_t open_places = 0;
};

inline constexpr std::uint32_t kNoTask = 0xffffffff;

/// A task that has ended, kept while its state may repeat.
struct EndedTask {
    std::uint32_t place = 0;
    std::uint32_t task = 0;
    Time began;
    Time ended;
};

/// Numbers one after the other, each in as few bytes as it needs (seven bits a byte, lowest first): equal bytes are
/// equal sequences.
class Signature {
public:
    void push_back(std::int64_t value) {
        // Small numbers of either sign become small: 0, -1, 1, -2, ...
        auto rest =
            static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
        for (; rest >= 0x80; rest >>= 7) {
            bytes_.push_back(static_cast<std::uint8_t>(rest | 0x80));
        }
        bytes_.push_back(static_cast<std::uint8_t>(rest));
    }
    /// As many as the earlier numbers say.
    void append(const std::vector<std::uint8_t>& bytes) {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    }

    friend bool operator==(const Signature&, const Signature&) = default;

private:
    std::vector<std::uint8_t> bytes_;
};

/// The whole state of a component at one instant, relative to the instant and to a mark of the task graph.
struct Snapshot {
    std::uint32_t mark = 0;  ///< the task that had just ended
    Time now;
    std::size_t ended_tasks = 0;    ///< length of the log
    std::uint32_t lowest_open = 0;  ///< the first task that had not ended everywhere
    Signature state;                ///< what must be equal for the future to be equal, beside:
    /// The tasks that have been touched and have not ended everywhere before the next, ascending, and of
    /// each at every place its needs and when it began (kEnded and 0 where it has ended).
    std::vector<std::uint32_t> tasks;
    std::vector<std::int64_t> needs;
    std::vector<LinkTotals> links;  ///< those of the component

    /// How many of `tasks` belong to what repeats with that period; the rest lies more than a period on.
    [[nodiscard]] std::size_t near_tasks(std::uint32_t period) const;
    /// The last of them.
    [[nodiscard]] std::uint32_t touched(std::uint32_t period) const {
        return tasks[near_tasks(period) - 1];
    }
    /// Whether this is the state of `earlier`, a period on, but for tasks far ahead, which are as they were.
    [[nodiscard]] bool repeats(const Snapshot& earlier) const;
};

/// The places of one graph, with the operations that only they take part in and the links that only those use. Where
/// several graphs run, what else there is between them reaches a component only as the end of a task of its graph.
struct Component {
    std::vector<std::uint32_t> places;
    std::vector<std::uint32_t> operations;         ///< its own, in the order of their tasks
    std::vector<std::uint32_t> operations_before;  ///< [task]: so many of earlier tasks
    std::vector<std::uint32_t> shared_tasks;  ///< that take part in operations with other graphs
    std::vector<std::uint32_t> links;         ///< of its operations
    bool apart = true;                        ///< nobody else uses one of them
    std::vector<bool> is_mark;                ///< [task]; empty: nothing is reused
    std::vector<std::uint32_t> lowest_open;   ///< [index in places], of tasks that are its own
    std::uint32_t highest_touched = 0;  ///< the last task whose needs its own tasks have changed
    std::vector<EndedTask> ended_log;
    std::deque<Snapshot> snapshots;  ///< of the last few marks
};

/// All but the queue.
class ExecutorState {
protected:
    ExecutorState(const Workload& workload, Observer* observer, bool reuse);

    void prepare_links();
    void prepare_tables();
    void prepare_priorities();
    void prepare_graphs();
    [[nodiscard]] const Placement& placement_of(const OperationSpec& spec) const;
    void open(std::uint32_t operation);
    void close(Operation& operation);
    /// Throws std::logic_error where the place is absent.
    static std::uint32_t role_at(const Operation& operation, std::uint32_t place);
    /// A start or an arrival at the place.
    void place_progress(Operation& operation, std::uint32_t place) {
        if (--operation.places[place].pending != 0) {
            return;
        }
        ended_.emplace_back(place, operation.task[place]);
        if (--operation.open_places == 0) {
            close(operation);
        }
    }
    std::uint32_t new_message(const Message& message) {
        if (free_messages_.empty()) {
            messages_.push_back(message);
            return static_cast<std::uint32_t>(messages_.size() - 1);
        }
        const std::uint32_t index = free_messages_.back();
        free_messages_.pop_back();
        messages_[index] = message;
        return index;
    }

    /// Of the whole run: hops served and tasks ended.
    [[nodiscard]] std::uint64_t all_events() const;

    // components.cpp
    void prepare_reuse();
    void own_operations();
    void own_links();
    void own_links_of(std::uint32_t operation);
    void own_link(std::size_t link, std::uint32_t owner);
    [[nodiscard]] bool shared(const Task& task) const {
        return task.operation != kNoOperation && owner_[task.operation] == kShared;
    }
    /// Whose the event is; kShared: no component's.
    [[nodiscard]] std::uint32_t owner_of(const Event& event) const;
    /// A task of the graph that is its own has started, or changed the needs of another.
    void touch(std::uint32_t place, std::uint32_t task) {
        Component& component = components_[workload_.graph_of_place[place]];
        if (!shared(graph_at(place).tasks[task])) {
            component.highest_touched = std::max(component.highest_touched, task);
        }
    }
    void log_end(std::uint32_t place, std::uint32_t task);

    // reuse.cpp
    /// Skips what repeats of the components that have reached a mark; whether `pending` has changed. Where
    /// there is one component, all has moved by `last_skip_`.
    bool consider_reuse(std::vector<Event>& pending);
    std::optional<Skipped> consider(std::uint32_t graph, std::uint32_t mark_task,
                                    const std::vector<Event>& pending);
    [[nodiscard]] std::uint64_t renumbered(std::uint64_t what, const Component& component,
                                           const Skipped& skipped) const;
    [[nodiscard]] Snapshot take_snapshot(const Component& component, std::uint32_t mark_task,
                                         const std::vector<Event>& pending) const;
    void append_events(Snapshot& snapshot, const Component& component,
                       const std::vector<Event>& pending) const;
    void append_links(Snapshot& snapshot, const Component& component) const;
    void append_operations(Snapshot& snapshot, const Component& component) const;
    void append_tasks(Snapshot& snapshot, const Component& component) const;
    /// What decides how a message goes on: operation, transfer, source, hop and when its tail arrives.
    [[nodiscard]] std::array<std::int64_t, 5> numbers_of(const Message& message,
                                                         const Component& component,
                                                         const Snapshot& snapshot) const;
    [[nodiscard]] std::vector<std::uint32_t> first_servers_in_use(const Component& component) const;
    [[nodiscard]] std::int64_t canonical_link(const Component& component,
                                              std::uint32_t server) const;
    [[nodiscard]] LinkTotals totals_of(std::uint32_t link) const;
    [[nodiscard]] std::uint32_t repeats_possible(const Component& component, const Snapshot& from,
                                                 const Snapshot& now) const;
    [[nodiscard]] bool same_task(std::uint32_t graph, std::uint32_t a, std::uint32_t b) const;
    [[nodiscard]] bool arrivals_start_nothing(const Component& component) const;
    Skipped skip(Component& component, const Snapshot& from, const Snapshot& now,
                 std::uint32_t repeats);
    void repeat_ended(const Component& component, const Snapshot& from, Time span,
                      std::uint32_t period, std::uint32_t repeats);
    void move_messages(const Component& component, const Skipped& skipped);
    void move_links(const Component& component, const Snapshot& from, const Skipped& skipped,
                    std::uint32_t repeats);
    [[nodiscard]] std::uint64_t hops_of(std::uint32_t operation) const;
    /// The operation that is that many further on among those of its component.
    [[nodiscard]] std::uint32_t image(const Component& component, std::uint32_t operation,
                                      std::uint32_t further) const {
        return component.operations[own_number_[operation] + further];
    }
    /// Relative to the snapshot's mark.
    [[nodiscard]] std::int64_t relative_number(const Component& component, const Snapshot& snapshot,
                                               std::uint32_t operation) const {
        return std::int64_t{own_number_[operation]} - component.operations_before[snapshot.mark];
    }

    [[nodiscard]] std::uint32_t links_per_set() const {
        return static_cast<std::uint32_t>(machine_.links.size());
    }
    /// Servers are numbered port by port within a set: places that do the same at once lie side by side.
    [[nodiscard]] std::uint32_t server_of(std::uint32_t place, std::uint32_t port) const {
        return port * static_cast<std::uint32_t>(machine_.places) + place;
    }
    /// Of the machine: [place][port].
    [[nodiscard]] std::size_t link_of(std::size_t server) const {
        const std::size_t in_set = server % links_per_set();
        return machine_.server(in_set % machine_.places, in_set / machine_.places);
    }
    [[nodiscard]] std::uint32_t index_at_shared(std::uint32_t place) const {
        return machine_.index_at_shared.empty() ? 0 : machine_.index_at_shared[place];
    }
    /// Whether `a` goes before `b` at a link where both wait.
    [[nodiscard]] bool goes_before(const Waiting& a, const Waiting& b) const {
        return a.order != b.order ? a.order < b.order : key_of(a) < key_of(b);
    }
    [[nodiscard]] std::array<std::uint64_t, 2> key_of(const Waiting& waiting) const;
    [[nodiscard]] std::uint64_t order_of(std::uint32_t operation, const Route& route,
                                         std::uint32_t hop) const {
        return std::uint64_t{first_priority_[operation] + route.phase + hop * route.phase_per_hop}
                   << Waiting::kInstantBits |
               instant_number_;
    }
    [[nodiscard]] Message message_of(const Waiting& waiting) const;
    [[nodiscard]] const TaskGraph& graph_at(std::uint32_t place) const {
        return workload_.graphs[workload_.graph_of_place[place]];
    }

    const Workload& workload_;
    const Machine& machine_;
    Observer* observer_;
    Observer* hop_observer_;  ///< nullptr: nobody wants to hear of hops
    EventCodec codec_;
    Time now_;
    std::uint64_t instant_number_ = 0;           ///< of instants so far: orders arrivals
    std::vector<std::uint32_t> first_priority_;  ///< [operation]: the number of its first phase's
    std::vector<std::uint32_t> operation_of_priority_;  ///< [priority]
    std::vector<LinkSpec> link_classes_;                ///< the distinct kinds of links
    LinkServers servers_;
    std::vector<Message> messages_;
    std::vector<std::uint32_t> free_messages_;
    std::vector<Placement> placements_;  ///< [schedule], then those of the workload
    std::vector<TransferTable> tables_;  ///< [schedule]
    std::vector<Operation> operations_;
    std::vector<std::uint32_t> free_link_sets_;  ///< first servers, of isolated operations
    std::vector<std::vector<std::vector<std::uint32_t>>> successors_;  ///< [graph][task]
    std::vector<std::vector<std::uint32_t>> initial_needs_;            ///< [graph][task]
    std::vector<std::uint32_t> first_task_;                            ///< [place]
    std::vector<std::uint32_t> task_needs_;                            ///< [place][task]
    std::vector<Time> began_;  ///< [place][task], with an observer or reuse
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        ended_;  ///< tasks that ended at this instant
    std::size_t open_tasks_ = 0;
    std::uint64_t skipped_events_ = 0;
    ExecutionResult result_;

    static constexpr std::uint32_t kShared = 0xffffffff;
    bool reuse_ = false;
    std::vector<Component> components_;      ///< [graph]
    std::vector<std::uint32_t> owner_;       ///< [operation]: its component, or kShared
    std::vector<std::uint32_t> own_number_;  ///< [operation]: in its component
    std::vector<std::uint32_t> link_owner_;  ///< [link]: the component that alone uses it
    std::vector<std::uint32_t> set_owner_;   ///< [set of links]: of isolated operations
    std::vector<std::uint8_t> task_ended_;   ///< [place][task]
    Skipped last_skip_;
    /// By graph, the mark that has ended at its first place in this instant.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> marks_reached_;
};

}  // namespace podsim::sim
