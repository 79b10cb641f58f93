// Record of a run's events, to look up causes: times of tasks, holdings of links, arrivals of
// messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "scenarios/src/base/watch.h"
#include "sim/base/time.h"
#include "sim/executor/executor.h"
#include "sim/workload/observer.h"

namespace podsim::scenarios {

/// Arrival of a message's last byte at its destination.
struct Arrival {
    sim::OperationId operation;
    sim::PlaceId source;
    std::uint32_t transfer = 0;
    sim::Time at;
};

struct Interval {
    sim::Time from;
    sim::Time until;

    friend bool operator==(const Interval&, const Interval&) = default;
};

/// Record of the played events. An event that the executor skipped as a repeat is found as the
/// image of the event that it repeats.
class RunRecord : public sim::Observer {
public:
    /// Keeps nothing of a run in which links are held more than `most` times (is_whole).
    explicit RunRecord(const sim::Workload& workload, Watch* watch = nullptr,
                       std::size_t most = std::numeric_limits<std::size_t>::max());

    [[nodiscard]] bool is_whole() const { return is_whole_; }

    void reached(const sim::Reached& reached) override { tell_reached(watch_, reached); }

    void task_ended(sim::PlaceId place, sim::TaskId task, sim::Time began, sim::Time now) override;
    void transfer_arrived(sim::OperationId operation, sim::PlaceId source, sim::PlaceId destination,
                          std::uint32_t transfer, sim::Time now) override;
    void link_held(const sim::Holding& holding) override;
    void link_held_longer(const sim::Holding& holding, sim::Time by) override;
    void repeated(std::uint32_t graph, sim::Time from, sim::Time period, std::uint32_t operations,
                  std::uint32_t repeats) override;

    [[nodiscard]] sim::Time began(std::size_t place, std::uint32_t task) const {
        return spans_[place][task].began;
    }
    [[nodiscard]] sim::Time ended(std::size_t place, std::uint32_t task) const {
        return spans_[place][task].ended;
    }

    /// Returns the messages of the operation that arrived at the place at that instant, by source
    /// and transfer.
    [[nodiscard]] std::vector<Arrival> arrivals(std::size_t place, sim::OperationId operation,
                                                sim::Time at) const;
    /// Returns the link's holding for this message: the one that starts last, not after `until`.
    [[nodiscard]] std::optional<sim::Holding> holding(std::size_t server, const Arrival& message,
                                                      std::uint32_t hop, sim::Time until) const;
    /// Returns the intervals in which the link was held, in order and with gaps between them.
    [[nodiscard]] std::vector<Interval> held(std::size_t server) const;
    /// Returns the holdings of the link, of nonzero time, that start within that stretch: in order
    /// and one at a time.
    [[nodiscard]] std::vector<sim::Holding> held_between(std::size_t server, sim::Time from,
                                                         sim::Time until) const;
    /// Returns the holding of the link, of nonzero time, that ends at that instant.
    [[nodiscard]] std::optional<sim::Holding> held_until(std::size_t server, sim::Time end) const;

private:
    /// A stretch of the record, and its delay: zero as recorded, more for a repeat.
    struct View {
        sim::Time from;
        sim::Time until;
        sim::Time later_by;
        std::uint32_t operations = 0;
    };
    struct Span {
        sim::Time began;
        sim::Time ended;
    };

    /// A holding without its link.
    struct Held {
        sim::Time start;
        sim::Time end;
        sim::OperationId operation;
        sim::PlaceId source;
        std::uint32_t transfer = 0;
        std::uint32_t hop = 0;

        [[nodiscard]] sim::Holding over(std::size_t server) const {
            return {sim::LinkId(server), operation, source, transfer, hop, start, end};
        }
    };

    /// Views of the record of an operation's places or of a link. Shared operations have one view:
    /// as recorded.
    using Views = std::vector<View>;
    [[nodiscard]] const Views& views_of(sim::OperationId operation) const;
    /// Returns the operation that lies `view.operations` further on in its graph.
    [[nodiscard]] sim::OperationId later(sim::OperationId operation, const View& view) const;
    [[nodiscard]] bool is_later(sim::OperationId operation, const View& view,
                                sim::OperationId image) const;

    /// Calls `use` on the views, latest first, that may contain events from `at - before` to `at`,
    /// until it returns true.
    template <class Use>
    void over_views(const Views& views, sim::Time at, sim::Time before, Use use) const;

    void let_go();

    Watch* watch_;
    std::size_t most_;
    std::size_t held_ = 0;
    bool is_whole_ = true;
    std::vector<std::vector<Span>> spans_;        ///< [place][task]
    std::vector<std::vector<Held>> holdings_;     ///< [server], in order of time
    std::vector<std::vector<Arrival>> arrivals_;  ///< [place], in order of time
    /// [graph], in order of real time, the last one open; after the graphs, that of shared
    /// operations.
    std::vector<Views> views_;
    std::vector<std::vector<std::uint32_t>> operations_;  ///< [graph]: its own operations
    /// [operation]: its graph, or the number of graphs if it is shared.
    std::vector<std::uint32_t> graph_;
    std::vector<std::uint32_t> number_;  ///< [operation]: index among those of its graph
    sim::Time longest_;                  ///< longest of all holdings
};

}  // namespace podsim::scenarios
