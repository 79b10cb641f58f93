// An interface to watch a run without affecting it.
#pragma once

#include <cstdint>
#include <span>

#include "sim/base/ids.h"
#include "sim/base/time.h"
#include "sim/workload/result.h"

namespace podsim::sim {

/// The time for which hop `hop` of a transfer from `source` holds one link.
struct Holding {
    LinkId link;
    OperationId operation;
    PlaceId source;
    std::uint32_t transfer = 0;
    std::uint32_t hop = 0;
    Time start;
    Time end;
};

/// The progress of a run.
struct Reached {
    Time now;
    std::uint64_t events = 0;
    /// Number of events at the end.
    std::uint64_t all_events = 0;
    /// Those of `events` that were neither skipped as repeats nor copies.
    std::uint64_t played = 0;
    /// [place][port], if the observer counts them.
    std::span<const LinkTotals> links{};
};

/// Callbacks of the executor. The defaults ignore everything.
class Observer {
public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    /// True if the observer watches transfers and links; asked once. A run that reports tasks alone
    /// is as fast as one without observer.
    [[nodiscard]] virtual bool watches_hops() const { return true; }
    /// True if reached() is to include the links' totals so far; asked once.
    [[nodiscard]] virtual bool counts_links() const { return false; }
    /// Called between instants: after about 4,096 played events, then after each further sixteenth,
    /// and at the latest after 2^18 more (about 20 ms). A run that is too short is never
    /// interrupted. May throw, which ends the run.
    virtual void reached(const Reached& /*reached*/) {}

    /// `began`: time at which the task's dependencies are met and its resource is free.
    virtual void task_ended(PlaceId /*place*/, TaskId /*task*/, Time /*began*/, Time /*now*/) {}
    /// Called when a transfer's needs are met at its source; it queues for its first link.
    virtual void transfer_fired(OperationId /*op*/, PlaceId /*source*/, std::uint32_t /*transfer*/,
                                Time /*now*/) {}
    /// Called when all bytes of a transfer have reached its destination.
    virtual void transfer_arrived(OperationId /*op*/, PlaceId /*source*/, PlaceId /*destination*/,
                                  std::uint32_t /*transfer*/, Time /*now*/) {}
    /// Called when a message takes a link.
    virtual void link_held(const Holding& /*holding*/) {}
    /// Called when a link is held longer than reported, because a memory lags behind. The start of
    /// `holding` is unset.
    virtual void link_held_longer(const Holding& /*holding*/, Time /*by*/) {}
    /// Called when a repeat is skipped; only the tasks of images have been reported until then. The
    /// events of the last `span` until `from` happen again, `repeats` times, each a span and
    /// `operations` later. They are those of that graph's places; `operations` counts among those
    /// of these places alone (own_operations).
    virtual void repeated(std::uint32_t /*graph*/, Time /*from*/, Time /*span*/,
                          std::uint32_t /*operations*/, std::uint32_t /*repeats*/) {}
};

}  // namespace podsim::sim
