// Handling of SIGINT (Ctrl-C), SIGTERM and SIGHUP: they end a command at any point.
#pragma once

#include <string>

namespace podsim::scenarios {

/// The default handling while it lives: the process ends at once, with a line on standard error and
/// the status of the signal. A command that must report first holds a StopRequest. Signals ignored
/// at construction (nohup, a background job) stay ignored. A file beyond the size limit (SIGXFSZ)
/// is an error of its writer, like a full disk. One per process, constructed before its threads.
class StopSignals {
public:
    StopSignals();
    ~StopSignals();
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    /// Silences later signals: the command is about to report why it ends.
    static void told();
};

/// While it lives, the first of these signals only makes `requested` true. A second one ends the
/// process at once (but see kOneSignalMilliseconds). If the program has StopSignals, so does the
/// end of a grace period, even if the command does not poll.
class StopRequest {
public:
    /// Time to report progress. Freeing the memory of a large step takes the rest of half a second.
    static constexpr int kGraceMilliseconds = 100;
    /// Time to report results, if there are any.
    static constexpr int kLongGraceMilliseconds = 300;
    /// The same for Ctrl-C: a user presses it again if that is too long.
    static constexpr int kLongGraceOfSigint = 3000;
    /// The same signal twice within this time counts once: timeout(1) sends it to the process and
    /// to its group.
    static constexpr int kOneSignalMilliseconds = 100;

    StopRequest();
    ~StopRequest();
    StopRequest(const StopRequest&) = delete;
    StopRequest& operator=(const StopRequest&) = delete;

    /// Grants the longer grace from now on: results would be lost.
    void has_results();
    /// True if a signal has arrived. Callable from any thread.
    [[nodiscard]] bool requested() const;
    /// Returns the exit status of that signal (exit_status.h).
    [[nodiscard]] int status() const;
};

}  // namespace podsim::scenarios
