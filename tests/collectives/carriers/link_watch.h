// Watches the links of a run: each carries one message at a time, at no more than its rate.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/workload/observer.h"

namespace podsim::collectives {

class LinkWatch : public sim::Observer {
public:
    /// Passes all events on to `inner`, if it is not null.
    LinkWatch(std::size_t links, sim::Observer* inner) : held_until_(links), inner_(inner) {}

    void task_ended(sim::PlaceId place, sim::TaskId task, sim::Time began, sim::Time now) override {
        if (inner_ != nullptr) {
            inner_->task_ended(place, task, began, now);
        }
    }
    void transfer_fired(sim::OperationId op, sim::PlaceId source, std::uint32_t transfer,
                        sim::Time now) override {
        if (inner_ != nullptr) {
            inner_->transfer_fired(op, source, transfer, now);
        }
    }
    void transfer_arrived(sim::OperationId op, sim::PlaceId source, sim::PlaceId destination,
                          std::uint32_t transfer, sim::Time now) override {
        if (inner_ != nullptr) {
            inner_->transfer_arrived(op, source, destination, transfer, now);
        }
    }
    void link_held(const sim::Holding& holding) override {
        sim::Time& until = held_until_[holding.link.index()];
        overlaps_ += holding.start < until || holding.end < holding.start ? 1 : 0;
        until = holding.end;
        if (inner_ != nullptr) {
            inner_->link_held(holding);
        }
    }

    /// Number of messages that took a link before the previous one had left it.
    [[nodiscard]] int overlaps() const { return overlaps_; }

private:
    std::vector<sim::Time> held_until_;
    sim::Observer* inner_;
    int overlaps_ = 0;
};

}  // namespace podsim::collectives
