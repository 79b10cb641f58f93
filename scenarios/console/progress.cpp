#include "scenarios/console/progress.h"

#include <fmt/format.h>
#include <ostream>

namespace podsim::scenarios {

Progress::Progress(std::ostream& out, bool terminal, std::size_t done, std::size_t total)
    : out_(out), terminal_(terminal), at_start_(done), done_(done), total_(total) {}

Progress::~Progress() {
    if (terminal_) {
        out_ << "\r\x1b[K" << std::flush;
    }
}

void Progress::step() {
    ++done_;
    constexpr auto kBetweenDrawings = std::chrono::milliseconds(100);
    const Clock::time_point now = Clock::now();
    if (terminal_ && now - drawn_ >= kBetweenDrawings) {
        drawn_ = now;
        draw(now);
    }
}

void Progress::draw(Clock::time_point now) const {
    constexpr std::size_t kWidth = 30;
    const std::size_t filled = kWidth * done_ / total_;
    const double each = std::chrono::duration<double>(now - begun_).count() /
                        static_cast<double>(done_ - at_start_);
    out_ << fmt::format("\r[{}{}] {} of {} settings, {:.0f} s left\x1b[K", std::string(filled, '#'),
                        std::string(kWidth - filled, ' '), done_, total_,
                        each * static_cast<double>(total_ - done_))
         << std::flush;
}

}  // namespace podsim::scenarios
