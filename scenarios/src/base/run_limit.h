// A limit to the length of a run.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "scenarios/src/base/watch.h"

namespace podsim::scenarios {

/// Passes all progress on to `outer`, which must outlive it, and ends a run (Stopped) that has more
/// than `most_events` events in all, before it begins, or more than `most_played` played events, as
/// soon as it reaches them. Both depend on the run alone, so a run ends alike on every machine.
class RunLimit final : public Watch {
public:
    static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

    RunLimit(Watch& outer, std::uint64_t most_events, std::uint64_t most_played)
        : outer_(outer), most_events_(most_events), most_played_(most_played) {}
    [[nodiscard]] bool exceeded() const { return exceeded_; }
    /// Events played up to the last report.
    [[nodiscard]] std::uint64_t played() const { return played_; }
    /// Stops this run if `outer` is asked to stop.
    void look() override;

private:
    void hear(const PhaseProgress& progress) override;

    Watch& outer_;
    const std::uint64_t most_events_;
    const std::uint64_t most_played_;
    std::atomic<bool> exceeded_ = false;
    std::atomic<std::uint64_t> played_ = 0;
};

}  // namespace podsim::scenarios
