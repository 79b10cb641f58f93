// The executor's state and steps. Private to the kernel: executor.cpp plays events, reuse.cpp skips
// what repeats.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "sim/event_queue.h"
#include "sim/executor.h"
#include "sim/link_server.h"

namespace podsim::sim {

/// A transfer on its way.
struct Message {
    Time previous_end;  ///< when it leaves the link before
    std::uint32_t operation = 0;
    std::uint32_t transfer = 0;
    std::uint32_t source = 0;
    std::uint32_t hop = 0;
};

/// The state of one operation, alive from its first start to its last arrival.
struct Operation {
    std::vector<std::uint32_t> needs;    ///< of every place's transfers
    std::vector<std::uint32_t> pending;  ///< of every place: its start and its arrivals
    std::vector<std::uint32_t> task;  ///< of every place: the task that takes part, kNoTask before
    std::size_t open_places = 0;
    std::uint32_t link_set = 0;
};

inline constexpr std::uint32_t kNoTask = 0xffffffff;

/// A task that has ended, kept while its state may repeat.
struct EndedTask {
    std::uint32_t place = 0;
    std::uint32_t task = 0;
    Time began;
    Time ended;
};

/// The whole state of the run at one instant, relative to the instant and to a mark of the task graph.
struct Snapshot {
    std::uint32_t mark = 0;  ///< the task that had just ended at place 0
    Time now;
    std::uint64_t events = 0;
    std::size_t ended_tasks = 0;      ///< length of the log
    std::uint32_t lowest_open = 0;    ///< the first task that had not ended everywhere
    std::vector<std::int64_t> state;  ///< what must be equal for the future to be equal
    std::vector<LinkTotals> links;
};

class Executor {
public:
    Executor(const Workload& workload, Observer* observer, bool reuse);
    ExecutionResult run();

private:
    void prepare_graphs();
    void open(std::uint32_t operation);
    void start_task(std::uint32_t place, std::uint32_t task);
    void end_task(std::uint32_t place, std::uint32_t task);
    void start_operation(std::uint32_t place, std::uint32_t operation);
    void need_met(std::uint32_t operation, std::uint32_t place, std::uint32_t transfer);
    void successors_met(std::uint32_t operation, std::uint32_t place, const Transfer& transfer);
    void place_progress(std::uint32_t operation, std::uint32_t place);
    void wait_for_link(std::uint32_t message);
    void arrived(std::uint32_t message);
    void mark(std::uint32_t server);
    void pick(std::uint32_t server);
    void deliver(const Event& event);

    // reuse.cpp
    void prepare_reuse();
    void consider_reuse();
    [[nodiscard]] Snapshot take_snapshot(std::uint32_t mark_task) const;
    void append_events(Snapshot& snapshot, std::uint32_t first_operation) const;
    void append_links(Snapshot& snapshot, std::uint32_t first_operation) const;
    void append_operations(Snapshot& snapshot, std::uint32_t first_operation) const;
    void append_tasks(Snapshot& snapshot) const;
    void append_message(std::vector<std::int64_t>& state, std::uint32_t message,
                        std::uint32_t first_operation) const;
    [[nodiscard]] std::vector<std::uint32_t> link_sets_in_use() const;
    [[nodiscard]] std::int64_t canonical_link(std::uint32_t server) const;
    [[nodiscard]] std::uint32_t repeats_possible(const Snapshot& from, std::uint32_t period) const;
    [[nodiscard]] bool same_task(std::uint32_t a, std::uint32_t b) const;
    void skip(const Snapshot& from, std::uint32_t period, std::uint32_t repeats);

    [[nodiscard]] const Schedule& schedule_of(std::uint32_t operation) const {
        return workload_.schedules[workload_.operations[operation].schedule];
    }
    [[nodiscard]] std::uint32_t links_per_set() const {
        return static_cast<std::uint32_t>(machine_.links.size());
    }
    [[nodiscard]] std::uint32_t index_at_shared(std::uint32_t place) const {
        return machine_.index_at_shared.empty() ? 0 : machine_.index_at_shared[place];
    }
    [[nodiscard]] const TaskGraph& graph_at(std::uint32_t place) const {
        return workload_.graphs[workload_.graph_of_place[place]];
    }

    const Workload& workload_;
    const Machine& machine_;
    Observer* observer_;
    Time now_;
    EventQueue queue_;
    std::vector<LinkServer> servers_;
    std::vector<std::uint32_t> marked_;
    std::vector<Message> messages_;
    std::vector<std::uint32_t> free_messages_;
    std::vector<Operation> operations_;
    std::vector<std::uint32_t> free_link_sets_;                        ///< of isolated operations
    std::vector<std::vector<std::uint32_t>> first_counter_;            ///< [schedule][place]
    std::vector<std::vector<std::vector<std::uint32_t>>> successors_;  ///< [graph][task]
    std::vector<std::vector<std::uint32_t>> initial_needs_;            ///< [graph][task]
    std::vector<std::uint32_t> first_task_;                            ///< [place]
    std::vector<std::uint32_t> task_needs_;                            ///< [place][task]
    std::vector<Time> began_;  ///< [place][task], with an observer or reuse
    std::vector<std::pair<std::uint32_t, std::uint32_t>>
        ended_;  ///< tasks that ended at this instant
    std::size_t open_tasks_ = 0;
    ExecutionResult result_;

    bool reuse_ = false;
    std::uint32_t mark_reached_ = kNoTask;          ///< ended at place 0 in this instant
    std::vector<bool> is_mark_;                     ///< [task]
    std::vector<std::uint32_t> operations_before_;  ///< [task]: operations of earlier tasks
    std::vector<std::uint8_t> task_ended_;          ///< [place][task]
    std::vector<std::uint32_t> lowest_open_;        ///< [place]
    std::uint32_t highest_touched_ = 0;  ///< the last task whose needs have changed anywhere
    std::vector<EndedTask> ended_log_;
    std::deque<Snapshot> snapshots_;  ///< of the last few marks
};

}  // namespace podsim::sim
