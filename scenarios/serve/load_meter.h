// How much there is over time: the number in a system, in a line, pages, slots.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/base/time.h"

namespace podsim::scenarios {

/// A whole number that changes at instants, and its integral over time, exact (times of a run may be 2^63 ps, and their
/// multiples more: the integral has 128 bits). It begins when it is first set, and is 0 before.
class Level {
public:
    __extension__ using Integral = __int128;

    /// From now on the level is this. `now` never goes back.
    void set(sim::Time now, std::int64_t level) {
        begin_ = begin_.value_or(now);
        integral_ += static_cast<Integral>(now.ps - since_.ps) * level_;
        since_ = now;
        level_ = level;
        most_ = level > most_ ? level : most_;
    }
    void add(sim::Time now, std::int64_t change) { set(now, level_ + change); }

    [[nodiscard]] std::int64_t level() const { return level_; }
    [[nodiscard]] std::int64_t most() const { return most_; }
    /// Up to the last change, in picoseconds.
    [[nodiscard]] Integral integral() const { return integral_; }
    /// Its mean from its beginning to the last change.
    [[nodiscard]] double mean() const {
        const std::int64_t ps = (since_ - begin_.value_or(since_)).ps;
        return ps == 0 ? 0 : static_cast<double>(integral_) / static_cast<double>(ps);
    }

private:
    std::optional<sim::Time> begin_;
    sim::Time since_;
    std::int64_t level_ = 0;
    std::int64_t most_ = 0;
    Integral integral_ = 0;
};

}  // namespace podsim::scenarios
