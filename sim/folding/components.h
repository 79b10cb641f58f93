// The operations and links that belong to each graph's places alone; they decide which states can
// repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/queue/event.h"
#include "sim/state/run_state.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// The places of one graph, with the operations in which only they participate and the links that
/// only those use. With several graphs, anything shared between them reaches a component only as
/// the end of a task of its graph.
struct Component {
    std::vector<std::uint32_t> places;
    /// Its own operations, in the order of their tasks.
    std::vector<std::uint32_t> operations;
    /// [task]: number of own operations in earlier tasks.
    std::vector<std::uint32_t> operations_before;
    /// Tasks that participate in operations with other graphs.
    std::vector<std::uint32_t> shared_tasks;
    std::vector<std::uint32_t> links;  ///< servers of a set that its operations use
    /// True if nobody else uses its links, or a memory of it that may have to be shared.
    bool apart = true;
    std::vector<bool> is_mark;          ///< [task]; empty: no repeats are skipped
    std::vector<bool> is_early_mark{};  ///< [task]; empty: no early marks
};

/// The components of a workload, one for each graph. Derived once and never changed.
class Components {
public:
    static constexpr std::uint32_t kShared = 0xffffffff;

    explicit Components(const RunState& state);

    [[nodiscard]] std::size_t size() const { return all_.size(); }
    [[nodiscard]] const Component& operator[](std::size_t graph) const { return all_[graph]; }
    /// True if any component has marks at which its state may repeat.
    [[nodiscard]] bool any_marks() const;

    /// True if the task participates in an operation with places of other graphs.
    [[nodiscard]] bool shared(const Task& task) const {
        return task.operation != kNoOperation && owner_[task.operation] == kShared;
    }
    /// Returns the graph that owns the operation, or kShared.
    [[nodiscard]] std::uint32_t owner_of_operation(std::uint32_t operation) const {
        return owner_[operation];
    }
    /// Returns the graph that owns the event, or a number that is no graph's.
    [[nodiscard]] std::uint32_t owner_of(const Event& event) const;

    /// True if the operation's component has `further` more operations after it.
    [[nodiscard]] bool has_image(std::uint32_t operation, std::uint32_t further) const {
        return own_number_[operation] + further < all_[owner_[operation]].operations.size();
    }
    /// Returns the operation that is `further` later among those of its component.
    [[nodiscard]] std::uint32_t image(std::uint32_t operation, std::uint32_t further) const {
        return all_[owner_[operation]].operations[own_number_[operation] + further];
    }
    /// Returns the operation's index in its component, relative to the first one that belongs to
    /// the mark or a later task.
    [[nodiscard]] std::int64_t relative_number(std::uint32_t operation, std::uint32_t mark) const {
        return std::int64_t{own_number_[operation]} -
               all_[owner_[operation]].operations_before[mark];
    }
    /// Returns the open operations of a component that can repeat, in their order.
    [[nodiscard]] std::vector<std::uint32_t> open_operations(std::uint32_t graph) const;
    /// Returns the first servers of the sets of links that the component's operations use. For
    /// isolated operations, these are the sets of the open ones, in their order.
    [[nodiscard]] std::vector<std::uint32_t> first_servers_in_use(std::uint32_t graph) const;

private:
    static constexpr std::uint32_t kNobody = 0xfffffffe;

    void own_operations();
    void own_links();
    void own_links_of(std::uint32_t operation);
    void own_link(std::size_t link, std::uint32_t owner);
    void use_memory(std::uint32_t place, std::uint32_t owner);
    void set_marks();

    const RunState& state_;
    std::vector<Component> all_;             ///< [graph]
    std::vector<std::uint32_t> owner_;       ///< [operation]
    std::vector<std::uint32_t> own_number_;  ///< [operation]: index in its component
    /// [server of a set]: the component that alone uses it, kShared or kNobody.
    std::vector<std::uint32_t> link_owner_;
};

}  // namespace podsim::sim
