// Small machines and schedules by hand, and an observer that records all events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

#include "sim/executor/executor.h"

namespace podsim::sim {

inline constexpr BytesPerSecond kBytePerPs{1e12};
/// 1000 B / 1e12 B/s x 1e12 is slightly more than 1000 in binary and would round up to 1001 ps.
inline constexpr double kHairLess = 1 - 1e-12;

/// `places` lie in a row, or in a ring; port 0 leads forward, port 1 backward. Shift k + reach
/// moves k places, for |k| <= reach.
inline constexpr int kReach = 4;
constexpr std::uint32_t shift(int distance) {
    return static_cast<std::uint32_t>(distance + kReach);
}

inline Machine row_of(int places, bool ring, Time latency, BytesPerSecond rate = kBytePerPs) {
    Machine machine;
    machine.places = static_cast<std::size_t>(places);
    machine.ports = 2;
    machine.links.assign(machine.places * 2, {.rate = rate, .latency = latency});
    for (int distance = -kReach; distance <= kReach; ++distance) {
        for (int place = 0; place < places; ++place) {
            const int to = place + distance;
            const int around = ((to % places) + places) % places;
            machine.shifts.push_back(!ring && around != to ? kNoPlace
                                                           : static_cast<std::uint32_t>(around));
        }
    }
    return machine;
}

/// One transfer of a role: over |distance| links from its place, once the sends in `after` have
/// arrived there (indices in the list; each must end at a place of this role).
struct Send {
    std::uint32_t role = 0;
    int distance = 1;  ///< 0: a join
    double bytes = 0;
    std::vector<std::uint32_t> after{};
    std::uint32_t phase = 0;
    double bytes_before = 0;
    std::uint32_t to_role = 0;
};

/// Ranks are positions in the list. `sends` must be sorted by role.
inline Schedule schedule_of(const std::vector<Send>& sends, std::size_t roles,
                            std::vector<std::uint32_t> role_of_place) {
    Schedule schedule;
    schedule.roles.resize(roles);
    schedule.role_of_place = std::move(role_of_place);
    for (std::uint32_t i = 0; i < sends.size(); ++i) {
        const Send& send = sends[i];
        Transfer transfer;
        transfer.first_hop = static_cast<std::uint32_t>(schedule.hops.size());
        transfer.hop_count = static_cast<std::uint32_t>(std::abs(send.distance));
        const int sign = send.distance < 0 ? -1 : 1;
        for (int hop = 0; hop < std::abs(send.distance); ++hop) {
            schedule.hops.push_back({shift(sign * hop), sign < 0 ? 1U : 0U});
        }
        transfer.destination_shift = shift(send.distance);
        transfer.needs = 1 + static_cast<std::uint32_t>(send.after.size());
        transfer.phase = send.phase;
        transfer.rank = i;
        transfer.bytes = Bytes(send.bytes * kHairLess);
        transfer.bytes_before = Bytes(send.bytes_before * kHairLess);
        transfer.first_successor = static_cast<std::uint32_t>(schedule.successors.size());
        for (std::uint32_t later = 0; later < sends.size(); ++later) {
            if (std::ranges::count(sends[later].after, i) > 0) {
                schedule.successors.push_back(later);
            }
        }
        transfer.successor_count =
            static_cast<std::uint32_t>(schedule.successors.size()) - transfer.first_successor;
        Role& role = schedule.roles[send.role];
        if (role.transfer_count++ == 0) {
            role.first_transfer = i;
        }
        if (send.distance != 0) {
            ++schedule.roles[send.to_role].arrivals;
        }
        schedule.transfers.push_back(transfer);
    }
    return schedule;
}

/// An absent role, in tables of placements.
inline constexpr std::uint32_t A = kAbsent;

inline Task after(Task task, std::vector<std::uint32_t> before) {
    task.after = std::move(before);
    return task;
}

inline Task operation(std::uint32_t number, Time launch = {}) {
    Task task;
    task.operation = number;
    task.duration = launch;
    return task;
}

inline Task work(std::int64_t ps, std::uint32_t resource = 0,
                 std::vector<std::uint32_t> after = {}) {
    Task task;
    task.duration = {ps};
    task.resource = resource;
    task.after = std::move(after);
    return task;
}

/// Gives every place a memory of 1 to 6 bytes a picosecond, and work and messages demands on it.
inline void share_memory(Workload& workload, std::mt19937_64& random) {
    constexpr auto kPerPs = static_cast<std::int64_t>(1e12);
    workload.machine.memory_rate = static_cast<std::int64_t>(1 + random() % 6) * kPerPs;
    const std::int64_t first = static_cast<std::int64_t>(random() % 4) * kPerPs / 2;
    const std::int64_t second = static_cast<std::int64_t>(random() % 4) * kPerPs;
    for (TaskGraph& graph : workload.graphs) {
        for (std::size_t task = 0; task < graph.tasks.size(); ++task) {
            if (graph.tasks[task].operation == kNoOperation) {
                graph.tasks[task].demand = task % 4 == 0 ? first : second;
            }
        }
    }
    Schedules schedules;
    for (Schedule schedule : workload.schedules) {
        for (Transfer& transfer : schedule.transfers) {
            transfer.reads = static_cast<std::uint8_t>(random() % 4 == 0 ? 0 : 1);
            transfer.writes = static_cast<std::uint8_t>(random() % 2 == 0 ? 1 : 4);
        }
        schedules.push_back(std::move(schedule));
    }
    workload.schedules = std::move(schedules);
}

/// Returns a workload of which every place runs the tasks.
inline Workload workload_of(Machine machine, std::vector<Schedule> schedules,
                            std::vector<Task> tasks) {
    Workload workload;
    workload.graph_of_place.assign(machine.places, 0);
    workload.machine = std::move(machine);
    for (std::uint32_t i = 0; i < schedules.size(); ++i) {
        workload.operations.push_back({.schedule = i, .priority_class = 0});
    }
    workload.schedules = std::move(schedules);
    workload.graphs.emplace_back().tasks = std::move(tasks);
    return workload;
}

class Recorder : public Observer {
public:
    struct Held {
        std::uint32_t server;
        std::uint32_t operation;
        std::int64_t start;
        std::int64_t end;
        friend auto operator<=>(const Held&, const Held&) = default;
        friend std::ostream& operator<<(std::ostream& out, const Held& x) {
            return out << x.server << " " << x.operation << " " << x.start << ".." << x.end;
        }
    };
    struct Seen {
        std::uint32_t place;
        std::uint32_t what;
        std::int64_t time;
        friend auto operator<=>(const Seen&, const Seen&) = default;
        friend std::ostream& operator<<(std::ostream& out, const Seen& x) {
            return out << x.place << " " << x.what << " @" << x.time;
        }
    };
    std::vector<Held> held;
    std::vector<Seen> fired;    ///< at its source
    std::vector<Seen> arrived;  ///< at its destination
    std::vector<Seen> ended;
    std::vector<Seen> began;

    void task_ended(PlaceId place, TaskId task, Time start, Time now) override {
        began.push_back({place.value, task.value, start.ps});
        ended.push_back({place.value, task.value, now.ps});
    }
    void transfer_fired(OperationId, PlaceId source, std::uint32_t transfer, Time now) override {
        fired.push_back({source.value, transfer, now.ps});
    }
    void transfer_arrived(OperationId, PlaceId, PlaceId destination, std::uint32_t transfer,
                          Time now) override {
        arrived.push_back({destination.value, transfer, now.ps});
    }
    void link_held(const Holding& holding) override {
        held.push_back(
            {holding.link.value, holding.operation.value, holding.start.ps, holding.end.ps});
    }
    void link_held_longer(const Holding& holding, Time by) override {
        const auto late = std::find_if(held.rbegin(), held.rend(), [&](const Held& one) {
            return one.server == holding.link.value && one.operation == holding.operation.value &&
                   one.end + by.ps == holding.end.ps;
        });
        late->end += by.ps;
    }
};

}  // namespace podsim::sim
