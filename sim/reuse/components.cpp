// What each graph's places have to themselves, which decides what can be reused (reuse.cpp).
#include <algorithm>
#include <set>

#include "sim/state/run_state.h"

namespace podsim::sim {
namespace {

constexpr std::uint32_t kNobody = 0xfffffffe;

}  // namespace

void ExecutorState::prepare_reuse() {
    components_.resize(workload_.graphs.size());
    for (std::uint32_t place = 0; place < machine_.places; ++place) {
        components_[workload_.graph_of_place[place]].places.push_back(place);
    }
    own_operations();
    own_links();
    reuse_ = false;
    for (std::size_t graph = 0; graph < components_.size(); ++graph) {
        const TaskGraph& spec = workload_.graphs[graph];
        Component& component = components_[graph];
        // Renumbering keeps the order of operations only where it is that of their tasks.
        if (spec.marks.empty() || component.places.empty() || !component.apart ||
            !std::ranges::is_sorted(component.operations) ||
            (components_.size() == 1 && component.operations.size() < owner_.size())) {
            continue;
        }
        reuse_ = true;
        component.is_mark.resize(spec.tasks.size());
        for (const std::uint32_t mark : spec.marks) {
            component.is_mark[mark] = true;
        }
        component.lowest_open.resize(component.places.size());
    }
    task_ended_.resize(reuse_ ? first_task_.back() : 0);
}

void ExecutorState::own_operations() {
    owner_.assign(workload_.operations.size(), kShared);
    own_number_.resize(workload_.operations.size());
    const std::vector<std::vector<std::uint32_t>> own = sim::own_operations(workload_);
    for (std::uint32_t graph = 0; graph < components_.size(); ++graph) {
        Component& component = components_[graph];
        component.operations = own[graph];
        for (std::uint32_t i = 0; i < component.operations.size(); ++i) {
            owner_[component.operations[i]] = graph;
            own_number_[component.operations[i]] = i;
        }
        std::uint32_t before = 0;
        const std::vector<Task>& tasks = workload_.graphs[graph].tasks;
        for (std::uint32_t task = 0; task < tasks.size(); ++task) {
            component.operations_before.push_back(before);
            if (shared(tasks[task])) {
                component.shared_tasks.push_back(task);
            } else if (tasks[task].operation != kNoOperation) {
                ++before;
            }
        }
    }
}

/// Finds whose every link is. A component whose operations share links with others loses its marks.
void ExecutorState::own_links() {
    if (components_.size() == 1) {
        link_owner_.assign(machine_.links.size(), 0);
    } else {
        link_owner_.assign(machine_.links.size(), kNobody);
        std::set<std::array<std::uint32_t, 3>> seen;
        for (std::uint32_t operation = 0; operation < owner_.size(); ++operation) {
            const OperationSpec& spec = workload_.operations[operation];
            if (seen.insert({spec.schedule, spec.placement, owner_[operation]}).second) {
                own_links_of(operation);
            }
        }
    }
    for (std::uint32_t link = 0; link < link_owner_.size(); ++link) {
        if (link_owner_[link] < components_.size()) {
            components_[link_owner_[link]].links.push_back(link);
        }
    }
}

void ExecutorState::own_links_of(std::uint32_t operation) {
    const OperationSpec& spec = workload_.operations[operation];
    const Schedule& schedule = workload_.schedules[spec.schedule];
    const std::vector<std::uint32_t>& roles = *placement_of(spec).role_of_place;
    for (std::uint32_t place = 0; place < roles.size(); ++place) {
        if (roles[place] == kAbsent) {
            continue;
        }
        const Role& role = schedule.roles[roles[place]];
        for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
            const Transfer& transfer = schedule.transfers[role.first_transfer + i];
            for (std::uint32_t hop = 0; hop < transfer.hop_count; ++hop) {
                const Hop& over = schedule.hops[transfer.first_hop + hop];
                own_link(server_of(machine_.shifted(over.shift, place), over.port),
                         owner_[operation]);
            }
        }
    }
}

void ExecutorState::own_link(std::size_t link, std::uint32_t owner) {
    std::uint32_t& now = link_owner_[link];
    if (now == kNobody) {
        now = owner;
    } else if (now != owner) {
        for (const std::uint32_t one : {now, owner}) {
            if (one != kShared) {
                components_[one].apart = false;
            }
        }
        now = kShared;
    }
}

std::uint32_t ExecutorState::owner_of(const Event& event) const {
    const EventKind kind = EventCodec::kind(event.what);
    if (kind == EventKind::head_arrived) {
        return owner_[messages_[EventCodec::number(event.what)].operation];
    }
    if (kind == EventKind::link_free) {
        const std::uint32_t server = EventCodec::number(event.what);
        return machine_.isolated_operations ? set_owner_[server / links_per_set()]
                                            : link_owner_[server];
    }
    const EventCodec::Fields fields = codec_.fields(event.what);
    if (kind == EventKind::transfer_arrived) {
        return owner_[fields.number];
    }
    const std::uint32_t graph = workload_.graph_of_place[fields.place];
    return shared(workload_.graphs[graph].tasks[fields.number]) ? kShared : graph;
}

void ExecutorState::log_end(std::uint32_t place, std::uint32_t task) {
    const std::uint32_t graph = workload_.graph_of_place[place];
    Component& component = components_[graph];
    task_ended_[first_task_[place] + task] = 1;
    if (component.is_mark.empty() || shared(workload_.graphs[graph].tasks[task])) {
        return;
    }
    component.ended_log.push_back({place, task, began_[first_task_[place] + task], now_});
    if (place == component.places.front() && component.is_mark[task]) {
        std::erase_if(marks_reached_, [&](const auto& mark) { return mark.first == graph; });
        marks_reached_.emplace_back(graph, task);
    }
}

}  // namespace podsim::sim
