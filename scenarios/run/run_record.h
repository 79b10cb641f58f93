// What happened in a run, for looking up causes: when tasks ran, links were held and messages arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "scenarios/watch/watch.h"
#include "sim/base/time.h"
#include "sim/executor/executor.h"
#include "sim/workload/observer.h"

namespace podsim::scenarios {

/// A message's last byte at the place it was sent to.
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

/// Keeps what was played. What the executor skipped as repeats is found as the image of what it repeats.
class RunRecord : public sim::Observer {
public:
    /// Of a run in which links are held more often than `most` times nothing is kept (is_whole).
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

    /// The messages of the operation that arrived at the place at that instant, by source and transfer.
    [[nodiscard]] std::vector<Arrival> arrivals(std::size_t place, sim::OperationId operation,
                                                sim::Time at) const;
    /// The link's time for this message: the one that starts last, not after `until`.
    [[nodiscard]] std::optional<sim::Holding> holding(std::size_t server, const Arrival& message,
                                                      std::uint32_t hop, sim::Time until) const;
    /// When the link was held: in order, with gaps between.
    [[nodiscard]] std::vector<Interval> held(std::size_t server) const;
    /// What held the link for some time, from a start in that stretch on: in order, none beside another.
    [[nodiscard]] std::vector<sim::Holding> held_between(std::size_t server, sim::Time from,
                                                         sim::Time until) const;
    /// What held the link, for some time, up to that instant.
    [[nodiscard]] std::optional<sim::Holding> held_until(std::size_t server, sim::Time end) const;

private:
    /// A stretch of what was recorded, and how much later it happened: as it was, or again.
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

    /// A holding of a known link.
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

    /// The views of what an operation's places, or a link, did: of what graphs share, only as it was.
    using Views = std::vector<View>;
    [[nodiscard]] const Views& views_of(sim::OperationId operation) const;
    /// The operation that is so many of its graph further on.
    [[nodiscard]] sim::OperationId later(sim::OperationId operation, const View& view) const;
    [[nodiscard]] bool is_later(sim::OperationId operation, const View& view,
                                sim::OperationId image) const;

    /// Views that may hold what started at `at` or up to the longest holding before, latest first.
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
    /// [graph], in order of real time, the last open; then that of what is shared.
    std::vector<Views> views_;
    std::vector<std::vector<std::uint32_t>> operations_;  ///< [graph]: its own
    std::vector<std::uint32_t> graph_;   ///< [operation]: whose it is, or the number of graphs
    std::vector<std::uint32_t> number_;  ///< [operation]: among those of its graph
    sim::Time longest_;                  ///< of all holdings
};

}  // namespace podsim::scenarios
