// An observer that forwards to two others.
#pragma once

#include "sim/workload/observer.h"

namespace podsim::scenarios {

/// Two observers of one run. The first receives events of hops only if it watches hops. Keeps
/// references.
class BothObservers : public sim::Observer {
public:
    BothObservers(sim::Observer& first, sim::Observer& second)
        : first_(first), second_(second), first_watches_hops_(first.watches_hops()) {}

    [[nodiscard]] bool watches_hops() const override {
        return first_watches_hops_ || second_.watches_hops();
    }
    [[nodiscard]] bool counts_links() const override {
        return first_.counts_links() || second_.counts_links();
    }
    void reached(const sim::Reached& reached) override {
        first_.reached(reached);
        second_.reached(reached);
    }
    void task_ended(sim::PlaceId place, sim::TaskId task, sim::Time began, sim::Time now) override {
        first_.task_ended(place, task, began, now);
        second_.task_ended(place, task, began, now);
    }
    void transfer_fired(sim::OperationId operation, sim::PlaceId source, std::uint32_t transfer,
                        sim::Time now) override {
        if (first_watches_hops_) {
            first_.transfer_fired(operation, source, transfer, now);
        }
        second_.transfer_fired(operation, source, transfer, now);
    }
    void transfer_arrived(sim::OperationId operation, sim::PlaceId source, sim::PlaceId destination,
                          std::uint32_t transfer, sim::Time now) override {
        if (first_watches_hops_) {
            first_.transfer_arrived(operation, source, destination, transfer, now);
        }
        second_.transfer_arrived(operation, source, destination, transfer, now);
    }
    void link_held(const sim::Holding& holding) override {
        if (first_watches_hops_) {
            first_.link_held(holding);
        }
        second_.link_held(holding);
    }
    void link_held_longer(const sim::Holding& holding, sim::Time by) override {
        if (first_watches_hops_) {
            first_.link_held_longer(holding, by);
        }
        second_.link_held_longer(holding, by);
    }
    void repeated(std::uint32_t graph, sim::Time from, sim::Time span, std::uint32_t operations,
                  std::uint32_t repeats) override {
        first_.repeated(graph, from, span, operations, repeats);
        second_.repeated(graph, from, span, operations, repeats);
    }

private:
    sim::Observer& first_;
    sim::Observer& second_;
    const bool first_watches_hops_;
};

}  // namespace podsim::scenarios
