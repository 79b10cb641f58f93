#include "scenarios/src/cli/terminal_watch.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <ostream>
#include <utility>

#include "scenarios/src/base/format.h"

namespace podsim::scenarios {
namespace {

/// Returns where a run ended: its events, if it has any. An explanation consists of many runs after
/// one that has ended, so only its phase is named.
std::string reached_text(const PhaseProgress& reached) {
    if (reached.all_events == 0 || reached.phase == Phase::explaining) {
        return fmt::format("while {}", to_string(reached.phase));
    }
    return fmt::format("at {:.6g} s of simulated time, {:.3g} of {:.3g} events ({:.0f} %)",
                       reached.simulated.seconds(), static_cast<double>(reached.events),
                       static_cast<double>(reached.all_events), reached.share * 100);
}

}  // namespace

TerminalWatch::~TerminalWatch() {
    if (drawn_) {
        out_ << "\r\x1b[K" << std::flush;
    }
}

void TerminalWatch::look() {
    if (stop_.requested()) {
        request_stop();
    }
}

void TerminalWatch::show(const PhaseProgress& progress) {
    if (stop_.requested()) {
        request_stop();
        throw Interrupted(
            progress,
            fmt::format("stopped after {:.1f} s {}; a run that has not ended has no result",
                        seconds(), reached_text(progress)),
            stop_.status());
    }
    if (progress.phase == Phase::explaining) {
        stop_.has_results();
    }
    const std::lock_guard lock(mutex_);
    memory_bytes_ = std::max(memory_bytes_, progress.most_memory_bytes);
    if (progress.all_events == 0) {
        return;
    }
    if (terminal_) {
        drawn_ = true;
        out_ << '\r' << progress_line(progress, seconds()) << "\x1b[K" << std::flush;
    } else if (progress.phase == Phase::simulating && !std::exchange(announced_, true)) {
        out_ << announcement(progress.all_events, memory_bytes_) << std::flush;
    }
}

std::string announcement(std::uint64_t all_events, double memory_bytes) {
    // The rate of a step on every chip of a pod; collectives are 4 to 8 times as fast.
    constexpr double kLeastRate = 5e6;
    constexpr double kLong = 30;
    constexpr double kLarge = 1e9;
    constexpr double kMinute = 60;
    const double seconds = static_cast<double>(all_events) / kLeastRate;
    if (seconds < kLong && memory_bytes < kLarge) {
        return {};
    }
    return fmt::format(
        "podsim: {:.3g} events to play, {:.0f} min at 5 million a second, less where layers "
        "repeat; up to {} of memory\n",
        static_cast<double>(all_events), std::ceil(seconds / kMinute),
        format_bytes(sim::Bytes(memory_bytes)));
}

std::string progress_line(const PhaseProgress& progress, double seconds) {
    constexpr std::size_t kWidth = 30;
    const auto filled = static_cast<std::size_t>(progress.share * kWidth);
    return fmt::format(
        "[{}{}] {:.0f} %, at {:.6g} s of simulated time, {:.1f} million events/s, {:.0f} s left",
        std::string(filled, '#'), std::string(kWidth - filled, ' '), progress.share * 100,
        progress.simulated.seconds(), static_cast<double>(progress.events) / seconds / 1e6,
        seconds * (1 - progress.share) / progress.share);
}

}  // namespace podsim::scenarios
