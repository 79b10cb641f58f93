#include "sim/state/run_state.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "sim/state/known_tables.h"
#include "sim/state/link_servers.h"

namespace podsim::sim {
namespace {

constexpr std::uint32_t kNobody = 0xffffffff;

/// Calls follows(earlier, later) for each need of each task, in the order of the tasks.
template <class Follows>
void for_each_need(const TaskGraph& graph, const Follows& follows) {
    std::vector<std::uint32_t> last_on_resource;
    for (std::uint32_t task = 0; task < graph.tasks.size(); ++task) {
        const Task& spec = graph.tasks[task];
        for (const std::uint32_t before : spec.after) {
            if (before >= task) {
                throw std::logic_error("a task depends on a later one");
            }
            follows(before, task);
        }
        if (spec.operation != kNoOperation) {
            continue;
        }
        if (spec.resource >= last_on_resource.size()) {
            last_on_resource.resize(spec.resource + 1, kNobody);
        }
        std::uint32_t& last = last_on_resource[spec.resource];
        if (last != kNobody) {
            follows(last, task);
        }
        last = task;
    }
}

EventCodec codec_for(const Workload& workload) {
    std::size_t transfers = 0;
    for (const Schedule& schedule : workload.schedules) {
        transfers = std::max(transfers, schedule.transfers.size());
    }
    std::size_t tasks = 0;
    for (const TaskGraph& graph : workload.graphs) {
        tasks = std::max(tasks, graph.tasks.size());
    }
    return {workload.operations.size(), workload.machine.places, transfers, tasks};
}

std::vector<RolesOfPlaces> roles_for(const Workload& workload) {
    std::vector<RolesOfPlaces> all;
    all.reserve(workload.schedules.size() + workload.placements.size());
    for (const Schedule& schedule : workload.schedules) {
        all.emplace_back(schedule.role_of_place);
    }
    for (const std::vector<std::uint32_t>& roles : workload.placements) {
        all.emplace_back(roles);
    }
    return all;
}

/// Throws std::logic_error if an operation's placement does not fit its schedule.
std::vector<TransferTable> tables_for(const Workload& workload,
                                      const std::vector<RolesOfPlaces>& roles) {
    std::vector<TransferTable> tables;
    tables.reserve(workload.schedules.size());
    for (std::size_t i = 0; i < workload.schedules.size(); ++i) {
        tables.push_back(workload.tables != nullptr
                             ? workload.tables->of(workload.schedules.shared(i), roles[i])
                             : TransferTable(workload.schedules[i], roles[i]));
    }
    for (const OperationSpec& spec : workload.operations) {
        if (spec.placement != kOwnPlacement &&
            !tables[spec.schedule].holds(roles[tables.size() + spec.placement])) {
            throw std::logic_error("a placement does not fit its schedule");
        }
    }
    return tables;
}

/// Returns the rate in bytes per second if its multiples are whole numbers without rounding too,
/// otherwise 0.
std::int64_t whole_rate(BytesPerSecond rate) {
    constexpr double kExact = 0x1p45;
    const double floor = rate.value() < kExact ? std::floor(rate.value()) : 0;
    return floor == rate.value() ? static_cast<std::int64_t>(floor) : 0;
}

}  // namespace

TaskOrder::TaskOrder(const Workload& workload) {
    for (const TaskGraph& graph : workload.graphs) {
        std::vector<std::uint32_t>& needs = initial_needs.emplace_back(graph.tasks.size());
        Successors& next = successors_.emplace_back();
        next.first.resize(graph.tasks.size() + 2);
        // Counts one entry further on, so that after the filling each entry is the index of its
        // task's first successor.
        for_each_need(graph, [&](std::uint32_t earlier, std::uint32_t later) {
            ++next.first[earlier + 2];
            ++needs[later];
        });
        std::partial_sum(next.first.begin(), next.first.end(), next.first.begin());
        next.tasks.resize(next.first.back());
        for_each_need(graph, [&](std::uint32_t earlier, std::uint32_t later) {
            next.tasks[next.first[earlier + 1]++] = later;
        });
        next.first.pop_back();
    }
    first_task.push_back(0);
    for (const std::uint32_t graph : workload.graph_of_place) {
        first_task.push_back(first_task.back() +
                             static_cast<std::uint32_t>(workload.graphs[graph].tasks.size()));
    }
}

Priorities::Priorities(const std::vector<OperationSpec>& operations,
                       const std::vector<TransferTable>& tables)
    : first(operations.size()) {
    std::vector<std::uint32_t> order(operations.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto turn = [&](std::uint32_t operation) {
        const OperationSpec& spec = operations[operation];
        return std::tuple(spec.priority_class, spec.needed_by, operation);
    };
    std::ranges::sort(order, {}, turn);
    for (const std::uint32_t operation : order) {
        first[operation] = static_cast<std::uint32_t>(operation_of.size());
        operation_of.insert(operation_of.end(), tables[operations[operation].schedule].phases,
                            operation);
    }
    if (operation_of.size() >> (64 - Waiting::kInstantBits) != 0) {
        throw std::logic_error("too many operations and phases for one run");
    }
}

RunState::RunState(const Workload& played, Observer* watcher)
    : workload(played),
      machine(played.machine),
      observer(watcher),
      hop_observer(watcher != nullptr && watcher->watches_hops() ? watcher : nullptr),
      codec(codec_for(played)),
      roles_of_places(roles_for(played)),
      tables(tables_for(played, roles_of_places)),
      order(played),
      priorities(played.operations, tables),
      memories(played),
      operations(played.operations.size()),
      open_tasks(order.first_task.back()) {
    prepare_links();
    result.end_of_place.resize(machine.places);
    task_needs.reserve(open_tasks);
    for (const std::uint32_t graph : workload.graph_of_place) {
        const std::vector<std::uint32_t>& needs = order.initial_needs[graph];
        task_needs.insert(task_needs.end(), needs.begin(), needs.end());
    }
    if (observer != nullptr) {
        keep_when_tasks_begin();
    }
}

void RunState::prepare_links() {
    std::map<std::pair<double, std::int64_t>, std::uint32_t> classes;
    servers.reserve(machine.links.size());
    for (std::size_t server = 0; server < machine.links.size(); ++server) {
        const LinkSpec& link = machine.links[link_of(server)];
        // Neighbours are usually alike.
        if (server == 0 || link != link_classes[servers.link_class(server - 1)]) {
            const auto [entry, added] =
                classes.try_emplace({link.rate.value(), link.latency.ps},
                                    static_cast<std::uint32_t>(link_classes.size()));
            if (added) {
                link_classes.push_back(link);
                whole_rates.push_back(whole_rate(link.rate));
            }
            servers.append(entry->second, server / machine.places);
        } else {
            servers.append(servers.link_class(server - 1), server / machine.places);
        }
    }
    std::vector<std::uint32_t> class_of_port;
    for (std::uint32_t port = 0; port < machine.ports; ++port) {
        class_of_port.push_back(servers.link_class(server_of(0, port)));
    }
    for (std::size_t schedule = 0; schedule < tables.size(); ++schedule) {
        tables[schedule].work_out_times(workload.schedules[schedule], class_of_port, link_classes,
                                        machine.rule);
    }
}

std::array<std::uint64_t, 2> RunState::key_of(Waiting waiting) const {
    const Message message = message_of(waiting);
    const TransferTable& table = *operations[message.operation].table;
    const std::uint64_t index_at_shared =
        machine.index_at_shared.empty() ? 0 : machine.index_at_shared[waiting.source];
    return {table.paths[message.transfer].rank, std::uint64_t{message.hop} << 8 | index_at_shared};
}

LinkTotals RunState::totals_of(std::uint32_t server_in_set) const {
    LinkTotals totals;
    for (std::size_t server = server_in_set; server < servers.size(); server += links_per_set()) {
        totals.busy += servers.busy(server);
        totals.carried_units += servers.carried(server);
    }
    return totals;
}

std::vector<LinkTotals> RunState::link_totals() const {
    std::vector<LinkTotals> totals(machine.links.size());
    for (std::uint32_t server = 0; server < links_per_set(); ++server) {
        totals[link_of(server)] = totals_of(server);
    }
    return totals;
}

std::uint64_t RunState::hops_of(std::uint32_t operation) const {
    const OperationSpec& spec = workload.operations[operation];
    const std::vector<std::uint32_t>& places = roles_of(spec).places_of_role;
    std::uint64_t hops = 0;
    for (std::size_t role = 0; role < places.size(); ++role) {
        hops += places[role] * tables[spec.schedule].hops_of_role[role];
    }
    return hops;
}

std::uint64_t RunState::all_events() const {
    std::uint64_t events = order.first_task.back();
    for (std::uint32_t operation = 0; operation < operations.size(); ++operation) {
        events += hops_of(operation);
    }
    return events;
}

const RolesOfPlaces& RunState::roles_of(const OperationSpec& spec) const {
    return roles_of_places[spec.placement == kOwnPlacement
                               ? spec.schedule
                               : workload.schedules.size() + spec.placement];
}

void RunState::open(std::uint32_t operation) {
    LiveOperation& state = operations[operation];
    if (state.table != nullptr) {
        return;
    }
    const OperationSpec& spec = workload.operations[operation];
    open_operations.insert(operation);
    state.table = &tables[spec.schedule];
    state.schedule = &workload.schedules[spec.schedule];
    if (machine.isolated_operations) {
        prepare_set(operation, state);
    }
    state.roles = &roles_of(spec);
    state.counters = state.table->counters();
    state.places.reserve(machine.places);
    for (const std::uint32_t role : *state.roles->role_of_place) {
        state.places.push_back(
            {.pending = role == kAbsent ? 0 : state.schedule->roles[role].arrivals + 1});
    }
    state.task.assign(machine.places, kNoTask);
    state.open_places = state.roles->present;
}

/// Gives an isolated operation its own links: those of an operation that has ended, or new ones.
void RunState::prepare_set(std::uint32_t operation, LiveOperation& state) {
    if (free_link_sets.empty()) {
        state.first_server = static_cast<std::uint32_t>(servers.size());
        servers.reserve(servers.size() + links_per_set());
        for (std::uint32_t link = 0; link < links_per_set(); ++link) {
            servers.append(servers.link_class(link), link / machine.places);
        }
        operation_of_set.resize(servers.size() / links_per_set());
    } else {
        state.first_server = free_link_sets.back();
        free_link_sets.pop_back();
    }
    operation_of_set[state.first_server / links_per_set()] = operation;
}

std::uint32_t RunState::role_at(const LiveOperation& operation, std::uint32_t place) {
    const std::uint32_t role = (*operation.roles->role_of_place)[place];
    if (role == kAbsent) {
        throw std::logic_error("a place takes part in an operation from which it is absent");
    }
    return role;
}

void RunState::close(LiveOperation& operation) {
    if (machine.isolated_operations) {
        free_link_sets.push_back(operation.first_server);
    }
    open_operations.erase(static_cast<std::uint32_t>(&operation - operations.data()));
    operation = LiveOperation{};
}

}  // namespace podsim::sim
