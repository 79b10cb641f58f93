// Watching a run without being part of it.
#pragma once

#include <cstdint>
#include <span>

#include "sim/base/ids.h"
#include "sim/base/time.h"
#include "sim/workload/result.h"

namespace podsim::sim {

/// One link's time for one message: hop `hop` of a transfer from `source`.
struct Holding {
    LinkId link;
    OperationId operation;
    PlaceId source;
    std::uint32_t transfer = 0;
    std::uint32_t hop = 0;
    Time start;
    Time end;
};

/// How far a run is.
struct Reached {
    Time now;
    std::uint64_t events = 0;
    std::uint64_t all_events = 0;  ///< at the end
    std::uint64_t played = 0;  ///< of `events`: those that were not skipped as repeats, nor copies
    std::span<const LinkTotals> links{};  ///< [place][port], where the observer counts them
};

/// Called by the executor as things happen. The defaults ignore everything.
class Observer {
public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    /// Whether it wants to hear of transfers and links; asked once. A run that tells of tasks alone is as fast as
    /// one without observer.
    [[nodiscard]] virtual bool watches_hops() const { return true; }
    /// Whether it wants to hear what links have carried each time that it hears how far the run is; asked once.
    [[nodiscard]] virtual bool counts_links() const { return false; }
    /// Called between instants: once some 4,096 events have been played, then each time after a sixteenth more, and at the
    /// latest after 2^18 more (some 20 ms). So a run that is too short to be called is over at once. May throw, which
    /// ends the run.
    virtual void reached(const Reached& /*reached*/) {}

    /// `began`: when the task's dependencies were met and its resource was free.
    virtual void task_ended(PlaceId /*place*/, TaskId /*task*/, Time /*began*/, Time /*now*/) {}
    /// A transfer's needs are met at its source; it queues for its first link.
    virtual void transfer_fired(OperationId /*op*/, PlaceId /*source*/, std::uint32_t /*transfer*/,
                                Time /*now*/) {}
    /// All bytes of a transfer have reached its destination.
    virtual void transfer_arrived(OperationId /*op*/, PlaceId /*source*/, PlaceId /*destination*/,
                                  std::uint32_t /*transfer*/, Time /*now*/) {}
    /// A link is held for one message.
    virtual void link_held(const Holding& /*holding*/) {}
    /// A link was held longer by so much than was said, since a memory is behind. Of `holding` the start is left out.
    virtual void link_held_longer(const Holding& /*holding*/, Time /*by*/) {}
    /// Tasks of images have been reported, but not what else happens until then: the events of the last
    /// `span` until `from` happen again, `repeats` times, each a span and `operations` later. Those of
    /// that graph's places, operations counted among those that only they take part in (own_operations).
    virtual void repeated(std::uint32_t /*graph*/, Time /*from*/, Time /*span*/,
                          std::uint32_t /*operations*/, std::uint32_t /*repeats*/) {}
};

}  // namespace podsim::sim
