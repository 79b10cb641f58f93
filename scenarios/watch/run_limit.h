// A run that must not become too long.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "scenarios/watch/watch.h"

namespace podsim::scenarios {

/// Passes everything on to `outer`, which must outlive it, and ends the run (Stopped) that has more than `most_events` events in all before it
/// begins, or as soon as it has played more than `most_played`. Both depend on the run alone: that it is ended is the same on every machine.
class RunLimit final : public Watch {
public:
    static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

    RunLimit(Watch& outer, std::uint64_t most_events, std::uint64_t most_played)
        : outer_(outer), most_events_(most_events), most_played_(most_played) {}
    [[nodiscard]] bool exceeded() const { return exceeded_; }
    /// So far, as it was last told.
    [[nodiscard]] std::uint64_t played() const { return played_; }
    /// Whoever asks `outer` to stop ends the pieces of this run, too.
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
