// Caches that steps share: the fastest algorithm of a collective, its schedule, and its mirror
// images.
//
// The settings of a sweep, the plans of a search and the runs behind an explanation differ in a few
// collectives or in none. A cached entry equals the one that would be computed again, so that no
// result depends on the cache. A schedule holds indices of displacements: the schedules on the same
// places share one table of displacements, which only grows.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "collectives/paths/shift_table.h"
#include "collectives/vocabulary/algorithm.h"
#include "collectives/vocabulary/operation.h"
#include "collectives/vocabulary/ring_step.h"
#include "scenarios/src/base/threads.h"
#include "scenarios/src/scenario/hardware.h"
#include "scenarios/src/scenario/request.h"
#include "scenarios/src/simulate/layout.h"
#include "sim/folding/known_images.h"
#include "sim/state/known_tables.h"
#include "sim/workload/schedule.h"

namespace podsim::scenarios {

/// Cache of schedules on one set of places, for one cap of messages and one kind of links.
class KnownSchedules {
public:
    /// Operation, factors and slices of the group, bytes, step, algorithm. All members of the group
    /// are alike.
    using Key = std::tuple<collectives::Operation, std::vector<std::array<int, 3>>, int, int,
                           double, std::optional<collectives::RingStep>, collectives::Algorithm>;
    static Key key(const StageCollective& collective,
                   const std::optional<collectives::RingStep>& step);

    explicit KnownSchedules(const Layout& layout) : shifts_(layout.shifts()) {}

    /// The displacements of all steps so far.
    [[nodiscard]] collectives::ShiftTable& shifts() { return shifts_; }
    [[nodiscard]] sim::KnownImages& images() { return images_; }
    [[nodiscard]] const std::shared_ptr<sim::KnownTables>& tables() const { return tables_; }
    /// Returns the schedule of that key; calls `build` if there is none.
    std::shared_ptr<const sim::Schedule> schedule(const Key& key,
                                                  const std::function<sim::Schedule()>& build);
    [[nodiscard]] std::size_t messages() const { return messages_; }

private:
    collectives::ShiftTable shifts_;
    std::map<Key, std::shared_ptr<const sim::Schedule>> schedules_;
    sim::KnownImages images_;
    std::shared_ptr<sim::KnownTables> tables_ = std::make_shared<sim::KnownTables>();
    std::size_t messages_ = 0;
};

/// Cache of algorithms and schedules, for one thread at a time.
class KnownCollectives {
public:
    /// Returns the algorithm for a collective on its own; calls `pick` if it is not cached.
    collectives::Algorithm algorithm(const AchievedHardware& hardware,
                                     const StageCollective& collective,
                                     const std::function<collectives::Algorithm()>& pick);
    /// Returns the schedules on those places, valid until the next call. Schedules on many places,
    /// or on dead or slow links, are not cached for later steps.
    KnownSchedules& on(const AchievedHardware& hardware, const Layout& layout);

private:
    /// Rate, latency and their rule; message cap; lengths, wraps and twists of the slice; slices.
    using Links = std::tuple<std::array<double, 2>, LatencyRule, double, std::array<int, 16>>;
    /// Links; simulated places, of whole slices or folded; chips of a host.
    using Where = std::tuple<Links, std::array<int, 16>, std::array<int, 3>>;

    static std::array<int, 16> shape_of(const topology::Places& places);
    static Links links_of(const AchievedHardware& hardware);
    [[nodiscard]] std::size_t messages() const;

    std::map<std::tuple<Links, KnownSchedules::Key>, collectives::Algorithm> algorithms_;
    std::map<Where, KnownSchedules> kept_;
    std::optional<KnownSchedules> of_one_step_;
};

/// One cache for each thread that asks.
using CollectivesOfThreads = PerThread<KnownCollectives>;

}  // namespace podsim::scenarios
