#include "sim/state/run_state.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

namespace podsim::sim {
namespace {

/// Where the tasks of each place start.
std::vector<std::uint32_t> offsets(const std::vector<std::uint32_t>& kind_of_place,
                                   const std::vector<std::size_t>& size_of_kind) {
    std::vector<std::uint32_t> first(kind_of_place.size() + 1);
    for (std::size_t place = 0; place < kind_of_place.size(); ++place) {
        first[place + 1] =
            first[place] + static_cast<std::uint32_t>(size_of_kind[kind_of_place[place]]);
    }
    return first;
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

}  // namespace

ExecutorState::ExecutorState(const Workload& workload, Observer* observer, bool reuse)
    : workload_(workload),
      machine_(workload.machine),
      observer_(observer),
      hop_observer_(observer != nullptr && observer->watches_hops() ? observer : nullptr),
      codec_(codec_for(workload)),
      operations_(workload.operations.size()),
      reuse_(reuse) {
    prepare_links();
    prepare_tables();
    result_.end_of_place.resize(machine_.places);
    prepare_priorities();
    prepare_graphs();
    if (reuse_) {
        prepare_reuse();
    }
}

void ExecutorState::prepare_links() {
    std::map<std::pair<double, std::int64_t>, std::uint32_t> classes;
    servers_.reserve(machine_.links.size());
    for (std::size_t server = 0; server < machine_.links.size(); ++server) {
        const LinkSpec& link = machine_.links[link_of(server)];
        // Neighbours are usually alike.
        if (server == 0 || link != link_classes_[servers_.link_class(server - 1)]) {
            const auto [entry, added] =
                classes.try_emplace({link.rate.value(), link.latency.ps},
                                    static_cast<std::uint32_t>(link_classes_.size()));
            if (added) {
                link_classes_.push_back(link);
            }
            servers_.append(entry->second, server / machine_.places);
        } else {
            servers_.append(servers_.link_class(server - 1), server / machine_.places);
        }
    }
}

void ExecutorState::prepare_tables() {
    const std::size_t schedules = workload_.schedules.size();
    placements_.reserve(schedules + workload_.placements.size());
    tables_.reserve(schedules);
    for (const Schedule& schedule : workload_.schedules) {
        placements_.emplace_back(schedule.role_of_place);
        tables_.emplace_back(schedule, placements_.back());
    }
    for (const std::vector<std::uint32_t>& roles : workload_.placements) {
        placements_.emplace_back(roles);
    }
    for (const OperationSpec& spec : workload_.operations) {
        if (spec.placement != kOwnPlacement &&
            !tables_[spec.schedule].holds(placements_[schedules + spec.placement])) {
            throw std::logic_error("a placement does not fit its schedule");
        }
    }
}

/// Numbers the triples (class, operation, phase) in their order, so that comparing priorities is comparing
/// numbers.
void ExecutorState::prepare_priorities() {
    const std::vector<OperationSpec>& specs = workload_.operations;
    std::vector<std::uint32_t> in_order(specs.size());
    std::iota(in_order.begin(), in_order.end(), 0U);
    std::ranges::stable_sort(in_order, {},
                             [&](std::uint32_t i) { return specs[i].priority_class; });
    first_priority_.resize(specs.size());
    for (const std::uint32_t operation : in_order) {
        first_priority_[operation] = static_cast<std::uint32_t>(operation_of_priority_.size());
        operation_of_priority_.resize(
            operation_of_priority_.size() + tables_[specs[operation].schedule].phases, operation);
    }
    if (operation_of_priority_.size() >> (64 - Waiting::kInstantBits) != 0) {
        throw std::logic_error("too many operations and phases for one run");
    }
}

void ExecutorState::prepare_graphs() {
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

/// Unique among those of one priority and instant at one server.
std::array<std::uint64_t, 2> ExecutorState::key_of(const Waiting& waiting) const {
    const Message message = message_of(waiting);
    const TransferTable& table = *operations_[message.operation].table;
    return {table.routes[message.transfer].rank,
            std::uint64_t{message.hop} << 8 | index_at_shared(message.source)};
}

Message ExecutorState::message_of(const Waiting& waiting) const {
    if ((waiting.transfer & Waiting::kLaterHop) != 0) {
        return messages_[waiting.from];
    }
    return {.tail_arrival = {},
            .operation = operation_of_priority_[waiting.priority()],
            .transfer = waiting.transfer,
            .source = waiting.from,
            .hop = 0};
}

std::uint64_t ExecutorState::all_events() const {
    std::uint64_t events = open_tasks_;
    std::vector<std::vector<std::uint64_t>> hops;  // [schedule][role]
    for (const Schedule& schedule : workload_.schedules) {
        std::vector<std::uint64_t>& of_role = hops.emplace_back();
        for (const Role& role : schedule.roles) {
            const auto first = schedule.transfers.begin() + role.first_transfer;
            of_role.push_back(std::accumulate(first, first + role.transfer_count, std::uint64_t{0},
                                              [](std::uint64_t sum, const Transfer& transfer) {
                                                  return sum + transfer.hop_count;
                                              }));
        }
    }
    for (const OperationSpec& spec : workload_.operations) {
        const std::vector<std::uint32_t>& places = placement_of(spec).places_of_role;
        for (std::size_t role = 0; role < places.size(); ++role) {
            events += places[role] * hops[spec.schedule][role];
        }
    }
    return events;
}

const Placement& ExecutorState::placement_of(const OperationSpec& spec) const {
    return placements_[spec.placement == kOwnPlacement
                           ? spec.schedule
                           : workload_.schedules.size() + spec.placement];
}

void ExecutorState::open(std::uint32_t operation) {
    Operation& state = operations_[operation];
    if (state.table != nullptr) {
        return;
    }
    const OperationSpec& spec = workload_.operations[operation];
    state.table = &tables_[spec.schedule];
    state.schedule = &workload_.schedules[spec.schedule];
    if (machine_.isolated_operations) {
        if (free_link_sets_.empty()) {
            state.first_server = static_cast<std::uint32_t>(servers_.size());
            servers_.reserve(servers_.size() + links_per_set());
            for (std::uint32_t link = 0; link < links_per_set(); ++link) {
                servers_.append(servers_.link_class(link), link / machine_.places);
            }
        } else {
            state.first_server = free_link_sets_.back();
            free_link_sets_.pop_back();
        }
        if (reuse_) {
            set_owner_.resize(servers_.size() / links_per_set());
            set_owner_[state.first_server / links_per_set()] = owner_[operation];
        }
    }
    state.placement = &placement_of(spec);
    state.counters = state.table->counters();
    state.places.reserve(machine_.places);
    for (const std::uint32_t role : *state.placement->role_of_place) {
        state.places.push_back(
            {.pending = role == kAbsent ? 0 : state.schedule->roles[role].arrivals + 1});
    }
    state.task.assign(machine_.places, kNoTask);
    state.open_places = state.placement->present;
}

std::uint32_t ExecutorState::role_at(const Operation& operation, std::uint32_t place) {
    const std::uint32_t role = (*operation.placement->role_of_place)[place];
    if (role == kAbsent) {
        throw std::logic_error("a place takes part in an operation from which it is absent");
    }
    return role;
}

void ExecutorState::close(Operation& operation) {
    if (machine_.isolated_operations) {
        free_link_sets_.push_back(operation.first_server);
    }
    operation = Operation{};
}

}  // namespace podsim::sim
