#include "scenarios/run/run_watch.h"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

namespace podsim::scenarios {

namespace {

double share_of(const sim::Reached& reached) {
    return static_cast<double>(reached.events) /
           static_cast<double>(std::max(reached.all_events, reached.events));
}

}  // namespace

RunWatch::~RunWatch() {
    if (drawn_) {
        out_ << "\r\x1b[K" << std::flush;
    }
}

void RunWatch::look(const sim::Reached& reached) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
    if (stop_.requested()) {
        throw Interrupted(
            fmt::format("stopped after {:.1f} s at {:.6g} s of simulated time, {:.3g} of {:.3g} "
                        "events ({:.0f} %); "
                        "a run that has not ended has no result",
                        seconds, reached.now.seconds(), static_cast<double>(reached.events),
                        static_cast<double>(reached.all_events), share_of(reached) * 100));
    }
    if (terminal_) {
        drawn_ = true;
        out_ << '\r' << progress_line(reached, seconds) << "\x1b[K" << std::flush;
    }
}

std::string progress_line(const sim::Reached& reached, double seconds) {
    constexpr std::size_t kWidth = 30;
    const double share = share_of(reached);
    const auto filled = static_cast<std::size_t>(share * kWidth);
    return fmt::format(
        "[{}{}] {:.0f} %, at {:.6g} s of simulated time, {:.1f} million events/s, {:.0f} s left",
        std::string(filled, '#'), std::string(kWidth - filled, ' '), share * 100,
        reached.now.seconds(), static_cast<double>(reached.events) / seconds / 1e6,
        seconds * (1 - share) / share);
}

}  // namespace podsim::scenarios
