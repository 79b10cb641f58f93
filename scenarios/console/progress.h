// A progress bar of one line on a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <iosfwd>

namespace podsim::scenarios {

/// `[#########           ] 300 of 1000 settings, 41 s left`, redrawn in place at most ten times a
/// second; nothing where `terminal` does not hold.
class Progress {
public:
    /// `done` of `total` are there already, and say nothing about how fast the others will be.
    Progress(std::ostream& out, bool terminal, std::size_t done, std::size_t total);
    ~Progress();  ///< wipes the line
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void step();

private:
    using Clock = std::chrono::steady_clock;

    void draw(Clock::time_point now) const;

    std::ostream& out_;
    bool terminal_;
    std::size_t at_start_;
    std::size_t done_;
    std::size_t total_;
    Clock::time_point begun_ = Clock::now();
    Clock::time_point drawn_{};
};

}  // namespace podsim::scenarios
