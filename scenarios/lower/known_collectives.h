// What steps have in common: which algorithm is the fastest for a collective, its schedule, and what mirrors make of that.
//
// The settings of a sweep, the plans of a search and the runs behind an explanation differ in some of their collectives or in
// none. What is kept is what would be found again, so that no result depends on what was known before. A schedule holds
// numbers of displacements: those on the same places share one table of them, which only grows.
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
#include "scenarios/lower/layout.h"
#include "scenarios/ranks/threads.h"
#include "scenarios/spec/hardware.h"
#include "scenarios/spec/request.h"
#include "sim/mirror/known_images.h"
#include "sim/tables/known_tables.h"
#include "sim/workload/schedule.h"

namespace podsim::scenarios {

/// Schedules of collectives on some places, of messages and links of one kind.
class KnownSchedules {
public:
    /// Operation, factors and slices of the group, bytes, step, algorithm: whose members are all alike.
    using Key = std::tuple<collectives::Operation, std::vector<std::array<int, 3>>, int, int,
                           double, std::optional<collectives::RingStep>, collectives::Algorithm>;
    static Key key(const StageCollective& collective,
                   const std::optional<collectives::RingStep>& step);

    explicit KnownSchedules(const Layout& layout) : shifts_(layout.shifts()) {}

    /// Of all steps so far.
    [[nodiscard]] collectives::ShiftTable& shifts() { return shifts_; }
    [[nodiscard]] sim::KnownImages& images() { return images_; }
    [[nodiscard]] const std::shared_ptr<sim::KnownTables>& tables() const { return tables_; }
    /// The schedule of that key, made by `build` where there is none.
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

/// Of one thread at a time.
class KnownCollectives {
public:
    /// The algorithm for a collective on its own; `pick` finds it where it is not known.
    collectives::Algorithm algorithm(const AchievedHardware& hardware,
                                     const StageCollective& collective,
                                     const std::function<collectives::Algorithm()>& pick);
    /// The schedules on those places, until the next call. What runs on many places, or on links that are dead or slow, is
    /// not kept for others.
    KnownSchedules& on(const AchievedHardware& hardware, const Layout& layout);

private:
    /// Rate, latency and their rule; message cap; lengths, wraps and twists of the slice; slices.
    using Links = std::tuple<std::array<double, 2>, LatencyRule, double, std::array<int, 16>>;
    /// Links; places that are simulated, of whole slices or folded; chips of a host.
    using Where = std::tuple<Links, std::array<int, 16>, std::array<int, 3>>;

    static std::array<int, 16> shape_of(const topology::Places& places);
    static Links links_of(const AchievedHardware& hardware);
    [[nodiscard]] std::size_t messages() const;

    std::map<std::tuple<Links, KnownSchedules::Key>, collectives::Algorithm> algorithms_;
    std::map<Where, KnownSchedules> kept_;
    std::optional<KnownSchedules> of_one_step_;
};

/// One for each thread that asks.
using CollectivesOfThreads = PerThread<KnownCollectives>;

}  // namespace podsim::scenarios
