// What each graph's places have to themselves, which decides what can be reused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/queue/event.h"
#include "sim/state/run_state.h"
#include "sim/workload/task_graph.h"

namespace podsim::sim {

/// The places of one graph, with the operations that only they take part in and the links that only those use. Where
/// several graphs run, what else there is between them reaches a component only as the end of a task of its graph.
struct Component {
    std::vector<std::uint32_t> places;
    std::vector<std::uint32_t> operations;         ///< its own, in the order of their tasks
    std::vector<std::uint32_t> operations_before;  ///< [task]: so many of earlier tasks
    std::vector<std::uint32_t> shared_tasks;  ///< that take part in operations with other graphs
    std::vector<std::uint32_t> links;         ///< of its operations: servers of a set
    bool apart = true;  ///< nobody else uses one of them, or a memory that may have to be shared
    std::vector<bool> is_mark;          ///< [task]; empty: nothing is reused
    std::vector<bool> is_early_mark{};  ///< [task]; empty: there are none
};

/// Those of a workload, one for each graph. Derived once and never changed.
class Components {
public:
    static constexpr std::uint32_t kShared = 0xffffffff;

    explicit Components(const RunState& state);

    [[nodiscard]] std::size_t size() const { return all_.size(); }
    [[nodiscard]] const Component& operator[](std::size_t graph) const { return all_[graph]; }
    /// Whether any of them has marks at which its state may repeat.
    [[nodiscard]] bool any_marks() const;

    /// Whether the task takes part in an operation with places of other graphs.
    [[nodiscard]] bool shared(const Task& task) const {
        return task.operation != kNoOperation && owner_[task.operation] == kShared;
    }
    /// The graph whose operation it is, or kShared.
    [[nodiscard]] std::uint32_t owner_of_operation(std::uint32_t operation) const {
        return owner_[operation];
    }
    /// The graph whose the event is, or no graph's number.
    [[nodiscard]] std::uint32_t owner_of(const Event& event) const;

    /// Whether its component has so many more.
    [[nodiscard]] bool has_image(std::uint32_t operation, std::uint32_t further) const {
        return own_number_[operation] + further < all_[owner_[operation]].operations.size();
    }
    /// The operation that is that many further on among those of its component.
    [[nodiscard]] std::uint32_t image(std::uint32_t operation, std::uint32_t further) const {
        return all_[owner_[operation]].operations[own_number_[operation] + further];
    }
    /// Among those of its component, counted from the first that belongs to the mark or a later task.
    [[nodiscard]] std::int64_t relative_number(std::uint32_t operation, std::uint32_t mark) const {
        return std::int64_t{own_number_[operation]} -
               all_[owner_[operation]].operations_before[mark];
    }
    /// The operations of a component that reuses, as far as they are open, in their order.
    [[nodiscard]] std::vector<std::uint32_t> open_operations(std::uint32_t graph) const;
    /// The sets of links on which the component's operations are, by their first server: of isolated operations, those
    /// of the open ones, in their order.
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
    std::vector<std::uint32_t> own_number_;  ///< [operation]: in its component
    /// [server of a set]: the component that alone uses it, kShared or kNobody.
    std::vector<std::uint32_t> link_owner_;
};

}  // namespace podsim::sim
