#include "sim/folding/components.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

namespace podsim::sim {

Components::Components(const RunState& state) : state_(state) {
    all_.resize(state_.workload.graphs.size());
    for (std::uint32_t place = 0; place < state_.machine.places; ++place) {
        all_[state_.workload.graph_of_place[place]].places.push_back(place);
    }
    own_operations();
    own_links();
    set_marks();
}

bool Components::any_marks() const {
    return std::ranges::any_of(
        all_, [](const Component& component) { return !component.is_mark.empty(); });
}

void Components::own_operations() {
    owner_.assign(state_.workload.operations.size(), kShared);
    own_number_.resize(state_.workload.operations.size());
    const std::vector<std::vector<std::uint32_t>> own = sim::own_operations(state_.workload);
    for (std::uint32_t graph = 0; graph < all_.size(); ++graph) {
        Component& component = all_[graph];
        component.operations = own[graph];
        for (std::uint32_t i = 0; i < component.operations.size(); ++i) {
            owner_[component.operations[i]] = graph;
            own_number_[component.operations[i]] = i;
        }
        std::uint32_t before = 0;
        const std::vector<Task>& tasks = state_.workload.graphs[graph].tasks;
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

/// Finds the owner of every link.
void Components::own_links() {
    if (all_.size() == 1) {
        link_owner_.assign(state_.machine.links.size(), 0);
    } else {
        link_owner_.assign(state_.machine.links.size(), kNobody);
        std::set<std::array<std::uint32_t, 3>> seen;
        for (std::uint32_t operation = 0; operation < owner_.size(); ++operation) {
            const OperationSpec& spec = state_.workload.operations[operation];
            if (seen.insert({spec.schedule, spec.placement, owner_[operation]}).second) {
                own_links_of(operation);
            }
        }
    }
    for (std::uint32_t link = 0; link < link_owner_.size(); ++link) {
        if (link_owner_[link] < all_.size()) {
            all_[link_owner_[link]].links.push_back(link);
        }
    }
}

void Components::own_links_of(std::uint32_t operation) {
    const OperationSpec& spec = state_.workload.operations[operation];
    const Schedule& schedule = state_.workload.schedules[spec.schedule];
    const std::vector<std::uint32_t>& roles = *state_.roles_of(spec).role_of_place;
    for (std::uint32_t place = 0; place < roles.size(); ++place) {
        if (roles[place] == kAbsent) {
            continue;
        }
        const Role& role = schedule.roles[roles[place]];
        for (std::uint32_t i = 0; i < role.transfer_count; ++i) {
            const Transfer& transfer = schedule.transfers[role.first_transfer + i];
            if (transfer.hop_count > 0 && transfer.reads > 0) {
                use_memory(place, owner_[operation]);
            }
            if (transfer.hop_count > 0 && transfer.writes > 0) {
                use_memory(state_.machine.shifted(transfer.destination_shift, place),
                           owner_[operation]);
            }
            for (std::uint32_t hop = 0; hop < transfer.hop_count; ++hop) {
                const Hop& over = schedule.hops[transfer.first_hop + hop];
                own_link(state_.server_of(state_.machine.shifted(over.shift, place), over.port),
                         owner_[operation]);
            }
        }
    }
}

/// Marks a component as not apart if others read or write the memory of its places.
void Components::use_memory(std::uint32_t place, std::uint32_t owner) {
    const std::uint32_t graph = state_.workload.graph_of_place[place];
    if (owner != graph && state_.memories.active() && state_.memories.at_risk(place)) {
        all_[graph].apart = false;
    }
}

void Components::own_link(std::size_t link, std::uint32_t owner) {
    std::uint32_t& now = link_owner_[link];
    if (now == kNobody) {
        now = owner;
    } else if (now != owner) {
        for (const std::uint32_t one : {now, owner}) {
            if (one != kShared) {
                all_[one].apart = false;
            }
        }
        now = kShared;
    }
}

/// Sets the marks of components that may repeat. A component has none if its operations share links
/// with others. It has none either if its operations are not numbered in the order of their tasks,
/// since renumbering would not keep their order. A single component has none if the workload has
/// operations that no task uses.
void Components::set_marks() {
    for (std::size_t graph = 0; graph < all_.size(); ++graph) {
        const TaskGraph& spec = state_.workload.graphs[graph];
        Component& component = all_[graph];
        if (spec.marks.empty() || component.places.empty() || !component.apart ||
            !std::ranges::is_sorted(component.operations) ||
            (all_.size() == 1 && component.operations.size() < owner_.size())) {
            continue;
        }
        component.is_mark.resize(spec.tasks.size());
        for (const std::uint32_t mark : spec.marks) {
            component.is_mark[mark] = true;
        }
        component.is_early_mark.resize(spec.early_marks.empty() ? 0 : spec.tasks.size());
        for (const std::uint32_t mark : spec.early_marks) {
            component.is_early_mark[mark] = true;
        }
    }
}

std::uint32_t Components::owner_of(const Event& event) const {
    const EventKind kind = EventCodec::kind(event.what);
    if (kind == EventKind::head_arrived) {
        return owner_[state_.messages[EventCodec::number(event.what)].operation];
    }
    if (kind == EventKind::link_free) {
        const std::uint32_t server = EventCodec::number(event.what);
        return state_.machine.isolated_operations
                   ? owner_[state_.operation_of_set[server / state_.links_per_set()]]
                   : link_owner_[server];
    }
    const EventCodec::Fields fields = state_.codec.fields(event.what);
    if (kind == EventKind::transfer_arrived) {
        return owner_[fields.number];
    }
    const std::uint32_t graph = state_.workload.graph_of_place[fields.place];
    if (kind == EventKind::memory_wake) {
        return graph;
    }
    return shared(state_.workload.graphs[graph].tasks[fields.number]) ? kShared : graph;
}

std::vector<std::uint32_t> Components::open_operations(std::uint32_t graph) const {
    std::vector<std::uint32_t> open;
    std::ranges::copy_if(state_.open_operations, std::back_inserter(open),
                         [&](std::uint32_t operation) { return owner_[operation] == graph; });
    return open;
}

std::vector<std::uint32_t> Components::first_servers_in_use(std::uint32_t graph) const {
    if (!state_.machine.isolated_operations) {
        return {0};
    }
    std::vector<std::uint32_t> sets;
    for (const std::uint32_t operation : open_operations(graph)) {
        sets.push_back(state_.operations[operation].first_server);
    }
    return sets;
}

}  // namespace podsim::sim
