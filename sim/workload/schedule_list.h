// The schedules of a workload, in a list whose copies share them. Variants of one
// step for a what-if differ in machine and tasks, while their schedules, which may hold millions of
// transfers, are the same. Steps with more differences may still have schedules in common.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "sim/workload/schedule.h"

namespace podsim::sim {

/// A list of shared schedules. A schedule does not change once it is in the list.
class Schedules {
public:
    class Iterator {
    public:
        using Each = std::vector<std::shared_ptr<const Schedule>>::const_iterator;
        explicit Iterator(Each at) : at_(at) {}
        const Schedule& operator*() const { return **at_; }
        Iterator& operator++() {
            ++at_;
            return *this;
        }
        friend bool operator==(const Iterator&, const Iterator&) = default;

    private:
        Each at_;
    };

    Schedules() = default;
    Schedules(std::initializer_list<Schedule> schedules)
        : Schedules(std::vector<Schedule>(schedules)) {}
    Schedules(std::vector<Schedule> schedules) {  // NOLINT(google-explicit-constructor)
        for (Schedule& schedule : schedules) {
            push_back(std::move(schedule));
        }
    }

    void push_back(Schedule schedule) {
        all_.push_back(std::make_shared<const Schedule>(std::move(schedule)));
    }
    /// Adds a schedule that other lists share.
    void push_back(std::shared_ptr<const Schedule> schedule) {
        all_.push_back(std::move(schedule));
    }
    [[nodiscard]] std::size_t size() const { return all_.size(); }
    const Schedule& operator[](std::size_t index) const { return *all_[index]; }
    [[nodiscard]] const std::shared_ptr<const Schedule>& shared(std::size_t index) const {
        return all_[index];
    }
    [[nodiscard]] const Schedule& back() const { return *all_.back(); }
    [[nodiscard]] Iterator begin() const { return Iterator(all_.begin()); }
    [[nodiscard]] Iterator end() const { return Iterator(all_.end()); }

private:
    std::vector<std::shared_ptr<const Schedule>> all_;
};

}  // namespace podsim::sim
